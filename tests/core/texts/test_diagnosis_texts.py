"""Every signature has its texts in the catalogue, every such text is said, and its places are filled."""

import ast
import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from string import Formatter
from textwrap import dedent

import pytest

from dsgui.core.diagnosis.diagnosis import Diagnosis
from dsgui.core.diagnosis.remedies import has_address_limit, is_above, is_package_above
from dsgui.core.diagnosis.signatures import SIGNATURES, Signature, Where
from dsgui.core.texts.english import TEXTS
from tests.core.diagnosis.test_diagnosis import SAMPLES, diagnosed, of_lines
from tests.core.texts.test_texts import all_said
from tests.support.cases import each_case

KINDS = ("diagnosis_titles", "diagnosis_meanings", "diagnosis_advice", "diagnosis_parts")


def codes_of(one: Signature) -> Iterator[tuple[str, str]]:
    """Kind and code of each text of a row."""
    yield from zip(("diagnosis_titles", "diagnosis_meanings"), one.codes, strict=True)
    yield from (("diagnosis_advice", code) for code in one.advice)


def filled_by(one: Signature) -> set[str]:
    """What a row can fill places with: the groups of its pattern and what `tells` names."""
    groups = set() if one.where is Where.KILLED else set(re.compile(one.pattern).groupindex)
    told = ast.walk(ast.parse(dedent(inspect.getsource(one.tells)))) if one.tells else ()
    named = {str(node.value) for node in told if isinstance(node, ast.Constant)}
    above = {"above", "path"}
    held = {has_address_limit: {"limit"}, is_above: above, is_package_above: above}
    return groups | named | next((names for when, names in held.items() if one.when is when), set())


def wrong_in(rows: tuple[Signature, ...]) -> list[tuple[str, str, str]]:
    """Texts of a row that are not there, or have a place that it does not fill."""
    found = []
    for one in rows:
        for kind, code in codes_of(one):
            text = TEXTS[kind].get(code)
            places = {name for _, name, _, _ in Formatter().parse(text or "") if name}
            if text is None or not places <= filled_by(one):
                found.append((one.id, kind, code))
    return found


def test_every_signature_has_its_texts_and_fills_their_places() -> None:
    assert wrong_in(SIGNATURES) == []
    assert len(SIGNATURES) > 70


def test_a_signature_without_its_texts_or_with_an_open_place_is_seen() -> None:
    row = next(one for one in SIGNATURES if one.id == "disk-full")
    assert wrong_in((replace(row, id="no-such-id"),)) == [
        ("no-such-id", "diagnosis_titles", "no_such_id"),
        ("no-such-id", "diagnosis_meanings", "no_such_id"),
    ]
    assert wrong_in((replace(row, title="unknown_key", advice=("no_such", "resume_on_ranks")),)) == [
        ("disk-full", "diagnosis_titles", "unknown_key"),
        ("disk-full", "diagnosis_advice", "no_such"),
        ("disk-full", "diagnosis_advice", "resume_on_ranks"),
    ]


def test_every_text_of_the_diagnosis_is_said() -> None:
    used = {use for one in SIGNATURES for use in codes_of(one)} | {(kind, code) for _, kind, code, _ in all_said()}
    assert [(kind, code) for kind in KINDS for code in TEXTS[kind] if (kind, code) not in used] == []


@each_case("name", SAMPLES)
def test_no_sentence_of_a_diagnosis_is_without_a_code(name: str) -> None:
    """But for what was raised, where nothing else is known of a failure."""
    found = diagnosed(name)
    assert found.title.kind == "diagnosis_titles"
    assert found.meaning.kind == "diagnosis_meanings" or found.signature == "unknown"
    assert {one.kind for one in found.advice} == {"diagnosis_advice"}


def test_a_kept_diagnosis_is_told_by_its_codes() -> None:
    """In the words of today, or of another language, not in those it was written in."""
    found = of_lines([], code=247, oom_kills=1, oom_kills_here=1, memory_limit_bytes=2 << 30)
    kept = json.loads(json.dumps(found.to_json()))
    kept |= {"title": "in other words", "meaning": "in other words", "advice": ["in other words"] * len(found.advice)}
    assert Diagnosis.from_json(kept) == found
    assert "2 GiB" in str(found.title)


OLD = {"signature": "killed", "title": "It was killed", "meaning": "By the kernel.", "advice": ["Look.", "Wait."]}


@pytest.mark.parametrize(
    "codes",
    [
        None,
        "a text",
        {"title": "a text", "meaning": ["a list"], "advice": {"a": "mapping"}},
        {"title": {"code": "no_such"}, "meaning": {"kind": "no_such", "code": "killed"}, "advice": [{"code": 3}]},
        {"title": {"code": "unknown_key"}, "meaning": {"code": "killed", "given": 3}, "advice": [None, None]},
    ],
)
def test_a_diagnosis_under_no_codes_known_here_keeps_its_words(codes: object) -> None:
    """One of a dsgui before there were codes, of a later one, or damaged."""
    found = Diagnosis.from_json(OLD | ({} if codes is None else {"said": codes}))
    told = found.to_json()
    assert {name: told[name] for name in OLD} == OLD
    assert Diagnosis.from_json(json.loads(json.dumps(told))) == found
