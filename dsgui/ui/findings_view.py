"""Findings as HTML: what was seen, what to do, and a button where there is one right fix. Everything is escaped."""

from collections.abc import Iterable, Sequence
from html import escape

from dsgui.core.errors import DocumentError
from dsgui.core.findings import Finding, Severity
from dsgui.core.pointer import dotted

_WORDS = {Severity.ERROR: "Error", Severity.WARNING: "Warning", Severity.NOTE: "Note"}


def findings_html(findings: Sequence[Finding], subject: str) -> str:
    """The panel beside the JSON. `subject` is what the config was checked against, for the headline."""
    items = "".join(_item(finding) for finding in findings)
    return f'<div class="ds-findings">{_headline(findings, subject)}<ul>{items}</ul></div>'


def broken_html(error: DocumentError) -> str:
    """The panel while the text is not a JSON object."""
    return (
        '<div class="ds-findings"><p class="ds-verdict ds-error">The JSON can’t be read yet</p>'
        f'<ul><li class="ds-finding ds-error"><p>{escape(str(error))}</p>'
        '<p class="ds-advice">The form keeps its last state and waits; nothing you typed is lost.</p></li></ul></div>'
    )


def verdict(findings: Iterable[Finding]) -> str:
    """`2 errors, 1 note`, or "" when there is nothing to say."""
    found = list(findings)
    counts = [(sum(f.severity is s for f in found), s.value) for s in Severity]
    return ", ".join(f"{n} {word}{'s' if n > 1 else ''}" for n, word in counts if n)


def _headline(findings: Sequence[Finding], subject: str) -> str:
    errors = any(f.severity is Severity.ERROR for f in findings)
    kind, text = ("ds-error", f"DeepSpeed would refuse this: {verdict(findings)}")
    if not errors:
        rest = verdict(findings)
        kind, text = "ds-ok", "Checks pass" + (f" ({rest})" if rest else "")
    return (
        f'<p class="ds-verdict {kind}" role="status">{escape(text)}</p>'
        f'<p class="ds-subject">Checked for {escape(subject)}</p>'
    )


def _item(finding: Finding) -> str:
    kind = finding.severity.value
    return (
        f'<li class="ds-finding ds-{kind}" data-rule="{escape(finding.rule)}">'
        f'<p><span class="ds-word">{_WORDS[finding.severity]}</span> '
        f'<button type="button" class="ds-where" data-goto="{escape(finding.pointer)}" '
        f'title="Show this field in the form">{escape(dotted(finding.pointer))}</button></p>'
        f"<p>{escape(_without_key(finding))}</p>{_advice(finding)}</li>"
    )


def _without_key(finding: Finding) -> str:
    """The message without the key it starts with: the line above names it. JSON words keep their spelling."""
    key = f"{dotted(finding.pointer)}: "
    text = finding.message.removeprefix(key)
    keeps = not finding.message.startswith(key) or text.startswith(("true", "false", "null"))
    return text if keeps else text[:1].upper() + text[1:]


def _advice(finding: Finding) -> str:
    if not finding.advice and not finding.fix:
        return ""
    button = ""
    if finding.fix:
        label = escape(finding.fix.label)
        button = (
            f'<button type="button" class="ds-fix" data-rule="{escape(finding.rule)}" '
            f'data-pointer="{escape(finding.pointer)}" data-label="{label}">{label}</button>'
        )
    return f'<p class="ds-advice">{escape(finding.advice)} {button}</p>'
