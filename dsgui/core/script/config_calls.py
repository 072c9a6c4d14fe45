"""The calls in a script's source that bring DeepSpeed its config: who is called, where, and with which config."""

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from dsgui.core.script.declared import dotted_name
from dsgui.core.script.in_a_run.config_names import config_given
from dsgui.core.script.in_a_run.config_sets import LoadedFiles, initializer
from dsgui.core.script.in_a_run.worth import Spelled
from dsgui.core.script.parser_source import called, keyword, written_out
from dsgui.core.script.trees import as_written


class Caller(Enum):
    """What reads a config."""

    TRAINING_ARGUMENTS = "TrainingArguments"
    PLUGIN = "DeepSpeedPlugin"
    ACCELERATOR = "Accelerator"
    STRATEGY = "DeepSpeedStrategy"
    ENGINE = "deepspeed.initialize"
    LLAMA_FACTORY = "LLaMA-Factory"


@dataclass(frozen=True, slots=True)
class ConfigCall:
    """`config` is the expression that is given as the config, as Python spells it, "" for none; `value` what it is
    where that is written out in the file (a path or a dict), else None. `takes_arguments`: deepspeed.initialize is
    given the script's arguments too. `option` is the attribute in `args.ds_config`, `expression` the config as `Values`
    reads it."""

    caller: Caller
    line: int
    config: str = ""
    value: Any = None
    takes_arguments: bool = False
    option: str = ""
    expression: str = ""


# trl/trainer: they are TrainingArguments under other names.
_TRL = {f"{kind}Config" for kind in ("SFT", "DPO", "GRPO", "RLOO", "KTO", "ORPO", "CPO", "BCO", "GKD", "Reward", "PRM")}
_KEYWORDS = {
    Caller.TRAINING_ARGUMENTS: ("deepspeed",),
    Caller.PLUGIN: ("hf_ds_config",),
    Caller.STRATEGY: ("config",),
}
_LIGHTNING_TRAINERS = ("Trainer", "Fabric")


def config_calls(nodes: Sequence[ast.AST], calls: Sequence[ast.Call], spelled: Spelled) -> tuple[ConfigCall, ...]:
    """In the order of the source. `nodes` are all of a tree's, `calls` those among them."""
    written = written_out(nodes)
    caller_of, files = _callers(nodes), LoadedFiles(spelled.scopes)
    found = [_call(caller, call, written, spelled, files) for call in calls if (caller := caller_of(call))]
    found += [ConfigCall(Caller.LLAMA_FACTORY, line) for line in _imports_llama_factory(nodes)]
    return tuple(sorted(found, key=lambda call: call.line))


def trainers_class(nodes: Sequence[ast.AST]) -> Callable[[ast.Call], str]:
    """Gives the class of training arguments that a call makes, as written there; "" for any other call."""
    caller_of = _callers(nodes)
    return lambda call: dotted_name(call.func) if caller_of(call) is Caller.TRAINING_ARGUMENTS else ""


def _callers(nodes: Sequence[ast.AST]) -> Callable[[ast.Call], Caller | None]:
    from_trl, is_initialize = set(_configs_of_trl(nodes)), initializer(nodes)
    return lambda call: Caller.ENGINE if is_initialize(call) else _caller(call, from_trl)


def _caller(call: ast.Call, from_trl: Collection[str]) -> Caller | None:
    name = called(call)
    if name.endswith("TrainingArguments") or name in _TRL or name in from_trl:
        return Caller.TRAINING_ARGUMENTS
    if name in _LIGHTNING_TRAINERS and _names_deepspeed(keyword(call, "strategy")):
        return Caller.STRATEGY
    return next((caller for fits, caller in _BY_NAME if fits(call)), None)


def _configs_of_trl(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """`from trl.experimental.gold import GOLDConfig`: TRL's training arguments are named so, all but its models'."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "trl":
            made = (one for one in node.names if one.name.endswith("Config") and one.name != "ModelConfig")
            yield from (one.asname or one.name for one in made)


def _named(name: str) -> Callable[[ast.Call], bool]:
    return lambda call: called(call) == name


def _is_trlx(call: ast.Call) -> bool:
    """trlx/trainer/accelerate_base_trainer.py makes the Accelerator."""
    return called(call) == "train" and getattr(getattr(call.func, "value", None), "id", "") == "trlx"


_BY_NAME: tuple[tuple[Callable[[ast.Call], bool], Caller], ...] = (
    (_named("DeepSpeedPlugin"), Caller.PLUGIN),
    (_named("Accelerator"), Caller.ACCELERATOR),
    (_is_trlx, Caller.ACCELERATOR),
    (_named("DeepSpeedStrategy"), Caller.STRATEGY),
)


def _call(
    caller: Caller, call: ast.Call, written: dict[str, ast.expr], spelled: Spelled, files: LoadedFiles
) -> ConfigCall:
    given = config_given(call) if caller is Caller.ENGINE else keyword(call, *_KEYWORDS.get(caller, ()))
    if given is None:
        return ConfigCall(caller, call.lineno)
    path = files.path(given) if isinstance(given, ast.Name) else None
    if path is not None:
        return _from_file(caller, call, given, path, spelled)
    return ConfigCall(
        caller,
        call.lineno,
        as_written(given),
        _value(written.get(given.id, given) if isinstance(given, ast.Name) else given),
        caller is Caller.ENGINE and bool(call.args or keyword(call, "args")),
        given.attr if isinstance(given, ast.Attribute) else "",
        spelled.expression(given),
    )


def _from_file(caller: Caller, call: ast.Call, given: ast.expr, path: ast.expr, spelled: Spelled) -> ConfigCall:
    """The config was read from a file by the script."""
    option = path.attr if isinstance(path, ast.Attribute) else ""
    takes_arguments = caller is Caller.ENGINE and bool(call.args or keyword(call, "args"))
    return ConfigCall(
        caller, call.lineno, as_written(given), _value(path), takes_arguments, option, spelled.expression(path)
    )


def _value(expression: ast.expr) -> Any:
    try:
        value = ast.literal_eval(expression)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, str | dict) else None


def _names_deepspeed(strategy: ast.expr | None) -> bool:
    return isinstance(strategy, ast.Constant) and str(strategy.value).startswith("deepspeed")


def _imports_llama_factory(nodes: Sequence[ast.AST]) -> Iterator[int]:
    for node in nodes:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        named = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        if any(name.partition(".")[0] == "llamafactory" for name in named):
            yield node.lineno
