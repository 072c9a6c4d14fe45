"""The whole of a run's kept output is searched, and opened at any of its lines."""

import time
from pathlib import Path

import pytest

from dsgui.shell.logs.growing import OutputFile
from dsgui.shell.logs.output_search import MOST_MATCHES, around, first_error, search
from dsgui.shell.runs.store import RunDirectory


@pytest.fixture
def directory(tmp_path: Path) -> RunDirectory:
    return RunDirectory(tmp_path)


def write(directory: RunDirectory, output: bytes, **sizes: int) -> OutputFile:
    file = OutputFile(directory, **sizes)
    file.write(output)
    return file


def lines(count: int) -> bytes:
    return b"".join(b"line %06d of the output\n" % number for number in range(count))


def test_lines_are_found_in_any_case_wherever_they_are(directory: RunDirectory) -> None:
    write(directory, lines(100_000) + b"the LAST line")
    found, total = search(directory, "Line 099999")
    assert [one.line for one in found] == [b"line 099999 of the output\n"]
    assert (total, found[0].number) == (1, 100_000)
    assert around(directory, found[0].offset)[1] == found[0].line
    assert [one.line for one in search(directory, "last line")[0]] == [b"the LAST line"]
    assert search(directory, "nowhere") == ([], 0)


def test_of_many_matches_the_last_are_told(directory: RunDirectory) -> None:
    write(directory, lines(MOST_MATCHES + 5))
    found, total = search(directory, "output")
    assert (len(found), total) == (MOST_MATCHES, MOST_MATCHES + 5)
    assert [one.number for one in found] == list(range(6, MOST_MATCHES + 6))
    assert found[0].line == b"line 000005 of the output\n"
    assert found[-1].line == b"line %06d of the output\n" % (MOST_MATCHES + 4)


@pytest.mark.parametrize(
    "line",
    [
        b"Traceback (most recent call last):",
        b"[rank1]: Traceback (most recent call last):",
        b"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate",
        b"ValueError: no",
        b"\x1b[31mValueError\x1b[0m: no",
        b"[2026-11-21 05:52:29,908] [ERROR] [launch.py:285:sigkill_handler] no",
        b"terminate called without an active exception",
        b"Segmentation fault (core dumped)",
    ],
)
def test_the_first_error_is_the_first(directory: RunDirectory, line: bytes) -> None:
    write(directory, b'all fine\n"error_if_nonfinite": false\nno errors so far\n' + line + b"\nRuntimeError: later\n")
    found = first_error(directory)
    assert found is not None
    assert found.line == line + b"\n"


def test_an_output_without_errors_has_no_first_error(directory: RunDirectory) -> None:
    write(directory, b'"error_if_nonfinite": false\nerror rate: 0.1\nexits with return code = 0\n')
    assert first_error(directory) is None


def test_a_place_in_the_kept_end_of_a_long_output_is_opened_with_what_is_around_it(directory: RunDirectory) -> None:
    write(directory, lines(10_000), head_bytes=1000, piece_bytes=20_000)
    (found,), _ = search(directory, "line 009990")
    assert found.number is None  # of lines that were left out nobody knows the number
    before, line, after = around(directory, found.offset)
    assert line == b"line 009990 of the output\n"
    assert before.endswith(b"line 009989 of the output\n")
    assert before.startswith(b"line ")
    assert after.endswith(b"line 009999 of the output\n")
    assert around(directory, 500_000_000) == (b"", b"", b"")


def test_a_megabyte_of_empty_lines_holds_nobody_up(directory: RunDirectory) -> None:
    write(directory, b"\n" * (1 << 20))
    began = time.monotonic()
    assert first_error(directory) is None
    assert time.monotonic() - began < 20  # hours, if each empty line were tried with all that follow


def test_what_is_opened_is_whole_lines_wherever_the_place_is(directory: RunDirectory) -> None:
    write(directory, b"token=SECRET\nsecond\n" + b"x" * 100_000 + b"\nlast\n")
    assert around(directory, 9) == (b"", b"token=SECRET\n", b"second\n")
    assert around(directory, 15)[:2] == (b"token=SECRET\n", b"second\n")
    assert around(directory, 60_000) == (b"", b"last\n", b"")  # inside a line that is longer than what is read


def test_a_rewritten_line_is_found_by_itself(directory: RunDirectory) -> None:
    write(directory, b" 10% 10/100\roverflow at 10\r 20% 20/100\n")
    found, total = search(directory, "overflow")
    assert [(one.line, one.number) for one in found] == [(b"overflow at 10\r", 1)]
    assert total == 1
