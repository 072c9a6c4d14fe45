"""Tracks and their state as JSON for the drawer, in the language in use."""

from collections.abc import Callable, Mapping
from typing import Any

from dsgui.core.learn.checking import Checked
from dsgui.core.learn.numbers import Numbers
from dsgui.core.learn.picture import OFFERS
from dsgui.core.learn.progress import Progress
from dsgui.core.learn.track import Step, Track
from dsgui.core.learn.tracks import TRACKS
from dsgui.core.machine.hardware import OFFERED
from dsgui.core.texts.languages import catalogue_text
from dsgui.core.texts.saying import words

# Rows and columns of each table, the head among them.
TABLES: Mapping[str, tuple[int, int]] = {"opt_level": (5, 3), "backends": (4, 4)}
# Labels of the drawer itself.
LABELS = (
    *("title", "close", "of_steps", "of_step", "next", "again", "forget", "your_answer", "right", "not_yet", "compare"),
    *("open_run", "goal_reached", "goal_open", "replaced", "put_back", "put_back_done", "no_server", "track_done"),
    *("step_done", "step_open", "picture", "by_runs", "taller", "shorter", "steps"),
)


def told() -> dict[str, Any]:
    """All that does not change: the labels, whose places the drawer fills, and the tracks with their steps."""
    return {
        "labels": {code: catalogue_text("learn_panel", code) for code in LABELS},
        "offers": {name: _offered(name) for name in OFFERS},
        "tracks": [_track(track) for track in TRACKS],
    }


def _track(track: Track) -> dict[str, Any]:
    said = {part: words("learn", f"{track.id}.{part}") for part in ("name", "about", "source")}
    return {"id": track.id, **said, "steps": [_step(step) for step in track.steps]}


def _step(step: Step) -> dict[str, Any]:
    return {
        "id": step.id,
        "does": step.does.value,
        "title": words("learn", f"{step.id}.title"),
        "text": words("learn", f"{step.id}.text").split("\n"),
        "buttons": [words("learn", f"{step.id}.go{place + 1}") for place in range(len(step.opens))],
        "question": words("learn", f"{step.id}.ask") if step.choices else "",
        "choices": [words("learn", f"{step.id}.a{place + 1}") for place in range(step.choices)],
        "sliders": step.sliders.split(",") if step.sliders else [],
        "alone": step.alone,
        "notes": words("learn", f"{step.id}.notes").split("\n") if step.noted else [],
        "table": _table(step.table) if step.table else [],
    }


def _table(name: str) -> list[list[str]]:
    rows, columns = TABLES[name]
    return [[words("learn_tables", f"{name}.r{row}_c{column}") for column in range(columns)] for row in range(rows)]


def _offered(name: str) -> dict[str, Any]:
    values = [{"value": str(value).lower(), "title": _title(name, value)} for value in sorted_offers(name)]
    return {"label": words("learn_panel", f"slider_{name}"), "first": str(OFFERS[name][0]).lower(), "values": values}


def sorted_offers(name: str) -> list[Any]:
    """In the order of a slider: numbers from small to large."""
    offered = list(OFFERS[name])
    if name == "size":
        return sorted(offered, key=lambda one: float(one[:-1]) * (1000 if one[-1] == "B" else 1))
    return sorted(offered) if all(isinstance(one, int) for one in offered) else offered


def _title(name: str, value: Any) -> str:
    if name == "device":
        return next(card.title for card in OFFERED if card.id == value)
    if name in ("offload", "checkpointing"):
        return words("learn_panel", f"{name}_{str(value).lower()}")
    return f"{value:,}" if isinstance(value, int) else str(value)


def state(
    track: Track,
    checks: Mapping[str, Checked],
    progress: Progress,
    numbers: Callable[[Step, Checked], Numbers | None],
) -> dict[str, Any]:
    """How far the reader is, by step."""
    return {
        "track": track.id,
        "steps": {step.id: _state(step, checks[step.id], progress, numbers) for step in track.steps},
    }


def _state(
    step: Step, found: Checked, progress: Progress, numbers: Callable[[Step, Checked], Numbers | None]
) -> dict[str, Any]:
    choice = progress.answers.get(step.id)
    table = numbers(step, found)
    return {
        "done": found.done,
        "note": str(found.note) if found.note else "",
        "runs": [run.run_id for run in found.runs],
        "choice": choice,
        "is_right": choice == step.right if choice is not None else None,
        "answer": "" if choice is None else words("learn", f"{step.id}.{'right' if choice == step.right else 'wrong'}"),
        "numbers": table.to_json() if table else None,
    }
