"""The lines DeepSpeed logs by itself: progress, throughput, times, memory, overflows of fp16; and DeepSpeed-Chat's of
a reward.

deepspeed/runtime/engine.py: _report_progress; utils/timer.py: ThroughputTimer, SynchronizedWallClockTimer.log;
runtime/utils.py: see_memory_usage; runtime/fp16/loss_scaler.py: update_scale; runtime/fp16/fused_optimizer.py and
unfused_optimizer.py: _update_scale.
"""

import re

from dsgui.core.logs.numerals import COUNT, NUMBER
from dsgui.core.logs.prefixes import launcher_prefix, rank_in
from dsgui.core.logs.readings import Form, Reading

_ENGINE = re.compile(rf"\bstep=({COUNT}), skipped=({COUNT}), lr=\[({NUMBER})", re.IGNORECASE)
_SPEED = re.compile(
    rf"\bglobal_step=({COUNT}), RunningAvgSamplesPerSec=({NUMBER})"
    rf"(?:, CurrSamplesPerSec={NUMBER}(?:, MemAllocated=({NUMBER})GB, MaxMemAllocated=({NUMBER})GB)?)?",
    re.IGNORECASE,
)
# Before 0.7: epoch and micro step, which is the step's only without accumulation; its progress line comes before it.
_OLD_SPEED = re.compile(
    rf"\b\d{{1,9}}/{COUNT}, SamplesPerSec=({NUMBER})"
    rf"(?:, MemAllocated=({NUMBER})GB, MaxMemAllocated=({NUMBER})GB)?",
    re.IGNORECASE,
)
_TIMES = re.compile(r"\btime \(ms\)((?: \| \w{1,60}: [\d.]{1,20})+)")
_TIME = re.compile(r"(?<!\w)(\w++): (\d++(?:\.\d++)?)(?!\S)")
_TIME_NAMES = {
    "fwd": "forward_ms",
    "forward": "forward_ms",
    "bwd": "backward_ms",
    "backward": "backward_ms",
    "bwd_inner": "backward_inner_ms",
    "backward_inner": "backward_inner_ms",
    "bwd_allreduce": "backward_allreduce_ms",
    "backward_allreduce": "backward_allreduce_ms",
    "step": "step_ms",
}
_MEMORY = re.compile(
    rf"\bMA ({NUMBER}) GB\s{{1,20}}Max_MA ({NUMBER}) GB\s{{1,20}}CA ({NUMBER}) GB\s{{1,20}}Max_CA ({NUMBER}) GB"
)
_MEMORY_NAMES = ("allocated_gb", "max_allocated_gb", "reserved_gb", "max_reserved_gb")
_HOST_MEMORY = re.compile(rf"CPU Virtual Memory: {{1,8}}used = ({NUMBER}) GB, percent = ({NUMBER})%")
_OVERFLOW = re.compile(r"\bOVERFLOW! (?:Rank (\d{1,9}) )?Skipping step\.")
_SCALE = re.compile(rf"Attempted loss scale: ({NUMBER}), (?:reducing to ({NUMBER})|but hysteresis)")
# Of the optimizers without ZeRO; each rank says it.
_GRAD_OVERFLOW = re.compile(r"\bGrad overflow on iteration:? (\d{1,15})\Z")

_REWARD = re.compile(rf"average reward score: ({NUMBER})(?:\Z|\s)", re.IGNORECASE)


def read_deepspeed(text: str) -> Reading | None:
    """What DeepSpeed reports in this line, or None."""
    for word, read in _READERS:
        if word in text and (found := read(text)):
            return found
    return None


def _engine(text: str) -> Reading | None:
    match = _ENGINE.search(text)
    if not match:
        return None
    values = {"learning_rate": float(match[3]), "skipped_steps": float(match[2])}
    return Reading(Form.ENGINE, values, int(match[1]), rank=_rank(text))


def _speed(text: str) -> Reading | None:
    match = _SPEED.search(text)
    if not match:
        return None
    values = {"samples_per_second": float(match[2])}
    if match[3]:
        values |= {"allocated_gb": float(match[3]), "max_allocated_gb": float(match[4])}
    return Reading(Form.SPEED, values, int(match[1]), rank=_rank(text))


def _old_speed(text: str) -> Reading | None:
    match = _OLD_SPEED.search(text)
    if not match:
        return None
    values = {"samples_per_second": float(match[1])}
    if match[2]:
        values |= {"allocated_gb": float(match[2]), "max_allocated_gb": float(match[3])}
    return Reading(Form.BESIDE, values, rank=_rank(text))


def _times(text: str) -> Reading | None:
    """A line for a micro step and one for the whole step are printed one after the other; both have forward, backward,
    step. What optimizers time (`optimizer_step: …`) keeps its name."""
    match = _TIMES.search(text)
    if not match:
        return None
    timed = _TIME.findall(match[1])
    values = {_time_name(name): float(number) for name, number in timed}
    whole = any(name in ("fwd", "forward", "step") for name, _ in timed)
    return Reading(Form.TIMES if whole else Form.MICRO_TIMES, values, rank=_rank(text))


def _time_name(name: str) -> str:
    bare = name.removesuffix("_microstep")
    return _TIME_NAMES.get(bare, f"{bare}_ms")


def _memory(text: str) -> Reading | None:
    match = _MEMORY.search(text)
    return match and Reading(
        Form.MEMORY, dict(zip(_MEMORY_NAMES, map(float, match.groups()), strict=True)), rank=_rank(text)
    )


def _host_memory(text: str) -> Reading | None:
    match = _HOST_MEMORY.search(text)
    return match and Reading(
        Form.MEMORY, {"host_used_gb": float(match[1]), "host_used_percent": float(match[2])}, rank=_rank(text)
    )


def _overflow(text: str) -> Reading | None:
    """The scale stays while hysteresis is left."""
    match = _OVERFLOW.search(text)
    if not match:
        return None
    scale = _SCALE.search(text)
    values = {"loss_scale": float(scale[2] or scale[1])} if scale else {}
    return Reading(Form.OVERFLOW, values, rank=int(match[1]) if match[1] else _rank(text))


def _grad_overflow(text: str) -> Reading | None:
    match = _GRAD_OVERFLOW.search(text)
    return match and Reading(Form.OVERFLOW, {}, int(match[1]), rank=_rank(text))


def _reward(text: str) -> Reading | None:
    """DeepSpeedExamples, step3_rlhf_finetuning/main.py: on a line of its own, after the step's."""
    match = _REWARD.search(text)
    return match and Reading(Form.BESIDE, {"reward": float(match[1])}, rank=_rank(text))


def _rank(text: str) -> int | None:
    rank, rest = launcher_prefix(text)
    found = rank_in(rest)[0]
    return rank if found is None else found


_READERS = (
    ("skipped=", _engine),
    ("RunningAvgSamplesPerSec=", _speed),
    (", SamplesPerSec=", _old_speed),
    ("time (ms)", _times),
    ("Max_MA ", _memory),
    ("CPU Virtual Memory", _host_memory),
    ("OVERFLOW!", _overflow),
    ("Grad overflow on iteration", _grad_overflow),
    ("verage reward score: ", _reward),
)
