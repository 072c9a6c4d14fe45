"""Where a script's source asks for a CUDA GPU whatever the machine has: `torch.cuda.set_device(…)`, `.cuda()`,
`device="cuda"`. Where `torch.cuda.is_available()` decides, it doesn't."""

import ast
from collections.abc import Iterator, Sequence

# Those that raise without a GPU; others, such as `empty_cache` and `manual_seed_all`, do nothing then.
_OF_CUDA = frozenset(
    {"set_device", "current_device", "synchronize", "get_device_name", "get_device_capability", "mem_get_info"}
    | {"get_device_properties", "reset_peak_memory_stats", "current_stream", "default_stream", "get_rng_state"}
    | {"set_per_process_memory_fraction", "Stream", "Event", "current_blas_handle"}
)
_DECIDES = frozenset({"is_available", "device_count"})
_KEYWORDS = frozenset({"device", "map_location"})
_INITIALIZES = frozenset({"init_process_group", "init_distributed"})
_BACKENDS = frozenset({"backend", "dist_backend"})
_LEAVES = (ast.Return, ast.Raise, ast.Continue)
_DEVICE = "device"
CudaCall = tuple[str, int]


def cuda_calls(tree: ast.Module) -> tuple[CudaCall, ...]:
    """Each as it is written, with its line."""
    names = _deciding_names(tree)
    found, waiting = dict[CudaCall, None](), list[ast.AST]([tree])
    while waiting:  # a long `elif` chain or sum is too deep for calls within calls
        node = waiting.pop()
        if asked := _asks(node):
            found[asked, getattr(node, "lineno", 0)] = None
        else:
            waiting += _within(node, names)
    return tuple(sorted(found, key=lambda one: one[1]))


def _deciding_names(tree: ast.Module) -> frozenset[str]:
    """`use_cuda = torch.cuda.is_available()`, `args.cuda = … and torch.cuda.is_available()`."""
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    decided = (node for node in assigned if not isinstance(node.value, ast.IfExp) and _names(node.value, _DECIDES))
    return _DECIDES | {name for node in decided for target in node.targets if (name := _name(target))}


def _within(node: ast.AST, names: frozenset[str]) -> Iterator[ast.AST]:
    """What is done of it whatever the machine has."""
    if isinstance(node, ast.If | ast.IfExp) and _decides(node.test, names):
        return
    if isinstance(node, ast.BoolOp) and _decides(node.values[0], names):
        return
    tried = isinstance(node, ast.Try) and bool(node.handlers)
    for name, value in ast.iter_fields(node):
        if isinstance(value, list) and not (tried and name in ("body", "handlers")):
            yield from _up_to_leaving(value, names)
        elif isinstance(value, ast.AST):
            yield value


def _up_to_leaving(parts: Sequence[object], names: frozenset[str]) -> Iterator[ast.AST]:
    """What follows `if not torch.cuda.is_available(): return` is for a machine with a GPU."""
    for part in parts:
        if isinstance(part, ast.AST):
            yield part
        if isinstance(part, ast.If) and _decides(part.test, names) and isinstance(part.body[-1], _LEAVES):
            return


def _asks(node: ast.AST) -> str:
    """How a statement or a call asks for CUDA, "" where it doesn't."""
    if isinstance(node, ast.Assign) and _is_cuda(node.value) and any(_DEVICE in _name(one) for one in node.targets):
        return ast.unparse(node)
    if not isinstance(node, ast.Call):
        return ""
    name, on = _name(node.func), node.func.value if isinstance(node.func, ast.Attribute) else None
    first = next(iter(node.args), None)
    if on is not None and _name(on) == "cuda":
        return f"torch.cuda.{name}" if name in _OF_CUDA else ""
    if on is not None and name == "cuda":
        return ".cuda()"
    if first is not None and _is_cuda(first) and name in ("to", _DEVICE):
        return f"{'.to' if name == 'to' else 'torch.device'}({ast.unparse(first)})"
    if name in _INITIALIZES and (backend := next(filter(_is_nccl, _given(node, _BACKENDS)), None)):
        return f"{name}({ast.unparse(backend)})"
    device = next(((one.arg, one.value) for one in node.keywords if one.arg in _KEYWORDS and _is_cuda(one.value)), None)
    return f"{device[0]}={ast.unparse(device[1])}" if device else ""


def _given(call: ast.Call, keywords: frozenset[str]) -> Iterator[ast.expr]:
    yield from call.args[:1]
    yield from (one.value for one in call.keywords if one.arg in keywords)


def _is_nccl(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "nccl"


def _decides(test: ast.AST, names: frozenset[str]) -> bool:
    """Whether it asks what there is: `torch.cuda.is_available()`, a name for that, `device == "cuda"`."""
    return _names(test, names) or any(map(_is_cuda, ast.walk(test)))


def _names(node: ast.AST, names: frozenset[str]) -> bool:
    return any(_name(one) in names for one in ast.walk(node))


def _is_cuda(node: ast.AST) -> bool:
    """`"cuda"`, `"cuda:0"`, `f"cuda:{rank}"`, `"cuda:{}".format(rank)`, `"cuda:" + str(rank)`."""
    if isinstance(node, ast.Call) and _name(node.func) == "format" and isinstance(node.func, ast.Attribute):
        node = node.func.value
    elif isinstance(node, ast.BinOp):
        node = node.left
    elif isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0]
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.partition(":")[0] == "cuda"


def _name(node: ast.AST) -> str:
    """The last word of a name: `device` of `self.device`."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
