"""The size of a model on this disk, from the headers of its files; a hub name is looked up in the local cache alone."""

import json
import os
import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dsgui.core.errors import PlaceError
from dsgui.core.machine.verdicts import saw
from dsgui.core.preflight.model_size import ModelSize, count_of_bytes, count_of_header, count_of_index
from dsgui.core.texts.saying import said

Check = Callable[[Path], object]
_HEADER_BYTES = 32 << 20
_JSON_BYTES = 32 << 20
_MOST_FILES = 256
_SINGLE = ("model.safetensors", "model.safetensors.index.json")
_PICKLED = ("pytorch_model.bin.index.json", "pytorch_model.bin")


def model_size(named: str, working_directory: str, environment: Mapping[str, str], check: Check) -> ModelSize:
    """`named` is a folder (relative to `working_directory`) or a name on the hub. `check` raises `PlaceError` for
    what may not be read."""
    try:
        folder = folder_of(named, working_directory, environment, check)
        if folder is None:
            return ModelSize(named, None, saw("model_size.not_found", model=named))
        check(folder)
        found = _counted(named, folder, check)
    except PlaceError:
        return ModelSize(named, None, saw("model_size.outside", model=named))
    except (OSError, ValueError, RuntimeError, KeyError, TypeError, AttributeError, struct.error) as error:
        return ModelSize(named, None, saw("model_size.unreadable", model=named, error=str(error)))
    return found if found.parameters else replace(found, parameters=None)


def folder_of(named: str, working_directory: str, environment: Mapping[str, str], check: Check) -> Path | None:
    """The folder that `named` means: one here, or a hub id's in the local cache. Raises OSError or `PlaceError`."""
    local = Path(working_directory, named).expanduser()
    return local if local.is_dir() else _cached(named, environment, check)


def _cached(named: str, environment: Mapping[str, str], check: Check) -> Path | None:
    """As huggingface_hub lays its cache out: https://huggingface.co/docs/huggingface_hub/guides/manage-cache."""
    parts = named.split("/")
    if len(parts) > 2 or any(not part or part.startswith(".") for part in parts):
        return None
    home = environment.get("HF_HOME") or str(Path(environment.get("HOME", "~"), ".cache", "huggingface").expanduser())
    hub = Path(environment.get("HF_HUB_CACHE") or Path(home, "hub"), f"models--{'--'.join(parts)}")
    main = hub / "refs" / "main"
    if not main.is_file():
        return None
    check(main)
    snapshot = hub / "snapshots" / main.read_text("utf-8").strip()
    return snapshot if snapshot.is_dir() else None


def _counted(named: str, folder: Path, check: Check) -> ModelSize:
    config = _json(folder / "config.json", check) if (folder / "config.json").is_file() else {}
    single, index = (folder / name for name in _SINGLE)
    if single.is_file():
        return ModelSize(named, count_of_header(_header(single, check)))
    if index.is_file():
        return _of_index(named, index, config, check)
    return _pickled(named, folder, config, check)


def _of_index(named: str, index: Path, config: Mapping[str, Any], check: Check) -> ModelSize:
    """Each file's own header counts; where one is missing, what the index says."""
    told = _json(index, check)
    files = sorted({str(name) for name in told["weight_map"].values()})
    paths = [index.parent / Path(name).name for name in files]
    if len(paths) <= _MOST_FILES and all(path.is_file() for path in paths):
        counted = sum(count_of_header(_header(path, check)) for path in paths)
        return ModelSize(named, counted)
    return _from(named, count_of_index(told, config), index)


def _pickled(named: str, folder: Path, config: Mapping[str, Any], check: Check) -> ModelSize:
    """Pickles are not opened: loading one runs what is in it."""
    index, single = (folder / name for name in _PICKLED)
    if index.is_file():
        return _from(named, count_of_index(_json(index, check), config), index)
    if single.is_file():
        return _from(named, count_of_bytes(single.stat().st_size, config), single)
    return ModelSize(named, None, saw("model_size.no_weights", folder=str(folder)))


def _from(named: str, counted: int | None, path: Path) -> ModelSize:
    return ModelSize(named, counted) if counted else ModelSize(named, None, saw("model_size.no_count", path=str(path)))


def _header(path: Path, check: Check) -> dict[str, Any]:
    check(path)  # a link may lead elsewhere
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        if length > _HEADER_BYTES:
            raise ValueError(said("files", "long_header", file=path.name, bytes=str(length)))
        return dict(json.loads(file.read(length)))


def _json(path: Path, check: Check) -> dict[str, Any]:
    check(path)
    if os.path.getsize(path) > _JSON_BYTES:
        raise ValueError(said("files", "large", file=path.name))
    return dict(json.loads(path.read_text("utf-8")))
