"""What in a script's source asks whether there is a CUDA GPU, or whether one is wanted: `torch.cuda.is_available()`, a
name or a function that comes of it, `device != "cpu"`, `args.no_cuda`."""

import ast
from collections.abc import Iterable, Iterator, Sequence

_DECIDES = frozenset({"is_available", "device_count"})
# Words of names that tell where a script is to train: `args.no_cuda`, `use_cpu`, `n_gpu`.
_WORDS = frozenset({"cuda", "cpu", "gpu", "gpus", "cpus", "device", "devices", "ngpu", "ngpus"})
_TEXTS = ("cuda", "cpu", "gpu", "mps", "xpu", "npu")
# What these make of an answer is still one.
_KEEPS = frozenset({"bool", "int", "str", "len", "max", "min", "range", "any", "all"})
_ANSWERS = (bool, int, str, type(None))


class Decisions:
    """Of one file."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self._parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
        self._tests: dict[ast.AST, set[str]] = {node: _asked(node.test) for node in nodes if isinstance(node, ast.If)}
        rules, known = [rule for node in nodes for rule in self._rules(node)], 0
        self._names = set(_DECIDES)
        while known < len(self._names):  # an answer is handed on from name to name
            known = len(self._names)
            for name, of in rules:
                if name not in self._names and not self._names.isdisjoint(of):
                    self._names.add(name)

    def decides(self, test: ast.AST) -> bool:
        """Whether an expression asks for it."""
        return not self._names.isdisjoint(_asked(test))

    def _rules(self, node: ast.AST) -> Iterator[tuple[str, set[str]]]:
        """The names that a node gives a value, each with the names that make an answer of it."""
        if isinstance(node, ast.Return):
            function, tests = self._above(node)
            yield from [(function, tests | _names_of_answer(node.value))] if function and node.value else ()
        elif isinstance(node, ast.Call):
            yield from ((word.arg, _names_of_answer(word.value)) for word in node.keywords if word.arg)
        elif (value := assigned(node)) is not None:
            # `if not torch.cuda.is_available(): args.half = False`
            switched = isinstance(value, ast.Constant) and isinstance(value.value, _ANSWERS)
            of = self._above(node)[1] if switched else _names_of_answer(value)
            yield from ((name, of) for one in targets(node) if (name := last_name(one)))

    def _above(self, node: ast.AST) -> tuple[str, set[str]]:
        """The function around a statement, "" for none, and the names in the tests around it there."""
        names, above = set[str](), self._parents.get(node)
        while above is not None and not isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
            names |= self._tests.get(above, set())
            above = self._parents.get(above)
        return (above.name if above else ""), names


def _asked(test: ast.AST) -> set[str]:
    """The names in a test; where its text or its words decide, what surely does is among them."""
    nodes = list(ast.walk(test))
    owners = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}  # `torch.cuda`
    surely = any(is_text(node) or (id(node) not in owners and _is_worded(node)) for node in nodes)
    return {last_name(node) for node in nodes} - {""} | (_DECIDES if surely else set())


def _names_of_answer(node: ast.AST) -> set[str]:
    names, waiting = set[str](), [node]
    while waiting:
        one = waiting.pop()
        names.add(last_name(one))
        if isinstance(one, ast.Call):
            waiting += [one.func, *(one.args if last_name(one.func) in _KEEPS else ())]
        elif not isinstance(one, ast.Attribute):
            waiting += ast.iter_child_nodes(one)
    return names - {""}


def assigned(node: ast.AST) -> ast.expr | None:
    """The value of an assignment."""
    return node.value if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr) else None


def targets(node: ast.AST) -> list[ast.expr]:
    """What it is assigned to."""
    given = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [one for target in given if target is not None for one in _each(target)]


def last_name(node: ast.AST) -> str:
    """The last word of a name: `device` of `self.device`."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def is_text(node: ast.AST) -> bool:
    """`"cuda"`, `"cpu"`, `"cuda:0"`, `"CUDA_VISIBLE_DEVICES"`."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.lower().startswith(_TEXTS)


def _each(target: ast.expr) -> Iterable[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple | ast.List) else (target,)


def _is_worded(node: ast.AST) -> bool:
    return not _WORDS.isdisjoint(last_name(node).lower().split("_"))
