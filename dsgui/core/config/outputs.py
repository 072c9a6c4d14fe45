"""What a config can be exported as: its native and HF forms, and the lines of Python and shell that people need
next."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.batch_size import data_parallel_size
from dsgui.core.config.context import Context
from dsgui.core.config.document import Document
from dsgui.core.config.filling import (
    ACCUMULATION,
    ARGUMENTS,
    FILLED_BY_TRAINER,
    MICRO,
    STEPS,
    TRAIN,
    Filled,
    Unknown,
    fill,
)
from dsgui.core.config.findings import Change, Fix
from dsgui.core.config.pointer import MISSING, dotted, lookup, split
from dsgui.core.texts.saying import words

_COUNTS = {"per_device_train_batch_size", "gradient_accumulation_steps", "max_steps"}  # `TrainingArguments` takes ints
_LINE = 100  # characters of a snippet's line before it is broken


@dataclass(frozen=True, slots=True)
class Converted:
    """A config in another form, as text, and one sentence for each change or thing to know."""

    text: str
    notes: tuple[str, ...]


_DEFAULTS = TrainingArguments()


# ------------------------------------------------------------------------------------------------------- native form
def native_form(document: Document, context: Context, arguments: TrainingArguments = _DEFAULTS) -> Converted:
    """The config for native DeepSpeed: every "auto" that the Trainer would fill in is a number, or removed."""
    notes: list[str] = []
    filled = fill(document.value, arguments, context)
    for pointer in FILLED_BY_TRAINER[1:] + FILLED_BY_TRAINER[:1]:  # the train batch last: it needs the other two
        if lookup(document.value, pointer) != "auto":
            continue
        value, why = _native(pointer, document.value, filled, context)
        document = document.remove(pointer) if value is MISSING else document.set(pointer, json.dumps(value))
        done = "removed" if value is MISSING else f"“auto” → {json.dumps(value)}"
        notes.append(f"{dotted(pointer)}: {done} ({why})")
    return Converted(document.text, (*notes, *_left_to_the_script(document.value)))


def native_fix(document: Document, context: Context) -> Fix:
    """The native form as a fix: the same changes, applied in place. The number of steps of the run, which a scheduler
    needs, has to come from the user."""
    native = Document(native_form(document, context).text)
    autos = [pointer for pointer in FILLED_BY_TRAINER if lookup(document.value, pointer) == "auto"]
    known = [pointer for pointer in autos if pointer != STEPS or native.literal(pointer) is not None]
    changes = tuple(Change(pointer, native.literal(pointer)) for pointer in known)
    if known == autos and len(changes) == 1 and changes[0].literal is not None:
        return Fix.of("set", *changes, key=split(known[0])[-1], value=changes[0].literal)
    return Fix.of("write_defaults" if known == autos else "write_defaults_but_steps", *changes)


def _native(pointer: str, config: Mapping[str, Any], filled: Filled, context: Context) -> tuple[Any, str]:
    """What replaces "auto" (MISSING: nothing), and why. It is what the Trainer fills in, unless DeepSpeed finds
    something better itself."""
    if pointer == TRAIN:
        return _train_batch(config, filled, context)
    if pointer == MICRO and _is_number(config.get("train_batch_size")):
        return MISSING, words("converting", "derived")
    if pointer.endswith("/nvme_path"):
        return MISSING, words("converting", "no_path")
    value, source = lookup(filled.config, pointer), filled.sources.get(pointer)
    if isinstance(value, Unknown):
        return MISSING, _left_open(pointer, value)
    if source is None:  # what stands around it is no block
        return MISSING, words("converting", "not_filled")
    return value, str(source.what) or words("converting", "as_filled", origin=source.origin.told)


def _left_open(pointer: str, value: Unknown) -> str:
    if pointer == STEPS:
        return words("converting", "steps_counted")
    return words("converting", "default_counts", what=value.what)


def _train_batch(config: Mapping[str, Any], filled: Filled, context: Context) -> tuple[Any, str]:
    """micro × accumulation × ranks, from the file's numbers where present."""
    micro = config.get("train_micro_batch_size_per_gpu", filled.arguments.per_device_train_batch_size)
    accumulation = config.get("gradient_accumulation_steps", 1)
    if not (_is_number(micro) and _is_number(accumulation)):
        return MISSING, words("converting", "no_numbers")
    ranks = data_parallel_size(config, context)
    product = micro * accumulation * ranks
    return product, words("converting", "product", micro=str(micro), steps=str(accumulation), ranks=str(ranks))


def _left_to_the_script(config: Mapping[str, Any]) -> Iterator[str]:
    if lookup(config, "/optimizer") is MISSING:
        yield words("converting", "own_optimizer")


# ------------------------------------------------------------------------------------------------------------ HF form
def hf_form(document: Document) -> Converted:
    """The config for the HF Trainer: what the Trainer compares with its own arguments becomes "auto".

    The notes list the arguments that then hold the values.
    """
    wanted, notes = _wanted(document), [*_clashes(document)]
    for pointer in ARGUMENTS:
        value = lookup(document.value, pointer)
        if not _is_compared(value):
            continue
        spelled = ", ".join(f"{name}={wanted[name]}" for name in ARGUMENTS[pointer] if name in wanted)
        given = {"key": dotted(pointer), "value": document.literal(pointer) or "", "arguments": spelled}
        notes.append(words("converting", "to_auto", **given))
        document = document.set(pointer, '"auto"')
    return Converted(*_with_auto_batch(document, notes))


def _with_auto_batch(document: Document, notes: list[str]) -> tuple[str, tuple[str, ...]]:
    """All three batch keys "auto" if one is there: the Trainer fills in what is there, accelerate takes 1 for an absent
    accumulation, and DeepSpeed would derive a train batch of its own from the rest."""
    present = [pointer for pointer in (TRAIN, MICRO, ACCUMULATION) if lookup(document.value, pointer) is not MISSING]
    train = document.value.get("train_batch_size")
    if _is_number(train):
        document = document.set(TRAIN, '"auto"')
        notes.append(words("converting", "train_to_auto", train=str(train)))
    for pointer in (MICRO, ACCUMULATION):
        if present and pointer not in present:
            document = document.set(pointer, '"auto"')
            notes.append(words("converting", "added_auto", key=dotted(pointer), argument=ARGUMENTS[pointer][0]))
    return document.text, tuple(notes)


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_compared(value: Any) -> bool:
    """Numbers, switches and lists of numbers; "auto" is filled in, and anything else has a finding of its own."""
    if isinstance(value, list):
        return bool(value) and all(map(_is_number, value))
    return isinstance(value, int | float)


# ------------------------------------------------------------------------------------------------------ the arguments
def _wanted(document: Document) -> dict[str, str]:
    """Argument → its value in Python, spelled as in the file; if two keys want the same one, the first counts."""
    found: dict[str, str] = {}
    for pointer, names in ARGUMENTS.items():
        value = lookup(document.value, pointer)
        if not _is_compared(value):
            continue
        places = [pointer] if len(names) == 1 else [f"{pointer}/{index}" for index in range(len(names))]
        for name, place in zip(names, places, strict=True):
            literal, item = document.literal(place), lookup(document.value, place)
            if literal is not None and _fits(name, item):
                found.setdefault(name, _python(name, item, literal))
    return found


def _fits(name: str, value: Any) -> bool:
    """Whether the argument accepts it: a switch, a number, an integer. What does not fit has a finding of its own."""
    if isinstance(getattr(_DEFAULTS, name), bool) or not _is_number(value):
        return isinstance(getattr(_DEFAULTS, name), bool) and isinstance(value, bool)
    return name not in _COUNTS or value == int(value)


def _python(name: str, value: Any, literal: str) -> str:
    if isinstance(value, bool):
        return str(value)
    return str(int(value)) if name in _COUNTS else literal


def _clashes(document: Document) -> Iterator[str]:
    """Keys that want a different value of an argument than an earlier key does."""
    wanted = _wanted(document)
    for pointer, names in ARGUMENTS.items():
        literal, value = document.literal(pointer), lookup(document.value, pointer)
        if len(names) == 1 and _is_number(value) and float(wanted[names[0]]) != value:
            yield words("converting", "clash", key=dotted(pointer), value=str(literal), argument=names[0])


def training_arguments(document: Document, path: str = "ds_config.json", context: Context | None = None) -> str:
    """Python that creates the `TrainingArguments` that this config's numbers require; those at their default are left
    out. With a `context`, the batch per device is derived from a train batch without a micro batch."""
    wanted, remarks = _with_train_batch(document, _wanted(document), context)
    arguments = {"output_dir": '"output"', "deepspeed": _quoted(path)}
    arguments |= {name: text for name, text in wanted.items() if _differs(name, text)}
    lines = [f"# {remark}" for remark in (*remarks, *_clashes(document))]
    return "\n".join(["from transformers import TrainingArguments", "", *lines, _call("args", arguments)]) + "\n"


def demanded(document: Document) -> dict[str, str]:
    """The arguments, as Python spells them, that this config's numbers require and that differ from their defaults."""
    return {name: text for name, text in _wanted(document).items() if _differs(name, text)}


def _differs(name: str, text: str) -> bool:
    value = text == "True" if text in ("True", "False") else float(text)
    return bool(value != getattr(_DEFAULTS, name))


def _with_train_batch(
    document: Document, wanted: dict[str, str], context: Context | None
) -> tuple[dict[str, str], list[str]]:
    """The Trainer's train batch is a product of three: where the file leaves one open, what the product must be."""
    train, micro, accumulation = document.value.get("train_batch_size"), *ARGUMENTS[MICRO], *ARGUMENTS[ACCUMULATION]
    if not _is_number(train) or {micro, accumulation} <= wanted.keys():
        return wanted, []
    steps = int(wanted.get(accumulation, 1))
    ranks = data_parallel_size(document.value, context) if context else 0
    if micro not in wanted and steps * ranks > 0 and train % (steps * ranks) == 0:
        batch = {micro: str(int(train // (steps * ranks))), accumulation: str(steps)}
        return {**wanted, **batch}, [words("converting", "for_ranks", train=str(train), ranks=str(ranks))]
    return wanted, [words("converting", "must_make", micro=micro, steps=accumulation, train=str(train))]


def _call(name: str, arguments: Mapping[str, str]) -> str:
    body = ", ".join(f"{key}={value}" for key, value in arguments.items())
    if len(body) <= _LINE - 30:
        return f"{name} = TrainingArguments({body})"
    return "\n".join([f"{name} = TrainingArguments(", *(f"    {k}={v}," for k, v in arguments.items()), ")"])


def _quoted(text: str) -> str:
    """A Python string; in double quotes where its characters allow."""
    return json.dumps(text) if text.isascii() and text.isprintable() else repr(text)


# ------------------------------------------------------------------------------------------------- the native program
def initialize_snippet(document: Document, path: str = "ds_config.json") -> str:
    """A native training program around `deepspeed.initialize` that fits this config and runs as it is: its model and
    data are stand-ins."""
    config = document.value
    parts = [*_remarks(config), *_imports(config), "", *_model(config, path), *_data(), "", *_optimizer(config)]
    return "\n".join([*parts, *_initialize(config, path), "", *_loop(config)]) + "\n"


def _remarks(config: Mapping[str, Any]) -> list[str]:
    if not any(lookup(config, pointer) == "auto" for pointer in FILLED_BY_TRAINER):
        return []
    return [f"# {words('converting', 'says_auto')}"]


def _imports(config: Mapping[str, Any]) -> list[str]:
    adam = (
        ["from deepspeed.ops.adam import DeepSpeedCPUAdam"] if _client_optimizer(config) == "DeepSpeedCPUAdam" else []
    )
    return ["import deepspeed", "import torch", *adam]


def _model(config: Mapping[str, Any], path: str) -> list[str]:
    made = "model = torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))"
    model = f"{made}  # {words('converting', 'your_model')}"
    if _stage(config) != 3:
        return [model]
    return [
        "deepspeed.init_distributed()",
        f"with deepspeed.zero.Init(config_dict_or_path={_quoted(path)}):  # {words('converting', 'its_part')}",
        f"    {model}",
    ]


def _data() -> list[str]:
    made = "dataset = torch.utils.data.TensorDataset(torch.randn(256, 32), torch.randn(256, 1))"
    return [f"{made}  # {words('converting', 'your_data')}"]


def _optimizer(config: Mapping[str, Any]) -> list[str]:
    """DeepSpeed takes the optimizer from the file, or else from the program."""
    name = _client_optimizer(config)
    if not name:
        return []
    return [f"optimizer = {name}(model.parameters(), lr=1e-4)  # {words('converting', 'names_none')}"]


def _client_optimizer(config: Mapping[str, Any]) -> str:
    if lookup(config, "/optimizer/type") is not MISSING:
        return ""
    device = lookup(config, "/zero_optimization/offload_optimizer/device")
    offloads = device in ("cpu", "nvme") or lookup(config, "/zero_optimization/cpu_offload") is True
    return "DeepSpeedCPUAdam" if offloads and _stage(config) >= 1 else "torch.optim.AdamW"


def _initialize(config: Mapping[str, Any], path: str) -> list[str]:
    return [
        "engine, optimizer, loader, scheduler = deepspeed.initialize(",
        "    model=model,",
        "    optimizer=optimizer," if _client_optimizer(config) else "    model_parameters=model.parameters(),",
        "    training_data=dataset,",
        f"    config={_quoted(path)},",
        ")",
    ]


def _loop(config: Mapping[str, Any]) -> list[str]:
    dtype = next((t for block, t in _SIXTEEN_BIT.items() if lookup(config, f"/{block}/enabled") is True), "")
    cast = f", dtype={dtype}" if dtype else ""
    return [
        "for inputs, targets in loader:",
        f"    outputs = engine(inputs.to(engine.device{cast}))",
        "    loss = torch.nn.functional.mse_loss(outputs.float(), targets.to(engine.device))",
        "    engine.backward(loss)",
        f"    engine.step()  # {words('converting', 'does_the_rest')}",
        "torch.distributed.destroy_process_group()",
    ]


_SIXTEEN_BIT = {"bf16": "torch.bfloat16", "bfloat16": "torch.bfloat16", "fp16": "torch.float16"}


def _stage(config: Mapping[str, Any]) -> int:
    stage = lookup(config, "/zero_optimization/stage")
    return int(stage) if _is_number(stage) else 0


def launch_line(context: Context, script: str = "train.py") -> str:
    """The `deepspeed` command for this context's nodes and devices, quoted for a shell."""
    hosts = ["--hostfile=hostfile", f"--num_nodes={context.nodes}"] if context.nodes > 1 else []
    return shlex.join(["deepspeed", *hosts, f"--num_gpus={context.gpus_per_node}", script])
