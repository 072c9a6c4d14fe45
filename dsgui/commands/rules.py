"""`dsgui rules`: the list of rules, or what some of them mean."""

import argparse
import sys

from dsgui.core import rules
from dsgui.core.rules.base import Rule
from dsgui.core.texts.columns import wrapped
from dsgui.core.texts.saying import listed, words

EXPLAINED, UNKNOWN = 0, 2
_WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rules`."""
    parser.add_argument("ids", nargs="*", metavar="ID", help=words("options", "rule_ids"))


def run(options: argparse.Namespace) -> int:
    """Prints the explanations, or the whole list."""
    wanted = [rule_id.upper() for rule_id in options.ids]
    unknown = [rule_id for rule_id in wanted if rule_id not in rules.EXPLAINED]
    if unknown:
        last = next(reversed(rules.EXPLAINED))
        print("dsgui: " + words("commands", "no_rule", rules=listed(unknown), last=last), file=sys.stderr)
        return UNKNOWN
    chosen = [rules.EXPLAINED[rule_id] for rule_id in wanted]
    texts = [explained(rule) for rule in chosen] or [_line(rule) for rule in rules.EXPLAINED.values()]
    print(("\n\n" if chosen else "\n").join(texts))
    return EXPLAINED


def _line(rule: Rule) -> str:
    return f"{rule.id}  {rule.title}"


def explained(rule: Rule) -> str:
    """Title, explanation, severities, releases and source of one rule."""
    severities = listed(words("commands", f"severity_{severity.value}") for severity in rule.severities)
    explanation = "\n".join(wrapped(rule.explanation, _WIDTH))
    facts = words("commands", "rule_facts", severities=severities, releases=span(rule), source=rule.source)
    return f"{_line(rule)}\n{explanation}\n{facts}"


def span(rule: Rule) -> str:
    """`every release`, `releases from 0.17.2`, `releases before 0.19.8`."""
    if rule.since and rule.until:
        return words("commands", "releases_between", since=rule.since, until=rule.until)
    if rule.since:
        return words("commands", "releases_since", since=rule.since)
    return words("commands", "releases_until", until=rule.until) if rule.until else words("commands", "releases")
