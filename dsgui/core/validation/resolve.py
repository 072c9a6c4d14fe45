"""The config as DeepSpeed will have it: every value with where it comes from, and what stops the HF Trainer before."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dsgui.core.config import batch_size
from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.filling import ACCUMULATION, MICRO, TRAIN, Filled, Origin, Source, Unknown, fill
from dsgui.core.config.findings import Finding, Severity
from dsgui.core.config.pointer import MISSING, child, lookup, split
from dsgui.core.config.schema import Field, FieldKind, Schema
from dsgui.core.rules import trainer
from dsgui.core.texts.saying import said


@dataclass(frozen=True, slots=True)
class Value:
    """One key of the final config. `was` is its value in the file, `MISSING` when the file does not have it."""

    pointer: str
    value: Any
    source: Source
    was: Any = MISSING

    @property
    def is_changed(self) -> bool:
        """Whether somebody on the way to DeepSpeed wrote it."""
        return self.source.origin not in (Origin.FILE, Origin.DEEPSPEED)

    @property
    def text(self) -> str:
        """The value as people read it: JSON, or in words what it will be."""
        return f"({self.value.what})" if isinstance(self.value, Unknown) else _literal(self.value)


@dataclass(frozen=True, slots=True)
class Resolution:
    """`config` is what `deepspeed.initialize` gets, with `Unknown` in place of what only the model or the data tell;
    `values` has its keys, those that were changed first and DeepSpeed's defaults last; `findings` are what stops the
    Trainer before it gets there."""

    config: dict[str, Any]
    values: tuple[Value, ...]
    findings: tuple[Finding, ...]


def resolve(config: Mapping[str, Any], context: Context, schema: Schema) -> Resolution:
    """The final config for `context.arguments` (the Trainer's defaults where there are none). Natively nothing is
    filled, and only DeepSpeed's defaults are added. `schema` is that of all releases."""
    arguments = context.arguments or TrainingArguments()
    context = replace(context, arguments=arguments)
    natively = context.integration is Integration.NATIVE
    filled = Filled(dict(config), arguments) if natively else fill(config, arguments, context)
    passed = sorted(_passed(config, filled), key=lambda value: not value.is_changed)
    defaults = _defaults(filled.config, schema.at(context.release))
    values = (*passed, *_solved(filled.config, context), *defaults)
    return Resolution(filled.config, values, tuple(_stopping(config, context)))


def global_batch(config: Mapping[str, Any], context: Context) -> batch_size.Number | None:
    """What `train_batch_size` becomes; None where that is not known, or DeepSpeed would refuse the three terms."""
    filled = config if context.arguments is None else fill(config, context.arguments, context).config
    given = [lookup(filled, pointer) for pointer in (TRAIN, MICRO, ACCUMULATION)]
    if any(value is not MISSING and not _is_number(value) for value in given):
        return None
    train, micro, accumulation = (None if value is MISSING else value for value in given)
    solved = batch_size.solve(train, micro, accumulation, batch_size.data_parallel_size(filled, context))
    return solved.train if solved and solved.holds else None


def final_json(config: Mapping[str, Any]) -> str:
    """The config as JSON text. accelerate's endless `steps_per_print` is 1e999, which readers take for infinity; what
    is unknown is null."""
    text = json.dumps(config, indent=2, default=lambda value: None)
    return text.replace('"steps_per_print": Infinity', '"steps_per_print": 1e999')


def _stopping(config: Mapping[str, Any], context: Context) -> Iterator[Finding]:
    for rule in trainer.RULES:
        yield from (f for f in rule.findings(config, context) if f.severity is Severity.ERROR)


def _literal(value: Any) -> str:
    return "infinity" if value == math.inf else json.dumps(value, ensure_ascii=False)


def _passed(config: Mapping[str, Any], filled: Filled) -> Iterator[Value]:
    for pointer, value in _leaves(filled.config, ""):
        yield Value(pointer, value, _source(filled, pointer), lookup(config, pointer))


def _source(filled: Filled, pointer: str) -> Source:
    """That of the key, or of the block that was written with it."""
    parts = split(pointer)
    for length in range(len(parts), 0, -1):
        source = filled.sources.get("".join(f"/{part}" for part in parts[:length]))
        if source:
            return source
    return Source(Origin.FILE)


def _leaves(block: Mapping[str, Any], pointer: str) -> Iterator[tuple[str, Any]]:
    for key, value in block.items():
        place = child(pointer, key)
        if isinstance(value, dict) and value:
            yield from _leaves(value, place)
        else:
            yield place, value


def _solved(config: Mapping[str, Any], context: Context) -> Iterator[Value]:
    """The batch terms that DeepSpeed works out itself."""
    given = {pointer: lookup(config, pointer) for pointer in (TRAIN, MICRO, ACCUMULATION)}
    numbers = [value if _is_number(value) else None for value in given.values()]
    if any(value not in (MISSING, None) and not _is_number(value) for value in given.values()):
        return
    ranks = batch_size.data_parallel_size(config, context)
    solved = batch_size.solve(numbers[0], numbers[1], numbers[2], ranks)
    if solved is None:
        return
    terms = {TRAIN: solved.train, MICRO: solved.micro, ACCUMULATION: solved.accumulation}
    for pointer, value in terms.items():
        if given[pointer] is MISSING:
            yield Value(pointer, value, Source(Origin.DEEPSPEED, said("filling", "solved", ranks=str(ranks))))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _defaults(config: Mapping[str, Any], schema: Schema) -> Iterator[Value]:
    """What DeepSpeed takes for keys that nobody set: those of the blocks that are there, and the common ones."""
    for pointer, field in schema.fields.items():
        block = pointer.rpartition("/")[0]
        if pointer in (TRAIN, MICRO, ACCUMULATION):
            continue  # solved
        is_there = isinstance(lookup(config, block), dict) and (bool(block) or field.common)
        if is_there and lookup(config, pointer) is MISSING and _has_default(field, config):
            yield Value(pointer, _default(field, config, schema), Source(Origin.DEEPSPEED))


def _default(field: Field, config: Mapping[str, Any], schema: Schema) -> Any:
    own = (schema.node(field.pointer) or {}).get("x-default-for-types", {})
    return own.get(_type_beside(field, config), field.default)


def _type_beside(field: Field, config: Mapping[str, Any]) -> Any:
    """The optimizer or scheduler whose parameter it is."""
    return lookup(config, field.pointer.rpartition("/params/")[0] + "/type")


def _has_default(field: Field, config: Mapping[str, Any]) -> bool:
    """Whether a default counts here: not for old names, other optimizers' parameters, or what is not read now."""
    if field.default is MISSING or field.renamed_to or field.deprecated or field.kind is FieldKind.OBJECT:
        return False
    if field.for_types and _type_beside(field, config) not in field.for_types:
        return False
    return field.active is None or field.active.holds(config)
