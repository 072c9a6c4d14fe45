"""The texts of findings and rules in Chinese, divided as the English ones are."""

from dsgui.core.texts.chinese.findings import (
    batch_findings,
    block_findings,
    device_findings,
    file_findings,
    finding_parts,
    key_findings,
    memory_findings,
    offload_findings,
    optimizer_findings,
    oracle_findings,
    precision_findings,
    scheduler_findings,
    trainer_findings,
    value_findings,
    zero_findings,
)
from dsgui.core.texts.chinese.findings.finding_parts import ARGUMENTS, JUDGES, PARTS

_MODULES = (
    batch_findings,
    trainer_findings,
    precision_findings,
    device_findings,
    zero_findings,
    offload_findings,
    optimizer_findings,
    scheduler_findings,
    block_findings,
    memory_findings,
    key_findings,
    value_findings,
    file_findings,
    oracle_findings,
)
_RULES = {rule: texts for module in _MODULES for rule, texts in getattr(module, "RULES", {}).items()}
_PAIRS = {code: texts for module in _MODULES for code, texts in module.FINDINGS.items()}
_MORE = {code: text for module in _MODULES for code, text in getattr(module, "ADVICE", {}).items()}

RULE_TITLES = {rule: title for rule, (title, _) in _RULES.items()}
RULE_EXPLANATIONS = {rule: explanation for rule, (_, explanation) in _RULES.items()}
FINDINGS = {code: message for code, (message, _) in _PAIRS.items()}
ADVICE = finding_parts.ADVICE | _MORE | {code: advice for code, (_, advice) in _PAIRS.items() if advice}

__all__ = ["ADVICE", "ARGUMENTS", "FINDINGS", "JUDGES", "PARTS", "RULE_EXPLANATIONS", "RULE_TITLES"]
