"""Real configs, and what the real DeepSpeed said of each: nothing is lost, no false error, no rejection missed.

The environment variable DSGUI_CORPUS names a folder of configs with their `verdicts.tsv` (file, version, mode,
world_size, verdict, message …); without it these tests are skipped.
"""

import csv
import os
from collections import defaultdict
from pathlib import Path

import pytest

from dsgui.core.context import Context, Integration
from dsgui.core.document import Document
from dsgui.core.errors import DocumentError
from dsgui.core.findings import Severity
from dsgui.core.loose_json import tidy

FOLDER = os.environ.get("DSGUI_CORPUS", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="DSGUI_CORPUS names no folder")
# What a mode that only parses lets pass and the same reader's `deepspeed.initialize` may still refuse.
GOES_FURTHER = {"parse": "init", "hf-parse": "hf-init"}


def rows():
    with (Path(FOLDER) / "verdicts.tsv").open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table, delimiter="\t"))


VERDICTS = defaultdict(list)
for row in rows() if FOLDER else ():
    VERDICTS[row["file"]].append(row)
every_file = pytest.mark.parametrize("name", sorted(VERDICTS))


def text_of(name):
    return (Path(FOLDER) / name).read_bytes().decode("utf-8")


def document_of(name):
    """The config as the editor holds it; None where it is no strict JSON."""
    try:
        return Document(text_of(name))
    except DocumentError:
        return None


def findings_of(checker, name, row):
    """Findings in the circumstances of `row`; None where the reader can't read the text at all."""
    hf = row["mode"].startswith("hf")
    context = Context(
        Integration.HF if hf else Integration.NATIVE,
        gpus_per_node=int(row["world_size"]),
        deepspeed_version=row["version"],
    )
    try:
        document = Document(text_of(name) if hf else tidy(text_of(name)).text)  # the Trainer reads strict JSON only
    except DocumentError:
        return None
    return checker.findings(document, context)


def errors_of(checker, name, row):
    found = findings_of(checker, name, row)
    return ["unreadable"] if found is None else [f.message for f in found if f.severity is Severity.ERROR]


def refused_later(row):
    further = GOES_FURTHER.get(row["mode"])
    return any(r["mode"] == further and r["verdict"] == "reject" for r in VERDICTS[row["file"]])


def is_warned_about(checker, name, row):
    """A file without an optimizer is right for a script that passes one, which DeepSpeed's verdict did not have."""
    return "DS054" in [finding.rule for finding in findings_of(checker, name, row) or ()]


def told(row, saw):
    return f"DeepSpeed {row['version']} {row['mode']} on {row['world_size']}: {row['verdict']} {row['message']} → {saw}"


def test_the_corpus_is_there():
    assert VERDICTS


@every_file
def test_no_file_that_deepspeed_accepts_gets_an_error(checker, name):
    accepted = [row for row in VERDICTS[name] if row["verdict"] == "ok" and not refused_later(row)]
    wrong = [told(row, errors) for row in accepted if (errors := errors_of(checker, name, row))]
    assert wrong == []


@every_file
def test_every_file_that_deepspeed_rejects_gets_an_error(checker, name):
    rejected = [row for row in VERDICTS[name] if row["verdict"] == "reject"]
    missed = [row for row in rejected if not errors_of(checker, name, row)]
    assert [told(row, "no error") for row in missed if not is_warned_about(checker, name, row)] == []


@every_file
def test_what_is_written_back_unedited_is_the_same_bytes(name):
    document = document_of(name)
    if document is None:
        pytest.skip("no strict JSON: import rewrites it")
    for pointer, literal in document.literals():
        document = document.set(pointer, literal)
    assert document.text.encode() == (Path(FOLDER) / name).read_bytes()


@every_file
def test_an_edit_changes_the_text_of_its_value_alone(name):
    document = document_of(name)
    if document is None:
        pytest.skip("no strict JSON: import rewrites it")
    for pointer, literal in document.literals():
        node = document.node(pointer)
        edited = document.set(pointer, '"another value"')
        assert edited.text == document.text[: node.start] + '"another value"' + document.text[node.end :]
        assert edited.set(pointer, literal).text == document.text
