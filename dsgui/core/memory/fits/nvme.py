"""A folder on an NVMe drive that plans may offload to."""

from dataclasses import dataclass

from dsgui.core.config.context import Context
from dsgui.core.memory.answer import CannotSay
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
