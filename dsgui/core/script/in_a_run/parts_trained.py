"""Whether a script trains only a part of its model: where it makes adapters or freezes parameters, and whether a run
gets there."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from dsgui.core.script.command_line import UNSET
from dsgui.core.script.declared import dotted_name, literal
from dsgui.core.script.in_a_run.branches import Branches, When
from dsgui.core.script.in_a_run.models import Models, is_by_trainer
from dsgui.core.script.in_a_run.scopes import FUNCTIONS
from dsgui.core.script.in_a_run.worth import Spelled, Values
from dsgui.core.script.packages import from_own_files
from dsgui.core.script.parser_source import called
from dsgui.core.script.trees import as_written

_MAKES, _DESCRIBES = frozenset({"get_peft_model"}), frozenset({"LoraConfig", "PeftConfig"})
_GRADIENT, _FREEZING = "requires_grad", "requires_grad_"
# What may make adapters or freeze something, by its name, and what only reads.
_ADAPTS, _FREEZES = (
    re.compile(r"lora|peft|adapter|kbit", re.IGNORECASE),
    re.compile(r"freez|frozen(?!set)|as_trainable|only_train"),
)
_READS = re.compile(
    r"^(get(?!.*model$)|print|count|log|save|find|is|has|check|eval|merge|num|show)|state|(config|args|arguments|callback)$",
    re.IGNORECASE,
)


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
    handed: list[When] = field(default_factory=list)
    frozen: list[When] = field(default_factory=list)


def parts_trained(nodes: Sequence[ast.AST], branches: Branches, spelled: Spelled) -> Parts:
    """`nodes`: all of the file's."""
    reading = _Reading(nodes, branches, spelled)
    for node in nodes:
        if isinstance(node, ast.expr | ast.stmt):
            reading.read(node)
    found = reading.found
    named = [*found.made, *(found.described if found.handed or not found.made else ())]
    handed = [one for one in found.handed if one.condition.endswith(_USE_PEFT) or not named]
    return Parts(tuple(dict.fromkeys([*named, *handed])), tuple(dict.fromkeys(found.frozen)))


_USE_PEFT = "(args.use_peft)"


class _Reading:
    """Of one file."""

    def __init__(self, nodes: Sequence[ast.AST], branches: Branches, spelled: Spelled) -> None:
        self.found = _Found()
        self._branches, self._spelled = branches, spelled
        self._scopes, self._models = spelled.scopes, Models(spelled, branches)
        self._annotations = {id(one) for node in nodes for part in _annotations(node) for one in ast.walk(part)}
        self._own = {node.name for node in nodes if isinstance(node, (*FUNCTIONS, ast.ClassDef))}
        self._theirs = from_own_files(nodes)
        frees = [node for node in nodes if isinstance(node, ast.stmt | ast.Call) and _frees(node)]
        self._freed = [(node, self._models.whole(one)) for node in frees for one in _owners(node) if self._in_all(node)]
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        self._trains = [call for call in calls if _trains(call)]
        made = [call for call in self._models.made_by(self._theirs) if not self._models.is_given_to(call)]
        if self._models.trains_elsewhere:
            theirs = (call for call in calls if dotted_name(call.func).partition(".")[0] in self._theirs)
            made = sorted(theirs, key=lambda call: call.lineno)[-1:]
        self.found.frozen += [_perhaps(self._branches.when(call), call) for call in made]

    def read(self, node: ast.expr | ast.stmt) -> None:
        """Takes up what it makes or freezes."""
        name = _named(node)
        if name and id(node) not in self._annotations:
            when = self._branches.when(node)
            found = self.found.made if name in _MAKES else self.found.described
            found.append(when if self._is_called(node) else _perhaps(when, node))
        if isinstance(node, ast.stmt | ast.Call) and (value := _frozen(node)) is not None:
            self._freezes(node, value)
        if isinstance(node, ast.Call):
            self._calls(node)

    def _freezes(self, node: ast.stmt | ast.Call, value: ast.expr) -> None:
        several = isinstance(value, ast.Tuple)
        when = self._branches.when(node)
        when = when if several else _frozen_when(when, value, self._spelled)
        ways = [self._models.trained_when(one) for one in _owners(node)]
        if several or None in ways or self._is_undone(node):
            self.found.frozen.append(_perhaps(when, node))
        else:
            condition = " and ".join(filter(None, (when.condition, *map(str, ways))))
            self.found.frozen.append(When(condition, when.line, when.shown or as_written(node)[:60]))

    def _calls(self, call: ast.Call) -> None:
        given = next((one.value for one in call.keywords if one.arg == "peft_config"), None)
        if given is not None and literal(given) is not None:
            self.found.handed.append(self._handed_when(given))
        parts = self._models.parts_given(call)
        self.found.frozen += [_perhaps(self._branches.when(part), part) for part in parts]
        name, owner = called(call), dotted_name(getattr(call.func, "value", call)).rpartition(".")[2]
        text = f"{owner} {name}" if owner[:1].isupper() else name
        if name in self._own | _MAKES | _DESCRIBES or owner == "gc" or self._only_reads(call, text):
            return
        if not self._models.is_before(call):
            return
        if _ADAPTS.search(text):
            self.found.made.append(_perhaps(self._branches.when(call), call))
        elif _FREEZES.search(text) or self._is_for_others(call):
            self.found.frozen.append(_perhaps(self._branches.when(call), call))

    def _only_reads(self, call: ast.Call, text: str) -> bool:
        """By its name; of what nobody has read, that of adapters or freezing says otherwise where it gets the model."""
        says = _ADAPTS.search(text) or _FREEZES.search(text)
        return bool(_READS.search(called(call))) and not (says and self._is_for_others(call))

    def _handed_when(self, given: ast.expr) -> When:
        """trl/trainer/utils.py: get_peft_config gives None without `--use_peft`."""
        when, by = self._branches.when(given), given.args[:1] if isinstance(given, ast.Call) else []
        if called(given) != "get_peft_config" or not all(self._spelled.held.holds(one) for one in by) or not by:
            return _perhaps(when, given)
        condition = f"{when.condition} and {_USE_PEFT}" if when.condition else _USE_PEFT
        return When(condition, given.lineno, when.shown or as_written(given)[:60])

    def _is_for_others(self, call: ast.Call) -> bool:
        """Whether the model is given to a function of a file that nobody has read."""
        theirs = dotted_name(call.func).partition(".")[0] in self._theirs
        return theirs and self._models.is_given_to(call) and not _hands(call)

    def _is_called(self, node: ast.AST) -> bool:
        """`LoraConfig(…)`, `LoraConfig.from_pretrained(…)`: not merely named."""
        above = self._scopes.parents.get(node)
        while isinstance(above, ast.Attribute):
            node, above = above, self._scopes.parents.get(above)
        return isinstance(above, ast.Call) and above.func is node

    def _is_undone(self, node: ast.stmt | ast.Call) -> bool:
        """Whether it may be trained all the same: freed again, or trained before."""
        function = self._scopes.function(node)
        wholes = [self._models.whole(one) for one in _owners(node)]
        for free, of in self._freed:
            later = free.lineno > node.lineno or self._scopes.function(free) is not function
            if later and any(f"{whole}.".startswith(f"{of}.") or self._is_parameter(free, of) for whole in wholes):
                return True
        return any(one.lineno < node.lineno and self._scopes.function(one) is function for one in self._trains)

    def _is_parameter(self, free: ast.AST, name: str) -> bool:
        """Of a function that frees what it is given."""
        function = self._scopes.function(free)
        return function is not None and name in [one.arg for one in (*function.args.args, *function.args.kwonlyargs)]

    def _in_all(self, node: ast.AST) -> bool:
        """Whether a loop does it in each of its turns."""
        asked, above = False, self._scopes.parents.get(node)
        while above is not None and not isinstance(above, FUNCTIONS):
            asked = asked or isinstance(above, ast.If)
            if isinstance(above, ast.For) or any(one.ifs for one in getattr(above, "generators", ())):
                return not asked and isinstance(above, ast.For)
            above = self._scopes.parents.get(above)
        return True


def _hands(call: ast.Call) -> bool:
    return called(call).endswith("Trainer") or called(call) == "prepare"


def _trains(call: ast.Call) -> bool:
    """`trainer.train()`, `Trainer(…).train()`, `train(engine)`, and DeepSpeed's engine with all it trains."""
    if isinstance(call.func, ast.Name):
        return called(call) in ("train", "fit", "run_training", "train_loop", "train_model")
    return called(call) == "initialize" or is_by_trainer(call)


def _named(node: ast.AST) -> str:
    """What makes adapters, wherever it is named."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name if name in _MAKES | _DESCRIBES else ""


def _annotations(node: ast.AST) -> list[ast.expr]:
    found = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    if isinstance(node, ast.Call) and called(node) == "isinstance":
        found += node.args[1:]
    return [one for one in found if isinstance(one, ast.expr)]


def _given(node: ast.AST) -> ast.expr | None:
    """The value given to `requires_grad`; None where none is."""
    if isinstance(node, ast.Call) and called(node) == _FREEZING:
        usual: ast.expr = ast.Constant(True)
        return next((word.value for word in node.keywords), node.args[0] if node.args else usual)
    if isinstance(node, ast.Call) and called(node) == "setattr" and len(node.args) == 3:
        return node.args[2] if literal(node.args[1]) == _GRADIENT else None
    return node.value if isinstance(node, ast.Assign) and _owners(node) else None


def _frozen(node: ast.AST) -> ast.expr | None:
    """The same where it is not surely true."""
    value = _given(node)
    return None if value is None or literal(value) is True else value


def _frees(node: ast.AST) -> bool:
    return literal(_given(node)) is True


def _owners(node: ast.AST) -> list[ast.expr]:
    """What it takes out of the training: `q` in `q.requires_grad = False`."""
    if isinstance(node, ast.Call) and called(node) == "setattr":
        return node.args[:1]
    places = node.targets if isinstance(node, ast.Assign) else [getattr(node, "func", None)]
    places = [one for many in places for one in (many.elts if isinstance(many, ast.Tuple) else [many])]
    named = [one for one in places if isinstance(one, ast.Attribute) and one.attr in (_GRADIENT, _FREEZING)]
    return [one.value for one in named]


def _perhaps(when: When, node: ast.AST) -> When:
    """Of what may be done, or to another model than the one that is trained: what is shown is that, whatever is asked
    before."""
    condition = f"{when.condition} and UNKNOWN" if when.condition else "UNKNOWN"
    return When(condition, getattr(node, "lineno", when.line), as_written(node)[:60])


def _frozen_when(when: When, value: ast.expr, spelled: Spelled) -> When:
    """`p.requires_grad = args.tune` freezes where that is false."""
    if literal(value) is False:
        return when
    condition = f"(not ({spelled.expression(value) or 'UNKNOWN'}))"
    joined = f"{when.condition} and {condition}" if when.condition else condition
    return When(joined, value.lineno, when.shown or as_written(value)[:60])
