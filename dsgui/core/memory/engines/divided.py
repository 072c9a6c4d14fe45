"""Stage 3: DeepSpeedZeroOptimizer_Stage3 (runtime/zero/stage3.py, whose lines are meant): weights, gradients and states
divided; each on the GPU, in host memory or on NVMe."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from dsgui.core.memory import settings as keys
from dsgui.core.memory.answer import Component, Moment, Place
from dsgui.core.memory.engines.buckets import Bucket, Buckets
from dsgui.core.memory.engines.casting import exchanged_narrow
from dsgui.core.memory.engines.gathering import PERSISTENT, Gathering, persistent, trace_of
from dsgui.core.memory.engines.job import Engine
from dsgui.core.memory.engines.loading import Loading
from dsgui.core.memory.engines.muon import MOMENTUM, MOMENTUM_ON_HOST, has_matrices
from dsgui.core.memory.engines.muon_divided import Orthogonal
from dsgui.core.memory.engines.sub_groups import SubGroup, share, sub_groups
from dsgui.core.memory.engines.swapping import (
    FIRST_MOMENTS,
    MAX_IN_CPU,
    OPTIMIZER_BUFFERS,
    PARAM_BUFFERS,
    PARAM_TWIN,
    WAY_BACK,
    aligned,
    check_fast,
    check_part,
    check_states,
    in_memory,
    optimizer_buffers,
    param_buffers,
    swaps,
    written,
)
from dsgui.core.memory.ledger import Slot, slot_for
from dsgui.core.memory.settings import Offload
from dsgui.core.memory.walk import Unit, Weight

_NORM_AT_ONCE = 250_000_000  # elements: stage3.py:1960 _constant_buffered_norm2
_OPTIMIZER = (keys.OPTIMIZER_DEVICE, keys.OPTIMIZER_PINS)
_PARAM = (keys.PARAM_DEVICE, keys.PARAM_PINS)
BUCKET = slot_for(Component.BUCKETS, keys=(keys.BUCKET, keys.REDUCED_IN))
STAGING = slot_for(Component.STAGING, keys=(keys.BUCKET, keys.REDUCED_IN))
NORM = slot_for(Component.STEP, keys=(keys.SUB_GROUP,))
FLATTENED = slot_for(Component.STEP, keys=(keys.SUB_GROUP, keys.OPTIMIZER_DEVICE))
AT_INIT = slot_for(Component.INIT, keys=(keys.STAGE, keys.SUB_GROUP))
AT_INIT_HOST = slot_for(Component.INIT, Place.HOST, (keys.SUB_GROUP, keys.OPTIMIZER_DEVICE))
WEIGHTS_ON_NVME = slot_for(Component.WEIGHTS, Place.NVME, (keys.PARAM_DEVICE, MAX_IN_CPU))
GRADIENTS_ON_GPU = slot_for(Component.GRADIENTS, keys=(keys.OPTIMIZER_DEVICE, "/aio/block_size"))
ON_THE_WAY = slot_for(Component.STAGING, keys=(keys.OPTIMIZER_DEVICE,))


@dataclass(slots=True)
class Divided(Engine):
    gathering: Gathering = field(init=False)
    groups: list[list[SubGroup]] = field(default_factory=list)
    buckets: Buckets = field(init=False)
    trained: int = 0  # bytes of an element of what is trained: of the first is DeepSpeed's own reading (238)
    always: set[str] = field(default_factory=set)
    sub_group_of: dict[str, SubGroup] = field(default_factory=dict)
    made_as: dict[str, int] = field(default_factory=dict)
    unswapped: list[int] = field(default_factory=list)
    away: list[SubGroup] = field(default_factory=list)
    copies: dict[str, Weight] = field(default_factory=dict)
    orthogonal: Orthogonal = field(init=False)

    def __post_init__(self) -> None:
        Engine.__post_init__(self)
        walk, s = self.job.walk, self.job.settings
        self.always = persistent(walk, s)
        sent_narrow = exchanged_narrow(walk, s) if self.job.ranks > 1 else frozenset()
        self.gathering = Gathering(self.ledger, trace_of(walk), s, self.job.ranks, s.weight, self.always, sent_narrow)
        self.buckets = Buckets(self.job)
        self.orthogonal = Orthogonal(self.job, self.ledger)
        self.trained = self.job.width(self.job.trainable[0])
        self.made_as = {name: number for number, name in enumerate(walk.weights())}
        self.groups = [sub_groups(self.job, group) for group in self.job.groups]
        self.sub_group_of = {weight.name: sub for sub in self.sub_groups for weight in sub.weights}

    # --- what holds ---

    @property
    def optimizer_at(self) -> Offload:
        return self.job.settings.optimizer_at

    @property
    def params_at(self) -> Offload:
        return self.job.settings.params_at

    @property
    def sub_groups(self) -> list[SubGroup]:
        return [sub for group in self.groups for sub in group]

    @property
    def on_gpu(self) -> int:
        """How many sub-groups' states stay on the GPU: `ratio` (1099–1108)."""
        at = self.optimizer_at
        return int((1 - at.ratio) * len(self.sub_groups)) if at.is_on else len(self.sub_groups)

    @property
    def part(self) -> int:
        """Elements of this rank's share of all that is trained."""
        return sum(sub.numel for sub in self.sub_groups)

    def share(self, weight: Weight) -> int:
        return share(self.job, weight)

    # --- init ---

    def initialize(self) -> None:
        self._make_model()
        self._flat_weights()
        if self.optimizer_at.is_nvme:
            size = optimizer_buffers(self.job.settings, max(sub.numel for sub in self.sub_groups))
            self.ledger.take(OPTIMIZER_BUFFERS, size, self.optimizer_at.buffer_count)
        self._masters()
        self._first_gradients()
        self._buffers()
        self._hooks()
        self._drop_copies()

    def _weights_slot(self, frozen: bool = False) -> Slot:
        at = self.params_at
        place = (Place.PINNED if at.pins else Place.HOST) if at.is_on else Place.GPU
        return slot_for(Component.FROZEN if frozen else Component.WEIGHTS, place, (keys.STAGE, *_PARAM))

    def _make_model(self) -> None:
        """partition_parameters.py:1836: weight by weight, divided at once."""
        if not self.job.made.inside:
            self._divide_whole()
            return
        self._param_buffers()
        self.copies = self.job.walk.copies()
        made = list(self._in_order())
        largest, later = set[int](), 0  # what a larger one follows is never the most
        for number in range(len(made) - 1, -1, -1):
            if made[number][0].numel > later:
                later = made[number][0].numel
                largest.add(number)
        for number, (weight, slot) in enumerate(made):
            if number in largest:
                self._make(weight, slot)
            else:
                self._part(weight, slot)

    def _in_order(self) -> Iterator[tuple[Weight, Slot]]:
        made = set[str]()
        slots = {trains: self._weights_slot(not trains) for trains in (True, False)}
        for unit in self.job.walk.units():
            for weight in unit.weights:
                if weight.name not in made:
                    yield weight, slots[weight.trainable]
                    made.add(weight.name)
                if unit.name in self.copies and unit.name not in made:
                    yield weight, self._copies_slot
                    made.add(unit.name)

    def _make(self, weight: Weight, slot: Slot) -> None:
        made, b = self.job.made.element, self.job.width(weight)
        wide = made * (made != b)
        self.ledger.take(AT_INIT, weight.numel * wide)
        self.ledger.take(AT_INIT, weight.numel * b)
        self.ledger.drop(AT_INIT, weight.numel * wide)
        self._part(weight, slot)
        self.ledger.drop(AT_INIT, weight.numel * b)

    def _param_buffers(self) -> None:
        """partitioned_param_swapper.py:124: a pageable tensor, then a locked one as large."""
        if self.params_at.is_nvme:
            count = param_buffers(self.job.settings)
            self.ledger.take(PARAM_TWIN, count)
            self.ledger.take(PARAM_BUFFERS, count)
            self.ledger.drop(PARAM_TWIN, count)

    def _leaves(self, weight: Weight) -> bool:
        """Whether its part goes to NVMe as soon as it is divided (partition_parameters.py:1820)."""
        width = self.job.settings.weight
        return self.job.settings.params_at.is_nvme and swaps(self.job.settings, self.share(weight), width)

    def _part(self, weight: Weight, slot: Slot) -> None:
        count = self.share(weight) * self.job.width(weight)
        if not self._leaves(weight):
            self._pinned(slot, count)
            return
        check_part(self.job.settings, self.share(weight))
        self.ledger.take(WEIGHTS_ON_NVME, count)

    def _drop_part(self, weight: Weight, slot: Slot) -> None:
        if not self._leaves(weight):
            self.ledger.drop(slot, self.share(weight) * self.job.width(weight))

    @property
    def _copies_slot(self) -> Slot:
        return slot_for(Component.INIT, self._weights_slot().place, (keys.STAGE, *_PARAM))

    def _drop_copies(self) -> None:
        """The own weights of modules that were tied after that: a divided one is in a cycle with its methods
        (engine.py:931), so it stays until Python collects."""
        for weight in self.copies.values():
            self._drop_part(weight, self._copies_slot)
        self.copies = {}

    def _divide_whole(self) -> None:
        """The engine has cast it and moved all of it to the GPU (engine.py:2093) before it is divided."""
        loading = Loading(self.job, self.ledger)
        loading.whole()
        self._param_buffers()
        for weight in self.job.walk.weights().values():
            self._whole_part(weight)
            whole = loading.weights if weight.trainable else loading.frozen
            self.ledger.drop(whole, weight.numel * self.job.width(weight))

    def _whole_part(self, weight: Weight) -> None:
        count, slot = self.share(weight) * self.job.width(weight), self._weights_slot(not weight.trainable)
        if self._leaves(weight):
            self._part(weight, slot)
        else:
            self.ledger.take(slot, count)

    def _flat_weights(self) -> None:
        """967–973 through a copy on the host; 888–911 with offload_param: one pinned buffer a group."""
        b, slot = self.trained, self._weights_slot()
        if not self.params_at.is_on:
            self.ledger.take(AT_INIT_HOST, self.part * b)
            self._drop_parts()
            self._drop_copies()  # zero/utils.py:233 collects
            self.ledger.take(slot, self.part * b)
            self.ledger.drop(AT_INIT_HOST, self.part * b)
            return
        sizes = [[sub.numel for sub in group] for group in self.groups]
        slot = slot_for(Component.WEIGHTS, Place.PINNED, (keys.STAGE, *_PARAM))  # whatever pin_memory says
        for group, (room, fits) in zip(self.groups, in_memory(self.job.settings, sizes), strict=True):
            self._pinned(slot, room * b)
            self.away += [sub for sub, fit in zip(group, fits, strict=True) if not fit]
        self._drop_parts()
        self._leave_on_nvme()

    def _leave_on_nvme(self) -> None:
        """1005–1018: what comes back from a step is written from a buffer for the longest sub-group. Of each weight it
        has room for all of it (`ds_numel`), not for this rank's part."""
        s = self.job.settings
        stay = [*self.job.frozen, *(weight for sub in self.away for weight in sub.weights)]
        self.gathering.reading.away = {weight.name for weight in stay if self._leaves(weight)}
        if self.away:
            longest = max(self.sub_groups, key=lambda sub: sub.numel)
            elements = sum(aligned(s, weight.numel, s.weight) for weight in longest.weights)
            self.ledger.take(WAY_BACK, elements * s.weight)

    def _drop_parts(self) -> None:
        """They are in the flat buffer now, but for those of sub-groups that it has no room for."""
        away = {weight.name for sub in self.away for weight in sub.weights}
        going = [weight for weight in self.job.trainable if weight.name not in away and not self._leaves(weight)]
        self.ledger.take_all(self._weights_slot(), [self.share(one) * self.job.width(one) for one in going], -1)

    def _pinned(self, slot: Slot, count: int) -> None:
        """A pageable tensor, then its pinned copy."""
        if slot.place is Place.PINNED:
            self.ledger.take(AT_INIT_HOST, count)
            self.ledger.take(slot, count)
            self.ledger.drop(AT_INIT_HOST, count)
        else:
            self.ledger.take(slot, count)

    def _states(self, index: int, component: Component) -> Slot:
        if index < self.on_gpu and not self._swaps(self.sub_groups[index]):
            return slot_for(component, Place.GPU, (keys.STAGE, keys.OPTIMIZER_DEVICE))
        place = Place.NVME if self._swaps(self.sub_groups[index]) else Place.HOST
        return slot_for(component, place, _OPTIMIZER)

    def _swaps(self, sub: SubGroup) -> bool:
        return self.optimizer_at.is_nvme and swaps(self.job.settings, sub.numel, self.job.settings.master)

    def _masters(self) -> None:
        """1157–1173: converted, then cloned."""
        held = 0
        for index, sub in enumerate(self.sub_groups):
            slot, count = self._states(index, Component.MASTER), sub.numel * self.job.settings.master
            if slot.place is Place.NVME or sub in self.away:
                held = self._swapped_master(sub, slot, count, held)
                continue
            converts = self.job.settings.master != self.trained or slot.place is not self._weights_slot().place
            init = AT_INIT if slot.place is Place.GPU else AT_INIT_HOST
            self.ledger.take(init, count * converts)
            self.ledger.take(slot, count)
            self.ledger.drop(init, count * converts)
            self._momentum(sub)
        self.ledger.drop(AT_INIT_HOST, held)

    def _orthogonalize(self) -> None:
        self.orthogonal.step([sub.weights for sub in self.sub_groups if has_matrices(sub.weights, self.job.settings)])

    def _momentum(self, sub: SubGroup) -> None:
        """1064–1078: Muon's is there from the beginning, in the dtype that ranks exchange."""
        if has_matrices(sub.weights, self.job.settings):
            slot = MOMENTUM_ON_HOST if self.optimizer_at.is_on else MOMENTUM
            self.ledger.take(slot, sub.numel * self.job.settings.reduced)

    def _swapped_master(self, sub: SubGroup, slot: Slot, count: int, held: int) -> int:
        """1126–1154: what is on NVMe is read into a buffer, which is the master itself or stays until the next one is
        there: how long the one is that is `held` now."""
        reads = slot.place is Place.NVME and sub in self.away
        if reads and self.optimizer_at.fast:
            check_fast(self.job.settings, max(other.numel for other in self.sub_groups))
        buffer = count * (reads and not self.optimizer_at.fast)
        self.ledger.take(AT_INIT_HOST, buffer)
        self.ledger.drop(AT_INIT_HOST, held * bool(buffer))
        self.ledger.take(slot, count)
        return buffer or held

    def _first_gradients(self) -> None:
        """1300–1375: a buffer of zeros as long as the longest sub-group; offloaded gradients stay, a pinned block a
        sub-group."""
        m = self.job.settings.master
        buffer = max(sub.numel for sub in self.sub_groups) * m
        init = AT_INIT_HOST if self.optimizer_at.is_on else AT_INIT
        self.ledger.take(init, buffer)
        if self.optimizer_at.is_on:
            for index, sub in enumerate(self.sub_groups):
                self._offload_gradients(index, sub.numel * m)
        self.ledger.drop(init, buffer)

    def _offload_gradients(self, index: int, count: int) -> None:
        """What is swapped has none yet: its files are of the first backward."""
        slot = self._gradient_slot(index)
        if slot.place is not Place.NVME:
            self._pinned(slot, count)

    def _gradient_slot(self, index: int) -> Slot:
        if index < self.on_gpu or self._swaps(self.sub_groups[index]):
            return self._states(index, Component.GRADIENTS)
        return slot_for(Component.GRADIENTS, Place.PINNED if self.optimizer_at.pins else Place.HOST, _OPTIMIZER)

    def _buffers(self) -> None:
        """779–801: the bucket, held for ever, and the gradients' parts."""
        s = self.job.settings
        if s.is_contiguous:
            for bucket in self.buckets:
                self.ledger.take(BUCKET, s.bucket * bucket.reduced)
        slot = slot_for(Component.GRADIENTS, Place.GPU, (keys.STAGE, keys.ACCUMULATED_IN, keys.OPTIMIZER_DEVICE))
        if self.optimizer_at.is_on:
            slot = slot_for(Component.GRADIENTS, Place.PINNED if self.optimizer_at.pins else Place.HOST, _OPTIMIZER)
        self._pinned(slot, self.part * s.accumulated)

    def _hooks(self) -> None:
        """1504: each weight is gathered once, to find its node in autograd's graph."""
        longest = max(self.job.trainable, key=lambda weight: weight.numel)  # each goes before the next one comes
        count = longest.numel * self.trained
        self.ledger.take(AT_INIT, count)
        self.ledger.pass_by(AT_INIT, self.share(longest) * self.trained * self.params_at.is_on)
        self.ledger.drop(AT_INIT, count)

    def settle(self) -> None:
        s = self.job.settings
        if self.optimizer_at.is_nvme:  # a first step takes more than any later one: moments are made in memory
            self.ledger.begin(Moment.STEP)
        for index, sub in enumerate(self.sub_groups):
            if self._swaps(sub):
                check_states(s)
                parts = sum(written(s, self.share(weight)) for weight in sub.weights)
                self.ledger.take(self._gradient_slot(index), parts * s.master)
                self.ledger.take(FIRST_MOMENTS, sub.numel * s.moment, s.moments)
                self.ledger.drop(FIRST_MOMENTS, sub.numel * s.moment, s.moments)
            if not has_matrices(sub.weights, s):
                self.ledger.take(self._states(index, Component.MOMENTS), sub.numel * s.moment, s.moments)
        self.ledger.begin(None)
        self._orthogonalize()
        self._gather_persistent()
        if s.gas > 1 and self.always:
            self.gathering.rehearse()

    def _gather_persistent(self) -> None:
        self.ledger.take_all(PERSISTENT, self._persistent())

    def _persistent(self) -> list[int]:
        """Bytes of each of those that stay gathered. One rank has all of them anyway."""
        if self.job.ranks == 1 and not self.params_at.is_on:
            return []
        every = self.job.walk.weights().values()
        return [weight.numel * self.job.width(weight) for weight in every if weight.name in self.always]

    def _divide_persistent(self) -> None:
        self.ledger.take_all(PERSISTENT, self._persistent(), -1)

    # --- forward and backward ---

    def begin_forward(self) -> None:
        self.gathering.reset()

    def enter(self, unit: Unit, forward: bool) -> None:
        self.gathering.enter(unit)

    def leave(self, unit: Unit, forward: bool) -> None:
        self.gathering.leave(unit, forward)

    def hooked(self, weights: list[Weight]) -> list[Weight]:
        """zero/linear.py hands the weight's over first."""
        return weights

    def reduce(self, weight: Weight) -> None:
        """1566–1641."""
        s = self.job.settings
        bucket = self.buckets.of(weight)
        if bucket.elements and bucket.elements + weight.numel > s.bucket:
            self._reduce_bucket(bucket)
        bucket.add(weight)
        if s.is_contiguous and bucket.elements <= s.bucket:
            self.forget(weight)

    def _reduce_bucket(self, bucket: Bucket) -> None:
        """1646–1695: averaged and scattered, each rank's part put into its buffer."""
        if not bucket.weights:
            return
        s, elements = self.job.settings, bucket.elements
        in_bucket = s.is_contiguous and elements <= s.bucket
        cast = elements * bucket.reduced * (bucket.reduced != self.trained and not in_bucket)
        staged = self._staged(bucket, in_bucket)
        parts = elements if in_bucket and not s.scatters else sum([self.share(weight) for weight in bucket.weights])
        parts *= s.accumulated
        converts = bucket.reduced != s.accumulated  # 1943: else the parts are views of what was staged
        self.ledger.take(STAGING, cast)
        self.ledger.take(STAGING, staged)
        self.ledger.take(STAGING, parts * converts)
        self.ledger.drop(STAGING, cast, times=converts)
        self.ledger.drop(STAGING, staged, times=converts)
        if self.optimizer_at.is_on:
            self._offload_parts(bucket)
        self.ledger.drop(STAGING, cast, times=not converts)
        self.ledger.drop(STAGING, staged, times=not converts)
        self.ledger.drop(STAGING, parts * converts)
        for weight in bucket.weights:
            self.forget(weight)
        bucket.clear()

    def _staged(self, bucket: Bucket, in_bucket: bool) -> int:
        """Bytes: gradients put together rank by rank (coalesced_collectives.py:102–125); without `reduce_scatter` the
        bucket multiplied (1875)."""
        s = self.job.settings
        if in_bucket and not s.scatters:
            return bucket.elements * bucket.reduced * (self.job.ranks > 1)
        is_single = len(bucket.weights) == 1 and bucket.elements % self.job.ranks == 0
        if is_single:
            return 0
        return sum([self.share(weight) for weight in bucket.weights]) * self.job.ranks * bucket.reduced

    def _offload_parts(self, bucket: Bucket) -> None:
        """2031–2047, 1443–1465. What goes to NVMe goes when the whole bucket is ready; what is too short for it stays
        on the GPU until the step (swap_tensor/optimizer_utils.py:266)."""
        s, waiting = self.job.settings, 0
        for weight in sorted(bucket.weights, key=lambda weight: self.made_as[weight.name]):  # 1677
            part = self.share(weight)
            self.ledger.take(ON_THE_WAY, part * s.accumulated)
            if self.is_boundary:
                self.ledger.pass_by(NORM, min(part, _NORM_AT_ONCE) * 8)
                waiting += self._send(weight, part * s.master)
            else:
                self.ledger.drop(ON_THE_WAY, part * s.accumulated)
        self.ledger.drop(ON_THE_WAY, waiting)

    @property
    def _overflow_slot(self) -> Slot:
        place = Place.HOST if self.optimizer_at.is_on else Place.GPU
        return slot_for(Component.STEP, place, ("/fp16/enabled", keys.OPTIMIZER_DEVICE))

    def _send(self, weight: Weight, count: int) -> int:
        """Takes a part on from where it is on its way; bytes that wait for the end of the bucket. Of a part that is no
        multiple of what is written at once the rest is a view, which keeps all of it (optimizer_utils.py:444)."""
        s, sent = self.job.settings, self.share(weight) * self.job.settings.accumulated
        part, copies = count // s.master, s.master != s.accumulated
        self.ledger.drop(ON_THE_WAY, sent * (not copies))
        leaves = self._swaps(self.sub_group_of[weight.name])
        stays = leaves and part != written(s, part)
        self.ledger.take(GRADIENTS_ON_GPU if stays else ON_THE_WAY, count)
        self.ledger.drop(ON_THE_WAY, sent * copies)
        if stays:
            self.unswapped.append(count)
        elif not leaves:
            self.ledger.drop(ON_THE_WAY, count)
        return count * (leaves and not stays)

    def end_backward(self, is_boundary: bool) -> None:
        for bucket in self.buckets:
            self._reduce_bucket(bucket)
        self.gathering.end()

    # --- step ---

    def step(self) -> None:
        s = self.job.settings
        self._divide_persistent()
        if s.precision == "fp16":  # 3013: has it overflowed? A byte an element
            self.ledger.pass_by(self._overflow_slot, self.part)
        self._orthogonalize()
        if not self.optimizer_at.is_on:
            self.ledger.pass_by(NORM, max(self.share(weight) for weight in self.job.trainable) * 8)
        for index, sub in enumerate(self.sub_groups):
            self._step_of(index, sub)
        for count in self.unswapped:
            self.ledger.drop(GRADIENTS_ON_GPU, count)
        self.unswapped = []
        self._gather_persistent()
        self.gathering.forget_secondary()

    def _step_of(self, index: int, sub: SubGroup) -> None:
        """2683–2693: the sub-group's gradients flattened, then cast."""
        s = self.job.settings
        if not self.optimizer_at.is_on:
            flat = sub.numel * s.accumulated * (len(sub.weights) > 1)
            cast = sub.numel * s.master * (s.master != s.accumulated)
            self.ledger.take(FLATTENED, flat)
            self.ledger.take(FLATTENED, cast)
            if cast:
                self.ledger.drop(FLATTENED, flat)
            if s.is_foreach:
                self.ledger.pass_by(FLATTENED, sub.numel * s.master)
            self.ledger.drop(FLATTENED, cast or flat)
        elif index < self.on_gpu:
            self.ledger.pass_by(FLATTENED, sub.numel * s.master)
