"""What the HF Trainer passes to DeepSpeed as HTML: the arguments as they were read, and every value with its origin."""

import json
import re
from collections.abc import Sequence
from html import escape

from dsgui.core.config.arguments import TrainingArguments, given
from dsgui.core.config.filling import Origin
from dsgui.core.config.pointer import MISSING, dotted
from dsgui.core.validation.resolve import Resolution, Value

_SEAM = re.compile(r"(?<=[._])(?=\w)|(?<=[a-z])(?=[A-Z])")
NATIVELY = (
    "Native DeepSpeed gets the file unchanged, and “auto” is not a valid value there. Choose “HF Trainer” "
    "above to see what the Trainer fills in."
)


def resolution_html(resolution: Resolution, arguments: TrainingArguments | None, devices: str) -> str:
    """What was changed first, then what stays as in the file; DeepSpeed's own defaults on demand."""
    passed = [value for value in resolution.values if value.source.origin is not Origin.DEEPSPEED]
    defaults = [value for value in resolution.values if value.source.origin is Origin.DEEPSPEED]
    stops = {finding.pointer for finding in resolution.findings}
    more = (
        f"<details><summary>{len(defaults)} DeepSpeed defaults for omitted keys</summary>"
        f"{_table(defaults, stops)}</details>"
    )
    return (
        '<div class="ds-findings"><p class="ds-verdict ds-plain">What DeepSpeed gets from the HF Trainer on '
        f"{escape(devices)}</p>{_read(arguments)}{_stopped(len(resolution.findings))}"
        f"{_table(passed, stops)}{more if defaults else ''}</div>"
    )


def natively_html() -> str:
    """For a config that nobody fills in."""
    return f'<div class="ds-findings"><p class="ds-verdict ds-plain">{NATIVELY}</p></div>'


def _read(arguments: TrainingArguments | None) -> str:
    if arguments is None:
        return (
            '<p class="ds-subject">No arguments given: these are the Trainer’s defaults, and the findings don’t '
            "take them into account.</p>"
        )
    words = [f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in given(arguments).items()]
    shown = " · ".join(f"<code>{escape(word)}</code>" for word in words) or "nothing that reaches DeepSpeed"
    problems = "".join(f'<p class="ds-finding ds-error">{escape(str(problem))}</p>' for problem in arguments.problems)
    return f'<p class="ds-subject ds-read">Read: {shown}. Everything else is the Trainer’s default.</p>{problems}'


def _stopped(count: int) -> str:
    if not count:
        return ""
    problems = "an error" if count == 1 else f"{count} errors"
    return f'<p class="ds-finding ds-error">The Trainer stops first with {problems}; see the findings.</p>'


def _table(values: Sequence[Value], stops: set[str]) -> str:
    rows = "".join(_row(value, value.pointer in stops) for value in values)
    return (
        '<table class="ds-compare ds-resolved"><thead><tr><th scope="col">Key</th><th scope="col">Value</th>'
        f'<th scope="col">From</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _row(value: Value, stops: bool) -> str:
    changed = ' data-kind="changed"' if value.is_changed else ""
    mark = '<span class="ds-unit ds-stops">stops here</span>' if stops else _was(value)
    detail = f'<span class="ds-unit">{_breakable(value.source.detail)}</span>' if value.source.detail else ""
    return (
        f'<tr{changed}><th scope="row">{_breakable(dotted(value.pointer))}{mark}</th>'
        f"<td><code>{escape(value.text)}</code></td><td>{_breakable(value.source.origin.value)}{detail}</td></tr>"
    )


def _breakable(name: str) -> str:
    """A key or class name that breaks between its words in a narrow column."""
    return _SEAM.sub("<wbr>", escape(name))


def _was(value: Value) -> str:
    """What the file says in its place, where that is something else."""
    if not value.is_changed:
        return ""
    said = "not in the file" if value.was is MISSING else f"{json.dumps(value.was, ensure_ascii=False)} in the file"
    return f'<span class="ds-unit">{escape(said)}</span>'
