"""The optimizer: is its type known, does it take these parameters, does it go with ZeRO, is there one at all."""

from collections.abc import Iterator

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.findings import Change, Finding, Fix, Severity
from dsgui.core.config.pointer import join, lookup
from dsgui.core.rules.base import (
    Config,
    Rule,
    enabled,
    found,
    is_set,
    name_of,
    offload_device,
    removal,
    switched_off,
    value_or,
    zero_stage,
)
from dsgui.core.rules.clash import Clash, rule
from dsgui.core.rules.keys import nearest

_ENGINE = "deepspeed/runtime/engine.py"
_TYPE = "/optimizer/type"
ONE_BIT_REMOVED_IN = "0.19.7"
MUON_SINCE, MUON_AT_STAGE_3_SINCE, MUON_OFFLOAD_SINCE = "0.17.6", "0.18.9", "0.19.8"
# Names that DeepSpeed takes in any case; others must be the exact name of a class in torch.optim.
DEEPSPEED_NAMES = ("Adam", "AdamW", "Adagrad", "Lamb", "Lion", "Muon", "MuAdam", "MuAdamW", "MuSGD")
ONE_BIT_NAMES = ("OneBitAdam", "OneBitLamb", "ZeroOneAdam")
TORCH_NAMES = (
    *("ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam"),
    *("RAdam", "RMSprop", "Rprop", "SGD", "SparseAdam"),
)
# deepspeed/runtime/zero/utils.py: the optimizers that ZeRO was tested with.
MUON_TESTED_SINCE, ZENFLOW_SINCE, ZENFLOW_TESTED_SINCE = "0.18.5", "0.17.5", "0.19.3"
TESTED_WITH_ZERO = {"adam", "adamw", "adagrad", "lion", "muon", "muadam", "muadamw"}
# The arguments of the class that the engine picks, and those that it takes out before.
_TAKEN_BY_ENGINE = {"torch_adam", "adam_w_mode"}
_STATES, STATES_TAKEN_SINCE = "fp32_optimizer_states", "0.19.1"
_SIXTEEN = {"lr", "betas", "eps", "weight_decay", "bias_correction", "amsgrad"}
ARGUMENTS: dict[str, set[str]] = {
    "FusedAdam": {*_SIXTEEN, "set_grad_none"},
    "DeepSpeedCPUAdam": {*_SIXTEEN, _STATES},
    "torch.optim.AdamW": {
        *("lr", "betas", "eps", "weight_decay", "amsgrad"),
        *("maximize", "foreach", "capturable", "differentiable", "fused"),
    },
    "FusedLamb": {*_SIXTEEN, "eps_inside_sqrt", "max_grad_norm", "max_coeff", "min_coeff"},
    "FusedLion": {"lr", "betas", "weight_decay", "set_grad_none"},
    "DeepSpeedCPULion": {"lr", "betas", "weight_decay", _STATES},
    "torch.optim.Adagrad": {
        *("lr", "lr_decay", "weight_decay", "initial_accumulator_value", "eps"),
        *("foreach", "maximize", "differentiable", "fused"),
    },
    "DeepSpeedCPUAdagrad": {"lr", "eps", "weight_decay", "amsgrad", _STATES},
}


def _known_type(config: Config, context: Context) -> Iterator[Finding]:
    name = name_of(config, "optimizer")
    of_torch = name in TORCH_NAMES and (name != "Muon" or context.at_least(MUON_SINCE))
    if not name or of_torch or name.lower() in {known.lower() for known in _offered(context)}:
        return
    gone = name.lower() in {known.lower() for known in ONE_BIT_NAMES}
    if name.lower() == "muon" and not context.at_least(MUON_SINCE):
        yield _muon_of_torch(name, context)
        return
    story = f"; the 1-bit optimizers were removed in {ONE_BIT_REMOVED_IN}" if gone else ""
    near = "" if gone else nearest(name, (*_offered(context), *TORCH_NAMES))
    yield found(
        Severity.ERROR,
        _TYPE,
        f"optimizer.type: DeepSpeed {context.release} has no optimizer “{name}”{story}. It takes "
        f"{', '.join(_offered(context))} in any case, and classes of torch.optim by their exact name.",
        f"Did you mean {near}?" if near else "Choose AdamW, or pass an optimizer of your own from the script.",
        Fix.of("use", Change(_TYPE, f'"{near}"'), value=near) if near else None,
    )


def _muon_of_torch(name: str, context: Context) -> Finding:
    return found(
        Severity.ERROR,
        _TYPE,
        f"optimizer.type: DeepSpeed {context.release} has no {name} of its own (it came with {MUON_SINCE}); the name "
        "reaches torch.optim at best, whose Muon takes matrices only and stops at a model's biases and norms.",
        f"Choose AdamW, or use DeepSpeed {MUON_SINCE} or newer.",
    )


def _offered(context: Context) -> tuple[str, ...]:
    names = tuple(name for name in DEEPSPEED_NAMES if name != "Muon" or context.at_least(MUON_SINCE))
    return names if context.at_least(ONE_BIT_REMOVED_IN) else (*names, *ONE_BIT_NAMES)


def optimizer_class(config: Config) -> str:
    """The class that the engine makes (`_configure_basic_optimizer`), "" where its arguments are not listed here."""
    name = name_of(config, "optimizer").lower()
    on_cpu = zero_stage(config) > 0 and offload_device(config, "offload_optimizer") != "none"
    if name in ("adam", "adamw"):
        if lookup(config, "/optimizer/params/torch_adam") is True:
            return "torch.optim.AdamW"
        return "DeepSpeedCPUAdam" if on_cpu else "FusedAdam"
    pairs = {"lion": ("FusedLion", "DeepSpeedCPULion"), "adagrad": ("torch.optim.Adagrad", "DeepSpeedCPUAdagrad")}
    if name in pairs:
        return pairs[name][on_cpu]
    return "FusedLamb" if name == "lamb" else ""


def _parameters(config: Config, context: Context) -> Iterator[Finding]:
    parameters, kind = lookup(config, "/optimizer/params"), optimizer_class(config)
    if not isinstance(parameters, dict) or not name_of(config, "optimizer"):
        return
    if "max_grad_norm" in parameters:
        yield _max_grad_norm(config, parameters["max_grad_norm"])
    known = ARGUMENTS.get(kind)
    if known is None:
        return
    for key in parameters:
        if key not in known | _taken_by_engine(kind, context) | {"max_grad_norm"}:
            yield _refused_parameter(key, kind, tuple(known), tuple(parameters))


def _taken_by_engine(kind: str, context: Context) -> set[str]:
    if "Adam" not in kind:
        return set()
    return _TAKEN_BY_ENGINE | ({_STATES} if context.at_least(STATES_TAKEN_SINCE) else set())


def _refused_parameter(key: str, kind: str, known: tuple[str, ...], given: tuple[str, ...]) -> Finding:
    pointer, near = join(("optimizer", "params", key)), nearest(key, known)
    fix = removal(pointer)
    if near and near not in given:
        fix = Fix.of("rename", Change(pointer, None, near), key=near)
    return found(
        Severity.ERROR,
        pointer,
        f"optimizer.params.{key}: {kind}, which DeepSpeed makes here, takes no such parameter and stops with a "
        "TypeError.",
        f"Did you mean {near}?" if near else "Remove it.",
        fix,
    )


def _max_grad_norm(config: Config, value: object) -> Finding:
    pointer = "/optimizer/params/max_grad_norm"
    changes = [Change(pointer, None)]
    if not is_set(config, "/gradient_clipping") and isinstance(value, int | float) and not isinstance(value, bool):
        changes.insert(0, Change("/gradient_clipping", f"{value!r}"))
    return found(
        Severity.ERROR,
        pointer,
        "optimizer.params.max_grad_norm: DeepSpeed refuses it as a parameter of the optimizer (ValueError).",
        "gradient_clipping at the top level does the same.",
        Fix.of("use", *changes, value="gradient_clipping"),
    )


def _muon_at(config: Config, *stages: int) -> bool:
    return name_of(config, "optimizer").lower() == "muon" and zero_stage(config) in stages


def _scatters(config: Config) -> bool:
    return bool(value_or(config, "/zero_optimization/reduce_scatter", True))


_AMSGRAD, _SCATTER = "/optimizer/params/amsgrad", "/zero_optimization/reduce_scatter"
_SCATTER_OFF = switched_off(_SCATTER)
_VALUES = rule(
    "DS052",
    "Optimizer values",
    f"{_ENGINE}: _do_sanity_check",
    Clash(
        pointer=_AMSGRAD,
        when=lambda config, context: (
            optimizer_class(config) in ("FusedAdam", "FusedLamb") and lookup(config, _AMSGRAD) is True
        ),
        says="optimizer.params.amsgrad: DeepSpeed's fused optimizers have no AMSGrad variant and stop with a "
        "RuntimeError.",
        advice="Remove it, or set torch_adam to use PyTorch's own Adam.",
        fix=removal(_AMSGRAD),
    ),
    Clash(
        pointer="/fp16/loss_scale",
        when=lambda config, context: (
            name_of(config, "optimizer").lower() in ("lamb", "onebitlamb")
            and enabled(config, "fp16", context)
            and value_or(config, "/fp16/loss_scale", 0) not in (0, None, "auto")
        ),
        says="fp16.loss_scale: a fixed scale; Lamb and OneBitLamb need a dynamic one and DeepSpeed asserts it.",
        advice="Set it to 0 (dynamic).",
        fix=Fix.of("make_dynamic", Change("/fp16/loss_scale", "0")),
    ),
    Clash(
        pointer="/zero_optimization/stage",
        when=lambda config, context: _muon_at(config, 3) and not context.at_least(MUON_AT_STAGE_3_SINCE),
        says=f"zero_optimization.stage: Muon works with stage 3 since DeepSpeed {MUON_AT_STAGE_3_SINCE} only.",
        advice="Use stage 2 or lower, or another optimizer.",
        since=MUON_SINCE,
    ),
    Clash(
        pointer=_SCATTER,
        when=lambda config, context: _muon_at(config, 3) and _scatters(config),
        says="zero_optimization.reduce_scatter: Muon at ZeRO stage 3 can't work with it, and it is on unless "
        "switched off.",
        advice="Switch it off.",
        since=MUON_AT_STAGE_3_SINCE,
        fix=_SCATTER_OFF,
    ),
    Clash(
        pointer="/zero_optimization/zero_quantized_gradients",
        when=lambda config, context: (
            _muon_at(config, 3) and lookup(config, "/zero_optimization/zero_quantized_gradients") is True
        ),
        says="zero_optimization.zero_quantized_gradients: Muon at ZeRO stage 3 can't work with it.",
        advice="Remove it.",
        since=MUON_AT_STAGE_3_SINCE,
        fix=removal("/zero_optimization/zero_quantized_gradients"),
    ),
    Clash(
        pointer=_SCATTER,
        when=lambda config, context: (
            _muon_at(config, 1, 2)
            and _scatters(config)
            and offload_device(config, "offload_optimizer") != "none"
            and not context.at_least(MUON_OFFLOAD_SINCE)
        ),
        says="zero_optimization.reduce_scatter: this DeepSpeed can't offload Muon while it is on, and it is on unless "
        "switched off.",
        advice="Switch it off.",
        since="0.19.3",
        fix=_SCATTER_OFF,
    ),
    explanation="Some optimizers refuse values that others take: the fused Adam and Lamb have no AMSGrad variant, Lamb "
    "needs a dynamic loss scale, and Muon works with ZeRO stage 3 and with offload only in the releases and "
    "with the switches named. DeepSpeed stops at deepspeed.initialize.",
)


def _tested_with_zero(config: Config, name: str, context: Context) -> bool:
    """The list names classes: ZenFlow's Adam and Muon's own were not on it at first."""
    in_zenflow = isinstance(lookup(config, "/zero_optimization/zenflow"), dict)
    if in_zenflow and name in ("adam", "adamw") and offload_device(config, "offload_optimizer") == "cpu":
        return context.at_least(ZENFLOW_TESTED_SINCE) or not context.at_least(ZENFLOW_SINCE)
    return name in TESTED_WITH_ZERO and (name != "muon" or context.at_least(MUON_TESTED_SINCE))


def _is_one_bit(config: Config) -> bool:
    return name_of(config, "optimizer").lower() in {name.lower() for name in ONE_BIT_NAMES}


def _one_bit_with_zero(config: Config, context: Context) -> Iterator[Finding]:
    """Refused before DeepSpeed asks what is allowed, so zero_allow_untested_optimizer changes nothing."""
    if zero_stage(config) > 0 and _is_one_bit(config) and not context.at_least(ONE_BIT_REMOVED_IN):
        yield found(
            Severity.ERROR,
            _TYPE,
            f"optimizer.type: {name_of(config, 'optimizer')} does not work with any ZeRO stage, whatever "
            "zero_allow_untested_optimizer says: deepspeed.initialize stops.",
            "Choose AdamW for ZeRO, or stage 0 for a 1-bit optimizer: which of the two is for you to decide.",
        )


def _untested_with_zero(config: Config, context: Context) -> Iterator[Finding]:
    name = name_of(config, "optimizer")
    if zero_stage(config) == 0 or not name or _tested_with_zero(config, name.lower(), context):
        return
    if _is_one_bit(config):
        yield from _one_bit_with_zero(config, context)
        return
    if name not in TORCH_NAMES and name.lower() not in {known.lower() for known in _offered(context)}:
        return
    if not value_or(config, "/zero_allow_untested_optimizer", False):
        yield found(
            Severity.ERROR,
            _TYPE,
            f"optimizer.type: ZeRO was not tested with {name}, and DeepSpeed stops unless "
            "zero_allow_untested_optimizer "
            "is true.",
            "Allow it, or choose AdamW.",
            Fix.of("allow", Change("/zero_allow_untested_optimizer", "true")),
        )


def _client_optimizer(config: Config, context: Context) -> Iterator[Finding]:
    """A file without an optimizer is right when the script passes one; natively nobody else does."""
    stage = zero_stage(config)
    if name_of(config, "optimizer") or context.integration is Integration.HF:
        return
    yield found(
        Severity.NOTE,
        "/optimizer",
        f"optimizer: none is chosen, so the script must pass its own: without one, {_without_any(stage)}.",
        "Pass optimizer=… to deepspeed.initialize, or choose one here.",
    )
    if stage > 0 and offload_device(config, "offload_optimizer") != "none" and _forced(config):
        yield found(
            Severity.WARNING,
            "/zero_optimization/offload_optimizer",
            "zero_optimization.offload_optimizer: with an optimizer from the script, DeepSpeed takes only its own "
            "DeepSpeedCPUAdam for offload, and stops at others.",
            "Pass DeepSpeedCPUAdam, choose the optimizer here, or set zero_force_ds_cpu_optimizer to false.",
        )


def _without_any(stage: int) -> str:
    if stage == 0:
        return "the first step fails"
    if stage == 3:
        return "the engine is one for inference, and the first backward fails"
    return f"deepspeed.initialize stops with “zero stage {stage} requires an optimizer”"


def _forced(config: Config) -> bool:
    return bool(value_or(config, "/zero_force_ds_cpu_optimizer", True))


CLIPS_SINCE = "0.19.3"


def _default_clipping(config: Config, context: Context) -> Iterator[Finding]:
    if context.at_least(CLIPS_SINCE) and "gradient_clipping" not in config:
        fills = context.integration is Integration.HF
        yield found(
            Severity.NOTE,
            "/gradient_clipping",
            "gradient_clipping: absent, so DeepSpeed clips at its default of 1.0 (releases before "
            f"{CLIPS_SINCE} did not clip)" + ("; --max_grad_norm is not used." if fills else "."),
            "Write “auto” for the Trainer's --max_grad_norm, or a number." if fills else "Write 1.0, or 0 for none.",
        )


RULES = (
    Rule(
        "DS050",
        "Optimizer type",
        f"{_ENGINE}: _is_supported_optimizer",
        _known_type,
        "DeepSpeed makes its own optimizers by name, in any case, and those of torch.optim by the exact name of their "
        "class; at any other it stops. The 1-bit optimizers were removed in 0.19.7. An optimizer of another package is "
        "made in the script and passed to deepspeed.initialize, without an optimizer block.",
    ),
    Rule(
        "DS051",
        "Optimizer parameters",
        f"{_ENGINE}: _configure_basic_optimizer",
        _parameters,
        "optimizer.params go to the optimizer's class as they are, and a name that it does not take stops with a "
        "TypeError. Which class that is depends on offload and torch_adam: the fused Adam, DeepSpeed's CPU Adam and "
        "PyTorch's differ in what they take. max_grad_norm belongs to none; gradient_clipping does that.",
    ),
    _VALUES,
    Rule(
        "DS053",
        "Optimizers that ZeRO was not tested with",
        f"{_ENGINE}: _do_optimizer_sanity_check",
        _untested_with_zero,
        "ZeRO divides an optimizer's states over the ranks, which is right only for those that work on each element by "
        "itself. DeepSpeed keeps a list of the ones it tested and stops at others until "
        "zero_allow_untested_optimizer says that it may go on. The 1-bit optimizers of releases before 0.19.7 work "
        "with no ZeRO stage at all.",
    ),
    Rule(
        "DS054",
        "An optimizer from the script",
        f"{_ENGINE}: _configure_zero_optimizer",
        _client_optimizer,
        "A file without an optimizer is right when the training script passes one to deepspeed.initialize, as the HF "
        "Trainer does; with ZeRO stage 1 or 2 and none at all, DeepSpeed stops, and at stage 3 it makes an engine for "
        "inference. If the optimizer is to be offloaded, "
        "it must be DeepSpeed's own CPU Adam unless zero_force_ds_cpu_optimizer is false.",
        (Severity.WARNING, Severity.NOTE),
    ),
    Rule(
        "DS058",
        "Gradient clipping that nobody asked for",
        "deepspeed/runtime/constants.py: GRADIENT_CLIPPING_DEFAULT",
        _default_clipping,
        "Since 0.19.3 DeepSpeed clips gradients at a norm of 1.0 when the file does not say gradient_clipping; before, "
        "it did not clip. The same file therefore trains differently after an upgrade, and under the HF Trainer "
        "--max_grad_norm does not reach a key that is absent. Write the value you mean: 0 switches clipping off.",
        (Severity.NOTE,),
        since=CLIPS_SINCE,
    ),
)
