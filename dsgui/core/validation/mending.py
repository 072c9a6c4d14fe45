"""The one certain repair of the place where a text breaks off as JSON: an edit there, and no other.

A text with several such places is mended one by one; whoever wants it read as hjson, whole, has `loose_json`.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from dsgui.core.config.document import Document
from dsgui.core.errors import DocumentError
from dsgui.core.texts.saying import Said, said

_COMMAS = re.compile(r",(?>(?:[ \t\r\n]*+,)*)")
_CLOSER = re.compile(r"[ \t\r\n]*+[}\]]")
_COMMENT = re.compile(r"(?P<line>#[^\n\r]*+|//[^\n\r]*+)|/\*.*?\*/", re.DOTALL)
_REST_OF_LINE = re.compile(r"[ \t]*+(?P<end>\r?\n|\Z)")
_QUOTED = re.compile(r"'([^'\"\\\x00-\x1f]*+)'(?=[ \t\r\n]*+(?:[:,}\]#]|/[/*]))")
_PYTHON = {"True": "true", "False": "false", "None": "null"}
_WORD = re.compile(r"(?:True|False|None)(?=[ \t\r\n]*+(?:[,}\]#]|/[/*]))")
_ASSIGNED = re.compile(r"[A-Za-z_][\w.]*+(?:[ \t]*+:[^\n={]*+)?[ \t]*+=[ \t]*+(?=\{)")
_GROUPED = re.compile(r"_[\w.]*+")
_NUMBER = re.compile(r"[0-9]++")
_DIGITS = "0123456789"
_NEXT_MEMBER = re.compile(r'[ \t\r\n]*+"[^"\\\x00-\x1f]*+"[ \t\r\n]*+:')
_BLANK = " \t\r\n"
_MAX_SHOWN = 40
_MAX_TEXT = 64_000  # characters: a text is read several times for one repair


@dataclass(frozen=True, slots=True)
class Mending:
    """`new` for what stands from `start` to `end`, and what its button says."""

    start: int
    end: int
    new: str
    label: Said

    @property
    def id(self) -> str:
        """The same for the same edit: how a page refers to it."""
        edit = json.dumps([self.start, self.end, self.new])
        return hashlib.sha256(edit.encode()).hexdigest()[:16]

    def apply(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]


def mending(text: str) -> Mending | None:
    """What is certain to be meant where `text` first breaks off; None where nothing is, or nothing is broken."""
    at = _broken_at(text) if len(text) <= _MAX_TEXT else None
    if at is None:
        return None
    for find in (_extra_commas, _comment, _quotes, _python_word, _grouped_digits, _assignment, _missing_comma):
        for found in find(text, at):
            if _goes_on(text, found):
                return found
    return None


def _broken_at(text: str) -> int | None:
    """Where a strict reader stops."""
    try:
        Document(text)
    except DocumentError as error:
        start = 0
        for _ in range(error.line - 1):
            start = text.find("\n", start) + 1
        return start + error.column - 1
    return None


def _goes_on(text: str, found: Mending) -> bool:
    """Whether a reader gets past the place with it. What a comment to the end of the only line took with it, the
    closing brackets, say, is not known."""
    mended = found.apply(text)
    stops = _broken_at(mended)
    return stops is None or (stops >= found.start + len(found.new) and bool(mended[stops:].strip()))


def _extra_commas(text: str, at: int) -> Iterator[Mending]:
    """A comma after a comma, before a closing bracket or after an opening one."""
    run = _COMMAS.match(text, at)
    before = text[:at].rstrip(_BLANK)
    closes = run and _CLOSER.match(text, run.end())
    if run is None or before.endswith(":") or not (closes or before.endswith((",", "[", "{"))):
        return
    start = at
    if before.endswith(",") and closes:
        start = len(before) - 1  # that one is too many as well
    several = text.count(",", start, run.end()) > 1
    code = "remove_extra_commas" if several else "remove_extra_comma"
    yield Mending(start, run.end(), text[start : run.end()].replace(",", ""), said("fixes", code))


def _comment(text: str, at: int) -> Iterator[Mending]:
    """A comment, with the line that has nothing else, or with the blanks before it at the end of one."""
    comment = _COMMENT.match(text, at)
    if comment is None:
        return
    start, end = comment.span()
    rest = _REST_OF_LINE.match(text, end)
    before = text[text.rfind("\n", 0, start) + 1 : start]
    if rest and not before.strip() and rest["end"]:
        start, end = start - len(before), rest.end()
    elif rest:
        start -= len(before) - len(before.rstrip(" \t"))
    yield Mending(start, end, "", said("fixes", "remove_comment"))
    kept = text[:start].rstrip(_BLANK)
    if kept.endswith(",") and _CLOSER.match(text, end):  # no member follows: without the comment it is one too many
        yield Mending(len(kept) - 1, end, text[len(kept) : start], said("fixes", "remove_comment_comma"))


def _quotes(text: str, at: int) -> Iterator[Mending]:
    quoted = _QUOTED.match(text, at)
    if quoted:
        yield _written(quoted.start(), quoted[0], f'"{quoted[1]}"')


def _python_word(text: str, at: int) -> Iterator[Mending]:
    word = _WORD.match(text, at)
    if word:
        yield _written(at, word[0], _PYTHON[word[0]])


def _grouped_digits(text: str, at: int) -> Iterator[Mending]:
    """A number as Python may have it: 1_000_000."""
    rest, before = _GROUPED.match(text, at), text[:at].rstrip(_DIGITS)
    if rest and len(before) < at:
        number = text[len(before) : rest.end()]
        parts = number.split("_")
        if all(map(_NUMBER.fullmatch, parts)):
            yield _written(len(before), number, "".join(parts))


def _assignment(text: str, at: int) -> Iterator[Mending]:
    """What a config was assigned to where it was copied from a script."""
    name = None if text[:at].strip() else _ASSIGNED.match(text, at)
    if name:
        yield Mending(at, name.end(), "", said("fixes", "remove_assignment", text=name[0].strip()))


def _written(start: int, old: str, new: str) -> Mending:
    shown = [one if len(one) <= _MAX_SHOWN else one[: _MAX_SHOWN - 1] + "…" for one in (old, new)]
    return Mending(start, start + len(old), new, said("fixes", "replace_word", old=shown[0], value=shown[1]))


def _missing_comma(text: str, at: int) -> Iterator[Mending]:
    """Between a whole value and the next key."""
    member = _NEXT_MEMBER.match(text, at)
    if member is None or text[:at].rstrip(_BLANK).endswith((":", ",", "{", "[")):
        return
    found = Mending(at, at, ",", said("fixes", "add_comma"))
    stops = _broken_at(found.apply(text))
    if stops is None or stops > member.end():  # in a list it would stop at the colon
        yield found
