"""Each rule holds what its examples show, and what they show is what the real DeepSpeed of every release did.

A new case is a new file; its keys are described in `differential/examples.py`. The verdicts of the real DeepSpeed are
read from examples/verdicts.json, which `make matrix` writes.
"""

import pytest

from differential import oracle
from differential.examples import Verdicts, examples
from differential.matrix import PAGE, confirmed, holds, page
from dsgui.core import rules
from dsgui.core.config.context import LATEST_KNOWN, RELEASES
from dsgui.core.config.findings import Severity
from dsgui.core.rules.by_key import COMPARING
from tests.support.cases import each_case

EXAMPLES = examples()
VERDICTS = Verdicts()
every_example = each_case("example", EXAMPLES, ids=lambda example: example.name.removesuffix(".json"))
# What only a GPU, or a machine without libaio, shows: verified in test_machine_rules.py.
ON_A_GPU = {"DS034", "DS035"}
INVALID = [example for example in EXAMPLES if not example.valid]
VALID = [example for example in EXAMPLES if example.valid]
every_invalid = each_case("example", INVALID, ids=lambda example: f"{example.rule}-{example.path.stem}")
every_valid = each_case("example", VALID, ids=lambda example: f"{example.rule}-{example.path.stem}")


def found(checker, example, release):
    return example.findings(checker, release)


def errors(findings):
    return [finding.message for finding in findings if finding.severity is Severity.ERROR]


@every_invalid
def test_an_invalid_example_gets_the_finding_it_names(checker, example):
    for release in example.releases:
        findings = found(checker, example, release)
        assert (example.rule, example.severity) in [(f.rule, f.severity) for f in findings], release
        assert example.severity is Severity.ERROR or errors(findings) == [], release


@every_valid
def test_a_valid_example_gets_no_such_finding_and_no_error(checker, example):
    for release in example.releases:
        findings = found(checker, example, release)
        assert errors(findings) == [], release
        assert (example.rule, example.severity) not in [(f.rule, f.severity) for f in findings], release


@every_invalid
def test_a_fix_takes_its_own_finding_away(checker, example):
    context = example.context(example.releases[-1])
    for finding in checker.findings(example.document, context):
        if finding.fix:
            left = checker.findings(finding.fix.apply(example.document), context)
            assert (finding.rule, finding.pointer, finding.message) not in [
                (f.rule, f.pointer, f.message) for f in left
            ]


@every_example
def test_the_real_deepspeed_did_what_an_example_says(example):
    """Read from the table; a hash tells whether it is about the example as it stands."""
    if example.content.get("unverified") or example.is_for_the_trainer:
        return
    missing = [release for release in example.releases if VERDICTS.of(example, release) is None]
    assert missing == [], "run make matrix: the example is new or changed"
    wrong = {r: VERDICTS.of(example, r) for r in example.releases if not confirmed(example, r, VERDICTS)}
    assert wrong == {}


@every_example
def test_the_rules_agree_with_every_release_that_was_asked(checker, example):
    """Also where an example claims nothing: another rule may speak there, and has to be right."""
    differ = {}
    for release in RELEASES:
        answer = VERDICTS.of(example, release)
        if answer and answer.verdict in ("ok", "reject") and not depends_on_script(example):
            ours = errors(found(checker, example, release))
            if bool(ours) != (answer.verdict == "reject"):
                differ[release] = (answer.message, ours)
    assert differ == {}


def depends_on_script(example):
    """A warning that stops only for some scripts, and what only a GPU can show."""
    return bool(example.stage and example.severity is not Severity.ERROR) or "unverified" in example.content


def test_every_rule_has_a_verified_example_of_both_kinds():
    shown = {kind: {e.rule for e in kept if verified(e)} for kind, kept in (("invalid", INVALID), ("valid", VALID))}
    for kind, covered in shown.items():
        assert rules.EXPLAINED.keys() - covered == COMPARING | ON_A_GPU, kind


def verified(example):
    return any(confirmed(example, release, VERDICTS) for release in example.releases)


def test_every_severity_a_rule_can_have_is_shown():
    shown = {(example.rule, example.severity) for example in INVALID}
    wanted = {(rule.id, severity) for rule in rules.EXPLAINED.values() for severity in rule.severities}
    assert {(rule_id, severity) for rule_id, severity in wanted - shown if rule_id not in COMPARING} == set()


@every_invalid
def test_a_rule_speaks_only_in_the_releases_it_holds_for(checker, example):
    rule = rules.EXPLAINED[example.rule]
    for release in RELEASES:
        if not holds(rule, release):
            assert rule.id not in [finding.rule for finding in found(checker, example, release)], release


def test_the_matrix_is_what_the_examples_and_verdicts_make():
    assert PAGE.read_text("utf-8") == page(EXAMPLES, VERDICTS), "run make matrix"


@pytest.mark.deepspeed
@pytest.mark.skipif(oracle.installed() != LATEST_KNOWN, reason="the table has no column for this DeepSpeed")
def test_the_installed_deepspeed_still_says_what_the_table_says(confirmed):
    """The first invalid example of each rule, asked now: the table is no older than the environment."""
    first = {}
    for example in INVALID:
        unasked = example.is_for_the_trainer or "unverified" in example.content
        if example.claims(LATEST_KNOWN) and example.question.reader == "native" and not unasked:
            first.setdefault(example.rule, example)
    asked = list(first.values())
    table = {example.name: VERDICTS.of(example, LATEST_KNOWN) for example in asked}

    def agrees():
        answers = oracle.ask([example.question for example in asked])
        said = {example.name: answer.verdict for example, answer in zip(asked, answers, strict=True)}
        assert said == {name: known and known.verdict for name, known in table.items()}

    claim = [[example.key, known and known.verdict] for example, known in zip(asked, table.values(), strict=True)]
    confirmed.check("the table of verdicts", [claim, oracle.CHILD.read_text("utf-8")], agrees)
