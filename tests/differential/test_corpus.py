"""Real configs, and what the real DeepSpeed said of each: nothing is lost, no false error, no rejection missed.

The environment variable DSGUI_CORPUS names a folder of configs with their `verdicts.tsv` (see
`differential/corpus.py`); without it these tests are skipped.
"""

import os
from pathlib import Path

import pytest

from differential.corpus import Corpus
from dsgui.core.config.document import Document
from dsgui.core.errors import DocumentError

FOLDER = os.environ.get("DSGUI_CORPUS", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="DSGUI_CORPUS names no folder")
CORPUS = Corpus(Path(FOLDER), None if FOLDER else ())
every_file = pytest.mark.parametrize("name", CORPUS.files)


def document_of(name):
    """The config as the editor holds it; None where it is no strict JSON."""
    try:
        return Document(CORPUS.text(name))
    except DocumentError:
        return None


def told(row, saw):
    return f"DeepSpeed {row.version} {row.mode} on {row.world_size}: {row.verdict} {row.message} → {saw}"


def test_the_corpus_is_there():
    assert CORPUS.rows


@every_file
def test_no_file_that_deepspeed_accepts_gets_an_error(name):
    assert [told(row, errors) for row in CORPUS.of(name) if (errors := CORPUS.false_error(row))] == []


@every_file
def test_every_file_that_deepspeed_rejects_gets_an_error(name):
    missed = [row for row in CORPUS.of(name) if CORPUS.missed(row)]
    assert [told(row, "no error") for row in missed if not CORPUS.reason(row)] == []


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
