"""In which case a place in a script's source is reached: the conditions around it and around the calls of its function,
as one expression."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dsgui.core.script.in_a_run.worth import Spelled
from dsgui.core.script.parser_source import called

_CALLERS = 3  # levels of functions around a place that are looked at
_MOST_CALLS = 8
_MOST_SHOWN = 60
_LEAVES = (ast.Return, ast.Raise, ast.Continue)
_EXITS = ("exit", "quit", "_exit")
_NEVER = "False"
_APART, _MOST_LEFT = 10**9, 50


@dataclass(frozen=True, slots=True)
class When:
    """`condition`: the expression, "" for in any case. `line` of the condition next to the place and how that is
    `shown`; else the place's line."""

    condition: str
    line: int
    shown: str = ""


class Branches:
    """Of one file."""

    def __init__(self, nodes: Sequence[ast.AST], spelled: Spelled) -> None:
        self._parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
        self._calls: dict[str, list[ast.Call]] = {}
        for node in nodes:
            if isinstance(node, ast.Call):
                self._calls.setdefault(called(node), []).append(node)
        self._named = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        self._named |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        self._spelled = spelled
        self._left: dict[ast.AST, tuple[dict[ast.AST, int], list[tuple[int, ast.expr]]]] = {}

    def when(self, node: ast.expr | ast.stmt) -> When:
        """In which case the script gets there."""
        near = next(self._around(node), None)
        condition = self._condition(node, _CALLERS)
        if near is None:
            return When(condition, node.lineno)
        shown = ast.unparse(near)
        return When(condition, near.lineno, shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}…")

    def _around(self, node: ast.AST) -> Iterator[ast.expr]:
        """The tests around it, the nearest first, out of its functions too where these are called once."""
        for _ in range(_CALLERS):
            yield from (test for test, _ in self._tests(node))
            function = self._function(node)
            calls = self._calls.get(function.name, []) if function else []
            if len(calls) != 1:
                return
            node = calls[0]

    def _condition(self, node: ast.AST, levels: int) -> str:
        parts = [self._part(test, holds) for test, holds in self._tests(node)]
        function = self._function(node)
        if function is not None and levels:
            parts.append(self._of_function(function, levels - 1))
        return " and ".join(one for one in reversed(parts) if one)

    def _part(self, test: ast.expr, holds: bool) -> str:
        text = self._spelled.expression(test) or "UNKNOWN"
        return f"({text})" if holds else f"(not ({text}))"

    def _of_function(self, function: ast.FunctionDef | ast.AsyncFunctionDef, levels: int) -> str:
        calls = self._calls.get(function.name, [])
        if not calls:
            plain = isinstance(self._parents.get(function), ast.Module) and not function.decorator_list
            return _NEVER if plain and function.name not in self._named else ""
        ways = [self._condition(call, levels) for call in calls[:_MOST_CALLS]]
        if "" in ways or len(calls) > _MOST_CALLS:
            return ""
        return f"({' or '.join(f'({way})' for way in dict.fromkeys(ways))})"

    def _function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        above = self._parents.get(node)
        while above is not None and not isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
            above = self._parents.get(above)
        return above

    def _tests(self, node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
        """Those around it within its function, and whether they have to hold: the nearest first."""
        found, turns = list[tuple[ast.expr, bool]](), set[str]()
        below, above = node, self._parents.get(node)
        while above is not None and not isinstance(below, ast.FunctionDef | ast.AsyncFunctionDef):
            if isinstance(above, ast.If | ast.IfExp) and below is not above.test and not _is_main(above.test):
                found.append((above.test, below is above.body or (isinstance(above, ast.If) and below in above.body)))
            if isinstance(above, ast.For):
                turns |= _names(above.target)
            found += self._left_before(above, below)
            below, above = above, self._parents.get(above)
        # What a loop asks of each of its turns holds for some of them.
        return (one for one in found if turns.isdisjoint(_names(one[0])))

    def _left_before(self, block: ast.AST, statement: ast.AST) -> list[tuple[ast.expr, bool]]:
        """`if not args.use_lora: return model` before the statement in its block."""
        if block not in self._left:
            self._left[block] = _statements(block)
        places, left = self._left[block]
        if statement not in places:
            return []
        return [(test, False) for place, test in reversed(left[:_MOST_LEFT]) if _before(place, places[statement])]


def _statements(block: ast.AST) -> tuple[dict[ast.AST, int], list[tuple[int, ast.expr]]]:
    """The statements of a block with their places, and the tests of those that leave it, with theirs. Its `else` is a
    block of its own, numbered apart."""
    places, left = dict[ast.AST, int](), list[tuple[int, ast.expr]]()
    for part, name in enumerate(("body", "orelse", "finalbody")):
        body = getattr(block, name, None)
        for place, one in enumerate(body if isinstance(body, list) else (), part * _APART):
            places[one] = place
            if isinstance(one, ast.If) and not one.orelse and _leaves(one.body[-1]):
                left.append((place, one.test))
    return places, left


def _before(one: int, other: int) -> bool:
    return one < other and one // _APART == other // _APART


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _is_main(test: ast.expr) -> bool:
    return "__name__" in _names(test)


def _leaves(statement: ast.stmt) -> bool:
    ends = isinstance(statement, ast.Expr) and called(statement.value) in _EXITS
    return isinstance(statement, _LEAVES) or ends
