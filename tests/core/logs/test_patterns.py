"""A user's own patterns: what they find, what they refuse, and that no line makes them slow."""

import math
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.errors import PatternError
from dsgui.core.logs.patterns import LENGTH_LIMIT, MOST_PATTERNS, Pattern, matches
from dsgui.core.logs.trainlog import Progress, TrainLog
from dsgui.core.metrics.points import Point
from tests.support.cases import each_case

EXAMPLE = "iter {step} of {total} * train={loss} acc={accuracy}"


@pytest.mark.parametrize(
    ("pattern", "line", "point"),
    [
        (EXAMPLE, "iter 5 of 10 | 3 s | train=2.5 acc=0.75",
         Point(5, None, {"loss": 2.5, "accuracy": 0.75}, source="pattern")),
        (EXAMPLE, "[x] iter   5 of\t10 train=1e-3 acc=0.0 !",
         Point(5, None, {"loss": 1e-3, "accuracy": 0.0}, source="pattern")),
        ("e{epoch} r{rank} {eval_loss}", "e1.5 r3 -2", Point(None, 1.5, {"eval_loss": -2.0}, "eval", 3, "pattern")),
        ("loss {{{loss}}}", "loss {3}", Point(None, None, {"loss": 3.0}, source="pattern")),
        ("loss{*}{loss}%", "loss*3%", Point(None, None, {"loss": 3.0}, source="pattern")),
        ("verlust {loss}", "verlust x verlust 3", Point(None, None, {"loss": 3.0}, source="pattern")),
        ("损失 {loss}", "损失  inf", Point(None, None, {"loss": math.inf}, source="pattern")),
    ],
)  # fmt: skip
def test_a_pattern_finds_its_numbers(pattern: str, line: str, point: Point) -> None:
    assert Pattern.parse(pattern).match(line) == point


@each_case(
    "line",
    ["", "iter", "iter x of 10 * train=1 acc=1", "iter 5 of 10", "iter 5 of 10 train=2.5 acc=",
     "Iter 5 of 10 train=1 acc=1",
     "iter 5 of 10 train=2.5 acc=3x", "iter 1.5 of 10 train=2.5 acc=3", "acc=1 train=1 iter 5 of 10"],
)  # fmt: skip
def test_other_lines_do_not_fit(line: str) -> None:
    assert Pattern.parse(EXAMPLE).match(line) is None


@each_case(
    ("pattern", "says"),
    [
        ("", "no value to plot"),
        ("step {step} of {total}", "no value to plot"),
        ("loss {", "is unpaired"),
        ("loss } {loss}", "is unpaired"),
        ("loss {3x}", "is not a valid name"),
        ("loss {}", "is not a valid name"),
        ("{loss} {loss}", "twice"),
        ("{step}{loss}", "are adjacent"),
        ("{loss}" + "x" * LENGTH_LIMIT, f"the limit is {LENGTH_LIMIT}"),
    ],
)
def test_a_pattern_that_cannot_be_understood_says_why(pattern: str, says: str) -> None:
    with pytest.raises(PatternError, match=says):
        Pattern.parse(pattern)


@given(st.text(max_size=40), st.text(max_size=60))
def test_no_text_upsets_it(pattern: str, line: str) -> None:
    with suppress(PatternError):
        Pattern.parse(pattern).match(line)


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("a{x}*a{y}*a{z}*b{w}", "a1" * 16_000),
        ("{a} {b} {c} {d} {e} x{f}", "1 " * 16_000),
        ("9{x}!", "9" * 32_000),
        ("{x}!", "9" * 32_000),
        ("a {x} b", ("a" + " " * 300) * 100),
        ("*".join(["x"] * 100) + "{loss}", "x" * 32_000),
        ("aaaaaaaaaaaaaaaaaaaaaaaaab{x}", "a" * 32_000),
    ],
)
def test_no_line_takes_long(pattern: str, line: str) -> None:
    parsed, began = Pattern.parse(pattern), time.process_time()
    parsed.match(line)
    assert time.process_time() - began < 0.5


def test_the_preview_shows_the_first_lines_that_fit() -> None:
    text = "\r\n".join(["nothing", "L 1", "L 2", "L x", "L 3"])
    found = matches(Pattern.parse("L {loss}"), text, 2)
    assert [(line, point.values) for line, point in found] == [("L 1", {"loss": 1.0}), ("L 2", {"loss": 2.0})]


def test_patterns_are_tried_first_and_in_a_flood_too() -> None:
    log = TrainLog([Pattern.parse("Schritt {step}/{total} {verlust}")])
    plain = b"nothing to see here\n" * 5000
    points = log.feed("step=1 loss=2\nSchritt 3/9 1.5\n") + log.skim(plain + b"Schritt 4/9 1.25\n" + plain)
    points += [one for n in range(5, 9) for one in log.feed(f"Schritt {n}/9 1.0\n")] + log.finish()
    assert [(one.step, one.source) for one in points] == [
        (1, "output"), (3, "pattern"), (4, "pattern"), *((n, "pattern") for n in range(5, 9))
    ]  # fmt: skip
    assert log.progress == Progress(8, 9)


def test_a_pattern_with_epoch_and_step_counts_on() -> None:
    log = TrainLog([Pattern.parse("e{epoch} s{step} {quality}")])
    points = log.feed("e1 s100 1\ne1 s200 1\ne2 s100 1\ne3 s100 1\n")
    assert [one.step for one in points] == [100, 200, 300, 400]


def test_a_pattern_of_numbers_alone_reads_every_line() -> None:
    log = TrainLog()
    log.add_pattern(Pattern.parse("{step} {loss}"))
    assert [one.step for one in log.skim(b"x\n1 2.0\nx\n2 1.0\n") + log.finish()] == [1, 2]


def test_there_are_at_most_twenty() -> None:
    log = TrainLog([Pattern.parse(f"a{n} {{loss}}") for n in range(MOST_PATTERNS)])
    with pytest.raises(PatternError, match="20"):
        log.add_pattern(Pattern.parse("b {loss}"))
