"""Whether what is read again goes on from what was read before."""

import math
import random

from dsgui.core.adopted.continuing import continued
from dsgui.core.metrics.curves import RECORD

UNKNOWN = math.nan


def records(*rows):
    """`rows` are (curve, step, time)."""
    return b"".join(RECORD.pack(curve, UNKNOWN, step, at, 1 / (step + 1)) for curve, step, at in rows)


def test_what_is_read_file_after_file_goes_on_as_it_began():
    before = records((0, 1, 5.0), (0, 2, 6.0), (1, 1, 5.0))
    now = records((0, 1, 5.0), (0, 2, 6.0), (0, 3, 7.0), (1, 1, 5.0), (1, 2, 8.0), (2, 1, 9.0))
    assert continued(before, now) == (before + records((0, 3, 7.0), (1, 2, 8.0), (2, 1, 9.0)), 0)


def test_times_that_are_known_later_leave_it_as_it_was_and_are_counted():
    before = records((0, 1, UNKNOWN), (0, 2, UNKNOWN))
    assert continued(before, records((0, 1, 4.0), (0, 2, UNKNOWN), (0, 3, 9.0))) == (before + records((0, 3, 9.0)), 1)


def test_where_very_many_times_are_known_later_all_is_told_again():
    rows = [(0, step, UNKNOWN) for step in range(1000)]
    for known, goes_on in ((250, True), (251, False)):
        now = [(curve, step, float(step) if step < known else at) for curve, step, at in rows]
        assert (continued(records(*rows), records(*now)) is not None) == goes_on


def test_what_is_another_does_not_go_on():
    before = records((0, 1, 1.0), (0, 2, 2.0))
    for now in (
        records((0, 1, 1.0)),
        records((0, 1, 1.0), (0, 3, 2.0)),
        records((0, 1, 1.0), (1, 2, 2.0)),
        records((0, 2, 2.0), (0, 1, 1.0)),
        records((0, 1, 1.0), (0, 2, 2.5)),
    ):
        assert continued(before, now) is None
    assert continued(b"", before) == (before, 0)


def test_however_curves_lie_among_each_other_each_goes_on_in_its_own_order():
    dice = random.Random(3)
    for _ in range(200):
        known = {curve: dice.randrange(6) for curve in range(4)}
        more = {curve: count + dice.randrange(4) for curve, count in known.items()}
        before, now = (mixed(dice, counts) for counts in (known, more))
        found = continued(records(*before), records(*now))
        assert found
        assert found.records.startswith(records(*before))
        assert sorted(rows(found.records)) == sorted(rows(records(*now)))
        for curve, count in more.items():
            assert [row[2] for row in rows(found.records) if row[0] == curve] == list(range(count))


def mixed(dice, counts):
    """So many steps of each curve, each curve's in order."""
    left = [curve for curve, count in counts.items() for _ in range(count)]
    dice.shuffle(left)
    done = dict.fromkeys(counts, 0)
    found = []
    for curve in left:
        found.append((curve, done[curve], float(done[curve])))
        done[curve] += 1
    return found


def rows(told):
    return [(curve, 0, step, at) for curve, _, step, at, _ in RECORD.iter_unpack(told)]
