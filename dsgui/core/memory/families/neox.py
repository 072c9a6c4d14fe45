"""GPT-NeoX (Pythia) and its kin: layer norms, rotary positions, attention and MLP beside each other or one after the
other (modeling_gpt_neox.py, modeling_phi.py, modeling_stablelm.py, modeling_starcoder2.py, modeling_gptj.py)."""

from collections.abc import Sequence

from dsgui.core.memory import operations as op
from dsgui.core.memory.families.neox_kin import Shape
from dsgui.core.memory.families.stack import stacked
from dsgui.core.memory.modules import Modules
from dsgui.core.memory.tape import Tensor


class NeoX:
    """The causal language model of one shape."""

    def __init__(self, make: Modules, shape: Shape) -> None:
        self.make = make
        self.shape = shape
        self.names = shape.kin.names
        self.tape = make.tape
        self.length = make.workload.length
        self.owner = f"{self.names.body}.{self.names.words}" if shape.tied else ""
        self.last_weights: Tensor | None = None

    def loss(self) -> Tensor:
        shape = self.shape
        ids, labels = self.make.tokens(self.length), self.make.tokens(self.length)
        with self.tape.call(""):
            hidden = self.body(ids)
            return self.make.causal_loss(
                "lm_head", hidden, labels, shape.hidden, shape.vocab, owner=self.owner, bias=shape.kin.head_bias
            )

    def body(self, ids: Tensor) -> Tensor:
        make, shape, names = self.make, self.shape, self.names
        with self.tape.call(names.body):
            hidden = make.words(f"{names.body}.{names.words}", ids, shape.vocab, shape.hidden, owner=self.owner)
            mask = make.window_mask(self.length, shape.window)
            masks = () if mask is None else (mask,)
            hidden = self.dropped(names.body, 0, hidden)
            tables = () if shape.kin.own_tables else (self.tables(),)
            kinds = ["full"] * shape.layers
            hidden = stacked(make, f"{names.body}.{names.layers}", kinds, self.layer, hidden, *tables, *masks)[0]
            self.last_weights = None
            return make.layer_norm(f"{names.body}.{names.last_norm}", hidden, shape.hidden)

    def tables(self) -> Tensor:
        with self.tape.call(f"{self.names.body}.rotary_emb", reads=False):
            return self.shape.rotation.tables(self.tape, self.length, self.make.element)

    def layer(self, index: int, hidden: Tensor, *shared: Tensor) -> Sequence[Tensor]:
        name = f"{self.names.body}.{self.names.layers}.{index}"
        with self.tape.call(name):
            together = self.beside(name, hidden, *shared) if self.shape.parallel else self.behind(name, hidden, *shared)
            return together, *shared

    def beside(self, name: str, hidden: Tensor, *shared: Tensor) -> Tensor:
        """Attention and MLP read the same, each behind its norm or both behind one."""
        normed = self.norm(name, 0, hidden)
        attended, weights = self.attention(f"{name}.{self.names.attention}", normed, *shared)
        attended = self.dropped(name, 1, attended)
        if not self.shape.kin.one_norm:
            normed = self.norm(name, 1, hidden)
        wide = self.dropped(name, 2, self.mlp(f"{name}.mlp", normed))
        together = op.added(self.tape, op.added(self.tape, wide, attended), hidden)
        if self.shape.kin.returns_weights and self.tape.moment == "forward":
            self.last_weights = weights  # the model's loop holds what the last layer returned
        return together

    def behind(self, name: str, hidden: Tensor, *shared: Tensor) -> Tensor:
        normed = self.norm(name, 0, hidden)
        attended, _weights = self.attention(f"{name}.{self.names.attention}", normed, *shared)
        attended = self.dropped(name, 1, attended)
        hidden = op.added(self.tape, attended, hidden)
        if not self.shape.kin.keeps_names:
            del normed, attended
        wide = self.dropped(name, 2, self.mlp(f"{name}.mlp", self.norm(name, 1, hidden)))
        return op.added(self.tape, wide, hidden)

    def dropped(self, within: str, which: int, x: Tensor) -> Tensor:
        """Behind the embeddings, attention or MLP: by a module, or by a function."""
        name, rate = self.names.drops[which], self.shape.dropouts[which]
        return self.make.dropout(f"{within}.{name}", x, rate) if name else op.dropout(self.tape, x, rate)

    def norm(self, layer: str, which: int, x: Tensor) -> Tensor:
        return self.make.layer_norm(f"{layer}.{self.names.norms[which]}", x, self.shape.hidden)

    def attention(self, name: str, x: Tensor, *shared: Tensor) -> tuple[Tensor, Tensor | None]:
        own = self.shape.kin.own_tables
        with self.tape.call(name):
            q, k, v = self.in_one(name, x) if len(self.names.products) == 1 else self.projected(name, x)
            tables, *masks = (self.gathered(), *shared) if own else shared
            q, k = self.shape.rotation.of(self.tape, q, k, tables)
            out, weights = self.scored(name, q, k, v, *masks)
            return self.out(name, out), weights

    def gathered(self) -> Tensor:
        """GPT-J's tables, which each layer gathers and spreads anew, for queries and for keys."""
        return self.shape.rotation.tables(self.tape, self.length, 2 * self.make.element)

    def out(self, name: str, x: Tensor) -> Tensor:
        shape = self.shape
        width = shape.heads * shape.head
        return self.make.linear(f"{name}.{self.names.out}", x, width, shape.hidden, bias=shape.out_bias)

    def scored(
        self, name: str, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        make, shape = self.make, self.shape
        if not shape.kin.scores_in_float:
            return make.attended(q, k, v, shape.head, shape.dropout, mask=None if make.eager else mask)
        return self.in_float(name, q, k, v)

    def in_float(self, name: str, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """GPT-J: its scores are fp32 from the product on, statement by statement (modeling_gptj.py:146)."""
        tape, shape = self.tape, self.shape
        q, k = op.cast(tape, q, op.FLOAT), op.cast(tape, k, op.FLOAT)
        weights = op.product(tape, q, k, self.make.batch * shape.heads * self.length**2)
        weights = op.scaled(tape, weights)
        weights = op.promoted(tape, weights, self.make.element)
        weights = op.softmax(tape, op.cast(tape, weights, op.FLOAT))
        weights = op.cast(tape, weights, v.element)
        weights = self.make.dropout(f"{name}.attn_dropout", weights, shape.dropout)
        out = op.product(tape, weights, v, v.numel)
        out.scattered = True
        return op.contiguous(tape, out), weights

    def in_one(self, name: str, x: Tensor) -> list[Tensor]:
        """Thirds of one product; their gradients are put together, then into order."""
        shape = self.shape
        fused = self.make.linear(f"{name}.query_key_value", x, shape.hidden, 3 * shape.hidden, bias=shape.qkv_bias)
        q, k, v = self.tape.split(fused, *[fused.numel // 3] * 3)
        return [q, k, v.view(scattered=self.make.batch > 1)]  # of one sequence a product reads the slice itself

    def projected(self, name: str, x: Tensor) -> list[Tensor]:
        shape = self.shape
        widths = [heads * shape.head for heads in (shape.heads, shape.kv_heads, shape.kv_heads)]
        return [
            self.make.linear(f"{name}.{one}", x, shape.hidden, width, bias=shape.qkv_bias).view(scattered=True)
            for one, width in zip(self.names.products, widths, strict=True)
        ]

    def mlp(self, name: str, x: Tensor) -> Tensor:
        make, shape, names = self.make, self.shape, self.names
        with self.tape.call(name):
            wide = make.linear(f"{name}.{names.wide[0]}", x, shape.hidden, shape.inner, bias=shape.mlp_bias)
            wide = make.activation(f"{name}.{names.activation}", wide, shape.activation)
            if len(names.wide) > 1:
                wide = op.times(self.tape, wide, make.linear(f"{name}.{names.wide[1]}", x, shape.hidden, shape.inner))
            return make.linear(f"{name}.{names.narrow}", wide, shape.inner, shape.hidden, bias=shape.mlp_bias)
