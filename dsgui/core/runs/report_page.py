"""A report of runs as one HTML file that needs nothing else: no server, no network. Everything in it is escaped, and
its Content-Security-Policy lets nothing be loaded and no script run but its own two."""

import base64
import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Context
from html import escape
from typing import Any

from dsgui.core.config.pointer import dotted
from dsgui.core.launch.state import RunState
from dsgui.core.metrics.chart_table import COLOURS
from dsgui.core.metrics.evaluations import evaluation_rows
from dsgui.core.metrics.performance import Figures
from dsgui.core.metrics.points import figure, number_to_json
from dsgui.core.runs.meaning import WHAT_TRAINS
from dsgui.core.runs.report_charts import Chart, Single
from dsgui.core.runs.run_settings import Section, Setting, scores_compare, unlike, why_unlike
from dsgui.core.sizes import beside, gib
from dsgui.core.texts.durations import duration
from dsgui.core.texts.languages import spoken
from dsgui.core.texts.saying import listed, words

_LAST_LINES = 25  # of the output, shown at once
_MOST_DIFFERENCES = 300
_CAME_TO_AN_END = (RunState.SUCCEEDED.value, RunState.ELSEWHERE.value)
_WHOLE = ("final_loss", "best_loss", "steps", "duration")
_DIFFERENCES_SHOWN, _NEARLY = 6, 2  # at once, before the curves; so many more are shown too
_TWO_DIGITS = 9.95  # from there on whole percents and times
_LEAST_PERCENT = 0.1  # below it two figures are the same
_PARTS = re.compile(r"(?<=[-_])(?=.)|(?<=.)(?=\.[^.\s]{5})")
DASHES = ("", "8 4", "2 3", "8 3 2 3", "14 5")


@dataclass(frozen=True, slots=True)
class Reported:
    """One run as it is told to others: every text without secrets, under a name that no other run of the report has.
    Times are written as they are shown. `facts` are rows of name and text, `more_facts` those that are folded;
    `no_loss` says why there is no curve of its loss."""

    run_id: str
    name: str
    state: str
    reason: str
    command: str
    config_text: str
    facts: Sequence[tuple[str, str]]
    figures: Figures
    more_facts: Sequence[tuple[str, str]] = ()
    no_loss: str = ""
    output: str = ""
    diagnosis: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Assets:
    """The page's own scripts and style; `plotly` is plotly.js. A page without curves is small: it has no `fonts`."""

    plotly: str
    script: str
    style: str
    fonts: str = ""


@dataclass(frozen=True, slots=True)
class Undrawn:
    """What of the curves has no chart: `why` in a sentence, "" where each has one, and single values."""

    why: str = ""
    singles: Sequence[Single] = ()


def report_html(
    runs: Sequence[Reported],
    charts: Sequence[Chart],
    assets: Assets,
    made: str,
    by_time: str = "",
    sections: Sequence[Section] = (),
    baseline: str = "",
    undrawn: Undrawn | None = None,
) -> str:
    """The page. `made` says when and by what; `by_time` why all charts are drawn by time, where they are; `sections`
    how the runs' settings differ; `baseline`: the id of the run that the others' figures are told against;
    `undrawn` is what has no chart."""
    several = len(runs) > 1
    title = words("report_page", "compared", count=str(len(runs))) if several else runs[0].name
    state = "" if several else _state(runs[0])
    shared, apart = _shares_config(runs), unlike(sections)
    body = "".join(
        [
            f"<header><h1>{escape(title)}{state}</h1><p class=made>{escape(made)}</p>{_contents(several)}</header>",
            f"<div class=runs>{''.join(_head(run, _square(place), several) for place, run in enumerate(runs))}</div>",
            f"<section id=figures><h2>{_told('figures')}</h2>{_unlike(sections, runs)}"
            f"{_figures_table(runs, baseline, bool(apart), scores_compare(sections))}"
            "</section>",
            _differences_section(runs, sections),
            _charts_section(charts, runs, by_time, undrawn or Undrawn()),
            "<div id=command></div>",
            _shared_config(runs),
            "".join(_details_section(run, _square(place), several, shared) for place, run in enumerate(runs)),
        ]
    )
    scripts = [_inline(assets.plotly), _inline(assets.script)] if charts else []
    data = f'<script type="application/json" id="charts">{_json(charts)}</script>'
    return (
        f'<!doctype html><html lang="{spoken()}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)} · dsgui</title><style>{assets.fonts * bool(charts)}{assets.style}</style></head>"
        f"<body><main>{body}</main>{data}{''.join(f'<script>{text}</script>' for text in scripts)}</body></html>"
    )


def _contents(several: bool) -> str:
    """Links to its parts: of several runs what differs may be long."""
    parts = ("figures", *(("differences",) * several), "curves", "command")
    links = " · ".join(f"<a href=#{one}>{_told(one)}</a>" for one in parts)
    return f"<nav class=ways aria-label='{_told('contents')}'>{links}</nav>"


def _policy(scripts: Sequence[str]) -> str:
    hashes = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts)
    allowed = " ".join(f"'sha256-{one}'" for one in hashes) or "'none'"
    # Plotly sets styles, and draws to data: and blob: for its “download as an image”.
    data = "style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
    return f"default-src 'none'; script-src {allowed}; {data}; base-uri 'none'"


def _inline(script: str) -> str:
    """What no parser takes for the script's end."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _json(value: Any) -> str:
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))  # ASCII
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _told(code: str, **given: str) -> str:
    """A text of the report, for HTML."""
    return escape(words("report_page", code, **given))


# --- a run ------------------------------------------------------------------------------------------------------------


def _state(run: Reported) -> str:
    return f" <span class='state {escape(run.state)}'>{escape(words('states', run.state))}</span>"


def _square(run: int) -> str:
    """The colour of a run's curves, beside its name."""
    drawn = f'class="square line-{run % len(COLOURS)}" width="10" height="10" aria-hidden="true"'
    return f'<svg {drawn}><path d="M0 5h10"/></svg>'


def _head(run: Reported, square: str, named: bool) -> str:
    facts, more = (f"<dl>{''.join(map(_fact, rows))}</dl>" for rows in (run.facts, run.more_facts))
    folded = f"<details class=more><summary>{_told('more_facts')}</summary>{more}</details>" if run.more_facts else ""
    reason = f"<p>{escape(run.reason)}</p>" if run.reason else ""
    head = f"<h2>{square}{escape(run.name)}{_state(run)}</h2>" if named else ""
    return f"<section>{head}{reason}{_diagnosis(run.diagnosis)}{facts}{folded}</section>"


def _fact(row: tuple[str, str]) -> str:
    return f"<div><dt>{escape(row[0])}</dt><dd>{escape(row[1])}</dd></div>"


def _diagnosis(told: Mapping[str, Any]) -> str:
    if not told:
        return ""
    advice = "".join(f"<li>{escape(str(one))}</li>" for one in told.get("advice", ()))
    rank = f" (rank {told['rank']})" if told.get("rank") is not None else ""
    traceback = str(told.get("traceback") or "")
    rows = "".join(_fact((str(one["name"]), str(one["value"]))) for one in told.get("facts", ()))
    facts = f"<dl>{rows}</dl>" if rows else ""
    cause = " ".join(map(str, told.get("cause", ())))
    told_cause = f"<p>{escape(cause)}</p>" if cause else ""
    more = f"<details><summary>{_told('traceback')}</summary><pre>{escape(traceback)}</pre></details>"
    return (
        f"<div class=diagnosis><h3>{escape(str(told.get('title', '')))}{escape(rank)}</h3>"
        f"<p>{escape(str(told.get('meaning', '')))}</p>{told_cause}{facts}"
        f"{f'<ul>{advice}</ul>' if advice else ''}{more if traceback else ''}</div>"
    )


def _shares_config(runs: Sequence[Reported]) -> bool:
    return len(runs) > 1 and len({run.config_text for run in runs}) == 1


def _shared_config(runs: Sequence[Reported]) -> str:
    """The config of several runs that have the same."""
    text = runs[0].config_text if _shares_config(runs) else ""
    told = f"<h2>{_told('config')} · {_told('all_runs')}</h2><pre>{escape(text)}</pre>"
    return f"<section>{told}</section>" if text else ""


def _details_section(run: Reported, square: str, named: bool, shared: bool) -> str:
    """`shared`: the config is told once, of all."""
    of = f" · {square}{escape(run.name)}" if named else ""
    command = f"<h2>{_told('command')}{of}</h2><pre class=wraps>{escape(run.command)}</pre>" if run.command else ""
    text = "" if shared else run.config_text
    config = f"<h2>{_told('config')}{of}</h2><pre>{escape(text)}</pre>" if text else ""
    told = f"{command}{config}{_output(run, of)}"
    return f"<section>{told}</section>" if told else ""


def _output(run: Reported, of: str) -> str:
    """Its last lines; those before are folded."""
    if not run.output:
        return ""
    lines = run.output.splitlines()
    before, last = lines[:-_LAST_LINES], lines[-_LAST_LINES:]
    summary = words("report_page", "earlier", count=str(len(before)))
    told = "\n".join(map(escape, before))
    earlier = f"<details><summary>{escape(summary)}</summary><pre class=wraps>{told}</pre></details>" if before else ""
    return f"<h2>{_told('output')}{of}</h2>{earlier}<pre class=wraps>{escape(chr(10).join(last))}</pre>"


# --- figures ----------------------------------------------------------------------------------------------------------


Value = float | int | None


@dataclass(frozen=True, slots=True)
class _Figure:
    """A row of the table: its name, the value of each run and how it is written; `better`: "more" or "less", where one
    is; `bare`: without how far it is from the baseline's; `whole`: it depends on how far a run came."""

    name: str
    values: Sequence[Value]
    shown: Sequence[str]
    better: str = ""
    bare: bool = False
    whole: bool = False


def _unlike(sections: Sequence[Section], runs: Sequence[Reported]) -> str:
    why = why_unlike(sections, any(run.figures.scores for run in runs), [run.name for run in runs])
    return f"<p class=made>{escape(why)}</p>" if why else ""


def _figures_table(runs: Sequence[Reported], baseline: str, apart: bool, scores: bool) -> str:
    """`apart`: whether what trains is another: neither a loss nor a speed is then better than another; `scores`:
    whether a score may be."""
    figures = [run.figures for run in runs]

    def of(code: str, values: Sequence[Value], shown: Callable[[Any], str] = _number, better: str = "") -> _Figure:
        told = _Figure(words("report_page", code), values, [*map(shown, values)], better, whole=code in _WHOLE)
        return replace(told, better="", bare=True) if apart else told

    def less(row: _Figure) -> _Figure:
        """Of memory, which is told of other trainings as well."""
        return row if apart else replace(row, better="less")

    rows = [
        of("final_loss", [one.final_loss for one in figures], better="less"),
        of("best_loss", [one.best_loss for one in figures], better="less"),
        *(
            _Figure(row.name, row.values, [*map(_number, row.values)], row.better, apart and not row.better, whole=True)
            for row in evaluation_rows(figures, not apart, scores)
        ),
        *_spikes(figures),
        of("steps", [one.steps for one in figures]),
        of("steps_a_second", [one.steps_per_second for one in figures], better="more"),
        of("samples_a_second", [one.samples_per_second for one in figures], better="more"),
        of("tokens_a_second", [one.tokens_per_second for one in figures], better="more"),
        of("duration", [one.duration_s for one in figures], duration),
        *map(less, _memory_rows(figures)),
    ]
    base = next((place for place, run in enumerate(runs) if run.run_id == baseline), None) if len(runs) > 1 else None
    remark = words("compare_page", "baseline")
    heads = "".join(
        _column(run.name, _square(place), remark if place == base else "") for place, run in enumerate(runs)
    )
    head = f"<thead><tr><td></td>{heads}</tr></thead>"
    short = [base is not None and _is_short(run, runs[base]) for run in runs]
    shown = [(row.name, _cells(row, base, short)) for row in rows if any(one != "–" for one in row.shown)]
    if len(runs) == 1:
        return _alone(shown)
    return f"{_table(len(runs), 'figures')}{head}<tbody>{''.join(_row(*one) for one in shown)}</tbody></table></div>"


def _spikes(figures: Sequence[Figures]) -> list[_Figure]:
    """Where a loss has spikes; nothing where none has."""
    if not any(one.loss_spike for one in figures):
        return []
    shown = [_spike(one) for one in figures]
    return [_Figure(words("compare_page", "loss_spike"), [None for _ in figures], shown, bare=True)]


def _spike(one: Figures) -> str:
    if one.loss_spike is None:
        return "–" if one.final_loss is None else words("compare_page", "no_spike")
    found = one.loss_spike
    given = {"step": f"{found.step:.15g}", "value": _number(found.value)}
    if found.count > 1:
        return words("compare_page", "spikes_at", count=str(found.count), **given)
    return words("compare_page", "spike_at", **given)


def _alone(rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """The figures of one run. Their roles are told: what is laid out as no table loses them in some browsers."""
    cells = "".join(
        f"<tr role=row><th scope=row role=rowheader>{escape(name)}</th><td role=cell>{''.join(told)}</td></tr>"
        for name, told in rows
    )
    return f"{_table(1, 'alone role=table')}<tbody role=rowgroup>{cells}</tbody></table></div>"


def _is_short(run: Reported, base: Reported) -> bool:
    """Whether it is not known that the two came equally far, and one of them came to no end."""
    is_whole = all(one.state in _CAME_TO_AN_END for one in (run, base))
    is_as_far = base.figures.steps is not None and run.figures.steps == base.figures.steps
    return not is_whole and not is_as_far


def _cells(row: _Figure, base: int | None, short: Sequence[bool]) -> list[str]:
    """`short`: the runs of which what depends on how far they came is not held against the baseline's."""
    if base is None or row.bare:
        return [escape(one) for one in row.shown]
    return [
        escape(shown) + ("" if row.whole and is_short else _away(value, row.values[base], row.better))
        for shown, value, is_short in zip(row.shown, row.values, short, strict=True)
    ]


def _half_up(value: float, digits: int) -> str:
    """As a browser rounds."""
    return f"{float(Context(prec=digits, rounding=ROUND_HALF_UP).create_decimal(value)):.15g}"


def _two_digits(size: float) -> str:
    """Whole from ten on."""
    return _half_up(size, 2) if size < _TWO_DIGITS else f"{int(size + 0.5):,}"


def _away(value: Value, base: Value, better: str) -> str:
    """How far a value is from the baseline's, as a comparison has it (`differenceOf` of
    `ui/static/runs/run_prefs.js`)."""
    if value is None or base is None or not math.isfinite(value) or not math.isfinite(base) or base <= 0:
        return ""
    percent = 100 * (value - base) / base
    if abs(percent) < _LEAST_PERCENT or not math.isfinite(percent):
        return ""
    told, verdict = f"{'−' if percent < 0 else '+'}{_two_digits(abs(percent))} %", ""
    if better:
        verdict = "better" if (percent > 0) == (better == "more") else "worse"
        told = words("compare_page", verdict, difference=told)
    return f" <small class='away {verdict}'>{escape(told)}</small>"


def _memory_rows(figures: Sequence[Figures]) -> list[_Figure]:
    """Of the run on its GPUs, of each GPU, of its processes, and of the host."""
    return [
        _memory(words("report_page", "run_gpu"), [(one.run_gpu_peak_bytes, one.run_gpu_mean_bytes) for one in figures]),
        *_card_rows(figures),
        _memory(words("report_page", "run_memory"), [(one.run_peak_bytes, one.run_mean_bytes) for one in figures]),
        _memory(words("report_page", "host_memory"), [(one.host_peak_bytes, one.host_mean_bytes) for one in figures]),
    ]


def _card_rows(figures: Sequence[Figures]) -> list[_Figure]:
    cards = dict.fromkeys(card for one in figures for card in one.gpu_peak_bytes)
    return [
        _memory(
            words("report_page", "gpu_of" if node else "gpu", **{"gpu": str(index)} | ({"node": node} if node else {})),
            [(one.gpu_peak_bytes.get((node, index)), one.gpu_mean_bytes.get((node, index))) for one in figures],
        )
        for node, index in sorted(cards)
    ]


def _memory(name: str, values: Sequence[tuple[int | None, int | None]]) -> _Figure:
    return _Figure(name, [peak for peak, _ in values], [_two(peak, mean) for peak, mean in values])


def _row(name: str, cells: Sequence[str]) -> str:
    """`cells` are HTML."""
    return f"<tr><th scope=row>{escape(name)}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _table(runs: int, kind: str = "figures") -> str:
    """Where every table begins: the columns of a run are below each other."""
    return f"<div class=scrolls><table class={kind} style='--runs: {runs}'>"


def _column(name: str, square: str, remark: str = "") -> str:
    told = f"<small>{escape(remark)}</small>" if remark else ""
    return f"<th scope=col><span class=name title='{escape(name)}'>{square}{_in_parts(name)}</span>{told}</th>"


def _in_parts(name: str) -> str:
    """A run's name: a line may break after a hyphen or an underscore and before a dot, but for
    an ending's, as in a comparison."""
    return "<wbr>".join(map(escape, _PARTS.split(name)))


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    if not math.isfinite(value):
        return str(number_to_json(value))
    return f"{value:,}" if isinstance(value, int) else figure(value)


def _two(peak: int | None, mean: int | None) -> str:
    return "–" if peak is None or mean is None else f"{beside(peak, mean, 2)} · {gib(mean, 2)}"


# --- what is drawn and what differs -----------------------------------------------------------------------------------


def _charts_section(charts: Sequence[Chart], runs: Sequence[Reported], by_time: str, undrawn: Undrawn) -> str:
    several = len(runs) > 1
    silent = "".join(f"<p>{escape(f'{run.name}: ' * several + run.no_loss)}</p>" for run in runs if run.no_loss)
    singles = _singles(undrawn.singles, several)
    if not charts:
        nothing = "" if singles else f"<p>{_told('no_curves')}</p>"
        return f"<section id=curves><h2>{_told('curves')}</h2>{nothing}{silent}{singles}</section>"
    silent += f"<p>{escape(undrawn.why)}</p>" * bool(undrawn.why) + singles
    drawn = "".join(
        f"<figure><figcaption>{escape(chart['title'])}</figcaption>{_legend(chart, several)}{_beyond(chart)}"
        f"<div class=chart data-chart={place}></div></figure>"
        for place, chart in enumerate(charts)
    )
    return (
        f"<section id=curves><h2>{_told('curves')}</h2>{silent}{_runs_legend(charts) if several else ''}"
        f'<p class=ways data-time="{escape(words("charts_page", "along_time", form="{form}"))}">'
        f"{_ways(by_time, charts)}</p>"
        f"<noscript><p>{_told('javascript')}</p></noscript><div class=charts>{drawn}</div></section>"
    )


def _singles(singles: Sequence[Single], several: bool) -> str:
    """Of several runs each value with its run."""
    if not singles:
        return ""
    found: dict[str, list[str]] = {}
    for one in singles:
        whose = " · ".join(filter(None, (one.run * several, one.what)))
        found.setdefault(one.title, []).append(f"{whose} {one.value}".strip())
    rows = "".join(_fact((title, str(listed(values)))) for title, values in found.items())
    return f"<p>{escape(words('charts_page', 'once'))}</p><dl>{rows}</dl>"


def _beyond(chart: Chart) -> str:
    scale = f"<p class=made>{escape(chart['scale'])}</p>" if chart["scale"] else ""
    return scale + (f"<p class='made beyond'>{escape(chart['beyond'])}</p>" if chart["beyond"] else "")


def _ways(by_time: str, charts: Sequence[Chart]) -> str:
    """The choice of the axis; where there is none, why. Nothing without a time is drawn by time."""
    if by_time:
        return escape(by_time)
    timed = any(at is not None for chart in charts for line in chart["lines"] for at in line["time"])
    options = "".join(f"<option value={way}>{_told(f'by_{way}')}</option>" for way in ("step", "time")[: 1 + timed])
    return f"<label>{_told('axis')} <select id=axis>{options}</select></label>"


def _legend(chart: Chart, several: bool) -> str:
    """What the lines of one chart are: of one run by their colours, of several by their dashes."""
    found = {line["what"]: (line["colour"], line["dash"]) for line in reversed(chart["lines"])}
    if len(found) < 2 and not chart["named"]:
        return ""
    items = (
        _key(what, None if several else colour, _dash(colour, dash, several))
        for what, (colour, dash) in sorted(found.items(), key=lambda one: one[1])
    )
    return f"<ul class=legend>{''.join(items)}</ul>"


def _runs_legend(charts: Sequence[Chart]) -> str:
    found = {line["run"]: line["colour"] for chart in charts for line in chart["lines"]}
    items = (
        _key(run, colour, _dash(colour, 0, False)) for run, colour in sorted(found.items(), key=lambda one: one[1])
    )
    return f"<ul class=legend>{''.join(items)}</ul>"


def _dash(colour: int, dash: int, several: bool) -> str:
    """When the colours begin again, the dashes tell the difference (report.js draws the same)."""
    return DASHES[(dash + (0 if several else colour // len(COLOURS))) % len(DASHES)]


def _key(text: str, colour: int | None, dash: str) -> str:
    """`colour`: its place, which the style sheet has a colour for in light and in dark; None for the text's own."""
    stroke = 'stroke="currentColor"' if colour is None else f'class="line-{colour % len(COLOURS)}"'
    line = f'<line x1="0" x2="30" y1="5" y2="5" {stroke} stroke-width="2.5" stroke-dasharray="{dash}"/>'
    return f'<li><svg width="30" height="10" aria-hidden="true">{line}</svg> {escape(text)}</li>'


def _differences_section(runs: Sequence[Reported], sections: Sequence[Section]) -> str:
    if len(runs) < 2:
        return ""
    first, rest = _parted([section for section in sections if section.differs])
    names = [run.name for run in runs]
    told = "".join(_section(section, names) for section in first)
    if rest:
        count = sum(len(section.settings) for section in rest)
        more = "".join(_section(section, names) for section in rest)
        told += f"<details><summary>{_told('more_differences', count=str(count))}</summary>{more}</details>"
    same = [_named(one) for one in sections if not (one.differs or one.unknown or one.uncertain)]
    unknown = [_named(one) for one in sections if one.unknown]
    notes = (("same", same), ("not_recorded", unknown))
    said = "".join(f"<p>{_told(code, sections=str(listed(names)))}</p>" for code, names in notes if names)
    uncommitted, none = f"<p>{_told('uncommitted')}</p>", f"<p>{_told('same_all')}</p>"
    return (
        f"<section id=differences><h2>{_told('differences')}</h2>{told or none}"
        f"{said}{uncommitted * any(one.uncertain for one in sections)}</section>"
    )


def _parted(sections: Sequence[Section]) -> tuple[list[Section], list[Section]]:
    """What differs: what is told at once, and the rest where that is much, as a comparison folds it away."""
    apart = [replace(one, settings=tuple(setting for setting in one.settings if setting.differs)) for one in sections]
    count = sum(len(one.settings) for one in apart)
    left = _DIFFERENCES_SHOWN if count > _DIFFERENCES_SHOWN + _NEARLY else count
    first = [replace(one, settings=tuple(kept for kept in one.settings if kept.place < left)) for one in apart]
    rest = [replace(one, settings=tuple(kept for kept in one.settings if kept.place >= left)) for one in apart]
    return [one for one in first if one.settings], [one for one in rest if one.settings]


def _named(section: Section) -> str:
    return words("report_page", f"section_{section.code}")


def _section(section: Section, names: Sequence[str]) -> str:
    heads = "".join(_column(name, _square(place)) for place, name in enumerate(names))
    found = section.settings
    body = "".join(_differs(one, section) for one in found[:_MOST_DIFFERENCES])
    more = (
        f"<p>{_told('more', count=str(len(found) - _MOST_DIFFERENCES))}</p>" if len(found) > _MOST_DIFFERENCES else ""
    )
    return (
        f"<h3>{escape(_named(section))}</h3>{_table(len(names), 'keys')}"
        f"<thead><tr><th scope=col>{_told('key')}</th>{heads}</tr></thead><tbody>{body}</tbody></table></div>{more}"
    )


def _differs(setting: Setting, section: Section) -> str:
    coded = section.code in (WHAT_TRAINS, "launch", "code")  # keys that no user named
    named = words("compare_page", f"key_{setting.key}") if coded else setting.key
    key = dotted(setting.key) if section.code == "config" else named
    unknown = words("report_page", "unreadable" if section.code == "config" else "unknown")
    values = (unknown if place in section.unknown else value for place, value in enumerate(setting.values))
    unset, given = words("compare_page", "not_set"), words("report_page", "set")
    cells = "".join(f"<td>{escape(unset if value is None else value or given)}</td>" for value in values)
    return f"<tr><th scope=row>{_breakable(key)}</th>{cells}</tr>"


def _breakable(key: str) -> str:
    """A line may break after a dot or an underscore, not in a word."""
    return re.sub(r"[._]", r"\g<0><wbr>", escape(key))
