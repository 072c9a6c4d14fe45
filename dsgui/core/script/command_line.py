"""A command line as argparse reads it: options by name or unique beginning, how many values follow, what is left over.

The rules are those of Python's `argparse.ArgumentParser.parse_known_args` with `-` for its only prefix character.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

NOTHING, ONE, PERHAPS, SOME, ANY = "0", "1", "?", "+", "*"  # how many values follow: argparse's nargs
OPTIONAL = (NOTHING, PERHAPS, ANY)  # none need follow
_NEGATIVE = re.compile(r"-\d+|-\d*\.\d+")


class _Unset:
    """Stands for a default that the source does not spell out."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Any = _Unset()


@dataclass(frozen=True, slots=True)
class Option:
    """`names` with their dashes, `name` what the script calls the value. `values`: how many follow. `default`: UNSET
    where the source does not spell it out. `number`: its value is one; `switch`: it is on where no value follows.
    `added_to`: the variable of the parser or group. `kind`: what the parser makes of a word, as the source names it, ""
    for anything else than that; `bare`: the value without a word, UNSET where the source does not tell. `choices`: the
    only values it has, () for any; `members`: the enumeration that has them, as written. `negates`: the name of the
    option that it turns off. `action`: "" for the last word that is given, "append" for all of them, "?" for what is
    not known. `rewritten`: its class may set it anew itself."""

    name: str
    names: tuple[str, ...]
    values: str = ONE
    default: Any = UNSET
    number: bool = False
    switch: bool = False
    added_to: str = ""
    kind: str = ""
    bare: Any = UNSET
    choices: tuple[str, ...] = ()
    members: str = ""
    negates: str = ""
    action: str = ""
    rewritten: bool = False

    @property
    def long(self) -> str:
        """The first of its names that has two dashes, or its first."""
        return next((name for name in self.names if name.startswith("--")), self.names[0])

    @property
    def takes_value(self) -> bool:
        """Whether one has to be given to say anything."""
        return self.values != NOTHING and not self.switch


@dataclass(frozen=True, slots=True)
class Leftover:
    """Words that no option takes, the first as typed; `begins`: the options it is short for, none or several."""

    words: tuple[str, ...]
    begins: tuple[str, ...] = ()

    @property
    def option(self) -> str:
        """Its name as typed; "" for a word that is none."""
        first = self.words[0].partition("=")[0]
        return first if first.startswith("-") and first != "--" else ""

    @property
    def loose(self) -> str:
        """The first of words that follow no option."""
        return self.words[1] if self.words[0] == "--" and len(self.words) > 1 else self.words[0]


@dataclass(frozen=True, slots=True)
class Lacking:
    """An option, `word` as typed, that has fewer values than it needs, or a `value` behind it and takes none. `after`:
    the word that follows it, "" for none."""

    word: str
    option: Option
    value: str | None = None
    after: str = ""

    @property
    def said(self) -> str:
        """argparse's words for it."""
        if self.option.values == NOTHING:
            wrong = f"ignored explicit argument {self.value!r}"
        else:
            wrong = EXPECTED.get(self.option.values, f"expected {self.option.values} arguments")
        return f"argument {'/'.join(self.option.names)}: {wrong}"


EXPECTED = {ONE: "expected one argument", SOME: "expected at least one argument"}


@dataclass(frozen=True, slots=True)
class Mention:
    """An option as it was typed, `word` without what is behind its `=`, and its values."""

    option: Option
    word: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """`given`: each option's words by its name, the last mention's; `mentions`: all, in their order. `leftovers`: in
    theirs. The parser stops at the first of `lacking`, or before at a beginning that several options have."""

    given: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    leftovers: tuple[Leftover, ...] = ()
    lacking: tuple[Lacking, ...] = ()
    mentions: tuple[Mention, ...] = ()


def read(words: Sequence[str], options: Iterable[Option]) -> Reading:
    """What a parser with these options makes of `words`."""
    table = {name: option for option in options for name in option.names}
    given: dict[str, tuple[str, ...]] = {}
    leftovers: list[Leftover] = []
    lacking: list[Lacking] = []
    mentions: list[Mention] = []
    place = 0
    while place < len(words):
        word, place = words[place], place + 1
        if word == "--":  # nothing behind it is an option
            leftovers.append(Leftover(tuple(words[place - 1 :])))
            break
        option, value, begins = _option(word, table)
        if option is None:
            loose = list(_values(words, place, table, ANY)) if word.startswith("-") and "=" not in word else []
            leftovers.append(Leftover((word, *loose), begins))
            place += len(loose)
            continue
        bare, option, value = _unbundled(word, option, value, table)
        given |= {one.name: () for one in bare}
        mentions += [Mention(one, one.names[0]) for one in bare]
        taken = (value,) if value is not None else tuple(_values(words, place, table, option.values))
        place += len(taken) if value is None else 0
        if len(taken) < _least(option.values) or (value is not None and option.values == NOTHING):
            lacking.append(Lacking(word, option, value, words[place] if place < len(words) else ""))
        given[option.name] = taken
        mentions.append(Mention(option, word.partition("=")[0], taken))
    return Reading(given, tuple(leftovers), tuple(lacking), tuple(mentions))


def _unbundled(
    word: str, option: Option, value: str | None, table: Mapping[str, Option]
) -> tuple[list[Option], Option, str | None]:
    """`-vqb8`: the switches in front, and the last option with what is left for it."""
    bare: list[Option] = []
    while value and option.values == NOTHING and not word.startswith("--") and f"-{value[0]}" in table:
        bare.append(option)
        option, value = table[f"-{value[0]}"], value[1:] or None
    return bare, option, value


def _least(values: str) -> int:
    return int(values) if values.isdecimal() else int(values in (ONE, SOME))


def _option(word: str, table: Mapping[str, Option]) -> tuple[Option | None, str | None, tuple[str, ...]]:
    """The option that `word` is, the value behind its `=`, and what it may be short for where it is none."""
    if not word.startswith("-") or len(word) == 1:
        return None, None, ()
    if word in table:
        return table[word], None, ()
    name, has_value, value = word.partition("=")
    if name in table:
        return table[name], value if has_value else None, ()
    begun = [one for one in table if one.startswith(name)] if name.startswith("--") and len(name) > 2 else []
    if len(begun) == 1:
        return table[begun[0]], value if has_value else None, ()
    short = table.get(word[:2]) if not word.startswith("--") else None
    if short is not None:  # -b8
        return short, word[2:], ()
    return None, None, tuple(begun)


def _values(words: Sequence[str], place: int, table: Mapping[str, Option], values: str) -> Iterator[str]:
    most = {PERHAPS: 1}.get(values, int(values) if values.isdecimal() else len(words))
    for word in words[place : place + most]:
        if _is_option(word, table):
            return
        yield word


def _is_option(word: str, table: Mapping[str, Option]) -> bool:
    if not word.startswith("-") or len(word) == 1:
        return False
    return word in table or not (_NEGATIVE.fullmatch(word) or " " in word)
