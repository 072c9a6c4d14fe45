"""What a script's source tells before it runs."""

from pathlib import Path

import pytest

from dsgui.core.script import script_facts

RECIPES = sorted((Path(__file__).parents[1] / "recipes").glob("*.py"))


@pytest.mark.parametrize(
    ("source", "passes"),
    [
        ("print('no parser at all')", True),
        ("import argparse; a = argparse.ArgumentParser().parse_args()", False),
        (
            "import argparse; p = argparse.ArgumentParser(); p.add_argument('--local_rank', type=int); p.parse_args()",
            True,
        ),
        (
            "import argparse; p = argparse.ArgumentParser(); p.add_argument('--local-rank', type=int); p.parse_args()",
            True,
        ),
        ("import argparse; a, rest = argparse.ArgumentParser().parse_known_args()", True),
        ("import deepspeed; p = deepspeed.add_config_arguments(p); p.parse_args()", True),
        ("from transformers import HfArgumentParser; HfArgumentParser(A).parse_args_into_dataclasses()", True),
        ("import click", False),
        ("import os; os.environ['LOCAL_RANK']; p.parse_args()", False),
    ],
)
def test_local_rank_is_kept_from_parsers_that_would_stop_at_it(source: str, passes: bool) -> None:
    assert script_facts(source).passes_local_rank is passes


def test_model_loading_that_stage_3_cannot_live_with_is_found_with_its_line() -> None:
    source = "m = M.from_pretrained(x, torch_dtype='auto')\nn = M.from_pretrained(x, device_map='auto')\n"
    source += "o = M.from_pretrained(x, low_cpu_mem_usage=True, device_map=None)"
    assert script_facts(source).breaks_stage_3 == (("device_map", 2), ("low_cpu_mem_usage", 3))


def test_what_is_no_python_says_where() -> None:
    assert "line 2" in script_facts("a = 1\nb = (").problem
    assert script_facts("\0").problem
    assert script_facts("a = 1\nb = (").passes_local_rank


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.name)
def test_the_recipes_take_what_the_launcher_gives(path: Path) -> None:
    facts = script_facts(path.read_text("utf-8"))
    assert (facts.passes_local_rank, facts.takes_deepspeed, facts.problem) == (True, True, "")
