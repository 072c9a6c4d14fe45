"""Numbers on a line each, below one that says what they are of.

The blocks that transformers' `Trainer.log_metrics` prints: `***** eval metrics *****`, then `  eval_loss = 2.1`.

Most of their content was logged before as a dict; this module finds what is new (perplexity, BLEU, the evaluation after
the training, which prints no dict).

Those of a training's head, `***** Running training *****`: how many steps and epochs it will have.

Those of OLMo and OLMo-core, one for each step: `[step=10/1000,epoch=0]`, then `    train/CrossEntropyLoss=2.5`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from dsgui.core.logs.numerals import NUMBER, canonical, evaluates
from dsgui.core.logs.prefixes import launcher_prefix
from dsgui.core.logs.readings import Form, Reading

_HEAD = re.compile(r"\*{5} (?P<split>[\w./-]{1,40}) metrics \*{5}\s*\Z")
_LINE = re.compile(
    rf"\s*+(?P<name>[A-Za-z_][\w./@-]{{0,100}}) *+= *+(?:(?P<days>\d{{1,6}}) days?, )?"
    rf"(?:(?P<clock>\d{{1,9}}:\d\d:\d\d(?:\.\d{{1,9}})?)|(?P<number>{NUMBER})(?P<unit>GF|MB)?)\Z",
    re.IGNORECASE,
)
_HEAD_LENGTH = 200
_UNITS = {"": 1, "MB": 1 << 20, "GF": 1 << 30}  # trainer_pt_utils.py: metrics_format shifts by 20 and 30 bits
# Dicts are rounded to four figures, blocks to four decimals; of seconds they leave out what is behind the hundredths
# (trainer_pt_utils.py: metrics_format, utils: format_secs).
_SAME_RELATIVE, _SAME, _HUNDREDTH_S = 1e-3, 1e-4, 0.01
_COUNT = r"(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?!,?\d)"  # what is larger is no step
_STEP_HEAD = re.compile(
    rf"\[step=(?P<step>{_COUNT})/(?:(?P<total>{_COUNT})|[\w.]{{1,20}})"
    r"(?:,epoch=(?P<epoch>\d{1,9})(?:/\d{1,9})?)?(?:,[^\[\]]{1,60})?\]\Z"
)
_STEP_LINE = re.compile(r"\s*+(?P<name>[A-Za-z]\w{0,40}/[\w/ ().-]{1,100})=(?P<value>\S{1,40})\Z")
_STEP_NAMES = {
    "train/crossentropyloss": "loss",
    "train/ce loss": "loss",
    "train/perplexity": "perplexity",
    "train/ppl": "perplexity",
    "optim/total_grad_norm": "grad_norm",
    "optim/total grad norm": "grad_norm",
    "optim/learning_rate_group0": "learning_rate",
    "optim/lr (group 0)": "learning_rate",
    "throughput/device/tokens_per_second": "tokens_per_second_per_gpu",
    "throughput/device/tps": "tokens_per_second_per_gpu",
}
_RUNNING = re.compile(
    r"\b(?P<name>Num examples|Num Epochs|Num update steps per epoch|Total train batch size|"
    r"Gradient Accumulation steps|Total optimization steps|Continuing training from global step)"
    r"(?: \([^()]{1,80}\))?(?: *= *|(?<=step) )(?P<count>\d[\d,]{0,25})\s*\Z"
)
_HEAD_LINES = 16  # of it, and of other ranks between them
_WITHOUT_END = 10**6  # epochs: of data that can't be counted there are as many as Python can count
_LARGEST = 10**15


class StepBlock:
    """Takes every line while it is `open`, and otherwise those that end in the step."""

    def __init__(self) -> None:
        self.open = False
        self._step = 0
        self._total: int | None = None  # not in tokens, `[step=1/2e12T]`
        self._epoch: float | None = None

    def begins(self, text: str) -> bool:
        match = _STEP_HEAD.search(text, max(len(text) - _HEAD_LENGTH, 0))
        self.open = match is not None
        if match:
            self._step, self._total = _whole(match["step"]), _whole(match["total"] or "0") or None
            self._epoch = float(match["epoch"]) if match["epoch"] else None
        return self.open

    def line(self, text: str) -> Reading | None:
        """What a line says, perhaps nothing; None for the first line outside the block, which ends it."""
        rank, bare = launcher_prefix(text)
        match = _STEP_LINE.match(bare)
        self.open = match is not None
        if not match:
            return None
        name = _STEP_NAMES.get(match["name"].lower()) or canonical(match["name"])
        try:
            values = {name: float(match["value"].replace(",", ""))} if name else {}
        except ValueError:  # `1h 2m`
            values = {}
        kind = "eval" if evaluates(match["name"].lower()) else "train"
        return Reading(Form.DICT, values, self._step, self._epoch, self._total, rank, kind=kind)


def _whole(digits: str) -> int:
    return int(digits.replace(",", ""))


@dataclass(slots=True)
class TrainerHead:
    """What transformers and accelerate's examples say before a training: `***** Running training *****`, then
    `  Num examples = 160,929` and so on (transformers/trainer.py). `told` by the names in it."""

    told: dict[str, int] = field(default_factory=dict)
    _left: int = 0

    @property
    def open(self) -> bool:
        return self._left > 0

    def begins(self) -> None:
        self.told, self._left = {}, _HEAD_LINES

    def ends(self) -> None:
        self._left = 0

    def line(self, text: str) -> bool:
        """Whether the line is of the head. The number of steps is told by its line alone, too."""
        self._left = max(self._left - 1, 0)
        match = _RUNNING.search(text)
        if not match:
            return False
        if (count := _whole(match["count"])) < _LARGEST:
            self.told[match["name"]] = count
        return True

    @property
    def total(self) -> int | None:
        """The number of steps."""
        return self.told.get("Total optimization steps") or None

    @property
    def begun_at(self) -> int:
        """The step at which it goes on."""
        return self.told.get("Continuing training from global step", 0)

    @property
    def per_epoch(self) -> float | None:
        """How many steps an epoch has, which is no whole number where micro steps are left at its end. The number of
        steps may be one that was asked for, and then says nothing of epochs."""
        if told := self.told.get("Num update steps per epoch"):
            return told
        total, epochs = self.total, self.told.get("Num Epochs", 0)
        examples, batch = self.told.get("Num examples", 0), self.told.get("Total train batch size", 0)
        by_epochs = total / epochs if total and 0 < epochs < _WITHOUT_END else None
        if not examples or not batch:
            return by_epochs
        by_examples = examples / batch
        return by_epochs if by_epochs and abs(by_epochs - by_examples) <= 1 else by_examples

    def counts(self, of_bar: int) -> bool:
        """Whether a bar without a description may be the training's: of all its steps, or of the batches of an epoch,
        as loops of their own draw them."""
        if not self.total or of_bar == self.total:
            return True
        batches = (self.per_epoch or 0.0) * self.told.get("Gradient Accumulation steps", 1)
        return abs(of_bar - batches) <= max(batches / 100, 1)


@dataclass(frozen=True, slots=True)
class Metric:
    """One line of a block. `kind` as in a point."""

    name: str
    value: float
    kind: str
    is_clock: bool = False

    def repeats(self, told: Mapping[str, float]) -> bool:
        """Whether it is the value that was logged before, rounded differently."""
        before = told.get(self.name)
        if before is None:
            return False
        slack, left_out = max(_SAME_RELATIVE * abs(before), _SAME), _HUNDREDTH_S if self.is_clock else 0.0
        return -slack <= before - self.value <= left_out + slack or repr(self.value) == repr(before)


class MetricBlock:
    """Takes every line while it is `open`, and otherwise those with five stars."""

    def __init__(self) -> None:
        self.open = False
        self._split = ""
        self.epoch: float | None = None

    def begins(self, text: str) -> bool:
        match = _HEAD.search(text)
        if match:
            self.open, self._split, self.epoch = True, match["split"], None
        return match is not None

    def line(self, text: str) -> Metric | None:
        """What a line says; None for the first line outside the block, which ends it."""
        match = _LINE.match(launcher_prefix(text)[1])
        if not match:
            self.open = False
            return None
        if match["name"] == "epoch" and match["number"]:
            self.epoch = float(match["number"])
        kind = "final" if self._split == "train" else "eval"
        if match["clock"]:
            return Metric(match["name"], _clock_s(match["days"], match["clock"]), kind, True)
        value = float(match["number"]) * _UNITS[(match["unit"] or "").upper()]
        return Metric(match["name"], value, kind)


def _clock_s(days: str | None, clock: str) -> float:
    hours, minutes, seconds = clock.split(":")
    return ((int(days or 0) * 24 + int(hours)) * 60 + int(minutes)) * 60 + float(seconds)
