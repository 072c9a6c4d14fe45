"""ROUGE-1, ROUGE-2 and ROUGE-L of summaries, on a scale of 0 to 100, without another dependency.

The F-scores of Google's rouge-score without stemming, which is what run_summarization.py and most papers report up to
the stemmer. Other letters than a to z count as well, and each Chinese or Japanese character is a word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean

_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
Words = Sequence[str]


def rouge(predictions: Sequence[str], references: Sequence[str]) -> dict[str, float]:
    """The means of "rouge1", "rouge2" and "rougeL" over all pairs; 0 for no pair."""
    pairs = [(words(ours), words(theirs)) for ours, theirs in zip(predictions, references, strict=True)]
    kinds: dict[str, Callable[[Words, Words], float]] = {
        "rouge1": lambda ours, theirs: n_grams_in_common(ours, theirs, 1),
        "rouge2": lambda ours, theirs: n_grams_in_common(ours, theirs, 2),
        "rougeL": longest_in_common,
    }
    return {name: 100 * fmean(score(*pair) for pair in pairs) if pairs else 0.0 for name, score in kinds.items()}


def words(text: str) -> list[str]:
    """Its words in small letters; punctuation is none."""
    return _WORDS.findall(text.lower())


def n_grams_in_common(ours: Words, theirs: Words, n: int) -> float:
    """F-score of the n-grams that both have."""
    counts = [Counter(tuple(text[at : at + n]) for at in range(len(text) - n + 1)) for text in (ours, theirs)]
    return f_score((counts[0] & counts[1]).total(), counts[0].total(), counts[1].total())


def longest_in_common(ours: Words, theirs: Words) -> float:
    """F-score of the longest row of words that both have in this order, with gaps."""
    lengths = [0] * (len(theirs) + 1)
    for word in ours:
        before = lengths[:]
        for place, other in enumerate(theirs, 1):
            lengths[place] = before[place - 1] + 1 if word == other else max(before[place], lengths[place - 1])
    return f_score(lengths[-1], len(ours), len(theirs))


def f_score(shared: int, ours: int, theirs: int) -> float:
    """The harmonic mean of shared/ours and shared/theirs."""
    return 2 * shared / (ours + theirs) if shared else 0.0
