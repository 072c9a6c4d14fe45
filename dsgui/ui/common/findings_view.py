"""Findings as HTML: what was seen, what to do, and a button where there is one right fix. Everything is escaped."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from dsgui.core.config.findings import Finding, Fix, Severity, refuser
from dsgui.core.config.pointer import dotted
from dsgui.core.errors import DocumentError
from dsgui.core.memory.fits.as_fixed import plain_errors, plain_repairs
from dsgui.core.rules import EXPLAINED
from dsgui.core.texts.saying import Said, listed, words
from dsgui.core.validation.check_report import counted
from dsgui.core.validation.mending import Mending
from dsgui.core.validation.wide_fix import WideFix

MOST_SHOWN = 100
_AROUND = 32  # characters of a long line on each side of what is wrong in it
_MOST_KEYS = 12  # of alike findings that stand open
_OF_THE_KEY = {"clear": "clear_this", "remove": "remove_this"}  # the fix of a key → its label beside the key
_COLONS = (": ", "：")
CONVERT = "convert"  # the id of the fix that is no edit of a document
ALL = "all"  # of all plain fixes of errors at once
_SEAM = re.compile(r"(?<=[._])(?<!\d\.)(?=\w)|(?<=\w/)(?=\w)")
# In backticks; an option; a name with an underscore, a key with its block, where it is no part of a path.
_CODE_OR_OPTION = re.compile(
    r"`([^`]+)`|(?<![\w-])--[a-z][\w-]*"
    r"|(?<![\w./\\~{$@:=-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?:\.[a-z]\w*)*(?![\w/\\=(@-]|[.:]\w)"
    r"|(?<![\w./\\~{$@:=-])(?!www\.)[a-z]+[0-9]*\.[a-z]\w{2,}(?:\.[a-z]\w*)*(?![\w/\\=(@-]|[.:]\w)",
    re.ASCII,  # a Chinese letter is not part of a name
)


def findings_html(
    findings: Sequence[Finding], subject: str, lacks: str = "", asks: str = "", wide: WideFix | None = None
) -> str:
    """The panel beside the JSON. `subject` is what the config was checked against, for the headline; `lacks`: how much
    memory too little there is for a config without errors, in words; `asks`: how much it takes of a host that nobody
    described; `wide`: the fix of several of the findings."""
    above = wide if wide and _mends_more(wide, findings) else None
    items = finding_items(findings[:MOST_SHOWN], above=above.fix if above else None)
    more = len(findings) - MOST_SHOWN
    rest = f'<p class="ds-advice">{words("common_page", "more_findings", count=f"{more:,}")}</p>' if more > 0 else ""
    return sendable(
        f'<div class="ds-findings">{_headline(findings, subject, lacks, asks, above)}<ul>{items}</ul>{rest}</div>'
    )


def notices_html(sentences: Sequence[str]) -> str:
    """Warnings that belong to the page, above its findings."""
    return "".join(f'<p class="ds-finding ds-warning" role="status">{escape(text)}</p>' for text in sentences)


def sendable(html: str) -> str:
    """Without what UTF-8 can't carry: the escape of half a character in a config's text becomes a question mark."""
    return html.encode("utf-8", "replace").decode()


@dataclass(frozen=True, slots=True)
class Readable:
    """What a text that is no JSON says all the same: as strict JSON, what changes, and a sentence on what it is."""

    text: str
    notes: tuple[str, ...]
    kind: str


def broken_html(
    error: DocumentError,
    readable: Readable | None = None,
    better: str = "",
    mended: tuple[Mending, str] | None = None,
    text: str = "",
) -> str:
    """The panel while the text is not a JSON object, with a button where dsgui understands it all the same, and one for
    the repair of the place (`mended`, with the text after it), below what it repairs. `better`: what to do with it
    instead, "" for nothing; `text`: what it is about."""
    if better:
        told = f'<li class="ds-finding ds-note"><p>{escape(better)}</p></li>'
        head = words("common_page", "unreadable_json")
        return f'<div class="ds-findings"><p class="ds-verdict ds-error">{head}</p><ul>{told}</ul></div>'
    mend = f'<p class="ds-advice">{_button("DS000", "", mended[0].id, str(mended[0].label))}</p>' if mended else ""
    converts = readable is not None and (mended is None or mended[1] != readable.text)
    return sendable(
        '<div class="ds-findings ds-broken">'
        f'<p class="ds-verdict ds-error">{words("common_page", "unreadable_json")}</p>'
        f'<ul><li class="ds-finding ds-error"><p>{_placed(error)}</p>{_excerpt(error, text)}{mend}</li>'
        f"{_conversion(readable, converts) if readable else ''}</ul>"
        f'<p class="ds-subject">{words("common_page", "broken_next")}</p></div>'
    )


def blank_html() -> str:
    """The panel while nothing is in the editor: nobody wrote `{}`, so nothing is found in it."""
    head, then = words("configure_page", "blank"), words("common_page", "blank_next")
    return (
        '<div class="ds-findings ds-broken" data-blank><p class="ds-verdict">' + head + "</p>"
        f'<p class="ds-subject">{then}</p></div>'
    )


def place_of(error: DocumentError) -> tuple[int, int] | None:
    """Line and column (from 1) of an error that is about one place in the text."""
    return (error.line, error.column) if isinstance(error.told, Said) and error.told.code == "at" else None


def _placed(error: DocumentError) -> str:
    """The message; the line and column it starts with lead to them."""
    text = str(error)
    colon = next((one for one in _COLONS if one in text), "")
    if place_of(error) is None or not colon:
        return prose(text)
    place, _, rest = text.partition(colon)
    return (
        f'<button type="button" class="ds-where ds-place" data-place="{error.line}:{error.column}" '
        f'title="{words("form_page", "show_line", line=str(error.line))}">{escape(place)}</button>{colon}{prose(rest)}'
    )


def _excerpt(error: DocumentError, text: str) -> str:
    """The line that the error is about, or the part of a long one around the place, which is marked."""
    place, lines = place_of(error), text.split("\n")
    if place is None or place[0] > len(lines):
        return ""
    line, at = lines[place[0] - 1], place[1] - 1
    start, end = max(at - _AROUND, 0), at + _AROUND
    before, there, after = line[start:at], line[at : at + 1] or " ", line[at + 1 : end]
    cut = ("…" if line[:start].strip() else "", "…" if line[end:] else "")
    before = before if cut[0] else before.lstrip()
    return (
        f'<code class="ds-excerpt"><span>{place[0]}</span>{cut[0]}{escape(before)}'
        f"<mark>{escape(there)}</mark>{escape(after)}{cut[1]}</code>"
    )


def _conversion(readable: Readable, converts: bool) -> str:
    """What the text is read as; `converts`: there is more to change than the one place, and a button for it."""
    changes = "".join(f"<li>{escape(note)}</li>" for note in readable.notes)
    offered = (
        f'<p class="ds-advice">{words("common_page", "as_strict")}</p><ul class="ds-changes">{changes}</ul>'
        f'<p class="ds-advice">{_button("DS000", "", CONVERT, words("common_page", "convert"))}</p>'
    )
    return (
        '<li class="ds-finding ds-note" data-rule="DS000"><p>'
        f'<span class="ds-word">{words("common_page", "word_note")}</span> '
        f"{escape(readable.kind)}</p>{offered if converts else ''}</li>"
    )


def verdict(findings: Iterable[Finding]) -> str:
    """`2 errors, 1 note`, or "" when there is nothing to say."""
    found = list(findings)
    counts = [(severity, sum(one.severity is severity for one in found)) for severity in Severity]
    return str(listed(counted(severity, count) for severity, count in counts if count))


def _headline(findings: Sequence[Finding], subject: str, lacks: str, asks: str, wide: WideFix | None) -> str:
    errors = any(f.severity is Severity.ERROR for f in findings)
    counts = verdict(findings)
    change = ""
    if errors:
        kind, text = "ds-error", words("common_page", "refused", judge=refuser(findings), counts=counts)
    elif lacks:
        told = words("common_page", "lacks_with", lacks=lacks, counts=counts) if counts else ""
        kind, text = "ds-error", told or words("common_page", "lacks", lacks=lacks)
        change = '<div class="ds-way-out"></div>'  # static/config/way_out.js
    elif asks:
        told = words("common_page", "asks_with", size=asks, counts=counts) if counts else ""
        kind, text = "ds-warning", told or words("common_page", "asks", size=asks)
    else:
        passes = words("common_page", "passes_with", counts=counts) if counts else words("common_page", "passes")
        kind, text = "ds-ok", passes
    return (
        f'<p class="ds-verdict {kind}" role="status">{escape(text)}</p>'
        f'<p class="ds-subject">{escape(words("common_page", "checked_for", subject=subject))}</p>'
        f"{change}{_fix_several(wide) if wide else _fix_told(findings)}"
    )


def _mends_more(wide: WideFix, findings: Sequence[Finding]) -> bool:
    """Than the button for all errors with one right fix each: there is one of the two."""
    errors = sum(one.severity is Severity.ERROR for one in wide.mended)
    return errors >= plain_errors(findings)


def _fix_several(wide: WideFix) -> str:
    """How many it takes away, and beside it what it does."""
    label = words("common_page", "fix_these", counts=verdict(wide.mended))
    button = _button(wide.finding.rule, wide.finding.pointer, wide.fix.id, label)
    return f'<p class="ds-wide">{button} <span class="ds-subject">{escape(str(wide.fix.label))}</span></p>'


def fix_plain_html(findings: Sequence[Finding]) -> str:
    """One button for the errors with one right fix each, where no entry has its own; a single one says what it does."""
    fixes = [one.fix for one in findings if one.severity is Severity.ERROR and one.fix]
    count = plain_errors(findings)
    if count == 1 and len(fixes) == 1:
        return _button("", "", ALL, str(fixes[0].label))
    code = "fix_config_error" if count == 1 else "fix_config_errors"
    return _button("", "", ALL, words("common_page", code, count=str(count))) if count else ""


def _fix_told(findings: Sequence[Finding]) -> str:
    """The button for all, and beside it what it changes, on a press."""
    button = _fix_all(findings)
    changes = "".join(f"<li>{prose(one)}</li>" for one in plain_repairs(findings))
    summary = f"<summary>{words('common_page', 'show_changes')}</summary>"
    fold = f'<details data-fold="fix all">{summary}<ul class="ds-changes">{changes}</ul></details>'
    return f'<div class="ds-wide">{button}{fold}</div>' if button else ""


def _fix_all(findings: Sequence[Finding]) -> str:
    """One button for two errors or more with one right fix each; it says how many there are beside."""
    count, errors = plain_errors(findings), sum(one.severity is Severity.ERROR for one in findings)
    if count < 2:
        return ""
    if count == errors:
        return _button("", "", ALL, words("common_page", "fix_all", count=str(count)))
    return _button("", "", ALL, words("common_page", "fix_some", count=str(count), errors=str(errors)))


def finding_items(findings: Sequence[Finding], with_fix: bool = True, above: Fix | None = None) -> str:
    """Entries of a list: findings that differ in nothing but their key are one. `with_fix` False leaves out the
    buttons; `above`: a fix that has its button elsewhere."""
    alike: dict[tuple[object, ...], list[Finding]] = {}
    for one in findings:
        alike.setdefault((one.rule, one.severity, without_key(one), one.advice), []).append(one)
    return "".join(
        finding_item(of[0], with_fix, above) if len(of) == 1 else _alike(of, with_fix, above) for of in alike.values()
    )


def finding_item(finding: Finding, with_fix: bool = True, above: Fix | None = None) -> str:
    """One finding as an entry of a list, with `finding_items`' choices."""
    kind = finding.severity.value
    buttons = _buttons(finding, above) if with_fix else ""
    return (
        f'<li class="ds-finding ds-{kind}" data-rule="{escape(finding.rule)}">'
        f'<p><span class="ds-word">{words("common_page", f"word_{kind}")}</span> {_where(finding)}</p>'
        f"<p>{prose(without_key(finding))}</p>{_advice(finding, buttons)}{_about(finding)}</li>"
    )


def _alike(findings: Sequence[Finding], with_fix: bool, above: Fix | None) -> str:
    """Several as one entry: how many, what is said of each, and each one's key with its own buttons."""
    first, kind = findings[0], findings[0].severity.value
    keys = [f"<li>{_where(one)}{_buttons(one, above, beside_key=True) if with_fix else ''}</li>" for one in findings]
    return (
        f'<li class="ds-finding ds-{kind}" data-rule="{escape(first.rule)}" data-count="{len(findings)}">'
        f'<p><span class="ds-word">{counted(first.severity, len(findings))}</span></p>'
        f"<p>{prose(without_key(first))}</p>{_advice(first, '')}{_keys(keys, first)}{_about(first)}</li>"
    )


def _keys(keys: Sequence[str], first: Finding) -> str:
    """A few more than stand open are no reason to close any."""
    if len(keys) <= _MOST_KEYS + 2:
        return f'<ul class="ds-alike">{"".join(keys)}</ul>'
    more = words("common_page", "more_keys", count=str(len(keys) - _MOST_KEYS))
    fold = escape(f"alike {first.rule} {first.code} {first.pointer.rpartition('/')[0]}")
    return (
        f'<ul class="ds-alike">{"".join(keys[:_MOST_KEYS])}</ul><details data-fold="{fold}"><summary>{more}</summary>'
        f'<ul class="ds-alike">{"".join(keys[_MOST_KEYS:])}</ul></details>'
    )


def _where(finding: Finding) -> str:
    return (
        f'<button type="button" class="ds-where" data-goto="{escape(finding.pointer)}" '
        f'title="{words("common_page", "show_field")}">{breakable(dotted(finding.pointer))}</button>'
    )


def breakable(key: str) -> str:
    """Escaped; in a narrow column a key or a path breaks between its words, not in one."""
    return _SEAM.sub("<wbr>", escape(key))


def _about(finding: Finding) -> str:
    """The rule's id, shown in the corner; it opens to what the rule is about, by mouse, keyboard and touch."""
    rule = EXPLAINED.get(finding.rule)
    if rule is None:
        return ""
    title, about = escape(rule.title), words("common_page", "about_rule", rule=rule.id)
    fold = escape(f"{rule.id} {finding.pointer}")
    return (
        f'<details class="ds-rule" data-fold="{fold}"><summary title="{title}" aria-label="{about}">{rule.id}</summary>'
        f"<p><strong>{title}.</strong> {prose(rule.explanation)}</p></details>"
    )


def without_key(finding: Finding) -> str:
    """The message without the key it starts with: the line above names it. JSON words keep their spelling."""
    key = dotted(finding.pointer)
    starts = next((f"{key}{colon}" for colon in _COLONS if finding.message.startswith(f"{key}{colon}")), "")
    text = finding.message.removeprefix(starts)
    first = text.partition(" ")[0].rstrip(",;")
    keeps = not starts or not first.isalpha() or first in ("true", "false", "null")
    return text if keeps else text[:1].upper() + text[1:]


def _advice(finding: Finding, buttons: str) -> str:
    if not finding.advice and not buttons:
        return ""
    return f'<p class="ds-advice">{prose(finding.advice)} {buttons}</p>'


def _buttons(finding: Finding, above: Fix | None, beside_key: bool = False) -> str:
    """Those of its fixes, but for the one that has its button above; `beside_key`: they need not name it again."""
    fixes = [fix for fix in finding.fixes if above is None or fix.id != above.id]
    picked = picks(finding)
    others = [fix for fix in fixes if fix not in picked]
    several = finding.fix is not None or bool(picked)
    buttons = "".join(
        _button(
            finding.rule,
            finding.pointer,
            fix.id,
            str(fix.label),
            " ds-second" if several and fix is not finding.fix else "",
            shown=_beside_key(finding, fix) if beside_key else "",
        )
        for fix in others
    )
    whole = f"{_picks(finding, picked) if picked else ''}{buttons}"
    return f'<span class="ds-choices">{whole}</span>' if len(fixes) > 1 or (fixes and finding.choices) else whole


def picks(finding: Finding) -> tuple[Fix, ...]:
    """Of its choices the few values that its key takes."""
    return tuple(fix for fix in finding.choices if fix.label.code == "use")


def _picks(finding: Finding, values: Sequence[Fix]) -> str:
    """The values as one control; which of them is the default is said."""
    default = next((value for one in finding.advises for name, value in one.given if name == "default"), None)
    return (
        f'<span class="ds-picks" role="group" aria-label="{escape(dotted(finding.pointer))}">'
        f"<span>{words('common_page', 'use_one')}</span>"
        f"{''.join(_pick(finding, fix, str(default)) for fix in values)}</span>"
    )


def _pick(finding: Finding, fix: Fix, default: str) -> str:
    literal = str(dict(fix.label.given)["value"])
    shown = literal.strip('"')
    if literal == default:
        shown = words("common_page", "use_default", value=shown)
    return _button(finding.rule, finding.pointer, fix.id, words("fixes", "use", value=shown), shown=shown)


def _beside_key(finding: Finding, fix: Fix) -> str:
    """What the button of a fix says of the key before it; "" for all that it always says."""
    is_own = [change.pointer for change in fix.changes] == [finding.pointer]
    code = _OF_THE_KEY.get(fix.label.code) if is_own else None
    return words("fixes", code) if code else ""


def prose(text: str) -> str:
    """Escaped, what stands in backticks and the names of keys as code, and command-line options in one piece: they
    break badly at their hyphens."""
    return _CODE_OR_OPTION.sub(_as_code, escape(text))


def _as_code(found: re.Match[str]) -> str:
    words = found[1] or found[0]
    return f'<code class="ds-option">{words}</code>' if words.startswith("--") else f"<code>{words}</code>"


def _button(rule: str, pointer: str, fix: str, label: str, more: str = "", shown: str = "") -> str:
    """`more`: another class, after a blank; `shown`: what is seen of the label, where that is not all."""
    name = f' aria-label="{escape(label)}"' if shown else ""
    return (
        f'<button type="button" class="ds-fix{more}" data-rule="{escape(rule)}" data-pointer="{escape(pointer)}" '
        f'data-fix="{escape(fix)}"{name}>{escape(shown or label)}</button>'
    )
