"""Many findings of one cause are told as one."""

import json
from dataclasses import replace

import pytest

from differential.examples import examples
from dsgui.core.config.arguments import from_command_line
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Severity
from dsgui.core.config.loose_json import tidy
from dsgui.core.config.misspelt import awaited, waits
from tests.support.cases import each_case

NATIVE, HF = Context(Integration.NATIVE), Context(Integration.HF, gpus_per_node=2)
NEOX = {
    **{"pipe-parallel-size": 1, "model-parallel-size": 1, "num-layers": 24, "hidden-size": 2048, "seq-length": 2048},
    **{"num-attention-heads": 16, "max-position-embeddings": 2048, "checkpoint-factor": 1000, "train-iters": 9},
    **{"train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 1}, "log-interval": 10},
}


def told(checker, config, rule):
    return [f for f in checker.findings(Document(json.dumps(config)), NATIVE) if f.rule == rule]


def test_a_file_of_gpt_neox_gets_one_note_and_no_renaming(checker):
    (note,) = told(checker, NEOX, "DS004")
    assert note.severity is Severity.NOTE
    assert note.message == (
        "pipe-parallel-size, model-parallel-size, num-layers, hidden-size, seq-length and 5 more: DeepSpeed has no "
        "such keys at the top level and ignores them; this looks like a GPT-NeoX file: its own keys are not "
        "DeepSpeed's."
    )
    assert note.fix is None


def test_a_key_of_a_gpt_neox_file_that_others_wait_for_keeps_its_renaming(checker):
    """Else they would say "rename it first" beside no renaming."""
    config = {key: value for key, value in NEOX.items() if not key.startswith(("train_micro", "zero_"))}
    config |= {"train-micro-batch-size-per-gpu": 4, "zero-optimization": {"stage": 1}, "fp16": {"enabled": True}}
    found = checker.findings(Document(json.dumps(config)), HF)
    waiting = [finding for finding in found if waits(finding)]
    assert waiting
    renamed = {finding.pointer: str(finding.fix.label) for finding in awaited(found) if finding.fix}
    assert {dict(one.given)["wrong"] for finding in waiting for one in finding.advises} == {
        pointer.strip("/") for pointer in renamed
    }


@each_case(
    ("reader", "rule", "key", "value", "fix"),
    [
        (HF, "DS013", "gradient_clipping", "1.5", "Write 1.5"),
        (NATIVE, "DS001", "gradient_clipping", "1.5", "Write 1.5"),
        (NATIVE, "DS001", "memory_breakdown", "False", "Write false"),
        (HF, "DS013", "gradient_clipping", "some", "Set gradient_clipping to “auto”"),
        (HF, "DS013", "gradient_clipping", [1], "Set gradient_clipping to “auto”"),
    ],
)
def test_a_value_of_another_type_is_told_once_and_what_it_means_is_offered_first(
    checker, reader, rule, key, value, fix
):
    config = {"train_micro_batch_size_per_gpu": 8, "zero_optimization": {"stage": 1}, key: value}
    found = checker.findings(Document(json.dumps(config)), reader)
    (one,) = (f for f in found if f.pointer == f"/{key}")
    assert (one.rule, str(one.fix.label)) == (rule, fix)
    if fix.startswith("Write"):
        assert [str(other.label) for other in one.fixes] == [fix, f"Clear {key}"]


def test_what_the_trainer_stops_at_in_the_file_is_told_once_with_what_to_write(checker):
    config = {"train_micro_batch_size_per_gpu": "4", "zero_optimization": {"stage": 1}}
    found = checker.findings(Document(json.dumps(config)), HF)
    (one,) = (f for f in found if f.pointer == "/train_micro_batch_size_per_gpu" and f.severity is Severity.ERROR)
    assert (one.rule, str(one.fix.label)) == ("DS001", "Write 4")


def test_a_few_unknown_keys_are_told_one_by_one_and_a_misspelling_always(checker):
    config = {"train_batch_size": 8, **{f"mine_{n}": n for n in range(5)}}
    assert len(told(checker, config, "DS004")) == 5
    config |= {"mine_5": 5, "gradient_cliping": 1.0}
    misspelt, note = told(checker, config, "DS004")
    assert note.message.startswith("mine_0, mine_1, mine_2, mine_3, mine_4 and 1 more: ")
    assert (misspelt.pointer, str(misspelt.fix.label)) == ("/gradient_cliping", "Rename to gradient_clipping")


@pytest.mark.parametrize("form", ["{}", "${{{}}}", "{{{{ {} }}}}", "<{}>", "__{}__", "%({})s", "{},"])
def test_a_template_gets_one_error(checker, form):
    names = ("GB_SIZE", "MB_SIZE", "ZERO_STAGE", "LOG_INTERVAL", "FP16_ON", "SCALE_WINDOW")
    size, micro, stage, interval, on, window = (form.format(name) for name in names)
    config = {
        **{"train_batch_size": size, "train_micro_batch_size_per_gpu": micro, "steps_per_print": interval},
        **{"zero_optimization": {"stage": stage}, "fp16": {"enabled": on, "loss_scale_window": window}},
    }
    (error,) = told(checker, config, "DS001")
    assert error.severity is Severity.ERROR
    assert error.message.startswith(f"This looks like a template: {size.rstrip(',')}, {micro.rstrip(',')}, ")
    assert "Put the values in" in error.advice


@each_case("context", [NATIVE, HF])
def test_a_placeholder_without_quotes_is_a_template_for_either_reader(checker, context):
    """hjson reads it as a text, comma and all; quotes would change nothing."""
    text = '{"train_batch_size": CONFIG_BATCH_SIZE,\n "zero_optimization": {"stage": 1}\n}\n'
    found = checker.findings(Document(tidy(text).text), context, text)
    *stopped, template = (f for f in found if f.severity is Severity.ERROR)
    assert template.message.startswith("This looks like a template: CONFIG_BATCH_SIZE in place of values")
    assert [(f.rule, f.advice.endswith("check the file that the template's program writes.")) for f in stopped] == [
        ("DS018", True)
    ] * (context is HF)
    assert not any("hjson" in f.message + f.advice for f in stopped)


def test_one_word_in_capitals_is_no_template(checker):
    (error,) = told(checker, {"train_batch_size": "BATCH_SIZE"}, "DS001")
    assert error.message == 'train_batch_size: "BATCH_SIZE" is not a whole number of 1 or more.'


@each_case(
    ("key", "meant"),
    [
        *(
            ("model_parallel_size", ""),
            ("model-parallel-size", ""),
            ("pipe-parallel-size", ""),
            ("checkpoint-factor", ""),
        ),
        *(("gradient_accumulation_step", "gradient_accumulation_steps"), ("trainBatchSize", "train_batch_size")),
        *(
            ("train_micro_batch_size_per_device", "train_micro_batch_size_per_gpu"),
            ("step_per_print", "steps_per_print"),
        ),
        *(("grad_accumulation_steps", "gradient_accumulation_steps"), ("zero_optimisation", "zero_optimization")),
    ],
)
def test_a_misspelling_has_the_words_of_the_key_it_is_meant_for(checker, key, meant):
    value = {"stage": 1} if key.startswith("zero") else 4
    (finding,) = told(checker, {"train_batch_size": 8, key: value}, "DS004")
    assert finding.advice.startswith(f"Did you mean {meant}?" if meant else "Nothing to do if another program")


def test_keys_of_an_inference_config_are_no_misplaced_training_keys(checker):
    config = {"train_batch_size": 8, "enable_cuda_graph": True, "max_out_tokens": 512}
    assert told(checker, config, "DS008") == []


def test_an_old_name_at_which_the_trainer_stops_is_told_once(checker):
    config = {"train_batch_size": 8, "zero_optimization": {"stage": 2, "cpu_offload": True}}
    both = [f for f in checker.findings(Document(json.dumps(config)), HF) if f.pointer.endswith("/cpu_offload")]
    assert [(f.rule, f.severity) for f in both] == [("DS015", Severity.ERROR)]


@pytest.mark.parametrize(("word", "file"), [("--fp16", "bf16"), ("--bf16", "fp16")])
def test_accelerate_stops_at_another_type_before_deepspeed_can(checker, word, file):
    """Its error ends in a full stop of its own, which no other follows."""
    batch = {"train_micro_batch_size_per_gpu": "auto"}
    config = {**batch, file: {"enabled": True}, "zero_optimization": {"stage": 2}}
    context = replace(HF, arguments=from_command_line(word))
    wrong = [f for f in checker.findings(Document(json.dumps(config)), context) if f.severity is Severity.ERROR]
    assert [(f.rule, f.pointer) for f in wrong] == [("DS013", f"/{file}/enabled")]
    assert "is set in the DeepSpeed config file”." in wrong[0].message
    both = {**config, "fp16": {"enabled": True}, "bf16": {"enabled": True}}
    assert "DS020" in {f.rule for f in checker.findings(Document(json.dumps(both)), context)}


@each_case("example", examples())
@each_case("context", [NATIVE, HF])
def test_no_two_findings_offer_the_same_edit_of_one_key(checker, example, context):
    offered = [
        (f.pointer, f.fix.apply(example.document).value) for f in checker.findings(example.document, context) if f.fix
    ]
    assert all(one not in offered[:place] for place, one in enumerate(offered))
