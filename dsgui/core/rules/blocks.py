"""Blocks beyond ZeRO: what data efficiency, autotuning, tensor and expert parallelism insist on."""

from collections.abc import Iterator

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.findings import Finding, Severity
from dsgui.core.config.pointer import MISSING, lookup
from dsgui.core.rules.base import Config, Rule, found, is_set, removal, zero_stage
from dsgui.core.rules.clash import Clash, rule

EXPERTS_SINCE = "0.19.2"
_SAMPLING = "/data_efficiency/data_sampling"
_DATA = rule(
    "DS060",
    "deepspeed/runtime/data_pipeline/config.py",
    Clash(
        pointer=f"{_SAMPLING}/curriculum_learning/curriculum_metrics",
        when=lambda config, context: (
            bool(lookup(config, f"{_SAMPLING}/curriculum_learning/enabled"))
            and not is_set(config, f"{_SAMPLING}/curriculum_learning/curriculum_metrics")
        ),
        says="DS060.metrics",
    ),
    Clash(
        pointer=f"{_SAMPLING}/dynamic_batching/max_tokens",
        when=lambda config, context: (
            bool(lookup(config, f"{_SAMPLING}/dynamic_batching/enabled"))
            and not is_set(config, f"{_SAMPLING}/dynamic_batching/max_tokens")
        ),
        says="DS060.tokens",
        since="0.16.5",
    ),
)


def _is_empty(config: Config, pointer: str) -> bool:
    return lookup(config, pointer) is not MISSING and not lookup(config, pointer)


_AUTOTUNING = rule(
    "DS061",
    "deepspeed/autotuning/config.py, deepspeed/runtime/engine.py",
    *(
        Clash(
            pointer=f"/autotuning/{key}",
            when=lambda config, context, key=key: _is_empty(config, f"/autotuning/{key}"),  # type: ignore[misc]
            says="DS061.empty",
            given={"key": key},
        )
        for key in ("results_dir", "exps_dir")
    ),
    Clash(
        pointer="/autotuning/enabled",
        when=lambda config, context: bool(lookup(config, "/autotuning/enabled")),
        says="DS061.enabled",
        severity=Severity.WARNING,
    ),
)


def _tensor_parallel(config: Config, context: Context) -> Iterator[Finding]:
    pointer = "/tensor_parallel/autotp_size"
    size, inner = lookup(config, pointer), lookup(config, "/tensor_parallel/tp/tp_size")
    if size == 0 and size is not False and context.integration is Integration.HF:
        yield found(  # transformers divides by it, whichever release of DeepSpeed is there
            Severity.ERROR,
            pointer,
            "DS062.zero",
            fix=removal(pointer),
        )
    if not context.at_least("0.16.4"):
        return
    if size == "auto" and context.at_least("0.18.6"):
        yield found(
            Severity.ERROR,
            pointer,
            "DS062.auto",
        )
    if isinstance(size, int) and size > 1:
        yield found(
            Severity.NOTE,
            pointer,
            "DS062.models",
        )
    if isinstance(size, int) and size > 1 and context.world_size % size:
        yield found(
            Severity.ERROR,
            pointer,
            "DS062.no_divisor",
            size=str(size),
            ranks=str(context.world_size),
            devices=context.devices_told,
        )
    if (
        context.at_least("0.18.6")
        and isinstance(size, int)
        and size > 1
        and isinstance(inner, int)
        and inner not in (1, size)
    ):
        yield found(
            Severity.ERROR,
            "/tensor_parallel/tp/tp_size",
            "DS062.two_sizes",
            inner=str(inner),
            size=str(size),
        )


def _expert_parallel(config: Config, context: Context) -> Iterator[Finding]:
    if not context.at_least(EXPERTS_SINCE) or not lookup(config, "/expert_parallel/enabled"):
        return
    width = 1
    for key in ("autoep_size", "expert_tensor_parallel_size"):
        value = lookup(config, f"/expert_parallel/{key}")
        width *= value if isinstance(value, int) and value > 0 else 1
    if context.world_size % width:
        yield found(
            Severity.ERROR,
            "/expert_parallel/autoep_size",
            "DS063.no_divisor",
            width=str(width),
            ranks=str(context.world_size),
            devices=context.devices_told,
        )


_WRITER = rule(
    "DS064",
    "deepspeed/runtime/checkpoint_engine/decoupled_checkpoint_engine.py",
    Clash(
        pointer="/checkpoint/writer",
        when=lambda config, context: (
            isinstance(lookup(config, "/checkpoint/writer"), dict)
            and zero_stage(config) < 3
            and not is_set(config, "/checkpoint/writer/data_parallel")
        ),
        says="DS064.writers",
        since="0.17.1",
    ),
    since="0.17.1",
)
_ACTIVATIONS = "/activation_checkpointing"
_CHECKPOINTING = rule(
    "DS065",
    "deepspeed/runtime/activation_checkpointing/checkpointing.py: configure",
    *(
        Clash(
            pointer=f"{_ACTIVATIONS}/{key}",
            when=lambda config, context, key=key: (  # type: ignore[misc]
                lookup(config, f"{_ACTIVATIONS}/contiguous_memory_optimization") is True
                and lookup(config, f"{_ACTIVATIONS}/{key}") in (MISSING, None, False)
            ),
            says=code,
            severity=Severity.WARNING,
        )
        for key, code in (
            ("partition_activations", "DS065.partition"),
            ("number_checkpoints", "DS065.number"),
        )
    ),
)
_PIPELINE = rule(
    "DS066",
    "deepspeed/runtime/pipe/engine.py",
    Clash(
        pointer="/pipeline",
        when=lambda config, context: "pipeline" in config and zero_stage(config) >= 2,
        says="DS066.stage",
        severity=Severity.WARNING,
    ),
    Clash(
        pointer="/managed_gradient_accumulation",
        when=lambda config, context: "pipeline" in config and lookup(config, "/managed_gradient_accumulation") is False,
        says="DS066.accumulation",
        since="0.19.4",
        severity=Severity.WARNING,
    ),
)

RULES = (
    _DATA,
    _WRITER,
    _CHECKPOINTING,
    _PIPELINE,
    _AUTOTUNING,
    Rule(
        "DS062",
        "deepspeed/runtime/tensor_parallel/",
        _tensor_parallel,
        (Severity.ERROR, Severity.NOTE),
    ),
    Rule(
        "DS063",
        "deepspeed/utils/groups.py",
        _expert_parallel,
        since=EXPERTS_SINCE,
    ),
)
