"""The picture that a tutorial's sliders move is 1 · Configure's, and a goal is reached where it says so."""

import pytest

from dsgui.core.learn.picture import OFFERS, Sliders, config_text, picture, reached
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits.stages_compared import Compared, as_json


def at(**given):
    return Sliders.of({name: str(value) for name, value in given.items()})


def test_what_is_not_offered_stands_as_at_first():
    assert Sliders.of({"size": "9999B", "ranks": "-1", "stage": "../etc"}) == Sliders.of({})
    assert at(size="7b", checkpointing=True).checkpointing is True
    assert at(size="7b").size == "7B"


def test_sixteen_bytes_a_parameter(checker):
    found = as_json(picture(at(), checker))
    states = found["stages"][0]["states"]
    assert sum(one["each"] for one in states) == 16
    assert found["current"] == 0


@pytest.mark.parametrize(("stage", "is_reached"), [(0, False), (1, False), (2, True), (3, False)])
def test_the_lowest_stage_that_fits_is_found_and_no_other(checker, stage, is_reached):
    sliders = at(size="7B", ranks=8, device="a100-40", stage=stage)
    assert reached("lowest_stage", sliders, picture(sliders, checker)) is is_reached


def test_a_large_model_fits_on_a_small_card_with_offload_alone(checker):
    without, with_ = (
        at(size="3B", device="rtx4090", stage=2),
        at(size="3B", device="rtx4090", stage=2, offload="optimizer"),
    )
    assert not reached("one_small_card", without, picture(without, checker))
    assert reached("one_small_card", with_, picture(with_, checker))


def test_where_nothing_can_be_said_nothing_is_found(checker):
    refused = at(stage=0, offload="all")
    found = picture(refused, checker)
    assert isinstance(found, CannotSay)
    assert not reached("one_small_card", refused, found)


def test_both_ends_of_every_slider_have_a_picture(checker):
    for end in (-1, 0):
        sliders = at(**{name: sorted(offered, key=str)[end] for name, offered in OFFERS.items()} | {"stage": 2})
        assert isinstance(picture(sliders, checker), Compared), sliders
    assert '"stage": 2' in config_text(at(stage=2))
