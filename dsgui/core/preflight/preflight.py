"""Before a start: what would stop this launch or make it slow, one table of checks, each a sentence on what was seen,
what was expected and what to do. Facts in, rows out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from dsgui.core.access.secrets import mask, secret_arguments
from dsgui.core.config.context import Integration
from dsgui.core.config.findings import Finding, Severity, has_error, stops_before
from dsgui.core.machine.verdicts import (
    Check,
    Row,
    Sentences,
    Status,
    Verdict,
    advise,
    ok,
    problem,
    saw,
    unknown,
    warning,
    worst_first,
)
from dsgui.core.preflight import (
    argument_checks,
    build_checks,
    handing_checks,
    memory_check,
    room_checks,
    script_checks,
    slurm_check,
    ticked_checks,
    value_checks,
)
from dsgui.core.preflight.surroundings import Launch, Question, Surroundings
from dsgui.core.rules.trainer import DIFFERING
from dsgui.core.rules.trainer import RULES as TRAINERS_RULES
from dsgui.core.texts.saying import Said, altered, as_told, listed, said
from dsgui.core.validation.check_report import counted

_NO_JSON = "config.unreadable"
CONFIG = "config"
AGREEMENT = "agreement"
PLANNED = "planned"
ELSEWHERE = "elsewhere"


def is_final(rows: Iterable[Row]) -> bool:
    """Whether nobody can start it all the same: what is no JSON is no config."""
    return any(row.status is Status.PROBLEM and row.told[0].code == _NO_JSON for row in rows)


def config(question: Question) -> Verdict | None:
    launch = question.launch
    if handing_checks.reads_another(question):
        return unknown(saw("config.own"))
    if handing_checks.gets_none(question):
        return unknown(saw("config.none"))
    judge = problem if launch.handed else _perhaps
    if launch.unreadable:
        return judge((saw("config.unreadable"), as_told(launch.unreadable)), advise("config.correct"))
    errors = [finding for finding in launch.findings if finding.severity is Severity.ERROR]
    if not errors and has_error(launch.by_arguments):
        return None  # it would pass alone; the rows on it and the arguments say what stops it
    filled = _filled(launch)
    if errors:
        found = judge(_refused(errors, launch.devices), (_advice(errors[0]), *filled))
        # One press may mend them all: of the checks it is one that stops the start.
        return replace(found, found=counted(Severity.ERROR, len(errors)) if len(errors) > 1 else None)
    warnings = [finding for finding in launch.findings if finding.severity is Severity.WARNING]
    if warnings:
        found = warning(_warned(warnings, launch.devices), (_advice(warnings[0]), *filled))
        return replace(found, count=len(warnings))
    return ok(saw("config.checked", devices=launch.devices), *filled)


_MOST_FILLED = 12


def _filled(launch: Launch) -> Sentences:
    """What the script writes itself, whatever stands in the config."""
    if not launch.filled:
        return ()
    keys = [saw("config.filled_key", key=key, line=str(line)) for key, line in launch.filled[:_MOST_FILLED]]
    return (saw("config.filled", keys=listed(keys)),)


def _refused(errors: Sequence[Finding], devices: str) -> Said:
    """The first in its own words, the others as their number."""
    given, more = {"devices": devices, "first": errors[0].message}, len(errors) - 1
    if stops_before(errors):
        found = saw("config.trainer_refuses", **given)
        return saw("config.trainer_refuses_and_more", **given, more=str(more)) if more else found
    found = saw("config.refused", **given)
    return saw("config.refused_and_more", **given, more=str(more)) if more else found


def _warned(warnings: Sequence[Finding], devices: str) -> Said:
    given = {"devices": devices, "first": warnings[0].message}
    if len(warnings) > 1:
        return saw("config.warned_and_more", **given, more=str(len(warnings) - 1))
    return saw("config.warned", **given)


def _advice(finding: Finding) -> Said:
    return as_told(finding.advice) if finding.advice else advise("config.see_configure")


def _perhaps(seen: Said | Sentences, advice: Said | Sentences) -> Verdict:
    """Of a config that the script is not given, and may read all the same."""
    told = seen if isinstance(seen, tuple) else (seen,)
    return warning((*told, saw("config.if_read")), advice)


def takes_config(question: Question) -> Verdict | None:
    """None where the row on the file of arguments tells the same."""
    return None if argument_checks.stands_beside(question) else handing_checks.takes_config(question)


def elsewhere(question: Question) -> Verdict | None:
    names = question.launch.elsewhere
    return unknown(saw("elsewhere.not_checked", machines=names)) if names else None


_ARGPARSE, _BUILDER = "docs.python.org/3/library/argparse.html", "deepspeed/ops/op_builder/builder.py"
_ENGINE = "deepspeed/runtime/engine.py: _configure_basic_optimizer"
_ESTIMATORS = (
    "deepspeed/runtime/zero/stage_1_and_2.py: estimate_zero2_model_states_mem_needs, "
    "stage3.py: estimate_zero3_model_states_mem_needs"
)
CHECKS: tuple[Check[Question], ...] = (
    Check("slurm", "sinfo(1), scontrol(1)", slurm_check.slurm),  # where nothing can be submitted, all else waits
    Check(CONFIG, "", config),
    Check("script", "", script_checks.readable),
    Check(handing_checks.TAKES_CONFIG, _ARGPARSE, takes_config),
    Check("accelerate", "accelerate/accelerator.py", handing_checks.accelerate),
    Check("twice", _ARGPARSE, script_checks.given_twice),
    Check("options", "transformers/hf_argparser.py, argparse", argument_checks.options),
    Check("values", "transformers/training_args.py: __post_init__, argparse", value_checks.values),
    Check("arguments_file", "transformers/hf_argparser.py", argument_checks.arguments_file),
    Check("files", "", argument_checks.files, code="files_in_arguments"),
    Check("imports", "", argument_checks.imports, code="script_imports"),
    Check("use_cpu", "transformers/training_args.py: _setup_devices", script_checks.use_cpu),
    Check("asks_for_cuda", "torch/cuda/__init__.py: _lazy_init", script_checks.asks_for_cuda),
    Check("tf32", "transformers/utils/import_utils.py: is_torch_tf32_available", script_checks.tf32),
    Check("local_rank", "deepspeed/launcher/launch.py", script_checks.local_rank),
    Check("stage_3", "transformers/modeling_utils.py", script_checks.loads_for_stage_3),
    Check("packages", "", build_checks.packages),
    Check("trainer", "", build_checks.trainer),
    Check("cuda", "torch.cuda", build_checks.cuda),
    Check("operators", _ENGINE, build_checks.operators),
    Check("needs", "deepspeed/monitor/utils.py", build_checks.needs),
    Check("compiler", _BUILDER, build_checks.compiler),
    Check("ninja", f"{_BUILDER}: jit_load", build_checks.ninja),
    Check("headers", "torch/utils/cpp_extension.py", build_checks.headers),
    Check("toolkit", f"{_BUILDER}: assert_no_cuda_mismatch", build_checks.toolkit),
    Check("builds_disk", "", build_checks.builds_disk),
    Check("gpus", "deepspeed/launcher/runner.py: parse_resource_filter", room_checks.gpus),
    Check(memory_check.MODEL_MEMORY, "deepspeed/runtime/zero", memory_check.memory),
    Check("checkpointing", "transformers/training_args.py", ticked_checks.checkpointing),
    Check("zero_init", "deepspeed/runtime/zero/partition_parameters.py", ticked_checks.zero_init),
    Check("offload", _ESTIMATORS, room_checks.offload),
    Check("memlock", "deepspeed/ops/csrc/pin_memory/page_alloc.cpp", room_checks.memlock),
    Check("nvme", "deepspeed/runtime/swap_tensor", room_checks.nvme),
    Check("shm", "deepspeed/ops/csrc/cpu/comm/shm.cpp", room_checks.shared_memory),
    Check("cores", "", room_checks.cores),
    Check("port", "torch.distributed.TCPStore", room_checks.port),
    Check("checkpoints", "", room_checks.checkpoints),
    Check("runs_disk", "", room_checks.runs_disk, code="output_disk"),
    Check(ELSEWHERE, "", elsewhere),
)

# What holds of a script and its arguments wherever it trains.
OF_ARGUMENTS = frozenset({handing_checks.TAKES_CONFIG, "twice", "options", "values", "arguments_file"})
# What another config or other arguments of the script can change: not the port, the GPUs or a disk.
OF_SETTINGS = frozenset(
    {
        CONFIG,
        AGREEMENT,
        handing_checks.TAKES_CONFIG,
        "accelerate",
        "twice",
        "options",
        "values",
        "arguments_file",
        "use_cpu",
    }
    | {"tf32", "local_rank", "stage_3", "operators", "needs", "compiler", "ninja", "headers", "toolkit"}
    | {memory_check.MODEL_MEMORY, "checkpointing", "zero_init", "offload", "nvme"}
)


def preflight(launch: Launch, around: Surroundings) -> tuple[Row, ...]:
    """Every row there is for this launch, the worst first. They quote arguments: what is secret in these is hidden."""
    question = Question(launch, around)
    rows = (entry.row(question) for entry in CHECKS)
    secret = secret_arguments(launch.arguments)
    first = (*_disagreements(launch), *_own_disagreements(question), *_planned(question))
    return worst_first([_hidden(row, secret) for row in (*first, *rows) if row])


def _hidden(row: Row, values: Sequence[str]) -> Row:
    hide = partial(mask, values=values)
    texts = row.told, row.advised, row.items
    told, advised, items = (tuple(altered(one, hide) for one in several) for several in texts)
    return replace(row, told=told, advised=advised, items=items, command=hide(row.command))


_COMPARED = ("DS013.default", "DS013.different_there", "DS013.different")
_GRAVITY = {Severity.ERROR: Status.PROBLEM, Severity.WARNING: Status.WARNING}


def _disagreements(launch: Launch) -> Iterator[Row]:
    """What the script's arguments bring up about the config, in the words of `validate --training-args`; what the
    Trainer names in one error is one row."""
    differing = [(finding, short) for finding in launch.by_arguments if (short := _compared(finding))]
    together = [finding for finding, _ in differing] if len(differing) > 1 else []
    for finding in launch.by_arguments:  # what stops it before it compares comes first
        if finding.severity in _GRAVITY and finding not in together:
            yield _row(finding, _GRAVITY[finding.severity])
    if together:
        told = saw("agreement.several", count=str(len(differing)), words=DIFFERING.strip())
        lines = [saw("options.line", seen=short, advice=finding.advice) for finding, short in differing]
        title, source = said("checks", AGREEMENT), differing[0][0].source
        found = counted(Severity.ERROR, len(lines))  # one problem, as the config's
        yield Row(AGREEMENT, title, Status.PROBLEM, (told,), (), "", source, 1, tuple(lines), found)


def _compared(finding: Finding) -> Said | None:
    """What differs, without what the Trainer says of it; None where it stops otherwise."""
    given = dict(finding.says.given)
    if finding.code not in _COMPARED or not str(given["quoted"]).startswith(DIFFERING):
        return None
    key, seen, wanted = given["key"], given["seen"], given["wanted"]
    if finding.code == "DS013.default":
        return saw("agreement.default", key=key, seen=seen, wanted=wanted)
    if finding.code == "DS013.different_there":
        return saw("agreement.differs_there", key=key, seen=seen, wanted=wanted, place=given["place"])
    return saw("agreement.differs", key=key, seen=seen, wanted=wanted)


def _own_disagreements(question: Question) -> Iterator[Row]:
    """The same about the config that the script reads instead of this one, where both are known."""
    launch, around = question.launch, question.around
    if not launch.config_argument.by_itself or launch.handed or launch.reader is not Integration.HF:
        return
    arguments, own = around.trainers_arguments(launch), handing_checks.its_own_config(question)
    if arguments is None or own is None:
        return
    context = replace(question.context, integration=Integration.HF, arguments=arguments)
    for finding in (one for rule in TRAINERS_RULES for one in rule.findings(own, context)):
        if finding.severity is Severity.ERROR:
            row = _row(finding, Status.PROBLEM)
            yield replace(row, told=(saw("config.of_script"), *row.told))


def _planned(question: Question) -> Iterator[Row]:
    """The run would meet something else than its config was checked for."""
    launch, installed = question.launch, question.around.version("deepspeed")
    planned = launch.planned.hardware if launch.place.ON_THIS_MACHINE else ()
    version = launch.planned.version if installed and launch.planned.version != installed else ""
    if not planned and not version:
        return
    of = [*(card.title for card in planned), *([f"DeepSpeed {version}"] if version else [])]
    here: list[str | Said] = [said("launch_page", "this_machine")] if planned else []
    meets = [*here, *([f"DeepSpeed {installed}"] if version else [])]
    told = said("launch_page", "planned_differs", planned=listed(of), there=listed(meets))
    errors = [finding for finding in launch.only_here if finding.severity is Severity.ERROR]
    more = (said("launch_page", "planned_refused", first=errors[0].message),) if errors else ()
    status, advised = Status.PROBLEM if errors else Status.WARNING, (said("launch_page", "planned_advice"),)
    yield Row(PLANNED, said("launch_page", "planned_check"), status, (told, *more), advised)


def _row(finding: Finding, status: Status) -> Row:
    advised = (as_told(finding.advice),) if finding.advice else ()
    told = (as_told(finding.message),)
    return Row(AGREEMENT, said("checks", AGREEMENT), status, told, advised, source=finding.source)
