"""dsgui's findings and the real DeepSpeed's answer, brought together: where they differ, DeepSpeed is right."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from dsgui.core.config.context import Context
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Finding, Severity
from dsgui.core.config.misspelt import in_order
from dsgui.core.config.pointer import split
from dsgui.core.oracle.answers import DONE, PARSE, Answer, Judge, Verdict
from dsgui.core.oracle.refusals import named_key, places
from dsgui.core.texts.saying import Said, listed, phrase, said, words

REFUSED, WARNED = "DS900", "DS901"
_BATCH = {"train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"}
# Where an error comes from that a parse alone shows to be none: the files that `DeepSpeedConfig` and HF's fill run. The
# class by itself only stores a raw value, and what is wrong with one shows later.
_PARSED = re.compile(
    r"deepspeed/runtime/(config|config_utils|precision_config|zero/config|data_pipeline/config|swap_tensor/aio_config)"
    r"\.py: (?!DeepSpeedConfig$)|deepspeed/monitor/config\.py|transformers/|accelerate/"
)
_MANY_PURPOSES = {"deepspeed/runtime/engine.py", "deepspeed/runtime/config.py", "deepspeed/runtime/config_utils.py"}
_DEVICE = re.compile(r"deepspeed/accelerator/")
_STEPS_LATER = re.compile(r"checkpoint|autotuning|profil", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Merged:
    """`findings` as they stand with the answer. `confirmed`: errors of ours that DeepSpeed raises too; `missed`: what
    it raises and no rule saw; `contradicted`: errors of ours that it does not raise; `standing`: those about what was
    not tried, although DeepSpeed accepts what was."""

    findings: tuple[Finding, ...]
    confirmed: tuple[Finding, ...] = ()
    missed: tuple[Finding, ...] = ()
    contradicted: tuple[Finding, ...] = ()
    standing: tuple[Finding, ...] = ()


def merge(
    findings: Sequence[Finding], answer: Answer, document: Document, context: Context, known: Collection[str]
) -> Merged:
    """The findings with DeepSpeed's answer for this very document and context; `known` are the schema's pointers."""
    ours = [f for f in findings if f.severity is Severity.ERROR]
    refused = refusals(answer, document, known)
    confirmed = [f for f in ours if any(_is_about(f, r) for r in refused)]
    missed = [r for r in refused if not any(_is_about(f, r) for f in ours)]
    contradicted = [f for f in ours if f not in confirmed and _was_tried(f, answer, context)]
    told = [contradiction(f, answer) if f in contradicted else f for f in findings]
    merged = in_order([*missed, *told, *warned(answer, document)], document)
    accepted = answer.verdict is Verdict.ACCEPTED
    standing = [f for f in ours if accepted and f not in contradicted]
    return Merged(tuple(merged), tuple(confirmed), tuple(missed), tuple(contradicted), tuple(standing))


def remarks(answer: Answer, merged: Merged) -> tuple[str, ...]:
    """What has to be said beside the findings: DeepSpeed's own words where a rule has its own, and why errors stand
    although DeepSpeed accepts what it was asked."""
    told = []
    if merged.confirmed and answer.refusal and answer.refusal.raised:
        raised = answer.refusal.raised
        given: dict[str, str | Said] = {"judge": answer.judge.told_first, "words": raised.text, "source": raised.source}
        told.append(words("oracle", "own_words", **given))
    if merged.standing:
        rules = listed(dict.fromkeys(finding.rule for finding in merged.standing))
        told.append(words("oracle", "standing", rules=rules))
    return (*told, *answer.remarks)


def refusals(answer: Answer, document: Document, known: Collection[str]) -> list[Finding]:
    """What DeepSpeed raised, a finding for each key it is about."""
    trial = answer.refusal
    if trial is None or trial.raised is None:
        return []
    advises = (said("advice", "DS900.refused", judge=answer.judge.told),)
    judge, stage = judge_told(answer), trial.stage
    return [
        Finding(
            REFUSED,
            Severity.ERROR,
            pointer,
            said("findings", "DS900.refused", judge=judge, stage=stage, message=message),
            advises,
            source=trial.raised.source,
        )
        for pointer, message in places(trial.raised, document.value, known)
    ]


def judge_told(answer: Answer) -> Said:
    """At the beginning of a sentence; DeepSpeed with its release."""
    if answer.judge is Judge.DEEPSPEED:
        return phrase("deepspeed_release", release=answer.release)
    return answer.judge.told_first


def judge_named(answer: Answer) -> str:
    """The same in words."""
    return str(judge_told(answer))


def warned(answer: Answer, document: Document) -> list[Finding]:
    """What DeepSpeed logged as a warning about a key of the config; the rest is about the trial."""
    about = {text: named_key(text, document.value) for text in answer.warnings}
    return [
        Finding(WARNED, Severity.NOTE, pointer, said("findings", "DS901.warned", release=answer.release, warning=text))
        for text, pointer in about.items()
        if pointer
    ]


def _is_about(finding: Finding, refusal: Finding) -> bool:
    """Whether both are about one thing: the same block, terms of one batch, one place in DeepSpeed's code, or a key
    that the exception names. DeepSpeed seldom stops at the key a person would name; the block is as near as it gets."""
    ours, theirs = split(finding.pointer), split(refusal.pointer)
    if not theirs or ours[:1] == theirs[:1] or {*ours[:1], *theirs[:1]} <= _BATCH:
        return True
    spelled = [re.escape(key).replace("_", "[ _-]") for key in ours if "_" in key]
    raised = str(dict(refusal.says.given)["message"])
    is_named = any(re.search(rf"\b{key}", raised, re.IGNORECASE) for key in spelled)
    return is_named or any(_one_place(source, refusal.source) for source in finding.source.split(", "))


def _one_place(ours: str, theirs: str) -> bool:
    """Whether a rule names the code that raised: the same function, or a file that has one purpose."""
    file = theirs.partition(":")[0]
    return bool(ours) and (ours == theirs or (ours.partition(":")[0] == file and file not in _MANY_PURPOSES))


def _was_tried(finding: Finding, answer: Answer, context: Context) -> bool:
    """Whether DeepSpeed came past the place where it would have raised this, under the circumstances of the context."""
    if _DEVICE.search(finding.source) and answer.question.lend:
        return False
    if _PARSED.match(finding.source):
        return answer.passed(PARSE)
    anywhere = answer.has_trained and not context.hardware  # no device is named, so this one is as good as any
    return (anywhere or answer.is_complete) and not _STEPS_LATER.search(finding.source)


def contradiction(finding: Finding, answer: Answer) -> Finding:
    """An error of ours that DeepSpeed does not raise, as the note that is left of it."""
    says = said("findings", "DS900.accepted", finding=finding.says, release=answer.release)
    return replace(finding, severity=Severity.NOTE, says=says, advises=(), fix=None)


def is_accepted(answer: Answer) -> bool:
    """Whether everything that was asked for went through."""
    return answer.verdict is Verdict.ACCEPTED and all(trial.stage == DONE for trial in answer.trials)
