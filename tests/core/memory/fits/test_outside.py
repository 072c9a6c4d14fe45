"""What is no key of the config is offered where the model says that it helps, and goes into the run's environment."""

import json

import pytest

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.launch.variables import parse_variables, with_variables
from dsgui.core.memory.answer import Device, Place
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.memory.fits.fitting import Case, fit
from dsgui.core.memory.fits.outside import (
    EXPANDABLE_SETTING,
    UNROUNDED_SETTING,
    asks_for_unrounded,
    label_of,
    outside,
    with_setting,
)
from dsgui.core.memory.fits.overhead import asks_for_expandable, overheads
from dsgui.core.memory.fits.room import Room
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.memory.guessed import model_of_size
from dsgui.core.sizes import GIB

OFFLOADED = {"device": "cpu", "pin_memory": True}
CONFIG = {
    "train_micro_batch_size_per_gpu": 1,
    "bf16": {"enabled": True},
    "zero_optimization": {"stage": 3, "offload_optimizer": OFFLOADED, "offload_param": OFFLOADED},
}
MODEL = model_of_size("1B")


def judged(checker, gpu=500.0, host=None, *, integration=Integration.NATIVE, torch="2.13.0", length=512, **settings):
    context = Context(integration, gpus_per_node=2)
    found = checker.findings(Document(json.dumps(CONFIG)), context)
    case = Case(CONFIG, context, found, MODEL, ModelChoice("1B", length=length))
    capacity = None if host is None else round(host * GIB)
    room = Room(
        gpu_bytes=round(gpu * GIB), host_bytes=capacity, ranks_per_node=2, ranks=2, overheads=overheads(**settings)
    )
    fitted = fit(case, checker.schema, lambda group: room)
    return fitted, outside(fitted, case, checker.schema, torch)


def needs(fitted, device, bound):
    return getattr(fitted.verdict.worst(device).amount, bound) / GIB


def test_nothing_is_offered_where_it_fits_or_where_nothing_helps(checker):
    assert judged(checker)[1] == ()
    assert judged(checker, gpu=0.5)[1] == ()


def test_expandable_segments_are_offered_where_fragmentation_decides(checker):
    fitted, _ = judged(checker)
    expandable, _ = judged(checker, expandable=True)
    between = (needs(fitted, Device.GPU, "high") + needs(expandable, Device.GPU, "high")) / 2
    tight, found = judged(checker, gpu=between)
    assert tight.verdict.fit is Fit.TIGHT
    assert [(one.code, one.after.verdict.fit) for one in found] == [("expandable_segments", Fit.FITS)]
    assert judged(checker, gpu=between, expandable=True)[1] == ()
    label = str(label_of(found[0], {}, "2.13.0"))
    assert label.startswith("Set PYTORCH_ALLOC_CONF=expandable_segments:True: fits (GPU ")


def test_pinned_blocks_are_left_unrounded_where_that_makes_the_host_fit(checker):
    fitted, _ = judged(checker, host=500)
    unrounded, _ = judged(checker, host=500, unrounded=True)
    rounding = sum(part.rounding for part in fitted.answer.worst(Device.HOST).parts)
    assert rounding > GIB // 4
    saved = needs(fitted, Device.HOST, "likely") - needs(unrounded, Device.HOST, "likely")
    assert saved == pytest.approx(2 * rounding / GIB, rel=1e-6)
    between = needs(fitted, Device.HOST, "likely") - saved / 2
    short, found = judged(checker, host=between)
    assert short.verdict.fit is Fit.SHORT
    assert "pinned_rounding" in [one.code for one in found]
    for torch in ("2.6.0", ""):
        assert "pinned_rounding" not in [one.code for one in judged(checker, host=between, torch=torch)[1]]


def test_what_is_rounded_is_exactly_what_the_pinned_blocks_are_larger_by(checker):
    fitted, _ = judged(checker)
    for peak in fitted.answer.of(Device.HOST):
        for part in peak.parts:
            assert 0 <= part.rounding <= part.count / 2
            assert part.rounding == 0 or part.place is Place.PINNED


def test_checkpointing_is_offered_to_the_trainer_alone(checker):
    fitted, _ = judged(checker, length=8192)
    between = needs(fitted, Device.GPU, "likely") * 0.8
    for integration, offered in ((Integration.HF, True), (Integration.NATIVE, False)):
        _, found = judged(checker, gpu=between, length=8192, integration=integration)
        assert ("checkpointing" in [one.code for one in found]) == offered


@pytest.mark.parametrize(
    ("environment", "torch", "expected"),
    [
        ({}, "2.13.0", ("PYTORCH_ALLOC_CONF", "expandable_segments:True")),
        ({}, "2.6.0", ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")),
        ({}, "", ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")),
        (
            {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:64,expandable_segments:False"},
            "2.13.0",
            ("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:64,expandable_segments:True"),
        ),
    ],
)
def test_a_setting_goes_beside_those_that_are_there_under_the_name_that_torch_reads(environment, torch, expected):
    name, value = with_setting(environment, EXPANDABLE_SETTING, torch)
    assert (name, value) == expected
    assert asks_for_expandable({**environment, name: value})
    again = with_setting({**environment, name: value}, UNROUNDED_SETTING, torch)
    assert asks_for_unrounded(dict([again]))
    assert asks_for_expandable(dict([again]))


def test_what_is_no_such_setting_is_none():
    for told in (
        "",
        "pinned_max_round_threshold_mb",
        "pinned_max_round_threshold_mb:x",
        "pinned_max_round_threshold_mb:4096",
    ):
        assert not asks_for_unrounded({"PYTORCH_ALLOC_CONF": told})


def test_a_variable_that_is_set_leaves_the_other_lines_as_they_were_typed():
    typed = "# mine\nexport A=1\nPYTORCH_ALLOC_CONF=backend:native\nB='x y'"
    new = with_variables(typed, [("PYTORCH_ALLOC_CONF", "expandable_segments:True")])
    assert new == "# mine\nexport A=1\nB='x y'\nPYTORCH_ALLOC_CONF=expandable_segments:True"
    assert parse_variables(with_variables("", [("A", "1"), ("B", "'2'")])) == {"A": "1", "B": "'2'"}
