"""Questions that may never be answered, asked in a daemon thread of their own: a driver or a file system that hangs
holds up nobody else.

This module is also sent to the other machines of a run (shell/metrics/nodes.py): the standard library alone.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NoAnswer
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

PATIENCE_S = 0.05
_QUIET_S = 3.0
Answer = TypeVar("Answer")


class Aside:
    """Answers one question after another in its thread, which begins with the first."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._questions: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def ask(self, question: Callable[[], Answer]) -> "Future[Answer]":
        """Returns at once."""
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._answer, name=self._name, daemon=True)
                self._thread.start()
        future: Future[Answer] = Future()
        self._questions.put((future, question))
        return future

    def close(self) -> None:
        """The thread ends after what it was asked; it is not waited for."""
        self._questions.put(None)

    def _answer(self) -> None:
        while asked := self._questions.get():
            future, question = asked
            try:
                future.set_result(question())
            except Exception as error:  # noqa: BLE001 — the answer, for who asked
                future.set_exception(error)
            del asked, future, question  # or the last answer would be kept while nobody asks


class Bounded(Generic[Answer]):
    """Asks something again and again, one question at a time, and never waits long. An answer that comes too late for
    its own time is given the next time, once: what is slow is read late, and what hangs is not read."""

    def __init__(
        self,
        aside: Aside,
        patience_s: float = PATIENCE_S,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._aside, self._patience_s, self._clock, self._monotonic = aside, patience_s, clock, monotonic
        self._open: Future[Answer] | None = None
        self._asked_at, self._asked_s = 0.0, 0.0
        self.problem = ""

    def ask(self, question: Callable[[], Answer]) -> Answer | None:
        """None without an answer. Only the first question that is not answered is waited for."""
        late = self._take(0)
        if self._open is not None:
            return None
        self._open = self._aside.ask(question)
        self._asked_at, self._asked_s = self._clock(), self._monotonic()
        fresh = self._take(self._patience_s)
        return late if fresh is None else fresh

    @property
    def silent(self) -> bool:
        """The last question was asked long enough ago to have been answered."""
        waited = self._monotonic() - self._asked_s >= self._patience_s
        return self._open is not None and not self._open.done() and waited

    @property
    def silent_since(self) -> float | None:
        """The date of a question (unix seconds) that has had no answer for seconds."""
        late = self._monotonic() - self._asked_s >= _QUIET_S
        return self._asked_at if self.silent and late else None

    def _take(self, patience_s: float) -> Answer | None:
        if self._open is None:
            return None
        try:
            answer: Answer | None = self._open.result(patience_s)
            self.problem = ""
        except NoAnswer:
            if not self._open.done():
                return None
            answer, self.problem = None, "timeout"  # the question itself raised it
        except Exception as error:  # noqa: BLE001 — a reading that fails is missing; the run goes on
            answer, self.problem = None, f"{type(error).__name__}: {error}"
        self._open = None
        return answer
