"""What a script writes into its DeepSpeed config before `deepspeed.initialize` gets it, and the option that names the
file it was read from."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dsgui.core.config.pointer import child
from dsgui.core.script.command_line import UNSET
from dsgui.core.script.declared import literal
from dsgui.core.script.in_a_run.branches import Branches, When
from dsgui.core.script.in_a_run.worth import Values
from dsgui.core.script.parser_source import called, keyword

_PLACE = 10  # deepspeed/__init__.py: initialize(args, model, …, config)
_LOADS = ("load", "safe_load", "loads")
# What is given the config and changes nothing in it.
_READS = frozenset(
    {"initialize", "print", "dump", "dumps", "len", "HfDeepSpeedConfig", "Init", "info", "str", "isinstance"}
    | {"deepcopy", "copy", "warning", "debug", "DeepSpeedConfig", "pprint", "items", "print_rank_0"}
)


@dataclass(frozen=True, slots=True)
class ConfigSet:
    """A key that the script writes; "" for keys that can't be told."""

    pointer: str
    when: When
    line: int


@dataclass(frozen=True, slots=True)
class Filling:
    """`lines` of the keys that the script writes in a run, by pointer; `perhaps`: the line where it may write any, 0
    for none."""

    lines: Mapping[str, int]
    perhaps: int = 0

    def line_of(self, pointer: str) -> int:
        """0 for a key that stays as it is in the file."""
        found = (line for one, line in self.lines.items() if pointer == one or pointer.startswith(f"{one}/"))
        return next(found, 0)


def filling(sets: Sequence[ConfigSet], values: Values) -> Filling:
    """Of the run that has these values; what is not known to be passed over is written."""
    reached = [one for one in sets if not one.when.condition or _may_be(values.worth(one.when.condition))]
    lines = {one.pointer: one.line for one in reversed(reached) if one.pointer}
    return Filling(lines, next((one.line for one in reached if not one.pointer), 0))


def _may_be(worth: object) -> bool:
    return worth is UNSET or bool(worth)


def config_sets(nodes: Sequence[ast.AST], branches: Branches) -> tuple[ConfigSet, ...]:
    """In the order of the source."""
    names = {name for call in nodes if isinstance(call, ast.Call) and (name := _config_name(call))}
    if not names:
        return ()
    found = [one for node in nodes for one in _sets(node, names, branches)]
    return tuple(sorted(found, key=lambda one: one.line))


def _config_name(call: ast.Call) -> str:
    owner = getattr(call.func, "value", None)
    if called(call) != "initialize" or getattr(owner, "id", "") != "deepspeed":
        return ""
    given = keyword(call, "config", "config_params")
    if given is None and len(call.args) > _PLACE:
        given = call.args[_PLACE]
    return given.id if isinstance(given, ast.Name) else ""


def _sets(node: ast.AST, names: set[str], branches: Branches) -> Iterator[ConfigSet]:
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Subscript) and (keys := _keys(target, names)) is not None:
                yield _set(keys, node, branches)
    elif (
        isinstance(node, ast.Call) and called(node) in ("update", "setdefault") and isinstance(node.func, ast.Attribute)
    ):
        if (keys := _keys(node.func.value, names)) is not None:
            yield from (_set([*keys, *more], node, branches) for more in _updated(node))
    elif isinstance(node, ast.Call) and called(node) not in _READS:
        given = [*node.args, *(word.value for word in node.keywords)]
        if any(isinstance(one, ast.Name) and one.id in names for one in given):
            yield _set(["*"], node, branches)


def _set(keys: Iterable[str], node: ast.stmt | ast.Call, branches: Branches) -> ConfigSet:
    pointer = ""
    for key in keys:
        if key == "*":
            return ConfigSet("", branches.when(node), node.lineno)
        pointer = child(pointer, key)
    return ConfigSet(pointer, branches.when(node), node.lineno)


def _keys(node: ast.expr, names: set[str]) -> list[str] | None:
    """`ds_config["optimizer"]["params"]` → its keys, "*" for one that is computed; None for anything else."""
    keys: list[str] = []
    while isinstance(node, ast.Subscript):
        key = literal(node.slice)
        keys.insert(0, key if isinstance(key, str) else "*")
        node = node.value
    return keys if isinstance(node, ast.Name) and node.id in names else None


def _updated(call: ast.Call) -> list[list[str]]:
    """The keys that `update` or `setdefault` writes."""
    if called(call) == "setdefault":
        key = literal(call.args[0]) if call.args else UNSET
        return [[key if isinstance(key, str) else "*"]]
    found = [[word.arg or "*"] for word in call.keywords]
    for given in call.args:
        if not isinstance(given, ast.Dict):
            return [["*"]]
        keys = [literal(key) for key in given.keys]
        found += [[key if isinstance(key, str) else "*"] for key in keys]
    return found


class LoadedFiles:
    """The files that a script loads its names from: `json.load(open(args.ds_file))`, or with the file opened in a
    `with`."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self._opened: dict[str, ast.expr | None] = {}
        self._given: dict[str, list[ast.expr]] = {}
        for node in nodes:
            for item in node.items if isinstance(node, ast.With) else ():
                if isinstance(item.optional_vars, ast.Name):
                    self._opened[item.optional_vars.id] = _opened(item.context_expr)
            for target in node.targets if isinstance(node, ast.Assign) else ():
                if isinstance(target, ast.Name) and isinstance(node, ast.Assign):
                    self._given.setdefault(target.id, []).append(node.value)

    def path(self, name: str) -> ast.expr | None:
        """Of the file that the only value of a name was read from; None for anything else."""
        found = self._given.get(name, [])
        call = found[0] if len(found) == 1 and called(found[0]) in _LOADS else None
        given = call.args[0] if isinstance(call, ast.Call) and call.args else None
        if isinstance(given, ast.Call) and called(given) == "read" and isinstance(given.func, ast.Attribute):
            given = given.func.value
        return self._opened.get(given.id) if isinstance(given, ast.Name) else _opened(given)


def _opened(node: ast.expr | None) -> ast.expr | None:
    return node.args[0] if isinstance(node, ast.Call) and called(node) == "open" and node.args else None
