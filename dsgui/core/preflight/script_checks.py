"""Checks of the script before a start: it is Python, is given nothing twice, and loads its model so that ZeRO-3 can.
None where there is nothing to judge."""

from collections.abc import Sequence

from dsgui.core.config.context import Integration, version_tuple
from dsgui.core.config.pointer import MISSING, lookup
from dsgui.core.diagnosis.remedies import TF32, USE_CPU
from dsgui.core.launch.plan import ConfigArgument, StartedBy
from dsgui.core.machine.verdicts import Verdict, advise, ok, problem, saw, warning
from dsgui.core.preflight.surroundings import Question
from dsgui.core.rules.base import zero_stage
from dsgui.core.script.script import Parser
from dsgui.core.script.words import value_of
from dsgui.core.texts.saying import Said, listed

# transformers/modeling_utils.py: until 4.50 low_cpu_mem_usage=True raised too; 4.51 and newer take no notice of it.
LOW_MEMORY_IGNORED_SINCE = "4.51"
_AMPERE = (8, 0)
_MOST_CALLS, _LONGEST_CALL = 3, 60
_REFUSED = "DeepSpeed Zero-3 is not compatible with passing a `device_map`."
_REFUSED_BEFORE = "DeepSpeed Zero-3 is not compatible with `low_cpu_mem_usage=True` or with passing a `device_map`."


def readable(question: Question) -> Verdict | None:
    script = question.around.script
    if not question.launch.script:
        return None
    if not script.problem:
        return ok(saw("script.found", path=question.launch.script))
    seen = saw("script.unreadable", path=question.launch.script, why=script.problem)
    newer = version_tuple(_python(question))[:2] > question.around.own_python
    if newer:
        return warning((seen, saw("script.newer_python")), advise("script.select"))
    return problem(seen, advise("script.select"))


def _python(question: Question) -> str:
    environment = question.around.machine.environment
    return environment.target.python_version if environment else ""


CONFIG_OPTIONS = {ConfigArgument.HF: "--deepspeed", ConfigArgument.NATIVE: "--deepspeed_config"}


def given_twice(question: Question) -> Verdict | None:
    launch = question.launch
    option = CONFIG_OPTIONS.get(launch.config_argument)
    typed = value_of(launch.arguments, (option,)) if option else None
    if option is None or typed is None:
        return None
    if not typed:
        sure = question.around.script.parser in (Parser.TRAINER, Parser.DATACLASSES, Parser.DEEPSPEED, Parser.ARGPARSE)
        return (problem if sure else warning)(
            saw("twice.no_value", option=option), advise("twice.remove_option", option=option)
        )
    return warning(saw("twice.given", option=option, typed=typed), advise("twice.remove"))


def use_cpu(question: Question) -> Verdict | None:
    """transformers/training_args.py, `_setup_devices`: without use_cpu and without a GPU each rank counts one rank. The
    train batch size it reckons with is then too small for DeepSpeed, or, where the config has none, every rank trains
    on all of the data."""
    launch, script = question.launch, question.around.script
    if script.parser is not Parser.TRAINER or script.sets_use_cpu or not _trains_on_cpu(question):
        return None
    file, words = question.taken.file, question.taken.words_with_file
    add = advise("use_cpu.add_to_file", path=file.path) if file.path else advise("use_cpu.add")
    if _is_on(words, USE_CPU):
        return ok(saw("use_cpu.given"))
    if any(_is_on(words, option) for option in ("--bf16", "--bf16_full_eval")):
        return problem(saw("use_cpu.bf16"), add)
    if launch.ranks == 1:
        return None
    ranks = str(launch.ranks)
    if lookup(question.config, "/train_batch_size") is not MISSING:
        return problem(saw("use_cpu.batch_of_one_rank", ranks=ranks), add)
    return warning(saw("use_cpu.all_of_the_data", ranks=ranks), add)


def tf32(question: Question) -> Verdict | None:
    """transformers/training_args.py: `is_torch_tf32_available`, of the GPU of each rank; without CUDA it is False."""
    launch = question.launch
    if question.around.script.parser is not Parser.TRAINER or not _is_on(launch.arguments, TF32) or launch.elsewhere:
        return None
    if _trains_on_cpu(question):
        return problem(saw("tf32.cpu"), advise("tf32.remove"))
    older = [gpu.name for gpu in question.gpus if gpu.capability and gpu.capability < _AMPERE]
    return problem(saw("tf32.older", gpu=older[0]), advise("tf32.remove")) if older else None


def asks_for_cuda(question: Question) -> Verdict | None:
    """torch/cuda/__init__.py, `_lazy_init`. What the source names may stand in a branch that this run does not take."""
    found = question.around.script.asks_for_cuda
    if not found or not _has_no_gpu(question):
        return None
    calls = [saw("asks_for_cuda.call", call=call[:_LONGEST_CALL], line=str(line)) for call, line in found[:_MOST_CALLS]]
    more = len(found) - len(calls)
    named = listed([*calls, saw("asks_for_cuda.more", count=str(more))]) if more else listed(calls)
    return warning(saw("asks_for_cuda.found", calls=named), advise("asks_for_cuda.follow"))


def _trains_on_cpu(question: Question) -> bool:
    """Only where it is sure."""
    return question.launch.reader is Integration.HF and _has_no_gpu(question)


def _has_no_gpu(question: Question) -> bool:
    """Of this machine, and only where it is sure."""
    environment = question.around.machine.environment
    if environment is None or question.launch.elsewhere or question.gpus:
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
        return ok(saw("local_rank.torchrun"))
    if launch.passes_local_rank:
        return ok(saw("local_rank.taken"))
    return ok(saw("local_rank.not_passed"))


def loads_for_stage_3(question: Question) -> Verdict | None:
    launch, script = question.launch, question.around.script
    by_trainer = launch.reader is Integration.HF or script.parser is Parser.TRAINER
    told = by_trainer or script.tells_transformers
    if not launch.script or not told or zero_stage(question.config) != 3:
        return None
    version = question.around.version("transformers")
    sure = [found for found in script.breaks_stage_3 if _raises(found[0], version)]
    if any(name == "device_map" or version for name, _ in sure):
        return problem(saw("stage_3.refused", arguments=_shown(sure), words=_words(version)), advise("stage_3.remove"))
    perhaps = [*sure, *(found for found in script.may_break_stage_3 if _raises(found[0], version))]
    if perhaps:
        return warning(_may_be_refused(perhaps, version), advise("stage_3.remove"))
    return ok(saw("stage_3.nothing_refused"))


def _may_be_refused(found: list[tuple[str, int]], version: str) -> Said:
    if _in_all(found):
        return saw("stage_3.refused_if_set", arguments=_shown(found), words=_words(version))
    return saw(
        "stage_3.refused_before", arguments=_shown(found), release=LOW_MEMORY_IGNORED_SINCE, words=_REFUSED_BEFORE
    )


def _in_all(found: list[tuple[str, int]]) -> bool:
    return any(name == "device_map" for name, _ in found)


def _raises(keyword: str, version: str) -> bool:
    return keyword == "device_map" or not _ignores_low_memory(version)


def _ignores_low_memory(version: str) -> bool:
    return bool(version) and version_tuple(version) >= version_tuple(LOW_MEMORY_IGNORED_SINCE)


def _words(version: str) -> str:
    return _REFUSED if not version or _ignores_low_memory(version) else _REFUSED_BEFORE


def _shown(found: list[tuple[str, int]]) -> str | Said:
    return listed([saw("stage_3.argument", name=name, line=str(line)) for name, line in found])
