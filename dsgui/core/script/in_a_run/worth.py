"""What an expression of a script's source is worth in one run: by the values of its options and of its environment's
variables. UNSET wherever the source does not tell."""

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dsgui.core.config.conversion import truth
from dsgui.core.script.command_line import NOTHING, ONE, PERHAPS, UNSET, Option
from dsgui.core.script.declared import dotted_name, literal
from dsgui.core.script.in_a_run.options_held import OptionsHeld
from dsgui.core.script.in_a_run.scopes import Scopes
from dsgui.core.script.trees import expression_tree
from dsgui.core.script.words import PLACEHOLDER

_DEEPEST = 12  # expressions within each other
_LONGEST = 2000  # characters of an expression
_LARGEST = 300  # expressions that a name stands for
_MAPPINGS = ("environ.get", "os.environ.get", "os.getenv", "getenv")
_ENVIRONS = ("os.environ", "environ")
_CONVERSIONS: Mapping[str, Callable[[Any], Any]] = {"int": int, "float": float, "str": str, "bool": bool, "len": len}
# What gives a path as it is, as far as its end tells where it lies.
_PATHS = ("abspath", "realpath", "expanduser", "Path", "fspath")
_COMPARED: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda one, several: one in several,
    ast.NotIn: lambda one, several: one not in several,
}
_COMPUTED: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_WRONG = (ValueError, TypeError, ArithmeticError, LookupError)


@dataclass(frozen=True, slots=True)
class Values:
    """`options`: by the name that the script has for them, as attributes; `plain`: those of them that are names of
    their own, as the parameters of a function that is a command; `variables`: those of the environment that are known,
    None for one that is not set, UNSET where an imported file may set it; `words`: the whole command line, UNSET for a
    word of it that is not known."""

    options: Mapping[str, Any] = field(default_factory=dict)
    plain: frozenset[str] = frozenset()
    variables: Mapping[str, Any] = field(default_factory=dict)
    words: tuple[Any, ...] | None = None

    def worth(self, condition: str) -> Any:
        """Of one that is asked, as `Spelled` wrote it: `x and False` is no whatever x is."""
        node = _read(condition)
        asked = self.asked(node, _DEEPEST) if isinstance(node, ast.BoolOp) else None
        return self.value(condition) if asked is None else asked

    def value(self, expression: str) -> Any:
        """What it gives."""
        node = _read(expression)
        return UNSET if node is None else self.of(node, _DEEPEST)

    def asked(self, node: ast.expr, deep: int) -> bool | None:
        """Whether one within others is yes; None where nobody knows."""
        if isinstance(node, ast.BoolOp) and deep:
            ends, every = isinstance(node.op, ast.Or), [self.asked(one, deep - 1) for one in node.values]
            return ends if ends in every else None if None in every else not ends
        value = self.of(node, deep)
        return None if value is UNSET else bool(value)

    def of(self, node: ast.expr, deep: int) -> Any:
        """Of an expression within others, `deep` levels of which are looked at."""
        reader = _READERS.get(type(node))
        return reader(self, node, deep - 1) if reader and deep else literal(node)


def value_given(option: Option, words: tuple[str, ...] | None) -> Any:
    """What an option is worth with the words behind it; None for words where it is not given."""
    if words is None:
        return _made_of(option, option.default) if isinstance(option.default, str) else option.default
    if option.values == NOTHING:
        return option.bare
    if option.values == PERHAPS and not words:
        return True if option.switch else UNSET
    if option.values in (ONE, PERHAPS):
        return _made_of(option, words[0]) if words else UNSET
    made = [_made_of(option, word) for word in words]
    return UNSET if UNSET in made else made


def _made_of(option: Option, word: str) -> Any:
    try:
        return _KINDS[option.kind](word) if option.kind in _KINDS else UNSET
    except ValueError:
        return UNSET


def _switched(word: str) -> Any:
    switched = truth(word)
    return UNSET if switched is None else switched


_KINDS: Mapping[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,  # argparse's: any text is true
    "switch": _switched,
    "fire": lambda word: word if literal_of(word) is UNSET else literal_of(word),
}


def literal_of(word: str) -> Any:
    """A word as Python reads it; UNSET for one that is none of its literals."""
    return literal(_read(word))


def _read(expression: str) -> ast.expr | None:
    try:
        return expression_tree(expression)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class Spelled:
    """Writes expressions of a file with the names in them replaced by what they are given, where that is once and
    nothing changes it, and with `args` for whatever holds the values of its options, and for nothing else."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self.scopes = Scopes(nodes)
        self.held = OptionsHeld(self.scopes)
        self._written: dict[ast.AST, str] = {}
        self._put_for: dict[ast.expr, tuple[ast.expr, int]] = {}
        self._within = set[ast.expr]()

    def expression(self, node: ast.expr) -> str:
        """ "" for one that is too long."""
        if node not in self._written:
            self._written[node] = self._text(node)
        return self._written[node]

    def _text(self, node: ast.expr) -> str:
        try:
            put, size = self._put(node, _DEEPEST)
            text = ast.unparse(put) if size <= _LONGEST else ""
        except RecursionError:
            self._within.clear()
            return ""
        return text if len(text) <= _LONGEST else ""

    def _put(self, node: ast.expr, deep: int) -> tuple[ast.expr, int]:
        """The same with what its names are worth, and how many expressions that is: `node` itself stays as it is."""
        if isinstance(node, ast.Name | ast.Attribute) and self.held.holds(node):
            return _HOLDER, 1
        if isinstance(node, ast.Name):
            return self._put_name(node, deep)
        if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            return _UNKNOWN, 1
        size, parts = 1, dict[str, Any]()
        for name, part in ast.iter_fields(node):
            if isinstance(part, list):
                several = [self._part(one, deep) for one in part]
                parts[name] = [one for one, _ in several]
                size += sum(one for _, one in several)
            else:
                parts[name], more = self._part(part, deep)
                size += more
        return type(node)(**parts), size

    def _part(self, part: Any, deep: int) -> tuple[Any, int]:
        if isinstance(part, ast.expr):
            return self._put(part, deep)
        if isinstance(part, ast.keyword):
            value, size = self._put(part.value, deep)
            return ast.keyword(part.arg, value), size
        return part, 0

    def _put_name(self, node: ast.Name, deep: int) -> tuple[ast.expr, int]:
        if node.id == "__name__":
            return ast.Constant("__main__"), 1
        value = self.scopes.value(node) if isinstance(node.ctx, ast.Load) else None
        if value is None or not _is_followed(value):
            return (_UNKNOWN if node.id == _HOLDER.id else node), 1
        if value in self._within or not deep:
            return _UNKNOWN, 1
        if value not in self._put_for:
            self._within.add(value)
            put, size = self._put(value, deep - 1)
            self._within.discard(value)
            self._put_for[value] = (put, size) if size <= _LARGEST else (_UNKNOWN, 1)
        return self._put_for[value]


_HOLDER, _UNKNOWN = ast.Name("args", ast.Load()), ast.Name("UNKNOWN", ast.Load())

_FOLLOWED = (
    ast.Constant,
    ast.Name,
    ast.Attribute,
    ast.Compare,
    ast.BoolOp,
    ast.UnaryOp,
    ast.BinOp,
    ast.IfExp,
    ast.Subscript,
    ast.Dict,
    ast.List,
    ast.Tuple,
)


def _is_followed(value: ast.expr) -> bool:
    """Of calls only those that are read: who else made a value is told by its name."""
    if not isinstance(value, ast.Call):
        return isinstance(value, _FOLLOWED)
    name = dotted_name(value.func)
    last = name.rpartition(".")[2] or getattr(value.func, "attr", "")
    return name in _MAPPINGS or name in (*_CONVERSIONS, "getattr") or last in (*_PATHS, *_OF_TEXTS)


def variables_read(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The environment's variables that a file names."""
    found = (_variable(node) for node in nodes)
    return frozenset(one for one in found if one)


def variables_in(expression: str) -> frozenset[str]:
    """The same of one expression."""
    node = _read(expression)
    return variables_read(ast.walk(node)) if node is not None else frozenset()


def _variable(node: ast.AST) -> str:
    named = node.slice if isinstance(node, ast.Subscript) and dotted_name(node.value) in _ENVIRONS else None
    if isinstance(node, ast.Call) and dotted_name(node.func) in _MAPPINGS and node.args:
        named = node.args[0]
    name = literal(named) if isinstance(named, ast.expr) else None
    return name if isinstance(name, str) else ""


# ------------------------------------------------------------------------------------------------------ what is read
def _name(of: Values, node: ast.Name, deep: int) -> Any:
    return of.options.get(node.id, UNSET) if node.id in of.plain else UNSET


def _attribute(of: Values, node: ast.Attribute, deep: int) -> Any:
    """`args.use_lora`, as `Spelled` writes it for whatever holds the options."""
    return of.options.get(node.attr, UNSET) if _is_holder(node.value) else UNSET


def _is_holder(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == _HOLDER.id


def _not(of: Values, node: ast.UnaryOp, deep: int) -> Any:
    if not isinstance(node.op, ast.Not):
        return literal(node)
    holds = of.asked(node.operand, deep)
    return UNSET if holds is None else not holds


def _logic(of: Values, node: ast.BoolOp, deep: int) -> Any:
    """One of what stands there."""
    values = [of.of(one, deep) for one in node.values]
    ends = isinstance(node.op, ast.Or)
    return next((value for value in values[:-1] if value is UNSET or bool(value) is ends), values[-1])


def _comparison(of: Values, node: ast.Compare, deep: int) -> Any:
    left = of.of(node.left, deep)
    for compared, right_node in zip(node.ops, node.comparators, strict=True):
        right = of.of(right_node, deep)
        compare = _COMPARED.get(type(compared))
        if left is UNSET or right is UNSET or compare is None or (_is_part(right) and not isinstance(compared, _ALIKE)):
            return UNSET
        holds = _tried(compare, left, right)
        if holds is UNSET or not holds:
            return holds
        left = right
    return True


_ALIKE = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)


def _is_part(value: Any) -> bool:
    """Of a path, only how it ends."""
    return isinstance(value, str) and PLACEHOLDER in value


def _tried(compute: Callable[..., Any], *values: Any) -> Any:
    try:
        return compute(*values)
    except _WRONG:
        return UNSET


def _either(of: Values, node: ast.IfExp, deep: int) -> Any:
    holds = of.asked(node.test, deep)
    return UNSET if holds is None else of.of(node.body if holds else node.orelse, deep)


def _computed(of: Values, node: ast.BinOp, deep: int) -> Any:
    left, right = of.of(node.left, deep), of.of(node.right, deep)
    compute = _COMPUTED.get(type(node.op))
    numbers = all(isinstance(one, int | float) for one in (left, right))
    texts = isinstance(left, str) and isinstance(right, str) and isinstance(node.op, ast.Add)
    return _tried(compute, left, right) if compute and (numbers or texts) else UNSET


def _several(of: Values, node: ast.List | ast.Tuple | ast.Set, deep: int) -> Any:
    values = [of.of(one, deep) for one in node.elts]
    return UNSET if any(one is UNSET for one in values) else values


def _subscript(of: Values, node: ast.Subscript, deep: int) -> Any:
    """`os.environ["X"]`, `sys.argv[1]`; a variable that is not set ends the script there."""
    key = literal(node.slice)
    owner = dotted_name(node.value)
    if owner in _ENVIRONS and isinstance(key, str):
        value = of.variables.get(key)
        return UNSET if value is None else value
    if owner in ("sys.argv", "argv") and of.words is not None and isinstance(key, int):
        place = key - 1 if key > 0 else len(of.words) + key
        return of.words[place] if key and 0 <= place < len(of.words) else UNSET
    return UNSET


def _call(of: Values, node: ast.Call, deep: int) -> Any:
    name = dotted_name(node.func)
    if name in _MAPPINGS:
        return _from_environment(of, node, deep)
    values = [of.of(one, deep) for one in node.args]
    if name == "len" and [dotted_name(one) for one in node.args] == ["sys.argv"] and of.words is not None:
        return len(of.words) + 1
    if name == "getattr" and len(node.args) > 1 and isinstance(values[1], str) and _is_holder(node.args[0]):
        return of.options.get(values[1], UNSET)
    if node.keywords or not values or values[0] is UNSET:
        return _ending(of, node, deep) if isinstance(node.func, ast.Attribute) else UNSET
    if name in _CONVERSIONS and len(values) == 1 and not (name == "len" and _is_part(values[0])):
        return _tried(_CONVERSIONS[name], values[0])
    if name.rpartition(".")[2] in _PATHS and isinstance(values[0], str) and len(values) == 1:
        return values[0]
    return _ending(of, node, deep) if isinstance(node.func, ast.Attribute) else UNSET


def _from_environment(of: Values, node: ast.Call, deep: int) -> Any:
    key = literal(node.args[0]) if node.args else UNSET
    if not isinstance(key, str) or key not in of.variables or node.keywords:
        return UNSET
    if of.variables[key] is not None:
        return of.variables[key]
    return of.of(node.args[1], deep) if len(node.args) > 1 else None


def _ending(of: Values, node: ast.Call, deep: int) -> Any:
    """`args.mode.lower()`, `sys.argv[1].endswith(".json")`."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in _OF_TEXTS or node.keywords:
        return UNSET
    owner, values = of.of(node.func.value, deep), [of.of(one, deep) for one in node.args]
    if not isinstance(owner, str) or any(one is UNSET for one in values):
        return UNSET
    if _is_part(owner) and node.func.attr != "endswith":
        return UNSET
    values = [tuple(one) if isinstance(one, list) else one for one in values]
    return _tried(getattr(owner, node.func.attr), *values)


_OF_TEXTS = frozenset({"lower", "upper", "strip", "endswith", "startswith", "split"})

_READERS: Mapping[type, Callable[[Values, Any, int], Any]] = {
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.UnaryOp: _not,
    ast.BoolOp: _logic,
    ast.Compare: _comparison,
    ast.IfExp: _either,
    ast.BinOp: _computed,
    ast.List: _several,
    ast.Tuple: _several,
    ast.Set: _several,
    ast.Subscript: _subscript,
    ast.Call: _call,
}
