"""What the `config.json` of Llama and its kin says of their shape: what each one's code fixes, and what its
configuration takes where a key is missing (transformers' configuration_llama.py, configuration_phi3.py …)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from dsgui.core.memory.described import Described, NoCaseError, divided
from dsgui.core.memory.families.rotation import EACH, SPREAD, WHOLE, Rotation, rotation_of
from dsgui.core.texts.saying import said

FULL, SLIDING = "full_attention", "sliding_attention"


@dataclass(frozen=True, slots=True)
class Norms:
    """Their names before and behind attention and MLP; "" for none."""

    before_attention: str = "input_layernorm"
    behind_attention: str = ""
    before_mlp: str = "post_attention_layernorm"
    behind_mlp: str = ""


USUAL = Norms()
SANDWICH = Norms(
    "input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm"
)
GLM4_NORMS = Norms("input_layernorm", "post_self_attn_layernorm", "post_attention_layernorm", "post_mlp_layernorm")
BEHIND = Norms("", "post_attention_layernorm", "", "post_feedforward_layernorm")


@dataclass(frozen=True, slots=True)
class Kin:
    """How a model type differs from Llama. `qk_norm`: "each" query and key as it comes, all "after" the projections,
    or "whole" ones, before they are told into heads. `wide_norm`: weighted before it is cast. `in_one`: a product for
    q, k and v, and one for gate and up. `scales`: numbers on residuals, embeddings and logits. `both_masks`: one for
    each kind of attention, whatever its layers are."""

    kv_heads: int | None = None
    head: int | None = None
    bias: bool = False
    qkv_bias: bool | None = False
    out_bias: bool | None = False
    mlp_bias: bool = False
    tied: bool = False
    activation: str = "silu"
    norms: Norms = USUAL
    qk_norm: str = ""
    wide_norm: bool = False
    gemma: bool = False
    softcaps: bool = False
    both_masks: bool = False
    local_tables: bool = False
    sliding: str = ""
    window: int | None = 4096
    in_one: tuple[str, ...] = ()
    turned: float = 1.0
    joins: str = WHOLE
    residual_dropout: bool = False
    scales: bool = False
    skips_positions: bool = False


GEMMA = Kin(
    kv_heads=16, head=256, qkv_bias=None, out_bias=None, tied=True, activation="gelu_pytorch_tanh", wide_norm=True,
    gemma=True,
)  # fmt: skip
GEMMA_2 = replace(GEMMA, kv_heads=4, norms=SANDWICH, softcaps=True, both_masks=True, sliding="alternating")
GEMMA_3 = replace(
    GEMMA, kv_heads=4, norms=SANDWICH, qk_norm="after", local_tables=True, both_masks=True, sliding="pattern"
)
GLM = Kin(kv_heads=2, head=128, bias=True, qkv_bias=None, in_one=("gate",), turned=0.5, joins=SPREAD)
SMOLLM_3 = Kin(
    kv_heads=4, qkv_bias=None, out_bias=None, mlp_bias=True, tied=True, skips_positions=True, sliding="unplaced",
    window=None,
)  # fmt: skip
KIN = {
    "llama": Kin(qkv_bias=None, out_bias=None, mlp_bias=True),
    "mistral": Kin(kv_heads=8, sliding="all"),
    "qwen2": Kin(kv_heads=32, qkv_bias=True, sliding="late"),
    "qwen3": Kin(kv_heads=32, head=128, qkv_bias=None, out_bias=None, qk_norm="each", sliding="late"),
    "gemma": GEMMA,
    "gemma2": GEMMA_2,
    "gemma3_text": GEMMA_3,
    "phi3": Kin(in_one=("qkv", "gate"), sliding="all", window=None, joins=EACH, residual_dropout=True),
    "granite": Kin(qkv_bias=None, out_bias=None, mlp_bias=True, scales=True),
    "glm": GLM,
    "glm4": replace(GLM, norms=GLM4_NORMS),
    "olmo2": Kin(qkv_bias=None, out_bias=None, norms=BEHIND, qk_norm="whole", wide_norm=True),
    "smollm3": SMOLLM_3,
    "internlm3": Kin(kv_heads=2, head=128, qkv_bias=None, out_bias=None, mlp_bias=True),
}


@dataclass(frozen=True, slots=True)
class Shape:
    """A model of this kind. `kinds`: of each layer's attention; `placed`: whether it knows positions. `softcap`,
    `final_softcap`: tanh on scores and on logits. `dropout`: of scores, `behind`: of what attention and MLP give."""

    kin: Kin
    hidden: int
    heads: int
    kv_heads: int
    head: int
    inner: int
    vocab: int
    kinds: tuple[str, ...]
    placed: tuple[bool, ...]
    rotation: Rotation
    activation: str
    tied: bool
    dropout: float
    behind: float
    qkv_bias: bool
    out_bias: bool
    mlp_bias: bool
    softcap: bool
    final_softcap: bool
    window: int | None


def shape_of(config: Described, kin: Kin) -> Shape:
    """Raises NoCaseError."""
    hidden, heads = config.count("hidden_size"), config.count("num_attention_heads")
    kv_heads = config.count("num_key_value_heads", default=kin.kv_heads or heads)
    divided("num_attention_heads", heads, "num_key_value_heads", kv_heads)
    bias = config.flag("attention_bias", "qkv_bias", default=kin.bias)
    head, kinds = head_of(config, kin, hidden, heads), kinds_of(config, kin)
    return Shape(
        kin,
        hidden,
        heads,
        kv_heads,
        head,
        inner=config.count("intermediate_size"),
        vocab=config.count("vocab_size"),
        kinds=kinds,
        placed=placed_of(config, kin, len(kinds)),
        rotation=rotation_of(config, head, kin.turned, kin.joins),
        window=window_of(config, kin),
        activation=config.word("hidden_activation", "hidden_act", default=kin.activation),
        tied=config.flag("tie_word_embeddings", default=kin.tied),
        dropout=config.rate("attention_dropout"),
        behind=config.rate("resid_pdrop") if kin.residual_dropout else 0.0,
        qkv_bias=bias if kin.qkv_bias is None else kin.qkv_bias,
        out_bias=bias if kin.out_bias is None else kin.out_bias,
        mlp_bias=kin.mlp_bias and config.flag("mlp_bias", "bias"),
        softcap=kin.softcaps and config.keys.get("attn_logit_softcapping", 50.0) is not None,
        final_softcap=kin.softcaps and config.keys.get("final_logit_softcapping", 30.0) is not None,
    )


def head_of(config: Described, kin: Kin, hidden: int, heads: int) -> int:
    if config.get("head_dim") is not None or kin.head is not None:
        return config.count("head_dim", default=kin.head)
    return divided("hidden_size", hidden, "num_attention_heads", heads)


def kinds_of(config: Described, kin: Kin) -> tuple[str, ...]:
    """Which attention each layer has, told by `layer_types` or as the configuration's class derives it."""
    layers = config.layers("num_hidden_layers")
    told = config.get("layer_types")
    if told is not None:
        return kinds_told(told, layers)
    slides = SLIDERS[kin.sliding](config, kin)
    return tuple(SLIDING if slides(index) else FULL for index in range(layers))


def kinds_told(told: object, layers: int) -> tuple[str, ...]:
    if isinstance(told, list) and len(told) == layers and all(isinstance(kind, str) for kind in told):
        return tuple(told)
    raise NoCaseError(said("memory_notes", "bad_kinds", key="layer_types", layers=str(layers)))


def every(period: int) -> Callable[[int], bool]:
    return lambda index: (index + 1) % period != 0


def late(config: Described, kin: Kin) -> Callable[[int], bool]:
    """Qwen: the layers from `max_window_layers` on, if `use_sliding_window`."""
    first = config.keys.get("max_window_layers", 28)
    first = first if isinstance(first, int) else 28
    return lambda index: config.flag("use_sliding_window") and window_of(config, kin) is not None and index >= first


def unplaced(config: Described, kin: Kin) -> Callable[[int], bool]:
    """SmolLM3: the layers without positions, if `use_sliding_window`."""
    placed = placed_of(config, kin, config.layers("num_hidden_layers"))
    return lambda index: config.flag("use_sliding_window") and window_of(config, kin) is not None and not placed[index]


SLIDERS: Mapping[str, Callable[[Described, Kin], Callable[[int], bool]]] = {
    "": lambda config, kin: lambda index: False,
    "all": lambda config, kin: lambda index: window_of(config, kin) is not None,
    "late": late,
    "unplaced": unplaced,
    "alternating": lambda config, kin: every(2),
    "pattern": lambda config, kin: every(config.count("sliding_window_pattern", default=6)),
}


def window_of(config: Described, kin: Kin) -> int | None:
    """Tokens that a sliding layer sees; none for `null`."""
    window = config.keys.get("sliding_window", kin.window)
    return window if isinstance(window, int) and window > 0 else None


def placed_of(config: Described, kin: Kin, layers: int) -> tuple[bool, ...]:
    """Which layers turn queries and keys by their places; SmolLM3 leaves out every fourth."""
    if not kin.skips_positions:
        return (True,) * layers
    told = config.get("no_rope_layers")
    if told is None:
        return tuple(map(every(config.count("no_rope_layer_interval", default=4)), range(layers)))
    if not isinstance(told, list) or len(told) != layers:
        raise NoCaseError(said("memory_notes", "bad_kinds", key="no_rope_layers", layers=str(layers)))
    return tuple(map(bool, told))
