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
    "What data efficiency needs",
    "deepspeed/runtime/data_pipeline/config.py",
    Clash(
        pointer=f"{_SAMPLING}/curriculum_learning/curriculum_metrics",
        when=lambda config, context: (
            bool(lookup(config, f"{_SAMPLING}/curriculum_learning/enabled"))
            and not is_set(config, f"{_SAMPLING}/curriculum_learning/curriculum_metrics")
        ),
        says="data_efficiency…curriculum_metrics: missing; curriculum learning is on and DeepSpeed asserts that there "
        "is one.",
        advice="Describe at least one metric, or switch curriculum learning off.",
    ),
    Clash(
        pointer=f"{_SAMPLING}/dynamic_batching/max_tokens",
        when=lambda config, context: (
            bool(lookup(config, f"{_SAMPLING}/dynamic_batching/enabled"))
            and not is_set(config, f"{_SAMPLING}/dynamic_batching/max_tokens")
        ),
        says="data_efficiency…max_tokens: missing; dynamic batching is on and fills batches up to it.",
        advice="Give the most tokens a micro batch may have, or switch dynamic batching off.",
        since="0.16.5",
    ),
    explanation="Curriculum learning orders the samples by a metric, dynamic batching fills a batch up to a number of "
    "tokens. DeepSpeed asserts that the metric and the number are there when the feature is on.",
)


def _is_empty(config: Config, pointer: str) -> bool:
    return lookup(config, pointer) is not MISSING and not lookup(config, pointer)


_AUTOTUNING = rule(
    "DS061",
    "Autotuning",
    "deepspeed/autotuning/config.py, deepspeed/runtime/engine.py",
    *(
        Clash(
            pointer=f"/autotuning/{key}",
            when=lambda config, context, key=key: _is_empty(config, f"/autotuning/{key}"),  # type: ignore[misc]
            says=f"autotuning.{key}: an empty name is refused.",
            advice="Give a folder, or leave it out.",
        )
        for key in ("results_dir", "exps_dir")
    ),
    Clash(
        pointer="/autotuning/enabled",
        when=lambda config, context: bool(lookup(config, "/autotuning/enabled")),
        says="autotuning.enabled: a run under it ends by itself after some steps: it is one trial of the tuner.",
        advice="Switch it off for real training; start the tuner with deepspeed --autotuning.",
        severity=Severity.WARNING,
    ),
    explanation="The autotuner starts many short runs with varied configs. With autotuning.enabled in the file, the "
    "training script becomes one of them and ends after a few steps; and the names of its folders must not be "
    "empty, even when it is off.",
)


def _tensor_parallel(config: Config, context: Context) -> Iterator[Finding]:
    pointer = "/tensor_parallel/autotp_size"
    size, inner = lookup(config, pointer), lookup(config, "/tensor_parallel/tp/tp_size")
    if not context.at_least("0.16.4"):
        return
    if size == "auto" and context.at_least("0.18.6"):
        yield found(
            Severity.ERROR,
            pointer,
            "tensor_parallel.autotp_size: “auto” is compared with a number, and deepspeed.initialize stops.",
            "Give the number of GPUs that share a layer.",
        )
    if size == 0 and size is not False and context.integration is Integration.HF:
        yield found(
            Severity.ERROR,
            pointer,
            "tensor_parallel.autotp_size: the HF Trainer divides the ranks by it, and its first step stops at 0 with "
            "“integer division or modulo by zero”.",
            "Remove it: off is the default.",
            removal(pointer),
        )
    if isinstance(size, int) and size > 1:
        yield found(
            Severity.NOTE,
            pointer,
            "tensor_parallel.autotp_size: DeepSpeed divides the layers of models whose kind it knows; at others it "
            "stops with “Not able to determine model policy automatically”.",
            "Check that the model is of a kind that DeepSpeed divides, such as Llama.",
        )
    if isinstance(size, int) and size > 1 and context.world_size % size:
        yield found(
            Severity.ERROR,
            pointer,
            f"tensor_parallel.autotp_size: {size} does not divide the {context.world_size} ranks ({context.devices}).",
            "Use a divisor of the number of ranks.",
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
            f"tensor_parallel.tp.tp_size: {inner} is not autotp_size {size}.",
            "Leave it out: autotp_size says it.",
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
            f"expert_parallel.autoep_size: autoep_size × expert_tensor_parallel_size = {width} does not divide the "
            f"{context.world_size} ranks ({context.devices}).",
            "Use a divisor of the number of ranks.",
        )


_WRITER = rule(
    "DS064",
    "The fast checkpoint writer",
    "deepspeed/runtime/checkpoint_engine/decoupled_checkpoint_engine.py",
    Clash(
        pointer="/checkpoint/writer",
        when=lambda config, context: (
            isinstance(lookup(config, "/checkpoint/writer"), dict)
            and zero_stage(config) < 3
            and not is_set(config, "/checkpoint/writer/data_parallel")
        ),
        says="checkpoint.writer: below ZeRO stage 3 the engine stops while it is made, unless data_parallel says who "
        "writes.",
        advice="Set checkpoint.writer.data_parallel, or remove the block.",
        since="0.17.1",
    ),
    explanation="The block makes DeepSpeed write checkpoints with a writer of its own. It must know which ranks "
    "write: at stage 3 all do, below it data_parallel has to say so, or the engine stops while it is made.",
    since="0.17.1",
)
_ACTIVATIONS = "/activation_checkpointing"
_CHECKPOINTING = rule(
    "DS065",
    "Contiguous activation checkpoints",
    "deepspeed/runtime/activation_checkpointing/checkpointing.py: configure",
    *(
        Clash(
            pointer=f"{_ACTIVATIONS}/{key}",
            when=lambda config, context, key=key: (  # type: ignore[misc]
                lookup(config, f"{_ACTIVATIONS}/contiguous_memory_optimization") is True
                and lookup(config, f"{_ACTIVATIONS}/{key}") in (MISSING, None, False)
            ),
            says=f"activation_checkpointing.{key}: missing; contiguous_memory_optimization needs it, and "
            "deepspeed.checkpointing.configure stops without it.",
            advice=advice,
            severity=Severity.WARNING,
        )
        for key, advice in (
            ("partition_activations", "Set it to true, or switch contiguous_memory_optimization off."),
            ("number_checkpoints", "Give the number of checkpointed layers."),
        )
    ),
    explanation="contiguous_memory_optimization copies activation checkpoints into one buffer, whose size follows from "
    "partition_activations and number_checkpoints. The file passes deepspeed.initialize without them; "
    "deepspeed.checkpointing.configure, which a script that checkpoints calls, stops.",
)
_PIPELINE = rule(
    "DS066",
    "What pipelines refuse",
    "deepspeed/runtime/pipe/engine.py",
    Clash(
        pointer="/pipeline",
        when=lambda config, context: "pipeline" in config and zero_stage(config) >= 2,
        says="pipeline: only a PipelineModule reads it, and that refuses ZeRO stage 2 and 3.",
        advice="Use stage 1 or lower for a pipeline, or remove the block.",
        severity=Severity.WARNING,
    ),
    Clash(
        pointer="/managed_gradient_accumulation",
        when=lambda config, context: "pipeline" in config and lookup(config, "/managed_gradient_accumulation") is False,
        says="managed_gradient_accumulation: a PipelineModule, for which the pipeline block is, refuses false.",
        advice="Leave it out for a pipeline, or remove the pipeline block.",
        since="0.19.4",
        severity=Severity.WARNING,
    ),
    explanation="The pipeline block is for scripts that pass a PipelineModule. Its engine keeps gradients over many "
    "micro batches, which ZeRO stage 2 and 3 divide away at once, so it refuses both; it also counts accumulation "
    "itself. Without a PipelineModule nothing reads the block.",
)

RULES = (
    _DATA,
    _WRITER,
    _CHECKPOINTING,
    _PIPELINE,
    _AUTOTUNING,
    Rule(
        "DS062",
        "Tensor parallelism against the ranks",
        "deepspeed/runtime/tensor_parallel/",
        _tensor_parallel,
        "autotp_size GPUs share each layer, so the ranks must divide into whole groups of that size. It must be a "
        "number: DeepSpeed compares “auto” with one and stops. tensor_parallel.tp.tp_size says the same once more and "
        "may not say something else. The HF Trainer divides by autotp_size, so 0 stops it.",
        (Severity.ERROR, Severity.NOTE),
        since="0.16.4",
    ),
    Rule(
        "DS063",
        "Expert parallelism against the ranks",
        "deepspeed/utils/groups.py",
        _expert_parallel,
        "autoep_size ranks share the experts of a mixture-of-experts layer, and expert_tensor_parallel_size ranks "
        "share each expert. The ranks must divide into whole groups of the product.",
        since=EXPERTS_SINCE,
    ),
)
