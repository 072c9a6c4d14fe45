"""Asks the real DeepSpeed about configs: owns the worker in the target environment, remembers the answers."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from dsgui.core.errors import TargetError
from dsgui.core.oracle.answers import WAITING, Answer, Asking, Question, Trial, Verdict
from dsgui.core.texts.saying import Said, said, wrong
from dsgui.shell.machine.leftovers import build_locks, extensions_folder, remove_stale_locks
from dsgui.shell.processes.processes import snapshot

SCRIPT = Path(__file__).with_name("oracle_worker.py")
PARSE_LIMIT_S = 20.0
LIMIT_S = 90.0
START_LIMIT_S = 120.0
_GRACE_S = 15.0  # the worker's own limit comes first
_MOST_REMEMBERED = 64
_AT_ONCE = 2
_MOST_SAID = 300  # characters of a refusal
_SCRATCH_PREFIX = "dsgui-ask-"

Message = dict[str, Any]
Tell = Callable[[str, str], None]  # the stage that begins, and what takes long in it


class WorkerGone(Exception):
    """The worker ended while it was asked."""


class _Worker:
    """One worker process and the thread that owns it: started there, because the worker ends with that thread."""

    def __init__(self, command: list[str]) -> None:
        self._command, self._waiting = command, dict[int, queue.SimpleQueue[Message | None]]()
        self._sessions: dict[int, int] = {}
        self._lock, self._next = threading.Lock(), 0
        self._ready: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._process: subprocess.Popen[bytes] | None = None
        self._problem: str | Said = ""
        self.gone = False
        self.thread = threading.Thread(target=self._own, name="ask-deepspeed", daemon=True)
        self.thread.start()

    def greeting(self, limit_s: float) -> Message:
        """What the worker says when it is ready. Raises `TargetError` when it will never be."""
        try:
            hello = self._ready.get(timeout=limit_s)
        except queue.Empty:
            self.kill()
            given = {"python": self._command[0], "seconds": f"{limit_s:g}"}
            raise TargetError(wrong("target.no_import", **given)) from None
        if hello is None or "problem" in hello:
            if hello:
                raise TargetError(wrong("target.worker_says", python=self._command[0], why=str(hello["problem"])))
            raise TargetError(wrong("target.worker_ended", python=self._command[0], why=self._problem))
        return hello

    def send(self, question: Message) -> tuple[int, "queue.SimpleQueue[Message | None]"]:
        """Asks; the queue will hold what comes back, and None if the worker ends. Raises `WorkerGone`."""
        with self._lock:
            self._next += 1
            id, answers = self._next, queue.SimpleQueue[Message | None]()
            self._waiting[id] = answers
            line = json.dumps({**question, "id": id}) + "\n"
            process = self._process
            if self.gone or process is None or process.stdin is None:
                raise WorkerGone
            try:
                process.stdin.write(line.encode("utf-8", "surrogatepass"))
                process.stdin.flush()
            except OSError as error:
                raise WorkerGone from error
        return id, answers

    def forget(self, id: int) -> None:
        """Nobody waits for this answer any more."""
        self._waiting.pop(id, None)
        self._sessions.pop(id, None)

    def kill(self) -> None:
        """Ends the worker at once; its thread cleans up behind it."""
        if self._process:
            self._process.kill()

    def close(self) -> None:
        """Ends the worker and waits for that."""
        with self._lock, contextlib.suppress(OSError):
            if self._process and self._process.stdin:
                self._process.stdin.close()
        self.thread.join(_GRACE_S)
        if self.thread.is_alive():
            self.kill()
            self.thread.join(_GRACE_S)

    def _own(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix=_SCRATCH_PREFIX, ignore_cleanup_errors=True)
        with folder as scratch, tempfile.TemporaryFile() as errors:
            try:
                self._process = subprocess.Popen(
                    [*self._command, scratch],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    start_new_session=True,
                )
            except OSError as error:
                self._problem = str(error)
            else:
                self._listen(self._process)
                self._problem = self._ending(self._process, errors)
            self.gone = True
            self._ready.put(None)
            self._end_sessions()
            with self._lock:
                for answers in list(self._waiting.values()):  # whoever is told forgets its own at once
                    answers.put(None)

    def _listen(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                try:
                    self._heard(dict(json.loads(line)))
                except ValueError:
                    answer = line[:80].decode("utf-8", "replace").strip()
                    self._problem = said("oracle", "no_json", answer=answer)
                    process.kill()

    def _heard(self, message: Message) -> None:
        if "hello" in message:
            self._ready.put(message["hello"])
            return
        id = int(message["id"])
        if "pid" in message:
            self._sessions[id] = int(message["pid"])
        if "answer" in message:
            self._sessions.pop(id, None)
        if answers := self._waiting.get(id):
            answers.put(message)

    def _ending(self, process: "subprocess.Popen[bytes]", errors: IO[bytes]) -> str | Said:
        code = process.wait()
        if process.stdin:
            with contextlib.suppress(OSError):
                process.stdin.close()
        errors.seek(max(0, errors.seek(0, os.SEEK_END) - 4000))
        last = errors.read().decode("utf-8", "replace").strip().splitlines()[-1:]
        line = last[0] if last else said("oracle", "no_output")
        return self._problem or said("oracle", "ended_with", code=str(code), line=line)

    def _end_sessions(self) -> None:
        """A worker that was killed has ended its children, but not what they had started, such as a compiler."""
        sessions = set(self._sessions.values())
        for stat in snapshot().values() if sessions else ():
            if stat.session in sessions:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(stat.pid, signal.SIGKILL)


class Oracle:
    """`python` is the interpreter that will train. The worker starts with the first question, again after it died, and
    ends with `close`; questions of several threads are tried side by side."""

    def __init__(self, python: str, limit_s: float = LIMIT_S, clock: Callable[[], float] = time.monotonic) -> None:
        self.python, self.limit_s, self._clock = python, limit_s, clock
        self._lock, self._starting = threading.Lock(), threading.Lock()
        self._told = threading.Condition(self._lock)
        self._slots = threading.Semaphore(_AT_ONCE)
        self._worker: _Worker | None = None
        self._beginning: _Worker | None = None
        self._answers: OrderedDict[Question, Answer] = OrderedDict()
        self._asked: OrderedDict[Question, Asking] = OrderedDict()

    def ask(self, question: Question, tell: Tell = lambda stage, doing: None) -> Answer:
        """Parse, then initialize and two steps where that can be tried; waits for it. Raises `TargetError`."""
        known = self.cached(question)
        if known and known.is_final:
            return known
        trials = [self.parse(question, tell)]
        if trials[0].verdict is Verdict.ACCEPTED:
            trials += self._trained(question, tell)
        answer = Answer(question, tuple(trials))
        with self._lock:
            self._answers[question] = answer
            if len(self._answers) > _MOST_REMEMBERED:
                self._answers.popitem(last=False)
        return answer

    def parse(self, question: Question, tell: Tell = lambda stage, doing: None) -> Trial:
        """The parse alone: milliseconds, once the worker is there. Raises `TargetError`."""
        return self._try(question, question.world_size, tell, do="parse", limit_s=PARSE_LIMIT_S)

    def cached(self, question: Question) -> Answer | None:
        """The answer to a question that was asked before."""
        with self._lock:
            return self._answers.get(question)

    def begin(self, question: Question) -> None:
        """Asks in a thread of its own; `progress` tells how it goes."""
        with self._lock:
            going = self._asked.get(question)
            if going and not going.is_over:
                return
            self._asked[question] = Asking(self._clock())
            while len(self._asked) > _MOST_REMEMBERED:
                self._asked.popitem(last=False)
        threading.Thread(target=self._follow, args=(question,), name="ask-deepspeed-question", daemon=True).start()

    def progress(self, question: Question) -> tuple[Asking, float] | None:
        """How far a question is, and for how many seconds it has been asked; None when it never was."""
        with self._lock:
            asking = self._asked.get(question)
        return (asking, self._clock() - asking.began) if asking else None

    def refusal(self, question: Question, wait_s: float) -> str:
        """How DeepSpeed refuses it; "" where it does not or where that is not known in time. Only the first to ask
        waits: later ones are told what has come meanwhile."""
        if self.progress(question) is None:
            self.begin(question)
        else:
            wait_s = 0.0
        with self._told:
            self._told.wait_for(lambda: question not in self._asked or self._asked[question].is_over, wait_s)
            asking = self._asked.get(question)
        trial = asking.answer.refusal if asking and asking.answer else None
        return trial.raised.text[:_MOST_SAID] if trial and trial.raised else ""

    def close(self) -> None:
        """Ends the worker, and one that is still importing DeepSpeed."""
        if beginning := self._beginning:
            beginning.kill()
        with self._starting:
            worker, self._worker = self._worker, None
        if worker:
            worker.close()

    def _follow(self, question: Question) -> None:
        try:
            self._note(question, answer=self.ask(question, lambda stage, doing: self._note(question, stage, doing)))
        except TargetError as error:
            self._note(question, problem=str(error))

    def _note(self, question: Question, stage: str = "", doing: str = "", **more: Any) -> None:
        with self._lock:
            if asking := self._asked.get(question):
                self._asked[question] = replace(asking, stage=stage or asking.stage, doing=doing, **more)
                self._told.notify_all()

    def _trained(self, question: Question, tell: Tell) -> list[Trial]:
        """A real initialize, and steps. Ranks beyond the first can't step here, so one rank's share is tried alone."""
        limit_s = self.limit_s
        if self._slots.acquire(blocking=False):
            self._slots.release()
        else:
            tell(WAITING, "")
        with self._slots:
            trials = [self._try(question, question.world_size, tell, do="run", limit_s=limit_s)]
            if trials[0].verdict is Verdict.ACCEPTED and question.world_size > 1:
                alone = self._try(question, 1, tell, do="run", limit_s=limit_s, one_rank=True)
                # Only a step tells something then: what stops one rank before may be fine on many.
                trials += [alone if alone.stage in ("step", "done") else not_alone(alone)]
        return trials

    def _try(self, question: Question, ranks: int, tell: Tell, **more: Any) -> Trial:
        if more["do"] == "run":
            remove_stale_locks(build_locks(extensions_folder(os.environ)))
        for attempt in (1, 2):
            try:
                answer = self._exchange(question.to_json(**more), tell)
            except WorkerGone:
                if attempt == 2:
                    raise TargetError(wrong("target.crashed")) from None
                continue
            break
        if answer.get("ended"):
            remove_stale_locks(build_locks(extensions_folder(os.environ)))
        return Trial.from_json(answer, ranks, question.lend)

    def _exchange(self, question: Message, tell: Tell) -> Message:
        worker = self._running()
        id, answers = worker.send(question)
        try:
            while True:
                try:
                    message = answers.get(timeout=question["limit_s"] + START_LIMIT_S + _GRACE_S)
                except queue.Empty:
                    worker.kill()
                    raise WorkerGone from None
                if message is None:
                    raise WorkerGone
                if "answer" in message:
                    return dict(message["answer"])
                tell(str(message["stage"]), str(message.get("doing", "")))
        finally:
            worker.forget(id)

    def _running(self) -> _Worker:
        with self._starting:
            if self._worker is None or self._worker.gone:
                worker = self._beginning = _Worker([self.python, str(SCRIPT)])
                try:
                    worker.greeting(START_LIMIT_S)
                finally:
                    self._beginning = None
                self._worker = worker
            return self._worker


def not_alone(trial: Trial) -> Trial:
    """A trial on one rank that did not come to a step says nothing about many."""
    reason = trial.reason or said("oracle", "one_stops", why=trial.raised.text if trial.raised else trial.stage)
    return replace(trial, verdict=Verdict.NOT_TRIED, stage="step", reason=reason, raised=None)
