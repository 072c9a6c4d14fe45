"""What one does with runs that were started before: read about them, do the same again, resume, delete."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from dsgui.core.checkpoint import RESUME, Checkpoint
from dsgui.core.clone import Clone, clone
from dsgui.core.comparison import Compared, answers, config_differences
from dsgui.core.document import Document
from dsgui.core.errors import DocumentError, PatternError, RunError
from dsgui.core.model_size import ModelSize, OffloadNeed
from dsgui.core.offloading import estimate
from dsgui.core.patterns import MOST_PATTERNS, Pattern, matches
from dsgui.core.performance import figures
from dsgui.core.plan import Plan
from dsgui.core.planned import Launch
from dsgui.core.points import Point
from dsgui.core.remedies import Remedy
from dsgui.core.state import RunStatus
from dsgui.core.words import MODEL_OPTIONS, value_of
from dsgui.runs import Runs, script_source
from dsgui.shell.checkpoints import find_checkpoints
from dsgui.shell.model_files import model_size
from dsgui.shell.output_search import LINE_SHOWN, around, first_error, search
from dsgui.shell.past import add_past_points
from dsgui.shell.removal import Removal, measure, remove
from dsgui.shell.store import RunDirectory, Store

_LINES_SHOWN = 5
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Archive:
    """The runs of one store, as things that are kept. Every method raises `RunError` when there is no such run."""

    def __init__(self, store: Store, runs: Runs, check: Callable[[Path], object] = lambda path: None) -> None:
        """`check` raises `PlaceError` for a model's folder that may not be read."""
        self._store, self._runs, self._check = store, runs, check

    def about(self, run_id: str) -> dict[str, Any]:
        """What the page shows once, not with every poll: diagnosis, provenance, checkpoints."""
        directory = self._store.open(run_id)
        plan, diagnosis = directory.read_plan(), directory.read_diagnosis()
        failed = self._runs.summary(run_id).state.value == "failed"
        return {
            "diagnosis": diagnosis.to_json() if diagnosis and failed else None,
            "provenance": directory.read_provenance(),
            "checkpoints": [one.to_json(plan.ranks) for one in self._checkpoints(directory, plan)],
            "config": directory.read_config(),
            "script": plan.script,
            "estimate": self._estimate(directory, plan),
        }

    def _estimate(self, directory: RunDirectory, plan: Plan) -> dict[str, Any] | None:
        """The main memory that DeepSpeed's estimator foretells for what is offloaded, to hold the measured against;
        None where it has no answer."""
        named = value_of(plan.arguments, MODEL_OPTIONS)
        try:
            config = Document(directory.read_config()).value
        except DocumentError:
            return None
        model = model_size(named, plan.working_directory, plan.environment, self._check) if named else ModelSize()
        need = estimate(Launch.of(plan, config), model, script_source(plan.script).trains_a_part)
        if not isinstance(need, OffloadNeed):
            return None
        return {"states_bytes": need.states_bytes, "estimate_bytes": need.estimate_bytes, "source": need.source}

    # -- what it printed, and beside others ------------------------------------------------------------------------

    def search(self, run_id: str, words: str, errors: bool = False) -> dict[str, Any]:
        """The last lines of the output with `words`; with `errors`, the first line that tells of an error."""
        directory = self._store.open(run_id)
        found, more = ([first_error(directory)], False) if errors else search(directory, words)
        lines = [{"offset": one.offset, "line": _plain(self._runs.masked(_text(one.line)))} for one in found if one]
        return {"matches": lines, "more": more}

    def output_around(self, run_id: str, offset: int) -> dict[str, Any]:
        """The line of the output that begins at byte `offset`, with what comes before and after it; its end, where
        `offset` is negative."""
        directory = self._store.open(run_id)
        if offset < 0:
            return {"before": self._runs.masked(directory.read_output(-1)[0]), "line": "", "after": ""}
        parts = (self._runs.masked(_text(part)) for part in around(directory, offset))
        return dict(zip(("before", "line", "after"), parts, strict=True))

    def pattern(self, run_id: str, template: str) -> dict[str, Any]:
        """What a pattern finds in the last part of the output, as the page shows it before it is added."""
        text = self._runs.masked(self._store.open(run_id).read_output(-1)[0])
        try:
            found = matches(Pattern.parse(template), text, _LINES_SHOWN)
        except PatternError as error:
            return {"problem": str(error), "matches": []}
        return {"problem": "", "matches": [{"line": _plain(line), "found": _told(point)} for line, point in found]}

    def add_pattern(self, run_id: str, template: str) -> None:
        """Lines in this form become points, those printed before too: the run's supervisor takes it up, and where the
        run has ended it is done here. Raises `PatternError` and `RunError`."""
        directory = self._store.open(run_id)
        pattern, kept = Pattern.parse(template), directory.read_patterns()
        if template in kept:
            return
        if len(kept) >= MOST_PATTERNS:
            raise RunError(f"Run {run_id}: it has {len(kept)} patterns, and at most {MOST_PATTERNS} are read.")
        with self._store.saying_what_to_do():
            directory.write_patterns([*kept, template])
            if not self._runs.summary(run_id).state.live:
                add_past_points(directory, pattern)

    def compare(self, run_ids: Sequence[str]) -> dict[str, Any]:
        """What each run used and achieved, where their configs differ, and what the numbers answer."""
        runs = [self._compared(run_id) for run_id in run_ids]
        rows = [
            {"run_id": run_id, "name": run.name, "state": self._runs.summary(run_id).state.value}
            | {"figures": run.figures.to_json()}
            for run_id, run in zip(run_ids, runs, strict=True)
        ]
        differ = config_differences([run.config for run in runs])
        for row in differ:
            row["values"] = [value and self._runs.masked(value) for value in row["values"]]
        return {"runs": rows, "differences": differ, "answers": [answer.to_json() for answer in answers(runs)]}

    def _compared(self, run_id: str) -> Compared:
        directory = self._store.open(run_id)
        config = None
        with suppress(DocumentError):
            config = Document(directory.read_config())
        return Compared(directory.read_plan().name, config, figures(self._runs.curves(run_id)))

    # -- the same again --------------------------------------------------------------------------------------------

    def clone(self, run_id: str) -> Clone:
        """The same again."""
        directory = self._store.open(run_id)
        return clone(directory.read_plan(), directory.read_config())

    def repaired(self, run_id: str) -> Clone:
        """The same again with the change that its diagnosis proposes."""
        directory = self._store.open(run_id)
        diagnosis = directory.read_diagnosis()
        if diagnosis is None or diagnosis.remedy is None:
            raise RunError(f"Run {run_id}: its diagnosis proposes no change. Use “Same again, change this”.")
        return clone(directory.read_plan(), directory.read_config(), diagnosis.remedy)

    def resumed(self, run_id: str, path: str) -> Clone:
        """The same again from the checkpoint at `path`, one of those that `about` lists."""
        directory = self._store.open(run_id)
        plan = directory.read_plan()
        chosen = next((one for one in self._checkpoints(directory, plan) if one.path == path), None)
        if chosen is None:
            raise RunError(f"Run {run_id}: there is no checkpoint {path[:200]}. It may have been removed meanwhile.")
        made = clone(plan, directory.read_config(), Remedy("Resume", None, ((RESUME, chosen.path),)))
        problem = chosen.problem(plan.ranks)
        return Clone(made.request, (*made.notes, *([problem] if problem else [])))

    def _checkpoints(self, directory: RunDirectory, plan: Plan) -> list[Checkpoint]:
        """The plan is written as the run is started: what is older belongs to another run. Where the clock was set
        back meanwhile, what the run saved may bear an earlier date than that."""
        status = directory.read_status() or RunStatus()
        planned = directory.plan_file.stat().st_mtime
        return find_checkpoints(plan, min(planned, status.started_at or planned) - status.clock_back_s - 1)

    # -- deleting --------------------------------------------------------------------------------------------------

    def removal(self, run_id: str) -> Removal:
        """What `delete` would remove."""
        return measure(self._ended(run_id).path)

    def delete(self, run_id: str) -> None:
        """Removes the run's folder and nothing else. Refuses while any process of the run is alive."""
        remove(self._ended(run_id).path)

    def _ended(self, run_id: str) -> RunDirectory:
        directory = self._store.open(run_id)
        if self._runs.may_go_on(run_id):
            raise RunError(f"Run {run_id} is or may be still going on, so it can't be deleted. Stop it first.")
        return directory


def _plain(line: str) -> str:
    """What a terminal would show of it, without colours, cut."""
    return _ANSI.sub("", line.rstrip("\r\n").rpartition("\r")[2])[:LINE_SHOWN]


def _told(point: Point) -> str:
    """A point in words: `step 10 · loss 2.3`."""
    places = [(name, getattr(point, name)) for name in ("step", "epoch", "rank")]
    shown = [f"{name} {value:g}" for name, value in places if value is not None]
    return " · ".join([*shown, *(f"{name} {value:g}" for name, value in point.values.items())])


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
