#!/usr/bin/env python
"""Writes docs/rules.md from the rules and their examples: `make docs`. A test fails when the page is not what this
makes."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from differential.examples import Example, examples  # noqa: E402
from dsgui.commands.rules import span  # noqa: E402
from dsgui.core import rules  # noqa: E402
from dsgui.core.rules.base import Rule  # noqa: E402

PAGE = ROOT / "docs" / "rules.md"
HEAD = """# The rules

Generated from the rules and from `tests/examples` by `make docs`; edit those, not this page. `python -m dsgui rules
DS012` prints one section. An *error* means that DeepSpeed stops; a *warning*, that it runs but probably not as
intended; a *note* is good to know. The rules cover releases 0.14.5 to 0.19.8. Each example was tried with the real
DeepSpeed of the releases it names ([rule-matrix.md](rule-matrix.md)).

"""
WRITTEN = {"DS018", "DS019"}  # what their examples show is how they are written
_READERS = {"native": "native DeepSpeed", "hf": "the HF Trainer"}
_STAGES = {
    "trainer": "the HF Trainer stops before DeepSpeed starts",
    "parse": "stops while the file is read",
    "initialize": "stops at `deepspeed.initialize`",
    "step": "stops at a step",
    "": "DeepSpeed accepts it",
}


def reference(every: Sequence[Example]) -> str:
    """The whole page."""
    contents = "".join(f"- [{rule.id}](#{rule.id.lower()}) {rule.title}\n" for rule in rules.EXPLAINED.values())
    return HEAD + contents + "".join(_section(rule, every) for rule in rules.EXPLAINED.values())


def _section(rule: Rule, every: Sequence[Example]) -> str:
    mine = [example for example in every if example.rule == rule.id]
    bad = next((example for example in mine if not example.valid), None)
    good = next((example for example in mine if example.valid), None)
    facts = f"{', '.join(severity.value for severity in rule.severities)} · {span(rule)} · {rule.source}"
    parts = [f"\n## {rule.id}\n\n**{rule.title}**\n\n{rule.explanation}\n\n*{facts}*\n"]
    parts += [_shown("Bad", bad)] if bad else []
    parts += [_shown("Good", good)] if good else []
    return "".join(parts)


def _shown(word: str, example: Example) -> str:
    ranks = example.question.world_size
    around = f"{_READERS[example.question.reader]}, {ranks} rank{'s' if ranks > 1 else ''}{_releases(example)}"
    outcome = "" if example.valid else f"; {example.severity.value}: {_STAGES[example.stage]}"
    return f"\n{word} ({around}{outcome}):\n\n```json\n{_compact(example)}\n```\n"


def _releases(example: Example) -> str:
    since, until = (example.content.get("deepspeed_versions", {}).get(end, "") for end in ("since", "until"))
    return (f", from {since}" if since else "") + (f", before {until}" if until else "")


def _compact(example: Example) -> str:
    """A line for each top-level key; as it is written where that is the point."""
    if "text" in example.content and example.rule in WRITTEN:
        return example.text.replace("\ufeff", "\\ufeff")
    config: dict[str, Any] = json.loads(example.text)
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in config.items())
    return f"{{\n{lines}\n}}"


if __name__ == "__main__":
    PAGE.write_text(reference(examples()), "utf-8")
