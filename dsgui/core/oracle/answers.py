"""What the real DeepSpeed answered to a config, as values: the question, each trial of it, and the answer in words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Context, Integration
from dsgui.core.texts.saying import Said, listed, recalled, said, set_apart

# How one trial reaches its end, in order. "fill" is the HF Trainer's and accelerate's.
READ, FILL, PARSE, INITIALIZE, STEP, DONE = STAGES = ("read", "fill", "parse", "initialize", "step", "done")
_STAGE_TOLD = {READ: "stage_read", FILL: "stage_fill", STEP: "stage_step"}
_ASKED_STEPS = 2
WAITING = "waiting"  # for another question: a stage before the first


class Judge(Enum):
    """Who may stop a config, by the package that raises."""

    TRAINER = "transformers"
    ACCELERATE = "accelerate"
    DEEPSPEED = "deepspeed"

    @property
    def told(self) -> Said:
        return said("judges", self.value)

    @property
    def told_first(self) -> Said:
        """At the beginning of a sentence."""
        return said("judges", f"{self.value}_first")

    @property
    def text(self) -> str:
        return str(self.told)

    @property
    def begun(self) -> str:
        """At the beginning of a sentence."""
        return str(self.told_first)


class Verdict(Enum):
    """What came of a trial."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    NOT_TRIED = "not tried"

    @property
    def told(self) -> Said:
        """In words; the value is its code."""
        return said("oracle", self.name.lower())


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the text as it is in the file, and what the answer depends on. `lend` lets the CPU that tries it
    pass for a device that has every data type. `arguments` are the TrainingArguments as (name, value), None when they
    are not known."""

    text: str
    reader: Integration
    world_size: int
    lend: bool = False
    arguments: tuple[tuple[str, Any], ...] | None = None

    @classmethod
    def of(cls, text: str, context: Context) -> "Question":
        """The question that a context asks of a text."""
        known = None if context.arguments is None else _as_given(context.arguments)
        return cls(text, context.integration, context.world_size, not is_cpu(context), known)

    def to_json(self, **more: Any) -> dict[str, Any]:
        """For `shell/oracle/oracle_worker.py`."""
        return {
            "text": self.text,
            "reader": self.reader.value,
            "world_size": self.world_size,
            "lend": self.lend,
            "arguments": None if self.arguments is None else dict(self.arguments),
            **more,
        }


def _as_given(arguments: TrainingArguments) -> tuple[tuple[str, Any], ...]:
    """Those that somebody set; the others are left to the installed transformers."""
    given = {name: getattr(arguments, name) for name in arguments.given}
    if arguments.total_steps is not None:
        given["num_training_steps"] = arguments.total_steps
    if arguments.hidden_size is not None:
        given["hidden_size"] = arguments.hidden_size
    return tuple(sorted(given.items()))


def is_cpu(context: Context) -> bool:
    """Whether the config will run on the CPU, which is what tries it here too."""
    return bool(context.hardware) and all(hardware.vendor == "cpu" for hardware in context.hardware)


@dataclass(frozen=True, slots=True)
class Call:
    """A call that an exception went through."""

    module: str
    function: str
    source: str = ""  # the line of code


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception of DeepSpeed's, transformers' or accelerate's. `problems` are pydantic's: (keys, message)."""

    type: str
    message: str
    calls: tuple[Call, ...] = ()
    model: str = ""
    problems: tuple[tuple[tuple[str, ...], str], ...] = ()

    @classmethod
    def from_json(cls, error: Mapping[str, Any]) -> "Raised":
        """Built from what the worker sent."""
        return cls(
            type=str(error["type"]),
            message=str(error["message"]),
            calls=tuple(Call(c["module"], c["function"], c.get("source", "")) for c in error.get("frames", ())),
            model=str(error.get("model", "")),
            problems=tuple((tuple(p["keys"]), str(p["message"])) for p in error.get("problems", ())),
        )

    @property
    def text(self) -> str:
        """As a traceback's last line says it, in one line."""
        message = " ".join(re.sub(r"For further information visit \S+", "", self.message).split())
        return f"{self.type}: {message}" if message else self.type

    @property
    def source(self) -> str:
        """`deepspeed/runtime/config.py: _batch_assertion`: the innermost call that is no library's."""
        judges = tuple(c for c in self.calls if c.module.split(".")[0] in ("deepspeed", "transformers", "accelerate"))
        innermost = (judges or self.calls)[-1:]
        return "".join(f"{call.module.replace('.', '/')}.py: {call.function}" for call in innermost)


# What this machine's CPU can't show, whatever the config says: (in the exception, the code of why, only where the CPU
# stands in for another device). Where the config will run on this very CPU, a missing op is the answer.
_OBSTACLES = (
    (
        r"async_io|libaio|AsyncIO|aio_handle",
        "no_libaio",
        False,
    ),
    (
        r"can't allocate memory|Cannot allocate memory|out of memory|MemoryError",
        "no_memory",
        False,
    ),
    (r"Error building extension|Ninja is required|Command .*ninja", "no_compiler", False),
    (r"determine model policy|attention projection", "needs_transformer", False),
    (r"Permission denied|Read-only file system|No space left", "no_write", False),
    (
        r"not been implemented on CPU|CPU backend|NotImplementedBuilder|has no attribute 'load'",
        "needs_op",
        True,
    ),
    (r"CUDA|cuda|NVIDIA|accelerator device|nccl|NCCL", "needs_gpu", True),
    (r"is not supported on your device|doesn't support (bf16|fp16)", "needs_dtype", True),
)


@dataclass(frozen=True, slots=True)
class Trial:
    """One attempt: how far it came, on how many ranks, and what stopped it. `resolved` holds what DeepSpeed made of the
    config (train, micro, accumulation, stage, dtype); `arguments` the TrainingArguments that were made up to fit."""

    verdict: Verdict
    stage: str
    ranks: int
    reason: Said | None = None
    is_final: bool = True  # the same would come of another try
    raised: Raised | None = None
    steps: int = 0
    seconds: tuple[tuple[str, float], ...] = ()
    warnings: tuple[str, ...] = ()
    remarks: tuple[Said, ...] = ()
    resolved: tuple[tuple[str, Any], ...] = ()
    engine: tuple[tuple[str, str], ...] = ()
    arguments: tuple[tuple[str, Any], ...] = ()
    versions: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_json(cls, answer: Mapping[str, Any], ranks: int, lend: bool) -> "Trial":
        """Built from the worker's answer about `ranks` ranks."""
        error = answer.get("error")
        raised = Raised.from_json(error) if error else None
        reason = _reason(answer, raised, lend)
        verdict = Verdict.NOT_TRIED if reason else Verdict.REFUSED if raised else Verdict.ACCEPTED
        pairs = {
            name: tuple((answer.get(name) or {}).items())
            for name in ("seconds", "resolved", "engine", "arguments", "versions")
        }
        return cls(
            verdict=verdict,
            stage=str(answer["stage"]),
            ranks=ranks,
            reason=reason,
            is_final=not (answer.get("ended") or answer.get("missing")),
            raised=raised,
            steps=int(answer.get("steps", 0)),
            warnings=tuple(answer.get("warnings", ())),
            remarks=tuple(_of_worker(one) for one in answer.get("remarks", ())),
            **pairs,
        )

    def passed(self, stage: str) -> bool:
        """Whether this trial went into `stage` and came out of it."""
        return stage in dict(self.seconds) and STAGES.index(self.stage) > STAGES.index(stage)


def _reason(answer: Mapping[str, Any], raised: Raised | None, lend: bool) -> Said | None:
    """Why the trial says nothing about the config; None when it does."""
    if answer.get("missing"):
        return said("oracle", "lacks", what=str(answer["missing"]))
    if answer.get("ended") == "limit":
        return _over_time(answer)
    if answer.get("ended"):
        why = answer.get("why") or said("oracle", "killed", signal=str(answer.get("signal", "?")))
        return said("oracle", "ended_early", why=why)
    if raised is None:
        return None
    if raised.type == "NotTried":
        return said("oracle", "many_ranks", key=raised.message)
    codes = (code for found, code, device in _OBSTACLES if (lend or not device) and re.search(found, raised.text))
    return next((said("oracle", code) for code in codes), None)


def _over_time(answer: Mapping[str, Any]) -> Said:
    limit = f"{float(answer['limit_s']):g}"
    if answer.get("doing"):
        return said("oracle", "over_time_doing", limit=limit, doing=doing_told(str(answer["doing"])))
    return said("oracle", "over_time", limit=limit)


def doing_told(op: str) -> Said:
    """What a worker does that takes long: it loads this op."""
    return said("oracle", "compiling", op=op)


def _of_worker(told: Any) -> Said:
    return recalled("oracle", told, str(told))


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything that was tried for one question, the shallowest trial first."""

    question: Question
    trials: tuple[Trial, ...]

    @property
    def refusal(self) -> Trial | None:
        """The trial that DeepSpeed stopped."""
        return next((trial for trial in self.trials if trial.verdict is Verdict.REFUSED), None)

    @property
    def verdict(self) -> Verdict:
        """Refused by any trial; accepted by the first at least; else not tried."""
        if self.refusal:
            return Verdict.REFUSED
        return self.trials[0].verdict

    @property
    def release(self) -> str:
        """The DeepSpeed that answered."""
        return dict(self.trials[0].versions).get("deepspeed", "")

    @property
    def judge(self) -> Judge:
        """Who stopped it, by where it was raised."""
        raised = self.refusal.raised if self.refusal else None
        package = raised.source.partition("/")[0] if raised else ""
        return next((judge for judge in Judge if judge.value == package), Judge.DEEPSPEED)

    @property
    def seconds(self) -> float:
        """How long DeepSpeed took over it all."""
        return sum(taken for trial in self.trials for _, taken in trial.seconds)

    @property
    def not_tried(self) -> tuple[str, ...]:
        """What could not be tried, each with its reason."""
        tried = [t for t in self.trials if t.verdict is Verdict.NOT_TRIED]
        return tuple(
            str(said("oracle", "because", what=_on(_stage_told(t.stage), t.ranks), why=t.reason or "")) for t in tried
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """What had to be decided to try it, each once."""
        return tuple(dict.fromkeys(str(remark) for trial in self.trials for remark in trial.remarks))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What DeepSpeed warned of, each once."""
        return tuple(dict.fromkeys(warning for trial in self.trials for warning in trial.warnings))

    def passed(self, stage: str) -> bool:
        """Whether a trial at the ranks asked for came through `stage`."""
        return any(t.passed(stage) and t.ranks == self.question.world_size for t in self.trials)

    @property
    def is_final(self) -> bool:
        """Whether asking again would bring the same."""
        return all(trial.is_final for trial in self.trials)

    @property
    def has_trained(self) -> bool:
        """Whether the config has trained on the ranks that it is for."""
        trained = any(t.steps >= _ASKED_STEPS and t.ranks == self.question.world_size for t in self.trials)
        return trained and self.verdict is Verdict.ACCEPTED

    @property
    def is_complete(self) -> bool:
        """Whether it was the kind of device, too, that the config is for."""
        return self.has_trained and not self.question.lend

    @property
    def summary(self) -> str:
        """One line: `DeepSpeed 0.19.8: accepted (parse, initialize, 2 steps; 6.1 s)`."""
        left = () if self.refusal else self.not_tried
        untested = (said("oracle", "not_tested", what=one) for one in left)
        return str(said("oracle", "summary", release=self.release, did=set_apart([self.did, *untested])))

    @property
    def did(self) -> str:
        """`accepted (parse, initialize, 2 steps; 6.1 s)`."""
        seconds = f"{self.seconds:.1f}"
        if refusal := self.refusal:
            where = {"stage": _on(_stage_told(refusal.stage), refusal.ranks), "seconds": seconds}
            if self.judge is Judge.DEEPSPEED:
                return str(said("oracle", "refused_at", **where))
            return str(said("oracle", "refused_by_at", judge=self.judge.told, **where))
        passed = listed(dict.fromkeys(self._passed()))
        if not passed:
            return str(self.verdict.told)
        return str(said("oracle", "did", verdict=self.verdict.told, passed=passed, seconds=seconds))

    def _passed(self) -> "list[str | Said]":
        ranks = self.question.world_size
        passed: list[str | Said] = ["parse"] if self.passed(PARSE) else []
        passed += [_on("initialize", ranks)] if self.passed(INITIALIZE) else []
        steps = ((said("oracle", "steps", count=str(t.steps)), t.ranks) for t in self.trials if t.steps)
        return passed + [_on(taken, alone, ranks > 1) for taken, alone in steps]


def _stage_told(stage: str) -> "str | Said":
    return said("oracle", _STAGE_TOLD[stage]) if stage in _STAGE_TOLD else stage


def _on(what: "str | Said", ranks: int, always: bool = False) -> "str | Said":
    """`initialize on 8 ranks`; a single rank is not worth a word unless there could be more."""
    if ranks == 1:
        return said("oracle", "on_one", what=what) if always else what
    return said("oracle", "on_ranks", what=what, ranks=str(ranks))


@dataclass(frozen=True, slots=True)
class Asking:
    """A question on its way, `began` by the asker's clock. `problem` says why there will be no answer; `answer` is
    there once all of it is."""

    began: float
    stage: str = "starting"
    doing: str = ""
    answer: Answer | None = None
    problem: str = ""

    @property
    def is_over(self) -> bool:
        return bool(self.answer or self.problem)
