"""Changes by which a run would have fitted that died of memory: the cheapest one by the memory model, and settings of
torch's allocators. What the model had missed is taken off the room there is."""

from collections.abc import Iterator
from dataclasses import replace

from dsgui.core.config.document import Document
from dsgui.core.config.findings import Fix
from dsgui.core.diagnosis.memory_cause import Cause
from dsgui.core.diagnosis.remedies import Remedy
from dsgui.core.errors import DocumentError
from dsgui.core.launch.plan import Plan
from dsgui.core.memory.answer import Device
from dsgui.core.memory.fits.cheapest import Cheapest, cheapest, joined
from dsgui.core.memory.fits.fitting import Case, Fitted
from dsgui.core.memory.fits.memory_report import rooms_of
from dsgui.core.memory.fits.outside import EXPANDABLE_SETTING, settings_of, with_setting
from dsgui.core.memory.fits.room import Room
from dsgui.core.memory.fits.verdict import judge
from dsgui.core.preflight.judging import case_of_plan
from dsgui.core.preflight.surroundings import Surroundings
from dsgui.core.sizes import GIB
from dsgui.core.texts.saying import said
from dsgui.core.validation.checker import Checker

_MUCH = GIB // 2  # that torch had reserved and could not use


def leaner(plan: Plan, text: str, around: Surroundings, cause: Cause, *, checker: Checker) -> Iterator[Remedy]:
    """The likeliest first."""
    if cause.unused > _MUCH:
        yield from _expandable(plan, around)
    found = case_of_plan(plan, text, around, checker)
    case, fitted = found or (None, None)
    if case is not None and isinstance(fitted, Fitted):
        yield from _cheapest(case, fitted, text, cause, checker)


def _expandable(plan: Plan, around: Surroundings) -> Iterator[Remedy]:
    environment = {**around.inherited, **plan.environment}
    name, value = EXPANDABLE_SETTING
    if settings_of(environment).get(name, "").lower() != value.lower():
        variable = with_setting(environment, EXPANDABLE_SETTING, around.version("torch"))
        yield Remedy(said("remedies", "expandable_segments"), variables=(variable,))


def _cheapest(case: Case, fitted: Fitted, text: str, cause: Cause, checker: Checker) -> Iterator[Remedy]:
    """None where no change fits that a clone can make."""
    try:
        document = Document(text)
    except DocumentError:
        return
    room = smaller(fitted.room, cause)
    found = cheapest(replace(fitted, room=room, verdict=judge(fitted.answer, room)), case, document, checker)
    if isinstance(found, Cheapest) and not found.zero_init:  # a clone can't change the script
        needs = _needs(found.fitted, fitted.room)
        label = said("remedies", "cheapest", moves=joined(found.moves), needs=needs)
        options = tuple((option, value) for option, _, value in (one.partition(" ") for one in found.arguments))
        yield Remedy(label, Fix(label, found.changes) if found.changes else None, options)


def _needs(found: Fitted, room: Room) -> str:
    """Of all the room there is, which is what a card is known by; as roughly as what took it is told."""
    return rooms_of(judge(found.answer, room.of_config(found.question.config)), 1)


def smaller(room: Room, cause: Cause) -> Room:
    """Without what the run needed more than was predicted."""
    if cause.device is Device.GPU:
        return replace(room, gpu_bytes=room.gpu_bytes and max(room.gpu_bytes - cause.missing, 1))
    return replace(room, host_bytes=room.host_bytes and max(room.host_bytes - cause.missing, 1))
