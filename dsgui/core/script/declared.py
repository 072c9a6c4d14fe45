"""The dataclasses whose fields `HfArgumentParser` makes options of, read from their source.

transformers/hf_argparser.py: `_parse_dataclass_field`. What a class inherits is joined by who can find the other files.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dsgui.core.script.command_line import NOTHING, ONE, PERHAPS, SOME, UNSET, Option
from dsgui.core.script.trees import as_written, expression_tree

_MAKERS = ("field", "HfArg")  # dataclasses.field, and transformers' short form of it


@dataclass(frozen=True, slots=True)
class Declared:
    """One class: its own options, the names of its bases as written there, and of what its `__init__` is given;
    `members`: the texts that it has, if it is an enumeration; `sets`: what its `__post_init__` may set anew, and what
    that calls."""

    options: tuple[Option, ...] = ()
    bases: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    sets: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Module:
    """What one file declares: its classes, and what it imports as (module, name), by the name it has there. `module`
    starts with a dot for each folder up; `name` is "" for a module as a whole."""

    classes: Mapping[str, Declared] = field(default_factory=dict)
    imported: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def module_of(nodes: Iterable[ast.AST]) -> Module:
    """Of all nodes of a parsed file; its imports inside functions and conditions count too."""
    classes, imported = dict[str, Declared](), dict[str, tuple[str, str]]()
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            classes[node.name] = _declared(node)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            imported |= {alias.asname or alias.name: (module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            imported |= {(alias.asname or alias.name): (alias.name, "") for alias in node.names}
    again = {name: f"{name} as imported" for name, one in classes.items() if name in one.bases and name in imported}
    imported |= {other: imported[name] for name, other in again.items()}
    return Module({name: _over(one, name, again.get(name, name)) for name, one in classes.items()}, imported)


def _over(declared: Declared, name: str, base: str) -> Declared:
    """`class TrainingArguments(TrainingArguments)` is a class over the one that was imported by that name."""
    return replace(declared, bases=tuple(base if one == name else one for one in declared.bases))


def inherited(options: Iterable[Option]) -> tuple[Option, ...]:
    """The last one of each name: a class's own field takes the place of its base's."""
    return tuple({option.name: option for option in options}.values())


def dotted_name(node: ast.AST) -> str:
    """`transformers.TrainingArguments` as written; "" for anything else than names."""
    last = list[str]()
    while isinstance(node, ast.Attribute):
        last.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(last))) if isinstance(node, ast.Name) else ""


def _declared(node: ast.ClassDef) -> Declared:
    bases = tuple(dotted_name(base) or "?" for base in node.bases)
    if not any("dataclass" in as_written(decorator) for decorator in node.decorator_list):
        return Declared((), bases, tuple(_parameters(node)), tuple(_members(node)), frozenset(_sets(node)))
    options = tuple(option for statement in node.body for option in _field_options(statement))
    return Declared(options, bases, sets=frozenset(_sets(node)))


def _sets(node: ast.ClassDef) -> Iterator[str]:
    """`self.do_eval = True`, in a method that only the class itself calls."""
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name.startswith("_"):
            stored = (one for one in ast.walk(method) if isinstance(one, ast.Attribute))
            yield from (
                one.attr for one in stored if isinstance(one.ctx, ast.Store) and dotted_name(one.value) == "self"
            )


def _parameters(node: ast.ClassDef) -> Iterator[str]:
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and one.name == "__init__":
            yield from (given.arg for given in (*one.args.args, *one.args.kwonlyargs))


def _members(node: ast.ClassDef) -> Iterator[str]:
    if any(dotted_name(base).endswith("Enum") for base in node.bases):
        for one in node.body:
            value = literal(one.value) if isinstance(one, ast.Assign) else None
            if isinstance(value, str):
                yield value


def _field_options(statement: ast.stmt) -> Iterator[Option]:
    if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
        return
    name, kind = statement.target.id, _annotation(statement.annotation)
    keywords = _keywords(statement.value)
    if kind.startswith("ClassVar") or literal(keywords.get("init")) is False:
        return
    default, more = _default(statement.value, keywords), _metadata(keywords)
    spelled = tuple(dict.fromkeys((f"--{name}", f"--{name.replace('_', '-')}", *_aliases(more, keywords))))
    values = _values(kind, default, literal(more.get("nargs")))
    numbers, chosen = kind in _NUMBERS, _chosen(kind.split(" | "))
    choices, literals = literal(more.get("choices")), _literals(statement.annotation)
    by_word = "literal" if literals else chosen if chosen in _BUILT_IN else ""
    yield Option(
        name,
        spelled,
        values,
        default,
        number=numbers,
        switch=values == PERHAPS,
        kind="switch" if values == PERHAPS else by_word,
        choices=tuple(map(str, choices)) if isinstance(choices, list | tuple) else literals,
        members=_enumeration(kind),
    )
    if kind in _BOOL and (default is True or default is UNSET):
        yield Option(f"no_{name}", (f"--no_{name}", f"--no-{name.replace('_', '-')}"), NOTHING, negates=name)


_NUMBERS = ("int", "float", "int | None", "float | None", "None | int", "None | float")
_BOOL = ("bool", "bool | None", "None | bool")
_BUILT_IN = ("str", "int", "float")


def _literals(node: ast.expr) -> tuple[str, ...]:
    """Of `Literal["a", "b"]`, which HfArgumentParser makes the option's choices."""
    if not isinstance(node, ast.Subscript) or dotted_name(node.value).rpartition(".")[2] != "Literal":
        return ()
    written = literal(node.slice)
    return tuple(map(str, written if isinstance(written, tuple) else (written,))) if written is not UNSET else ()


def _enumeration(kind: str) -> str:
    """Of `OptimizerNames | str`, the class that has the values."""
    parts = [one for one in kind.split(" | ") if one not in ("None", "str", "bool", "int", "float", "dict", "Any", "")]
    return parts[0] if len(parts) == 1 and parts[0].isidentifier() else ""


def _annotation(node: ast.expr) -> str:
    """As text, `Optional[X]` and `Union[X, Y]` written with bars."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = expression_tree(node.value)
        except (SyntaxError, ValueError):
            return ""
    if isinstance(node, ast.Subscript):
        outer = dotted_name(node.value).rpartition(".")[2]
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if outer in ("Optional", "Union"):
            return " | ".join([*map(_annotation, inner), *(["None"] if outer == "Optional" else [])])
        return f"{outer}[…]"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return f"{_annotation(node.left)} | {_annotation(node.right)}"
    return "None" if isinstance(node, ast.Constant) and node.value is None else dotted_name(node).rpartition(".")[2]


def _values(kind: str, default: Any, nargs: Any) -> str:
    chosen = _chosen(kind.split(" | "))
    if chosen == "bool" or (kind in _BOOL and default not in (None, UNSET)):
        return PERHAPS
    if chosen.lower().startswith("list"):
        return SOME
    return ONE if nargs is UNSET else str(nargs)


def _chosen(parts: list[str]) -> str:
    """The member of a union that HfArgumentParser goes by; an optional bool stays what it is."""
    if len(parts) == 1:
        return parts[0]
    if "None" not in parts:
        return parts[0] if parts[1] == "str" else parts[1]
    if "bool" in parts:
        return " | ".join(parts)
    return parts[0] if parts[1] == "None" else parts[1]


def _keywords(value: ast.expr | None) -> dict[str, ast.expr]:
    made = isinstance(value, ast.Call) and dotted_name(value.func).rpartition(".")[2] in _MAKERS
    return {word.arg: word.value for word in value.keywords if word.arg} if made else {}  # type: ignore[union-attr]


def _default(value: ast.expr | None, keywords: Mapping[str, ast.expr]) -> Any:
    if value is None or isinstance(value, ast.Call):
        return literal(keywords.get("default"))
    return literal(value)


def _metadata(keywords: Mapping[str, ast.expr]) -> dict[str, ast.expr]:
    node = keywords.get("metadata")
    if not isinstance(node, ast.Dict):
        return {}
    pairs = zip(node.keys, node.values, strict=True)
    return {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}


def _aliases(metadata: Mapping[str, ast.expr], keywords: Mapping[str, ast.expr]) -> tuple[str, ...]:
    found = literal(metadata.get("aliases", keywords.get("aliases")))
    named = [found] if isinstance(found, str) else found if isinstance(found, list | tuple) else []
    return tuple(str(name) for name in named)


def literal(node: ast.expr | None) -> Any:
    """UNSET for what is not there or not written out."""
    try:
        return UNSET if node is None else ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return UNSET
