"""The ladder's steps can be made: each one's edits go into the text, and take what it says."""

import json

import pytest

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.memory.answer import Device
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.memory.fits.fitting import Case, fit
from dsgui.core.memory.fits.memory_report import about
from dsgui.core.memory.fits.room import Room
from dsgui.core.memory.fits.rungs import MOST, as_json, steps
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.memory.guessed import model_of_size

GIB = 1 << 30
MODEL = model_of_size("1B")
CONTEXT = Context(Integration.NATIVE, gpus_per_node=4)
ADAM = {"optimizer": {"type": "AdamW", "params": {"lr": 1e-4}}}


def found(checker, stage, gib=12, **more):
    config = {
        "train_micro_batch_size_per_gpu": 4,
        "bf16": {"enabled": True},
        "zero_optimization": {"stage": stage},
        **ADAM,
        **more,
    }
    document = Document(json.dumps(config, indent=2))
    case = Case(config, CONTEXT, checker.findings(document, CONTEXT), MODEL, ModelChoice("1B", length=2048))
    room = Room(gpu_bytes=int(gib * GIB), host_bytes=256 * GIB, ranks_per_node=4, ranks=4)
    fitted = fit(case, checker.schema, lambda group: room)
    return fitted, steps(fitted, case, document, checker), document


@pytest.mark.parametrize("stage", [1, 3])
def test_each_step_can_be_made(checker, stage):
    fitted, ladder, document = found(checker, stage)
    assert 4 <= len(ladder) <= MOST
    assert [step.slower for step in ladder] == sorted(step.slower for step in ladder)
    as_it_is = [step for step in ladder if not step.change.moves]
    assert [step.change.fitted for step in as_it_is] == [fitted]
    for step in ladder:
        edited = step.change.apply(document)
        assert (edited.text == document.text) is (not step.change.changes)
        assert step.change.fitted.question.config["optimizer"]["type"] == "AdamW"
    # Where the config does not fit, something that does is on the ladder, both offloads at the very end of it.
    assert fitted.verdict.fit is Fit.SHORT
    assert any(step.fit is Fit.FITS for step in ladder)


def test_the_leanest_takes_a_fraction(checker):
    fitted, ladder, _ = found(checker, 3)
    least = min(step.change.fitted.verdict.worst(Device.GPU).amount.likely for step in ladder)
    assert least < 0.5 * fitted.verdict.worst(Device.GPU).amount.likely


def test_in_json_each_step_has_its_edits_and_its_bytes(checker):
    _, ladder, _ = found(checker, 1)
    told = as_json(ladder)["steps"]
    assert [one["slower"] for one in told] == [round(step.slower, 3) for step in ladder]
    assert all(one["needs"]["gpu"] > 0 for one in told)
    assert [bool(one["moves"]) for one in told].count(False) == 1


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, "; bf16; micro batch 4 × 2048 tokens; 4 GPUs"),
        ({"bf16": {"enabled": False}, "fp16": {"enabled": True}}, "; fp16; "),
        ({"bf16": {"enabled": False}}, "; fp32; "),
        (
            {"bf16": {"enabled": False}, "torch_autocast": {"enabled": True, "dtype": "bfloat16"}},
            "; fp32, autocast to bf16; ",
        ),
    ],
)
def test_what_a_verdict_is_about_names_the_precision(checker, more, told):
    fitted, _, _ = found(checker, 1, **more)
    assert told in about(fitted)
