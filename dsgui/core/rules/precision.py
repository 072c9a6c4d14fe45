"""fp16, bf16 and amp against each other and against ZeRO."""

from collections.abc import Iterator
from dataclasses import replace

from dsgui.core.config.context import Context, Integration, version_tuple
from dsgui.core.config.conversion import truth
from dsgui.core.config.document import json_text
from dsgui.core.config.findings import Change, Finding, Fix, Severity
from dsgui.core.config.pointer import lookup
from dsgui.core.rules.base import (
    AUTO_DROPPED_SINCE,
    Config,
    Rule,
    advised,
    bf16_block,
    clearing,
    enabled,
    found,
    hf_hint,
    name_of,
    offload_device,
    one_of,
    removal,
    version,
    zero_stage,
)
from dsgui.core.rules.keys import nearest
from dsgui.core.rules.optimizer import optimizer_class
from dsgui.core.rules.torch_nn import FIRST_UNKNOWN_TORCH, NAMES
from dsgui.core.texts.saying import Said, phrase

_CONFIG = "deepspeed/runtime/config.py"
AMP_REMOVED_IN, AUTOCAST_SINCE = "0.19.8", "0.17.2"
MASTER_AT_EVERY_STAGE_SINCE = BF16_MASTER_SINCE = "0.18.3"
PARAM_DTYPE_SINCE, BF16_SUMS_SINCE, FP32_SUMS_GONE_IN = "0.19.2", "0.17.6", "0.18.5"


def _sixteen_bit_pair(config: Config, context: Context) -> Iterator[Finding]:
    bf16 = bf16_block(config)
    if not (enabled(config, "fp16", context) and enabled(config, bf16, context)):
        return
    both = found(
        Severity.ERROR,
        f"/{bf16}/enabled",
        "DS020.both",
        advice=(advised("DS020.both", bf16=bf16), *hf_hint(context, "DS020.hf")),
        bf16=bf16,
        release=version(context),
    )
    off = (Fix.of("switch_off", Change(f"/{one}/enabled", "false"), key=one) for one in ("fp16", bf16))
    yield replace(both, choices=tuple(off))


def _amp(config: Config, context: Context) -> Iterator[Finding]:
    if "amp" not in config:
        return
    if context.at_least(AMP_REMOVED_IN):
        yield _amp_removed(context)
    elif config["amp"] is None:
        yield found(
            Severity.ERROR,
            "/amp",
            "DS021.null",
            fix=Fix.of("remove_block", Change("/amp", None), key="amp"),
            release=version(context),
        )
    elif enabled(config, "amp", context):
        yield from _amp_clashes(config, context)


def _amp_removed(context: Context) -> Finding:
    return found(
        Severity.ERROR,
        "/amp",
        "DS021.removed",
        fix=Fix.of("remove_block", Change("/amp", None), key="amp"),
        release=version(context),
        removed=AMP_REMOVED_IN,
    )


def _amp_clashes(config: Config, context: Context) -> Iterator[Finding]:
    stage = zero_stage(config)
    if stage > 0:
        yield found(
            Severity.ERROR,
            "/amp/enabled",
            "DS021.zero",
            fix=Fix.of("remove_block", Change("/amp", None), key="amp"),
            stage=str(stage),
            release=version(context),
        )
    sixteen = [b for b in ("fp16", bf16_block(config)) if enabled(config, b, context)]
    if sixteen:
        yield found(
            Severity.ERROR,
            "/amp/enabled",
            "DS021.sixteen_bit",
            fix=Fix.of("remove_block", Change("/amp", None), key="amp"),
            block=sixteen[0],
            release=version(context),
        )


def _sixteen_bit_master(config: Config, context: Context) -> Iterator[Finding]:
    """Asked for whether the block is on or not, since the blocks are read by pydantic."""
    blocks = ("fp16", "bf16") if context.at_least(BF16_MASTER_SINCE) else ("fp16",)
    asked = [b for b in blocks if truth(lookup(config, f"/{b}/{b}_master_weights_and_grads")) is True]
    states = "bf16" in blocks and truth(lookup(config, "/bf16/bf16_optimizer_states")) is True
    for block in asked:
        if context.at_least(AUTO_DROPPED_SINCE) or enabled(config, block, context):
            yield from _master_of(block, states, config, context)
    if len(asked) == 2:
        yield _master("/bf16/bf16_master_weights_and_grads", "DS023.two")
    if states and "bf16" not in asked:
        yield _master("/bf16/bf16_optimizer_states", "DS023.states_alone")


def _master_of(block: str, states: bool, config: Config, context: Context) -> Iterator[Finding]:
    pointer, stage = f"/{block}/{block}_master_weights_and_grads", zero_stage(config)
    everywhere = context.at_least(MASTER_AT_EVERY_STAGE_SINCE)
    offloaded = offload_device(config, "offload_optimizer") != "none"
    if stage not in ((1, 2, 3) if everywhere else (2,)):
        yield _master(pointer, "DS023.stages" if everywhere else "DS023.stage_2")
    elif (block == "fp16" or not states or offloaded) and not _on_cpu_adam(config, offloaded):
        yield _master(pointer, "DS023.offload")


def _on_cpu_adam(config: Config, offloaded: bool) -> bool:
    """Whether it can be DeepSpeedCPUAdam: an optimizer from the script may be."""
    return offloaded and (not name_of(config, "optimizer") or optimizer_class(config) == "DeepSpeedCPUAdam")


def _master(pointer: str, code: str) -> Finding:
    return found(
        Severity.ERROR, pointer, code, advice="DS023.condition", fix=removal(pointer), key=pointer[1:].replace("/", ".")
    )


_DTYPE_NAMES = {"fp32": "fp32", "float32": "fp32", "fp16": "fp16", "float16": "fp16", "half": "fp16"}
_DTYPE_NAMES |= {"bf16": "bf16", "bfloat16": "bf16"}


def _needs_type(config: Config, gradients: str | None, context: Context) -> Iterator[Finding]:
    """Where the Trainer's arguments decide the model's type, and nobody said them."""
    if context.integration is Integration.NATIVE or context.arguments or zero_stage(config) or not gradients:
        return
    options: dict[str, str | Said] = {"fp32": phrase("no_option"), "fp16": "--fp16", "bf16": "--bf16"}
    right = [option for model, option in options.items() if _adds_up_in(gradients, model, context)]
    if len(right) < len(options):
        yield found(
            Severity.NOTE,
            "/data_types/grad_accum_dtype",
            "DS024.arguments",
            release=version(context),
            gradients=gradients,
            options=one_of(right or [phrase("another_type")]),
        )


def _data_types(config: Config, context: Context) -> Iterator[Finding]:
    """`data_types` against the type the model runs in, where the file alone decides that."""
    model = _model_type(config, context)
    gradients = _DTYPE_NAMES.get(str(lookup(config, "/data_types/grad_accum_dtype")))
    if not model:
        yield from _needs_type(config, gradients, context)
        return
    if zero_stage(config) == 0 and gradients and not _adds_up_in(gradients, model, context):
        yield found(
            Severity.ERROR,
            "/data_types/grad_accum_dtype",
            "DS024.sums",
            fix=clearing("/data_types/grad_accum_dtype"),
            release=version(context),
            model=model,
            gradients=gradients,
        )
    parameters = _DTYPE_NAMES.get(str(lookup(config, "/data_types/param_dtype")))
    if context.at_least(PARAM_DTYPE_SINCE) and parameters and parameters != model:
        yield found(
            Severity.ERROR,
            "/data_types/param_dtype",
            "DS024.parameters",
            fix=clearing("/data_types/param_dtype"),
            parameters=parameters,
            model=model,
        )


def _model_type(config: Config, context: Context) -> str:
    """ "" where the Trainer's --fp16 or --bf16 decides: “auto” in a block, or no block at all."""
    bf16 = bf16_block(config)
    switches = [lookup(config, f"/{block}/enabled") for block in ("fp16", bf16)]
    hf = context.integration is Integration.HF
    if ("auto" in switches or (hf and True not in switches)) and (not hf or context.arguments is None):
        return ""
    return next((b for b, block in (("fp16", "fp16"), ("bf16", bf16)) if enabled(config, block, context)), "fp32")


def _adds_up_in(gradients: str, model: str, context: Context) -> bool:
    """Whether plain data parallelism does it (deepspeed/runtime/engine.py, `_do_optimizer_sanity_check`)."""
    if model == "bf16" and gradients == "bf16":
        return context.at_least(BF16_SUMS_SINCE)
    if model == "bf16" and gradients == "fp32":
        return not context.at_least(FP32_SUMS_GONE_IN)
    return model == gradients


def _autocast(config: Config, context: Context) -> Iterator[Finding]:
    quantized = "/zero_optimization/zero_quantized_weights"
    if not context.at_least(AUTOCAST_SINCE):
        return
    if truth(lookup(config, "/torch_autocast/enabled")) is True and truth(lookup(config, quantized)) is True:
        yield found(
            Severity.ERROR,
            quantized,
            "DS025.quantized",
            fix=removal(quantized),
        )


_SAFE = "/torch_autocast/lower_precision_safe_modules"


def _safe_modules(config: Config, context: Context) -> Iterator[Finding]:
    """Each is imported as package.Class; of other packages than torch.nn only the script's environment knows."""
    names = lookup(config, _SAFE)
    on = context.at_least(AUTOCAST_SINCE) and truth(lookup(config, "/torch_autocast/enabled")) is True
    if not on or not isinstance(names, list):
        return
    for index, name in enumerate(names):
        package, dot, kind = name.rpartition(".") if isinstance(name, str) else ("torch.nn", ".", "Linear")
        if not dot or (package == "torch.nn" and kind not in NAMES and _is_known(context.torch_version)):
            yield _no_class(f"{_SAFE}/{index}", name, nearest(kind, NAMES))


def _is_known(torch: str) -> bool:
    """Whether NAMES has every class of that release; an unknown one counts as known."""
    return version_tuple(torch) < version_tuple(FIRST_UNKNOWN_TORCH)


def _no_class(pointer: str, name: str, near: str) -> Finding:
    literal = json_text(f"torch.nn.{near}")
    return found(
        Severity.ERROR,
        pointer,
        "DS029.no_class",
        advice="did_you_mean" if near else "DS029.no_class",
        fix=Fix.of("write", Change(pointer, literal), value=f"torch.nn.{near}") if near else None,
        name=name[:80],
        near=f"torch.nn.{near}",
    )


_LEVELS = {"O0": "DS027.o0", "O1": "DS027.o1", "O2": "DS027.o2", "O3": "DS027.o3"}


def _opt_level(config: Config, context: Context) -> Iterator[Finding]:
    level = str(lookup(config, "/amp/opt_level"))
    if not context.at_least(AMP_REMOVED_IN) and level in _LEVELS and enabled(config, "amp", context):
        yield found(Severity.NOTE, "/amp/opt_level", _LEVELS[level])


RULES = (
    Rule(
        "DS020",
        f"{_CONFIG}: _initialize_params",
        _sixteen_bit_pair,
    ),
    Rule(
        "DS021",
        "deepspeed/runtime/engine.py: _do_optimizer_sanity_check",
        _amp,
    ),
    Rule(
        "DS023",
        "deepspeed/runtime/base_optimizer.py",
        _sixteen_bit_master,
    ),
    Rule(
        "DS024",
        "deepspeed/runtime/engine.py: get_data_types",
        _data_types,
        (Severity.ERROR, Severity.NOTE),
    ),
    Rule(
        "DS025",
        "deepspeed/runtime/torch_autocast.py",
        _autocast,
        since=AUTOCAST_SINCE,
    ),
    Rule(
        "DS029",
        "deepspeed/runtime/torch_autocast.py: init_autocast_params",
        _safe_modules,
        since=AUTOCAST_SINCE,
    ),
    Rule(
        "DS027",
        "deepspeed/runtime/engine.py: _configure_distributed_model",
        _opt_level,
        (Severity.NOTE,),
        until=AMP_REMOVED_IN,
    ),
)
