"""Which keywords a script gives to classes of transformers, TRL and PEFT: a release that does not have one refuses it.

Only calls that run in any case, and only names that nothing else in the file gives another meaning.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dsgui.core.script.certain import calls_in, names_given
from dsgui.core.script.declared import Module, dotted_name
from dsgui.core.script.imports import EVERY

PACKAGES = frozenset({"transformers", "trl", "peft"})
_OWN_MAKING = frozenset({"__init__", "__new__"})
_REBINDS = frozenset({"globals", "exec"})


@dataclass(frozen=True, slots=True)
class Given:
    """`Trainer(tokenizer=…)`: `module` and `name` as imported."""

    module: str
    name: str
    keyword: str
    line: int


def keywords_given(
    nodes: Sequence[ast.AST], runs: Iterable[ast.stmt], module: Module, patches: frozenset[str]
) -> tuple[Given, ...]:
    """`nodes`: all of the file's; `runs`: those of its statements that run in any case; `patches`: attributes that it
    sets on anything."""
    if patches & {EVERY, *_OWN_MAKING}:
        return ()
    counts = Counter(names_given(nodes))
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    found: list[Given] = []
    for call in (call for statement in runs for call in calls_in(statement)):
        package, name = _origin(dotted_name(call.func), module, classes, counts)
        if package.partition(".")[0] in PACKAGES and name and patches.isdisjoint({*package.split(".")[1:], name}):
            found += [Given(package, name, word.arg, call.lineno) for word in call.keywords if word.arg]
    return tuple(found)


def rebinding(nodes: Iterable[ast.AST]) -> ast.expr | ast.ImportFrom | None:
    """What may give any name of the file another meaning, the first of these; None for nothing."""
    return next((node for node in nodes if isinstance(node, ast.expr | ast.ImportFrom) and _rebinds(node)), None)


def _origin(
    name: str, module: Module, classes: Mapping[str, ast.ClassDef], counts: Mapping[str, int]
) -> tuple[str, str]:
    """The class that takes the keywords of a call: a class of the script without a way of its own to be made hands
    them on to its base."""
    for _ in range(len(classes) + 1):
        if counts.get(name.partition(".")[0]) != 1:
            return "", ""
        own = classes.get(name)
        if own is None:
            break
        name = _base(own)
    package, _, last = name.rpartition(".")
    if package:  # `import transformers`, `import transformers as hf`
        imported, of_it = module.imported.get(package, ("", ""))
        return (imported, last) if imported and not of_it else ("", "")
    return module.imported.get(name, ("", ""))


def _base(own: ast.ClassDef) -> str:
    """Its only base; "" where more than that decides how it is made."""
    plain = len(own.bases) == 1 and not own.keywords and not own.decorator_list
    return dotted_name(own.bases[0]) if plain and _OWN_MAKING.isdisjoint(names_given(ast.walk(own))) else ""


def _rebinds(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return any(alias.name == EVERY for alias in node.names)
    if isinstance(node, ast.Call) and dotted_name(node.func) == "vars":
        return not node.args  # with one they are the object's
    return isinstance(node, ast.Name) and node.id in _REBINDS
