"""What the browser runs itself: modules of `static/`, loaded as files of ours, never JavaScript in a Python text."""

import json
from typing import Any

import gradio as gr
from gradio.events import Dependency

from dsgui.ui.common.events import LOCAL


def embedded(module: str, root_class: str, events: tuple[str, ...], **arguments: Any) -> gr.HTML:
    """A component drawn by `static/<module>.js`, whose `mount(element, props, trigger, watch)` owns the element with
    class `root_class`. `events` are the custom events it triggers: gradio finds their names in the loading script."""
    names = "".join(f"'{event}';" for event in events)
    script = f"{names}{_then(module, 'mount(element,props,trigger,watch)')}"
    return gr.HTML(
        html_template=f'<div class="{root_class}"></div>',
        js_on_load=script,
        apply_default_css=False,
        padding=False,
        **arguments,
    )


def in_browser(module: str, function: str, *before: Any) -> str:
    """For an event's `js`: a function of `static/<module>.js` is called with `before` (JSON values) and the inputs;
    what it returns goes to the outputs."""
    given = "".join(f"{json.dumps(value)}, " for value in before)
    return f"(...inputs) => {_then(module, f'{function}({given}...inputs)')}"


def tell_if_unanswered(sent: Dependency, what: str) -> None:
    """The page hears when an event's handler raised or was not reached: `onUnanswered(what, …)` of
    `static/common/unanswered.js`. Else a button that waits for the answer waits for good."""
    sent.failure(None, None, None, js=in_browser("common/unanswered", "tell", what), **LOCAL)


def _then(module: str, call: str) -> str:
    """The whole address: V8 keeps what it compiled for Gradio's texts with the place they were first seen at, and a tab
    that goes from one dsgui to another on another port asked the first one for a bare path."""
    return f"import(location.origin + '/dsgui/static/{module}.js').then((m)=>m.{call})"
