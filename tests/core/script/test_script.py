"""What a script's source tells before it runs."""

from pathlib import Path

import pytest

from dsgui.core.script.script import Parser, script_facts
from tests.core.script.in_a_run.parts import part_trained
from tests.support.cases import each_case

RECIPES = sorted((Path(__file__).parents[3] / "recipes").glob("*.py"))


@each_case(
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
    source = "HfArgumentParser(A)\nn = M.from_pretrained(x, device_map='auto')\n"
    source += "o = M.from_pretrained(x, low_cpu_mem_usage=True, device_map=None)"
    assert script_facts(source).breaks_stage_3 == (("device_map", 2), ("low_cpu_mem_usage", 3))


PARSER, MADE, MAPPED = (
    "HfArgumentParser(A)\n",
    "t = TrainingArguments('o')\n",
    "M.from_pretrained(x, device_map='auto')\n",
)


@each_case(
    ("source", "sure"),
    [
        (PARSER + MAPPED, True),
        (PARSER + "if merged: " + MAPPED, False),
        (PARSER + MAPPED.replace("M.", "PeftModel."), False),
        (PARSER + "Accelerator()\n" + MAPPED, True),
        (MADE + MAPPED, True),
        (f"if f(): {MADE}" + MAPPED, False),
        (MAPPED + MADE, None),  # transformers does not know of ZeRO-3 by then
        (f"def load(): {MAPPED}load()\n" + MADE, False),
        ("M.from_pretrained(x, device_map={'': Accelerator().process_index})\n" + MADE, True),
        ("from mine import build\n" + MAPPED, False),
    ],
)
def test_a_model_that_is_loaded_in_one_case_or_too_early_is_not_surely_refused(source: str, sure: bool | None) -> None:
    facts = script_facts(source)
    assert (bool(facts.breaks_stage_3), bool(facts.may_break_stage_3)) == (sure is True, sure is False)


def test_what_is_no_python_says_where() -> None:
    assert "line 2" in script_facts("a = 1\nb = (").problem
    assert script_facts("\0").problem
    assert script_facts("a = 1\nb = (").passes_local_rank


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.name)
def test_the_recipes_take_what_the_launcher_gives(path: Path) -> None:
    facts = script_facts(path.read_text("utf-8"))
    assert (facts.passes_local_rank, facts.takes_deepspeed, facts.problem) == (True, True, "")
    assert facts.resuming.checkpoint == "--resume_from_checkpoint"
    assert facts.sets_use_cpu == (facts.parser is Parser.TRAINER)


MAKES = "import argparse\np = argparse.ArgumentParser()\n"


@each_case(
    ("source", "parser"),
    [
        ("print(1)", Parser.NONE),
        (MAKES + "p.add_argument('--lr')\np.parse_args()", Parser.ARGPARSE),
        (MAKES + "p.add_argument('file')\np.parse_args()", Parser.ARGPARSE),
        (MAKES + "g = p.add_argument_group('x')\ng.add_argument('--lr')\np.parse_args()", Parser.ARGPARSE),
        (MAKES + "g = p.add_argument_group('x')\nmore(g)\np.parse_args()", Parser.ELSEWHERE),
        (MAKES + "more(p)\np.parse_args()", Parser.ELSEWHERE),
        ("def more(q): q.add_argument('--lr')\n" + MAKES + "more(p)\np.parse_args()", Parser.ARGPARSE),
        ("def more(q): other.add(q)\n" + MAKES + "more(p)\np.parse_args()", Parser.ELSEWHERE),
        (MAKES + "more(parser=p)\np.parse_args()", Parser.ELSEWHERE),
        (MAKES + "for name in NAMES: p.add_argument(name)\np.parse_args()", Parser.ELSEWHERE),
        ("import argparse\np = argparse.ArgumentParser(parents=[q])\np.parse_args()", Parser.ELSEWHERE),
        ("import argparse\nself.p = argparse.ArgumentParser()\nself.p.parse_args()", Parser.ELSEWHERE),
        ("from other import get\nget().parse_args()", Parser.ELSEWHERE),
        ("import click", Parser.ELSEWHERE),
        (MAKES + "p.parse_known_args()", Parser.LENIENT),
        ("import deepspeed\n" + MAKES + "deepspeed.add_config_arguments(p)\np.parse_args()", Parser.DEEPSPEED),
        ("from transformers import HfArgumentParser", Parser.TRAINER),
    ],
)
def test_a_parser_is_taken_for_known_only_where_all_of_it_is_here(source: str, parser: Parser) -> None:
    assert script_facts(source).parser is parser


def test_options_are_read_with_whether_a_value_follows() -> None:
    source = MAKES + "p.add_argument('-d', '--deepspeed', action='store_true')\np.add_argument('--lr', type=float)\n"
    source += "p.add_argument('--flag', action=argparse.BooleanOptionalAction)"
    switches = {"-d": False, "--deepspeed": False, "--flag": False, "--no-flag": False}
    assert script_facts(source).options == switches | {"--lr": True}


def test_what_is_computed_when_it_runs_is_told_apart_from_what_is_written() -> None:
    facts = script_facts(PARSER + "m = M.from_pretrained(x, device_map=where(), low_cpu_mem_usage=True)")
    assert facts.breaks_stage_3 == (("low_cpu_mem_usage", 2),)
    assert facts.may_break_stage_3 == (("device_map", 2),)


@pytest.mark.parametrize(
    "source", ["get_peft_model(m, c)", "model.bias.requires_grad = False", "model.requires_grad_(False)"]
)
def test_training_a_part_of_the_model_is_seen(source: str) -> None:
    assert part_trained(script_facts(source), ()).trains
    assert not part_trained(script_facts("model.train()"), ()).trains


@each_case(
    ("arguments", "part"),
    [
        ("--use_peft False", False),
        ("--use_peft=false", False),
        ("--use-lora no", False),
        ("--no_use_peft", False),
        ("--use_peft True", True),
        ("--use_peft", True),
        ("--use_peft False --use_peft True", True),
        ("--lora_alpha 16", True),
    ],
)
def test_adapters_can_be_switched_off_by_an_argument_and_what_is_frozen_can_not(arguments: str, part: bool) -> None:
    words = arguments.split()
    assert part_trained(script_facts("get_peft_model(m, c)"), words).trains is part
    assert part_trained(script_facts("get_peft_model(m, c); model.requires_grad_(False)"), words).trains


OPTION = "import argparse\np = argparse.ArgumentParser()\n{add}\nargs = p.parse_args()\n"
SWITCH = OPTION.format(add="p.add_argument('--use_lora', action='store_true')")
KIND = OPTION.format(add="p.add_argument('--kind', default='lora'); p.add_argument('--dim', type=int, default=0)")
CLASS = """
from transformers import HfArgumentParser, TrainingArguments
@dataclass
class TrainingArguments(TrainingArguments):
    use_lora: bool = field(default=False)
(training_args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
if training_args.use_lora:
    m = get_peft_model(m, LoraConfig())
"""
LEAVES = "def f(m):\n    if not args.use_lora:\n        return m\n    return get_peft_model(m)\nf(m)"
FREEZES = """if args.kind == 'freeze':
    for n, q in model.named_parameters():
        if 'wide' in n:
            q.requires_grad = False
"""
FIRE = "import fire\ndef train(lora: bool = False):\n    if lora:\n        get_peft_model(m, c)\nfire.Fire(train)\n"


@each_case(
    ("source", "arguments", "part"),
    [
        (SWITCH + "if args.use_lora:\n    m = get_peft_model(m, c)", "", False),
        (SWITCH + "if args.use_lora:\n    m = get_peft_model(m, c)", "--use_lora", True),
        (SWITCH + "if not args.use_lora:\n    pass\nelse:\n    m = get_peft_model(m, c)", "", False),
        (SWITCH + LEAVES, "", False),
        (SWITCH + "def f(m):\n    return get_peft_model(m)\nif args.use_lora:\n    f(m)", "", False),
        (SWITCH + "def unused(m):\n    return get_peft_model(m)", "", False),
        (SWITCH + "Trainer(m, peft_config=LoraConfig() if args.use_lora else None)", "", False),
        (SWITCH + "c = LoraConfig()\nif args.use_lora:\n    m = get_peft_model(m, c)", "", False),
        (SWITCH + "from peft import LoraConfig", "--use_lora", False),
        (SWITCH + "if computed():\n    m = get_peft_model(m, c)", "", None),
        (SWITCH + "args.use_lora = found()\nif args.use_lora:\n    m = get_peft_model(m, c)", "", None),
        (KIND + "if args.kind == 'lora':\n    m = get_peft_model(m, c)", "", True),
        (KIND + "if args.kind == 'lora':\n    m = get_peft_model(m, c)", "--kind all", False),
        (KIND + "if args.kind in ('a', 'lora') and args.dim > 0:\n    m = get_peft_model(m, c)", "", False),
        (KIND + "if args.kind in ('a', 'lora') and args.dim > 0:\n    m = get_peft_model(m, c)", "--dim 8", True),
        (KIND + FREEZES, "", False),
        (KIND + FREEZES, "--kind freeze", True),
        ("output.requires_grad_(True)", "", False),
        (CLASS, "", False),
        (CLASS, "--use_lora", True),
        (FIRE, "", False),
        (FIRE, "--lora", True),
        (FIRE, "--lora=True", True),
    ],
)  # fmt: skip
def test_a_part_in_a_branch_is_judged_by_the_options_of_the_run(source: str, arguments: str, part: bool | None) -> None:
    found = part_trained(script_facts(source), arguments.split())
    assert found.trains is part
    assert (found.on is not None) is (part is None)


@each_case(
    ("source", "recomputes"),
    [
        ("model.gradient_checkpointing_enable()", True),
        ("p.add_argument('--gradient_checkpointing')", True),
        ("p.add_argument('--activation-checkpointing')", True),
        ("TrainingArguments(gradient_checkpointing=True)", True),
        ("checkpoint(block, x)", True),
        ("p.add_argument('--checkpointing_steps')\nprint(args.checkpointing_steps)", False),
        ("Trainer(enable_checkpointing=True)", False),
        ('"""Trains a model. Has no gradient checkpointing."""', False),
        ("p.add_argument('--x', help='how often checkpointing is done')", False),
    ],
)
def test_recomputing_is_not_taken_for_saving(source: str, recomputes: bool) -> None:
    assert script_facts(source).recomputes is recomputes
