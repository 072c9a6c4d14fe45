"""Where no change of a config makes it fit, what is offered beside it does when it is done, and nothing else is."""

import json
from dataclasses import replace

import pytest

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.machine.hardware import card_named
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.memory.fits.beyond import as_json, as_text, beyond
from dsgui.core.memory.fits.cheapest import cheapest
from dsgui.core.memory.fits.fitting import Case, fit
from dsgui.core.memory.fits.room import room_of
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.memory.guessed import model_of_size
from dsgui.core.texts.saying import Said

GIB = 1 << 30
TWO = Context(Integration.NATIVE, gpus_per_node=2, hardware=(card_named("rtx4090"),))
CONFIG = {
    "train_micro_batch_size_per_gpu": 1,
    "bf16": {"enabled": True},
    "zero_optimization": {"stage": 2},
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}},
}
CHOICE = ModelChoice("7B", length=1024, checkpointing=True)


@pytest.fixture
def asked(checker):
    """The case, the rooms of a host of so many GiB (0: nobody said), and what is offered."""

    def asked(host=0, model="7B", context=TWO, **choice):
        def rooms(there, group):
            return room_of(there.hardware, None, group, host_bytes=host * GIB or None)

        document = Document(json.dumps(CONFIG))
        case = Case(CONFIG, context, checker.findings(document, context), model_of_size(model), CHOICE)
        case = replace(case, choice=replace(CHOICE, model=model, **choice))
        return case, rooms, beyond(case, document, checker, rooms)

    return asked


def after(one, case, rooms, checker):
    """The verdict once it is done: the edits in the text, the context that it plans for, LoRA's rank."""
    document = one.change.apply(Document(json.dumps(CONFIG))) if one.change else Document(json.dumps(CONFIG))
    there = one.planned(case.context)
    choice = replace(case.choice, lora_rank=one.lora or case.choice.lora_rank)
    if one.change and one.change.zero_init:
        choice = replace(choice, zero_init=True)
    found = checker.findings(document, there)
    done = Case(json.loads(document.text), there, found, case.model, choice)
    return fit(done, checker.schema, lambda group: rooms(there, group)).verdict


@pytest.mark.parametrize(("host", "model"), [(32, "7B"), (64, "13B"), (48, "7B")])
def test_what_is_offered_fits_once_it_is_done(asked, checker, host, model):
    case, rooms, offers = asked(host, model)
    as_it_is = fit(case, checker.schema, lambda group: rooms(TWO, group))
    assert isinstance(cheapest(as_it_is, case, Document(json.dumps(CONFIG)), checker), Said)
    assert offers
    for one in offers:
        assert after(one, case, rooms, checker).fit is Fit.FITS


def test_lora_is_offered_first_and_then_as_few_gpus_as_do(asked, checker):
    case, rooms, (lora, more) = asked(32)
    assert (lora.lora, lora.gpus) == (16, None)
    assert more.gpus.card.id == "rtx4090"
    assert more.gpus.gpus * more.gpus.nodes > 2
    fewer = replace(more, gpus=replace(more.gpus, gpus=more.gpus.gpus // 2))
    assert after(fewer, case, rooms, checker).fit is Fit.SHORT
    named = [as_json(one) for one in (lora, more)]
    assert [one["name"] for one in named] == ["LoRA of rank 16", f"{more.gpus.gpus} × RTX 4090 24 GB"]
    assert named[0]["fields"] == {"lora_rank": 16}
    assert named[1]["fields"]["device"] == "rtx4090"
    told = as_text((lora, more)).splitlines()
    assert told[0] == "What would fit, by estimate:"
    assert told[1].startswith("  LoRA of rank 16: GPU ")
    assert [len(told), as_text(())] == [3, ""]


def test_with_lora_already_only_gpus_are_offered(asked):
    _, _, offers = asked(32, "70B", lora_rank=8)
    assert all(one.gpus for one in offers)


def test_what_nothing_makes_fit_is_offered_nothing(asked):
    """Each rank reads such a model whole into a host that doesn't hold it."""
    assert asked(8, "70B", context=replace(TWO, integration=Integration.HF))[2] == ()


def test_a_host_that_nobody_described_is_asked_for(asked):
    _, _, offers = asked(0, "70B")
    asking = [one for one in offers if one.fitted.verdict.host_asked]
    assert all("if the host has" in as_json(one)["then"] for one in asking)
    assert asking
