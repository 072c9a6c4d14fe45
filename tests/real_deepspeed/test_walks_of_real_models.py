"""What the memory model takes a model for is what transformers' class is: its parameters, the order of its calls, and
the bytes that are alive in a forward and a backward."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dsgui.core.memory.question import Lora, Model, Workload
from dsgui.core.memory.walk import Walk
from dsgui.core.memory.walking import walk_of
from tests.support.memory.model_configs import REAL, SMALL
from tests.support.memory.walk_peaks import peaks_beside_fake_tensors

pytestmark = pytest.mark.deepspeed
# What transformers' classes do is asked once for each thing said here: they are the same until the release changes.
ORACLE = Path(__file__).parents[1] / "support" / "memory" / "training_oracle.py"
CLOSE = 0.02  # of the bytes that the fake tensors had; most are within 0.001


def asked(questions):
    """The real answers, one process for all questions."""
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    done = subprocess.run([sys.executable, ORACLE], input=lines, capture_output=True, text=True, timeout=600)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(questions), done.stderr[-2000:]
    return answers


PROGRAM = ORACLE.read_text("utf-8")


def walked(config, **workload):
    walk = walk_of(Model("it", config), Workload(**workload), "bf16")
    assert isinstance(walk, Walk)
    return walk


# Keys that change which weights there are, and that no real model here has.
KEYS = ("stablelm, beside each other", "starcoder2, wide heads")
WEIGHED = REAL | {name: (SMALL[name], None) for name in KEYS}


@pytest.fixture(scope="module")
def real_weights():
    return dict(zip(WEIGHED, asked([{"weights": config} for config, _ in WEIGHED.values()]), strict=True))


@pytest.mark.parametrize("name", WEIGHED)
def test_each_parameter_is_the_one_of_the_real_class(confirmed, request, name):
    config, count = WEIGHED[name]
    weights = walked(config).weights()
    said = {one.name: [one.numel, one.decays] for one in weights.values()}

    def agrees():
        assert said == request.getfixturevalue("real_weights")[name]

    confirmed.check(f"the parameters of {name}", [config, said, PROGRAM], agrees)
    assert count in (None, sum(one.numel for one in weights.values()))


VARIANTS = {
    "sdpa": (("bf16", 1, 128, False), ("fp32", 2, 96, True)),
    "eager": (("bf16", 2, 96, False), ("fp16", 3, 64, True)),
}
CASES = [
    (name, {"batch": batch, "length": length, "checkpointing": again, "attention": attention, "dtype": dtype})
    for name in SMALL
    for attention, variants in VARIANTS.items()
    for dtype, batch, length, again in variants
    if not (name in ("gemma2", "bloom", "gptj") and attention == "sdpa")
]
LORA = {"rank": 8, "targets": ["q_proj", "v_proj"]}
CASES += [("llama", {"batch": 2, "length": 96, "checkpointing": again, "lora": LORA}) for again in (False, True)] + [
    ("t5", {"batch": 2, "length": 96, "target": 32}),
    ("t5", {"batch": 1, "length": 32, "target": 80}),
]


@pytest.fixture(scope="module")
def real_steps():
    questions = [case | {"config": SMALL[name]} for name, case in CASES]
    return dict(zip(map(str, CASES), asked(questions), strict=True))


@pytest.mark.parametrize("case", CASES, ids=lambda case: ", ".join([case[0], *map(str, case[1].values())]))
def test_what_is_alive_is_what_the_real_class_has_on_fake_tensors(confirmed, request, case):
    name, asked_for = case
    peaks = peaks_beside_fake_tensors(SMALL[name], **asked_for)

    def agree():
        real = request.getfixturevalue("real_steps")[str(case)]
        assert peaks == pytest.approx((real["kept"], real["forward"], real["backward"]), rel=CLOSE)

    confirmed.check(f"what is alive in {name}", [SMALL[name], asked_for, peaks, CLOSE, PROGRAM], agree)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("again", [False, True])
def test_modules_are_called_in_the_order_of_the_real_class(confirmed, request, name, again):
    case = next(case for case in CASES if case[0] == name and case[1].get("checkpointing") is again)
    workload = {"micro_batch": case[1]["batch"], "length": case[1]["length"], "checkpointing": again}
    calls = [unit.name for unit in walked(SMALL[name], attention=case[1]["attention"], **workload).units() if unit.call]

    def agree():
        assert calls == request.getfixturevalue("real_steps")[str(case)]["calls"][: len(calls)]

    confirmed.check(f"the calls in {name}", [SMALL[name], case[1], calls, PROGRAM], agree)


def test_lora_trains_its_adapters_only():
    weights = walked(SMALL["llama"], lora=Lora(8, ("q_proj", "v_proj"))).weights().values()
    trained = [weight for weight in weights if weight.trainable]
    assert {weight.name.rpartition(".")[0].rpartition(".")[0].rpartition(".")[2] for weight in trained} == {
        "lora_A",
        "lora_B",
    }
    assert sum(weight.numel for weight in trained) == 4 * 2 * 8 * (256 + 256)
