"""The dry run on the memory panel: what is asked, which verdict counts, and what the charts are made of."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from dsgui.core.config.context import LATEST_KNOWN
from dsgui.core.launch.field import Part as Section
from dsgui.core.launch.run_fields import fields_of
from dsgui.core.machine.hardware import Target, card_named
from dsgui.core.memory import instant
from dsgui.core.memory.answer import SMALLER, CannotSay, Component, Device, Moment, Part, Peak, Place, Source
from dsgui.core.memory.dry_run import answer_of
from dsgui.core.memory.fits.rehearsing import Rehearsing, as_json
from dsgui.core.memory.question import Model
from dsgui.core.texts.saying import said
from dsgui.shell.memory.dry_runs import DryRuns
from dsgui.ui.config.memory_asking import question_of, session_of, shown
from dsgui.ui.config.memory_panel import memory_shown
from dsgui.ui.config.workbench import Workbench
from tests.core.memory.test_dry_run import RECORD
from tests.support.run_fixtures import wait_until
from tests.ui.config.test_memory_change import CHOICE, CONFIG, CONTEXT, GIVEN, Here

STATES = {Component.MASTER, Component.MOMENTS}


class Page:
    """The panel of one page, with a dry run that finds `share` of the formula's bytes, or `why` it finds none."""

    def __init__(self, checker):
        self.share, self.why, self.reserved = 1.0, None, 0
        self.services = Here(checker)
        self.services.dry_runs = DryRuns("python", self.answer)
        self.services.target = lambda: Target("python", versions={"deepspeed": LATEST_KNOWN})
        self.bench = Workbench(checker)

    def answer(self, question, python, *, made, **named):
        if self.why:
            return self.why
        known = replace(question, model=replace(question.model, config=question.model.config | {"model_type": "llama"}))
        formula = instant.answer(known, made)
        peaks = tuple(map(self.of_share, formula.peaks))
        return replace(formula, source=Source.DRY_RUN, peaks=peaks, reserved=self.reserved)

    def of_share(self, peak):
        """More or less of the states."""
        shares = [self.share if one.component in STATES else 1 for one in peak.parts]
        parts = zip(peak.parts, shares, strict=True)
        lines = (replace(one, keys=(), line="a.py:1", count=round(one.count * share)) for one, share in parts)
        return replace(peak, parts=tuple(lines))

    def shown(self, config=CONFIG, context=CONTEXT, given=GIVEN):
        text = config if isinstance(config, str) else json.dumps(config)
        return json.loads(memory_shown(self.services, self.bench.show(text, context), context, given))

    def ask(self, config=CONFIG, context=CONTEXT, given=GIVEN):
        asked = question_of(self.services, self.bench.show(json.dumps(config), context), context, given)
        if isinstance(asked, CannotSay):
            return str(asked.why)
        self.services.dry_runs.begin("me", *asked)
        wait_until(lambda: self.services.dry_runs.progress("me").told)
        return json.loads(shown(self.services, "me"))


@pytest.fixture
def page(checker):
    page = Page(checker)
    yield page
    page.services.dry_runs.close()


def test_the_formula_alone_until_somebody_asks(page):
    told = page.shown()
    assert (told["source"], "formula" in told) == ("formula", False)
    assert len(told["of"]) == 16


def test_a_dry_run_that_agrees_stands_before_the_formula(page):
    before = page.shown()
    found = page.ask()
    told = page.shown()
    assert (found["state"], found["of"]) == ("answered", told["of"])
    assert (told["source"], told["formula"]["source"]) == ("dry_run", "formula")
    assert told["formula"]["devices"] == before["devices"]
    assert [one["text"] for one in told["remarks"]] == ["Formula and dry run agree within 2 %."]


def test_the_dry_run_wins_and_a_difference_is_said(page):
    page.share = 0.01
    page.ask()
    told = page.shown()
    assert [one["code"] for one in told["remarks"]] == ["differs"]
    assert told["remarks"][0]["text"].endswith("The dry run counts.")
    worst = [next(one for one in each["devices"] if one["device"] == "gpu") for each in (told, told["formula"])]
    assert worst[0]["moments"] != worst[1]["moments"]
    moments = next(one for one in worst[0]["moments"][-1]["parts"] if one["part"] == "moments")
    assert moments["keys"]  # of the formula: a dry run knows none


def test_another_config_model_or_number_of_gpus_is_another_question(page):
    of = page.ask()["of"]
    changed = (
        page.shown(CONFIG | {"gradient_clipping": 1.0}),
        page.shown(context=replace(CONTEXT, gpus_per_node=2)),
        page.shown(given=(*GIVEN[:3], "3B", *GIVEN[4:])),
    )
    assert all(one["of"] != of and one["source"] == "formula" for one in changed)
    assert page.shown()["source"] == "dry_run"


def test_another_card_is_judged_by_the_same_dry_run(page):
    page.ask()
    larger = page.shown(context=replace(CONTEXT, hardware=(card_named("a100-80"),)))
    assert (larger["source"], larger["fit"]) == ("dry_run", "fits")
    assert page.shown()["fit"] == "does_not_fit"


def test_why_there_is_no_dry_run_leaves_the_formula(page):
    page.why = CannotSay(said("memory_notes", "reads_value", where="model.py:11"))
    found = page.ask()
    assert found["state"] == "cannot"
    assert found["said"] == "The model reads a value of a tensor (model.py:11), and a dry run has no values."
    assert page.shown()["source"] == "formula"


def test_a_model_without_a_formula_can_be_asked(page):
    page.services.read_model = lambda name: Model(name, {**Here.read_model(None, name).config, "model_type": "nobodys"})
    before = page.shown()
    assert (before["fit"], "of" in before) == ("cannot_say", True)
    page.ask()
    told = page.shown()
    assert told["source"] == "dry_run"
    assert "devices" not in told["formula"]
    assert told["remarks"][0]["code"] == "no_formula"


@pytest.mark.parametrize(
    ("config", "given", "shown", "words"),
    [
        (CONFIG | {"zero_optimization": {"stage": 7}}, GIVEN, "Memory depends on zero_opt", "Fix the config first:"),
        (CONFIG, (*GIVEN[:3], "", *GIVEN[4:]), *["Choose a model: a hub id, a size such as 7B"] * 2),
    ],
)
def test_what_can_not_be_asked_offers_nothing(page, config, given, shown, words):
    if not given[3]:
        page.services.read_model = lambda name: CannotSay(said("memory_cannot", "no_model"))
    told = page.shown(config, given=given)
    assert told["why"]["text"].startswith(shown)
    assert "of" not in told
    assert page.ask(config, given=given).startswith(words)


def test_the_scripts_arguments_name_the_model_and_its_lengths_where_nothing_was_said(page):
    words = "--model_name_or_path 7B --max_seq_length 2048"
    nothing = [*(field.default for field in fields_of(Section.MODEL)), ""]
    told = page.shown(given=(words, "", *nothing))
    assert (told["fit"], "1 × 2048 tokens" in told["about"]) == ("does_not_fit", True)
    assert "1 × 1024 tokens" in page.shown(given=(words, *GIVEN[1:]))["about"]  # what was said counts
    assert page.shown(given=("'", "", *nothing))["fit"] == "cannot_say"


def test_two_presses_that_find_the_same_are_told_apart(page):
    page.ask()
    first, second = (shown(page.services, "me", {"press": press}) for press in (1, 2))
    assert first != second
    assert json.loads(first) | {"press": 2} == json.loads(second)


def test_a_release_that_is_not_installed_is_not_asked(page):
    why = page.ask(context=replace(CONTEXT, deepspeed_version="0.17.0"))
    assert why.startswith("The bar above plans for DeepSpeed 0.17.0. Only the installed one")
    page.services.target = lambda: Target("python")
    assert page.ask().startswith("The training environment has no DeepSpeed.")


def test_a_session_without_a_name_is_one_too():
    assert session_of(SimpleNamespace(session_hash=None)) == ""


def test_the_charts_are_made_of_phases_and_of_peaks(page):
    asked = question_of(page.services, page.bench.show(json.dumps(CONFIG), CONTEXT), CONTEXT, GIVEN)
    found = as_json(Rehearsing(*asked, seconds=12.4, steps=3, told=answer_of(RECORD)))
    assert found["said"] == f"Dry run with DeepSpeed {LATEST_KNOWN}, rank 0 of 4: 3 steps in 12 s."
    assert [(one["phase"], one["step"]) for one in found["phases"]] == [
        *(("init", 0), ("forward", 0), ("backward", 0)),
        *(("forward", 1), ("backward", 1)),
    ]
    assert found["phases"][0]["counts"] == {"gpu": [1024, 1024], "host": [0, 1024]}
    fullest = {one["device"]: one["moment"] for one in found["peaks"] if one["fullest"]}
    assert fullest["gpu"] == "forward"
    parts = next(one["parts"] for one in found["peaks"] if one["device"] == "gpu" and one["fullest"])
    assert parts[0]["line"] == "transformers/models/llama/modeling_llama.py:63"
    assert found["code"][parts[0]["line"]] == "hidden_states.to(float32)"


def test_what_the_allocator_reserves_is_told_beside_the_tensors(page):
    before = page.shown()
    assert "remarks" not in before
    page.reserved = 13 * 2**30
    page.ask()
    told = page.shown()["remarks"][-1]
    assert told["code"] == "reserved"
    assert told["text"].startswith("Dry run: torch’s caching allocator reserves 13.00 GiB of the GPU for ")


def test_lines_that_are_no_line_are_told_apart(page):
    asked = question_of(page.services, page.bench.show(json.dumps(CONFIG), CONTEXT), CONTEXT, GIVEN)
    parts = [Part(Component.ACTIVATIONS, Place.GPU, 9, (), line) for line in ("a.py:1", "", SMALLER)]
    answer = replace(answer_of(RECORD), peaks=(Peak(Device.GPU, Moment.FORWARD, tuple(parts)),))
    found = as_json(Rehearsing(*asked, told=answer))["peaks"][0]["parts"]
    assert [(one.get("line"), one.get("smaller", False)) for one in found] == [
        *(("a.py:1", False), (None, False), (None, True)),
    ]


def test_a_model_made_within_zero_init_is_another_question(page):
    """On a native script's word: the tick reaches the dry run, and what was found without it says nothing."""
    chosen = CHOICE | {"zero_init": True}
    ticked = (*GIVEN[:2], *(chosen.get(one.name, one.default) for one in fields_of(Section.MODEL)), "")
    config = CONFIG | {"zero_optimization": {"stage": 3}}
    view = page.bench.show(json.dumps(config), CONTEXT)
    made = [question_of(page.services, view, CONTEXT, given)[1].inside for given in (GIVEN, ticked)]
    assert made == [False, True]
    assert page.shown(config)["of"] != page.shown(config, given=ticked)["of"]
