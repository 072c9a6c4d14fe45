"""Many findings of one cause, told as one: a template's placeholders, another program's keys, one edit of one key."""

import re
from collections.abc import Sequence
from dataclasses import replace

from dsgui.core.config.document import Document
from dsgui.core.config.findings import Finding, Severity
from dsgui.core.config.misspelt import awaited
from dsgui.core.config.pointer import dotted, split
from dsgui.core.texts.saying import Said, listed, phrase, said

# What stands for a value: TRAIN_BATCH_SIZE, ${stage}, {{ stage }}, <stage>, __STAGE__, %(stage)s.
_PLACEHOLDER = re.compile(
    r"[A-Z][A-Z0-9]*+(?>(?:_\w++)+)|\$\{[^{}]{1,80}\}|\{\{[^{}]{1,80}\}\}|<[^<>]{1,80}>|__\w{1,80}|%\(\w{1,80}\)s"
)
_OF_A_VALUE = ("DS001", "DS013")  # the schema's and, of the same, the HF Trainer's
_TYPES = {"/fp16/enabled": "bf16", "/bf16/enabled": "fp16"}  # with the block of the other
_MOST_LISTED = 5
# Top-level keys by which a file of GPT-NeoX is known; it writes DeepSpeed's own part itself.
_NEOX = {
    *("num_layers", "hidden_size", "num_attention_heads", "seq_length", "max_position_embeddings", "pos_emb"),
    *("no_weight_tying", "gpt_j_residual", "output_layer_parallelism", "pipe_parallel_size", "model_parallel_size"),
    *("train_iters", "lr_decay_iters", "lr_decay_style", "rotary_pct", "attention_config", "tokenizer_type"),
}
_ENOUGH = 4


def fold(findings: Sequence[Finding], document: Document) -> list[Finding]:
    """The findings, with one in place of many where they have one cause."""
    return _one_an_edit(_one_of_the_trainer(_other_program(_template(findings, document), document), document))


def _one_of_the_trainer(findings: Sequence[Finding], document: Document) -> list[Finding]:
    """Of what the HF Trainer stops at, because it is no number or a text, no other finding says so once more; nor that
    DeepSpeed would stop at a 16-bit type of the arguments beside the file's, which accelerate lets nobody get to."""
    texts = {pointer for pointer, node in document.nodes if isinstance(node.value, str)}
    stops = [f for f in findings if f.rule == "DS013" and f.severity is Severity.ERROR]
    told = {f.pointer for f in stops if f.code == "DS013.never" or f.pointer in texts}
    typed = {f.pointer for f in stops} & _TYPES.keys()
    never = {"DS020"} if any(_TYPES[pointer] not in document.value for pointer in typed) else set()
    rest = [f for f in findings if f.rule not in never and (f.rule != "DS001" or f.pointer not in told)]
    # A text that it stops at within the file is one that the schema refuses, with what to write instead.
    refused = {f.pointer for f in rest if f.rule == "DS001" and f.severity is Severity.ERROR} & texts
    return [f for f in rest if f.code != "DS014.stopped" or f.pointer not in refused]


def _one_an_edit(findings: Sequence[Finding]) -> list[Finding]:
    """Of those that ask for the same edits of the same key the worst, of two such the later, which says more: a rule's
    comes after the schema's."""
    worst: dict[object, Finding] = {}
    for finding in findings:
        kept = worst.get(_edit(finding))
        if kept is None or finding.severity.rank <= kept.severity.rank:
            worst[_edit(finding)] = finding
    return [finding for finding in findings if worst[_edit(finding)] is finding]


def _edit(finding: Finding) -> object:
    return (finding.pointer, frozenset(finding.fix.changes)) if finding.fix else id(finding)


def _template(findings: Sequence[Finding], document: Document) -> list[Finding]:
    """Values that stand for values: none of them can be judged. One alone may be a text that was meant, but not where
    its comma is a part of it: nobody quoted it."""
    held = {pointer: node.value for pointer, node in document.nodes}
    mine = [f for f in findings if f.rule in _OF_A_VALUE and stands_for_a_value(held.get(f.pointer))]
    values = {f.pointer: str(held[f.pointer]) for f in mine if f.rule == "DS001"}
    if len(values) < 2 and not any(value.endswith(",") for value in values.values()):
        return list(findings)
    named = _listed([value.rstrip(",") for value in values.values()])
    one = replace(
        min((f for f in mine if f.rule == "DS001"), key=lambda f: f.severity.rank),
        says=said("findings", "DS001.template", named=named),
        advises=(said("advice", "DS001.template"),),
        fix=None,
    )
    return _instead(findings, mine, one)


def stands_for_a_value(value: object) -> bool:
    """Whether it is a template's placeholder, with the comma that hjson takes for a part of it."""
    return isinstance(value, str) and _PLACEHOLDER.fullmatch(value.rstrip(",")) is not None


def _other_program(findings: Sequence[Finding], document: Document) -> list[Finding]:
    """Keys at the top level that DeepSpeed has not: many of them are another program's. One that others wait for stays
    by itself, with its renaming."""
    kept = {id(f) for f in awaited(findings)}
    ignored = [f for f in findings if f.rule == "DS004" and len(split(f.pointer)) == 1 and id(f) not in kept]
    is_neox = sum(key.replace("-", "_") in _NEOX for key in document.value) >= _ENOUGH
    mine = ignored if is_neox else [f for f in ignored if f.severity is Severity.NOTE]
    if len(mine) <= _MOST_LISTED:
        return list(findings)
    named = _listed([dotted(f.pointer) for f in mine])
    code = "DS004.neox" if is_neox else "DS004.another_program"
    one = replace(
        mine[0],
        severity=Severity.NOTE,
        says=said("findings", code, named=named),
        advises=(said("advice", code),),
        fix=None,
    )
    return _instead(findings, mine, one)


def _instead(findings: Sequence[Finding], many: Sequence[Finding], one: Finding) -> list[Finding]:
    gone = {id(finding) for finding in many}
    return [one if f is many[0] else f for f in findings if f is many[0] or id(f) not in gone]


def _listed(names: Sequence[str]) -> str | Said:
    names = list(dict.fromkeys(names))
    shown = listed(names[:_MOST_LISTED])
    rest = len(names) - _MOST_LISTED
    return phrase("and_more", names=shown, rest=str(rest)) if rest > 0 else shown
