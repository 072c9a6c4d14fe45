"""What the rules say of batch size, precision and hardware, and that each fix repairs what it names."""

import ast
import importlib.util
import json
from inspect import signature
from pathlib import Path

import pytest
import torch

from dsgui.core import rules
from dsgui.core.config.arguments import TrainingArguments, from_command_line, read_arguments, with_defaults
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Severity, refuser
from dsgui.core.machine.hardware import CARDS, Gpu, Hardware, Target
from dsgui.core.rules import torch_nn
from dsgui.core.rules.optimizer import ARGUMENTS
from dsgui.core.texts.languages import speaking
from tests.support.cases import each_case

NATIVE = Context(Integration.NATIVE)
CARD = {card.id: card for card in CARDS}
CPU = Hardware("this", "CPU", "cpu", bf16=True, fp16=False)
BATCH_OF_4 = {"per_device_train_batch_size": 4}


# Most configs here are about one thing and leave these out: an optimizer, a ZeRO block under HF, clipping.
LEFT_OUT = {"DS014", "DS054", "DS058"}


def check(config, context=NATIVE, rule=None):
    found = rules.check(config, context)
    return [f for f in found if f.rule == rule or (rule is None and f.rule not in LEFT_OUT)]


def errors(config, context=NATIVE):
    return [f for f in check(config, context) if f.severity is Severity.ERROR]


def native(**fields):
    return Context(Integration.NATIVE, **fields)


def repaired(config, finding):
    return finding.fix.apply(Document(json.dumps(config, indent=2))).value


# ------------------------------------------------------------------------------------------------------ batch size
def test_a_broken_identity_names_all_factors_and_is_fixed_by_its_button():
    config = {"train_batch_size": 100, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 8}
    context = native(nodes=1, gpus_per_node=4)
    (finding,) = check(config, context)
    assert finding.rule == "DS010"
    assert finding.message.startswith(
        "train_batch_size: 100 is not micro batch 4 × accumulation steps 8 × world size 4 = 128."
    )
    assert "clear it and DeepSpeed will derive it" in finding.advice
    assert repaired(config, finding)["train_batch_size"] == 128
    assert check(repaired(config, finding), context) == []


def test_the_world_is_nodes_times_gpus():
    config = {"train_batch_size": 64, "train_micro_batch_size_per_gpu": 8, "gradient_accumulation_steps": 1}
    assert check(config, native(nodes=2, gpus_per_node=4)) == []
    assert errors(config, native(nodes=1, gpus_per_node=4))


def test_a_solved_term_is_said_to_be_solved():
    (finding,) = check({"train_batch_size": 10, "train_micro_batch_size_per_gpu": 4})
    assert "accumulation steps 2 (solved by DeepSpeed)" in finding.message


@pytest.mark.parametrize(
    ("config", "world_size"),
    [
        ({"train_batch_size": 4, "train_micro_batch_size_per_gpu": 8}, 1),
        ({"train_batch_size": 4}, 8),
        ({"train_batch_size": 9}, 2),
        ({"train_batch_size": 5, "gradient_accumulation_steps": 3}, 2),
    ],
)
def test_every_batch_fix_gives_a_config_that_holds(config, world_size):
    context = native(gpus_per_node=world_size)
    (finding,) = errors(config, context)
    assert errors(repaired(config, finding), context) == []


def test_no_batch_size_at_all_is_an_error_with_a_fix_for_the_reader():
    for reader, value in ((Integration.NATIVE, 1), (Integration.HF, "auto")):
        (finding,) = errors({}, Context(reader))
        assert finding.rule == "DS011"
        assert repaired({}, finding) == {"train_micro_batch_size_per_gpu": value}


def test_null_counts_as_absent():
    assert check({"train_batch_size": None, "train_micro_batch_size_per_gpu": 1}) == []


def test_auto_is_explained_under_hf_and_refused_natively():
    config = {"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto"}
    (note,) = check(config, Context(Integration.HF, gpus_per_node=2))
    assert note.severity is Severity.NOTE
    assert "--per_device_train_batch_size × 1 × world size 2" in note.message
    assert {f.pointer for f in errors(config)} == {"/train_batch_size", "/train_micro_batch_size_per_gpu"}


def test_under_hf_an_absent_accumulation_is_one_not_solved():
    config = {"train_batch_size": 64, "train_micro_batch_size_per_gpu": 8}
    assert check(config, native(gpus_per_node=4)) == []
    assert errors(config, Context(Integration.HF, gpus_per_node=4))


def test_a_train_batch_that_no_argument_can_make_is_an_error_under_hf():
    config = {
        "train_batch_size": 100,
        "train_micro_batch_size_per_gpu": 4,
        "gradient_accumulation_steps": "auto",
    }
    context = Context(Integration.HF, gpus_per_node=2)
    (finding,) = errors(config, context)
    assert "does not divide by 8" in finding.message
    assert errors(repaired(config, finding), context) == []
    (note,) = check({**config, "train_batch_size": 96}, context, "DS012")
    assert "must make it 96" in note.message


def test_numbers_that_hf_compares_are_listed_as_the_arguments_the_script_needs():
    config = {
        "train_micro_batch_size_per_gpu": 4,
        "gradient_accumulation_steps": 2,
        "gradient_clipping": 1.0,  # the Trainer's own default: nothing to pass
        "optimizer": {"type": "AdamW", "params": {"lr": 3e-5, "betas": [0.8, 0.999], "eps": "auto"}},
        "bf16": {"enabled": True},
    }
    (note,) = check(config, Context(Integration.HF), "DS013")
    assert note.severity is Severity.NOTE
    assert (
        "--per_device_train_batch_size 4 --gradient_accumulation_steps 2 --learning_rate 3e-05 --adam_beta1 0.8 --bf16."
        in note.message
    )
    assert check(config, NATIVE, "DS013") == []
    # Of two types that exclude each other none is asked for.
    (note,) = check({**config, "fp16": {"enabled": True}}, Context(Integration.HF), "DS013")
    assert "--per_device_train_batch_size 4" in note.message
    assert "16" not in note.message
    # As it is written: 1 and 308 noughts were no value of an argument that could be given.
    (note,) = check({"gradient_clipping": 1e308}, Context(Integration.HF), "DS013")
    assert "--max_grad_norm 1e+308." in note.message


APART = {
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}},
    "scheduler": {"type": "WarmupLR", "params": {"warmup_min_lr": 0, "warmup_max_lr": 6e-4, "warmup_num_steps": 10}},
}


@each_case("given", [None, {"learning_rate": 1e-4}, {"learning_rate": 6e-4}, {}])
def test_two_values_that_the_trainer_compares_with_one_argument_are_refused_whatever_it_is(given):
    arguments = None if given is None else TrainingArguments(**given, warmup_steps=10)
    context = Context(Integration.HF, arguments=arguments)
    errors = [one for one in check(APART, context, "DS013") if one.severity is Severity.ERROR]
    apart = next(one for one in errors if one.pointer == "/scheduler/params/warmup_max_lr")
    assert "0.0006, while optimizer.params.lr is 0.0001" in str(apart.message)
    assert "--learning_rate" not in str(apart.advice)
    assert not any("--learning_rate" in str(one.message) for one in check(APART, context, "DS013"))
    changed = repaired(APART, apart)
    assert [one for one in check(changed, context, "DS013") if one.pointer == apart.pointer] == []
    same = {**APART, "scheduler": {"type": "WarmupLR", "params": {"warmup_max_lr": 1e-4}}}
    assert [one for one in check(same, Context(Integration.HF), "DS013") if one.severity is Severity.ERROR] == []


@each_case(
    ("config", "told"),
    [
        ({"train_batch_size": 32}, "× 8 ranks equal 32"),
        ({"train_batch_size": 32, "gradient_accumulation_steps": 1}, "× 8 ranks equal 32"),
        ({"train_batch_size": 64}, ""),  # what the defaults make
        ({"train_batch_size": 32, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 1}, ""),
        ({"train_batch_size": "auto"}, ""),
        ({}, ""),
    ],
)
def test_a_batch_that_the_arguments_have_to_multiply_to_is_told(config, told):
    context = Context(Integration.HF, gpus_per_node=8)
    notes = [str(one.message) for one in check(config, context, "DS013") if one.pointer == "/train_batch_size"]
    assert len(notes) == bool(told)
    assert told in " ".join(notes)


def test_the_steps_of_a_schedule_are_among_what_the_script_needs():
    schedule = {"scheduler": {"type": "WarmupDecayLR", "params": {"total_num_steps": 500000}}}
    (note,) = check(schedule, Context(Integration.HF), "DS013")
    assert "The script needs: --max_steps 500000." in str(note.message)
    for steps in (-1, 0, 12.5, "auto"):
        schedule = {"scheduler": {"type": "WarmupDecayLR", "params": {"total_num_steps": steps}}}
        assert not any("--max_steps" in str(one.message) for one in check(schedule, Context(Integration.HF), "DS013"))


# ------------------------------------------------------------------------------------------------------- precision
def test_fp16_and_bf16_exclude_each_other_under_the_old_name_too():
    for block in ("bf16", "bfloat16"):
        config = {"train_batch_size": 1, "fp16": {"enabled": True}, block: {"enabled": True}}
        (finding,) = errors(config)
        assert finding.rule == "DS020"
        assert "0.19.8" in finding.message


def test_both_auto_is_fine_for_hf_and_for_a_deepspeed_that_drops_auto():
    config = {"train_batch_size": 1, "fp16": {"enabled": "auto"}, "bf16": {"enabled": "auto"}}
    assert errors(config, Context(Integration.HF)) == []
    assert errors(config, native(deepspeed_version="0.18.9")) == []
    assert errors(config, native(deepspeed_version="0.16.9"))


def test_amp_is_worded_for_the_version_in_use():
    config = {"train_batch_size": 1, "amp": {"enabled": True, "opt_level": "O1"}, "zero_optimization": {"stage": 2}}
    (new,) = check(config, rule="DS021")
    assert "removed in 0.19.8" in new.message
    (old,) = check(config, native(deepspeed_version="0.16.9"), rule="DS021")
    assert "Amp and ZeRO are not currently compatible" in old.message
    assert "0.16.9" in old.message
    for finding, context in ((new, NATIVE), (old, native(deepspeed_version="0.16.9"))):
        assert check(repaired(config, finding), context) == []


def test_amp_switched_off_is_refused_by_the_new_deepspeed_alone():
    config = {"train_batch_size": 1, "amp": {"enabled": False}, "zero_optimization": {"stage": 2}}
    assert errors(config)
    assert errors(config, native(deepspeed_version="0.19.6")) == []


def test_amp_without_zero_clashes_with_fp16_in_old_versions():
    config = {"train_batch_size": 1, "amp": {"enabled": True}, "fp16": {"enabled": True}}
    (finding,) = errors(config, native(deepspeed_version="0.18.9"))
    assert "Cannot enable both amp with (legacy) fp16 or bfloat16 mode" in finding.message


# -------------------------------------------------------------------------------------------------------- hardware
BF16 = {"train_batch_size": 1, "bf16": {"enabled": True}}


@pytest.mark.parametrize("card", ["v100", "t4", "rtx2080ti", "p100"])
def test_cards_below_capability_8_have_no_native_bf16(card):
    (finding,) = check(BF16, native(hardware=(CARD[card],)))
    assert finding.rule == "DS030"
    assert finding.severity is Severity.WARNING  # current torch emulates it, so DeepSpeed lets it pass
    assert "emulates" in finding.message
    (refused,) = check(BF16, native(hardware=(CARD[card],), torch_version="2.2.2"))
    assert refused.severity is Severity.ERROR


@each_case("card", ["a10", "a100-80", "rtx3090", "rtx4090", "l40s", "h100", "h200", "mi300x"])
def test_newer_cards_have_bf16(card):
    assert check(BF16, native(hardware=(CARD[card],))) == []


def test_every_selected_gpu_is_looked_at_not_only_the_first():
    target = Target("python", gpus=(Gpu(0, "A100", (8, 0), None), Gpu(1, "V100", (7, 0), None)))
    (finding,) = check(BF16, native(hardware=target.hardware))
    assert "GPU 1: V100" in finding.message


def test_the_bf16_fix_leads_to_fp16_on_a_card_that_has_it():
    (finding,) = check(BF16, native(hardware=(CARD["v100"],)))
    config = repaired(BF16, finding)
    assert (config["bf16"]["enabled"], config["fp16"]["enabled"]) == (False, True)
    assert check(config, native(hardware=(CARD["v100"],))) == []
    (p100,) = check(BF16, native(hardware=(CARD["p100"],)))  # DeepSpeed lets it have neither
    assert p100.advice == "Train in fp32 on this card, or use a newer card."
    assert check(repaired(BF16, p100), native(hardware=(CARD["p100"],))) == []


def test_the_cpu_is_judged_by_deepspeeds_own_accelerator():
    assert check(BF16, native(hardware=(CPU,))) == []
    fp16 = {"train_batch_size": 1, "fp16": {"enabled": True}}
    (finding,) = errors(fp16, native(hardware=(CPU,)))
    assert "CPU accelerator" in finding.message
    unasked = Hardware("this", "CPU", "cpu")
    assert check(fp16, native(hardware=(unasked,))) == []


def test_gpu_direct_storage_is_refused_off_cuda_since_it_exists():
    config = {"train_batch_size": 1, "aio": {"use_gds": True}}
    (finding,) = errors(config, native(hardware=(CPU,)))
    assert finding.rule == "DS032"
    assert finding.fix.apply(Document(json.dumps(config))).value["aio"] == {"use_gds": False}
    assert errors(config, native(hardware=(CARD["t4"],))) == []
    assert errors(config, native(hardware=(CPU,), deepspeed_version="0.14.5")) == []


def test_auto_bf16_waits_for_the_trainer():
    config = {"train_batch_size": 8, "bf16": {"enabled": "auto"}}
    assert check(config, Context(Integration.HF, hardware=(CARD["v100"],))) == []


# ------------------------------------------------------------------------------------ what is no error, and is said
def only(config, rule, context=NATIVE):
    (finding,) = check({"train_batch_size": 1, **config}, context, rule)
    return finding


def test_stage_3_that_saves_shards_alone_is_noted_with_a_fix():
    config = {"train_batch_size": 1, "zero_optimization": {"stage": 3}}
    finding = only(config, "DS049")
    assert finding.severity is Severity.NOTE
    assert check(repaired(config, finding), rule="DS049") == []
    assert check({"zero_optimization": {"stage": 2}}, rule="DS049") == []


def test_contiguous_checkpoints_need_two_more_keys():
    block = {"contiguous_memory_optimization": True, "partition_activations": True}
    finding = only({"activation_checkpointing": block}, "DS065")
    assert (finding.severity, finding.pointer) == (Severity.WARNING, "/activation_checkpointing/number_checkpoints")
    assert check({"activation_checkpointing": {**block, "number_checkpoints": 4}}, rule="DS065") == []


def test_a_pipeline_block_with_zero_2_is_warned_about():
    assert only({"pipeline": {}, "zero_optimization": {"stage": 2}}, "DS066").severity is Severity.WARNING
    assert check({"pipeline": {}, "zero_optimization": {"stage": 1}}, rule="DS066") == []


def test_a_file_without_an_optimizer_is_warned_about_natively_alone():
    config = {"zero_optimization": {"stage": 2}}
    assert "zero stage 2 requires an optimizer" in only(config, "DS054").message
    assert check(config, Context(Integration.HF), "DS054") == []


@pytest.mark.parametrize("block", ["offload_param", "offload_optimizer"])
def test_offload_that_a_lower_stage_does_not_do_as_written_is_warned_about(block):
    device = {"offload_param": "cpu", "offload_optimizer": "nvme"}[block]
    config = {"optimizer": {"type": "AdamW"}, "zero_optimization": {"stage": 2, block: {"device": device}}}
    assert only(config, "DS045").severity is Severity.WARNING


@pytest.mark.parametrize(
    "config", [{}, {"fp16": 3}, {"amp": None}, {"zero_optimization": []}, {"train_batch_size": "x"}, {"bf16": None}]
)
def test_no_shape_of_config_breaks_a_rule(config):
    for version in ("0.14.5", "0.19.8"):
        check(config, native(deepspeed_version=version, hardware=(CPU, CARD["v100"])))


def test_the_names_of_torch_nn_are_those_of_the_torch_that_is_installed():
    """Read from its source: importing torch takes seconds."""
    spec = importlib.util.find_spec("torch")
    modules = Path(spec.submodule_search_locations[0], "nn", "modules", "__init__.py").read_text("utf-8")
    offered = ast.literal_eval(modules.partition("__all__ = ")[2].partition("]")[0] + "]")
    assert set(offered) - set(torch_nn.NAMES) == set()


def test_the_headline_names_who_refuses_it(checker):
    comment = '{"zero_optimization": {"stage": "auto"}, "wall_clock_breakdown": "auto", "train_batch_size": "auto"}'
    by_trainer = checker.findings(Document(comment), Context(Integration.HF))
    assert refuser(by_trainer) == "The HF Trainer"
    with speaking("zh-CN"):
        assert refuser(by_trainer) == "HF Trainer"
    worse = comment.replace('"auto"}', '"auto", "bogus": 1}', 1)
    assert refuser(checker.findings(Document(worse), Context(Integration.HF))) == "DeepSpeed"


def test_a_text_for_a_switch_is_told_in_jsons_words(checker):
    config = {"train_micro_batch_size_per_gpu": "auto", "zero_optimization": {"stage": 1}, "fp16": {"enabled": "True"}}
    (unknown,) = errors(config, Context(Integration.HF))
    assert unknown.advice == "Write true without quotes, or “auto”."
    assert unknown.fix.apply(Document(json.dumps(config))).value["fp16"] == {"enabled": True}
    (known,) = errors(config, Context(Integration.HF, arguments=read_arguments("--fp16")))
    assert known.advice.startswith("Write “auto”") or "true without quotes" in known.advice
    assert "True without" not in known.advice


@pytest.mark.parametrize("old", ["stage3_gather_fp16_weights_on_model_save", "gather_16bit_weights_on_model_save"])
def test_an_old_name_of_the_gathering_counts(old):
    assert check({"zero_optimization": {"stage": 3, old: True}}, rule="DS049") == []


@pytest.mark.parametrize("release", ["0.14.5", "0.19.6"])
def test_a_one_bit_optimizer_is_never_allowed_with_zero(release):
    context = Context(Integration.NATIVE, deepspeed_version=release)
    config = {"zero_optimization": {"stage": 1}, "optimizer": {"type": "onebitadam", "params": {"lr": 0.001}}}
    for allowed in (True, False):
        (finding,) = check({**config, "zero_allow_untested_optimizer": allowed}, context, "DS053")
        assert (finding.severity, finding.fix) == (Severity.ERROR, None)


def test_a_file_without_an_optimizer_is_told_at_every_stage():
    told = ("the first training step", "zero stage 1", "zero stage 2", "the first backward")
    for stage, words in enumerate(told):
        (note,) = check({"zero_optimization": {"stage": stage}}, rule="DS054")
        assert words in note.message


@pytest.mark.parametrize("block", ["optimizer", "scheduler"])
def test_a_block_without_a_type_stops_the_trainer_and_goes_where_it_holds_nothing(block):
    """A type of null is none; natively the optimizer's is the script's own, and parameters of no scheduler are lost."""
    base = {"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 1}}

    def told(value: dict, reader: Integration) -> list[tuple[str, bool]]:
        found = rules.check({**base, block: value}, Context(reader))
        return [(one.severity.value, one.fix is not None) for one in found if one.pointer == f"/{block}/type"]

    for empty in ({}, {"type": None}, {"params": {}}):
        assert told(empty, Integration.HF) == [("error", True)]
        assert told(empty, Integration.NATIVE) == []
    assert told({"params": {"lr": 1}}, Integration.HF) == [("error", False)]
    lost = [("warning", False)] if block == "scheduler" else []
    assert told({"params": {"lr": 1}}, Integration.NATIVE) == lost


def test_a_word_is_offered_only_to_the_reader_that_fills_it(checker):
    config = Document('{"train_batch_size": 0, "zero_optimization": {"stage": 9}}')
    for reader, offered in ((Integration.HF, True), (Integration.NATIVE, False)):
        told = [f.message for f in checker.findings(config, Context(reader)) if f.rule == "DS001"]
        assert [("auto" in message) for message in told] == [offered] * 2


@pytest.mark.parametrize(
    ("key", "value", "runs"),
    [
        *(("gradient_clipping", True, True), ("gradient_clipping", False, True), ("steps_per_print", True, True)),
        *(("steps_per_print", False, False), ("gradient_predivide_factor", True, True)),
        *(("gradient_predivide_factor", False, False), ("gradient_predivide_factor", 0, False)),
    ],
)
def test_true_and_false_are_numbers_where_deepspeed_only_calculates(checker, key, value, runs):
    """Seen with DeepSpeed 0.19.8, two steps on one rank each."""
    config = {"train_batch_size": 8, "optimizer": {"type": "AdamW", "params": {"lr": 0.001}}, key: value}
    assert checker.has_error(Document(json.dumps(config)), NATIVE) is not runs


AUTO, ON, OFF = {"enabled": "auto"}, {"enabled": True}, {"enabled": False}


def with_arguments(words, config, **fields):
    """The errors and warnings of a config for the HF Trainer, given a script's arguments."""
    context = Context(Integration.HF, gpus_per_node=2, arguments=from_command_line(words), **fields)
    config = {"train_micro_batch_size_per_gpu": "auto", "zero_optimization": {"stage": 2}, **config}
    return [finding for finding in check(config, context) if finding.severity is not Severity.NOTE]


@pytest.mark.parametrize("blocks", [{}, {"bf16": AUTO}, {"fp16": AUTO, "bf16": AUTO}, {"bf16": ON}, {"fp16": OFF}])
def test_two_arguments_that_exclude_each_other_are_one_cause_and_one_finding(blocks):
    """It was told in four rows, with four pieces of advice."""
    (told,) = with_arguments("--bf16 --fp16", blocks)
    assert told.message.endswith("“At most one of fp16 and bf16 can be True, but not both”.")
    assert told.advice == "Leave one out."


@pytest.mark.parametrize(("words", "file"), [("--fp16", "bf16"), ("--bf16", "fp16")])
def test_another_type_in_the_file_than_in_the_arguments_is_one_finding(words, file):
    """“Pass --bf16” and “Leave out --fp16” each fail alone."""
    given = words.removeprefix("--")
    (told,) = with_arguments(words, {file: ON, given: OFF})
    assert told.message.startswith(f"{file} is on in the file, {given} by the arguments.")
    assert told.advice.startswith(f"Pass --{file} in place of {words},")
    fixed = told.fix.apply(Document(json.dumps({file: ON, given: OFF}))).value
    assert with_arguments(words, fixed) == []


@pytest.mark.parametrize(
    ("defaults", "said"),
    [({}, "8 by the HF Trainer’s default: no argument"), (BATCH_OF_4, "4 from the arguments.")],
)
def test_a_default_of_the_scripts_own_class_is_not_told_as_transformers(defaults, said):
    context = Context(Integration.HF, arguments=with_defaults(defaults))
    (told,) = check({"train_micro_batch_size_per_gpu": 2}, context, "DS013")
    assert f"2 in the file, {said}" in told.message


def test_both_types_in_the_file_are_no_argument_of_anybodys():
    told = with_arguments("--max_steps 5", {"fp16": ON, "bf16": ON})
    assert not any(" is on in the file, " in one.message for one in told)
    assert {"DS013", "DS020"} <= {one.rule for one in told}
    told = with_arguments("--bf16", {"fp16": ON, "bf16": ON})
    # With both in the arguments too it would be no better.
    assert not any("Pass --fp16" in str(one.advice) for one in told if one.rule == "DS013")


CPU_OF_BF16 = Hardware("cpu", "CPU", "cpu", bf16=True, fp16=False)
V100 = next(card for card in CARDS if card.id == "v100")


def test_a_device_without_fp16_is_told_once_for_t5():
    (told,) = with_arguments("--fp16 --model_name_or_path t5-small", {"fp16": AUTO}, hardware=(CPU_OF_BF16,))
    assert (told.rule, told.advice) == ("DS031", "Leave out --fp16.")


def test_t5_is_sent_to_no_type_that_the_device_lacks():
    (told,) = with_arguments("--fp16 --model_name_or_path t5-small", {"fp16": AUTO}, hardware=(V100,))
    assert told.advice == "Train in fp32: this device has no bf16. Leave out --fp16."


@pytest.mark.parametrize(
    ("words", "file", "advice"),
    [
        ("--model_name_or_path t5-small", ON, ""),
        ("--bf16 --model_name_or_path t5-small", AUTO, " Leave out --bf16."),
    ],
)
def test_t5_is_not_sent_to_fp16_by_a_card_without_bf16(words, file, advice):
    (told,) = (f for f in with_arguments(words, {"bf16": file}, hardware=(V100,)) if f.rule == "DS030")
    overflow = "Models of the T5 and T5 v1.1 family overflow in fp16: train in fp32 on this card, or use a newer card."
    assert told.advice == overflow + advice
    fixed = {} if told.fix is None else told.fix.apply(Document(json.dumps({"bf16": file}))).value
    assert fixed == ({} if advice else {"bf16": OFF})


@pytest.mark.parametrize(
    ("words", "seen", "advice"),
    [
        ("--learning_rate x", "--learning_rate: “x” was given; expected a number.", "Correct the argument."),
        ("--learning_rate 'x", "No closing quotation.", "Close the quote."),
    ],
)
def test_what_is_wrong_with_an_argument_and_what_to_do_are_said_once(words, seen, advice):
    (told,) = with_arguments(words, {})
    assert (told.message.endswith(seen), told.advice) == (True, advice)


@pytest.mark.parametrize("kind", [one for one in ARGUMENTS if one.startswith("torch.optim.")])
def test_the_parameters_of_torchs_optimizers_are_those_of_the_installed_release(kind: str) -> None:
    of_class = signature(getattr(torch.optim, kind.rpartition(".")[2])).parameters
    assert set(of_class) - {"params"} == ARGUMENTS[kind]
