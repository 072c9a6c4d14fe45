"""How the pages' events are sent: which go through Gradio's queue, which may overtake each other, what JS they run."""

from typing import Any

import gradio as gr

# Nowhere to show progress, not just "hidden": Gradio tells each output of an event, the whole page for `tabs`, of every
# later event's beginning and end, and reads all the components within it each time.
_UNSEEN: dict[str, Any] = {"show_progress": "hidden", "show_progress_on": []}
ONCE: dict[str, Any] = {"queue": False, **_UNSEEN, "api_visibility": "private"}
LIVE: dict[str, Any] = {**ONCE, "trigger_mode": "always_last"}
# Gradio shows a raised gr.Error as a message only for events that go through its queue.
TELLING: dict[str, Any] = {**ONCE, "queue": True}
# Given to the form beside a text that replaces the whole config, or that changes a part of it: the form then asks for
# what to show. Edits of it that are under way are void in the one case, and go into the text in the other.
NEW_TEXT = {"discard": True}
CHANGED_TEXT = {"refresh": True}
# JavaScript alone.
LOCAL: dict[str, Any] = {**_UNSEEN, "api_visibility": "private"}


def details(event: gr.EventData) -> dict[str, Any]:
    """What the page's JavaScript sent with an event of its own; {} for anything else that came instead."""
    return event._data if isinstance(event._data, dict) else {}


def turn(event: gr.EventData) -> int:
    """Which of its questions a panel asked. Its answer carries that back: a page is not told a value as it was."""
    asked = details(event).get("turn")
    return asked if isinstance(asked, int) else 0


def chosen_fix(event: gr.EventData) -> tuple[str, str, str]:
    """Rule and pointer of the finding whose button was pressed, and the id of its fix."""
    chosen = details(event)
    return str(chosen.get("rule", "")), str(chosen.get("pointer", "")), str(chosen.get("fix", ""))
