"""The app without the seconds that it takes to import Gradio: one process imports everything once, asks this Python
once what it and its machine have, and is forked for each app that a test starts.
tests/ui/site/test_app.py starts it as people do."""

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TextIO

ROOT = Path(__file__).parents[2]
MODULES = ("dsgui.cli", "uvicorn", "dsgui.compose", "dsgui.ui.access.connections", "dsgui.ui.site.server")
IMPORTED_WITH = {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_DISABLE_TELEMETRY": "1"}  # as commands/serve.py sets them


@dataclass
class Forked:
    """What tests use of a `Popen`. `status`: where its exit status arrives."""

    pid: int
    stdout: TextIO
    status: socket.socket
    returncode: int | None = None
    args: list[str] = field(default_factory=list)

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self.status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self.returncode = int(self.status.recv(16))
            self.status.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@cache
def _control() -> socket.socket:
    """To the process that is forked; it ends when this is closed."""
    ours, theirs = socket.socketpair()
    with theirs:
        # By a shell that ends at once: some tests look at which children this process has.
        words = ["sh", "-c", '"$@" &', "-", sys.executable, "-m", "tests.support.warm_server", str(theirs.fileno())]
        subprocess.run(words, cwd=ROOT, pass_fds=[theirs.fileno()], env={**os.environ, **IMPORTED_WITH}, check=True)
    return ours


def forked(arguments: list[str], environment: Mapping[str, str]) -> Forked:
    """`python app.py` with these arguments, in `ROOT`; stdout and stderr are one."""
    read, write = os.pipe()
    status, theirs = socket.socketpair()
    with theirs:
        text = json.dumps({"arguments": arguments, "environment": dict(environment)}).encode()
        control = _control()
        socket.send_fds(control, [len(text).to_bytes(4, "big")], [write, theirs.fileno()])
        control.sendall(text)
        os.close(write)
    pid = int.from_bytes(status.recv(4), "big")
    return Forked(pid, open(read, encoding="utf-8"), status, args=arguments)


class Warm:
    """The process that is forked. `_waited` has by pid where its exit status goes."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._waited: dict[int, socket.socket] = {}
        self._ended, wakes = socket.socketpair()
        for end in (self._ended, wakes):
            end.setblocking(False)
        signal.set_wakeup_fd(wakes.fileno())
        self._before = signal.signal(signal.SIGCHLD, lambda *_: None)
        self._wakes = wakes

    def run(self) -> None:
        """Until whoever started it is gone."""
        while True:
            ready, _, _ = select.select([self._control, self._ended], [], [])
            if self._ended in ready:
                self._ended.recv(4096)
                self._tell()
            if self._control in ready and not self._start():
                return

    def _tell(self) -> None:
        while self._waited:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            with contextlib.suppress(OSError), self._waited.pop(pid) as told:
                told.sendall(str(os.waitstatus_to_exitcode(status)).encode())

    def _start(self) -> bool:
        head, fds, _, _ = socket.recv_fds(self._control, 4, 2)
        if not head:
            return False
        length = int.from_bytes(head, "big")
        given = json.loads(self._control.recv(length, socket.MSG_WAITALL))
        output, status = fds
        pid = os.fork()
        if pid == 0:
            self._become(given, output)
        os.close(output)
        self._waited[pid] = told = socket.socket(fileno=status)
        told.sendall(pid.to_bytes(4, "big"))
        return True

    def _become(self, given: dict[str, Any], output: int) -> None:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, self._before)
        for end in (self._control, self._ended, self._wakes, *self._waited.values()):
            end.close()
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        os.environ.clear()
        os.environ.update(given["environment"])
        sys.argv = ["app.py", *given["arguments"]]
        os._exit(_ran(given["arguments"]))


def _ran(arguments: list[str]) -> int:
    """The app to its end, as an interpreter ends."""
    from dsgui.cli import main

    try:
        code = main(["serve", *arguments])
    except SystemExit as exit:
        code = exit.code if isinstance(exit.code, int) else 1
    except BaseException:  # noqa: BLE001 — what an interpreter does at its end
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return int(code)


def _ask_once() -> None:
    """What this Python says of itself and its machine, told to each app that asks it, or a script that starts it."""
    from dsgui.shell.machine import machine_reader, target

    asked = target.ask
    answer = asked(sys.executable, "machine", machine_reader.MACHINE_TIMEOUT_S)

    def told(python: str, what: str, timeout_s: float) -> dict[str, Any]:
        return answer if what != "versions" and _is_this(python) else asked(python, what, timeout_s)

    target.ask = machine_reader.ask = told


def _is_this(python: str) -> bool:
    """Whether it is this interpreter, or a script that starts it."""
    with contextlib.suppress(OSError), open(python, "rb") as file:
        return python == sys.executable or sys.executable.encode() in file.read(400)
    return False


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has those ignored that it starts so
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    from dsgui.ui.gradio_stubs import leave_out

    leave_out()
    for module in MODULES:
        __import__(module)
    _ask_once()
    Warm(control).run()


if __name__ == "__main__":
    main()
