"""The rules: what DeepSpeed does with a config beyond the type of each key. One table; each rule yields findings.

A rule is a function of the config and the context, and names the DeepSpeed source that enforces it. Types, ranges and
unknown keys of strict blocks come from the schema (`core/validation.py`).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dsgui.core import batch as batches
from dsgui.core.context import Context, Integration, version_tuple
from dsgui.core.findings import Change, Finding, Fix, Severity
from dsgui.core.hardware import FP16_CAPABILITY, NATIVE_BF16_CAPABILITY, Hardware
from dsgui.core.pointer import MISSING, lookup

Config = Mapping[str, Any]
Check = Callable[[Config, Context], Iterator[Finding]]

TRAIN = "/train_batch_size"
MICRO = "/train_micro_batch_size_per_gpu"
ACCUMULATION = "/gradient_accumulation_steps"

LARGEST_BATCH = 10**12  # samples; nothing beyond it is meant, and products stay exact in floats
AMP_REMOVED_IN = "0.19.8"
# Before 0.17 the precision blocks were read raw, so the text "auto" counted as true; since then pydantic drops it.
AUTO_DROPPED_SINCE = "0.17"


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of the table: findings carry its id and source."""

    id: str
    title: str
    source: str
    check: Check

    def findings(self, config: Config, context: Context) -> Iterator[Finding]:
        """The findings of this rule, stamped with its id and source."""
        for finding in self.check(config, context):
            yield replace(finding, rule=self.id, source=self.source)


def _finding(severity: Severity, pointer: str, message: str, advice: str = "", fix: Fix | None = None) -> Finding:
    return Finding("", severity, pointer, message, advice, fix)


# ---------------------------------------------------------------------------------------------------- batch size
def _batch_term(config: Config, pointer: str) -> batches.Number | str | None:
    """A number, "auto", None when DeepSpeed takes it for absent (null counts), or "?" for what the schema refuses."""
    value = lookup(config, pointer)
    if value is MISSING or value is None:
        return None
    if value == "auto":
        return "auto"
    if isinstance(value, int | float) and abs(value) <= LARGEST_BATCH:
        return value
    return "?"


def _batch_identity(config: Config, context: Context) -> Iterator[Finding]:
    terms = [_batch_term(config, pointer) for pointer in (TRAIN, MICRO, ACCUMULATION)]
    if context.integration is Integration.HF and terms[2] is None:
        terms[2] = 1  # accelerate writes 1 for an absent gradient_accumulation_steps (utils/dataclasses.py)
    numbers = [term for term in terms if not isinstance(term, str)]
    if len(numbers) < 3 or any(n is not None and n <= 0 for n in numbers):
        return  # "auto" and refused values have findings of their own
    solved = batches.solve(numbers[0], numbers[1], numbers[2], context.world_size)
    if solved is None or solved.holds:
        return
    yield _broken_identity(solved, numbers, context)


def _broken_identity(solved: batches.Batch, given: list[batches.Number | None], context: Context) -> Finding:
    names = ["micro batch", "accumulation steps"]
    terms = [solved.micro, solved.accumulation]
    spelled = [
        f"{name} {_number(term)}" + ("" if value is not None else " (solved by DeepSpeed)")
        for name, term, value in zip(names, terms, given[1:], strict=True)
    ]
    factors = " × ".join([*spelled, f"world size {context.world_size}"])
    message = f"train_batch_size: {_number(solved.train)} is not {factors} = {_number(solved.product)}."
    right = solved.product or _smallest(solved, given)
    return _finding(
        Severity.ERROR,
        TRAIN,
        f"{message} World size is {context.devices}.",
        f"Set it to {_number(right)}"
        + (", or clear it and DeepSpeed will derive it." if given[1] is not None else "."),
        Fix(f"Set train_batch_size to {_number(right)}", (Change(TRAIN, _number(right)),)),
    )


def _smallest(solved: batches.Batch, given: list[batches.Number | None]) -> batches.Number:
    """The smallest train batch that gives every rank one micro batch, for when a term was solved to 0."""
    return (given[1] or 1) * (given[2] or 1) * solved.world_size


def _number(value: batches.Number) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _batch_missing(config: Config, context: Context) -> Iterator[Finding]:
    if lookup(config, TRAIN) not in (MISSING, None) or lookup(config, MICRO) not in (MISSING, None):
        return
    value = '"auto"' if context.integration is Integration.HF else "1"
    because = " (the HF Trainer fills a key that says “auto”, never one that is absent)" if value != "1" else ""
    yield _finding(
        Severity.ERROR,
        MICRO,
        "No batch size: neither train_batch_size nor train_micro_batch_size_per_gpu is set"
        f"{because}. DeepSpeed needs one of them to start.",
        f"Set train_micro_batch_size_per_gpu, for example to {value}.",
        Fix(f"Set train_micro_batch_size_per_gpu to {value}", (Change(MICRO, value),)),
    )


def _batch_auto(config: Config, context: Context) -> Iterator[Finding]:
    autos = [p for p in (TRAIN, MICRO, ACCUMULATION) if lookup(config, p) == "auto"]
    if not autos:
        return
    if context.integration is Integration.NATIVE:
        for pointer in autos:
            yield _finding(
                Severity.ERROR,
                pointer,
                f"{pointer[1:]}: “auto” is filled by the HF Trainer only; native DeepSpeed compares it with a number "
                "and stops with a TypeError.",
                "Write a number, clear it so that DeepSpeed derives it, or choose “HF Trainer” above.",
            )
        return
    yield _filled_by_trainer(config, context, autos[0])


def _filled_by_trainer(config: Config, context: Context, pointer: str) -> Finding:
    """What the Trainer will multiply; an error when a train batch given as a number can't come out whole."""
    micro = _from_trainer(config, MICRO, "--per_device_train_batch_size")
    accumulation = _from_trainer(config, ACCUMULATION, "--gradient_accumulation_steps")
    train, rest = _batch_term(config, TRAIN), context.world_size
    for term in (_batch_term(config, MICRO), _batch_term(config, ACCUMULATION)):
        rest *= int(term) if isinstance(term, int | float) and term >= 1 else 1
    if isinstance(train, int | float) and train % rest:
        return _finding(
            Severity.ERROR,
            TRAIN,
            f"train_batch_size: {_number(train)} is not {micro} × {accumulation} × world size {context.world_size} for "
            f"any value of the arguments: it does not divide by {rest}.",
            "Write “auto”, and the Trainer's arguments decide.",
            Fix("Set train_batch_size to “auto”", (Change(TRAIN, '"auto"'),)),
        )
    shown = "" if train in (None, "auto", "?") else f"; your arguments must make it {_number(float(train))}"
    return _finding(
        Severity.NOTE,
        pointer,
        f"The HF Trainer fills “auto”: train_batch_size = {micro} × {accumulation} × world size "
        f"{context.world_size}{shown}.",
    )


def _from_trainer(config: Config, pointer: str, option: str) -> str:
    value = lookup(config, pointer)
    if value is MISSING:
        return "1" if pointer == ACCUMULATION else pointer[1:]
    return option if value == "auto" else str(value)


# --------------------------------------------------------------------------------------- what HF compares with its own
# Key → Trainer option and its default: a number in the file must equal the argument
# (transformers/integrations/deepspeed.py, `trainer_config_process` and `fill_match`).
_COMPARED: tuple[tuple[str, str, Any], ...] = (
    (MICRO, "--per_device_train_batch_size", 8),
    (ACCUMULATION, "--gradient_accumulation_steps", 1),
    ("/gradient_clipping", "--max_grad_norm", 1.0),
    ("/optimizer/params/lr", "--learning_rate", 5e-5),
    ("/optimizer/params/betas/0", "--adam_beta1", 0.9),
    ("/optimizer/params/betas/1", "--adam_beta2", 0.999),
    ("/optimizer/params/eps", "--adam_epsilon", 1e-8),
    ("/optimizer/params/weight_decay", "--weight_decay", 0.0),
    ("/scheduler/params/warmup_max_lr", "--learning_rate", 5e-5),
    ("/scheduler/params/warmup_num_steps", "--warmup_steps", 0),
    ("/fp16/enabled", "--fp16", False),
    ("/bf16/enabled", "--bf16", False),
)


def _trainer_arguments(config: Config, context: Context) -> Iterator[Finding]:
    if context.integration is not Integration.HF:
        return
    words: dict[str, str] = {}
    pointers = []
    for pointer, option, default in _COMPARED:
        value = lookup(config, pointer)
        if isinstance(value, int | float) and value != default:
            words.setdefault(option, "" if value is True else f" {value:g}" if value < 1 else f" {_number(value)}")
            pointers.append(pointer)
    if words:
        yield _finding(
            Severity.NOTE,
            pointers[0].removesuffix("/0").removesuffix("/1"),
            "The HF Trainer compares its own arguments with these values and stops at a difference. The script needs: "
            + " ".join(option + word for option, word in words.items())
            + ".",
            "Pass them, or write “auto” in the config. The bundled recipe takes them from the config by itself.",
        )


# ----------------------------------------------------------------------------------------------------- precision
def _enabled(config: Config, block: str, context: Context) -> bool:
    """Whether DeepSpeed would switch `block` on, with pydantic's lax reading of true; HF's "auto" is not known yet."""
    value = lookup(config, f"/{block}/enabled")
    if value == "auto":
        return context.integration is Integration.NATIVE and not context.at_least(AUTO_DROPPED_SINCE)
    if isinstance(value, str):
        return value.lower() in {"true", "1", "yes", "y", "on", "t"}
    return value in (True, 1)


def _bf16_block(config: Config) -> str:
    """`bfloat16` is the old name, read when `bf16` is absent or null (deepspeed/runtime/precision_config.py)."""
    return "bfloat16" if lookup(config, "/bf16") in (MISSING, None) and "bfloat16" in config else "bf16"


def _zero_stage(config: Config) -> int:
    zero = lookup(config, "/zero_optimization")
    if isinstance(zero, bool):
        return int(zero)
    stage = lookup(config, "/zero_optimization/stage")
    if isinstance(stage, str) and stage.isdecimal():
        return int(stage)
    return int(stage) if isinstance(stage, int | float) else 0


def _sixteen_bit_pair(config: Config, context: Context) -> Iterator[Finding]:
    bf16 = _bf16_block(config)
    if not (_enabled(config, "fp16", context) and _enabled(config, bf16, context)):
        return
    yield _finding(
        Severity.ERROR,
        f"/{bf16}/enabled",
        f"fp16.enabled and {bf16}.enabled are both on; DeepSpeed {_version(context)} runs one 16-bit type and stops "
        "with “bfloat16 and fp16 modes cannot be simultaneously enabled”.",
        f"Switch one off: fp16.enabled or {bf16}.enabled to false."
        + _hf_hint(context, " Under the HF Trainer leave both “auto” and pass --bf16 or --fp16."),
    )


def _amp(config: Config, context: Context) -> Iterator[Finding]:
    if "amp" not in config:
        return
    if context.at_least(AMP_REMOVED_IN):
        yield _amp_removed(context)
    elif _enabled(config, "amp", context):
        yield from _amp_clashes(config, context)


def _amp_removed(context: Context) -> Finding:
    return _finding(
        Severity.ERROR,
        "/amp",
        f"amp: DeepSpeed {_version(context)} refuses any amp block, even one that is off: NVIDIA Apex AMP was removed "
        f"in {AMP_REMOVED_IN}.",
        "Remove the block; for 16-bit training use bf16, fp16 or torch_autocast.",
        Fix("Remove the amp block", (Change("/amp", None),)),
    )


def _amp_clashes(config: Config, context: Context) -> Iterator[Finding]:
    stage = _zero_stage(config)
    if stage > 0:
        yield _finding(
            Severity.ERROR,
            "/amp/enabled",
            f"amp.enabled is true and zero_optimization.stage is {stage}; DeepSpeed {_version(context)} stops with "
            "“Amp and ZeRO are not currently compatible”.",
            "Use fp16 or bf16 instead of amp (fp16 does much what opt_level O2 did), or set the stage to 0.",
            Fix("Remove the amp block", (Change("/amp", None),)),
        )
    sixteen = [b for b in ("fp16", _bf16_block(config)) if _enabled(config, b, context)]
    if sixteen:
        yield _finding(
            Severity.ERROR,
            "/amp/enabled",
            f"amp.enabled and {sixteen[0]}.enabled are both true; DeepSpeed {_version(context)} stops with “Cannot "
            "enable both amp with (legacy) fp16 or bfloat16 mode”.",
            "Keep one of them.",
            Fix("Remove the amp block", (Change("/amp", None),)),
        )


# ------------------------------------------------------------------------------------------------------ hardware
def _bf16_hardware(config: Config, context: Context) -> Iterator[Finding]:
    block = _bf16_block(config)
    if not _enabled(config, block, context):
        return
    for device in context.hardware:
        finding = _bf16_on(device, f"/{block}/enabled", context)
        if finding:
            yield finding


def _bf16_on(device: Hardware, pointer: str, context: Context) -> Finding | None:
    if device.vendor != "nvidia" or device.capability is None:
        return _refused_by_accelerator(device, "bf16", device.bf16, pointer)
    if device.capability >= NATIVE_BF16_CAPABILITY:
        return None
    return _finding(
        Severity.WARNING if _torch_emulates_bf16(context) else Severity.ERROR,
        pointer,
        f"bf16 is on and {device.title} has compute capability {_dots(device.capability)}; bf16 arithmetic needs 8.0 "
        "or higher (A100, RTX 30, H100 …). "
        + (
            "PyTorch emulates it here, so DeepSpeed's own check lets it pass and training is slow."
            if _torch_emulates_bf16(context)
            else "DeepSpeed stops with “Type bf16 is not supported on your device”."
        ),
        "Use fp16 on this card, or a newer card." + " T5-family models overflow in fp16: train those in fp32.",
        _bf16_to_fp16(pointer) if device.capability >= FP16_CAPABILITY else None,
    )


def _bf16_to_fp16(pointer: str) -> Fix:
    return Fix("Use fp16 instead", (Change(pointer, "false"), Change("/fp16/enabled", "true")))


def _torch_emulates_bf16(context: Context) -> bool:
    """torch.cuda.is_bf16_supported() counts emulation since torch 2.3; an unknown torch is taken for a current one."""
    return not context.torch_version or version_tuple(context.torch_version) >= (2, 3)


def _fp16_hardware(config: Config, context: Context) -> Iterator[Finding]:
    if not _enabled(config, "fp16", context):
        return
    for device in context.hardware:
        finding = _fp16_on(device)
        if finding:
            yield finding


def _fp16_on(device: Hardware) -> Finding | None:
    if device.vendor != "nvidia" or device.capability is None:
        return _refused_by_accelerator(device, "fp16", device.fp16, "/fp16/enabled")
    if device.capability >= FP16_CAPABILITY:
        return None
    return _finding(
        Severity.ERROR,
        "/fp16/enabled",
        f"fp16 is on and {device.title} has compute capability {_dots(device.capability)}; DeepSpeed needs 7.0 or "
        "higher and stops with “Type fp16 is not supported on your device”.",
        "Switch fp16 off. (On 6.x the environment variable DS_ALLOW_DEPRECATED_FP16=1 lets it through, slowly.)",
        Fix("Switch fp16 off", (Change("/fp16/enabled", "false"),)),
    )


def _refused_by_accelerator(device: Hardware, dtype: str, supported: bool | None, pointer: str) -> Finding | None:
    if supported is not False:
        return None
    return _finding(
        Severity.ERROR,
        pointer,
        f"{dtype} is on and DeepSpeed's {device.vendor.upper()} accelerator answers that this machine has none; "
        f"deepspeed.initialize stops with “Type {dtype} is not supported on your device”.",
        f"Switch {dtype} off, or plan for another device above.",
        Fix(f"Switch {dtype} off", (Change(pointer, "false"),)),
    )


def _dots(capability: tuple[int, int]) -> str:
    return f"{capability[0]}.{capability[1]}"


def _version(context: Context) -> str:
    return context.deepspeed_version or "(unknown version)"


def _hf_hint(context: Context, hint: str) -> str:
    return hint if context.integration is Integration.HF else ""


RULES: tuple[Rule, ...] = (
    Rule("DS010", "Batch-size identity", "deepspeed/runtime/config.py: _batch_assertion", _batch_identity),
    Rule(
        "DS011", "A batch size is needed", "deepspeed/runtime/config.py: _set_batch_related_parameters", _batch_missing
    ),
    Rule(
        "DS012",
        "“auto” in the batch size",
        "transformers/integrations/deepspeed.py: trainer_config_process",
        _batch_auto,
    ),
    Rule(
        "DS013",
        "Values the HF Trainer compares with its arguments",
        "transformers/integrations/deepspeed.py: fill_match",
        _trainer_arguments,
    ),
    Rule(
        "DS020",
        "fp16 and bf16 exclude each other",
        "deepspeed/runtime/config.py: _initialize_params",
        _sixteen_bit_pair,
    ),
    Rule("DS021", "amp with ZeRO, fp16 or bf16", "deepspeed/runtime/engine.py: _do_optimizer_sanity_check", _amp),
    Rule("DS030", "bf16 against the hardware", "deepspeed/accelerator/*: is_bf16_supported", _bf16_hardware),
    Rule("DS031", "fp16 against the hardware", "deepspeed/accelerator/*: is_fp16_supported", _fp16_hardware),
)


def check(config: Config, context: Context) -> list[Finding]:
    """Every finding of every rule."""
    return [finding for rule in RULES for finding in rule.findings(config, context)]
