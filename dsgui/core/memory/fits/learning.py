"""What a finished run tells of its machine's constants: what a rank takes beside its tensors, on the host and on a GPU,
is what was measured less what was predicted for the rest."""

from collections.abc import Mapping

from dsgui.core.memory.answer import Device
from dsgui.core.memory.fits.foretold import Foretold, tensors_of
from dsgui.core.memory.fits.overhead import Constant, Overhead
from dsgui.core.memory.fits.sharpened import CPU, Seen, usual_of
from dsgui.core.memory.fits.verdict import Bar

LEAST_STEPS = 3  # a step that all states exist in
# Tensors are predicted to a few percent: where that is more than what is looked for, a run tells nothing of it.
_OFF = 0.05
# Times the least and the most that is usual. More than the latter no process has; on a GPU it is what torch's allocator
# keeps because nothing else asked for it: 1.3 GiB of GPT-2 medium's 4.9 on an H200.
_LEAST, _MOST = 0.5, {Overhead.INTERPRETER: 3.0, Overhead.CONTEXT: 1.5}


def seen_in(run_id: str, foretold: Foretold, peak: Mapping[str, int]) -> Seen | None:
    """What a run told that went well on this machine; None where that is nothing."""
    device = CPU if foretold.on_cpu else foretold.card
    if not device:
        return None
    usual = usual_of(device)
    interpreter = _beside(foretold, Device.HOST, peak.get("host_bytes"), Overhead.INTERPRETER, usual)
    context = None
    if not foretold.on_cpu:
        context = _beside(foretold, Device.GPU, peak.get("gpu_bytes"), Overhead.CONTEXT, usual)
    alone = foretold.ranks_per_node == 1
    return Seen(run_id, device, foretold.release, interpreter, context, alone) if interpreter or context else None


def _beside(
    foretold: Foretold, device: Device, measured: int | None, which: Overhead, usual: Mapping[Overhead, Constant]
) -> int | None:
    """Of one rank, what is measured and nothing else that was predicted."""
    bar = foretold.bar(device)
    if measured is None or bar is None:
        return None
    ranks = foretold.ranks_per_node if device is Device.HOST else 1
    amount = usual[which].amount
    if _OFF * tensors_of(bar) > (amount.high - amount.low) * ranks:
        return None
    found = round((measured - _others(bar, which)) / ranks)
    return found if _LEAST * amount.low <= found <= _MOST[which] * amount.high else None


def _others(bar: Bar, which: Overhead) -> int:
    """Telemetry counts the run's processes alone."""
    not_its_own = (which, Overhead.SYSTEM, Overhead.IN_USE)
    return sum(one.amount.likely for one in bar.segments if one.code not in not_its_own)
