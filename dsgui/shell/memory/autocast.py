"""torch's autocast on the GPU that is not there: casts as it does on CUDA (torch/csrc/ATen/autocast_mode.h), whose own
table of operators a device registered from Python lacks.

Runs in the target environment, for `patched.py`. An operator that this torch casts on CUDA and that is in no list here
is found by `unknown`: then nothing can be said."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dsgui.shell.memory.target_modules import load

_KEY = "AutocastPrivateUse1"
LOWER = (
    *("_convolution.deprecated", "_convolution", "conv1d", "conv2d", "conv3d", "conv_tbc"),
    *("conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input", "convolution"),
    *("cudnn_convolution", "cudnn_convolution_transpose", "prelu", "addmm", "addmv", "addr", "matmul"),
    *("einsum", "mm", "mv", "linalg_vecdot", "linear", "addbmm", "baddbmm", "bmm", "chain_matmul"),
    *("linalg_multi_dot", "_thnn_fused_lstm_cell", "_thnn_fused_gru_cell", "lstm_cell", "gru_cell"),
    *("rnn_tanh_cell", "rnn_relu_cell", "_scaled_dot_product_flash_attention"),
    *("scaled_dot_product_attention",),
)
FLOAT = (
    *("acos", "asin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log2", "log1p", "reciprocal"),
    *("rsqrt", "sinh", "tan", "pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar", "softplus"),
    *("layer_norm", "native_layer_norm", "rms_norm", "group_norm", "frobenius_norm.dim", "nuclear_norm"),
    *("nuclear_norm.dim", "cosine_similarity", "poisson_nll_loss", "cosine_embedding_loss", "nll_loss"),
    *("nll_loss2d", "hinge_embedding_loss", "kl_div", "l1_loss", "smooth_l1_loss", "huber_loss", "mse_loss"),
    *("margin_ranking_loss", "multilabel_margin_loss", "soft_margin_loss", "triplet_margin_loss"),
    *("multi_margin_loss", "binary_cross_entropy_with_logits", "dist", "pdist", "cdist", "renorm"),
    *("logsumexp", "upsample_nearest1d", "_upsample_nearest_exact1d", "upsample_nearest2d"),
    *("_upsample_nearest_exact2d", "upsample_nearest3d", "_upsample_nearest_exact3d", "upsample_linear1d"),
    *("upsample_bilinear2d", "_upsample_bilinear2d_aa", "upsample_trilinear3d", "upsample_bicubic2d"),
    *("_upsample_bicubic2d_aa", "norm.Scalar", "norm.ScalarOpt_dim"),
)
FLOAT_RESULT = (
    *("prod", "prod.dim_int", "softmax.int", "log_softmax.int", "cumprod", "cumsum", "linalg_vector_norm"),
    *("linalg_matrix_norm", "linalg_matrix_norm.str_ord", "sum", "sum.dim_IntList"),
)
WIDEST = (
    *("addcdiv", "addcmul", "atan2", "bilinear", "cross", "dot", "vdot", "grid_sampler", "index_put"),
    *("tensordot", "scatter_add"),
)
REFUSED = ("binary_cross_entropy",)
_KEPT: "list[Any]" = []  # a kernel goes with its library
_CASTS: "dict[int, tuple[Any, Any]]" = {}  # of weights, until autocast ends: by id, which the first of the pair keeps


def install() -> None:
    """From here on the device has these casts."""
    module = load("torch").library
    others, library = module.Library("_", "IMPL", _KEY), module.Library("aten", "IMPL")
    others.fallback(module.fallthrough_kernel)
    _KEPT.extend((others, library))
    ways = ((LOWER, lower), (FLOAT, floats), (FLOAT_RESULT, float_result), (WIDEST, widest))
    for names, way in ways:
        for name in names:
            operator = operator_of(name)
            if operator is not None:
                library.impl(name, kernel(operator, way), _KEY)


def operator_of(name: str) -> Any:
    """None where this torch has none of that name."""
    packet, _, overload = name.partition(".")
    found = getattr(load("torch").ops.aten, packet, None)
    return getattr(found, overload or "default", None)


def unknown() -> "list[str]":
    """Operators that this torch casts on CUDA and that are in no list."""
    core = load("torch")._C
    known = {*LOWER, *FLOAT, *FLOAT_RESULT, *WIDEST, *REFUSED}
    every = (name for name in core._dispatch_get_all_op_names() if name.startswith("aten::"))
    return sorted(
        name
        for name in every
        if name[6:] not in known and core._dispatch_has_kernel_for_dispatch_key(name, "AutocastCUDA")
    )


def kernel(operator: Any, way: "Callable[..., Any]") -> "Callable[..., Any]":
    core = load("torch")._C
    keys = core.DispatchKeySet(getattr(core.DispatchKey, _KEY))

    def cast_then_call(*given: Any, **named: Any) -> Any:
        with core._ExcludeDispatchKeyGuard(keys):
            return way(operator, given, named)

    return cast_then_call


def lower(operator: Any, given: Any, named: Any) -> Any:
    return operator(*map(narrowed, given), **{name: narrowed(value) for name, value in named.items()})


def floats(operator: Any, given: Any, named: Any) -> Any:
    return operator(*map(widened, given), **{name: widened(value) for name, value in named.items()})


def float_result(operator: Any, given: Any, named: Any) -> Any:
    """Its result is fp32 unless another dtype is asked for; its input stays as it is."""
    wants = any(isinstance(value, load("torch").dtype) for value in (*given, *named.values()))
    first = given[0] if given else named.get("self")
    if wants or not is_eligible(first):
        return operator(*given, **named)
    return operator(*given, **{**named, "dtype": load("torch").float32})


def widest(operator: Any, given: Any, named: Any) -> Any:
    """In fp32 where one of them is."""
    wide = any(one.dtype is load("torch").float32 for one in tensors((*given, *named.values())) if is_eligible(one))
    return floats(operator, given, named) if wide else operator(*given, **named)


def tensors(values: "Iterable[Any]") -> "Iterator[Any]":
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from tensors(value)
        elif isinstance(value, load("torch").Tensor):
            yield value


def is_eligible(value: Any) -> bool:
    torch = load("torch")
    is_one = isinstance(value, torch.Tensor) and value.device.type not in ("cpu", "meta")
    return is_one and value.is_floating_point() and value.dtype is not torch.float64


def widened(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(map(widened, value))
    return value.to(load("torch").float32) if is_eligible(value) else value


def narrowed(value: Any) -> Any:
    """Weights that are cast once stay for the rest of the forward, as torch caches them."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(narrowed, value))
    torch = load("torch")
    dtype = torch.get_autocast_dtype(value.device.type) if is_eligible(value) else None
    if dtype is None or value.dtype is dtype:
        return value
    is_weight = value.dtype is torch.float32 and value.requires_grad and value.is_leaf and not value._is_view()
    if not (is_weight and torch.is_autocast_cache_enabled()):
        return value.to(dtype)
    if id(value) not in _CASTS:
        _CASTS[id(value)] = value, value.to(dtype)
    return _CASTS[id(value)][1]


def forget() -> None:
    """autocast has ended."""
    _CASTS.clear()


def kept() -> int:
    """How many casts are kept now."""
    return len(_CASTS)
