"""Trying what a run trained: which files are loaded, whether they fit, and the one process that answers."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dsgui.core.afterwards.things import Thing
from dsgui.core.afterwards.trying import DEVICES, Question, Weights, needed_bytes, refusal, template_of
from dsgui.core.errors import DsguiError, PlanError, RunError
from dsgui.core.launch.plan import Plan
from dsgui.core.script.words import MODEL_OPTIONS, value_of
from dsgui.core.sizes import size
from dsgui.core.texts.saying import wrong
from dsgui.runs.afterwards import AfterTraining
from dsgui.runs.runs import Runs
from dsgui.shell.afterwards.left import memory_free, weights_bytes
from dsgui.shell.afterwards.trying import Asked, Trying
from dsgui.shell.preflight.model_files import folder_of
from dsgui.shell.runs.store import Store


class TryIt:
    """Methods raise `RunError` when there is no such run, and `PlanError` and `PlaceError` for what was typed. `check`
    raises `PlaceError` for what may not be read."""

    def __init__(
        self,
        store: Store,
        runs: Runs,
        after: AfterTraining,
        environment: Mapping[str, str],
        check: Callable[[Path], object] = lambda path: None,
        trying: Trying | None = None,
    ) -> None:
        self._store, self._runs, self._after, self._check = store, runs, after, check
        self._environment, self._trying = environment, trying or Trying()

    def about(self, run_id: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """What the box shows before anything is loaded."""
        plan = self._store.open(run_id).read_plan()
        thing = self._thing(run_id, given)
        base = str(given.get("base") or "").strip() or self._base_named(plan, thing)
        known = bool(self._started_from(plan, base))
        told: dict[str, Any] = {"source": thing.path, "name": thing.name, "base": base, "template": template_of(plan)}
        try:
            weights = self._weights(
                run_id, plan, {**given, "base": base, "beside": known and given.get("beside", True)}
            )
        except DsguiError as error:  # of its base: another can be named
            told |= {"has_base": False, "refusal": str(error), "memory": "", "free": ""}
        else:
            room = memory_free()
            free = size(room.memory_bytes) if room.memory_bytes is not None else "–"
            told |= {"has_base": known, "refusal": str(refusal(weights, room) or "")}
            told |= {"memory": size(needed_bytes(weights)), "free": free}
        return dict(self._runs.masked_json(told))

    def begin(self, run_id: str, given: Mapping[str, Any], page: str = "") -> None:
        """Asks without waiting; `progress` tells the answer."""
        plan = self._store.open(run_id).read_plan()
        question = Question.of(given)
        weights = self._weights(run_id, plan, given)
        going = self._trying.progress(run_id)
        loaded = going is not None and going.loaded  # then its memory is not free any more
        if not loaded and (why := refusal(weights, memory_free())):
            raise RunError(why)
        source = weights.adapter or weights.model
        asked = Asked(run_id, self._runs.masked(source), self._after.python_of(plan), weights, page)
        self._trying.begin(asked, question)

    def progress(self, run_id: str) -> dict[str, Any]:
        """How far the answer is; {} where nothing was asked."""
        going = self._trying.progress(run_id)
        return dict(self._runs.masked_json(going.to_json())) if going else {}

    def end(self, run_id: str) -> None:
        """Ends the process."""
        self._trying.end(run_id)

    def forget(self, page: str) -> None:
        """The page has gone, and the process with it."""
        self._trying.forget(page)

    def close(self) -> None:
        """With the server."""
        self._trying.close()

    def _thing(self, run_id: str, given: Mapping[str, Any]) -> Thing:
        thing = self._after.thing(run_id, str(given.get("source") or ""), lambda one: one.loads)
        if not thing.loads:
            raise PlanError(wrong("try.no_weights", name=thing.name))
        return thing

    def _weights(self, run_id: str, plan: Plan, given: Mapping[str, Any]) -> Weights:
        thing = self._thing(run_id, given)
        device = str(given.get("device") or DEVICES[0])
        if device not in DEVICES:
            raise PlanError(wrong("try.device", typed=device[:20]))
        base = str(given.get("base") or "").strip() or self._base_named(plan, thing)
        if thing.adapter:
            return self._adapted(thing, self._folder(plan, base), device)
        beside = self._folder(plan, base) if given.get("beside") and base else None
        self._check(Path(thing.path))
        folders = (thing.path, *((str(beside),) if beside else self._started_from(plan, base)))
        count = weights_bytes(Path(thing.path)) + (weights_bytes(beside) if beside else 0)
        return Weights(thing.path, "", str(beside or ""), folders, count, device)

    def _adapted(self, thing: Thing, base: Path, device: str) -> Weights:
        self._check(Path(thing.path))
        count = weights_bytes(base) + weights_bytes(Path(thing.path))
        return Weights(str(base), thing.path, "", (thing.path, str(base)), count, device)

    def _base_named(self, plan: Plan, thing: Thing) -> str:
        return thing.base or value_of(plan.arguments, MODEL_OPTIONS) or ""

    def _started_from(self, plan: Plan, base: str) -> tuple[str, ...]:
        """Where its tokenizer may be, too."""
        try:
            return (str(self._folder(plan, base)),)
        except DsguiError:
            return ()

    def _folder(self, plan: Plan, named: str) -> Path:
        """Of a base model: one here, or in the hub's cache. Raises `PlanError` and `PlaceError`."""
        environment = {**self._environment, **plan.environment}
        try:
            found = folder_of(named, plan.working_directory, environment, self._check) if named else None
        except (OSError, ValueError, RuntimeError) as error:
            raise PlanError(wrong("path.unusable", path=named[:80], why=str(error))) from error
        if found is None:
            raise PlanError(wrong("try.base_missing", base=named[:200] or "–"))
        self._check(found)
        if not weights_bytes(found):
            raise PlanError(wrong("try.base_missing", base=named[:200]))
        return found
