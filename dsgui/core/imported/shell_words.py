"""The words of shell lines, and the values that the text itself gives their variables and sums of
numbers. Nothing is run.

`shlex` splits; what it does not tell apart is marked before: an unquoted `$`, whose value a shell splits into words,
and a `#` inside a word, which starts no comment.
"""

import itertools
import operator
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

_HELD, _END, _UNQUOTED, _HASH = "\ue000", "\ue001", "\ue002", "\ue003"  # of the private use area
BELOW, INTO, _SPACE, _OR, ARRAY, _ONTO = "\ue004", "\ue005", "\ue006", "\ue007", "\ue008", "\ue009"
_OWN = (_HELD, _END, _UNQUOTED, _HASH, INTO, _SPACE, _OR, ARRAY, _ONTO)
MARKS = str.maketrans(dict.fromkeys((*_OWN, BELOW)))
_MARKS = str.maketrans(dict.fromkeys(_OWN))
_WRITTEN = str.maketrans({_UNQUOTED: "$", _HASH: "#", _SPACE: " ", _OR: "|"})
_MOST_JOINED = 20  # lines of one quoted text
_MOST_OF_JSON = 300  # and of one that is a JSON object
_LONGEST = 100_000  # characters of a word with its values
_MOST_COMPUTED = 500
_MOST_LINES = 2000
_INNER = r"\((?>(?:[^()\n]++|\([^()\n]*+\))*)\)"
COMPUTED = rf"\$\((?>(?:[^()\n]++|{_INNER})*)\)|`[^`\n]{{0,300}}`"
_COMPUTED = re.compile(COMPUTED)
# A comment within a command, as many write one, and the blank behind a backslash that then goes on nowhere.
_NOTHING = re.compile(r"(?<!\S)`[ \t]{0,8}#[^`\n]{0,300}`(?!\S)|\\[ \t]{1,80}$", re.MULTILINE)
_PARTS = re.compile(rf"(?>(?:{COMPUTED}|\$\{{[^{{}}\n]*+\}}|\S)+)")
_QUOTED = r"'[^']*+'|\"(?>(?:[^\"\\]|\\.)*)\"|\\."
_COMMENT = r"(?:^|(?<=[\s;&|]))#[^\n]*+"
# Where output goes is dsgui's: `> log`, `2>&1`, `&> log`, `> >(tee log)`. `<name>` stands for what is to be filled in.
_READ_FROM = r"(?<=\s)0?<(?:[ \t]{1,8}|(?=[/.$~]))[^\s;&|()<>]++(?!>)"
_REDIRECTED = rf"(?<=\s)(?:[0-9]|&)?>{{1,2}}[ \t]{{0,8}}(?:&[0-9]|>\([^()\n]{{0,300}}\)|[^\s;&|()>]++)|{_READ_FROM}"
_INTO_FILE = re.compile(r"1?>(>?)[ \t]{0,8}+(?![&(>])")
_NAME = r"[A-Za-z_][A-Za-z0-9_]{0,60}"
_INNER_NAME = rf"[${_UNQUOTED}]\{{{_NAME}\}}"
_BRACES = rf"\$\{{(?:{_NAME}|[0-9]):?[-+=](?>(?:{_INNER_NAME}|[^{{}}\n\"']){{0,200}})\}}"
_TO_MARK = re.compile(rf"{_QUOTED}|{_COMMENT}|{_REDIRECTED}|(?P<braces>{_BRACES})|(?P<mark>[$#])", re.DOTALL)
_NAMED = re.compile(rf"[${_UNQUOTED}](?:\{{({_NAME}(?:\[[@*]\])?)\}}|({_NAME}))")
_DEFAULT = re.compile(rf"[${_UNQUOTED}]\{{({_NAME}|[0-9]):?[-=]([^{{}}\n]{{0,200}})\}}")
_INSTEAD = re.compile(rf"[${_UNQUOTED}]\{{({_NAME}|[0-9]):?\+((?>(?:{_INNER_NAME}|[^{{}}\n]){{0,200}}))\}}")
_NAMES = re.compile(rf"[${_UNQUOTED}]\{{?({_NAME}(?:\[[@*]\])?)")
_WHOLE = re.compile(r"(?>(?:[^'\"\\]++|'[^']*+'|\"(?>(?:[^\"\\]|\\.)*)\"|\\.)*)", re.DOTALL)
_LABEL_WORD = r"[ \t]{0,4}[\w.*-]{1,80}[ \t]{0,4}"
_LABEL = re.compile(rf"^[ \t]{{0,80}}\(?{_LABEL_WORD}(?:\|{_LABEL_WORD}){{1,20}}\)", re.MULTILINE)
_ARRAY = re.compile(
    rf"(?:^|(?<=then)|(?<=else)|(?<=do)|(?<=;)|(?<=&&))([ \t]{{0,40}})({_NAME}\+?)=\(([^()]{{0,4000}})\)", re.MULTILINE
)
_OF_ARRAY = re.compile(rf"[${_UNQUOTED}]\{{({_NAME})\[[@*]\]\}}")
_BELOW = frozenset({"<<EOF", "<<'EOF'", '<<"EOF"', "<<-EOF"})
_COMMENTED = re.compile(r"^([ \t]{0,80}#[^\n]*)\\$", re.MULTILINE)  # a comment goes on in no other line
_PROMPT = re.compile(r"^[ \t]{0,8}(?:\$|>) ")
_TERMS = r"\d{1,9}(?: *\\?[*/+%-] *\d{1,9}){1,6}"
_IN_SUM, _BARE = re.compile(r"\$\(\([^()\n]{1,200}\)\)"), re.compile(rf"\b{_NAME}", re.ASCII)
_SUM = re.compile(rf"\$\((?:expr +({_TERMS}) *|\( *({_TERMS}) *\))\)", re.ASCII)
_TERM, _PRODUCTS, _SUMS = re.compile(r"\d+|[*/+%-]"), frozenset("*/%"), frozenset("+-")
_BY_SIGN: Mapping[str, Callable[[int, int], int]] = {
    "*": operator.mul,
    "/": operator.floordiv,
    "+": operator.add,
    "-": operator.sub,
    "%": operator.mod,
}
_ENDS = frozenset(";&|")
_BLANK = re.compile(r"[ \t]")
_LABEL_ENDS = re.compile(r"[ \t]{0,4}\|[ \t]{0,4}")


@dataclass(frozen=True, slots=True)
class Line:
    """A command's words. `goes_on`: it could go on the one before: its line begins with it, where the last one has no
    end. `behind`: the `&&` or `||` in front of it. `into`: the file that its output goes to,
    behind what is there where it `appends`. `below`: the number of the text that it reads."""

    words: list[str]
    goes_on: bool
    behind: str = ""
    into: str = ""
    appends: bool = False
    below: int | None = None


def lines_of_words(text: str) -> Iterator[Line]:
    """Each command with its words; `values` puts values into them."""
    computed: list[str] = []

    def hold(match: re.Match[str]) -> str:
        computed.append(match[0])
        return f"{_HELD}{len(computed) - 1}{_END}"

    plain = _NOTHING.sub("", text.translate(_MARKS).replace("\r\n", "\n"))
    whole = _COMMENTED.sub(r"\1", plain).replace("\\\n", " ")
    held = _without_reads(_without_arrays(_COMPUTED.sub(hold, whole, count=_MOST_COMPUTED)))
    held = _LABEL.sub(lambda match: _LABEL_ENDS.sub(_OR, match[0]), held)
    lines = iter([line for line in held.split("\n") if line.strip()][:_MOST_LINES])
    is_open, behind, depth = False, "", 0
    for line in lines:
        command: list[str] = []
        words = _split(_PROMPT.sub("", line), lines)
        goes_on = is_open and not _is_label(words)
        for word in words:
            if is_open := not (word and set(word) <= _ENDS):
                command.append(_restored(word, computed))
                continue
            depth = _unwrapped(command, depth)
            yield from _line(command, goes_on, behind)
            command, goes_on, behind = [], False, word
        depth = _unwrapped(command, depth)
        yield from _line(command, goes_on, behind)
        behind = "" if command else behind


def _unwrapped(command: list[str], depth: int) -> int:
    """Takes the parentheses of `(cd x && python y)` off its words; how many are open behind it."""
    if command and command[0].startswith("(") and not command[0].startswith("(("):
        command[:1] = [command[0][1:]] if command[0] != "(" else []
        depth += 1
    if command and depth and command[-1].endswith(")") and "(" not in command[-1]:
        command[-1:] = [command[-1][:-1]] if command[-1] != ")" else []
        depth -= 1
    return depth


def _line(command: Sequence[str], goes_on: bool, behind: str) -> Iterator[Line]:
    """Its words without those that say where it reads and writes."""
    into = next((word[1:] for word in command if word.startswith(INTO)), "")
    below = next((int(word[1:]) for word in command if word.startswith(BELOW) and word[1:].isdecimal()), None)
    words = [word for word in command if not word.startswith((INTO, BELOW))]
    if words:
        yield Line(words, goes_on, behind, into.removeprefix(_ONTO), into.startswith(_ONTO), below)


def _is_label(words: Sequence[str]) -> bool:
    """`--lora|-l)`: what a `case` tells apart."""
    return any(word.endswith(")") and "(" not in word for word in words)


def values(word: str, known: Mapping[str, str]) -> list[str]:
    """The word with the variables that the text itself sets; the words, where it stood without quotes."""
    filled = value(word, known)
    return _PARTS.findall(filled) if _UNQUOTED in word and filled != as_written(word) else [filled]


def value(word: str, known: Mapping[str, str]) -> str:
    """The same as one word, as a variable takes it. `${NAME:-this}` is known without anybody's environment, and so is
    `${NAME:+this}`."""
    word = _INSTEAD.sub(lambda match: match[2] if known.get(match[1]) else "", word)
    word = _DEFAULT.sub(lambda match: known.get(match[1], match[2]), word)
    filled = as_written(_filled(word, known))
    return _SUM.sub(_reckoned, _IN_SUM.sub(lambda match: _numbered(match[0], known), filled))


def _numbered(sum_of: str, known: Mapping[str, str]) -> str:
    """`$((A * 2))`: in a sum a variable needs no `$`."""

    def fill(match: re.Match[str]) -> str:
        found = known.get(match[0], "")
        return found if found.isascii() and found.isdecimal() and len(found) < 10 else match[0]

    return _BARE.sub(fill, sum_of)


def names_in(word: str) -> set[str]:
    """The variables whose values go into it."""
    return set(_NAMES.findall(word))


def _filled(word: str, known: Mapping[str, str]) -> str:
    length = len(word)

    def fill(match: re.Match[str]) -> str:
        nonlocal length
        found = known.get(match[1] or match[2], match[0])
        length += len(found)
        return found if length <= _LONGEST else match[0]

    return _NAMED.sub(fill, word)


def _reckoned(match: re.Match[str]) -> str:
    """Of whole numbers, as a shell and `expr` reckon; what can't be stays as it is."""
    terms = _TERM.findall(match[1] or match[2])
    try:
        return _joined(_joined(terms, _PRODUCTS), _SUMS)[0]
    except ZeroDivisionError:
        return match[0]


def _joined(terms: list[str], signs: frozenset[str]) -> list[str]:
    """With these signs worked out, from the left."""
    left = terms[:1]
    for sign, term in zip(terms[1::2], terms[2::2], strict=True):
        if sign in signs:
            left[-1] = str(_BY_SIGN[sign](int(left[-1]), int(term)))
        else:
            left += [sign, term]
    return left


def elements(word: str, arrays: Mapping[str, list[str]]) -> list[str] | None:
    """What `"${NAME[@]}"` stands for; without quotes, the words of it. None for a word that is no array's."""
    match = _OF_ARRAY.fullmatch(word)
    if match is None or match[1] not in arrays:
        return None
    every = arrays[match[1]]
    if word.startswith(_UNQUOTED):
        return [part for one in every for part in _PARTS.findall(one)]
    return [" ".join(every)] if "*" in word else every


def _without_arrays(text: str) -> str:
    """`NAME=(…)` and `NAME+=(…)` as a command whose first word is the marked name."""

    def command(match: re.Match[str]) -> str:
        return f"{match[1]} {ARRAY}{match[2]} {' '.join(_TO_MARK.sub(_uncommented, match[3]).split())}"

    return _ARRAY.sub(command, text)


def _without_reads(text: str) -> str:
    """`read -r -d '' NAME <<EOF` as `NAME="…"`."""
    lines, name = list[str](), ""
    below: list[str] = []
    for line in text.split("\n"):
        words = line.split()
        if name and words == ["EOF"]:
            lines.append(f'{name}="{" ".join(below)}"')
            name, below = "", []
        elif name:
            below += (word.replace('"', "") for word in words)
        elif words[:1] == ["read"] and words[-1] in _BELOW and words[-2].isidentifier():
            name = words[-2]
        else:
            lines.append(line)
    return "\n".join(lines)


def _uncommented(match: re.Match[str]) -> str:
    return "" if match[0].startswith("#") and not match["mark"] else match[0]


def _split(line: str, more: Iterator[str]) -> list[str]:
    """A quote that is open at the end of a line goes on in the next ones."""
    for _ in range(_MOST_JOINED):
        marked = _TO_MARK.sub(_marked, line)
        try:
            lexer = shlex.shlex(marked, posix=True, punctuation_chars=";&|")
            lexer.whitespace_split = True
            return list(lexer)
        except ValueError:
            following = _following(marked, more)
            if not following:
                return line.split()
            line = "\n".join((line, *following))
    return line.split()


def _following(line: str, more: Iterator[str]) -> list[str]:
    """The next line; of a JSON object between quotes those up to the line in which it could end."""
    ends = _WHOLE.match(line)
    rest = line[ends.end() :] if ends else ""
    if not rest[1:].lstrip().startswith("{"):
        return list(itertools.islice(more, 1))
    found: list[str] = []
    for following in itertools.islice(more, _MOST_OF_JSON):
        found.append(following)
        if rest[0] in following.replace("\\" + rest[0], ""):
            break
    return found


def _marked(match: re.Match[str]) -> str:
    if match["mark"]:
        return _UNQUOTED if match["mark"] == "$" else _HASH
    if match["braces"]:
        return _BLANK.sub(_SPACE, match[0]).replace("$", _UNQUOTED)
    if into := _INTO_FILE.match(match[0]):
        return f"{INTO}{_ONTO if into[1] else ''}{match[0][into.end() :]}"
    return match[0] if match[0][0] in "'\"\\" else ""


def _restored(word: str, computed: list[str]) -> str:
    if _HELD not in word:
        return word
    pattern = re.compile(f"{_HELD}(\\d{{1,6}}){_END}")
    return pattern.sub(lambda match: computed[int(match[1])] if int(match[1]) < len(computed) else "", word)


def as_written(word: str) -> str:
    """The word as it stands in the text, but for its quotes."""
    return word.translate(_WRITTEN)
