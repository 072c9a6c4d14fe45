"""The real app as a process, for tests."""

import contextlib
import os
import re
import secrets
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.runs.store import Store
from tests.support.ports import known_port
from tests.support.warm_server import forked

ROOT = Path(__file__).parents[2]
START_TIMEOUT_S = 120
END_TIMEOUT_S = 30
# What a browser keeps that has been here before: the start from a goal is not open any more.
BEEN_HERE = "localStorage.setItem('dsgui.goal', '1')"


@dataclass
class App:
    """A running app: where it answers, the token it was given ("" for none), the code of
    the address it printed, and what it printed until then."""

    url: str
    port: int
    printed: str
    process: subprocess.Popen
    token: str = ""
    code: str = ""

    @property
    def entrance(self):
        """What a person opens who gave it the token."""
        return self.url + (f"?token={self.token}" if self.token else "")

    def get(self, path=""):
        """The answer to a program that has the token."""
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {self.token}"})
        return urllib.request.urlopen(request, timeout=60)

    def sign_in(self, context, *, first=False):
        """A browser context that has been here before; if it is the `first` visit, the start from a goal is open."""
        context.request.get(self.entrance)
        if not first:
            context.add_init_script(BEEN_HERE)
        return context


@contextlib.contextmanager
def running_app(
    runs_dir: Path,
    *arguments: str,
    port: int | None = 0,
    around: Callable[[list[str]], list[str]] = list,
    environment: Mapping[str, str] | None = None,
    ends_runs: bool = True,
    cold: bool = False,
) -> Iterator[App]:
    """`python app.py` on a free port (`port=None`: let it choose), ended afterwards, and the runs with it. `around` may
    put the command into another place. It is forked from a process that has imported all, unless `cold`."""
    chosen = [] if port is None else ["--port", str(port or known_port())]
    own = ["--runs-dir", str(runs_dir), "--presets-dir", str(runs_dir.with_name(f"{runs_dir.name}-presets"))]
    # The tests' scripts and configs lie beside the runs.
    places = ["--allow", str(runs_dir.parent)]
    token = "" if any("token" in word for word in arguments) else secrets.token_urlsafe(24)
    environment = {**(os.environ if environment is None else environment), **({"DSGUI_TOKEN": token} if token else {})}
    words = [*own, *places, *chosen, *arguments]
    process = (
        forked(words, environment)
        if around is list and not cold
        else _begun(around([sys.executable, "app.py", *words]), environment)
    )
    watchdog = threading.Timer(START_TIMEOUT_S, process.kill)
    watchdog.start()
    try:
        app = _when_up(process)
        app.token = token or _kept(arguments)
        watchdog.cancel()
        yield app
    finally:
        watchdog.cancel()
        process.terminate()
        process.wait(timeout=60)
        process.stdout.close()
        if ends_runs:
            _end_runs(runs_dir)


def _begun(command: list[str], environment: Mapping[str, str]) -> subprocess.Popen:
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def _kept(arguments: tuple[str, ...]) -> str:
    """The token in the file that the app was given."""
    given = dict(pairwise(arguments)).get("--token-file")
    return Path(given).read_text("ascii").strip() if given else ""


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
        found = re.search(r"(https?://127\.0\.0\.1:(\d+)/)(?:\?login=([\w%-]+))?", line)
        if found:
            return App(found[1], int(found[2]), printed, process, code=unquote(found[3] or ""))
    raise AssertionError(f"the app did not start: {printed}")
