"""Counts what is alive: every storage that an operation makes, where it is, who made it, and when it goes.

Runs in the target environment, for `rehearsal.py`: standard library and torch, from Python 3.9 on. What it writes down
is read by `core/memory/dry_run.py`."""

import contextlib
import linecache
import sys
import weakref
from array import array
from typing import Any

from dsgui.shell.memory.target_modules import load

GPU, HOST, PINNED, NVME = "gpu", "host", "pinned", "nvme"
MOST_EVENTS = 4_000_000
_PACKAGES = ("deepspeed", "transformers", "peft", "accelerate")
_WRAPPERS = ("deepspeed/utils/nvtx.py",)  # around functions that have a line of their own
_PREFIXES = tuple(f"{package}/" for package in _PACKAGES)
_OF_TORCH, _STATES = "torch/optim/", "_init_group"  # where torch's optimizers make their states
_AROUND_MODES = ("torch/_dynamo/eval_frame.py", "torch/_compile.py")  # frames that torch puts around a mode
_MOST_TEXT = 160  # characters of a source line


class TooLong(Exception):
    """More was allocated than is worth writing down."""


class Record:
    """Allocations in their order. `events` holds allocation i as i + 1 and its end as −(i + 1)."""

    def __init__(self) -> None:
        self.sizes, self.keys, self.events = array("q"), array("l"), array("q")
        self.phases: list[tuple[int, str, int]] = []
        self.lines: list[tuple[str, str, str, str, str]] = []
        self._known: dict[tuple[Any, ...], int] = {}

    def enter(self, phase: str, step: int) -> None:
        """From now on this phase of this step goes on."""
        self.phases.append((len(self.events), phase, step))

    def born(self, size: int, key: int) -> int:
        """An allocation; its number."""
        if len(self.events) > MOST_EVENTS:
            raise TooLong
        self.sizes.append(size)
        self.keys.append(key)
        self.events.append(len(self.sizes))
        return len(self.sizes) - 1

    def died(self, number: int) -> None:
        self.events.append(-number - 1)

    def key(self, place: str, code: Any, number: int, tag: str) -> int:
        """The number of a line that allocates: of `code` at line `number`, or of nobody known."""
        known = (place, code, number, tag)
        if known not in self._known:
            self._known[known] = len(self.lines)
            self.lines.append((place, *described(code, number), tag))
        return self._known[known]

    def tag(self, allocation: int, tag: str) -> None:
        """Says what an allocation is for, where that is known besides its line."""
        place, *line, _ = self.lines[self.keys[allocation]]
        known = (place, *line, tag)
        if known not in self._known:
            self._known[known] = len(self.lines)
            self.lines.append((place, line[0], line[1], line[2], tag))
        self.keys[allocation] = self._known[known]

    def to_json(self) -> "dict[str, Any]":
        return {
            "sizes": self.sizes.tolist(),
            "keys": self.keys.tolist(),
            "events": self.events.tolist(),
            "phases": self.phases,
            "lines": self.lines,
        }


def described(code: Any, number: int) -> "tuple[str, str, str]":
    """File and line below its package's folder, function, and source."""
    if code is None:
        return "", "", ""
    path = code.co_filename
    text = linecache.getline(path, number).strip()[:_MOST_TEXT]
    return f"{short(path)}:{number}", code.co_name, text


def short(path: str) -> str:
    """A path from its package on; a user's own file is its name."""
    for package in _PACKAGES:
        before, found, after = path.rpartition(f"/{package}/")
        if found and before:
            return f"{package}/{after}"
    name = path.rpartition("/")[2]
    return f"{_OF_TORCH}{name}" if path.endswith(f"/{_OF_TORCH}{name}") else name


class Whose:
    """Finds the innermost line of DeepSpeed, transformers, peft or the user's own model on the stack, or where torch's
    optimizers make their states."""

    def __init__(self, folder: str = "") -> None:
        self._folder = folder
        self._ours: dict[Any, bool] = {}

    def caller(self) -> "tuple[Any, int]":
        frame: Any = sys._getframe(2)
        while frame is not None:
            code = frame.f_code
            found = self._ours.get(code)
            if found is None:
                found = self._ours[code] = self._is_ours(code.co_filename, code.co_name)
            if found:
                return code, frame.f_lineno
            frame = frame.f_back
        return None, 0

    def _is_ours(self, path: str, function: str) -> bool:
        if self._folder and path.startswith(self._folder):
            return True
        where = short(path)
        if where.startswith(_OF_TORCH):
            return function == _STATES
        return where.startswith(_PREFIXES) and not where.startswith(_WRAPPERS)


def is_autograd(frame: Any) -> bool:
    """Whether autograd itself runs an operation. Gradients of one tensor it sums into the first that came
    (autograd/input_buffer.cpp), but into a new one where any mode such as ours is on."""
    while frame is not None and frame.f_code.co_filename.endswith(_AROUND_MODES):
        frame = frame.f_back
    return frame is None or frame.f_code.co_name == "_engine_run_backward"


def alike(one: Any, other: Any) -> bool:
    return getattr(one, "shape", None) == getattr(other, "shape", 0) and one.dtype == other.dtype


def counter(whose: Whose, place_of: Any, answer: Any) -> Any:
    """A TorchDispatchMode that counts. `place_of(tensor)` is a place or "" for what is not counted; `answer(function,
    arguments)` answers an operation that no fake tensor can (else it gives `NotImplemented`)."""
    tree = load("torch.utils._pytree")

    class Counter(load("torch.utils._python_dispatch").TorchDispatchMode):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.record, self.pinning, self.pinned_as = Record(), False, ""
            self.big_logits: frozenset[int] = frozenset()
            self._alive: dict[int, Any] = {}
            self._files: set[str] = set()
            self._tensor, self._sum = load("torch").Tensor, load("torch").ops.aten.add.Tensor

        def note(self, tensor: Any) -> None:
            place = place_of(tensor)
            if not place:
                return
            storage = tensor.untyped_storage()
            key = storage._cdata
            if key in self._alive:
                return
            size = storage.nbytes()
            if not size:
                return
            tag = "logits" if tensor.numel() in self.big_logits else ""
            if self.pinning:
                place, tag = PINNED, self.pinned_as
            number = self.record.born(size, self.record.key(place, *whose.caller(), tag))
            self._alive[key] = number, weakref.ref(storage, self._end_of(key, number))

        def _end_of(self, key: int, number: int) -> Any:
            def ended(_: Any) -> None:
                self._alive.pop(key, None)
                self.record.died(number)

            return ended

        def tag(self, tensor: Any, tag: str) -> None:
            """What a tensor's storage is for."""
            found = self._alive.get(tensor.untyped_storage()._cdata)
            if found:
                self.record.tag(found[0], tag)

        def written(self, path: str, size: int, tag: str) -> None:
            """A file on NVMe. Once it is there it is only written again: DeepSpeed removes none."""
            if path not in self._files:
                self._files.add(path)
                self.record.born(size, self.record.key(NVME, *whose.caller(), tag))

        def is_pinned(self, tensor: Any) -> bool:
            found = self._alive.get(tensor.untyped_storage()._cdata)
            return found is not None and self.record.lines[self.record.keys[found[0]]][0] == PINNED

        @contextlib.contextmanager
        def as_pinned(self, tag: str = "") -> Any:
            """What is made on the host within is page-locked: by torch, or, "locked", by DeepSpeed itself."""
            self.pinning, self.pinned_as = True, tag
            try:
                yield
            finally:
                self.pinning, self.pinned_as = False, ""

        def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
            told = answer(function, arguments)
            if told is not NotImplemented:
                return told
            if function is self._sum and is_autograd(sys._getframe().f_back) and alike(*arguments[:2]):
                return arguments[0].add_(arguments[1])
            out = function(*arguments, **(named or {}))
            for leaf in tree.tree_leaves(out):
                if isinstance(leaf, self._tensor):
                    self.note(leaf)
            return out

    return Counter()
