"""`python -m dsgui rules`: what a rule means, without the page."""

import pytest

from dsgui.cli import main
from dsgui.core import rules


def test_one_rule_is_explained_with_its_releases_and_source(capsys):
    assert main(["rules", "ds025"]) == 0
    out = capsys.readouterr().out
    rule = rules.EXPLAINED["DS025"]
    assert out.startswith(f"DS025  {rule.title}\n")
    assert " ".join(rule.explanation.split()) in " ".join(out.split())
    assert f"(error; releases from {rule.since}; {rule.source})" in out


def test_without_an_id_every_rule_is_listed_in_order(capsys):
    assert main(["rules"]) == 0
    ids = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert ids == sorted(rules.EXPLAINED)


@pytest.mark.parametrize("rule_id", ["DS999", "batch"])
def test_an_id_that_no_rule_has_is_told_on_stderr(capsys, rule_id):
    assert main(["rules", "DS010", rule_id]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert rule_id.upper() in err
    assert "Ids run from DS001 to" in err
