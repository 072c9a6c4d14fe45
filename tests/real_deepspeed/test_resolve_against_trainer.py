"""What dsgui says the HF Trainer passes to DeepSpeed is what the real Trainer and accelerate pass: the whole config,
and whether they stop before."""

import json
import os
import random
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from dsgui.core.config.arguments import from_mapping
from dsgui.core.config.context import Context
from dsgui.core.config.filling import fill
from dsgui.core.machine.hardware import CARDS

pytestmark = pytest.mark.deepspeed
ORACLE = Path(__file__).parents[1] / "support" / "oracles" / "trainer_oracle.py"
ROCM = next(card for card in CARDS if card.vendor == "amd")
QUESTIONS = 400


def asked(questions):
    """The real answers, one process for all questions."""
    done = subprocess.run(
        [sys.executable, str(ORACLE)],
        input="".join(json.dumps(question) + "\n" for question in questions),
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"MASTER_PORT": "0"},
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(questions), done.stderr[-2000:]
    return answers


# Values a key may have in a file, beside being absent: "auto", right and wrong ones, and ones of another type.
VALUES = {
    "/train_batch_size": ["auto", 8, 32, "8", None],
    "/train_micro_batch_size_per_gpu": ["auto", 8, 8.0, 2, "8", None, True],
    "/gradient_accumulation_steps": ["auto", 1, 4, True, "1", None],
    "/gradient_clipping": ["auto", 1.0, 1, 0.5, "1.0", None],
    "/steps_per_print": ["auto", 10],
    "/optimizer/type": ["AdamW"],
    "/optimizer/params/lr": ["auto", 5e-5, 1e-3, "5e-5"],
    "/optimizer/params/betas": ["auto", [0.9, 0.999], [0.8, 0.999], ["auto", 0.9]],
    "/optimizer/params/eps": ["auto", 1e-8],
    "/optimizer/params/weight_decay": ["auto", 0, 0.01],
    "/optimizer/params/torch_adam": [True, "auto"],
    "/scheduler/type": ["WarmupDecayLR"],
    "/scheduler/params/warmup_min_lr": ["auto", 1e-7],
    "/scheduler/params/warmup_max_lr": ["auto", 5e-5, 1e-3],
    "/scheduler/params/warmup_num_steps": ["auto", 0, 1, 10],
    "/scheduler/params/total_num_steps": ["auto", 100, 50.0],
    "/fp16/enabled": ["auto", True, False, "true"],
    "/fp16/loss_scale": [0],
    "/bf16/enabled": ["auto", True, False],
    "/bfloat16/enabled": [True],
    "/zero_optimization/stage": ["auto", 0, 2, 3, "3"],
    "/zero_optimization/reduce_bucket_size": ["auto", 5e8],
    "/zero_optimization/stage3_prefetch_bucket_size": ["auto", 1000],
    "/zero_optimization/stage3_param_persistence_threshold": ["auto"],
    "/zero_optimization/stage3_gather_16bit_weights_on_model_save": ["auto", True],
    "/zero_optimization/overlap_comm": [True],
    "/zero_optimization/offload_optimizer/device": ["auto", "cpu"],
    "/zero_optimization/offload_optimizer/nvme_path": ["auto", "/nvme"],
    "/zero_optimization/offload_param/device": ["auto"],
    "/checkpoint/tag_validation": ["Warn"],
    "/a.b": ["auto"],
}
# What a file may have where a block is expected.
INSTEAD = {
    "/zero_optimization": [None, True, False, "auto"],
    "/zero_optimization/offload_optimizer": [None, "cpu"],
    "/fp16": [None, "auto"],
    "/optimizer": [None],
    "/scheduler/params": [None],
    "/tensor_parallel": [None],
    "/checkpoint": [None],
}
ARGUMENTS = {
    "per_device_train_batch_size": [2, 8, 32],
    "gradient_accumulation_steps": [1, 4],
    "learning_rate": [1e-3],
    "adam_beta1": [0.8],
    "weight_decay": [0.01],
    "max_grad_norm": [0.5, 1],
    "warmup_steps": [0.1, 10],
    "max_steps": [50, 100],
    "fp16": [True],
    "bf16": [True],
    "fp16_full_eval": [True],
    "bf16_full_eval": [True],
    "save_on_each_node": [True],
}


def placed(config, pointer, value):
    *parents, last = pointer[1:].split("/")
    for part in parents:
        config = config.setdefault(part, {})
    config[last] = value


def random_config(chance):
    config = {"zero_optimization": {}} if chance.random() < 0.95 else {}
    for pointer, values in VALUES.items():
        if chance.random() < 0.4:  # mostly what is right, or few would come through
            placed(config, pointer, values[0] if chance.random() < 0.85 else chance.choice(values))
    for pointer in ("/optimizer", "/scheduler"):
        if chance.random() < 0.4:
            config.pop(pointer[1:], None)
    config.get("optimizer", {}).get("params", {}).pop("torch_adam" if chance.random() < 0.9 else "", None)
    config.pop("a.b" if chance.random() < 0.9 else "", None)
    if chance.random() < 0.1:
        pointer = chance.choice(sorted(INSTEAD))
        placed(config, pointer, chance.choice(INSTEAD[pointer]))
    return config


def random_question(chance):
    given = {name: chance.choice(values) for name, values in ARGUMENTS.items() if chance.random() < 0.2}
    if (given.get("fp16_full_eval") and given.get("bf16_full_eval")) or (given.get("fp16") and given.get("bf16")):
        given = {}
    ranks = chance.choice([1, 2, 8])
    return {"config": random_config(chance), "arguments": given, "world_size": ranks, "rocm": chance.random() < 0.1}


def ours(question, steps):
    context = Context(gpus_per_node=question["world_size"], hardware=(ROCM,) if question["rocm"] else ())
    arguments = from_mapping({**question["arguments"], "hidden_size": 64, "total_steps": steps})
    assert arguments.problems == ()
    filled = fill(question["config"], arguments, context)
    filled.config.pop("steps_per_print")
    return filled


def counted_steps(question):
    """What the Trainer counts for the oracle's 64 examples, dealt to the ranks, in 3 epochs."""
    batches = -(-64 // question["arguments"].get("per_device_train_batch_size", 8))
    batches = -(-batches // question["world_size"])
    return 3 * -(-batches // question["arguments"].get("gradient_accumulation_steps", 1))


@cache
def answered():
    """The questions, and what the real Trainer answers them."""
    return list(zip(questions(), asked(questions()), strict=True))


@cache
def questions():
    chance = random.Random(20)
    return [random_question(chance) for _ in range(QUESTIONS)]


@cache
def all_filled():
    """What dsgui answers them, in the same order."""
    return [ours(question, counted_steps(question)) for question in questions()]


def checks(confirmed, about, said, ask):
    """`said`: of each question, what dsgui says that `ask` compares."""
    confirmed.check(about, [questions(), [said(one) for one in all_filled()], ORACLE.read_text("utf-8")], ask)


def test_the_trainer_stops_where_dsgui_says_so(confirmed):
    def stops():
        wrong = [
            (question, answer.get("error"), filled.mismatches, filled.stops, filled.left)
            for (question, answer), filled in zip(answered(), all_filled(), strict=True)
            if filled.stopped != ("error" in answer)
        ]
        assert wrong == []
        assert 100 < sum("error" in answer for _, answer in answered()) < 400

    checks(confirmed, "where the trainer stops", lambda filled: filled.stopped, stops)


def test_what_reaches_deepspeed_is_the_same_config(confirmed):
    def is_the_same():
        for (question, answer), filled in zip(answered(), all_filled(), strict=True):
            assert answer.get("config", filled.config) == filled.config, question

    checks(confirmed, "what the trainer passes on", lambda filled: filled.config, is_the_same)


def test_every_mismatch_is_quoted_as_the_trainer_words_it(confirmed):
    def is_quoted():
        errors = [answer.get("error", "") for _, answer in answered()]
        differing = [(filled, error) for filled, error in zip(all_filled(), errors, strict=True) if "- ds " in error]
        assert len(differing) > 50
        for filled, error in differing:
            said = [mismatch.said for mismatch in filled.mismatches]
            assert said == [line for line in error.splitlines() if line.startswith("- ds ")]

    checks(confirmed, "how the trainer words it", lambda filled: [m.said for m in filled.mismatches], is_quoted)
