"""Bloom: positions as slopes of the scores (ALiBi), always eager attention (modeling_bloom.py)."""

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
    heads: int
    head: int
    vocab: int
    tied: bool
    after_norm: bool
    hidden_dropout: float
    attention_dropout: float


def shape_of(config: Described) -> Shape:
    """Raises NoCaseError. `n_embed` is the old spelling of hidden_size."""
    hidden, heads = config.count("hidden_size", "n_embed"), config.count("n_head", "num_attention_heads")
    return Shape(
        hidden=hidden,
        layers=config.layers("n_layer", "num_hidden_layers"),
        heads=heads,
        head=divided("hidden_size", hidden, "n_head", heads),
        vocab=config.count("vocab_size", default=250880),
        tied=config.flag("tie_word_embeddings", default=True),
        after_norm=config.flag("apply_residual_connection_post_layernorm"),
        hidden_dropout=config.rate("hidden_dropout"),
        attention_dropout=config.rate("attention_dropout"),
    )


class Bloom:
    def __init__(self, make: Modules, shape: Shape) -> None:
        self.make = make
        self.shape = shape
        self.tape = make.tape
        self.length = make.workload.length
        self.owner = "transformer.word_embeddings" if shape.tied else ""
        self.last_weights: Tensor | None = None

    def loss(self) -> Tensor:
        shape = self.shape
        ids, labels = self.make.tokens(self.length), self.make.tokens(self.length)
        with self.tape.call(""):
            hidden = self.body(ids)
            self.last_weights = None
            return self.make.causal_loss("lm_head", hidden, labels, shape.hidden, shape.vocab, owner=self.owner)

    def body(self, ids: Tensor) -> Tensor:
        make, shape = self.make, self.shape
        with self.tape.call("transformer"):
            embedded = make.words("transformer.word_embeddings", ids, shape.vocab, shape.hidden, owner=self.owner)
            hidden = make.layer_norm("transformer.word_embeddings_layernorm", embedded, shape.hidden)
            slopes = self.tape.make(make.batch * shape.heads * self.length, make.element)
            mask = make.causal_mask(self.length)
            masks = () if mask is None else (mask,)
            hidden = stacked(make, "transformer.h", ["full"] * shape.layers, self.layer, hidden, slopes, *masks)[0]
            return make.layer_norm("transformer.ln_f", hidden, shape.hidden)

    def layer(self, index: int, hidden: Tensor, *shared: Tensor) -> Sequence[Tensor]:
        name, shape = f"transformer.h.{index}", self.shape
        with self.tape.call(name):
            normed = self.make.layer_norm(f"{name}.input_layernorm", hidden, shape.hidden)
            residual = normed if shape.after_norm else hidden
            attended, weights = self.attention(f"{name}.self_attention", normed, residual)
            normed = self.make.layer_norm(f"{name}.post_attention_layernorm", attended, shape.hidden)
            residual = normed if shape.after_norm else attended
            out = self.mlp(f"{name}.mlp", normed, residual)
        self._returned(weights)
        return out, *shared

    def _returned(self, weights: Tensor) -> None:
        """The model's loop holds what the last layer returned, the attention's weights too."""
        if self.tape.moment == "forward":
            self.last_weights = weights

    def attention(self, name: str, x: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:
        make, shape, tape = self.make, self.shape, self.tape
        with tape.call(name):
            fused = make.linear(f"{name}.query_key_value", x, shape.hidden, 3 * shape.hidden, bias=True)
            q, k, v = (self.heads(op.selected(tape, fused, 3)) for _ in range(3))
            pairs = make.batch * shape.heads * self.length**2
            scores = op.product(tape, q, k, pairs)
            masked = op.promoted(tape, scores, make.element)
            weights = op.cast(tape, op.softmax(tape, op.cast(tape, masked, op.FLOAT)), q.element)
            weights = make.dropout(f"{name}.attention_dropout", weights, shape.attention_dropout)
            out = op.product(tape, weights, v, q.numel)
            out = op.contiguous(tape, out.view(scattered=True))
            out = make.linear(f"{name}.dense", out, shape.hidden, shape.hidden, bias=True)
            return self.dropped(out, residual), weights

    def heads(self, x: Tensor) -> Tensor:
        """Heads merged with the batch: a view if there is one sequence, else a copy."""
        return op.contiguous(self.tape, x.view(scattered=self.make.batch > 1))

    def dropped(self, x: Tensor, residual: Tensor) -> Tensor:
        """`dropout_add`."""
        return op.added(self.tape, residual, op.dropout(self.tape, x, self.shape.hidden_dropout))

    def mlp(self, name: str, x: Tensor, residual: Tensor) -> Tensor:
        make, width = self.make, self.shape.hidden
        with self.tape.call(name):
            wide = make.linear(f"{name}.dense_h_to_4h", x, width, 4 * width, bias=True)
            x = make.activation(f"{name}.gelu_impl", wide, "bloom_gelu")
            del wide
            out = make.linear(f"{name}.dense_4h_to_h", x, 4 * width, width, bias=True)
            return self.dropped(out, residual)
