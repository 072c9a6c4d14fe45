"""The HF Trainer's arguments as a script's code or a file gives them, with the places where they stand."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dsgui.core.config.arguments import EVERY_NAME, TrainingArguments, from_mapping, with_defaults
from dsgui.core.script.command_line import UNSET
from dsgui.core.script.in_a_run.made import Made
from dsgui.core.script.in_a_run.worth import Values
from dsgui.core.texts.saying import Said, said


def in_line(file: str, line: int) -> Said:
    """`train.py, line 12`."""
    return said("arguments", "in_line", file=file, line=str(line))


def arguments_in_code(
    made: Made,
    defaults: Mapping[str, Any] | None,
    values: Values,
    script: str,
    changed: frozenset[str] = frozenset(),
) -> TrainingArguments:
    """Those of `TrainingArguments(…)` in the file `script`. `defaults` are its class's, None where they are not
    known; `changed`: what the script may set afterwards."""
    worths = {one.name: UNSET if one.name in changed else values.value(one.expression) for one in made.settings}
    known = {name: value for name, value in worths.items() if value is not UNSET}
    of_class = EVERY_NAME if defaults is None or not made.whole else frozenset()
    every = with_defaults(defaults or {}, unknown=of_class)
    every = every.overlaid(from_mapping({name: value for name, value in known.items() if name in EVERY_NAME}))
    unknown = (changed | of_class | (worths.keys() & EVERY_NAME)) - known.keys()
    every = with_bf16(replace(every, unknown=every.unknown | unknown), defaults, unknown)
    places = tuple((one.name, in_line(script, one.line)) for one in made.settings)
    return replace(every, places=places, made_at=in_line(script, made.line))


def arguments_of_file(
    values: Mapping[str, Any], lines: Mapping[str, int], path: str, defaults: Mapping[str, Any] | None
) -> TrainingArguments:
    """Those of a file that is read with the classes of `defaults`, instead of a command line."""
    every = with_defaults(defaults or {}, unknown=EVERY_NAME if defaults is None else frozenset())
    every = with_bf16(every.overlaid(placed(from_mapping(values), lines, path)), defaults)
    return replace(every, made_at=said("arguments", "in_file", file=path))


def with_bf16(
    every: TrainingArguments, defaults: Mapping[str, Any] | None, unknown: frozenset[str] = frozenset()
) -> TrainingArguments:
    """trl/trainer/base_config.py: bf16 is on where neither it nor fp16 is said. `unknown`: of which it is not known
    whether they are said."""
    by_class = defaults is not None and defaults.get("bf16", UNSET) is None and "bf16" in every.unknown
    if not by_class or "fp16" in every.unknown or "bf16" in unknown:
        return every
    return replace(every, bf16=not every.fp16, unknown=every.unknown - {"bf16"})


def placed(arguments: TrainingArguments, lines: Mapping[str, int], path: str) -> TrainingArguments:
    """The same with the places where the file has them."""
    found = ((name, lines[name]) for name in sorted(arguments.given) if name in lines)
    return replace(arguments, places=tuple((name, in_line(path, line)) for name, line in found))
