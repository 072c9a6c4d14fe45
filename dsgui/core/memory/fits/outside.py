"""What shrinks a training's memory and is no key of its config: settings of torch's allocators, in the environment of
the run, and gradient checkpointing, an argument of the script. Offered where the model says that it helps."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from dsgui.core.config.context import Integration, version_tuple
from dsgui.core.config.schema import Schema
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits.fitting import Case, Fitted, fit
from dsgui.core.memory.fits.memory_report import rooms_of
from dsgui.core.memory.fits.room import Room
from dsgui.core.memory.fits.verdict import Fit, judge
from dsgui.core.texts.saying import Said, said

ALLOC_CONF, OLDER_ALLOC_CONF = "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"
# torch 2.13 reads both names, an older one perhaps only the second (c10/core/AllocatorConfig.h,
# c10/cuda/CUDAAllocatorConfig.h); the setting for pinned memory is not in all older ones, which refuse it.
ALLOC_CONF_SINCE = UNROUNDED_SINCE = (2, 13)
EXPANDABLE_SETTING = ("expandable_segments", "True")
# Above so many MiB pinned blocks are no more rounded up to a power of two.
UNROUNDED_MIB = 64
UNROUNDED_SETTING = ("pinned_max_round_threshold_mb", str(UNROUNDED_MIB))
CHECKPOINTING = "--gradient_checkpointing"
_BETTER_FIRST = (Fit.FITS, Fit.TIGHT, Fit.SHORT)


@dataclass(frozen=True, slots=True)
class Outside:
    """`code` names it; `setting` is one of the allocators', `option` the script's; `after` is
    the verdict with it."""

    code: str
    after: Fitted
    setting: tuple[str, str] | None = None
    option: str = ""


def outside(fitted: Fitted, case: Case, schema: Schema, torch: str) -> tuple[Outside, ...]:
    """What makes a training that is short of memory, or nearly so, fit better; `torch` is the release that trains, ""
    where it is not known."""
    if fitted.verdict.fit not in (Fit.SHORT, Fit.TIGHT):
        return ()
    found = (make(fitted, case, schema, torch) for make in (_expandable, _unrounded, _checkpointing))
    return tuple(one for one in found if one and _is_better(one.after, fitted))


def _is_better(after: Fitted, before: Fitted) -> bool:
    return _BETTER_FIRST.index(after.verdict.fit) < _BETTER_FIRST.index(before.verdict.fit)


def _expandable(fitted: Fitted, case: Case, schema: Schema, torch: str) -> Outside | None:
    extra = fitted.room.overheads
    if fitted.room.on_cpu or extra.expandable:
        return None
    after = _judged(fitted, replace(fitted.room, overheads=replace(extra, expandable=True)))
    return Outside("expandable_segments", after, EXPANDABLE_SETTING)


def _unrounded(fitted: Fitted, case: Case, schema: Schema, torch: str) -> Outside | None:
    if fitted.room.overheads.unrounded or not torch or version_tuple(torch)[:2] < UNROUNDED_SINCE:
        return None
    if not any(part.rounding for peak in fitted.answer.peaks for part in peak.parts):
        return None
    after = _judged(fitted, replace(fitted.room, overheads=replace(fitted.room.overheads, unrounded=True)))
    return Outside("pinned_rounding", after, UNROUNDED_SETTING)


def _checkpointing(fitted: Fitted, case: Case, schema: Schema, torch: str) -> Outside | None:
    """The HF Trainer's argument; a native script has its own way."""
    if case.context.integration is not Integration.HF or fitted.question.workload.checkpointing or fitted.is_asked:
        return None
    after = fit(replace(case, choice=replace(case.choice, checkpointing=True)), schema, lambda group: fitted.room)
    return None if isinstance(after, CannotSay) else Outside("checkpointing", after, None, CHECKPOINTING)


def _judged(fitted: Fitted, room: Room) -> Fitted:
    return replace(fitted, room=room, verdict=judge(fitted.answer, room.of_config(fitted.question.config)))


# ------------------------------------------------------------------------------------------------------- environment
def with_setting(environment: Mapping[str, str], setting: tuple[str, str], torch: str) -> tuple[str, str]:
    """The variable that asks torch's allocators for a setting, beside what it asks for already."""
    named = next((name for name in (OLDER_ALLOC_CONF, ALLOC_CONF) if environment.get(name)), "")
    name = named or (ALLOC_CONF if torch and version_tuple(torch)[:2] >= ALLOC_CONF_SINCE else OLDER_ALLOC_CONF)
    others = (one for one in environment.get(name, "").split(",") if one and one.partition(":")[0] != setting[0])
    return name, ",".join([*others, ":".join(setting)])


def settings_of(environment: Mapping[str, str]) -> dict[str, str]:
    """What torch's allocators are asked for: the older name counts first (c10/cuda/CUDAAllocatorConfig.h)."""
    told = environment.get(OLDER_ALLOC_CONF) or environment.get(ALLOC_CONF) or ""
    return dict(_pairs(told))


def _pairs(told: str) -> Iterator[tuple[str, str]]:
    for one in told[:1000].split(","):
        name, _, value = one.strip().partition(":")
        yield name, value


def asks_for_unrounded(environment: Mapping[str, str]) -> bool:
    """Whether large pinned blocks are left as they are."""
    told = settings_of(environment).get(UNROUNDED_SETTING[0], "")
    return told.isdecimal() and len(told) < 10 and int(told) <= UNROUNDED_MIB


def label_of(one: Outside, environment: Mapping[str, str], torch: str) -> Said:
    """What to set or to add, and what it makes of the verdict."""
    what = "=".join(with_setting(environment, one.setting, torch)) if one.setting else one.option
    fits = said("memory_fits", one.after.verdict.fit.value)
    code = "variable" if one.setting else "argument"
    return said("memory_outside", code, what=what, fit=fits, needs=rooms_of(one.after.verdict))


def offer_of(one: Outside) -> Said:
    """The same in short, on a button beside it: a variable by its name alone."""
    fits = said("memory_fits", one.after.verdict.fit.value)
    if one.setting:
        return said("memory_outside", "variable_offer", what=one.setting[0], fit=fits)
    return said("memory_outside", "argument_offer", what=one.option, fit=fits)
