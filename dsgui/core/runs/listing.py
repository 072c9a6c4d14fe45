"""The list of runs as somebody wants to see it: by which column, and which runs fit the words of a search."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from dsgui.core.launch.state import RunState
from dsgui.core.runs.filters import Settings, comparison, misread
from dsgui.core.runs.news import RunSummary
from dsgui.core.texts.saying import said

_Key = Callable[[RunSummary], Any]
_STAMPED = 15  # characters of an id: a date


def _loss(value: float | str | None) -> float | None:
    return None if value is None else float(value)


def _began(run: RunSummary) -> float | None:
    """As it is shown: of one that has not begun, when its launch was prepared, which its id tells. The files of a
    training that dsgui did not start may tell no times."""
    if run.started_at is not None or run.state is RunState.ELSEWHERE or run.adopted:
        return run.started_at
    return prepared_at(run.run_id)


def prepared_at(run_id: str) -> float | None:
    """When its launch was: an id begins with the local date and time. None for an id of another kind."""
    try:
        return datetime.strptime(run_id[:_STAMPED], "%Y%m%d-%H%M%S").timestamp()
    except (ValueError, OverflowError):
        return None


def _peak(name: str) -> _Key:
    return lambda run: (run.peak or {}).get(name)


# The columns that a list can be sorted by. None has no place: it comes last, whichever way.
SORTS: Mapping[str, _Key] = {
    "date": _began,
    "name": lambda run: run.name.casefold(),
    "state": lambda run: run.state.value,
    "tags": lambda run: ", ".join(run.tags).casefold() or None,
    "note": lambda run: run.note.casefold() or None,
    "preset": lambda run: run.preset.casefold() or None,
    "model": lambda run: run.model.casefold() or None,
    "gpus": lambda run: str(run.devices) or None,
    "duration": lambda run: run.duration_s,
    "step": lambda run: run.step,
    "best_loss": lambda run: _loss(run.best_loss),
    "final_loss": lambda run: _loss(run.loss),
    "gpu_peak": _peak("gpu_bytes"),
    "host_peak": _peak("host_bytes"),
    "speed": lambda run: run.steps_per_second,
}
# What a word such as `tag:lora` looks at, where it names a part of a run.
_PARTS: Mapping[str, Callable[[RunSummary], Sequence[str]]] = {
    "tag": lambda run: run.tags,
    "state": lambda run: (run.state.value,),
    "name": lambda run: (run.name,),
    "model": lambda run: (run.model,),
    "preset": lambda run: (run.preset,),
    "note": lambda run: (run.note,),
    "gpu": lambda run: (str(run.devices),),
}


def ordered(runs: Sequence[RunSummary], sort: str, descending: bool) -> list[RunSummary]:
    """By a column of `SORTS`; runs that are equal there keep their order."""
    key = SORTS[sort]
    known = [(value, run) for run in runs if not _is_none(value := key(run))]
    rest = [run for run in runs if _is_none(key(run))]
    return [*(run for _, run in sorted(known, key=lambda one: one[0], reverse=descending)), *rest]


def ordered_by(runs: Sequence[RunSummary], values: Mapping[str, str], descending: bool) -> list[RunSummary]:
    """By what a further column has of each, by its id: numbers before words, before which comes ""; runs
    without a value come last."""
    known = [run for run in runs if run.run_id in values]
    rest = [run for run in runs if run.run_id not in values]
    return [*sorted(known, key=lambda run: _amount(values[run.run_id]), reverse=descending), *rest]


def _amount(value: str) -> tuple[bool, float, str]:
    try:
        read = float(value)
    except ValueError:
        return True, 0.0, value.casefold()
    return math.isnan(read), 0.0 if math.isnan(read) else read, ""


def _is_none(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def searched_text(run: RunSummary) -> str:
    """What the words of a search are looked for in: as the list shows it, in the language in use."""
    script = run.script.rpartition("/")[2]
    changed = (f"{change.key} {'' if change.after is None else change.after}" for change in run.differs)
    state = (run.state.value, str(said("states", run.state.value)))
    told = (run.name, run.run_id, *state, run.preset, run.model, str(run.devices), script)
    return " ".join((*told, *run.tags, run.note, *changed)).lower()


def fits(run: RunSummary, text: str, words: Sequence[str], settings: Settings = dict) -> bool:
    """Whether the run has each of the words, which are in lower case: somewhere in its `text`, in the part that the
    word names, or by what it compares. `settings` are those of `run_settings.searchable`, looked at where needed."""
    return all(_fits(run, text, word, settings) for word in words)


def cant_fit(words: Sequence[str], keys: Collection[str] | None) -> tuple[str, str, str] | None:
    """As `filters.misread` says."""
    return misread(words, keys, _PARTS)


def _fits(run: RunSummary, text: str, word: str, settings: Settings) -> bool:
    name, colon, value = word.partition(":")
    if colon and value and name in _PARTS:
        return any(value in part.lower() for part in _PARTS[name](run))
    if word in text:
        return True
    asked = comparison(word)
    if asked and asked.sign == "=" and asked.value and asked.key in _PARTS:
        return any(asked.value == part.lower() for part in _PARTS[asked.key](run))
    return asked is not None and asked.holds(run, settings)
