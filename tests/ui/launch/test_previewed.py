"""A launch that is shown is the one that starts, in whatever order the answers come."""

from types import SimpleNamespace
from typing import Any, cast

from dsgui.core.launch.plan import ConfigArgument
from dsgui.core.preflight.handing_checks import Offer
from dsgui.ui.common.services import Services
from dsgui.ui.launch.launch_page import _accepted, _starter, _taken_back
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


def test_only_what_was_shown_is_started_with_the_config_it_was_shown_with() -> None:
    runs: Any = Runs()
    start = _starter(cast(Services, SimpleNamespace(runs=runs)))
    plan: Any = object()
    foretold: Any = object()
    seen = ("{}", "preset", False, "hf", "this machine", "a.py", 2)
    previewed = Previewed(plan, "deepspeed a.py", "{}", {"HF_TOKEN": "hidden"}, seen, foretold)

    def press(line: str = "deepspeed a.py", text: str = "{}", ranks: int = 2) -> tuple[Any, ...]:
        return start(previewed, 4, line, text, "preset", False, "hf", "this machine", "a.py", ranks)

    assert start(None, 0, "", "{}", "preset", False, "hf", "this machine", "a.py", 2)[0] == ""
    for pressed in (press(line="deepspeed b.py"), press(text='{"a": 1}'), press(ranks=1)):
        run_id, told, kept, _, _, stale = pressed
        assert (run_id, kept, stale) == ("", None, 5)
        assert told.startswith("**Not started.** The settings changed")
    assert runs.started == []
    assert press()[0] == "20260131-235959-0a1b"
    assert runs.started == [(plan, "{}", {"HF_TOKEN": "hidden"}, foretold)]


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
