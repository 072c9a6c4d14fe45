"""What has to hold for a statement of a block to go on to the next one, where it may leave the block instead. An error
that nothing handles ends the script: nothing is asked for it not to be raised."""

import ast
from collections.abc import Iterable, Sequence

from dsgui.core.script.declared import dotted_name
from dsgui.core.script.parser_source import called

_ENDS = (ast.Return, ast.Raise)
_TURNS = (ast.Continue, ast.Break)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_APART = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_EXITS = ("exit", "quit", "sys.exit", "os._exit")
_SUPPRESSES = ("suppress", "raises")
_LONGEST_CHAIN = 20
_NEVER_ON, _FAILS = ast.Constant(False), ast.Constant(False)


class Stays:
    """Of one file."""

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        self._known: dict[ast.stmt, ast.expr | None] = {}
        every = list(nodes)
        self._own = {node.name for node in every if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        tried = {one for node in every for part in _tried(node) for one in ast.walk(part)}
        self._handled = None if any(called(one) in self._own for one in tried) else tried

    def of(self, statement: ast.stmt) -> ast.expr | None:
        """An expression; None where it always goes on, `False` where it never does."""
        if statement not in self._known:
            self._known[statement] = self._of(statement)
        return self._known[statement]

    def _of(self, statement: ast.stmt) -> ast.expr | None:
        if isinstance(statement, ast.Raise):
            return _NEVER_ON if self._handled is None or statement in self._handled else _FAILS
        if leaves(statement):
            return _NEVER_ON
        if isinstance(statement, ast.If):
            return self._of_chain(statement)
        if isinstance(statement, ast.With | ast.AsyncWith):
            stays = self._of_block(statement.body)
            suppresses = any(called(one.context_expr) in _SUPPRESSES for one in statement.items)
            return _unknown(statement) if stays is not None and suppresses else stays
        if isinstance(statement, (*_LOOPS, ast.Try, ast.Match)):
            return _unknown(statement) if _may_leave(statement) else None
        return None

    def _of_block(self, body: Sequence[ast.stmt]) -> ast.expr | None:
        found = [one for one in map(self.of, body) if one is not None]
        if any(one is _NEVER_ON or one is _FAILS for one in found):
            return _FAILS if found[0] is _FAILS else _NEVER_ON
        return _all(found) if found else None

    def _of_chain(self, first: ast.If) -> ast.expr | None:
        """`if … elif … else …`"""
        arms, rest = [first], first.orelse
        while len(rest) == 1 and isinstance(rest[0], ast.If):
            arms.append(rest[0])
            rest = rest[0].orelse
        if len(arms) > _LONGEST_CHAIN:
            return _unknown(first) if _may_leave(first) else None
        stays = self._of_block(rest)
        for one in reversed(arms):
            stays = _either(one.test, self._of_block(one.body), stays)
        return stays


def _either(test: ast.expr, holds: ast.expr | None, otherwise: ast.expr | None) -> ast.expr | None:
    if holds is _FAILS or otherwise is _FAILS:
        return otherwise if holds is _FAILS else holds
    if holds is otherwise:  # None, or never
        return holds
    no = _at(ast.UnaryOp(ast.Not(), test), test)
    ways = [way for way in (_way(test, holds), _way(no, otherwise)) if way is not None]
    return ways[0] if len(ways) == 1 else _at(ast.BoolOp(ast.Or(), ways), test)


def _way(test: ast.expr, stays: ast.expr | None) -> ast.expr | None:
    if stays is _NEVER_ON:
        return None
    return test if stays is None else _all([test, stays])


def _all(tests: list[ast.expr]) -> ast.expr:
    return tests[0] if len(tests) == 1 else _at(ast.BoolOp(ast.And(), tests), tests[0])


def _tried(node: ast.AST) -> Sequence[ast.AST]:
    """What is done where its errors may be handled."""
    if isinstance(node, ast.With | ast.AsyncWith):
        return node.body if any(called(one.context_expr) in _SUPPRESSES for one in node.items) else ()
    return node.body if isinstance(node, ast.Try | ast.TryStar) and node.handlers else ()


def _unknown(statement: ast.stmt) -> ast.expr:
    return _at(ast.Name("UNKNOWN", ast.Load()), statement)


def _at(made: ast.expr, place: ast.AST) -> ast.expr:
    return ast.copy_location(made, place)


def leaves(statement: ast.AST) -> bool:
    """Whether nothing follows it in its block."""
    ends = isinstance(statement, ast.Expr) and _dotted(statement.value) in _EXITS
    return isinstance(statement, (*_ENDS, *_TURNS)) or ends


def _dotted(node: ast.expr) -> str:
    return dotted_name(node.func) if isinstance(node, ast.Call) else ""


def _may_leave(statement: ast.stmt) -> bool:
    """An error that ends the script is none of it: then nothing is trained."""
    waiting: list[tuple[ast.AST, bool]] = [(statement, False)]
    while waiting:
        node, in_loop = waiting.pop()
        if leaves(node) and not isinstance(node, ast.Raise) and not (in_loop and isinstance(node, _TURNS)):
            return True
        in_loop = in_loop or isinstance(node, _LOOPS)
        waiting += ((one, in_loop) for one in ast.iter_child_nodes(node) if not isinstance(one, _APART))
    return False
