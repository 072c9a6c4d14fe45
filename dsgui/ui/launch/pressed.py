"""Launch is pressed once: what stands on the page at that moment is what starts. Where the command shown was made from
something else, or none is shown yet, it is made first and then shown and started in one answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dsgui.core.errors import DsguiError
from dsgui.core.texts.saying import words
from dsgui.ui.common.escaping import plain
from dsgui.ui.common.services import Services
from dsgui.ui.launch.previewed import Latest, Previewed

DOUBLE_CLICK_MS = 2_000.0


@dataclass(frozen=True, slots=True)
class Gone:
    """In place of what is previewed, once that was started by a press at `pressed_at`, by the page's clock: the second
    of a double click starts nothing."""

    pressed_at: float


@dataclass(frozen=True, slots=True)
class Pressed:
    """`run_id` of the run that was started, "" for none; `told` to the page. `anew` is the preview's answer where one
    had to be made, else ()."""

    run_id: str
    told: str
    anew: tuple[Any, ...] = ()


def starter(services: Services, preview: Callable[..., tuple[Any, ...]]) -> Callable[..., Pressed]:
    """`preview` answers as the page's own does; what it made is the `Previewed` in it."""

    def press(
        sent_at: float | None,
        latest: Latest,
        held: Previewed | Gone | None,
        line: str | None,
        shown: tuple[str, ...],
        named: tuple[str, ...],
        brought: Any,
        answer: Any,
        *made_from: Any,
    ) -> Pressed:
        now = sent_at or 0.0
        latest.sent_at = max(latest.sent_at, now)  # answers that were asked for before are dropped
        if isinstance(held, Gone):
            if now - held.pressed_at < DOUBLE_CLICK_MS:
                return Pressed("", "")
            held = None
        if held is not None and (held.line.strip(), held.made_from) == ((line or "").strip(), made_from):
            return _started(services, held)
        anew = preview(shown, named, brought, answer, *made_from)
        made = next((one for one in anew if isinstance(one, Previewed)), None)
        if made is None:
            return Pressed("", words("launch_page", "nothing_yet"), anew)
        if not made.ready:
            return Pressed("", words("launch_page", "refused_anew"), anew)
        return _started(services, made, anew)

    return press


def _started(services: Services, made: Previewed, anew: tuple[Any, ...] = ()) -> Pressed:
    try:
        run_id = services.runs.start(made.plan, made.config_text, made.handed_on, made.foretold, made.numbered)
    except DsguiError as error:
        return Pressed("", words("launch_page", "not_started", why=plain(str(error))), anew)
    return Pressed(run_id, words("launch_page", "started", run=run_id), anew)
