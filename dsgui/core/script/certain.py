"""Which statements of a file run in any case: not those behind a condition that is no `if __name__ == "__main__"`, in a
loop, in a `try` that handles errors, in a `with` of a kind that is not known to let errors pass, or after what may end
the function or the script; those of a function only where one of them calls it."""

import ast
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from enum import Enum

from dsgui.core.script.declared import dotted_name
from dsgui.core.script.in_a_run.scopes import is_main
from dsgui.core.script.parser_source import called

_EXECS = frozenset(f"exec{way}" for way in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe"))
_ENDS = _EXECS | {"exit", "quit", "_exit", "abort"}
# Context managers that neither end an error nor change what is called in them.
_PLAIN = frozenset(
    {
        "open",
        "no_grad",
        "enable_grad",
        "inference_mode",
        "autocast",
        "device",
        "Init",
        "init_empty_weights",
        "main_process_first",
        "local_main_process_first",
        "Timer",
        "Progress",
        "TemporaryDirectory",
    }
)
_RUN_AS_THEY_ARE = frozenset({"record", "main"})  # torch.distributed.elastic's and hydra's decorators
_STARTS = frozenset({"Fire"})  # python-fire's, which calls what it is given
_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_PERHAPS = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class _Then(Enum):
    """Whether what follows runs too."""

    GOES_ON = 0
    LEAVES = 1  # the function may have returned
    ENDS = 2  # the script may have ended


def certain(tree: ast.Module, nodes: Iterable[ast.AST], *, as_script: bool) -> Sequence[ast.stmt]:
    """Statements without those in them, in the order they run first. `nodes`: all of the tree's. `as_script`: the file
    is run, and not imported."""
    counts = Counter(names_given(nodes))
    own = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef) and counts[one.name] == 1}
    walk = _Walk(own, as_script)
    with suppress(RecursionError):  # functions that call each other deeper than is followed: what was found until then
        walk.body(tree.body)
    return walk.found


def calls_in(statement: ast.stmt) -> Iterator[ast.Call]:
    """Those that the statement itself makes in any case."""
    waiting: deque[ast.AST] = deque(_own_expressions(statement))
    while waiting:
        node = waiting.popleft()
        if isinstance(node, ast.Call):
            yield node
        if isinstance(node, ast.IfExp):
            waiting.append(node.test)
        elif isinstance(node, ast.BoolOp):
            waiting.append(node.values[0])
        elif not isinstance(node, _PERHAPS):
            waiting += ast.iter_child_nodes(node)


def names_given(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Each name as often as something in the file gives it a value, in whatever scope."""
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name


class _Walk:
    def __init__(self, functions: dict[str, ast.FunctionDef], as_script: bool) -> None:
        self.found: list[ast.stmt] = []
        self._functions, self._as_script = functions, as_script
        self._entered = set[str]()
        self._ending = {name for name, one in functions.items() if _ends(one.body)} | _ENDS

    def body(self, statements: Sequence[ast.stmt]) -> _Then:
        for statement in statements:
            then = self._statement(statement)
            if then is not _Then.GOES_ON:
                return then
        return _Then.GOES_ON

    def _statement(self, statement: ast.stmt) -> _Then:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return _Then.GOES_ON
        self.found.append(statement)
        for call in reversed(list(calls_in(statement))):  # `sys.exit(main())` calls main first
            if called(call) in _ENDS or self._enter(call) is _Then.ENDS:
                return _Then.ENDS
        if isinstance(statement, ast.Raise):
            return _Then.ENDS
        if isinstance(statement, ast.Return):
            return _Then.LEAVES
        inside = self._runs_in(statement)
        return self.body(inside) if inside is not None else self._may_leave(statement)

    def _enter(self, call: ast.Call) -> _Then:
        started = call.args[0] if called(call) in _STARTS and call.args else call.func
        name = started.id if isinstance(started, ast.Name) else ""
        function = self._functions.get(name)
        if function is None or name in self._entered or not _runs_when_called(function):
            return _Then.GOES_ON
        self._entered.add(name)
        return _Then.ENDS if self.body(function.body) is _Then.ENDS else _Then.GOES_ON

    def _may_leave(self, statement: ast.stmt) -> _Then:
        """What a statement may do of which nothing is certain."""
        if not hasattr(statement, "body") and not hasattr(statement, "cases"):
            return _Then.GOES_ON
        nodes = list(_within([statement]))
        if any(called(node) in self._ending or _exits(node) for node in nodes):
            return _Then.ENDS
        return _Then.LEAVES if any(isinstance(node, ast.Return) for node in nodes) else _Then.GOES_ON

    def _runs_in(self, statement: ast.stmt) -> list[ast.stmt] | None:
        """The statements in it that run in any case; None where that is not certain of any."""
        if isinstance(statement, ast.With):
            makers = {called(item.context_expr) for item in statement.items}
            return statement.body if makers <= _PLAIN else None
        if isinstance(statement, ast.Try):
            if all(one.type and dotted_name(one.type) == "KeyboardInterrupt" for one in statement.handlers):
                return [*statement.body, *statement.orelse, *statement.finalbody]
            return None
        if isinstance(statement, ast.If) and is_main(statement.test):
            return statement.body if self._as_script else statement.orelse
        return None


def _ends(body: Iterable[ast.AST]) -> bool:
    return any(called(node) in _ENDS or _exits(node) for node in _within(body))


def _exits(node: ast.AST) -> bool:
    """`raise SystemExit`."""
    error = node.exc if isinstance(node, ast.Raise) else None
    return error is not None and dotted_name(getattr(error, "func", error)) == "SystemExit"


def _runs_when_called(function: ast.FunctionDef) -> bool:
    marks = {dotted_name(getattr(one, "func", one)).rpartition(".")[2] for one in function.decorator_list}
    return marks <= _RUN_AS_THEY_ARE and not any(
        isinstance(node, ast.Yield | ast.YieldFrom) for node in _within(function.body)
    )


def _within(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Without what stands in functions and classes of theirs."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [one for one in ast.iter_child_nodes(node) if not isinstance(one, _SCOPE)]


def _own_expressions(statement: ast.stmt) -> list[ast.AST]:
    """`for x in EXPRESSION`, `if TEST`: not what stands in its body."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return []
    children = ast.iter_child_nodes(statement)
    return [one for one in children if not isinstance(one, ast.stmt | ast.ExceptHandler | ast.match_case)]
