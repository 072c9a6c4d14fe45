"""Which of a script's models is the one that is trained: a reference, a teacher or an encoder beside it may be frozen
while all of it is trained."""

import ast
import re
from collections.abc import Iterator

from dsgui.core.script.in_a_run.options_held import OptionsHeld
from dsgui.core.script.in_a_run.scopes import Scopes
from dsgui.core.script.parser_source import called, keyword

_DEEPEST = 12
_PLACES = {"initialize": 1}  # deepspeed/__init__.py: initialize(args, model, …)
_BESIDE = re.compile(
    r"ref|teacher|vae|encoder|reward|critic|frozen|old|target|tower|vision|tokenizer|discriminator|ema", re.IGNORECASE
)


class Models:
    """Of one file."""

    def __init__(self, scopes: Scopes, held: OptionsHeld) -> None:
        self._scopes, self._held = scopes, held
        self._handed = {name for node in scopes.nodes if isinstance(node, ast.Call) for name in _handed(node)}

    def is_trained(self, node: ast.expr) -> bool:
        """Whether what a name, or an expression on one, stands for is surely that one or a part of it."""
        return self._is(node, _DEEPEST)

    def _is(self, node: ast.expr, deep: int) -> bool:
        name, base = _root(node)
        if not name or not deep:
            return False
        if name in self._handed:
            return True
        found = self._scopes.bindings(base) if base is not None else None
        if base is not None and found and len(found) == 1:
            if found[0].function is not None:
                given = self._held.given(found[0].function, name)
                return bool(given) and all(self._is(one, deep - 1) for one in given or ())
            turned = self._turned(base)
            if turned is not None:
                return self._is(turned, deep - 1)
            value = self._scopes.value(base)
            if isinstance(value, ast.Attribute | ast.Name) and self._is(value, deep - 1):
                return True
        return not self._handed and not _BESIDE.search(name)

    def _turned(self, name: ast.Name) -> ast.expr | None:
        """What a loop or a comprehension around it goes over to give it its value."""
        above = self._scopes.parents.get(name)
        while above is not None:
            loops = [above] if isinstance(above, ast.For) else getattr(above, "generators", [])
            for one in loops:
                if any(isinstance(part, ast.Name) and part.id == name.id for part in ast.walk(one.target)):
                    over = one.iter
                    return over if isinstance(over, ast.expr) else None
            above = self._scopes.parents.get(above)
        return None


def _handed(call: ast.Call) -> Iterator[str]:
    """The names of what is given to be trained."""
    name = called(call)
    given = list[ast.expr | None]()
    if name.endswith("Trainer") or name == "initialize":
        place = _PLACES.get(name, 0)
        given = [keyword(call, "model"), *call.args[place : place + 1]]
    elif name == "prepare":
        given = [*call.args]
    yield from (found for one in given if one is not None and (found := _root(one)[0]))


def _root(node: ast.expr) -> tuple[str, ast.Name | None]:
    """`model` of `model.layers[0].parameters()`, `model` of `self.model.layers`; "" for anything else."""
    last = ""
    while True:
        if isinstance(node, ast.Attribute):
            last, node = node.attr, node.value
        elif isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.args[0] if isinstance(node.func, ast.Name) and node.args else node.func
        elif isinstance(node, ast.Name):
            return (last, None) if node.id == "self" else (node.id, node)
        else:
            return "", None
