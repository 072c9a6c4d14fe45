"""What the Launch page shows is what Launch starts: an old answer never replaces a newer one."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from dsgui.core.launch.plan import Plan
from dsgui.core.memory.fits.foretold import Foretold

# When the page asked, by the page's own clock: requests of different events may overtake each other.
SENT_AT = "(...values) => { values[0] = performance.now(); return values; }"
# The same, and the page says that it is checked where that takes a while (static/launch/checking.js).
ASKED = (
    "(...values) => { document.dispatchEvent(new Event('dsgui:asked')); values[0] = performance.now(); return values; }"
)
ANSWERED = "() => { document.dispatchEvent(new Event('dsgui:answered')); }"
# The button can be pressed at once, not with the next answer: a press in between would go nowhere. What it may start,
# the press asks. While a problem waits for its tick, only the tick gives it free.
ENABLED = '(ticked) => ({ __type__: "update", interactive: ticked, variant: ticked ? "primary" : "secondary" })'
_WHILE_BUILT = """() => [
  {__type__: "update", ...(document.getElementById("although") ? {} : {interactive: true})},
  document.getElementById("launch-message")?.textContent.trim() === %s ? "" : {__type__: "update"},
]"""


@dataclass(frozen=True, slots=True)
class Previewed:
    """A plan, the command that the page shows for it, and what stood on the page when it was made. `foretold`: what the
    page says of its memory, None where no model is named. `handed_on`: to the supervisor, and written nowhere. `ready`:
    no check stands against it that was not accepted. `numbered`: nobody typed its name, which gets a number where
    another run has it."""

    plan: Plan
    line: str
    config_text: str
    handed_on: Mapping[str, str]
    made_from: tuple[Any, ...]
    foretold: Foretold | None = None
    ready: bool = True
    numbered: bool = False


def while_built(nothing_yet: str) -> str:
    """For the button and the message below it: a press that found nothing to launch is over."""
    return _WHILE_BUILT % json.dumps(nothing_yet)


class Latest:
    """When, in milliseconds of the page's clock, its newest preview was asked for."""

    sent_at = 0.0


def in_order(preview: Callable[..., tuple[Any, ...]], width: int) -> Callable[..., tuple[Any, ...]]:
    """`preview` after two values, when it was asked for and the page's `Latest`: its answer of `width` values is
    dropped where the page has asked anew since."""

    def newest(sent_at: float | None, latest: Latest, *values: Any) -> tuple[Any, ...]:
        asked_at = sent_at or 0.0
        latest.sent_at = max(latest.sent_at, asked_at)
        answer = preview(*values) if asked_at == latest.sent_at else ()
        return answer if asked_at == latest.sent_at else tuple(gr.skip() for _ in range(width))

    return newest
