"""What a script writes into its DeepSpeed config before `deepspeed.initialize` gets it, and the option that names the
file it was read from."""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dsgui.core.config.pointer import MISSING, child, lookup
from dsgui.core.script.command_line import UNSET
from dsgui.core.script.declared import literal
from dsgui.core.script.in_a_run.branches import Branches, When
from dsgui.core.script.in_a_run.changes import is_changed
from dsgui.core.script.in_a_run.config_names import ConfigNames, config_given, loads, part_of
from dsgui.core.script.in_a_run.scopes import READ_ONLY, Scopes
from dsgui.core.script.in_a_run.worth import Spelled, Values
from dsgui.core.script.parser_source import called

# What is given the config and changes nothing in it.
_READS = frozenset(
    {"initialize", "print", "dump", "dumps", "len", "HfDeepSpeedConfig", "Init", "info", "str", "isinstance"}
    | {"deepcopy", "copy", "warning", "debug", "DeepSpeedConfig", "pprint", "items", "print_rank_0"}
    | {"dict", "list", "tuple", "sorted", "set", "iter", "enumerate", "zip", "bool", "type", "id", "repr", "pformat"}
    | {"get", "hasattr", "error", "log_dist"}
)
_TAKES_OUT = frozenset({"pop", "popitem", "clear"})
_TRACKERS = frozenset({"wandb", "swanlab", "mlflow", "trackio"})


@dataclass(frozen=True, slots=True)
class ConfigSet:
    """A key that the script writes; "" for keys that can't be told. `lacking`: only where the config has none. `sure`:
    whether DeepSpeed gets it in any case once it is written. `loaded`: the name of the config in `when`, "" for
    none."""

    pointer: str
    when: When
    line: int
    lacking: bool = False
    sure: bool = True
    loaded: str = ""


@dataclass(frozen=True, slots=True)
class Filling:
    """`lines` of the keys that the script writes in a run, by pointer, and of those that it `may` write; `perhaps`: the
    line where it may write any, 0 for none."""

    lines: Mapping[str, int]
    may: Mapping[str, int] = field(default_factory=dict)
    perhaps: int = 0

    def line_of(self, pointer: str) -> int:
        """0 for a key that stays as it is in the file."""
        return _line(self.lines, pointer)

    def may_be_at(self, pointer: str) -> int:
        """The line where the script may write it; 0 for none."""
        return _line(self.may, pointer)


def _line(lines: Mapping[str, int], pointer: str) -> int:
    found = (line for one, line in lines.items() if pointer == one or pointer.startswith(f"{one}/"))
    return next(found, 0)


def filling(sets: Sequence[ConfigSet], values: Values, config: Mapping[str, Any]) -> Filling:
    """Of the run that has these values, which reads this config from its file."""
    lines, may, perhaps, written = dict[str, int](), dict[str, int](), 0, _by_block(sets)
    for one in reversed(sets):
        worth = _worth(one, written, values, config)
        if worth is not UNSET and not worth:
            continue
        if not one.pointer:
            perhaps = one.line
        elif one.sure and worth is not UNSET:
            lines[one.pointer] = one.line
        else:
            may[one.pointer] = one.line
    return Filling(lines, may, perhaps)


_Blocks = Mapping[str, Mapping[str, frozenset[int]]]


def _by_block(sets: Iterable[ConfigSet]) -> _Blocks:
    """The pointers that are written, with their lines, by the block that they are in."""
    found: dict[str, dict[str, set[int]]] = {}
    for one in sets:
        found.setdefault(_block(one.pointer), {}).setdefault(one.pointer, set()).add(one.line)
    return {block: {pointer: frozenset(at) for pointer, at in many.items()} for block, many in found.items()}


def _block(pointer: str) -> str:
    return "/".join(pointer.split("/")[:2])


def _touches(one: str, other: str) -> bool:
    """Whether one is the other, or within it."""
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


def _worth(one: ConfigSet, written: _Blocks, values: Values, config: Mapping[str, Any]) -> Any:
    """Whether the script writes it."""
    given = (values.options, values.plain, values.variables, values.words)
    reading = _Reading(*given, config, one.loaded, written, one.line)
    if one.lacking and lookup(config, one.pointer) is not MISSING:
        return UNSET if reading.is_written(one.pointer) else False
    return reading.worth(one.when.condition) if one.when.condition else True


@dataclass(frozen=True, slots=True)
class _Reading(Values):
    """Reads the `config` too, by the name that it has; not what is `written` to it on another
    `line`."""

    config: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    written: _Blocks = field(default_factory=dict)
    line: int = 0

    def of(self, node: ast.expr, deep: int) -> Any:
        """`ds["train_batch_size"] == "auto"`, `"fp16" in ds`."""
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn) and len(node.ops) == 1:
            keys, key = self._keys(node.comparators[0]), literal(node.left)
            if keys is not None and isinstance(key, str):
                found = self._at([*keys, key])
                return UNSET if found is UNSET else (found is not MISSING) is isinstance(node.ops[0], ast.In)
        keys = self._keys(node)
        if keys is None:
            return Values.of(self, node, deep)
        found = self._at(keys)
        if found is not MISSING or not isinstance(node, ast.Call):
            return UNSET if found is MISSING else found
        return self.of(node.args[1], deep - 1) if len(node.args) > 1 else None

    def _keys(self, node: ast.expr) -> list[str] | None:
        part = part_of(node) if self.name else None
        return part[1] if part and part[0].id == self.name else None

    def _at(self, keys: Sequence[str]) -> Any:
        if not keys or "*" in keys:
            return UNSET
        pointer = _pointer(keys)
        return UNSET if self.is_written(pointer) else lookup(self.config, pointer)

    def is_written(self, pointer: str) -> bool:
        """Whether it may be, elsewhere."""
        written = (self.written.get(block, {}).items() for block in ("", _block(pointer)))
        return any(at != {self.line} and _touches(one, pointer) for many in written for one, at in many)


def config_sets(branches: Branches, spelled: Spelled) -> tuple[ConfigSet, ...]:
    """In the order of the source."""
    nodes = spelled.scopes.nodes
    is_initialize = initializer(nodes)
    calls = [node for node in nodes if isinstance(node, ast.Call) and is_initialize(node)]
    names = ConfigNames(spelled, calls)
    kept = {given.attr for call in calls if isinstance(given := config_given(call), ast.Attribute)}
    others = [node for node in nodes if isinstance(node, ast.Attribute) and node.attr in kept]
    # `self.ds["a"] = 1`: what is written there is not followed.
    found = [ConfigSet("", branches.when(one), one.lineno) for one in others if is_changed(one, spelled.scopes)]
    found += [
        _set(one, node, branches, names)
        for node in nodes
        if names and isinstance(node, ast.stmt | ast.expr)
        for one in _written(node, names)
        if not names.is_late(node)
    ]
    return tuple(sorted(found, key=lambda one: one.line))


def initializer(nodes: Iterable[ast.AST]) -> Callable[[ast.Call], bool]:
    """Tells the calls of `deepspeed.initialize`, by whatever name the file imports it."""
    modules, functions = {"deepspeed"}, set[str]()
    for node in nodes:
        if isinstance(node, ast.Import):
            modules |= {one.asname for one in node.names if one.name == "deepspeed" and one.asname}
        elif isinstance(node, ast.ImportFrom) and node.module == "deepspeed":
            functions |= {one.asname or one.name for one in node.names if one.name == "initialize"}

    def is_initialize(call: ast.Call) -> bool:
        if isinstance(call.func, ast.Name):
            return call.func.id in functions
        return called(call) == "initialize" and getattr(getattr(call.func, "value", None), "id", "") in modules

    return is_initialize


@dataclass(frozen=True, slots=True)
class _Written:
    """`keys` of a place in the config that is written; `to`: the name that has it, or a part of it."""

    keys: list[str]
    to: ast.expr | None = None


_ANY = _Written(["*"])


def _written(node: ast.stmt | ast.expr, names: ConfigNames) -> Iterator[_Written]:
    """Each place in the config that a statement or a call writes."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in (one for many in targets for one in (many.elts if isinstance(many, ast.Tuple) else [many])):
            if isinstance(target, ast.Subscript) and (keys := names.keys(target)) is not None:
                yield _Written(keys, None if _keeps(node, keys, names) else target)
            elif isinstance(target, ast.Name) and names.holds(target) and node.value is not None:
                held = names.keys(target) or []
                every = ([*held, *more] for more in _made_anew(node, node.value, names))
                reads = list(_reads(node.value, names))
                if held in reads and not isinstance(node, ast.AugAssign):
                    reads.remove(held)  # what it is made of
                yield from (_Written(keys, None if _is_among(keys, reads) else target) for keys in every)
    elif isinstance(node, ast.Delete):
        taken = (names.keys(one) for one in node.targets if isinstance(one, ast.Subscript))
        yield from (_Written(keys) for keys in taken if keys is not None)
    elif isinstance(node, ast.Call):
        yield from _written_by(node, names)


def _keeps(node: ast.Assign | ast.AugAssign | ast.AnnAssign, keys: list[str], names: ConfigNames) -> bool:
    """Whether what stood there may be there afterwards: `ds["a"] = {**ds["a"], "b": 1}`; an "auto" is no value."""
    if isinstance(node, ast.AugAssign) or node.value is None or literal(node.value) == "auto":
        return True
    return _is_among(keys, _reads(node.value, names))


def _reads(node: ast.AST, names: ConfigNames) -> Iterator[list[str]]:
    """The keys of each part of the config in an expression."""
    ahead = [node]
    while ahead:
        one = ahead.pop()
        keys = names.keys(one) if isinstance(one, ast.Name | ast.Subscript | ast.Call) else None
        if keys is not None:
            yield keys
        else:
            ahead += ast.iter_child_nodes(one)


def _is_among(keys: list[str], read: Iterable[list[str]]) -> bool:
    return any("*" in one or _touches(_pointer(one), _pointer(keys)) for one in read)


def _made_anew(node: ast.stmt, value: ast.expr, names: ConfigNames) -> list[list[str]]:
    """The keys in `ds = {**ds, "a": 1}`, `ds |= {"a": 1}`, `ds = ds | more`, `ds = dict(ds, a=1)`."""
    if isinstance(node, ast.AugAssign):
        return _of_mapping(value)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr) and names.keys(value.left) is not None:
        return _of_mapping(value.right)
    if isinstance(value, ast.Dict) and None in value.keys:
        others = [one for key, one in zip(value.keys, value.values, strict=True) if key is None]
        more = [["*"]] if any(names.keys(one) is None for one in others) else []
        return [*_of_keys(key for key in value.keys if key is not None), *more]
    if isinstance(value, ast.Call) and called(value) == "dict":
        copied = value.args and names.keys(value.args[0]) is not None
        return [[word.arg or "*"] for word in value.keywords if copied]
    return []


def _written_by(call: ast.Call, names: ConfigNames) -> Iterator[_Written]:
    name = called(call)
    if isinstance(call.func, ast.Attribute) and (keys := names.keys(call.func.value)) is not None:
        if name in ("update", "setdefault"):
            reads = [one for given in [*call.args, *call.keywords] for one in _reads(given, names)]
            every = ([*keys, *more] for more in _updated(call))
            yield from (_Written(one, None if _is_among(one, reads) else call.func.value) for one in every)
        elif name in _TAKES_OUT:
            taken = literal(call.args[0]) if name == "pop" and call.args else None
            yield _Written([*keys, taken if isinstance(taken, str) else "*"])
        elif name not in READ_ONLY | _READS:
            yield _ANY
    elif name not in _READS and not _is_tracker(call):
        given = [*call.args, *(word.value for word in call.keywords if word.arg)]  # of `**ds` it gets a copy
        if any(map(names.holds, given)):
            yield _ANY


def _is_tracker(call: ast.Call) -> bool:
    """`wandb.init(config=ds_config)`."""
    return getattr(getattr(call.func, "value", None), "id", "") in _TRACKERS


def _set(one: _Written, node: ast.stmt | ast.expr, branches: Branches, names: ConfigNames) -> ConfigSet:
    if "*" in one.keys:
        return ConfigSet("", branches.when(node), node.lineno)
    lacking = isinstance(node, ast.Call) and called(node) == "setdefault"
    sure = one.to is not None and names.reaches(node, one.to)
    return ConfigSet(_pointer(one.keys), branches.when(node), node.lineno, lacking, sure, names.loaded)


def _pointer(keys: Iterable[str]) -> str:
    pointer = ""
    for key in keys:
        pointer = child(pointer, key)
    return pointer


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
    `with` around it."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._given: dict[tuple[ast.AST | None, str], list[ast.expr | None]] = {}
        for node in scopes.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                above = scopes.parents.get(node)
                value = above.value if isinstance(above, ast.Assign | ast.AnnAssign) else None
                self._given.setdefault(scopes.place(node), []).append(value)

    def path(self, name: ast.Name) -> ast.expr | None:
        """Of the file that the only value of a name was read from; None for anything else."""
        found = self._given.get(self._scopes.place(name), [])
        call = found[0] if len(found) == 1 and loads(found[0]) else None
        given = call.args[0] if isinstance(call, ast.Call) and call.args else None
        if isinstance(given, ast.Call) and called(given) == "read" and isinstance(given.func, ast.Attribute):
            given = given.func.value
        return self._around(given) if isinstance(given, ast.Name) else _opened(given)

    def _around(self, name: ast.Name) -> ast.expr | None:
        """What the nearest `with` around it opens by that name."""
        above = self._scopes.parents.get(name)
        while above is not None:
            for item in above.items if isinstance(above, ast.With) else ():
                if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == name.id:
                    return _opened(item.context_expr)
            above = self._scopes.parents.get(above)
        return None


def _opened(node: ast.expr | None) -> ast.expr | None:
    return node.args[0] if isinstance(node, ast.Call) and called(node) == "open" and node.args else None
