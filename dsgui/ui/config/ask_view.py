"""The answer of the real DeepSpeed as HTML, beside what dsgui's rules say. Everything is escaped."""

from dataclasses import replace
from html import escape

from dsgui.core.config.findings import Finding
from dsgui.core.oracle.agreement import Merged, contradiction, is_accepted, judge_named, remarks
from dsgui.core.oracle.answers import FILL, INITIALIZE, PARSE, READ, STEP, Answer, Asking, Judge, Verdict
from dsgui.ui.common.findings_view import finding_item, prose, sendable

_NOW = {
    "starting": "starting Python in the training environment and importing DeepSpeed",
    READ: "reading the config",
    FILL: "letting the HF Trainer fill it in",
    PARSE: "parsing the config",
    INITIALIZE: "initializing a tiny model",
    STEP: "taking two training steps",
}
_REFUSED_AT = {
    READ: "when it reads the file",
    PARSE: "when it parses it",
    INITIALIZE: "at deepspeed.initialize",
    STEP: "at the first training steps",
}
_STALE = "Outdated: the config changed since. Ask again."


def working_html(asking: Asking, seconds: float) -> str:
    """While the answer is on its way."""
    doing = f'<p class="ds-subject">{escape(asking.doing)}</p>' if asking.doing else ""
    now = escape(_NOW.get(asking.stage, asking.stage))
    return _panel(
        f'<p class="ds-verdict ds-plain" role="status">Asking DeepSpeed… {seconds:.0f} s</p>'
        f'<p class="ds-subject">Now: {now}. The page stays usable.</p>{doing}'
    )


def problem_html(problem: str) -> str:
    """Why DeepSpeed could not be asked."""
    return _panel(
        '<p class="ds-verdict ds-warning" role="status">DeepSpeed was not asked</p>'
        f'<ul><li class="ds-finding ds-warning"><p>{escape(problem)}</p></li></ul>'
    )


def answer_html(answer: Answer, merged: Merged, stale: bool) -> str:
    """What DeepSpeed did with the config, and where dsgui's rules differ from it."""
    items = [
        *(finding_item(f) for f in merged.missed),
        *(_confirmed(answer, f) for f in merged.confirmed[:1]),
        *(finding_item(contradiction(f, answer)) for f in merged.contradicted),
        *(_note("Not tested", text) for text in answer.not_tried),
        *(_note("How", text) for text in remarks(answer, replace(merged, confirmed=()))),
        *(_note("With", text) for text in _arguments(answer)),
    ]
    old = f'<p class="ds-stale" role="status">{_STALE}</p>' if stale else ""
    return sendable(_panel(f"{old}{_headline(answer)}<ul>{''.join(items)}</ul>", stale))


def _headline(answer: Answer) -> str:
    name, kind = f"DeepSpeed {answer.release}", "ds-ok"
    said = f"{name} accepts this" if is_accepted(answer) else f"{name} accepts this as far as it could be tested"
    if refusal := answer.refusal:
        kind, said = "ds-error", f"{judge_named(answer)} {_refused_at(answer, refusal.stage)}"
    elif answer.verdict is Verdict.NOT_TRIED:
        kind, said = "ds-warning", f"{name}could not test this"
    return (
        f'<p class="ds-verdict {kind}" role="status">{escape(said)}</p>'
        f'<p class="ds-subject">The real DeepSpeed: {escape(answer.did)}</p>'
    )


def _refused_at(answer: Answer, stage: str) -> str:
    before = stage == FILL or answer.judge is not Judge.DEEPSPEED
    return "stops before it reaches DeepSpeed" if before else f"refuses this {_REFUSED_AT.get(stage, '')}"


def _confirmed(answer: Answer, finding: Finding) -> str:
    """DeepSpeed's own words for what the findings say already."""
    raised = answer.refusal.raised if answer.refusal else None
    if raised is None:
        return ""
    return (
        f'<li class="ds-finding ds-error"><p><code class="ds-said">{escape(raised.text)}</code></p>'
        f'<p class="ds-advice">{escape(raised.source)} · dsgui’s rules agree ({escape(finding.rule)}).</p></li>'
    )


def _note(word: str, text: str) -> str:
    return f'<li class="ds-finding ds-note"><p><span class="ds-word">{word}</span> {prose(text)}</p></li>'


def _arguments(answer: Answer) -> tuple[str, ...]:
    made_up = dict(answer.trials[0].arguments)
    if not made_up:
        return ()
    options = " ".join(_option(name, value) for name, value in sorted(made_up.items()) if value is not False)
    return (f"No TrainingArguments were given; these fit the file: {options}",)


def _option(name: str, value: object) -> str:
    return f"--{name}" if value is True else f"--{name} {value}"


def _panel(body: str, stale: bool = False) -> str:
    return f'<div class="ds-findings{" ds-old" if stale else ""}">{body}</div>'
