"""A `gr.HTML` whose behaviour is a JavaScript module of `static/`, loaded by the browser as a file of ours."""

from typing import Any

import gradio as gr


def embedded(module: str, root_class: str, events: tuple[str, ...], **arguments: Any) -> gr.HTML:
    """A component drawn by `static/<module>.js`, whose `mount(element, props, trigger, watch)` owns the element with
    class `root_class`. `events` are the custom events it triggers: gradio finds their names in the loading script."""
    names = ", ".join(f'"{event}"' for event in events)
    script = (
        f"const events = [{names}]; "
        f"import('/dsgui/static/{module}.js').then((m) => m.mount(element, props, trigger, watch, events));"
    )
    return gr.HTML(
        html_template=f'<div class="{root_class}"></div>',
        js_on_load=script,
        apply_default_css=False,
        padding=False,
        **arguments,
    )
