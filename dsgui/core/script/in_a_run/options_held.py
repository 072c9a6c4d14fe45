"""What in a script holds the values of its options: what its parser gave, under whatever name it was handed on."""

import ast
from collections.abc import Iterable

from dsgui.core.script.in_a_run.scopes import FUNCTIONS, Binding, Function, Scopes
from dsgui.core.script.parser_source import called

GIVES = frozenset(
    {"parse_args", "parse_known_args", "parse_intermixed_args", "parse_args_into_dataclasses", "parse_args_and_config"}
    | {"parse_json_file", "parse_yaml_file"}
)
_DEEPEST = 12  # names and functions that hand them on


class OptionsHeld:
    """Of one file."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._calls: dict[str, list[ast.Call]] = {}
        self._functions: dict[str, list[Function]] = {}
        self._named: dict[str, int] = {}
        self._kept: dict[str, list[ast.Attribute]] = {}
        for node in scopes.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                self._calls.setdefault(node.func.id, []).append(node)
            elif isinstance(node, FUNCTIONS):
                self._functions.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._named[node.id] = self._named.get(node.id, 0) + 1
            elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                self._kept.setdefault(node.attr, []).append(node)
        self._known: dict[ast.AST, bool] = {}

    def holds(self, node: ast.expr) -> bool:
        """Whether a name or an attribute is surely what the parser gave."""
        if node not in self._known:
            self._known[node] = self._is(node, None, _DEEPEST)
        return self._known[node]

    def calls_of(self, function: Function) -> list[ast.Call] | None:
        """All who call a function; None where others may."""
        calls = self._calls.get(function.name, [])
        plain = calls and len(self._functions[function.name]) == 1 and not function.decorator_list
        of_class = isinstance(self._scopes.parents.get(function), ast.ClassDef)
        seen = self._named.get(function.name, 0) == len(calls)
        return calls if plain and seen and not of_class and not any(map(_unpacks, calls)) else None

    def given(self, function: Function, name: str) -> list[ast.expr] | None:
        """What a parameter of a function is given by all who call it; None where that can't be told."""
        found = [argument_of(call, function, name) for call in self.calls_of(function) or ()]
        given = [one for one in found if one is not None]
        return given if given and len(given) == len(found) else None

    def returned_by(self, call: ast.Call) -> list[ast.expr]:
        """What the function of the file that is called may return; nothing for any other."""
        own = self._functions.get(called(call), []) if isinstance(call.func, ast.Name) else []
        return [one.value for one in _returns(own[0]) if one.value is not None] if len(own) == 1 else []

    def _is(self, node: ast.expr | None, place: int | None, deep: int) -> bool:
        if node is None or not deep:
            return False
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and place is None:
            index = node.slice.value
            return isinstance(index, int) and index >= 0 and self._is(node.value, index, deep - 1)
        if isinstance(node, ast.Tuple | ast.List):
            return place is not None and place < len(node.elts) and self._is(node.elts[place], None, deep - 1)
        if isinstance(node, ast.Call):
            return self._is_given_by(node, place, deep - 1)
        if isinstance(node, ast.Attribute):
            return place is None and self._is_kept(node, deep - 1)
        if not isinstance(node, ast.Name):
            return False
        bindings = self._scopes.bindings(node)
        named = [one for one in bindings or () if not one.gathers]
        return bool(named) and all(self._is_bound(one, node.id, place, deep - 1) for one in named)

    def _is_bound(self, binding: Binding, name: str, place: int | None, deep: int) -> bool:
        if binding.function is not None:
            given = self.given(binding.function, name)
            return bool(given) and all(self._is(one, place, deep) for one in given or ())
        if binding.place is not None and place is not None:
            return False
        return self._is(binding.value, binding.place if place is None else place, deep)

    def _is_given_by(self, call: ast.Call, place: int | None, deep: int) -> bool:
        own = self._functions.get(called(call), [])
        if called(call) == "Namespace" and not own and place is None:
            return self._is_of_all(call, deep)
        if isinstance(call.func, ast.Attribute) and (not own or getattr(call.func.value, "id", "") != "self"):
            return call.func.attr in GIVES
        if len(own) != 1 or own[0].decorator_list or isinstance(own[0], ast.AsyncFunctionDef):
            return False
        returned = [one.value for one in _returns(own[0])]
        return bool(returned) and all(self._is(one, place, deep) for one in returned)

    def _is_of_all(self, call: ast.Call, deep: int) -> bool:
        """`Namespace(**vars(model_args), **vars(data_args))`"""
        given = [word.value for word in call.keywords if word.arg is None and called(word.value) == "vars"]
        every = [one for table in given if isinstance(table, ast.Call) for one in table.args]
        plain = bool(every) and len(every) == len(call.keywords) and not call.args
        return plain and all(self._is(one, None, deep) for one in every)

    def _is_kept(self, node: ast.Attribute, deep: int) -> bool:
        """`self.args`, where the class gives that nothing else."""
        kept = self._kept.get(node.attr, [])
        if not kept or not all(_is_selfs(one) for one in (*kept, node)):
            return False
        classes = {self._scopes.class_of(one) for one in (*kept, node)}
        values = [getattr(self._scopes.parents[one], "value", None) for one in kept]
        plain = all(isinstance(self._scopes.parents[one], ast.Assign | ast.AnnAssign) for one in kept)
        return len(classes) == 1 and plain and all(self._is(value, None, deep) for value in values)


def _is_selfs(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _unpacks(call: ast.Call) -> bool:
    return any(isinstance(one, ast.Starred) for one in call.args) or any(word.arg is None for word in call.keywords)


def argument_of(call: ast.Call, function: Function, name: str) -> ast.expr | None:
    """What a call gives a parameter; None for nothing, or where that can't be told."""
    if _unpacks(call):
        return None
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    by_name = next((word.value for word in call.keywords if word.arg == name), None)
    place = names.index(name) if name in names else len(call.args)
    return by_name if by_name is not None or place >= len(call.args) else call.args[place]


def _returns(function: Function) -> Iterable[ast.Return]:
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return):
            yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            waiting += ast.iter_child_nodes(node)
