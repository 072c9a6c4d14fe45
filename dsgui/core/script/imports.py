"""What a file imports in any case: in which condition, try or function that may not be called it imports more does not
count."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dsgui.core.script.certain import certain, names_given
from dsgui.core.script.declared import dotted_name, literal
from dsgui.core.script.parser_source import called

EVERY = "*"  # among names: it may be any
_FINDING = frozenset({"path", "modules", "meta_path", "path_hooks"})  # of sys
_GROWING = ("sys.path.append", "sys.path.extend")
# How what is never a module is called.
_ITSELF = ("self", "cls", "args", "arguments", "config", "cfg", "opt", "opts", "options", "params", "namespace")
_GIVES_MODULES = frozenset(
    {"import_module", "__import__", "reload", "getattr", "get", "pop", "type", "module_from_spec"}
)
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class Import:
    """`from module import name`, or `import module` with no name; the module starts with a dot for each folder up."""

    module: str
    name: str
    line: int

    @property
    def top(self) -> str:
        """The package to be found; "" for one of the file's own."""
        return self.module.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Absent:
    """What a file imports and can't: `name` as written there, `file` its name, "" for the script itself. `above`: the
    folder above the script's that has it, "" for none."""

    name: str
    file: str
    line: int
    above: str = ""


def imports_of(tree: ast.Module, nodes: Sequence[ast.AST], *, as_script: bool) -> Iterator[Import]:
    """Those that stand outside, and those in functions that are called in any case: not where the file may install
    what it needs."""
    inside = () if any(_installs(node) for node in nodes) else certain(tree, nodes, as_script=as_script)
    outside = set(tree.body)
    for statement in (*tree.body, *(one for one in inside if one not in outside)):
        if isinstance(statement, ast.Import):
            yield from (Import(alias.name, "", statement.lineno) for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            module = "." * statement.level + (statement.module or "")
            yield from (Import(module, alias.name, statement.lineno) for alias in statement.names)


def _installs(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and "pip" in node.value.split()


def finds_more(nodes: Iterable[ast.AST]) -> bool:
    """Whether it may change where modules are found that are found without it, or which are loaded."""
    every = list(nodes)
    at_the_end = {id(_grown(call)) for call in calls_growing(every)}
    return any(_finds_more(node) for node in every if id(node) not in at_the_end)


def finds_later(nodes: Iterable[ast.AST]) -> bool:
    """Whether it adds folders at the end of sys.path: only what is found nowhere else is found there."""
    return any(True for _ in calls_growing(nodes))


def calls_growing(nodes: Iterable[ast.AST]) -> Iterator[ast.Call]:
    """Each `sys.path.append(…)`."""
    for node in nodes:
        if isinstance(node, ast.Call) and dotted_name(node.func) in _GROWING:
            yield node


def _grown(call: ast.Call) -> ast.expr:
    return call.func.value if isinstance(call.func, ast.Attribute) else call.func


def names_set(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Those of the attributes it sets, of whatever: a module that is patched has them afterwards."""
    every = list(nodes)
    for node in every:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif called(node) == "setattr" and isinstance(node, ast.Call) and len(node.args) > 1:
            name = literal(node.args[1])
            if isinstance(name, str):
                yield name
    if any(True for _ in names_computed(every)):
        yield EVERY


def names_computed(nodes: Sequence[ast.AST]) -> Iterator[ast.Call]:
    """Each `setattr(module, name, …)` that may set any name on a module or a class: not on what a call made, nor on
    what is called as arguments are."""
    kept = [node for node in nodes if called(node) == "setattr" and isinstance(node, ast.Call) and len(node.args) > 1]
    computed = [node for node in kept if not isinstance(literal(node.args[1]), str)]
    made = _made_here(nodes) if computed else frozenset()
    for call in computed:
        owner = dotted_name(call.args[0])
        if owner.partition(".")[0] not in made and not owner.rpartition(".")[2].endswith(_ITSELF):
            yield call


def _made_here(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """The names that only what calls give is given to: an instance, and no module."""
    given = [node for node in nodes if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
    targets = [target for node in given if called(node.value) not in _GIVES_MODULES for target in node.targets]
    names = Counter(
        one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name) and _is_stored(one)
    )
    every = Counter(names_given(nodes))
    return frozenset(name for name, count in names.items() if every[name] == count)


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def names_bound(body: Iterable[ast.stmt], package: str) -> Iterator[str]:
    """Those that the `__init__` of `package` gives itself, which its submodules of the same name don't replace."""
    for node in _outside_functions(body):
        if isinstance(node, ast.Name):
            if node.id == "globals":
                yield EVERY
            elif isinstance(node.ctx, ast.Store):
                yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name if node.name != "__getattr__" else EVERY
        elif isinstance(node, ast.Import):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            own = _is_of(package, node)
            yield from (alias.asname or alias.name for alias in node.names if alias.asname or not own)


def _is_of(package: str, statement: ast.ImportFrom) -> bool:
    """`from . import train` gives the package its submodule itself."""
    module = statement.module or ""
    return module.rpartition(".")[2] == package if not statement.level else statement.level == 1 and not module


def _outside_functions(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _Scope):
            waiting += ast.iter_child_nodes(node)


def _finds_more(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name == "sys" and alias.asname for alias in node.names)  # not seen under another name
    if isinstance(node, ast.ImportFrom):
        names = {alias.name for alias in node.names}
        return (node.module == "sys" and bool(names & {*_FINDING, EVERY})) or "addsitedir" in names
    if isinstance(node, ast.Attribute):
        of_sys = isinstance(node.value, ast.Name) and node.value.id == "sys"
        return (of_sys and node.attr in _FINDING) or node.attr in ("addsitedir", "__path__")
    return isinstance(node, ast.Name) and node.id == "__path__"
