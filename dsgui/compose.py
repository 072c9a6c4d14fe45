"""Joins the parts for one process: which store, launcher, target and documents the pages are given."""

from pathlib import Path

from dsgui.core.checker import Checker
from dsgui.runs import Runs
from dsgui.shell.catalog import Catalog
from dsgui.shell.imports import open_file, open_upload
from dsgui.shell.launcher import Launcher
from dsgui.shell.oracle import Oracle
from dsgui.shell.store import Store
from dsgui.shell.target import TargetProbe
from dsgui.shell.telemetry import list_gpus
from dsgui.shell.user_presets import UserPresets
from dsgui.ui.services import Services

RECIPES = ("translation",)


def make_services(python: str, runs_dir: Path, own_presets_dir: Path) -> Services:
    """The services of a server whose runs train with `python` and live in `runs_dir`. Raises `RunError`."""
    catalog = Catalog()
    probe = TargetProbe(python, list_gpus)
    probe.start()
    return Services(
        checker=Checker(catalog.schema()),
        presets=catalog.presets(),
        own_presets=UserPresets(own_presets_dir),
        recipes={name: catalog.recipe(name) for name in RECIPES},
        target=lambda: probe.current,
        target_complete=lambda: probe.complete,
        open_file=open_file,
        open_upload=open_upload,
        runs=Runs(Store(runs_dir), Launcher()),
        oracle=Oracle(python),
    )
