"""Starts supervisors: detached processes that own one run each and outlive the server."""

import os
import subprocess
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import BinaryIO

from dsgui.core.errors import RunError
from dsgui.core.launch.command import MARKER, RUN_FOLDER
from dsgui.core.texts.saying import words, wrong
from dsgui.shell.files.installation import FOLDER, MODULE
from dsgui.shell.files.regular_files import open_regular
from dsgui.shell.runs.store import RunDirectory, size_of

_HANDSHAKE_S = 60
_LAST_BYTES = 1 << 14
# The server's own: the mark of a run that started it, what lets people in, and a folder that goes when it ends.
NOT_HANDED_ON = frozenset({MARKER, RUN_FOLDER, "DSGUI_TOKEN", "GRADIO_TEMP_DIR"})


class Launcher:
    """`python` runs the supervisor: dsgui's own interpreter, not the one that trains. `grace_s` is how long a stopped
    run's processes have between TERM and KILL."""

    def __init__(self, python: str = sys.executable, grace_s: float = 10) -> None:
        self._python, self._grace_s = python, grace_s

    def start(self, directory: RunDirectory, secrets: Mapping[str, str]) -> None:
        """Returns once the supervisor has written its first state; it hands `secrets` on. Raises `RunError`."""
        self._detach(directory, environment=secrets)

    def end(self, directory: RunDirectory) -> None:
        """A supervisor for a run that has lost its own: it ends what is left. Raises `RunError`."""
        self._detach(directory, "--end", f"--run={directory.run_id}")

    def _detach(
        self, directory: RunDirectory, *options: str, environment: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        # `-m` finds the package through the working directory, so nothing is added to the run's PYTHONPATH. The child
        # forks, and ends when the fork has written the run's state: no zombie, no pipe, no thread stays here.
        command = [self._python, *MODULE, "dsgui.supervise", str(directory.path), f"--grace={self._grace_s}", *options]
        given = {name: value for name, value in os.environ.items() if name not in NOT_HANDED_ON} | dict(environment)
        try:
            with _log(directory) as log:
                done = subprocess.run(
                    command,
                    cwd=FOLDER,
                    env=given,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    timeout=_HANDSHAKE_S,
                    check=False,
                )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RunError(wrong("run.no_supervisor", run=directory.run_id, error=str(error))) from error
        if done.returncode:
            given = {"code": str(done.returncode), "line": _last_line(directory), "log": str(directory.supervisor_log)}
            raise RunError(wrong("run.supervisor_ended", run=directory.run_id, **given))


def _log(directory: RunDirectory) -> BinaryIO:
    """Of a folder that is gone, or holds something else in the log's place, nowhere. Raises OSError."""
    try:
        return open(directory.supervisor_log, "ab", opener=_private)
    except OSError:
        if directory.plan_damage():
            return open(os.devnull, "ab")
        raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK, 0o600)  # a pipe in its place is not waited for


def _last_line(directory: RunDirectory) -> str:
    try:
        with open_regular(directory.supervisor_log) as file:
            file.seek(max(size_of(directory.supervisor_log) - _LAST_BYTES, 0))
            lines = file.read(_LAST_BYTES).decode("utf-8", "replace").strip().splitlines()
    except OSError:
        lines = []
    return lines[-1] if lines else words("commands", "printed_nothing")
