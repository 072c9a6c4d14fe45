"""“Ask DeepSpeed” on the Configure page: the question goes to the target, the answer comes when it comes."""

from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from dsgui.core.config.context import Context
from dsgui.core.errors import DocumentError
from dsgui.core.oracle.agreement import Merged, merge
from dsgui.core.oracle.answers import Answer, Question
from dsgui.core.texts.saying import words
from dsgui.ui.common.documents import check_size, read_document
from dsgui.ui.common.embedded import embedded
from dsgui.ui.common.events import ONCE
from dsgui.ui.common.services import Services
from dsgui.ui.config.ask_view import answer_html, problem_html, working_html
from dsgui.ui.config.context_bar import ContextBar
from dsgui.ui.config.workbench import make_context

_POLL_S = 0.5


@dataclass(frozen=True, slots=True)
class Asked:
    """What this page asked last; `problem` when it could not even be asked."""

    question: Question
    context: Context
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """The components. `asked` holds this page's `Asked`; `answered` changes when an answer has come."""

    button: gr.Button
    panel: gr.HTML
    asked: gr.State
    answered: gr.Number
    timer: gr.Timer


def build_ask() -> Ask:
    """Must be called inside a `gr.Blocks`."""
    with gr.Row(elem_classes=["ds-buttons", "ds-ask"]):
        button = gr.Button(words("tools_page", "ask"), size="sm", elem_id="ask", min_width=140, scale=0)
        gr.HTML(f"<p>{escape(words('tools_page', 'ask_about'))}</p>", padding=False)
    panel = embedded("config/findings", "ds-findings-root", ("fix",), value="", elem_id="ask-panel")
    return Ask(button, panel, gr.State(None), gr.Number(0, visible=False), gr.Timer(_POLL_S, active=False))


def wire_ask(ask: Ask, text: gr.Code, bar: ContextBar, services: Services) -> None:
    """The button asks; then the timer looks for the answer until it is there."""
    brought = [text, *bar.inputs]

    def now(*bar: Any) -> Context:
        return make_context(services.target(), *bar)

    def begin(text: str | None, *circumstances: Any) -> tuple[Any, ...]:
        context = now(*circumstances)
        asked = _asked(services, text or "", context)
        if not asked.problem:
            services.oracle.begin(asked.question)
        return asked, shown(services, asked, text or "", context), gr.Timer(active=not asked.problem)

    def follow(asked: Asked | None, answered: float, text: str | None, *circumstances: Any) -> tuple[Any, ...]:
        if asked is None:
            return gr.skip(), gr.Timer(active=False), answered
        html = shown(services, asked, text or "", now(*circumstances))
        going = services.oracle.progress(asked.question)
        over = going is None or going[0].is_over
        return html, gr.Timer(active=not over), answered + over

    ask.button.click(begin, brought, [ask.asked, ask.panel, ask.timer], **ONCE)
    ask.timer.tick(follow, [ask.asked, ask.answered, *brought], [ask.panel, ask.timer, ask.answered], **ONCE)


def shown(services: Services, asked: Asked, text: str, context: Context) -> str:
    """The panel about what was asked, while the page now has this text and context."""
    if asked.problem:
        return problem_html(asked.problem)
    going, answer = services.oracle.progress(asked.question), services.oracle.cached(asked.question)
    if going and not going[0].is_over:
        return working_html(*going)
    if going and going[0].problem:
        return problem_html(going[0].problem)
    if answer:
        stale = Question.of(text, context) != asked.question or context.release != asked.context.release
        return answer_html(answer, _merged(services, answer, asked), stale)
    return ""


def _asked(services: Services, text: str, context: Context) -> Asked:
    question, installed = Question.of(text, context), services.target().version("deepspeed")
    problem = "" if installed else words("tools_page", "no_deepspeed")
    if installed and context.release != installed:
        problem = words("tools_page", "planned", planned=context.release, installed=installed)
    try:
        check_size(text)
    except DocumentError as error:
        problem = str(error)
    return Asked(question, context, problem)


def _merged(services: Services, answer: Answer, asked: Asked) -> Merged:
    """Where dsgui's rules and the answer differ; of a text that is no JSON dsgui has nothing to say."""
    try:
        document = read_document(asked.question.text)
    except DocumentError:
        return Merged(())
    checker = services.checker
    findings = checker.findings(document, asked.context, fixes=False)
    return merge(findings, answer, document, asked.context, checker.schema.fields)
