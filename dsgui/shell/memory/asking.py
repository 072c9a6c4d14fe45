"""Asks the DeepSpeed of the environment that trains what a training takes: starts the worker, follows it, ends it."""

import contextlib
import json
import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from dsgui.core.memory.answer import Answer, CannotSay
from dsgui.core.memory.dry_run import answer_of
from dsgui.core.memory.engines.job import Made
from dsgui.core.memory.question import MOST_MICRO_BATCHES, Question
from dsgui.core.texts.saying import said

SCRIPT = Path(__file__).with_name("memory_worker.py")
LIMIT_S, START_LIMIT_S = 240.0, 120.0
LIMIT_BYTES = 2 << 30  # of resident memory
_POLL_S = 0.1
_GRACE_S = 15.0
_KIND = "memory_notes"
_MOST_SAID = 300
_AS_USUAL = Made()

Message = dict[str, Any]
Progress = Callable[[str, int], None]  # the phase that begins, and of which step
Cancelled = Callable[[], bool]


class Ended(Exception):
    """No answer will come; says why."""

    def __init__(self, code: str, **given: str) -> None:
        super().__init__(code)
        self.why = CannotSay(said(_KIND, code, **given))


def dry_run(
    question: Question,
    python: str,
    *,
    made: Made = _AS_USUAL,
    progress: Progress = lambda phase, step: None,
    cancelled: Cancelled = lambda: False,
    limit_s: float = LIMIT_S,
    limit_bytes: int = LIMIT_BYTES,
) -> Answer | CannotSay:
    """The real DeepSpeed's engine on tensors without storage, for one rank of the group; waits for it. `python` is the
    interpreter that will train; `made` says how the script makes the model. `cancelled` is asked ten times a second."""
    try:
        with Worker(python, cancelled) as worker:
            return worker.ask(question, progress, limit_s, limit_bytes, made)
    except Ended as ended:
        return ended.why


class Worker:
    """The process in the environment that trains. Answers one question after another; a context manager. `device` is
    "gpu", or "cpu" for ranks that train without one."""

    def __init__(self, python: str, cancelled: Cancelled = lambda: False, device: str = "gpu") -> None:
        self._python, self._device, self._cancelled = python, device, cancelled
        self._rest = b""

    def __enter__(self) -> Self:
        """Waits until it has imported DeepSpeed. Raises `Ended`."""
        with contextlib.ExitStack() as stack:
            scratch = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="dsgui-memory-", ignore_cleanup_errors=True)
            )
            self._errors: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
            self._ended, held = os.pipe()  # the worker and its child hold the second: it ends when both have
            stack.callback(os.close, self._ended)
            try:
                self._process = self._started(scratch, held)
            finally:
                os.close(held)
            stack.callback(self._end)
            self._greeted()
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def ask(
        self,
        question: Question,
        progress: Progress = lambda phase, step: None,
        limit_s: float = LIMIT_S,
        limit_bytes: int = LIMIT_BYTES,
        made: Made = _AS_USUAL,
    ) -> Answer | CannotSay:
        """Raises `Ended` where the worker is gone or the question was cancelled."""
        told = self.told(question, progress, limit_s, limit_bytes, made)
        if "cannot" in told:
            why = told["cannot"]
            return CannotSay(said(_KIND, str(why["code"]), **why["given"]))
        return answer_of(told["answer"])

    def told(
        self, question: Question, progress: Progress, limit_s: float, limit_bytes: int, made: Made = _AS_USUAL
    ) -> Message:
        """What the worker says of it in the end."""
        bounds = {"limit_s": limit_s, "limit_bytes": limit_bytes}
        how = {"partitioned_load": made.inside, "element": made.element}
        self._send({**as_json(question), "device": self._device, **bounds, **how})
        for message in self._messages(limit_s + _GRACE_S):
            if "phase" not in message:
                return message
            progress(str(message["phase"]), int(message["step"]))
        raise self._gone()

    def _started(self, scratch: str, held: int) -> "subprocess.Popen[bytes]":
        command = [self._python, str(SCRIPT), scratch, self._device]
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=self._errors, start_new_session=True, pass_fds=(held,)
            )
        except OSError as error:
            raise Ended("no_python", python=self._python, error=str(error)) from None

    def _greeted(self) -> None:
        for message in self._messages(START_LIMIT_S):
            if "cannot" in message:
                raise Ended(str(message["cannot"]["code"]), **message["cannot"]["given"])
            self.versions: dict[str, str] = dict(message["hello"])
            return
        raise self._gone()

    def _send(self, message: Message) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write((json.dumps(message) + "\n").encode())
            self._process.stdin.flush()
        except OSError:
            raise self._gone() from None

    def _messages(self, limit_s: float) -> Iterator[Message]:
        """Until its output ends. Raises `Ended` when cancelled, and after `limit_s` without an end."""
        until = time.monotonic() + limit_s
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while True:
                while b"\n" in self._rest:
                    line, _, self._rest = self._rest.partition(b"\n")
                    yield json.loads(line)
                self._check(until, limit_s)
                if selector.select(_POLL_S):
                    chunk = os.read(self._process.stdout.fileno(), 1 << 20)
                    if not chunk:
                        return
                    self._rest += chunk

    def _check(self, until: float, limit_s: float) -> None:
        if self._cancelled():
            raise Ended("cancelled")
        if time.monotonic() > until:
            raise Ended("start_limit", seconds=f"{limit_s:g}")

    def _gone(self) -> Ended:
        self._process.wait(_GRACE_S)
        self._errors.seek(max(0, self._errors.seek(0, 2) - 4000))
        last = self._errors.read().decode("utf-8", "replace").strip().splitlines()[-1:]
        return Ended("worker_ended", error=(last[0] if last else f"code {self._process.returncode}")[:_MOST_SAID])

    def _end(self) -> None:
        """Its child ends with it: the kernel sees to that, a moment later; waits for both."""
        self._process.kill()
        self._process.wait()
        with selectors.DefaultSelector() as selector:
            selector.register(self._ended, selectors.EVENT_READ)
            selector.select(_GRACE_S)
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if pipe:
                    pipe.close()


def as_json(question: Question) -> Message:
    """As `memory_worker.py` reads it."""
    work, lora = question.workload, question.workload.lora
    return {
        "model": {
            "config": dict(question.model.config),
            "factory": question.model.factory,
            "folder": question.model.folder,
        },
        "config": dict(question.config),
        "by_decay": question.by_decay,
        "most_micro_batches": MOST_MICRO_BATCHES,
        "workload": {
            "micro_batch": work.micro_batch,
            "length": work.length,
            "target_length": work.target_length,
            "checkpointing": work.checkpointing,
            "attention": work.attention,
            "lora": {"rank": lora.rank, "targets": list(lora.targets), "dropout": lora.dropout} if lora else None,
        },
        "group": {"ranks": question.group.ranks, "nodes": question.group.nodes, "rank": question.group.rank},
    }
