"""What a script writes into its DeepSpeed config before `deepspeed.initialize` gets it, and the option that names the
file it was read from."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dsgui.core.config.pointer import MISSING, child, lookup
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
    | {"dict", "list", "tuple", "sorted", "set", "iter", "enumerate", "zip", "bool", "type", "id", "repr", "pformat"}
    | {"get", "hasattr", "error", "log_dist"}
)
_TAKES_OUT = frozenset({"pop", "popitem", "clear"})
_TRACKERS = frozenset({"wandb", "swanlab", "mlflow", "trackio"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_HANDED_ON = 3  # times, from name to name


@dataclass(frozen=True, slots=True)
class ConfigSet:
    """A key that the script writes; "" for keys that can't be told. `lacking`: only where the config has none."""

    pointer: str
    when: When
    line: int
    lacking: bool = False


@dataclass(frozen=True, slots=True)
class Filling:
    """`lines` of the keys that the script writes in a run, by pointer; `perhaps`: the line where it may write any, 0
    for none; `defaults`: the lines of the keys that it writes only where the config has none."""

    lines: Mapping[str, int]
    perhaps: int = 0
    defaults: Mapping[str, int] = field(default_factory=dict)

    def of(self, config: Mapping[str, Any]) -> "Filling":
        """For a config that is known."""
        lacking = {one: line for one, line in self.defaults.items() if lookup(config, one) is MISSING}
        return Filling({**lacking, **self.lines}, self.perhaps)

    def line_of(self, pointer: str) -> int:
        """0 for a key that stays as it is in the file."""
        found = (line for one, line in self.lines.items() if pointer == one or pointer.startswith(f"{one}/"))
        return next(found, 0)


def filling(sets: Sequence[ConfigSet], values: Values) -> Filling:
    """Of the run that has these values; what is not known to be passed over is written."""
    reached = [one for one in sets if not one.when.condition or _may_be(values.worth(one.when.condition))]
    known = [one for one in reversed(reached) if one.pointer]
    lines, defaults = ({one.pointer: one.line for one in known if one.lacking is kind} for kind in (False, True))
    return Filling(lines, next((one.line for one in reached if not one.pointer), 0), defaults)


def _may_be(worth: object) -> bool:
    return worth is UNSET or bool(worth)


def config_sets(nodes: Sequence[ast.AST], branches: Branches) -> tuple[ConfigSet, ...]:
    """In the order of the source."""
    calls = [node for node in nodes if isinstance(node, ast.Call) and is_initialize(node)]
    names = {given.id for call in calls if isinstance(given := config_given(call), ast.Name)}
    if not names:
        return ()
    held, order = _held(nodes, names), _Order(nodes, calls)
    found = [
        _set(keys, node, branches)
        for node in nodes
        if isinstance(node, ast.stmt | ast.expr)
        for keys in _written(node, held)
        if not order.is_late(node)
    ]
    return tuple(sorted(found, key=lambda one: one.line))


def is_initialize(call: ast.Call) -> bool:
    return called(call) == "initialize" and getattr(getattr(call.func, "value", None), "id", "") == "deepspeed"


def config_given(call: ast.Call) -> ast.expr | None:
    """The config that `deepspeed.initialize` is given."""
    given = keyword(call, "config", "config_params")
    return call.args[_PLACE] if given is None and len(call.args) > _PLACE else given


class _Order:
    """What is surely done after the config was handed over, which changes nothing in it."""

    def __init__(self, nodes: Sequence[ast.AST], calls: Sequence[ast.Call]) -> None:
        self._parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
        places = [self._place(call) for call in calls]
        self._function = places[0][0] if len({id(function) for function, _ in places}) == 1 else None
        again = any(in_loop for _, in_loop in places)
        self._from = max(call.end_lineno or call.lineno for call in calls) if self._function and not again else 0

    def is_late(self, node: ast.stmt | ast.expr) -> bool:
        return bool(self._from) and node.lineno > self._from and self._place(node)[0] is self._function

    def _place(self, node: ast.AST) -> tuple[ast.AST, bool]:
        """The function or module around it, and whether a loop there is."""
        in_loop, above = False, self._parents.get(node, node)
        while above in self._parents and not isinstance(above, _FUNCTIONS):
            in_loop = in_loop or isinstance(above, ast.For | ast.While)
            above = self._parents[above]
        return above, in_loop


def _held(nodes: Sequence[ast.AST], names: set[str]) -> dict[str, list[str]]:
    """The names of the config and of parts of it, each with the keys of its part: `zero = ds["zero_optimization"]`.
    What a name holds besides is not told apart."""
    given = [
        (target.id, node.value)
        for node in nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    held = {name: list[str]() for name in names}
    for name, value in given:
        if name in names and isinstance(value, ast.Name):
            held.setdefault(value.id, [])
    for _ in range(_HANDED_ON):
        for name, value in given:
            if name not in held and (keys := _keys(value, held)) is not None:
                held[name] = keys if sum(one == name for one, _ in given) == 1 else ["*"]
    return held


def _written(node: ast.stmt | ast.expr, held: Mapping[str, list[str]]) -> Iterator[list[str]]:
    """The keys of each place in the config that a statement or a call writes."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in (one for many in targets for one in (many.elts if isinstance(many, ast.Tuple) else [many])):
            if isinstance(target, ast.Subscript) and (keys := _keys(target, held)) is not None:
                yield keys
            elif isinstance(target, ast.Name) and target.id in held and node.value is not None:
                yield from ([*held[target.id], *more] for more in _made_anew(node, node.value, held))
    elif isinstance(node, ast.Delete):
        yield from (["*"] for one in node.targets if isinstance(one, ast.Subscript) and _keys(one, held) is not None)
    elif isinstance(node, ast.Call):
        yield from _written_by(node, held)


def _made_anew(node: ast.stmt, value: ast.expr, held: Mapping[str, list[str]]) -> list[list[str]]:
    """The keys in `ds = {**ds, "a": 1}`, `ds |= {"a": 1}`, `ds = ds | more`, `ds = dict(ds, a=1)`."""
    if isinstance(node, ast.AugAssign):
        return _of_mapping(value)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr) and _keys(value.left, held) is not None:
        return _of_mapping(value.right)
    if isinstance(value, ast.Dict) and None in value.keys:
        others = [one for key, one in zip(value.keys, value.values, strict=True) if key is None]
        more = [["*"]] if any(_keys(one, held) is None for one in others) else []
        return [*_of_keys(key for key in value.keys if key is not None), *more]
    if isinstance(value, ast.Call) and called(value) == "dict":
        copied = value.args and _keys(value.args[0], held) is not None
        return [[word.arg or "*"] for word in value.keywords if copied]
    return []


def _written_by(call: ast.Call, held: Mapping[str, list[str]]) -> Iterator[list[str]]:
    name = called(call)
    if isinstance(call.func, ast.Attribute) and (keys := _keys(call.func.value, held)) is not None:
        if name in ("update", "setdefault"):
            yield from ([*keys, *more] for more in _updated(call))
        elif name in _TAKES_OUT:
            yield ["*"]
    elif name not in _READS and not _is_tracker(call):
        given = [*call.args, *(word.value for word in call.keywords if word.arg)]  # of `**ds` it gets a copy
        if any(isinstance(one, ast.Name) and one.id in held for one in given):
            yield ["*"]


def _is_tracker(call: ast.Call) -> bool:
    """`wandb.init(config=ds_config)`."""
    return getattr(getattr(call.func, "value", None), "id", "") in _TRACKERS


def _set(keys: Iterable[str], node: ast.stmt | ast.expr, branches: Branches) -> ConfigSet:
    pointer = ""
    for key in keys:
        if key == "*":
            return ConfigSet("", branches.when(node), node.lineno)
        pointer = child(pointer, key)
    lacking = isinstance(node, ast.Call) and called(node) == "setdefault"
    return ConfigSet(pointer, branches.when(node), node.lineno, lacking)


def _keys(node: ast.expr, held: Mapping[str, list[str]]) -> list[str] | None:
    """`ds_config["optimizer"]["params"]` → its keys, "*" for one that is computed; None for anything else."""
    keys: list[str] = []
    while True:
        if isinstance(node, ast.Subscript):
            key, node = literal(node.slice), node.value
        elif owned := _read(node):
            key, node = literal(owned[0]), owned[1]
        else:
            break
        keys.insert(0, key if isinstance(key, str) else "*")
    return [*held[node.id], *keys] if isinstance(node, ast.Name) and node.id in held else None


def _read(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The key and the owner of `ds_config.get("optimizer")`; None for anything else."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
        return None
    return (node.args[0], node.func.value) if node.func.attr in ("get", "setdefault") else None


def _updated(call: ast.Call) -> list[list[str]]:
    """The keys that `update` or `setdefault` writes."""
    if called(call) == "setdefault":
        return _of_keys(call.args[:1])
    found = [[word.arg or "*"] for word in call.keywords]
    return [*found, *(keys for given in call.args for keys in _of_mapping(given))]


def _of_mapping(node: ast.expr) -> list[list[str]]:
    return _of_keys(node.keys) if isinstance(node, ast.Dict) else [["*"]]


def _of_keys(nodes: Iterable[ast.expr | None]) -> list[list[str]]:
    keys = (literal(node) if node is not None else UNSET for node in nodes)
    return [[key if isinstance(key, str) else "*"] for key in keys]


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
