"""When a log's lines were printed, as far as they say so."""

import math
import time

import pytest

from dsgui.core.adopted.line_times import STAMP, LineTimes, TimesReader, Unclear, cut
from tests.support.cases import each_case

NOON = 1714564800.0  # 2024-05-01 12:00:00 UTC


def times(*lines: str) -> LineTimes:
    reader = TimesReader()
    reader.feed("".join(f"{line}\n" for line in lines).encode())
    return reader.finish()


@each_case(
    "line",
    [
        "2024-05-01 12:00:{:02d},500 INFO step 1",
        "[2024-05-01 12:00:{:02d},500] [INFO] [logging.py:96:log_dist] [Rank 0] step=10",
        "worker-0: [2024-05-01 12:00:{:02d},500] [INFO] step=10",
        "[INFO|trainer.py:2067] 2024-05-01 12:00:{:02d},500 >> loss",
        "[rank0]: 2024-05-01 12:00:{:02d}.500 | INFO | loss 3",
        "2024-05-01T12:00:{:02d}.500Z loss 3",
        "2024-05-01T14:00:{:02d}.500+02:00 loss 3",
        "05/01/2024 12:00:{:02d}.5 - INFO - __main__ - loss 3",
        "2024/05/01 12:00:{:02d}.5 - mmengine - INFO - loss 3",
        "\x1b[32m2024-05-01 12:00:{:02d}.500\x1b[0m | loss 3",
    ],
)
def test_a_time_at_the_beginning_of_a_line_is_read(line):
    found = times(line.format(0), line.format(7))
    assert found.span == (NOON + 0.5, NOON + 7.5)
    assert found.unclear is None


@pytest.mark.parametrize(
    "line",
    [
        "step {} loss 3",
        "loss 2024-05-01 12:00:0{}",
        "12:00:0{} loss",
        "2024-05-01 loss {}",
        "2024-13-41 12:00:0{} loss",
    ],
)
def test_no_time_is_made_up(line):
    assert times(line.format(1), line.format(2)) == LineTimes()


def test_a_line_without_a_time_has_the_one_before_it_only_where_the_next_comes_soon():
    text = "2024-05-01 12:00:00 a\nb\n2024-05-01 12:00:01 c\nd\n2024-05-01 12:01:00 e\nf\n"
    found = times(*text.splitlines())
    told = [(piece.decode().split()[-1], at - NOON) for piece, at in cut([text.encode()], found.marks)]
    assert [name for name, _ in told] == ["b", "c", "d", "e", "f"]
    assert [at for _, at in told[:2]] == [0, 1]
    assert [math.isnan(at) for _, at in told] == [False, False, True, False, True]


def test_pieces_may_be_cut_anywhere():
    text = b"".join(b"2024-05-01 12:00:%02d loss\n" % second for second in range(60))
    found = times(*text.decode().splitlines())
    for size in (1, 7, 64, 5000):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        together = dict[float, bytes]()
        for piece, at in cut(pieces, found.marks):
            together[at] = together.get(at, b"") + piece
        assert together == {NOON + second: b"2024-05-01 12:00:%02d loss\n" % second for second in range(60)}


def test_which_number_is_the_month_is_told_by_what_can_be_or_by_who_writes_it():
    one = "05/01/2024 12:00:00 loss"
    assert times(one, "05/02/2024 12:00:00 loss").unclear is Unclear.AMBIGUOUS
    assert times(one, "05/13/2024 12:00:00 loss").span == (NOON, NOON + 12 * 86400)
    assert times("13/01/2024 12:00:00 a", "14/01/2024 12:00:00 a").span[1] - 86400 == 1705147200.0
    assert times("31/01/2024 12:00:00 a", "01/31/2024 12:00:00 a").unclear is Unclear.AMBIGUOUS
    hf = "05/0{}/2024 12:00:00 - INFO - __main__ - loss"
    assert times(hf.format(1), hf.format(2)).span == (NOON, NOON + 86400)


def test_times_that_go_backwards_are_not_used():
    later, earlier = "2024-05-01 12:00:00 loss", "2024-05-01 11:00:00 loss"
    assert times(later, earlier).unclear is Unclear.BACKWARDS
    assert times(later, "2024-05-01 11:59:58 loss").unclear is None  # another process printed late


def test_of_several_ways_of_writing_the_usual_one_counts():
    found = times("2024-05-01T10:00:00Z start", *(f"2024-05-01 12:00:0{n} loss" for n in range(5)))
    assert (found.span, found.zoned) == ((NOON, NOON + 4), False)


def test_a_long_log_has_no_more_marks_than_a_screen_shows():
    reader = TimesReader()
    for hour in (12, 13, 14):
        reader.feed(b"".join(b"2024-05-01 %02d:%02d:%02d loss\n" % (hour, n // 60, n % 60) for n in range(3600)))
    found = reader.finish()
    assert 2000 < len(found.marks) < 8001
    assert found.span == (NOON, NOON + 3 * 3600 - 1)


@pytest.mark.parametrize("piece", [b" ", b"\x1b[m", b"a", b"[a", b"\t", b"2024-05-01 12:00:00"])
def test_a_pattern_of_times_is_linear(piece):
    """By ratio, of the quickest of three: quadratic work takes sixteen times as long."""

    def took(size):
        text, begun = piece * (size // len(piece)), time.thread_time()
        assert not any(match.start() for match in STAMP.finditer(text))
        return time.thread_time() - begun

    short, long = (min(took(size) for _ in range(3)) for size in (50_000, 200_000))
    assert long < 8 * max(short, 1e-3)


@pytest.mark.parametrize("odd", ["2024-05-01 24:00:00", "0000-00-00 00:00:00", "0001-01-01 00:00:00 +0000 UTC",
                                 "2024-02-30 12:00:00", "2024-05-01 23:59:60.5"])  # fmt: skip
def test_an_impossible_time_is_no_time_and_takes_no_others_away(odd):
    found = times(f"{odd} start", "2024-05-01 12:00:00 one", f"{odd} two", "2024-05-01 12:00:02 three")
    assert found.span == (NOON, NOON + 2)


def test_a_zone_may_stand_apart():
    found = times("[2024-05-01 12:00:00 +0000] [12] [INFO] a", "[2024-05-01 14:00:05 +0200] [12] [INFO] b")
    assert (found.span, found.zoned) == ((NOON, NOON + 5), True)


def test_half_a_days_hours_are_not_taken_for_a_days():
    assert times("05/13/2024 11:00:00 AM a", "05/13/2024 01:00:00 PM b").marks == ()


def test_nothing_was_printed_before_the_first():
    found = times("2024-05-01 12:00:30 a", "2024-05-01 12:00:00 b", "2024-05-01 12:00:40 c")
    assert found.span == (NOON, NOON + 40)


@pytest.mark.parametrize(
    ("early", "late"), [("0:00:24", "1 day, 0:01:05"), ("24s", "24h 1m 5s"), ("0m 24s", "1d 1m 5s")]
)
def test_times_since_the_beginning_are_read_from_lines_of_json(early, late):
    line = '{{"loss": 1.5, "percentage": "1%", "elapsed_time": "{}", "remaining_time": "5:58:33"}}'
    found = times(line.format(early), line.format(late))
    assert (found.span, found.unclear, found.lasted_s) == (None, None, 86465)
    text = f"{line.format(early)}\n{line.format(late)}\n".encode()
    assert [at for _, at in cut([text], found.marks)] == [24, 86465]


def test_a_log_that_begins_again_has_no_times_since_the_beginning():
    line = '{{"elapsed_time": "{}:00:00"}}'
    assert times(line.format(1), line.format(2), line.format(1)) == LineTimes(unclear=Unclear.BACKWARDS)


def test_lines_after_the_last_time_have_it_where_the_log_was_written_to_soon_after():
    found = times("2024-05-01 12:00:00 a", "b", "2024-05-01 12:00:01 c", "d")
    assert math.isnan(found.marks[-1][1])
    assert found.until(NOON + 2).marks == found.marks[:-1]
    assert found.until(NOON + 60) == found.until(NOON - 60) == found
