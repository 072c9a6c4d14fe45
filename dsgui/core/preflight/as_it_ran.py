"""The machine that a run's memory was foretold for at its launch: wherever a run is looked at that died of memory, what
may help it is checked for that one."""

from collections.abc import Mapping
from dataclasses import replace
from math import inf

from dsgui.core.launch.plan import Plan
from dsgui.core.launch.planned import Planned
from dsgui.core.machine.hardware import Gpu, Target, card_of
from dsgui.core.machine.machine import Environment, Host, Machine
from dsgui.core.memory.answer import CannotSay, Device
from dsgui.core.memory.fits.fitting import Fitted
from dsgui.core.memory.fits.foretold import Foretold
from dsgui.core.memory.fits.room import DRIVER_SHARE
from dsgui.core.memory.fits.verdict import Bar
from dsgui.core.preflight.surroundings import Surroundings
from dsgui.core.sizes import GIB, gib
from dsgui.core.texts.saying import Said, said

_SAME = 0.01  # by how much the memory of one machine differs from what was read of it before


def as_it_ran(around: Surroundings, plan: Plan, kept: Foretold | None, versions: Mapping[str, str]) -> Surroundings:
    """`around` itself where the run's GPUs and host are here, and where nobody kept what it had. `versions` are those
    of the packages it ran with."""
    if not kept or not _is_elsewhere(around.machine, plan, kept):
        return around
    gpus = _gpus(plan, kept)
    accelerator = "cpu" if kept.on_cpu else "cuda"
    target = Target(plan.target_python, versions=versions, accelerator=accelerator, gpus=gpus)
    machine = Machine(_host(around.machine.host, kept.bar(Device.HOST)), gpus, environment=Environment(target))
    return replace(around, machine=machine, sharpened=None, slurm=None)


def as_planned(kept: Foretold) -> Planned:
    """The same as something to plan for, by the names that cards have there."""
    gpu, host = kept.bar(Device.GPU), kept.bar(Device.HOST)
    card = card_of(kept.card, round((gpu.capacity or 0) / DRIVER_SHARE)) if gpu and not kept.on_cpu else None
    return Planned(card.id, host_gib=host.capacity // GIB if host and host.capacity else 0) if card else Planned()


def checked_for(
    device: Device, kept: Foretold | None, memory: Fitted | CannotSay | None, *, elsewhere: bool
) -> Said | None:
    """A sentence on what the changes were checked for, where that is another machine than this, and where they were
    not. `device` is what ran out, `memory` what the run takes by the model."""
    if not kept:
        return said("set_aside", "unchecked")
    bar = kept.bar(device)
    if not bar:
        return said("set_aside", "unchecked_gpu" if device is Device.GPU else "unchecked_host")
    if memory is None:
        return said("set_aside", "unchecked_now")
    if isinstance(memory, CannotSay):
        return said("set_aside", "unchecked_why", why=memory.why)
    judged = memory.verdict.worst(device)
    if bar.capacity is None or judged is None or judged.capacity is None:
        return said("set_aside", "unchecked_room")
    if not elsewhere:
        return None
    code = "checked_gpu" if device is Device.GPU else "checked_host"
    return said("set_aside", code, card=kept.card, has=gib(bar.capacity))


def _is_elsewhere(machine: Machine, plan: Plan, kept: Foretold) -> bool:
    """A card of the same name and size in a host of the same size is the same. What ran without cards would be judged
    by those that are here."""
    bar = kept.bar(Device.HOST if kept.on_cpu else Device.GPU)
    if bar is None or bar.capacity is None:
        return False
    is_host = _is_host(machine.host, kept.bar(Device.HOST))
    if kept.on_cpu:
        return bool(machine.gpus) or not is_host
    return not (is_host and _has_cards(machine, plan, kept, bar.capacity))


def _is_host(host: Host, bar: Bar | None) -> bool:
    sizes = [size for size in (host.memory_bytes, host.memory_limit_bytes) if size is not None]
    return bar is None or bar.capacity is None or _is_size(min(sizes, default=None), bar.capacity)


def _has_cards(machine: Machine, plan: Plan, kept: Foretold, capacity: int) -> bool:
    """Of cards that differ the smallest was told."""
    indices = {one.index for one in _gpus(plan, kept)}
    own = [gpu for gpu in machine.gpus if gpu.index in indices]
    smallest = min(own, key=lambda gpu: gpu.memory_bytes or inf, default=None)
    if smallest is None or len(own) < len(indices):
        return False
    return smallest.name == kept.card and _is_size(_usable(smallest), capacity)


def _usable(gpu: Gpu) -> float | None:
    return gpu.memory_bytes and gpu.memory_bytes * DRIVER_SHARE


def _is_size(size: float | None, capacity: int) -> bool:
    return size is None or abs(size - capacity) < _SAME * capacity


def _gpus(plan: Plan, kept: Foretold) -> tuple[Gpu, ...]:
    if kept.on_cpu:
        return ()
    bar = kept.bar(Device.GPU)
    capacity, in_use = (bar.capacity or 0, bar.in_use) if bar else (0, 0)
    memory, indices = round(capacity / DRIVER_SHARE), plan.gpu_indices or range(kept.ranks_per_node)
    return tuple(Gpu(index, kept.card, kept.capability, memory, capacity - in_use) for index in indices)


def _host(here: Host, bar: Bar | None) -> Host:
    """With the memory of then; a limit is not told from it."""
    if bar is None or bar.capacity is None:
        return replace(here, memory_bytes=None, memory_limit_bytes=None)
    return replace(
        here,
        memory_bytes=bar.capacity,
        memory_available_bytes=bar.capacity - bar.in_use,
        memory_limit_bytes=None,
    )
