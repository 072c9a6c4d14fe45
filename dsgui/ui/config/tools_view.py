"""The panel under the JSON as HTML: a comparison by key, a move to another DeepSpeed, code to copy. All is escaped."""

from collections.abc import Sequence
from html import escape

from dsgui.core.config.compare import Difference, Kind
from dsgui.core.config.findings import Finding
from dsgui.core.config.pointer import dotted
from dsgui.core.validation.migration import Migration
from dsgui.ui.common.findings_view import finding_item

_MARKS = {Kind.CHANGED: "differs", Kind.ONLY_LEFT: "only there", Kind.ONLY_RIGHT: "only here"}


def comparison_html(title: str, differences: Sequence[Difference]) -> str:
    """A table: key, the preset's value, the editor's."""
    if not differences:
        return _panel(f"The editor and “{escape(title)}” are identical.")
    rows = "".join(
        f'<tr data-kind="{escape(d.kind.value)}"><th scope="row">{escape(dotted(d.pointer))}'
        f'<span class="ds-unit">{_MARKS[d.kind]}</span></th><td>{_cell(d.left)}</td><td>{_cell(d.right)}</td></tr>'
        for d in differences
    )
    many = f"{len(differences)} key{'s' if len(differences) > 1 else ''} differ{'s' if len(differences) == 1 else ''}"
    return _panel(
        f"{many} from “{escape(title)}”.",
        f'<table class="ds-compare"><thead><tr><th scope="col">Key</th><th scope="col">{escape(title)}</th>'
        f'<th scope="col">The editor</th></tr></thead><tbody>{rows}</tbody></table>',
    )


def _cell(literal: str | None) -> str:
    return f"<code>{escape(literal)}</code>" if literal is not None else '<span class="ds-unit">not set</span>'


def migration_html(found: Migration) -> str:
    """What breaks, what differs and what heals, each with its button."""
    move = f"from DeepSpeed {escape(found.release)} to {escape(found.target)}"
    if found.release == found.target:
        return _panel(
            f"This config is already checked for DeepSpeed {escape(found.release)}. Select another version above."
        )
    if not (found.appears or found.defaults or found.goes):
        return _panel(f"Nothing in this config changes {move}.")
    parts = (
        ("New findings", found.appears, True),
        ("Different defaults for omitted keys", found.defaults, True),
        ("No longer reported", found.goes, False),
    )
    return _panel(f"What changes {move}", "".join(_group(*part) for part in parts))


def _group(title: str, findings: Sequence[Finding], with_fix: bool) -> str:
    if not findings:
        return ""
    items = "".join(finding_item(finding, with_fix) for finding in findings)
    return f'<h4 class="ds-group">{title}</h4><ul>{items}</ul>'


def code_html(intro: str, code: str, language: str) -> str:
    """A piece of code with a button that copies it."""
    return _panel(
        escape(intro),
        f'<pre class="ds-command" data-language="{escape(language)}">{escape(code)}</pre>'
        '<button type="button" class="ds-copy" data-copy>Copy</button>',
    )


def _panel(headline: str, body: str = "") -> str:
    return f'<div class="ds-findings"><p class="ds-verdict ds-plain">{headline}</p>{body}</div>'
