"""What is asked for becomes one spec, from the page and the command line alike, and goes back into the same fields."""

import argparse
import json
import shlex
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.commands.launch import add_arguments
from dsgui.core.errors import PlanError
from dsgui.core.launch.field import Kind, Part
from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.launch.places.ssh import Machines
from dsgui.core.launch.plan import (
    READERS,
    WHEN_BUSY,
    ConfigArgument,
    Here,
    LaunchRequest,
    Plan,
    RunSpec,
    StartedBy,
    WhenBusy,
)
from dsgui.core.launch.plan_json import plan_from_json, plan_to_json
from dsgui.core.launch.plan_making import make_plan
from dsgui.core.launch.run_fields import FIELDS, complete
from dsgui.core.launch.spec import request_of, values_of
from dsgui.core.memory.choice import ATTENTIONS, ModelChoice

WORDS = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=8)
VALUES = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=12).flatmap(
    lambda one: st.sampled_from([one, f'"{one}"', f"'{one}", f" {one} "])
)
SPECS = st.builds(
    LaunchRequest,
    name=WORDS,
    script=WORDS.map("/scripts/{}.py".format),
    arguments=st.lists(VALUES, max_size=4).map(shlex.join),
    ranks=st.integers(1, 64),
    working_directory=WORDS,
    config_text=st.just("{}"),
    config_argument=st.sampled_from(ConfigArgument),
    target_python=st.just("/env/bin/python"),
    environment=st.dictionaries(st.integers(0, 99).map("E_{}".format), VALUES, max_size=3),
    started_by=st.sampled_from([kind for kind in StartedBy if kind is not StartedBy.OTHERS]),  # that is no launch
    when_busy=st.sampled_from(WhenBusy),
    stop_after_steps=st.integers(0, 10**6),
    stop_after_minutes=st.integers(0, 10**6),
    parent=st.sampled_from(["", "20260131-235959-0a1b"]),
    model=st.builds(
        ModelChoice,
        model=WORDS,
        length=st.integers(0, 10**6),
        target_length=st.integers(0, 4096),
        checkpointing=st.booleans(),
        attention=st.sampled_from(ATTENTIONS),
        lora_rank=st.integers(0, 512),
    ),
)
ELSEWHERE = st.one_of(
    st.just({}),
    st.builds(
        lambda one: {"gpu_indices": tuple(sorted(one)), "ranks": len(one)}, st.sets(st.integers(0, 7), min_size=1)
    ),
    st.builds(lambda i, a: {"place": Machines("a slots=2", i, "", a)}, WORDS, WORDS),
    st.builds(lambda n, p, o: {"place": SlurmJob(n, 2, False, p, "10", "", o)}, st.integers(1, 9), WORDS, WORDS),
)

ROOT = Path(__file__).parents[3]


@given(SPECS, ELSEWHERE)
def test_a_spec_fills_the_fields_that_ask_for_it(spec: LaunchRequest, elsewhere: dict[str, Any]) -> None:
    spec = replace(spec, **elsewhere)
    again = request_of(values_of(spec), "{}", "/env/bin/python")
    assert again == spec


@given(SPECS)
def test_a_plan_is_written_and_read_back(spec: LaunchRequest) -> None:
    plan = make_plan(spec, run_id="r", run_directory="/runs/r", script_path=spec.script, master_port=29500)
    written = json.loads(json.dumps(plan_to_json(plan)))
    assert plan_from_json(written | {"of a later release": 1}) == plan
    assert written.keys() == {field.name for field in fields(Plan)} - {"place"} | {
        "machines",
        "slurm",
        "trains",
        "dsgui",
    }


def test_a_plan_of_the_first_release_is_read() -> None:
    first = {
        "run_id": "r",
        "name": "n",
        "run_directory": "/runs/r",
        "script": "/s.py",
        "arguments": ["--lr", "1e-4"],
        "ranks": 2,
        "gpu_indices": [0, 1],
        "master_port": 29500,
        "working_directory": "/w",
        "config_argument": "HF",
        "target_python": "/py",
    }
    plan = plan_from_json(first)
    assert (plan.arguments, plan.started_by, plan.place) == (("--lr", "1e-4"), StartedBy.DEEPSPEED, Here())
    for name in first:
        with pytest.raises(KeyError):
            plan_from_json({key: value for key, value in first.items() if key != name})


def test_every_field_is_somewhere() -> None:
    """Each name once; what the command line has stands in `launch --help`; no choice is offered that is not known."""
    names = [field.name for field in FIELDS]
    assert len(set(names)) == len(names)
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    options = {action.dest: action.option_strings for action in parser._actions}
    assert {field.name: [field.option] for field in FIELDS if field.option} == {
        field.name: options[field.name] for field in FIELDS if field.option
    }
    choices = {field.name: {value for _, value in field.choices} for field in FIELDS if field.choices}
    assert choices["reader"] == {"auto", *READERS}
    assert choices["when_busy"] == set(WHEN_BUSY)
    assert choices["where"] == {"here", "several", "slurm"}
    assert all(field.label for field in FIELDS if field.part not in (Part.NOWHERE, Part.COMMAND, Part.BAR))


def test_what_is_not_offered_is_refused_in_a_sentence() -> None:
    for name, value in (("reader", "HF"), ("started_by", "mpirun"), ("when_busy", "soon"), ("where", "cloud")):
        with pytest.raises(PlanError, match=f"“{value}” is not an option"):
            request_of({"script": "a.py", name: value}, "{}", "python")
    for port in ("x1", "123456", "-1"):
        with pytest.raises(PlanError, match=f"Master port: “{port}” is not a port. Enter a number"):
            request_of({"script": "a.py", "port": port}, "{}", "python")
    with pytest.raises(KeyError):
        complete({"no_field": 1})


def test_an_emptied_number_is_none_of_the_default() -> None:
    counts = [field.name for field in FIELDS if field.kind is Kind.COUNT]
    assert {complete(dict.fromkeys(counts))[name] for name in counts} == {0}


def test_the_spec_is_what_request_and_plan_share() -> None:
    shared = {field.name for field in fields(RunSpec)}
    assert {field.name for field in fields(LaunchRequest)} - shared == {
        "config_text",
        "secrets",
        "as_script_reads",
        "logs",
        "notify",
    }
    assert {field.name for field in fields(Plan)} - shared == {
        "run_id",
        "run_directory",
        "secret_names",
        "passes_local_rank",
    }


def test_a_plain_value_of_a_run_is_declared_in_two_files() -> None:
    """As a field, and as what the spec has of it: page, options, clone and plan.json follow. Others may use it."""
    names = {
        path.name for path in (ROOT / "dsgui/core/launch").glob("*.py") if "stop_after_minutes" in path.read_text()
    }
    assert names == {"run_fields.py", "plan.py", "limits.py"}
    others = [*(ROOT / "dsgui/ui").rglob("*.py"), *(ROOT / "dsgui/commands").rglob("*.py")]
    assert [path for path in others if "stop_after_minutes" in path.read_text()] == []
