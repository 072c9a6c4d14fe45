#!/usr/bin/env python
"""Compares schemas/ds_config.schema.json with the DeepSpeed installed here: one line a difference, exit code 1 if any.

The schema is taken as it stands in the installed release, so `PYTHONPATH=<another DeepSpeed> python scripts/…` asks any
release that the schema answers for. DeepSpeed is asked by letting it read one config with every block in it:

- a pydantic model tells which block it was built from; its keys, types, defaults and bounds are compared;
- a block that is read key by key notes what it is asked for, and with which default;
- the keys spelled in DeepSpeed's config modules show what it reads only under some condition.

Arguments of optimizers and schedulers come from their signatures.
"""

import argparse
import ast
import contextlib
import importlib
import inspect
import json
import logging
import os
import sys
import types
import typing
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

os.environ.setdefault("DS_ACCELERATOR", "cpu")
report, sys.stdout = sys.stdout, sys.stderr  # DeepSpeed logs to stdout while it is imported
ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))
warnings.simplefilter("ignore")

import deepspeed  # noqa: E402
from deepspeed.runtime import config as ds_config  # noqa: E402
from deepspeed.runtime.config_utils import DeepSpeedConfigModel  # noqa: E402

from dsgui.core.config.versions import at_version, in_release  # noqa: E402

logging.disable(logging.CRITICAL)

SCHEMA = ROOT / "schemas/ds_config.schema.json"
VERSION = deepspeed.__version__.split("+")[0]
PACKAGE = Path(deepspeed.__file__).parent
BaseModel = DeepSpeedConfigModel.__bases__[0]  # pydantic's own, or its version 1 in DeepSpeed 0.14
ABSENT = "(none)"

Node = Mapping[str, Any]


# --------------------------------------------------------------------------------------------------- what is tolerated
@dataclass(frozen=True)
class Tolerated:
    """A difference that is meant to be there, in the releases from `since` up to but not including `before`."""

    line: str
    reason: str
    since: str = ""
    before: str = ""

    def applies(self) -> bool:
        return in_release({"x-since": self.since, "x-removed": self.before}, VERSION)


NO_SUCH_KEY = "DeepSpeed has no such key"
UNASKED = (
    ("/allgather_size", "read only when zero_optimization is a bare true or false", "", ""),
    ("/data_parallel_size", "read by deepspeed.initialize, not by DeepSpeedConfig", "0.15.0", ""),
    ("/sequence_parallel_size", "read by deepspeed.initialize, and only once torch.distributed runs", "0.15.0", ""),
    ("/inference", "read by the HF Trainer", "", ""),
    ("/msamp", "read by accelerate", "", ""),
    ("/amp/opt_level", "handed to Apex with whatever else the block has", "", "0.19.8"),
    ("/eigenvalue", "nobody reads it here; listed because 0.19.8 refuses it", "", "0.19.8"),
    (
        "/quantize_training",
        "read only on a path that no config reaches; listed because 0.19.7 refuses it",
        "",
        "0.19.7",
    ),
    ("/optimizer/params/max_grad_norm", "the engine refuses it; listed to say that gradient_clipping does it", "", ""),
)
EXPECTED = (
    *(Tolerated(f"{pointer}: {NO_SUCH_KEY}", *why) for pointer, *why in UNASKED),
    Tolerated(
        "/optimizer/params/adamw_mode: the schema lacks it", "the engine passes it; in a config it is a TypeError"
    ),
    Tolerated("/checkpoint/tag_validation: default 'Warn', in DeepSpeed 'WARN'", "taken in any case"),
    Tolerated("/checkpoint/writer/type: default 'fast', in DeepSpeed 'FAST'", "taken in any case", "0.17.1"),
    Tolerated(
        "/compression_training/shared_parameters: the schema lacks it",
        "a slip: DeepSpeed looks for it one level above its place, too",
        before="0.19.7",
    ),
    Tolerated(
        "/zero_optimization/leaf_module: type null|object, in DeepSpeed object", "its validator takes null", "0.18.0"
    ),
    *(
        Tolerated(
            f"/zero_optimization/leaf_module/{key}: type array|string, in DeepSpeed array",
            "its validator takes a single name",
            "0.18.0",
        )
        for key in ("classes", "names", "name_suffixes")
    ),
)

# Models that no block is: of inference, and the one that joins the blocks of the monitors.
ELSEWHERE = ("deepspeed.inference.", "deepspeed.monitor.config.DeepSpeedMonitorConfig")


# ---------------------------------------------------------------------------------------------------------- the schema
def main_branch(node: Node) -> Node:
    return node["anyOf"][0] if "anyOf" in node else node


def json_types(node: Node) -> set[str]:
    """The JSON types that `node` takes, leaving aside an "auto" that never reaches DeepSpeed."""
    placeholder = {"const": "auto"} if node.get("x-auto") == "hf" else None
    branches = [branch for branch in node.get("anyOf", [node]) if branch != placeholder]
    return {name for branch in branches for name in _types_of_branch(branch)}


def _types_of_branch(branch: Node) -> list[str]:
    if "type" in branch:
        return [branch["type"]] if isinstance(branch["type"], str) else list(branch["type"])
    return [JSON_TYPES[type(value)] for value in branch.get("enum", [branch.get("const")])]


def enum(node: Node) -> set[Any]:
    """The values that `node`, or an item of it, may take."""
    main = main_branch(node)
    return set(main.get("enum", main.get("items", {}).get("enum", ())))


def is_block(node: Node) -> bool:
    return "object" in json_types(main_branch(node))


def properties(node: Node) -> Mapping[str, Node]:
    found: Mapping[str, Node] = main_branch(node).get("properties", {})
    return found


def blocks(node: Node, pointer: str = "") -> Iterator[tuple[str, Node]]:
    """Every object with keys of its own: (pointer, node), the whole document first."""
    yield pointer, main_branch(node)
    for key, child in properties(node).items():
        if "properties" in main_branch(child):
            yield from blocks(child, f"{pointer}/{key}")


def nodes(node: Node, pointer: str = "") -> Iterator[tuple[str, Node]]:
    """Every key, as deep as names are fixed."""
    for key, child in properties(node).items():
        yield f"{pointer}/{key}", child
        yield from nodes(child, f"{pointer}/{key}")


def names(node: Any) -> Iterator[str]:
    """Every key, also inside lists and maps."""
    if isinstance(node, Mapping):
        yield from node.get("properties", {})
        for child in [*node.get("properties", {}).values(), *node.get("anyOf", ())]:
            yield from names(child)
        yield from names(node.get("items"))
        yield from names(node.get("additionalProperties"))


# ------------------------------------------------------------------------------------------------- one config, watched
HERE = "dsgui: where this block stands"  # a key that no block has, so it harms none that is read key by key
NO_DEFAULT = object()
INSISTS = {"train_batch_size": 1, "enabled": False}  # without these keys, where they belong, DeepSpeed reads no further


class Watched(dict[str, Any]):
    """A block that notes the keys it is asked for, and the default that DeepSpeed would take."""

    def __init__(self, content: Mapping[str, Any], pointer: str, asked: dict[str, list[Any]]) -> None:
        super().__init__(content)
        self.pointer, self.asked = pointer, asked

    def _note(self, key: str, default: Any = NO_DEFAULT) -> None:
        defaults = self.asked.setdefault(f"{self.pointer}/{key}", [])
        if default is not NO_DEFAULT:
            defaults.append(default)

    def get(self, key: str, default: Any = NO_DEFAULT) -> Any:
        self._note(key, default)
        return super().get(key, None if default is NO_DEFAULT else default)

    def __getitem__(self, key: str) -> Any:
        self._note(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self._note(str(key))
        return super().__contains__(key)

    def keys(self) -> Any:
        return self  # so that `key in block.keys()` is noted as well


def example(node: Node, pointer: str, left_out: set[str], asked: dict[str, list[Any]]) -> dict[str, Any]:
    """Every block the schema knows except those `left_out`, empty but for what DeepSpeed insists on."""
    keys = {key: child for key, child in properties(node).items() if f"{pointer}/{key}" not in left_out}
    content: dict[str, Any] = {HERE: pointer} if keys else {}
    content |= {key: value for key, value in INSISTS.items() if key in keys}
    for key, child in keys.items():
        if is_block(child):
            content[key] = example(child, f"{pointer}/{key}", left_out, asked)
    return Watched(content, pointer, asked)


@contextlib.contextmanager
def noting_models(built: dict[str, type]) -> Iterator[None]:
    """Within it, every pydantic model puts down which block it was built from."""
    original = BaseModel.__init__

    def init(self: Any, /, **data: Any) -> None:
        if HERE in data:
            built[data.pop(HERE)] = type(self)
        original(self, **data)

    BaseModel.__init__ = init
    try:
        yield
    finally:
        BaseModel.__init__ = original


@dataclass(frozen=True)
class Reading:
    """How DeepSpeed read the example: the models it built, and the keys it asked for with the defaults it gave."""

    models: dict[str, type]
    asked: dict[str, list[Any]]


def read_examples(schema: Node) -> Reading:
    """Reads two examples, because DeepSpeed takes a block by its old name or by its new one, never by both."""
    renamed = {pointer: node["x-renamed-to"] for pointer, node in nodes(schema) if "x-renamed-to" in node}
    reading = Reading({}, {})
    for left_out in (set(renamed), set(renamed.values())):
        with noting_models(reading.models):
            ds_config.DeepSpeedConfig(example(schema, "", left_out, reading.asked))
    return reading


# ----------------------------------------------------------------------------------------------------- pydantic blocks
JSON_TYPES: dict[Any, str] = {
    **{bool: "boolean", int: "integer", float: "number", str: "string", Path: "string", type(None): "null"},
    **{list: "array", tuple: "array", dict: "object"},
}


@dataclass(frozen=True)
class Field:
    """A field of a pydantic model: its spellings, type, default (ABSENT if derived) and bounds."""

    spellings: tuple[str, ...]
    hint: Any
    default: Any
    bounds: dict[str, float]


def fields(model: Any) -> Iterator[Field]:
    if hasattr(model, "model_fields"):
        yield from (_field(name, field) for name, field in model.model_fields.items())
    else:
        yield from (_field_of_pydantic_1(name, field) for name, field in model.__fields__.items())


BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


def _field(name: str, field: Any) -> Field:
    bounds = {word: getattr(m, k) for k, word in BOUNDS.items() for m in field.metadata if hasattr(m, k)}
    in_json = isinstance(plain(field.default), tuple(JSON_TYPES))  # PydanticUndefined is not
    default = plain(field.default) if in_json and not field.default_factory else ABSENT
    return Field(tuple({name, field.alias or name}), field.annotation, default, bounds)


def _field_of_pydantic_1(name: str, field: Any) -> Field:
    info = field.field_info
    bounds = {word: getattr(info, k) for k, word in BOUNDS.items() if getattr(info, k) is not None}
    hint = field.outer_type_
    if inspect.isclass(hint) and issubclass(hint, int) and not issubclass(hint, bool | Enum):
        hint = float  # pydantic 1 takes any number and cuts the fraction off
    return Field(tuple({name, field.alias}), hint | None if field.allow_none else hint, plain(field.default), bounds)


def plain(value: Any) -> Any:
    """A default as JSON would spell it, so that (0.9, 0.999) equals [0.9, 0.999]."""
    if isinstance(value, BaseModel):
        return {}
    value = value.value if isinstance(value, Enum) else value
    return list(value) if isinstance(value, tuple) else value


def hinted_types(hint: Any) -> set[str]:
    """JSON types of a Python type; empty if JSON has none for it."""
    origin, arguments = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return {name for argument in arguments for name in hinted_types(argument)}
    if origin is typing.Literal:
        return {JSON_TYPES[type(value)] for value in arguments}
    if not isinstance(origin, type):
        return set()
    if issubclass(origin, Enum):
        return {JSON_TYPES[type(member.value)] for member in origin if type(member.value) in JSON_TYPES}
    if issubclass(origin, BaseModel):
        return {"object"}
    known = [JSON_TYPES[base] for base in origin.__mro__ if base in JSON_TYPES]
    return set(known[:1])


def hinted_values(hint: Any) -> set[Any]:
    """The values that a Literal or an Enum somewhere in `hint` lists."""
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {member.value for member in hint}
    if typing.get_origin(hint) is typing.Literal:
        return {*typing.get_args(hint)}
    return {value for argument in typing.get_args(hint) for value in hinted_values(argument)}


def modelled(schema: Node, models: Mapping[str, type]) -> Iterator[str]:
    for pointer, node in blocks(schema):
        built = models.get(pointer)
        said, seen = node.get("x-model"), "pydantic" if built else "raw"
        if said != seen:
            yield f"{pointer}: x-model {said}, in DeepSpeed {seen}"
        if built:
            yield from one_model(pointer, properties(node), list(fields(built)))


def one_model(pointer: str, ours: Mapping[str, Node], theirs: list[Field]) -> Iterator[str]:
    spellings = {spelling: field for field in theirs for spelling in field.spellings}
    yield from missing(pointer, set(ours), set(spellings))
    for key in sorted(ours.keys() & spellings.keys()):
        yield from one_field(f"{pointer}/{key}", ours[key], spellings[key])


def missing(pointer: str, ours: set[str], theirs: set[str]) -> Iterator[str]:
    for key in sorted(theirs - ours):
        yield f"{pointer}/{key}: the schema lacks it"
    for key in sorted(ours - theirs):
        yield f"{pointer}/{key}: {NO_SUCH_KEY}"


def one_field(pointer: str, node: Node, field: Field) -> Iterator[str]:
    if field.default is not ABSENT:
        yield from default(pointer, node.get("default", {} if is_block(node) else ABSENT), field.default)
    for word, bound in field.bounds.items():
        if main_branch(node).get(word) != bound:
            yield f"{pointer}: {word} {main_branch(node).get(word)}, in DeepSpeed {bound}"
    said, seen = json_types(node), hinted_types(field.hint)
    if seen and said != seen:
        yield f"{pointer}: type {'|'.join(sorted(said))}, in DeepSpeed {'|'.join(sorted(seen))}"
    listed, values = enum(node), hinted_values(field.hint)
    if values and listed != values:
        yield f"{pointer}: values {sorted(listed)}, in DeepSpeed {sorted(values)}"


def default(pointer: str, ours: Any, theirs: Any) -> Iterator[str]:
    same_kind = isinstance(ours, bool) == isinstance(plain(theirs), bool)
    if ours != plain(theirs) or not same_kind:
        yield f"{pointer}: default {ours!r}, in DeepSpeed {theirs!r}"


def unreached(models: Mapping[str, type]) -> Iterator[str]:
    """Models of DeepSpeed that no block of the schema led to."""
    for model in sorted({*descendants(BaseModel)} - {*models.values()}, key=lambda model: model.__qualname__):
        name, inner = f"{model.__module__}.{model.__qualname__}", [*descendants(model)]
        if name.startswith("deepspeed.") and not inner and not name.startswith(ELSEWHERE):
            yield f"{name}: no block of the schema leads to this model"


def descendants(cls: type) -> Iterator[type]:
    children: list[type] = cls.__subclasses__()
    for child in children:
        yield child
        yield from descendants(child)


# ---------------------------------------------------------------------------------------------------------- raw blocks
PARAMS = ("/optimizer/params", "/scheduler/params")  # arguments, compared with signatures further down


def read_raw(whole: Node, schema: Node, reading: Reading) -> Iterator[str]:
    raw = {pointer for pointer, _ in blocks(schema)} - reading.models.keys() - {*PARAMS}
    ours = {pointer: node for pointer, node in nodes(schema) if pointer.rpartition("/")[0] in raw}
    theirs = {pointer for pointer in reading.asked if pointer.rpartition("/")[0] in raw}
    refused = {pointer for pointer, _ in gone(whole) if refuses(pointer)}
    for pointer in sorted(theirs - ours.keys() - refused):
        yield f"{pointer}: the schema lacks it"
    for pointer, node in sorted(ours.items()):
        top = "/" + pointer.split("/")[1]
        if top == pointer or top in reading.asked:  # else its block is reported
            yield from one_raw_key(pointer, node, reading.asked.get(pointer))


def one_raw_key(pointer: str, node: Node, defaults: list[Any] | None) -> Iterator[str]:
    block, _, key = pointer.rpartition("/")
    if defaults is None and (not block or key not in spelled_words()):  # inside a block it may be read on a condition
        yield f"{pointer}: {NO_SUCH_KEY}"
    if defaults and not is_block(node) and all([*default(pointer, node.get("default", ABSENT), d)] for d in defaults):
        yield from default(pointer, node.get("default", ABSENT), defaults[0])


def refuses(pointer: str) -> bool:
    """Whether DeepSpeed stops at the key, whatever its value."""
    config: dict[str, Any] = {"train_batch_size": 1}
    *parents, key = pointer.split("/")[1:]
    block = config
    for parent in parents:
        block = block.setdefault(parent, {})
    block[key] = None
    try:
        ds_config.DeepSpeedConfig(config)
    except ds_config.DeepSpeedConfigError:
        return True
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError):
        return False  # it stumbled over the null, so it does read the key
    return False


def gone(node: Node, pointer: str = "") -> Iterator[tuple[str, Node]]:
    """Keys that this release no longer has; not what is inside them."""
    for key, child in properties(node).items():
        if in_release({"x-removed": child.get("x-removed", "")}, VERSION):
            yield from gone(child, f"{pointer}/{key}")
        else:
            yield f"{pointer}/{key}", child


def removed(whole: Node) -> Iterator[str]:
    """Keys the schema calls removed: those with a message must be refused, and only those."""
    for pointer, node in gone(whole):
        if not pointer.startswith(PARAMS):
            said, seen = "x-removed-message" in node, refuses(pointer)
            if said and not seen:
                yield f"{pointer}: x-removed-message, but DeepSpeed does not refuse it"
            if seen and not said:
                yield f"{pointer}: no x-removed-message, but DeepSpeed refuses it"


@cache
def spelled_words() -> set[str]:
    """Every string in DeepSpeed's code."""
    trees = (ast.parse(path.read_bytes()) for path in PACKAGE.rglob("*.py"))
    return {
        n.value for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    }


def keys_in_code() -> Iterator[tuple[str, str]]:
    """Keys that DeepSpeed's config modules look up: (module, key)."""
    for name, module in sorted(sys.modules.items()):
        if name.startswith("deepspeed.") and name.endswith("config") and not name.startswith(ELSEWHERE):
            for node in ast.walk(ast.parse(inspect.getsource(module))):
                yield from ((name, key) for key in _looked_up(node, vars(module)))


def _looked_up(node: ast.AST, scope: Mapping[str, Any]) -> Iterator[str]:
    """The key in get_scalar_param(block, key, …), block.get(key) or `key in block`, if `node` is one of these."""
    spelled: ast.AST | None = None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("_param"):
        spelled = node.args[1] if len(node.args) > 2 else None
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        spelled = node.args[0]
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In):
        spelled = node.left
    value = scope.get(spelled.id) if isinstance(spelled, ast.Name) else getattr(spelled, "value", None)
    if isinstance(value, str) and value.isidentifier() and not value.startswith("_"):
        yield value


def unknown_keys_in_code(whole: Node) -> Iterator[str]:
    ours = set(names(whole))
    for module, key in sorted(set(keys_in_code())):
        if key not in ours:
            yield f"{module} looks up {key!r}: no block of the schema has such a key"


# ------------------------------------------------------------------------------------------- optimizers and schedulers
ADAM = ("deepspeed.ops.adam:FusedAdam", "deepspeed.ops.adam:DeepSpeedCPUAdam", "torch.optim:AdamW")
# The classes an optimizer type may become, the usual one first.
OPTIMIZERS: dict[str, tuple[str, ...]] = {
    "Adam": ADAM,
    "AdamW": ADAM,
    "Lamb": ("deepspeed.ops.lamb:FusedLamb",),
    "Lion": ("deepspeed.ops.lion:FusedLion", "deepspeed.ops.lion:DeepSpeedCPULion"),
    "Muon": (),
    "Adagrad": ("torch.optim:Adagrad", "deepspeed.ops.adagrad:DeepSpeedCPUAdagrad"),
    "OneBitAdam": ("deepspeed.runtime.fp16.onebit.adam:OnebitAdam",),
    "OneBitLamb": ("deepspeed.runtime.fp16.onebit.lamb:OnebitLamb",),
    "ZeroOneAdam": ("deepspeed.runtime.fp16.onebit.zoadam:ZeroOneAdam",),
    **{
        name: (f"torch.optim:{name}",)
        for name in (
            *("SGD", "NAdam", "RAdam", "Adamax", "RMSprop"),
            *("Adadelta", "Adafactor", "ASGD", "Rprop", "SparseAdam"),
        )
    },
}
# Of other PyTorch optimizers the schema has only the arguments they share with these.
OURS = ("Adam", "AdamW", "Lamb", "Lion", "Muon", "Adagrad", "SGD", "OneBitAdam", "OneBitLamb", "ZeroOneAdam")
SCHEDULERS = ("LRRangeTest", "OneCycle", "WarmupLR", "WarmupDecayLR", "WarmupCosineLR")

# Arguments that the engine takes for itself or passes on by name, with the default it has for them.
MUON_GROUPS = {"lr": 0.02, "momentum": 0.95, "betas": (0.9, 0.95), "eps": 1e-10, "weight_decay": 0.0}
MUON_ENGINE = {"muon_lr": ABSENT, "adam_lr": ABSENT, "ns_method": "gram", "per_head_muon": False}
ADAM_ENGINE = {"torch_adam": False, "adam_w_mode": True, "fp32_optimizer_states": True}
NOT_IN_A_CONFIG = ("self", "params", "model_params", "optimizer", "deepspeed", "max_grad_norm")


def load(path: str) -> Any:
    module, name = path.split(":")
    return getattr(importlib.import_module(module), name)


def arguments(*classes: Any) -> dict[str, Any]:
    """Name → default over all classes, the first one's where they differ."""
    found: dict[str, Any] = {}
    for cls in classes:
        for name, parameter in inspect.signature(cls.__init__).parameters.items():
            if name not in NOT_IN_A_CONFIG:
                found.setdefault(name, ABSENT if parameter.default is parameter.empty else parameter.default)
    return found


def engine_arguments(optimizer: str) -> dict[str, Any]:
    """What the engine itself takes in this release."""
    from deepspeed.runtime.engine import DeepSpeedEngine

    own: dict[str, Any] = ADAM_ENGINE if optimizer in ("Adam", "AdamW") else {}
    if optimizer == "Muon":
        own = MUON_ENGINE | (ADAM_ENGINE if hasattr(DeepSpeedEngine, "get_optimizer_configuration") else {})
    taken = {key: value for key, value in own.items() if key in spelled_words()}
    return taken | (MUON_GROUPS if optimizer == "Muon" else {})


def has_optimizer(name: str) -> bool:
    """Whether this release knows the type: by its own list, or because PyTorch has the class."""
    return name.lower() in ds_config.DEEPSPEED_OPTIMIZERS or OPTIMIZERS[name] == (f"torch.optim:{name}",)


def optimizers() -> dict[str, dict[str, Any]]:
    """Arguments by type, of the types this release has."""
    present = {name: paths for name, paths in OPTIMIZERS.items() if has_optimizer(name)}
    return {t: engine_arguments(t) | arguments(*map(load, paths)) for t, paths in present.items()}


def schedulers() -> dict[str, dict[str, Any]]:
    from deepspeed.runtime import lr_schedules

    return {name: arguments(getattr(lr_schedules, name)) for name in SCHEDULERS}


def optimizer_types(schema: Node) -> Iterator[str]:
    node = properties(schema["properties"]["optimizer"])["type"]
    for name in OPTIMIZERS:
        since, until = (node.get(word, {}).get(name, "") for word in ("x-values-since", "x-values-removed"))
        said, seen = in_release({"x-since": since, "x-removed": until}, VERSION), has_optimizer(name)
        if said != seen:
            yield f"/optimizer/type: {name} {'here' if said else 'absent'}, in DeepSpeed {'here' if seen else 'absent'}"


def parameters(schema: Node, block: str, by_type: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    ours = properties(properties(schema["properties"][block])["params"])
    full = [t for t in by_type if t in OURS or t in SCHEDULERS]
    yield from missing(f"/{block}/params", set(ours), {name for t in full for name in by_type[t]})
    for name, node in ours.items():
        takers = [t for t in by_type if name in by_type[t]]
        said = [t for t in node.get("x-for-types", by_type) if t in by_type]
        if takers and sorted(said) != sorted(takers):
            yield f"/{block}/params/{name}: x-for-types {sorted(said)}, in DeepSpeed {sorted(takers)}"
        for t in set(takers) & set(full):
            expected = node.get("x-default-for-types", {}).get(t, node.get("default", ABSENT))
            yield from (f"{line} ({t})" for line in default(f"/{block}/params/{name}", expected, by_type[t][name]))


# ----------------------------------------------------------------------------------------------------------------- all
def differences(whole: Node) -> Iterator[str]:
    schema = at_version(whole, VERSION)
    try:
        reading = read_examples(schema)
    except (ds_config.DeepSpeedConfigError, ValueError) as error:
        yield f"DeepSpeed refuses an example of the schema's own blocks: {error}"
        return
    yield from modelled(schema, reading.models)
    yield from unreached(reading.models)
    yield from read_raw(whole, schema, reading)
    yield from removed(whole)
    yield from unknown_keys_in_code(whole)
    yield from optimizer_types(schema)
    yield from parameters(schema, "optimizer", optimizers())
    yield from parameters(schema, "scheduler", schedulers())


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--schema", type=Path, default=SCHEMA, help="another schema document to compare")
    lines = sorted(set(differences(json.loads(options.parse_args().schema.read_text("utf-8")))))
    expected = [tolerated.line for tolerated in EXPECTED if tolerated.applies()]
    found = [line for line in lines if line not in expected]
    found += [f"no longer a difference, strike it from EXPECTED: {line}" for line in expected if line not in lines]
    print(*found, sep="\n", end="\n" if found else "", file=report)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
