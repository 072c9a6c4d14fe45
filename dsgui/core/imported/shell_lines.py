"""The commands of a shell script or of pasted lines, as far as they are plain: words, and the variables set for them.

Nothing is run: what a shell would compute (`$(…)`, an unknown `$NAME`) stays in its word and is named.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dsgui.core.errors import DocumentError
from dsgui.core.imported.shell_below import Below, WrittenFile, said_into, without_below, written_from
from dsgui.core.imported.shell_branches import Branches
from dsgui.core.imported.shell_words import (
    ARRAY,
    BELOW,
    Line,
    elements,
    lines_of_words,
    names_in,
    value,
    values,
)
from dsgui.core.texts.saying import wrong

MAX_CHARACTERS = 32_000
_MOST_COMMANDS = 200
_LONGEST = 100_000  # characters of one command with its variables' values
_MOST_AGAIN = 4 * MAX_CHARACTERS  # and of all texts that a shell reads as commands once more
_DEEPEST = 4
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "/bin/bash", "/bin/sh", "/usr/bin/bash"})
_MOST_IN_FRONT = 60
_LONGEST_SHOWN = 60
_SET = re.compile(r"([A-Za-z_][A-Za-z0-9_]{0,60})(\+?)=(.*)", re.DOTALL)
_POSITION = re.compile(r"\$\{?[0-9@*]")
_ALL_GIVEN = re.compile(r"\$(?:[@*]|\{[@*](?::[0-9]{1,3})?\})")  # none, as a script is read without arguments
_ASKS = frozenset({"if", "elif", "case"})
_ARGUMENT = re.compile(r"\$(?:[1-9]|\{[1-9]\})")
_DECLARES = frozenset({"local", "declare", "readonly", "typeset"})
_OPTION = re.compile(r"--[A-Za-z]")
_SHELL = re.compile(r"#!|[$>] |(?:export|set|cd|source) |[A-Z][A-Z0-9_]{1,40}=")


@dataclass(frozen=True, slots=True)
class Command:
    """`variables`: set for it, in front of it or before by `export`. `computed`: words that a shell would change.
    `cut`: the first option that a shell would not pass, since the command ends before it. `before`: what starts the
    shell that reads it. `runs`: None where that depends on what only the shell can tell; `depends` says so of the
    values in it. `writes`: the file that its output goes to."""

    words: tuple[str, ...]
    variables: dict[str, str] = field(default_factory=dict)
    computed: tuple[str, ...] = ()
    cut: str = ""
    before: tuple[str, ...] = ()
    runs: bool | None = True
    depends: tuple[str, ...] = ()
    writes: WrittenFile | None = None


def looks_like_shell(text: str) -> bool:
    """Whether the first line that is no comment belongs to a shell."""
    lines = (line.strip() for line in text.lstrip("\ufeff").split("\n")[:50])
    first = next((line for line in lines if line and (line.startswith("#!") or not line.startswith("#"))), "")
    return _SHELL.match(first) is not None


def is_computed(text: str) -> bool:
    """Whether only a shell can tell what this is."""
    return "$" in text or "`" in text


def commands(text: str) -> tuple[Command, ...]:
    """In their order; the same for many lines as for one. Raises `DocumentError` for a text that is too long."""
    if len(text) > MAX_CHARACTERS:
        raise DocumentError(wrong("import.long_command", count=f"{len(text):,}", most=f"{MAX_CHARACTERS:,}"))
    reading = _Reading()
    reading.read(text)
    return tuple(command for command in reading.found if command.words)


class _Reading:
    """The variables as they stand at a command, and the commands so far. `unsure`: what a variable's value depends on,
    where it does; `unknown`: those whose value begins with one that isn't known, put in already."""

    def __init__(self) -> None:
        self.found: list[Command] = []
        self._exported: dict[str, str] = {}
        self._plain: dict[str, str] = {}
        self._unsure: dict[str, tuple[str, ...]] = {}
        self._unknown: set[str] = set()
        self._arrays: dict[str, list[str]] = {}
        self._too_long: set[str] = set()  # arrays that are not followed any more
        self._branches = Branches()
        self._again = _MOST_AGAIN
        self._piped: Below | None = None

    def read(self, text: str, around: Command | None = None, depth: int = 0) -> None:
        """`around`: the command whose word `text` is."""
        text, below = without_below(text)
        for line in lines_of_words(text):
            if len(self.found) >= _MOST_COMMANDS:
                return
            self._line(line, below, around or Command(()), depth)

    @property
    def _known(self) -> dict[str, str]:
        known = self._exported | self._plain
        return {name: known[name] for name in known.keys() - self._unknown} if self._unknown else known

    def _line(self, line: Line, below: Sequence[Below], around: Command, depth: int) -> None:
        words = self._branches.enter(line.words, self._certain, line.behind)
        if not words or (words[0] in _ASKS and self._branches.is_decided) or self._branches.is_test:
            return
        if words[0].startswith(ARRAY):
            self._array(words[0][1:], words[1:])
            return
        exports = words[0] == "export"
        if words[0] in _DECLARES and len(words) > 1:
            words = [word for word in words[1:] if not word.startswith("-")]
        mine, rest = self._set(words[1:] if exports else words, below)
        if not rest or exports:
            self._assign(mine, words, self._exported if exports else self._plain)
            return
        self._forget(rest)
        text = below[line.below] if line.below is not None and line.below < len(below) else None
        self._command(line, rest, around.variables | mine, text, around, depth)

    def _certain(self, words: Sequence[str]) -> list[str] | None:
        """With their values; None where one is not known for sure, but for an argument of the script."""
        if self._depends(words):
            return None
        filled = [part for word in words for part in values(word, self._known)]
        known = [part for part in filled if not _ARGUMENT.fullmatch(part)]
        return None if any(map(is_computed, known)) else filled

    def _array(self, name: str, words: Sequence[str]) -> None:
        runs, is_more, name = self._branches.runs, name.endswith("+"), name.removesuffix("+")
        if runs is False or name in self._too_long:
            return
        before = self._arrays.get(name, []) if is_more else []
        every = [*before, *self._filled(words, self._known)]
        if sum(map(len, every)) > MAX_CHARACTERS:
            self._too_long.add(name)
            self._arrays.pop(name, None)
            self._plain = {key: text for key, text in self._plain.items() if key not in (f"{name}[@]", f"{name}[*]")}
            return
        self._arrays[name] = every
        here = (f"{name}: {self._branches.condition}",) if runs is None else ()
        old = self._unsure.get(f"{name}[@]", ()) if is_more else ()
        unsure = tuple(dict.fromkeys((*old, *self._depends(words), *here)))
        for key in (f"{name}[@]", f"{name}[*]"):
            self._plain[key] = " ".join(every)
            self._unsure[key] = unsure

    def _filled(self, words: Sequence[str], known: dict[str, str]) -> list[str]:
        filled: list[str] = []
        length = 0
        for word in words:
            array = elements(word, self._arrays)
            made = values(word, known) if array is None else array
            length += sum(map(len, made))
            if length > _LONGEST:
                break
            filled += made
        return filled

    def _set(self, words: list[str], below: Sequence[Below]) -> tuple[dict[str, str], list[str]]:
        """`NAME=VALUE` in front, and the rest. What a script is given when it is called replaces no value that it
        has."""
        mine: dict[str, str] = {}
        known = self._known
        while words and (match := _SET.fullmatch(words[0])):
            more = mine.get(match[1], known.get(match[1], "")) if match[2] else ""
            filled = (more + _held(match[3], below, known | mine))[:MAX_CHARACTERS]
            is_given = self._branches.is_given or _POSITION.match(filled)
            if match[1] not in known or not is_given:
                mine[match[1]] = filled
            words = words[1:]
        return mine, words

    def _assign(self, mine: dict[str, str], words: Sequence[str], into: dict[str, str]) -> None:
        runs = self._branches.runs
        if runs is False:
            return
        for name, filled in mine.items():
            unsure = self._depends([word for word in words if word.startswith(f"{name}=")])
            if any(word.startswith(f"{name}+=") for word in words):
                unsure = (*self._unsure.get(name, ()), *unsure)
            if runs is None and self._known.get(name) == filled:
                unsure = (*self._unsure.get(name, ()), *unsure)
            elif runs is None:
                unsure = (*unsure, f"{name}: {self._branches.condition}")
            into[name] = filled
            self._unknown.discard(name)
            self._unsure |= {name: tuple(dict.fromkeys(unsure))}

    def _depends(self, words: Sequence[str]) -> tuple[str, ...]:
        names = sorted({name for word in words for name in names_in(word)} & self._unsure.keys())
        return tuple(dict.fromkeys(one for name in names for one in self._unsure[name]))

    def _forget(self, words: Sequence[str]) -> None:
        """What a loop or `read` sets is no longer what it was."""
        if self._branches.runs is False:
            return
        names = words[1:2] if words[0] in ("for", "select") else words[1:] if words[0] in ("read", "unset") else ()
        for name in names:
            self._plain.pop(name, None)
            self._exported.pop(name, None)

    def _command(
        self, line: Line, words: list[str], mine: dict[str, str], text: Below | None, around: Command, depth: int
    ) -> None:
        known = self._known | mine
        filled = self._filled(words, known)
        depends = (*around.depends, *self._here(), *self._depends(line.words), *self._depends_of_environment())
        command = replace(
            around,
            words=tuple(word for word in filled if not _ALL_GIVEN.fullmatch(word)),
            variables=self._exported | mine,
            computed=tuple(word for word in filled if is_computed(word)),
            depends=tuple(dict.fromkeys(depends)),
            runs=self._branches.runs if around.runs else around.runs,
            writes=self._written(line, filled, text),
        )
        inner = _inner(filled) if depth < _DEEPEST else None
        if inner and len(inner[1]) <= self._again:
            self._again -= len(inner[1])
            self._unknown |= {name for name, filled in self._known.items() if name in names_in(filled)}
            self.read(inner[1], replace(command, words=(), before=(*command.before, *inner[0])), depth + 1)
        elif self.found and line.goes_on and _OPTION.match(" ".join(filled)):
            self.found[-1] = _joined(self.found[-1], command)
        else:
            self.found.append(_of_env(command))

    def _onto(self, file: WrittenFile) -> WrittenFile:
        """Behind what the script wrote there before; what lay there already is not known."""
        earlier = (one.writes for one in reversed(self.found) if one.writes and one.writes.is_called(file.path))
        first = next(earlier, WrittenFile(file.path, "", (f">> {file.path}",)))
        unknown, depends = dict.fromkeys((*first.unknown, *file.unknown)), (*first.depends, *file.depends)
        return WrittenFile(file.path, f"{first.text}\n{file.text}", tuple(unknown), depends)

    def _here(self) -> tuple[str, ...]:
        return (self._branches.condition,) if self._branches.runs is None else ()

    def _depends_of_environment(self) -> tuple[str, ...]:
        return tuple(one for name in self._exported for one in self._unsure.get(name, ()))

    def _written(self, line: Line, filled: Sequence[str], text: Below | None) -> WrittenFile | None:
        """`cat <<EOF > FILE`, `cat <<EOF | tee FILE`, `echo '{…}' > FILE`."""
        path = value(line.into, self._known)
        if filled[:1] == ["tee"]:
            path, text = next((word for word in filled[1:] if not word.startswith("-")), ""), text or self._piped
        self._piped = text
        if not path:
            return None
        if text is not None:
            file, names = written_from(text, path, self._known), [] if text.is_plain else [text.text]
        elif said := _said(filled):
            file, names = said_into(said, path), line.words
        else:
            file, names = WrittenFile(path, "", (shown_words(filled),)), line.words
        if line.appends:
            file = self._onto(file)
        here = self._here()
        return replace(file, depends=tuple(dict.fromkeys((*self._depends(names), *here))))


def _said(words: Sequence[str]) -> str:
    """What `echo` says, and the JSON object that `printf` does."""
    if words[:1] == ["echo"]:
        return " ".join(word for word in words[1:] if word not in ("-e", "-n"))
    first = next((place for place, word in enumerate(words) if word.lstrip().startswith("{")), len(words))
    return " ".join(words[first:]).removesuffix("\\n") if words[:1] == ["printf"] else ""


def shown_words(words: Sequence[str]) -> str:
    text = " ".join(words)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"


def _joined(first: Command, then: Command) -> Command:
    """Options alone are no command."""
    words, computed = (*first.words, *then.words), (*first.computed, *then.computed)
    depends = tuple(dict.fromkeys((*first.depends, *then.depends)))
    cut = first.cut or then.words[0].partition("=")[0]
    return replace(first, words=words, computed=computed, cut=cut, depends=depends)


def _held(word: str, below: Sequence[Below], known: dict[str, str]) -> str:
    """A variable's value: also the text below `NAME=$(cat <<EOF`."""
    number = word.removeprefix(BELOW)
    if number == word or not number.isdecimal() or int(number) >= len(below):
        return value(word, known)
    return written_from(below[int(number)], "", known).text.rstrip("\n")


def _inner(words: list[str]) -> tuple[tuple[str, ...], str] | None:
    """What a shell reads once more, and the words in front: `eval …`, `srun bash -c "…"`."""
    if words[:1] == ["eval"]:
        return (), " ".join(words[1:])
    for place, word in enumerate(words[:_MOST_IN_FRONT]):
        if word.endswith(".py"):
            return None
        if word in _SHELLS:
            return _of_shell(words, place)
    return None


def _of_shell(words: list[str], place: int) -> tuple[tuple[str, ...], str] | None:
    for at in range(place + 1, len(words) - 1):
        if not words[at].startswith("-") and not words[at - 1].endswith("o"):  # `-o pipefail`
            return None
        if words[at].endswith("c") and not words[at].startswith("--"):
            return tuple(words[:place]), words[at + 1]
    return None


def _of_env(command: Command) -> Command:
    """`env NAME=VALUE … PROGRAM` as the shell writes it itself."""
    words, mine = command.words, dict[str, str]()
    if words[:1] != ("env",):
        return command
    rest = words[1:]
    while rest and (match := _SET.fullmatch(rest[0])):
        mine[match[1]], rest = match[3], rest[1:]
    if not rest or not mine:
        return command
    return replace(command, words=rest, variables=command.variables | mine)
