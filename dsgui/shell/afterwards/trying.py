"""One process that generates from a trained model: started with the first question, kept for the next ones, ended by a
button, with its page, with the server, after a while without questions, and when it takes too long."""

import contextlib
import json
import os
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import IO, Any

from dsgui.core.afterwards.trying import MOST_ANSWER, Going, Question, Weights, needed_bytes
from dsgui.core.errors import RunError
from dsgui.core.texts.saying import Said, said, wrong
from dsgui.shell.afterwards.worker_files import TRY_WORKER

# As a dry run's: a browser lets a page that nobody sees ask once a minute.
LEASE_S, IDLE_S = 75.0, 300.0
LOAD_LIMIT_S, ANSWER_LIMIT_S = 600.0, 120.0
_GRACE_S, _POLL_S = 30.0, 0.2
_MOST_SAID = 300
_ROOM_BYTES = 2 << 30  # for what an answer takes, above what was said

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asks which model: `page` is the one whose end ends it, "" for none."""

    run_id: str
    source: str
    python: str
    weights: Weights
    page: str = ""

    @property
    def model(self) -> tuple[str, Weights]:
        return self.python, self.weights


class Trying:
    """At most one process at a time: a model may fill the machine."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, idle_s: float = IDLE_S) -> None:
        self._clock, self._idle_s = clock, idle_s
        self._lock = threading.Lock()
        self._session: _Session | None = None

    def begin(self, asked: Asked, question: Question) -> None:
        """Asks without waiting. Another model's process ends first. Raises `RunError` while one answers somebody
        else."""
        with self._lock:
            now = self._session
            if now and now.busy:
                raise RunError(wrong("try.busy", run=now.asked.run_id))
            if now is None or now.over or now.asked.model != asked.model:
                if now:
                    now.end()
                now = self._session = _Session(asked, self._clock, self._idle_s)
            now.ask(asked, question)

    def progress(self, run_id: str) -> Going | None:
        """How far the run's answer is; None where nothing was asked. The page that asks is there."""
        now = self._session
        if now is None or now.asked.run_id != run_id:
            return None
        now.seen = self._clock()
        return now.going

    def end(self, run_id: str) -> None:
        """Ends the run's process, and frees its memory."""
        with self._lock:
            if (now := self._session) and now.asked.run_id == run_id:
                now.end()
                self._session = None

    def forget(self, page: str) -> None:
        """The page has gone."""
        with self._lock:
            if (now := self._session) and page and now.asked.page == page:
                now.end()
                self._session = None

    def close(self) -> None:
        """Ends it, and waits for that."""
        with self._lock:
            if now := self._session:
                now.end()
                now.thread.join(_GRACE_S)


class _Session:
    """The process and the thread that owns it: it was started there, and ends with that thread."""

    def __init__(self, asked: Asked, clock: Callable[[], float], idle_s: float) -> None:
        self.asked, self._clock, self._idle_s = asked, clock, idle_s
        self.going = Going(asked.run_id, asked.source)
        self.seen = self._since = clock()
        self.busy, self.over = True, False
        self._stop = threading.Event()
        self._questions: queue.SimpleQueue[Question] = queue.SimpleQueue()
        self._news: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._own, name="try-model", daemon=True)

    def ask(self, asked: Asked, question: Question) -> None:
        self.asked, self.seen = asked, self._clock()
        self._since, self.busy = self.seen, True
        phase = "generating" if self.going.loaded else "starting"
        self.going = replace(
            self.going, run_id=asked.run_id, source=asked.source, phase=phase, of="", answers={}, problem=None
        )
        self._questions.put(question)
        if not self.thread.ident:
            self.thread.start()

    def end(self) -> None:
        self._stop.set()
        self._news.put(None)

    def _own(self) -> None:
        problem: Said | None = said("try", "worker_ended", error="–")
        try:
            with tempfile.TemporaryFile() as errors:
                problem = self._run(errors)
        except OSError as error:
            problem = said("try", "no_python", python=self.asked.python, error=str(error))
        finally:
            self.over, self.busy = True, False
            self.going = replace(self.going, phase="", loaded=False, problem=problem or self.going.problem)

    def _run(self, errors: IO[bytes]) -> Said | None:
        """Until it ends or is ended; why, where nobody wanted that."""
        pipe = subprocess.PIPE
        command = [self.asked.python, str(TRY_WORKER)]
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        with subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=errors, start_new_session=True, env=environment
        ) as process:
            threading.Thread(target=self._listen, args=(process,), name="try-model-news", daemon=True).start()
            try:
                return self._serve(process, errors)
            finally:
                process.kill()

    def _listen(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            for line in process.stdout:
                self._news.put(dict(json.loads(line)))
        self._news.put(None)

    def _serve(self, process: "subprocess.Popen[bytes]", errors: IO[bytes]) -> Said | None:
        _send(process, _as_json(self.asked.weights))
        while not self._stop.is_set():
            if self.going.loaded or self.going.phase == "starting":
                with contextlib.suppress(queue.Empty):
                    _send(process, self._bounded(self._questions.get_nowait()))
            try:
                message = self._news.get(timeout=_POLL_S)
            except queue.Empty:
                if self._is_due():
                    return self._why_due()
                continue
            if message is None:
                return None if self._stop.is_set() or self.going.problem else _gone(process, errors)
            self._hear(message)
        return None

    def _bounded(self, question: Question) -> Message:
        return {**question.to_json(), "limit_s": ANSWER_LIMIT_S, "most_characters": MOST_ANSWER}

    def _hear(self, message: Message) -> None:
        if "problem" in message:
            told = message["problem"]
            problem = said("try", str(told["code"]), **{k: str(v)[:_MOST_SAID] for k, v in told["given"].items()})
            self.over = not self.going.loaded  # nothing to ask: its process is about to end
            self._done(problem=problem)
        elif "answers" in message:
            self._done(answers=message["answers"])
        elif "loaded" in message:
            self._since = self._clock()
            self.going = replace(self.going, loaded=True, facts=message["loaded"])
        elif "phase" in message:
            self.going = replace(self.going, phase=message["phase"], of=message.get("of", ""))
        elif "text" in message:
            answers = {**self.going.answers, message["of"]: {"text": message["text"]}}
            self.going = replace(self.going, answers=answers)

    def _done(self, **found: Any) -> None:
        self._since = self._clock()
        self.going = replace(self.going, phase="", of="", **found)
        self.busy = False

    def _is_due(self) -> bool:
        now = self._clock()
        if now - self.seen > LEASE_S:
            return True
        return now - self._since > self._limit_s()

    def _limit_s(self) -> float:
        if not self.busy:
            return self._idle_s
        return 2 * ANSWER_LIMIT_S + _GRACE_S if self.going.loaded else LOAD_LIMIT_S

    def _why_due(self) -> Said | None:
        """Nothing where nobody waits for an answer."""
        return said("try", "too_long", seconds=f"{self._limit_s():g}") if self.busy else None


def _as_json(weights: Weights) -> Message:
    limit = int(needed_bytes(weights) * 1.25) + _ROOM_BYTES
    folders = {"model": weights.model, "adapter": weights.adapter, "base": weights.base}
    sizes = {"size_bytes": weights.size_bytes, "limit_bytes": limit}
    return {**folders, **sizes, "tokenizers": list(weights.tokenizers), "device": weights.device}


def _send(process: "subprocess.Popen[bytes]", message: Message) -> None:
    """One that has ended says so itself."""
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.write((json.dumps(message) + "\n").encode())
        process.stdin.flush()


def _gone(process: "subprocess.Popen[bytes]", errors: IO[bytes]) -> Said:
    code = process.wait(_GRACE_S)
    if code == -9:
        return said("try", "killed")
    errors.seek(max(0, errors.seek(0, 2) - 4000))
    last = errors.read().decode("utf-8", "replace").strip().splitlines()[-1:]
    return said("try", "worker_ended", error=(last[0] if last else f"code {code}")[:_MOST_SAID])
