"""`config.json` → the model's walk: its modules in the order of their calls, with weights and activations."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeVar

from dsgui.core.memory import operations as op
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.described import Described, NoCaseError
from dsgui.core.memory.families import bloom, gpt2, llama, llama_kin, neox, neox_kin, opt, t5
from dsgui.core.memory.modules import AS_USUAL, Linears, Modules
from dsgui.core.memory.question import Model, Workload
from dsgui.core.memory.tape import Measured, Span, Tape, Tensor
from dsgui.core.memory.walk import Block, Unit, Walk, Weight
from dsgui.core.texts.saying import Said, listed, said

ELEMENT = {"fp32": 4, "fp16": 2, "bf16": 2}
FLASH = ("flash_attention_2", "flash_attention_3")
ATTENTIONS = ("eager", "sdpa", *FLASH)
EAGER_ONLY = ("bloom", "gemma2", "gptj")
WITHOUT_FLASH = ("bloom", "t5", "mt5")
FLASH_UNKNOWN = ("gptj",)  # its GPTJFlashAttention2 is held against nothing here
# Models with a table of positions: its key, and its length where nothing is said.
POSITIONS: Mapping[str, tuple[tuple[str, ...], int]] = {
    "gpt2": (("n_positions", "max_position_embeddings"), 1024),
    "gptj": (("n_positions", "max_position_embeddings"), 2048),
    "opt": (("max_position_embeddings",), 2048),
}
# Classes whose code stood beside the weights before transformers had them.
WITH_OLD_CODE = {
    "phi": "PhiForCausalLM",
    "phi3": "Phi3ForCausalLM",
    "internlm3": "InternLM3ForCausalLM",
    "stablelm": "StableLmForCausalLM",
}
ELSEWHERE = {
    "quantization_config": "quantized",
    "text_config": "vision",
    "vision_config": "vision",
    "audio_config": "vision",
    "num_experts": "experts",
    "num_local_experts": "experts",
    "n_routed_experts": "experts",
}


def walk_of(model: Model, workload: Workload, dtype: str, linears: Linears = AS_USUAL) -> Walk | CannotSay:
    """`dtype`: of the parameters, "fp32", "fp16" or "bf16". Modules and what they keep are those of transformers 5.
    Each edit of a DeepSpeed config asks again of the same model: its walk is remembered, by what its file says."""
    return _walk_of(_Written(repr(model.config), model.config), workload, dtype, linears)


@dataclass(frozen=True, slots=True)
class _Written:
    """A model's config, the same as another that has the same text."""

    text: str
    keys: Mapping[str, Any] = field(compare=False)


@lru_cache(maxsize=32)
def _walk_of(written: _Written, workload: Workload, dtype: str, linears: Linears) -> Walk | CannotSay:
    config = Described(written.keys)
    try:
        refuse_length(config, workload)
        walk = read(walked(config, workload, dtype, Tape(lower=linears.lower), linears), ELEMENT[dtype])
        refuse_untrained(walk, workload)
        return replace(walk, assumed=tuple(assumed(config, workload, dtype)))
    except NoCaseError as error:
        return CannotSay(error.why)


def refuse_length(config: Described, workload: Workload) -> None:
    """Raises NoCaseError for more tokens than there are learned positions: that training would stop at once."""
    keys, usual = POSITIONS.get(str(config.get("model_type")), ((), 0))
    most = config.get(*keys) or usual
    if keys and isinstance(most, int) and workload.length > most:
        told = {"length": str(workload.length), "key": keys[0], "most": str(most)}
        raise NoCaseError(said("memory_notes", "more_tokens", **told))


def refuse_untrained(walk: Walk, workload: Workload) -> None:
    """Raises NoCaseError if LoRA's targets are in no layer."""
    if workload.lora is not None and not any(weight.trainable for weight in walk.weights().values()):
        raise NoCaseError(said("memory_notes", "no_target", targets=listed(workload.lora.targets) or "nothing"))


def assumed(config: Described, workload: Workload, dtype: str) -> Iterator[Said]:
    kind = str(config.get("model_type"))
    if config.get("auto_map"):
        yield said("memory_notes", "own_class", type=kind)
    if workload.attention not in FLASH:
        yield said("memory_notes", "no_padding")
    if workload.attention == "sdpa" and kind in EAGER_ONLY:
        yield said("memory_notes", "eager_instead", type=kind)
    heads, groups = config.get("num_attention_heads"), config.get("num_key_value_heads")
    if workload.attention == "sdpa" and dtype == "fp32" and kind in llama_kin.KIN and groups not in (None, heads):
        yield said("memory_notes", "fused_in_fp32")


def walked(config: Described, workload: Workload, dtype: str, tape: Tape, linears: Linears = AS_USUAL) -> Tape:
    """The tape after a forward and a backward. Raises NoCaseError."""
    family = family_of(config)
    refuse_attention(workload.attention, config.keys["model_type"])
    make = Modules(config.keys, workload, ELEMENT[dtype], tape, linears)
    with tape.call("") if workload.lora else nullcontext():  # peft's own model around it
        loss = family(config, make, dtype)
    tape.backward(loss)
    return tape


def refuse_attention(name: str, kind: str) -> None:
    """Raises NoCaseError."""
    if name not in ATTENTIONS:
        raise NoCaseError(said("memory_notes", "unknown_attention", name=name[:40]))
    if name in FLASH and kind in WITHOUT_FLASH:
        raise NoCaseError(said("memory_notes", "no_attention", name=name, type=kind))
    if name in FLASH and kind in FLASH_UNKNOWN:
        raise NoCaseError(said("memory_notes", "attention_formula", name=name, type=kind))


def llama_loss(config: Described, make: Modules, dtype: str) -> Tensor:
    shape = llama_kin.shape_of(config, llama_kin.KIN[config.keys["model_type"]])
    return llama.Llama(make, with_activation(shape)).loss()


def gpt2_loss(config: Described, make: Modules, dtype: str) -> Tensor:
    make.linears = replace(make.linears, keep_inputs=False)  # Conv1D multiplies without zero/linear.py
    make.transposed = True
    return gpt2.GPT2(make, with_activation(gpt2.shape_of(config))).loss()


def t5_loss(config: Described, make: Modules, dtype: str) -> Tensor:
    return t5.T5(make, with_activation(t5.shape_of(config)), clamps=dtype == "fp16").loss()


def neox_loss(config: Described, make: Modules, dtype: str) -> Tensor:
    kin = neox_kin.KIN[config.keys["model_type"]]
    make.eager = make.eager or kin.scores_in_float  # modeling_gptj.py has no sdpa
    return neox.NeoX(make, with_activation(neox_kin.shape_of(config, kin))).loss()


def bloom_loss(config: Described, make: Modules, dtype: str) -> Tensor:
    make.eager = True  # modeling_bloom.py knows no other
    return bloom.Bloom(make, bloom.shape_of(config)).loss()


def opt_loss(config: Described, make: Modules, dtype: str) -> Tensor:
    return opt.OPT(make, with_activation(opt.shape_of(config))).loss()


Family = Callable[[Described, Modules, str], Tensor]
FAMILIES: Mapping[str, Family] = {
    **dict.fromkeys(llama_kin.KIN, llama_loss),
    **dict.fromkeys(neox_kin.KIN, neox_loss),
    "gpt2": gpt2_loss,
    "bloom": bloom_loss,
    "opt": opt_loss,
    "t5": t5_loss,
    "mt5": t5_loss,
}


def family_of(config: Described) -> Family:
    """Raises NoCaseError for what there is no formula for."""
    kind = config.get("model_type")
    if has_own_code(config):
        raise NoCaseError(said("memory_notes", "remote_code", keys="auto_map"))
    if kind is None:
        raise NoCaseError(said("memory_notes", "no_type"))
    for key, why in ELSEWHERE.items():
        if config.get(key):
            raise NoCaseError(said("memory_notes", why, key=key))
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise NoCaseError(said("memory_notes", "unknown_family", type=str(kind)[:40]))
    return FAMILIES[kind]


def has_own_code(config: Described) -> bool:
    """Whether `auto_map` names other classes than those of transformers, which are taken without `trust_remote_code`:
    Phi-3's file names `modeling_phi3.Phi3ForCausalLM`, from before transformers had it."""
    named = config.get("auto_map")
    if not named:
        return False
    own = named.get("AutoModelForCausalLM") if isinstance(named, Mapping) else None
    return not isinstance(own, str) or own.rpartition(".")[2] != WITH_OLD_CODE.get(str(config.get("model_type")))


S = TypeVar("S", llama_kin.Shape, neox_kin.Shape, gpt2.Shape, opt.Shape, t5.Shape)


def with_activation(shape: S) -> S:
    """Raises NoCaseError for an activation that nothing is known of."""
    if shape.activation not in op.ACTIVATIONS:
        raise NoCaseError(said("memory_notes", "unknown_activation", name=shape.activation[:40]))
    return shape


def read(tape: Tape, element: int) -> Walk:
    """What the tape measured, with the layers that it measured once put in their places."""
    before, blocks = 0, []
    for span in tape.spans:
        block, before = read_span(tape, span, before)
        blocks.append((span, block))
    return Walk(tuple(in_order(blocks)), element)


def read_span(tape: Tape, span: Span, before: int) -> tuple[Block, int]:
    """The block of a span that `before` bytes are kept ahead of, and the bytes kept after it."""
    before += span.entry
    units, kept = [], before
    for measured in (tape.units[index] for index in span.units):
        kept += measured.kept
        units.append(unit_of(measured, before if span.checkpointed else kept, kept))
    return Block(tuple(units), span.entry, span.checkpointed), before if span.checkpointed else kept


def unit_of(measured: Measured, kept_in_forward: int, kept: int) -> Unit:
    def besides(moment: str, kept: int) -> int:
        return max(0, measured.highest.get(moment, 0) - kept)

    return Unit(
        measured.name,
        measured.weights,
        kept=measured.kept,
        forward=besides("forward", kept_in_forward),
        backward=besides("backward", kept),
        recomputed=besides("again", kept),
        out=measured.out,
        logits=measured.logits,
        call=measured.call,
        reads=measured.reads,
        asked=measured.asked,
    )


def in_order(measured: list[tuple[Span, Block]]) -> Iterator[Block]:
    """Blocks in the order of their calls."""
    stack: list[tuple[int, Block]] = []
    name = ""
    for span, block in measured:
        if span.stack != name:
            yield from (block for _, block in sorted(stack, key=lambda pair: pair[0]))
            stack, name = [], span.stack
        if not span.stack:
            yield block
        else:
            stack += [(layer, renamed(block, span, layer)) for layer in span.like]
    yield from (block for _, block in sorted(stack, key=lambda pair: pair[0]))


def renamed(block: Block, span: Span, layer: int) -> Block:
    """The same block as layer number `layer` of its stack."""
    if layer == span.layer:
        return block
    start, prefix = len(f"{span.stack}.{span.layer}"), f"{span.stack}.{layer}"

    def weight(of: Weight) -> Weight:
        return Weight(prefix + of.name[start:], of.numel, of.trainable, of.decays, of.wide, of.rows, of.of)

    def unit(of: Unit) -> Unit:
        weights = tuple(weight(one) for one in of.weights)
        return Unit(
            prefix + of.name[start:],
            weights,
            of.kept,
            of.forward,
            of.backward,
            of.out,
            of.logits,
            of.call,
            of.recomputed,
            of.reads,
            of.asked,
        )

    return Block(tuple(unit(one) for one in block.units), block.entry, block.checkpointed)
