"""The keyword arguments by which a script loads a model that transformers refuses once it knows of ZeRO-3."""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dsgui.core.script.declared import dotted_name
from dsgui.core.script.in_a_run.branches import Branches
from dsgui.core.script.in_a_run.scopes import Scopes
from dsgui.core.script.parser_source import called

_REFUSED = ("device_map", "low_cpu_mem_usage")
_TELL = frozenset({"HfDeepSpeedConfig", "DeepSpeedPlugin", "Accelerator"})


@dataclass(frozen=True, slots=True)
class Loading:
    """One of them, and whether it is surely refused: it is written out, in a call that is made in any case, after
    transformers was told."""

    keyword: str
    line: int
    sure: bool


def loadings(
    calls: Sequence[ast.Call], makes: Callable[[ast.Call], str] | None, branches: Branches, scopes: Scopes
) -> list[Loading]:
    """`calls`: all of the file's; `makes`: the class of training arguments that a call makes, which tell transformers
    of ZeRO-3, None where its parser makes them before anything else."""
    found = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "from_pretrained"]
    if makes is None:
        return [one for call in found for one in _of(call, not branches.when(call).condition)]
    tell = [call for call in calls if called(call) in _TELL or makes(call)]
    told = ((call, scopes.function(call), [one for one in tell if _is_before(one, call, scopes)]) for call in found)
    return [
        one
        for call, function, before in told
        if before or not tell or any(scopes.function(one) is not function for one in tell)
        for one in _of(
            call, not all(branches.when(one).condition for one in before) and not branches.when(call).condition
        )
    ]


def _is_before(tells: ast.Call, call: ast.Call, scopes: Scopes) -> bool:
    """In its function; one that is given to it too."""
    return scopes.function(tells) is scopes.function(call) and tells.lineno <= (call.end_lineno or call.lineno)


def _of(call: ast.Call, sure: bool) -> list[Loading]:
    """`from_pretrained(…, device_map="auto")`; None and False switch nothing on."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else call
    sure = sure and not dotted_name(owner).rpartition(".")[2].startswith("Peft")
    return [
        Loading(word.arg, word.value.lineno, sure and isinstance(word.value, ast.Constant | ast.Dict))
        for word in call.keywords
        if word.arg in _REFUSED and not (isinstance(word.value, ast.Constant) and _is_off(word.value.value))
    ]


def _is_off(value: object) -> bool:
    return value is None or value is False  # and not 0: that is a device
