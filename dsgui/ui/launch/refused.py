"""Why there is no command yet: among the checks, and under the field that it is about. What nobody was asked for yet is
no problem: until Launch is pressed, it is said what is still needed."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from dsgui.core.errors import DsguiError, PlanError
from dsgui.core.launch.run_fields import BY_NAME
from dsgui.core.machine.machine_report import counted
from dsgui.core.machine.verdicts import Status
from dsgui.core.texts.saying import Said, words
from dsgui.ui.common.findings_view import prose, sendable
from dsgui.ui.preflight.preflight_view import reads_html

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


@dataclass(frozen=True, slots=True)
class Refusals:
    """What lets no run be planned, in the order in which it was found. `needed`: what nobody was asked for yet;
    `wrong`: all that is a problem already. `besides`: how many problems stop the run whatever is given. `of_clone`: the
    run that is cloned had all of it."""

    needed: tuple[DsguiError, ...] = ()
    wrong: tuple[DsguiError, ...] = ()
    besides: int = 0
    of_clone: bool = False

    @property
    def summary(self) -> str:
        """ "" where nothing is a problem yet."""
        count = len(self.wrong) + self.besides
        return str(counted(Status.PROBLEM, count)) if count else ""


def lacks(error: DsguiError) -> str:
    """What is needed yet in a word or two, for the button."""
    return words("launch_page", "lacks_hosts" if _code(error) == _UNNAMED else f"lacks_{field_of(error)}")


def refused_html(refusals: Refusals, offers: str = "", stops: str = "", reads: str = "") -> str:
    """In the place of the checks, as they are shown; static/launch/marked_fields.js marks the fields. `offers` is what
    the button says that gives what is planned; `stops` has entries for what stops the run whatever is given; `reads` is
    the framework that the config was checked for, "" where 1 · Configure is set to it."""
    wrong = "".join(_wrong_html(one, refusals.of_clone) for one in refusals.wrong)
    needed = "".join(_needed_html(one, offers) for one in refusals.needed)
    kind = "ds-error" if refusals.summary else "ds-plain"
    if wrong:
        said = words("launch_page", "preflight", summary=refusals.summary)
    else:
        said = " · ".join(filter(None, (words("launch_page", "needed"), refusals.summary)))
    head = f'<p class="ds-verdict {kind}" role="status">{escape(said)}</p>'
    return sendable(
        f'<div class="ds-findings ds-preflight"{reads_html(reads)}>{head}<ul>{wrong}{needed}{stops}</ul></div>'
    )


def _needed_html(error: DsguiError, offers: str) -> str:
    name, unnamed = field_of(error), _code(error) == _UNNAMED
    fills = f'<button type="button" class="ds-fix" data-press="take-plan">{escape(offers)}</button>' if offers else ""
    label = BY_NAME[name].told("label")
    told = _without(label, str(error)) if unnamed else words("launch_page", f"needed_{name}")
    return (
        f'<li class="ds-finding ds-note"><p><span class="ds-word">{escape(label)}</span></p>'
        f"<p>{prose(told)}</p>{fills if name == 'hostfile' else ''}</li>"
    )


def _wrong_html(error: DsguiError, of_clone: bool) -> str:
    name = field_of(error)
    label = BY_NAME[name].told("label") if name else words("launch_page", "launch")
    text = _without(label, str(error))
    if of_clone and is_gone(error):
        text = words("launch_page", "script_gone", why=text)
    field = f' data-field="{BY_NAME[name].id}" data-says="{escape(text)}"' if name else ""
    return (
        f'<li class="ds-finding ds-error"{field}><p><span class="ds-word">'
        f"{words('machine_page', Status.PROBLEM.value)}</span> {escape(label)}</p><p>{prose(text)}</p></li>"
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
