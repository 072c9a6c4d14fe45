"""fp16, bf16 and amp against each other and against ZeRO."""

from collections.abc import Iterator

from dsgui.core.config.context import Context, Integration, version_tuple
from dsgui.core.config.conversion import truth
from dsgui.core.config.document import json_text
from dsgui.core.config.findings import Change, Finding, Fix, Severity
from dsgui.core.config.pointer import lookup
from dsgui.core.rules.base import (
    AUTO_DROPPED_SINCE,
    Config,
    Rule,
    bf16_block,
    clearing,
    enabled,
    found,
    hf_hint,
    name_of,
    offload_device,
    removal,
    version,
    zero_stage,
)
from dsgui.core.rules.keys import nearest
from dsgui.core.rules.optimizer import optimizer_class
from dsgui.core.rules.torch_nn import FIRST_UNKNOWN_TORCH, NAMES

_CONFIG = "deepspeed/runtime/config.py"
AMP_REMOVED_IN, AUTOCAST_SINCE = "0.19.8", "0.17.2"
MASTER_AT_EVERY_STAGE_SINCE = BF16_MASTER_SINCE = "0.18.3"
PARAM_DTYPE_SINCE, BF16_SUMS_SINCE, FP32_SUMS_GONE_IN = "0.19.2", "0.17.6", "0.18.5"


def _sixteen_bit_pair(config: Config, context: Context) -> Iterator[Finding]:
    bf16 = bf16_block(config)
    if not (enabled(config, "fp16", context) and enabled(config, bf16, context)):
        return
    yield found(
        Severity.ERROR,
        f"/{bf16}/enabled",
        f"fp16.enabled and {bf16}.enabled are both on; DeepSpeed {version(context)} runs one 16-bit type and stops "
        "with “bfloat16 and fp16 modes cannot be simultaneously enabled”.",
        f"Switch one off: fp16.enabled or {bf16}.enabled to false."
        + hf_hint(context, " Under the HF Trainer leave both “auto” and pass --bf16 or --fp16."),
    )


def _amp(config: Config, context: Context) -> Iterator[Finding]:
    if "amp" not in config:
        return
    if context.at_least(AMP_REMOVED_IN):
        yield _amp_removed(context)
    elif config["amp"] is None:
        yield found(
            Severity.ERROR,
            "/amp",
            f"amp: null; DeepSpeed {version(context)} looks into the block and stops with an AttributeError.",
            "Remove it.",
            Fix.of("remove_block", Change("/amp", None), key="amp"),
        )
    elif enabled(config, "amp", context):
        yield from _amp_clashes(config, context)


def _amp_removed(context: Context) -> Finding:
    return found(
        Severity.ERROR,
        "/amp",
        f"amp: DeepSpeed {version(context)} refuses any amp block, even one that is off: NVIDIA Apex AMP was removed "
        f"in {AMP_REMOVED_IN}.",
        "Remove the block; for 16-bit training use bf16, fp16 or torch_autocast.",
        Fix.of("remove_block", Change("/amp", None), key="amp"),
    )


def _amp_clashes(config: Config, context: Context) -> Iterator[Finding]:
    stage = zero_stage(config)
    if stage > 0:
        yield found(
            Severity.ERROR,
            "/amp/enabled",
            f"amp.enabled is true and zero_optimization.stage is {stage}; DeepSpeed {version(context)} stops with "
            "“Amp and ZeRO are not currently compatible”.",
            "Use fp16 or bf16 instead of amp (fp16 does much what opt_level O2 did), or set the stage to 0.",
            Fix.of("remove_block", Change("/amp", None), key="amp"),
        )
    sixteen = [b for b in ("fp16", bf16_block(config)) if enabled(config, b, context)]
    if sixteen:
        yield found(
            Severity.ERROR,
            "/amp/enabled",
            f"amp.enabled and {sixteen[0]}.enabled are both true; DeepSpeed {version(context)} stops with “Cannot "
            "enable both amp with (legacy) fp16 or bfloat16 mode”.",
            "Keep one of them.",
            Fix.of("remove_block", Change("/amp", None), key="amp"),
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
        yield _master("/bf16/bf16_master_weights_and_grads", "can't be on together with fp16's")
    if states and "bf16" not in asked:
        yield _master("/bf16/bf16_optimizer_states", "needs bf16_master_weights_and_grads as well")


def _master_of(block: str, states: bool, config: Config, context: Context) -> Iterator[Finding]:
    pointer, stage = f"/{block}/{block}_master_weights_and_grads", zero_stage(config)
    everywhere = context.at_least(MASTER_AT_EVERY_STAGE_SINCE)
    offloaded = offload_device(config, "offload_optimizer") != "none"
    if stage not in ((1, 2, 3) if everywhere else (2,)):
        yield _master(pointer, f"works with ZeRO stage {'1, 2 or 3' if everywhere else '2'} only")
    elif (block == "fp16" or not states or offloaded) and not _on_cpu_adam(config, offloaded):
        yield _master(pointer, "needs the optimizer offloaded to the CPU, with DeepSpeed's own CPU Adam")


def _on_cpu_adam(config: Config, offloaded: bool) -> bool:
    """Whether it can be DeepSpeedCPUAdam: an optimizer from the script may be."""
    return offloaded and (not name_of(config, "optimizer") or optimizer_class(config) == "DeepSpeedCPUAdam")


def _master(pointer: str, why: str) -> Finding:
    key = pointer[1:].replace("/", ".")
    fix = removal(pointer)
    return found(Severity.ERROR, pointer, f"{key}: it {why}.", "Meet the condition, or remove the key.", fix)


_DTYPE_NAMES = {"fp32": "fp32", "float32": "fp32", "fp16": "fp16", "float16": "fp16", "half": "fp16"}
_DTYPE_NAMES |= {"bf16": "bf16", "bfloat16": "bf16"}


def _needs_type(config: Config, gradients: str | None, context: Context) -> Iterator[Finding]:
    """Where the Trainer's arguments decide the model's type, and nobody said them."""
    if context.integration is Integration.NATIVE or context.arguments or zero_stage(config) or not gradients:
        return
    options = {"fp32": "neither --fp16 nor --bf16", "fp16": "--fp16", "bf16": "--bf16"}
    right = [words for model, words in options.items() if _adds_up_in(gradients, model, context)]
    if len(right) < len(options):
        yield found(
            Severity.NOTE,
            "/data_types/grad_accum_dtype",
            f"data_types.grad_accum_dtype: without ZeRO DeepSpeed {version(context)} adds up gradients in {gradients} "
            f"only with {' or '.join(right) or 'another type'} among the script's arguments.",
            "Pass it, clear the key, or use ZeRO.",
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
            f"data_types.grad_accum_dtype: DeepSpeed {version(context)} without ZeRO does not add up gradients of a "
            f"model in {model} in {gradients}.",
            "Clear it, or use ZeRO.",
            clearing("/data_types/grad_accum_dtype"),
        )
    parameters = _DTYPE_NAMES.get(str(lookup(config, "/data_types/param_dtype")))
    if context.at_least(PARAM_DTYPE_SINCE) and parameters and parameters != model:
        yield found(
            Severity.ERROR,
            "/data_types/param_dtype",
            f"data_types.param_dtype: {parameters}, while the precision blocks make the model run in {model}.",
            "Clear it: the precision blocks decide.",
            clearing("/data_types/param_dtype"),
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
            "zero_optimization.zero_quantized_weights: does not work under torch_autocast.",
            "Switch one of them off.",
            removal(quantized),
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
        f"torch_autocast.lower_precision_safe_modules: “{name[:80]}” can't be imported, and deepspeed.initialize stops "
        "(ValueError: Failed to import lower precision safe module).",
        f"Did you mean torch.nn.{near}?" if near else "Write a package and a class, such as torch.nn.Linear.",
        Fix.of("write", Change(pointer, literal), value=f"torch.nn.{near}") if near else None,
    )


_LEVELS = {
    "O0": "fp32 throughout: a baseline, no mixed precision",
    "O1": "fp16 for the operations that are known to be safe, fp32 weights",
    "O2": "the whole model in fp16 except batch norms, fp32 master weights: near to what the fp16 block does",
    "O3": "fp16 throughout, no master weights: fast, and it rarely converges",
}


def _opt_level(config: Config, context: Context) -> Iterator[Finding]:
    level = str(lookup(config, "/amp/opt_level"))
    if not context.at_least(AMP_REMOVED_IN) and level in _LEVELS and enabled(config, "amp", context):
        yield found(Severity.NOTE, "/amp/opt_level", f"amp.opt_level: {level} is {_LEVELS[level]}.")


RULES = (
    Rule(
        "DS020",
        "fp16 and bf16 exclude each other",
        f"{_CONFIG}: _initialize_params",
        _sixteen_bit_pair,
        "A model runs in one 16-bit type, and DeepSpeed stops when both blocks are enabled. Files that serve two kinds "
        "of cards often carry both: switch one off, or under the HF Trainer leave both “auto” and let --fp16 or --bf16 "
        "choose.",
    ),
    Rule(
        "DS021",
        "amp with ZeRO, fp16 or bf16",
        "deepspeed/runtime/engine.py: _do_optimizer_sanity_check",
        _amp,
        "NVIDIA Apex AMP was taken out in DeepSpeed 0.19.8, which refuses any amp block, even one that is off. Older "
        "releases accept the block when they read the file and stop at deepspeed.initialize when amp meets ZeRO, fp16 "
        "or bf16. Remove it and use bf16, fp16 or torch_autocast.",
    ),
    Rule(
        "DS023",
        "16-bit master weights",
        "deepspeed/runtime/base_optimizer.py",
        _sixteen_bit_master,
        "Keeping master weights and gradients in 16 bits halves their memory, and DeepSpeed does it in few "
        "combinations only: with ZeRO (stage 2 alone before 0.18.3) and with the optimizer offloaded to DeepSpeed's "
        "own CPU Adam, or in bf16 with the optimizer states in 16 bits as well. In any other it stops.",
    ),
    Rule(
        "DS024",
        "Data types",
        "deepspeed/runtime/engine.py: get_data_types",
        _data_types,
        "data_types says in which type gradients are added up and parameters are kept. Without ZeRO the gradients' "
        "type must fit the model's, and since 0.19.2 param_dtype must be the type that the precision blocks choose. "
        "Usually the block can be left out: the precision blocks decide.",
        (Severity.ERROR, Severity.NOTE),
    ),
    Rule(
        "DS025",
        "torch.autocast with quantized weights",
        "deepspeed/runtime/torch_autocast.py",
        _autocast,
        "torch_autocast gathers parameters in its own lower type, zero_quantized_weights gathers them quantized; "
        "DeepSpeed does one of the two and stops when both are asked for. Leave one of them out.",
        since=AUTOCAST_SINCE,
    ),
    Rule(
        "DS029",
        "Modules for the lower precision",
        "deepspeed/runtime/torch_autocast.py: init_autocast_params",
        _safe_modules,
        "lower_precision_safe_modules names classes whose gradients may travel in the lower type. Each name is a "
        "package and a class, which DeepSpeed imports when the engine is made, and it stops at one that is not there. "
        "dsgui knows the classes of torch.nn; those of other packages are not checked.",
        since=AUTOCAST_SINCE,
    ),
    Rule(
        "DS027",
        "What amp's opt_level does",
        "deepspeed/runtime/engine.py: _configure_distributed_model",
        _opt_level,
        "Apex has four levels. O0 trains in fp32; O1 runs the operations that are known to be safe in fp16; O2 keeps "
        "the whole model in fp16 and master weights in fp32; O3 is fp16 throughout, without master weights, and "
        "rarely converges. DeepSpeed 0.19.8 has no Apex any more: bf16 or torch_autocast do what O1 did, fp16 what O2 "
        "did.",
        (Severity.NOTE,),
        until=AMP_REMOVED_IN,
    ),
)
