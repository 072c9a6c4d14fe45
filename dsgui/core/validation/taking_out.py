"""Where advice leaves it to the user whether a key goes, taking it out is one of the finding's choices."""

from dataclasses import replace

from dsgui.core.config.findings import Finding, Severity
from dsgui.core.rules.base import clearing, removal

# Codes of advice beside a fix that is certain, and that is not all there is to do.
_MEANT = frozenset({"DS001.meant_or_default", "DS010.set_or_clear", "DS012.natively", "DS013.write_meant"})
# Codes of advice that name it.
_CLEARED = frozenset({"DS001.correct", "DS001.correct_or_default", *_MEANT, "DS022.positive", "DS024.arguments"})
_REMOVED = frozenset(
    {
        "DS004.at_top",
        "DS004.in_block",
        "DS014.correct",
        "DS014.object",
        "DS045.parameters",
        "DS061.empty",
        "DS064.writers",
        "DS066.accumulation",
        "DS066.stage",
    }
)


def with_way_out(finding: Finding) -> Finding:
    """With that choice, after all others, where there is no one right fix, or one that leaves it open. What a note says
    of a value is that it does what was meant: that stays."""
    advised = {one.code for one in finding.advises}
    clears = finding.severity is not Severity.NOTE and advised & _CLEARED
    if (finding.fix and not advised & _MEANT) or not (clears or advised & _REMOVED):
        return finding
    out = clearing(finding.pointer) if clears else removal(finding.pointer)
    return replace(finding, choices=(*finding.choices, out))
