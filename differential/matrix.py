"""docs/rule-matrix.md: in which releases each rule is verified by the real DeepSpeed."""

from collections.abc import Sequence

from differential.examples import Example, Verdicts
from differential.oracle import ROOT
from dsgui.core import rules
from dsgui.core.config.context import RELEASES, version_tuple
from dsgui.core.rules.base import Rule
from dsgui.core.rules.by_key import COMPARING

PAGE = ROOT / "docs" / "rule-matrix.md"
_HEAD = """# Which rule is verified in which release

Made by `make matrix`, which asks the real DeepSpeed of each release about `tests/examples`. **✓**: a config that breaks
the rule is refused there (or, where the rule only warns, is accepted as the rule says), and a config that keeps it is
accepted. **✗**: only the one that breaks it could be shown. **–**: the rule does not hold in that release. A rule
without a mark in a release that it holds for was not verified there.

"""


def page(every: Sequence[Example], known: Verdicts) -> str:
    """The whole page."""
    head = f"| rule | | {' | '.join(RELEASES)} |\n|---|---|{'---|' * len(RELEASES)}\n"
    return (
        _HEAD
        + head
        + "".join(_row(rule, every, known) for rule in rules.EXPLAINED.values() if rule.id not in COMPARING)
    )


def _row(rule: Rule, every: Sequence[Example], known: Verdicts) -> str:
    marks = (_mark(rule, release, every, known) for release in RELEASES)
    return f"| {rule.id} | {rule.title} | {' | '.join(marks)} |\n"


def _mark(rule: Rule, release: str, every: Sequence[Example], known: Verdicts) -> str:
    if not holds(rule, release):
        return "–"
    shown = [e for e in every if e.rule == rule.id and e.claims(release) and confirmed(e, release, known)]
    if not any(not example.valid for example in shown):
        return " "
    return "✓" if any(example.valid for example in shown) else "✗"


def holds(rule: Rule, release: str) -> bool:
    """Whether the rule is about DeepSpeed `release`."""
    this = version_tuple(release)
    return version_tuple(rule.since) <= this and not (rule.until and this >= version_tuple(rule.until))


def confirmed(example: Example, release: str, known: Verdicts) -> bool:
    """Whether `release` did what the example says: stopped at its stage, or came through. With the Trainer's arguments
    it is asked anew in each test run."""
    if example.is_for_the_trainer:
        return example.claims(release)
    answer = known.of(example, release)
    if answer is None or example.content.get("unverified"):
        return False
    if example.valid or not example.stage:
        return answer.verdict == "ok"
    return answer.verdict == "reject" and answer.stage == example.stage
