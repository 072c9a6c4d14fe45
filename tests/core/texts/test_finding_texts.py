"""Every finding says a code of the catalogue, and every code of it is said."""

import ast
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

from differential.examples import Example, examples
from dsgui.core import rules
from dsgui.core.config.context import RELEASES
from dsgui.core.config.findings import Finding
from dsgui.core.texts.english import TEXTS
from dsgui.core.texts.saying import Said
from dsgui.core.validation.checker import Checker
from dsgui.core.validation.migration import migration
from tests.support.sources import nodes_of, tree_of

CORE = Path(__file__).parents[3] / "dsgui" / "core"
CODE = re.compile(r"DS\d{3}\.[a-z][a-z0-9_]*\Z")
FOUND = ("advice", "fix", "source")  # what `found` takes beside what the texts leave open


@cache
def trees() -> dict[Path, ast.Module]:
    """The core's modules, parsed where a test asks for them and not by each worker that collects."""
    sources = (path for path in sorted(CORE.rglob("*.py")) if "texts" not in path.parts)
    return {path: tree_of(path) for path in sources}


def codes_in(nodes: Iterable[ast.AST]) -> set[str]:
    """What is written there and looks like a finding's code."""
    words = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return {word for word in words if CODE.match(word)}


def words_in(tree: ast.AST) -> set[str]:
    return {n.value for n in nodes_of(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def written() -> set[str]:
    return set().union(*(codes_in(nodes_of(tree)) for tree in trees().values()))


def places(kind: str, code: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(TEXTS[kind].get(code, "")) if name is not None}


def wrong_places(where: str, tree: ast.AST) -> list[tuple[str, int, list[str]]]:
    """Calls of `found` that give something else than the texts they can say leave open."""
    wrong = []
    for node in nodes_of(tree):
        if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "found" and len(node.args) > 2):
            continue
        given = {word.arg for word in node.keywords if word.arg and word.arg not in FOUND}
        advice = next((word.value for word in node.keywords if word.arg == "advice"), None)
        codes, named = codes_in(ast.walk(node.args[2])), words_in(advice) & set(TEXTS["advice"]) if advice else set()
        if not codes or None in {word.arg for word in node.keywords}:
            continue  # looked up in a table, or a clash's: the examples show them
        is_own = advice is None or isinstance(advice, ast.IfExp) or ast.unparse(advice) == "''"
        open_left = set().union(*(places("findings", code) for code in codes))
        open_left |= set().union(*(places("advice", code) for code in (*named, *(codes if is_own else ()))))
        if given != open_left:
            wrong.append((where, node.lineno, sorted(given ^ open_left)))
    return wrong


def unsayable(finding: Finding) -> list[str]:
    """What is wrong with a finding's texts."""
    told = []
    if finding.says.kind != "findings" or finding.code not in TEXTS["findings"]:
        told.append(f"no code: {finding.message}")
    elif not finding.code.startswith(finding.rule + "."):
        told.append(f"another rule's: {finding.rule} {finding.code}")
    for one in (finding.says, *finding.advises):
        if any(not isinstance(value, str | Said) for _, value in one.given):
            told.append(f"no text in a place of {one.code}")
        if one.kind == "plain" and finding.rule != "DS005":  # the schema has words of its own for what was removed
            told.append(f"no code: {one}")
        str(one)
    return told


def findings_of(checker: Checker, example: Example) -> Iterable[Finding]:
    for release in (RELEASES[0], *example.releases[-1:], RELEASES[-1]):
        yield from example.findings(checker, release)
    context = example.context(RELEASES[0])
    yield from migration(checker, example.document, context, RELEASES[-1]).findings


@pytest.fixture(scope="module")
def every_finding(checker: Checker) -> list[Finding]:
    return [finding for example in examples() for finding in findings_of(checker, example)]


def test_every_finding_of_the_examples_has_a_code_and_is_given_what_its_texts_leave_open(
    every_finding: list[Finding],
) -> None:
    assert [told for finding in every_finding for told in unsayable(finding)] == []


def test_the_examples_show_most_codes(every_finding: list[Finding]) -> None:
    """What is looked up in a table is given its places there, and seen here."""
    shown = {finding.code for finding in every_finding}
    assert len(shown) > 0.8 * len(TEXTS["findings"]), sorted(set(TEXTS["findings"]) - shown)


def test_every_code_that_is_written_is_there_and_every_code_that_is_there_is_written() -> None:
    known, said = set(TEXTS["findings"]) | set(TEXTS["advice"]), written()
    assert known >= said, "the catalogue has no such text"
    assert set(TEXTS["findings"]) <= said, "nobody says these"
    words = set().union(*map(words_in, trees().values()))
    assert {code for code in TEXTS["advice"] if code not in TEXTS["findings"]} <= words, "nobody advises these"


def test_what_a_finding_is_given_is_what_its_texts_leave_open() -> None:
    assert [one for path, tree in trees().items() for one in wrong_places(path.name, tree)] == []


def test_a_place_that_nobody_fills_is_seen() -> None:
    source = "found(e, p, 'DS003.left', advice='DS003.default' if f else 'DS003.left', key=k, nam=n, default=d)"
    assert wrong_places("x", ast.parse(source)) == [("x", 1, ["nam", "name"])]


def test_rules_and_findings_belong_together() -> None:
    assert set(TEXTS["rule_titles"]) == set(TEXTS["rule_explanations"]) == set(rules.EXPLAINED)
    asked = {"DS900", "DS901"}  # the real DeepSpeed's
    assert {code.partition(".")[0] for code in TEXTS["findings"]} == set(rules.EXPLAINED) | asked


def test_a_sentence_in_the_place_of_a_code_is_seen(every_finding: list[Finding]) -> None:
    one = every_finding[0]
    wrong = Finding(one.rule, one.severity, one.pointer, Said("plain", "text", (("text", "It is wrong."),)))
    assert unsayable(wrong)
