"""What the output says about how a run ended, and the verdict: the launcher's exit code alone does not tell.

deepspeed/launcher/launch.py says which rank processes it started, which ended well and the return code of the first
that did not; runner.py ends with 0 when launch.py itself was killed. Tracebacks, and the last lines of programs other
than Python, are kept for `core/diagnosis/diagnosis.py`.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from dsgui.core.diagnosis.signatures import LAST_WORDS
from dsgui.core.diagnosis.tracebacks import LINE_LIMIT, Tracebacks
from dsgui.core.launch.state import RunState
from dsgui.core.texts.saying import Said, said

_REASON_LIMIT = 300
_SENTENCE_END = re.compile(r"([.!?])\s")
_SIGABRT, _SIGKILL = 6, 9
_ENDS_RANKS = frozenset({_SIGABRT, _SIGKILL, 11, 15})
TO_ALL = frozenset({1, 2, 15})  # what is sent to a whole run, so that no rank is the one that failed
_SIGNALS = {
    1: "SIGHUP",
    2: "SIGINT",
    3: "SIGQUIT",
    4: "SIGILL",
    _SIGABRT: "SIGABRT",
    7: "SIGBUS",
    8: "SIGFPE",
    _SIGKILL: "SIGKILL",
    11: "SIGSEGV",
    13: "SIGPIPE",
    15: "SIGTERM",
}
# Of a launcher for several machines, then of torch: `node1: [rank3]: Traceback`.
_PREFIX = re.compile(r"\A(?:[\w.-]+: (?=\[rank\d|Traceback|\s))?(?:\[(?:rank|default)(\d{1,9})\]:(?!\[) ?)?")
_TORCHRUN_RANK = re.compile(r"\s*rank\s*: (\d{1,9}) \(local_rank: \d+\)")
_TORCHRUN_CODE = re.compile(r"\s*exitcode\s*: (-?\d{1,9}) \(pid: \d+\)")
# With include_num_input_tokens_seen the HF Trainer puts a train_runtime into every line; the last has no loss.
_TRAINING_STILL = re.compile(r"['\"]loss['\"]")
_SPAWNED = re.compile(r"process (\d{1,9}(?!\d)) spawned with command")
_ENDED_WELL = re.compile(r"Process (\d{1,9}(?!\d)) exits successfully")
_RETURN_CODE = re.compile(r"exits with return code = (-?\d{1,9}(?!\d))")
# pdsh, when the launcher of one machine has failed: it goes on waiting for the others.
_MACHINE_FAILED = re.compile(r"\Apdsh@[\w.-]+: ([\w.-]+): ssh exited with exit code (\d{1,3})\b")
_KILLING = re.compile(r"Killing subprocess \d+")
_LAUNCHER_LINE = re.compile(r"\[(?:launch|runner|real_accelerator)\.py:\d+:|^\s*warnings\.warn\(")
_IN_THREAD = "Exception in thread"
# What a script prints of its end: `Done, saved model`, `Training completed`, `12:01 - INFO - Model saved`.
_DONE = re.compile(
    r"(?:[^\n]{0,80}\bINFO\b(?:[^\w.]{1,5}[\w.]{1,30}+){0,3}?)?\W{0,20}(?:\w{1,30} )?"
    r"(?:done|finished|completed?|saved)\b",
    re.IGNORECASE,
)
_POINTS_THAT_FORGIVE = 3
_MOST_LAST_WORDS = 20


@dataclass(slots=True)
class Ending:
    """What the output says about how the run ended; the exit code alone does not tell
    (deepspeed/launcher/launch.py)."""

    spawned: dict[int, None] = field(default_factory=dict)  # the pids of one launcher's ranks, in their order
    ended_well: set[int] = field(default_factory=set)
    return_code: int | None = None
    killing: bool = False
    finished: bool = False  # the final metrics were printed
    last_line: str = ""
    tracebacks: Tracebacks = field(default_factory=Tracebacks)  # those after the last trained steps
    last_words: list[tuple[int | None, str]] = field(default_factory=list)  # rank, line
    rank: int | None = None  # the first that failed, where torchrun's summary tells
    machine: str = ""  # the first of several machines whose launcher failed
    lost_numbers: bool = False  # the last logged loss was no number
    trained: bool = False  # something of a training was logged
    _points_since: int = 0
    _points_since_code: int = 0
    _killing_since_code: bool = False
    _of_threads: int = 0  # tracebacks that end no process
    _says_done: bool = False  # after the last traceback

    @property
    def went_on(self) -> bool:
        """Whether the training may have ended well all the same: its final metrics were printed, what failed was a
        thread, or the script says after it that something is done."""
        threads = 0 < len(self.tracebacks.found) <= self._of_threads
        return not self.killing and (self.finished or threads or self._says_done)

    @property
    def began_again(self) -> bool:
        """Whether a training followed in the same log on the one that ended with `return_code`, and nothing tells that
        it failed too."""
        fails = self.machine or self.error or self.last_words or self._killing_since_code
        return not fails and self._points_since_code >= _POINTS_THAT_FORGIVE

    @property
    def error(self) -> str:
        """What the first traceback ended with."""
        found = self.tracebacks.found
        return _cut(found[0].error) if found else ""

    def rank_of(self, pid: int) -> int | None:
        """DeepSpeed's launcher starts the ranks of one machine in order."""
        return list(self.spawned).index(pid) if pid in self.spawned else None

    def line(self, text: str) -> str:
        """Takes one whole line, stripped of colours. Returns what was raised if this line of a traceback says it."""
        match = _PREFIX.match(text)
        bare = text[match.end() :] if match else text
        rank = int(match[1]) if match and match[1] else None
        if ("'train_runtime'" in text or '"train_runtime"' in text) and not _TRAINING_STILL.search(text):
            self.finished = True
        if self._launcher(text):
            return ""
        raised = self.tracebacks.line(rank, bare)
        self._of_threads += bare.startswith(_IN_THREAD)
        self._says_done = not raised and self._is_done(bare)
        if raised:
            self._points_since = 0
        elif len(self.last_words) < _MOST_LAST_WORDS and LAST_WORDS.match(bare[:LINE_LIMIT]):
            self.last_words.append((rank, bare[:LINE_LIMIT]))
            self._points_since = 0
        self.last_line = _cut(bare)
        return self.last_line if raised else ""

    def plain(self, text: str) -> None:
        """Takes a line outside of tracebacks that is known to be neither a launcher's nor a program's last words."""
        match = _PREFIX.match(text)
        self.last_line = _cut(text[match.end() :] if match else text)
        self._says_done = self._is_done(text)
        self._of_threads += text.startswith(_IN_THREAD)

    def _is_done(self, text: str) -> bool:
        return self.tracebacks.any and (self._says_done or bool(_DONE.match(text[:LINE_LIMIT])))

    def trains(self, loss: float | None = None, points: int = 1) -> None:
        """Points arrived, the last one with this loss. After a few, an earlier traceback did not end the run (one rank
        may outlive another's)."""
        if loss is not None:
            self.lost_numbers = not math.isfinite(loss)
        self.trained = self.trained or points > 0
        self._points_since += points
        self._points_since_code += points
        if self._points_since >= _POINTS_THAT_FORGIVE and (self.last_words or self.tracebacks.any):
            self.tracebacks.forget()
            self.last_words.clear()
            self._of_threads = 0

    def _launcher(self, text: str) -> bool:
        """Whether a launcher says this. A plain word is searched for before an expression is tried: most lines contain
        none."""
        return any(word in text and takes(self, text) for word, takes in _LAUNCHERS)

    def _spawns(self, text: str) -> bool:
        match = _SPAWNED.search(text)
        if match:
            self.spawned[int(match[1])] = None
            self.tracebacks.alone = len(self.spawned) == 1
        return bool(match)

    def _ends_well(self, text: str) -> bool:
        match = _ENDED_WELL.search(text)
        if match:
            self.ended_well.add(int(match[1]))
        return bool(match)

    def _returns(self, text: str) -> bool:
        match = _RETURN_CODE.search(text)
        if match:
            self.return_code = int(match[1])
            self._points_since_code, self._killing_since_code = 0, False
        return bool(match)

    def _kills(self, text: str) -> bool:
        kills = bool(_KILLING.search(text))
        self.killing = self.killing or kills
        self._killing_since_code = self._killing_since_code or kills
        return kills

    def _loses_machine(self, text: str) -> bool:
        match = _MACHINE_FAILED.match(text)
        if match:
            self.machine = self.machine or match[1]
            self.return_code = self.return_code or int(match[2])
        return bool(match)

    def _names_rank(self, text: str) -> bool:
        match = _TORCHRUN_RANK.match(text)
        if match:
            self.rank = int(match[1])
        return bool(match)

    def _names_code(self, text: str) -> bool:
        match = _TORCHRUN_CODE.match(text)
        if match:
            self.return_code = int(match[1])
            self._points_since_code, self._killing_since_code = 0, False
        return bool(match)

    def _is_told_by_launcher(self, text: str) -> bool:
        return bool(_LAUNCHER_LINE.search(text))


_LAUNCHERS: tuple[tuple[str, Callable[[Ending, str], bool]], ...] = (
    ("spawned with command", Ending._spawns),
    ("exits successfully", Ending._ends_well),
    ("exits with return code", Ending._returns),
    ("Killing subprocess", Ending._kills),
    ("ssh exited", Ending._loses_machine),
    ("(local_rank:", Ending._names_rank),
    ("exitcode", Ending._names_code),
    (".py:", Ending._is_told_by_launcher),
    ("warnings.warn(", Ending._is_told_by_launcher),
)


def verdict(
    exit_code: int | None, ending: Ending, left: int, why: Said | None = None, rank: int | None = None
) -> tuple[RunState, tuple[Said, ...]]:
    """The state, and sentences about it. `exit_code` is Popen's, None if no process was left to receive it; `left`
    processes outlived the launcher and were ended; `why` is what is known about a signal that ended a rank, and `rank`
    which one that was."""
    code = ending.return_code or likely_code(exit_code, ending)
    if code and exit_code is None and not ending.return_code:
        state, first = RunState.FAILED, _said("ended_with_unknown_code", told=_told(ending))
    elif code:
        state, first = _failed_or_finished(code, ending, why, rank)
    elif problem := _silent_failure(ending):
        state, first = RunState.FAILED, problem
    else:
        return RunState.SUCCEEDED, _left_behind(left)
    return state, (first, *_left_behind(left))


def verdict_of_log(ending: Ending) -> tuple[RunState, tuple[Said, ...]] | None:
    """The same of a training of others, of which only a log is known; None where that tells of no failure."""
    if ending.error.startswith("KeyboardInterrupt"):
        return RunState.STOPPED, (_said("log_tells", told=_told(ending)),)
    if ending.return_code and not ending.began_again:
        return verdict(ending.return_code, ending, 0)
    if ending.went_on or ending.began_again:
        return None
    if ending.error or ending.killing or ending.last_words:
        return RunState.FAILED, (_said("log_tells", told=_told(ending)),)
    return None


def _said(code: str, /, **given: str | Said) -> Said:
    return said("reasons", code, **given)


def _left_behind(count: int) -> tuple[Said, ...]:
    if count == 0:
        return ()
    return (_said("one_left_behind") if count == 1 else _said("some_left_behind", count=str(count)),)


def likely_code(exit_code: int | None, ending: Ending) -> int:
    """The exit code; if unknown, 0 if the output shows that everything went well."""
    if exit_code is not None:
        return exit_code
    well = ending.ended_well.issuperset(ending.spawned) if ending.spawned else ending.finished
    return 0 if well and not ending.error else 1


def _silent_failure(ending: Ending) -> Said | None:
    """Why exit code 0 does not mean success, or None."""
    missing = len(set(ending.spawned) - ending.ended_well)
    if missing:
        ranks = str(len(ending.spawned))
        return _said("ranks_did_not_end_well", missing=str(missing), ranks=ranks, told=_told(ending))
    return _said("launcher_asked_to_exit", told=_told(ending)) if ending.killing else None


def _failed_or_finished(code: int, ending: Ending, why: Said | None, rank: int | None) -> tuple[RunState, Said]:
    number = signal_number(code)
    if number == _SIGABRT and ending.finished and not ending.error:
        return RunState.SUCCEEDED, _said("aborted_at_shutdown")
    if number is None:
        return RunState.FAILED, _said("ended_with_code", code=str(code), told=_told(ending))
    told = _said("with_meaning", meaning=why) if why and not ending.error else _told(ending)
    if rank is None or number in TO_ALL:
        return RunState.FAILED, _said("process_killed", signal=_signal(number), told=told)
    return RunState.FAILED, _said("rank_killed", rank=str(rank), signal=_signal(number), told=told)


def signal_number(code: int) -> int | None:
    """The signal behind a return code: -9 (Popen, launch.py), 247 (`sys.exit(-9)`) or 137 (a shell's). A positive code
    counts only for signals that end ranks: 255, from `sys.exit(-1)`, is a script's own exit code."""
    if code < 0:
        return -code if -code < 65 else None
    number = 256 - code if code >= 192 else code - 128
    return number if number in _ENDS_RANKS else None


def _told(ending: Ending) -> Said:
    on, given = ("_on", {"machine": ending.machine}) if ending.machine else ("", {})
    if ending.error:
        return _said(f"with_error{on}", error=_sentence(ending.error), **given)
    if ending.last_line:
        return _said(f"with_last_line{on}", line=quoted(ending.last_line), **given)
    return _said(f"with_nothing{on}", **given)


def quoted(line: str) -> str:
    """A line of output as a sentence that goes on quotes it: without the full stop at its end."""
    line = line.strip()
    return line if line.endswith("..") else line.removesuffix(".")


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _cut(text: str) -> str:
    """As much as a reason tells: whole sentences where these say something, else whole words and "…"."""
    if len(text) <= _REASON_LIMIT:
        return text
    ends = [found.end(1) for found in _SENTENCE_END.finditer(text[: _REASON_LIMIT + 1])]
    if ends and ends[-1] > _REASON_LIMIT // 3:
        return text[: ends[-1]]
    words = text[:_REASON_LIMIT].rpartition(" ")[0] if " " in text[_REASON_LIMIT // 2 : _REASON_LIMIT] else ""
    return f"{words or text[: _REASON_LIMIT - 1]}…"


def _signal(number: int) -> Said:
    if number in _SIGNALS:
        return _said("signal_named", name=_SIGNALS[number], number=str(number))
    return _said("signal", number=str(number))
