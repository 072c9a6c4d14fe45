"""Where a script's source asks for a CUDA GPU whatever the machine has: `torch.cuda.set_device(…)`, `.cuda()`,
`device="cuda"`. Where something decides that it is asked for, it doesn't, nor in a function that nothing calls."""

import ast
from collections.abc import Iterator, Sequence

from dsgui.core.script.cuda_decisions import Decisions, assigned, last_name, targets
from dsgui.core.script.in_a_run.leaving import leaves
from dsgui.core.script.trees import as_written

# Those that raise without a GPU; others, such as `empty_cache` and `manual_seed_all`, do nothing then.
_OF_CUDA = frozenset(
    {"set_device", "current_device", "synchronize", "get_device_name", "get_device_capability", "mem_get_info"}
    | {"get_device_properties", "reset_peak_memory_stats", "current_stream", "default_stream", "get_rng_state"}
    | {"set_per_process_memory_fraction", "Stream", "current_blas_handle"}
)
_KEYWORDS = frozenset({"device", "map_location"})
_NOT_ASKING = frozenset({"GradScaler", "autocast"})  # they are turned off with a warning
_INITIALIZES = frozenset({"init_process_group", "init_distributed"})
_BACKENDS = frozenset({"backend", "dist_backend"})
_SPAWNS = frozenset({"spawn", "start_processes"})
_FORGIVES = frozenset({"suppress", "raises"})
_CHANGES = frozenset({"exec", "globals", "setattr"})  # any name, nanoGPT's configurator.py those of its options
_CALLED_BY_TORCH = ("__", "forward")
_COMMANDS = frozenset({"command", "main"})  # decorators of functions that the command line calls
_DEVICE = "device"
_Functions = ast.FunctionDef | ast.AsyncFunctionDef
_Comprehensions = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
CudaCall = tuple[str, int]


def cuda_calls(tree: ast.Module) -> tuple[CudaCall, ...]:
    """Each as it is written, with its line."""
    return _Search(tree).found()


class _Search:
    """Goes through what is done whatever the machine has."""

    def __init__(self, tree: ast.Module) -> None:
        nodes = list(ast.walk(tree))
        self._decisions = Decisions(nodes)
        self._torch = _Torch(nodes)
        self._in_classes = {id(one) for node in nodes if isinstance(node, ast.ClassDef) for one in node.body}
        self._changed = _changed(nodes, self._torch)
        self._asked: dict[CudaCall, None] = {}
        self._devices: list[tuple[CudaCall, list[str]]] = []
        self._mentioned: set[str] = set()
        self._uncalled: dict[str, list[ast.AST]] = {}
        self._waiting: list[ast.AST] = [tree]

    def found(self) -> tuple[CudaCall, ...]:
        while self._waiting:  # a long `elif` chain or sum is too deep for calls within calls
            self._visit(self._waiting.pop())
        used = (call for call, names in self._devices if not self._mentioned.isdisjoint(names))
        return tuple(sorted({**self._asked, **dict.fromkeys(used)}, key=lambda one: one[1]))

    def _visit(self, node: ast.AST) -> None:
        if spelled := self._torch.chooses(node):
            names = [_key(one) for one in targets(node) if _key(one)]
            if id(node) not in self._in_classes and self._changed.isdisjoint(names):
                self._devices.append(((spelled, getattr(node, "lineno", 0)), names))
            self._mention_all(node)
        elif isinstance(node, ast.Call) and (asked := self._torch.asks(node)):
            self._asked[asked, node.lineno] = None
            self._mention_all(node)
        elif isinstance(node, _Functions | ast.ClassDef) and not self._is_called(node):
            self._uncalled.setdefault(self._name(node), []).append(node)
        else:
            self._mention(node)
            self._waiting += self._within(node)

    def _is_called(self, node: _Functions | ast.ClassDef) -> bool:
        by_torch = id(node) in self._in_classes and node.name.startswith(_CALLED_BY_TORCH)
        return by_torch or _is_command(node) or self._name(node) in self._mentioned

    def _name(self, node: _Functions | ast.ClassDef) -> str:
        return f".{node.name}" if id(node) in self._in_classes else node.name

    def _mention_all(self, node: ast.AST) -> None:
        for one in ast.walk(node):
            self._mention(one)

    def _mention(self, node: ast.AST) -> None:
        name = _key(node) if isinstance(getattr(node, "ctx", None), ast.Load) else ""
        if name and name not in self._mentioned:
            self._mentioned.add(name)
            self._waiting += self._uncalled.pop(name, ())

    def _within(self, node: ast.AST) -> Iterator[ast.AST]:
        """What is done of it whatever the machine has."""
        if any(map(self._decisions.decides, _tests(node))) or _forgives(node):
            return
        if isinstance(node, ast.BoolOp):
            yield from self._up_to_deciding(node.values)
            return
        tried = isinstance(node, ast.Try) and bool(node.handlers)
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and not (tried and name in ("body", "handlers")):
                yield from self._up_to_leaving(value)
            elif isinstance(value, ast.AST):
                yield value

    def _up_to_deciding(self, values: Sequence[ast.expr]) -> Iterator[ast.expr]:
        for value in values:
            yield value  # what decides is done itself, and may be named as what it decides about: `x and model.cuda()`
            if self._decisions.decides(value):
                return

    def _up_to_leaving(self, parts: Sequence[object]) -> Iterator[ast.AST]:
        """What follows `if not torch.cuda.is_available(): return` is for a machine with a GPU."""
        for part in parts:
            if isinstance(part, ast.AST):
                yield part
            if isinstance(part, ast.If | ast.Assert) and self._decisions.decides(part.test) and _leaves(part):
                return


class _Torch:
    """What the calls of a file are to torch, by the names that it has there."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        whole = [one for node in nodes if isinstance(node, ast.Import) for one in node.names]
        parts = [(node.module, one) for node in nodes if isinstance(node, ast.ImportFrom) for one in node.names]
        self._torch = {"torch", *(one.asname for one in whole if one.name == "torch" and one.asname)}
        self._cuda = {one.asname for one in whole if one.name == "torch.cuda" and one.asname}
        self._cuda |= {one.asname or one.name for module, one in parts if (module, one.name) == ("torch", "cuda")}

    def chooses(self, node: ast.AST) -> str:
        """How an assignment has CUDA for a device, "" for any other."""
        value = assigned(node)
        if value is None or isinstance(node, ast.AugAssign | ast.NamedExpr):
            return ""
        if self.is_device(value):
            return f"torch.device({as_written(value.args[0])})" if isinstance(value, ast.Call) else ""
        named = any(_DEVICE in last_name(one).lower() for one in targets(node))
        return as_written(node) if named and _is_cuda(value) else ""

    def asks(self, call: ast.Call) -> str:
        """How a call asks for CUDA, "" where it doesn't."""
        name, on = last_name(call.func), call.func.value if isinstance(call.func, ast.Attribute) else None
        if on is not None and self._is_module(on):
            return f"torch.cuda.{name}" if name in _OF_CUDA else ""
        if on is not None and name == "cuda":
            return ".cuda()"
        if name == "to" and call.args and self.is_cuda(call.args[0]):
            return f".to({as_written(call.args[0])})"
        if name in _INITIALIZES and (backend := next(filter(_is_nccl, _given(call, _BACKENDS)), None)):
            return f"{name}({as_written(backend)})"
        return self._by_keyword(call, name) if name == "to" or self._is_of_torch(call.func) else ""

    def _by_keyword(self, call: ast.Call, name: str) -> str:
        given = ((one.arg, one.value) for one in call.keywords if one.arg in _KEYWORDS and self.is_cuda(one.value))
        device = next(given, None) if name not in _NOT_ASKING else None
        return f"{device[0]}={as_written(device[1])}" if device else ""

    def is_cuda(self, node: ast.expr) -> bool:
        return _is_cuda(node) or self.is_device(node)

    def is_device(self, node: ast.expr) -> bool:
        """`torch.device("cuda")`, which asks for nothing by itself."""
        if not isinstance(node, ast.Call) or last_name(node.func) != _DEVICE or not node.args:
            return False
        return _is_cuda(node.args[0]) and (isinstance(node.func, ast.Name) or self._is_of_torch(node.func))

    def _is_module(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Attribute) and node.attr == "cuda":
            return last_name(node.value) in self._torch and isinstance(node.value, ast.Name)
        return isinstance(node, ast.Name) and node.id in self._cuda

    def _is_of_torch(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self._torch


def _changed(nodes: Sequence[ast.AST], torch: _Torch) -> set[str]:
    """The names that have something else than CUDA too, as far as the file shows."""
    devices = [node for node in nodes if torch.chooses(node)]
    if any(isinstance(node, ast.Call) and last_name(node.func) in _CHANGES for node in nodes):
        return {_key(one) for node in devices for one in targets(node)}
    surely = {id(one) for node in devices for one in targets(node)}
    return {
        _key(node)
        for node in nodes
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store) and id(node) not in surely
    }


def _key(node: ast.AST) -> str:
    """`x`, and `.x` of any object."""
    return f".{node.attr}" if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _tests(node: ast.AST) -> Iterator[ast.AST]:
    """What decides about all of it."""
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        yield node.test
    elif isinstance(node, ast.For):
        yield node.iter
    elif isinstance(node, ast.Match):
        yield node.subject
    elif isinstance(node, ast.match_case):
        yield node.pattern
        yield from [node.guard] if node.guard else []
    elif isinstance(node, _Comprehensions):
        yield from (test for one in node.generators for test in (one.iter, *one.ifs))
    elif isinstance(node, ast.Call) and last_name(node.func) in _SPAWNS:
        yield from (*node.args, *(one.value for one in node.keywords))


def _forgives(node: ast.AST) -> bool:
    """`with suppress(RuntimeError):`."""
    within = [item.context_expr for item in node.items] if isinstance(node, ast.With) else []
    return any(isinstance(one, ast.Call) and last_name(one.func) in _FORGIVES for one in within)


def _leaves(part: ast.If | ast.Assert) -> bool:
    if isinstance(part, ast.Assert):
        return True
    return leaves(part.body[-1]) or (bool(part.orelse) and leaves(part.orelse[-1]))


def _is_command(node: _Functions | ast.ClassDef) -> bool:
    by = (one.func if isinstance(one, ast.Call) else one for one in node.decorator_list)
    return any(last_name(one) in _COMMANDS for one in by)


def _given(call: ast.Call, keywords: frozenset[str]) -> Iterator[ast.expr]:
    yield from call.args[:1]
    yield from (one.value for one in call.keywords if one.arg in keywords)


def _is_nccl(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "nccl"


def _is_cuda(node: ast.AST) -> bool:
    """`"cuda"`, `"cuda:0"`, `f"cuda:{rank}"`, `"cuda:{}".format(rank)`, `"cuda:" + str(rank)`."""
    if isinstance(node, ast.Call) and last_name(node.func) == "format" and isinstance(node.func, ast.Attribute):
        node = node.func.value
    elif isinstance(node, ast.BinOp):
        node = node.left
    elif isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0]
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.partition(":")[0] == "cuda"
