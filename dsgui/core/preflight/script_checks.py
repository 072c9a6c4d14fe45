"""Checks of the script before a start: it is Python, is given nothing twice, and loads its model so that ZeRO-3 can.
None where there is nothing to judge."""

from collections.abc import Sequence

from dsgui.core.config.context import Integration, version_tuple
from dsgui.core.config.pointer import MISSING, lookup
from dsgui.core.diagnosis.remedies import USE_CPU
from dsgui.core.launch.plan import ConfigArgument, StartedBy
from dsgui.core.machine.verdicts import Verdict, ok, problem, warning
from dsgui.core.preflight.surroundings import Question
from dsgui.core.rules.base import zero_stage
from dsgui.core.script.script import Parser
from dsgui.core.script.words import value_of

# transformers/modeling_utils.py: until 4.50 low_cpu_mem_usage=True raised too; 4.51 and newer take no notice of it.
LOW_MEMORY_IGNORED_SINCE = "4.51"
_REFUSED = "DeepSpeed Zero-3 is not compatible with passing a `device_map`."
_REFUSED_BEFORE = "DeepSpeed Zero-3 is not compatible with `low_cpu_mem_usage=True` or with passing a `device_map`."


def readable(question: Question) -> Verdict | None:
    script = question.around.script
    if not question.launch.script:
        return None
    if not script.problem:
        return ok(question.launch.script)
    seen = f"{question.launch.script} can't be read as Python: {script.problem}."
    advice = "Select the training script, or fix it."
    newer = version_tuple(_python(question))[:2] > question.around.own_python
    return (
        warning(f"{seen} The training environment’s is newer and may accept it.", advice)
        if newer
        else problem(seen, advice)
    )


def _python(question: Question) -> str:
    environment = question.around.machine.environment
    return environment.target.python_version if environment else ""


CONFIG_OPTIONS = {ConfigArgument.HF: "--deepspeed", ConfigArgument.NATIVE: "--deepspeed_config"}


def given_twice(question: Question) -> Verdict | None:
    launch = question.launch
    option = CONFIG_OPTIONS.get(launch.config_argument)
    typed = value_of(launch.arguments, (option,)) if option else None
    if typed is None:
        return None
    if not typed:
        sure = question.around.script.parser in (Parser.TRAINER, Parser.DATACLASSES, Parser.DEEPSPEED, Parser.ARGPARSE)
        return (problem if sure else warning)(
            f"{option} has no value in the arguments: argparse ends with exit code 2, “expected one argument”.",
            f"Remove {option} from the arguments: the config is already passed.",
        )
    return warning(
        f"{option} is given twice: as {typed} in the arguments, and for this config. The last one counts, which is "
        "this config.",
        "Remove it from the arguments; to run with the other file, open that file.",
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
    alone = f"Without it each of the {launch.ranks} ranks acts as the only one"
    if lookup(question.config, "/train_batch_size") is not MISSING:
        return problem(f"{alone}, and DeepSpeed stops at a train_batch_size made for one rank.", _ADD_IT)
    return warning(f"{alone}, so every rank trains on all of the data.", _ADD_IT)


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
    return ok("the script doesn't accept it, so the launcher doesn't pass it (--no_local_rank)")


def loads_for_stage_3(question: Question) -> Verdict | None:
    launch, script = question.launch, question.around.script
    by_trainer = launch.reader is Integration.HF or script.parser is Parser.TRAINER
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


_TAKE_OUT = "Remove it from from_pretrained: with ZeRO-3, DeepSpeed partitions the parameters across the ranks."


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
