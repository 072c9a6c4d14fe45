"""What is found about a config whose keys the script writes itself before DeepSpeed gets it: what stands there in the
file does not count, and “auto” is filled by nobody else."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from dsgui.core.config.context import Integration
from dsgui.core.config.findings import Finding, Severity
from dsgui.core.config.pointer import MISSING, dotted, lookup
from dsgui.core.launch.handing import own_config
from dsgui.core.preflight.surroundings import Launch, Surroundings
from dsgui.core.rules.base import ACCUMULATION, MICRO, TRAIN, advised
from dsgui.core.script.config_calls import Caller
from dsgui.core.script.in_a_run.config_sets import Filling, filling

_TERMS = (TRAIN, MICRO, ACCUMULATION)
# The advice that names the HF Trainer, which is none for a script with a loop of its own.
_NUMBER = {"DS003.write": "DS003.number", "DS003.write_steps": "DS003.number_steps", "DS012.natively": "DS003.number"}


Filler = Callable[[Mapping[str, Any]], Filling]


def filled_by(around: Surroundings, launch: Launch) -> Filler | None:
    """Tells what a script writes into a config that it reads; None for one that does not call `deepspeed.initialize`
    itself."""
    loops = any(call.caller is Caller.ENGINE for call in around.script.config_calls)
    if not loops or launch.reader is not Integration.NATIVE:
        return None
    handed = launch.config_argument.by_itself and own_config(around.script) is not None
    return partial(filling, around.script.config_sets if handed else (), around.values(launch))


def as_filled(findings: Iterable[Finding], by: Filling | None) -> Iterator[Finding]:
    """The findings of a config that is filled so: those about what the script writes are none, and what it may write
    is no error for sure."""
    for finding in findings:
        if by is None:
            yield finding
        elif not _line(finding, by.line_of):
            yield _of_loop(finding, by)


def keys_filled(config: Mapping[str, Any], by: Filling | None) -> tuple[tuple[str, int], ...]:
    """Those of the config's own keys that the script writes, with their lines."""
    found = sorted(by.lines.items(), key=lambda one: one[1]) if by else ()
    return tuple((dotted(pointer), line) for pointer, line in found if lookup(config, pointer) is not MISSING)


def _line(finding: Finding, line_of: Callable[[str], int]) -> int:
    """Of the batch terms each counts for all three."""
    if finding.pointer in _TERMS and finding.severity is not Severity.NOTE and finding.rule != "DS012":
        return next(filter(None, map(line_of, (finding.pointer, *_TERMS))), 0)
    return line_of(finding.pointer)


def _named_with(finding: Finding, by: Filling) -> int:
    """The line of another key that it names, or of one within its own: "fp16.enabled and bf16.enabled are both on"."""
    says = str(finding.says)
    for pointer, line in {**by.may, **by.lines}.items():
        name = dotted(pointer)
        if pointer.startswith(f"{finding.pointer}/"):
            return line
        if name in says and re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", says):
            return line
    return 0


def _of_loop(finding: Finding, by: Filling) -> Finding:
    instead = {one.code: _NUMBER[one.code] for one in finding.advises if one.code in _NUMBER}
    advises = tuple(advised(instead[one.code]) if one.code in instead else one for one in finding.advises)
    advises = advises if advises or finding.rule != "DS012" else (advised("DS003.number"),)
    line = _line(finding, by.may_be_at) or _named_with(finding, by) or by.perhaps
    if line and finding.severity is Severity.ERROR:
        more = advised("DS003.perhaps_filled" if instead else "DS003.perhaps_changed", line=str(line))
        return replace(finding, severity=Severity.WARNING, advises=(more, *advises))
    return replace(finding, advises=advises)
