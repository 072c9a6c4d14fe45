"""The Launch page's own words."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from dsgui.core.launch.plan import ConfigArgument, LaunchRequest
from dsgui.core.launch.run_fields import FIELDS, complete
from dsgui.core.launch.spec import arguments_of
from dsgui.core.machine.hardware import Gpu
from dsgui.core.sizes import GIB
from dsgui.ui.common.services import Services
from dsgui.ui.launch.desk import gpu_label
from dsgui.ui.launch.launch_request import page_request
from dsgui.ui.runs.again import desk_values

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
        "translation",
        "/recipes/translation.py",
        "",
    )
    assert (request.as_script_reads, request.config_argument) == (False, ConfigArgument.HF)


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
