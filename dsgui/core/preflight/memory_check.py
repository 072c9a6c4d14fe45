"""Whether a launch fits the memory that it will find: the verdict of the memory model as a check before the start."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Context
from dsgui.core.config.filling import ARGUMENTS
from dsgui.core.config.pointer import lookup
from dsgui.core.config.schema import Schema
from dsgui.core.machine.hardware import Hardware
from dsgui.core.machine.verdicts import Sentences, Verdict, advise, ok, problem, saw, unknown, warning
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits.fitting import Case, Fitted, fit
from dsgui.core.memory.fits.memory_report import headline, key_of, remedies
from dsgui.core.memory.fits.nvme import Nvme, folders_of
from dsgui.core.memory.fits.outside import asks_for_unrounded, label_of, offer_of, outside, with_setting
from dsgui.core.memory.fits.overhead import asks_for_expandable
from dsgui.core.memory.fits.room import Room, room_of
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.memory.question import Group
from dsgui.core.preflight.handing_checks import Offer
from dsgui.core.preflight.surroundings import Launch, Question, Surroundings
from dsgui.core.preflight.ticked_checks import untold
from dsgui.core.script.in_a_run.parts_trained import PartTrained
from dsgui.core.script.words import value_of
from dsgui.core.texts.saying import Said, as_told, said

_OF_ROOMS = ("short_gpu", "short_host", "short_nvme")  # what the rooms say: so much of so much
_WORKERS = ("--dataloader_num_workers",)
_MOST_WORKERS = 10_000
MODEL_MEMORY = "model_memory"


def with_memory(
    launch: Launch,
    around: Surroundings,
    context: Context,
    schema: Schema,
    arguments: TrainingArguments | None = None,
) -> Launch:
    """The launch with what it takes, where a model is named, and what would make it fit better; `context` is what its
    config was checked for."""
    if around.shape is None or launch.unreadable or not launch.handed:
        return launch
    part = around.part_trained(launch)
    case, fitted = fitted_case(launch, around, context, schema, arguments)
    if not trains_whole(launch, around):
        return replace(launch, memory=CannotSay(_part(part, fitted)))
    if isinstance(fitted, CannotSay):
        return replace(launch, memory=fitted)
    better = outside(fitted, case, schema, around.version("torch"))
    return replace(launch, memory=fitted, outside=better)


def trains_whole(launch: Launch, around: Surroundings) -> bool:
    """Whether it is known what of its model trains: all of it, or adapters of a rank that was given."""
    return around.part_trained(launch).trains is False or bool(launch.choice.lora_rank)


def _part(part: PartTrained, whole: Fitted | CannotSay) -> Said:
    """`whole`: were all of the model trained."""
    if part.on is None:
        return said("memory_cannot", "part")
    on = {"condition": part.on.shown, "line": str(part.on.line)}
    if isinstance(whole, CannotSay):
        return said("memory_cannot", "part_perhaps", **on)
    return said("memory_cannot", "part_or_whole", **on, whole=headline(whole, exact=False))


def fitted_case(
    launch: Launch, around: Surroundings, context: Context, schema: Schema, arguments: TrainingArguments | None
) -> tuple[Case, Fitted | CannotSay]:
    """What is judged, and the verdict."""
    found = (*launch.findings, *launch.by_arguments)
    choice = replace(launch.choice, checkpointing=launch.choice.checkpointing and not untold(Question(launch, around)))
    model = around.shape or CannotSay(said("memory_cannot", "no_model"))
    case = Case(launch.config, replace(context, arguments=arguments), found, model, choice)
    question = Question(launch, around)
    return case, fit(case, schema, lambda group: _room(question, group, context.release))


def _environment(question: Question) -> Mapping[str, str]:
    """Of the run, as far as it asks something of torch's allocators."""
    return {**question.around.inherited, **question.launch.environment}


def _room(question: Question, group: Group, release: str) -> Room:
    """Of this machine; of others what was planned."""
    environment = _environment(question)
    elsewhere, machine = question.launch.elsewhere, question.around.machine
    return room_of(
        question.context.hardware if elsewhere else _devices(question),
        None if elsewhere else machine.host,
        group,
        gpus=() if elsewhere else question.gpus,
        expandable=asks_for_expandable(environment),
        workers=_workers(value_of(question.launch.arguments, _WORKERS) or ""),
        unrounded=asks_for_unrounded(environment),
        sharpened=None if elsewhere else question.around.sharpened,
        host_bytes=question.launch.planned.host_bytes if elsewhere else None,
        release=release,
        nvme=None if elsewhere else _folder(question),
    )


def _folder(question: Question) -> Nvme | None:
    """The one that the config offloads to, else the one that it may: what a leaner config would use."""
    known = question.around.folders
    found = (known.get(name) for name in (*folders_of(question.config), question.launch.choice.nvme))
    return next((one for one in found if isinstance(one, Nvme)), None)


def _workers(written: str) -> int:
    """Of a number that may be too long for Python to read; 0 for what is none."""
    is_number = written.isascii() and written.isdecimal()
    return min(int(written.lstrip("0")[: len(str(_MOST_WORKERS)) + 1] or 0), _MOST_WORKERS) if is_number else 0


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
    return _JUDGED[fitted.verdict.fit](question, fitted)


def _fits(question: Question, fitted: Fitted) -> Verdict:
    """What a host that nobody described has to have is nothing to be silent about."""
    if fitted.verdict.host_asked:
        return warning(_seen(fitted), advise("model_memory.describe_host"))
    return ok(*_headed(fitted))


def _tight(question: Question, fitted: Fitted) -> Verdict:
    return warning(_seen(fitted), _advice(question, fitted))


def _short(question: Question, fitted: Fitted) -> Verdict:
    """On CPU ranks as on GPUs: what is likely is more than there is. A shape guessed by a model's name stops no
    launch, nor do machines that are only planned for."""
    judged = warning if fitted.question.model.planned_as or question.launch.elsewhere else problem
    return judged(_seen(fitted), _advice(question, fitted))


def _unknown(question: Question, fitted: Fitted) -> Verdict:
    return unknown(*_headed(fitted))


_JUDGED: Mapping[Fit, Callable[[Question, Fitted], Verdict]] = {
    Fit.FITS: _fits,
    Fit.TIGHT: _tight,
    Fit.SHORT: _short,
    Fit.UNKNOWN: _unknown,
}


def _seen(fitted: Fitted) -> Sentences:
    rooms = saw("model_memory.in_all", rooms=headline(fitted, exact=False))
    rest = (one for one in fitted.verdict.short if one.code not in _OF_ROOMS)
    return (rooms, *fitted.guesses, *rest)


def _headed(fitted: Fitted) -> Sentences:
    return (saw("model_memory.rooms", rooms=headline(fitted, exact=False)), *fitted.guesses)


def _named(question: Question, key: str) -> str:
    """As somebody changes it: "auto" is what an argument says."""
    filled = ARGUMENTS.get(key) if lookup(question.config, key) == "auto" else None
    return f"--{filled[0]}" if filled else key_of(key)


def _advice(question: Question, fitted: Fitted) -> Sentences:
    largest = remedies(fitted, partial(_named, question))
    told = as_told(largest) if largest else advise("model_memory.see_configure")
    environment, torch = _environment(question), question.around.version("torch")
    offers = (label_of(one, environment, torch) for one in question.launch.outside)
    return (told, *(advise("model_memory.offer", offer=one) for one in offers))


def offer(question: Question) -> Offer | None:
    """One click: what makes it fit best, and is no key of the config."""
    if not question.launch.outside:
        return None
    best = min(question.launch.outside, key=lambda one: one.after.verdict.fit is not Fit.FITS)
    environment, torch = _environment(question), question.around.version("torch")
    variables = (with_setting(environment, best.setting, torch),) if best.setting else ()
    words = (best.option,) if best.option else ()
    asked = question.launch.config_argument
    return Offer(offer_of(best), asked, words, variables=variables, stays=True, at=MODEL_MEMORY)
