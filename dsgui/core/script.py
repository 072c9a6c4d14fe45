"""What a training script's source tells before it runs: which of the launcher's arguments it takes, what will clash."""

import ast
from dataclasses import dataclass

# Parsers that take --local_rank, or that let an unknown argument pass.
_TAKES_RANK = {"HfArgumentParser", "parse_known_args", "parse_args_into_dataclasses", "add_config_arguments"}
_TAKES_CONFIG = {"HfArgumentParser", "parse_args_into_dataclasses", "add_config_arguments", "parse_known_args"}
_STAGE_3_BREAKERS = ("device_map", "low_cpu_mem_usage")


@dataclass(frozen=True, slots=True)
class ScriptFacts:
    """`strict`: it has a parser of its own that stops at an argument it does not know (argparse, click, typer, fire).
    `breaks_stage_3`: keyword arguments of model loading that ZeRO-3 can't live with (transformers/modeling_utils.py).
    `problem`: why the source could not be read as Python, or ""."""

    strict: bool = False
    takes_local_rank: bool = False
    takes_deepspeed: bool = False
    breaks_stage_3: tuple[tuple[str, int], ...] = ()
    problem: str = ""

    @property
    def passes_local_rank(self) -> bool:
        """Whether --local_rank may be given to it: only a strict parser that does not name it would stop."""
        return self.takes_local_rank or not self.strict


def script_facts(source: str) -> ScriptFacts:
    """Reads the source, runs nothing. What it imports from other files is not followed."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        return ScriptFacts(problem=f"{getattr(error, 'msg', None) or error}{line}")
    names, texts, breakers = set[str](), set[str](), list[tuple[str, int]]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.alias):
            names.add(node.name.rpartition(".")[2])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.add(node.value)
        elif isinstance(node, ast.Call):
            breakers += _breakers(node)
    return ScriptFacts(
        strict="parse_args" in names or bool(names & {"click", "typer", "fire"}),
        takes_local_rank=bool(names & _TAKES_RANK) or _mentions(texts, "local_rank") or _mentions(texts, "local-rank"),
        takes_deepspeed=bool(names & _TAKES_CONFIG) or _mentions(texts, "deepspeed"),
        breaks_stage_3=tuple(breakers),
    )


def _mentions(texts: set[str], option: str) -> bool:
    return any(text.lstrip("-") == option for text in texts)


def _breakers(call: ast.Call) -> list[tuple[str, int]]:
    """`from_pretrained(…, device_map="auto")`; None and False switch nothing on."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "from_pretrained"):
        return []
    return [
        (keyword.arg, keyword.value.lineno)
        for keyword in call.keywords
        if keyword.arg in _STAGE_3_BREAKERS
        and not (isinstance(keyword.value, ast.Constant) and keyword.value.value in (None, False))
    ]
