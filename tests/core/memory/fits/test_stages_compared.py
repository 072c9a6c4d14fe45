"""ZeRO's stages side by side: each has the very number that its config gets, and says why where it has none."""

import json

import pytest

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.machine.hardware import card_named
from dsgui.core.memory.answer import CannotSay, Component, Device, Moment, Place, total
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.memory.fits.fitting import Case, fit
from dsgui.core.memory.fits.memory_report import as_json as verdict_as_json
from dsgui.core.memory.fits.room import Room
from dsgui.core.memory.fits.stages_compared import as_json, compared, shares
from dsgui.core.memory.guessed import model_of_size
from dsgui.core.memory.instant import answer
from dsgui.core.memory.question import Group, Question, Workload
from dsgui.core.memory.settings import settings_of
from tests.support.cases import each_case

GIB = 1 << 30
MODEL = model_of_size("1B")
BF16 = {"bf16": {"enabled": True}, "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}}}
CONFIG = {"train_micro_batch_size_per_gpu": 1, **BF16, "zero_optimization": {"stage": 2}}
OFFLOADED = {"offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "cpu"}}
STATES = (Component.WEIGHTS, Component.MASTER, Component.MOMENTS)


def judged(checker, config, ranks, hardware=()):
    document = Document(json.dumps(config, indent=2))
    context = Context(Integration.NATIVE, gpus_per_node=ranks, hardware=hardware)
    case = Case(config, context, checker.findings(document, context), MODEL, ModelChoice("1B", length=256))
    room = Room(gpu_bytes=24 * GIB, ranks_per_node=ranks, ranks=ranks)
    return case, fit(case, checker.schema, lambda group: room), document


def asked(checker, config=CONFIG, ranks=8, hardware=()):
    case, fitted, document = judged(checker, config, ranks, hardware)
    return compared(fitted, case, document, checker)


@pytest.mark.parametrize("ranks", [1, 8])
@pytest.mark.parametrize("config", [CONFIG, CONFIG | {"data_types": {"grad_accum_dtype": "bf16"}}])
def test_each_stage_has_the_number_that_its_config_gets(checker, config, ranks):
    for stage, found in asked(checker, config, ranks).stages:
        alone = config | {"zero_optimization": {"stage": stage}}
        assert verdict_as_json(found.fitted) == verdict_as_json(judged(checker, alone, ranks)[1])


def test_a_config_without_zero_is_compared_too(checker):
    without = {key: value for key, value in CONFIG.items() if key != "zero_optimization"}
    found = asked(checker, without)
    assert found.current == 0
    assert [one.fitted.question.config.get("zero_optimization", {}).get("stage", 0) for _, one in found.stages] == [
        *range(4)
    ]


def kinds():
    for precision in ("bf16", "fp32"):
        for stage in range(4):
            for offload in ({}, OFFLOADED) if stage == 3 else ({},):
                for ranks in (1, 8):
                    zero = {"zero_optimization": {"stage": stage, "reduce_bucket_size": 1000, **offload}}
                    yield {precision: {"enabled": True}, **zero}, ranks


@each_case(("config", "ranks"), list(kinds()), ids=str)
def test_model_states_are_what_the_formula_has_of_them(config, ranks):
    """Weights, master weights and moments of the step; what is padded is less than a thousandth."""
    counted = answer(Question(MODEL, config, Workload(1, 256), Group(ranks)))
    step = [part for peak in counted.peaks if peak.moment is Moment.STEP for part in peak.parts]
    for share in shares(settings_of(config), ranks):
        if share.component in STATES:
            on = [
                p
                for p in step
                if p.component is share.component and (p.place is Place.GPU) == (share.place is Place.GPU)
            ]
            assert sum(p.count for p in on) == pytest.approx(
                share.count(counted), rel=2e-3 if share.place is Place.GPU else 1
            )


@pytest.mark.parametrize(("stage", "factor"), [(0, 16), (1, 4 + 12 / 8), (2, 2 + 14 / 8), (3, 16 / 8)])
def test_the_papers_sum_for_adam_in_16_bits(stage, factor):
    settings = settings_of({"bf16": {"enabled": True}, "zero_optimization": {"stage": stage}})
    assert sum(share.each / share.parts for share in shares(settings, 8)) == factor


def test_a_stage_that_deepspeed_would_refuse_says_why(checker):
    """Without gradient norm is for stages 1 and 2."""
    config = CONFIG | {"gradient_clipping": 0, "zero_optimization": {"stage": 2, "compute_grad_norm": False}}
    found = dict(asked(checker, config).stages)
    assert [stage for stage, one in found.items() if isinstance(one, CannotSay)] == [0, 3]
    told = as_json(asked(checker, config))["stages"][3]
    assert told["why"]["text"].startswith("Not possible: ")
    assert "compute_grad_norm: false is for ZeRO stage 1 and 2 only" in told["why"]["text"]
    assert "devices" not in told


def test_optimizer_offload_rules_stage_0_out_in_a_few_words(checker):
    config = CONFIG | {"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}}
    stages = as_json(asked(checker, config, hardware=(card_named("a100-80"),)))["stages"]
    assert stages[0]["why"]["text"] == "Not possible with optimizer offload."
    assert ["why" in one for one in stages] == [True, False, False, False]


def test_what_is_sent_is_the_papers_and_deepspeeds(checker):
    """Of 7/8, since a rank keeps its own part. DeepSpeed all-reduces at stages 1 and 2, then gathers the weights."""
    found = asked(checker)
    for stage, paper, ours in ((0, 2, 2), (1, 2, 3), (2, 2, 3), (3, 3, 3)):
        one = dict(found.stages)[stage]
        unit = one.fitted.answer.trainable * 2 * 7 / 8
        assert (one.by_paper / unit, one.sent / unit) == pytest.approx((paper, ours))
    assert {one.sent for _, one in asked(checker, ranks=1).stages} == {0}


def test_no_stage_changes_the_activations_and_a_note_says_how_much_they_are(checker):
    found = asked(checker)
    kept = {Component.ACTIVATIONS, Component.LOGITS}
    counts = {}
    for stage, one in found.stages:
        forward = next(peak for peak in one.fitted.answer.of(Device.GPU) if peak.moment is Moment.FORWARD)
        counts[stage] = total((part for part in forward.parts if part.component in kept), Place.GPU)
    assert counts[0] == counts[1] == counts[2] == found.activations
    assert counts[3] <= found.activations  # a forward of stage 3 is fullest where most is gathered
    assert f"{found.activations / GIB:.2f} GiB here" in str([n["text"] for n in as_json(found)["notes"]])


def test_one_rank_is_told_that_nothing_is_divided(checker):
    codes = {ranks: [note["code"] for note in as_json(asked(checker, ranks=ranks))["notes"]] for ranks in (1, 8)}
    assert "one_rank" in codes[1]
    assert "one_rank" not in codes[8]
