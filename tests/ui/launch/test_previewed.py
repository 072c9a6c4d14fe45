"""A launch that is shown is the one that starts, in whatever order the answers come."""

from types import SimpleNamespace
from typing import Any, cast

from dsgui.core.launch.plan import ConfigArgument
from dsgui.core.preflight.handing_checks import Offer
from dsgui.ui.common.services import Services
from dsgui.ui.launch.launch_page import _accepted, _taken_back
from dsgui.ui.launch.pressed import DOUBLE_CLICK_MS, Gone, Pressed, starter
from dsgui.ui.launch.previewed import Latest, Previewed, in_order

SKIPPED = {"__type__": "update"}


def test_an_answer_is_dropped_where_a_newer_one_was_asked_for_before_it_came() -> None:
    latest, asked = Latest(), []

    def preview(value: str) -> tuple[str, str]:
        asked.append(value)
        if value == "slow":
            assert answer(2.0, latest, "newer") == ("newer", "shown")
        return value, "shown"

    answer = in_order(preview, 2)
    assert answer(1.0, latest, "slow") == (SKIPPED, SKIPPED)
    assert answer(1.5, latest, "came late") == (SKIPPED, SKIPPED)
    assert answer(3.0, latest, "last") == ("last", "shown")
    assert asked == ["slow", "newer", "last"]  # nothing is worked out that nobody will see


class Runs:
    def __init__(self) -> None:
        self.started: list[Any] = []

    def start(self, *given: Any) -> str:
        self.started.append(given)
        return "20260131-235959-0a1b"


SEEN = ("{}", "preset", False, "hf", "this machine", "a.py", 2)
PLAN: Any = object()
FORETOLD: Any = object()


def previewed(line: str = "deepspeed a.py", seen: tuple[Any, ...] = SEEN, ready: bool = True) -> Previewed:
    return Previewed(PLAN, line, "{}", {"HF_TOKEN": "hidden"}, seen, FORETOLD, ready)


def press(runs: Runs, held: Any, line: str = "deepspeed a.py", seen: tuple[Any, ...] = SEEN, **made: Any) -> Any:
    """Of a page that shows `line` for `held` while `seen` stands on it; a preview would be made as `made` says."""

    def preview(shown: Any, named: Any, brought: Any, answer: Any, *made_from: Any) -> tuple[Any, ...]:
        assert (shown, brought) == (("problem",), None)
        return ("deepspeed b.py", previewed("deepspeed b.py", made_from, **made) if made else None)

    start = starter(cast(Services, SimpleNamespace(runs=runs)), preview)
    return start(5.0, Latest(), held, line, ("problem",), "", None, None, *seen)


def test_what_is_shown_starts_as_it_is_shown() -> None:
    runs = Runs()
    pressed = press(runs, previewed())
    assert (pressed.run_id, pressed.anew) == ("20260131-235959-0a1b", ())
    assert runs.started == [(PLAN, "{}", {"HF_TOKEN": "hidden"}, FORETOLD, False)]


def test_one_press_starts_what_stands_on_the_page_whatever_command_it_still_shows() -> None:
    other = ("{}", "preset", False, "hf", "this machine", "a.py", 1)
    for held, line, seen in ((None, "", SEEN), (previewed(), "an old answer", SEEN), (previewed(), "", other)):
        runs = Runs()
        pressed = press(runs, held, line, seen, ready=True)
        assert pressed.run_id == "20260131-235959-0a1b"
        assert (pressed.anew[0], pressed.anew[1].made_from) == ("deepspeed b.py", seen)  # and shows it
        assert len(runs.started) == 1


def test_a_press_starts_nothing_that_the_checks_hold_back_or_that_is_incomplete_or_gone() -> None:
    runs = Runs()
    assert press(runs, None, ready=False).told.startswith("**Not started.** With the settings as they are now")
    assert press(runs, None).told.startswith("Nothing to launch yet")
    assert press(runs, Gone(4.0)) == Pressed("", "")  # a double click
    assert runs.started == []
    assert press(runs, Gone(-DOUBLE_CLICK_MS), ready=True).run_id  # the same again, on purpose


def test_an_answer_asked_for_before_a_press_is_dropped_after_it() -> None:
    latest = Latest()
    start = starter(cast(Services, SimpleNamespace(runs=Runs())), lambda *_: ())
    start(5.0, latest, previewed(), "deepspeed a.py", (), None, *SEEN)
    assert in_order(lambda: ("late",), 1)(4.0, latest) == (SKIPPED,)


def test_an_offer_that_was_taken_can_be_taken_back() -> None:
    variable = Offer("Set it", ConfigArgument.HF, variables=(("PYTORCH_ALLOC_CONF", "a:b"),), stays=True)
    reader, arguments, environment, before, undo = _accepted(variable, "auto", "--x 1", "A=1")
    assert (reader, arguments, environment) == ("auto", "--x 1", "A=1\nPYTORCH_ALLOC_CONF=a:b")
    assert undo.visible
    *typed, hidden = _taken_back(before)
    assert typed == ["auto", "--x 1", "A=1"]
    assert not hidden.visible
    words = Offer("Add", ConfigArgument.HF, ("--gradient_checkpointing",), stays=True)
    assert _accepted(words, "auto", "--x 1 ", None)[:3] == ("auto", "--x 1 --gradient_checkpointing", "")
    assert _accepted(None, "auto", "--x 1", "A=1")[:4] == ("auto", "--x 1", "A=1", None)
