"""What the page says of a run whose supervisor is gone."""

from dataclasses import replace

from dsgui.core.diagnosis.lost_run import LostRun
from dsgui.core.launch.state import RunState, RunStatus

SAVED = {"path": "/out/checkpoint-100", "name": "checkpoint-100", "complete": True, "problem": ""}
CUT = {"path": "/out/checkpoint-200", "name": "checkpoint-200", "complete": False, "problem": "incomplete"}
LOST = LostRun(
    status=RunStatus(RunState.RUNNING).lost(0, rebooted=True),
    alive=0,
    away=False,
    is_job=False,
    step=250,
    total=1000,
    recorded_s=68.0,
    output="one\n\ntwo\n 1/9\r 2/9\nthree\nfour\nfive\n",
    log="/runs/a/output.log",
    saved="checkpoint-100",
    checkpoints=(CUT, SAVED),
)


def test_a_lost_run_tells_why_how_far_it_came_what_is_saved_and_what_it_printed_last() -> None:
    told = LOST.to_json()
    assert told["title"] == "The machine was restarted, or this run is from another machine"
    assert f"{told['title']}." == LOST.status.reason
    assert told["meaning"] == (
        "No process of it runs on this machine; how it ended is unknown. Last recorded: step 250 of 1000. "
        "dsgui followed it for 01:08. Newest complete checkpoint: checkpoint-100.\nIts last output:"
    )
    assert told["quote"] == "two\n 2/9\nthree\nfour\nfive"
    assert told["advice"] == ["All of its output: /runs/a/output.log"]
    assert told["resume"] == {"path": "/out/checkpoint-100", "name": "checkpoint-100"}


def test_what_still_runs_may_still_save_and_is_not_resumed() -> None:
    told = replace(LOST, status=RunStatus(RunState.RUNNING).lost(3, rebooted=False), alive=3).to_json()
    assert told["title"] == "dsgui lost track of this run: its supervisor is gone"
    assert "3 processes of it still run, and nobody reads what they print. Stop ends them." in told["meaning"]
    assert told["resume"] is None
    assert "1 process of it still runs" in replace(LOST, alive=1).to_json()["meaning"]


def test_of_a_machine_that_was_not_restarted_it_is_known_that_no_process_is_left() -> None:
    told = replace(LOST, status=RunStatus(RunState.RUNNING).lost(0, rebooted=False)).to_json()
    assert told["meaning"].startswith("No process of it is left; how it ended is unknown.")


def test_a_lost_run_of_which_nothing_is_known_says_so() -> None:
    unknown = replace(LOST, step=None, total=None, recorded_s=None, output="", saved="", checkpoints=(CUT,))
    told = unknown.to_json()
    assert told["meaning"].endswith("No training step was recorded. No complete checkpoint was found.")
    assert (told["quote"], told["in_output"], told["resume"]) == ("", None, None)
    assert "Last recorded: step 250. " in replace(LOST, total=None).to_json()["meaning"]
    assert "step 1234567 of 2000000." in replace(LOST, step=1234567.0, total=2e6).to_json()["meaning"]
    assert "Last recorded: step 0 of" in replace(LOST, step=0).to_json()["meaning"]


def test_what_nobody_could_look_at_is_not_said_to_be_missing() -> None:
    assert "checkpoint" not in replace(LOST, saved=None, checkpoints=()).to_json()["meaning"]
    kept = replace(LOST, checkpoints=()).to_json()  # the script can't go on from it
    assert ("checkpoint-100" in kept["meaning"], kept["resume"]) == (True, None)
    job = replace(LOST, is_job=True, step=None, total=None, saved=None, checkpoints=()).to_json()
    assert ("step" in job["meaning"], "checkpoint" in job["meaning"]) == (False, False)


def test_what_may_still_run_on_other_machines_is_not_resumed() -> None:
    told = replace(LOST, away=True).to_json()
    assert told["meaning"].startswith("Whether processes of it still run on the other machines is not known")
    assert told["resume"] is None
