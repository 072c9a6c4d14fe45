"""Small configs with the real DeepSpeed's answer, put to `python -m dsgui validate` as files.

The environment variable DSGUI_RULE_CASES names a file of cases, one JSON object a line (mode, world_size, config or
text, verdict); without it these tests are skipped.
"""

import json
import os
from collections import defaultdict
from pathlib import Path

import pytest

from differential.corpus import validated
from dsgui.core.config.context import Context, Integration

SOURCE = os.environ.get("DSGUI_RULE_CASES", "")
pytestmark = pytest.mark.skipif(not SOURCE, reason="DSGUI_RULE_CASES names no file")
CASES = [json.loads(line) for line in Path(SOURCE).read_text("utf-8").splitlines()] if SOURCE else []
# The script's model decides these, which no file shows.
OF_THE_MODEL = {"opt_muon_perhead", "tp2_n2"}
# Parsed without complaint and refused by deepspeed.initialize: the same config is there with that mode, too.
REFUSED_LATER = {"grad_accum_bad", "opt_max_grad_norm_parse"}
# Of the text with a key that stands twice only the config is kept.
LOST_TEXT = {"txt_dup", "txt_dup_nested"}
# Where the script's optimizer or the Trainer's arguments decide, a note says so.
DEPENDS = {"DS054": "requires an optimizer", "DS013": "mismatch TrainingArguments"}


def context_of(case):
    reader = Integration.HF if case["mode"].startswith("hf") else Integration.NATIVE
    return Context(reader, gpus_per_node=case["world_size"])


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Case → its findings as printed; None where the file can't be read."""
    folder, grouped = tmp_path_factory.mktemp("cases"), defaultdict(list)
    for case in CASES:
        path = folder / f"{case['name']}.json"
        path.write_text(case.get("text", json.dumps(case.get("config"))), "utf-8")
        grouped[context_of(case)].append(path)
    return {path.stem: found for context, paths in grouped.items() for path, found in validated(paths, context).items()}


def judged(verdict, but):
    of_the_file = [case for case in CASES if case["mode"] != "pipe-init" and case["name"] not in but]
    return [case for case in of_the_file if case["verdict"] == verdict]


def errors(found):
    return ["unreadable"] if found is None else [f["rule"] for f in found if f["severity"] == "error"]


def test_there_are_cases():
    assert len(CASES) > 100


@pytest.mark.parametrize("case", judged("ok", REFUSED_LATER), ids=lambda case: case["name"])
def test_what_deepspeed_accepts_gets_no_error(told, case):
    assert errors(told.get(case["name"])) == []


@pytest.mark.parametrize("case", judged("reject", OF_THE_MODEL | LOST_TEXT), ids=lambda case: case["name"])
def test_what_deepspeed_refuses_gets_an_error(told, case):
    found = told.get(case["name"])
    depends = {rule for rule, words in DEPENDS.items() if words in case["answer"]}
    assert errors(found) or depends & {finding["rule"] for finding in found}, case["answer"]
