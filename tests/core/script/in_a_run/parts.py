"""What a source tells of a run of which nothing but the command line is known."""

from collections.abc import Sequence

from dsgui.core.script.in_a_run.parts_trained import PartTrained
from dsgui.core.script.script import ScriptFacts
from dsgui.core.script.taken import values_of_words


def part_trained(script: ScriptFacts, words: Sequence[str]) -> PartTrained:
    """Whether only a part of its model is trained."""
    return script.part_trained(words, values_of_words(script.command_line, tuple(words)))
