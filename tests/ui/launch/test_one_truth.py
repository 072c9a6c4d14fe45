"""One run spec, one list of findings: what Configure, Launch, a clone and the commands say of it."""

import json
from argparse import ArgumentParser
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from dsgui.cli import main
from dsgui.commands import launch as launch_command
from dsgui.commands import validate as validate_command
from dsgui.core.config.context import Context
from dsgui.core.config.findings import Finding
from dsgui.core.errors import PlanError
from dsgui.core.launch.hostfile import hostfile_for, parse_hostfile
from dsgui.core.launch.places.ssh import Machines
from dsgui.core.launch.plan import Here, LaunchRequest, Plan
from dsgui.core.launch.plan_json import plan_from_json, plan_to_json
from dsgui.core.launch.plan_making import make_plan
from dsgui.core.launch.run_fields import complete
from dsgui.core.launch.spec import request_of, values_of
from dsgui.core.machine.hardware import Op, Target
from dsgui.core.machine.machine import Environment
from dsgui.core.preflight.judging import rows_around, with_config
from dsgui.core.preflight.surroundings import Launch, Surroundings
from dsgui.core.runs.clone import clone
from dsgui.core.validation.checker import Checker
from dsgui.shell.launch.asked_paths import script_source
from dsgui.ui.config.context_bar import Launched
from dsgui.ui.config.workbench import Workbench, make_context
from dsgui.ui.launch.as_planned import as_count, compared
from dsgui.ui.launch.preview import _with_config
from tests.shell.machine.test_machine import SOUND

TRAINER = """from transformers import HfArgumentParser, TrainingArguments
print(HfArgumentParser(TrainingArguments).parse_args_into_dataclasses())
"""
NATIVE = "import deepspeed\n"
CONFIG = {
    "train_batch_size": 32,
    "train_micro_batch_size_per_gpu": 8,
    "gradient_clipping": 0.5,
    "fp16": {"enabled": True},
    "zero_optimization": {"stage": 2, "stge": 1, "offload_optimizer": {"device": "nvme"}},
    "zenflow": {"overlap_step": True},
}
TARGET = Target(
    "/py",
    versions={"deepspeed": "0.19.8", "torch": "2.7.0"},
    accelerator="cpu",
    bf16=True,
    fp16=False,
    ops=(Op("async_io", installed=False, compatible=False),),
)
WORDS = "--max_grad_norm 2 --per_device_train_batch_size 4"


@dataclass(frozen=True)
class Spec:
    """`values` are the Launch page's and the bar's, `launched` and `checked` the same as options of the commands."""

    values: dict[str, Any]
    launched: str = ""
    checked: str = ""
    source: str = TRAINER
    words: str = WORDS
    gpus: int = 2
    nodes: int = 1


HOSTS = "a slots=4\nb slots=4\n"
SLURM = {"where": "slurm", "slurm_nodes": 2, "slurm_per_node": 4}
SPECS = {
    "HF here": Spec({"ranks": 2}, "--ranks 2", "--device this"),
    "native here": Spec(
        {"ranks": 2, "reader": "native"}, "--ranks 2 --reader native", "--device this", NATIVE, words=""
    ),
    "HF over ssh": Spec({"where": "several", "hostfile": HOSTS}, "--hostfile HOSTS", gpus=4, nodes=2),
    "HF through Slurm, a planned card": Spec(
        {**SLURM, "device": "v100"},
        "--slurm-nodes 2 --gpus-per-node 4 --device v100",
        "--device v100",
        gpus=4,
        nodes=2,
    ),
    "native through Slurm on the CPU": Spec(
        {**SLURM, "slurm_on_cpu": True, "reader": "native"},
        "--slurm-nodes 2 --ranks 4 --reader native",
        "--device cpu",
        NATIVE,
        words="",
        gpus=4,
        nodes=2,
    ),
    "HF here, another version and card": Spec(
        {"ranks": 2, "device": "a100", "version": "0.15.4"},
        "--ranks 2 --device a100 --target-version 0.15.4",
        "--device a100 --target-version 0.15.4",
    ),
}
Codes = list[tuple[str, str, str]]


def codes(findings: Iterable[Finding]) -> Codes:
    return sorted((one.rule, one.pointer, one.severity.value) for one in findings)


def planned(request: LaunchRequest, folder: Path) -> Plan:
    script = folder / "train.py"
    return make_plan(
        request,
        run_id="r",
        run_directory=str(folder / "r"),
        script_path=str(script),
        master_port=29500,
        script=script_source(str(script)),
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(validate_command, "_this_machine", lambda python: TARGET)
    monkeypatch.setattr(validate_command, "release_of", TARGET.version)
    (tmp_path / "ds.json").write_text(json.dumps(CONFIG))
    (tmp_path / "HOSTS").write_text(HOSTS)
    return tmp_path


def on_launch(plan: Plan, around: Surroundings, checker: Checker) -> Launch:
    arguments = around.arguments_of(plan)
    return _with_config(Workbench(checker), Launch.of(plan, {}), json.dumps(CONFIG), TARGET, arguments)


def on_configure(plan: Plan, values: dict[str, Any], around: Surroundings, checker: Checker) -> Codes:
    asked = complete(values)
    bar = (asked["planned_gpus"], asked["planned_nodes"], asked["device"], asked["version"])
    launched = Launched(plan.place, around.arguments_of(plan))
    context = make_context(TARGET, plan.config_argument.integration.value, *bar, launched)
    return codes(Workbench(checker).findings(json.dumps(CONFIG), context))


def by_command(spec: Spec, folder: Path) -> LaunchRequest:
    parser = ArgumentParser()
    launch_command.add_arguments(parser)
    words = f"--config ds.json --no-logging-steps --python /py {spec.launched} train.py {spec.words}".split()
    return launch_command._request(parser.parse_args(words), json.dumps(CONFIG))


def validated(spec: Spec, plan: Plan, capsys: pytest.CaptureFixture[str]) -> Codes:
    asked = f"--integration {plan.config_argument.integration.value} --gpus {spec.gpus} --nodes {spec.nodes}"
    given = [f"--training-args={spec.words}"] if spec.words else []
    main(["validate", "ds.json", "--format", "json", *asked.split(), *spec.checked.split(), *given])
    (told,) = json.loads(capsys.readouterr().out)
    return sorted((one["rule"], one["pointer"], one["severity"]) for one in told["findings"])


@pytest.mark.parametrize("name", SPECS)
def test_one_spec_has_one_list_of_findings(
    name: str, folder: Path, checker: Checker, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = SPECS[name]
    (folder / "train.py").write_text(spec.source)
    own = {"script": str(folder / "train.py"), "directory": str(folder), "arguments": spec.words}
    own |= {"planned_gpus": spec.gpus, "planned_nodes": spec.nodes, "logs": False}
    plan = planned(request_of(own | spec.values, json.dumps(CONFIG), "/py"), folder)
    machine = replace(SOUND, gpus=(), environment=Environment(TARGET))
    around = Surroundings(script_source(plan.script), machine)

    shown = on_launch(plan, around, checker)
    listed = codes((*shown.findings, *shown.by_arguments))
    assert any(rule == "DS002" for rule, _, _ in listed)
    assert bool(shown.by_arguments) == bool(spec.words)
    assert on_configure(plan, own | spec.values, around, checker) == listed

    told = with_config(
        Launch.of(planned(by_command(spec, folder), folder), {}), json.dumps(CONFIG), around, checker,
        around.arguments_of(plan),
    )  # fmt: skip
    assert codes((*told.findings, *told.by_arguments)) == listed
    assert validated(spec, plan, capsys) == listed

    again = clone(plan_from_json(json.loads(json.dumps(plan_to_json(plan)))), json.dumps(CONFIG)).request
    values = values_of(again)
    second = planned(request_of(values, again.config_text, "/py"), folder)
    cloned = on_launch(second, around, checker)
    assert codes((*cloned.findings, *cloned.by_arguments)) == listed
    assert on_configure(second, values, around, checker) == listed


def rows(folder: Path, checker: Checker, **values: Any) -> dict[str, Any]:
    (folder / "train.py").write_text(TRAINER)
    own = {"script": str(folder / "train.py"), "directory": str(folder), "ranks": 2}
    config = json.dumps({"train_micro_batch_size_per_gpu": 8, "fp16": {"enabled": True}})
    plan = planned(request_of(own | values, config, "/py"), folder)
    machine = replace(SOUND, gpus=(), environment=Environment(TARGET))
    return {
        row.check: row for row in rows_around(plan, config, Surroundings(script_source(plan.script), machine), checker)
    }


def test_a_run_that_gets_something_else_than_was_planned_is_told_so_and_held_back(
    folder: Path, checker: Checker
) -> None:
    """The list is the plan's; what this machine would refuse besides stops the launch all the same."""
    held = rows(folder, checker, device="v100", version="0.16.9")["planned"]
    assert (held.status.value, held.seen.split(": ")[0]) == (
        "problem",
        "The config is checked for V100 32 GB, DeepSpeed 0.16.9; this run gets this machine, DeepSpeed 0.19.8. "
        "There it would fail",
    )
    assert "planned" not in rows(folder, checker, version="0.19.8")
    assert rows(folder, checker, where="several", hostfile=HOSTS, version="0.16.9")["planned"].status.value == "warning"


def test_a_run_that_differs_from_the_plan_says_both_batch_sizes() -> None:
    text = '{"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2}'
    plan, run = Context(nodes=1, gpus_per_node=4), Context(nodes=1, gpus_per_node=1)
    found = compared(text, plan, run, Machines("a slots=1"), 0)
    assert found.says == "1 · Configure plans for 4 GPUs, a batch of 32; this run has 1 GPU, a batch of 8."
    assert found.offers == "Use 4 GPUs as planned"
    assert compared(text, plan, run, Here(), 2).offers == ""  # this machine has no four
    assert compared(text, plan, plan, Here(), 2).says == ""
    assert compared("{broken", plan, run, Here(), 4).says == "1 · Configure plans for 4 GPUs; this run has 1 GPU."
    assert as_count(None) == as_count(-3) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "<host-1> slots=4\n<host-2> slots=4\n"),
        ("gpu-a slots=8\n# spare\n", "gpu-a slots=4\n<host-2> slots=4\n"),
        ("gpu-a slots=8\n<host-2> slots=8", "gpu-a slots=4\n<host-2> slots=4\n"),
        ("a slots=1\nb slots=1\nc slots=1", "a slots=4\nb slots=4\n"),
        ("worker-1 slots=2", "worker-1 slots=4\n<host-2> slots=4\n"),
        ("no hostfile at all", "<host-1> slots=4\n<host-2> slots=4\n"),
    ],
)
def test_a_hostfile_as_planned_keeps_the_names_it_has(text: str, expected: str) -> None:
    assert hostfile_for(text, 2, 4) == expected
    if "<" in expected:  # nobody starts a run on a name that stands for one
        with pytest.raises(PlanError, match="host names or addresses"):
            parse_hostfile(expected)
