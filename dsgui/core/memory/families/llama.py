"""Llama and its kin: RMS norms, rotary positions, a gated MLP (transformers' modeling_llama.py, modeling_mistral.py,
modeling_qwen2.py, modeling_qwen3.py, modeling_gemma.py, modeling_gemma2.py, modeling_gemma3.py)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dsgui.core.memory import operations as op
from dsgui.core.memory.described import Described, NoCaseError, divided
from dsgui.core.memory.families.stack import stacked
from dsgui.core.memory.modules import EMBEDDING, Modules
from dsgui.core.memory.tape import Tensor
from dsgui.core.texts.saying import said


@dataclass(frozen=True, slots=True)
class Shape:
    """A model of this kind. `kinds`: of each layer's attention. `sandwich`: norms also behind attention and MLP.
    `softcap`, `final_softcap`: tanh on scores and on logits."""

    hidden: int
    heads: int
    kv_heads: int
    head: int
    inner: int
    vocab: int
    kinds: tuple[str, ...]
    activation: str
    tied: bool
    dropout: float
    qkv_bias: bool = False
    out_bias: bool = False
    mlp_bias: bool = False
    qk_norm: bool = False
    gemma: bool = False
    sandwich: bool = False
    local_tables: bool = False
    softcap: bool = False
    final_softcap: bool = False
    window: int | None = None


@dataclass(frozen=True, slots=True)
class Kin:
    """How a model type differs from Llama: what its code fixes, and its configuration's defaults."""

    kv_heads: int | None = None
    head: int | None = None
    qkv_bias: bool | None = False
    out_bias: bool | None = False
    mlp_bias: bool = False
    tied: bool = False
    activation: str = "silu"
    qk_norm: bool = False
    gemma: bool = False
    sandwich: bool = False
    softcaps: bool = False
    local_tables: bool = False
    sliding: str = ""


KIN = {
    "llama": Kin(qkv_bias=None, out_bias=None, mlp_bias=True),
    "mistral": Kin(kv_heads=8, sliding="all"),
    "qwen2": Kin(kv_heads=32, qkv_bias=True, sliding="late"),
    "qwen3": Kin(kv_heads=32, head=128, qkv_bias=None, out_bias=None, qk_norm=True, sliding="late"),
    "gemma": Kin(
        kv_heads=16, head=256, qkv_bias=None, out_bias=None, tied=True, activation="gelu_pytorch_tanh", gemma=True
    ),
    "gemma2": Kin(
        kv_heads=4, head=256, qkv_bias=None, out_bias=None, tied=True, activation="gelu_pytorch_tanh", gemma=True,
        sandwich=True, softcaps=True, sliding="alternating",
    ),
    "gemma3_text": Kin(
        kv_heads=4, head=256, qkv_bias=None, out_bias=None, tied=True, activation="gelu_pytorch_tanh", gemma=True,
        sandwich=True, qk_norm=True, local_tables=True, sliding="pattern",
    ),
}  # fmt: skip


def shape_of(config: Described, kin: Kin) -> Shape:
    """Raises NoCaseError."""
    hidden, heads = config.count("hidden_size"), config.count("num_attention_heads")
    kv_heads = config.count("num_key_value_heads", default=kin.kv_heads or heads)
    divided("num_attention_heads", heads, "num_key_value_heads", kv_heads)
    bias = config.flag("attention_bias")
    return Shape(
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head=head_of(config, kin, hidden, heads),
        inner=config.count("intermediate_size"),
        vocab=config.count("vocab_size"),
        kinds=kinds_of(config, kin),
        window=window_of(config),
        activation=config.word("hidden_activation", "hidden_act", default=kin.activation),
        tied=config.flag("tie_word_embeddings", default=kin.tied),
        dropout=config.rate("attention_dropout"),
        qkv_bias=bias if kin.qkv_bias is None else kin.qkv_bias,
        out_bias=bias if kin.out_bias is None else kin.out_bias,
        mlp_bias=kin.mlp_bias and config.flag("mlp_bias"),
        qk_norm=kin.qk_norm,
        gemma=kin.gemma,
        sandwich=kin.sandwich,
        local_tables=kin.local_tables,
        softcap=kin.softcaps and config.keys.get("attn_logit_softcapping", 50.0) is not None,
        final_softcap=kin.softcaps and config.keys.get("final_logit_softcapping", 30.0) is not None,
    )


def head_of(config: Described, kin: Kin, hidden: int, heads: int) -> int:
    if config.get("head_dim") is not None or kin.head is not None:
        return config.count("head_dim", default=kin.head)
    return divided("hidden_size", hidden, "num_attention_heads", heads)


FULL, SLIDING = "full_attention", "sliding_attention"


def kinds_of(config: Described, kin: Kin) -> tuple[str, ...]:
    """Which attention each layer has, told by `layer_types` or as the configuration's class derives it."""
    layers = config.layers("num_hidden_layers")
    told = config.get("layer_types")
    if told is not None:
        return kinds_told(told, layers)
    slides = SLIDERS[kin.sliding](config)
    return tuple(SLIDING if slides(index) else FULL for index in range(layers))


def kinds_told(told: object, layers: int) -> tuple[str, ...]:
    if isinstance(told, list) and len(told) == layers and all(isinstance(kind, str) for kind in told):
        return tuple(told)
    raise NoCaseError(said("memory_notes", "bad_kinds", layers=str(layers)))


def every(period: int) -> Callable[[int], bool]:
    return lambda index: (index + 1) % period != 0


def late(config: Described) -> Callable[[int], bool]:
    """Qwen: the layers from `max_window_layers` on, if `use_sliding_window`."""
    first = config.keys.get("max_window_layers", 28)
    first = first if isinstance(first, int) else 28
    return lambda index: config.flag("use_sliding_window") and window_of(config) is not None and index >= first


SLIDERS: Mapping[str, Callable[[Described], Callable[[int], bool]]] = {
    "": lambda config: lambda index: False,
    "all": lambda config: lambda index: window_of(config) is not None,
    "late": late,
    "alternating": lambda config: every(2),
    "pattern": lambda config: every(config.count("sliding_window_pattern", default=6)),
}


def window_of(config: Described) -> int | None:
    """Tokens that a sliding layer sees; 4096 where nothing is said, none for `null`."""
    window = config.keys.get("sliding_window", 4096)
    return window if isinstance(window, int) and window > 0 else None


class Llama:
    """The causal language model of one shape."""

    def __init__(self, make: Modules, shape: Shape) -> None:
        self.make = make
        self.shape = shape
        self.tape = make.tape
        self.length = make.workload.length
        self.owner = "model.embed_tokens" if shape.tied else ""
        self.kinds = list(dict.fromkeys(shape.kinds))
        self.masked: list[str] = []

    def loss(self) -> Tensor:
        shape = self.shape
        ids, labels = self.make.tokens(self.length), self.make.tokens(self.length)
        with self.tape.call(""):
            hidden = self.body(ids)
            return self.make.causal_loss(
                "lm_head", hidden, labels, shape.hidden, shape.vocab, owner=self.owner, softcap=shape.final_softcap
            )

    def body(self, ids: Tensor) -> Tensor:
        with self.tape.call("model"):
            hidden = self.embedded(ids)
            masks = self.masks()
            tables = [self.tables() for _ in (self.kinds if self.shape.local_tables else self.kinds[:1])]
            self.masked = [kind for kind in self.kinds if kind in masks]
            shared = [*tables, *(masks[kind] for kind in self.masked)]
            hidden = stacked(self.make, "model.layers", self.shape.kinds, self.layer, hidden, *shared)[0]
            return self.norm("model.norm", hidden, self.shape.hidden)

    def masks(self) -> dict[str, Tensor]:
        """A mask for each kind of attention that needs one; Gemma 2 and 3 make both, whatever their layers are."""
        windows = {FULL: None, SLIDING: self.shape.window}
        kinds = windows if self.shape.sandwich else self.kinds
        made = {kind: self.make.window_mask(self.length, windows.get(kind)) for kind in kinds}
        return {kind: mask for kind, mask in made.items() if mask is not None}

    def own(self, index: int, shared: Sequence[Tensor]) -> tuple[Tensor, Tensor | None]:
        """Of what all layers share: the table of positions and the mask of one."""
        kind = self.shape.kinds[index]
        place = self.kinds.index(kind)
        tables = len(self.kinds) if self.shape.local_tables else 1
        masks = shared[tables:]
        return shared[place if self.shape.local_tables else 0], dict(zip(self.masked, masks, strict=True)).get(kind)

    def embedded(self, ids: Tensor) -> Tensor:
        shape = self.shape
        of = "" if shape.gemma else EMBEDDING  # a class of its own
        hidden = self.make.words("model.embed_tokens", ids, shape.vocab, shape.hidden, owner=self.owner, of=of)
        return op.scaled(self.tape, hidden) if shape.gemma else hidden

    def tables(self) -> Tensor:
        """cos and sin: one row for each position."""
        with self.tape.call("model.rotary_emb", reads=False):
            numel = 2 * self.length * self.shape.head
            return self.tape.operation((), numel, self.make.element, extra=2 * numel * op.FLOAT)

    def norm(self, name: str, x: Tensor, width: int) -> Tensor:
        return self.make.gemma_norm(name, x, width) if self.shape.gemma else self.make.rms_norm(name, x, width)

    def layer(self, index: int, hidden: Tensor, *shared: Tensor) -> Sequence[Tensor]:
        name, width = f"model.layers.{index}", self.shape.hidden
        tables, mask = self.own(index, shared)
        before_mlp = "pre_feedforward_layernorm" if self.shape.sandwich else "post_attention_layernorm"
        with self.tape.call(name):
            residual = hidden
            hidden = self.norm(f"{name}.input_layernorm", hidden, width)
            hidden, _weights = self.attention(f"{name}.self_attn", hidden, tables, mask)
            if self.shape.sandwich:
                hidden = self.norm(f"{name}.post_attention_layernorm", hidden, width)
            hidden = op.added(self.tape, residual, hidden)
            residual = hidden
            hidden = self.norm(f"{name}.{before_mlp}", hidden, width)
            hidden = self.mlp(f"{name}.mlp", hidden)
            if self.shape.sandwich:
                hidden = self.norm(f"{name}.post_feedforward_layernorm", hidden, width)
            return op.added(self.tape, residual, hidden), *shared

    def attention(self, name: str, x: Tensor, tables: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        shape = self.shape
        with self.tape.call(name):
            q, k, v = self.projected(name, x)
            q, k = op.rotary(self.tape, q, tables), op.rotary(self.tape, k, tables)
            out, weights = self.make.attended(q, k, v, shape.head, shape.dropout, softcap=shape.softcap, mask=mask)
            out = self.make.linear(f"{name}.o_proj", out, shape.heads * shape.head, shape.hidden, bias=shape.out_bias)
            return out, weights

    def projected(self, name: str, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, their heads side by side in memory; Gemma 3 norms when it has all three."""
        shape = self.shape
        if shape.gemma or not shape.qk_norm:
            q, k = self.linear(f"{name}.q", x, shape.heads), self.linear(f"{name}.k", x, shape.kv_heads)
            v = self.linear(f"{name}.v", x, shape.kv_heads)
            return self.normed(f"{name}.q", q), self.normed(f"{name}.k", k), v
        q = self.normed(f"{name}.q", self.linear(f"{name}.q", x, shape.heads))
        k = self.normed(f"{name}.k", self.linear(f"{name}.k", x, shape.kv_heads))
        return q, k, self.linear(f"{name}.v", x, shape.kv_heads)

    def linear(self, name: str, x: Tensor, heads: int) -> Tensor:
        shape = self.shape
        out = self.make.linear(f"{name}_proj", x, shape.hidden, heads * shape.head, bias=shape.qkv_bias)
        return out.view(scattered=True)

    def normed(self, name: str, x: Tensor) -> Tensor:
        if not self.shape.qk_norm:
            return x
        return self.norm(f"{name}_norm", x, self.shape.head).view(scattered=True)

    def mlp(self, name: str, x: Tensor) -> Tensor:
        make, shape = self.make, self.shape
        with self.tape.call(name):
            gate = make.linear(f"{name}.gate_proj", x, shape.hidden, shape.inner, bias=shape.mlp_bias)
            gate = make.activation(f"{name}.act_fn", gate, shape.activation)
            up = make.linear(f"{name}.up_proj", x, shape.hidden, shape.inner, bias=shape.mlp_bias)
            gate = op.times(self.tape, gate, up)
            del up
            return make.linear(f"{name}.down_proj", gate, shape.inner, shape.hidden, bias=shape.mlp_bias)
