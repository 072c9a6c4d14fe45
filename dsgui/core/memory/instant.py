"""The instant answer: a config, a model and the ranks led through the models of DeepSpeed's engines; no DeepSpeed, no
torch, a few milliseconds."""

from collections.abc import Iterator
from functools import lru_cache

from dsgui.core.config.context import LATEST_KNOWN, version_tuple
from dsgui.core.memory.answer import Answer, CannotSay, Source
from dsgui.core.memory.coverage import not_covered, refused_with_autocast
from dsgui.core.memory.engines.divided import Divided
from dsgui.core.memory.engines.job import Engine, Job, Made, grouped
from dsgui.core.memory.engines.mixed import Mixed
from dsgui.core.memory.engines.muon import halves
from dsgui.core.memory.engines.partitioned import Partitioned
from dsgui.core.memory.engines.plain import Plain
from dsgui.core.memory.engines.swapping import Stops
from dsgui.core.memory.engines.unfused import Unfused
from dsgui.core.memory.modules import AS_USUAL, Linears
from dsgui.core.memory.question import Group, Question, Workload
from dsgui.core.memory.settings import Settings, settings_of
from dsgui.core.memory.walk import Walk
from dsgui.core.memory.walking import walk_of
from dsgui.core.texts.saying import Said, said

ON_HOST = Made()
ALIKE = (0, 19)  # releases from here on allocate as the one whose lines the engines' models follow


def answer(question: Question, made: Made = ON_HOST) -> Answer | CannotSay:
    """Of one rank's last step, when all states exist; `made` says how the script makes the model. "Cannot say" names
    what there is no case for."""
    settings = settings_of(question.config, question.release)
    why = not_covered(question.config, settings, question.release) or refused_with_autocast(question, settings)
    if why is not None:
        return CannotSay(why)
    walk = walk_for(question, settings, made)
    return walk if isinstance(walk, CannotSay) else answer_on(walk, question, made)


def walk_for(question: Question, settings: Settings, made: Made = ON_HOST) -> Walk | CannotSay:
    """The model's walk as these settings have it."""
    return walk_of(question.model, question.workload, settings.precision, linears_of(question.workload, settings, made))


def linears_of(workload: Workload, settings: Settings, made: Made = ON_HOST) -> Linears:
    """Only beside LoRA are there frozen weights. A model that was divided as it was made is not cast by the engine
    (engine.py:2077), so adapters stay as peft made them."""
    if settings.autocast:
        return Linears(lower=settings.autocast, inside=settings.keeps_inputs)
    if workload.lora is None or settings.stage != 3:
        return AS_USUAL
    return Linears(settings.keeps_inputs, wide=made.inside and settings.is_16_bit)


def answer_on(walk: Walk, question: Question, made: Made = ON_HOST) -> Answer | CannotSay:
    """The answer where the walk is there already; why not, where something has no case or DeepSpeed would stop."""
    settings = settings_of(question.config, question.release)
    why = refused_with_autocast(question, settings)
    if why is not None:
        return CannotSay(why)
    return _led_through(
        walk, settings, question.group, made, question.by_decay, question.on_cpu, tuple(_left_out(question.release))
    )


@lru_cache(maxsize=128)
def _led_through(
    walk: Walk,
    settings: Settings,
    group: Group,
    made: Made,
    by_decay: bool,
    on_cpu: bool,
    left_out: tuple[Said, ...],
) -> Answer | CannotSay:
    """Configs that differ in what memory doesn't hang on have one answer; and a planner's is asked for again when its
    edits are judged."""
    try:
        ledger = engine_for(walk, settings, group, made, by_decay=by_decay, on_cpu=on_cpu).run()
    except Stops as stop:
        return CannotSay(said("memory_notes", stop.code, key=stop.key))
    assumed = (*walk.assumed, *_assumed(walk, settings))
    peaks, kept = ledger.peaks(), ledger.pins_kept()
    return Answer(Source.FORMULA, peaks, walk.every, walk.trained, assumed, left_out, pins_kept=kept)


def _left_out(release: str) -> Iterator[Said]:
    """Older engines allocate otherwise: 0.16's stage 0 with bf16 keeps its gradients in fp32, among other things."""
    if version_tuple(release) < ALIKE:
        yield said("memory_notes", "older_release", known=LATEST_KNOWN, release=release)


def _assumed(walk: Walk, settings: Settings) -> Iterator[Said]:
    """zero.Init divides a tied weight twice, before it is tied. Where DeepSpeed defragments it collects what is free
    (zero/utils.py:233); offloaded parameters it does not."""
    if settings.stage == 3 and settings.params_at.is_on and walk.copies():
        yield said("memory_notes", "tied_weights")


def engine_for(
    walk: Walk,
    settings: Settings,
    group: Group,
    made: Made = ON_HOST,
    *,
    by_decay: bool = True,
    on_cpu: bool = False,
) -> Engine:
    groups = grouped(walk, by_decay)
    if settings.is_muon:
        groups = tuple(halves(groups, sorts=settings.stage != 3 or not made.inside))
    job = Job(walk, settings, group.ranks, group.rank, groups, made, on_cpu)
    return class_for(settings)(job)


def class_for(settings: Settings) -> type[Engine]:
    """engine.py:2297–2325."""
    if settings.stage == 3:
        return Divided
    is_mixed = settings.precision == "bf16" and settings.accumulated == 4 and not settings.optimizer_at.is_on
    if settings.stage == 1 and is_mixed:
        return Mixed
    if settings.stage:
        return Partitioned
    return Unfused if settings.is_muon and settings.is_16_bit else Plain
