"""Run by path in the Python that will train: imports DeepSpeed once, then tries configs for `oracle.py`.

A JSON question a line on stdin, JSON a line on stdout: first `{"hello": …}`, then for each question any number of
`{"id": …, "stage": …}` and one `{"id": …, "answer": …}`. Each question is tried in a forked child, in a session of its
own with a time limit; several at once. The argument is a folder to write in, which the worker removes when it ends:
with its stdin, or with the thread that started it.
"""

import functools
import importlib
import importlib.metadata
import json
import os
import selectors
import shutil
import signal
import sys
import tempfile
import time
import traceback
import types
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
# Ours is found without its folder on the path: installed, that is dsgui's own site-packages, with packages that the
# Python which trains must not take for its own.
_OURS = types.ModuleType("dsgui")
_OURS.__path__ = [os.path.join(_HERE.rpartition(f"{os.sep}dsgui{os.sep}")[0], "dsgui")]
sys.modules.setdefault("dsgui", _OURS)
from dsgui.shell.oracle import oracle_confines, oracle_trial  # noqa: E402 — found through the lines above alone

if _HERE in sys.path:  # the modules beside this one have names that others' may have too
    sys.path.remove(_HERE)

_HF_MODULES = ("transformers", "accelerate.utils", "transformers.training_args", "transformers.integrations.deepspeed")


class Child:
    """A question being tried: the process, the pipe it answers through, and when it must be done."""

    def __init__(self, question: "dict[str, Any]", scratch: str) -> None:
        self.id, self.stage, self.doing = question["id"], "", ""
        self.answered, self.rest = False, b""
        self.may_start_others = question["do"] != "parse"
        self.limit_s = float(question["limit_s"])
        self.deadline = time.monotonic() + self.limit_s
        self.scratch = tempfile.mkdtemp(dir=scratch)
        self.pipe, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.pipe)
            be_a_child(question, self.scratch, write)
        os.close(write)

    def lines(self) -> "list[dict[str, Any]] | None":
        """What it has said since; None once it has ended."""
        chunk = os.read(self.pipe, 1 << 16)
        if not chunk:
            return None
        *lines, self.rest = (self.rest + chunk).split(b"\n")
        return [json.loads(line) for line in lines]

    def end(self) -> int:
        """Ends it with everything it started; the signal that it died of, or 0."""
        os.kill(self.pid, signal.SIGKILL)
        if self.may_start_others:  # ninja gives each compiler a group of its own, so the session is what they share
            oracle_confines.end_session(self.pid)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.pipe)
        oracle_trial.forget_folder(self.scratch)
        return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


class Worker:
    """Reads questions and forwards answers until stdin ends."""

    def __init__(self, answers: int, scratch: str) -> None:
        self._answers, self._scratch, self._rest = answers, scratch, b""
        self._selector = selectors.DefaultSelector()
        self._selector.register(0, selectors.EVENT_READ, None)
        self._children: dict[int, Child] = {}

    def serve(self) -> None:
        """Until stdin ends. What is still being tried then is ended too."""
        try:
            while True:
                for key, _ in self._selector.select(self._patience()):
                    if key.data is None and not self._take():
                        return
                    if key.data is not None:
                        self._hear(key.data)
                for child in [c for c in self._children.values() if c.deadline <= time.monotonic()]:
                    self._close(child, {"ended": "limit", "limit_s": child.limit_s})
        finally:
            for child in list(self._children.values()):
                child.end()

    def say(self, **message: Any) -> None:
        """One line to whoever asked."""
        data = (json.dumps(message) + "\n").encode()
        while data:
            data = data[os.write(self._answers, data) :]

    def _patience(self) -> "float | None":
        deadlines = [child.deadline for child in self._children.values()]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def _take(self) -> bool:
        """The questions that have come; False at the end of stdin."""
        chunk = os.read(0, 1 << 16)
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._ask(json.loads(line))
        return bool(chunk)

    def _ask(self, question: "dict[str, Any]") -> None:
        try:
            warm_up(question)
        except Exception as error:  # noqa: BLE001 — whatever a stranger's environment raises is the answer
            self.say(id=question["id"], answer={"stage": "read", "missing": f"{type(error).__name__}: {error}"})
            return
        child = Child(question, self._scratch)
        self._children[child.pid] = child
        self._selector.register(child.pipe, selectors.EVENT_READ, child)
        self.say(id=child.id, stage="read", pid=child.pid)

    def _hear(self, child: Child) -> None:
        lines = child.lines()
        if lines is None:
            if not child.answered:
                self._close(child, {"ended": "crash"})
            return
        for line in lines:
            if "answer" in line:
                child.answered = True
                self._close(child, line["answer"])
                return
            child.stage, child.doing = line["stage"], line.get("doing", "")
            self.say(id=child.id, **line)

    def _close(self, child: Child, answer: "dict[str, Any]") -> None:
        self._selector.unregister(child.pipe)
        del self._children[child.pid]
        died = child.end()
        if "ended" in answer:
            answer = {**answer, "stage": child.stage or "read", "doing": child.doing}
            answer.update({"signal": died} if answer["ended"] == "crash" else {})
        self.say(id=child.id, answer={**answer, "versions": oracle_trial.versions()})


def be_a_child(question: "dict[str, Any]", scratch: str, write: int) -> None:
    """Tries the question, writes the answer, and ends this process."""
    try:
        os.setsid()
        oracle_confines.end_with_parent(signal.SIGKILL)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for handle in (0, 1, 2):
            os.dup2(nowhere, handle)
        os.chdir(scratch)
        tempfile.tempdir = scratch
        oracle_confines.limit_memory()

        def tell(message: "dict[str, Any]") -> None:
            os.write(write, (json.dumps(message) + "\n").encode())

        tell({"answer": oracle_trial.Trial(question, tell, scratch).run()})
    except BaseException as error:  # noqa: BLE001 — nothing may come back out of a child
        told = {"ended": "crash", "why": f"{type(error).__name__}: {error}"}
        os.write(write, (json.dumps({"answer": told}) + "\n").encode())
    finally:
        os._exit(0)


def warm_up(question: "dict[str, Any]") -> None:
    """Imports what this kind of question needs, once, so that no child has to."""
    if question["reader"] == "hf" and _HF_MODULES[-1] not in sys.modules:
        # Asked for with every config, and read from the disk each time.
        importlib.metadata.version = functools.lru_cache(importlib.metadata.version)
        for name in _HF_MODULES:
            importlib.import_module(name)
        importlib.import_module("transformers").TrainingArguments  # noqa: B018 — transformers imports when it is asked
        importlib.import_module("transformers.integrations.deepspeed").HfTrainerDeepSpeedConfig({})
    if question["do"] != "parse" and "torch._dynamo" not in sys.modules:
        importlib.import_module("torch._dynamo")  # every optimizer imports it, for seconds
        cpuinfo: Any = importlib.import_module("cpuinfo")
        known = cpuinfo.get_cpu_info()  # DeepSpeed's CPU optimizers ask anew each time, for seconds
        cpuinfo.get_cpu_info = lambda: known


def hello(network: str) -> "dict[str, Any]":
    """What answers from now on, or why nothing will."""
    try:
        importlib.import_module("hjson")
        oracle_trial.resolved(
            importlib.import_module("deepspeed.runtime.config").DeepSpeedConfig({"train_batch_size": 1})
        )
    except BaseException as error:  # noqa: BLE001 — some builds of torch end the interpreter
        return {"problem": f"{type(error).__name__}: {error}"}
    return {"versions": oracle_trial.versions(), "network": network}


def main() -> None:
    """Serve until stdin ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    oracle_confines.end_with_parent(signal.SIGTERM)
    answers = os.dup(1)  # not inherited by what it starts
    os.dup2(2, 1)  # DeepSpeed prints to stdout
    oracle_confines.set_environment()
    scratch, code = sys.argv[1], 1
    try:
        serve(answers, scratch)
        code = 0
    except SystemExit:
        code = 0
    except BaseException:  # noqa: BLE001 — the last line of it is what the asker is told
        traceback.print_exc()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        os._exit(code)  # torch takes seconds to say goodbye


def serve(answers: int, scratch: str) -> None:
    """Greets, then answers."""
    network = oracle_confines.leave_network()
    os.makedirs(scratch, exist_ok=True)
    tempfile.tempdir = os.environ["TMPDIR"] = scratch
    worker = Worker(answers, scratch)
    greeting = hello(network)
    worker.say(hello=greeting)
    if "problem" not in greeting:
        worker.serve()


if __name__ == "__main__":
    main()
