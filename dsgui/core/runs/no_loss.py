"""Why a run has no curve of its training loss, judged by its arguments and its output."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dsgui.core.launch.state import RunState
from dsgui.core.metrics.curves import Series
from dsgui.core.script.words import value_of
from dsgui.core.texts.saying import Said, said, sentences

LOGGING_STEPS = 500  # transformers' default (TrainingArguments.logging_steps)
ADVISED_STEPS = 10
_ADVISED = str(ADVISED_STEPS)
_LOSS = re.compile(r"(?:\A|_)loss\Z")
_TRAINER_ENDS_WITH = "train_runtime"
TOLD_BY_STATE = ("before_training",)  # reasons that a run's state tells enough of
_PATIENCE_S = 60.0  # a run that prints nothing readable is taken to be loading for so long
_UNDER_WAY = ("training", "evaluating")
_OFF = ("false", "0", "no", "off")
_FILES = (".json", ".yaml", ".yml")
_FILE_OPTIONS = ("", "--config", "--config_file", "--config-file")


@dataclass(frozen=True, slots=True)
class NoLoss:
    """`code` is for programs, `told` for people: a sentence or two."""

    code: str
    told: tuple[Said, ...]

    @property
    def text(self) -> str:
        """In the language in use."""
        return sentences(self.told)

    def to_json(self) -> dict[str, Any]:
        return {"code": self.code, "text": self.text}


@dataclass(frozen=True, slots=True)
class Told:
    """What is known about a run: its script's `arguments`, whether it uses the HF Trainer, its curves, and its
    progress. `phase` is from its output. `in_code`: the script creates its TrainingArguments itself."""

    arguments: Sequence[str]
    trainer: bool
    state: RunState
    series: Sequence[Series] = ()
    phase: str = "starting"
    elapsed_s: float | None = None
    step: int | None = None
    total: int | None = None
    in_code: bool = False

    @property
    def live(self) -> bool:
        return self.state.live

    @property
    def trained(self) -> bool:
        logged = any(one.kind in ("train", "final") for one in self.series)
        return bool(self.step) or logged or (self.phase in _UNDER_WAY and not self.only_evaluates)

    @property
    def only_evaluates(self) -> bool:
        """For scripts with the HF Trainer."""
        evaluates = any(_is_on(self.arguments, option) for option in ("--do_eval", "--do_predict"))
        return self.trainer and evaluates and not _is_on(self.arguments, "--do_train")


def no_loss(told: Told) -> NoLoss | None:
    """None if there is a training loss, or if it is too early to tell."""
    if has_loss(told.series) or _too_early(told):
        return None
    reasons = _reasons_of_trainer(told) if told.trainer or _ends_as_trainer(told.series) else iter(())
    return next(reasons, None) or next(_reasons(told))


def has_loss(series: Iterable[Series]) -> bool:
    """Whether a training loss was logged."""
    return any(one.kind == "train" and _LOSS.search(one.name) for one in series)


def _too_early(told: Told) -> bool:
    if not told.live or told.trained:
        return False
    if told.trainer or told.state is not RunState.RUNNING:  # at its end it is told what that means
        return True
    return told.phase not in ("starting", "importing", "first_step") or (told.elapsed_s or 0.0) < _PATIENCE_S


def _reasons(told: Told) -> Iterator[NoLoss]:
    if not told.live and not told.trained and told.state is not RunState.SUCCEEDED:
        yield NoLoss("before_training", (_what(told, "before_training"),))
    yield NoLoss("unread", (said("no_loss", "unread_so_far" if told.live else "unread"),))


def _reasons_of_trainer(told: Told) -> Iterator[NoLoss]:
    strategy = value_of(told.arguments, ("--logging_strategy",))
    if told.only_evaluates:
        yield NoLoss("only_evaluates", (said("no_loss", "only_evaluates"),))
    elif not told.live and not told.trained and told.state is not RunState.SUCCEEDED:
        return
    elif _had_no_step_left(told):
        yield NoLoss("nothing_left", (said("no_loss", "nothing_left", total=f"{told.total:,}"),))
    elif strategy == "no":
        yield NoLoss("logging_off", (_lead(told), said("no_loss", "logging_off", advised=_ADVISED)))
    elif strategy == "epoch":
        yield NoLoss("logs_by_epoch", (_so_far(told), said("no_loss", "logs_by_epoch", advised=_ADVISED)))
    else:
        yield from _too_few_steps(told)


def _had_no_step_left(told: Told) -> bool:
    """The checkpoint that it resumed from was the last one: the Trainer ends at once, and well."""
    return told.state is RunState.SUCCEEDED and told.step == 0 and bool(told.total) and _ends_as_trainer(told.series)


def _too_few_steps(told: Told) -> Iterator[NoLoss]:
    given = value_of(told.arguments, ("--logging_steps",))
    every = _steps(given, told.total)
    if every is None:
        return
    if elsewhere := given is None and _set_elsewhere(told):
        advice = said("no_loss", elsewhere, default=str(LOGGING_STEPS))
        yield NoLoss(elsewhere, (_so_far(told), advice))
        return
    advised = _Logging(every, given is None)
    if told.total is not None and told.total < every:
        yield NoLoss("logs_too_seldom", (_lead(told), advised.said("too_few", total=f"{told.total:,}")))
    elif told.live and (told.step or 0) < every:
        at = {} if told.step is None else {"step": f"{told.step:,}"}
        yield NoLoss("before_first_log", (_what(told, "yet"), advised.said("not_yet_at" if at else "not_yet", **at)))
    elif not told.live and told.step is not None and told.step < every:
        yield NoLoss("before_first_log", (said("no_loss", "was"), advised.said("ended_before", step=f"{told.step:,}")))
    elif told.step is None:
        yield NoLoss("logs_too_seldom", (_lead(told), advised.said("seldom")))


@dataclass(frozen=True, slots=True)
class _Logging:
    """How often the HF Trainer logs, as asked for or by default."""

    every: int
    by_default: bool

    def said(self, code: str, **given: str) -> Said:
        logs = said("no_loss", "logs_default" if self.by_default else "logs", every=f"{self.every:,}")
        advice = said("no_loss", "add_steps" if self.by_default else "use_steps", advised=_ADVISED)
        return said("no_loss", code, logs=logs, advice=advice, **given)


def _set_elsewhere(told: Told) -> str:
    """The reason's code where something else than arguments tells the script how often to log; "" if nothing does."""
    if _takes_a_file(told.arguments):
        return "logs_by_file"
    return "logs_in_code" if told.in_code else ""


def _lead(told: Told) -> Said:
    return _what(told, "will" if told.live else "was")


def _so_far(told: Told) -> Said:
    return _what(told, "yet" if told.live else "was")


def _what(told: Told, code: str) -> Said:
    """Which loss is missing: an evaluation's may be right below."""
    evaluated = any(one.kind == "eval" and _LOSS.search(one.name) for one in told.series)
    return said("no_loss", f"{code}_of_training" if evaluated else code)


def _steps(given: str | None, total: int | None) -> int | None:
    """What --logging_steps means: below 1 it is a share of all steps."""
    if given is None:
        return LOGGING_STEPS
    try:
        value = float(given)
    except ValueError:
        return None
    if 0 < value < 1:
        return None if total is None else math.ceil(total * value)
    return int(value) if 1 <= value < math.inf else None


def _is_on(words: Sequence[str], option: str) -> bool:
    value = value_of(words, (option,))
    return value is not None and value.lower() not in _OFF


def _takes_a_file(words: Sequence[str]) -> bool:
    """Whether arguments are in a file (HfArgumentParser, TrlParser): `train.py args.json`, `--config args.yaml`."""
    for before, word in zip(("", *words), words, strict=False):
        name, _, given = word.partition("=") if word.startswith("--") else (before, "", word)
        option = name if name.startswith("--") else ""
        if given.lower().endswith(_FILES) and option in _FILE_OPTIONS:
            return True
    return False


def _ends_as_trainer(series: Iterable[Series]) -> bool:
    return any(one.kind == "final" and one.name == _TRAINER_ENDS_WITH for one in series)
