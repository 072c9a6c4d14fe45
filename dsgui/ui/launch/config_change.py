"""One press on 2 · Launch changes the config, and another takes that back: errors with one right fix are fixed; where a
native script meets “auto”, values are written in its place, as the download for native DeepSpeed does, and 1 ·
Configure then checks for the same framework."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.filling import FILLED_BY_TRAINER
from dsgui.core.config.findings import Severity
from dsgui.core.config.outputs import Converted, native_form
from dsgui.core.errors import DocumentError
from dsgui.core.memory.fits.as_fixed import repair
from dsgui.core.preflight.surroundings import Launch, context_in
from dsgui.core.texts.saying import words
from dsgui.ui.common.documents import read_document
from dsgui.ui.common.events import CHANGED_TEXT, ONCE, TELLING, details
from dsgui.ui.common.findings_view import sendable
from dsgui.ui.common.services import Services
from dsgui.ui.config.configure import ConfigurePage
from dsgui.ui.config.workbench import Workbench, make_context
from dsgui.ui.launch.previewed import Previewed


def is_convertible(launch: Launch) -> bool:
    """Whether a value of the HF Trainer's is what stops this native launch."""
    errors = [one for one in launch.findings if one.severity is Severity.ERROR]
    natively = launch.reader is Integration.NATIVE and launch.handed
    return natively and any(_says_auto(launch, one.pointer) for one in errors)


def _says_auto(launch: Launch, pointer: str) -> bool:
    if pointer not in FILLED_BY_TRAINER:
        return False
    value: Any = launch.config
    for key in pointer.split("/")[1:]:
        value = value.get(key) if isinstance(value, dict) else None
    return bool(value == "auto")


def converted(text: str, context: Context) -> Converted | None:
    """None where nothing would change. Raises `DocumentError`."""
    made = native_form(read_document(text), context)
    return made if made.text != text else None


def _context(
    services: Services, made: object, reads: str, planned: Sequence[Any], arguments: TrainingArguments | None = None
) -> Context:
    """That of the run that was `made` of the page; of none yet that of what is `planned` on 1 · Configure, for the
    framework `reads`."""
    if isinstance(made, Previewed):
        return context_in(Launch.of(made.plan, {}), services.target(), arguments)
    return make_context(services.target(), reads, *planned)


def told_html(what: str, notes: Sequence[str]) -> str:
    """What was done, and what became of each value."""
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return sendable(f'<details role="status" open><summary>{escape(what)}</summary><ul>{items}</ul></details>')


@dataclass(frozen=True, slots=True, eq=False)  # Gradio hashes what is in a State
class Before:
    """`text` before the press, and the text `after` it; `framework` before a conversion, None where it is as it was."""

    text: str
    framework: str | None
    after: str


def wire_config_change(
    checks: gr.HTML,
    parts: tuple[gr.HTML, gr.Button],
    previewed: gr.State,
    configure: ConfigurePage,
    services: Services,
    workbench: Workbench,
) -> tuple[Any, Callable[[list[Any]], Any]]:
    """The buttons of `checks`; `parts` are what is said of a change and the way back. The trigger after which the
    command is to be shown anew; and what looks, on triggers, whether all that is still so."""
    told, undo = parts
    before, count, framework = gr.State(None), gr.State(0), configure.bar.integration
    goes_to = [configure.text, framework, configure.form, count, before, told, undo]

    def change(held: Before, then: Any, said: str, times: int) -> tuple[Any, ...]:
        return held.after, then, CHANGED_TEXT, times + 1, held, said, gr.Button(visible=True)

    def convert(text: str | None, made: object, times: int, current: str, *planned: Any) -> tuple[Any, ...]:
        """`made` is what was shown before the press; before hosts or a script are named it is for what is `planned`."""
        found = None
        with suppress(DocumentError):
            found = converted(text or "", _context(services, made, Integration.NATIVE.value, planned))
        if found is None:
            return tuple(gr.skip() for _ in goes_to)
        said = told_html(words("launch_page", "converted"), found.notes)
        return change(Before(text or "", current, found.text), Integration.NATIVE.value, said, times)

    def fix(text: str | None, made: object, times: int, current: str, *planned: Any) -> tuple[Any, ...]:
        """As `convert`; errors with one right fix."""
        *_, launched = planned
        fixed = workbench.plainly_fixed(text or "", _context(services, made, current, planned, launched.arguments))
        if fixed is None or not fixed.fixed:
            return tuple(gr.skip() for _ in goes_to)
        said = told_html(words("launch_page", "config_fixed"), list(map(repair, fixed.fixed)))
        return change(Before(text or "", None, fixed.document.text), gr.skip(), said, times)

    def back(text: str | None, held: Before | None, times: int) -> tuple[Any, ...]:
        gone = None, "", gr.Button(visible=False)
        if held is None or held.after != text:  # edited since: undone in 1 · Configure
            return gr.skip(), gr.skip(), gr.skip(), gr.skip(), *gone
        return held.text, held.framework or gr.skip(), CHANGED_TEXT, times + 1, *gone

    def show(event: gr.EventData) -> Any:
        reads = details(event).get("reads")
        return reads if reads in [one.value for one in Integration] else gr.skip()

    checks.show(show, None, [framework], **ONCE)
    # Through the queue: Gradio tells no change of a state else.
    given = [configure.text, previewed, count, *configure.bar.inputs]
    checks.convert(convert, given, goes_to, **TELLING)
    checks.fix(fix, given, goes_to, **TELLING)
    undo.click(back, [configure.text, before, count], goes_to, **TELLING)

    def still(text: str | None, held: Before | None) -> tuple[Any, ...]:
        return (gr.skip(),) * 3 if held is None or held.after == text else (None, "", gr.Button(visible=False))

    return count.change, lambda triggers: gr.on(triggers, still, [configure.text, before], goes_to[4:], **ONCE)
