"""What memory there is: of a card, planned or here, and of the host with the limits around it."""

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dsgui.core.machine.hardware import Gpu, Hardware
from dsgui.core.machine.machine import Host
from dsgui.core.memory.fits.nvme import Nvme, folders_of
from dsgui.core.memory.fits.overhead import USUAL, Overheads, overheads
from dsgui.core.memory.fits.sharpened import CPU, Sharpened
from dsgui.core.memory.question import Group

# The driver keeps a part: torch sees 23.6 of an RTX 4090's 24 GiB, 79.1 of an A100's 80.
DRIVER_SHARE = 0.985
# Where ECC takes its part of GDDR memory, the driver shows less than the card's name says (nvidia-smi: T4 15360 MiB,
# A10 and L4 23034, A40 and L40S 46068). Measured cards tell their own size.
_ECC: Mapping[str, float] = dict.fromkeys(("t4", "a10", "a10g", "a40", "l4", "l40s"), 0.94)


@dataclass(frozen=True, slots=True)
class Room:
    """For one machine of the group. A size that is None is not known. `gpu_bytes` is what torch can have of the
    smallest card, `gpu_in_use` what others hold of the fullest now; `host_bytes` is the machine's memory or its
    control group's limit (`limited`), `host_in_use` what others hold now. `memlock_bytes` None: no limit.
    `planned`: the card is not in this machine. On CPU ranks everything stands in host memory. `nvme`: a folder that
    may be offloaded to."""

    gpu: str = ""
    gpu_bytes: int | None = None
    gpu_in_use: int = 0
    capability: tuple[int, int] | None = None
    host_bytes: int | None = None
    host_in_use: int = 0
    limited: bool = False
    memlock_bytes: int | None = None
    ranks_per_node: int = 1
    ranks: int = 1
    planned: bool = False
    on_cpu: bool = False
    workers: int = 0
    overheads: Overheads = USUAL
    nvme: Nvme | None = None

    def of_config(self, config: Mapping[str, Any]) -> "Room":
        """What is free in the folder that was given says nothing of another that a config offloads to."""
        paths = set(map(posixpath.normpath, folders_of(config)))
        known = self.nvme and posixpath.normpath(self.nvme.path)
        return self if known is None or paths <= {known} else replace(self, nvme=None)


def room_of(
    hardware: Sequence[Hardware],
    host: Host | None,
    group: Group,
    *,
    gpus: Sequence[Gpu] = (),
    host_bytes: int | None = None,
    expandable: bool = False,
    workers: int = 0,
    unrounded: bool = False,
    sharpened: Sharpened | None = None,
    release: str = "",
    nvme: Nvme | None = None,
) -> Room:
    """`hardware`: the devices of a check, a planned card among them; `gpus`: of this machine those that will train,
    with what is free there now; `host_bytes`: the host's memory where another than this one's is meant. `host` is this
    machine: where a card is planned that is not in it, or none is known, its memory says nothing. `sharpened`: what
    this machine's runs told of it, with this `release` of DeepSpeed."""
    on_cpu = bool(hardware) and all(one.vendor == "cpu" for one in hardware)
    card = min((one for one in hardware if one.memory_bytes), key=lambda one: one.memory_bytes or 0, default=None)
    planned = card is not None and card.id != "this"
    own = Host() if host is None or planned or not hardware else host
    limited = _limited(own) and host_bytes is None
    device = CPU if on_cpu else card.title if card else ""
    measured = sharpened.constants(device, release, alone=group.ranks == 1) if sharpened and not planned else None
    return Room(
        gpu=card.title if card else "",
        gpu_bytes=_usable(card) if card else None,
        gpu_in_use=0 if planned else max(map(_in_use, gpus), default=0),
        capability=card.capability if card else None,
        host_bytes=host_bytes or _smaller(own.memory_bytes, own.memory_limit_bytes),
        host_in_use=0 if host_bytes else _host_in_use(own),
        limited=limited,
        memlock_bytes=None if own.locks_freely or host_bytes else own.memlock_bytes,
        ranks_per_node=group.ranks_per_node,
        ranks=group.ranks,
        planned=planned,
        on_cpu=on_cpu,
        workers=workers,
        overheads=overheads(measured, expandable=expandable, on_cpu=on_cpu, unrounded=unrounded),
        nvme=nvme,
    )


def _usable(card: Hardware) -> int:
    return round((card.memory_bytes or 0) * DRIVER_SHARE * _ECC.get(card.id, 1.0))


def _in_use(gpu: Gpu) -> int:
    if gpu.memory_bytes is None or gpu.free_bytes is None:
        return 0
    return max(round(gpu.memory_bytes * DRIVER_SHARE) - gpu.free_bytes, 0)


def _limited(host: Host) -> bool:
    limit, memory = host.memory_limit_bytes, host.memory_bytes
    return limit is not None and (memory is None or limit < memory)


def _host_in_use(host: Host) -> int:
    """Of a machine; a control group does not tell what others hold in it."""
    if _limited(host) or host.memory_bytes is None or host.memory_available_bytes is None:
        return 0
    return max(host.memory_bytes - host.memory_available_bytes, 0)


def _smaller(one: int | None, other: int | None) -> int | None:
    known = [count for count in (one, other) if count is not None]
    return min(known) if known else None
