"""`python -m dsgui launch | runs | logs | stop`: the same runs without a browser."""

import json
import threading
from pathlib import Path

import pytest

from dsgui.archive import Archive
from dsgui.cli import main
from dsgui.core.state import RunState
from tests.run_fixtures import Bench, bench, wait_until
from tests.test_archive import RANK_1_IS_KILLED

__all__ = ["bench"]


@pytest.fixture
def dsgui(bench: Bench, capsys: pytest.CaptureFixture[str]):
    """Runs a command on the bench's runs; returns exit code, stdout and stderr."""

    def run(command: str, *arguments: str):
        code = main([command, "--runs-dir", str(bench.store.runs_dir), *arguments])
        return code, *capsys.readouterr()

    return run


def launch(bench: Bench, dsgui, text: str, *options: str, arguments: tuple[str, ...] = ()):
    config = bench.folder / "ds.json"
    config.write_text('{"train_batch_size": 8, "zero_optimization": {"stage": 0}}')
    script = bench.script(text)
    return dsgui("launch", "--config", str(config), "--python", str(bench.python), *options, str(script), *arguments)


def test_launch_follow_list_and_logs_tell_the_same(bench: Bench, dsgui) -> None:
    source = "import os, sys; print('step=1 loss=2'); print(sys.argv[1:3], os.environ['NOTE'])"
    code, out, err = launch(
        bench, dsgui, source, "-f", "--env", "NOTE=it's", "--name", "mine", arguments=("--a", "b c")
    )
    assert code == 0
    run_id, *printed = out.splitlines()
    assert "['--a', 'b c'] it's" in printed
    assert f"{run_id}: succeeded." in err
    assert dsgui("logs", "last")[1].splitlines() == printed
    code, out, _ = dsgui("runs")
    assert [out.splitlines()[1].split()[place] for place in (0, 1, 2, 3, -1)] == [run_id, "succeeded", "1", "2", "mine"]
    (told,) = json.loads(dsgui("runs", "--format", "json")[1])
    assert (told["run_id"], told["state"], told["loss"]) == (run_id, "succeeded", 2)


def test_a_dry_run_prints_the_command_and_starts_nothing(bench: Bench, dsgui) -> None:
    code, out, _ = launch(bench, dsgui, "", "--dry-run", "--gpus", "1,0", arguments=("--flag",))
    assert code == 0
    assert "--include=localhost:0,1" in out
    assert out.rstrip().endswith("ds_config.json")
    assert "No runs in" in dsgui("runs")[1]


def test_stop_says_that_nothing_is_left(bench: Bench, dsgui) -> None:
    _, out, _ = launch(bench, dsgui, "import time; print('on', flush=True); time.sleep(600)")
    run_id = out.strip()
    bench.wait_for_output(run_id, "on")
    told: list[tuple[int, str, str]] = []
    follower = threading.Thread(target=lambda: told.append(dsgui("stop", run_id[:-2])))
    follower.start()
    follower.join(60)
    assert told[0][0] == 0
    assert told[0][1] == f"{run_id}: stopped\n"
    assert bench.runs.alive_processes(run_id) == []


def test_a_failed_run_followed_to_its_end_is_exit_code_1(bench: Bench, dsgui) -> None:
    code, _, err = launch(bench, dsgui, "raise ValueError('bad')", "-f")
    assert code == 1
    assert "failed. Ended with exit code 1: ValueError: bad." in err
    assert "It ended with ValueError" in err


def test_the_terminal_gives_the_pages_reason_and_diagnosis_with_the_rank(bench: Bench, dsgui) -> None:
    code, out, err = launch(bench, dsgui, RANK_1_IS_KILLED, "-f", "--although")
    assert code == 1
    run_id = out.split()[0]
    about = Archive(bench.store, bench.runs).about(run_id)["diagnosis"]
    assert f"{run_id}: failed. {bench.ended(run_id).reason}" in err
    assert f"{about['title']} (rank 1)\n  {about['meaning']}\n  - {about['advice'][0]}" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("logs", "nothing"), "there is none"),
        (("stop", "../../etc"), "there is none"),
        (("launch", "--config", "/no/such.json", "x.py"), "/no/such.json can't be read"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_2(dsgui, arguments: tuple[str, ...], says: str) -> None:
    code, out, err = dsgui(*arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.splitlines()) == 1


def test_save_is_refused_for_a_script_that_cannot(bench: Bench, dsgui) -> None:
    _, out, _ = launch(bench, dsgui, "import time; print('on', flush=True); time.sleep(600)")
    code, _, err = dsgui("stop", "--save", out.strip())
    assert code == 2
    assert "--enable_jit_checkpoint" in err
    assert bench.runs.summary(out.strip()).state in (RunState.PENDING, RunState.QUEUED, RunState.RUNNING)
    wait_until(lambda: bench.runs.summary(out.strip()).state is RunState.RUNNING)


def test_an_ambiguous_beginning_names_the_candidates(bench: Bench, dsgui) -> None:
    for _ in range(2):
        launch(bench, dsgui, "")
    code, _, err = dsgui("logs", "2")
    assert code == 2
    assert "2 runs begin so" in err
    assert Path(bench.store.runs_dir).is_dir()
