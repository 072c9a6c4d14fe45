"""In which case a place in a script's source is reached: the conditions around it and around the calls of its function,
as one expression. What can't be followed is UNKNOWN there, a name that nobody knows the worth of."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dsgui.core.script.in_a_run.leaving import Stays
from dsgui.core.script.in_a_run.scopes import FUNCTIONS, Function, is_main
from dsgui.core.script.in_a_run.worth import Spelled
from dsgui.core.script.parser_source import called

_CALLERS = 6  # levels of functions around a place that are looked at
_MOST_CALLS = 8
_MOST_SHOWN = 60
_MOST_TESTS = 40  # around one place
_LONGEST = 4000  # characters of a condition
_OF_MODEL = frozenset({"parameters", "named_parameters", "modules", "named_modules", "children", "named_children"})
_NEVER, _UNKNOWN = "False", "UNKNOWN"
# What calls the function that it is given.
_STARTS = frozenset({"Fire", "CLI", "auto_cli", "run", "spawn", "notebook_launcher", "debug_launcher"})
# What may call any function of the file, the former where it is given none.
_CALLS_ANY = ("Fire", "CLI", "auto_cli")
_ANY_FUNCTION = frozenset({"globals", "locals", "exec", "eval"})


@dataclass(frozen=True, slots=True)
class When:
    """`condition`: the expression, "" for in any case. `line` of the condition next to the place and how that is
    `shown`; else the place's line."""

    condition: str
    line: int
    shown: str = ""


@dataclass(frozen=True, slots=True)
class _Test:
    """`test` has to hold, or not to, None for what nobody knows; `at`: what is shown of it."""

    test: ast.expr | None
    holds: bool = True
    at: ast.expr | None = None


_Places = dict[ast.AST, tuple[int, list[tuple[ast.expr, ast.expr | None]]]]


class Branches:
    """Of one file."""

    def __init__(self, nodes: Sequence[ast.AST], spelled: Spelled) -> None:
        self._spelled, self._scopes, self._stays = spelled, spelled.scopes, Stays(nodes)
        self._parents = self._scopes.parents
        self._calls: dict[str, list[ast.Call]] = {}
        self._functions: dict[str, list[Function]] = {}
        self._named: dict[str, int] = {}
        self._places: dict[int, _Places] = {}
        self._conditions: dict[Function, str] = {}
        self._names_in: dict[ast.expr, frozenset[str]] = {}
        for node in nodes:
            if isinstance(node, ast.Call):
                self._calls.setdefault(called(node), []).append(node)
            elif isinstance(node, FUNCTIONS):
                self._functions.setdefault(node.name, []).append(node)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._named[node.id] = self._named.get(node.id, 0) + 1
        of_all = [call for name in _CALLS_ANY for call in self._calls.get(name, [])]
        self._any_function = any(not call.args for call in of_all) or not _ANY_FUNCTION.isdisjoint(self._calls)

    def when(self, node: ast.expr | ast.stmt) -> When:
        """In which case the script gets there."""
        try:
            condition = self._condition(node, _CALLERS)
            near = next(self._around(node), None)
            shown = ast.unparse(near if near is not None else node) if condition else ""
        except RecursionError:
            return When(_UNKNOWN, node.lineno)
        shown = shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}…"
        return When(condition, node.lineno if near is None else near.lineno, shown)

    def _around(self, node: ast.AST) -> Iterator[ast.expr]:
        """The tests around it, the nearest first, out of its functions too where these are called once."""
        for _ in range(_CALLERS):
            yield from (one.at for one in self._tests(node) if one.at is not None)
            function = self._scopes.function(node)
            calls = self._calls.get(function.name, []) if function else []
            if len(calls) != 1:
                return
            node = calls[0]

    def _condition(self, node: ast.AST, levels: int) -> str:
        parts = [self._part(one) for one in self._tests(node)]
        function = self._scopes.function(node)
        if function is not None:
            parts.append(self._of_function(function, levels - 1) if levels else _UNKNOWN)
        text = " and ".join(dict.fromkeys(one for one in reversed(parts) if one))
        return text if len(text) <= _LONGEST else _UNKNOWN

    def _part(self, one: _Test) -> str:
        text = (self._spelled.expression(one.test) if one.test is not None else "") or _UNKNOWN
        return f"({text})" if one.holds else f"(not ({text}))"

    # ------------------------------------------------------------------------------------------------ who gets there
    def _of_function(self, function: Function, levels: int) -> str:
        if function not in self._conditions:
            self._conditions[function] = _UNKNOWN  # of functions that call each other
            self._conditions[function] = self._reached(function, levels)
        return self._conditions[function]

    def _reached(self, function: Function, levels: int) -> str:
        calls = list(self._callers(function))
        ways = [self._condition(call, levels) if call is not None else _UNKNOWN for call in calls[:_MOST_CALLS]]
        if "" in ways:
            return ""
        if len(calls) > _MOST_CALLS:
            ways.append(_UNKNOWN)
        return f"({' or '.join(f'({way})' for way in dict.fromkeys(ways))})" if ways else _NEVER

    def _callers(self, function: Function) -> Iterator[ast.Call | None]:
        """The calls that get into it, None for what nobody knows."""
        if len(self._functions[function.name]) > 1:
            yield None
        elif isinstance(above := self._parents.get(function), ast.ClassDef):
            yield from self._callers_of_method(function, above)
        else:
            every = [one for one in self._calls.get(function.name, []) if isinstance(one.func, ast.Name)]
            calls = [one for one in every if self._scopes.function(one) is not function]
            started = [call for name in _STARTS for call in self._calls.get(name, []) if _gives(call, function.name)]
            yield from (*calls, *started)
            others = self._named.get(function.name, 0) > len(every) + len(started)
            nobody = not calls and not started
            if others or self._any_function or (nobody and (function.decorator_list or not self._is_files(function))):
                yield None

    def _is_files(self, function: Function) -> bool:
        return isinstance(self._parents.get(function), ast.Module)

    def _callers_of_method(self, method: Function, owner: ast.ClassDef) -> Iterator[ast.Call | None]:
        """A base of the class may call it too."""
        name = owner.name if method.name == "__init__" else method.name
        for call in self._calls.get(name, []):
            if isinstance(call.func, ast.Name) if method.name == "__init__" else self._is_of(call, owner):
                yield call
        yield None

    def _is_of(self, call: ast.Call, owner: ast.ClassDef) -> bool:
        """`self.build()` in the class, `Mine(…).build()`, or of a name that is given the latter."""
        whose = getattr(call.func, "value", None)
        if isinstance(whose, ast.Name) and whose.id == "self":
            return self._scopes.class_of(call) is owner
        made = self._scopes.value(whose) if isinstance(whose, ast.Name) else whose
        return isinstance(made, ast.Call) and isinstance(made.func, ast.Name) and made.func.id == owner.name

    # ------------------------------------------------------------------------------------------------ what is asked
    def _tests(self, node: ast.AST) -> list[_Test]:
        """Those around it within its function: the nearest first."""
        found, turns, sure, some = list[_Test](), set[str](), set[str](), True
        below, above = node, self._parents.get(node)
        while above is not None and not isinstance(below, FUNCTIONS):
            for one in _loops(above, below):
                turns |= self._names(one.target)
                sure |= self._names(one.target) if called(one.iter) in _OF_MODEL else set()
                some = some and _turns_once(one.iter)
            found += _asked(above, below)
            found += self._left_before(above, below)
            if len(found) > _MOST_TESTS:
                return [*self._of_turns(found[:_MOST_TESTS], turns, sure), _Test(None)]
            below, above = above, self._parents.get(above)
        found = self._of_turns(found, turns, sure)
        return found if some else [*found, _Test(None)]

    def _of_turns(self, found: list[_Test], turns: set[str], sure: set[str]) -> list[_Test]:
        """What a loop asks of each of its `turns` holds for some of them where it asks no more than the name of a
        parameter: for `sure` ones."""
        if not turns:
            return found
        split = [part for one in found for part in _parted(one)]
        of_turn = [one.test is not None and not turns.isdisjoint(self._names(one.test)) for one in split]
        kept = [one for one, drop in zip(split, of_turn, strict=True) if not drop]
        asked = [one.test for one, drop in zip(split, of_turn, strict=True) if drop and one.test is not None]
        return kept if all(self._names(test) <= sure for test in asked) else [*kept, _Test(None)]

    def _left_before(self, block: ast.AST, statement: ast.AST) -> list[_Test]:
        """`if not args.use_lora: return model` before the statement in its block."""
        for name in ("body", "orelse", "finalbody"):
            body = getattr(block, name, None)
            if not isinstance(body, list) or statement not in (places := self._leaving(body)):
                continue
            place, tests = places[statement]
            near = [_Test(test, True, at) for test, at in reversed(tests[max(place - _MOST_TESTS, 0) : place])]
            return [*near, _Test(None)] if place > _MOST_TESTS else near
        return []

    def _leaving(self, body: list[ast.stmt]) -> _Places:
        """Each statement of a block with how many of those before it may leave, and what these ask to go on."""
        key = id(body)
        if key not in self._places:
            tests, places = list[tuple[ast.expr, ast.expr | None]](), _Places()
            for one in body:
                places[one] = (len(tests), tests)
                stays = self._stays.of(one)
                if stays is not None:
                    written = None if isinstance(stays, ast.Constant | ast.Name) else stays
                    tests.append((stays, getattr(one, "test", written)))
            self._places[key] = places
        return self._places[key]

    def _names(self, node: ast.expr) -> frozenset[str]:
        if node not in self._names_in:
            self._names_in[node] = frozenset(one.id for one in ast.walk(node) if isinstance(one, ast.Name))
        return self._names_in[node]


def _gives(call: ast.Call, name: str) -> bool:
    return bool(call.args) and isinstance(call.args[0], ast.Name) and call.args[0].id == name


def _loops(above: ast.AST, below: ast.AST) -> Sequence[ast.For | ast.AsyncFor | ast.comprehension]:
    if isinstance(above, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return above.generators
    inside = isinstance(above, ast.For | ast.AsyncFor) and below in above.body
    return [above] if isinstance(above, ast.For | ast.AsyncFor) and inside else []


def _turns_once(over: ast.expr) -> bool:
    """Over a model's parameters or modules, or over what is written there: there are some."""
    if isinstance(over, ast.List | ast.Tuple):
        return any(not isinstance(one, ast.Starred) for one in over.elts)
    return called(over) in _OF_MODEL


def _asked(above: ast.AST, below: ast.AST) -> list[_Test]:
    """What one node asks before it gets to a part of it."""
    if isinstance(above, ast.If | ast.IfExp) and below is not above.test:
        holds = below is above.body or (isinstance(above, ast.If) and below in above.body)
        if is_main(above.test):
            return [] if holds else [_Test(ast.copy_location(ast.Constant(False), above.test), True, above.test)]
        return [_Test(above.test, holds, above.test)]
    if isinstance(above, ast.While) and below is not above.test and below in above.body:
        return [_Test(above.test, True, above.test)]
    if isinstance(above, ast.BoolOp):
        before = above.values[: above.values.index(below)] if below in above.values else []
        return [_Test(one, isinstance(above.op, ast.And), one) for one in reversed(before)]
    if isinstance(above, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        asked = [test for one in above.generators for test in one.ifs] if below not in above.generators else []
        return [_Test(one, True, one) for one in asked]
    unsure = isinstance(above, ast.ExceptHandler) or (isinstance(above, ast.match_case) and below in above.body)
    return [_Test(None)] if unsure or (isinstance(above, ast.Lambda) and below is above.body) else []


def _parted(one: _Test) -> list[_Test]:
    """`a and b` as two that have to hold."""
    kind = ast.And if one.holds else ast.Or
    if isinstance(one.test, ast.BoolOp) and isinstance(one.test.op, kind):
        return [_Test(part, one.holds, one.at) for part in one.test.values]
    return [one]
