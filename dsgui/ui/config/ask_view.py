"""The answer of the real DeepSpeed as HTML, beside what dsgui's rules say. Everything is escaped."""

from dataclasses import replace
from html import escape

from dsgui.core.config.findings import Finding
from dsgui.core.oracle.agreement import Merged, contradiction, is_accepted, judge_named, remarks
from dsgui.core.oracle.answers import FILL, INITIALIZE, PARSE, READ, STEP, Answer, Asking, Judge, Verdict, doing_told
from dsgui.core.texts.saying import words
from dsgui.ui.common.findings_view import finding_item, prose, sendable

_NOW = {
    "starting": "doing_starting",
    READ: "doing_read",
    FILL: "doing_fill",
    PARSE: "doing_parse",
    INITIALIZE: "doing_initialize",
    STEP: "doing_step",
}
_REFUSED_AT = {
    READ: "refuses_read",
    PARSE: "refuses_parse",
    INITIALIZE: "refuses_initialize",
    STEP: "refuses_step",
}


def working_html(asking: Asking, seconds: float) -> str:
    """While the answer is on its way."""
    doing = f'<p class="ds-subject">{escape(str(doing_told(asking.doing)))}</p>' if asking.doing else ""
    code = _NOW.get(asking.stage)
    now = escape(words("tools_page", code) if code else words("oracle", "waiting"))
    return _panel(
        f'<p class="ds-verdict ds-plain" role="status">{words("tools_page", "asking", seconds=f"{seconds:.0f}")}</p>'
        f'<p class="ds-subject">{words("tools_page", "now", doing=now)}</p>{doing}'
    )


def problem_html(problem: str) -> str:
    """Why DeepSpeed could not be asked."""
    return _panel(
        f'<p class="ds-verdict ds-warning" role="status">{words("tools_page", "not_asked")}</p>'
        f'<ul><li class="ds-finding ds-warning"><p>{escape(problem)}</p></li></ul>'
    )


def answer_html(answer: Answer, merged: Merged, stale: bool) -> str:
    """What DeepSpeed did with the config, and where dsgui's rules differ from it."""
    items = [
        *(finding_item(f) for f in merged.missed),
        *(_confirmed(answer, f) for f in merged.confirmed[:1]),
        *(finding_item(contradiction(f, answer)) for f in merged.contradicted),
        *(_note(words("tools_page", "not_tested"), text) for text in answer.not_tried),
        *(_note(words("tools_page", "how"), text) for text in remarks(answer, replace(merged, confirmed=()))),
        *(_note(words("tools_page", "with"), text) for text in _arguments(answer)),
    ]
    old = f'<p class="ds-stale" role="status">{words("tools_page", "stale")}</p>' if stale else ""
    return sendable(_panel(f"{old}{_headline(answer)}<ul>{''.join(items)}</ul>", stale))


def _headline(answer: Answer) -> str:
    kind, code = "ds-ok", "accepts" if is_accepted(answer) else "accepts_so_far"
    if answer.verdict is Verdict.NOT_TRIED:
        kind, code = "ds-warning", "could_not"
    if refusal := answer.refusal:
        kind, said = "ds-error", words("tools_page", _refused_at(answer, refusal.stage), judge=judge_named(answer))
    else:
        said = words("tools_page", code, release=answer.release)
    return (
        f'<p class="ds-verdict {kind}" role="status">{escape(said)}</p>'
        f'<p class="ds-subject">{escape(words("tools_page", "did", did=answer.did))}</p>'
    )


def _refused_at(answer: Answer, stage: str) -> str:
    before = stage == FILL or answer.judge is not Judge.DEEPSPEED
    return "stops_before" if before else _REFUSED_AT.get(stage, "refuses")


def _confirmed(answer: Answer, finding: Finding) -> str:
    """DeepSpeed's own words for what the findings say already."""
    raised = answer.refusal.raised if answer.refusal else None
    if raised is None:
        return ""
    return (
        f'<li class="ds-finding ds-error"><p><code class="ds-said">{escape(raised.text)}</code></p>'
        f'<p class="ds-advice">{escape(words("tools_page", "agree", source=raised.source, rule=finding.rule))}</p></li>'
    )


def _note(word: str, text: str) -> str:
    return f'<li class="ds-finding ds-note"><p><span class="ds-word">{word}</span> {prose(text)}</p></li>'


def _arguments(answer: Answer) -> tuple[str, ...]:
    made_up = dict(answer.trials[0].arguments)
    if not made_up:
        return ()
    options = " ".join(_option(name, value) for name, value in sorted(made_up.items()) if value is not False)
    return (words("tools_page", "made_up", options=options),)


def _option(name: str, value: object) -> str:
    return f"--{name}" if value is True else f"--{name} {value}"


def _panel(body: str, stale: bool = False) -> str:
    return f'<div class="ds-findings{" ds-old" if stale else ""}">{body}</div>'
