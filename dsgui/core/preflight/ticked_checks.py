"""Whether the run does what the memory panel has a tick for: gradient checkpointing, and a model that is built within
`deepspeed.zero.Init`. A tick changes no script."""

from dsgui.core.config.context import Integration
from dsgui.core.launch.handing import trainers_part
from dsgui.core.machine.verdicts import Verdict, advise, saw, warning
from dsgui.core.memory.choice import of_words
from dsgui.core.preflight.handing_checks import Offer
from dsgui.core.preflight.surroundings import Question
from dsgui.core.rules.base import zero_stage
from dsgui.core.script.command_line import UNSET
from dsgui.core.texts.saying import said

_OPTION, _FIELD = "--gradient_checkpointing", "gradient_checkpointing"


def untold(question: Question) -> bool:
    """Whether gradient checkpointing is ticked and not among the HF Trainer's arguments, and the script doesn't turn it
    on otherwise: by a call of its own, or by a class whose default it is."""
    otherwise = question.around.script.turns_recomputing_on or any(
        one.name == _FIELD and one.default not in (False, UNSET) for one in question.taken.options
    )
    return _is_ticked_only(question) and _takes_options(question) and not otherwise


def checkpointing(question: Question) -> Verdict | None:
    """None where nothing is ticked, and where the script may do it by itself."""
    if question.launch.memory is None or not _is_ticked_only(question):
        return None
    if untold(question):
        return warning(saw("checkpointing.untold"), advise("checkpointing.add"))
    if _takes_options(question) or question.around.script.problem or question.around.script.recomputes:
        return None
    return warning(saw("checkpointing.nowhere"), advise("checkpointing.in_code"))


def zero_init(question: Question) -> Verdict | None:
    """Natively only: the HF Trainer always does it at stage 3."""
    launch, script = question.launch, question.around.script
    if launch.memory is None or not launch.choice.zero_init or launch.reader is not Integration.NATIVE:
        return None
    if zero_stage(question.config) != 3 or not launch.script or script.problem or script.builds_divided:
        return None
    return warning(saw("zero_init.nowhere"), advise("zero_init.in_code"))


def offer(question: Question) -> Offer | None:
    """One click: the argument of what is ticked."""
    if question.launch.memory is None or not untold(question):
        return None
    words = (_OPTION, "True")
    return Offer(said("offers", "add", words=" ".join(words)), None, words, without=(_OPTION,), at="checkpointing")


def _is_ticked_only(question: Question) -> bool:
    launch, file = question.launch, question.around.arguments_file
    ticked = launch.choice.checkpointing and not of_words(launch.arguments).checkpointing
    return bool(launch.script) and ticked and not of_words(file.words).checkpointing and not file.values.get(_FIELD)


def _takes_options(question: Question) -> bool:
    launch = question.launch
    return trainers_part(launch.config_argument, question.around.script, launch.arguments).takes_options
