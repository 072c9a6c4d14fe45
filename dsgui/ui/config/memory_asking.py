"""“Memory dry run” on the memory panel: the question goes to the training environment, the answer comes when it
comes, and ends with the page that asked."""

import json
from collections.abc import Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import Any

import gradio as gr

from dsgui.core.config.context import Context
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.engines.job import Made
from dsgui.core.memory.fits.rehearsing import as_json, cannot
from dsgui.core.memory.question import Question
from dsgui.core.texts.saying import said
from dsgui.ui.common.embedded import tell_if_unanswered
from dsgui.ui.common.events import ONCE
from dsgui.ui.common.services import Services
from dsgui.ui.config.memory_panel import MemoryPanel, inquiry_for
from dsgui.ui.config.workbench import View, Workbench, make_context


def wire_memory_asking(
    memory: MemoryPanel, text: gr.Code, bar: Sequence[Any], parts: tuple[Services, Workbench]
) -> None:
    """The panel's button asks; then the timer looks for the answer until it is there. `parts` are what is asked."""
    services, workbench = parts
    presses = count()

    def rehearse(request: gr.Request, text: str | None, *bar_and_memory: Any) -> tuple[Any, gr.Timer]:
        given = bar_and_memory[: len(bar)]
        context = make_context(services.target(), *given)
        asked = question_of(services, workbench.show(text or "", context), context, bar_and_memory[len(bar) :])
        press = {"press": next(presses)}  # told anew, so that the page sees an answer to each
        if isinstance(asked, CannotSay):
            return gr.update(rehearsed=json.dumps(cannot(asked) | press)), gr.Timer(active=False)
        services.dry_runs.begin(session_of(request), *asked)
        return gr.update(rehearsed=shown(services, session_of(request), press)), gr.Timer(active=True)

    def follow(request: gr.Request, answered: float) -> tuple[Any, gr.Timer, float]:
        going = services.dry_runs.progress(session_of(request))
        over = going is None or going.told is not None
        told = gr.update(rehearsed=shown(services, session_of(request)))
        return told, gr.Timer(active=not over), answered + over

    def cancel(request: gr.Request) -> None:
        services.dry_runs.cancel(session_of(request))

    brought = [text, *bar, *memory.inputs]
    asked = memory.panel.rehearse(rehearse, brought, [memory.panel, memory.timer], **ONCE)
    for sent in (asked, memory.panel.cancel(cancel, None, None, **ONCE)):
        tell_if_unanswered(sent, "dry_run")
    memory.timer.tick(follow, [memory.answered], [memory.panel, memory.timer, memory.answered], **ONCE)


def end_with_page(demo: gr.Blocks, services: Services) -> None:
    """A dry run that nobody waits for is ended, and a model that nobody asks any more."""

    def gone(request: gr.Request) -> None:
        services.dry_runs.forget(session_of(request))
        services.box.forget(session_of(request))

    demo.unload(gone)


def session_of(request: gr.Request) -> str:
    """The page that asks."""
    return str(request.session_hash or "")


def question_of(
    services: Services, view: View, context: Context, given: Sequence[Any]
) -> tuple[Question, Made] | CannotSay:
    """What the page shows, as a question to the DeepSpeed that is installed; `given` are the panel's inputs."""
    inquiry = inquiry_for(services, view, context, given)
    if isinstance(inquiry, CannotSay):
        return inquiry
    installed = services.target().version("deepspeed")
    if not installed:
        return CannotSay(said("memory_rehearsal", "none"))
    if context.release != installed:
        return CannotSay(said("memory_rehearsal", "planned", release=context.release, installed=installed))
    question = inquiry.case.question(inquiry.schema)
    return question if isinstance(question, CannotSay) else (question, inquiry.case.made(question))


def shown(services: Services, session: str, more: Mapping[str, int] = MappingProxyType({})) -> str:
    """How far the page's dry run is, or what it found, as JSON; "" for none."""
    going = services.dry_runs.progress(session)
    return json.dumps({**as_json(going), **more}) if going else ""
