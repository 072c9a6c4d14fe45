"""What every rule is made of: the table's entry, a finding, and the readings of a config that many rules share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from dsgui.core.config.batch_size import Number
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.conversion import truth
from dsgui.core.config.findings import Change, Finding, Fix, Severity
from dsgui.core.config.pointer import MISSING, lookup, split
from dsgui.core.texts.english import TEXTS
from dsgui.core.texts.saying import Said, phrase, said, words

Config = Mapping[str, Any]
Check = Callable[[Config, Context], Iterator[Finding]]

TRAIN = "/train_batch_size"
MICRO = "/train_micro_batch_size_per_gpu"
ACCUMULATION = "/gradient_accumulation_steps"

# Before 0.17.1 the precision blocks were read raw, so the text "auto" counted as true; since then pydantic drops it.
AUTO_DROPPED_SINCE = "0.17.1"


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of the table: its findings carry its id and source. `severities`: those that they can have. `since`,
    `until`: the releases it holds for, from the first to the first that it does not."""

    id: str
    source: str
    check: Check
    severities: tuple[Severity, ...] = (Severity.ERROR,)
    since: str = ""
    until: str = ""

    @property
    def title(self) -> str:
        return str(said("rule_titles", self.id))

    @property
    def explanation(self) -> str:
        """What DeepSpeed does, why it matters and what to do, in two to four sentences."""
        return str(said("rule_explanations", self.id))

    def findings(self, config: Config, context: Context) -> Iterator[Finding]:
        """The findings of this rule, stamped with its source."""
        for finding in self.check(config, context):
            yield replace(finding, source=self.source)


def found(
    severity: Severity,
    pointer: str,
    code: str,
    /,
    *,
    advice: str | tuple[Said, ...] = "",
    fix: Fix | None = None,
    source: str = "",
    **given: str | Said,
) -> Finding:
    """What the catalogue's "findings" say under `code`, which begins with the rule's id: `DS010.broken`. `advice` is a
    code as well, where it is not that of its own, or what to do in sentences; `given` is for both."""
    filled = tuple(given.items())
    if isinstance(advice, str):
        known = bool(advice) or code in TEXTS["advice"]
        advice = (Said("advice", advice or code, filled),) if known else ()
    return Finding(code[: code.index(".")], severity, pointer, Said("findings", code, filled), advice, fix, source)


def advised(code: str, /, **given: str | Said) -> Said:
    """A sentence of advice."""
    return Said("advice", code, tuple(given.items()))


def one_of(names: Sequence[str | Said]) -> str | Said:
    """`a`, `a or b`, `a or b or c`."""
    return _joined("or", names)


def all_of(names: Sequence[str | Said]) -> str | Said:
    """`a`, `a and b`, `a and b and c`."""
    return _joined("and", names)


def _joined(word: str, names: Sequence[str | Said]) -> str | Said:
    return reduce(lambda first, second: phrase(word, first=first, second=second), names)


def enabled(config: Config, block: str, context: Context) -> bool:
    """Whether DeepSpeed would switch `block` on: any text did, while it was read raw. What the HF Trainer writes there
    is known with its arguments only."""
    value = lookup(config, f"/{block}/enabled")
    raw = not context.at_least(AUTO_DROPPED_SINCE)
    if context.integration is Integration.HF and block in ("fp16", "bf16") and context.arguments is not None:
        if block not in config:
            return context.arguments.mixed_precision == block
        value = context.arguments.switched_on(block) if value == "auto" else value
    if context.integration is Integration.HF and block == "bfloat16":
        return False  # accelerate adds a bf16 block, and DeepSpeed does not look at the old name then
    if value == "auto":
        return context.integration is Integration.NATIVE and raw
    return bool(value) if raw else truth(value) is True


def bf16_block(config: Config) -> str:
    """`bfloat16` is the old name, read when `bf16` is absent or null (deepspeed/runtime/precision_config.py)."""
    return "bfloat16" if lookup(config, "/bf16") in (MISSING, None) and "bfloat16" in config else "bf16"


def zero_stage(config: Config) -> int:
    zero = lookup(config, "/zero_optimization")
    if isinstance(zero, bool):
        return int(zero)
    stage = lookup(config, "/zero_optimization/stage")
    if isinstance(stage, str) and stage.isdecimal():
        return int(stage)
    return int(stage) if isinstance(stage, int | float) else 0


def version(context: Context) -> str:
    return context.deepspeed_version or words("configs", "unknown_release")


ELASTICITY_REMOVED_IN = "0.19.8"


def elastic(config: Config, context: Context) -> bool:
    """Whether elastic training chooses the batch sizes, so that the file need not."""
    return not context.at_least(ELASTICITY_REMOVED_IN) and bool(lookup(config, "/elasticity/enabled") is True)


def hf_hint(context: Context, code: str) -> tuple[Said, ...]:
    """One more sentence of advice where the HF Trainer reads the file."""
    return (advised(code),) if context.integration is Integration.HF else ()


def number(value: Number) -> str:
    return str(int(value)) if value == int(value) else str(value)


def is_set(config: Config, pointer: str) -> bool:
    """Whether the config says anything at `pointer`; null counts as nothing."""
    return lookup(config, pointer) not in (MISSING, None)


def value_or(config: Config, pointer: str, default: Any) -> Any:
    """The value at `pointer`, `default` where there is none."""
    value = lookup(config, pointer)
    return default if value is MISSING else value


def offload_device(config: Config, what: str) -> str:
    """Where `offload_optimizer` or `offload_param` puts its states: "none", "cpu" or "nvme"; old switches count."""
    device = lookup(config, f"/zero_optimization/{what}/device")
    if isinstance(device, str):
        return device
    old = {"offload_optimizer": "cpu_offload", "offload_param": "cpu_offload_param"}[what]
    return "cpu" if lookup(config, f"/zero_optimization/{old}") is True else "none"


def name_of(config: Config, block: str) -> str:
    """The `type` of the optimizer or scheduler, "" where the file chooses none."""
    chosen = lookup(config, f"/{block}/type")
    return chosen if isinstance(chosen, str) else ""


ZERO = "/zero_optimization"


def zero_key(config: Config, key: str, default: object = None) -> object:
    """The value of a key of the ZeRO block."""
    return value_or(config, f"{ZERO}/{key}", default)


def write(pointer: str, literal: str) -> Fix:
    """The fix that sets one key."""
    return Fix.of("set", Change(pointer, literal), key=split(pointer)[-1], value=literal)


def write_auto(pointer: str) -> Fix:
    """The fix that leaves one key to who fills it."""
    return Fix.of("set_to_auto", Change(pointer, '"auto"'), key=split(pointer)[-1])


def removal(pointer: str) -> Fix:
    """The fix that removes one key."""
    return Fix.of("remove", Change(pointer, None), key=split(pointer)[-1])


def clearing(pointer: str) -> Fix:
    """The fix that leaves one key to its default."""
    return Fix.of("clear", Change(pointer, None), key=split(pointer)[-1])


def switched_on(pointer: str) -> Fix:
    return Fix.of("switch_on", Change(pointer, "true"), key=split(pointer)[-1])


def switched_off(pointer: str, literal: str = "false") -> Fix:
    return Fix.of("switch_off", Change(pointer, literal), key=split(pointer)[-1])


def overlaps(config: Config) -> bool:
    return truth(zero_key(config, "overlap_comm")) is True
