"""Every file in examples/invalid/<rule>/ gets an error of that rule, and no file in examples/valid/ gets any error.

A new case is a new file: {"reader": "native" or "hf", "world_size": n, "config": {…}}, with "deepspeed_version" where
the case is about another release than the newest, "arguments" (a mapping or a command line) where the HF Trainer's are
known, and "severity": "warning" where the rule warns.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dsgui.core import rules
from dsgui.core.arguments import from_mapping, read_arguments
from dsgui.core.context import LATEST_KNOWN, Context, Integration
from dsgui.core.document import Document
from dsgui.core.findings import Severity

EXAMPLES = Path(__file__).with_name("examples")
INIT_ORACLE, TRAINER_ORACLE, PARSE_ORACLE = (
    Path(__file__).with_name(f"{name}_oracle.py") for name in ("initialize", "trainer", "deepspeed")
)
# These need a second rank, a GPU or another package before DeepSpeed gets to its own check.
NOT_ASKED = {"DS020", "DS030", "DS047", "DS062", "DS063", "DS064"}


def collect(kind):
    return sorted((EXAMPLES / kind).glob("*/*.json"))


def read(path):
    example = json.loads(path.read_text("utf-8"))
    release = example.get("deepspeed_version", LATEST_KNOWN)
    given = example.get("arguments")
    arguments = from_mapping(given) if isinstance(given, dict) else None if given is None else read_arguments(given)
    context = Context(
        Integration(example["reader"]),
        gpus_per_node=example["world_size"],
        deepspeed_version=release,
        arguments=arguments,
    )
    return Document(json.dumps(example["config"])), context


def name(path):
    return f"{path.parent.name}-{path.stem}"


def as_severe(checker, path, severity=None):
    """The findings of the severity that the example is about, an error where it does not say."""
    document, context = read(path)
    severity = severity or Severity(json.loads(path.read_text("utf-8")).get("severity", "error"))
    return [finding for finding in checker.findings(document, context) if finding.severity is severity]


@pytest.mark.parametrize("path", collect("invalid"), ids=name)
def test_an_invalid_example_gets_an_error_of_its_rule(checker, path):
    assert path.parent.name in [finding.rule for finding in as_severe(checker, path)]


@pytest.mark.parametrize("path", collect("valid"), ids=name)
def test_a_valid_example_gets_no_error(checker, path):
    assert [finding.message for finding in as_severe(checker, path, Severity.ERROR)] == []


@pytest.mark.parametrize("path", collect("valid"), ids=name)
def test_a_valid_example_of_a_warning_gets_none(checker, path):
    assert path.parent.name not in [finding.rule for finding in as_severe(checker, path)]


@pytest.mark.parametrize("path", collect("invalid"), ids=name)
def test_a_fix_takes_its_own_finding_away(checker, path):
    document, context = read(path)
    for finding in checker.findings(document, context):
        if finding.fix:
            left = checker.findings(finding.fix.apply(document), context)
            assert (finding.rule, finding.pointer, finding.message) not in [
                (f.rule, f.pointer, f.message) for f in left
            ]


def test_every_rule_that_refuses_something_has_an_invalid_example():
    covered = {path.parent.name for path in collect("invalid")}
    elsewhere = {
        "DS030",
        "DS031",
        "DS032",
        "DS034",
        "DS035",
        "DS049",
        "DS054",
        "DS065",
        "DS066",
    }  # test_rules.py, test_machine_rules.py: hardware, or no errors
    assert {rule.id for rule in rules.RULES} - covered <= elsewhere


def can_be_asked(context):
    return context.integration is Integration.NATIVE and context.release == LATEST_KNOWN and context.world_size == 1


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
def test_the_real_trainer_and_then_deepspeed_give_the_same_verdicts():
    """Each example whose arguments are known: Trainer and accelerate up to `deepspeed.initialize`, and what DeepSpeed
    reads in the config that gets there. A warning is about what runs."""
    paths = [path for kind in ("valid", "invalid") for path in collect(kind)]
    examples = {path: json.loads(path.read_text("utf-8")) for path in paths}
    known = {path: example for path, example in examples.items() if "arguments" in example}
    handed = dict(zip(known, ask(TRAINER_ORACLE, known.values()), strict=True))
    configs = {path: answer["config"] for path, answer in handed.items() if "config" in answer}
    questions = [{"config": config, "world_size": known[path]["world_size"]} for path, config in configs.items()]
    parsed = dict(zip(configs, ask(PARSE_ORACLE, questions), strict=True))
    runs = {path for path, answer in parsed.items() if answer["verdict"] == "ok"}
    expected = {path for path in known if path.parent.parent.name == "valid" or "severity" in known[path]}
    assert len(known) > 30
    assert runs == expected


@pytest.mark.deepspeed
def test_the_real_deepspeed_gives_the_same_verdicts():
    """deepspeed.initialize on one CPU rank, for each native example that one rank can judge."""
    paths = [path for kind in ("valid", "invalid") for path in collect(kind)]
    asked = [path for path in paths if path.parent.name not in NOT_ASKED and can_be_asked(read(path)[1])]
    answers = ask(INIT_ORACLE, [json.loads(path.read_text("utf-8"))["config"] for path in asked])
    wrong = [
        (name(path), answer)
        for path, answer in zip(asked, answers, strict=True)
        if (answer == "ok") != (path.parent.parent.name == "valid")
    ]
    assert wrong == []
