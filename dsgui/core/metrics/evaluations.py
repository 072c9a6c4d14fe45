"""What evaluations found, as rows of a table of several runs: the evaluation's loss, and the scores beside it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dsgui.core.metrics.chart_table import Place, name_of, place_of
from dsgui.core.metrics.curves import Series
from dsgui.core.metrics.performance import Figures
from dsgui.core.metrics.points import number_to_json
from dsgui.core.texts.saying import words

MOST_ROWS = 6
_OF_A_LOSS = frozenset(("loss", "perplexity", "ppl"))
_LESS = frozenset(("cer", "wer")) | _OF_A_LOSS
_MORE = frozenset(("accuracy", "acc", "bleu", "chrf", "f1", "match", "sacrebleu"))
# What turns a score around, or makes another of it.
_TURNED = frozenset(("delta", "diff", "false", "gap", "inverse", "minus", "neg", "negative", "no", "not"))
_QUALIFIERS = frozenset(("macro", "micro", "score", "weighted"))  # f1_macro is an f1


@dataclass(frozen=True, slots=True)
class EvaluationRow:
    """A figure of each run, None where it has none; `better`: "less" or "more", where that is known."""

    name: str
    values: tuple[float | None, ...]
    better: str

    def to_json(self, hide: Callable[[str], str]) -> dict[str, Any]:
        values = [None if value is None else number_to_json(value) for value in self.values]
        return {"name": hide(self.name), "values": values, "better": self.better}


def evaluation_rows(runs: Sequence[Figures], comparable: bool = True, scores: bool = True) -> list[EvaluationRow]:
    """At most six: the losses first, then the scores of which it is known what is better, those of most runs before
    others. Where what was trained is not `comparable`, no loss is better than another; where the tests are not, no
    score (`scores`) is."""
    less = "less" if comparable else ""
    losses = [
        EvaluationRow(words("compare_page", "final_eval_loss"), tuple(one.eval_loss for one in runs), less),
        EvaluationRow(words("compare_page", "best_eval_loss"), tuple(one.best_eval_loss for one in runs), less),
    ]
    logged = dict.fromkeys(name for one in runs for name in one.scores)
    scored = [
        EvaluationRow(
            _shown(name),
            tuple(one.scores.get(name) for one in runs),
            better_of(name) if (comparable if _kind(name) in _OF_A_LOSS else scores) else "",
        )
        for name in logged
    ]
    told = [row for row in losses if any(value is not None for value in row.values)]
    return (told + sorted(scored, key=lambda row: (not row.better, row.values.count(None))))[:MOST_ROWS]


def better_of(name: str) -> str:
    """ "less" or "more", by a score's name; "" where the name doesn't say."""
    if not _TURNED.isdisjoint(_parts(name)):
        return ""
    kind = _kind(name)
    if kind in _LESS:
        return "less"
    return "more" if kind in _MORE or kind.startswith("rouge") else ""


def _parts(name: str) -> list[str]:
    return name.lower().removesuffix("++").split("_")


def _kind(name: str) -> str:
    """Of what kind a score is: f1 of f1_macro."""
    parts = _parts(name)
    while len(parts) > 1 and parts[-1] in _QUALIFIERS:
        parts.pop()
    return parts[-1]


def _shown(name: str) -> str:
    """As its chart calls it."""
    series = Series(name, "eval")
    return name_of(series, place_of(series) or Place(""))
