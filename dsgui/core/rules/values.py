"""Findings about each value by itself: types, ranges, and "auto" where it means nothing. Names are `keys.py`'s."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from dsgui.core.config.context import Context, Integration, version_tuple
from dsgui.core.config.conversion import NEVER_BOOLEAN_SINCE, PYDANTIC_2_SINCE, converted, meant_literal
from dsgui.core.config.document import Document, Member, json_text
from dsgui.core.config.filling import FILLED_BY_TRAINER, STEPS
from dsgui.core.config.findings import Change, Finding, Fix, Severity
from dsgui.core.config.outputs import native_fix
from dsgui.core.config.pointer import MISSING, dotted, join, split
from dsgui.core.config.schema import Field, FieldKind, Schema
from dsgui.core.rules.base import clearing, found
from dsgui.core.rules.keys import key_findings
from dsgui.core.texts.saying import Said, phrase

_MOST_CHOICES = 5  # values of a key that are offered one by one
_MOST_REMEMBERED, _LONGEST_REMEMBERED = 1000, 20_000  # blocks; characters of one
_BATCH = {"/train_batch_size", "/train_micro_batch_size_per_gpu", "/gradient_accumulation_steps"}
# A raw boolean takes any text for true; this one is combined with `|` and stops (deepspeed/runtime/config.py).
_STRICT_RAW_BOOLEANS = {
    *("/wall_clock_breakdown", "/checkpoint/parallel_write/pipeline_stage"),
    *("/pipeline/pipe_partitioned", "/pipeline/grad_partitioned", "/flops_profiler/enabled"),
}
# Converted whether their block is on or not (deepspeed/runtime/config.py, data_pipeline/config.py).
_READ_ANYWAY = {
    *("/torch_autocast/dtype", "/torch_autocast/lower_precision_safe_modules"),
    *(f"/data_efficiency/data_sampling/dynamic_batching/{end}_batch_size" for end in ("min", "max")),
}
# null counts as if the key were not there (deepspeed/runtime/engine.py asks `is not None`).
_NULL_IS_NONE = {"/optimizer/type", "/scheduler/type"}
# accelerate writes its own value over these before it looks for an "auto" that is left.
_OVERWRITTEN_BY_HF = {"/steps_per_print"}


# What is advised of a misfit: by whether it says what is meant, and whether the key has a default.
_ADVICE = {
    (True, True): "DS001.meant_or_default",
    (True, False): "DS001.meant",
    (False, True): "DS001.correct_or_default",
    (False, False): "DS001.correct",
}


def _counts_below_zero(field: Field, value: Any) -> bool:
    """deepspeed/runtime/engine.py: `global_steps % steps_per_print`, which only 0 stops."""
    return field.pointer == "/steps_per_print" and isinstance(value, int) and value < 0


def _is_counted(pointer: str) -> bool:
    """Whether DeepSpeed calculates with what stands there, true as 1, whatever type it is."""
    return pointer.count("/") == 1 or pointer.startswith("/activation_checkpointing/")


class SchemaCheck:
    """The schema of one DeepSpeed release, compiled once, as a source of findings."""

    def __init__(self, schema: Schema, release: str) -> None:
        self._all_releases = schema
        self._schema = schema.at(release)
        members = self._schema.document["properties"].items()
        self._validators = {key: Draft202012Validator(node) for key, node in members}
        self._known: dict[tuple[str, str], tuple[ValidationError, ...]] = {}

    def findings(self, document: Document, context: Context) -> Iterator[Finding]:
        """One finding a misfit and one an unknown, missing or old key; "auto" is judged by who reads the file."""
        config = document.value
        yield from key_findings(self._all_releases, config, context)
        for member in document.root.members:
            for error in self._errors(member, document.text[member.node.start : member.node.end]):
                yield from self._translate(member.key, error, config, context)
        yield from self._autos(document, context)

    def forget(self) -> None:
        """Drop what is remembered of earlier documents: for measuring."""
        self._known.clear()

    def _errors(self, member: Member, literal: str) -> tuple[ValidationError, ...]:
        """The misfits of one top-level value. Remembered by its text: a keystroke changes one block of many."""
        if member.key not in self._validators:
            return ()
        known = self._known.get((member.key, literal))
        if known is None:
            known = tuple(self._validators[member.key].iter_errors(member.node.value))
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            if len(literal) <= _LONGEST_REMEMBERED:
                self._known[member.key, literal] = known
        return known

    def _translate(
        self, key: str, error: ValidationError, config: Mapping[str, Any], context: Context
    ) -> Iterator[Finding]:
        if error.validator == "anyOf" and isinstance(error.instance, dict):
            branch = [e for e in error.context or () if e.schema_path and e.schema_path[0] == 0]
            for inner in branch:
                yield from self._translate(key, inner, config, context)
        elif error.validator != "additionalProperties" and error.instance != "auto":
            pointer = join((key, *error.absolute_path))
            if error.instance is not None or pointer not in _NULL_IS_NONE:
                yield self._misfit(pointer, error, config, context)

    def _misfit(self, pointer: str, error: ValidationError, config: Mapping[str, Any], context: Context) -> Finding:
        field = self._schema.field(pointer)
        seen = _shortened(json_text(error.instance))
        if field is None:  # inside a list, say
            return found(Severity.ERROR, pointer, "DS001.inside", key=dotted(pointer), seen=seen, problem=error.message)
        severity, code, more = self._weight(field, error.instance, config)
        meant = self._meant(field, error.instance) if severity is not Severity.NOTE else ""
        has_default = field.default not in (MISSING, None)
        misfit = found(
            severity,
            pointer,
            code,
            advice=_ADVICE[bool(meant), has_default],
            fix=Fix.of("write", Change(pointer, meant), value=meant) if meant else None,
            source="deepspeed/runtime/config.py",
            key=field.key,
            seen=seen,
            expected=_expected(field, context),
            default=_shortened(json.dumps(None if field.default is MISSING else field.default)),
            more=more,
            meant=meant,
        )
        return misfit if severity is Severity.NOTE or meant else replace(misfit, choices=_choices(field))

    def _meant(self, field: Field, value: Any) -> str:
        """What a text says that would fit without its quotes."""
        literal, node = meant_literal(value), self._schema.node(field.pointer)
        return literal if literal and node and Draft202012Validator(node).is_valid(json.loads(literal)) else ""

    def _weight(self, field: Field, value: Any, config: Mapping[str, Any]) -> tuple[Severity, str, str]:
        """How bad a misfit is, what is said of it, and a word of that: pydantic blocks convert some texts, raw booleans
        take any text for true."""
        if (field.model == "pydantic" or field.pointer in _READ_ANYWAY) and self._fits_converted(field, value):
            return Severity.NOTE, "DS001.converted", ""
        if field.model == "raw" and field.kind is FieldKind.BOOLEAN:
            if field.pointer in _STRICT_RAW_BOOLEANS and not isinstance(value, int):
                return Severity.ERROR, "DS001.misfit", ""
            return Severity.WARNING, "DS001.taken_for", "true" if value else "false"
        idle = field.active and not field.active.holds(config) and field.pointer not in _READ_ANYWAY
        if field.model == "raw" and field.active and idle:
            return Severity.WARNING, "DS001.not_read", field.active.otherwise
        if _counts_below_zero(field, value):
            return Severity.WARNING, "DS001.counted", str(abs(value))
        if field.model == "raw" and _is_counted(field.pointer) and isinstance(value, bool):
            runs = Draft202012Validator(self._schema.node(field.pointer)).is_valid(int(value))
            return Severity.WARNING if runs else Severity.ERROR, "DS001.counted", str(int(value))
        return Severity.ERROR, "DS001.misfit", ""

    def _fits_converted(self, field: Field, value: Any) -> bool:
        since, node = NEVER_BOOLEAN_SINCE.get(field.pointer, ""), self._schema.node(field.pointer)
        if node is None or (isinstance(value, bool) and since and not self._is_before(since)):
            return False
        seen = converted(field, value, self._is_before(PYDANTIC_2_SINCE))
        return seen is not MISSING and Draft202012Validator(node).is_valid(seen)

    def _is_before(self, release: str) -> bool:
        return version_tuple(self._schema.version) < version_tuple(release)

    def _autos(self, document: Document, context: Context) -> Iterator[Finding]:
        """One finding a key. Natively the first one offers to write the Trainer's values for all of them, unless a
        batch term says “auto”, too: then that is an error (DS012) and offers it."""
        pointers = (pointer for pointer, node in document.nodes if node.value == "auto")
        autos = [finding for pointer in pointers for finding in self._auto(pointer, context)]
        filled = [finding for finding in autos if finding.pointer in FILLED_BY_TRAINER and finding.pointer != STEPS]
        first = min(filled, key=lambda finding: finding.severity.rank, default=None)
        in_batch = any(document.value.get(pointer[1:]) == "auto" for pointer in _BATCH)
        if first is not None and context.integration is Integration.NATIVE and not in_batch:
            autos[autos.index(first)] = replace(first, fix=native_fix(document, context))
        yield from autos

    def _auto(self, pointer: str, context: Context) -> Iterator[Finding]:
        field = self._schema.field(pointer)
        if context.integration is Integration.HF:
            if pointer not in _OVERWRITTEN_BY_HF and (field is None or field.auto != "hf"):
                yield _auto_left_over(pointer, field)
        elif field is not None and pointer not in _BATCH and field.auto != "deepspeed":
            yield _auto_natively(field)


def _auto_left_over(pointer: str, field: Field | None) -> Finding:
    return found(
        Severity.ERROR,
        pointer,
        "DS003.left",
        advice="DS003.default" if field else "DS003.left",
        fix=clearing(pointer),
        source="accelerate/utils/dataclasses.py: DeepSpeedPlugin.deepspeed_config_process",
        key=dotted(pointer),
        name=split(pointer)[-1],
        default=_default(field),
    )


def _auto_natively(field: Field) -> Finding:
    severity, code = Severity.ERROR, "DS003.fails"
    if field.model == "pydantic":
        severity, code = Severity.WARNING, "DS003.dropped"
    elif field.kind is FieldKind.BOOLEAN and field.pointer not in _STRICT_RAW_BOOLEANS:
        severity, code = Severity.WARNING, "DS003.counts_as_true"
    advice = "DS003.write_steps" if field.pointer == STEPS else "DS003.write"
    return found(severity, field.pointer, code, advice=advice, key=field.key, default=_default(field))


def _choices(field: Field) -> tuple[Fix, ...]:
    """Each value that the key takes, where these are few."""
    values: tuple[Any, ...] = field.choices
    if field.kind is FieldKind.BOOLEAN:
        values = (True, False)
    elif field.kind is FieldKind.INTEGER and field.minimum is not None and field.maximum is not None:
        values = tuple(range(math.ceil(field.minimum), math.floor(field.maximum) + 1)[: _MOST_CHOICES + 1])
    if len(values) > _MOST_CHOICES:
        return ()
    literals = [json_text(value) for value in values]
    return tuple(Fix.of("use", Change(field.pointer, literal), value=literal) for literal in literals)


def _expected(field: Field, context: Context) -> Said:
    """“auto” is offered only to the reader that does something with it."""
    fills = {"hf": Integration.HF, "deepspeed": Integration.NATIVE}.get(field.auto)
    return field.expected if fills is context.integration else field.expected_itself


def _default(field: Field | None) -> str | Said:
    return phrase("none") if field is None or field.default is MISSING else json.dumps(field.default)


def _shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
