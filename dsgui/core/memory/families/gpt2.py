"""GPT-2: learned positions, layer norms, one product for q, k and v (modeling_gpt2.py)."""

from collections.abc import Sequence
from dataclasses import dataclass

from dsgui.core.memory import operations as op
from dsgui.core.memory.described import Described, divided
from dsgui.core.memory.families.stack import stacked
from dsgui.core.memory.modules import Modules
from dsgui.core.memory.tape import Tensor


@dataclass(frozen=True, slots=True)
class Shape:
    hidden: int
    layers: int
    head: int
    inner: int
    vocab: int
    positions: int
    activation: str
    tied: bool
    embedding_dropout: float
    attention_dropout: float
    residual_dropout: float


def shape_of(config: Described) -> Shape:
    """Raises NoCaseError."""
    hidden, heads = config.count("n_embd", "hidden_size"), config.count("n_head", "num_attention_heads")
    return Shape(
        hidden=hidden,
        layers=config.layers("n_layer", "num_hidden_layers"),
        head=divided("n_embd", hidden, "n_head", heads),
        inner=config.count("n_inner", default=4 * hidden),
        vocab=config.count("vocab_size"),
        positions=config.count("n_positions", "max_position_embeddings", default=1024),
        activation=config.word("activation_function", default="gelu_new"),
        tied=config.flag("tie_word_embeddings", default=True),
        embedding_dropout=config.rate("embd_pdrop", default=0.1),
        attention_dropout=config.rate("attn_pdrop", default=0.1),
        residual_dropout=config.rate("resid_pdrop", default=0.1),
    )


class GPT2:
    def __init__(self, make: Modules, shape: Shape) -> None:
        self.make = make
        self.shape = shape
        self.tape = make.tape
        self.length = make.workload.length
        self.owner = "transformer.wte" if shape.tied else ""

    def loss(self) -> Tensor:
        make, shape = self.make, self.shape
        ids, labels = make.tokens(self.length), make.tokens(self.length)
        with self.tape.call(""):
            hidden = self.body(ids)
            return make.causal_loss("lm_head", hidden, labels, shape.hidden, shape.vocab, owner=self.owner)

    def body(self, ids: Tensor) -> Tensor:
        make, shape = self.make, self.shape
        with self.tape.call("transformer"):
            tokens = make.words("transformer.wte", ids, shape.vocab, shape.hidden, owner=self.owner)
            positions = make.embedding("transformer.wpe", self.positions(), shape.positions, shape.hidden)
            hidden = op.added(self.tape, tokens, positions)
            mask = make.causal_mask(self.length)
            masks = () if mask is None else (mask,)
            hidden = make.dropout("transformer.drop", hidden, shape.embedding_dropout)
            hidden = stacked(make, "transformer.h", ["full"] * shape.layers, self.layer, hidden, *masks)[0]
            return make.layer_norm("transformer.ln_f", hidden, shape.hidden)

    def positions(self) -> Tensor:
        return self.tape.make(self.length, op.INDEX)

    def layer(self, index: int, hidden: Tensor, *masks: Tensor) -> Sequence[Tensor]:
        name, width = f"transformer.h.{index}", self.shape.hidden
        with self.tape.call(name):
            residual = hidden
            hidden = self.make.layer_norm(f"{name}.ln_1", hidden, width)
            attention, _weights = self.attention(f"{name}.attn", hidden)
            hidden = op.added(self.tape, attention, residual)
            residual = hidden
            hidden = self.make.layer_norm(f"{name}.ln_2", hidden, width)
            hidden = self.mlp(f"{name}.mlp", hidden)
            return op.added(self.tape, residual, hidden), *masks

    def attention(self, name: str, x: Tensor) -> tuple[Tensor, Tensor | None]:
        make, shape, width = self.make, self.shape, self.shape.hidden
        with self.tape.call(name):
            fused = make.linear(f"{name}.c_attn", x, width, 3 * width, bias=True)
            q, k, v = self.tape.split(fused, *[fused.numel // 3] * 3)
            del fused
            out, weights = make.attended(q, k, v, shape.head, shape.attention_dropout, softmax_in_float=False)
            out = make.linear(f"{name}.c_proj", out, width, width, bias=True)
            return make.dropout(f"{name}.resid_dropout", out, shape.residual_dropout), weights

    def mlp(self, name: str, hidden: Tensor) -> Tensor:
        make, shape = self.make, self.shape
        with self.tape.call(name):
            hidden = make.linear(f"{name}.c_fc", hidden, shape.hidden, shape.inner, bias=True)
            hidden = make.activation(f"{name}.act", hidden, shape.activation)
            hidden = make.linear(f"{name}.c_proj", hidden, shape.inner, shape.hidden, bias=True)
            return make.dropout(f"{name}.dropout", hidden, shape.residual_dropout)
