"""The real app as a process, for tests."""

import contextlib
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dsgui.runs import Runs
from dsgui.shell.launcher import Launcher
from dsgui.shell.store import Store

ROOT = Path(__file__).parents[1]
START_TIMEOUT_S = 60
END_TIMEOUT_S = 30


@dataclass
class App:
    """A running app: where it answers and what it printed until then."""

    url: str
    port: int
    printed: str
    process: subprocess.Popen


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running_app(runs_dir: Path, *arguments: str, port: int | None = 0) -> Iterator[App]:
    """`python app.py` on a free port (`port=None`: let it choose), ended afterwards."""
    chosen = [] if port is None else ["--port", str(port or free_port())]
    own = ["--runs-dir", str(runs_dir), "--presets-dir", str(runs_dir.with_name(f"{runs_dir.name}-presets"))]
    command = [sys.executable, "app.py", *own, *chosen, *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    watchdog = threading.Timer(START_TIMEOUT_S, process.kill)
    watchdog.start()
    try:
        app = _when_up(process)
        watchdog.cancel()
        yield app
    finally:
        watchdog.cancel()
        process.terminate()
        process.wait(timeout=20)
        process.stdout.close()
        _end_runs(runs_dir)


def _end_runs(runs_dir: Path) -> None:
    """Runs outlive the server by design; a test's do not outlive the test."""
    if not runs_dir.is_dir():
        return
    runs = Runs(Store(runs_dir), Launcher())
    live = [run.run_id for run in runs.list() if run.state.live]
    for run_id in live:
        runs.stop(run_id)
    deadline = time.monotonic() + END_TIMEOUT_S
    while any(runs.alive_processes(run_id) for run_id in live) and time.monotonic() < deadline:
        time.sleep(0.2)


def _when_up(process: subprocess.Popen) -> App:
    printed = ""
    for line in process.stdout:
        printed += line
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        if found:
            return App(found.group(), int(found.group(1)), printed, process)
    raise AssertionError(f"the app did not start: {printed}")
