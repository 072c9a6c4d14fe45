"""A fix is never half: applied, it takes its finding away and adds no error; all error fixes together end in a config
that DeepSpeed accepts, or in a sentence about what only the user can decide.

`make test-all` holds it over all examples, and over the configs of DSGUI_CORPUS and the cases of DSGUI_RULE_CASES where
those are named, in every context, and asks the real DeepSpeed.
"""

import copy
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from differential.corpus import matching_arguments
from differential.examples import examples
from differential.fixes import contexts, halves, repaired
from differential.oracle import ROOT, Question, ask
from dsgui.cli import main
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Change, Finding, Fix, Severity, has_error
from dsgui.core.config.misspelt import awaited, waits
from dsgui.core.config.pointer import lookup
from dsgui.core.errors import DocumentError
from dsgui.core.machine.hardware import CARDS
from dsgui.core.machine.machine import Host, Machine
from dsgui.core.memory.fits.as_fixed import plain_errors
from dsgui.core.preflight.judging import with_config
from dsgui.core.preflight.surroundings import Launch, Surroundings
from dsgui.core.script.script import script_facts
from dsgui.core.texts.saying import as_told
from dsgui.core.validation import repair, written
from dsgui.core.validation.checker import Checker
from dsgui.ui.config.workbench import Workbench
from tests.support.cases import each_case

EXAMPLES = {example.name: example for example in examples()}
FEW = [Context(Integration.NATIVE, gpus_per_node=8), Context(Integration.HF, gpus_per_node=2)]
# What the script, its arguments or its model decide: in DeepSpeed's refusal → the rule that says so beforehand.
OF_THE_SCRIPT = {
    "requires an optimizer": "DS054",
    "client provided optimizer": "DS054",
    "model policy": "DS062",
    "attention projection": "DS062",
    "mismatch TrainingArguments": "DS013",
    "unsupported mix of model_dtype": "DS024",
}
OF_A_DEVICE = ("only supported for CUDA", "only supports NVIDIA CUDA")  # said where the device is named: DS032


def every_text():
    """Name → text: the examples, and what the environment names."""
    texts = {name: example.text for name, example in EXAMPLES.items()}
    if folder := os.environ.get("DSGUI_CORPUS"):
        texts |= {path.name: path.read_text("utf-8") for path in sorted(Path(folder).glob("*.json"))}
    if source := os.environ.get("DSGUI_RULE_CASES"):
        cases = map(json.loads, Path(source).read_text("utf-8").splitlines())
        texts |= {case["name"]: case.get("text", json.dumps(case.get("config"), indent=2)) for case in cases}
    return texts


def readable(texts):
    """Name → document of those that can be read."""
    for name, text in texts.items():
        try:
            yield name, Document(written.read(text).text)
        except DocumentError:
            continue


def told(half):
    said = [*(["stays"] if half.stays else []), *half.added]
    return f"{half.finding.rule} {half.finding.pointer} “{half.finding.fix.label}”: {', '.join(said)}"


def half_fixes(checker, document, around):
    return {told(half) for context in around for half in halves(checker, document, context)}


@each_case("name", EXAMPLES)
def test_a_fix_takes_its_finding_away_and_adds_no_error(checker, name):
    example = EXAMPLES[name]
    assert half_fixes(checker, example.document, [example.context(example.releases[-1]), *FEW]) == set()


@each_case("name", EXAMPLES)
def test_what_all_error_fixes_leave_has_no_fix_and_says_what_to_do(checker, name):
    for context in (EXAMPLES[name].context(EXAMPLES[name].releases[-1]), *FEW):
        assert all(finding.advice for finding in repaired(checker, EXAMPLES[name].document, context).left)


def offered(checker, config, context=FEW[0]):
    """Where no fix is the one right one: pointer → what the buttons say."""
    found = checker.findings(Document(json.dumps(config)), context)
    assert not any(finding.fix for finding in found if finding.choices)
    return {finding.pointer: [str(one.label) for one in finding.choices] for finding in found if finding.choices}


def test_what_has_several_right_repairs_offers_each(checker):
    both = {"train_batch_size": 8, "fp16": {"enabled": True}, "bf16": {"enabled": True}}
    assert offered(checker, both) == {"/bf16/enabled": ["Switch fp16 off", "Switch bf16 off"]}
    wrong = {"train_batch_size": 8, "zero_optimization": {"stage": 5, "offload_optimizer": {"device": "gpu"}}}
    assert offered(checker, wrong) == {
        "/zero_optimization/stage": ["Use 0", "Use 1", "Use 2", "Use 3", "Clear stage"],
        "/zero_optimization/offload_optimizer/device": ['Use "none"', 'Use "cpu"', 'Use "nvme"', "Clear device"],
    }
    assert offered(checker, {"train_batch_size": 8, "wall_clock_breakdown": []}) == {
        "/wall_clock_breakdown": ["Use true", "Use false", "Clear wall_clock_breakdown"]
    }
    # Of any number and any text none is offered. Out of what some value needs, no button leads.
    assert offered(checker, {"train_batch_size": 8, "gradient_clipping": "x"}) == {
        "/gradient_clipping": ["Clear gradient_clipping"]
    }
    needed = {"train_batch_size": 8, "zero_optimization": {"stage": 7, "offload_optimizer": {"device": "cpu"}}}
    card = replace(FEW[0], hardware=(next(one for one in CARDS if one.id == "a100-80"),))
    assert offered(checker, needed, card) == {"/zero_optimization/stage": ["Use 1", "Use 2", "Use 3"]}


def test_a_wrong_value_can_be_cleared_although_another_finding_needs_a_fix_of_its_own(checker):
    """Cleared, 0 accumulation steps are found no more; that there is no batch size was found before, and has a fix."""
    document = Document('{"gradient_accumulation_steps": 0}')
    found = {finding.rule: finding for finding in checker.findings(document, FEW[0]) if finding.fixes}
    (clear,) = found["DS001"].fixes
    cleared = clear.apply(document)
    errors = [one.rule for one in checker.findings(cleared, FEW[0]) if one.severity is Severity.ERROR]
    assert errors == ["DS011"]
    mended = found["DS011"].fix.apply(cleared)
    assert not any(one.severity is Severity.ERROR for one in checker.findings(mended, FEW[0]))


def test_a_batch_size_can_be_cleared_where_that_does_and_one_auto_is_one_value(checker):
    """Advice that says to clear it has the button, beside the fix that is certain too."""

    def told(context=FEW[0], **config):
        found = checker.findings(Document(json.dumps(config)), context)
        return [str(one.label) for finding in found if finding.pointer == "/train_batch_size" for one in finding.fixes]

    cleared = "Clear train_batch_size"
    assert told(train_batch_size=0, train_micro_batch_size_per_gpu=4) == [cleared]
    assert told(train_batch_size=7, train_micro_batch_size_per_gpu=4, gradient_accumulation_steps=8) == [
        "Set train_batch_size to 256",
        cleared,
    ]
    autos = {"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto"}
    assert told(**autos) == ["Write what the HF Trainer fills by default, for every “auto”", cleared]
    assert told(train_batch_size="auto")[0] == "Set train_batch_size to 64"  # it alone: no other is spoken of


@pytest.mark.parametrize("context", contexts(), ids=str)
def test_each_choice_takes_its_finding_away_and_adds_no_error(checker, context):
    config = {
        "train_batch_size": 8,
        "fp16": {"enabled": True},
        "bf16": {"enabled": True},
        "zero_optimization": {"stage": 9, "overlap_comm": "maybe", "offload_param": {"device": "gpu"}},
    }
    assert half_fixes(checker, Document(json.dumps(config)), [context]) == set()


AUTOS = """{
  "train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto",
  "optimizer": {"type": "AdamW", "params": {"lr": "auto"}},
  "scheduler": {"type": "WarmupDecayLR", "params": {"total_num_steps": "auto", "warmup_num_steps": "auto"}}
}"""


def test_the_steps_of_the_run_are_left_to_the_user(checker):
    context = Context(Integration.NATIVE)
    done = repaired(checker, Document(AUTOS), context)
    assert done.fixes == ("Write what the HF Trainer fills by default, for every “auto” but total_num_steps",)
    (left,) = done.left
    assert (left.pointer, left.advice) == (
        "/scheduler/params/total_num_steps",
        "Write the number of steps that the run takes, or choose “HF Trainer”.",
    )


def test_another_scheduler_loses_the_parameters_that_it_does_not_take(checker):
    config = {
        "train_batch_size": 8,
        "optimizer": {"type": "AdamW", "params": {"lr": 0.001}},
        "scheduler": {"type": "WarmupCosine", "params": {"total_num_steps": 9, "warmup_min_lr": 0, "warmup_max_lr": 1}},
    }
    document, context = Document(json.dumps(config)), Context(Integration.NATIVE)
    (wrong,) = (f for f in checker.findings(document, context) if f.severity is Severity.ERROR)
    assert str(wrong.fix.label) == "Use WarmupCosineLR; remove warmup_min_lr; remove warmup_max_lr"
    fixed = wrong.fix.apply(document)
    assert not checker.has_error(fixed, context)
    assert fixed.value["scheduler"]["params"] == {"total_num_steps": 9}


@pytest.mark.parametrize(
    ("block", "fix", "left"),
    [
        ({"stge": 9}, "Rename to stage", "/zero_optimization/stage"),
        (
            {"stage": 2, "offload_optimzer": {"device": "cpuu"}},
            "Rename to offload_optimizer",
            "/zero_optimization/offload_optimizer/device",
        ),
    ],
)
def test_a_misspelt_key_is_renamed_although_its_value_is_wrong_too(checker, block, fix, left):
    document, context = Document(json.dumps({"train_batch_size": 8, "zero_optimization": block})), FEW[0]
    (wrong,) = errors_of(checker, document, context)
    assert (wrong.rule, str(wrong.fix.label)) == ("DS002", fix)
    (then,) = errors_of(checker, wrong.fix.apply(document), context)
    assert then.pointer == left


def test_a_renaming_is_called_one_where_an_old_switch_is_rewritten_with_it(checker):
    config = {
        **{"train_batch_size": 8, "optimizer": {"type": "AdamW", "params": {"lr": 0.001}}},
        "zero_optimization": {"stage": 3, "offload_optmizer": {"device": "cpu"}, "cpu_offload": True},
    }
    document = Document(json.dumps(config))
    (wrong,) = errors_of(checker, document, FEW[0])
    assert str(wrong.fix.label) == "Rename to offload_optimizer"


def errors_of(checker, document, context):
    return [f for f in checker.findings(document, context) if f.severity is Severity.ERROR]


# Each with what it is misspelt as, and where it stands: other rules would write the key anew.
AWAITED = [
    ("/zero_optimization", "zero_optimisation", {"stage": "3", "offload_optimzer": {"device": "cpu"}}),
    ("/zero_optimization", "zero-optimization", {"stage": 2}),
    ("/zero_optimization", "zeroOptimization", {"stage": 3, "offload_param": {"device": "cpuu"}}),
    ("/scheduler/params/total_num_steps", "total_num_step", 100),
    ("/zero_optimization/offload_optimizer", "offload_optimzer", {"device": "nvme", "nvme_path": "/n"}),
    ("/optimizer", "optimiser", {"type": "AdamW", "params": {"lr": 0.1}}),
    ("/train_micro_batch_size_per_gpu", "train_micro_batch_size_per_gpus", 4),
]
AROUND = {
    "train_batch_size": 16,
    "scheduler": {"type": "WarmupDecayLR", "params": {"total_num_steps": 9}},
    "optimizer": {"type": "AdamW", "params": {"lr": 0.001}},
    "zero_optimization": {"stage": 2, "cpu_offload": True, "offload_optimizer": {"device": "none"}},
}


def misspelling(meant, wrong, value):
    """A config that has `wrong` in place of the key at `meant`."""
    config = copy.deepcopy(AROUND)
    *around, key = meant[1:].split("/")
    block = config
    for name in around:
        block = block[name]
    block.pop(key, None)
    block[wrong] = value
    return Document(json.dumps(config, indent=2))


@each_case(("meant", "wrong", "value"), AWAITED)
@each_case("context", FEW)
def test_no_fix_writes_a_key_that_is_there_misspelt(checker, context, meant, wrong, value):
    document = misspelling(meant, wrong, value)
    at = f"{meant.rpartition('/')[0]}/{wrong}"
    offered = {f.pointer: f.fix for f in checker.findings(document, context) if f.fix}
    assert f"Rename to {meant.rpartition('/')[2]}" in str(offered[at].label)
    writing = [c.pointer for f in offered.values() for c in f.changes if c.literal is not None]
    assert not [one for one in writing if f"{one}/".startswith(f"{meant}/")]


@each_case(("meant", "wrong", "value"), AWAITED)
@each_case("context", FEW)
def test_all_fixes_from_the_top_keep_what_stood_under_a_misspelt_key(checker, context, meant, wrong, value):
    document = misspelling(meant, wrong, value)
    while fix := next((f.fix for f in checker.findings(document, context) if f.fix), None):
        document = fix.apply(document)
    kept = lookup(document.value, meant)
    assert str(kept.get("stage", kept.get("type", kept.get("device"))) if isinstance(value, dict) else kept) == str(
        value.get("stage", value.get("type", value.get("device"))) if isinstance(value, dict) else value
    )


def test_the_renaming_that_another_fix_waits_for_comes_first_and_that_one_says_why(checker):
    document = Document('{"train_batch_sise": 8, "fp16": {"enabled": "si"}, "zero_optimisation": {"stage": 3}}')
    first, *rest = checker.findings(document, FEW[1])
    assert (first.pointer, str(first.fix.label)) == ("/zero_optimisation", "Rename to zero_optimization")
    (waiting,) = (f for f in rest if f.pointer == "/zero_optimization")
    assert (waiting.severity, waiting.fix) == (Severity.ERROR, None)
    assert waiting.advice.startswith("zero_optimisation looks like zero_optimization misspelt: rename it first")


def test_a_renaming_is_offered_in_a_large_config_too(checker):
    """Where no look is left for it, what waits for it would wait for nothing."""
    before = {"steps_per_prnt": 10, "gradient_cliping": 1.0, "wall_clock_breakdwn": True, "prescale_gradient": False}
    config = {"train_batch_size": 8, **before, "own": "x" * 130_000, "zero_optimisation": {"stage": 3}}
    document = Document(json.dumps(config))
    found = checker.findings(document, FEW[1])
    assert "/zero_optimization" in {finding.pointer for finding in found if waits(finding)}
    assert [str(f.fix and f.fix.label) for f in awaited(found)] == ["Rename to zero_optimization"]


@each_case(
    ("config", "count"),
    [
        (
            {
                **{"train_batch_size": 8, "zero_optimization": {"stage": 2}},
                "scheduler": {"type": "WarmupDecayLR", "params": {"total_step": 3}},
            },
            2,
        ),
        (
            {
                "train_batch_size": 8,
                "zero_optimization": {"stge": 2, "offload_optimzer": {"device": "nvme"}, "cpu_offload": True},
            },
            2,
        ),
    ],
)
def test_no_more_errors_are_said_to_be_fixed_than_there_are(checker, config, count):
    found = checker.findings(Document(json.dumps(config)), FEW[1])
    assert len(errors(found)) == count
    assert plain_errors(found) <= count


@each_case("example", examples())
@each_case("context", FEW)
def test_no_more_errors_of_an_example_are_said_to_be_fixed_than_there_are(checker, example, context):
    found = checker.findings(example.document, context)
    assert plain_errors(found) <= len(errors(found))


def errors(found):
    return [finding for finding in found if finding.severity is Severity.ERROR]


@pytest.fixture
def looks(monkeypatch):
    """Every look at a whole config, by any checker."""
    done, raw = [], Checker._raw
    monkeypatch.setattr(Checker, "_raw", lambda self, *given: done.append(given) or raw(self, *given))
    return done


def test_a_large_config_costs_no_more_than_a_bounded_number_of_looks(checker, looks):
    """Each fix is tried out: their number times the length of the text is bounded."""
    document = Document(json.dumps({"train_batch_size": 8, **{f"train_batch_siz{n}": "x" * 5000 for n in range(200)}}))
    checker.findings(document, Context(Integration.NATIVE))
    assert len(looks) < 5


def misspelt(keys):
    """Each is an error with a fix."""
    return json.dumps({"train_batch_size": 8, "zero_optimization": {f"reduce_bucket_siz{n}": 1 for n in range(keys)}})


def test_many_findings_are_looked_at_less_often(checker, looks):
    """Each of 3,000 takes its time in every look, and 5 looks took a minute."""
    checker.findings(Document(misspelt(500)), Context(Integration.NATIVE))
    assert len(looks) < 10


def test_a_look_costs_as_much_as_there_are_findings(checker, monkeypatch):
    """What a fix adds was counted anew for each finding: 500 wrong keys took 13 s."""
    compared = []
    finding_errors = repair._errors
    monkeypatch.setattr(repair, "_errors", lambda found: compared.extend(found) or finding_errors(found))
    checker.findings(Document(misspelt(100)), Context(Integration.NATIVE))
    assert len(compared) <= 101 * 101


def test_parts_of_one_fix_are_looks_too():
    """One finding's fix may take eight of them."""
    looked = []

    def check(document):
        looked.append(document)
        return [error(f"/{name}") for name in document.value]

    def error(pointer):
        fix = Fix.of("remove_this", Change(pointer, None))
        return Finding("DS000", Severity.ERROR, pointer, as_told(f"wrong at {pointer}"), (), fix)

    document = Document(json.dumps({f"a{n}": "x" * 100_000 for n in range(10)}))
    assert repair.with_whole_fixes([error("/a0")], document, check, [error("/a0")])[0].fix is None
    assert len(looked) == 1


def test_who_shows_no_fix_tries_none_out(checker, looks, tmp_path, capsys):
    text, context = misspelt(20), Context(Integration.NATIVE)
    file = tmp_path / "ds_config.json"
    file.write_text(text, "utf-8")
    for asked, most in (
        (lambda: Workbench(checker).findings(text, context), 1),
        (
            lambda: with_config(
                Launch({}, (), "1 GPU", 1), text, Surroundings(script_facts(""), Machine(Host())), checker
            ),
            1,
        ),
        (lambda: main(["validate", str(file)]), 1),
        (lambda: main(["resolve", str(file)]), 1),
        (lambda: main(["validate", str(file), "--format", "json"]), 21),
    ):
        looks.clear()
        asked()
        assert len(looks) == most
    capsys.readouterr()


@pytest.mark.complete
def test_no_fix_is_half_in_any_context(checker):
    found = {
        name: half for name, document in readable(every_text()) if (half := half_fixes(checker, document, contexts()))
    }
    assert found == {}


@pytest.mark.complete
@pytest.mark.deepspeed
@pytest.mark.parametrize("reader", Integration)
@pytest.mark.parametrize("ranks", [1, 2, 8])
def test_the_real_deepspeed_accepts_what_the_error_fixes_make_of_a_config(checker, reader, ranks):
    made = {}
    for name, document in readable(every_text()):
        done = repaired(checker, document, Context(reader, gpus_per_node=ranks))
        assert all(finding.advice for finding in done.left), name
        if done.fixes and not done.left:
            made.setdefault(done.document.text, name)
    answers = ask([question(text, reader, ranks) for text in made])
    context = Context(reader, gpus_per_node=ranks)
    refused = {
        name: (answer.message, text)
        for (text, name), answer in zip(made.items(), answers, strict=True)
        if answer.verdict == "reject" and not is_told(checker.findings(Document(text), context), answer.message)
    }
    assert len(made) > 30
    assert refused == {}


def is_told(findings, refusal):
    """Whether a finding says beforehand that what DeepSpeed refuses is for another place to decide."""
    told = {finding.rule for finding in findings}
    return any(words in refusal and rule in told for words, rule in OF_THE_SCRIPT.items()) or any(
        words in refusal for words in OF_A_DEVICE
    )


OFFLOADED = {"train_batch_size": 8, "zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}}
BY_THE_SCRIPT = [
    (OFFLOADED, "You are using ZeRO-Offload with a client provided optimizer"),
    (OFFLOADED | {"zero_optimization": {"stage": 2, "cpu_offload": True}}, "a client provided optimizer"),
    (
        OFFLOADED | {"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "nvme", "nvme_path": "/nvme"}}},
        "a client provided optimizer",
    ),
    ({"train_batch_size": 8, "zero_optimization": {"stage": 1}}, "zero stage 1 requires an optimizer"),
    (OFFLOADED | {"optimizer": {}}, "a client provided optimizer"),
    (
        {"train_batch_size": 8, "optimizer": {"type": "AdamW"}, "tensor_parallel": {"autotp_size": 2}},
        "Not able to determine model policy automatically",
    ),
]


@pytest.mark.parametrize(("config", "refusal"), BY_THE_SCRIPT)
def test_what_the_script_decides_is_said(checker, config, refusal):
    assert is_told(
        checker.findings(Document(json.dumps(config)), Context(Integration.NATIVE, gpus_per_node=2)), refusal
    )


TABLE = json.loads((ROOT / "tests" / "examples" / "verdicts.json").read_text("utf-8"))


@each_case("name", EXAMPLES)
def test_each_recorded_refusal_is_an_error_or_said_to_be_the_scripts(checker, name):
    """By the answers that lie beside the examples, for every release that was asked."""
    example = EXAMPLES[name]
    for release, (verdict, _, message) in TABLE.get(name, {"answers": {}})["answers"].items():
        if verdict == "reject" and any(words in message for words in OF_THE_SCRIPT):
            findings = example.findings(checker, release)
            assert has_error(findings) or is_told(findings, message), release


def question(text, reader, ranks):
    given = matching_arguments(text, ranks) if reader is Integration.HF else {}
    return Question(text, reader.value, ranks, training_arguments=given, until="initialize")
