"""The commands of a shell script or of pasted lines, as far as they are plain: words, and the variables set for them.

Nothing is run: what a shell would compute (`$(…)`, an unknown `$NAME`) stays in its word and is named.
"""

import re
from dataclasses import dataclass, field, replace

from dsgui.core.errors import DocumentError
from dsgui.core.imported.shell_words import again, lines_of_words, value, values
from dsgui.core.texts.saying import wrong

MAX_CHARACTERS = 32_000
_MOST_COMMANDS = 200
_LONGEST = 100_000  # characters of one command with its variables' values
_SET = re.compile(r"([A-Za-z_][A-Za-z0-9_]{0,60})=(.*)", re.DOTALL)
_POSITION = re.compile(r"\$\{?[0-9@*]")
_OPTION = re.compile(r"--[A-Za-z]")
_SHELL = re.compile(r"#!|[$>] |(?:export|set|cd|source) |[A-Z][A-Z0-9_]{1,40}=")


@dataclass(frozen=True, slots=True)
class Command:
    """`variables`: set for it, in front of it or before by `export`. `computed`: words that a shell would change.
    `cut`: the first option that a shell would not pass, since the command ends before it."""

    words: tuple[str, ...]
    variables: dict[str, str] = field(default_factory=dict)
    computed: tuple[str, ...] = ()
    cut: str = ""


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
    exported: dict[str, str] = {}
    plain: dict[str, str] = {}
    found: list[Command] = []
    for words, goes_on in lines_of_words(text):
        exports = words[0] == "export"
        mine, rest = _set(words[1:] if exports else words, exported | plain)
        if not rest or exports:
            (exported if exports else plain).update(mine)
            continue
        command = _command(rest, exported | mine, exported | plain | mine)
        if found and goes_on and _OPTION.match(" ".join(command.words)):
            found[-1] = _joined(found[-1], command)
        else:
            found.append(command)
        if len(found) >= _MOST_COMMANDS:
            break
    return tuple(command for command in found if command.words)


def _joined(first: Command, then: Command) -> Command:
    """Options alone are no command."""
    words, computed = (*first.words, *then.words), (*first.computed, *then.computed)
    return replace(first, words=words, computed=computed, cut=first.cut or then.words[0].partition("=")[0])


def _set(words: list[str], known: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """`NAME=VALUE` in front, and the rest. What a script is given when it is called replaces no value that it has."""
    mine: dict[str, str] = {}
    while words and (match := _SET.fullmatch(words[0])):
        filled = value(match[2], known | mine)[:MAX_CHARACTERS]
        if match[1] not in known or not _POSITION.match(filled):
            mine[match[1]] = filled
        words = words[1:]
    return mine, words


def _command(words: list[str], variables: dict[str, str], known: dict[str, str]) -> Command:
    filled: list[str] = []
    length = 0
    for word in words:
        made = values(word, known)
        length += sum(map(len, made))
        if length > _LONGEST:
            break
        filled += made
    if filled[:1] == ["eval"]:
        filled = again(filled[1:])
    return Command(tuple(filled), variables, tuple(word for word in filled if is_computed(word)))
