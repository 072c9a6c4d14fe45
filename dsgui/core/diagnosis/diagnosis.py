"""Why a run failed: what ended its first failing rank, matched against the table of signatures.

The first failing rank matters: when it dies, the others lose their connection and die too, later and louder. A failure
that matches no signature is shown unchanged, with its first traceback.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Any

from dsgui.core.decoding import optional, text, whole
from dsgui.core.diagnosis.ending import TO_ALL, Ending, quoted, signal_number, verdict
from dsgui.core.diagnosis.evidence import Word
from dsgui.core.diagnosis.remedies import Circumstances, Remedy, steadier
from dsgui.core.diagnosis.signatures import SIGNATURES, Signature, Where
from dsgui.core.diagnosis.tracebacks import Traceback
from dsgui.core.sizes import size
from dsgui.core.texts.saying import Said, as_told, kept, recalled, said, said_with

UNKNOWN = "unknown"
NOT_A_NUMBER = "not-a-number"
_FACTS = ("signature", "evidence", "traceback", "source")
_IN_TITLE, _IN_TEXT = 140, 2000  # of a message's own words
# The launcher's own tracebacks say only that a rank failed.
_LAUNCHERS = re.compile(
    r"[\w.]*ChildFailedError|subprocess\.CalledProcessError: .*(?:launcher|torch\.distributed\.run)"
)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """`signature` is an id of `core/diagnosis/signatures.py` or "unknown"; `rank` the first that failed, None if the
    output does not tell; `evidence` the line by which it was recognised; `traceback` the first one, or "". `remedies`
    are changes that may help, the likeliest first."""

    signature: str
    title: Said
    meaning: Said
    advice: tuple[Said, ...]
    rank: int | None = None
    evidence: str = ""
    traceback: str = ""
    source: str = ""
    remedies: tuple[Remedy, ...] = ()

    @property
    def remedy(self) -> Remedy | None:
        """The remedy to offer."""
        return self.remedies[0] if self.remedies else None

    def to_json(self) -> dict[str, Any]:
        """Texts are stored in words, and by code under `said`, so that they can be shown in another language."""
        words = {"title": str(self.title), "meaning": str(self.meaning), "advice": [str(one) for one in self.advice]}
        codes = {"title": kept(self.title), "meaning": kept(self.meaning), "advice": [kept(one) for one in self.advice]}
        rest = {"rank": self.rank, "said": codes, "remedies": [one.to_json() for one in self.remedies]}
        return words | {name: getattr(self, name) for name in _FACTS} | rest

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Diagnosis":
        """Raises KeyError, TypeError or ValueError for what `to_json` did not write."""
        given: dict[str, Any] = {name: text(value[name]) for name in _FACTS if name in value}
        given["rank"] = optional(lambda one: whole(one, 0, 1 << 31), value.get("rank"))
        given["remedies"] = tuple(Remedy.from_json(one) for one in value.get("remedies", (value.get("remedy"),)) if one)
        return cls(**given | _recalled(value))


def _recalled(value: Mapping[str, Any]) -> dict[str, Any]:
    """The texts by the codes stored with them; in the stored words if a dsgui without codes wrote them."""
    codes = value["said"] if isinstance(value.get("said"), dict) else {}
    advice = codes["advice"] if isinstance(codes.get("advice"), list) else []
    sentences = zip(chain(advice, repeat(None)), value["advice"], strict=False)
    return {
        "title": recalled("diagnosis_titles", codes.get("title"), text(value["title"])),
        "meaning": recalled("diagnosis_meanings", codes.get("meaning"), text(value["meaning"])),
        "advice": tuple(recalled("diagnosis_advice", code, text(sentence)) for code, sentence in sentences),
    }


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
    """The first traceback that is not the aftermath of another rank's end, and what matches it; otherwise the first
    aftermath."""
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
    words, (title, meaning) = _words(one, match, run), one.codes
    remedies = (make(match, run) for make in one.remedies)
    return Diagnosis(
        signature=one.id,
        title=said_with("diagnosis_titles", title, _short(words)),
        meaning=said_with("diagnosis_meanings", meaning, words),
        advice=tuple(said_with("diagnosis_advice", code, words) for code in one.advice),
        rank=rank,
        evidence=evidence,
        traceback=traceback,
        source=one.source,
        remedies=tuple(dict.fromkeys(remedy for remedy in remedies if remedy and run.can_have(remedy))),
    )


def _words(one: Signature, match: re.Match[str] | None, run: Circumstances) -> dict[str, Word]:
    """What fills the places of a signature's texts."""
    words: dict[str, Word] = {}
    if match:
        words |= {name: (value or "").strip() for name, value in match.groupdict().items()}
        words |= one.tells(match, run.arguments) if one.tells else {}
        module = match["module"] or "" if "module" in words else ""
        words |= {"above": run.has_above(module), "path": run.finding(module)} if run.has_above(module) else {}
    return words | ({"limit": size(run.address_space_bytes)} if run.address_space_bytes else {})


def _short(words: Mapping[str, Word]) -> dict[str, Word]:
    """As much of a message as a title has room for."""
    return {name: word[:_IN_TITLE] if isinstance(word, str) else word for name, word in words.items()}


def _title(code: str, /, **given: Word) -> Said:
    return said("diagnosis_titles", code, **given)


def _meaning(code: str, /, **given: Word) -> Said:
    return said("diagnosis_meanings", code, **given)


def _advice(code: str) -> Said:
    return said("diagnosis_advice", code)


def why_failed(ending: Ending, exit_code: int | None, left: int, found: Diagnosis) -> tuple[Said, ...]:
    """How a failed run ended, in sentences: the page shows them above the diagnosis, the terminal as its last line."""
    signalled = signal_number(ending.return_code or exit_code or 0) and found.signature != UNKNOWN
    why = found.meaning if signalled else None
    return verdict(exit_code, ending, left, why, found.rank)[1]


def _only_rank(ending: Ending, run: Circumstances, code: int) -> int | None:
    """The rank of a traceback that does not name one, or of no traceback, if only one is possible."""
    if ending.rank is not None:
        return ending.rank
    if run.first_ended is not None and ending.tracebacks.headers <= 1 and signal_number(code) not in TO_ALL:
        return run.first_ended
    return 0 if run.ranks == 1 else None


def _killed_silently(run: Circumstances) -> _Found | None:
    """If ranks lost another one while the kernel was killing for lack of memory, that rank was the victim."""
    return _signalled(-9, run) if run.oom_kills or run.oom_kills_here else None


def _killed(diagnosis: Diagnosis, run: Circumstances) -> Diagnosis:
    """Where the kernel counts such kills, it is known whether memory was the reason."""
    if run.oom_kills_here and run.memory_limit_bytes:
        limit = size(run.memory_limit_bytes)
        return replace(
            diagnosis,
            signature="cgroup-memory",
            title=_title("container_memory", limit=limit),
            meaning=_meaning("container_memory", limit=limit),
            advice=(_advice("container_memory"), *diagnosis.advice),
        )
    if run.oom_kills or run.oom_kills_here:
        return replace(diagnosis, title=_title("killed_for_memory"), meaning=_meaning("killed_for_memory"))
    if run.oom_kills == 0:
        return replace(diagnosis, meaning=_meaning("killed_by_another"), advice=(_advice("who_ended_it"),))
    return diagnosis


def _without_numbers(ending: Ending, run: Circumstances, traceback: Traceback | None) -> Diagnosis | None:
    """No traceback explains the end, and the last loss was NaN or infinite."""
    if not ending.lost_numbers:
        return None
    return Diagnosis(
        signature=NOT_A_NUMBER,
        title=_title("lost_numbers"),
        meaning=_meaning("lost_numbers"),
        advice=(_advice("steadier_numbers"),),
        rank=traceback.rank if traceback else None,
        evidence=traceback.error if traceback else "",
        traceback=traceback.text if traceback else "",
        remedies=steadier(run),
    )


def _unknown(code: int, ending: Ending, traceback: Traceback | None, run: Circumstances) -> Diagnosis:
    if traceback:
        name = traceback.error.partition(":")[0].rpartition(".")[2]
        title, meaning = _title("raised", name=name[:_IN_TITLE]), as_told(traceback.own_message[:_IN_TEXT])
        rank = traceback.rank if traceback.rank is not None else _only_rank(ending, run, code)
        return Diagnosis(UNKNOWN, title, meaning, (_advice("start_at_the_end"),), rank, traceback.error, traceback.text)
    last = ending.last_line.strip()
    meaning = _meaning("last_line", line=quoted(last)) if last else _meaning("nothing_printed")
    title = _title("silent_start" if last and not ending.trained else "silent", code=str(code))
    return Diagnosis(UNKNOWN, title, meaning, (_advice("see_output"),), evidence=last)
