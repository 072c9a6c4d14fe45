"""The folders that a file adds at the end of sys.path, where it spells them out:
`os.path.join(os.path.dirname(__file__), "lib")`, `str(Path(__file__).parent / "lib")`, a name given once to such a
thing, a text."""

import ast
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dsgui.core.script.declared import dotted_name
from dsgui.core.script.imports import calls_growing

_DEEPEST = 12  # expressions within each other
_AS_IT_IS = frozenset({"str", "Path", "PurePath", "fspath"})
_WHOLE = frozenset({"abspath", "realpath", "normpath"})
_OF_A_PATH = frozenset({"resolve", "absolute", "as_posix", "joinpath"})
_HERE = frozenset({"getcwd", "cwd"})


def added_folders(nodes: Sequence[ast.AST], file: str, folder: str) -> list[str]:
    """Whole paths. `file` is where the file lies, `folder` the one it runs in, both whole."""
    spelled = _Spelled(file, folder, _given_once(nodes))
    found = (spelled.path(node) for call in calls_growing(nodes) for node in _each(call))
    return [spelled.whole(one) for one in found if one is not None]


def _each(call: ast.Call) -> Iterator[ast.expr]:
    for given in call.args:
        yield from given.elts if isinstance(given, ast.List | ast.Tuple) else [given]


def _given_once(nodes: Sequence[ast.AST]) -> Mapping[str, ast.expr]:
    stored = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    given = [node for node in nodes if isinstance(node, ast.Assign) and len(node.targets) == 1]
    named = ((node.targets[0], node.value) for node in given)
    return {name.id: value for name, value in named if isinstance(name, ast.Name) and stored.count(name.id) == 1}


@dataclass(frozen=True, slots=True)
class _Spelled:
    file: str
    folder: str
    names: Mapping[str, ast.expr]

    def whole(self, path: str) -> str:
        return posixpath.normpath(posixpath.join(self.folder, path))

    def path(self, node: ast.expr, deep: int = _DEEPEST) -> str | None:
        """None where it is not spelled out."""
        reader = _READERS.get(type(node))
        return reader(self, node, deep - 1) if reader and deep else None

    def joined(self, nodes: Sequence[ast.expr], deep: int, join: Callable[..., str] = posixpath.join) -> str | None:
        parts = [self.path(node, deep) for node in nodes]
        told = [one for one in parts if one is not None]
        return join(*told) if told and len(told) == len(parts) else None

    def above(self, node: ast.expr, count: int, deep: int) -> str | None:
        path = self.path(node, deep)
        for _ in range(count if path else 0):
            path = posixpath.dirname(path or "")
        return path


def _name(of: _Spelled, node: ast.Name, deep: int) -> str | None:
    if node.id == "__file__":
        return of.file
    return of.path(of.names[node.id], deep) if node.id in of.names else None


def _operation(of: _Spelled, node: ast.BinOp, deep: int) -> str | None:
    """`Path(…) / "lib"`, and a text after a text."""
    if isinstance(node.op, ast.Div):
        return of.joined([node.left, node.right], deep)
    return of.joined([node.left, node.right], deep, _together) if isinstance(node.op, ast.Add) else None


def _together(*texts: str) -> str:
    return "".join(texts)


def _written(of: _Spelled, node: ast.JoinedStr, deep: int) -> str | None:
    parts = [one.value if isinstance(one, ast.FormattedValue) else one for one in node.values]
    return of.joined(parts, deep, _together)


def _subscript(of: _Spelled, node: ast.Subscript, deep: int) -> str | None:
    """`Path(…).parents[1]`."""
    up = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if isinstance(node.value, ast.Attribute) and node.value.attr == "parents" and isinstance(up, int) and 0 <= up < 20:
        return of.above(node.value.value, up + 1, deep)
    return None


def _call(of: _Spelled, node: ast.Call, deep: int) -> str | None:
    name = dotted_name(node.func).rpartition(".")[2]
    if isinstance(node.func, ast.Attribute) and node.func.attr in _OF_A_PATH:
        path = of.joined([node.func.value, *node.args], deep)
        return of.whole(path) if path and node.func.attr == "resolve" else path
    if name in _HERE:
        return of.folder
    if name == "join" or name in _AS_IT_IS:
        return of.joined(node.args, deep)
    if name == "dirname" and node.args:
        return of.above(node.args[0], 1, deep)
    path = of.path(node.args[0], deep) if name in _WHOLE and node.args else None
    return None if path is None else of.whole(path)


_READERS: Mapping[type, Callable[..., str | None]] = {
    ast.Constant: lambda of, node, deep: node.value if isinstance(node.value, str) else None,
    ast.Name: _name,
    ast.BinOp: _operation,
    ast.JoinedStr: _written,
    ast.Attribute: lambda of, node, deep: of.above(node.value, 1, deep) if node.attr == "parent" else None,
    ast.Subscript: _subscript,
    ast.Call: _call,
}
