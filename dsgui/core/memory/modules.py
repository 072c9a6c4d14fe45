"""Modules that model families share: they name their weights, record what they save, and know what LoRA adds."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dsgui.core.memory import operations as op
from dsgui.core.memory.question import Lora, Workload
from dsgui.core.memory.tape import Tape, Tensor
from dsgui.core.memory.walk import Weight

LINEAR, CONV1D, EMBEDDING, LAYER_NORM = "linear", "conv1d", "embedding", "layer_norm"
# Trainer.get_decay_parameter_names: no weight decay for these (nor for any weight of an nn.LayerNorm).
NO_DECAY = re.compile(r"bias|layernorm|rmsnorm|(?:^|\.)norm(?:$|\.)|_norm(?:$|\.)")


@dataclass(frozen=True, slots=True)
class Linears:
    """What stage 3 makes of linear layers beside LoRA. `keep_inputs`: of frozen ones too (zero/linear.py saves what it
    is given). `wide`: adapters are in fp32, as peft makes them: the engine casts no model that is divided already.
    `lower`: the dtype of torch's autocast, or ""; `inside`: it casts within stage 3's own function, so it keeps
    nothing."""

    keep_inputs: bool = False
    wide: bool = False
    lower: str = ""
    inside: bool = False


AS_USUAL = Linears()


class Modules:
    """The modules of one model in one workload. `element`: bytes of its dtype."""

    def __init__(
        self,
        config: Mapping[str, Any],
        workload: Workload,
        element: int,
        tape: Tape,
        linears: Linears = AS_USUAL,
    ) -> None:
        self.config = config
        self.workload = workload
        self.element = element
        self.tape = tape
        self.linears = linears
        self.batch = workload.micro_batch
        self.eager = workload.attention == "eager"
        self.transposed = False  # a Conv1D's weight has a row for each input

    def weight(
        self, name: str, numel: int, *, norm: bool = False, adapter: bool = False, rows: int = 0, of: str = ""
    ) -> Weight:
        """A weight; of a LoRA model all but the adapters are frozen. `norm`: of an nn.LayerNorm. `rows`: of a
        matrix. `of`: the class of its module."""
        trainable = adapter or self.workload.lora is None
        wide = adapter and self.linears.wide
        decays = not norm and NO_DECAY.search(name.lower()) is None
        return Weight(name, numel, trainable, decays, wide, rows, LAYER_NORM if norm else of)

    def trained(self, *weights: Weight) -> int:
        """Bytes of their gradients."""
        return sum(w.numel * (op.FLOAT if w.wide else self.element) for w in weights if w.trainable)

    def tokens(self, length: int) -> Tensor:
        return self.tape.make(self.batch * length, op.INDEX)

    def words(self, name: str, ids: Tensor, rows: int, width: int, *, owner: str = "", of: str = EMBEDDING) -> Tensor:
        """The model's input. Beside LoRA, checkpointing has it want a gradient (`enable_input_require_grads`)."""
        asked = self.workload.lora is not None and self.workload.checkpointing
        return self.embedding(name, ids, rows, width, owner=owner, asked=asked, of=of)

    def embedding(
        self,
        name: str,
        ids: Tensor,
        rows: int,
        width: int,
        *,
        owner: str = "",
        asked: bool = False,
        of: str = EMBEDDING,
    ) -> Tensor:
        """`owner` names the weight where several modules share it. Its indices are saved. `asked`: to want a gradient,
        whether it is trained or not."""
        weight = self.weight(f"{owner or name}.weight", rows * width, rows=rows, of=of)
        with self.tape.call(name, weight, reads=False, asked=asked):
            shared = self.shared(weight, owner)
            trained = 0 if shared else self.trained(weight)
            out = self.tape.operation(shared, ids.numel * width, self.element, saves=(ids,), trained=trained)
            return self.tape.wanting(out) if asked else out

    def shared(self, weight: Weight, owner: str) -> tuple[Tensor, ...]:
        """A weight as an input, where its gradient is counted and waits for other modules that read it."""
        counted = owner and weight.trainable and self.tape.gradients
        return (self.tape.shared(weight.name, weight.numel, self.element),) if counted else ()

    def linear(self, name: str, x: Tensor, into: int, out: int, *, bias: bool = False, owner: str = "") -> Tensor:
        """`nn.Linear` or `Conv1D`: saves its input if its weight is trained. A target has LoRA beside it."""
        lora = self.workload.lora
        if lora is not None and is_target(name, lora):
            return self._adapted(name, x, into, out, bias, lora)
        return self._linear(name, x, into, out, bias=bias, owner=owner)

    def _linear(
        self, name: str, x: Tensor, into: int, out: int, *, bias: bool, owner: str = "", adapter: bool = False
    ) -> Tensor:
        rows = into if self.transposed and not owner and not adapter else out
        of = CONV1D if self.transposed and name != "lm_head" else LINEAR
        weights = [self.weight(f"{owner or name}.weight", into * out, adapter=adapter, rows=rows, of=of)]
        weights += [self.weight(f"{name}.bias", out, of=of)] if bias else []
        with self.tape.call(name, *weights, reads=self.tape.wants(x)):
            shared = self.shared(weights[0], owner)
            trained = self.trained(*weights[len(shared) :])
            if self.linears.inside and of == LINEAR:
                return self._inside(x, shared, into, out, trained)
            x = op.lowered(self.tape, x)
            saves = (x,) if self.linears.keep_inputs or self.trained(*weights) else ()
            return self.tape.operation((x, *shared), x.numel // into * out, x.element, saves=saves, trained=trained)

    def _inside(self, x: Tensor, shared: tuple[Tensor, ...], into: int, out: int, trained: int) -> Tensor:
        """zero/linear.py under autocast: it saves `x` as it comes, and casts it and the weight anew in each pass. The
        gradient of `x` is made narrow, then widened."""
        weight, narrow = into * out * op.NARROW, x.numel * op.NARROW * (x.element != op.NARROW)
        return self.tape.operation(
            (x, *shared), x.numel // into * out, op.NARROW,
            saves=(x,), trained=trained, extra=weight + narrow, back=max(weight, narrow),
        )  # fmt: skip

    def _adapted(self, name: str, x: Tensor, into: int, out: int, bias: bool, lora: Lora) -> Tensor:
        """peft's `lora.Linear`: base(x) + B(A(x)) · scaling, the sum in the wider dtype of both."""
        with self.tape.call(name):
            result = self._linear(f"{name}.base_layer", x, into, out, bias=bias)
            x = op.cast(self.tape, x, op.FLOAT) if self.linears.wide else x
            x = self.dropout(f"{name}.lora_dropout.default", x, lora.dropout)
            small = self._linear(f"{name}.lora_A.default", x, into, lora.rank, bias=False, adapter=True)
            wide = self._linear(f"{name}.lora_B.default", small, lora.rank, out, bias=False, adapter=True)
            return op.cast(self.tape, op.added(self.tape, result, op.scaled(self.tape, wide)), result.element)

    def t5_norm(self, name: str, x: Tensor, width: int) -> Tensor:
        """`weight * (x * rsqrt(mean(x.float()²))).to(dtype)`: keeps `x` also in its own dtype (modeling_t5.py:57)."""
        weight = self.weight(f"{name}.weight", width)
        tape = self.tape
        with tape.call(name, weight, reads=tape.wants(x)):
            variance = op.mean(tape, op.squared(tape, op.cast(tape, x, op.FLOAT)), width)
            out = op.times(tape, x, op.rsqrt(tape, variance))
            return self.weighted(op.cast(tape, out, x.element), weight)

    def rms_norm(self, name: str, x: Tensor, width: int) -> Tensor:
        """`weight * (x.float() * rsqrt(mean(x²))).to(dtype)` (modeling_llama.py:51)."""
        weight = self.weight(f"{name}.weight", width)
        tape = self.tape
        with tape.call(name, weight, reads=tape.wants(x)):
            wide = op.cast(tape, x, op.FLOAT)
            variance = op.mean(tape, op.squared(tape, wide), width)
            wide = op.times(tape, wide, op.rsqrt(tape, variance))
            return self.weighted(op.cast(tape, wide, x.element), weight)

    def gemma_norm(self, name: str, x: Tensor, width: int) -> Tensor:
        """`(norm(x.float()) * (1 + weight.float())).to(dtype)` (modeling_gemma2.py:60)."""
        weight = self.weight(f"{name}.weight", width)
        tape = self.tape
        with tape.call(name, weight, reads=tape.wants(x)):
            wide = op.cast(tape, x, op.FLOAT)
            variance = op.mean(tape, op.squared(tape, wide), width)
            wide = op.times(tape, wide, op.rsqrt(tape, variance))
            return op.cast(tape, self.weighted(wide, weight), x.element)

    def weighted(self, x: Tensor, weight: Weight) -> Tensor:
        """`weight * x`: saves `x` if the weight is trained; its gradient is first made for each element."""
        trained = self.trained(weight)
        saves = (x,) if trained else ()
        element = max(x.element, self.element)
        back = x.numel * element if trained else 0
        return self.tape.operation((x,), x.numel, element, saves=saves, trained=trained, back=back)

    def layer_norm(self, name: str, x: Tensor, width: int, *, bias: bool = True) -> Tensor:
        """`nn.LayerNorm`: saves its input, mean and reciprocal deviation (float32)."""
        weights = [self.weight(f"{name}.weight", width, norm=True)]
        weights += [self.weight(f"{name}.bias", width, norm=True)] if bias else []
        with self.tape.call(name, *weights, reads=self.tape.wants(x)):
            trained = self.trained(*weights)
            keeps = 2 * op.FLOAT * (x.numel // width)
            return self.tape.operation((x,), *x.size, saves=(x,), keeps=keeps, trained=trained)

    def dropout(self, name: str, x: Tensor, p: float) -> Tensor:
        with self.tape.call(name, reads=self.tape.wants(x)):
            return op.dropout(self.tape, x, p)

    def flash(
        self, q: Tensor, k: Tensor, v: Tensor, head: int, mask: Tensor | None = None, *, own: bool = False
    ) -> Tensor:
        """A fused attention kernel keeps q, k, v, its mask, its result and the log-sum-exp of each row (float32).
        `own`: each sequence has its mask."""
        rows = q.numel // head * op.FLOAT
        if mask is not None and not own:
            mask = op.expanded(self.tape, op.lowered(self.tape, mask), self.batch)
        q, k, v = (op.lowered(self.tape, one) for one in (q, k, v))
        mask = None if mask is None else op.lowered(self.tape, mask)
        inputs = (q, k, v) if mask is None else (q, k, v, mask)
        return self.tape.operation(inputs, *q.size, saves=inputs, keeps_out=True, keeps=rows, back=rows)

    def causal_mask(self, length: int) -> Tensor | None:
        """The float mask of eager attention, of each sequence of the batch; a fused kernel is told that it is causal
        (masking_utils.py:632). Without padding."""
        if not self.eager:
            return None
        pairs = length * length
        return self.tape.operation((), self.batch * pairs, self.element, extra=pairs * op.BOOL)

    def window_mask(self, length: int, window: int | None) -> Tensor | None:
        """The mask of layers that see `window` tokens: sdpa needs one where a sequence is as long."""
        if self.eager or window is None:
            return self.causal_mask(length)
        if self.workload.attention != "sdpa" or length < window:
            return None
        return self.tape.operation((), length * length, op.BOOL, extra=2 * length * length)

    def attended(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        head: int,
        p: float,
        *,
        softmax_in_float: bool = True,
        softcap: bool = False,
        mask: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Causal self-attention of this workload's implementation; its weights, where there are any, which the layer
        holds until it returns. sdpa knows no soft cap, so transformers is eager there.

        With a `mask`, sdpa has keys and values repeated (sdpa_attention.py:141) and a mask of floats of its own."""
        if self.eager or softcap:
            width = op.FLOAT if softmax_in_float or self.tape.lower else q.element
            return self.eager_attention(q, k, v, head, p, width, softcap=softcap, in_two=not softmax_in_float)
        if mask is None:
            return self.flash(q, k, v, head), None
        k, v = self.repeated(k, q.numel), self.repeated(v, q.numel)
        floats = self.tape.operation((), self.batch * mask.numel, q.element)
        return self.flash(q, k, v, head, floats, own=True), None

    def eager_attention(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        head: int,
        p: float,
        softmax: int,
        *,
        softcap: bool = False,
        in_two: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """`softmax(q kᵀ · scaling + mask).to(dtype) v`, its softmax in `softmax` bytes (modeling_llama.py:175)."""
        tape = self.tape
        k, v = self.repeated(k, q.numel), self.repeated(v, q.numel)
        scores = q.numel // head * (k.numel // (q.numel // self.workload.length))
        weights = op.scaled(tape, op.product(tape, q, k, scores))
        if softcap:
            weights = op.scaled(tape, weights)
            weights = op.tanh(tape, weights)
            weights = op.scaled(tape, weights)
        weights = op.promoted(tape, weights, self.element)
        if in_two:  # statements: the first lets go of what it read
            weights = op.softmax(tape, op.cast(tape, weights, softmax))
            weights = op.cast(tape, weights, q.element)
        else:
            weights = op.cast(tape, op.softmax(tape, op.cast(tape, weights, softmax)), q.element)
        weights = op.dropout(tape, weights, p)
        out = op.product(tape, weights, v, q.numel)
        out.scattered = True
        return op.contiguous(tape, out), weights

    def repeated(self, x: Tensor, numel: int) -> Tensor:
        """`repeat_kv`: one copy of keys and values for each head."""
        return x if x.numel == numel else self.tape.operation((x,), numel, x.element, back=numel * x.element)

    def activation(self, name: str, x: Tensor, kind: str = "silu") -> Tensor:
        with self.tape.call(name, reads=self.tape.wants(x)):
            return op.ACTIVATIONS[kind](self.tape, x)  # `walking` refused what is not there

    def causal_loss(
        self,
        name: str,
        hidden: Tensor,
        labels: Tensor,
        width: int,
        vocab: int,
        *,
        owner: str = "",
        bias: bool = False,
        softcap: bool = False,
        scaled: bool = False,
    ) -> Tensor:
        """Logits, cast to float32, and their cross entropy (loss/loss_utils.py:51)."""
        self.tape.logits = True
        logits = self.linear(name, hidden, width, vocab, bias=bias, owner=owner)
        logits = op.scaled(self.tape, logits) if scaled else logits
        if softcap:
            logits = op.scaled(self.tape, logits)
            logits = op.tanh(self.tape, logits)
            logits = op.scaled(self.tape, logits)
        return op.cross_entropy(self.tape, op.cast(self.tape, logits, op.FLOAT), labels)


def is_target(name: str, lora: Lora) -> bool:
    """Whether peft adapts the module: its name is, or ends in, one of the targets."""
    return any(name == target or name.endswith(f".{target}") for target in lora.targets)
