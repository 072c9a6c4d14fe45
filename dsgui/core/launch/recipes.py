"""The bundled recipes: what Launch calls each, how it takes its config, the preset and the arguments it begins with."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dsgui.core.launch.plan import ConfigArgument
from dsgui.core.script.script_options import CommandLine
from dsgui.core.texts.saying import words


@dataclass(frozen=True, slots=True)
class Recipe:
    """`name` is its script's, `label` the code of its text on Launch, `preset` the id of the one it is made for."""

    name: str
    label: str
    takes: ConfigArgument
    preset: str
    arguments: str = ""

    @property
    def title(self) -> str:
        """What its runs are called while nobody gives them a name, in the language spoken."""
        return words("launch_page", f"{self.label}_run")


RECIPES = (
    Recipe("translation", "recipe_translation", ConfigArgument.HF, "zero2-offload-t5"),
    Recipe(
        "summarization",
        "recipe_summarization",
        ConfigArgument.HF,
        "zero3-offload-bf16-flan-t5",
        "--bf16 --gradient_accumulation_steps 2",
    ),
    Recipe(
        "instruction_lora",
        "recipe_lora",
        ConfigArgument.HF,
        "zero2-offload-bloom-lora",
        "--fp16 --gradient_checkpointing --merge_adapter",
    ),
    Recipe(
        "pretraining",
        "recipe_pretraining",
        ConfigArgument.NATIVE,
        "native-batch-64",
        "--num_train_epochs 2 --save_steps 50",
    ),
    Recipe(
        "classification",
        "recipe_classification",
        ConfigArgument.NATIVE,
        "native-hello",
        "--num_train_epochs 4",
    ),
)
BY_NAME: Mapping[str, Recipe] = {recipe.name: recipe for recipe in RECIPES}
_BEGINNINGS = frozenset(recipe.arguments for recipe in RECIPES)


def begins_with(chosen: str, typed: str) -> str | None:
    """The arguments in the box once this recipe, or a script of one's own, is chosen; None where what stands there
    stays, as what is typed before an answer comes has to."""
    if typed.strip() and typed.strip() not in _BEGINNINGS:
        return None
    begins = BY_NAME[chosen].arguments if chosen in BY_NAME else ""
    return begins if begins != typed.strip() else None


def preset_to_offer(chosen: str, current: str | None) -> str:
    """The preset this recipe is made for, "" where it is the current one or none is needed."""
    recipe = BY_NAME.get(chosen)
    return recipe.preset if recipe and recipe.preset != current else ""


# recipes/parts/trainer.py: OUTDATED_OPTIONS
_PASSES = frozenset({"--overwrite_output_dir"})


def read_by_recipe(line: CommandLine) -> CommandLine:
    """The command line of a recipe's own file: all of its options stand there, and what is left over ends it, which
    for the HF Trainer's is the doing of recipes/parts/trainer.py."""
    line = replace(line, whole=True, strict=True)
    return replace(line, passes=_PASSES, stops_with="unknown options: ") if line.by_dataclass else line
