"""Which names of a script hold the config that `deepspeed.initialize` gets, or a part of it, and whether what is
written there surely reaches it."""

import ast
import math
from collections.abc import Iterator, Sequence

from dsgui.core.script.declared import literal
from dsgui.core.script.in_a_run.scopes import FUNCTIONS, Function
from dsgui.core.script.in_a_run.worth import Spelled
from dsgui.core.script.parser_source import called

_PLACE = 10  # deepspeed/__init__.py: initialize(args, model, …, config)
_LOADS = ("load", "safe_load", "loads")
_HANDED_ON = 3  # times, from name to name
_MOST_VALUES = 300  # of one name that are looked at

_Place = tuple[ast.AST | None, str]


def loads(node: ast.AST | None) -> bool:
    """`json.load(…)`."""
    return node is not None and called(node) in _LOADS


def config_given(call: ast.Call) -> ast.expr | None:
    """The config that `deepspeed.initialize` is given."""
    given = next((one.value for one in call.keywords if one.arg in ("config", "config_params")), None)
    given = None if isinstance(given, ast.Constant) and given.value is None else given
    return call.args[_PLACE] if given is None and len(call.args) > _PLACE else given


def part_of(node: ast.expr) -> tuple[ast.Name, list[str]] | None:
    """`ds_config["optimizer"]["params"]` → its name and the keys, "*" for one that is computed; None for anything
    else."""
    keys: list[str] = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Subscript):
            key, node = literal(node.slice), node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            if node.func.attr not in ("get", "setdefault"):
                return None
            key, node = literal(node.args[0]), node.func.value
        else:
            return None
        keys.insert(0, key if isinstance(key, str) else "*")
    return node, keys


class ConfigNames:
    """Of one file. `calls` of `deepspeed.initialize`."""

    def __init__(self, spelled: Spelled, calls: Sequence[ast.Call]) -> None:
        self._scopes, self._options = spelled.scopes, spelled.held
        self._order = _Order(spelled, calls)
        self._bound: dict[_Place, list[ast.Name]] = {}
        self._functions: dict[str, list[Function]] = {}
        self._named: dict[str, int] = {}
        self._returns: dict[Function, list[ast.Return]] = {}
        self._last_new: dict[_Place, float] = {}
        for node in self._scopes.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._bound.setdefault(self._scopes.place(node), []).append(node)
            elif isinstance(node, ast.Name):
                self._named[node.id] = self._named.get(node.id, 0) + 1
            elif isinstance(node, FUNCTIONS):
                self._functions.setdefault(node.name, []).append(node)
        given = [(call, one) for call in calls if isinstance(one := config_given(call), ast.Name)]
        self._held: dict[_Place, list[str]] = {self._scopes.place(name): [] for _, name in given}
        # In which functions what is written to a name surely reaches DeepSpeed.
        self._surely: set[tuple[_Place, ast.AST | None]] = set()
        if len(calls) == 1:
            self._surely = {(self._scopes.place(name), self._scopes.function(call)) for call, name in given}
        self.loaded = self._loaded([name for _, name in given])
        for _ in range(_HANDED_ON if given else 0):
            self._go_up()
            self._go_down()
            self._last_new.clear()  # with more names known, more values have what was written before

    def __bool__(self) -> bool:
        return bool(self._held)

    def is_late(self, node: ast.stmt | ast.expr) -> bool:
        """Whether it is surely done after the config was handed over."""
        return self._order.is_late(node)

    def holds(self, name: ast.expr) -> bool:
        """Whether it is the name of the config or of a part of it."""
        return isinstance(name, ast.Name) and self._scopes.place(name) in self._held

    def keys(self, node: ast.expr) -> list[str] | None:
        """Of a part of the config; None for anything else."""
        part = part_of(node)
        held = self._held.get(self._scopes.place(part[0])) if part else None
        return None if part is None or held is None else [*held, *part[1]]

    def reaches(self, node: ast.stmt | ast.expr, written: ast.expr) -> bool:
        """Whether what `node` writes to a part of the config is surely there when DeepSpeed gets it, if it is done."""
        return not self._order.is_unsure(node) and self._is_kept(written, node)

    def carries(self, value: ast.AST | None) -> bool:
        """Whether a new value of a name has what was written before: `{**ds, "a": 1}`, `ds | more`, `dict(ds, a=1)`."""
        if isinstance(value, ast.AugAssign):
            return True
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr):
            return self.keys(value.left) is not None
        if isinstance(value, ast.Dict):
            pairs = zip(value.keys, value.values, strict=True)
            return any(key is None and self.keys(one) is not None for key, one in pairs)
        copied = value.args[:1] if isinstance(value, ast.Call) and called(value) == "dict" else []
        return any(self.keys(one) is not None for one in copied)

    # ---------------------------------------------------------------------------------------------------- how it knows
    def _loaded(self, given: Sequence[ast.Name]) -> str:
        """The name that stands for the config as it was read from its file, wherever it stands; "" for none."""
        places = {self._scopes.place(name) for name in given}
        bound = [name for place in places for name in self._bound.get(place, ())]
        if len(bound) != 1 or not loads(self._value(bound[0])):
            return ""
        others = (one for one in self._scopes.nodes if isinstance(one, ast.Name) and one.id == bound[0].id)
        return bound[0].id if all(self._scopes.place(one) in places for one in others) else ""

    def _value(self, name: ast.Name) -> ast.AST | None:
        above = self._scopes.parents.get(name)
        return above if isinstance(above, ast.AugAssign) else getattr(above, "value", None)

    def _is_lost(self, place: _Place, node: ast.stmt | ast.expr) -> bool:
        """Whether the name is given another value after that."""
        if place not in self._last_new:
            bound = self._bound.get(place, ())
            new = (one.lineno for one in bound if not self.is_late(one) and not self.carries(self._value(one)))
            self._last_new[place] = max(new, default=0) if len(bound) <= _MOST_VALUES else math.inf
        return self._last_new[place] > node.lineno

    def _is_kept(self, part: ast.expr, node: ast.stmt | ast.expr) -> bool:
        """Whether a part of the config, as it is at `node`, surely reaches DeepSpeed."""
        named = part_of(part)
        place = self._scopes.place(named[0]) if named else None
        if place is None or (place, self._scopes.function(node)) not in self._surely:
            return False
        return not self._is_lost(place, node)

    def _go_up(self) -> None:
        """To the names that hold the same config before."""
        for place in [one for one, keys in self._held.items() if not keys]:
            for name in self._bound.get(place, ()):
                sure = (place, self._scopes.function(name)) in self._surely and not self._is_lost(place, name)
                for other, function in self._same(self._value(name), name):
                    self._held.setdefault(other, [])
                    if sure and function is not None:
                        self._surely.add((other, function[0]))
            if isinstance(place[0], FUNCTIONS):
                for given in self._options.given(place[0], place[1]) or ():
                    if isinstance(given, ast.Name):
                        self._held.setdefault(self._scopes.place(given), [])

    def _same(self, value: ast.AST | None, name: ast.Name) -> Iterator[tuple[_Place, list[ast.AST | None] | None]]:
        """The names behind `ds = config` and `ds = get_config()`, with the function in which they surely are that."""
        if isinstance(value, ast.Name):
            yield self._scopes.place(value), [self._scopes.function(name)]
        made = value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""
        functions = self._functions.get(made, [])
        for function in functions if len(functions) == 1 else ():
            if function not in self._returns:
                self._returns[function] = [one for one in ast.walk(function) if isinstance(one, ast.Return)]
            returned = self._returns[function]
            once = len(returned) == 1 and self._named[made] == 1 and not function.decorator_list
            for one in returned:
                if isinstance(one.value, ast.Name):
                    yield self._scopes.place(one.value), [function] if once else None

    def _go_down(self) -> None:
        """To the names of its parts: `zero = ds["zero_optimization"]`."""
        for place, names in self._bound.items():
            for name in names if place not in self._held else ():
                value = self._value(name)
                keys = self.keys(value) if isinstance(value, ast.expr) else None
                if keys is None or not isinstance(value, ast.expr):
                    continue
                self._held[place] = keys if len(names) == 1 else ["*"]
                if len(names) == 1 and self._is_kept(value, name):
                    self._surely.add((place, self._scopes.function(name)))


class _Order:
    """What is surely done before or after the config was handed over."""

    def __init__(self, spelled: Spelled, calls: Sequence[ast.Call]) -> None:
        self._parents, self._calls = spelled.scopes.parents, calls
        self._places: dict[ast.AST, tuple[ast.AST, bool, frozenset[ast.AST]]] = {}
        places = [self._place(call) for call in calls]
        self._function = places[0][0] if len({id(one[0]) for one in places}) == 1 else None
        again = any(in_loop for _, in_loop, _ in places)
        self._from = max(call.end_lineno or call.lineno for call in calls) if self._function and not again else 0

    def is_late(self, node: ast.stmt | ast.expr) -> bool:
        """What is done then changes nothing in it."""
        return bool(self._from) and node.lineno > self._from and self._place(node)[0] is self._function

    def is_unsure(self, node: ast.stmt | ast.expr) -> bool:
        """What a loop does, perhaps not once; what may fail and is gone on from; and what follows the call, if it is
        called again."""
        function, in_loop, caught = self._place(node)
        on = bool(caught) and not all(caught <= self._place(call)[2] for call in self._calls)
        return in_loop or on or (function is self._function and node.lineno > self._calls[0].lineno)

    def _place(self, node: ast.AST) -> tuple[ast.AST, bool, frozenset[ast.AST]]:
        """The function or module around it, whether a loop there is, and what catches its errors there."""
        if node not in self._places:
            in_loop, caught, below, above = False, list[ast.AST](), node, self._parents.get(node, node)
            while above in self._parents and not isinstance(above, FUNCTIONS):
                in_loop = in_loop or isinstance(above, ast.For | ast.AsyncFor | ast.While)
                if _catches(above, below):
                    caught.append(above)
                below, above = above, self._parents[above]
            self._places[node] = above, in_loop, frozenset(caught)
        return self._places[node]


def _catches(above: ast.AST, below: ast.AST) -> bool:
    """Whether the script may go on without having done `below`, a part of `above`."""
    if isinstance(above, ast.Try | ast.TryStar):
        return bool(above.handlers) and (below in above.body or below in above.orelse)
    return isinstance(above, ast.With) and any(called(one.context_expr) == "suppress" for one in above.items)
