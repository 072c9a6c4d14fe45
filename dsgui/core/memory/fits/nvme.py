"""Folders on an NVMe drive: those that a config offloads to, and the one that plans may."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dsgui.core.config.context import Context
from dsgui.core.config.pointer import lookup
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.settings import NVME_PATHS
from dsgui.core.texts.saying import said


@dataclass(frozen=True, slots=True)
class Nvme:
    """An absolute path, and the bytes that are free there now."""

    path: str
    free_bytes: int


def usable(nvme: Nvme | CannotSay | None, context: Context) -> Nvme | CannotSay | None:
    """The folder, unless the training environment has no way to write there."""
    if isinstance(nvme, Nvme) and "async_io" in context.missing_ops:
        return CannotSay(said("memory_cannot", "nvme_no_async_io", path=nvme.path))
    return nvme


def folders_of(config: Mapping[str, Any]) -> tuple[str, ...]:
    """What it offloads to, each once, as it is written."""
    blocks = [lookup(config, posixpath.dirname(pointer)) for pointer in NVME_PATHS]
    named = [one.get("nvme_path") for one in blocks if isinstance(one, Mapping) and one.get("device") == "nvme"]
    return tuple({posixpath.normpath(path): path for path in named if isinstance(path, str) and path}.values())
