"""Whether a script trains only a part of its model: where it makes adapters or freezes parameters, and whether a run
gets there."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from dsgui.core.script.command_line import UNSET
from dsgui.core.script.declared import literal
from dsgui.core.script.in_a_run.branches import Branches, When
from dsgui.core.script.in_a_run.models import Models
from dsgui.core.script.in_a_run.worth import Spelled, Values
from dsgui.core.script.parser_source import called

_MAKES, _DESCRIBES = frozenset({"get_peft_model"}), frozenset({"LoraConfig", "PeftConfig"})
_GRADIENT, _FREEZING = "requires_grad", "requires_grad_"


@dataclass(frozen=True, slots=True)
class PartTrained:
    """`trains`: whether only a part of the model is trained, None where that depends on `on`."""

    trains: bool | None = False
    on: When | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """Where a script makes adapters (`adapting`), and where it takes parameters out of the training (`freezing`)."""

    adapting: tuple[When, ...] = ()
    freezing: tuple[When, ...] = ()

    def trained(self, values: Values, *, without_adapters: bool) -> PartTrained:
        """By what a run is given. `without_adapters`: its arguments say that it makes none."""
        places = self.freezing if without_adapters else (*self.adapting, *self.freezing)
        worths = [(values.worth(one.condition) if one.condition else True, one) for one in places]
        if any(worth is not UNSET and worth for worth, _ in worths):
            return PartTrained(True)
        depends = next((one for worth, one in worths if worth is UNSET), None)
        return PartTrained(None, depends) if depends else PartTrained(False)


@dataclass(slots=True)
class _Found:
    made: list[When] = field(default_factory=list)
    described: list[When] = field(default_factory=list)
    frozen: list[When] = field(default_factory=list)


def parts_trained(nodes: Sequence[ast.AST], branches: Branches, spelled: Spelled) -> Parts:
    """`nodes`: all of the file's."""
    found, handed, models = _Found(), False, Models(spelled.scopes, spelled.held)
    annotations = {id(one) for node in nodes for part in _annotations(node) for one in ast.walk(part)}
    for node in nodes:
        if isinstance(node, ast.keyword) and node.arg == "peft_config":
            handed = True
        name = _named(node)
        if isinstance(node, ast.expr) and name and id(node) not in annotations:
            (found.made if name in _MAKES else found.described).append(branches.when(node))
        elif isinstance(node, ast.stmt | ast.Call) and (value := _frozen(node)) is not None:
            when = _frozen_when(branches.when(node), value, spelled)
            sure = all(map(models.is_trained, _owners(node)))
            found.frozen.append(when if sure else _perhaps(when, node))
    adapting = (*found.made, *(found.described if handed or not found.made else ()))
    return Parts(tuple(dict.fromkeys(adapting)), tuple(dict.fromkeys(one for one in found.frozen if one)))


def _named(node: ast.AST) -> str:
    """What makes adapters, wherever it is named."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name if name in _MAKES | _DESCRIBES else ""


def _annotations(node: ast.AST) -> list[ast.expr]:
    found = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    if isinstance(node, ast.Call) and called(node) == "isinstance":
        found += node.args[1:]
    return [one for one in found if isinstance(one, ast.expr)]


def _frozen(node: ast.stmt | ast.Call) -> ast.expr | None:
    """The value given to `requires_grad`; None where none is, or where it is true."""
    value: ast.expr | None = None
    if isinstance(node, ast.Call) and called(node) == _FREEZING:
        value = next((word.value for word in node.keywords), node.args[0] if node.args else None)
    elif isinstance(node, ast.Assign) and any(getattr(one, "attr", "") == _GRADIENT for one in node.targets):
        value = node.value
    return None if value is None or literal(value) is True else value


def _owners(node: ast.stmt | ast.Call) -> list[ast.expr]:
    """What it takes out of the training: `q` in `q.requires_grad = False`."""
    places = node.targets if isinstance(node, ast.Assign) else [getattr(node, "func", None)]
    named = [one for one in places if isinstance(one, ast.Attribute) and one.attr in (_GRADIENT, _FREEZING)]
    return [one.value for one in named]


def _perhaps(when: When, node: ast.stmt | ast.Call) -> When:
    """Of a model that may be another than the one that is trained."""
    condition = f"{when.condition} and UNKNOWN" if when.condition else "UNKNOWN"
    return When(condition, when.line, when.shown or ast.unparse(node)[:60])


def _frozen_when(when: When, value: ast.expr, spelled: Spelled) -> When:
    """`p.requires_grad = args.tune` freezes where that is false."""
    if literal(value) is False:
        return when
    condition = f"(not ({spelled.expression(value) or 'UNKNOWN'}))"
    joined = f"{when.condition} and {condition}" if when.condition else condition
    return When(joined, value.lineno, when.shown or ast.unparse(value)[:60])
