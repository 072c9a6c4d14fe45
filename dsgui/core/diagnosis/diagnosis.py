"""Why a run failed, in plain words: what ended its first failing rank, matched against the table of signatures.

The first failing rank is the one to look at: when it dies, the others lose their connection and die too, later and
louder. A failure that no signature fits is shown as it is, with its first traceback.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from dsgui.core.decoding import optional, text, whole
from dsgui.core.diagnosis.ending import TO_ALL, Ending, signal_number, verdict
from dsgui.core.diagnosis.remedies import Circumstances, Remedy, steady_numbers
from dsgui.core.diagnosis.signatures import SIGNATURES, Signature, Where
from dsgui.core.diagnosis.tracebacks import Traceback
from dsgui.core.sizes import size
from dsgui.core.texts.saying import Said

UNKNOWN = "unknown"
_TEXTS = ("signature", "title", "meaning", "evidence", "traceback", "source")
_TITLE_LIMIT = 160
# The launcher's own tracebacks say only that a rank failed.
_LAUNCHERS = re.compile(
    r"[\w.]*ChildFailedError|subprocess\.CalledProcessError: .*(?:launcher|torch\.distributed\.run)"
)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """`signature` is an id of `core/diagnosis/signatures.py` or "unknown"; `rank` the first that failed, None where the
    output does not tell; `evidence` the line it was recognised by; `traceback` the first one, or "". `remedies` are
    changes that may help, the likeliest first."""

    signature: str
    title: str
    meaning: str
    advice: tuple[str, ...]
    rank: int | None = None
    evidence: str = ""
    traceback: str = ""
    source: str = ""
    remedies: tuple[Remedy, ...] = ()

    @property
    def remedy(self) -> Remedy | None:
        """The one to offer."""
        return self.remedies[0] if self.remedies else None

    def to_json(self) -> dict[str, Any]:
        rest = (field.name for field in fields(self) if field.name != "remedies")
        return {name: getattr(self, name) for name in rest} | {"remedies": [one.to_json() for one in self.remedies]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Diagnosis":
        """Raises KeyError, TypeError or ValueError for what `to_json` did not write."""
        given: dict[str, Any] = {name: text(value[name]) for name in _TEXTS if name in value}
        given["rank"] = optional(lambda one: whole(one, 0, 1 << 31), value.get("rank"))
        remedies = tuple(Remedy.from_json(one) for one in value.get("remedies", (value.get("remedy"),)) if one)
        return cls(**given | {"advice": tuple(text(one) for one in value["advice"]), "remedies": remedies})


def diagnose(ending: Ending, exit_code: int, run: Circumstances) -> Diagnosis:
    """Only for a run that failed: a run that ended well may have caught anything."""
    code = ending.return_code or exit_code
    own = [one for one in ending.tracebacks.found if not _LAUNCHERS.match(one.error)]
    traceback, found = _first(own, run)
    if traceback is None or (found and found[1].aftermath):
        found = _said(ending, run) or _signalled(code, run) or _killed_silently(run) or found
    if found is None:
        return _without_numbers(ending, run, traceback) or _unknown(code, ending, traceback, run)
    diagnosis, signature = found
    if signature.where is Where.KILLED and signature.id == "killed":
        diagnosis = _killed(diagnosis, run)
    shown = diagnosis.traceback or (traceback.text if traceback else "")
    rank = diagnosis.rank if diagnosis.rank is not None else _only_rank(ending, run, code)
    return replace(diagnosis, traceback=shown, rank=rank)


_Found = tuple[Diagnosis, Signature]


def _first(tracebacks: list[Traceback], run: Circumstances) -> tuple[Traceback | None, _Found | None]:
    """The first traceback that is no aftermath of another rank's end, and what fits it; else the first aftermath."""
    aftermath: tuple[Traceback | None, _Found | None] = None, None
    for traceback in tracebacks:
        found = _match_traceback(traceback, run)
        if found is None or not found[1].aftermath:
            return traceback, found
        aftermath = aftermath if aftermath[0] else (traceback, found)
    return aftermath


def _match_traceback(traceback: Traceback, run: Circumstances) -> _Found | None:
    text = traceback.text
    for message in traceback.messages:
        for one in SIGNATURES:
            if one.where is not Where.RAISED or (one.frames and not re.search(one.frames, text)):
                continue
            match = re.match(one.pattern, message)
            if match and (one.when is None or one.when(match, run)):
                return _diagnosis(one, match, run, traceback.rank, traceback.error, text), one
    return None


def _said(ending: Ending, run: Circumstances) -> _Found | None:
    later: _Found | None = None
    for rank, line in ending.last_words:
        for one in SIGNATURES:
            match = re.match(one.pattern, line) if one.where is Where.SAID else None
            if match and (one.when is None or one.when(match, run)):
                told = match.groupdict().get("rank")
                found = _diagnosis(one, match, run, int(told) if told else rank, line), one
                if not one.aftermath:
                    return found
                later = later or found
                break
    return later


def _signalled(code: int, run: Circumstances) -> _Found | None:
    number = signal_number(code)
    for one in SIGNATURES:
        if one.where is Where.KILLED and str(number) in one.pattern.split("|"):
            return _diagnosis(one, None, run, None, ""), one
    return None


def _diagnosis(
    one: Signature,
    match: re.Match[str] | None,
    run: Circumstances,
    rank: int | None,
    evidence: str,
    traceback: str = "",
) -> Diagnosis:
    told = {name: (value or "").strip() for name, value in match.groupdict().items()} if match else {}
    told |= one.tells(match, run.arguments) if match and one.tells else {}
    if run.address_space_bytes:
        told["limit"] = size(run.address_space_bytes)
    remedies = (make(match, run) for make in one.remedies)
    return Diagnosis(
        signature=one.id,
        title=_filled(one.title, told)[:_TITLE_LIMIT],
        meaning=_filled(one.meaning, told),
        advice=tuple(_filled(sentence, told) for sentence in one.advice),
        rank=rank,
        evidence=evidence,
        traceback=traceback,
        source=one.source,
        remedies=tuple(dict.fromkeys(remedy for remedy in remedies if remedy and run.can_have(remedy))),
    )


def _filled(text: str, told: Mapping[str, str]) -> str:
    for name, value in told.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def why_failed(ending: Ending, exit_code: int | None, left: int, found: Diagnosis) -> tuple[Said, ...]:
    """A failed run's end in sentences: what the page shows above its diagnosis and the terminal as its last line."""
    why = found.meaning if signal_number(ending.return_code or exit_code or 0) and found.signature != UNKNOWN else ""
    return verdict(exit_code, ending, left, why, found.rank)[1]


def _only_rank(ending: Ending, run: Circumstances, code: int) -> int | None:
    """Of a traceback that does not say whose it is, or of none: the rank, where only one can be meant."""
    if ending.rank is not None:
        return ending.rank
    if run.first_ended is not None and ending.tracebacks.headers <= 1 and signal_number(code) not in TO_ALL:
        return run.first_ended
    return 0 if run.ranks == 1 else None


def _killed_silently(run: Circumstances) -> _Found | None:
    """Ranks that lost another one, while the kernel killed for want of memory: that one was it."""
    return _signalled(-9, run) if run.oom_kills or run.oom_kills_here else None


def _killed(diagnosis: Diagnosis, run: Circumstances) -> Diagnosis:
    """Whether memory was the reason is no guess where the kernel counts such ends."""
    if run.oom_kills_here and run.memory_limit_bytes:
        limit = size(run.memory_limit_bytes)
        title = f"The memory limit of its container was reached: {limit}"
        meaning = (
            f"The kernel killed it because all that runs in its container or job (control group) may use {limit} of "
            "memory together, and that was used up."
        )
        advice = ("Give the container or job more memory.", *diagnosis.advice)
        return replace(diagnosis, signature="cgroup-memory", title=title, meaning=meaning, advice=advice)
    if run.oom_kills or run.oom_kills_here:
        meaning = "While the run was going on, the kernel killed processes because the machine's memory had run out."
        return replace(diagnosis, title="The kernel killed a rank: memory ran out", meaning=meaning)
    if run.oom_kills == 0:
        meaning = (
            "The signal 9 (SIGKILL) ended it. The kernel did not do that for want of memory: it counted no such end "
            "while the run was going on. So another program or user did."
        )
        return replace(diagnosis, meaning=meaning, advice=("Find out what ended it, then start or resume it.",))
    return diagnosis


def _without_numbers(ending: Ending, run: Circumstances, traceback: Traceback | None) -> Diagnosis | None:
    """No traceback that tells, and the last loss was no number."""
    if not ending.lost_numbers:
        return None
    return Diagnosis(
        signature="not-a-number",
        title="The loss became NaN or infinite",
        meaning="The last logged loss was NaN or infinite; what came then is most likely its consequence.",
        advice=("Lower the learning rate, warm up longer, clip gradients; prefer bf16 to fp16.",),
        rank=traceback.rank if traceback else None,
        evidence=traceback.error if traceback else "",
        traceback=traceback.text if traceback else "",
        remedies=tuple(filter(None, [steady_numbers(None, run)])),
    )


def _unknown(code: int, ending: Ending, traceback: Traceback | None, run: Circumstances) -> Diagnosis:
    if traceback:
        name = traceback.error.partition(":")[0].rpartition(".")[2]
        title, meaning = f"It ended with {name}", traceback.own_message[:2000]
        rank = traceback.rank if traceback.rank is not None else _only_rank(ending, run, code)
        advice = ("Start with the last line of the traceback, then look at the lines in your own files.",)
        return Diagnosis(UNKNOWN, title, meaning, advice, rank, traceback.error, traceback.text)
    last = ending.last_line.strip()
    meaning = f"The last line of its output: “{last}”." if last else "It printed nothing before."
    return Diagnosis(UNKNOWN, f"It ended with code {code} and no traceback", meaning, ("See the output.",))
