"""Checked configs as text for a person, JSON, SARIF, or GitHub's annotations."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dsgui.core.config.arguments import given
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Finding, Fix, Severity, has_error
from dsgui.core.config.pointer import split
from dsgui.core.texts.saying import Said, listed, said, words

_ONE, _MANY = "count_", "counts_"
_GITHUB = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


@dataclass(frozen=True, slots=True)
class Checked:
    """One file and what was found. `document`: its text as strict JSON; `has_lines`: with the lines of the file."""

    file: str
    document: Document
    has_lines: bool
    context: Context
    findings: tuple[Finding, ...]
    asked: tuple[str, ...] = ()  # what the real DeepSpeed answered, where it was asked
    memory: Mapping[str, Any] | None = None  # what it takes, where a model was named: its JSON, with `lines` in words

    def line_of(self, finding: Finding) -> int | None:
        """The line (from 1) of the value, or of the block around a key that is missing."""
        parts = split(finding.pointer)
        for length in range(len(parts), 0, -1):
            line = self.document.line_of("/" + "/".join(_escaped(part) for part in parts[:length]))
            if line is not None:
                return line if self.has_lines else None
        return 1 if self.has_lines else None

    @property
    def has_error(self) -> bool:
        return has_error(self.findings)


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


def subject(context: Context) -> str:
    """What a config was checked against, in words."""
    with_arguments = context.integration is Integration.HF and context.arguments is not None
    framework = words("commands", "hf_arguments" if with_arguments else context.integration.value)
    titles = str(listed(sorted({h.title for h in context.hardware}))) or _undescribed(context)
    given = {"release": context.release, "framework": framework, "devices": context.devices}
    if context.on_cpu:  # ranks of the CPU: their name says it
        return words("commands", "subject_bare", **given)
    return words("commands", "subject", titles=titles, **given)


def _undescribed(context: Context) -> str:
    return words("commands", "device_not_chosen") if context.device_not_chosen else words("commands", "any_device")


def as_text(checked: Sequence[Checked]) -> str:
    """`file:line: error DS010 message`, what to do below it, and a last line a file."""
    return "\n".join(line for one in checked for line in _text_lines(one)) + "\n"


def _text_lines(checked: Checked) -> list[str]:
    lines = [line for finding in checked.findings for line in finding_lines(checked, finding)]
    counts = {s: sum(f.severity is s for f in checked.findings) for s in Severity}
    told = str(listed(counted(s, n) for s, n in counts.items() if n)) or words("commands", "nothing_found")
    lines.append(words("commands", "found", file=checked.file, counts=told, subject=subject(checked.context)))
    taken = checked.memory["lines"] if checked.memory else ()
    return [*lines, *(words("commands", "line", file=checked.file, line=one) for one in (*checked.asked, *taken))]


def counted(severity: Severity, count: int) -> Said:
    """`2 errors`."""
    return said("common_page", f"{_MANY if count > 1 else _ONE}{severity.value}", count=str(count))


def finding_lines(checked: Checked, finding: Finding) -> list[str]:
    """Where and what, and what to do on a line of its own."""
    line = checked.line_of(finding)
    place = f"{checked.file}:{line}" if line else checked.file
    severity = words("commands", f"severity_{finding.severity.value}")
    told = f"{place}: {severity} {finding.rule} {finding.message}"
    return [told, *([f"    {finding.advice}"] if finding.advice else [])]


def as_json(checked: Sequence[Checked]) -> str:
    """A list of files, each with its context and findings."""
    return json.dumps([file_entry(one) for one in checked], indent=2) + "\n"


def file_entry(checked: Checked) -> dict[str, Any]:
    """One file's part of the JSON answer."""
    context = checked.context
    return {
        "file": checked.file,
        "deepspeed": context.release,
        "integration": context.integration.value,
        "nodes": context.nodes,
        "gpus_per_node": context.gpus_per_node,
        "devices": [hardware.id for hardware in context.hardware],
        "training_arguments": given(context.arguments) if context.arguments is not None else None,
        "ok": not checked.has_error,
        **({"asked": list(checked.asked)} if checked.asked else {}),
        **({"memory": dict(checked.memory)} if checked.memory else {}),
        "findings": [_finding_entry(checked, finding) for finding in checked.findings],
    }


def _finding_entry(checked: Checked, finding: Finding) -> dict[str, Any]:
    choices = [_fix_entry(one) for one in finding.choices]
    return {
        "rule": finding.rule,
        "code": finding.code,
        "severity": finding.severity.value,
        "pointer": finding.pointer,
        "line": checked.line_of(finding),
        "message": finding.message,
        "advice": finding.advice,
        "source": finding.source,
        "fix": _fix_entry(finding.fix) if finding.fix else None,
        **({"choices": choices} if choices else {}),
    }


def _fix_entry(fix: Fix) -> dict[str, Any]:
    return {"label": str(fix.label), "changes": [_change(c.pointer, c.literal, c.key) for c in fix.changes]}


def _change(pointer: str, literal: str | None, key: str) -> dict[str, str]:
    if key:
        return {"rename": pointer, "to": key}
    return {"remove": pointer} if literal is None else {"set": pointer, "to": literal}


def as_github(checked: Sequence[Checked]) -> str:
    """Workflow commands: GitHub shows each beside its line of the pull request."""
    return "".join(_annotation(one, finding) for one in checked for finding in one.findings)


def _annotation(checked: Checked, finding: Finding) -> str:
    properties = {"file": checked.file, "line": checked.line_of(finding), "title": finding.rule}
    told = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items() if value)
    message = f"{finding.message} {finding.advice}".strip()
    return f"::{_GITHUB[finding.severity]} {told}::{_command_data(message)}\n"


def _command_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _command_data(text).replace(":", "%3A").replace(",", "%2C")


def as_sarif(checked: Sequence[Checked]) -> str:
    """SARIF 2.1.0, for code scanning."""
    rules = sorted({finding.rule for one in checked for finding in one.findings})
    run = {
        "tool": {"driver": {"name": "dsgui", "rules": [{"id": rule} for rule in rules]}},
        "results": [_result(one, finding) for one in checked for finding in one.findings],
    }
    return json.dumps({"version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(checked: Checked, finding: Finding) -> dict[str, Any]:
    line = checked.line_of(finding)
    physical: dict[str, Any] = {"artifactLocation": {"uri": checked.file}}
    physical |= {"region": {"startLine": line}} if line else {}
    return {
        "ruleId": finding.rule,
        "level": finding.severity.value,
        "message": {"text": f"{finding.message} {finding.advice}".strip()},
        "locations": [
            {"physicalLocation": physical, "logicalLocations": [{"fullyQualifiedName": finding.pointer or "/"}]}
        ],
    }


FORMATS: dict[str, Callable[[Sequence[Checked]], str]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
}
