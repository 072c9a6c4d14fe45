"""Every file in examples/invalid/<rule>/ gets an error of that rule, and no file in examples/valid/ gets any error.

A new case is a new file: {"reader": "native" or "hf", "world_size": n, "config": {…}}, with "deepspeed_version" where
the case is about another release than the newest.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dsgui.core import rules
from dsgui.core.context import LATEST_KNOWN, Context, Integration
from dsgui.core.document import Document
from dsgui.core.findings import Severity

EXAMPLES = Path(__file__).with_name("examples")
INIT_ORACLE = Path(__file__).with_name("initialize_oracle.py")
# These need a second rank, a GPU or another package before DeepSpeed gets to its own check.
NOT_ASKED = {"DS020", "DS030", "DS047", "DS062", "DS063", "DS064"}


def collect(kind):
    return sorted((EXAMPLES / kind).glob("*/*.json"))


def read(path):
    example = json.loads(path.read_text("utf-8"))
    release = example.get("deepspeed_version", LATEST_KNOWN)
    context = Context(Integration(example["reader"]), gpus_per_node=example["world_size"], deepspeed_version=release)
    return Document(json.dumps(example["config"])), context


def name(path):
    return f"{path.parent.name}-{path.stem}"


def errors(checker, path):
    document, context = read(path)
    return [f for f in checker.findings(document, context) if f.severity is Severity.ERROR]


@pytest.mark.parametrize("path", collect("invalid"), ids=name)
def test_an_invalid_example_gets_an_error_of_its_rule(checker, path):
    assert path.parent.name in [finding.rule for finding in errors(checker, path)]


@pytest.mark.parametrize("path", collect("valid"), ids=name)
def test_a_valid_example_gets_no_error(checker, path):
    assert [finding.message for finding in errors(checker, path)] == []


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
        "DS013",
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


@pytest.mark.deepspeed
def test_the_real_deepspeed_gives_the_same_verdicts():
    """deepspeed.initialize on one CPU rank, for each native example that one rank can judge."""
    paths = [path for kind in ("valid", "invalid") for path in collect(kind)]
    asked = [path for path in paths if path.parent.name not in NOT_ASKED and can_be_asked(read(path)[1])]
    questions = "".join(json.dumps(json.loads(path.read_text("utf-8"))["config"]) + "\n" for path in asked)
    done = subprocess.run(
        [sys.executable, str(INIT_ORACLE)], input=questions, capture_output=True, text=True, timeout=400, check=False
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(asked), done.stderr[-2000:]
    wrong = [
        (name(path), answer)
        for path, answer in zip(asked, answers, strict=True)
        if (answer == "ok") != (path.parent.parent.name == "valid")
    ]
    assert wrong == []
