"""What DeepSpeed answered, as values: the key it is about, what it says of dsgui's own findings, the words for it."""

import json
from dataclasses import replace

import pytest

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Finding, Severity
from dsgui.core.machine.hardware import CARDS, Hardware
from dsgui.core.oracle.agreement import REFUSED, WARNED, merge
from dsgui.core.oracle.answers import Answer, Question, Raised, Trial, Verdict
from dsgui.core.oracle.refusals import named_key, places
from dsgui.core.texts.saying import as_told
from tests.support.cases import each_case
from tests.support.oracles.oracle_cases import ANSWERS, cases

RECORDED = json.loads(ANSWERS.read_text("utf-8"))
CPU = Context(Integration.NATIVE, deepspeed_version="0.19.8", hardware=(Hardware("cpu", "CPU", "cpu"),))
V100 = replace(CPU, hardware=(next(card for card in CARDS if card.id == "v100"),))
OK = {"stage": "done", "seconds": {"parse": 0.1}, "versions": {"deepspeed": "0.19.8"}}
TRAINED = {**OK, "steps": 2, "seconds": {"initialize": 0.4, "step": 0.5}}


@pytest.fixture(scope="session")
def known(schema):
    return frozenset(schema.fields)


def raised_by(type, message, *calls, **more):
    frames = [{"module": module, "function": function} for module, function in calls]
    return {**OK, "stage": "parse", "error": {"type": type, "message": message, "frames": frames, **more}}


def answered(text, context, *answers, ranks=1):
    question = Question.of(text, context)
    return Answer(question, tuple(Trial.from_json(answer, ranks, question.lend) for answer in answers))


def merged(text, context, known, findings, *answers, ranks=1):
    return merge(findings, answered(text, context, *answers, ranks=ranks), Document(text), context, known)


def error(pointer, source="", rule="DS050"):
    return Finding(rule, Severity.ERROR, pointer, as_told("it is wrong."), source=source)


@each_case(("name", "config", "pointer"), cases(), ids=[case[0] for case in cases()])
def test_a_refusal_leads_to_its_key(known, name, config, pointer):
    raised = Raised.from_json(RECORDED[name]["error"])
    assert places(raised, config, known)[0][0] == pointer


def test_each_key_that_pydantic_names_is_a_finding_of_its_own(known):
    problems = [{"keys": ["one"], "message": "Extra"}, {"keys": ["two"], "message": "Extra"}]
    answer = raised_by("ValidationError", "2 validation errors", model="DeepSpeedZeroConfig", problems=problems)
    found = merged('{"zero_optimization": {"one": 1, "two": 2}}', CPU, known, [], answer).findings
    assert [f.pointer for f in found] == ["/zero_optimization/one", "/zero_optimization/two"]


def test_each_mismatch_that_the_trainer_lists_is_a_finding_of_its_own(known):
    message = (
        "Please correct the following DeepSpeed config values that mismatch TrainingArguments values:\n"
        "- ds gradient_clipping=0.5 vs hf max_grad_norm=1.0\n- ds optimizer.params.lr=0.1 vs hf learning_rate=5e-05\n"
        "The easiest method is to set these DeepSpeed config values to 'auto'."
    )
    found = places(Raised("ValueError", message), {}, known)
    assert [pointer for pointer, _ in found] == ["/gradient_clipping", "/optimizer/params/lr"]
    assert "learning_rate is 5e-05" in found[1][1]


def test_a_text_that_can_not_be_read_is_about_the_whole_config(known):
    assert places(Raised("HjsonDecodeError", "Bad key name (eof): line 2"), {"train_batch_size": 1}, known)[0][0] == ""


def test_a_refusal_that_no_rule_saw_is_an_error_with_the_exact_words_and_their_source(known):
    answer = raised_by("ValueError", "bad steps_per_print", ("deepspeed.runtime.engine", "_report_progress"))
    found = merged('{"steps_per_print": 0}', CPU, known, [], answer)
    assert found.findings == found.missed
    finding = found.missed[0]
    assert (finding.rule, finding.severity, finding.pointer) == (REFUSED, Severity.ERROR, "/steps_per_print")
    assert "ValueError: bad steps_per_print" in finding.message
    assert finding.source == "deepspeed/runtime/engine.py: _report_progress"


def test_an_error_that_deepspeed_raises_too_is_told_once(known):
    ours = error("/optimizer/params/foo")
    answer = raised_by("TypeError", "got an unexpected keyword argument 'foo'")
    found = merged('{"optimizer": {"params": {"foo": 1}}}', CPU, known, [ours], answer)
    assert (found.findings, found.confirmed, found.missed) == ((ours,), (ours,), ())


@pytest.mark.parametrize(
    ("pointer", "source", "message", "call"),
    [
        ("/zero_optimization/reduce_scatter", "", "Muon and reduce scatter cannot be used together", ("a", "b")),
        ("/bf16", "deepspeed/a.py, deepspeed/b.py", "no", ("deepspeed.b", "check")),
        ("/train_micro_batch_size_per_gpu", "", "train_batch_size is not equal", ("a", "b")),
    ],
)
def test_an_error_of_a_rule_may_name_another_key_than_the_refusal(known, pointer, source, message, call):
    text = '{"optimizer": {"type": "Muon"}, "train_batch_size": 1, "no": 1}'
    found = merged(text, CPU, known, [error(pointer, source)], raised_by("ValueError", message, call))
    assert (len(found.confirmed), found.missed) == (1, ())


def test_an_error_about_something_else_leaves_the_refusal_standing(known):
    text = '{"bf16": {}, "steps_per_print": 0}'
    found = merged(text, CPU, known, [error("/bf16")], raised_by("ValueError", "steps_per_print"))
    assert [f.rule for f in found.findings] == ["DS050", REFUSED]


def test_an_error_that_deepspeed_does_not_raise_becomes_a_note(known):
    found = merged('{"optimizer": {}}', CPU, known, [error("/optimizer")], OK, TRAINED)
    assert [f.severity for f in found.findings] == [Severity.NOTE]
    assert "DeepSpeed 0.19.8 accepts it here" in found.findings[0].message
    assert len(found.contradicted) == 1


@pytest.mark.parametrize(
    ("context", "ranks", "source", "answers"),
    [
        pytest.param(V100, 1, "deepspeed/accelerator/*: is_bf16_supported", [OK, TRAINED], id="another device"),
        pytest.param(V100, 1, "deepspeed/runtime/engine.py", [OK, TRAINED], id="a check that a GPU may fail"),
        pytest.param(replace(CPU, gpus_per_node=8), 1, "deepspeed/utils/groups.py", [OK, TRAINED], id="more ranks"),
        pytest.param(CPU, 1, "deepspeed/runtime/engine.py", [OK], id="a later stage"),
        pytest.param(CPU, 1, "deepspeed/runtime/config.py", [OK], id="a raw value"),
        pytest.param(CPU, 1, "deepspeed/runtime/config.py: DeepSpeedConfig", [OK], id="a raw block"),
        pytest.param(CPU, 1, "deepspeed/runtime/engine.py", [OK, {**OK, "ended": "limit", "limit_s": 9}], id="no time"),
        pytest.param(CPU, 1, "deepspeed/checkpoint/writer.py", [OK, TRAINED], id="something that no trial does"),
    ],
)
def test_what_was_not_tried_is_not_contradicted(known, context, ranks, source, answers):
    ours = error("/optimizer", source)
    assert merged('{"optimizer": {}}', context, known, [ours], *answers, ranks=ranks).findings == (ours,)


def test_a_parse_contradicts_what_parsing_would_raise(known):
    ours = error("/train_batch_size", "deepspeed/runtime/config.py: _batch_assertion")
    found = merged('{"train_batch_size": 8}', V100, known, [ours], OK)
    assert found.contradicted == (ours,)


def test_deepspeeds_warnings_about_a_key_are_notes_and_others_are_left_out(known):
    text = '{"zero_optimization": {"cpu_offload": true}, "scheduler": {}}'
    noise = "Attempting to get learning rate from scheduler before it has started"
    answer = {**OK, "warnings": ["Config parameter cpu_offload is deprecated use offload_optimizer instead", noise]}
    found = merged(text, CPU, known, [], answer).findings
    assert [(f.rule, f.pointer) for f in found] == [(WARNED, "/zero_optimization/cpu_offload")]
    assert named_key(noise, json.loads(text)) == ""


@pytest.mark.parametrize(
    ("message", "context", "verdict"),
    [
        ("Torch not compiled with CUDA enabled", V100, Verdict.NOT_TRIED),
        ("Torch not compiled with CUDA enabled", CPU, Verdict.REFUSED),
        ("This op had not been implemented on CPU backend.", V100, Verdict.NOT_TRIED),
        ("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory", CPU, Verdict.NOT_TRIED),
        ("async_io requires the dev libaio .so object and headers", CPU, Verdict.NOT_TRIED),
        ("Not able to determine model policy automatically. Please provide policy.", CPU, Verdict.NOT_TRIED),
        ("No module named 'wandb'", V100, Verdict.REFUSED),
    ],
)
def test_what_this_machine_can_not_show_is_said_and_not_guessed(message, context, verdict):
    answer = answered("{}", context, OK, raised_by("RuntimeError", message))
    assert answer.trials[1].verdict is verdict
    assert answer.verdict is (Verdict.REFUSED if verdict is Verdict.REFUSED else Verdict.ACCEPTED)
    assert bool(answer.not_tried) == (verdict is Verdict.NOT_TRIED)


def test_the_summary_says_what_was_done_and_how_long_it_took():
    assert answered("{}", CPU, OK, TRAINED).summary == "DeepSpeed 0.19.8: accepted (parse, initialize, 2 steps; 1.0 s)"
    assert answered("{}", CPU, OK).summary == "DeepSpeed 0.19.8: accepted (parse; 0.1 s)"
    refused = answered("{}", CPU, OK, {**raised_by("ValueError", "no"), "stage": "step"})
    assert refused.summary == "DeepSpeed 0.19.8: refused at a training step (0.2 s)"
    late = answered("{}", CPU, OK, {**OK, "stage": "initialize", "ended": "limit", "limit_s": 9, "doing": "cpu_adam"})
    assert "not tested: initialize: it did not finish within 9 s while loading the op cpu_adam" in late.summary
    assert not late.is_final


def test_a_question_lends_data_types_only_when_another_device_is_planned_for():
    assert [Question.of("", context).lend for context in (CPU, V100, Context())] == [False, True, True]
