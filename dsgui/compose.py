"""Joins the parts for one process: which store, launcher, target and documents the pages are given."""

import os
from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path

from dsgui.core.access.secrets import Masker, secret_values
from dsgui.core.config.preset import title_of
from dsgui.core.launch.plan import Plan
from dsgui.core.launch.recipes import RECIPES
from dsgui.core.machine.machine import Environment
from dsgui.core.preflight.judging import memory_of, question_of, rows_around
from dsgui.core.preflight.leaner import leaner
from dsgui.core.preflight.surroundings import Surroundings
from dsgui.core.texts.languages import ENGLISH_TAG, spoken
from dsgui.core.validation.checker import Checker
from dsgui.runs.adoption import Adoption
from dsgui.runs.afterwards import AfterTraining
from dsgui.runs.archive import Archive, Judge
from dsgui.runs.export import Exports
from dsgui.runs.growing import Growing
from dsgui.runs.inspection import Inspection
from dsgui.runs.learning import Learning
from dsgui.runs.report import Reports
from dsgui.runs.runs import Runs
from dsgui.runs.trying import TryIt
from dsgui.shell.access.browsing import listing
from dsgui.shell.access.places import usual_places
from dsgui.shell.config.catalog import Catalog
from dsgui.shell.config.imports import open_file, open_upload, read_text
from dsgui.shell.config.user_presets import UserPresets
from dsgui.shell.launch.asked_paths import allowed_script
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.launch.where import backend_of
from dsgui.shell.machine.gpus import list_gpus, read_gpus
from dsgui.shell.machine.machine_reader import MachineProbe
from dsgui.shell.machine.target import TargetProbe
from dsgui.shell.memory.constants import sharpened
from dsgui.shell.memory.dry_runs import DryRuns
from dsgui.shell.memory.nvme_folders import NvmeFolders
from dsgui.shell.notify.notifier import try_webhook
from dsgui.shell.oracle.oracle import Oracle
from dsgui.shell.preflight.model_shapes import ModelShapes
from dsgui.shell.preflight.scout import Scout
from dsgui.shell.runs.store import Store
from dsgui.ui.common.services import Services

_ADVICE_WAIT_S = 1.0


def make_services(python: str, runs_dir: Path, own_presets_dir: Path, allowed: Iterable[Path] = ()) -> Services:
    """The services of a server whose runs train with `python` and live in `runs_dir`, and whose page may name files
    in the usual places and in those `allowed`. Raises `RunError` and `PlaceError`."""
    catalog = Catalog()
    probe = TargetProbe(python, list_gpus)
    probe.start()
    store, recipes = Store(runs_dir), {recipe.name: catalog.recipe(recipe.name) for recipe in RECIPES}
    places = usual_places(allowed, [store.runs_dir, *(recipe.parent for recipe in recipes.values())])
    shipped, own_presets = cache(catalog.presets), UserPresets(own_presets_dir)

    def preset_title(kept: str) -> str:
        return title_of(kept, (*shipped(spoken()), *own_presets.list())) if kept else ""

    secrets = secret_values(os.environ)
    runs = Runs(store, Launcher(), places=places, secrets=secrets, preset_title=preset_title)
    machine = MachineProbe.of(python, runs_dir)

    def known() -> Environment:
        """Versions are known at once, the rest when the machine was asked."""
        return machine.current().environment or Environment(probe.current)

    scout = Scout.of(store.runs_dir, known, places.check, recipes.values())

    def surroundings(plan: Plan, text: str = "") -> Surroundings:
        script, taken = allowed_script(plan.script, places.check), not runs.port_is_free(plan)
        return scout.surroundings(plan, script, taken, text, runs.beside(plan))

    def refusal(plan: Plan, text: str, around: Surroundings) -> str:
        question = question_of(plan, text, around) if plan.target_python == python else None
        return oracle.refusal(question, _ADVICE_WAIT_S) if question else ""

    oracle, checker = Oracle(python), Checker(catalog.schema())
    rows, memory = partial(rows_around, checker=checker), partial(memory_of, checker=checker)
    judge = Judge(surroundings, rows, refusal, memory, partial(leaner, checker=checker))
    archive = Archive(store, runs, places.check, judge)
    after = AfterTraining(store, runs, archive, python, places.check)
    adoption = Adoption(store, places.check, masker=lambda: Masker(secret_values(os.environ)))
    return Services(
        checker=checker,
        shipped=shipped,
        form_texts=cache(catalog.form_texts),
        own_presets=own_presets,
        recipes=recipes,
        target=lambda: probe.current,
        target_complete=lambda: probe.complete,
        open_file=partial(open_file, places=places),
        browse=partial(listing, places),
        open_upload=partial(open_upload, places=places),
        open_text=partial(read_text, places=places),
        runs=runs,
        archive=archive,
        adoption=adoption,
        growing=Growing(adoption),
        after=after,
        box=TryIt(store, runs, after, os.environ, places.check),
        inspection=Inspection(store, runs),
        learning=Learning(store, runs, checker, {one.id: one for one in catalog.presets(ENGLISH_TAG)}),
        exports=Exports(store, runs),
        reports=Reports(store, runs, check=places.check),
        surroundings=surroundings,
        gpu_use=read_gpus,
        machine=machine,
        ask_place=lambda plan: backend_of(plan).ask(plan),
        read_model=ModelShapes(places.check).read,
        nvme_folder=NvmeFolders(places.check).read,
        oracle=oracle,
        dry_runs=DryRuns(python),
        sharpened=sharpened,
        try_webhook=lambda typed: try_webhook(typed, os.environ),
    )
