"""T5 and mT5: an encoder, a decoder that reads it, relative positions as a bias of the scores (modeling_t5.py)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from dsgui.core.memory import operations as op
from dsgui.core.memory.described import Described
from dsgui.core.memory.families.stack import stacked
from dsgui.core.memory.modules import Modules
from dsgui.core.memory.tape import Tensor


@dataclass(frozen=True, slots=True)
class Shape:
    hidden: int
    head: int
    heads: int
    inner: int
    layers: int
    decoder_layers: int
    vocab: int
    buckets: int
    activation: str
    gated: bool
    scaled_head: bool
    dropout: float


def shape_of(config: Described) -> Shape:
    """Raises NoCaseError. The embeddings and the head are always one weight; `tie_word_embeddings` only says whether
    the head's input is scaled (configuration_t5.py:84)."""
    layers = config.layers("num_layers", "num_hidden_layers")
    usual = "gated-gelu" if config.get("model_type") == "mt5" else "relu"
    words = config.word("feed_forward_proj", default=usual).split("-")
    gated = words[0] == "gated"
    return Shape(
        hidden=config.count("d_model", "hidden_size"),
        head=config.count("d_kv", default=64),
        heads=config.count("num_heads", "num_attention_heads"),
        inner=config.count("d_ff", default=2048),
        layers=layers,
        decoder_layers=config.layers("num_decoder_layers", default=layers),
        vocab=config.count("vocab_size"),
        buckets=config.count("relative_attention_num_buckets", default=32),
        activation="gelu_new" if words == ["gated", "gelu"] else words[-1],
        gated=gated,
        scaled_head=config.flag("tie_word_embeddings", default=True),
        dropout=config.rate("dropout_rate", default=0.1),
    )


@dataclass(frozen=True, slots=True)
class Side:
    """The encoder or the decoder: how many tokens it has."""

    name: str
    layers: int
    length: int
    decodes: bool


BUCKETING = 6 * op.INDEX  # bytes that sorting a distance into its bucket needs besides (modeling_t5.py:222)
Attended = tuple[Tensor, Tensor, Tensor | None]  # the new hidden states, the position bias, the weights


class T5:
    def __init__(self, make: Modules, shape: Shape, *, clamps: bool) -> None:
        """`clamps`: fp16, whose infinities each sublayer clamps (modeling_t5.py:400)."""
        self.make = make
        self.shape = shape
        self.clamps = clamps
        self.tape = make.tape
        self.length = make.workload.length
        self.target = make.workload.target_length or make.workload.length

    def loss(self) -> Tensor:
        make, shape = self.make, self.shape
        ids, labels = make.tokens(self.length), make.tokens(self.target)
        with self.tape.call(""):
            encoded = self.side(Side("encoder", shape.layers, self.length, decodes=False), ids)
            decoded = self.side(Side("decoder", shape.decoder_layers, self.target, decodes=True), labels, encoded)
            hidden = op.scaled(self.tape, decoded) if shape.scaled_head else decoded
            self.tape.logits = True
            logits = make.linear("lm_head", hidden, shape.hidden, shape.vocab, owner="shared")
            return op.cross_entropy(self.tape, logits, labels)

    def side(self, side: Side, ids: Tensor, encoded: Tensor | None = None) -> Tensor:
        make, shape = self.make, self.shape
        with self.tape.call(side.name):
            embedded = make.words(f"{side.name}.embed_tokens", ids, shape.vocab, shape.hidden, owner="shared")
            mask = make.causal_mask(side.length) if side.decodes else None
            hidden = make.dropout(f"{side.name}.dropout", embedded, shape.dropout)
            hidden = self.blocks(side, hidden, encoded, mask)
            hidden = make.t5_norm(f"{side.name}.final_layer_norm", hidden, shape.hidden)
            return make.dropout(f"{side.name}.dropout", hidden, shape.dropout)

    def blocks(self, side: Side, hidden: Tensor, encoded: Tensor | None, mask: Tensor | None) -> Tensor:
        """Layers share the decoder's mask, and what the first of them made: position biases."""
        name, kinds = f"{side.name}.block", ["full"] * side.layers
        if encoded is None:
            return stacked(self.make, name, kinds, partial(self.encode, side), hidden)[0]
        masks = () if mask is None else (mask,)
        return stacked(self.make, name, kinds, partial(self.decode, side), hidden, encoded, *masks)[0]

    def encode(self, side: Side, index: int, hidden: Tensor, bias: Tensor | None = None) -> Sequence[Tensor]:
        name = f"{side.name}.block.{index}"
        with self.tape.call(name):
            hidden, bias, _weights = self.self_attention(side, f"{name}.layer.0", hidden, bias)
            hidden = self.clamped(hidden)
            hidden = self.feed_forward(f"{name}.layer.1", hidden)
            return self.clamped(hidden), bias

    def decode(self, side: Side, index: int, hidden: Tensor, encoded: Tensor, *shared: Tensor) -> Sequence[Tensor]:
        name = f"{side.name}.block.{index}"
        masks = shared[: int(self.make.eager)]
        bias, cross = shared[len(masks) :] or (None, None)
        with self.tape.call(name):
            hidden, bias, _weights = self.self_attention(side, f"{name}.layer.0", hidden, bias)
            hidden = self.clamped(hidden)
            hidden, cross, _weights = self.cross_attention(f"{name}.layer.1", hidden, encoded, cross)
            hidden = self.clamped(hidden)
            hidden = self.feed_forward(f"{name}.layer.2", hidden)
            return self.clamped(hidden), encoded, *masks, bias, cross

    def clamped(self, hidden: Tensor) -> Tensor:
        return op.saving_input(self.tape, hidden) if self.clamps else hidden

    def self_attention(self, side: Side, name: str, hidden: Tensor, bias: Tensor | None) -> Attended:
        with self.tape.call(name):
            normed = self.make.t5_norm(f"{name}.layer_norm", hidden, self.shape.hidden)
            with self.tape.call(f"{name}.SelfAttention"):
                q, k, v = (self.projected(f"{name}.SelfAttention.{one}", normed) for one in "qkv")
                if bias is None:
                    bias = self.relative(side, f"{name}.SelfAttention.relative_attention_bias")
                out, weights = self.attended(q, k, v, bias, causal=side.decodes)
                out = self.out(f"{name}.SelfAttention.o", out)
                del q, k, v
            return self.residual(name, hidden, out), bias, weights

    def cross_attention(self, name: str, hidden: Tensor, encoded: Tensor, bias: Tensor | None) -> Attended:
        with self.tape.call(name):
            normed = self.make.t5_norm(f"{name}.layer_norm", hidden, self.shape.hidden)
            with self.tape.call(f"{name}.EncDecAttention"):
                q = self.projected(f"{name}.EncDecAttention.q", normed)
                k = self.projected(f"{name}.EncDecAttention.k", encoded)
                v = self.projected(f"{name}.EncDecAttention.v", encoded)
                if bias is None:
                    bias = self.no_bias()
                out, weights = self.attended(q, k, v, bias, causal=False)
                out = self.out(f"{name}.EncDecAttention.o", out)
                del q, k, v
            return self.residual(name, hidden, out), bias, weights

    def residual(self, name: str, hidden: Tensor, out: Tensor) -> Tensor:
        return op.added(self.tape, hidden, self.make.dropout(f"{name}.dropout", out, self.shape.dropout))

    def projected(self, name: str, x: Tensor) -> Tensor:
        shape = self.shape
        return self.make.linear(name, x, shape.hidden, shape.heads * shape.head).view(scattered=True)

    def out(self, name: str, x: Tensor) -> Tensor:
        return self.make.linear(name, x, self.shape.heads * self.shape.head, self.shape.hidden)

    def relative(self, side: Side, name: str) -> Tensor:
        """A bias for each head and pair of places, looked up by their distance: a permuted view."""
        pairs = side.length**2
        buckets = self.tape.operation((), pairs, op.INDEX, extra=BUCKETING * pairs)
        return self.make.embedding(name, buckets, self.shape.buckets, self.shape.heads).view(scattered=True)

    def no_bias(self) -> Tensor:
        """Zeros for cross-attention, which are made to want a gradient under checkpointing (modeling_t5.py:338)."""
        element = op.NARROW if self.tape.lower else self.make.element  # as the queries are
        zeros = self.tape.operation((), self.shape.heads * self.length * self.target, element)
        return self.tape.wanting(zeros) if self.make.workload.checkpointing else zeros

    def attended(self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor, *, causal: bool) -> tuple[Tensor, Tensor | None]:
        """sdpa gets a mask of its own in each layer: the bias, combined with causality or copied into order
        (sdpa_attention.py:52)."""
        if self.make.eager:
            return self.eager(q, k, v, bias, causal=causal)
        heads = self.shape.heads
        mask = op.masked(self.tape, bias, heads) if causal else bias
        mask = op.contiguous(self.tape, mask)
        return self.make.flash(q, k, v, self.shape.head, mask), None

    def eager(self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor, *, causal: bool) -> tuple[Tensor, Tensor]:
        tape = self.tape
        weights = op.scaled(tape, op.product(tape, q, k, self.make.batch * bias.numel))
        weights = op.added(tape, weights, bias)
        if causal:
            weights = op.shifted(tape, weights)
        weights = op.softmax(tape, op.cast(tape, weights, op.FLOAT) if tape.lower else weights)
        weights = op.dropout(tape, weights, self.shape.dropout)
        out = op.product(tape, weights, v, q.numel)
        return op.contiguous(tape, out.view(scattered=True)), weights

    def feed_forward(self, name: str, hidden: Tensor) -> Tensor:
        with self.tape.call(name):
            forwarded = self.make.t5_norm(f"{name}.layer_norm", hidden, self.shape.hidden)
            forwarded = self.dense(f"{name}.DenseReluDense", forwarded)
            return self.residual(name, hidden, forwarded)

    def dense(self, name: str, hidden: Tensor) -> Tensor:
        make, shape = self.make, self.shape
        with self.tape.call(name):
            first = f"{name}.wi_0" if shape.gated else f"{name}.wi"
            hidden_act = make.linear(first, hidden, shape.hidden, shape.inner)
            hidden_act = make.activation(f"{name}.act", hidden_act, shape.activation)
            wide = hidden_act
            if shape.gated:
                hidden_linear = make.linear(f"{name}.wi_1", hidden, shape.hidden, shape.inner)
                wide = op.times(self.tape, hidden_act, hidden_linear)
            else:
                del hidden_act
            wide = make.dropout(f"{name}.dropout", wide, shape.dropout)
            wide = op.cast(self.tape, wide, make.element)  # modeling_t5.py:92
            return make.linear(f"{name}.wo", wide, shape.inner, shape.hidden)
