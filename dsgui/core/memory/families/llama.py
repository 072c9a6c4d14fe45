"""Llama and its kin: RMS norms, rotary positions, a gated MLP (transformers' modeling_llama.py, modeling_mistral.py,
modeling_qwen2.py, modeling_qwen3.py, modeling_gemma.py, modeling_gemma2.py, modeling_gemma3.py, modeling_phi3.py,
modeling_granite.py, modeling_glm.py, modeling_glm4.py, modeling_olmo2.py, modeling_smollm3.py)."""

from collections.abc import Sequence

from dsgui.core.memory import operations as op
from dsgui.core.memory.families.llama_kin import FULL, SLIDING, Shape
from dsgui.core.memory.families.stack import stacked
from dsgui.core.memory.modules import EMBEDDING, Modules
from dsgui.core.memory.tape import Tensor


class Llama:
    """The causal language model of one shape."""

    def __init__(self, make: Modules, shape: Shape) -> None:
        self.make = make
        self.shape = shape
        self.tape = make.tape
        self.length = make.workload.length
        self.kin = shape.kin
        self.owner = "model.embed_tokens" if shape.tied else ""
        self.kinds = list(dict.fromkeys(shape.kinds))
        self.masked: list[str] = []

    def loss(self) -> Tensor:
        shape = self.shape
        ids, labels = self.make.tokens(self.length), self.make.tokens(self.length)
        with self.tape.call(""):
            hidden = self.body(ids)
            how = {"softcap": shape.final_softcap, "scaled": self.kin.scales}
            return self.make.causal_loss("lm_head", hidden, labels, shape.hidden, shape.vocab, owner=self.owner, **how)

    def body(self, ids: Tensor) -> Tensor:
        with self.tape.call("model"):
            hidden = self.embedded(ids)
            masks = self.masks()
            tables = [self.tables() for _ in (self.kinds if self.kin.local_tables else self.kinds[:1])]
            self.masked = [kind for kind in self.kinds if kind in masks]
            shared = [*tables, *(masks[kind] for kind in self.masked)]
            layers = [kind if placed else f"{kind}, unplaced" for kind, placed in self.each()]
            hidden = stacked(self.make, "model.layers", layers, self.layer, hidden, *shared)[0]
            return self.norm("model.norm", hidden, self.shape.hidden)

    def each(self) -> list[tuple[str, bool]]:
        """Of each layer: the kind of its attention, and whether it knows positions."""
        return list(zip(self.shape.kinds, self.shape.placed, strict=True))

    def masks(self) -> dict[str, Tensor]:
        """A mask for each kind of attention that needs one."""
        windows = {FULL: None, SLIDING: self.shape.window}
        kinds = windows if self.kin.both_masks else self.kinds
        made = {kind: self.make.window_mask(self.length, windows.get(kind)) for kind in kinds}
        return {kind: mask for kind, mask in made.items() if mask is not None}

    def own(self, index: int, shared: Sequence[Tensor]) -> tuple[Tensor, Tensor | None]:
        """Of what all layers share: the table of positions and the mask of one."""
        kind = self.shape.kinds[index]
        place = self.kinds.index(kind)
        tables = len(self.kinds) if self.kin.local_tables else 1
        masks = shared[tables:]
        return shared[place if self.kin.local_tables else 0], dict(zip(self.masked, masks, strict=True)).get(kind)

    def embedded(self, ids: Tensor) -> Tensor:
        shape = self.shape
        of = "" if self.kin.gemma else EMBEDDING  # a class of its own
        hidden = self.make.words("model.embed_tokens", ids, shape.vocab, shape.hidden, owner=self.owner, of=of)
        return op.scaled(self.tape, hidden) if self.kin.gemma or self.kin.scales else hidden

    def tables(self) -> Tensor:
        with self.tape.call("model.rotary_emb", reads=False):
            return self.shape.rotation.tables(self.tape, self.length, self.make.element)

    def norm(self, name: str, x: Tensor, width: int) -> Tensor:
        return self.make.gemma_norm(name, x, width) if self.kin.wide_norm else self.make.rms_norm(name, x, width)

    def layer(self, index: int, hidden: Tensor, *shared: Tensor) -> Sequence[Tensor]:
        name, norms = f"model.layers.{index}", self.kin.norms
        tables, mask = self.own(index, shared)
        with self.tape.call(name):
            residual = hidden
            hidden = self.named_norm(name, norms.before_attention, hidden)
            hidden, _weights = self.attention(f"{name}.self_attn", hidden, tables, mask, self.shape.placed[index])
            hidden = self.named_norm(name, norms.behind_attention, hidden)
            hidden = self.onto(name, "resid_attn_dropout", residual, hidden)
            residual = hidden
            hidden = self.named_norm(name, norms.before_mlp, hidden)
            hidden = self.mlp(f"{name}.mlp", hidden)
            hidden = self.named_norm(name, norms.behind_mlp, hidden)
            return self.onto(name, "resid_mlp_dropout", residual, hidden), *shared

    def named_norm(self, layer: str, name: str, x: Tensor) -> Tensor:
        return self.norm(f"{layer}.{name}", x, self.shape.hidden) if name else x

    def onto(self, layer: str, dropout: str, residual: Tensor, x: Tensor) -> Tensor:
        if self.kin.residual_dropout:
            x = self.make.dropout(f"{layer}.{dropout}", x, self.shape.behind)
        x = op.scaled(self.tape, x) if self.kin.scales else x
        return op.added(self.tape, residual, x)

    def attention(
        self, name: str, x: Tensor, tables: Tensor, mask: Tensor | None, placed: bool
    ) -> tuple[Tensor, Tensor | None]:
        shape = self.shape
        with self.tape.call(name):
            q, k, v = self.in_one(name, x) if "qkv" in self.kin.in_one else self.projected(name, x)
            if placed:
                q, k = shape.rotation.of(self.tape, q, k, tables)
            out, weights = self.make.attended(q, k, v, shape.head, shape.dropout, softcap=shape.softcap, mask=mask)
            out = self.make.linear(f"{name}.o_proj", out, shape.heads * shape.head, shape.hidden, bias=shape.out_bias)
            return out, weights

    def in_one(self, name: str, x: Tensor) -> list[Tensor]:
        """Slices of one product."""
        shape = self.shape
        widths = [heads * shape.head for heads in (shape.heads, shape.kv_heads, shape.kv_heads)]
        fused = self.make.linear(f"{name}.qkv_proj", x, shape.hidden, sum(widths), bias=shape.qkv_bias)
        rows = fused.numel // sum(widths)
        q, k, v = (op.part(self.tape, fused, rows * width).view(scattered=True) for width in widths)
        return [q, k, v.view(scattered=self.make.batch > 1)]  # of one sequence a product reads the slice itself

    def projected(self, name: str, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, their heads side by side in memory."""
        shape = self.shape
        if self.kin.qk_norm in ("", "after"):
            q, k = self.linear(f"{name}.q", x, shape.heads), self.linear(f"{name}.k", x, shape.kv_heads)
            v = self.linear(f"{name}.v", x, shape.kv_heads)
            return self.normed(f"{name}.q", q, shape.heads), self.normed(f"{name}.k", k, shape.kv_heads), v
        q = self.normed(f"{name}.q", self.linear(f"{name}.q", x, shape.heads), shape.heads)
        k = self.normed(f"{name}.k", self.linear(f"{name}.k", x, shape.kv_heads), shape.kv_heads)
        return q, k, self.linear(f"{name}.v", x, shape.kv_heads)

    def linear(self, name: str, x: Tensor, heads: int) -> Tensor:
        shape = self.shape
        out = self.make.linear(f"{name}_proj", x, shape.hidden, heads * shape.head, bias=shape.qkv_bias)
        return out.view(scattered=True)

    def normed(self, name: str, x: Tensor, heads: int) -> Tensor:
        if not self.kin.qk_norm:
            return x
        width = heads * self.shape.head if self.kin.qk_norm == "whole" else self.shape.head
        return self.norm(f"{name}_norm", x, width).view(scattered=True)

    def mlp(self, name: str, x: Tensor) -> Tensor:
        make, shape = self.make, self.shape
        with self.tape.call(name):
            wide = self.gated_in_one(name, x) if "gate" in self.kin.in_one else self.gated(name, x)
            return make.linear(f"{name}.down_proj", wide, shape.inner, shape.hidden, bias=shape.mlp_bias)

    def gated(self, name: str, x: Tensor) -> Tensor:
        make, shape = self.make, self.shape
        gate = make.linear(f"{name}.gate_proj", x, shape.hidden, shape.inner, bias=shape.mlp_bias)
        gate = make.activation(f"{name}.act_fn", gate, shape.activation)
        up = make.linear(f"{name}.up_proj", x, shape.hidden, shape.inner, bias=shape.mlp_bias)
        return op.times(self.tape, gate, up)

    def gated_in_one(self, name: str, x: Tensor) -> Tensor:
        """Halves of one product; the first is the gate."""
        make, shape = self.make, self.shape
        both = make.linear(f"{name}.gate_up_proj", x, shape.hidden, 2 * shape.inner, bias=shape.mlp_bias)
        gate, up = self.tape.split(both, both.numel // 2, both.numel // 2)
        del both
        return op.times(self.tape, up, make.activation(f"{name}.activation_fn", gate, shape.activation))
