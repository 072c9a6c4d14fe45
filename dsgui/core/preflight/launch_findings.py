"""What is found about the config of a launch: by itself, as 1 · Configure says it, and by its script's arguments."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.findings import Finding


@dataclass(frozen=True, slots=True)
class LaunchFindings:
    """`alone`: those that stay true with the arguments. `by_arguments`: those that only they bring up."""

    alone: tuple[Finding, ...] = ()
    by_arguments: tuple[Finding, ...] = ()


def launch_findings(
    find: Callable[[Context], Iterable[Finding]], context: Context, arguments: TrainingArguments | None
) -> LaunchFindings:
    """`find` gives the findings of the config in a context; `arguments` are None where nobody knows them."""
    alone = tuple(find(context))
    if arguments is None or context.integration is not Integration.HF:
        return LaunchFindings(alone)
    together = tuple(find(replace(context, arguments=arguments)))
    return LaunchFindings(
        tuple(finding for finding in alone if finding in together),
        tuple(finding for finding in together if finding not in alone),
    )
