"""What a run is doing, according to its output: waiting in a queue, starting, preparing its data, compiling, training,
evaluating."""

import re
from collections.abc import Set
from dataclasses import dataclass
from typing import Any

from dsgui.core.texts.saying import Said, said

_COMPILES = re.compile(
    r"building extension module|creating extension directory|emitting ninja build|detected cuda files|"
    r"^\[\d+/\d+\] .*(?:c\+\+|g\+\+|nvcc|clang)",
    re.IGNORECASE,
)
_COMPILED = re.compile(r"loading extension module|op: [\d.]+ seconds|built successfully|no work to do", re.IGNORECASE)
_SLURM = re.compile(r"slurm: job \d+ is (\w+)")  # shell/launch/follow_job.py
# `Generating train split: 4000 examples [00:01, 3800 examples/s]`: how many there will be is not known.
_UNBOUNDED = re.compile(
    r"(?P<label>[^:\[\]]{1,100}): (?P<done>\d{1,15})(?: ?[A-Za-z]{1,16})? "
    r"\[[\d:]{1,20}, *[\d.?kMG]{1,20} ?(?P<unit>[A-Za-z]{1,16})/s\]"
)
STARTING, COMPILING, PREPARING, TOKENIZING = "starting", "compiling", "preparing", "tokenizing"
IMPORTING, FIRST_STEP = "importing", "first_step"  # by the launcher's processes; its operators are there
# In this order, before a training that prepares nothing.
STARTS = (STARTING, IMPORTING, COMPILING, FIRST_STEP)
BETWEEN_S = 15.0  # at most, from one operator that is compiled to the next
_SPAWNED = "spawned with command"
SLURM_QUEUE = "slurm_queue"
FIRST_VALUES, TRAINING = "first_values", "training"
_LABEL_LIMIT = 80
# The first that fits names what a bar's description says is prepared.
_PREPARATIONS = (
    (TOKENIZING, re.compile(r"tokeni[sz]", re.IGNORECASE)),
    ("downloading", re.compile(r"download|fetch", re.IGNORECASE)),
    ("loading", re.compile(r"\bload|materializ", re.IGNORECASE)),
    ("saving", re.compile(r"\bsav(?:e|ing)\b|upload|\bwriting\b", re.IGNORECASE)),
    (
        PREPARING,
        re.compile(
            r"\bdata ?sets?\b|\bdata\b|\bsplits?\b|\bshards?\b|\bexamples?\b|\bfeatures?\b|\bfiles?\b|\bmap(?:ping)?\b|"
            r"\bfilter|\bcast|convert|encod|process|\bpack|truncat|generat|extract|index|cach|\bchat template|flatten",
            re.IGNORECASE,
        ),
    ),
)
_IS_WORK = re.compile(r"[a-z]{2,20}ing\b")
PREPARATIONS = frozenset(code for code, _ in _PREPARATIONS)


def known_phase(told: str, kinds: Set[str]) -> str:
    """The phase of a run whose output tells `told`, and that logged points of these kinds: what has logged a value
    starts no more, whatever source the value is from."""
    if told not in STARTS or told == COMPILING or not kinds:
        return told
    return TRAINING if "train" in kinds else FIRST_VALUES


def preparation(description: str) -> str:
    """The code of what is being prepared; "" if the words name no preparation."""
    return next((code for code, words in _PREPARATIONS if words.search(description)), "")


@dataclass(frozen=True, slots=True)
class Doing:
    """A preparation: its code, the script's own words for it, and its progress. `total` is None if only the number done
    is known; `unit` is what is counted ("examples", "B" for bytes), "" if unknown."""

    code: str
    label: str
    done: int
    total: int | None = None
    unit: str = ""

    @classmethod
    def of(cls, code: str, label: str, done: int, total: int | None, unit: str) -> "Doing":
        """From the words before a bar."""
        unit = "B" if unit.endswith("B") else unit.lower()
        return cls(code, label.strip().rstrip(":")[:_LABEL_LIMIT], done, total, unit)

    @property
    def said(self) -> Said:
        """`tokenizing 4,000 / 120,000`."""
        own = self.label[:1].lower() + self.label[1:]
        given = {"done": f"{self.done:,}"}
        if self.code == TOKENIZING and not own.startswith(TOKENIZING):
            what = TOKENIZING  # “Running tokenizer on train dataset”
        else:
            what, given["label"] = ("own", own) if _IS_WORK.match(own) else ("data", self.label)
        if self.total is None:
            return said("doings", what, **given)
        return said("doings", f"{what}_of", **given, total=f"{self.total:,}")

    @property
    def text(self) -> str:
        return str(self.said)

    def to_json(self) -> dict[str, Any]:
        return {"code": self.code, "text": self.text, "done": self.done, "total": self.total}


@dataclass(slots=True)
class Phase:
    """`name` is a code for which the page has a sentence."""

    name: str = STARTING
    doing: Doing | None = None
    reached: str = STARTING  # of STARTS, to which it comes back from a preparation

    @property
    def before_training(self) -> bool:
        return self.name not in ("training", "evaluating")

    def line(self, text: str) -> bool:
        """A line without points. Returns whether it showed the phase."""
        if match := _SLURM.match(text):
            self.becomes(SLURM_QUEUE if match[1] == "PENDING" else STARTING)
        elif self.before_training and (match := _UNBOUNDED.match(text)):
            code = preparation(match["label"]) or PREPARING
            self.prepares(Doing.of(code, match["label"], int(match["done"]), None, match["unit"]))
        elif self.name in STARTS and _COMPILED.search(text):
            self.starts(FIRST_STEP)
        elif self.name == STARTING and _SPAWNED in text:
            self.starts(IMPORTING)
        elif self.before_training and self.name != COMPILING and _COMPILES.search(text):
            self.becomes(COMPILING)
        else:
            return False
        return True

    def starts(self, name: str) -> None:
        self.reached = name
        self.becomes(name)

    def becomes(self, name: str) -> None:
        self.name, self.doing = name, None

    def prepares(self, doing: Doing) -> None:
        """Ignored once training has begun. A finished preparation is over."""
        if not self.before_training:
            return
        if doing.total is not None and doing.done >= doing.total:
            self.becomes(self.reached)
        else:
            self.name, self.doing = doing.code, doing


@dataclass(slots=True)
class Since:
    """When the phase began that a run is in, in seconds since it was started. Between two operators a run is starting
    again for a moment: to who waits, all of them are one wait since the first."""

    compiling_s: float = 0.0
    compiled_s: float | None = None

    def of(self, phase: str, before: str, now_s: float) -> float:
        """Told of each phase when it begins, and of the one before it."""
        if before == COMPILING:
            self.compiled_s = now_s
        if phase != COMPILING:
            return now_s
        goes_on = before in STARTS and self.compiled_s is not None and now_s - self.compiled_s <= BETWEEN_S
        if not goes_on:
            self.compiling_s = now_s
        return self.compiling_s
