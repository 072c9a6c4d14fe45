"""The Launch page's own words."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Severity
from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.launch.places.ssh import Machines
from dsgui.core.launch.plan import ConfigArgument, Here, LaunchRequest, Place, Plan, WhenBusy
from dsgui.core.launch.plan_making import make_plan
from dsgui.core.launch.planned import Planned
from dsgui.core.launch.recipes import RECIPES
from dsgui.core.launch.run_fields import FIELDS, complete
from dsgui.core.launch.spec import arguments_of
from dsgui.core.machine.hardware import Gpu, Op, Target
from dsgui.core.machine.machine import Environment
from dsgui.core.preflight.surroundings import Launch, Surroundings, context_in, context_of
from dsgui.core.script.script import ScriptFacts
from dsgui.core.sizes import GIB
from dsgui.core.texts.languages import speaking
from dsgui.core.texts.saying import words
from dsgui.core.validation.checker import Checker
from dsgui.ui.common.services import Services
from dsgui.ui.config.context_bar import Launched
from dsgui.ui.config.own_file import file_id
from dsgui.ui.config.workbench import make_context
from dsgui.ui.launch.config_change import converted, is_convertible, told_html
from dsgui.ui.launch.desk import gpu_label
from dsgui.ui.launch.launch_request import config_name, page_request, preset_of
from dsgui.ui.launch.notified import _told
from dsgui.ui.runs.again import desk_values
from tests.shell.machine.test_machine import SOUND

CARD = Gpu(1, "NVIDIA H100", (9, 0), 80 * GIB)


def test_a_gpu_says_what_is_in_use_and_by_whom() -> None:
    assert gpu_label(CARD, 12 * GIB, ["t5"]) == "1: NVIDIA H100, 12 of 80 GiB in use, by run “t5”"
    assert gpu_label(CARD, None, []) == "1: NVIDIA H100, 80 GiB"
    assert gpu_label(Gpu(0, "Card", None, None), None, ["a", "b"]) == "0: Card, by run “a”, “b”"


def arguments(typed: str, output: str, saves: bool = False) -> str:
    return arguments_of(complete({"arguments": typed, "output": output, "saves": saves}))


def test_the_output_directory_takes_the_place_of_one_among_the_arguments() -> None:
    assert arguments("--max_steps 5 --output_dir old", "my runs/out") == "--max_steps 5 --output_dir 'my runs/out'"
    assert arguments("--name 'as  typed'", "") == "--name 'as  typed'"
    assert arguments("--open 'quote", "out") == "--open 'quote"  # what is wrong is said where it is read
    saved = arguments("", "out", saves=True)
    assert saved == "--enable_jit_checkpoint True --output_dir out"


def services(recipes: dict[str, Path] | None = None) -> Services:
    target = SimpleNamespace(gpus=(), python="/env/bin/python")
    return cast(Services, SimpleNamespace(recipes=recipes or {}, target=lambda: target))


def test_the_page_reads_paths_as_its_machine_does() -> None:
    asked = complete({"script": " ~/train.py ", "output": "~/out", "ranks": 3})
    request = page_request(services(), "{}", asked, "native", "preset")
    home = str(Path.home())
    assert (request.script, request.working_directory) == (f"{home}/train.py", home)
    assert (request.arguments, request.ranks, request.config_argument) == (
        f"--output_dir {home}/out",
        3,
        ConfigArgument.NATIVE,
    )
    nobody = complete({"script": "~nobody-of-this-name/train.py"})
    assert page_request(services(), "{}", nobody, "hf", "").script.endswith("~nobody-of-this-name/train.py")


def test_a_recipe_names_the_run_and_takes_the_config_as_it_is_configured() -> None:
    page = services(recipes={"translation": Path("/recipes/translation.py")})
    request = page_request(page, "{}", complete({"what": "translation"}), "hf", "")
    assert (request.name, request.script, request.working_directory) == (
        "T5 translates",
        "/recipes/translation.py",
        "",
    )
    assert (request.as_script_reads, request.config_argument) == (False, ConfigArgument.HF)
    with speaking("zh-CN"):
        assert page_request(page, "{}", complete({"what": "translation"}), "hf", "").name == "T5 翻译"
    named = page_request(page, "{}", complete({"what": "translation", "name": "mine"}), "hf", "")
    assert named.name == "mine"


def test_a_model_that_was_planned_is_not_a_recipes() -> None:
    page = services(recipes={"translation": Path("/recipes/translation.py")})
    planned = {"model": "7B", "length": "2048"}
    assert page_request(page, "{}", complete({"what": "translation", **planned}), "hf", "").model.model == ""
    assert page_request(page, "{}", complete({"script": "/train.py", **planned}), "hf", "").model.model == "7B"


def test_a_clone_fills_every_input_of_the_desk() -> None:
    request = LaunchRequest(
        name="named",
        script="train.py",
        arguments="--output_dir out",
        ranks=3,
        working_directory="there",
        config_text="{}",
        target_python="python",
    )
    filled = desk_values(services(), request)
    assert list(filled) == [field.name for field in FIELDS]
    assert cast(Any, filled["reader"])["value"] == "hf"
    assert (filled["name"], filled["arguments"], filled["output"], filled["ranks"]) == (
        "named",
        "--output_dir out",
        "",
        3,
    )
    assert filled["directory"] == "there"


def plan_at(place: Place) -> Plan:
    request = LaunchRequest(script="a.py", ranks=2, config_text="{}", target_python="/py", place=place)
    return make_plan(request, run_id="r", run_directory="/runs/r", script_path="/a.py", master_port=29500)


FP16 = '{"train_micro_batch_size_per_gpu": 1, "fp16": {"enabled": true}, "zero_optimization": {"stage": 1}}'
OPS = (Op("fused_adam", installed=False, compatible=False),)
LOGIN_NODE = Target("/py", versions={"deepspeed": "0.19.8"}, accelerator="cpu", bf16=True, fp16=False, ops=OPS)
WITH_A_CARD = replace(LOGIN_NODE, gpus=(CARD,))
WHERE = [
    (Here(), "cpu", "nvidia"),
    (Machines("a slots=2\nb slots=2"), None, None),
    (SlurmJob(2, 4), None, None),
    (SlurmJob(1, 2, on_cpu=True), "cpu", "cpu"),
]


@pytest.mark.parametrize(("place", "without", "with_a_card"), WHERE)
def test_the_page_checks_for_the_devices_that_the_command_line_checks_for(
    place: Place, without: str | None, with_a_card: str | None, checker: Checker
) -> None:
    """A login node that submits has no GPU: that says nothing of the nodes that train."""
    for target, expected in ((LOGIN_NODE, without), (WITH_A_CARD, with_a_card)):
        machine = replace(SOUND, gpus=target.gpus, environment=Environment(target))
        around = Surroundings(ScriptFacts(), machine)
        told = context_of(Launch.of(plan_at(place), {}), around)
        shown = context_in(Launch.of(plan_at(place), {}), target)
        counts = (shown.gpus_per_node, shown.nodes)
        assert shown == told == make_context(target, "hf", *counts, "this", "", Launched(place))
        assert {device.vendor for device in shown.hardware} == ({expected} if expected else set())
        planned = context_in(Launch.of(replace(plan_at(place), planned=Planned("v100")), {}), target).hardware
        assert [one.id for one in planned] == (["cpu"] if place == SlurmJob(1, 2, on_cpu=True) else ["v100"])
        refused = any(one.severity is Severity.ERROR for one in checker.findings(Document(FP16), shown))
        assert refused == (place == Here() and expected == "cpu")  # whose accelerator said that it has no fp16


def test_what_is_usual_depends_on_where_it_trains() -> None:
    usual = {"": (WhenBusy.START, WhenBusy.WAIT), "refuse": (WhenBusy.REFUSE, WhenBusy.REFUSE)}
    for chosen, (here, there) in usual.items():
        asked = complete({"script": "a.py", "when_busy": chosen, "hostfile": "a slots=1"})
        assert page_request(services(), "{}", asked, "hf", "").when_busy is here
        assert page_request(services(), "{}", asked | {"where": "several"}, "hf", "").when_busy is there


def test_a_run_names_the_preset_only_of_a_config_that_is_one() -> None:
    begun = '{\n "train_batch_size": 8,\n "fp16": {"enabled": true},\n "zero_optimization": {"stage": 2}\n}'
    offered = cast(Services, SimpleNamespace(all_presets=lambda: (SimpleNamespace(id="mine", text=begun),)))
    assert preset_of(offered, "mine", f"{begun}\n") == "mine"
    assert preset_of(offered, "mine", begun.replace("8", "16")) == "mine (edited)"
    assert preset_of(offered, "mine", '{\n "zero_optimization": {"stage": 1}\n}') == ""
    assert preset_of(offered, "gone", begun) == ""


def test_an_opened_file_is_called_by_its_name_as_on_configure() -> None:
    offered = cast(
        Services, SimpleNamespace(all_presets=lambda: (SimpleNamespace(id="mine", title="Mine", text="{}"),))
    )
    id = file_id("/home/me/ds_zero2.json", '{"train_batch_size": 8}')
    assert config_name(offered, id, '{"train_batch_size": 8}\n') == "ds_zero2.json"
    assert config_name(offered, id, '{"train_batch_size": 9}') == "ds_zero2.json (modified)"
    assert config_name(offered, "", "{}") == "Your config"


def test_a_recipe_is_said_to_train_as_long_as_it_does() -> None:
    """Epochs and steps are those of its source, or of the arguments that it begins with."""
    for recipe in RECIPES:
        source = (Path(__file__).parents[3] / "recipes" / f"{recipe.name}.py").read_text("utf-8")
        found = re.search(r"--num_train_epochs (\d+)", recipe.arguments) or re.search(
            r'"(?:--)?num_train_epochs"(?:: |.*default=)(\d+)', source
        )
        assert found, recipe.name
        about = words("launch_page", f"{recipe.label}_about")
        assert f"{found[1]} epochs" in about
        steps = re.search(r"(\d+) steps", about)
        assert steps is None or f"{steps[1]} in all" in source
        assert about.startswith("HF Trainer" if recipe.takes is ConfigArgument.HF else "Native DeepSpeed")


def test_what_is_said_of_notifications_has_a_name_that_can_be_read() -> None:
    assert "<summary>What is sent</summary>Tells the webhook when" in _told("")
    assert "For every run: start dsgui with DSGUI_NOTIFY set" in _told("")


AUTO = '{"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto", "optimizer": {"type": "AdamW"}}'


def test_a_config_is_converted_where_auto_is_what_stops_a_native_launch(checker: Checker) -> None:
    context = Context(nodes=1, gpus_per_node=2, integration=Integration.NATIVE)
    config = Document(AUTO)
    launch = Launch(config.value, tuple(checker.findings(config, context)), "2 GPUs", 2)
    native = replace(launch, config_argument=ConfigArgument.NATIVE)
    assert [is_convertible(one) for one in (launch, native, replace(native, findings=()))] == [False, True, False]
    assert not is_convertible(replace(native, config_argument=ConfigArgument.NONE))  # it reads another
    made = converted(AUTO, context)
    assert made is not None
    assert Document(made.text).value["train_batch_size"] == 16
    assert "train_batch_size: “auto” → 16" in told_html("Converted", made.notes)
    assert converted(made.text, context) is None
