"""The Launch page's question to the place where a run will train. What is answered there stands among the checks, for
as long as nothing that was asked about has changed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from dsgui.core.errors import DsguiError
from dsgui.core.launch.plan import Place, Plan
from dsgui.core.machine.verdicts import Row, Status, worst_first
from dsgui.core.preflight.preflight import ELSEWHERE
from dsgui.core.texts.saying import words
from dsgui.ui.common.events import LOCAL, TELLING
from dsgui.ui.common.services import Services
from dsgui.ui.common.toasts import refusal
from dsgui.ui.launch.previewed import Previewed

Ways = Mapping[Row, str]  # of each row, HTML of the button that belongs to it


@dataclass(frozen=True, slots=True)
class AskFirst:
    """`button` asks at places of this `kind`; what is shown presses it."""

    kind: type[Place]
    button: gr.Button


@dataclass(frozen=True, slots=True, eq=False)  # Gradio hashes what is in a State
class Answer:
    """`rows` of what it is `about`."""

    about: tuple[Any, ...]
    rows: tuple[Row, ...]


def build_ask_first(kind: type[Place]) -> AskFirst:
    """Must be called inside a `gr.Blocks`."""
    asked = kind.CAN_BE_ASKED
    return AskFirst(kind, gr.Button(_label(asked), size="sm", visible="hidden", elem_id=_id(asked)))


def _id(asked: str) -> str:
    return f"ask-{asked}"


def _label(asked: str) -> str:
    """A place of its own module, which the catalogue doesn't know, has a word of its own."""
    return words("launch_page", "check_machines") if asked == "machines" else f"Check {asked}"


def about(plan: Plan) -> tuple[Any, ...]:
    """What an answer holds for: as long as this is the same, it is worth showing. The run's own folder and the port,
    which are new with each preview, are not of it."""
    folder = "" if plan.working_directory == plan.run_directory else plan.working_directory
    return plan.place, plan.target_python, plan.script, folder, tuple(sorted(plan.environment.items()))


def with_answer(rows: tuple[Row, ...], plan: Plan, answer: Answer | None) -> tuple[tuple[Row, ...], Ways]:
    """The rows with what was answered in the place of the one that says that it was not asked, worst first; and which
    of them have the button that asks. It stays beside the first of what is wrong there."""
    asked, place = plan.place.CAN_BE_ASKED, next((row for row in rows if row.check == ELSEWHERE), None)
    if not asked or place is None:
        return rows, {}
    given = answer.rows if answer is not None and answer.about == about(plan) else ()
    if not given:
        return rows, {place: _press_html(asked, _label(asked), answer)}
    wrong = [row for row in worst_first(given) if row.status in (Status.PROBLEM, Status.WARNING)]
    again = {wrong[0]: _press_html(asked, words("launch_page", "ask_again"), answer)} if wrong else {}
    return worst_first((*(row for row in rows if row is not place), *given)), again


def _press_html(asked: str, says: str, answer: Answer | None) -> str:
    """Another one with each answer: the page then draws it anew, though the same was answered."""
    meanwhile = escape(words("launch_page", "asking"))
    return (
        f'<button type="button" class="ds-fix" data-press="{_id(asked)}" data-meanwhile="{meanwhile}" '
        f'data-answer="{id(answer)}">{escape(says)}</button>'
    )


def wire_ask_first(asks: Iterable[AskFirst], previewed: gr.State, answer: gr.State, services: Services) -> None:
    """`previewed` has, as its `plan`, the launch that the page would start now, None while something is missing;
    `answer` gets what is said."""
    for one in asks:
        _wire(one, previewed, answer, services)


def _wire(asks: AskFirst, previewed: gr.State, answer: gr.State, services: Services) -> None:
    def ask(previewed: Previewed | None) -> Answer:
        plan = getattr(previewed, "plan", None)
        if plan is None or not isinstance(plan.place, asks.kind):
            raise refusal(words("launch_page", "incomplete"))
        try:
            return Answer(about(plan), services.ask_place(plan))
        except DsguiError as error:
            raise refusal(escape(str(error))) from error

    # Through the queue: Gradio tells no change of a state else.
    asked = asks.button.click(ask, [previewed], [answer], **TELLING)
    asked.failure(None, None, None, js="() => window.dispatchEvent(new CustomEvent('dsgui:not-answered'))", **LOCAL)
