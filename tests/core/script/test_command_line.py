"""A command line read as argparse reads it: held against argparse itself."""

import argparse
import contextlib
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsgui.core.script.command_line import ANY, NOTHING, ONE, PERHAPS, SOME, Option, Reading, read
from tests.support.cases import AS_USUAL

OPTIONS = (
    Option("learning_rate", ("--learning_rate", "--learning-rate")),
    Option("learn", ("--learn",), PERHAPS),
    Option("fp16", ("--fp16",), NOTHING),
    Option("names", ("--names", "-n"), SOME),
    Option("rest", ("--rest",), ANY),
    Option("two", ("--two",), "2"),
    Option("batch", ("-b", "--batch_size")),
    Option("verbose", ("-v", "--verbose"), NOTHING),
    Option("quiet", ("-q",), NOTHING),
)
WORDS = [
    *("--learning_rate", "--learning-rate=3", "--learning_r", "--lear", "--learn", "--fp16", "--names", "-n", "--rest"),
    *(
        "--two",
        "-b",
        "-b8",
        "-v",
        "-vq",
        "-qvb",
        "-vqb8",
        "-vb=8",
        "-vx",
        "-v=q",
        "-v=",
        "--batch",
        "--nix",
        "--nix=1",
        "5",
        "-5",
        "-.5",
        "x",
        "a b",
        "-a b",
        "--fp",
        "--",
        "-",
        "",
        "--fp16=1",
        "--learn=",
        "--names=1",
        "--two=1",
    ),
]


def argparses_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    for option in OPTIONS:
        if option.values == NOTHING:
            parser.add_argument(*option.names, dest=option.name, action="store_true")
        else:
            count = None if option.values == ONE else int(option.values) if option.values == "2" else option.values
            parser.add_argument(*option.names, dest=option.name, nargs=count, const="const" if count == "?" else None)
    return parser


def argparses(words: list[str]) -> tuple[dict[str, object], list[str]] | None:
    """What argparse gives each option, and what it leaves; None where it stops."""
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            found, left = argparses_parser().parse_known_args(words)
        except SystemExit:
            return None
    return {name: value for name, value in vars(found).items() if value not in (None, False)}, left


def as_argparse(reading: Reading) -> dict[str, object]:
    kinds = {option.name: option.values for option in OPTIONS}

    def value(name: str, words: tuple[str, ...]) -> object:
        if kinds[name] == NOTHING:
            return True
        if kinds[name] == PERHAPS:
            return words[0] if words else "const"
        return words[0] if kinds[name] == ONE else list(words)

    return {name: value(name, words) for name, words in reading.given.items()}


@settings(max_examples=6 * AS_USUAL)
@given(st.lists(st.sampled_from(WORDS), max_size=5))
def test_any_words_are_read_as_argparse_reads_them(words: list[str]) -> None:
    reading, truth = read(words, OPTIONS), argparses(words)
    ambiguous = any(left.begins for left in reading.leftovers)
    assert (truth is None) == (bool(reading.lacking) or ambiguous), (truth, reading)
    if truth is not None:
        assert as_argparse(reading) == truth[0]
        assert [word for left in reading.leftovers for word in left.words] == truth[1]


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (["--overwrite_output_dir"], [("--overwrite_output_dir",)]),
        (["--evaluation_strategy", "no", "--fp16"], [("--evaluation_strategy", "no")]),
        (["--fp16", "ds.json"], [("ds.json",)]),
    ],
)
def test_an_unknown_option_keeps_the_words_behind_it(words: list[str], left: list[tuple[str, ...]]) -> None:
    assert [one.words for one in read(words, OPTIONS).leftovers] == left


def test_what_a_beginning_may_stand_for_is_told() -> None:
    (left,) = read(["--lea", "3"], OPTIONS).leftovers
    assert left.begins == ("--learning_rate", "--learning-rate", "--learn")


@pytest.mark.parametrize(
    "words",
    [["-b"], ["--two", "1"], ["--two=1"], ["--names", "--", "x"], ["-vqx"], ["--fp16=1"], ["--learning_r", "-1e-4"]],
)
def test_where_it_stops_argparses_own_words_are_known(words: list[str]) -> None:
    parser = argparses_parser()
    error = io.StringIO()
    with contextlib.redirect_stderr(error), pytest.raises(SystemExit):
        parser.parse_known_args(words)
    assert read(words, OPTIONS).lacking[0].said in error.getvalue()
