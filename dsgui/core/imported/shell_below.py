"""Texts that a shell script holds: what stands below `<<WORD`, and the files that are written from it.

Nothing is run: a variable that the script doesn't set stays unknown, and so does the file that it goes into.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from dsgui.core.imported.shell_words import BELOW, COMPUTED, MARKS, value

_WORD = r"[A-Za-z_][A-Za-z0-9_]{0,60}"
_BEGINS = re.compile(rf"(?<!<)<<(-?)[ \t]{{0,4}}(?:'({_WORD})'|\"({_WORD})\"|\\({_WORD})|({_WORD}))")
_READS = re.compile(r"[ \t]{0,80}read[ \t]")  # `shell_words` makes a variable of it
# What is below is run where a shell reads it or it becomes a script.
_RUNS_IT = re.compile(r"[ \t]{0,80}(?:\S{1,80}[ \t]+){0,6}?(?:ba|z|da)?(?:sh|ssh|sbatch|qsub|bsub)\b")
_TO_SCRIPT = re.compile(r">{1,2}[ \t]{0,8}[\"']?[^\s>]{0,300}\.(?:sh|bash|sbatch|slurm|job|pbs)\b")
# `NAME=$(cat <<EOF` … `)`
_INTO_NAME = re.compile(
    rf"([ \t]{{0,80}}(?:(?:export|local|declare)[ \t]{{1,8}})?{_WORD}=)\"?\$\([ \t]{{0,8}}cat[ \t]{{0,8}}"
)
_DOLLAR, _TICK = "\ue010", "\ue011"
_ESCAPED = re.compile(r"\\([\\$`\n])")
_LEFT_OVER = re.compile(rf"{COMPUTED}|\$\{{[^{{}}\n]{{0,200}}\}}|\$[A-Za-z_0-9@*#?!]{{1,60}}")
_MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class Below:
    """The lines below `<<WORD`; a shell puts values into them where the word has no quotes."""

    text: str
    is_plain: bool


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that a script writes. `unknown`: what in its text only a shell can tell, as it stands there. `depends`:
    the conditions that decide whether it is written and with which values."""

    path: str
    text: str
    unknown: tuple[str, ...] = ()
    depends: tuple[str, ...] = ()

    def is_called(self, name: str) -> bool:
        """Whether a command that names `name` means this file."""
        return posixpath.normpath(self.path) == posixpath.normpath(name)


def without_below(text: str) -> tuple[str, tuple[Below, ...]]:
    """The script without what stands below its commands, which a mark with its number stands for."""
    lines = text.translate(MARKS).replace("\r\n", "\n").split("\n")
    ends = {line.strip() for line in lines}
    kept: list[str] = []
    found: list[Below] = []
    place = 0
    while place < len(lines):
        line, place = lines[place], place + 1
        begins = None if line.lstrip().startswith("#") or _READS.match(line) else _BEGINS.search(line)
        end = _end(lines, place, begins) if begins and _word(begins) in ends else None
        if begins is None or end is None:
            kept.append(line)
            continue
        body = lines[place:end]
        if _is_run(line, body):
            kept.append(line[: begins.start()] + line[begins.end() :])
            lines[end] = ""
            continue
        name = _INTO_NAME.fullmatch(line[: begins.start()])
        if name and lines[end + 1 : end + 2] and lines[end + 1].strip() in (")", ')"'):
            kept.append(f"{name[1]}{BELOW}{len(found)}")
            end += 1
        else:
            kept.append(f"{line[: begins.start()]} {BELOW}{len(found)} {line[begins.end() :]}")
        found.append(Below("\n".join(_untabbed(body) if begins[1] else body) + "\n", begins[5] is None))
        place = end + 1
    return "\n".join(kept), tuple(found)


def _word(begins: re.Match[str]) -> str:
    return str(next(filter(None, begins.groups()[1:])))


def _end(lines: list[str], place: int, begins: re.Match[str]) -> int | None:
    word = _word(begins)
    for number in range(place, len(lines)):
        line = lines[number].rstrip()
        if (line.lstrip("\t") if begins[1] else line) == word:
            return number
    return None


def _untabbed(body: list[str]) -> Iterator[str]:
    return (line.lstrip("\t") for line in body)


def _is_run(line: str, body: list[str]) -> bool:
    first = next((one.lstrip() for one in body if one.strip()), "")
    return first.startswith("#!") or bool(_RUNS_IT.match(line[:600]) or _TO_SCRIPT.search(line[:600]))


def written_from(below: Below, path: str, known: Mapping[str, str]) -> WrittenFile:
    """The file as the shell writes it with what the script itself sets."""
    if below.is_plain:
        return WrittenFile(path, below.text)
    escaped = _ESCAPED.sub(lambda match: {"$": _DOLLAR, "`": _TICK, "\n": ""}.get(match[1], match[1]), below.text)
    filled = value(escaped, known)
    file = said_into(filled, path)
    return replace(file, text=file.text.replace(_DOLLAR, "$").replace(_TICK, "`"))


def said_into(text: str, path: str) -> WrittenFile:
    """The file of a text that has its values."""
    return WrittenFile(path, text, tuple(dict.fromkeys(_LEFT_OVER.findall(text)))[:_MOST_NAMED])
