"""What a comparison among the words of a search asks of a run: `loss<1`, `lr>=1e-4`, `stage=3`, `duration>10m`.

A key is a figure of the list, or an argument or config key by its last parts: `stage` is `zero_optimization.stage`.
Numbers are compared as numbers, other values as words, with `=` alone."""

import math
import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from dsgui.core.runs.news import RunSummary
from dsgui.core.sizes import GIB

Settings = Callable[[], Mapping[str, str]]

_FORM = re.compile(r"([\w.-]+?)(<=|>=|<|>|=)(.*)", re.DOTALL)
_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_UNIT = re.compile(r"(.*\d)(s|m|h|d|gib|gb)")
_SCALES = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}  # of durations; memory is in GiB
_AS_SHOWN = 5e-4  # a figure is what is shown of it, in four digits
# Values to show how such a word goes on.
_EXAMPLES = {
    "lr": "1e-4",
    "learning_rate": "1e-4",
    "duration": "10m",
    "step": "100",
    "gpu_peak": "40",
    "host_peak": "40",
    "gpus": "2",
    "stage": "3",
}
_ALIASES = {"lr": "learning_rate", "learning_rate": "lr"}


def _peak(name: str) -> Callable[[RunSummary], float | None]:
    return lambda run: None if (one := (run.peak or {}).get(name)) is None else one / GIB


_FIGURES: Mapping[str, Callable[[RunSummary], float | str | None]] = {
    "loss": lambda run: run.loss,
    "final_loss": lambda run: run.loss,
    "best_loss": lambda run: run.best_loss,
    "step": lambda run: run.step,
    "duration": lambda run: run.duration_s,
    "speed": lambda run: run.steps_per_second,
    "gpu_peak": _peak("gpu_bytes"),
    "host_peak": _peak("host_bytes"),
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A word of a search, in lower case. Without a `value` it is still being typed, and asks nothing."""

    key: str
    sign: str
    value: str

    def holds(self, run: RunSummary, settings: Settings) -> bool:
        """`settings` are asked for only where no figure has the key."""
        if not self.value:
            return True
        if figure := _FIGURES.get(self.key):
            seen = figure(run)
            return seen is not None and self._compares(str(seen), _AS_SHOWN)
        names = {self.key, _ALIASES.get(self.key, self.key)}
        return any(self._compares(seen) for name, seen in settings().items() if _is_called(name, names))

    def _compares(self, seen: str, tolerance: float = 1e-9) -> bool:
        one, other = _number(seen), _number(self.value)
        if self.sign != "=":
            return one is not None and other is not None and _SIGNS[self.sign](one, other)
        if one is not None and other is not None and not math.isnan(one):
            return math.isclose(one, other, rel_tol=tolerance)
        return seen.lower() == self.value


def comparison(word: str) -> Comparison | None:
    """None for a word that compares nothing."""
    found = _FORM.fullmatch(word)
    return Comparison(found[1].lstrip("-").replace("-", "_").lower(), found[2], found[3]) if found else None


def unfinished(words: Sequence[str]) -> tuple[str, str] | None:
    """The first word of a search that has a key and a sign and no value, and how it may go on: `lr>=`, `lr>=1e-4`.
    What values another key has isn't known."""
    for word in words:
        asked = comparison(word)
        if asked and not asked.value:
            return word, word + _EXAMPLES.get(asked.key, "1" if asked.key in _FIGURES else "…")
    return None


def misread(
    words: Sequence[str], keys: Collection[str] | None, parts: Collection[str] = ()
) -> tuple[str, str, str] | None:
    """Of a search that nothing fits, the first word that can fit no run: it, why, and what may be written or what its
    key is. "number": it compares a number with what is none; "key": no run has anything so called, where `keys` are
    what runs have besides their figures, None while that isn't known of all. `parts` of a run are words."""
    asked = [(word, one) for word in words if (one := comparison(word)) and one.value and one.key not in parts]
    for word, one in asked:
        is_known = one.key in _FIGURES or _is_among(one.key, keys or ())
        if is_known and (one.sign != "=" or one.key in _FIGURES) and _number(one.value) is None:
            example = _EXAMPLES.get(one.key, "1")
            return word, "number", f"{word[: len(word) - len(one.value)]}{example}"
    for word, one in asked:
        if keys is not None and one.key not in _FIGURES and not _is_among(one.key, keys):
            return word, "key", one.key
    return None


def _is_among(key: str, keys: Collection[str]) -> bool:
    names = {key, _ALIASES.get(key, key)}
    return any(_is_called(name, names) for name in keys)


def _is_called(name: str, keys: set[str]) -> bool:
    """By its whole name or the last parts of it."""
    low = name.lower()
    return any(low == key or low.endswith(f".{key}") for key in keys)


def _number(text: str) -> float | None:
    """3e-4, 10m in seconds, 40gib in GiB."""
    found = _UNIT.fullmatch(text.lower())
    amount, unit = (found[1], found[2]) if found else (text, "")
    try:
        return float(amount) * _SCALES.get(unit, 1.0)
    except ValueError:
        return None
