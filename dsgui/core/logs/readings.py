"""What one line of output says, before anything is known about the lines around it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Form(Enum):
    """What printed it; this decides where a missing step is taken from."""

    DICT = "dict"  # the HF Trainer's, or JSON: the bar drawn next has the step
    PLAIN = "plain"  # a script's own loop
    ENGINE = "engine"  # DeepSpeed's progress line
    SPEED = "speed"  # DeepSpeed's throughput line
    TIMES = "times"  # DeepSpeed's times of a whole step
    MICRO_TIMES = "micro times"  # and of a micro step
    MEMORY = "memory"  # DeepSpeed's memory lines
    BESIDE = "beside"  # a script's further number of the step told before
    OVERFLOW = "overflow"  # a step skipped in fp16
    PATTERN = "pattern"  # a user's own
    EPOCH = "epoch"  # nothing but which epoch begins


@dataclass(slots=True)
class Reading:
    """The numbers of one line. `total` is the number of steps and `epochs` the number of epochs, if the line says
    so."""

    form: Form
    values: Mapping[str, float]
    step: int | None = None
    epoch: float | None = None
    total: int | None = None
    rank: int | None = None
    kind: str = "train"
    epochs: int | None = None
