"""Finds the training's bar among all that are drawn: evaluation and preparation draw others, with other totals."""

import re
from dataclasses import dataclass
from functools import lru_cache

from dsgui.core.logs.bars import described_values
from dsgui.core.logs.phases import PREPARING, preparation

TRAINING, EPOCHS, EVALUATING = "training", "epochs", "evaluating"

# What a preparation counts; a training counts steps, batches, samples.
_PREPARED = re.compile(r"(?:ex|ba|(?:example|file|row|shard|table|doc|split)s?)\Z", re.IGNORECASE)
_BYTES = re.compile(r"[kKMGTP]?i?B\Z")
# Of bars that name no unit, as torchvision's of a download: no training has that many steps, that fast.
_FEWEST_BYTES, _BYTES_A_SECOND = 10**6, 10**4
_RATE = re.compile(rb" *(\d{1,15}(?:\.\d{1,6})?)it/s\s*\Z")
_TRAINS = re.compile(r"epoch|train|step|iter", re.IGNORECASE)
_TRAINS_FIRST = re.compile(
    r"(?:\W*+(?:pre-?|fine-?)?t(?:rain|un)(?:ing)?\b(?!\W*+(?:set|data|split|example|feature|file|sample|corpus|token|scann?|cach))"
    r"|.*?\bepochs?\b\W{0,4}\d)",
    re.IGNORECASE,
)
_NEVER_TRAINS = re.compile(r"\W*+(?:map|filter|cast|tokeni[sz]|download|fetch|load|generating)", re.IGNORECASE)
_COUNTS_EPOCHS = re.compile(r"\W*+(?:train(?:ing)?\W++)?epochs?\W*+\Z", re.IGNORECASE)
# YOLO's rows: `32/4999 55.1G 0.054 0.010 0.037 26 1856:`, and the heads of its evaluations' columns.
_OF_TABLE = re.compile(r" {0,20}\d{1,9}/\d{1,9} {1,20}[\d.]{1,9}[GM] ")
# The work, not a value of it: `val loss: 0.3` may stand before the training's bar.
_EVALUATES = re.compile(
    r"\b(?:eval(?:uat\w*+)?|val(?:id(?:at\w*+)?)?|dev|test(?:ing)?|infer\w*+|predict\w*+|sanity checking)\b"
    r"(?!\W{0,3}(?:loss|acc|ppl)|\w*+ ?[:=] ?[-+.\d])",
    re.IGNORECASE,
)


@lru_cache(512)  # a bar is drawn again and again
def work_of(description: str, unit: str, measured: bool) -> str:
    """What a bar shows, judged by the text before it (`Epoch 1:`, `Map:`; "" for none), what it counts and whether
    losses follow it: a training, its epochs, an evaluation, or a preparation's code."""
    counted = "downloading" if _BYTES.match(unit) else PREPARING if _PREPARED.match(unit) else ""
    if not description:
        return TRAINING if measured or not counted else counted
    if _OF_TABLE.match(description):
        return TRAINING
    if " mAP" in description:
        return EVALUATING
    if _EVALUATES.search(description) and not _names_preparation(description, counted):
        return EVALUATING
    if (measured or described_values(description)) and not _NEVER_TRAINS.match(description):
        return TRAINING
    prepares = preparation(description)
    if counted:
        return prepares or counted
    if _COUNTS_EPOCHS.match(description):
        return EPOCHS
    if _TRAINS_FIRST.match(description):
        return TRAINING
    return prepares or (TRAINING if _TRAINS.search(description) else PREPARING)


def _names_preparation(description: str, counted: str) -> bool:
    """`Running tokenizer on validation dataset:` is the preparation of an evaluation."""
    return bool(counted or preparation(description)) and not _TRAINS_FIRST.match(description)


def counts_bytes(total: int, rate: bytes) -> bool:
    """Whether a bar without a unit is a download's."""
    match = _RATE.match(rate) if total >= _FEWEST_BYTES else None
    return match is not None and float(match[1]) >= _BYTES_A_SECOND


@dataclass(slots=True)
class TrainingBar:
    """The first bar that may be the training's. `total` is None before it is drawn. Once the training is `over`, or an
    evaluation was announced, no other bar takes its place."""

    total: int | None = None
    step: int = 0
    over: bool = False
    evaluating: bool = False
    _former: tuple[int | None, int] | None = None
    _below: int | None = None  # the total of one that was drawn below it

    def is_this(self, step: int, total: int, trained: bool) -> bool:
        """A bar that filled up before any training belonged to an evaluation or a preparation."""
        if self.total == total:
            self._former = None
            return not self.over or step >= self.step
        self._former = None
        if self.over:
            return False
        if self.total is None and not self.evaluating:
            self.total = total
        elif not (trained or self.evaluating or total == self._below) and self._full:
            self._former = self.total, self.step
            self.total = total
        return self.total == total

    @property
    def _full(self) -> bool:
        return self.total is not None and self.step >= self.total

    def was_nested(self) -> bool:
        """The last bar was nested in another that continues: if it took that one's place, that was wrong."""
        if self._former is None:
            return False
        self._below = self.total
        (self.total, self.step), self._former = self._former, None
        return True

    def was_none(self, total: int, trained: bool) -> bool:
        """The bar of this total turns out to be no training's; returns whether it was taken for one."""
        if trained or self.total != total:
            return False
        self.total, self.step = None, 0
        return True

    def ends(self) -> None:
        self.over = True

    def begins(self) -> None:
        """A training was announced, or logs although one was over: the next bar is its bar."""
        self.total, self.step, self.over, self.evaluating = None, 0, False, False
