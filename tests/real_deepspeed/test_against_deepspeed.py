"""Rules and the real DeepSpeed agree: the same verdict, and the same numbers for solved batch terms.

`make test` draws the same configs each time and asks about those that are new or of which the rules say something new;
`make test-all` (DSGUI_SEARCH) draws others each time."""

import itertools
import json
import os
import random
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import asdict
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from differential.oracle import CHILD, Question, Resident
from dsgui.core.config import batch_size
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Severity

pytestmark = pytest.mark.deepspeed
ORACLE = Path(__file__).parents[1] / "support" / "oracles" / "deepspeed_oracle.py"
PROGRAM = ORACLE.read_text("utf-8")
# No example is found again or shrunk for long: each costs a real deepspeed.initialize.
BRIEF = [Phase.explicit, Phase.generate, Phase.shrink]
# `confirmed` keeps nothing of an example.
CHECKS = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
ALIKE = "DSGUI_SEARCH" not in os.environ


TERMS = ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps")


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


sizes, switches = st.integers(1, 12), st.booleans()
devices = st.sampled_from(["none", "cpu"])
precisions = st.fixed_dictionaries(
    {},
    optional={
        "fp16": st.fixed_dictionaries(
            {"enabled": switches},
            optional={
                "loss_scale": st.sampled_from([0, 128]),
                "initial_scale_power": st.integers(0, 20),
                "loss_scale_window": st.integers(-1, 2),
                "min_loss_scale": st.integers(-1, 2),
                "fp16_master_weights_and_grads": switches,
            },
        ),
        "bf16": st.fixed_dictionaries(
            {"enabled": switches},
            optional={"bf16_master_weights_and_grads": switches, "bf16_optimizer_states": switches},
        ),
        "torch_autocast": st.fixed_dictionaries({"enabled": switches}),
    },
)
zero_blocks = st.fixed_dictionaries(
    {"stage": st.integers(0, 3)},
    optional={
        "offload_optimizer": st.fixed_dictionaries(
            {"device": devices}, optional={"ratio": st.sampled_from([0.3, 1.0]), "pin_memory": st.just(False)}
        ),
        "offload_param": st.fixed_dictionaries({"device": devices}, optional={"pin_memory": st.just(False)}),
        "overlap_comm": switches,
        "reduce_scatter": switches,
        "contiguous_gradients": switches,
        "compute_grad_norm": switches,
        "allgather_bucket_size": st.sampled_from([1000, 1001]),
        "zero_quantized_gradients": st.just(False),
    },
)
top_level = st.fixed_dictionaries(
    {},
    optional={
        "gradient_clipping": st.sampled_from([0, 1.0]),
        "prescale_gradients": switches,
        "gradient_predivide_factor": st.sampled_from([1.0, 2.0]),
    },
)


@pytest.fixture(scope="module")
def parser():
    with ExitStack() as stack:
        yield cache(lambda: stack.enter_context(Resident(ORACLE)))


@pytest.fixture(scope="module")
def engine():
    with ExitStack() as stack:
        yield cache(lambda: stack.enter_context(Resident()))


@settings(max_examples=300, phases=BRIEF, database=None, derandomize=ALIKE, suppress_health_check=CHECKS)
@given(
    terms=st.lists(st.none() | sizes, min_size=3, max_size=3),
    fits=switches,
    world_size=st.sampled_from([1, 2, 3, 4, 8]),
    shared=st.none() | st.integers(1, 4),
)
def test_any_batch_terms_are_refused_alike_and_solved_to_the_same_numbers(
    checker, parser, confirmed, terms, fits, world_size, shared
):
    train, micro, steps = terms
    if fits and micro and steps:
        train = micro * steps * world_size
    named = zip(TERMS, (train, micro, steps), strict=True)
    config = {name: term for name, term in named if term is not None}
    if shared:
        config["sequence_parallel_size"] = shared
    ours = solved(checker, config, world_size)
    question = {"config": config, "world_size": world_size}

    def agrees():
        answer = parser().ask(question)
        assert ours == theirs(answer), (question, answer, ours)

    confirmed.check("drawn batch terms", [question, ours, PROGRAM], agrees)


def solved(checker, config, world_size):
    """The batch that dsgui solves; nothing where it refuses."""
    if refused(checker, config, world_size):
        return None
    ranks = batch_size.data_parallel_size(config, Context(Integration.NATIVE, gpus_per_node=world_size))
    batch = batch_size.solve(*(config.get(name) for name in TERMS), ranks)
    return [batch.train, batch.micro, batch.accumulation]


def theirs(answer):
    return None if answer["verdict"] == "reject" else answer["batch"]


@settings(
    max_examples=int(os.environ.get("DSGUI_EXAMPLES", 40)),
    phases=BRIEF,
    database=None,
    derandomize=ALIKE,
    suppress_health_check=CHECKS,
)
@given(
    precision=precisions,
    zero=st.none() | zero_blocks,
    rest=top_level,
    with_optimizer=switches,
    world_size=st.sampled_from([1, 2, 4]),
)
def test_any_precision_zero_and_offload_is_refused_alike_by_deepspeed_initialize(
    checker, engine, confirmed, precision, zero, rest, with_optimizer, world_size
):
    config = {"train_micro_batch_size_per_gpu": 2, **precision, **rest}
    config |= {"zero_optimization": zero} if zero is not None else {}
    config |= {"optimizer": {"type": "AdamW", "params": {"lr": 0.001}}} if with_optimizer else {}
    script = {"optimizer": "DeepSpeedCPUAdam"}  # which goes with every kind of offload
    question = Question(json.dumps(config), "native", world_size, script, until="initialize")
    ours = bool(refused(checker, config, world_size))

    def agrees():
        answer = engine().ask(asdict(question))
        judged = answer["verdict"] in ("ok", "reject")
        assert not judged or ours == (answer["verdict"] == "reject"), (config, world_size, answer, ours)

    confirmed.check("drawn precisions and ZeRO", [asdict(question), ours, CHILD.read_text("utf-8")], agrees)


def refused(checker, config, world_size):
    context = Context(Integration.NATIVE, gpus_per_node=world_size)
    findings = checker.findings(Document(json.dumps(config)), context)
    return [f.message for f in findings if f.severity is Severity.ERROR]


def test_the_same_batches_are_refused_and_solved_to_the_same_numbers(checker, confirmed):
    questions = list(batch_questions())
    ours = [solved(checker, config, world_size) for config, world_size in questions]

    def agree():
        for question, answer, mine in zip(questions, ask(questions), ours, strict=True):
            assert mine == theirs(answer), (question, answer, mine)

    confirmed.check("batch terms", [questions, ours, PROGRAM], agree)


def test_the_same_precision_blocks_are_refused(checker, confirmed):
    questions = list(precision_questions())
    ours = [bool(refused(checker, config, world_size)) for config, world_size in questions]

    def agree():
        for question, answer, mine in zip(questions, ask(questions), ours, strict=True):
            assert mine == (answer["verdict"] == "reject"), (question, answer, mine)

    confirmed.check("precision blocks", [questions, ours, PROGRAM], agree)


def test_every_shown_field_that_is_a_number_is_refused_below_its_range(checker, schema, confirmed):
    """What the schema calls out of range, DeepSpeed's pydantic blocks refuse too."""
    fields = [f for f in schema.fields.values() if f.model == "pydantic" and f.minimum is not None]
    questions = []
    for field in fields:
        document = Document('{"train_batch_size": 8}').set(field.pointer, str(int(field.minimum) - 1))
        questions.append((document.value, 1))
    assert questions
    for config, world_size in questions:
        assert refused(checker, config, world_size), config

    def refuses():
        for (config, _), answer in zip(questions, ask(questions), strict=True):
            assert answer["verdict"] == "reject", config

    confirmed.check("numbers below their range", [questions, PROGRAM], refuses)
