"""What the memory check reads of the script's arguments."""

import pytest

from dsgui.core.preflight.memory_check import _MOST_WORKERS, _workers


@pytest.mark.parametrize(
    ("written", "count"),
    [
        ("4", 4),
        ("", 0),
        ("four", 0),
        ("-1", 0),
        ("٤", 0),
        ("0" * 5000 + "7", 7),
        ("20000", _MOST_WORKERS),
        ("9" * 5000, _MOST_WORKERS),  # more digits than Python reads
    ],
)
def test_data_loader_workers_of_any_length_are_read(written, count):
    assert _workers(written) == count
