"""The Runs page: every run started here, live or ended. The browser reads through `routes.py`; what it asks to be done
comes here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from dsgui.core.afterwards.pruning import Rule
from dsgui.core.errors import DsguiError
from dsgui.core.texts.saying import in_row, listed, words
from dsgui.runs.adoption import Added, Answer
from dsgui.ui.common.embedded import embedded
from dsgui.ui.common.events import TELLING, details
from dsgui.ui.common.services import Services
from dsgui.ui.common.toasts import refusal, tell

_MOST_LABELLED = 1000
_ADDED_S = 20


@dataclass(frozen=True, slots=True)
class RunsPage:
    """`monitor` takes a run id as its value and shows that run."""

    monitor: gr.HTML


def build_runs(services: Services) -> RunsPage:
    """Lays the page out and wires it. Must be called inside a `gr.Blocks`."""

    def asked(what: Callable[[str], None]) -> Callable[[gr.EventData], None]:
        def ask(event: gr.EventData) -> None:
            try:
                what(str(details(event).get("run_id", "")))
            except DsguiError as error:
                raise refusal(escape(str(error))) from error

        return ask

    def delete(run_id: str) -> None:
        services.archive.delete(run_id)
        tell(escape(words("runs_page", "deleted", run=run_id)))

    def add_pattern(event: gr.EventData) -> None:
        told = details(event)
        try:
            services.inspection.add_pattern(str(told.get("run_id", "")), str(told.get("template", "")))
        except DsguiError as error:
            raise refusal(escape(str(error))) from error

    def annotate(event: gr.EventData) -> None:
        told = details(event)
        ids, change = told.get("run_ids"), told.get("change")
        if not isinstance(ids, list) or not isinstance(change, dict):
            return
        refused = None
        for run_id in ids[:_MOST_LABELLED]:
            try:
                services.archive.label(str(run_id), change)
            except DsguiError as error:  # deleted meanwhile, say: the others are labelled all the same
                refused = error
        if refused:
            raise refusal(escape(str(refused))) from refused

    def work(event: gr.EventData) -> None:
        told = details(event)
        given = told.get("given")
        try:
            started = services.after.start(str(told.get("run_id", "")), given if isinstance(given, dict) else {})
        except DsguiError as error:
            raise refusal(escape(str(error))) from error
        tell(escape(words("after_page", "started", name=services.runs.summary(started).name)))

    def attempt(request: gr.Request, event: gr.EventData) -> None:
        told = details(event)
        given = told.get("given")
        try:
            page = str(request.session_hash or "")
            services.box.begin(str(told.get("run_id", "")), given if isinstance(given, dict) else {}, page)
        except DsguiError as error:
            raise refusal(escape(str(error))) from error

    def prune(event: gr.EventData) -> None:
        told = details(event)
        seen = told.get("seen")
        try:
            rule = Rule.of(told.get("last"), told.get("every"), told.get("best"))
            paths = [str(one) for one in seen] if isinstance(seen, list) else []
            gone = services.after.delete_old(str(told.get("run_id", "")), rule, paths)
        except DsguiError as error:
            raise refusal(escape(str(error))) from error
        tell(escape(words("after_page", "deleted", names=listed(gone))))

    def adopt(event: gr.EventData) -> Any:
        try:
            answer = services.adoption.add(str(details(event).get("folder", "")))
        except DsguiError as error:
            raise refusal(escape(str(error))) from error
        tell(escape(services.runs.masked(told_of(answer))), duration=_ADDED_S)
        return answer.added[0].run_id if len(answer.added) == 1 else gr.skip()

    def reread(run_id: str) -> None:
        changed = services.adoption.read_again(run_id)
        name = services.runs.summary(run_id).name
        tell(escape(words("runs_page", "read_again" if changed else "nothing_new", name=name)))

    events = (
        *("stop", "save", "delete", "again", "pattern", "annotate", "work", "prune", "attempt", "unload"),
        *("adopt", "reread"),
    )
    monitor = embedded("runs/runs", "ds-runs", events, value="", elem_id="monitor")
    # A run that is being started is waited for: a stop of another waits for nobody's.
    monitor.stop(asked(services.runs.stop), None, None, **TELLING, concurrency_limit=None)
    monitor.save(asked(services.runs.save_and_stop), None, None, **TELLING, concurrency_limit=None)
    monitor.pattern(add_pattern, None, None, **TELLING)
    # What is written while the last is on its way, an undo as well, is not lost: one after the other.
    monitor.annotate(annotate, None, None, **TELLING, trigger_mode="multiple")
    monitor.work(work, None, None, **TELLING)
    monitor.attempt(attempt, None, None, **TELLING)
    monitor.unload(asked(services.box.end), None, None, **TELLING)
    monitor.prune(prune, None, None, **TELLING)
    monitor.delete(asked(delete), None, None, **TELLING)
    monitor.adopt(adopt, None, [monitor], **TELLING)
    monitor.reread(asked(reread), None, None, **TELLING)
    return RunsPage(monitor)


def told_of(answer: Answer) -> str:
    """What was added of a folder, and what of it was not understood."""
    parts = (
        _named("added", [one for one in answer.added if one.run_id and not one.again], folder=answer.source),
        _named("added_again", [one for one in answer.added if one.again]),
        _named("not_added", [one for one in answer.added if not one.run_id]),
        *map(str, answer.notes),
    )
    return in_row(parts)


def _named(code: str, runs: Sequence[Added], **given: str) -> str:
    return words("runs_page", code, names=listed([one.name for one in runs]), **given) if runs else ""
