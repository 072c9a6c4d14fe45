"""A report of one run or of several compared: gathers what the HTML file tells. Every text in it is without secrets."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from signal import Signals
from typing import Any

from dsgui.core.access.ansi import without_escapes
from dsgui.core.access.secrets import MASK, is_secret_name
from dsgui.core.config.document import Document
from dsgui.core.diagnosis.diagnosis import Diagnosis
from dsgui.core.diagnosis.memory_cause import cause_of, ran_out
from dsgui.core.errors import DocumentError, RunError
from dsgui.core.launch.plan import Plan
from dsgui.core.memory.fits.foretold import held_against
from dsgui.core.metrics.thinning import Curve
from dsgui.core.runs.in_lines import in_lines
from dsgui.core.runs.report_charts import by_time, charts, not_drawn, without_dots
from dsgui.core.runs.report_page import Assets, Reported, Undrawn, report_html
from dsgui.core.runs.run_settings import Settings, compared
from dsgui.core.texts.durations import duration
from dsgui.core.texts.saying import listed, words, wrong
from dsgui.runs.archive import Archive
from dsgui.runs.late_diagnosis import TOLD_OF, Diagnoses
from dsgui.runs.runs import Runs
from dsgui.shell.files.refusals import os_reason
from dsgui.shell.runs.report_assets import read_assets
from dsgui.shell.runs.store import RunDirectory, Store

MOST_RUNS = 12
_LINES_SHOWN = 100
_LINE_SHOWN = 2000
_LONGEST_IN_FILE = 40  # of a run's name


class Reports:
    """The runs of one store, as something to hand on."""

    def __init__(
        self,
        store: Store,
        runs: Runs,
        clock: Callable[[], float] = time.time,
        assets: Callable[[], Assets] = read_assets,
        check: Callable[[Path], object] = lambda path: None,
    ) -> None:
        """`check` raises `PlaceError` for a stored plan's script that may not be read."""
        self._store, self._runs, self._clock, self._assets = store, runs, clock, assets
        self._diagnoses, self._archive = Diagnoses(check), Archive(store, runs, check)

    def html(self, run_ids: Sequence[str], baseline: str = "") -> str:
        """One file with everything in it; the figures are told against those of `baseline`, where that is one of the
        runs. Raises `RunError`, also for none and for more than twelve runs."""
        wanted = list(dict.fromkeys(run_ids))
        if not 1 <= len(wanted) <= MOST_RUNS:
            raise RunError(wrong("report.many", count=str(len(wanted)), most=str(MOST_RUNS)))
        names = _distinct(wanted, [self._name(run_id) for run_id in wanted])
        shown = [(name, self._masked(self._runs.curves(run_id))) for run_id, name in zip(wanted, names, strict=True)]
        told = [self._reported(run_id, *own) for run_id, own in zip(wanted, shown, strict=True)]
        made = words("report_page", "made", when=_date(self._clock()))
        sections = [one.masked(self._runs.masked) for one in compared([self._settings(run_id) for run_id in wanted])]
        foretold = self._store.open(wanted[0]).read_foretold() if len(wanted) == 1 else None
        peaks = [self._store.open(run_id).read_progress().get("peak") or {} for run_id in wanted]
        drawn, singles = without_dots(charts(shown, foretold.predicted if foretold else None, peaks))
        missing = Undrawn(not_drawn(shown), singles)
        return report_html(told, drawn, self._assets(), made, by_time(shown), sections, baseline, missing)

    def file_name(self, run_ids: Sequence[str]) -> str:
        """What a browser may call the file: of letters, digits, dots, hyphens and underscores. Raises `RunError`."""
        wanted = list(dict.fromkeys(run_ids))
        names = [_plain(self._name(run_id)) for run_id in wanted]
        if len(wanted) < 2:
            return f"{'-'.join(dict.fromkeys(filter(None, (*names, *wanted))))}.html"
        more = f"-and-{len(wanted) - 2}-more" if len(wanted) > 2 else ""
        return f"{names[0] or wanted[0]}-vs-{names[1] or wanted[1]}{more}-{wanted[1][-4:]}.html"

    def _name(self, run_id: str) -> str:
        directory = self._store.open(run_id)
        return self._runs.name_of(directory, directory.read_plan()) or run_id

    def _settings(self, run_id: str) -> Settings:
        directory, config = self._store.open(run_id), None
        with suppress(DocumentError):
            config = Document(self._runs.shown_config(run_id))
        return Settings(directory.read_plan(), config, directory.read_provenance())

    def _reported(self, run_id: str, name: str, curves: Sequence[Curve]) -> Reported:
        directory = self._store.open(run_id)
        plan, summary = directory.read_plan(), self._runs.summary(run_id)
        status, diagnosis = directory.read_status(), self._diagnoses.of(directory)
        hide = self._runs.masked
        text = self._runs.shown_config(run_id)
        told = diagnosis if summary.state in TOLD_OF else None
        lost = self._archive.lost(run_id) or {}
        return Reported(
            run_id=run_id,
            name=name,
            state=summary.state.value,
            reason=hide(status.reason) if status and not lost else "",
            command=self._runs.shown_command(plan),
            config_text=in_lines(text),
            facts=[(name, hide(value)) for name, value in _facts(plan, directory, summary.duration_s, told) if value],
            more_facts=[(name, hide(value)) for name, value in _more_facts(plan, directory) if value],
            figures=self._runs.figures(run_id, curves),
            no_loss=summary.no_loss.text if summary.no_loss else "",
            output=self._output(run_id),
            diagnosis=_masked(told.to_json() | {"cause": _cause(directory, told)}, hide) if told else lost,
        )

    def _output(self, run_id: str) -> str:
        """Its last lines, as a terminal would show them."""
        text = without_escapes(self._runs.output_end(run_id)[0])
        lines = [line.rstrip("\r").rpartition("\r")[2][:_LINE_SHOWN] for line in text.rstrip().split("\n")]
        return "\n".join(lines[-_LINES_SHOWN:])

    def _masked(self, curves: Sequence[Curve]) -> list[Curve]:
        """Names come from what scripts print and write."""
        hide = self._runs.masked
        return [
            Curve(
                type(one.series)(
                    hide(one.series.name), one.series.kind, one.series.rank, one.series.source, hide(one.series.node)
                ),
                one.step,
                one.epoch,
                one.time,
                one.value,
            )
            for one in curves
        ]


def _cause(directory: RunDirectory, found: Diagnosis) -> list[str]:
    cause = cause_of(found, directory.read_foretold(), directory.read_progress().get("peak") or {})
    return list(map(str, cause.sentences)) if cause else []


def _facts(
    plan: Plan, directory: RunDirectory, lasted_s: float | None, told: Diagnosis | None
) -> Iterator[tuple[str, str]]:
    """What the run was and where it ran."""
    status = directory.read_status()
    yield words("report_page", "run"), plan.run_id
    if status and status.started_at:
        yield words("report_page", "started"), _date(status.started_at)
    yield words("report_page", "duration"), duration(lasted_s) if lasted_s is not None else ""
    yield words("report_page", "exit_code"), _exit_code(status.exit_code if status else None)
    yield words("report_page", "script"), plan.script
    yield words("report_page", "trained_elsewhere"), plan.working_directory if plan.is_adopted else ""
    yield words("report_page", "ranks"), "" if plan.is_adopted else _where(plan)
    yield words("report_page", "preset"), plan.preset
    if foretold := directory.read_foretold():
        yield (
            words("report_page", "memory"),
            held_against(foretold.predicted, directory.read_progress().get("peak") or {}, ran_out(told)),
        )


def _more_facts(plan: Plan, directory: RunDirectory) -> Iterator[tuple[str, str]]:
    """What it ran with."""
    known = directory.read_provenance()
    yield words("report_page", "commit"), _commit(known.get("git"))
    yield words("report_page", "python"), _python(plan, str(known.get("python") or ""))
    yield (
        words("report_page", "versions"),
        str(listed(f"{name} {version}" for name, version in (known.get("versions") or {}).items() if version)),
    )
    yield words("report_page", "environment"), str(listed(_variables(plan)))


def _python(plan: Plan, version: str) -> str:
    """ "3.11.7 (/env/bin/python)"."""
    if not plan.target_python:
        return version
    return f"{version or words('report_page', 'unknown')} ({plan.target_python})"


def _exit_code(code: int | None) -> str:
    """A negative one is a signal's."""
    if code is None or code >= 0:
        return "" if code is None else str(code)
    with suppress(ValueError):
        return words("report_page", "by_signal", code=str(code), signal=Signals(-code).name)
    return words("report_page", "by_signal", code=str(code), signal=str(-code))


def _where(plan: Plan) -> str:
    if plan.elsewhere:
        return words("report_page", "ranks_on", ranks=str(plan.ranks), where=plan.elsewhere)
    gpus = listed(map(str, plan.gpu_indices))
    return words("report_page", "ranks_on_gpu", ranks=str(plan.ranks), gpus=gpus) if gpus else str(plan.ranks)


def _variables(plan: Plan) -> Iterator[str]:
    for name, value in plan.environment.items():
        yield f"{name}={MASK if is_secret_name(name) else value}"
    for name in plan.secret_names:
        yield f"{name}={MASK}"


def _commit(git: Any) -> str:
    if not isinstance(git, dict) or not git.get("commit"):
        return ""
    commit, branch = str(git["commit"]), str(git.get("branch") or "")
    told = words("report_page", "on_branch", commit=commit, branch=branch) if branch else commit
    return words("report_page", "dirty", commit=told) if git.get("dirty") else told


def _masked(value: Any, hide: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {key: _masked(one, hide) for key, one in value.items()}
    return [_masked(one, hide) for one in value] if isinstance(value, list | tuple) else value


def _distinct(run_ids: Sequence[str], names: Sequence[str]) -> list[str]:
    """Names that tell the runs apart."""
    return [
        name if names.count(name) == 1 else f"{name} ({run_id[-4:]})"
        for run_id, name in zip(run_ids, names, strict=True)
    ]


def _plain(name: str) -> str:
    """What every file system takes; "" of a name without a Latin letter or a digit."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-_")[:_LONGEST_IN_FILE].rstrip(".-_")


def _date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def write(path: Path, html: str) -> None:
    """A new file. Raises `RunError`."""
    try:
        with path.open("x", encoding="utf-8", errors="replace") as file:
            file.write(html)
    except FileExistsError as error:
        raise RunError(wrong("file.exists", path=str(path))) from error
    except OSError as error:
        raise RunError(wrong("file.not_written", path=str(path), why=os_reason(error))) from error
