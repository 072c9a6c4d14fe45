"""Findings about the names of keys."""

RULES = {
    "DS002": (
        "An unknown key where DeepSpeed is strict",
        "zero_optimization, fp16, bf16 and the other blocks that are pydantic models refuse keys that they do not"
        " have, so a misspelling stops the run at once. A key that says “auto” is dropped before the check and "
        "passes natively.",
    ),
    "DS004": (
        "A key that DeepSpeed ignores",
        "At the top level and in the open blocks (optimizer, scheduler, aio …) DeepSpeed looks for the "
        "keys it knows and silently ignores the rest: a misspelt key simply does nothing. It is a "
        "warning where a known key is near, and a note otherwise, since other programs keep keys of "
        "their own there.",
    ),
    "DS005": (
        "A key of another release",
        "The key came with a later DeepSpeed than the one checked for, or was removed before it. Strict blocks "
        "refuse it; elsewhere it is ignored, except for whole blocks whose removal DeepSpeed reports and stops "
        "at, such as amp or elasticity in 0.19.8.",
    ),
    "DS006": (
        "An old name of a key",
        "DeepSpeed still reads the old name and passes its value to the new one. A file with both is "
        "refused, even where the values agree. Rewrite it; the meaning stays. cpu_offload_use_pin_memory alone is "
        "accepted and read by nobody.",
    ),
    "DS008": (
        "A key in the wrong block",
        "The key exists, but in another block. At the top level and in open blocks DeepSpeed silently "
        "ignores it, so ZeRO keys beside zero_optimization, say, do nothing; strict blocks refuse it. "
        "Move it to where it is read.",
    ),
}

FINDINGS = {
    "DS002.refused": (
        "{key}: {block} has no such key, and DeepSpeed refuses unknown keys there.",
        "Remove it.",
    ),
    "DS002.dropped": (
        "{key}: {block} has no such key; natively DeepSpeed drops one that says “auto”.",
        "Remove it.",
    ),
    "DS004.at_top": (
        "{key}: DeepSpeed knows no such key at the top level and silently ignores it.",
        "Nothing to do if another program reads it; otherwise remove it.",
    ),
    "DS004.in_block": (
        "{key}: DeepSpeed knows no such key in {block} and silently ignores it.",
        "Nothing to do if another program reads it; otherwise remove it.",
    ),
    "DS004.neox": (
        "{named}: DeepSpeed has no such keys at the top level and ignores them; this looks like a GPT-NeoX file: "
        "its own keys are not DeepSpeed's.",
        "Nothing to do if GPT-NeoX reads the file: it makes DeepSpeed's config of it.",
    ),
    "DS004.another_program": (
        "{named}: DeepSpeed has no such keys at the top level and ignores them; they may be another program's.",
        "Nothing to do if another program reads them; otherwise remove them.",
    ),
    "DS005.later_refused": (
        "{key}: added in DeepSpeed {since}; DeepSpeed {release} refuses it.",
        "",
    ),
    "DS005.later_ignored": (
        "{key}: added in DeepSpeed {since}; DeepSpeed {release} ignores it.",
        "",
    ),
    "DS005.removed_refused": (
        "{key}: removed in DeepSpeed {removed}; DeepSpeed {release} refuses it.",
        "",
    ),
    "DS005.removed_ignored": (
        "{key}: removed in DeepSpeed {removed}; DeepSpeed {release} ignores it.",
        "",
    ),
    "DS006.read": (
        "{key}: an old name of {new}, which DeepSpeed {release} still reads.",
        "Rewrite it: the meaning stays.",
    ),
    "DS006.ignored": (
        "{key}: an old name of {new}, which DeepSpeed {release} accepts and does not read: it has no effect.",
        "Remove it; what {new} says, or its default, counts.",
    ),
    "DS006.bfloat16": (
        "bfloat16: an old name of bf16, which the HF Trainer does not look at: the block has no effect.",
        "Rename it to bf16 if it is meant to count; otherwise remove it.",
    ),
    "DS006.both": (
        "{key}: an old name of {new}; DeepSpeed refuses a file with both.",
        "{new} is set as well: remove the old name.",
    ),
    "DS008.refused": (
        "{key}: {block} has no such key, and DeepSpeed refuses it; DeepSpeed reads it as {homes}.",
        "",
    ),
    "DS008.ignored": (
        "{key}: ignored in {block}; DeepSpeed reads it as {homes}.",
        "",
    ),
    "DS008.at_top": (
        "{key}: ignored at the top level; DeepSpeed reads it as {homes}.",
        "",
    ),
}

# What else there is to do.
ADVICE = {
    "DS005.newer": "Remove it, or use DeepSpeed {since} or newer.",
    "DS005.renamed": "{new} takes its place.",
    "DS008.no_scale": "Remove it: bf16 needs no loss scale.",
}
