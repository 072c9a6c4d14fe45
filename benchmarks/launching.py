"""What the benchmarks of run supervision share: runs of `training.py` in a folder that goes away, and waiting."""

import contextlib
import json
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.run import TOKEN
from dsgui.core.launch.plan import ConfigArgument, LaunchRequest
from dsgui.core.launch.state import Identity, RunState
from dsgui.core.runs.news import Cursor
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.runs.store import Store

TRAINING = Path(__file__).with_name("training.py")
CONFIG_TEXT = json.dumps(
    {
        "train_micro_batch_size_per_gpu": 64,
        "zero_optimization": {"stage": 1},
        "optimizer": {"type": "Adam", "params": {"lr": 0.001, "torch_adam": True}},
    }
)
# The first run on a machine compiles DeepSpeed's operators.
_PATIENCE_S = 600


def wait_until(condition: Callable[[], object], what: str, timeout_s: float = _PATIENCE_S) -> None:
    """Polls; raises TimeoutError."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: waited {timeout_s:.0f} s in vain")
        time.sleep(0.1)


def request(script: Path, arguments: str, python: str = sys.executable) -> LaunchRequest:
    """Two CPU ranks under DeepSpeed's launcher."""
    return LaunchRequest(
        name="",
        script=str(script),
        arguments=arguments,
        ranks=2,
        gpu_indices=(),
        master_port=None,
        working_directory="",
        config_text=CONFIG_TEXT,
        config_argument=ConfigArgument.HF,
        target_python=python,
        environment={},
    )


@contextlib.contextmanager
def runs_in_a_folder() -> Iterator[tuple[Path, Runs]]:
    """A store that goes away; no run started in it outlives the block."""
    with tempfile.TemporaryDirectory(prefix="dsgui bench ") as folder:
        runs = Runs(Store(Path(folder) / "runs"), Launcher(grace_s=2))
        try:
            yield Path(folder), runs
        finally:
            for run in runs.list():
                end(runs, run.run_id)


def end(runs: Runs, run_id: str) -> None:
    """Stops the run if it goes on, and waits until it has ended."""
    if runs.summary(run_id).state.live:
        runs.stop(run_id)
    wait_until(lambda: not runs.summary(run_id).state.live, "the run's end")


def printed(runs: Runs, run_id: str, text: str) -> bool:
    """Whether the run's output has `text` near its end. Raises RuntimeError when it has failed."""
    delta = runs.follow(run_id, Cursor())
    if delta.state is RunState.FAILED:
        raise RuntimeError(f"{delta.reason}\n{delta.output[-2000:]}")
    return text in delta.output


class FollowingPage:
    """What an open page asks of a server: once a second, only for news."""

    def __init__(self, port: int, run_id: str) -> None:
        self._address = f"http://127.0.0.1:{port}/dsgui/runs/{run_id}"
        self._cursor: dict[str, int] = {}

    def follow(self) -> dict[str, Any]:
        """One poll."""
        query = urllib.parse.urlencode(self._cursor)
        asked = urllib.request.Request(f"{self._address}?{query}", headers={"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(asked, timeout=60) as answer:
            found: dict[str, Any] = json.load(answer)
        self._cursor = found["cursor"]
        return found


def supervisor_of(store: Store, run_id: str) -> Identity:
    """The process that owns the run."""
    status = store.open(run_id).read_status()
    if status is None or status.supervisor is None:
        raise RuntimeError(f"run {run_id} has no supervisor")
    return status.supervisor
