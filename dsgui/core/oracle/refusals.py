"""From what DeepSpeed raised to the keys it is about: an exception → places in the config."""

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from dsgui.core.config.pointer import MISSING, child, join, lookup, split
from dsgui.core.oracle.answers import Raised
from dsgui.core.texts.saying import words

# pydantic names the model; where that model's block is in a config. Monitors are read together, from the top level.
_BLOCKS = {
    "DeepSpeedZeroConfig": "/zero_optimization",
    "DeepSpeedZeroOffloadParamConfig": "/zero_optimization/offload_param",
    "DeepSpeedZeroOffloadOptimizerConfig": "/zero_optimization/offload_optimizer",
    "ZenFlowConfig": "/zero_optimization/zenflow",
    "DeepSpeedFP16Config": "/fp16",
    "DeepSpeedBF16Config": "/bf16",
    "CommsLoggerConfig": "/comms_logger",
    "DeepSpeedThroughputTimerConfig": "/timers/throughput",
    "HybridEngineConfig": "/hybrid_engine",
    "CompileConfig": "/compile",
    "WeightQuantConfig": "/weight_quantization",
    "TPTrainingConfig": "/tensor_parallel",
}
# The code that reads a block, for what says nothing else: (module, function), the most telling first.
_READERS = (
    (r"deepspeed\.runtime\.lr_schedules", "", "/scheduler/params"),
    (r"", r"_configure_lr_scheduler|_scheduler_from_config", "/scheduler"),
    (r"deepspeed\.ops\.\w+|torch\.optim", "", "/optimizer/params"),
    (r"", r"_configure_(basic_)?optimizer|get_optimizer\w*", "/optimizer"),
    (r"deepspeed\.runtime\.zenflow", "", "/zero_optimization/zenflow"),
    (r"deepspeed\.runtime\.zero|deepspeed\.runtime\.superoffload", "", "/zero_optimization"),
    (r"deepspeed\.runtime\.model_checkpointing", "", "/checkpoint"),
    (r"deepspeed\.module_inject\.auto_ep", "", "/expert_parallel"),
    (r"deepspeed\.module_inject|deepspeed\.runtime\.tensor_parallel", "", "/tensor_parallel"),
    (r"deepspeed\.runtime\.torch_autocast", "", "/torch_autocast"),
    (r"deepspeed\.runtime\.activation_checkpointing", "", "/activation_checkpointing"),
    (r"deepspeed\.runtime\.data_pipeline", "", "/data_efficiency"),
    (r"deepspeed\.runtime\.swap_tensor\.aio_config", "", "/aio"),
    (r"", r"_batch_assertion|_set_batch_related_parameters|_configure_train_batch_size", "/train_batch_size"),
)
_SENTENCES = (
    (r"^Train batch size:", "/train_batch_size"),
    (r"^Micro batch size per gpu:", "/train_micro_batch_size_per_gpu"),
    (r"^Gradient accumulation steps:", "/gradient_accumulation_steps"),
    (r"^Either train_batch_size or", "/train_micro_batch_size_per_gpu"),
    (r"Apex AMP", "/amp"),
    (r"specify the ZeRO optimization config", "/zero_optimization"),
    (r"^Duplicate keys in DeepSpeed config: \['stage'\]", "/zero_optimization/stage"),
    (r"requires an optimizer", "/optimizer"),
    (r"is not an Optimizer$", "/scheduler/type"),
)
_MOST_CALLS = 4
_MISMATCH = re.compile(
    r"- ds ([\w.]{1,200}+)=(?>(.{0,200}?) vs (?:hf|arg) )(?>(\S{1,200}?)=)(.{0,200}?)(?=$|\n|\s- ds |\sThe easiest)"
)
_WORD = re.compile(r"[A-Za-z_][\w]*(?:(?:\.|::)[A-Za-z_]\w*)*")
_QUOTED = re.compile(r"['\"`<]([\w.+-]{2,})['\"`:>]")
# Words of every sentence and every traceback, which are keys too.
_SAYS_NOTHING = frozenset(
    (
        "type",
        "name",
        "enabled",
        "config",
        "params",
        "device",
        "value",
        "dtype",
        "steps",
        "stage",
        "rank",
        "model",
        "optimizer",
        "scheduler",
        "path",
        "step",
        "checkpoint",
        "pipeline",
        "compile",
        "inference",
        "data",
        "timers",
        "aio",
        "fp16",
        "bf16",
        "amp",
        "writer",
        "load",
        "self",
        "zero",
        "size",
        "lr",
    )
)
_ZERO_STAGE = re.compile(r"\bzero[ -]?(?:optimization )?stage\b|\bZeRO[ -](?:Stage )?\d", re.IGNORECASE)


def places(raised: Raised, config: Any, known: Collection[str]) -> list[tuple[str, str]]:
    """(pointer, what is wrong there) for each thing that an exception complains of; `known` are the schema's pointers.
    The pointer is "" where nothing tells."""
    if raised.problems:
        return [(_model_place(raised.model, keys, message, config), message) for keys, message in raised.problems]
    mismatches = [
        (join(key.split(".")), words("oracle", "mismatch", key=key, ours=ours, argument=name, theirs=theirs))
        for key, ours, name, theirs in _MISMATCH.findall(raised.message)
    ]
    return mismatches or [(_place(raised, config, known), raised.text)]


def place_of_text(text: str, config: Any, known: Collection[str]) -> str:
    """The pointer of the key that a sentence is about; "" where it names none."""
    words, quoted = _words(text), _QUOTED.findall(text)
    found = (
        *(_BLOCKS[word.split(".")[-1]] for word in words if word.split(".")[-1] in _BLOCKS),
        *_paths(words, config, known),
        *_present(quoted, config, by_length=False),
        *_present([*words, *_pairs(words)], config),
        *_valued({*words, *quoted}, config),
        *_stage(text, config),
        *_absent([*words, *_pairs(words)], known),
        *_blocks(words, config),
    )
    return found[0] if found else ""


def named_key(text: str, config: Any) -> str:
    """The pointer of the key of the config that a sentence spells out; "" where it spells none."""
    words = _words(text)
    return next(iter((*_paths(words, config, ()), *_present(words, config))), "")


def _place(raised: Raised, config: Any, known: Collection[str]) -> str:
    if "Decode" in raised.type:
        return ""
    said = next((pointer for sentence, pointer in _SENTENCES if re.search(sentence, raised.message)), "")
    if found := said or place_of_text(raised.message, config, known):
        return found
    sources = [call.source for call in reversed(raised.calls)][:_MOST_CALLS]
    in_code = [p for source in sources for p in (*_present(_words(source), config), *_inside(source, config))]
    if raised.type == "TypeError":  # a text or null where a number is meant
        in_code.sort(key=lambda pointer: not isinstance(lookup(config, pointer), str | None))
    return in_code[0] if in_code else _read_by(raised)


def _inside(source: str, config: Any) -> Iterator[str]:
    """Keys that are part of a longer name in the code, such as `tag_validation` of `tag_validation_mode`."""
    return (pointer for key, pointer in _keys(config) if "_" in key and key in source)


def _model_place(model: str, keys: tuple[str, ...], message: str, config: Any) -> str:
    block = _BLOCKS.get(model, "")
    if block == "/bf16" and lookup(config, "/bf16") in (MISSING, None):
        block = "/bfloat16" if lookup(config, "/bfloat16") is not MISSING else block
    if keys:
        return block + join(keys)
    return next((p for p in _present(_words(message), config) if p.startswith(f"{block}/")), block)


def _words(text: str) -> list[str]:
    return [word.replace("::", ".") for word in dict.fromkeys(_WORD.findall(text))]


def _pairs(words: list[str]) -> list[str]:
    """`reduce scatter` is how a sentence spells `reduce_scatter`."""
    return [f"{one}_{two}".lower() for one, two in itertools.pairwise(words)]


def _paths(words: list[str], config: Any, known: Collection[str]) -> Iterator[str]:
    """Whole paths, the longest first."""
    for path in sorted((word for word in words if "." in word), key=len, reverse=True):
        pointer = join(path.split("."))
        if lookup(config, pointer) is not MISSING or pointer in known:
            yield pointer


def _present(words: Iterable[str], config: Any, by_length: bool = True) -> Iterator[str]:
    """Keys of the config, the longest first: it says most."""
    pointers = {key.lower(): pointer for key, pointer in _keys(config)}
    parts = [part.lower() for word in words for part in word.split(".")]
    telling = [part for part in dict.fromkeys(parts) if part not in _SAYS_NOTHING]
    for part in sorted(telling, key=lambda key: -len(key) if by_length else 0):
        if part in pointers:
            yield pointers[part]


def _valued(words: Collection[str], config: Any) -> Iterator[str]:
    """Texts of the config that the sentence repeats."""
    said = {part.lower() for word in words for part in (word, word.split(".")[-1])} - {"auto"}
    for pointer, value in _leaves(config, ""):
        if isinstance(value, str) and len(value) > 1 and value.lower() in said:
            yield pointer


def _stage(text: str, config: Any) -> Iterator[str]:
    pointer = "/zero_optimization/stage"
    if _ZERO_STAGE.search(text) and lookup(config, pointer) is not MISSING:
        yield pointer


def _absent(words: Iterable[str], known: Collection[str]) -> Iterator[str]:
    """Keys that the config lacks: the sentence asks for one."""
    by_key = {split(pointer)[-1]: pointer for pointer in sorted(known, key=len, reverse=True)}
    for word in sorted(words, key=len, reverse=True):
        key = word.split(".")[-1]
        if "_" in key and key in by_key:
            yield by_key[key]


def _blocks(words: Iterable[str], config: Any) -> Iterator[str]:
    """A block's name is a word of many sentences: the last thing to go by."""
    names = config if isinstance(config, Mapping) else {}
    yield from (child("", word.lower()) for word in words if word.lower() in names)


def _read_by(raised: Raised) -> str:
    for call in reversed(raised.calls):
        for module, function, pointer in _READERS:
            if re.match(module, call.module) and (not function or re.fullmatch(function, call.function)):
                return pointer
    return ""


def _keys(config: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """(key, pointer) of every key, the deepest first, so that in a dict the outermost of several wins."""
    if isinstance(config, Mapping):
        for key, value in config.items():
            yield from _keys(value, child(pointer, key))
        for key in config:
            yield key, child(pointer, key)


def _leaves(value: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    members: Iterable[tuple[str, Any]] = ()
    if isinstance(value, Mapping):
        members = ((str(key), member) for key, member in value.items())
    elif isinstance(value, list):
        members = ((str(index), member) for index, member in enumerate(value))
    else:
        yield pointer, value
    for key, member in members:
        yield from _leaves(member, child(pointer, key))
