"""What a line of DeepSpeed or transformers that allocates does it for: a table of functions, read from 0.14.5 to
0.19.8. A line that no row knows is told as other."""

from dataclasses import dataclass

from dsgui.core.memory.answer import Component, Place


@dataclass(frozen=True, slots=True)
class Line:
    """`where` is file:line below its package, `source` its text. `tag` is what is known of the tensor itself."""

    place: Place
    where: str
    function: str
    source: str
    tag: str = ""


_TAGS = {
    "weight": Component.WEIGHTS,
    "frozen": Component.FROZEN,
    "gradient": Component.GRADIENTS,
    "logits": Component.LOGITS,
}


def component_of(line: Line) -> Component:
    """By its tag, else by its function."""
    return _TAGS.get(line.tag, Component.OTHER)
