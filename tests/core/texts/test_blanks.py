"""Chinese texts have a blank between Chinese characters and Latin letters or figures: in the catalogues, in the
documents that are translated, and where a text's places are filled."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dsgui.core.texts.chinese import TEXTS
from dsgui.core.texts.languages import CHINESE_TAG, speaking
from dsgui.core.texts.saying import words

HAN, LATIN = "[\u4e00-\u9fff]", "[A-Za-z0-9`]"
TOUCHING = re.compile(rf"{HAN}{LATIN}|[A-Za-z0-9`%]{HAN}")
ROOT = Path(__file__).parents[3]
# None yet: a name that is written in one piece, as 4K电视 is, goes here, with the text that has it.
IN_ONE_PIECE: frozenset[str] = frozenset()


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts_in(one)


def catalogues() -> Iterator[str]:
    for some in TEXTS.values():
        yield from some.values()


def test_in_the_catalogues_latin_words_and_figures_stand_apart():
    assert {text for text in catalogues() if TOUCHING.search(text)} == IN_ONE_PIECE


@pytest.mark.parametrize("name", ["schemas/zh-CN.json", "presets/zh-CN.json"])
def test_in_the_documents_they_do(name):
    found = texts_in(json.loads((ROOT / name).read_text(encoding="utf-8")))
    assert {text for text in found if TOUCHING.search(text)} == IN_ONE_PIECE


@pytest.mark.parametrize(
    ("moment", "told"),
    [
        ("deepspeed.initialize 期间", "峰值在 deepspeed.initialize 期间"),
        ("优化器更新时", "峰值在优化器更新时"),
        ("“x”", "峰值在“x”"),
    ],
)
def test_what_fills_a_place_stands_apart_where_it_begins_or_ends_so(moment, told):
    with speaking(CHINESE_TAG):
        assert words("memory_page", "peak_when", moment=moment) == told
        assert words("charts_page", "not_all_until", until="2026-01").startswith("在 2026-01 之前")
