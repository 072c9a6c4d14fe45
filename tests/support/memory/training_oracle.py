"""A forward and a backward of transformers' real classes on tensors without storage: the bytes alive, and the calls.

Reads one JSON question a line and answers with one. `{"weights": config}`: each parameter's elements, and whether the
Trainer lets it decay. `{"config": …, "batch": …, "length": …}` and more of `trained`'s arguments: what was alive.

CPU tensors stand for CUDA's. Where CUDA's operations keep something else (attention kernels, dropout), these are put in
their place. Weights are not counted; their gradients are dropped as soon as they are made."""

import gc
import json
import sys
import warnings
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from unittest import mock

answers, sys.stdout = sys.stdout, sys.stderr

import torch  # noqa: E402
import transformers  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402

warnings.simplefilter("ignore")
transformers.logging.set_verbosity_error()
torch.set_num_threads(1)
DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


class Counter(TorchDispatchMode):
    """Live bytes of storages that came after `ignore`d ones."""

    def __init__(self) -> None:
        super().__init__()
        self.live = 0
        self.top = 0
        self.known: set[int] = set()

    def ignore(self, tensor: torch.Tensor) -> None:
        self.known.add(tensor.untyped_storage()._cdata)

    def note(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        key, count = storage._cdata, storage.nbytes()
        if key not in self.known:
            self.known.add(key)
            self.live += count
            weakref.finalize(storage, self._gone, key, count)
            self.top = max(self.top, self.live)

    def _gone(self, key: int, count: int) -> None:
        self.known.discard(key)
        self.live -= count

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(out):
            if isinstance(leaf, torch.Tensor):
                self.note(leaf)
        return out


class Fused(torch.autograd.Function):
    """What a fused attention kernel keeps and makes: q, k, v, its mask, its result, the log-sum-exp of each row."""

    @staticmethod
    def forward(ctx, q, k, v, mask):
        batch, heads, length, width = q.shape
        out = torch.empty(batch, length, heads, width, dtype=q.dtype).transpose(1, 2)
        lse = torch.empty(batch, heads, length, dtype=torch.float32)
        ctx.save_for_backward(q, k, v, out, lse, mask)
        return out

    @staticmethod
    def backward(ctx, grad):
        q, k, v, _, lse, mask = ctx.saved_tensors
        _delta = torch.empty_like(lse)
        made = torch.empty(mask.shape, dtype=mask.dtype) if ctx.needs_input_grad[3] else None
        return torch.empty_like(q), torch.empty_like(k), torch.empty_like(v), made


def fused(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """Masks of truth values become floats first; one for all sequences is read by each (attention.cpp)."""
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        attn_mask = torch.zeros(attn_mask.shape, dtype=query.dtype)
    if attn_mask is not None:
        attn_mask = attn_mask.expand(query.shape[0], -1, -1, -1)
    return Fused.apply(query, key, value, attn_mask)


def dropout(x, p=0.5, training=True, inplace=False):
    return torch.native_dropout(x, p, True)[0] if training and p > 0 else x


@contextmanager
def as_on_cuda() -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(mock.patch("torch.nn.functional.scaled_dot_product_attention", fused))
        stack.enter_context(mock.patch("torch.nn.functional.dropout", dropout))
        # Whether sequences are packed is read from values; without them transformers takes them for packed.
        stack.enter_context(mock.patch("transformers.masking_utils.find_packed_sequence_indices", return_value=None))
        yield


@dataclass
class Measured:
    """Bytes of activations. `calls`: the modules in the order of their first forward."""

    kept: int = 0
    forward: int = 0
    backward: int = 0
    calls: list[str] = field(default_factory=list)


def model_of(config: dict, dtype: str, attention: str) -> torch.nn.Module:
    made = transformers.AutoConfig.for_model(**config)
    maker = transformers.AutoModelForSeq2SeqLM if made.is_encoder_decoder else transformers.AutoModelForCausalLM
    made.use_cache = False
    extra = {} if attention == "" else {"attn_implementation": attention}
    return maker.from_config(made, dtype=DTYPES[dtype], **extra)


def weights_of(config: dict) -> dict[str, tuple[int, bool]]:
    """Of each parameter, as the real class makes it: its elements, and whether the Trainer lets it decay."""
    with torch.device("meta"):
        model = model_of(config, "fp32", "")
    decaying = set(transformers.Trainer.get_decay_parameter_names(None, model))
    return {name: (weight.numel(), name in decaying) for name, weight in model.named_parameters()}


def trained(config, *, batch, length, target=None, checkpointing=False, attention="sdpa", dtype="bf16", lora=None):
    """Measured, of one step of the model."""
    with FakeTensorMode(), as_on_cuda():
        model = model_of(config, dtype, attention)
        if lora is not None:
            adapt(model, lora, DTYPES[dtype])
        model.train()
        if checkpointing:
            model.gradient_checkpointing_enable()
        return step(model, batch, length, target or length)


def step(model: torch.nn.Module, batch: int, length: int, target: int) -> Measured:
    measured, counter = Measured(), Counter()
    for weight in (*model.parameters(), *model.buffers()):
        counter.ignore(weight)
    for name, module in model.named_modules():
        module.register_forward_pre_hook(lambda *_, name=name: measured.calls.append(name))
    for weight in model.parameters():
        if weight.requires_grad:
            weight.register_post_accumulate_grad_hook(lambda weight: setattr(weight, "grad", None))
    with counter:
        ids = torch.zeros(batch, length, dtype=torch.int64)
        labels = torch.zeros(batch, target, dtype=torch.int64)
        loss = model(input_ids=ids, labels=labels).loss
        gc.collect()
        measured.kept, measured.forward, counter.top = counter.live, counter.top, counter.live
        loss.backward()
        measured.backward = counter.top
    return measured


class Adapted(torch.nn.Module):
    """As peft's `lora.Linear` computes."""

    def __init__(self, base: torch.nn.Linear, rank: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.base_layer = base
        self.lora_A = torch.nn.Linear(base.in_features, rank, bias=False, dtype=dtype)
        self.lora_B = torch.nn.Linear(rank, base.out_features, bias=False, dtype=dtype)

    def forward(self, x):
        result = self.base_layer(x)
        return result + self.lora_B(self.lora_A(x)) * 2.0


def adapt(model: torch.nn.Module, lora, dtype: torch.dtype) -> None:
    for weight in model.parameters():
        weight.requires_grad_(False)
    for name, module in list(model.named_modules()):
        if name.rpartition(".")[2] in lora["targets"]:
            parent = model.get_submodule(name.rpartition(".")[0])
            setattr(parent, name.rpartition(".")[2], Adapted(module, lora["rank"], dtype))


def answer(question: dict) -> dict:
    if "weights" in question:
        return weights_of(question["weights"])
    return asdict(trained(question.pop("config"), **question))


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)
