"""The precision block against the model that the arguments name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dsgui.core.config.context import Context
from dsgui.core.config.findings import Change, Finding, Fix, Severity
from dsgui.core.machine.hardware import has_bf16, refuses_fp16
from dsgui.core.rules.base import Config, Rule, advised, enabled, found, hf_hint


@dataclass(frozen=True, slots=True)
class Family:
    """Models that were pre-trained in bf16, by a pattern of their names, and who says so."""

    title: str
    pattern: re.Pattern[str]
    source: str


def _family(title: str, words: str, source: str) -> Family:
    """`words` stand at the start of the name or after a sign, and no letter follows: CodeT5 is no T5."""
    return Family(title, re.compile(rf"(?:^|[/_.\-])(?:{words})(?![a-z])", re.IGNORECASE), source)


_T5_ISSUE = "github.com/google-research/text-to-text-transfer-transformer/issues/539"
# The first that fits counts. Whoever made them trained in bf16, whose range fp16 does not have.
FAMILIES: tuple[Family, ...] = (
    _family("FLAN-T5", "flan-t5|flan-ul2", "model card of google/flan-t5-xxl"),
    _family("mT5 and mT0", "mt5|mt0", "github.com/huggingface/transformers/pull/10956"),
    _family("ByT5", "byt5", f"{_T5_ISSUE} (trained with T5's code)"),
    _family("umT5", "umt5", f"{_T5_ISSUE} (trained with T5's code)"),
    _family("T0", "t0|t0p|t0pp", "model card of bigscience/T0pp"),
    _family("T5 and T5 v1.1", "t5|long-t5|t5v1", _T5_ISSUE),
    _family("PaliGemma", "paligemma2?", "config.json of google/paligemma: torch_dtype bfloat16"),
    _family("Gemma", "gemma(?:[234]n?)?|t5gemma|codegemma|recurrentgemma|shieldgemma", "transformers issue 36822"),
)


def family_of(name: str) -> Family | None:
    """The family that a model's name or path belongs to."""
    last = name.rstrip("/").rpartition("/")[2]
    return next((family for family in FAMILIES if family.pattern.search(last)), None)


def _fp16_with_bf16_model(config: Config, context: Context) -> Iterator[Finding]:
    name = context.arguments.model_name_or_path if context.arguments else ""
    family = family_of(name)
    if family is None or not enabled(config, "fp16", context) or any(map(refuses_fp16, context.hardware)):
        return  # DeepSpeed stops at fp16 on such a device: that is said, and nothing overflows
    native = bool(context.hardware) and all(map(has_bf16, context.hardware))
    lacking = any(device.bf16 is False or device.capability is not None for device in context.hardware) and not native
    other = advised("DS033.fp32" if lacking else "DS033.bf16")
    instead = hf_hint(context, "DS033.leave_out_fp16" if lacking else "DS033.pass_bf16")
    yield found(
        Severity.WARNING,
        "/fp16/enabled",
        "DS033.family",
        advice=(other, *instead),
        fix=_use_bf16() if native else None,
        model=name[:80],
        family=family.title,
        origin=family.source,
    )


def _use_bf16() -> Fix:
    return Fix.of("use_instead", Change("/fp16/enabled", "false"), Change("/bf16/enabled", "true"), value="bf16")


RULES = (
    Rule(
        "DS033",
        "the model families' own words: see the table in dsgui/core/rules/model.py",
        _fp16_with_bf16_model,
        (Severity.WARNING,),
    ),
)
