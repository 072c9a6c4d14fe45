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
    saved="/out/checkpoint-100",
    checkpoints=(CUT, SAVED),
)


def facts(run: LostRun) -> dict[str, str]:
    return {one["name"]: one["value"] for one in run.to_json()["facts"]}


def test_a_lost_run_tells_why_what_to_do_first_how_far_it_came_and_where_things_lie() -> None:
    told = LOST.to_json()
    assert told["title"] == "The machine was restarted, or this run is from another machine"
    assert f"{told['title']}." == LOST.status.reason
    assert told["meaning"] == (
        "No process of it runs on this machine; how it ended is unknown. "
        "Resume from checkpoint-100: the steps after it run again."
    )
    assert facts(LOST) == {
        "Last recorded": "step 250 of 1000",
        "Recorded for": "1m 08s",
        "Newest complete checkpoint": "/out/checkpoint-100",
        "Output": "/runs/a/output.log",
    }
    assert [one["name"] for one in told["facts"] if one["is_path"]] == ["Newest complete checkpoint", "Output"]
    assert told["quote"] == "two\n 2/9\nthree\nfour\nfive"
    assert told["resume"] == {"path": "/out/checkpoint-100", "name": "checkpoint-100"}


def test_what_still_runs_may_still_save_and_is_not_resumed() -> None:
    alive = replace(LOST, status=RunStatus(RunState.RUNNING).lost(3, rebooted=False), alive=3)
    told = alive.to_json()
    assert told["title"] == "dsgui lost track of this run: its supervisor is gone"
    assert told["meaning"] == "3 processes of it still run, and nobody reads what they print. Stop ends them."
    assert told["resume"] is None
    assert "1 process of it still runs" in replace(LOST, alive=1).to_json()["meaning"]


def test_of_a_machine_that_was_not_restarted_it_is_known_that_no_process_is_left() -> None:
    told = replace(LOST, status=RunStatus(RunState.RUNNING).lost(0, rebooted=False)).to_json()
    assert told["meaning"].startswith("No process of it is left; how it ended is unknown.")


def test_a_lost_run_of_which_nothing_is_known_says_so() -> None:
    unknown = replace(LOST, step=None, total=None, recorded_s=None, output="", saved="", checkpoints=(CUT,))
    told = unknown.to_json()
    assert told["meaning"].endswith("how it ended is unknown. A clone starts from the beginning.")
    assert facts(unknown) == {
        "Last recorded": "no training step",
        "Newest complete checkpoint": "none found",
        "Output": "/runs/a/output.log",
    }
    assert (told["quote"], told["in_output"], told["resume"]) == ("", None, None)
    assert facts(replace(LOST, total=None))["Last recorded"] == "step 250"
    assert facts(replace(LOST, step=1234567.0, total=2e6))["Last recorded"] == "step 1234567 of 2000000"
    assert facts(replace(LOST, step=0))["Last recorded"] == "step 0 of 1000"


def test_what_nobody_could_look_at_is_not_said_to_be_missing() -> None:
    assert "Newest complete checkpoint" not in facts(replace(LOST, saved=None, checkpoints=()))
    kept = replace(LOST, checkpoints=())  # the script can't go on from it
    assert facts(kept)["Newest complete checkpoint"] == "/out/checkpoint-100"
    assert kept.to_json()["resume"] is None
    job = replace(LOST, is_job=True, step=None, total=None, saved=None, checkpoints=())
    assert [*facts(job)] == ["Recorded for", "Output"]
    assert job.to_json()["meaning"].endswith("Look at its last output first.")  # there is no clone of it


def test_what_may_still_run_on_other_machines_is_not_resumed() -> None:
    told = replace(LOST, away=True).to_json()
    assert told["meaning"] == "Whether processes of it still run on the other machines is not known; Stop ends them."
    assert told["resume"] is None


def test_without_any_output_nobody_is_sent_to_look_at_it() -> None:
    silent = replace(LOST, output="\n \n", checkpoints=())
    assert silent.to_json()["meaning"].endswith("how it ended is unknown. A clone starts from the beginning.")
    told = replace(LOST, output="one\n", checkpoints=()).to_json()["meaning"]
    assert told.endswith("Look at its last output first. A clone starts from the beginning.")
    job = replace(silent, is_job=True, step=None, total=None, saved=None)
    assert job.to_json()["meaning"].endswith("how it ended is unknown.")


def test_the_clone_of_one_that_was_resumed_does_not_start_from_the_beginning() -> None:
    resumed = replace(LOST, checkpoints=(), resumes=True)
    assert resumed.to_json()["meaning"].endswith("first. A clone resumes again, as its arguments say.")
