#!/usr/bin/env python
"""Writes dsgui/ui/static/texts/catalogue.js, and catalogue.<tag>.js for each other language: the texts and the charts
that the browser shows, as core/texts and core/metrics/chart_table.py have them: `make docs`. A test fails when a file
is not what this makes."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from dsgui.core.metrics.chart_table import table_json  # noqa: E402
from dsgui.core.texts.english import TEXTS  # noqa: E402
from dsgui.core.texts.english.pages import PAGES  # noqa: E402
from dsgui.core.texts.languages import ENGLISH_TAG, LANGUAGES, catalogue_text, speaking  # noqa: E402

STATIC = ROOT / "dsgui" / "ui" / "static" / "texts"
HEAD = """// Made by `make docs` from core/texts/ and core/metrics/chart_table.py: change those and not this.

/* eslint max-len: "off" -- a text is one line */

/** @import { ChartKind, Spot } from "../types.d.ts" */

"""


def page(tag: str) -> Path:
    """The module in a language."""
    return STATIC / ("catalogue.js" if tag == ENGLISH_TAG else f"catalogue.{tag}.js")


def catalogue(tag: str) -> str:
    """The whole module."""
    with speaking(tag):
        return _spoken()


def _spoken() -> str:
    memory = (
        "memory_parts",
        "memory_about",
        "memory_moments",
        "memory_when",
        "memory_places",
        "memory_fits",
        "memory_rehearsal",
        "memory_sources",
    )
    shown = ("states", "phases", "alerts", "events", "marks", *memory, "lists", *PAGES)
    browsers = {kind: {code: catalogue_text(kind, code) for code in TEXTS[kind]} for kind in shown}
    parts = (
        ("Record<string, Record<string, string>>", "TEXTS", browsers),
        (
            "{ colours: string[], onDark: Record<string, string>, dashes: string[], charts: Record<string, ChartKind>, "
            "logged: Record<string, Spot>, endings: Record<string, Spot>, readings: Record<string, Spot>, "
            "losses: Record<string, string>, evaluationCosts: string[], evaluationCounts: string, "
            "mostScores: number }",
            "CHARTS",
            table_json(),
        ),
    )
    return HEAD + "\n".join(_constant(*part) for part in parts)


def _constant(kind: str, name: str, value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=1)
    return f"/** @type {{{kind}}} */\n// prettier-ignore\nexport const {name} = {text};\n"


if __name__ == "__main__":
    for tag in LANGUAGES:
        page(tag).write_text(catalogue(tag), "utf-8")
