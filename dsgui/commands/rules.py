"""`dsgui rules`: the list of rules, or what some of them mean."""

import argparse
import sys
import textwrap

from dsgui.core import rules
from dsgui.core.rules.base import Rule

HELP = "explain the rules; exit 0, or 2 for an unknown id"
EXPLAINED, UNKNOWN = 0, 2
_WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rules`."""
    parser.add_argument("ids", nargs="*", metavar="ID", help="rules such as DS012 (default: a line for every rule)")


def run(options: argparse.Namespace) -> int:
    """Prints the explanations, or the whole list."""
    wanted = [rule_id.upper() for rule_id in options.ids]
    unknown = [rule_id for rule_id in wanted if rule_id not in rules.EXPLAINED]
    if unknown:
        last = next(reversed(rules.EXPLAINED))
        print(
            f"dsgui: no rule {', '.join(unknown)}. Ids run from DS001 to {last}; without one all are listed.",
            file=sys.stderr,
        )
        return UNKNOWN
    chosen = [rules.EXPLAINED[rule_id] for rule_id in wanted]
    texts = [explained(rule) for rule in chosen] or [_line(rule) for rule in rules.EXPLAINED.values()]
    print(("\n\n" if chosen else "\n").join(texts))
    return EXPLAINED


def _line(rule: Rule) -> str:
    return f"{rule.id}  {rule.title}"


def explained(rule: Rule) -> str:
    """Title, explanation, severities, releases and source of one rule."""
    facts = [", ".join(severity.value for severity in rule.severities), span(rule), rule.source]
    return f"{_line(rule)}\n{textwrap.fill(rule.explanation, _WIDTH)}\n({'; '.join(facts)})"


def span(rule: Rule) -> str:
    """`every release`, `releases from 0.17.2`, `releases before 0.19.8`."""
    ends = [f"from {rule.since}"] * bool(rule.since) + [f"before {rule.until}"] * bool(rule.until)
    return f"releases {' and '.join(ends)}" if ends else "every release"
