"""Run by path in the Python that will train: imports DeepSpeed once, then rehearses trainings for `asking.py`.

`memory_worker.py SCRATCH DEVICE`: a JSON question a line on stdin, JSON a line on stdout: first `{"hello": …}`, then
for each question any number of `{"phase": …}` and one `{"answer": …}` or `{"cannot": …}`. Each question is tried in a
forked child with bounds of time and memory; one at a time. It ends with its stdin, or with who started it.
"""

import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
import types
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
# Ours is found without its folder on the path, as in `oracle_worker.py`.
_OURS = types.ModuleType("dsgui")
_OURS.__path__ = [os.path.join(_HERE.rpartition(f"{os.sep}dsgui{os.sep}")[0], "dsgui")]
sys.modules.setdefault("dsgui", _OURS)
from dsgui.shell.memory import fake_nvme, rehearsal  # noqa: E402 — found through the lines above alone
from dsgui.shell.memory.counting import TooLong, short  # noqa: E402
from dsgui.shell.memory.model_building import Refused  # noqa: E402
from dsgui.shell.memory.patched import Moved  # noqa: E402
from dsgui.shell.oracle import oracle_confines  # noqa: E402

if _HERE in sys.path:
    sys.path.remove(_HERE)

_POLL_S = 0.2
_MOST_SAID = 400  # characters of what an exception says


def cannot(code: str, **given: str) -> "dict[str, Any]":
    return {"cannot": {"code": code, "given": given}}


class Child:
    """A question being tried."""

    def __init__(self, question: "dict[str, Any]", stage: rehearsal.Stage, scratch: str) -> None:
        self.limit_s, self.limit_bytes = float(question["limit_s"]), int(question["limit_bytes"])
        self._deadline = time.monotonic() + self.limit_s
        self.pipe, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.pipe)
            be_a_child(question, stage, scratch, write)
        os.close(write)

    def over(self) -> "dict[str, Any] | None":
        """Which bound it went over, if one."""
        if time.monotonic() > self._deadline:
            return cannot("over_time", seconds=f"{self.limit_s:g}")
        if resident(self.pid) > self.limit_bytes:
            return cannot("over_memory", limit=f"{self.limit_bytes / 2**30:g}")
        return None

    def end(self) -> int:
        """Ends it; the signal that it died of, or 0."""
        oracle_confines.kill_if_there(self.pid)
        oracle_confines.end_session(self.pid)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.pipe)
        return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def resident(pid: int) -> int:
    """Bytes of memory that a process holds; 0 once it has gone."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, IndexError):
        return 0


def be_a_child(question: "dict[str, Any]", stage: rehearsal.Stage, scratch: str, write: int) -> None:
    """Rehearses, writes the answer, and ends this process."""
    try:
        os.setsid()
        oracle_confines.end_with_parent(signal.SIGKILL)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for handle in (0, 1, 2):
            os.dup2(nowhere, handle)
        tempfile.tempdir = os.environ["TMPDIR"] = scratch
        os.chdir(scratch)
        send(write, rehearsed(question, lambda message: send(write, message), stage))
    except BaseException as error:  # noqa: BLE001 — nothing may come back out of a child
        send(write, cannot("raised", error=told(error)))
    finally:
        os._exit(0)


def rehearsed(question: "dict[str, Any]", tell: rehearsal.Tell, stage: rehearsal.Stage) -> "dict[str, Any]":
    """The answer, or why there is none."""
    try:
        return {"answer": rehearsal.Rehearsal(question, tell, stage).run()}
    except Refused as error:
        return cannot(error.code, **error.given)
    except rehearsal.ReadsValue as error:
        return cannot("reads_value", where=str(error))
    except TooLong:
        return cannot("too_long")
    except Moved as error:
        return cannot("moved", what=str(error))
    except Exception as error:  # noqa: BLE001 — whatever DeepSpeed or the model raises is the answer
        stop = fake_nvme.stop_of(error)
        if stop:
            return cannot(stop.code, key=stop.key)
        return cannot("raised", error=told(error))


def told(error: BaseException) -> str:
    """What an exception says, in one line, and the innermost line that raised it."""
    steps = traceback.extract_tb(error.__traceback__)
    where = f" ({short(steps[-1].filename)}:{steps[-1].lineno})" if steps else ""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said[:_MOST_SAID]}{where}"


def send(handle: int, message: "dict[str, Any]") -> None:
    """One line, whole."""
    data = memoryview((json.dumps(message) + "\n").encode())
    while data:
        data = data[os.write(handle, data) :]


class Worker:
    """Reads questions until stdin ends; forwards what the child says."""

    def __init__(self, answers: int, scratch: str, stage: rehearsal.Stage) -> None:
        self._answers, self._scratch, self._stage = answers, scratch, stage
        self._asked, self._ended = b"", False

    def serve(self) -> None:
        while not self._ended or b"\n" in self._asked:
            line, found, rest = self._asked.partition(b"\n")
            if found:
                self._asked = rest
                self._try(json.loads(line))
            else:
                self._listen()

    def _listen(self) -> None:
        chunk = os.read(0, 1 << 16)
        self._asked += chunk
        self._ended = not chunk

    def _try(self, question: "dict[str, Any]") -> None:
        child = Child(question, self._stage, self._scratch)
        said, told = b"", None
        while told is None:
            ready = select.select([child.pipe] + ([] if self._ended else [0]), [], [], _POLL_S)[0]
            if 0 in ready:
                self._listen()
                if self._ended:  # whoever asked has gone
                    child.end()
                    return
            if child.pipe in ready:
                chunk = os.read(child.pipe, 1 << 20)
                *lines, said = (said + chunk).split(b"\n")
                if not chunk:
                    send(self._answers, cannot("crashed", signal=str(child.end())))
                    return
                told = self._forward(lines)
            told = self._bound(child) if told is None else told
        child.end()

    def _forward(self, lines: "list[bytes]") -> "dict[str, Any] | None":
        """Passes lines on; the last word, once it is among them."""
        for line in lines:
            data = memoryview(line + b"\n")
            while data:
                data = data[os.write(self._answers, data) :]
        last = lines[-1][:12] if lines else b""
        return {} if last.startswith((b'{"answer"', b'{"cannot"')) else None

    def _bound(self, child: Child) -> "dict[str, Any] | None":
        over = child.over()
        if over:
            send(self._answers, over)
        return over


def main() -> None:
    """Serve until stdin ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    oracle_confines.end_with_parent(signal.SIGTERM)
    answers = os.dup(1)
    os.dup2(2, 1)  # DeepSpeed prints to stdout
    oracle_confines.set_environment()
    scratch, device = sys.argv[1], sys.argv[2]
    try:
        serve(answers, scratch, device)
    except SystemExit:
        pass
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        os._exit(0)  # torch takes seconds to say goodbye


def serve(answers: int, scratch: str, device: str) -> None:
    """Greets, then answers."""
    oracle_confines.leave_network()
    os.makedirs(scratch, exist_ok=True)
    tempfile.tempdir = os.environ["TMPDIR"] = scratch
    try:
        stage = rehearsal.Stage(device)
    except Moved as error:
        send(answers, cannot("moved", what=str(error)))
        return
    except ModuleNotFoundError as error:
        send(answers, cannot("no_module", name=str(error.name)))
        return
    except BaseException as error:  # noqa: BLE001 — some builds of torch end the interpreter
        send(answers, cannot("not_imported", error=told(error)))
        return
    send(answers, {"hello": versions()})
    Worker(answers, scratch, stage).serve()


def versions() -> "dict[str, str]":
    return {name: str(sys.modules[name].__version__) for name in ("deepspeed", "torch", "transformers")}


if __name__ == "__main__":
    main()
