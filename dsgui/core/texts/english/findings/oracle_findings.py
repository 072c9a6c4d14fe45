"""Findings of the real DeepSpeed."""

FINDINGS = {
    "DS900.refused": (
        "{judge} refuses this ({stage}): {message}",
        "These are {judge}'s own words: dsgui's rules have no error there.",
    ),
    "DS900.accepted": (
        "dsgui's rules say: {finding} But DeepSpeed {release} accepts it here, and DeepSpeed is right.",
        "",
    ),
    "DS901.warned": (
        "DeepSpeed {release} warns: {warning}",
        "",
    ),
}
