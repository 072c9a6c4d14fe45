"""Dry runs that pages wait for: one at a time, each ended when its page cancels it, goes away, or asks another."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from dsgui.core.memory.answer import Answer, CannotSay
from dsgui.core.memory.engines.job import Made
from dsgui.core.memory.fits.rehearsing import Rehearsing, key_of
from dsgui.core.memory.question import Question
from dsgui.core.texts.saying import said
from dsgui.shell.memory.asking import Cancelled, Progress, dry_run
from dsgui.shell.memory.rehearsal import STEPS

# A page asks twice a second; a browser lets one that nobody sees ask once a minute.
LEASE_S = 75.0
_POLL_S = 0.5
_END_S = 30.0
_MOST_REMEMBERED = 32
_MOST_SESSIONS = 200


class Asks(Protocol):
    """`asking.dry_run`."""

    def __call__(
        self, question: Question, python: str, *, made: Made, progress: Progress, cancelled: Cancelled
    ) -> Answer | CannotSay: ...


@dataclass(slots=True, eq=False)
class _Job:
    """One session's. `seen`: when its page asked last."""

    going: Rehearsing
    began: float
    seen: float
    stop: threading.Event = field(default_factory=threading.Event)


class DryRuns:
    """`python` is the interpreter that will train. `session` names a page that is open; it has one dry run."""

    def __init__(self, python: str, ask: Asks = dry_run, clock: Callable[[], float] = time.monotonic) -> None:
        self._python, self._ask, self._clock = python, ask, clock
        self._turn = threading.Condition()
        self._line: list[_Job] = []
        self._threads: set[threading.Thread] = set()
        self._sessions: OrderedDict[str, _Job] = OrderedDict()
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._closed = False

    def begin(self, session: str, question: Question, made: Made) -> None:
        """Asks without waiting, unless this very question is on its way or answered. The session's other one ends."""
        now = self._clock()
        with self._turn:
            before = self._sessions.get(session)
            key = key_of(question, made)
            if before and before in self._line and before.going.key == key and not before.stop.is_set():
                return
            self._end(session)
            job = _Job(Rehearsing(question, made, steps=STEPS, told=self._answers.get(key)), now, now)
            self._sessions[session] = job
            while len(self._sessions) > _MOST_SESSIONS:
                self._end(next(iter(self._sessions)))
            if job.going.told is None and not self._closed:
                self._start(job)

    def progress(self, session: str) -> Rehearsing | None:
        """How far the session's dry run is; None where there is none. The page that asks is there."""
        now = self._clock()
        with self._turn:
            job = self._sessions.get(session)
            if job is None:
                return None
            job.seen = now
            ahead = self._line.index(job) if job in self._line else 0
            if job.going.told is None:
                job.going = replace(job.going, seconds=now - job.began, ahead=ahead)
            return job.going

    def known(self, key: str) -> Answer | None:
        """The answer to a question that somebody asked before."""
        with self._turn:
            return self._answers.get(key)

    def cancel(self, session: str) -> None:
        """Ends the session's dry run; `progress` then tells so."""
        with self._turn:
            if job := self._sessions.get(session):
                job.stop.set()
                self._turn.notify_all()

    def forget(self, session: str) -> None:
        """Its page has gone."""
        with self._turn:
            self._end(session)

    def close(self) -> None:
        """Ends all of them, and waits for that."""
        with self._turn:
            self._closed = True
            for job in self._line:
                job.stop.set()
            self._turn.notify_all()
            threads = list(self._threads)
        until = time.monotonic() + _END_S
        for thread in threads:
            thread.join(max(until - time.monotonic(), 0))

    def _end(self, session: str) -> None:
        if job := self._sessions.pop(session, None):
            job.stop.set()
            self._turn.notify_all()

    def _start(self, job: _Job) -> None:
        self._line.append(job)
        thread = threading.Thread(target=self._run, args=(job,), name="dry-run", daemon=True)
        self._threads.add(thread)
        thread.start()

    def _run(self, job: _Job) -> None:
        told: Answer | CannotSay = CannotSay(said("memory_notes", "cancelled"))
        try:
            if self._has_turn(job):
                told = self._asked(job)
        except Exception as error:  # noqa: BLE001 — a page waits for an answer, whatever went wrong
            told = CannotSay(said("memory_notes", "worker_ended", error=f"{type(error).__name__}: {error}"[:200]))
        finally:
            with self._turn:
                self._note(job, told)
                self._line.remove(job)
                self._threads.discard(threading.current_thread())
                self._turn.notify_all()

    def _has_turn(self, job: _Job) -> bool:
        with self._turn:
            while self._line[0] is not job and not self._is_given_up(job):
                self._turn.wait(_POLL_S)
            job.began = self._clock()
        return not self._is_given_up(job)

    def _is_given_up(self, job: _Job) -> bool:
        return job.stop.is_set() or self._clock() - job.seen > LEASE_S

    def _asked(self, job: _Job) -> Answer | CannotSay:
        """By somebody who waited before it, perhaps."""
        going = job.going
        if found := self.known(going.key):
            return found

        def progress(phase: str, step: int) -> None:
            with self._turn:
                job.going = replace(job.going, phase=phase, step=step)

        return self._ask(
            going.question,
            self._python,
            made=going.made,
            progress=progress,
            cancelled=lambda: self._is_given_up(job),
        )

    def _note(self, job: _Job, told: Answer | CannotSay) -> None:
        job.going = replace(job.going, seconds=self._clock() - job.began, ahead=0, told=told)
        if isinstance(told, Answer):
            self._answers[job.going.key] = told
            while len(self._answers) > _MOST_REMEMBERED:
                self._answers.popitem(last=False)
