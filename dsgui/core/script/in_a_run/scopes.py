"""Which names of a file are given their value once, in the scope that they belong to, with nothing that changes it
afterwards: only of those can be told what they are worth."""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dsgui.core.script.declared import dotted_name

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef, *_COMPREHENSIONS)
_SOMETIMES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.Match)
READ_ONLY = frozenset(
    {"get", "items", "keys", "values", "copy", "index", "count", "format", "join", "isdigit", "exists", "encode"}
    | {"lower", "upper", "strip", "lstrip", "rstrip", "split", "endswith", "startswith", "replace", "removeprefix"}
)
_ONLY_READ = frozenset(
    {"print", "len", "bool", "str", "int", "float", "isinstance", "sorted", "list", "dict", "tuple", "set", "any"}
    | {"all", "enumerate", "zip", "min", "max", "sum", "repr", "dumps", "info", "debug", "warning", "range"}
)
_ANY_NAME = frozenset({"exec", "globals"})
_TESTS = (ast.If, ast.While, ast.IfExp, ast.Assert)


@dataclass(frozen=True, slots=True)
class Binding:
    """`value` of a name that a statement of its own gives one; None for any other. `function`: whose parameter it is.
    `gathers`: as `*args`."""

    value: ast.expr | None = None
    place: int | None = None
    function: Function | None = None
    gathers: bool = False
    line: int = 0
    always: bool = True


@dataclass(slots=True)
class _Name:
    bindings: list[Binding] = field(default_factory=list)
    loads: list[ast.Name] = field(default_factory=list)


class Scopes:
    """Of one file. `parents` of all of its nodes."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self.nodes = nodes
        self.parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
        self._wild = {name for node in nodes if isinstance(node, ast.Nonlocal) for name in node.names}
        self._global = {
            (scope, name)
            for node in nodes
            if isinstance(node, ast.Global) and (scope := self.scope(node)) is not None
            for name in node.names
        }
        self._names: dict[tuple[ast.AST | None, str], _Name] = {}
        self._steady: dict[tuple[ast.AST | None, str], bool] = {}
        self._any_name = any(map(_gives_any_name, nodes))
        stars = (node.lineno for node in nodes if isinstance(node, ast.ImportFrom) and _is_star(node))
        self._last_star = max(stars, default=0)
        for node in nodes:
            self._bind(node)
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._names.setdefault(self.place(node), _Name()).loads.append(node)

    # ------------------------------------------------------------------------------------------------- what it answers
    def value(self, name: ast.Name) -> ast.expr | None:
        """The only one that it ever has there; None for any other name."""
        key = self.place(name)
        if key not in self._steady:
            self._steady[key] = self._is_steady(key)
        return self._names[key].bindings[0].value if self._steady[key] else None

    def bindings(self, name: ast.Name) -> Sequence[Binding] | None:
        """All that give it a value; None where others may."""
        key = self.place(name)
        found = self._names.get(key)
        return found.bindings if found and self._all_seen(key, found) else None

    def bindings_seen(self, name: ast.Name) -> Sequence[Binding]:
        """Those there are in the file, whatever else may give it a value."""
        found = self._names.get(self.place(name))
        return found.bindings if found else ()

    def place(self, name: ast.Name) -> tuple[ast.AST | None, str]:
        """The scope that a name belongs to where it stands, None for the file, and the name."""
        scope, first = self.scope(name), True
        while scope is not None:
            if (scope, name.id) in self._global:
                return None, name.id
            if (scope, name.id) in self._names and (first or not isinstance(scope, ast.ClassDef)):
                return scope, name.id
            scope, first = self.scope(scope), False
        return None, name.id

    def scope(self, node: ast.AST) -> ast.AST | None:
        """The nearest around it; None for the file."""
        below, above = node, self.parents.get(node)
        while above is not None:
            if isinstance(above, _SCOPES) and not _is_outside(below, above):
                return above
            below, above = above, self.parents.get(above)
        return None

    def function(self, node: ast.AST) -> Function | None:
        """The nearest around it."""
        above = self.parents.get(node)
        while above is not None and not isinstance(above, FUNCTIONS):
            above = self.parents.get(above)
        return above

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """The nearest around it."""
        above = self.parents.get(node)
        while above is not None and not isinstance(above, ast.ClassDef):
            above = self.parents.get(above)
        return above

    def is_after(self, node: ast.expr | ast.stmt, calls: Sequence[ast.Call]) -> bool:
        """Whether it follows all of the `calls` in its function, of which there are some, and no loop goes back to one
        of them; one that is made elsewhere may come later."""
        function, first = self.function(node), node.lineno
        above = self.parents.get(node)
        while above is not None and above is not function:
            first = above.lineno if isinstance(above, ast.For | ast.AsyncFor | ast.While) else first
            above = self.parents.get(above)
        ends = [one.end_lineno or one.lineno for one in calls if self.function(one) is function]
        return bool(ends) and len(ends) == len(calls) and max(ends) < first

    # ---------------------------------------------------------------------------------------------------- how it knows
    def _is_steady(self, key: tuple[ast.AST | None, str]) -> bool:
        found = self._names.get(key)
        if found is None or len(found.bindings) != 1 or not self._all_seen(key, found):
            return False
        value = found.bindings[0].value
        if value is None or found.bindings[0].place is not None or isinstance(key[0], ast.ClassDef):
            return False
        held = _holds(value)
        return held == _PLAIN or all(self.is_read(one, strictly=held == _CONTAINER) for one in found.loads)

    def _all_seen(self, key: tuple[ast.AST | None, str], found: _Name) -> bool:
        if key[1] in self._wild:
            return False
        if key[0] is not None:
            return True
        after = all(one.always and one.line > self._last_star for one in found.bindings)
        return not self._any_name and (after or not self._last_star)

    def is_read(self, node: ast.expr, *, strictly: bool = True) -> bool:
        """Whether what happens to it leaves it as it is; `strictly`: an unknown function that gets it may not."""
        above = self.parents.get(node)
        if isinstance(above, ast.Subscript) and above.value is node:
            return isinstance(above.ctx, ast.Load) and self.is_read(above, strictly=False)
        if isinstance(above, ast.Attribute):
            if isinstance(above.ctx, ast.Load) and not strictly and not self._is_called(above):
                return self.is_read(above, strictly=False)
            return isinstance(above.ctx, ast.Load) and above.attr in READ_ONLY
        if not strictly:
            return True
        if isinstance(above, ast.BoolOp):
            return self.is_read(above, strictly=True)
        if isinstance(above, ast.Call):
            return getattr(above.func, "attr", getattr(above.func, "id", "")) in _ONLY_READ
        if isinstance(above, ast.keyword):
            return above.arg is None
        if isinstance(above, ast.For | ast.AsyncFor | ast.comprehension):
            return above.iter is node
        if isinstance(above, _TESTS):
            return above.test is node or (isinstance(above, ast.IfExp) and self.is_read(above, strictly=True))
        return isinstance(above, ast.Compare | ast.UnaryOp | ast.FormattedValue | ast.Starred | ast.Expr)

    def _is_called(self, node: ast.Attribute) -> bool:
        above = self.parents.get(node)
        return isinstance(above, ast.Call) and above.func is node

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            self._add(node, node.id, self._given(node))
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            self._add(node, node.name, self._of(node))
        elif isinstance(node, ast.alias):
            self._add(node, node.asname or node.name.partition(".")[0], self._of(node))
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            self._add(node, node.name, self._of(node))
        elif isinstance(node, ast.MatchMapping) and node.rest:
            self._add(node, node.rest, self._of(node))
        elif isinstance(node, ast.arg):
            arguments = self.parents[node]
            function = self.parents.get(arguments)
            gathers = node in (getattr(arguments, "vararg", None), getattr(arguments, "kwarg", None))
            made = Binding(function=function if isinstance(function, FUNCTIONS) else None, gathers=gathers)
            self._names.setdefault((function, node.arg), _Name()).bindings.append(made)

    def _add(self, node: ast.AST, name: str, binding: Binding) -> None:
        scope = self.scope(node)
        while isinstance(scope, _COMPREHENSIONS) and isinstance(self.parents.get(node), ast.NamedExpr):
            scope = self.scope(scope)
        if (scope, name) in self._global:
            scope = None
        self._names.setdefault((scope, name), _Name()).bindings.append(binding)

    def _of(self, node: ast.AST, value: ast.expr | None = None, place: int | None = None) -> Binding:
        return Binding(value, place, line=getattr(node, "lineno", 0), always=self._is_always(node))

    def _given(self, node: ast.Name) -> Binding:
        above = self.parents.get(node)
        if isinstance(above, ast.Assign):
            shared = len(above.targets) > 1 and _holds(above.value) == _CONTAINER
            return self._of(node, None if shared else above.value)
        if isinstance(above, ast.AnnAssign):
            return self._of(node, above.value)
        if isinstance(above, ast.Tuple | ast.List) and isinstance(outer := self.parents.get(above), ast.Assign):
            return self._of(node, outer.value, above.elts.index(node))
        return self._of(node)

    def _is_always(self, node: ast.AST) -> bool:
        """Whether it happens as soon as the file is run."""
        above = self.parents.get(node)
        while above is not None:
            if isinstance(above, (*_SOMETIMES, *FUNCTIONS, ast.Lambda)) and not is_main(getattr(above, "test", None)):
                return False
            above = self.parents.get(above)
        return True


def is_main(test: ast.AST | None) -> bool:
    """`__name__ == "__main__"`."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = (test.left, test.comparators[0])
    named = any(isinstance(one, ast.Name) and one.id == "__name__" for one in sides)
    return named and any(isinstance(one, ast.Constant) and one.value == "__main__" for one in sides)


def _is_outside(below: ast.AST, scope: ast.AST) -> bool:
    """Decorators, defaults, bases and what the first loop of a comprehension goes over belong to the scope around."""
    if isinstance(scope, FUNCTIONS):
        return below in scope.decorator_list or below is scope.returns or below is scope.args
    if isinstance(scope, ast.Lambda):
        return below is scope.args
    if isinstance(scope, ast.ClassDef):
        return below in scope.decorator_list or below in scope.bases or below in scope.keywords
    return False


def _is_star(node: ast.ImportFrom) -> bool:
    return any(one.name == "*" for one in node.names)


def _gives_any_name(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id in _ANY_NAME
    if isinstance(node, ast.Call) and dotted_name(node.func) in ("vars", "locals"):
        return not node.args
    if isinstance(node, ast.Subscript):
        return dotted_name(node.value) == "sys.modules" and dotted_name(node.slice) == "__name__"
    return isinstance(node, ast.alias) and node.name == "__main__"


_PLAIN, _PERHAPS, _CONTAINER = "plain", "perhaps", "container"
_MAKES_ONE = frozenset({"dict", "list", "set", "split", "defaultdict", "OrderedDict", "copy", "deepcopy", "vars"})


def _holds(value: ast.expr) -> str:
    """Whether what it gives can be changed without giving the name another value."""
    if isinstance(value, ast.Constant | ast.Compare | ast.JoinedStr | ast.Lambda):
        return _PLAIN
    if isinstance(value, ast.UnaryOp):
        return _PLAIN
    if isinstance(value, ast.Dict | ast.List | ast.Set | ast.Tuple | ast.DictComp | ast.ListComp | ast.SetComp):
        return _CONTAINER
    if isinstance(value, ast.Call):
        name = getattr(value.func, "attr", getattr(value.func, "id", ""))
        return _CONTAINER if name in _MAKES_ONE else _PERHAPS
    if isinstance(value, ast.BoolOp):
        return _most(value.values)
    if isinstance(value, ast.IfExp):
        return _most((value.body, value.orelse))
    return _PERHAPS


def _most(values: Iterable[ast.expr]) -> str:
    found = {_CONTAINER if isinstance(one, ast.BoolOp | ast.IfExp) else _holds(one) for one in values}
    return next((one for one in (_CONTAINER, _PERHAPS) if one in found), _PLAIN)
