"""What the pages are given: collaborators made by `app.py`, so that no page touches the world itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dsgui.core.checker import Checker
from dsgui.core.hardware import Target
from dsgui.core.preset import Preset
from dsgui.runs import Runs


@dataclass(frozen=True, slots=True)
class Services:
    """`target` answers with what is known of the training environment by now; `target_complete` says when that is all.
    `recipes` maps a recipe's name to its script."""

    checker: Checker
    presets: tuple[Preset, ...]
    recipes: Mapping[str, Path]
    target: Callable[[], Target]
    target_complete: Callable[[], bool]
    runs: Runs
