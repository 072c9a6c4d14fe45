"""Rules and the real DeepSpeed agree: the same verdict, and the same numbers for solved batch terms."""

import itertools
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from dsgui.core import batch
from dsgui.core.context import Context, Integration
from dsgui.core.document import Document
from dsgui.core.findings import Severity

pytestmark = pytest.mark.deepspeed
ORACLE = Path(__file__).with_name("deepspeed_oracle.py")


def ask(questions):
    lines = "".join(json.dumps({"config": config, "world_size": n}) + "\n" for config, n in questions)
    done = subprocess.run([sys.executable, str(ORACLE)], input=lines, capture_output=True, text=True, timeout=300)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(questions), done.stderr[-2000:]
    return answers


def batch_questions():
    """Random batch terms, half of them made to fit, at world sizes 1 to 8."""
    chance = random.Random(7)
    for _ in range(400):
        world, micro, steps = chance.choice([1, 2, 3, 4, 8]), chance.randint(1, 9), chance.randint(1, 5)
        train = micro * steps * world if chance.random() < 0.6 else chance.randint(1, 80)
        terms = {
            "train_batch_size": train,
            "train_micro_batch_size_per_gpu": micro,
            "gradient_accumulation_steps": steps,
        }
        kept = chance.sample(sorted(terms), chance.randint(0, 3))
        yield {key: terms[key] for key in kept}, world


def precision_questions():
    """Every combination of precision blocks and ZeRO stages that the rules speak of."""
    blocks = [None, {"enabled": True}, {"enabled": False}, {"enabled": "auto"}, {"enabled": "true"}]
    for fp16, bf16, old, stage in itertools.product(blocks, blocks, [None, {"enabled": True}], [None, 0, 2]):
        config = {"train_batch_size": 8, "fp16": fp16, "bf16": bf16, "bfloat16": old}
        config = {key: value for key, value in config.items() if value is not None}
        yield (config if stage is None else {**config, "zero_optimization": {"stage": stage}}), 1
    for amp in ({"enabled": False}, {"enabled": True}, None):
        yield {"train_batch_size": 8, "amp": amp}, 1


def refused(checker, config, world_size):
    context = Context(Integration.NATIVE, gpus_per_node=world_size)
    findings = checker.findings(Document(json.dumps(config)), context)
    return [f.message for f in findings if f.severity is Severity.ERROR]


def test_the_same_batches_are_refused_and_solved_to_the_same_numbers(checker):
    questions = list(batch_questions())
    for (config, world_size), answer in zip(questions, ask(questions), strict=True):
        ours = refused(checker, config, world_size)
        assert bool(ours) == (answer["verdict"] == "reject"), (config, world_size, answer, ours)
        if answer["verdict"] == "ok":
            terms = (config.get(f) for f in ("train_batch_size", "train_micro_batch_size_per_gpu"))
            solved = batch.solve(*terms, config.get("gradient_accumulation_steps"), world_size)
            assert [solved.train, solved.micro, solved.accumulation] == answer["batch"]


def test_the_same_precision_blocks_are_refused(checker):
    questions = list(precision_questions())
    for (config, world_size), answer in zip(questions, ask(questions), strict=True):
        ours = refused(checker, config, world_size)
        assert bool(ours) == (answer["verdict"] == "reject"), (config, answer, ours)


def test_every_shown_field_that_is_a_number_is_refused_below_its_range(checker, schema):
    """What the schema calls out of range, DeepSpeed's pydantic blocks refuse too."""
    fields = [f for f in schema.fields.values() if f.model == "pydantic" and f.minimum is not None]
    questions = []
    for field in fields:
        document = Document('{"train_batch_size": 8}').set(field.pointer, str(int(field.minimum) - 1))
        questions.append((document.value, 1))
    assert questions
    for (config, world_size), answer in zip(questions, ask(questions), strict=True):
        assert answer["verdict"] == "reject", config
        assert refused(checker, config, world_size), config
