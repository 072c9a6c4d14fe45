"""What the page says of a run of which the plan or the state can't be read."""

from dataclasses import replace

from dsgui.core.diagnosis.damaged_run import DamagedRun
from dsgui.core.texts.saying import said


def facts(run: DamagedRun) -> dict[str, str]:
    return {one["name"]: one["value"] for one in run.to_json()["facts"]}


def test_of_a_damaged_run_it_is_told_which_file_what_is_lost_with_it_what_is_left_and_what_to_do() -> None:
    plan = DamagedRun("plan.json is a folder.", "plan.json", True, ("state.json", "output.log"), "/runs/a")
    assert plan.to_json()["title"] == "plan.json is damaged"
    assert plan.to_json()["meaning"] == (
        "plan.json is a folder. It says what was started: without it the run can't be cloned or resumed, and no report "
        "can be made. Restore plan.json from a backup or another copy of this folder; without one, archive or delete "
        "the run."
    )
    assert facts(plan) == {"Still readable": "state.json, output.log", "Folder": "/runs/a"}
    state = replace(plan, file="state.json", is_plan=False, kept=())
    assert "It says how the run ended, which is not known now." in state.to_json()["meaning"]
    assert facts(state) == {"Folder": "/runs/a"}


def test_a_state_of_another_version_is_no_damage_and_nothing_is_to_be_deleted() -> None:
    told = DamagedRun(
        "x", "state.json", False, ("plan.json",), "/runs/a", said("reasons", "another_state", state="hibernating")
    ).to_json()
    assert told["title"] == "state.json was written by another version of dsgui"
    assert told["meaning"] == (
        "It says that the run is “hibernating”, a state that this version doesn't know. "
        "Open this folder with the version that wrote it, or update dsgui."
    )
    assert told["signature"] == "foreign"
