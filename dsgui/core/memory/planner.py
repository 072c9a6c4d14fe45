"""Which other configs there are for the same model, batch and ranks, from the fastest to the leanest, and the cheapest
change that makes one fit. Speed is an order by estimate (`core/memory/cost.py`), never a time."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from dsgui.core.config.findings import Change
from dsgui.core.config.pointer import MISSING, lookup, split
from dsgui.core.memory.answer import Answer, CannotSay, Device, Moment, Place
from dsgui.core.memory.cost import Cost, cost_of, relative
from dsgui.core.memory.engines.job import Made
from dsgui.core.memory.engines.swapping import PARAM_SIZE, Stops
from dsgui.core.memory.fits.room import Room
from dsgui.core.memory.fits.verdict import Fit, is_too_much, judge
from dsgui.core.memory.instant import ON_HOST, answer, answer_on, engine_for, linears_of, walk_for
from dsgui.core.memory.modules import Linears
from dsgui.core.memory.question import Question, Workload
from dsgui.core.memory.settings import (
    ACCUMULATION,
    BUCKET,
    LIVE,
    OPTIMIZER_DEVICE,
    PARAM_DEVICE,
    PREFETCH,
    REUSE,
    STAGE,
    SUB_GROUP,
    Settings,
    settings_of,
)
from dsgui.core.memory.walk import Walk
from dsgui.core.texts.saying import Said, said

MICRO_BATCH = "/train_micro_batch_size_per_gpu"
SMALL_BUCKET, SMALL_SUB_GROUP = 50_000_000, 100_000_000
FEW_LIVE, NEAR_REUSE = 100_000_000, 10_000_000
NVME_PATH = "nvme_path"
_MILLION = 1_000_000
STAGE_MOVES = ("", "stage_1", "stage_2", "stage_3")


@dataclass(frozen=True, slots=True)
class Means:
    """What a plan may use: the room there is, a folder on NVMe ("" where there is none), and how the script makes the
    model."""

    room: Room
    nvme_path: str = ""
    made: Made = ON_HOST

    def lacking(self, found: Answer, config: Mapping[str, Any]) -> frozenset[Device]:
        """What is too small for this config, or so small that it may be."""
        verdict = judge(found, self.room.of_config(config))
        looked_at = (Device.GPU, Device.HOST, Device.NVME)
        return frozenset(one for one in looked_at if verdict.fit_of(one) not in (Fit.FITS, Fit.UNKNOWN))


def means_of(room: Room, made: Made) -> Means:
    """All that a room offers."""
    return Means(room, room.nvme.path if room.nvme else "", made)


@dataclass(frozen=True, slots=True)
class Rung:
    """One config of the ladder. `moves` are codes of what it changes (texts: `memory_moves`), `changes` the edits of
    the config that make it so, `workload` what the script is given then. `slower` than what was asked, by estimate."""

    moves: tuple[str, ...]
    changes: tuple[Change, ...]
    workload: Workload
    answer: Answer
    cost: Cost
    slower: float

    def said(self) -> Iterator[Said]:
        """The moves in words, a smaller micro batch with its figures: several rungs differ in it alone."""
        counts = {"micro": str(self.workload.micro_batch), "steps": str(self.steps)}
        return (said("memory_moves", code, **(counts if code == "micro_batch" else {})) for code in self.moves)

    @property
    def steps(self) -> int:
        """How often gradients are accumulated, where the micro batch is a smaller one; else 1."""
        return next((int(one.literal or 0) for one in self.changes if one.pointer == ACCUMULATION), 1)


Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of an axis: values to write into the config (None removes), and what it does to the workload."""

    code: str = ""
    values: Values = field(default_factory=dict)
    checkpoints: bool = False
    halvings: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A choice of every axis, with its question. `place` counts how lean each choice is: 0 as asked."""

    place: tuple[int, ...]
    options: tuple[Option, ...]
    question: Question
    settings: Settings
    walk: Walk
    cost: Cost

    @property
    def moves(self) -> tuple[str, ...]:
        return tuple(option.code for option in self.options if option.code)

    @property
    def on_nvme(self) -> bool:
        return self.settings.optimizer_at.is_nvme or self.settings.params_at.is_nvme


Axis = Callable[[Question, Means], list[Option]]


def _stages(question: Question, means: Means) -> list[Option]:
    stage = settings_of(question.config, question.release).stage
    return [Option(), *(Option(STAGE_MOVES[more], {STAGE: more}) for more in range(stage + 1, 4))]


def _checkpointing(question: Question, means: Means) -> list[Option]:
    return [Option()] if question.workload.checkpointing else [Option(), Option("checkpointing", checkpoints=True)]


def _micro_batches(question: Question, means: Means) -> list[Option]:
    """Halved and halved again; as many more are accumulated, so that the batch stays."""
    found, left = [Option()], question.workload.micro_batch
    while left > 1 and left % 2 == 0:
        left //= 2
        found.append(Option("micro_batch", halvings=len(found)))
    return found


def _offloads(code: str, device: str) -> Axis:
    def axis(question: Question, means: Means) -> list[Option]:
        block = device.rpartition("/")[0]
        found = [Option()]
        if lookup(question.config, device) in (MISSING, None, "none"):
            found.append(Option(f"{code}_cpu", {device: "cpu"}))
        if means.nvme_path and lookup(question.config, device) != "nvme":
            values = {device: "nvme", f"{block}/{NVME_PATH}": means.nvme_path}
            larger = _room_for_parts(question, means) if device == PARAM_DEVICE else {}
            found.append(Option(f"{code}_nvme", values | larger))
        return found

    return axis


def _room_for_parts(question: Question, means: Means) -> dict[str, Any]:
    """What else DeepSpeed needs so as not to stop: swap buffers as long as the longest part of a weight; and where
    parts are read in each step, no reading ahead, which would read one twice (partitioned_param_coordinator.py:667)."""
    settings = settings_of(question.config, question.release)
    walk = walk_for(question, settings, means.made)
    if isinstance(walk, CannotSay):
        return {}
    parts = [-(-weight.numel // question.group.ranks) for weight in walk.weights().values()]
    longest, at = max(parts, default=0), settings.params_at
    found = {PARAM_SIZE: -(-longest // _MILLION) * _MILLION} if longest > at.buffer_size else {}
    return found | ({PREFETCH: 0} if sum(parts) > at.max_in_cpu else {})


def _smaller(code: str, values: Values) -> Axis:
    """Sizes made smaller; none where all are as small already."""

    def axis(question: Question, means: Means) -> list[Option]:
        set_lower = {p: v for p, v in values.items() if _number(lookup(question.config, p)) > v}
        return [Option(), Option(code, set_lower)] if set_lower else [Option()]

    return axis


def _number(value: Any) -> float:
    """What is not set counts as large: DeepSpeed's defaults are."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else float("inf")


AXES: tuple[Axis, ...] = (
    _stages,
    _checkpointing,
    _micro_batches,
    _smaller("small_bucket", {BUCKET: SMALL_BUCKET}),
    _smaller("small_sub_group", {SUB_GROUP: SMALL_SUB_GROUP}),
    _smaller("few_live", {LIVE: FEW_LIVE, REUSE: NEAR_REUSE}),
    _offloads("offload_optimizer", OPTIMIZER_DEVICE),
    _offloads("offload_param", PARAM_DEVICE),
)
# What changes nothing below stage 3, or without an optimizer that is divided.
_ONLY_STAGE_3 = ("small_sub_group", "few_live", "offload_param_cpu", "offload_param_nvme", "offload_optimizer_nvme")
_NOT_STAGE_0 = ("small_bucket", "offload_optimizer_cpu")
# What leaves the host's bytes as they are.
_OFFLOADED = ([6], [7], [6, 7], [1, 6], [1, 7], [1, 6, 7])  # axes often changed together, at whatever stage
_HOST_AXES = (0, 4, 6, 7)
# What is there before the first forward as well: all but checkpointing, micro batch and what is gathered.
_OUTSET_AXES = (0, 3, 4, 6, 7)


def cheapest_fit(question: Question, means: Means) -> Rung | CannotSay | None:
    """What was asked where that fits; else the fastest config that does, by estimate, and of equals the one with the
    fewest changes. None where none fits."""
    asked = answer(question, means.made)
    if isinstance(asked, CannotSay):
        return asked

    def order(one: Candidate) -> tuple[bool, float, int]:
        return bool(one.moves), one.cost.per_token, len(one.moves)

    if not means.lacking(asked, question.config):
        return _rung(next(_candidates(question, means)), asked, question)
    candidates = sorted(_candidates(question, means), key=order)
    for candidate, found in _tried(candidates, means):
        return _rung(candidate, found, question)
    return None


def ladder(question: Question, means: Means) -> tuple[Rung, ...] | CannotSay:
    """What was asked, and every change by itself and on top of the others; those that are slower than another and take
    no less of anything are left out. Fastest first."""
    asked = answer(question, means.made)
    if isinstance(asked, CannotSay):
        return asked
    tried = _candidates(question, means, _is_on_staircase)
    told = ((candidate, answer_on(candidate.walk, candidate.question, means.made)) for candidate in tried)
    rungs = [_rung(candidate, found, question) for candidate, found in told if isinstance(found, Answer)]
    return tuple(_not_worse(sorted(rungs, key=lambda rung: (rung.slower, len(rung.moves)))))


def _not_worse(rungs: list[Rung]) -> Iterator[Rung]:
    """Without those that a faster one betters or equals on GPU and host."""
    kept: list[tuple[int, int]] = []
    for rung in rungs:
        takes = _takes(rung.answer, Device.GPU), _takes(rung.answer, Device.HOST)
        if not rung.moves or not any(gpu <= takes[0] and host <= takes[1] for gpu, host in kept):
            kept.append(takes)
            yield rung


def _takes(found: Answer, device: Device) -> int:
    peak = found.worst(device)
    return peak.count if peak else 0


def _is_on_staircase(place: tuple[int, ...]) -> bool:
    """Those with one change, and those with all changes up to one axis: a few dozen of hundreds."""
    changed = [index for index, choice in enumerate(place) if choice]
    together = [index for index in changed if index] in _OFFLOADED
    return together or len(changed) <= 1 or changed == list(range(changed[-1] + 1))


def _candidates(
    question: Question, means: Means, wanted: Callable[[tuple[int, ...]], bool] = lambda place: True
) -> Iterator[Candidate]:
    """What was asked is the first."""
    axes = [axis(question, means) for axis in AXES]
    walks: dict[tuple[Workload, Linears], Walk | CannotSay] = {}
    as_it_is = settings_of(question.config, question.release)
    for place in filter(wanted, product(*(range(len(axis)) for axis in axes))):
        options = tuple(axis[index] for axis, index in zip(axes, place, strict=True))
        asked = _with(question, as_it_is, options)
        if asked is None:
            continue
        settings = settings_of(asked.config, asked.release)
        as_asked = asked.workload, linears_of(asked.workload, settings, means.made)
        walk = walks.get(as_asked)
        if walk is None:
            walk = walks[as_asked] = walk_for(asked, settings, means.made)
        if not isinstance(walk, CannotSay):
            cost = cost_of(walk, settings, asked.workload, asked.group)
            yield Candidate(place, options, asked, settings, walk, cost)


def _tried(candidates: list[Candidate], means: Means) -> Iterator[tuple[Candidate, Answer]]:
    """Those that fit, in this order. One that failed rules out all that are less lean than it in everything. What the
    outset shows to be too much is not led through a step, unless it matters whether the host has room for it."""
    too_much: list[tuple[int, ...]] = []
    host_full: set[tuple[int, ...]] = set()
    spared: dict[tuple[int, ...], list[Candidate]] = {}
    outset = Outset(means)
    for candidate in candidates:
        on_host = _at(candidate, _HOST_AXES)
        if on_host in host_full or any(_is_within(candidate.place, failed) for failed in too_much):
            continue
        if means.room.gpu_bytes is not None and least(candidate) > means.room.gpu_bytes:
            continue
        if outset.is_too_much(candidate):
            if not candidate.on_nvme:  # there DeepSpeed may stop instead, which says nothing of others
                too_much.append(candidate.place)
                spared.setdefault(on_host, []).append(candidate)
            continue
        found = answer_on(candidate.walk, candidate.question, means.made)
        if isinstance(found, CannotSay):  # DeepSpeed would stop
            continue
        lacks = means.lacking(found, candidate.question.config)
        if not lacks and any(_lacks_host(one, means) for one in spared.pop(on_host, ())):
            host_full.add(on_host)
        elif not lacks:
            yield candidate, found
        if Device.GPU in lacks:
            too_much.append(candidate.place)
        if Device.HOST in lacks:
            host_full.add(on_host)


def _lacks_host(candidate: Candidate, means: Means) -> bool:
    found = answer_on(candidate.walk, candidate.question, means.made)
    return isinstance(found, Answer) and Device.HOST in means.lacking(found, candidate.question.config)


def states_bytes(question: Question, made: Made) -> int:
    """Bytes of the weights and of what the optimizer has for them, each once among all ranks, however they are divided
    and wherever the optimizer is: on the GPU it never has more than on the host. 0 where that can't be told."""
    settings = settings_of(question.config, question.release)
    walk = walk_for(question, settings, made)
    if isinstance(walk, CannotSay):
        return 0
    on_gpu = settings_of(changed(question.config, {OPTIMIZER_DEVICE: "none"}), question.release)
    return walk.every * settings.weight + walk.trained * _state_bytes(on_gpu)


def _state_bytes(settings: Settings) -> int:
    """Of a trained parameter, beside its weight."""
    return settings.master * settings.is_16_bit + settings.moments * settings.moment


def least(candidate: Candidate) -> int:
    """Bytes of the GPU that a training takes at the very least: states that never leave it, and what is kept for the
    backward. It spares the engines' models what can't fit."""
    settings, walk, ranks = candidate.settings, candidate.walk, candidate.question.group.ranks
    states = _state_bytes(settings)
    total = 0 if settings.params_at.is_on else walk.every * settings.weight // (ranks if settings.stage == 3 else 1)
    if not settings.optimizer_at.is_on:
        total += walk.trained * states // (ranks if settings.stage else 1)
    return total + walk.kept


@dataclass(frozen=True, slots=True)
class Outset:
    """What is on the GPU while an engine is made, and with its states before the first forward: the same for many
    candidates, and a small part of the work of a whole step."""

    means: Means
    _known: dict[tuple[int, ...], tuple[int, int]] = field(default_factory=dict)

    def is_too_much(self, candidate: Candidate) -> bool:
        """Whether that, or that with all that the forward keeps, has no room on the GPU for sure."""
        if self.means.room.gpu_bytes is None or candidate.question.on_cpu:
            return False
        at = _at(candidate, _OUTSET_AXES)
        made, settled = self._known.get(at) or self._known.setdefault(at, self._prepared(candidate))
        return is_too_much(max(made, settled + candidate.walk.kept), self.means.room)

    def _prepared(self, candidate: Candidate) -> tuple[int, int]:
        question, settings = candidate.question, replace(candidate.settings, gas=1)
        engine = engine_for(candidate.walk, settings, question.group, self.means.made, by_decay=question.by_decay)
        try:
            ledger = engine.prepare()
        except Stops:
            return 0, 0
        return ledger.most(Place.GPU, Moment.INIT), ledger.now(Place.GPU)


def _at(candidate: Candidate, axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(candidate.place[index] for index in axes)


def _is_within(place: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return all(mine <= theirs for mine, theirs in zip(place, other, strict=True))


def _with(question: Question, as_it_is: Settings, options: tuple[Option, ...]) -> Question | None:
    """The question with the options taken; None for a combination that says nothing."""
    values = {pointer: value for option in options for pointer, value in option.values.items()}
    stage = values.get(STAGE, as_it_is.stage)
    codes = {option.code for option in options}
    if (stage < 3 and codes & set(_ONLY_STAGE_3)) or (stage == 0 and codes & set(_NOT_STAGE_0)):
        return None
    workload, halvings = question.workload, sum(option.halvings for option in options)
    checkpoints = workload.checkpointing or any(option.checkpoints for option in options)
    workload = replace(workload, micro_batch=workload.micro_batch >> halvings, checkpointing=checkpoints)
    config = changed(question.config, values | _batch_values(question, as_it_is.gas, options))
    return replace(question, config=config, workload=workload)


def _batch_values(question: Question, gas: int, options: tuple[Option, ...]) -> dict[str, Any]:
    halvings = sum(option.halvings for option in options)
    if not halvings:
        return {}
    return {ACCUMULATION: gas << halvings, MICRO_BATCH: question.workload.micro_batch >> halvings}


def changed(config: Mapping[str, Any], values: Values) -> dict[str, Any]:
    """A copy of `config` with values written at pointers, and blocks made where there are none."""
    result = dict(config)
    for pointer, value in values.items():
        *parents, last = split(pointer)
        block = result
        for part in parents:
            below = block.get(part)
            block[part] = dict(below) if isinstance(below, Mapping) else {}
            block = block[part]
        block[last] = value
    return result


def _rung(candidate: Candidate, found: Answer, asked: Question) -> Rung:
    settings = settings_of(asked.config, asked.release)
    walk = walk_for(asked, settings)
    slower = 1.0
    if not isinstance(walk, CannotSay):
        slower = relative(candidate.cost, cost_of(walk, settings, asked.workload, asked.group))
    edits = tuple(_edits(asked, settings.gas, candidate))
    return Rung(candidate.moves, edits, candidate.question.workload, found, candidate.cost, slower)


def _edits(asked: Question, gas: int, candidate: Candidate) -> Iterator[Change]:
    """Blocks that are not there are written whole: an edit of a member needs its block."""
    values = {pointer: value for option in candidate.options for pointer, value in option.values.items()}
    values |= _batch_values(asked, gas, candidate.options)
    whole: dict[str, dict[str, Any]] = {}
    for pointer, value in values.items():
        block = _first_missing(asked.config, pointer)
        if block is None:
            yield Change(pointer, json.dumps(value))
        else:
            whole[block] = changed(whole.get(block, {}), {pointer[len(block) :]: value})
    for block, value in whole.items():
        yield Change(block, json.dumps(value))


def _first_missing(config: Mapping[str, Any], pointer: str) -> str | None:
    """The outermost block of `pointer` that the config does not have."""
    at = ""
    for part in split(pointer)[:-1]:
        at = f"{at}/{part}"
        if not isinstance(lookup(config, at), Mapping):
            return at
    return None
