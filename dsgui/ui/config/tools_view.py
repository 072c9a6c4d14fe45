"""The panel under the JSON as HTML: a comparison by key, a move to another DeepSpeed, code to copy. All is escaped."""

from collections.abc import Sequence
from html import escape

from dsgui.core.config.compare import Difference, Kind
from dsgui.core.config.findings import Finding
from dsgui.core.config.pointer import dotted
from dsgui.core.texts.saying import words
from dsgui.core.validation.migration import Migration
from dsgui.ui.common.findings_view import breakable, finding_items

_MARKS = {Kind.CHANGED: "differs", Kind.ONLY_LEFT: "only_left", Kind.ONLY_RIGHT: "only_right"}


def comparison_html(title: str, differences: Sequence[Difference]) -> str:
    """A table: key, the preset's value, the editor's."""
    if not differences:
        return _panel(words("tools_page", "identical", title=escape(title)))
    rows = "".join(
        f'<tr data-kind="{escape(d.kind.value)}"><th scope="row">{breakable(dotted(d.pointer))}'
        f'<span class="ds-unit">{words("tools_page", _MARKS[d.kind])}</span></th>'
        f"<td>{_cell(d.left)}</td><td>{_cell(d.right)}</td></tr>"
        for d in differences
    )
    said = words("tools_page", "key_differs", title=escape(title))
    if len(differences) > 1:
        said = words("tools_page", "keys_differ", count=str(len(differences)), title=escape(title))
    return _panel(
        said,
        f'<table class="ds-compare"><thead><tr><th scope="col">{words("tools_page", "key")}</th>'
        f'<th scope="col">{escape(title)}</th>'
        f'<th scope="col">{words("tools_page", "editor")}</th></tr></thead><tbody>{rows}</tbody></table>',
    )


def _cell(literal: str | None) -> str:
    if literal is not None:
        return f"<code>{escape(literal)}</code>"
    return f'<span class="ds-unit">{words("tools_page", "not_set")}</span>'


def migration_html(found: Migration) -> str:
    """What breaks, what differs and what heals, each with its button."""
    releases = {"release": escape(found.release), "target": escape(found.target)}
    if found.release == found.target:
        return _panel(words("tools_page", "same_release", release=escape(found.release)))
    if not (found.appears or found.defaults or found.goes):
        return _panel(words("tools_page", "nothing_changes", **releases))
    parts = (
        ("appears", found.appears, True),
        ("defaults", found.defaults, True),
        ("goes", found.goes, False),
    )
    return _panel(words("tools_page", "changes", **releases), "".join(_group(*part) for part in parts))


def _group(title: str, findings: Sequence[Finding], with_fix: bool) -> str:
    if not findings:
        return ""
    return f'<h4 class="ds-group">{words("tools_page", title)}</h4><ul>{finding_items(findings, with_fix)}</ul>'


def code_html(intro: str, code: str, language: str) -> str:
    """A piece of code with a button that copies it."""
    return _panel(
        escape(intro),
        f'<pre class="ds-command" data-language="{escape(language)}">{escape(code)}</pre>'
        f'<button type="button" class="ds-copy" data-copy>{words("tools_page", "copy")}</button>',
    )


def _panel(headline: str, body: str = "") -> str:
    return f'<div class="ds-findings"><p class="ds-verdict ds-plain">{headline}</p>{body}</div>'
