"""The folders that a run's script writes its points to, according to its plan and its config."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dsgui.core.launch.checkpoint import RESUME
from dsgui.core.launch.plan import Plan
from dsgui.core.script.words import OUTPUT_OPTIONS, folders_of, value_of

_JOB_NAME = "DeepSpeedJobName"  # deepspeed/monitor/config.py
_TRAINER_OUTPUT = "trainer_output"  # transformers/training_args.py, where --output_dir is not given
_OWN_DEPTH = 4  # output/translation/runs/<date>, seen from the run's own folder
_RUNS_DEPTH = 2
_SEARCH_DEPTH, _MOST_SEARCHED = 3, 8
NEWEST = "the newest checkpoint"
_YES, _NO = ("true", "1", "yes"), ("", "false", "0", "no", "none")


@dataclass(frozen=True, slots=True)
class Sources:
    """Absolute folders. `csv` contain DeepSpeed's CSV files directly; `events` are searched for TensorBoard files down
    to a depth, and so, less often, are `searched`, where trackers may write to folders of any name. `states` are
    searched for trainer_state.json, in them and in their checkpoints. `batch` is train_batch_size if it is a number in
    the config. `resumes` is the checkpoint that the script resumes from, or `NEWEST`, or ""."""

    csv: tuple[str, ...] = ()
    events: tuple[tuple[str, int], ...] = ()
    states: tuple[tuple[str, int], ...] = ()
    batch: int | None = None
    resumes: str = ""
    searched: tuple[tuple[str, int], ...] = ()


def sources(plan: Plan, config: Mapping[str, Any]) -> Sources:
    """`config` is the parsed config as launched."""
    outputs = _outputs(plan)
    events = [(folder, 0) for folder in _monitored(plan, config, "tensorboard")]
    events += [(posixpath.join(folder, "runs") if not depth else folder, depth or _RUNS_DEPTH)
               for folder, depth in outputs]  # fmt: skip
    events += [(folder, _RUNS_DEPTH) for folder in _logging_folders(plan)]
    return Sources(
        _monitored(plan, config, "csv_monitor"),
        tuple(dict.fromkeys(events)),
        outputs,
        _batch(config),
        _resumes(plan),
        _searched(plan),
    )


def _monitored(plan: Plan, config: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Where DeepSpeed's monitor of that name writes; () if it is not enabled."""
    block = config.get(key)
    if not isinstance(block, dict) or block.get("enabled") not in (True, "true", "True", 1):
        return ()
    path, job = block.get("output_path", ""), block.get("job_name", _JOB_NAME)
    if not isinstance(path, str) or not isinstance(job, str):
        return ()
    return (_absolute(plan, posixpath.join(path, job)),)


def _outputs(plan: Plan) -> tuple[tuple[str, int], ...]:
    """Where the Trainer saves, and how deep to search below. Without an option: all of the run's own folder."""
    given = value_of(plan.arguments, OUTPUT_OPTIONS)
    if given:
        return ((_absolute(plan, given), 0),)
    if plan.working_directory == plan.run_directory:
        return ((plan.run_directory, _OWN_DEPTH),)
    return ((_absolute(plan, _TRAINER_OUTPUT), 0),)


def _searched(plan: Plan) -> tuple[tuple[str, int], ...]:
    """The folders that the arguments name, and the working directory: accelerate's trackers write to
    `<project_dir>/<project>`, HelloDeepSpeed to `<checkpoint_dir>/<experiment>/tb_dir`."""
    given = [_absolute(plan, one) for one in folders_of(plan.arguments)[:_MOST_SEARCHED]]
    return tuple((folder, _SEARCH_DEPTH) for folder in dict.fromkeys([*given, plan.working_directory]))


def _logging_folders(plan: Plan) -> tuple[str, ...]:
    """What the HF Trainer is given (an option up to release 4, a variable since then), and torch's own default."""
    given = value_of(plan.arguments, ("--logging_dir",)), plan.environment.get("TENSORBOARD_LOGGING_DIR")
    return tuple(_absolute(plan, folder) for folder in (*filter(None, given), "runs"))


def _resumes(plan: Plan) -> str:
    given = value_of(plan.arguments, (RESUME,)) or ""
    if given.lower() in _NO:
        return ""
    return NEWEST if given.lower() in _YES else _absolute(plan, given)


def _absolute(plan: Plan, path: str) -> str:
    return posixpath.normpath(posixpath.join(plan.working_directory, path))


def _batch(config: Mapping[str, Any]) -> int | None:
    size = config.get("train_batch_size")
    return size if isinstance(size, int) and not isinstance(size, bool) and size > 0 else None
