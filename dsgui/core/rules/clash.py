"""A rule made of clashes: combinations of keys that DeepSpeed refuses or ignores, as a table."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from dsgui.core.config.context import Context
from dsgui.core.config.findings import Finding, Fix, Severity
from dsgui.core.rules.base import Config, Rule, found


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """Keys that don't go together: when, since which release, where it is shown, and what is said: a code of the
    catalogue and what its text leaves open."""

    pointer: str
    when: Callable[[Config, Context], bool]
    says: str
    given: Mapping[str, str] = field(default_factory=dict)
    since: str = ""
    fix: Fix | None = None
    severity: Severity = Severity.ERROR

    def findings(self, config: Config, context: Context) -> Iterator[Finding]:
        if (not self.since or context.at_least(self.since)) and self.when(config, context):
            yield found(self.severity, self.pointer, self.says, fix=self.fix, **self.given)


def rule(id: str, source: str, *clashes: Clash, since: str = "", until: str = "") -> Rule:
    """A rule that is nothing but clashes."""

    def check(config: Config, context: Context) -> Iterator[Finding]:
        for clash in clashes:
            yield from clash.findings(config, context)

    severities = tuple(severity for severity in Severity if severity in {clash.severity for clash in clashes})
    return Rule(id, source, check, severities, since, until)
