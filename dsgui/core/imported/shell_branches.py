"""Whether a command of a script runs: `if` with conditions that the script's own values decide, and what they don't.

A loop runs. What a script is called with decides nothing here: it is read as called without arguments.
"""

import fnmatch
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dsgui.core.imported.shell_words import as_written

_POSITION = re.compile(r"\$\{?[0-9@*#]")
_BY_NUMBER: Mapping[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq,
    "-ne": operator.ne,
    "-lt": operator.lt,
    "-le": operator.le,
    "-gt": operator.gt,
    "-ge": operator.ge,
}
_SAME = {"=": True, "==": True, "!=": False}
_CLOSED_BY = {"[": "]", "[[": "]]"}
_ARGUMENT = re.compile(r"\$(?:[1-9]|\{[1-9]\})")
_NUMBER = re.compile(r"-?\d{1,18}", re.ASCII)
_PATTERN = re.compile(r"[*?\[]")
_ENDS = {"fi": "if", "done": "loop", "esac": "case"}
_DEEPEST = 100


@dataclass(slots=True)
class _Frame:
    """`runs`: whether its commands run, None where that is not known; `before`: the same for its branches so far."""

    kind: str
    condition: str = ""
    runs: bool | None = True
    before: bool | None = False
    is_given: bool = False
    subject: str | None = None
    is_asked: bool = False


class Branches:
    """Where the commands stand that were met so far."""

    def __init__(self) -> None:
        self._frames: list[_Frame] = []
        # In a list of `&&` and `||`: whether the command runs, whether what ran last succeeded and was a test.
        self._listed: bool | None = True
        self._holds: bool | None = True
        self._is_tested = False
        self._test = ""
        self.is_test = False  # a `[ … ]` that is decided and says nothing more

    @property
    def runs(self) -> bool | None:
        """None where it depends on what is not known."""
        every = [self._listed, *(frame.runs for frame in self._frames if not frame.is_asked)]
        return False if False in every else None if None in every else True

    @property
    def is_decided(self) -> bool:
        """Whether the innermost branch is known to run or not."""
        return any(frame.runs is not None or frame.subject is not None for frame in self._frames[-1:])

    @property
    def is_given(self) -> bool:
        """Whether what stands here depends on what the script is called with."""
        return any(frame.is_given for frame in self._frames)

    @property
    def condition(self) -> str:
        """What the innermost branch that may not run depends on."""
        branch = next((frame.condition for frame in reversed(self._frames) if frame.runs is None), "")
        return self._test if self._listed is None else branch

    def enter(
        self, words: list[str], filled: Callable[[Sequence[str]], list[str] | None], behind: str = ""
    ) -> list[str]:
        """The words without those that a shell itself reads, none for what says nothing more. `filled` puts values into
        words, None where one of them isn't known. `behind`: the `&&` or `||` in front."""
        for _ in range(_DEEPEST):
            if not words:
                break
            rest = self._entered(words, filled)
            if rest is words:
                break
            words = rest
        self._list(words, filled, behind)
        return words

    def _list(self, words: list[str], filled: Callable[[Sequence[str]], list[str] | None], behind: str) -> None:
        """`[ … ] && A=1`, `[ … ] || A=1`: whether it runs by what was tested in front of it. Any other command is taken
        to succeed, and what stands behind its `||` to depend on it."""
        is_listed = behind in ("&&", "||") and not any(frame.is_asked for frame in self._frames[-1:])
        if not is_listed:
            self._listed, self._holds, self._is_tested = True, True, False
        elif behind == "&&" or self._holds is None:
            self._listed = self._holds
        else:
            self._listed = not self._holds if self._is_tested else None
        self.is_test = False
        is_bare_test = words[:1] != [] and (
            words[0] == "test" or (words[0] in (*_CLOSED_BY, "!") and words[-1] in _CLOSED_BY.values())
        )
        if is_bare_test and self._listed is not False:
            told = _decided(words, filled)
            self._holds = told if self._listed else None
            self._is_tested, self._test = True, _shown(words)
            self.is_test = told is not None
        elif self._listed and not is_bare_test:
            self._holds, self._is_tested = True, False
            self._test = f"{_shown(words[:1]).partition('=')[0]} ||"

    def _entered(self, words: list[str], filled: Callable[[Sequence[str]], list[str] | None]) -> list[str]:
        top = self._frames[-1] if self._frames else None
        first = words[0]
        if first in _ENDS:
            self._leave(_ENDS[first])
            return []
        if first == "if":
            self._open(_Frame("if", _shown(words), _decided(words[1:], filled), is_asked=True))
        elif first in ("while", "until", "for", "select"):
            self._open(_Frame("loop", _shown(words), is_given=_is_given(words), is_asked=True))
        elif first == "case" and words[-1] == "in" and len(words) == 3:
            known = [] if _is_given(words) else filled(words[1:2]) or []
            subject = known[0] if len(known) == 1 else None
            self._open(_Frame("case", _shown(words), None, is_given=_is_given(words), subject=subject))
        elif top and top.kind == "case" and first.endswith(")") and "(" not in first:
            top.runs = _labelled(top, first[:-1])
            return words[1:]
        elif top and top.kind == "if" and first in ("elif", "else"):
            self._next(top, words, filled)
            return words if first == "elif" else words[1:]
        elif top and first in ("then", "do"):
            top.is_asked = False
            return words[1:]
        elif top and top.kind == "if" and top.is_asked:
            top.runs = None  # a condition of several commands
        return words

    def _open(self, frame: _Frame) -> None:
        if len(self._frames) < _DEEPEST:
            self._frames.append(frame)

    def _leave(self, kind: str) -> None:
        kinds = [frame.kind for frame in self._frames]
        if kind in kinds:
            del self._frames[len(kinds) - 1 - kinds[::-1].index(kind) :]

    @staticmethod
    def _next(frame: _Frame, words: list[str], filled: Callable[[Sequence[str]], list[str] | None]) -> None:
        frame.before = _either(frame.before, frame.runs)
        asks = words[0] == "elif"
        holds = _decided(words[1:], filled) if asks else True
        frame.condition = _shown(words) if asks else f"{frame.condition}; else"
        frame.is_asked = asks
        frame.runs = False if frame.before else holds if frame.before is False else (False if holds is False else None)


def _shown(words: Sequence[str]) -> str:
    return as_written(" ".join(words))


def _is_given(words: Sequence[str]) -> bool:
    return "getopts" in words or any(_POSITION.match(as_written(word)) for word in words)


def _either(one: bool | None, other: bool | None) -> bool | None:
    return True if one or other else None if one is None or other is None else False


def _labelled(frame: _Frame, label: str) -> bool | None:
    """Whether the branch of a `case` runs; one that runs ends it."""
    if frame.subject is None:
        return None
    if frame.before:
        return False
    frame.before = any(fnmatch.fnmatchcase(frame.subject, one) for one in as_written(label).split("|"))
    return frame.before


def _decided(words: Sequence[str], filled: Callable[[Sequence[str]], list[str] | None]) -> bool | None:
    """What `[ … ]` or `[[ … ]]` comes to, None for what is no plain comparison of known values."""
    if words[:1] == ["!"]:
        told = _decided(words[1:], filled)
        return None if told is None else not told
    words = ["[", *words[1:], "]"] if words[:1] == ["test"] else words
    if not words or words[-1] != _CLOSED_BY.get(words[0]):
        return None
    inner = filled(words[1:-1])
    if inner is None or len(inner) != len(words) - 2:
        return None
    if any(map(_ARGUMENT.fullmatch, inner)):
        return _is_empty(inner)
    return _compared(inner, words[0] == "[[")


def _is_empty(words: Sequence[str]) -> bool | None:
    """`[ "$1" = "" ]`, `[ -z "$1" ]`: as `${1:-…}`, without arguments; None for any other comparison."""
    bare = ["" if _ARGUMENT.fullmatch(word) else word for word in words]
    is_asked = len(bare) == 2 or (len(bare) == 3 and bare[0] == bare[2] == "")
    return _compared(bare, has_patterns=False) if is_asked else None


def _compared(words: Sequence[str], has_patterns: bool) -> bool | None:
    match list(words):
        case ["-z", text]:
            return text == ""
        case ["-n", text]:
            return text != ""
        case [left, sign, right] if sign in _SAME:
            return None if has_patterns and _PATTERN.search(right) else (left == right) is _SAME[sign]
        case [left, sign, right] if sign in _BY_NUMBER and _NUMBER.fullmatch(left) and _NUMBER.fullmatch(right):
            return _BY_NUMBER[sign](int(left), int(right))
    return None
