"""OPT: learned positions, layer norms before or after, separate q, k and v (modeling_opt.py)."""

from collections.abc import Sequence
from dataclasses import dataclass

from dsgui.core.memory import operations as op
from dsgui.core.memory.described import Described, divided
from dsgui.core.memory.families.stack import stacked
from dsgui.core.memory.modules import Modules
from dsgui.core.memory.tape import Tensor

DECODER = "model.decoder"
OFFSET = 2  # rows of the positions that no token has


@dataclass(frozen=True, slots=True)
class Shape:
    """`embedded`: the embeddings' width, brought to `hidden` by a projection where it differs (OPT-350m)."""

    hidden: int
    embedded: int
    layers: int
    head: int
    inner: int
    vocab: int
    positions: int
    activation: str
    tied: bool
    bias: bool
    norm_first: bool
    last_norm: bool
    dropout: float
    attention_dropout: float


def shape_of(config: Described) -> Shape:
    """Raises NoCaseError."""
    hidden, heads = config.count("hidden_size"), config.count("num_attention_heads")
    norm_first = config.flag("do_layer_norm_before", default=True)
    return Shape(
        hidden=hidden,
        embedded=config.count("word_embed_proj_dim", default=hidden),
        layers=config.layers("num_hidden_layers"),
        head=divided("hidden_size", hidden, "num_attention_heads", heads),
        inner=config.count("ffn_dim"),
        vocab=config.count("vocab_size"),
        positions=config.count("max_position_embeddings", default=2048) + OFFSET,
        activation=config.word("activation_function", default="relu"),
        tied=config.flag("tie_word_embeddings", default=True),
        bias=config.flag("enable_bias", default=True),
        norm_first=norm_first,
        last_norm=norm_first and not config.flag("_remove_final_layer_norm"),
        dropout=config.rate("dropout", default=0.1),
        attention_dropout=config.rate("attention_dropout"),
    )


class OPT:
    def __init__(self, make: Modules, shape: Shape) -> None:
        self.make = make
        self.shape = shape
        self.tape = make.tape
        self.length = make.workload.length
        self.owner = f"{DECODER}.embed_tokens" if shape.tied else ""

    def loss(self) -> Tensor:
        shape = self.shape
        ids, labels = self.make.tokens(self.length), self.make.tokens(self.length)
        with self.tape.call(""):
            hidden = self.body(ids)
            return self.make.causal_loss("lm_head", hidden, labels, shape.embedded, shape.vocab, owner=self.owner)

    def body(self, ids: Tensor) -> Tensor:
        make, shape = self.make, self.shape
        with self.tape.call(DECODER):
            embedded = make.words(f"{DECODER}.embed_tokens", ids, shape.vocab, shape.embedded, owner=self.owner)
            mask = make.causal_mask(self.length)
            places = make.tokens(self.length)
            positions = make.embedding(f"{DECODER}.embed_positions", places, shape.positions, shape.hidden, of="")
            if shape.embedded != shape.hidden:
                embedded = make.linear(f"{DECODER}.project_in", embedded, shape.embedded, shape.hidden)
            hidden = op.added(self.tape, embedded, positions)
            masks = () if mask is None else (mask,)
            hidden = stacked(make, f"{DECODER}.layers", ["full"] * shape.layers, self.layer, hidden, *masks)[0]
            return self.projected_out(hidden)

    def projected_out(self, hidden: Tensor) -> Tensor:
        shape = self.shape
        if shape.last_norm:
            hidden = self.make.layer_norm(f"{DECODER}.final_layer_norm", hidden, shape.hidden)
        if shape.embedded != shape.hidden:
            hidden = self.make.linear(f"{DECODER}.project_out", hidden, shape.hidden, shape.embedded)
        return hidden

    def layer(self, index: int, hidden: Tensor, *masks: Tensor) -> Sequence[Tensor]:
        name, shape = f"{DECODER}.layers.{index}", self.shape
        with self.tape.call(name):
            residual = hidden
            if shape.norm_first:
                hidden = self.norm(f"{name}.self_attn_layer_norm", hidden)
            hidden, _weights = self.attention(f"{name}.self_attn", hidden)
            hidden = op.dropout(self.tape, hidden, shape.dropout)
            hidden = op.added(self.tape, residual, hidden)
            if not shape.norm_first:
                hidden = self.norm(f"{name}.self_attn_layer_norm", hidden)
            residual = hidden
            if shape.norm_first:
                hidden = self.norm(f"{name}.final_layer_norm", hidden)
            hidden = self.make.linear(f"{name}.fc1", hidden, shape.hidden, shape.inner, bias=shape.bias)
            hidden = self.make.activation(f"{name}.activation_fn", hidden, shape.activation)
            hidden = self.make.linear(f"{name}.fc2", hidden, shape.inner, shape.hidden, bias=shape.bias)
            hidden = op.dropout(self.tape, hidden, shape.dropout)
            hidden = op.added(self.tape, residual, hidden)
            if not shape.norm_first:
                hidden = self.norm(f"{name}.final_layer_norm", hidden)
            return hidden, *masks

    def norm(self, name: str, x: Tensor) -> Tensor:
        return self.make.layer_norm(name, x, self.shape.hidden)

    def attention(self, name: str, x: Tensor) -> tuple[Tensor, Tensor | None]:
        make, shape, width = self.make, self.shape, self.shape.hidden
        with self.tape.call(name):
            q = op.scaled(self.tape, make.linear(f"{name}.q_proj", x, width, width, bias=shape.bias))
            k = make.linear(f"{name}.k_proj", x, width, width, bias=shape.bias).view(scattered=True)
            v = make.linear(f"{name}.v_proj", x, width, width, bias=shape.bias).view(scattered=True)
            out, weights = make.attended(q.view(scattered=True), k, v, shape.head, shape.attention_dropout)
            return make.linear(f"{name}.out_proj", out, width, width, bias=shape.bias), weights
