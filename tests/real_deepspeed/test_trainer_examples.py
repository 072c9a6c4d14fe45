"""The examples that know the HF Trainer's arguments, put to the real Trainer, accelerate and DeepSpeed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from differential.examples import examples

TRAINER_ORACLE, PARSE_ORACLE = (
    Path(__file__).parents[1] / "support" / "oracles" / f"{name}_oracle.py" for name in ("trainer", "deepspeed")
)


def ask(oracle, questions):
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    done = subprocess.run(
        [sys.executable, str(oracle)],
        input=lines,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
        env=os.environ | {"MASTER_PORT": "0"},
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(questions), done.stderr[-2000:]
    return answers


@pytest.mark.deepspeed
def test_the_real_trainer_and_then_deepspeed_give_the_same_verdicts(confirmed):
    """Trainer and accelerate up to `deepspeed.initialize`, and what DeepSpeed reads in the config that gets there. A
    warning is about what runs."""
    known = [example for example in examples() if example.is_for_the_trainer]
    assert len(known) > 30
    expected = {example.name for example in known if example.valid or "severity" in example.content}

    def agree():
        handed = ask(TRAINER_ORACLE, [dict(example.content) for example in known])
        filled = [(e, answer["config"]) for e, answer in zip(known, handed, strict=True) if "config" in answer]
        questions = [{"config": config, "world_size": example.content["world_size"]} for example, config in filled]
        answers = ask(PARSE_ORACLE, questions)
        assert {e.name for (e, _), answer in zip(filled, answers, strict=True) if answer["verdict"] == "ok"} == expected

    asked = [[example.name, example.content] for example in known]
    programs = [oracle.read_text("utf-8") for oracle in (TRAINER_ORACLE, PARSE_ORACLE)]
    confirmed.check("the trainer's examples", [asked, sorted(expected), programs], agree)
