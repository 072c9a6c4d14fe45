"""The process that holds a model: one at a time, and gone with its page, its button, the server, and after a while."""

import os
import sys
import textwrap
from pathlib import Path

import pytest

from dsgui.core.afterwards.trying import Going, Question, Weights
from dsgui.core.errors import RunError
from dsgui.shell.afterwards import trying
from dsgui.shell.afterwards.trying import Asked, Trying
from tests.support.run_fixtures import wait_until

# Answers as `try_worker.py` does, without a model. What it is asked says what it does.
WORKER = """
    import json, os, sys
    say = lambda **told: print(json.dumps(told), flush=True)
    told = json.loads(sys.stdin.readline())
    say(phase="loading")
    say(loaded={"device": "cpu", "dtype": "float32", "parameters": "1", "seconds": "0"})
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["prompt"] == "crash":
            sys.exit("no more")
        say(phase="generating", of="trained")
        say(of="trained", text=str(os.getpid()))
        if asked["prompt"] != "forever":
            say(answers={"trained": {"text": str(os.getpid()), "tokens": 1, "seconds": 0, "stopped": ""}})
"""


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock):
    script = tmp_path / "worker.py"
    script.write_text(textwrap.dedent(WORKER))
    monkeypatch.setattr(trying, "TRY_WORKER", script)
    made = Trying(clock)
    yield made
    made.close()


def asked(run_id: str = "run", page: str = "", model: str = "/model") -> Asked:
    return Asked(run_id, model, sys.executable, Weights(model), page)


def told(box: Trying, run_id: str = "run") -> Going:
    found = box.progress(run_id)
    assert found
    return found


def answered(box: Trying, run_id: str = "run") -> int:
    """The pid of the process that answered."""
    wait_until(lambda: told(box, run_id).phase == "")
    assert not told(box, run_id).problem
    return int(told(box, run_id).answers["trained"]["text"])


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_one_process_answers_one_question_after_the_other(box: Trying):
    box.begin(asked(), Question("one"))
    first = answered(box)
    box.begin(asked(), Question("two"))
    assert answered(box) == first
    box.begin(asked(model="/other"), Question("three"))
    other = answered(box)
    assert other != first
    wait_until(lambda: not is_there(first))
    assert box.progress("another run") is None


def test_its_button_its_page_and_the_server_end_it(box: Trying):
    box.begin(asked(page="page"), Question("one"))
    first = answered(box)
    box.forget("another page")
    box.end("another run")
    assert is_there(first)
    box.forget("page")
    wait_until(lambda: not is_there(first))
    box.begin(asked(), Question("one"))
    second = answered(box)
    box.end("run")
    wait_until(lambda: not is_there(second))
    box.begin(asked(), Question("forever"))
    wait_until(lambda: bool(told(box).answers))
    third = int(told(box).answers["trained"]["text"])
    box.close()
    assert not is_there(third)


@pytest.mark.parametrize("looks", [True, False], ids=["nobody asks it any more", "its page is away"])
def test_it_ends_when_nobody_needs_it(box: Trying, clock: Clock, looks: bool):
    box.begin(asked(), Question("one"))
    pid = answered(box)
    clock.now += trying.IDLE_S + 1 if looks else trying.LEASE_S + 1
    if looks:
        told(box)
    wait_until(lambda: not is_there(pid))
    wait_until(lambda: not told(box).loaded)
    assert told(box).answers["trained"]["tokens"] == 1  # what it said stays


def test_while_it_answers_nobody_else_gets_one(box: Trying, clock: Clock):
    box.begin(asked(), Question("forever"))
    wait_until(lambda: bool(told(box).answers))
    with pytest.raises(RunError, match="page of run"):
        box.begin(asked("another"), Question("one"))
    while told(box).phase:
        clock.now += 10  # its page is there, and it says no more
    assert "No answer after" in str(told(box).problem)
    box.begin(asked("another"), Question("one"))
    assert answered(box, "another") != os.getpid()


def test_a_process_that_ends_says_why_and_another_question_gets_a_new_one(box: Trying):
    box.begin(asked(), Question("crash"))
    wait_until(lambda: told(box).phase == "")
    assert "no more" in str(told(box).problem)
    wait_until(lambda: not told(box).loaded)
    box.begin(asked(), Question("one"))
    assert answered(box)
