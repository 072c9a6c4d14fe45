"""docs/rules.md is what the rules and their examples make, and every rule is explained."""

import re

from differential.examples import examples
from dsgui.core import rules
from dsgui.core.config.context import version_tuple
from dsgui.core.config.findings import Finding, Severity
from dsgui.core.rules import by_key
from dsgui.core.texts.saying import as_told
from dsgui.ui.common.findings_view import finding_item, prose
from scripts.rules_reference import PAGE, reference
from tests.support.cases import each_case


def unexplained(every):
    """A sentence is what ends with a full stop; a rule says two to five. `every`: (id, title, explanation)."""
    sentences = {rule: len(re.findall(r"[.!?](?:\s|$)", explanation)) for rule, _, explanation in every}
    return [rule for rule, title, _ in every if not (title and 2 <= sentences[rule] <= 5)]


def test_the_page_is_what_the_rules_make():
    assert PAGE.read_text("utf-8") == reference(examples()), "run make docs"


def test_every_rule_is_explained_and_has_both_examples_on_the_page():
    page = PAGE.read_text("utf-8")
    assert unexplained([(rule.id, rule.title, rule.explanation) for rule in rules.EXPLAINED.values()]) == []
    assert all(rule.source for rule in rules.EXPLAINED.values())
    assert page.count("\n## DS") == len(rules.EXPLAINED)
    assert page.count("\nBad (") == page.count("\nGood (") == len(rules.EXPLAINED.keys() - by_key.COMPARING)


def test_a_rule_without_an_explanation_is_found():
    assert unexplained([("DS010", "Batch-size identity", "Too short.")]) == ["DS010"]


@each_case("rule", rules.EXPLAINED.values(), ids=lambda rule: rule.id)
def test_a_rule_names_releases_and_severities_that_make_sense(rule):
    assert all(version_tuple(release) for release in (rule.since, rule.until) if release)
    assert rule.severities
    assert not (rule.since and rule.until) or version_tuple(rule.since) < version_tuple(rule.until)


def test_ids_are_given_once():
    ids = [rule.id for rule in (*by_key.RULES, *rules.RULES)]
    assert len(ids) == len(set(ids))


def test_the_page_shows_what_a_rule_means_behind_its_id():
    rule = rules.EXPLAINED["DS010"]
    item = finding_item(Finding("DS010", Severity.ERROR, "/train_batch_size", as_told("train_batch_size: 3 is not 4.")))
    assert f'<summary title="{rule.title}"' in item
    assert prose(rule.explanation) in item
    assert "<details" not in finding_item(Finding("DS999", Severity.NOTE, "", as_told("from elsewhere")))
