"""What one looks up in runs: lines of their output, patterns for them, and several runs side by side."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from dsgui.core.access.ansi import without_escapes
from dsgui.core.config.document import Document
from dsgui.core.errors import DocumentError, PatternError, RunError
from dsgui.core.logs.patterns import MOST_PATTERNS, Pattern, matches
from dsgui.core.metrics.evaluations import evaluation_rows
from dsgui.core.metrics.performance import Figures
from dsgui.core.metrics.points import Point
from dsgui.core.runs.comparison import Compared, answers
from dsgui.core.runs.run_settings import Settings, compared, scores_compare, unlike, why_unlike
from dsgui.core.texts.saying import wrong
from dsgui.runs.runs import Runs
from dsgui.runs.slowness import why_run_is_slow
from dsgui.shell.logs.output_search import LINE_SHOWN, around, first_error, search
from dsgui.shell.logs.past import add_past_points, adding
from dsgui.shell.runs.store import RunDirectory, Store, size_of

_LINES_SHOWN = 5
_MOST_KEPT = 200


class Inspection:
    """The runs of one store, looked into. What it tells contains no secret. Every method raises `RunError` when there
    is no such run."""

    def __init__(self, store: Store, runs: Runs) -> None:
        self._store, self._runs = store, runs
        self._figures: dict[tuple[str, int], Figures] = {}  # of ended runs, by the size of their points

    def search(self, run_id: str, words: str, errors: bool = False) -> dict[str, Any]:
        """The last lines of the output with `words`, and how many there are; with `errors`, the first line that tells
        of an error."""
        directory = self._store.open(run_id)
        found, total = ([first_error(directory)], 1) if errors else search(directory, words)
        shown = (words, self._runs.masked)
        lines = [
            {"offset": one.offset, "line": _excerpt(_text(one.line), *shown), "number": one.number}
            for one in found
            if one
        ]
        return {"matches": lines, "total": total if lines else 0}

    def output_around(self, run_id: str, offset: int) -> dict[str, Any]:
        """The line of the output at byte `offset`, with what comes before and after it; where `offset` is negative its
        end, and in `end` from where a page asks on."""
        if offset < 0:
            text, end = self._runs.output_end(run_id)
            return {"before": text, "line": "", "after": "", "end": end}
        parts = (self._runs.masked(_text(part)) for part in around(self._store.open(run_id), offset))
        return dict(zip(("before", "line", "after"), parts, strict=True))

    def pattern(self, run_id: str, template: str) -> dict[str, Any]:
        """What a pattern finds in the last part of the output, as the page shows it before it is added; and which
        patterns the run has."""
        kept = self._store.open(run_id).read_patterns()
        text, _ = self._runs.output_end(run_id)
        told: dict[str, Any] = {"problem": "", "matches": [], "kept": kept}
        try:
            found = matches(Pattern.parse(template), text, _LINES_SHOWN) if template else []
        except PatternError as error:
            return told | {"problem": str(error)}
        return told | {"matches": [{"line": _plain(line), "found": _told(point)} for line, point in found]}

    def add_pattern(self, run_id: str, template: str) -> None:
        """Lines in this form become points, those printed before too: the run's supervisor takes it up, and where the
        run has ended it is done here. Raises `PatternError` and `RunError`."""
        directory, pattern = self._store.open(run_id), Pattern.parse(template)
        with self._store.saying_what_to_do(), adding(directory):
            kept = directory.read_patterns()
            if template in kept:
                return
            if len(kept) >= MOST_PATTERNS:
                raise RunError(wrong("run.many_patterns", run=run_id, count=str(len(kept)), most=str(MOST_PATTERNS)))
            directory.write_patterns([*kept, template])
            if not self._runs.summary(run_id).state.live:
                add_past_points(directory, pattern)

    def compare(self, run_ids: Sequence[str]) -> dict[str, Any]:
        """What each run used and achieved, where the settings they were started with differ, and what the numbers
        answer."""
        runs = [self._compared(run_id) for run_id in run_ids]
        rows = [
            self._named(run_id) | {"name": run.name, "figures": run.figures.to_json()}
            for run_id, run in zip(run_ids, runs, strict=True)
        ]
        settings = [self._settings(run_id, run.config) for run_id, run in zip(run_ids, runs, strict=True)]
        parts = compared(settings)
        rows_of_evaluations = evaluation_rows([run.figures for run in runs], not unlike(parts), scores_compare(parts))
        has_scores = any(run.figures.scores for run in runs)
        evaluations = [row.to_json(self._runs.masked) for row in rows_of_evaluations]
        return {
            "runs": rows,
            "sections": [section.masked(self._runs.masked).to_json() for section in parts],
            "unlike": unlike(parts),
            "why_unlike": why_unlike(
                parts, has_scores, [run.name or run_id for run_id, run in zip(run_ids, runs, strict=True)]
            ),
            "answers": [answer.to_json() for answer in answers(runs)],
            "evaluations": evaluations,
        }

    def _named(self, run_id: str) -> dict[str, Any]:
        """What runs are grouped by, and the state."""
        run = self._runs.summary(run_id)
        grouped = {"tags": list(run.tags), "preset": run.preset, "model": run.model}
        return {"run_id": run_id, "state": run.state.value} | grouped

    def slow(self, run_id: str) -> dict[str, Any]:
        """Why it is slow, in the language in use."""
        return why_run_is_slow(self._store, self._runs, run_id).to_json()

    def _compared(self, run_id: str) -> Compared:
        directory = self._store.open(run_id)
        config = None
        with suppress(DocumentError):
            config = Document(self._runs.shown_config(run_id))
        return Compared(self._runs.name_of(directory, directory.read_plan()), config, self._figures_of(directory))

    def _settings(self, run_id: str, config: Document | None) -> Settings:
        directory = self._store.open(run_id)
        return Settings(directory.read_plan(), config, directory.read_provenance())

    def _figures_of(self, directory: RunDirectory) -> Figures:
        """Those of an ended run are read once: every page that compares asks every few seconds."""
        key = (directory.run_id, size_of(directory.points_file))
        if key in self._figures:
            return self._figures[key]
        found = self._runs.figures(directory.run_id)
        if not self._runs.summary(directory.run_id).state.live:
            while len(self._figures) >= _MOST_KEPT:
                self._figures.pop(next(iter(self._figures)))
            self._figures[key] = found
        return found


def _excerpt(line: str, words: str, hide: Callable[[str], str]) -> str:
    """The part of a line that is shown for the words that were looked for, cut once nothing is in it to hide."""
    plain = without_escapes(hide(line).strip("\r\n"))
    hit = plain.lower().find(words.lower())
    return plain[max(hit - LINE_SHOWN // 2, 0) :][:LINE_SHOWN] if hit > LINE_SHOWN // 2 else plain[:LINE_SHOWN]


def _plain(line: str) -> str:
    """What a terminal would show of it, without colours, cut."""
    return without_escapes(line.strip("\r\n"))[:LINE_SHOWN]


def _told(point: Point) -> str:
    """A point in words: `step 10 · loss 2.3`."""
    places = [(name, getattr(point, name)) for name in ("step", "epoch", "rank")]
    shown = [f"{name} {value:g}" for name, value in places if value is not None]
    return " · ".join([*shown, *(f"{name} {value:g}" for name, value in point.values.items())])


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
