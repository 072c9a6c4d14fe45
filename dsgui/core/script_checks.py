"""Checks of the script before a start: it is Python, takes the config as it is given, and loads its model so that
ZeRO-3 can. None where there is nothing to judge."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from dsgui.core.context import Integration, version_tuple
from dsgui.core.plan import ConfigArgument, StartedBy
from dsgui.core.planned import Question
from dsgui.core.pointer import MISSING, lookup
from dsgui.core.remedies import USE_CPU
from dsgui.core.rules.base import zero_stage
from dsgui.core.script import Parser, ScriptFacts
from dsgui.core.verdicts import Verdict, ok, problem, unknown, warning
from dsgui.core.words import value_of

# transformers/modeling_utils.py: until 4.50 low_cpu_mem_usage=True raised too; 4.51 and newer take no notice of it.
LOW_MEMORY_IGNORED_SINCE = "4.51"
_REFUSED = "DeepSpeed Zero-3 is not compatible with passing a `device_map`."
_REFUSED_BEFORE = "DeepSpeed Zero-3 is not compatible with `low_cpu_mem_usage=True` or with passing a `device_map`."
_SAY_HOW = (
    "Say how the script takes its config (Launch: “How the script takes the config”; command line: --reader hf, native "
    "or none), or add the option to the script."
)
_ONE_ARGUMENT = "argument --deepspeed: expected one argument"
_BOTH = "--deepspeed --deepspeed_config FILE"


def readable(question: Question) -> Verdict | None:
    script = question.around.script
    if not question.launch.script:
        return None
    if not script.problem:
        return ok(question.launch.script)
    seen = f"{question.launch.script} can't be read as Python: {script.problem}."
    advice = "Give the file that trains, and correct it if it is that."
    newer = version_tuple(_python(question))[:2] > question.around.own_python
    return warning(f"{seen} The Python that trains is newer and may.", advice) if newer else problem(seen, advice)


def _python(question: Question) -> str:
    environment = question.around.machine.environment
    return environment.target.python_version if environment else ""


def takes_config(question: Question) -> Verdict | None:
    script, argument = question.around.script, question.launch.config_argument
    if not question.launch.script or script.problem or argument is ConfigArgument.NONE:
        return None
    return _BY_PARSER[script.parser](script, argument)


def _no_parser(script: ScriptFacts, argument: ConfigArgument) -> Verdict:
    if script.takes_deepspeed:
        return ok("its source names --deepspeed")
    return unknown(f"No reading of a command line is seen in the script; it is given {argument.value}.")


def _elsewhere(script: ScriptFacts, argument: ConfigArgument) -> Verdict:
    if script.takes_deepspeed:
        return ok("its source names --deepspeed")
    return warning(
        f"The script reads a command line and names no --deepspeed itself; it is given {argument.value}. Unless "
        "another file adds the option, it stops with exit code 2.",
        _SAY_HOW,
    )


def _lenient(script: ScriptFacts, argument: ConfigArgument) -> Verdict:
    if _resolved(script.options, "--deepspeed"):
        return ok("its parser names --deepspeed")
    return unknown(
        "The script lets unknown arguments pass; whether it reads its config from --deepspeed can't be seen."
    )


def _known(script: ScriptFacts, argument: ConfigArgument, refuses: Callable[..., str]) -> Verdict:
    """Of a parser whose answer is certain; `refuses` gives argparse's words, "" where it takes the config."""
    words = refuses(script, argument)
    if not words:
        return ok(f"{script.parser.value}: it takes {argument.value}")
    return problem(f"The script is given {argument.value} and ends with exit code 2: “{words}”.", _SAY_HOW)


def _trainer_refuses(script: ScriptFacts, argument: ConfigArgument) -> str:
    """HfArgumentParser with TrainingArguments: --deepspeed has a value."""
    return "" if argument is ConfigArgument.HF else _ONE_ARGUMENT


def _deepspeed_refuses(script: ScriptFacts, argument: ConfigArgument) -> str:
    """deepspeed.add_config_arguments: --deepspeed is a switch."""
    return "" if argument is ConfigArgument.NATIVE else "unrecognized arguments: FILE"


def _argparse_refuses(script: ScriptFacts, argument: ConfigArgument) -> str:
    config = _resolved(script.options, "--deepspeed_config")
    named = _resolved(script.options, "--deepspeed")
    native = argument is ConfigArgument.NATIVE
    if not named:
        return f"unrecognized arguments: {argument.value}"
    takes_value = script.options[named]
    if not native:
        return "" if takes_value else "unrecognized arguments: FILE"
    if takes_value:
        return _ONE_ARGUMENT if named == "--deepspeed" else f"argument {named}: expected one argument"
    return "" if config else "unrecognized arguments: --deepspeed_config FILE"


def _resolved(options: Mapping[str, bool], word: str) -> str:
    """The option that argparse takes `word` for: its own name, or the only one that begins so."""
    if word in options:
        return word
    begun = [option for option in options if option.startswith(word)]
    return begun[0] if len(begun) == 1 else ""


_BY_PARSER: dict[Parser, Callable[[ScriptFacts, ConfigArgument], Verdict]] = {
    Parser.NONE: _no_parser,
    Parser.ELSEWHERE: _elsewhere,
    Parser.LENIENT: _lenient,
    Parser.TRAINER: partial(_known, refuses=_trainer_refuses),
    Parser.DEEPSPEED: partial(_known, refuses=_deepspeed_refuses),
    Parser.ARGPARSE: partial(_known, refuses=_argparse_refuses),
}


def given_twice(question: Question) -> Verdict | None:
    launch = question.launch
    option = {ConfigArgument.HF: "--deepspeed", ConfigArgument.NATIVE: "--deepspeed_config"}.get(launch.config_argument)
    typed = value_of(launch.arguments, (option,)) if option else None
    if typed is None:
        return None
    if not typed:
        sure = question.around.script.parser in (Parser.TRAINER, Parser.DEEPSPEED, Parser.ARGPARSE)
        return (problem if sure else warning)(
            f"{option} is among the arguments without a value: argparse ends with exit code 2, “expected one "
            "argument”.",
            f"Leave {option} out of the arguments: the config is passed already.",
        )
    return warning(
        f"{option} is given twice: as {typed} in the arguments, and for this config. The last one counts, which is "
        "this config.",
        "Leave it out of the arguments; to run with the other file, open that one.",
    )


def use_cpu(question: Question) -> Verdict | None:
    """transformers/training_args.py, `_setup_devices`: without use_cpu and without a GPU each rank counts one rank. The
    train batch size it reckons with is then too small for DeepSpeed, or, where the config has none, every rank trains
    on all of the data."""
    launch, script = question.launch, question.around.script
    if script.parser is not Parser.TRAINER or script.sets_use_cpu or not _trains_on_cpu(question):
        return None
    if _is_on(launch.arguments, USE_CPU):
        return ok("given")
    if any(_is_on(launch.arguments, option) for option in ("--bf16", "--bf16_full_eval")):
        return problem("Without it the HF Trainer stops at --bf16: “Your setup doesn't support bf16/gpu”.", _ADD_IT)
    if launch.ranks == 1:
        return None
    alone = f"Without it each of the {launch.ranks} ranks takes itself for the only one"
    if lookup(question.config, "/train_batch_size") is not MISSING:
        return problem(f"{alone}, and DeepSpeed stops at a train_batch_size made for one rank.", _ADD_IT)
    return warning(f"{alone}, so that every rank trains on all of the data.", _ADD_IT)


_ADD_IT = "Add --use_cpu to the arguments: the HF Trainer looks for a GPU without it."


def _trains_on_cpu(question: Question) -> bool:
    """Only where it is sure."""
    environment = question.around.machine.environment
    if environment is None or question.launch.elsewhere or question.gpus:
        return False
    if question.launch.reader is not Integration.HF:
        return False
    return environment.target.accelerator == "cpu" or environment.target.version("torch").endswith("+cpu")


def _is_on(words: Sequence[str], option: str) -> bool:
    value = value_of(words, (option,))
    return value is not None and value.lower() not in ("false", "no", "f", "n", "0")


def local_rank(question: Question) -> Verdict | None:
    launch = question.launch
    if not launch.script or question.around.script.problem:
        return None
    if launch.started_by is StartedBy.TORCHRUN:
        return ok("torchrun passes none")
    if launch.passes_local_rank:
        return ok("the script takes it, or has no parser that would stop at it")
    return ok("the script does not take it, so the launcher is told not to pass it (--no_local_rank)")


def loads_for_stage_3(question: Question) -> Verdict | None:
    launch, script = question.launch, question.around.script
    by_trainer = launch.config_argument is ConfigArgument.HF or script.parser is Parser.TRAINER
    told = by_trainer or script.tells_transformers
    if not launch.script or not told or zero_stage(question.config) != 3:
        return None
    version = question.around.version("transformers")
    sure = [found for found in script.breaks_stage_3 if _raises(found[0], version)]
    if any(name == "device_map" or version for name, _ in sure):
        return problem(f"{_shown(sure)} with ZeRO-3: transformers raises “{_words(version)}”", _TAKE_OUT)
    perhaps = [*sure, *(found for found in script.may_break_stage_3 if _raises(found[0], version))]
    if perhaps:
        return warning(
            f"{_shown(perhaps)} with ZeRO-3: where it is set{_in_old_releases(perhaps)}, transformers raises "
            f"“{_words(version) if _in_all(perhaps) else _REFUSED_BEFORE}”",
            _TAKE_OUT,
        )
    return ok("from_pretrained is given nothing that ZeRO-3 refuses")


_TAKE_OUT = "Leave it out of from_pretrained: with ZeRO-3 DeepSpeed divides the parameters over the ranks."


def _in_old_releases(found: list[tuple[str, int]]) -> str:
    return "" if _in_all(found) else f" and transformers is older than {LOW_MEMORY_IGNORED_SINCE}"


def _in_all(found: list[tuple[str, int]]) -> bool:
    return any(name == "device_map" for name, _ in found)


def _raises(keyword: str, version: str) -> bool:
    return keyword == "device_map" or not _ignores_low_memory(version)


def _ignores_low_memory(version: str) -> bool:
    return bool(version) and version_tuple(version) >= version_tuple(LOW_MEMORY_IGNORED_SINCE)


def _words(version: str) -> str:
    return _REFUSED if not version or _ignores_low_memory(version) else _REFUSED_BEFORE


def _shown(found: list[tuple[str, int]]) -> str:
    return ", ".join(f"{name}= in line {line}" for name, line in found)
