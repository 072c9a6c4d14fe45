"""How good translations are, on a scale of 0 to 100, without another dependency."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

CHRF_ORDER = 6
CHRF_BETA = 2.0


def exact_match(predictions: Sequence[str], references: Sequence[str]) -> float:
    """Percentage of predictions that equal their reference, spaces at the ends aside."""
    hits = sum(ours.strip() == theirs.strip() for ours, theirs in zip(predictions, references, strict=True))
    return 100.0 * hits / len(references)


def chrf(predictions: Sequence[str], references: Sequence[str]) -> float:
    """Corpus chrF2, as sacrebleu computes it by default (https://aclanthology.org/W15-3049).

    Precision and recall of character n-grams up to six, spaces left out, are averaged over the orders that occur in
    both predictions and references; the F-score weights recall twice.
    """
    pairs = list(zip(predictions, references, strict=True))
    counts = [ngram_counts(pairs, order) for order in range(1, CHRF_ORDER + 1)]
    usable = [(shared / ours, shared / theirs) for shared, ours, theirs in counts if ours and theirs]
    if not any(precision for precision, _ in usable):
        return 0.0
    precision, recall = (fmean(values) for values in zip(*usable, strict=True))
    weight = CHRF_BETA**2
    return 100.0 * (1 + weight) * precision * recall / (weight * precision + recall)


def ngram_counts(pairs: Sequence[tuple[str, str]], order: int) -> tuple[int, int, int]:
    """(shared, in predictions, in references): how many character n-grams of this order there are."""
    shared = predicted = expected = 0
    for prediction, reference in pairs:
        ours, theirs = ngrams(prediction, order), ngrams(reference, order)
        shared += (ours & theirs).total()
        predicted += ours.total()
        expected += theirs.total()
    return shared, predicted, expected


def ngrams(text: str, order: int) -> Counter[str]:
    """The character n-grams of a text, spaces left out."""
    solid = "".join(text.split())
    return Counter(solid[start : start + order] for start in range(len(solid) - order + 1))
