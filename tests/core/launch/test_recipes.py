"""The recipes that Launch offers, and what choosing one brings."""

from dsgui.core.config.context import Integration
from dsgui.core.launch.handing import handing
from dsgui.core.launch.plan import ConfigArgument
from dsgui.core.launch.recipes import RECIPES, begins_with, preset_to_offer, read_by_recipe
from dsgui.core.script.script import script_facts
from dsgui.core.script.taken import ScriptAnswers, taken
from dsgui.core.texts.saying import words


def test_every_recipe_has_a_script_a_name_and_a_preset_that_is_read_as_it_reads_it(catalog):
    presets = {preset.id: preset for preset in catalog.presets()}
    for recipe in RECIPES:
        assert catalog.recipe(recipe.name).is_file()
        assert "Bundled" not in words("launch_page", recipe.label)  # the heading says it once
        assert presets[recipe.preset].integration is recipe.takes.integration
    assert len({words("launch_page", recipe.label) for recipe in RECIPES}) == len(RECIPES)
    assert len({recipe.title for recipe in RECIPES}) == len(RECIPES)
    assert all(recipe.title.isascii() and len(recipe.title) <= 20 for recipe in RECIPES)
    assert {recipe.takes for recipe in RECIPES} == {ConfigArgument.HF, ConfigArgument.NATIVE}
    assert ConfigArgument.NATIVE.integration is Integration.NATIVE


def test_the_source_of_every_recipe_tells_the_way_that_launch_takes(catalog):
    for recipe in RECIPES:
        facts = script_facts(catalog.recipe(recipe.name).read_text(encoding="utf-8"))
        assert handing(facts, recipe.arguments.split()).argument is recipe.takes, recipe.name


def test_every_option_of_a_recipe_is_known_and_what_is_left_over_ends_it(catalog):
    """tests/project/test_recipe_refusals.py has the recipes say it themselves."""
    says = {ConfigArgument.HF: "unknown options: ", ConfigArgument.NATIVE: ""}
    for recipe in RECIPES:
        line = read_by_recipe(script_facts(catalog.recipe(recipe.name).read_text(encoding="utf-8")).command_line)
        words = ("--no_such", "3", "--overwrite_output_dir=true", "--overwrite_out", "--overwrite_output_dir")
        found = taken(line, ScriptAnswers(known=True), words)
        assert (found.sure, line.strict, line.stops_with) == (True, True, says[recipe.takes]), recipe.name
        left = [one.words[0] for one in found.reading.leftovers]
        assert left == list(words[:1] + words[2 : 4 if line.by_dataclass else 5]), recipe.name


def test_every_script_in_the_recipes_folder_is_offered(catalog):
    folder = catalog.recipe(RECIPES[0].name).parent
    assert {path.stem for path in folder.glob("*.py")} == {recipe.name for recipe in RECIPES}


def test_choosing_a_recipe_fills_in_its_arguments_unless_somebody_typed_some():
    assert begins_with("summarization", "") == "--bf16 --gradient_accumulation_steps 2"
    assert begins_with("pretraining", " --bf16 --gradient_accumulation_steps 2 ") == (
        "--num_train_epochs 2 --save_steps 50"
    )
    assert begins_with("pretraining", "--max_steps 3") is None
    assert begins_with("own", "--num_train_epochs 4") == ""
    assert begins_with("own", " ") is None


def test_the_preset_of_a_recipe_is_offered_unless_it_is_the_current_one():
    assert preset_to_offer("pretraining", "zero2-offload-t5") == "native-batch-64"
    assert preset_to_offer("pretraining", "native-batch-64") == ""
    assert preset_to_offer("own", None) == ""
