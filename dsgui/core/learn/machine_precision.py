"""A step's config and arguments on a machine that has no fp16: the tutorial's own, in bf16 there."""

from dsgui.core.config.document import Document

_ASKS = ("--fp16", "--bf16")


def without_fp16(text: str, arguments: str) -> tuple[str, str]:
    """The config with fp16 off and bf16 on, and the arguments to match; both as they were if the config has no fp16."""
    document = Document(text)
    fp16 = document.node("/fp16/enabled")
    if fp16 is None or fp16.value is not True:
        return text, arguments
    changed = document.set("/fp16/enabled", "false").set("/bf16/enabled", "true")
    words = [_ASKS[1] if word == _ASKS[0] else word for word in arguments.split(" ")]
    return changed.text, " ".join(words)
