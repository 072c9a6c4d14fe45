"""Which checkpoints may go by a rule. What a training may still need, or has not finished writing, never does."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from dsgui.core.afterwards.things import Thing
from dsgui.core.errors import PlanError
from dsgui.core.texts.saying import wrong


class Why(Enum):
    """Why a checkpoint stays."""

    NEWEST = "newest"
    BEING_WRITTEN = "being_written"
    LAST = "last"
    BEST = "best"
    EVERY = "every"
    IN_USE = "in_use"


@dataclass(frozen=True, slots=True)
class Rule:
    """`last`: how many of the latest stay; `every`: those whose step it divides stay, 0 for none; `best`: the one that
    the Trainer found best stays."""

    last: int = 1
    every: int = 0
    best: bool = True

    @classmethod
    def of(cls, last: Any, every: Any, best: Any) -> "Rule":
        """From what somebody typed. Raises `PlanError`."""
        return cls(_count("last", last), _count("every", every), bool(best))


@dataclass(frozen=True, slots=True)
class Judged:
    """`why` it stays; None where it may go."""

    thing: Thing
    why: Why | None

    def to_json(self) -> dict[str, Any]:
        told = {"path": self.thing.path, "name": self.thing.name, "size_bytes": self.thing.size_bytes}
        return told | {"step": self.thing.step, "why": self.why.value if self.why else ""}


def judged(
    things: Sequence[Thing], rule: Rule, *, best: str = "", live: bool = False, in_use: Collection[str] = ()
) -> list[Judged]:
    """Each checkpoint, the latest first. `best` is the path of the best one, "" where none is known; `live`: the run
    goes on; `in_use` are the paths that runs go on from now."""
    found = sorted((one for one in things if one.checkpoint), key=lambda one: (one.step, one.path), reverse=True)
    newest = {_newest(found, folder) for folder in {one.folder for one in found}}
    last = {one.path for one in _whole(found)[: rule.last]}

    def why(one: Thing) -> Why | None:
        whole = one.checkpoint is not None and one.checkpoint.complete
        stays = (
            (Why.BEING_WRITTEN, live and not whole),
            (Why.NEWEST, one.path in newest),
            (Why.IN_USE, one.path in in_use),
            (Why.BEST, (rule.best or live) and one.path == best),
            (Why.LAST, one.path in last),
            (Why.EVERY, whole and rule.every > 0 and one.step % rule.every == 0),
        )
        return next((reason for reason, holds in stays if holds), None)

    return [Judged(one, why(one)) for one in found]


def going(judgements: Iterable[Judged]) -> list[Thing]:
    return [one.thing for one in judgements if one.why is None]


def _whole(found: Iterable[Thing]) -> list[Thing]:
    return [one for one in found if one.checkpoint and one.checkpoint.complete]


def _newest(found: Sequence[Thing], folder: str) -> str:
    """What a training in this folder goes on from: what `latest` beside it names, else the latest that is whole."""
    here = [one for one in _whole(found) if one.folder == folder]
    named = [one for one in here if not one.saved_by_trainer and one.checkpoint and one.checkpoint.newest]
    return (named or here)[0].path if here else ""


def _count(name: str, typed: Any) -> int:
    text = str(typed if typed is not None else "").strip() or "0"
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise PlanError(wrong("after.count", name=name, typed=text[:20]))
    return int(text)
