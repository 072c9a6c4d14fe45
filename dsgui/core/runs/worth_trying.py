"""Which steps of the ladder are worth a trial: the fastest few that fit, the config as it is among them."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from dsgui.core.config.document import Document
from dsgui.core.memory.fits.cheapest import Cheapest
from dsgui.core.memory.fits.rungs import Step
from dsgui.core.memory.fits.verdict import Fit

MOST = 3


@dataclass(frozen=True, slots=True)
class Chosen:
    """A step of the ladder as it would be tried: its number there, what it changes in words ("" for nothing), its
    config, and what the script is given beside its own arguments."""

    number: int
    moves: str
    text: str
    arguments: tuple[str, ...]
    key: str


def best(steps: Iterable[Step], document: Document, *, takes_options: bool) -> tuple[Chosen, ...]:
    """Up to three, fastest first. `takes_options`: whether the script takes the HF Trainer's options; a step that needs
    one, or a change of the script's source, can't be tried otherwise."""
    fitting = [
        (number, step)
        for number, step in enumerate(steps, 1)
        if step.fit is Fit.FITS and _can_be_tried(step.change, takes_options)
    ]
    fitting.sort(key=lambda one: (bool(one[1].change.moves), one[1].slower))
    as_it_is = [one for one in fitting if not one[1].change.moves][:1]
    others = [one for one in fitting if one[1].change.moves][: MOST - len(as_it_is)]
    chosen = sorted((*as_it_is, *others), key=lambda one: one[0])
    return tuple(_chosen(number, step.change, document) for number, step in chosen)


def step_key(change: Cheapest, document: Document) -> str:
    """The same for the same config and the same additions to the script's arguments, whatever the text looks like."""
    asked = json.dumps([change.apply(document).value, change.arguments], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()[:16]


def _can_be_tried(change: Cheapest, takes_options: bool) -> bool:
    return not change.zero_init and (takes_options or not (change.arguments or change.checkpointing))


def _chosen(number: int, change: Cheapest, document: Document) -> Chosen:
    moves = " + ".join(str(one) for one in change.moves)
    options = tuple(word for one in change.arguments for word in one.split())
    return Chosen(number, moves, change.apply(document).text, options, step_key(change, document))
