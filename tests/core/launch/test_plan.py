"""A request becomes a plan; argv, environment and the preview are functions of it."""

import re
import shlex
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.errors import PlanError
from dsgui.core.launch.command import argv, environment, shell_line, shown_command
from dsgui.core.launch.places.ssh import Machines, remote_environment
from dsgui.core.launch.plan import ConfigArgument, LaunchRequest, Plan, StartedBy
from dsgui.core.launch.plan_json import plan_from_json, plan_to_json
from dsgui.core.launch.plan_making import make_plan
from tests.support.cases import each_case

REQUEST = LaunchRequest(
    name="",
    script="train.py",
    arguments="--max_steps 5 --note 'two words'",
    ranks=2,
    gpu_indices=(),
    master_port=None,
    working_directory="/srv",
    config_text="{}",
    config_argument=ConfigArgument.HF,
    target_python="/env/bin/python",
    environment={},
)


def plan(request: LaunchRequest = REQUEST, port: int = 29500) -> Plan:
    return make_plan(
        request, run_id="20260131-235959-0a1b", run_directory="/r", script_path="/s/train.py", master_port=port
    )


def test_cpu_ranks_are_asked_for_with_num_gpus() -> None:
    assert argv(plan()) == (
        *("/env/bin/python", "-m", "deepspeed.launcher.runner", "--num_gpus=2", "--master_port=29500", "/s/train.py"),
        *("--max_steps", "5", "--note", "two words", "--deepspeed", "/r/ds_config.json"),
    )


def test_chosen_gpus_are_included_and_counted_as_nvidia_smi_counts() -> None:
    chosen = plan(replace(REQUEST, gpu_indices=(1, 3)))
    assert "--include=localhost:1,3" in argv(chosen)
    assert not any(word.startswith("--num_gpus") for word in argv(chosen))
    assert environment(chosen, {})["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert "CUDA_DEVICE_ORDER" not in environment(plan(), {})


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (ConfigArgument.HF, ("--deepspeed", "/r/ds_config.json")),
        (ConfigArgument.NATIVE, ("--deepspeed", "--deepspeed_config", "/r/ds_config.json")),
        (ConfigArgument.NONE, ("--note", "two words")),
    ],
)
def test_the_config_is_passed_as_the_script_takes_it(how: ConfigArgument, words: tuple[str, ...]) -> None:
    assert argv(plan(replace(REQUEST, config_argument=how)))[-len(words) :] == words


def test_the_environment_has_the_marker_and_what_the_user_added() -> None:
    whole = environment(plan(replace(REQUEST, environment={"NCCL_DEBUG": "INFO"})), {"HOME": "/h"})
    assert whole == {
        "HOME": "/h",
        "PATH": "/env/bin",
        "PYTHONUNBUFFERED": "1",
        "NCCL_DEBUG": "INFO",
        "DSGUI_RUN_ID": "20260131-235959-0a1b",
        "DSGUI_RUN_FOLDER": "/r",
    }


def test_the_targets_own_programs_come_first_so_that_its_ninja_builds() -> None:
    assert environment(plan(), {"PATH": "/usr/bin:/bin"})["PATH"] == "/env/bin:/usr/bin:/bin"
    assert 'PATH=/env/bin:"$PATH" ' in shell_line(plan())


def test_the_name_defaults_to_the_scripts() -> None:
    assert plan().name == "train"
    assert plan(replace(REQUEST, name=" mine ")).name == "mine"


@each_case(
    ("changes", "says"),
    [
        ({"arguments": "--x 'open"}, "close the quote"),
        ({"script": "  "}, "Enter the path to your training script"),
        ({"ranks": 0}, "0 is too few. Enter 1 or more"),
        ({"ranks": 2, "gpu_indices": (0,)}, "one rank per GPU"),
        ({"ranks": 2, "gpu_indices": (0, 0)}, "distinct"),
        ({"environment": {"A B": "1"}}, "A B"),
        ({"environment": {"DSGUI_RUN_ID": "1"}}, "DSGUI_RUN_ID"),
        ({"arguments": "a\0b"}, "null"),
    ],
)
def test_what_cannot_be_launched_is_refused_with_a_sentence(changes: dict[str, object], says: str) -> None:
    with pytest.raises(PlanError, match=says):
        plan(replace(REQUEST, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("port", [0, 80, 1023, 65536])
def test_ports_out_of_range_are_refused(port: int) -> None:
    with pytest.raises(PlanError, match=str(port)):
        plan(port=port)


words = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)


@given(st.lists(words, max_size=4), st.dictionaries(st.from_regex(r"[A-Z_]{1,5}", fullmatch=True), words, max_size=3))
def test_a_plan_survives_json_and_the_preview_is_the_command(arguments: list[str], variables: dict[str, str]) -> None:
    made = plan(replace(REQUEST, arguments=shlex.join(arguments), environment=variables))
    assert plan_from_json(plan_to_json(made)) == made
    assert made.arguments == tuple(arguments)
    shown = shlex.split(shell_line(made))
    assert tuple(shown[-len(argv(made)) :]) == argv(made)


def test_the_preview_pasted_in_a_shell_does_the_same(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp('it\'s "a" folder $HOME\nè')
    tell = "import os, sys; print(os.getcwd(), os.environ['NOTE'], sys.argv[1:], sep='|')"
    made = replace(
        plan(replace(REQUEST, environment={"NOTE": "a 'b' $HOME"})), working_directory=str(folder), run_directory="/r n"
    )
    line = shell_line(made).replace(
        "/env/bin/python -m deepspeed.launcher.runner", shlex.join((sys.executable, "-c", tell))
    )
    out = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True).stdout
    assert out == f"{folder}|a 'b' $HOME|{list(argv(made)[3:])}\n"


TWO = Machines("worker-a slots=2\nworker-b slots=4\n", include="worker-b:1,3@worker-a", master_addr=" 10.0.0.1 ")


def test_several_machines_are_the_launchers_own_hostfile_and_filters() -> None:
    both = plan(replace(REQUEST, place=TWO, arguments="--max_steps 5"))
    assert argv(both) == (
        *("/env/bin/python", "-m", "deepspeed.launcher.runner", "--hostfile=/r/hostfile"),
        *("--include=worker-b:1,3@worker-a", "--master_addr=10.0.0.1", "--force_multi", "--master_port=29500"),
        *("/s/train.py", "--max_steps", "5", "--deepspeed", "/r/ds_config.json"),
    )
    assert both.ranks == 4
    assert both.slots == {"worker-a:0", "worker-a:1", "worker-b:1", "worker-b:3"}
    assert "DS_ENV_FILE=/r/deepspeed_env" in shell_line(both)
    assert plan_from_json(plan_to_json(both)) == both


@pytest.mark.parametrize("machines", [Machines("worker-b slots=1"), replace(TWO, include="worker-b")])
def test_one_remote_machine_alone_is_not_taken_for_this_one(machines: Machines) -> None:
    """The launcher's own way with a single host is to start the ranks here."""
    alone = plan(replace(REQUEST, place=machines, arguments=""))
    assert "--force_multi" in argv(alone)
    assert {slot.split(":")[0] for slot in alone.slots} == {"worker-b"}
    assert alone.elsewhere


@each_case(
    ("changes", "says"),
    [
        ({"started_by": StartedBy.TORCHRUN}, "only starts ranks on this machine"),
        ({"gpu_indices": (0,)}, "local GPUs and a hostfile can’t be combined"),
        ({"secrets": {"HF_TOKEN": "hf_x"}}, "HF_TOKEN can’t be passed to other hosts"),
        ({"working_directory": "/my work"}, "“/my work” would be altered"),
        ({"arguments": "--note '$HOME'"}, "“$HOME” would be altered"),
        ({"arguments": "--note ''"}, "“” would be altered"),
        ({"environment": {"A": "x`id`"}}, "would be altered"),
        ({"place": Machines("a slots=1", master_addr="10.0.0.1; id")}, "would be altered"),
    ],
)
def test_what_other_machines_would_read_differently_is_refused(changes: dict[str, object], says: str) -> None:
    with pytest.raises(PlanError, match=re.escape(says)):
        plan(replace(REQUEST, **({"place": TWO, "arguments": ""} | changes)))  # type: ignore[arg-type]


@pytest.mark.deepspeed
@given(st.from_regex(r"[A-Za-z0-9_@+=:,./ -]{0,20}", fullmatch=True).filter(lambda value: value == value.strip()))
def test_what_is_handed_on_arrives_as_it_was_typed(value: str) -> None:
    from deepspeed.launcher.multinode_runner import PDSHRunner

    # As main() of deepspeed/launcher/runner.py reads the file, and get_cmd() writes the command.
    runner = PDSHRunner.__new__(PDSHRunner)
    runner.exports = {}
    both = plan(replace(REQUEST, place=TWO, arguments="", environment={"NOTE": value}))
    for line in remote_environment(both).splitlines(keepends=True):
        runner.add_export(*line.split("=", maxsplit=1))
    exports = "".join(f"export {name}={given}; " for name, given in runner.exports.items())
    command = f'{exports} echo "$NOTE|$PATH|$PYTHONUNBUFFERED|$CUDA_DEVICE_ORDER|$DSGUI_RUN_ID" >&2'
    done = subprocess.run(["sh", "-c", command], env={"PATH": "/bin"}, capture_output=True, text=True, check=True)
    assert done.stdout == f"{value}|/env/bin:/bin|1|PCI_BUS_ID|{both.run_id}\n"


def test_the_shown_command_has_a_line_for_each_part_and_is_the_same_to_a_shell() -> None:
    made = plan(replace(REQUEST, arguments="--note 'two  words'"))
    folder, variables, launcher, options, launched = shown_command(made).split(" \\\n  ")
    begin = (variables[:5], options[:2], launched[: len(made.script)])
    assert begin == ("PATH=", "--", made.script)
    assert (folder[-2:], launcher.split()[1:]) == ("&&", ["-m", "deepspeed.launcher.runner"])
    joined = shown_command(made).replace("\\\n", "")  # as a shell reads a line that goes on
    assert shlex.split(joined) == shlex.split(shell_line(made))
