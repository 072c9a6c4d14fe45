"""Which of a script's models is the one that is trained: a reference, a teacher or an encoder beside it may be frozen
while all of it is trained."""

import ast
import re
from collections.abc import Iterator, Sequence

from dsgui.core.script.declared import dotted_name
from dsgui.core.script.in_a_run.branches import Branches
from dsgui.core.script.in_a_run.config_sets import initializer
from dsgui.core.script.in_a_run.worth import Spelled
from dsgui.core.script.parser_source import called, keyword
from dsgui.core.script.trees import as_written

_DEEPEST = 12
_MODEL, _PARAMETERS = 1, 3  # deepspeed/__init__.py: initialize(args, model, optimizer, model_parameters, …)
_USUAL = re.compile(r"(model|net|network)$")  # of a file that hands no model over
_LOADS = "from_pretrained"  # transformers' own way, which trains all of what it gives
_OTHERS = re.compile(r"load|data|optim|sched", re.IGNORECASE)  # beside the model, of what accelerate is given
_OF_ALL = re.compile(r"\.(named_)?(parameters|modules|children)\(\)$")

_Key = tuple[ast.AST | None, str]


class Models:
    """Of one file."""

    def __init__(self, spelled: Spelled, branches: Branches) -> None:
        self._scopes, self._held, self._branches = spelled.scopes, spelled.held, branches
        self._is_initialize = initializer(self._scopes.nodes)
        self._bound: dict[_Key, list[ast.Name]] = {}
        self._handed: dict[_Key, list[ast.Call]] = {}
        self._given: list[ast.expr] = []
        self._kept: dict[str, list[ast.expr]] = {}
        for node in self._scopes.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._bound.setdefault(self._scopes.place(node), []).append(node)
            elif isinstance(node, ast.Assign):
                for one in node.targets:
                    self._kept.setdefault(getattr(one, "attr", ""), []).append(node.value)
            elif isinstance(node, ast.Call):
                self._given += (given := self._models_handed(node))
                for key in filter(None, map(self._key, given)):
                    self._handed.setdefault(key, []).append(node)
        trained = [one for one in self._scopes.nodes if isinstance(one, ast.Call) and is_by_trainer(one)]
        self._over = [*(call for several in self._handed.values() for call in several), *trained]

    def trained_when(self, node: ast.expr) -> str | None:
        """In which case what a name, or an expression on one, stands for is surely the model that is trained, or a part
        of it: "" for in any case, None for what is not known."""
        return self._is(node, _DEEPEST, node.lineno)

    def is_before(self, node: ast.expr | ast.stmt) -> bool:
        """Whether the model may still change before it is handed over to be trained."""
        return not self._scopes.is_after(node, self._over)

    def is_given_to(self, call: ast.Call) -> bool:
        """Whether the model itself is among what a call gets."""
        given = [*call.args, *(word.value for word in call.keywords)]
        return any(isinstance(one, ast.Name | ast.Attribute) and self._key(one) in self._handed for one in given)

    @property
    def trains_elsewhere(self) -> bool:
        """Whether the file hands no model over, and has no loop that trains."""
        return not self._over and not any(called(one) in ("backward", "train_batch") for one in self._scopes.nodes)

    def made_by(self, others: frozenset[str]) -> Iterator[ast.Call]:
        """The calls of `others` that give what is trained before it is: it may have parts that are not."""
        waiting: list[tuple[ast.expr, int | None]] = [(one, None) for one in self._given]
        seen = set[ast.expr]()
        while waiting:
            node, place = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            name = dotted_name(node.func).partition(".")[0] if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Call) and name in others and called(node) != _LOADS and self.is_before(node):
                yield node
            waiting += self._behind(node, place)

    def _behind(self, node: ast.expr, place: int | None) -> Iterator[tuple[ast.expr, int | None]]:
        """What an expression is given its value by; `place` in the tuple that this is."""
        if isinstance(node, ast.Tuple) and place is not None and place < len(node.elts):
            yield node.elts[place], None
        elif isinstance(node, ast.Attribute):
            yield from ((one, None) for one in self._kept.get(node.attr, ()))
        elif isinstance(node, ast.Call):
            yield from ((one, place) for one in self._held.returned_by(node))
            made = getattr(node.func, "value", None)
            yield from [(made, None)] if isinstance(made, ast.Call) else []  # `Net().to(device)`
        elif isinstance(node, ast.Name):
            for one in self._scopes.bindings_seen(node):
                if one.function is not None:
                    yield from ((given, place) for given in self._held.given(one.function, node.id) or ())
                elif one.value is not None:
                    yield one.value, one.place if place is None else place

    def whole(self, node: ast.expr) -> str:
        """`model.head` of `model.head`, and of each `p` in `model.head.parameters()`."""
        turned = self._turned(node) if isinstance(node, ast.Name) else None
        return _OF_ALL.sub("", as_written(node if turned is None else turned))

    def parts_given(self, call: ast.Call) -> list[ast.expr]:
        """What `deepspeed.initialize` may get to train that may be less than the whole model."""
        given = keyword(call, "model_parameters") if self._is_initialize(call) else None
        if given is None and self._is_initialize(call) and len(call.args) > _PARAMETERS:
            given = call.args[_PARAMETERS]
        bindings = (self._scopes.bindings(given) or ()) if isinstance(given, ast.Name) else ()
        each = [one.value if one.place is None and one.value is not None else given for one in bindings]
        ways = each if len(each) > 1 else [given]
        return [one for one in ways if one is not None and not self._is_all(one, _DEEPEST)]

    def _is_all(self, node: ast.expr, deep: int) -> bool:
        """`model.parameters()`, all of them or those that are trained."""
        value = self._scopes.value(node) if isinstance(node, ast.Name) else None
        if value is not None:
            return deep > 0 and self._is_all(value, deep - 1)
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            (first, *more), wanted = node.generators, {"requires_grad"}
            asked = [getattr(one, "attr", "") for one in first.ifs]
            same = isinstance(node.elt, ast.Name) and isinstance(first.target, ast.Name)
            return same and not more and set(asked) <= wanted and self._is_all(first.iter, deep)
        if not isinstance(node, ast.Call):
            return isinstance(node, ast.Constant) and node.value is None
        if called(node) == "filter" and len(node.args) == 2:
            test = getattr(node.args[0], "body", None)
            return getattr(test, "attr", "") == "requires_grad" and self._is_all(node.args[1], deep)
        if called(node) in ("list", "iter") and len(node.args) == 1:
            return self._is_all(node.args[0], deep)
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        return called(node) == "parameters" and owner is not None and self._key(owner, whole=True) in self._handed

    # ---------------------------------------------------------------------------------------------------- how it knows
    def _is(self, node: ast.expr, deep: int, line: int) -> str | None:
        name, base = _root(node)
        key = self._key(node)
        if key is None or not deep:
            return None
        if key in self._handed:
            return None if self._is_another_later(key, line) else self._handed_when(key)
        found = self._scopes.bindings(base) if base is not None else None
        if base is not None and found and len(found) == 1:
            if found[0].function is not None:
                given = self._held.given(found[0].function, name)
                return _all([self._is(one, deep - 1, line) for one in given or ()])
            turned = self._turned(base)
            if turned is not None:
                return self._is(turned, deep - 1, line)
            value = self._scopes.value(base)
            if isinstance(value, ast.Attribute | ast.Name) and (when := self._is(value, deep - 1, line)) is not None:
                return when
        return "" if not self._handed and _USUAL.match(name) else None

    def _handed_when(self, key: _Key) -> str:
        ways = [self._branches.when(call).condition for call in self._handed[key]]
        return "" if "" in ways else f"({' or '.join(f'({way})' for way in dict.fromkeys(ways))})"

    def _is_another_later(self, key: _Key, line: int) -> bool:
        """Whether the name is given a model after that which is not made of the one that it had."""
        return any(one.lineno > line and not self._is_made_of_it(one) for one in self._bound.get(key, ()))

    def _is_made_of_it(self, name: ast.Name) -> bool:
        above = self._scopes.parents.get(name)
        above = self._scopes.parents.get(above) if isinstance(above, ast.Tuple | ast.List) else above
        value = getattr(above, "value", None)
        nodes = ast.walk(value) if isinstance(value, ast.expr) else ()
        return any(isinstance(one, ast.Name) and one.id == name.id for one in nodes)

    def _key(self, node: ast.expr, *, whole: bool = False) -> _Key | None:
        """Of the name that a model has: in its scope, or in the class of `self`. `whole`: not of a part of it."""
        name, base = _root(node)
        if not name or (whole and len(as_written(node).split(".")) > (2 if base is None else 1)):
            return None
        if base is not None:
            return self._scopes.place(base)
        return self._scopes.class_of(node), name

    def _models_handed(self, call: ast.Call) -> list[ast.expr]:
        """What is given to be trained."""
        name = called(call)
        if name.endswith("Trainer") or self._is_initialize(call):
            place = _MODEL if self._is_initialize(call) else 0
            return [one for one in (keyword(call, "model"), *call.args[place : place + 1]) if one is not None]
        prepares = name in ("prepare", "prepare_model") and isinstance(call.func, ast.Attribute)
        return [one for one in call.args if prepares and not _OTHERS.search(as_written(one))]

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


def is_by_trainer(call: ast.Call) -> bool:
    """`trainer.train()`, `Trainer(…).train()`."""
    owner = getattr(call.func, "value", None)
    named = dotted_name(owner) or called(owner) if owner is not None else ""
    return called(call) in ("train", "fit") and named.lower().endswith("trainer")


def _all(ways: Sequence[str | None]) -> str | None:
    """The conditions of several as one."""
    known = [one for one in ways if one is not None]
    return " and ".join(dict.fromkeys(filter(None, known))) if known and len(known) == len(ways) else None


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
