"""Where nothing fits only what would fit is offered, and never less than was asked."""

from dataclasses import replace

import pytest

from dsgui.core.config.context import Context, Integration
from dsgui.core.machine.hardware import Hardware, card_named
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.memory.fits import ways as module
from dsgui.core.memory.fits.first_choices import Goal, first_choices
from dsgui.core.memory.fits.room import room_of
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.memory.fits.ways import MoreGpus, as_json, counts_of, ways
from dsgui.core.memory.guessed import model_of_size

GIB = 1 << 30


def goal(size, card, gpus, nodes=1, length=1024):
    context = Context(
        Integration.HF, gpus_per_node=gpus, nodes=nodes, hardware=(card_named(card),), torch_version="2.9.0"
    )
    return Goal(context, model_of_size(size), ModelChoice(size, length=length), 1)


def room(context, group):
    return room_of(context.hardware, None, group, host_bytes=512 * GIB)


@pytest.fixture(scope="module")
def presets(catalog):
    return catalog.presets()


def found(asked, presets, checker):
    return first_choices(asked, presets, checker, lambda group: room(asked.context, group))


def test_more_of_the_card_are_as_few_as_fit(presets, checker):
    asked = goal("70B", "h100", 2)
    assert {one.fit for one in found(asked, presets, checker)} == {Fit.SHORT}
    offered = ways(asked, presets, checker, room)
    more = offered.gpus
    assert isinstance(more, MoreGpus)
    assert more.card.id == "h100"
    assert more.gpus * more.nodes > 2

    def fits(count):
        context = replace(asked.context, gpus_per_node=min(count, 8), nodes=max(1, count // 8))
        return found(replace(asked, context=context), presets, checker)[0].fit is not Fit.SHORT

    assert fits(more.gpus * more.nodes)
    assert not fits(more.gpus * more.nodes // 2)
    assert as_json(offered)["gpus"] == {"device": "h100", "title": "H100 80 GB", "gpus": more.gpus, "nodes": more.nodes}


@pytest.mark.parametrize(("gpus", "nodes"), [(8, 2), (8, 32), (1, 1)])
def test_more_gpus_are_not_offered_where_activations_are_what_does_not_fit(gpus, nodes, presets, checker):
    asked = goal("7B", "h100", gpus, nodes, length=262144)
    assert {one.fit for one in found(asked, presets, checker)} == {Fit.SHORT}
    assert as_json(ways(asked, presets, checker, room)) == {"gpus": None, "lora": 0}


def test_lora_is_offered_where_it_fits_and_not_twice(presets, checker):
    asked = goal("7B", "rtx4090", 1)
    tight = replace(asked, choice=replace(asked.choice, lora_rank=0))

    def small(context, group):
        return room_of(context.hardware, None, group, host_bytes=32 * GIB)

    assert ways(tight, presets, checker, small).lora == module.LORA_RANK
    adapted = replace(asked, choice=replace(asked.choice, lora_rank=16))
    assert ways(adapted, presets, checker, small).lora == 0


def test_counts_are_more_than_what_failed_up_to_64():
    def counts(hardware, gpus, nodes):
        context = Context(gpus_per_node=gpus, nodes=nodes, hardware=hardware)
        cards = {card.id: counts_of(context, card) for card in module._cards(context)}
        return {name: [one.gpus * one.nodes for one in offers] for name, offers in cards.items()}

    h100 = (card_named("h100"),)
    assert counts(h100, 8, 2) == {"h100": [32, 64]}
    assert counts(h100, 8, 32) == {"h100": []}
    assert counts(h100, 1, 1)["h100"][0] == 2
    assert counts((card_named("rtx4090"),), 8, 1) == {"rtx4090": [16, 32, 64], "a100-80": [4, 8, 16, 32, 64]}
    here = (Hardware("this", "H200", "nvidia", (9, 0), 141 * GIB),)
    assert counts(here, 4, 1) == {"a100-80": [8, 16, 32, 64]}
    cpu = (Hardware("this", "CPU", "cpu", None, None),)
    assert counts(cpu, 2, 1)["a100-80"][0] == 2


def test_a_larger_card_is_offered_where_no_number_of_the_asked_would_do(presets, checker):
    def small(context, group):
        return room_of(context.hardware, None, group, host_bytes=64 * GIB)

    more = ways(goal("70B", "rtx4090", 1), presets, checker, small).gpus
    assert more.card.id == "a100-80"


def test_of_hosts_that_nobody_described_nothing_is_asked_that_few_have(presets, checker):
    def unknown(context, group):
        return room_of(context.hardware, None, group)

    asked = goal("70B", "rtx4090", 1)
    more = ways(asked, presets, checker, unknown).gpus
    context = replace(asked.context, hardware=(more.card,), gpus_per_node=more.gpus, nodes=more.nodes)
    there = first_choices(replace(asked, context=context), presets, checker, lambda group: unknown(context, group))
    assert any(one.fit is not Fit.SHORT and not one.fitted.verdict.host_asked for one in there)


def test_few_counts_are_tried(presets, checker, monkeypatch):
    tried = []

    def fits(_trial, goal):
        tried.append(goal.context.world_size)
        return goal.context.hardware[0].id == "a100-80" and goal.context.world_size > 3

    for name in ("fits", "fits_hosts"):
        monkeypatch.setattr(module._Trial, name, fits)
    assert ways(goal("7B", "rtx4090", 1), presets, checker, room).gpus.gpus == 4
    assert len(tried) <= 6
