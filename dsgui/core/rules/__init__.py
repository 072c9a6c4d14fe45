"""The rules: what DeepSpeed does with a config beyond the type of each key. One table; each rule yields findings.

A rule is a function of the config and the context, and names the DeepSpeed source that enforces it. Types, ranges and
names of keys come from the schema (`core/rules/values.py`, `core/rules/keys.py`).
"""

from dataclasses import replace

from dsgui.core.config.context import Context
from dsgui.core.config.findings import Finding
from dsgui.core.rules import (
    batch,
    blocks,
    by_key,
    devices,
    loss_scale,
    memory_traps,
    model,
    offload,
    optimizer,
    precision,
    removed,
    scheduler,
    trainer,
    zero,
)
from dsgui.core.rules.base import Config, Rule

RULES: tuple[Rule, ...] = (
    *batch.RULES,
    *trainer.RULES,
    *precision.RULES,
    *loss_scale.RULES,
    *devices.RULES,
    *model.RULES,
    *zero.RULES,
    *offload.RULES,
    *memory_traps.RULES,
    *optimizer.RULES,
    *scheduler.RULES,
    *blocks.RULES,
    *removed.RULES,
)
# What a finding can carry: these, and the schema's.
EXPLAINED: dict[str, Rule] = {rule.id: rule for rule in sorted((*by_key.RULES, *RULES), key=lambda rule: rule.id)}


def check(config: Config, context: Context) -> list[Finding]:
    """Every finding of every rule."""
    if context.arguments is not None:
        context = replace(context, arguments=context.arguments.settled)
    return [finding for rule in RULES for finding in rule.findings(config, context)]
