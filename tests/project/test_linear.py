"""No regular expression of dsgui takes more than linear time, whatever a training prints and a request brings.

Every compiled expression of every module is found, so that a new one is held to it the day it is written, and fed
strings made from its own parts: each part, prefix and pair of parts over and over. Eight times the length may take
eight times as long; what grows with the square takes 64 times. One that does freezes a server for everybody:
`print("-a" * 10000)` once did, for 35 seconds.
"""

import importlib
import itertools
import pkgutil
import re
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from re import _constants as constants
from re import _parser as parser
from types import ModuleType
from typing import Any

import pytest

import dsgui
from dsgui.core.logs.trainlog import TrainLog
from tests.support.cases import each_case

SHORT, LONG = 1 << 10, 1 << 13
MOST_TIMES = 24
QUICK_S = 0.004  # a longest line that takes less is no matter, and too short to be measured
MOST_PARTS = 40


def modules() -> Iterator[ModuleType]:
    """Every module of dsgui: any may meet what a stranger has written."""
    for found in pkgutil.walk_packages(dsgui.__path__, "dsgui."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def patterns_in(value: Any) -> Iterator[re.Pattern]:
    """Those of a constant: the expression itself, or a table that has some."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from patterns_in(tuple(value.values()))
    elif isinstance(value, (list, tuple, set, frozenset)):
        for one in value:
            yield from patterns_in(one)
    elif hasattr(type(value), "__slots__") and type(value).__module__.startswith("dsgui."):
        yield from patterns_in(tuple(getattr(value, name, None) for name in type(value).__slots__))


def called_in(text: str) -> dict[str, set[str]]:
    """Which methods of what name are called there."""
    called: dict[str, set[str]] = defaultdict(set)
    for name, method in re.findall(r"\b(\w+)\.(\w+)\(", text):
        called[name].add(method)
    return called


def only_matched(name: str, own: dict[str, set[str]], everywhere: dict[str, set[str]]) -> bool:
    """Whether an expression of that name is tried at the beginning of a text alone: where it stands, or where it is
    imported."""
    used = own.get(name) or everywhere.get(name, set())
    return bool(used) and used <= {"match", "fullmatch"}


def expressions() -> dict[str, tuple[re.Pattern, bool]]:
    found = {}
    texts = {module: Path(str(module.__file__)).read_text("utf-8") for module in modules()}
    everywhere = called_in("".join(texts.values()))
    for module, text in texts.items():
        own = called_in(text)
        for name, value in vars(module).items():
            if not name.startswith("__"):
                for place, pattern in enumerate(patterns_in(value)):
                    label = f"{module.__name__.removeprefix('dsgui.')}.{name}[{place}]"
                    found[label] = pattern, only_matched(name, own, everywhere)
    return found


def parts(tree: Any) -> Iterator[str]:
    """One text for each part of an expression, in their order."""
    for what, value in tree:
        if what is constants.LITERAL:
            yield chr(value)
        elif what is constants.NOT_LITERAL:
            yield "x" if value != ord("x") else "y"
        elif what is constants.ANY:
            yield "x"
        elif what is constants.IN:
            yield member(value)
        elif what in (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT):
            yield "".join(parts(value[2])) or "x"
        elif what is constants.SUBPATTERN:
            yield from parts(value[3])
        elif what is constants.ATOMIC_GROUP:
            yield from parts(value)
        elif what is constants.BRANCH:
            yield from ("".join(parts(branch)) for branch in value[1])


_CATEGORIES = {
    constants.CATEGORY_DIGIT: "1",
    constants.CATEGORY_NOT_DIGIT: "x",
    constants.CATEGORY_SPACE: " ",
    constants.CATEGORY_NOT_SPACE: "x",
    constants.CATEGORY_WORD: "x",
    constants.CATEGORY_NOT_WORD: " ",
}


def member(items: Any) -> str:
    """A character of a set."""
    refused = items[0][0] is constants.NEGATE
    for what, value in items:
        if what is constants.LITERAL and not refused:
            return chr(value)
        if what is constants.RANGE and not refused:
            return chr(value[0])
        if what is constants.CATEGORY and not refused:
            return _CATEGORIES[value]
    return next(c for c in "x1 -" if not re.match(f"[{c}]", "") and not in_set(items, c))


def in_set(items: Any, character: str) -> bool:
    for what, value in items:
        if what is constants.LITERAL and chr(value) == character:
            return True
        if what is constants.RANGE and value[0] <= ord(character) <= value[1]:
            return True
        if what is constants.CATEGORY and _CATEGORIES[value] == character:
            return True
    return False


def attacks(pattern: re.Pattern) -> set[str]:
    """What is repeated, and what stands before it."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    flags = pattern.flags & ~re.UNICODE
    all_parts = [part for part in parts(parser.parse(text, flags)) if part]
    kinds = list(dict.fromkeys(all_parts))[:MOST_PARTS]
    found = set(kinds) | {"x", "1", " ", "x1", "x ", "1 ", "iter", "step=", "-a", "3-", "Ala-Gly-", '"', "[", "{'"}
    found |= {"".join(all_parts[:place]) for place in range(1, min(len(all_parts), MOST_PARTS) + 1)}
    found |= {a + b for a, b in itertools.pairwise(kinds)} | {a + b for a in kinds[:8] for b in kinds[:8]}
    heads = ("".join(all_parts[:place]) for place in range(1, min(len(all_parts), MOST_PARTS)))
    found |= {f"{head}\0{kinds[0]}" for head in heads} if kinds else set()
    found |= {
        f"{''.join(all_parts[:place])}\0{all_parts[place]}" for place in range(1, min(len(all_parts), MOST_PARTS))
    }
    return found


def made(attack: str, length: int) -> str:
    """`HEAD\\0REPEATED`, or what is repeated alone; a last character that fits nothing."""
    head, _, repeated = attack.rpartition("\0")
    if not repeated:  # of what may be empty
        return head + "\x01"
    return (head + repeated * (length // len(repeated) + 1))[:length] + "\x01"


def took(pattern: re.Pattern, at_the_beginning: bool, text: str) -> float:
    given: Any = text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text
    began = time.thread_time()
    if at_the_beginning:
        pattern.match(given)
    else:
        for _ in pattern.finditer(given):
            pass
    return time.thread_time() - began


def grows(pattern: re.Pattern, at_the_beginning: bool, attack: str) -> float:
    """How many times as long eight times the length takes: the least of three, since a machine may be busy."""
    least = float("inf")
    for _ in range(3):
        long = took(pattern, at_the_beginning, made(attack, LONG))
        if long < QUICK_S:
            return 0.0
        short = min(took(pattern, at_the_beginning, made(attack, SHORT)) for _ in range(3))
        least = min(least, long / max(short, 1e-6))
        if least < MOST_TIMES:
            return least
    return least


EXPRESSIONS = expressions()


@each_case("name", EXPRESSIONS)
def test_an_expression_takes_linear_time(name: str) -> None:
    pattern, at_the_beginning = EXPRESSIONS[name]
    slow = next((one for one in attacks(pattern) if grows(pattern, at_the_beginning, one) > MOST_TIMES), None)
    assert slow is None, f"{name}: {pattern.pattern!r}"


def test_a_quadratic_expression_is_found_out() -> None:
    for bad in (r"[A-Za-z_]\w*\(\s?\w+\s?=", r"(?:--?\w+)+=", r"\s*+x"):
        pattern = re.compile(bad)
        assert any(grows(pattern, False, attack) > MOST_TIMES for attack in attacks(pattern)), bad


def test_the_expressions_of_every_module_of_the_parser_are_met() -> None:
    met = {name.split(".")[-2] for name in EXPRESSIONS}
    assert {
        "secret_forms",
        "output_search",
        "document",
        "trainlog",
        "bars",
        "named_numbers",
        "dict_lines",
        "ending",
        "signatures",
        "phases",
        "patterns",
    } <= met
    assert len(EXPRESSIONS) > 150


HOSTILE = (
    *("iter", "step=", "loss ", "step 1 loss ", "1%|", "1%| 1/1 [", "1%|x| 1/1 [1<1,", "{'loss':", "{'a':1}", "epoch "),
    *("[rank1]:", "[rank ", "a: ", "***** ", "1 samples/s ", "x=1 ", "(loss=", "Epoch 1/2 ━", "Warning: ", "1/2 ━"),
)


@each_case("piece", HOSTILE)
def test_a_hostile_line_takes_as_long_as_its_length_says(piece: str) -> None:
    def worked(length: int) -> float:
        line = (piece * (length // len(piece) + 1))[:length]
        log, began = TrainLog(), time.thread_time()
        for n in range(8):
            log.feed(f"{line}{n}\n")
        return time.thread_time() - began

    found = [worked(LONG - 16) / max(worked(SHORT - 16), 1e-3) for _ in range(3)]
    assert min(found) < MOST_TIMES


def possessive_groups(tree: Any) -> Iterator[Any]:
    """Possessive repeats of more than one character, at any depth."""
    for what, value in tree:
        if what is constants.POSSESSIVE_REPEAT and not (len(value[2]) == 1 and value[2][0][0] in _ONE_CHARACTER):
            yield value
        for inner in value if isinstance(value, (tuple, list)) else (value,):
            for one in inner if isinstance(inner, list) else (inner,):
                if isinstance(one, parser.SubPattern):
                    yield from possessive_groups(one)


_ONE_CHARACTER = (constants.LITERAL, constants.NOT_LITERAL, constants.ANY, constants.IN)


def test_no_group_is_repeated_possessively() -> None:
    """CPython before 3.11.5, as Debian's own, takes `(?:ab?c)++` for matched where its part fails (gh-106052): "1e" was
    a number there, and a comment took a minute. `(?>(?:ab?c)+)` means the same, and is right everywhere."""
    found = {label: pattern for label, (pattern, _) in EXPRESSIONS.items()}
    assert [
        label for label, one in found.items() if list(possessive_groups(parser.parse(one.pattern, one.flags)))
    ] == []


@pytest.mark.parametrize("text", [r"(?:ab?c)++", r"x(?:[^*]++|\*(?!/))*+", r"((?:e\d++)?+)", r"(?>a(?:bc)*+)"])
def test_a_group_that_is_repeated_possessively_is_found(text: str) -> None:
    assert list(possessive_groups(parser.parse(text)))
    assert not list(possessive_groups(parser.parse(r"[a-z]++\d{1,3}+(?>(?:ab?c)+)x?+")))
