"""The Launch page's question to the place where a run will train. What is answered there stands among the checks, for
as long as nothing that was asked about has changed."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

import gradio as gr

from dsgui.core.errors import DsguiError
from dsgui.core.launch.plan import Place, Plan
from dsgui.core.machine.verdicts import Row, Status, saw, worst_first
from dsgui.core.preflight.preflight import ELSEWHERE
from dsgui.core.texts.saying import said, words
from dsgui.ui.common.events import LOCAL, TELLING
from dsgui.ui.common.services import Services
from dsgui.ui.common.toasts import refusal
from dsgui.ui.launch.previewed import Previewed
from dsgui.ui.preflight.preflight_view import press_html

Ways = Mapping[Row, str]  # of each row, HTML of the button that belongs to it
_FRESH_S = 600.0


@dataclass(frozen=True, slots=True)
class AskFirst:
    """`button` asks at places of this `kind`; what is shown presses it."""

    kind: type[Place]
    button: gr.Button


@dataclass(frozen=True, slots=True, eq=False)  # Gradio hashes what is in a State
class Answer:
    """`rows` of what it is `about`, given `at`, in seconds since the epoch."""

    about: tuple[Any, ...]
    rows: tuple[Row, ...]
    at: float


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
    """What an answer holds for: as long as this is the same, it is worth showing. What nobody is asked about is not of
    it: the master's address, say, and the run's own folder and the port, which are new with each preview."""
    folder = "" if plan.working_directory == plan.run_directory else plan.working_directory
    return (
        plan.place.hosts() or plan.place,
        plan.target_python,
        plan.script,
        folder,
        tuple(sorted(plan.environment.items())),
    )


@dataclass(frozen=True, slots=True)
class Told:
    """The checks with what was answered, worst first; `ways` are the buttons that ask, `unasked`: nobody answered."""

    rows: tuple[Row, ...]
    ways: Ways = field(default_factory=dict)
    unasked: bool = False


def with_answer(rows: tuple[Row, ...], plan: Plan, answer: Answer | None, now: float) -> Told:
    """What was answered stands in the place of the row that says that it was not asked, with the button that asks again
    beside the first of what is wrong; an old answer counts no more at `now`, in seconds."""
    asked, rest = plan.place.CAN_BE_ASKED, tuple(row for row in rows if row.check != ELSEWHERE)
    if not asked:
        return Told(rows)
    holds = answer is not None and answer.about == about(plan) and now - answer.at < _FRESH_S
    given = [_for_port(row, plan) for row in answer.rows] if answer is not None and holds else []
    if not given:
        place = Row(ELSEWHERE, said("checks", ELSEWHERE), Status.UNKNOWN, (plan.place.not_asked,))
        return Told((*rest, place), {place: _ask_html(asked, _label(asked), answer)}, unasked=True)
    first = worst_first(given)[0]
    again = _ask_html(asked, words("launch_page", "ask_again"), answer)
    return Told(worst_first((*rest, *given)), {first: again})


def _for_port(row: Row, plan: Plan) -> Row:
    """Where nobody typed one, each preview has another port than was asked for: whether that is free is not known."""
    taken, port = row.told[0], dict(row.told[0].given).get("port", "")
    if taken.code != "host.port_taken" or port == str(plan.master_port):
        return row
    return replace(row, status=Status.UNKNOWN, told=(saw("host.another_port_taken", port=port),), advised=())


def _ask_html(asked: str, says: str, answer: Answer | None) -> str:
    """Another one with each answer: the page then draws it anew, though the same was answered."""
    return press_html(_id(asked), says, meanwhile=words("launch_page", "asking"), answer=str(id(answer)))


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
            return Answer(about(plan), services.ask_place(plan), time.time())
        except DsguiError as error:
            raise refusal(escape(str(error))) from error

    # Through the queue: Gradio tells no change of a state else.
    # Pressed again meanwhile, of what the page shows then.
    asked = asks.button.click(ask, [previewed], [answer], **{**TELLING, "trigger_mode": "always_last"})
    asked.failure(None, None, None, js="() => window.dispatchEvent(new CustomEvent('dsgui:not-answered'))", **LOCAL)
