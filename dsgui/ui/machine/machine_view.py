"""The machine as HTML: what a run would trip over, then every reading. Everything is escaped."""

import re
from collections.abc import Collection, Sequence
from html import escape

from dsgui.core.machine.machine import Machine
from dsgui.core.machine.machine_checks import check
from dsgui.core.machine.machine_report import Group, counted, groups, summary
from dsgui.core.machine.verdicts import Row, Status
from dsgui.core.texts.saying import words
from dsgui.ui.common.findings_view import breakable, prose

_BLANKS = re.compile(r"(\s+)")
_SEGMENTS = re.compile(r"/*[^/]+/*|/+")  # of a word, up to and with each of its slashes
_UNIT, _JOINED = re.compile(r"(?<=\d) (?=[KMGT]i?B\b)"), "\u00a0"  # a number stands with its unit
_KINDS = {Status.PROBLEM: "ds-error", Status.WARNING: "ds-warning", Status.OK: "ds-ok", Status.UNKNOWN: "ds-note"}


def machine_html(machine: Machine, asking: bool) -> str:
    """The page, whose button stands beside its headline; `asking` while the target's answer is awaited."""
    wait = f'<p class="ds-subject" role="status">{words("machine_page", "asking")}</p>' if asking else ""
    return (
        f'<div class="ds-machine">{_checks(check(machine), machine.waiting)}{wait}'
        f'<div class="ds-readings">{"".join(map(_group, groups(machine)))}</div></div>'
    )


def _checks(rows: Sequence[Row], waiting: bool) -> str:
    return rows_html(words("machine_page", "so_far" if waiting else "this_machine", summary=summary(rows)), rows)


def rows_html(said: str, rows: Sequence[Row]) -> str:
    """A headline, what is to be done, and what is fine, folded. `rows`: worst first."""
    told = [row for row in rows if row.status is not Status.OK]
    fine = [row for row in rows if row.status is Status.OK]
    kind = _KINDS[rows[0].status if rows else Status.OK]
    return (
        f'<div class="ds-findings"><p class="ds-verdict {kind}">{escape(said)}</p>'
        f"<ul>{''.join(map(item_html, told))}</ul>{_passed(fine) if fine else ''}</div>"
    )


def _passed(rows: Sequence[Row]) -> str:
    pairs = "".join(_pair(str(row.title), row.seen) for row in rows)
    passed = escape(str(counted(Status.OK, len(rows))))
    return f'<details class="ds-passed"><summary>{passed}</summary><dl class="ds-pairs">{pairs}</dl></details>'


def item_html(row: Row, way: str = "") -> str:
    """`way`: HTML that leads to where it is mended."""
    command = _command(row.command) if row.command else ""
    each = (
        f'<ul class="ds-each">{"".join(f"<li>{prose(str(one))}</li>" for one in row.items)}</ul>' if row.items else ""
    )
    return (
        f'<li class="ds-finding {_KINDS[row.status]}" data-check="{escape(row.check)}">'
        f'<p><span class="ds-word">{_word(row)}</span> {escape(str(row.title))}</p>'
        f'<p>{prose(row.seen)}</p>{each}<p class="ds-advice">{prose(row.advice)}</p>{command}{way}</li>'
    )


def _word(row: Row) -> str:
    """`Problem`, or how many the row stands for: what a headline counts can be counted below it; `11 errors` of one
    config."""
    told = counted(row.status, row.count) if row.count > 1 else row.found or words("machine_page", row.status.value)
    return escape(str(told))


def _command(line: str) -> str:
    """As the Launch page has one (`command_line.js`): it breaks at its blanks, in a path after a slash, and in a name
    that is longer than a line after an underscore. A long one is scrolled, by the keyboard, too."""
    copy = f'<button type="button" class="ds-copy" data-copy>{words("tools_page", "copy")}</button>'
    return f'<div class="ds-to-copy"><pre class="ds-command ds-words" tabindex="0">{_words(line)}</pre>{copy}</div>'


def _words(line: str) -> str:
    return f'<span class="ds-line">{"".join(map(_breaking, _BLANKS.split(line)))}</span>'


def _breaking(text: str) -> str:
    if not text.strip():
        return text
    return "<wbr>".join(f"<span>{_at_underscores(escape(one))}</span>" for one in _SEGMENTS.findall(text))


def _at_underscores(html: str) -> str:
    return re.sub(r"_(?=.)", "_<wbr>", html)


def _group(group: Group) -> str:
    folded = {label for _, labels in group.alike for label in labels}
    told = "".join(
        _pair(label, value, label in group.lacking) for label, value in group.readings if label not in folded
    )
    shown = f'<dl class="ds-pairs">{told}</dl>' if told else ""
    alike = "".join(_alike(group, summary, labels) for summary, labels in group.alike)
    return f"<section><h2>{escape(group.title)}</h2>{shown}{alike}</section>"


def _alike(group: Group, summary: str, labels: Collection[str]) -> str:
    """What is fine and the same in a line, which opens."""
    pairs = "".join(_pair(label, value) for label, value in group.readings if label in labels)
    return f'<details class="ds-passed"><summary>{escape(summary)}</summary><dl class="ds-pairs">{pairs}</dl></details>'


def _pair(label: str, value: str, lacks: bool = False) -> str:
    mark = ' class="ds-lacks"' if lacks else ""
    return f"<dt>{breakable(label)}</dt><dd{mark}>{breakable(_UNIT.sub(_JOINED, value))}</dd>"


def list_html(
    said: str, rows: Sequence[Row], ways: Sequence[str], pressed: Collection[Row] = (), several: str = ""
) -> str:
    """A headline, below it the HTML of what mends `several`, the problems and warnings of `rows` (worst first) open,
    and all of them folded, with those that stand above by their names alone. `ways`: of each row, HTML that mends it or
    leads to where it is mended. `pressed`: what has a button to ask about it, for which it is open where nobody
    answered: next to what stops the start, as what it finds comes before the rest."""
    ways_of = list(zip(rows, ways, strict=True))
    told = sorted((one for one in ways_of if _is_open(one[0], pressed)), key=lambda one: _FIRST.index(one[0].status))
    every = sorted(ways_of, key=lambda one: one[0].status is Status.OK)
    unknown = any(row.status is Status.UNKNOWN for row in rows)  # green is what was checked
    kind = _KINDS[rows[0].status if rows[0].status in _OPEN else Status.UNKNOWN if unknown else Status.OK]
    open_ = "".join(item_html(row, way) for row, way in told)
    marked = "".join(_marked(row, _is_open(row, pressed), way if row in pressed else "") for row, way in every)
    folded = words("launch_page", "all_checks", count=str(len(rows)))
    return (
        f'<p class="ds-verdict {kind}" role="status">{escape(said)}</p>{several}<ul>{open_}</ul>'
        f'<details class="ds-passed"><summary>{escape(folded)}</summary>'
        f'<dl class="ds-pairs">{marked}</dl></details>'
    )


_OPEN = (Status.PROBLEM, Status.WARNING)
_FIRST = (Status.PROBLEM, Status.UNKNOWN, Status.WARNING)  # what stops, what is to be asked, the rest
_MARKS = {Status.PROBLEM: "!", Status.WARNING: "!", Status.OK: "✓", Status.UNKNOWN: "–"}


def _is_open(row: Row, pressed: Collection[Row]) -> bool:
    return row.status in _OPEN or (row in pressed and row.status is Status.UNKNOWN)


def _marked(row: Row, is_open: bool, way: str) -> str:
    """A check and what was seen, with its outcome as a sign that has a name. `is_open`: it stands above."""
    name, kind = escape(words("machine_page", row.status.value)), _KINDS[row.status]
    sign = f'<span class="ds-sign {kind}" role="img" aria-label="{name}">{_MARKS[row.status]}</span>'
    seen = escape(words("launch_page", "told_above")) if is_open else breakable(row.seen) + way
    return f'<dt data-of="{escape(row.check)}">{sign}<span>{breakable(str(row.title))}</span></dt><dd>{seen}</dd>'
