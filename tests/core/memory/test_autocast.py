"""What `torch_autocast` adds to the formula. Whole trainings with it are among `dry_runs.jsonl`."""

import pytest

from dsgui.core.memory import operations as op
from dsgui.core.memory.answer import Component, Device, Moment, Place
from dsgui.core.memory.engines.casting import Casting, exchanged_narrow
from dsgui.core.memory.engines.gathering import Gathering, trace_of
from dsgui.core.memory.instant import answer, answer_on, engine_for, walk_for
from dsgui.core.memory.ledger import Ledger
from dsgui.core.memory.modules import Linears, Modules
from dsgui.core.memory.question import Group, Lora, Model, Question, Workload
from dsgui.core.memory.settings import class_of, settings_of
from dsgui.core.memory.tape import Tape
from dsgui.core.memory.walk import Block, Unit, Walk, Weight
from dsgui.core.memory.walking import read
from tests.support.cases import each_case

MIB = 1 << 20
SHAPE = {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 4096}
LLAMA = Model("llama", {"model_type": "llama", "hidden_size": 256, "intermediate_size": 512, **SHAPE})
GPT2 = Model("gpt2", {"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 512})
IN_BF16 = {"enabled": True, "dtype": "bfloat16"}
PRODUCT = Unit("up", (Weight("up.weight", MIB, of="linear"), Weight("up.bias", 512, of="linear")))
WORDS = Unit("words", (Weight("words.weight", MIB, of="embedding"),))
COPIES = 2 * MIB + 1024
OWN_LINEAR = {"stage": 3, "memory_efficient_linear": False}
OPTIMIZER = "/zero_optimization/offload_optimizer/device"


def asked(model=LLAMA, *, ranks=2, block=(), workload=None, **config):
    zero = {"reduce_bucket_size": 4 * MIB, **config.pop("zero", {})}
    given = {"zero_optimization": zero, "torch_autocast": IN_BF16 | dict(block), **config}
    return Question(model, given, workload or Workload(1, 64), Group(ranks), release="0.19.8")


def casting(**zero):
    ledger = Ledger()
    return Casting(ledger, settings_of({"torch_autocast": IN_BF16, "zero_optimization": zero})), ledger


def part(found, component, moment=Moment.BACKWARD):
    peak = next(one for one in found.of(Device.GPU) if one.moment is moment)
    return sum(one.count for one in peak.parts if one.component is component)


def test_a_cast_that_nothing_reads_again_goes_when_the_forward_ends():
    ours, ledger = casting()
    ours.forward(PRODUCT, keeps=False)
    ours.forward(PRODUCT, keeps=False)  # kept: not cast again
    ours.forward(WORDS, keeps=False)  # looked up, not multiplied
    assert ledger.now(Place.GPU) == COPIES
    ours.end_forward()
    assert ledger.now(Place.GPU) == 0


def test_a_cast_that_the_graph_reads_stays_until_its_backward():
    ours, ledger = casting()
    ours.forward(PRODUCT, keeps=True)
    ours.end_forward()
    assert ledger.now(Place.GPU) == COPIES
    ours.release(PRODUCT)
    assert ledger.now(Place.GPU) == 0


def test_a_recomputed_cast_is_not_kept_for_a_later_one():
    ours, ledger = casting()
    ours.forward(PRODUCT, keeps=True, again=True)
    assert ledger.now(Place.GPU) == COPIES
    ours.release(PRODUCT)
    assert ledger.now(Place.GPU) == 0


def test_the_linear_function_of_stage_3_keeps_no_casts():
    ours, ledger = casting(stage=3)
    ours.forward(PRODUCT, keeps=True)
    assert ledger.now(Place.GPU) == 0
    ours, ledger = casting(stage=3, memory_efficient_linear=False)
    ours.forward(PRODUCT, keeps=True)
    assert ledger.now(Place.GPU) == COPIES


def measured(linears, x_element):
    """A linear layer of 1024 × 1024 over 64 rows."""
    tape = Tape(lower="bf16")
    make = Modules({}, Workload(1, 64), 4, tape, linears)
    x = tape.operation((tape.wanting(tape.make(64 * 1024, x_element)),), 64 * 1024, x_element)
    with tape.call("around"):
        out = make.linear("up", x, 1024, 1024)
        tape.backward(op.cross_entropy(tape, out, make.tokens(64)))
    return next(unit for block in read(tape, 4).blocks for unit in block.units if unit.name == "up")


def test_the_linear_function_of_stage_3_keeps_what_it_reads_and_casts_for_itself():
    x, weight = 64 * 1024, 1024 * 1024
    usual, inside = (measured(Linears(lower="bf16", inside=inside), 4) for inside in (False, True))
    assert (usual.kept, inside.kept) == (2 * x, 4 * x)
    assert inside.kept + inside.forward == usual.kept + usual.forward + 2 * weight
    assert inside.kept + inside.backward == usual.kept + usual.backward + 2 * weight


def test_a_norm_of_narrow_queries_is_as_wide_as_its_weight():
    tape = Tape(lower="bf16")
    make = Modules({}, Workload(1, 64), 4, tape)
    with tape.call("around"):
        assert make.rms_norm("q_norm", tape.make(64 * 32, 2), 32).element == 4


def test_a_weight_that_is_sent_narrow_is_widened_when_it_arrives():
    walk = Walk((Block((PRODUCT,)),), 4)
    settings = settings_of(asked(zero={"stage": 3, "stage3_prefetch_bucket_size": 0}).config)
    ledger = Ledger()
    gathering = Gathering(ledger, trace_of(walk), settings, 2, 4, {"up.bias"}, frozenset({"up.weight"}))
    ledger.begin(Moment.FORWARD)
    gathering.reset()
    gathering.enter(PRODUCT)
    assert ledger.most(Place.GPU) == 6 * MIB
    assert ledger.now(Place.GPU) == 4 * MIB


def test_the_engine_gathers_nothing_narrow_on_one_rank():
    question = asked(ranks=1, zero={"stage": 3, "offload_param": {"device": "cpu"}})
    settings = settings_of(question.config)
    walk = walk_for(question, settings)
    assert engine_for(walk, settings, question.group).gathering.sent_narrow == frozenset()
    assert engine_for(walk, settings, Group(2)).gathering.sent_narrow == exchanged_narrow(walk, settings)


def test_a_bucket_is_cast_for_its_way_and_the_narrow_one_goes_first():
    model = Model("llama", {**LLAMA.config, "vocab_size": 64, "num_hidden_layers": 6})
    zero = {"stage": 2, "reduce_bucket_size": 16 * MIB, "offload_optimizer": {"device": "cpu"}}  # all wait in it
    question = asked(model, ranks=1, zero=zero, workload=Workload(1, 4, checkpointing=True))
    settings = settings_of(question.config)
    walk = walk_for(question, settings)
    narrow = sum(walk.weights()[name].numel for name in exchanged_narrow(walk, settings))
    engine = engine_for(walk, settings, question.group)
    assert [bucket.reduced for bucket in engine.buckets] == [2, 4]
    longest = max(weight.numel for weight in walk.weights().values())  # a buffer is as long, on its way to the host
    assert part(answer(question), Component.STAGING) == 2 * narrow + 4 * longest


def test_narrow_gradients_live_until_they_are_widened():
    ours, ledger = casting()
    weights = [*PRODUCT.weights, *WORDS.weights]
    ours.begin_backward(weights)
    assert ledger.now(Place.GPU) == COPIES
    ours.end_backward(weights)
    assert ledger.now(Place.GPU) == 0


@each_case(
    ("safe", "buckets"),
    [(None, 2), ([], 1), (["torch.nn.Linear"], 2), (["torch.nn.Conv2d"], 1)],
    ids=["default", "none", "linear", "of no use here"],
)
@each_case("stage", [1, 2])
def test_each_type_that_gradients_are_exchanged_in_has_a_bucket_in_fp32(stage, safe, buckets):
    block = {} if safe is None else {"lower_precision_safe_modules": safe}
    found = answer(asked(block=block, zero={"stage": stage}))
    assert part(found, Component.BUCKETS) == buckets * 4 * MIB * 4


def test_buckets_of_stage_3_are_as_wide_as_what_they_send():
    assert part(answer(asked(zero={"stage": 3})), Component.BUCKETS) == 4 * MIB * (2 + 4)


@pytest.mark.parametrize(
    ("tied", "safe", "narrow"),
    [(True, None, True), (False, None, False), (False, ["torch.nn.Embedding"], True), (True, [], False)],
)
def test_a_weight_is_exchanged_narrow_where_any_of_its_modules_is_safe(tied, safe, narrow):
    model = Model("llama", {**LLAMA.config, "tie_word_embeddings": tied})
    question = asked(model, block={} if safe is None else {"lower_precision_safe_modules": safe})
    settings = settings_of(question.config)
    found = exchanged_narrow(walk_for(question, settings), settings)
    assert ("model.embed_tokens.weight" in found) is narrow


def test_conv1d_of_transformers_is_exchanged_in_fp32_and_multiplied_narrow():
    question = asked(GPT2)
    settings = settings_of(question.config)
    walk = walk_for(question, settings)
    assert exchanged_narrow(walk, settings) == {"transformer.wte.weight"}  # the tied head
    unit = next(unit for unit in walk.units() if unit.name == "transformer.h.0.attn.c_attn")
    ours, ledger = casting(stage=3)
    ours.forward(unit, keeps=True)
    assert ledger.now(Place.GPU) > 0


@each_case("checkpointing", [False, True])
@each_case("model", [LLAMA, GPT2], ids=lambda model: model.name)
@each_case(
    "zero",
    [{"stage": 0}, {"stage": 1}, {"stage": 2}, {"stage": 3}, {"stage": 3, "memory_efficient_linear": False}],
    ids=str,
)
def test_a_step_gives_back_what_it_took(zero, model, checkpointing):
    question = asked(model, zero=zero, workload=Workload(1, 64, checkpointing=checkpointing))
    settings = settings_of(question.config)
    engine = engine_for(walk_for(question, settings), settings, question.group)
    engine.run()
    once = engine.alive()
    assert Component.ACTIVATIONS not in once
    engine.train()
    assert engine.alive() == once


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("torch.nn.Linear", "linear"),
        ("torch.nn.modules.linear.Linear", "linear"),
        ("torch.nn.Conv3d", ""),
        ("transformers.pytorch_utils.Conv1D", None),
        ("Linear", None),
        (7, None),
    ],
)
def test_a_named_class_is_known_or_not(name, expected):
    assert class_of(name) == expected


def nvme(block):
    return {"stage": 3, block: {"device": "nvme", "nvme_path": "/x"}}


@each_case(
    ("question", "code", "key"),
    [
        (asked(block={"dtype": "int8"}), "autocast_dtype", "/torch_autocast/dtype"),
        (asked(torch_autocast={"enabled": True}), "autocast_dtype", "/torch_autocast/dtype"),
        (
            asked(block={"lower_precision_safe_modules": ["torch.nn.Linear", "mine.Layer"]}),
            "autocast_classes",
            "/torch_autocast/lower_precision_safe_modules",
        ),
        (asked(workload=Workload(1, 64, lora=Lora(8, ("q_proj",)))), "no_autocast", "LoRA"),
        (asked(workload=Workload(1, 64, attention="flash_attention_2")), "no_autocast", "flash_attention_2"),
        (asked(bf16={"enabled": True}), "no_autocast", "/bf16/enabled"),
        (asked(optimizer={"type": "Muon", "params": {"lr": 0.1}}), "no_autocast", "/optimizer/type"),
        (asked(zero=nvme("offload_optimizer")), "no_autocast", OPTIMIZER),
        (asked(zero=nvme("offload_param")), "no_autocast", "/zero_optimization/offload_param/device"),
        (asked(communication_data_type="fp16"), "no_autocast", "/communication_data_type"),
        (asked(data_types={"grad_accum_dtype": "bf16"}), "no_autocast", "/data_types/grad_accum_dtype"),
        (
            asked(zero={"stage": 3, "zero_hpz_partition_size": 2}),
            "no_autocast",
            "/zero_optimization/zero_hpz_partition_size",
        ),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_what_has_no_case_is_said(question, code, key):
    found = answer(question)
    assert (found.why.code, dict(found.why.given)["key"]) == (code, key)


def test_ranks_on_the_cpu_have_no_case():
    """They cast by another table of operators."""
    question = asked()
    on_cpu = Question(question.model, question.config, question.workload, question.group, on_cpu=True)
    assert dict(answer(on_cpu).why.given)["key"] == "CPU"


def test_an_older_release_has_no_case():
    question = asked()
    older = Question(question.model, question.config, question.workload, question.group, release="0.19.7")
    assert dict(answer(older).why.given)["key"] == "DeepSpeed 0.19.7"


def test_no_plan_of_a_planner_is_one_that_has_no_case():
    """It has the walk already, and asks with other keys of ZeRO."""
    question = asked(zero=nvme("offload_optimizer"))
    walk = walk_for(question, settings_of(question.config))
    assert answer_on(walk, question).why.code == "no_autocast"


@pytest.mark.parametrize("stage", [0, 1, 2, 3])
def test_every_stage_has_less_to_keep_than_in_fp32_and_states_as_large(stage):
    work = Workload(4, 256)
    config = {"zero": {"stage": stage}, "workload": work}
    narrow, wide = (answer(asked(**config, **more)) for more in ({}, {"torch_autocast": {}}))
    kept = [part(found, Component.ACTIVATIONS, Moment.FORWARD) for found in (narrow, wide)]
    assert kept[0] < kept[1]
    states = [part(found, Component.MOMENTS, Moment.STEP) for found in (narrow, wide)]
    assert states[0] == states[1]
