"""The batch identity is solved as DeepSpeed solves it (the real one is asked in test_against_deepspeed.py)."""

from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.config.batch_size import solve

terms = st.one_of(st.none(), st.integers(1, 512))


def test_the_tutorials_table_holds_on_one_gpu_four_gpus_and_two_nodes():
    assert solve(64, 8, 8, 1).holds
    assert solve(64, 8, 2, 4).holds
    assert solve(64, 8, 1, 8).holds


def test_the_native_tutorial_is_right_on_one_gpu_and_wrong_on_two():
    assert solve(144, 24, 6, 1).holds
    broken = solve(144, 24, 6, 2)
    assert not broken.holds
    assert broken.product == 288


def test_give_two_get_the_third():
    assert solve(64, 8, None, 4).accumulation == 2
    assert solve(64, None, 2, 4).micro == 8
    assert solve(None, 8, 2, 4).train == 64
    assert solve(64, None, None, 4).micro == 16
    assert solve(None, 8, None, 4).train == 32


def test_a_missing_term_is_found_by_floor_division_and_then_checked():
    assert not solve(10, 4, None, 1).holds  # 10 // 4 = 2, and 4 × 2 is not 10
    assert solve(4, 8, None, 1).accumulation == 0
    assert solve(None, None, 4, 2) is None


@given(terms, terms, terms, st.integers(1, 64))
def test_what_holds_multiplies_back_and_keeps_what_was_given(train, micro, accumulation, world_size):
    batch = solve(train, micro, accumulation, world_size)
    if batch is None:
        assert train is None
        assert micro is None
        return
    if batch.holds:
        assert batch.train == batch.micro * batch.accumulation * world_size
    given_terms = (train, micro, accumulation)
    for value, solved in zip(given_terms, (batch.train, batch.micro, batch.accumulation), strict=True):
        assert value is None or value == solved
