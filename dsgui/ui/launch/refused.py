"""Why there is no command yet: among the checks, and under the field that it is about. What nobody was asked for yet is
no problem: until Launch is pressed, it is said what is still needed."""

from collections.abc import Mapping
from html import escape
from typing import Any

from dsgui.core.errors import DsguiError, PlanError
from dsgui.core.launch.run_fields import BY_NAME
from dsgui.core.machine.machine_report import counted
from dsgui.core.machine.verdicts import Status
from dsgui.core.texts.saying import Said, words
from dsgui.ui.common.findings_view import prose, sendable

# The beginning of an error's code → the field that it is about.
_FIELDS = {
    "script.": "script",
    "arguments.": "arguments",
    "hostfile.": "hostfile",
    "environment.": "environment",
    "notify.": "notify",
    "port.": "port",
    "directory.": "directory",
}
# What is empty to begin with.
_STILL_NEEDED = ("script.none", "hostfile.empty")
_UNNAMED = "hostfile.unnamed"
_GONE = "script.missing"


def field_of(error: DsguiError) -> str:
    """By its name; "" where the error is about no single one."""
    if isinstance(error, PlanError) and error.field:
        return error.field
    code = _code(error)
    return next((name for begins, name in _FIELDS.items() if code.startswith(begins)), "")


def is_needed_yet(error: DsguiError, asked: Mapping[str, Any]) -> bool:
    """Whether nothing was given so far where something has to be, or what was filled in for somebody to go on with."""
    code, given = _code(error), str(asked.get(field_of(error)) or "").strip()
    return code == _UNNAMED or (code in _STILL_NEEDED and not given)


def is_gone(error: DsguiError) -> bool:
    """Whether there is no file where the script should be."""
    return _code(error) == _GONE


def needed_html(error: DsguiError, offers: str = "", stops: str = "") -> str:
    """What to give, in the place of the checks; `offers` is what the button says that gives what is planned, `stops`
    has entries for what stops the run whatever is given."""
    name = field_of(error)
    fills = f'<button type="button" class="ds-fix" data-press="take-plan">{escape(offers)}</button>' if offers else ""
    unnamed = _code(error) == _UNNAMED
    told = _without(BY_NAME[name].told("label"), str(error)) if unnamed else words("launch_page", f"needed_{name}")
    return sendable(
        f'<div class="ds-findings ds-preflight"><p class="ds-verdict ds-plain" role="status">'
        f'{escape(words("launch_page", "needed"))}</p><ul><li class="ds-finding ds-note"><p><span class="ds-word">'
        f"{escape(BY_NAME[name].told('label'))}</span></p><p>{prose(told)}</p>{fills}</li>{stops}</ul></div>"
    )


def lacks(error: DsguiError) -> str:
    """The same in a word or two, for the button."""
    return words("launch_page", "lacks_hosts" if _code(error) == _UNNAMED else f"lacks_{field_of(error)}")


def refused_html(error: DsguiError, of_clone: bool = False) -> str:
    """A problem, as the checks before a start are shown; static/launch/marked_fields.js marks the field."""
    name = field_of(error)
    label = BY_NAME[name].told("label") if name else words("launch_page", "launch")
    text = _without(label, str(error))
    if of_clone and is_gone(error):
        text = words("launch_page", "script_gone", why=text)
    said = words("launch_page", "preflight", summary=counted(Status.PROBLEM, 1))
    field = f' data-field="{BY_NAME[name].id}" data-says="{escape(text)}"' if name else ""
    return sendable(
        f'<div class="ds-findings ds-preflight"><p class="ds-verdict ds-error" role="status">{escape(said)}</p>'
        f'<ul><li class="ds-finding ds-error"{field}><p><span class="ds-word">'
        f"{words('machine_page', Status.PROBLEM.value)}</span> {escape(label)}</p><p>{prose(text)}</p></li></ul></div>"
    )


def _code(error: DsguiError) -> str:
    told = error.args[0] if error.args else ""
    return told.code if isinstance(told, Said) else ""


def _without(label: str, text: str) -> str:
    """The field's name is said above it."""
    for colon in (": ", "："):
        if text.startswith(label + colon):
            rest = text.removeprefix(label + colon)
            return rest[:1].upper() + rest[1:]
    return text
