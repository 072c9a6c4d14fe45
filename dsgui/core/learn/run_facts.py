"""What a tutorial looks at of a run: how it was started, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dsgui.core.config.context import Integration
from dsgui.core.launch.checkpoint import RESUME
from dsgui.core.launch.plan import Plan
from dsgui.core.launch.state import RunState
from dsgui.core.script.words import value_of

_BATCH_OPTIONS = ("--per_device_train_batch_size",)
_RESUME_OPTIONS = (RESUME, "--resume")
_FROM_THE_START = ("", "none", "false")
_LORA_OPTIONS = ("--lora_r", "--lora_rank", "--lora_alpha", "--use_peft", "--use_lora")


@dataclass(frozen=True, slots=True)
class Setup:
    """How a run was started. `batch` and `micro` are None where neither config nor arguments say them in figures.
    `script` is its name in small letters, without the folder. `resumed`: it went on from a checkpoint."""

    integration: Integration
    stage: int
    ranks: int
    optimizer_at: str = "none"
    batch: int | None = None
    micro: int | None = None
    lora: bool = False
    script: str = ""
    resumed: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run achieved and used; None for what is not known (yet)."""

    first_loss: float | None = None
    lowest_loss: float | None = None
    final_loss: float | None = None
    steps: int | None = None
    step_s: float | None = None
    host_bytes: int | None = None
    gpu_bytes: int | None = None

    @property
    def halved(self) -> bool:
        """Whether the loss came down to half of the first one logged."""
        first, lowest = self.first_loss, self.lowest_loss
        return first is not None and lowest is not None and 0 <= lowest <= first / 2


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A training. `worked_on`: a job after training on what it left has succeeded."""

    run_id: str
    name: str
    state: RunState
    setup: Setup
    outcome: Outcome = Outcome()
    worked_on: bool = False


def told_apart(runs: Sequence[RunFacts]) -> tuple[str, ...]:
    """Their names; with the end of its id where another is called the same."""
    names = [run.name for run in runs]
    same = [names.count(name) > 1 for name in names]
    ends = (run.run_id.rpartition("-")[2] for run in runs)
    return tuple(f"{name} ({end})" if one else name for name, end, one in zip(names, ends, same, strict=True))


def setup_of(plan: Plan, config: Mapping[str, Any]) -> Setup:
    """`config` is the config as launched, {} where it can't be read."""
    zero = _block(config, "zero_optimization")
    micro = _count(config.get("train_micro_batch_size_per_gpu")) or _count(value_of(plan.arguments, _BATCH_OPTIONS))
    batch = _count(config.get("train_batch_size"))
    each = _count(config.get("gradient_accumulation_steps"))
    if batch is None and micro and each:
        batch = micro * each * plan.ranks
    return Setup(
        integration=plan.config_argument.integration,
        stage=_count(zero.get("stage")) or 0,
        ranks=plan.ranks,
        optimizer_at=str(_block(zero, "offload_optimizer").get("device") or "none"),
        batch=batch,
        micro=micro,
        lora=_has_lora(plan),
        script=_script(plan),
        resumed=(value_of(plan.arguments, _RESUME_OPTIONS) or "none").lower() not in _FROM_THE_START,
    )


def _has_lora(plan: Plan) -> bool:
    """A script says so by its name or by its options; nothing else of a plan tells."""
    return "lora" in _script(plan) or any(word.partition("=")[0] in _LORA_OPTIONS for word in plan.arguments)


def _script(plan: Plan) -> str:
    return plan.script.rpartition("/")[2].lower()


def _block(config: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = config.get(key)
    return value if isinstance(value, Mapping) else {}


def _count(value: object) -> int | None:
    if isinstance(value, str):
        value = int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else None
    whole = isinstance(value, int | float) and not isinstance(value, bool) and value > 0 and value == int(value)
    return int(value) if whole and isinstance(value, int | float) else None
