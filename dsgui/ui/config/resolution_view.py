"""What the HF Trainer passes to DeepSpeed as HTML: the arguments as they were read, and every value with its origin."""

import json
import re
from collections.abc import Sequence
from html import escape

from dsgui.core.config.arguments import TrainingArguments, given
from dsgui.core.config.filling import Origin
from dsgui.core.config.pointer import MISSING, dotted
from dsgui.core.texts.saying import words
from dsgui.core.validation.resolve import Resolution, Value

_SEAM = re.compile(r"(?<=[._])(?=\w)|(?<=[a-z])(?=[A-Z])")


def resolution_html(resolution: Resolution, arguments: TrainingArguments | None, devices: str) -> str:
    """What was changed first, then what stays as in the file; DeepSpeed's own defaults on demand."""
    passed = [value for value in resolution.values if value.source.origin is not Origin.DEEPSPEED]
    defaults = [value for value in resolution.values if value.source.origin is Origin.DEEPSPEED]
    stops = {finding.pointer for finding in resolution.findings}
    more = (
        f"<details><summary>{words('tools_page', 'omitted', count=str(len(defaults)))}</summary>"
        f"{_table(defaults, stops)}</details>"
    )
    return (
        '<div class="ds-findings"><p class="ds-verdict ds-plain">'
        f"{words('tools_page', 'passed', devices=escape(devices))}</p>"
        f"{_read(arguments)}{_stopped(len(resolution.findings))}"
        f"{_table(passed, stops)}{more if defaults else ''}</div>"
    )


def natively_html() -> str:
    """For a config that nobody fills in."""
    return f'<div class="ds-findings"><p class="ds-verdict ds-plain">{words("tools_page", "natively")}</p></div>'


def _read(arguments: TrainingArguments | None) -> str:
    if arguments is None:
        return f'<p class="ds-subject">{words("tools_page", "no_arguments")}</p>'
    taken = [f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in given(arguments).items()]
    shown = " · ".join(f"<code>{escape(word)}</code>" for word in taken) or words("tools_page", "reaches_nothing")
    problems = "".join(f'<p class="ds-finding ds-error">{escape(str(problem))}</p>' for problem in arguments.problems)
    return f'<p class="ds-subject ds-read">{words("tools_page", "read", arguments=shown)}</p>{problems}'


def _stopped(count: int) -> str:
    if not count:
        return ""
    one = count == 1
    said = words("tools_page", "stops_one") if one else words("tools_page", "stops_many", count=str(count))
    return f'<p class="ds-finding ds-error">{said}</p>'


def _table(values: Sequence[Value], stops: set[str]) -> str:
    rows = "".join(_row(value, value.pointer in stops) for value in values)
    return (
        '<table class="ds-compare ds-resolved"><thead><tr>'
        + "".join(f'<th scope="col">{words("tools_page", head)}</th>' for head in ("key", "value", "from"))
        + f"</tr></thead><tbody>{rows}</tbody></table>"
    )


def _row(value: Value, stops: bool) -> str:
    changed = ' data-kind="changed"' if value.is_changed else ""
    mark = f'<span class="ds-unit ds-stops">{words("tools_page", "stops_here")}</span>' if stops else _was(value)
    detail = f'<span class="ds-unit">{_breakable(value.source.detail)}</span>' if value.source.detail else ""
    return (
        f'<tr{changed}><th scope="row">{_breakable(dotted(value.pointer))}{mark}</th>'
        f"<td><code>{escape(value.text)}</code></td><td>{_breakable(str(value.source.origin.told))}{detail}</td></tr>"
    )


def _breakable(name: str) -> str:
    """A key or class name that breaks between its words in a narrow column."""
    return _SEAM.sub("<wbr>", escape(name))


def _was(value: Value) -> str:
    """What the file says in its place, where that is something else."""
    if not value.is_changed:
        return ""
    said = words("tools_page", "not_in_file")
    if value.was is not MISSING:
        said = words("tools_page", "in_file", value=json.dumps(value.was, ensure_ascii=False))
    return f'<span class="ds-unit">{escape(said)}</span>'
