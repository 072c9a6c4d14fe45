"""How a script gets its DeepSpeed config, derived from its source and its arguments before it runs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dsgui.core.config.context import Integration
from dsgui.core.launch.plan import PLACEHOLDER, ConfigArgument, itself
from dsgui.core.script.command_line import OPTIONAL, UNSET
from dsgui.core.script.config_calls import Caller, ConfigCall
from dsgui.core.script.in_a_run.worth import Values
from dsgui.core.script.script import Parser, ScriptFacts
from dsgui.core.script.taken import file_named
from dsgui.core.script.words import value_of
from dsgui.core.texts.saying import Said, said

_SETTINGS = (".yaml", ".yml", ".json")
# The names scripts give to an option of their own for the config.
CONFIG_OPTIONS = (
    *("--deepspeed_config", "--deepspeed_config_file", "--deepspeed_config_path", "--deepspeed", "--ds_config"),
    *("--ds_config_file", "--ds_config_path", "--ds_config_name", "--ds_json", "--dsconfig"),
)
_BY_TRAINER = (Caller.TRAINING_ARGUMENTS, Caller.PLUGIN, Caller.ACCELERATOR, Caller.LLAMA_FACTORY)
# Who reads a config that the script names itself.
_READ_BY = {
    Caller.TRAINING_ARGUMENTS: Integration.HF,
    Caller.PLUGIN: Integration.HF,
    Caller.STRATEGY: Integration.NATIVE,
    Caller.ENGINE: Integration.NATIVE,
}
# What takes it from the environment where the script names none.
_BY_ENVIRONMENT = {
    Caller.PLUGIN: ConfigArgument.ACCELERATE,
    Caller.ACCELERATOR: ConfigArgument.ACCELERATE,
    Caller.STRATEGY: ConfigArgument.LIGHTNING,
    Caller.TRAINING_ARGUMENTS: ConfigArgument.ACCELERATE,
}
_IN_CODE = (Caller.TRAINING_ARGUMENTS, Caller.LLAMA_FACTORY)

_MOST_SHOWN = 60  # characters of an expression


@dataclass(frozen=True, slots=True)
class Handing:
    """How the config reaches the script, and the words or the source line that show it."""

    argument: ConfigArgument
    because: Said


@dataclass(frozen=True, slots=True)
class TrainersPart:
    """Whether the HF Trainer trains, whether the script creates its TrainingArguments in code, and whether Trainer
    options can be added to the script's arguments. `refuses`: its command line takes what a function has, and ends at
    anything else."""

    trains: bool
    in_code: bool = False
    takes_options: bool = False
    refuses: bool = False

    @property
    def can_be_given_more(self) -> bool:
        """Whether options may be added to its arguments, the Trainer's or others."""
        return not self.refuses and (self.takes_options or not self.trains)


def trainers_part(argument: ConfigArgument, script: ScriptFacts, words: Sequence[str]) -> TrainersPart:
    """Whoever hands the config over says it; where nobody does, or accelerate, the source."""
    fired = script.parser is Parser.FIRE
    if argument.integration is not Integration.HF:
        return TrainersPart(trains=False, refuses=fired)
    if argument is ConfigArgument.HF:
        return TrainersPart(trains=True, takes_options=not fired, refuses=fired)
    if argument is ConfigArgument.OVERRIDE:
        return TrainersPart(trains=True)
    by_parser = script.parser is Parser.TRAINER
    in_code = not by_parser and any(call.caller in _IN_CODE for call in script.config_calls)
    takes = by_parser and not file_named(script.command_line, tuple(words))
    return TrainersPart(by_parser or in_code, in_code, takes, fired)


def handing(script: ScriptFacts, words: Sequence[str], fallback: Integration = Integration.HF) -> Handing | None:
    """None if nothing shows it. `fallback`: what reads the config in that case."""
    if script.problem:
        return None
    judges = (_as_written, _settings_file, _by_parser, _by_itself, _by_file, _from_environment)
    return next((found for judge in judges if (found := judge(script, words, fallback))), None)


def chosen(asked: ConfigArgument, detect: bool, script: ScriptFacts, words: Sequence[str]) -> ConfigArgument:
    """What was asked for, unless the script is to decide and shows it."""
    found = handing(script, words, asked.integration) if detect else None
    return found.argument if found else asked


def takes_local_rank(script: ScriptFacts, words: Sequence[str]) -> bool:
    """--local_rank comes before all arguments, so a script that expects a settings file first would not find it."""
    by_file = script.parser in (Parser.TRAINER, Parser.DATACLASSES, Parser.NONE) and is_settings_file(words)
    return script.passes_local_rank and not by_file


def is_settings_file(words: Sequence[str]) -> bool:
    """`train.py settings.yaml …`"""
    return bool(words) and not words[0].startswith("-") and words[0].endswith(_SETTINGS)


def mentions(words: Iterable[str]) -> bool:
    """Whether the arguments, or the values of variables, refer to the config's path."""
    return any(PLACEHOLDER in word for word in words)


def own_option(script: ScriptFacts, words: Sequence[str]) -> str:
    """The script's own option for the config, which its parser defines and which was not given; "" for none."""
    read = [f"--{call.option}" for call in script.config_calls if call.option]
    named = (option for option in (*read, *CONFIG_OPTIONS) if script.options.get(option))
    found = next(named, "")
    return found if found and value_of(words, (found,)) is None else ""


def own_file(script: ScriptFacts, values: Values | None = None) -> str:
    """The path of that config if the source names one, otherwise "". `values`: what its options are worth."""
    own = own_config(script)
    named = own_worth(own, values) if own else None
    return named if isinstance(named, str) and PLACEHOLDER not in named else ""


def own_worth(own: ConfigCall, values: Values | None) -> Any:
    """What the call is given as its config: a path, a dict, None for none; UNSET where that is not known."""
    if own.value is not None:
        return own.value
    return values.value(own.expression) if values and own.expression else UNSET


def own_config(script: ScriptFacts) -> ConfigCall | None:
    """The call in which the script names its own config."""
    return next((call for call in script.config_calls if call.config and call.caller in _READ_BY), None)


def _as_written(script: ScriptFacts, words: Sequence[str], fallback: Integration) -> Handing | None:
    if not mentions(words):
        return None
    return Handing(itself(_reader(script, fallback)), said("handing", "placeholder", placeholder=PLACEHOLDER))


def _reader(script: ScriptFacts, fallback: Integration) -> Integration:
    callers = {call.caller for call in script.config_calls}
    if script.parser is Parser.TRAINER or callers & set(_BY_TRAINER):
        return Integration.HF
    return Integration.NATIVE if callers else fallback


def _settings_file(script: ScriptFacts, words: Sequence[str], fallback: Integration) -> Handing | None:
    """LLaMA-Factory takes what follows the file as `key=value`; HfArgumentParser takes a file alone."""
    if not is_settings_file(words):
        return None
    if any(call.caller is Caller.LLAMA_FACTORY for call in script.config_calls):
        return Handing(ConfigArgument.OVERRIDE, said("handing", "llama_factory_file", file=words[0]))
    if script.parser is Parser.TRAINER and len(words) == 1:
        return Handing(ConfigArgument.TRAINER, said("handing", "file", file=words[0]))
    return None


def _by_parser(script: ScriptFacts, words: Sequence[str], fallback: Integration) -> Handing | None:
    if script.parser is Parser.TRAINER:
        return Handing(ConfigArgument.HF, said("handing", "trainer"))
    factory = next((call for call in script.config_calls if call.caller is Caller.LLAMA_FACTORY), None)
    if factory:
        return Handing(ConfigArgument.HF, said("handing", "llama_factory", line=str(factory.line)))
    if script.parser is Parser.DEEPSPEED and not _refuses_both(script):
        return Handing(ConfigArgument.NATIVE, said("handing", "deepspeed"))
    if script.options.get("--deepspeed") and any(call.caller in _BY_TRAINER for call in script.config_calls):
        return Handing(ConfigArgument.HF, said("handing", "parser_with_value"))
    if _takes_both(script):
        return Handing(ConfigArgument.NATIVE, said("handing", "parser_with_both"))
    return None


def _takes_both(script: ScriptFacts) -> bool:
    """`--deepspeed --deepspeed_config FILE`: the first may stand without a value."""
    named = script.options
    return (
        "--deepspeed" in named
        and script.values_of("--deepspeed") in OPTIONAL
        and named.get("--deepspeed_config", False)
    )


def _refuses_both(script: ScriptFacts) -> bool:
    """deepspeed/__init__.py: "Not sure how to proceed, we were given deepspeed configs in the deepspeed arguments and
    deepspeed.initialize() function call"."""
    return any(call.caller is Caller.ENGINE and call.config and call.takes_arguments for call in script.config_calls)


def _by_itself(script: ScriptFacts, words: Sequence[str], fallback: Integration) -> Handing | None:
    own = own_config(script)
    return Handing(itself(_READ_BY[own.caller]), shown(own)) if own else None


def _by_file(script: ScriptFacts, words: Sequence[str], fallback: Integration) -> Handing | None:
    return Handing(ConfigArgument.TRAINER, said("handing", "by_file")) if script.by_file else None


def shown(call: ConfigCall) -> Said:
    """`line 12: TrainingArguments is given "ds.json"`."""
    config = call.config if len(call.config) <= _MOST_SHOWN else f"{call.config[:_MOST_SHOWN]}…"
    return said("handing", "call", line=str(call.line), caller=_named(call.caller), config=config)


def _named(caller: Caller) -> str | Said:
    return said("handing", "lightning") if caller is Caller.STRATEGY else caller.value


def _from_environment(script: ScriptFacts, words: Sequence[str], fallback: Integration) -> Handing | None:
    for caller, argument in _BY_ENVIRONMENT.items():
        call = next((call for call in script.config_calls if call.caller is caller), None)
        if call:
            return Handing(argument, said("handing", "given_none", line=str(call.line), caller=_named(caller)))
    return None
