"""The Launch page's own words."""

from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from dsgui.core.hardware import GIB, Gpu
from dsgui.core.plan import ConfigArgument, LaunchRequest
from dsgui.ui.again import desk_values
from dsgui.ui.desk import gpu_label
from dsgui.ui.launch_request import Asked, arguments_of, asked_of
from dsgui.ui.services import Services

CARD = Gpu(1, "NVIDIA H100", (9, 0), 80 * GIB)


def test_a_gpu_says_what_is_in_use_and_by_whom() -> None:
    assert gpu_label(CARD, 12 * GIB, ["t5"]) == "1: NVIDIA H100, 12 of 80 GiB in use, by run “t5”"
    assert gpu_label(CARD, None, []) == "1: NVIDIA H100, 80 GiB"
    assert gpu_label(Gpu(0, "Card", None, None), None, ["a", "b"]) == "0: Card, by run “a”, “b”"


def arguments(typed: str, output: str, saves: bool = False) -> str:
    values = {"arguments": typed, "output": output, "saves": saves}
    return arguments_of(asked_of(tuple(values.get(field.name) for field in fields(Asked))))


def test_the_output_directory_takes_the_place_of_one_among_the_arguments() -> None:
    assert arguments("--max_steps 5 --output_dir old", "my runs/out") == "--max_steps 5 --output_dir 'my runs/out'"
    assert arguments("--max_steps 5", "~/out").endswith(f"--output_dir {Path('~/out').expanduser()}")
    assert arguments("--name 'as  typed'", "") == "--name 'as  typed'"
    assert arguments("--open 'quote", "out") == "--open 'quote"  # what is wrong is said where it is read
    saved = arguments("", "out", saves=True)
    assert saved == "--enable_jit_checkpoint True --output_dir out"


def test_the_same_again_fills_every_field_of_the_desk_in_its_order() -> None:
    services = SimpleNamespace(recipes={}, target=lambda: SimpleNamespace(gpus=()))
    request = LaunchRequest(
        "named", "train.py", "--output_dir out", 3, (), None, "there", "{}", ConfigArgument.HF, "python", environment={}
    )
    filled = desk_values(cast(Services, services), request)
    asked = asked_of(filled)  # raises where one is missing
    assert cast(Any, asked.reader)["value"] == "HF"
    assert (asked.name, asked.arguments, asked.output, asked.ranks) == ("named", "--output_dir out", "", 3)
    assert (asked.directory, asked.slurm_options) == ("there", request.slurm.options if request.slurm else "")
