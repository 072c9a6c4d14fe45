"""What the `config.json` of GPT-NeoX and its kin says of their shape (transformers' configuration_gpt_neox.py,
configuration_phi.py, configuration_stablelm.py, configuration_starcoder2.py, configuration_gptj.py,
configuration_falcon.py)."""

from dataclasses import dataclass

from dsgui.core.memory.described import Described, NoCaseError, divided
from dsgui.core.memory.families.rotation import BOTH, WHOLE, Rotation, rotation_of
from dsgui.core.texts.saying import said


@dataclass(frozen=True, slots=True)
class Names:
    """Of a model's modules. `norms`: before attention and MLP; one where both read the same. `drops`: behind the
    embeddings, within a layer behind attention and MLP; "" for what is no module."""

    body: str = "model"
    words: str = "embed_tokens"
    layers: str = "layers"
    attention: str = "self_attn"
    products: tuple[str, ...] = ("q_proj", "k_proj", "v_proj")
    out: str = "o_proj"
    wide: tuple[str, ...] = ("c_fc",)
    narrow: str = "c_proj"
    norms: tuple[str, ...] = ("input_layernorm", "post_attention_layernorm")
    last_norm: str = "norm"
    activation: str = "act"
    drops: tuple[str, str, str] = ("", "", "")


NEOX = Names(
    body="gpt_neox", words="embed_in", attention="attention", products=("query_key_value",), out="dense",
    wide=("dense_h_to_4h",), narrow="dense_4h_to_h", last_norm="final_layer_norm",
    drops=("emb_dropout", "post_attention_dropout", "post_mlp_dropout"),
)  # fmt: skip
PHI = Names(
    out="dense", wide=("fc1",), narrow="fc2", norms=("input_layernorm",), last_norm="final_layernorm",
    activation="activation_fn", drops=("embed_dropout", "resid_dropout", "resid_dropout"),
)  # fmt: skip
STABLELM = Names(wide=("gate_proj", "up_proj"), narrow="down_proj", activation="act_fn", drops=("", "", "dropout"))
GPTJ = Names(
    body="transformer", words="wte", layers="h", attention="attn", out="out_proj", wide=("fc_in",), narrow="fc_out",
    norms=("ln_1",), last_norm="ln_f", drops=("drop", "attn.resid_dropout", "mlp.dropout"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kin:
    """How a model type differs. `parallel`: attention and MLP beside each other; None: as `use_parallel_residual` says.
    Biases: of q, k and v, of what comes behind them, of the MLP and of the head; None: as a key says. `dropouts`: by
    their keys, behind embeddings, attention and MLP; `dropout`: of scores.
    `scores_in_float`: from their product on. `own_tables`: each layer makes its own. `returns_weights`: of attention,
    to the model's loop. `keeps_names`: of what it computed, to the end of a layer. `one_norm`: for attention and MLP
    beside each other. `own_head`: heads are as wide as `head_dim` says."""

    names: Names
    parallel: bool | None
    turned: float
    joins: str = BOTH
    tied: bool = False
    activation: str = "gelu_new"
    kv_heads: int | None = None
    bias: str = ""
    qkv_bias: bool | None = True
    out_bias: bool | None = True
    mlp_bias: bool | None = True
    head_bias: bool = False
    dropouts: tuple[str, str, str] = ("", "", "")
    dropout: str = "attention_dropout"
    sliding: bool = False
    scores_in_float: bool = False
    own_tables: bool = False
    returns_weights: bool = False
    keeps_names: bool = False
    one_norm: bool = False
    own_head: bool = False


KIN = {
    "gpt_neox": Kin(
        NEOX, parallel=None, turned=0.25, activation="gelu", bias="attention_bias", qkv_bias=None, out_bias=None,
        dropouts=("hidden_dropout", "hidden_dropout", "hidden_dropout"),
    ),
    "phi": Kin(
        PHI, parallel=True, turned=0.5, head_bias=True, one_norm=True,
        dropouts=("embd_pdrop", "resid_pdrop", "resid_pdrop"),
    ),
    "stablelm": Kin(
        STABLELM, parallel=None, turned=0.25, activation="silu",
        kv_heads=32, bias="use_qkv_bias", qkv_bias=None, out_bias=False, mlp_bias=False,
        keeps_names=True, one_norm=True, dropouts=("", "", "hidden_dropout"),
    ),
    "starcoder2": Kin(
        Names(), parallel=False, turned=1.0, joins=WHOLE, tied=True, activation="gelu_pytorch_tanh", kv_heads=2,
        bias="use_bias", qkv_bias=None, out_bias=None, mlp_bias=None, sliding=True, own_head=True,
        dropouts=("embedding_dropout", "residual_dropout", "residual_dropout"),
    ),
    "gptj": Kin(
        GPTJ, parallel=True, turned=1.0, qkv_bias=False, out_bias=False, head_bias=True, scores_in_float=True,
        dropouts=("embd_pdrop", "resid_pdrop", "resid_pdrop"), dropout="attn_pdrop", own_tables=True,
        returns_weights=True, one_norm=True,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shape:
    """A model of this kind."""

    kin: Kin
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head: int
    inner: int
    vocab: int
    rotation: Rotation
    parallel: bool
    activation: str
    tied: bool
    qkv_bias: bool
    out_bias: bool
    mlp_bias: bool
    dropouts: tuple[float, float, float]
    dropout: float
    window: int | None


def shape_of(config: Described, kin: Kin) -> Shape:
    """Raises NoCaseError."""
    if config.flag("qk_layernorm"):
        raise NoCaseError(said("memory_notes", "model_key", key="qk_layernorm"))
    hidden = config.count("hidden_size", "n_embd")
    heads = config.count("num_attention_heads", "n_head")
    kv_heads = config.count("num_key_value_heads", default=kin.kv_heads or heads)
    divided("num_attention_heads", heads, "num_key_value_heads", kv_heads)
    head = head_of(config, kin, hidden, heads)
    bias = config.flag(kin.bias, default=kin.bias != "use_qkv_bias") if kin.bias else False
    embedding, attention, mlp = (config.rate(key) if key else 0.0 for key in kin.dropouts)
    return Shape(
        kin,
        hidden,
        config.layers("num_hidden_layers", "n_layer"),
        heads,
        kv_heads,
        head,
        inner=config.count("intermediate_size", "n_inner", default=4 * hidden if kin.names is GPTJ else None),
        vocab=config.count("vocab_size"),
        rotation=rotation_for(config, kin, head),
        parallel=config.flag("use_parallel_residual", default=kin.names is NEOX)
        if kin.parallel is None
        else kin.parallel,
        activation=config.word("hidden_act", "activation_function", default=kin.activation),
        tied=config.flag("tie_word_embeddings", default=kin.tied),
        qkv_bias=bias if kin.qkv_bias is None else kin.qkv_bias,
        out_bias=bias if kin.out_bias is None else kin.out_bias,
        mlp_bias=bias if kin.mlp_bias is None else kin.mlp_bias,
        dropouts=(embedding, attention, mlp),
        dropout=config.rate(kin.dropout),
        window=window_of(config) if kin.sliding else None,
    )


def head_of(config: Described, kin: Kin, hidden: int, heads: int) -> int:
    """Phi reads `head_dim` too; with wide heads its peak in a forward was 6 % above the formula's (eager,
    checkpointed). GPT-NeoX and StableLM read it for their tables alone. Raises NoCaseError."""
    told = config.get("head_dim")
    if kin.own_head and told is not None:
        return config.count("head_dim")
    head = divided("hidden_size", hidden, "num_attention_heads", heads)
    if told not in (None, head):
        raise NoCaseError(said("memory_notes", "model_key", key="head_dim"))
    return head


def parallel_of(config: Described, kin: Kin) -> bool:
    return config.flag("use_parallel_residual", default=kin.names is NEOX) if kin.parallel is None else kin.parallel


def rotation_for(config: Described, kin: Kin, head: int) -> Rotation:
    """GPT-J tells numbers, not a share. Raises NoCaseError."""
    if kin.names is not GPTJ:
        return rotation_of(config, head, kin.turned, kin.joins)
    return Rotation(head, config.count("rotary_dim", default=min(64, head), most=head), BOTH)


def window_of(config: Described) -> int | None:
    window = config.get("sliding_window")
    return window if isinstance(window, int) and window > 0 else None
