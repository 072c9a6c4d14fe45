"""What a checkpoint holds, told by what torch pickled beside the tensors: read by names alone, no code of it runs.

`pickle` runs what a file names. Here nothing that a file names is found: in its place stand values that do nothing.
"""

import io
import json
import math
import pickle
import stat
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from dsgui.core.afterwards.jobs import Contents
from dsgui.core.afterwards.things import Thing
from dsgui.core.launch.checkpoint import STATE_OF_TRAINER
from dsgui.shell.files.regular_files import open_regular

_MOST_PICKLED_BYTES = 64 << 20
_MOST_NAMES = 1_000_000
_MOST_JSON_BYTES = 32 << 20
_WIDTHS = {"float32": 4, "float16": 2, "bfloat16": 2}
_MODEL_STATES = "*_model_states.pt"


class _Inert:
    """Stands for whatever a file names: can be called, filled, and asked nothing."""

    def __init__(self, *given: Any) -> None:
        self.given = given

    def __call__(self, *given: Any) -> "_Inert":
        return _Inert(*given)

    def __setstate__(self, state: Any) -> None:
        pass

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def append(self, value: Any) -> None:
        pass

    def extend(self, values: Any) -> None:
        pass


class _Names(pickle.Unpickler):
    """Nothing of `torch` or of anybody else is imported."""

    def find_class(self, module: str, name: str) -> Any:
        return OrderedDict if (module, name) == ("collections", "OrderedDict") else _Inert

    def persistent_load(self, given: Any) -> Any:
        return _Inert()


def contents(thing: Thing) -> Contents:
    """Of a checkpoint. Of what can't be read, nothing but the size of its files."""
    folder = Path(thing.states)
    sizes = _sizes(folder)
    return Contents(_elements(folder), max(sizes, default=0), sum(sizes))


def model_contents(folder: Path) -> Contents:
    """Of a model's folder; nothing where it is none here."""
    sizes = _sizes(folder) if folder.is_dir() else []
    told = _json_object(folder / "config.json")
    width = _WIDTHS.get(str(told.get("dtype") or told.get("torch_dtype")), 4)
    return Contents(sum(sizes) // width or None, max(sizes, default=0), sum(sizes))


def _elements(states: Path) -> int | None:
    """Of the weights that all ranks saved together; each rank tells all of their shapes."""
    first = next(iter(sorted(states.glob(_MODEL_STATES))), None)
    told = _pickled(first) if first else None
    if not isinstance(told, Mapping):
        return None
    shapes: dict[str, int] = {}
    groups = told.get("param_shapes")
    for group in (*(groups if isinstance(groups, list) else ()), told.get("frozen_param_shapes")):
        if isinstance(group, Mapping):
            shapes |= {str(name): _count(size) for name, size in islice(group.items(), _MOST_NAMES)}
        if len(shapes) > _MOST_NAMES:
            return None
    module = told.get("module")
    if not shapes and isinstance(module, Mapping):  # without ZeRO
        shapes = {str(name): _count_of_tensor(one) for name, one in islice(module.items(), _MOST_NAMES)}
    shared = told.get("shared_params")
    twice = shared.items() if isinstance(shared, Mapping) else ()
    return sum(shapes.values()) + sum(shapes.get(str(of), 0) for _, of in islice(twice, _MOST_NAMES)) or None


def _count(size: Any) -> int:
    """Of a torch.Size: a call with one tuple."""
    lengths = size.given[0] if isinstance(size, _Inert) and size.given else size
    return _product(lengths)


def _count_of_tensor(one: Any) -> int:
    """Of `_rebuild_tensor_v2(storage, offset, size, …)`; a parameter is a call around it."""
    given = one.given if isinstance(one, _Inert) else ()
    if given and isinstance(given[0], _Inert) and len(given[0].given) >= 3:
        return _count_of_tensor(given[0])
    return _product(given[2]) if len(given) >= 3 else 0


def _product(lengths: Any) -> int:
    whole = isinstance(lengths, tuple) and len(lengths) < 20 and all(isinstance(one, int) for one in lengths)
    return min(math.prod(lengths), 1 << 50) if whole else 0


def _pickled(path: Path) -> Any:
    try:
        with open_regular(path, follow=False) as opened, zipfile.ZipFile(opened) as file:
            name = next((name for name in file.namelist() if name.endswith("/data.pkl")), None)
            if name is None:
                return None
            with file.open(name) as pickled:
                return _Names(io.BytesIO(pickled.read(_MOST_PICKLED_BYTES))).load()
    except Exception:  # noqa: BLE001  whatever a file makes of a pickle
        return None


def base_of(adapter: Path) -> str:
    """The model that an adapter's config names; "" for none."""
    named = _json_object(adapter / "adapter_config.json").get("base_model_name_or_path")
    return named[:4096] if isinstance(named, str) else ""


def best_in(checkpoint: Path) -> str:
    """The path of the checkpoint that the Trainer found best, as its state says; "" for none."""
    named = _json_object(checkpoint / STATE_OF_TRAINER).get("best_model_checkpoint")
    return named[:4096] if isinstance(named, str) else ""


def _json_object(path: Path) -> dict[str, Any]:
    """{} where it can't be read."""
    try:
        with open_regular(path, follow=False) as file:
            told = json.loads(file.read(_MOST_JSON_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _sizes(folder: Path) -> list[int]:
    patterns = ("*.pt", "*.safetensors", "*.bin")
    try:
        found = [path.lstat() for pattern in patterns for path in folder.glob(pattern)]
    except OSError:
        return []
    return [one.st_size for one in found if stat.S_ISREG(one.st_mode)]
