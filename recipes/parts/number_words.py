"""Sentence pairs made by code: the same number in the words of two languages."""

from __future__ import annotations

import random

from num2words import CONVERTER_CLASSES, num2words

Pair = dict[str, dict[str, str]]
"""One example in the shape of the hub's translation data sets: {"translation": {"en": …, "ro": …}}."""


def languages() -> list[str]:
    """The languages that can be spelled, as num2words names them."""
    return sorted(CONVERTER_CLASSES)


def pair(number: int, source_lang: str, target_lang: str) -> Pair:
    """One number in both languages; for 21, en, ro: "twenty-one" and "douăzeci și unu"."""
    return {"translation": {lang: num2words(number, lang=lang) for lang in (source_lang, target_lang)}}


def split(limit: int, held_out: int, seed: int) -> tuple[list[int], list[int]]:
    """Deal the numbers below `limit` into (train, eval): disjoint, shuffled, the same for the same seed."""
    if not 0 < held_out < limit:
        raise ValueError(f"cannot hold out {held_out} of {limit} numbers")
    numbers = list(range(limit))
    random.Random(seed).shuffle(numbers)
    return numbers[held_out:], numbers[:held_out]


def counting(first: int, count: int, lang: str) -> str:
    """Some numbers in a row: "seven, eight, nine."."""
    return ", ".join(num2words(number, lang=lang) for number in range(first, first + count)) + "."
