"""What is found about the config of a launch: by itself, as 1 · Configure says it, and by its script's arguments."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.findings import Finding
from dsgui.core.preflight.surroundings import Launch


@dataclass(frozen=True, slots=True)
class LaunchFindings:
    """`alone`: those that stay true with the arguments. `by_arguments`: those that only they bring up. Both together
    are what 1 · Configure lists. `only_here`: what this machine adds, where the config is checked for another."""

    alone: tuple[Finding, ...] = ()
    by_arguments: tuple[Finding, ...] = ()
    only_here: tuple[Finding, ...] = ()

    def told_of(self, launch: Launch, config: Mapping[str, Any]) -> Launch:
        """The launch of this config, with what was found about it."""
        launch = replace(launch, config=config, findings=self.alone)
        return replace(launch, by_arguments=self.by_arguments, only_here=self.only_here)


def launch_findings(
    find: Callable[[Context], Iterable[Finding]], context: Context, here: Context, arguments: TrainingArguments | None
) -> LaunchFindings:
    """`find` gives the findings of the config in a context, `here` is that of what there is where it starts;
    `arguments` are None where nobody knows them."""
    counted = arguments if context.integration is Integration.HF else None
    alone = tuple(find(replace(context, arguments=None)))
    together = alone if counted is None else tuple(find(replace(context, arguments=counted)))
    there = together if here == context else tuple(find(replace(here, arguments=counted)))
    known = {(finding.rule, finding.pointer) for finding in together}
    return LaunchFindings(
        tuple(finding for finding in alone if finding in together),
        tuple(finding for finding in together if finding not in alone),
        tuple(finding for finding in there if (finding.rule, finding.pointer) not in known),
    )
