"""Findings about each value by itself: types, ranges, and "auto" where it means nothing. Names are `keys.py`'s."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from dsgui.core.config.context import Context, Integration, version_tuple
from dsgui.core.config.conversion import NEVER_BOOLEAN_SINCE, PYDANTIC_2_SINCE, converted
from dsgui.core.config.document import Document, Member, json_text
from dsgui.core.config.filling import FILLED_BY_TRAINER, STEPS
from dsgui.core.config.findings import Finding, Severity
from dsgui.core.config.outputs import native_fix
from dsgui.core.config.pointer import MISSING, dotted, join, split
from dsgui.core.config.schema import Field, FieldKind, Schema
from dsgui.core.rules.base import clearing
from dsgui.core.rules.keys import key_findings

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
# accelerate writes its own value over these before it looks for an "auto" that is left.
_OVERWRITTEN_BY_HF = {"/steps_per_print"}


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
            yield self._misfit(join((key, *error.absolute_path)), error, config, context)

    def _misfit(self, pointer: str, error: ValidationError, config: Mapping[str, Any], context: Context) -> Finding:
        field = self._schema.field(pointer)
        seen = _shortened(json_text(error.instance))
        if field is None:  # inside a list, say
            message = f"{dotted(pointer)}: {seen} does not fit: {error.message}."
            return Finding("DS001", Severity.ERROR, pointer, message)
        severity, consequence = self._weight(field, error.instance, config)
        return Finding(
            "DS001",
            severity,
            pointer,
            f"{field.key}: {seen} is not {_expected(field, context)}.{consequence}",
            _advice(field),
            None,
            "deepspeed/runtime/config.py",
        )

    def _weight(self, field: Field, value: Any, config: Mapping[str, Any]) -> tuple[Severity, str]:
        """How bad a misfit is: pydantic blocks convert some texts, raw booleans take any text for true."""
        if (field.model == "pydantic" or field.pointer in _READ_ANYWAY) and self._fits_converted(field, value):
            return Severity.NOTE, " DeepSpeed converts it."
        if field.model == "raw" and field.kind is FieldKind.BOOLEAN:
            strict = field.pointer in _STRICT_RAW_BOOLEANS and not isinstance(value, int)
            return (Severity.ERROR, "") if strict else (Severity.WARNING, _taken_for(value))
        idle = field.active and not field.active.holds(config) and field.pointer not in _READ_ANYWAY
        if field.model == "raw" and field.active and idle:
            return Severity.WARNING, f" It is not read now. {field.active.otherwise}"
        if field.model == "raw" and field.pointer.count("/") == 1 and isinstance(value, bool):
            runs = Draft202012Validator(self._schema.node(field.pointer)).is_valid(int(value))
            return Severity.WARNING if runs else Severity.ERROR, f" DeepSpeed counts it as {int(value)}."
        return Severity.ERROR, ""

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
        found = [finding for pointer in pointers for finding in self._auto(pointer, context)]
        filled = [finding for finding in found if finding.pointer in FILLED_BY_TRAINER and finding.pointer != STEPS]
        first = min(filled, key=lambda finding: finding.severity.rank, default=None)
        in_batch = any(document.value.get(pointer[1:]) == "auto" for pointer in _BATCH)
        if first is not None and context.integration is Integration.NATIVE and not in_batch:
            found[found.index(first)] = replace(first, fix=native_fix(document, context))
        yield from found

    def _auto(self, pointer: str, context: Context) -> Iterator[Finding]:
        field = self._schema.field(pointer)
        if context.integration is Integration.HF:
            if pointer not in _OVERWRITTEN_BY_HF and (field is None or field.auto != "hf"):
                yield _auto_left_over(pointer, field)
        elif field is not None and pointer not in _BATCH and field.auto != "deepspeed":
            yield _auto_natively(field)


def _auto_left_over(pointer: str, field: Field | None) -> Finding:
    return Finding(
        "DS003",
        Severity.ERROR,
        pointer,
        f"{dotted(pointer)}: the HF Trainer does not fill “auto” here, and accelerate stops with "
        f"“`{split(pointer)[-1]}` not found in kwargs”.",
        "Write a value, or clear it" + (f" for the default {_default(field)}." if field else "."),
        clearing(pointer),
        "accelerate/utils/dataclasses.py: DeepSpeedPlugin.deepspeed_config_process",
    )


def _auto_natively(field: Field) -> Finding:
    if field.model == "pydantic":
        severity, what = Severity.WARNING, f"native DeepSpeed drops “auto” and uses its default, {_default(field)}"
    elif field.kind is FieldKind.BOOLEAN and field.pointer not in _STRICT_RAW_BOOLEANS:
        severity, what = Severity.WARNING, "“auto” is filled by the HF Trainer only; natively any text counts as true"
    else:
        severity, what = Severity.ERROR, "“auto” is filled by the HF Trainer only; native DeepSpeed fails on the text"
    advice = "Write the number of steps that the run takes" if field.pointer == STEPS else "Write a value"
    return Finding("DS003", severity, field.pointer, f"{field.key}: {what}.", f"{advice}, or choose “HF Trainer”.")


def _expected(field: Field, context: Context) -> str:
    """“auto” is offered only to the reader that does something with it."""
    fills = {"hf": Integration.HF, "deepspeed": Integration.NATIVE}.get(field.auto)
    return field.expected if fills is context.integration else field.expected_itself


def _taken_for(value: Any) -> str:
    return f" DeepSpeed takes it for {'true' if value else 'false'}."


def _default(field: Field | None) -> str:
    return "none" if field is None or field.default is MISSING else json.dumps(field.default)


def _advice(field: Field) -> str:
    if field.default is MISSING or field.default is None:
        return "Correct it, or clear the field."
    return f"Correct it, or clear the field for DeepSpeed's default, {_shortened(json.dumps(field.default))}."


def _shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
