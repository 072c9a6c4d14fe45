"""Thirty of `make chaos`'s kills: whatever is killed, no training ends by it, no point is lost and nothing is left."""

import random
from pathlib import Path

import pytest

from tests.answers.remembered import SUPERVISION
from tests.support.chaos import OWN, chaos


@pytest.mark.remembered(*SUPERVISION)
def test_thirty_kills_at_random_lose_nothing(tmp_path: Path) -> None:
    seed = random.SystemRandom().getrandbits(32)
    tally = chaos(tmp_path, kills=30, seed=seed, workers=3, limit_s=120, servers=False)
    assert tally.faults == [], f"seed {seed}"
    assert tally.killed >= 30
    assert all(tally.kills[name] for name in OWN)
