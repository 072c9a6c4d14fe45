"""What the tests of the run side share: a stand-in for the training environment, and waiting for a condition.

The stand-in is a real program that is started as the target Python is: it drops `-m deepspeed.launcher.runner` and its
options and runs the script, so that everything but DeepSpeed itself is real.
"""

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from dsgui.core.launch.plan import ConfigArgument, LaunchRequest
from dsgui.core.launch.state import RunState, RunStatus
from dsgui.core.runs.news import Cursor, Delta
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.processes.processes import end_tree, send_signal
from dsgui.shell.runs.store import Store

CONFIG = '{"train_batch_size": 8}'
_STAND_IN = """\
#!{python}
import os, sys
words = sys.argv[1:]
assert words[:2] == ["-m", "deepspeed.launcher.runner"], words
script = next(i for i, word in enumerate(words[2:], 2) if not word.startswith("--"))
os.execv({python!r}, [{python!r}, "-u", *words[script:]])
"""


def wait_until(condition: Callable[[], object], timeout_s: float = 90) -> None:
    """Polls; fails when the condition does not come true."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


class Bench:
    """A store in a temporary folder, and short ways to start scripts in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store(folder / "runs")
        self.runs = Runs(self.store, Launcher(grace_s=1))
        self.python = folder / "stand-in python"
        self.python.write_text(_STAND_IN.format(python=sys.executable), encoding="utf-8")
        self.python.chmod(0o755)

    def script(self, text: str, name: str = "train.py") -> Path:
        path = self.folder / name
        path.write_text(dedent(text), encoding="utf-8")
        return path

    def request(self, script: Path | str, **changes: object) -> LaunchRequest:
        fields: dict[str, object] = {
            "name": "",
            "script": str(script),
            "arguments": "",
            "ranks": 2,
            "gpu_indices": (),
            "master_port": None,
            "working_directory": "",
            "config_text": CONFIG,
            "config_argument": ConfigArgument.HF,
            "target_python": str(self.python),
            "environment": {},
        }
        return LaunchRequest(**(fields | changes))  # type: ignore[arg-type]

    def start(self, text: str, **changes: object) -> str:
        """Starts a script given as text; returns the run id."""
        plan = self.runs.prepare(self.request(self.script(text), **changes))
        return self.runs.start(plan, CONFIG)

    def past_run(self, arguments: str) -> str:
        """The id of a run that ended well long ago, without a process; it works in the bench's folder."""
        request = self.request(
            self.script("print()"),
            arguments=arguments,
            working_directory=str(self.folder),
            target_python=sys.executable,
        )
        plan = self.runs.prepare(request)
        directory = self.store.create(plan.run_id)
        directory.write_plan(plan, CONFIG)
        directory.write_status(RunStatus(RunState.SUCCEEDED, started_at=0, ended_at=2e9))
        return plan.run_id

    def ended(self, run_id: str, timeout_s: float = 90) -> Delta:
        """Waits for the end; everything the run left."""
        wait_until(lambda: not self.runs.summary(run_id).state.live, timeout_s)
        return self.runs.follow(run_id, Cursor())

    def forget(self) -> None:
        """Deletes every run: those that nobody started would be taken to be starting for a minute and a half."""
        for directory in self.store.list():
            shutil.rmtree(directory.path)

    def wait_for_output(self, run_id: str, text: str, timeout_s: float = 90) -> None:
        wait_until(lambda: text in self.runs.follow(run_id, Cursor()).output, timeout_s)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """No process of any run started here outlives the test."""
    bench = Bench(tmp_path)
    yield bench
    for directory in bench.store.list():
        status = directory.read_status()
        if status and status.state.live:
            bench.runs.stop(directory.run_id)
        wait_until(lambda directory=directory: not bench.runs.summary(directory.run_id).state.live)
        assert end_tree(directory.run_id, None, 0) == ()


def lose(bench: Bench, run_id: str) -> None:
    """Kills all that dsgui has for a run at once: none of them can start another meanwhile."""
    status = bench.store.open(run_id).read_status()
    assert status is not None
    assert status.supervisor in status.owners
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for owner in reversed(status.owners):
            send_signal(owner, number)
    wait_until(lambda: bench.runs.summary(run_id).state is RunState.LOST)


def exists(pid: int) -> bool:
    """Whether a process (not a zombie) has this pid."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rsplit(b")", 1)[1].split()[0] != b"Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def open_descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))
