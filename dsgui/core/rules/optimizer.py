"""The optimizer: is its type known, does it take these parameters, does it go with ZeRO, is there one at all."""

from collections.abc import Iterator

from dsgui.core.config.context import Context, Integration
from dsgui.core.config.findings import Change, Finding, Fix, Severity
from dsgui.core.config.pointer import MISSING, join, lookup
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
from dsgui.core.texts.saying import listed

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
_TORCH, _DECOUPLED = ("foreach", "maximize", "differentiable", "capturable"), "decoupled_weight_decay"
_ONE_BIT = {*_SIXTEEN, "eps_inside_sqrt", "cuda_aware", "comm_backend_name"}
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
    # torch 2.13; an older release takes fewer.
    "torch.optim.ASGD": {*("lr", "lambd", "alpha", "t0", "weight_decay"), *_TORCH},
    "torch.optim.Adadelta": {*("lr", "rho", "eps", "weight_decay"), *_TORCH},
    "torch.optim.Adafactor": {"lr", "beta2_decay", "eps", "d", "weight_decay", "foreach", "maximize"},
    "torch.optim.Adamax": {*("lr", "betas", "eps", "weight_decay"), *_TORCH},
    "torch.optim.LBFGS": {
        *("lr", "max_iter", "max_eval", "tolerance_grad", "tolerance_change", "history_size", "line_search_fn")
    },
    "torch.optim.NAdam": {*("lr", "betas", "eps", "weight_decay", "momentum_decay", _DECOUPLED), *_TORCH},
    "torch.optim.RAdam": {*("lr", "betas", "eps", "weight_decay", _DECOUPLED), *_TORCH},
    "torch.optim.RMSprop": {*("lr", "alpha", "eps", "weight_decay", "momentum", "centered"), *_TORCH},
    "torch.optim.Rprop": {*("lr", "etas", "step_sizes"), *_TORCH},
    "torch.optim.SGD": {
        *("lr", "momentum", "dampening", "weight_decay", "nesterov"),
        *("fused", "foreach", "maximize", "differentiable"),
    },
    "torch.optim.SparseAdam": {"lr", "betas", "eps", "maximize"},
    # deepspeed/runtime/fp16/onebit
    "OneBitAdam": {*_ONE_BIT, "freeze_step"},
    "OneBitLamb": {
        *_ONE_BIT,
        *("freeze_step", "max_coeff", "min_coeff", "coeff_beta", "factor_max", "factor_min", "factor_threshold"),
    },
    "ZeroOneAdam": {
        *_ONE_BIT,
        *("var_freeze_step", "var_update_scaler", "local_step_scaler", "local_step_clipper"),
    },
}


def _known_type(config: Config, context: Context) -> Iterator[Finding]:
    name = lookup(config, _TYPE)
    of_torch = name in TORCH_NAMES and (name != "Muon" or context.at_least(MUON_SINCE))
    if not isinstance(name, str) or of_torch or name.lower() in {known.lower() for known in _offered(context)}:
        return
    gone = name.lower() in {known.lower() for known in ONE_BIT_NAMES}
    if name.lower() == "muon" and not context.at_least(MUON_SINCE):
        yield _muon_of_torch(name, context)
        return
    near = "" if gone else nearest(name, (*_offered(context), *TORCH_NAMES))
    yield found(
        Severity.ERROR,
        _TYPE,
        "DS050.removed" if gone else "DS050.unknown",
        advice="did_you_mean" if near else "DS050.choose",
        fix=Fix.of("use", Change(_TYPE, f'"{near}"'), value=near) if near else None,
        release=context.release,
        name=name,
        removed=ONE_BIT_REMOVED_IN,
        offered=listed(_offered(context)),
        near=near,
    )


def _muon_of_torch(name: str, context: Context) -> Finding:
    return found(
        Severity.ERROR,
        _TYPE,
        "DS050.muon",
        release=context.release,
        name=name,
        since=MUON_SINCE,
    )


def _offered(context: Context) -> tuple[str, ...]:
    names = tuple(name for name in DEEPSPEED_NAMES if name != "Muon" or context.at_least(MUON_SINCE))
    return names if context.at_least(ONE_BIT_REMOVED_IN) else (*names, *ONE_BIT_NAMES)


def optimizer_class(config: Config) -> str:
    """The class that the engine makes (`_configure_basic_optimizer`), "" where its arguments are not listed here."""
    given = name_of(config, "optimizer")
    name = given.lower()
    on_cpu = zero_stage(config) > 0 and offload_device(config, "offload_optimizer") != "none"
    if name in ("adam", "adamw"):
        if lookup(config, "/optimizer/params/torch_adam") is True:
            return "torch.optim.AdamW"
        return "DeepSpeedCPUAdam" if on_cpu else "FusedAdam"
    pairs = {"lion": ("FusedLion", "DeepSpeedCPULion"), "adagrad": ("torch.optim.Adagrad", "DeepSpeedCPUAdagrad")}
    if name in pairs:
        return pairs[name][on_cpu]
    if name == "lamb":
        return "FusedLamb"
    one_bit = {known.lower(): known for known in ONE_BIT_NAMES}
    if name in one_bit:
        return one_bit[name]
    return f"torch.optim.{given}" if given in TORCH_NAMES else ""


def _parameters(config: Config, context: Context) -> Iterator[Finding]:
    parameters, kind = lookup(config, "/optimizer/params"), optimizer_class(config)
    if not isinstance(parameters, dict) or not name_of(config, "optimizer"):
        return
    if "max_grad_norm" in parameters:
        yield _max_grad_norm(config, parameters["max_grad_norm"])
    known = ARGUMENTS.get(kind)
    if known is None or (kind in ONE_BIT_NAMES and context.at_least(ONE_BIT_REMOVED_IN)):
        return
    for key in parameters:
        if key not in known | _taken_by_engine(kind, context) | {"max_grad_norm"}:
            yield _refused_parameter(key, kind, tuple(known - {"max_grad_norm"}), tuple(parameters))


def _taken_by_engine(kind: str, context: Context) -> set[str]:
    if kind not in ("FusedAdam", "DeepSpeedCPUAdam", "torch.optim.AdamW"):
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
        "DS051.refused",
        advice="did_you_mean" if near else "remove_it",
        fix=fix,
        key=key,
        kind=kind,
        near=near,
    )


def _max_grad_norm(config: Config, value: object) -> Finding:
    pointer = "/optimizer/params/max_grad_norm"
    changes = [Change(pointer, None)]
    if not is_set(config, "/gradient_clipping") and isinstance(value, int | float) and not isinstance(value, bool):
        changes.insert(0, Change("/gradient_clipping", f"{value!r}"))
    return found(
        Severity.ERROR,
        pointer,
        "DS051.clipping",
        fix=Fix.of("use", *changes, value="gradient_clipping"),
    )


def _muon_at(config: Config, *stages: int) -> bool:
    return name_of(config, "optimizer").lower() == "muon" and zero_stage(config) in stages


def _scatters(config: Config) -> bool:
    return bool(value_or(config, "/zero_optimization/reduce_scatter", True))


_AMSGRAD, _SCATTER = "/optimizer/params/amsgrad", "/zero_optimization/reduce_scatter"
_SCATTER_OFF = switched_off(_SCATTER)
_VALUES = rule(
    "DS052",
    f"{_ENGINE}: _do_sanity_check",
    Clash(
        pointer=_AMSGRAD,
        when=lambda config, context: (
            optimizer_class(config) in ("FusedAdam", "FusedLamb") and lookup(config, _AMSGRAD) is True
        ),
        says="DS052.amsgrad",
        fix=removal(_AMSGRAD),
    ),
    Clash(
        pointer="/fp16/loss_scale",
        when=lambda config, context: (
            name_of(config, "optimizer").lower() in ("lamb", "onebitlamb")
            and enabled(config, "fp16", context)
            and value_or(config, "/fp16/loss_scale", 0) not in (0, None, "auto")
        ),
        says="DS052.loss_scale",
        fix=Fix.of("make_dynamic", Change("/fp16/loss_scale", "0")),
    ),
    Clash(
        pointer="/zero_optimization/stage",
        when=lambda config, context: _muon_at(config, 3) and not context.at_least(MUON_AT_STAGE_3_SINCE),
        says="DS052.muon_stage_3",
        given={"since": MUON_AT_STAGE_3_SINCE},
        since=MUON_SINCE,
    ),
    Clash(
        pointer=_SCATTER,
        when=lambda config, context: _muon_at(config, 3) and _scatters(config),
        says="DS052.muon_scatter",
        since=MUON_AT_STAGE_3_SINCE,
        fix=_SCATTER_OFF,
    ),
    Clash(
        pointer="/zero_optimization/zero_quantized_gradients",
        when=lambda config, context: (
            _muon_at(config, 3) and lookup(config, "/zero_optimization/zero_quantized_gradients") is True
        ),
        says="DS052.muon_quantized",
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
        says="DS052.muon_offload",
        since="0.19.3",
        fix=_SCATTER_OFF,
    ),
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
            "DS053.one_bit",
            name=name_of(config, "optimizer"),
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
            "DS053.untested",
            fix=Fix.of("allow", Change("/zero_allow_untested_optimizer", "true")),
            name=name,
        )


def _client_optimizer(config: Config, context: Context) -> Iterator[Finding]:
    """A file without an optimizer is right when the script passes one; natively nobody else does, and the HF Trainer
    does where the file has no such block."""
    stage = zero_stage(config)
    if name_of(config, "optimizer"):
        return
    if context.integration is Integration.HF:
        yield from _no_type(config, stage)
        return
    yield found(
        Severity.NOTE,
        "/optimizer",
        _WITHOUT_ANY.get(stage, "DS054.stops"),
        advice="DS054.pass",
        stage=str(stage),
    )
    if stage > 0 and offload_device(config, "offload_optimizer") != "none" and _forced(config):
        yield found(
            Severity.WARNING,
            "/zero_optimization/offload_optimizer",
            "DS054.offload",
        )


# Without any optimizer, by the ZeRO stage.
_WITHOUT_ANY = {0: "DS054.first_step", 3: "DS054.inference"}


def _no_type(config: Config, stage: int) -> Iterator[Finding]:
    """transformers, integrations/deepspeed.py: deepspeed_optim_sched makes no optimizer where there is a block."""
    if isinstance(config.get("optimizer"), dict) and lookup(config, _TYPE) in (MISSING, None):
        yield found(
            Severity.ERROR,
            _TYPE,
            "DS054.no_type_first_step" if stage in (0, 3) else "DS054.no_type_stops",
            advice="DS054.choose_or_remove",
            fix=None if lookup(config, "/optimizer/params") else removal("/optimizer"),
            stage=str(stage),
        )


def _forced(config: Config) -> bool:
    return bool(value_or(config, "/zero_force_ds_cpu_optimizer", True))


CLIPS_SINCE = "0.19.3"


def _default_clipping(config: Config, context: Context) -> Iterator[Finding]:
    if context.at_least(CLIPS_SINCE) and "gradient_clipping" not in config:
        fills = context.integration is Integration.HF
        yield found(
            Severity.NOTE, "/gradient_clipping", "DS058.default_hf" if fills else "DS058.default", since=CLIPS_SINCE
        )


RULES = (
    Rule(
        "DS050",
        f"{_ENGINE}: _is_supported_optimizer",
        _known_type,
    ),
    Rule(
        "DS051",
        f"{_ENGINE}: _configure_basic_optimizer",
        _parameters,
    ),
    _VALUES,
    Rule(
        "DS053",
        f"{_ENGINE}: _do_optimizer_sanity_check",
        _untested_with_zero,
    ),
    Rule(
        "DS054",
        f"{_ENGINE}: _configure_zero_optimizer",
        _client_optimizer,
        (Severity.ERROR, Severity.WARNING, Severity.NOTE),
    ),
    Rule(
        "DS058",
        "deepspeed/runtime/constants.py: GRADIENT_CLIPPING_DEFAULT",
        _default_clipping,
        (Severity.NOTE,),
        since=CLIPS_SINCE,
    ),
)
