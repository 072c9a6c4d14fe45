"""What is offered to begin with fits what was asked, from the fastest to the leanest, and opens as it was judged."""

from dataclasses import replace
from itertools import pairwise

import pytest

from dsgui.core.config.arguments import from_words
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.machine.hardware import CARDS, Hardware, card_named
from dsgui.core.memory.answer import CannotSay, Device
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.memory.cost import relative
from dsgui.core.memory.fits.first_choices import AS_FAST, Goal, as_json, first_choices, precision_for
from dsgui.core.memory.fits.fitting import Case, fit
from dsgui.core.memory.fits.room import room_of
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.memory.guessed import model_of_size
from dsgui.core.memory.question import Model
from tests.support.cases import each_case

GIB = 1 << 30
HF, NATIVE = Integration.HF, Integration.NATIVE
CPU = Hardware("this", "CPU", "cpu", bf16=True, fp16=True)


@pytest.fixture(scope="module")
def presets(catalog):
    return catalog.presets()


def goal(size, card, gpus, integration=HF, micro_batch=1, length=1024):
    hardware = (card_named(card),) if card else ()
    context = Context(integration, gpus_per_node=gpus, hardware=hardware, torch_version="2.9.0")
    return Goal(context, model_of_size(size), ModelChoice(size, length=length), micro_batch)


def offered(asked, presets, checker, host_gib=512):
    def room(group):
        return room_of(asked.context.hardware, None, group, host_bytes=host_gib * GIB)

    return first_choices(asked, presets, checker, room), room


@each_case("integration", [HF, NATIVE])
@each_case(("size", "card", "gpus"), [("7B", "a100-80", 8), ("7B", "rtx4090", 4), ("770M", "t4", 1), ("3B", "v100", 2)])
def test_each_fits_and_opens_as_it_was_judged(size, card, gpus, integration, presets, checker):
    asked = goal(size, card, gpus, integration)
    found, room = offered(asked, presets, checker)
    assert 1 <= len(found) <= 3
    assert len({one.preset.id for one in found}) == len(found)
    assert [one.slower for one in found] == sorted(one.slower for one in found)
    assert [one.scarce_bytes for one in found] == sorted((one.scarce_bytes for one in found), reverse=True)
    for one in found:
        assert one.fit is Fit.FITS
        document = Document(one.text)
        context = replace(asked.context, arguments=from_words(one.words) if one.words else None)
        choice = replace(asked.choice, checkpointing=one.checkpointing)
        again = fit(
            Case(document.value, context, checker.findings(document, context), asked.model, choice),
            checker.schema,
            room,
        )
        assert not isinstance(again, CannotSay)
        assert again.verdict == one.fitted.verdict
        assert again.question.workload.micro_batch == 1


def test_what_fits_nowhere_is_said_and_what_comes_nearest_shown(presets, checker):
    found, _ = offered(goal("70B", "rtx4090", 2), presets, checker)
    assert [one.role for one in found] == ["nearest", "nearest"]
    assert all(one.fit is Fit.SHORT for one in found)


def test_what_lacks_only_the_hosts_memory_comes_first_of_what_does_not_fit(presets, checker):
    found, _ = offered(goal("7B", "rtx4090", 1), presets, checker, host_gib=16)
    assert [one.role for one in found] == ["nearest", "nearest"]
    first = found[0].fitted.verdict
    assert first.fit_of(Device.GPU) is not Fit.SHORT
    assert first.fit_of(Device.HOST) is Fit.SHORT


def test_of_the_fastest_the_largest_micro_batch_that_fits_as_well_is_told(presets, checker):
    asked = goal("7B", "a100-80", 8)
    first = offered(asked, presets, checker)[0][0]
    assert first.micro_batch > 1
    trying = {n: offered(replace(asked, micro_batch=n), presets, checker)[0] for n in (first.micro_batch,)}
    again = [one for found in trying.values() for one in found if one.preset.id == first.preset.id]
    assert again
    assert again[0].fit is Fit.FITS
    assert not again[0].checkpointing
    crowded, _ = offered(goal("70B", "rtx4090", 2), presets, checker)
    assert {one.micro_batch for one in crowded} == {0}


def test_one_that_fits_alone_is_not_called_the_fastest(presets, checker):
    found, _ = offered(goal("70B", "rtx4090", 1, length=512), presets, checker, host_gib=4096)
    assert [one.role for one in found] == ["only"]
    found, _ = offered(goal("770M", "h100", 1), presets, checker)
    assert found[0].role == "fastest"


def test_of_two_about_as_fast_the_one_that_asks_for_no_large_host_comes_first(presets, checker):
    """Of hosts that nobody described: stage 1 has every rank make the whole model there."""
    asked = goal("7B", "a100-80", 8, length=512)
    found = first_choices(asked, presets, checker, lambda group: room_of(asked.context.hardware, None, group))
    first = found[0]
    assert (first.preset.id, first.role, first.fitted.verdict.host_asked) == ("zero3-hf", "fastest", 0)
    assert "zero1-hf" not in [one.preset.id for one in found]
    described = offered(asked, presets, checker)[0]
    assert described[0].preset.id == "zero1-hf"
    assert relative(first.cost, described[0].cost) < AS_FAST


def test_what_a_preset_is_said_to_do_is_what_is_reckoned(presets, checker):
    """Gradients at stage 1: whole while micro batches accumulate, else reduced as they come."""

    def most(integration):
        first = next(iter(offered(goal("7B", "a100-80", 8, integration), presets, checker)[0]))
        assert first.preset.id == f"zero1-{integration.value}"
        assert "Gradients are reduced as they come" in first.preset.purpose
        assert "whole only while micro batches accumulate" in first.preset.purpose
        bars = first.fitted.verdict.of(Device.GPU)
        found = {one.code: one.amount.likely for bar in bars for one in bar.segments if one.code == "weights"}
        gradients = [one.amount.likely for bar in bars for one in bar.segments if one.code == "gradients"]
        return max(gradients) / found["weights"]

    assert most(HF) < 0.2
    assert most(NATIVE) > 0.9
    alone, _ = offered(goal("7B", "rtx4090", 1), presets, checker)
    assert alone
    assert not [one.preset.id for one in alone if one.preset.purpose.startswith("Splits")]


def test_on_cpu_ranks_what_is_offered_besides_takes_clearly_less(presets, checker):
    asked = goal("0.5B", "", 2)
    asked = replace(asked, context=replace(asked.context, hardware=(CPU,)))
    found, _ = offered(asked, presets, checker, host_gib=24)
    needs = [one.fitted.verdict.worst(Device.HOST).amount.likely for one in found]
    assert all(leaner <= 0.8 * faster for faster, leaner in pairwise(needs))


def test_a_model_that_is_not_known_gets_no_number(presets, checker):
    asked = replace(goal("7B", "h100", 1), model=Model("strange", {"model_type": "strange"}))
    found, _ = offered(asked, presets, checker)
    assert isinstance(found, CannotSay)
    told = as_json(found)
    assert told["choices"] == []
    assert told["why"]["code"]


@pytest.mark.parametrize(
    ("card", "precision"), [("p40", "fp32"), ("v100", "fp16"), ("t4", "fp16"), ("a100-80", "bf16"), ("mi300x", "bf16")]
)
def test_the_precision_is_what_the_card_has(card, precision, presets, checker):
    hardware = tuple(one for one in CARDS if one.id == card)
    assert precision_for(hardware) == precision
    native, _ = offered(goal("350M", card, 2, NATIVE), presets, checker)
    assert all((f'"{precision}"' in one.text) is (precision != "fp32") for one in native)
    trained, _ = offered(goal("350M", card, 2), presets, checker)
    assert all((f"--{precision}" in one.words) is (precision != "fp32") for one in trained)


def test_a_cpu_that_was_not_asked_yet_is_taken_to_have_what_every_cpu_has():
    assert precision_for([Hardware("this", "CPU", "cpu")]) == "bf16"
    assert precision_for([Hardware("this", "GPU", "amd")]) == "fp16"
