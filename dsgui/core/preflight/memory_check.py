"""Whether a launch fits the memory that it will find: the verdict of the memory model as a check before the start."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Context
from dsgui.core.config.schema import Schema
from dsgui.core.machine.hardware import Hardware
from dsgui.core.machine.verdicts import Sentences, Verdict, advise, ok, problem, saw, unknown, warning
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits.fitting import Case, Fitted, fit
from dsgui.core.memory.fits.memory_report import headline, remedies
from dsgui.core.memory.fits.overhead import asks_for_expandable
from dsgui.core.memory.fits.room import Room, room_of
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.memory.question import Group
from dsgui.core.preflight.surroundings import Launch, Question, Surroundings
from dsgui.core.script.words import value_of
from dsgui.core.texts.saying import Said, as_told, said

_WORKERS = ("--dataloader_num_workers",)
_MOST_WORKERS = 10_000


def with_memory(
    launch: Launch,
    around: Surroundings,
    context: Context,
    schema: Schema,
    arguments: TrainingArguments | None = None,
    environment: Mapping[str, str] | None = None,
) -> Launch:
    """The launch with what it takes, where a model is named; `context` is what its config was checked for."""
    if around.shape is None or launch.unreadable or not launch.handed:
        return launch
    if around.script.trains_a_part and not launch.choice.lora_rank:
        return replace(launch, memory=CannotSay(said("memory_cannot", "part")))
    found = (*launch.findings, *launch.by_arguments)
    case = Case(launch.config, replace(context, arguments=arguments), found, around.shape, launch.choice)
    question = Question(launch, around)
    fitted = fit(case, schema, lambda group: _room(question, group, environment or {}))
    return replace(launch, memory=fitted)


def _room(question: Question, group: Group, environment: Mapping[str, str]) -> Room:
    """Of this machine; of others nothing is known here."""
    elsewhere, machine = question.launch.elsewhere, question.around.machine
    workers = value_of(question.launch.arguments, _WORKERS) or ""
    return room_of(
        () if elsewhere else _devices(question),
        None if elsewhere else machine.host,
        group,
        gpus=() if elsewhere else question.gpus,
        expandable=asks_for_expandable(environment),
        workers=min(int(workers), _MOST_WORKERS) if workers.isascii() and workers.isdecimal() else 0,
    )


def _devices(question: Question) -> tuple[Hardware, ...]:
    if not question.gpus:
        return (Hardware("this", "CPU", "cpu"),)
    return tuple(Hardware("this", one.name, "nvidia", one.capability, one.memory_bytes) for one in question.gpus)


def memory(question: Question) -> Verdict | None:
    fitted = question.launch.memory
    if fitted is None:
        return None
    if isinstance(fitted, CannotSay):
        return unknown(fitted.why)
    return _JUDGED[fitted.verdict.fit](fitted)


def _fits(fitted: Fitted) -> Verdict:
    return ok(saw("model_memory.rooms", rooms=headline(fitted)))


def _tight(fitted: Fitted) -> Verdict:
    return warning(_seen(fitted), _advice(fitted))


def _short(fitted: Fitted) -> Verdict:
    """On CPU ranks the model has less to go by."""
    return (warning if fitted.room.on_cpu else problem)(_seen(fitted), _advice(fitted))


def _unknown(fitted: Fitted) -> Verdict:
    return unknown(saw("model_memory.rooms", rooms=headline(fitted)))


_JUDGED: Mapping[Fit, Callable[[Fitted], Verdict]] = {
    Fit.FITS: _fits,
    Fit.TIGHT: _tight,
    Fit.SHORT: _short,
    Fit.UNKNOWN: _unknown,
}


def _seen(fitted: Fitted) -> Sentences:
    return (saw("model_memory.in_all", rooms=headline(fitted)), *fitted.verdict.short)


def _advice(fitted: Fitted) -> Said:
    largest = remedies(fitted)
    return as_told(largest) if largest else advise("model_memory.see_configure")
