"""Stages 1 and 2: DeepSpeedZeroOptimizer (runtime/zero/stage_1_and_2.py, whose lines are meant), with the optimizer on
the GPU or in host memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from dsgui.core.memory import settings as keys
from dsgui.core.memory.answer import Component, Moment, Place
from dsgui.core.memory.engines.buckets import Bucket, Buckets
from dsgui.core.memory.engines.job import GRADIENTS, Engine
from dsgui.core.memory.engines.loading import Loading
from dsgui.core.memory.engines.muon import MOMENTUM, MOMENTUM_ON_HOST, UPDATE, Names, Scratch, has_matrices, update_of
from dsgui.core.memory.engines.partition import Partition, partitions
from dsgui.core.memory.ledger import Slot, slot_for
from dsgui.core.memory.walk import Weight

_ON_GPU = (keys.STAGE, keys.OPTIMIZER_DEVICE)
_ON_HOST = (keys.OPTIMIZER_DEVICE, keys.OPTIMIZER_PINS)
BUCKETS = slot_for(Component.BUCKETS, keys=(keys.BUCKET, keys.OVERLAP))
STAGING = slot_for(Component.STAGING, keys=(keys.BUCKET, keys.REDUCED_IN))
NORM = slot_for(Component.STEP, keys=(f"{keys.ZERO}/compute_grad_norm",))
FLATTENED = slot_for(Component.STEP, keys=(keys.STAGE, keys.OPTIMIZER_DEVICE))
COMPACT = slot_for(Component.GRADIENTS, keys=(keys.ACCUMULATED_IN, keys.STAGE))
OURS = slot_for(Component.GRADIENTS, keys=(keys.STAGE, keys.OPTIMIZER_DEVICE, keys.ACCUMULATION))
AT_INIT = slot_for(Component.INIT, keys=(keys.STAGE,))
AT_INIT_HOST = slot_for(Component.INIT, Place.HOST, _ON_HOST)
MOMENTS = slot_for(Component.MOMENTS, keys=_ON_GPU)
MOMENTS_ON_HOST = slot_for(Component.MOMENTS, Place.HOST, _ON_HOST)
GPU_BUFFER = slot_for(Component.STAGING, keys=(keys.OPTIMIZER_DEVICE,))
_AT_ONCE = 64 << 20  # bytes of Muon's gathers: stage_1_and_2.py:411


def _batches(weights: tuple[Weight, ...], element: int) -> Iterator[list[Weight]]:
    """2012 `_muon_param_batches`."""
    most, batch = _AT_ONCE // (2 * element), list[Weight]()
    for weight in weights:
        if batch and sum(one.numel for one in batch) + weight.numel > most:
            yield batch
            batch = []
        batch.append(weight)
    yield batch


@dataclass(slots=True)
class Partitioned(Engine):
    parts: list[Partition] = field(default_factory=list)
    buckets: Buckets = field(init=False)
    part_of: dict[str, Partition] = field(default_factory=dict)
    held: dict[str, int] = field(default_factory=dict)
    buffers: int = 0
    viewed: set[tuple[int, int]] = field(default_factory=set)
    collected: int = 0
    accumulated: int = 0
    compact: list[Partition] = field(default_factory=list)
    updates: dict[int, list[int]] = field(default_factory=dict)  # bytes of Muon's, by the number of the part
    scratch: Scratch = field(init=False)

    def __post_init__(self) -> None:
        Engine.__post_init__(self)
        self.scratch = Scratch(self.ledger)
        self.buckets = Buckets(self.job)

    # --- what holds ---

    @property
    def offloads(self) -> bool:
        return self.job.settings.optimizer_at.is_on

    @property
    def is_compact(self) -> bool:
        """fp32 gradients of a 16-bit model are collected in one flat part (1259–1321)."""
        return self.job.settings.accumulated == 4 and self.job.settings.is_16_bit

    def _is_compact(self, part: Partition) -> bool:
        """Muon reads whole gradients (1263)."""
        return self.is_compact and not (part.mine and has_matrices(part.weights, self.job.settings))

    def _of_muon(self, part: Partition) -> bool:
        return has_matrices(part.weights, self.job.settings)

    @property
    def widens(self) -> bool:
        """Stage 1 keeps whole gradients in the wider dtype (`param.grad_accum`, 397–404)."""
        return self.job.settings.stage == 1 and self.job.settings.accumulated != self.job.settings.weight

    @property
    def gradient(self) -> int:
        """Bytes of an element of what is put into buckets (1253)."""
        return self.job.settings.accumulated if self.widens else self.job.settings.weight

    @property
    def copies(self) -> bool:
        """Whether gradients are copied into buckets."""
        return self.job.settings.is_contiguous or self.offloads

    @property
    def fills_early(self) -> bool:
        return self.job.settings.stage == 2 or self.job.settings.overlaps

    @property
    def host(self) -> Place:
        return Place.PINNED if self.job.settings.optimizer_at.pins else Place.HOST

    # --- init ---

    def initialize(self) -> None:
        loading = Loading(self.job, self.ledger)
        loading.whole()
        self.parts = partitions(self.job)
        self.part_of = {weight.name: part for part in self.parts for weight in part.weights}
        twin = 0
        for part in self.parts:
            loading.flat(part.padded, part.weights)
            loading.flattened(part.weights)
            twin = self._master(part, twin)
        if self.offloads:
            self._offload_buffers()
        self._first_gradients()
        self.ledger.drop(AT_INIT_HOST, twin)

    def _master(self, part: Partition, twin: int) -> int:
        """556–575. `twin` is the 16-bit buffer that was pinned last and is still named."""
        s, ledger = self.job.settings, self.ledger
        clone, master, narrow = part.part * s.weight, part.part * s.master, part.part * s.weight
        ledger.take(AT_INIT, clone)
        if not self.offloads:
            if s.master == s.weight:  # the clone is the master
                ledger.drop(AT_INIT, clone)
            ledger.take(slot_for(Component.MASTER, Place.GPU, _ON_GPU), master)
            if s.master != s.weight:
                ledger.drop(AT_INIT, clone)
            return 0
        self._pinned(Component.MASTER, master)
        ledger.drop(AT_INIT, clone)
        ledger.drop(AT_INIT_HOST, twin)
        if self.host is Place.PINNED:
            ledger.take(AT_INIT_HOST, narrow)
        ledger.take(self._host_slot(Component.WEIGHTS), narrow)
        return narrow if self.host is Place.PINNED else 0

    def _pinned(self, component: Component, count: int) -> None:
        """A pageable tensor, and its pinned copy where that is asked for."""
        self._pinned_in(self._host_slot(component), count)

    def _pinned_in(self, slot: Slot, count: int) -> None:
        if self.host is Place.PINNED:
            self.ledger.take(AT_INIT_HOST, count)
            self.ledger.take(slot, count)
            self.ledger.drop(AT_INIT_HOST, count)
        else:
            self.ledger.take(slot, count)

    def _host_slot(self, component: Component) -> Slot:
        return slot_for(component, self.host, _ON_HOST)

    def _offload_buffers(self) -> None:
        """653–661: room for the longest gradient, on both sides."""
        count = max(weight.numel for weight in self.job.trainable) * self.job.settings.weight
        self._pinned(Component.STAGING, count)
        self.ledger.take(GPU_BUFFER, count)

    def _first_gradients(self) -> None:
        """936–951: gradients of zeros; they stay where the optimizer is offloaded."""
        counts = [part.part * self.job.settings.master for part in self.parts]
        for count in counts:
            if self.offloads:
                self._pinned(Component.GRADIENTS, count)
            else:
                self.ledger.take(AT_INIT, count)
        if not self.offloads:
            for count in counts:
                self.ledger.drop(AT_INIT, count)

    def settle(self) -> None:
        s = self.job.settings
        if self.offloads and s.gas > 1 and s.stage == 2 and s.master == 4:
            self.ledger.begin(Moment.BACKWARD)
            self._host_accumulators()
            self.ledger.begin(None)
        slot = MOMENTS_ON_HOST if self.offloads else MOMENTS
        for part in self.parts:
            if self._of_muon(part):
                self._momentum(part)
            else:
                self.ledger.take(slot, part.part * s.moment, s.moments)

        if self.offloads:
            self._each_batch(self._gather_first)
            self._each_batch(self._gather)

    def _momentum(self, part: Partition) -> None:
        """On the GPU of whole matrices, and once more to try a step in (2805–2834, 2989–3003); on the host of this
        rank's part (2079)."""
        if self.offloads:
            self.ledger.take(MOMENTUM_ON_HOST, part.part * self.job.settings.master)
        else:
            self.ledger.take(MOMENTUM, part.whole * self._whole_gradient, 2)

    @property
    def _whole_gradient(self) -> int:
        """Bytes of an element of a gradient that Muon reads: what was copied together is narrow, whatever came in."""
        return self.job.settings.weight if self.copies else self.gradient

    def _host_accumulators(self) -> None:
        """1821–1853: gradients of earlier micro batches, each whole in a block of its own."""
        slot = slot_for(Component.GRADIENTS, self.host, (keys.ACCUMULATION, *_ON_HOST))
        for part in [part for part in self.parts if not self._is_compact(part)]:
            for weight, _ in part.mine:
                self._pinned_in(slot, weight.numel * self.job.settings.weight)

    # --- forward and backward ---

    def begin_forward(self) -> None:
        if self.widens and self.micro == 0:
            self._release_all()

    def _take(self, weight: Weight, count: int) -> None:
        self.ledger.take(GRADIENTS, count)
        self.held[weight.name] = count

    def _release(self, weight: Weight) -> None:
        """Whatever holds this gradient by itself goes."""
        self.ledger.drop(GRADIENTS, self.held.pop(weight.name, 0))
        self.forget(weight)

    def reduce(self, weight: Weight) -> None:
        """2281–2290 `process_gradients`."""
        self._set_up()
        if self.widens:
            self._widen(weight)
        if self.job.settings.stage == 2 or (self.fills_early and self.is_boundary):
            self._fill(weight)

    def _set_up(self) -> None:
        """3256–3280: whole buckets at the first gradient, twice as many with `overlap_comm`."""
        s = self.job.settings
        if not self.buffers and self.copies:
            self.buffers = (2 if s.overlaps else 1) * len(self.buckets)
            self.ledger.take(BUCKETS, s.bucket * self.gradient, self.buffers)

    def _widen(self, weight: Weight) -> None:
        """1234–1240."""
        count = weight.numel * self.gradient
        if weight.name in self.held:
            self.ledger.pass_by(GRADIENTS, count)
        else:
            self._take(weight, count)
        self.forget(weight)

    def _fill(self, weight: Weight) -> None:
        """1399–1480 `reduce_independent_p_g_buckets_and_remove_grads`."""
        bucket = self.buckets.of(weight)
        if bucket.elements + weight.numel > self.job.settings.bucket:
            self._reduce_bucket(bucket)
            bucket.index = (bucket.index + 1) % max(1, self.buffers // len(self.buckets))
        is_long = weight.numel > self.job.settings.bucket
        if self.buffers and is_long and self.offloads:
            self.ledger.pass_by(STAGING, weight.numel * self.gradient)
        if self.buffers and not is_long:
            self._release(weight)
        bucket.add(weight)

    def _reduce_bucket(self, *buckets: Bucket) -> None:
        """2205–2278 `reduce_ipg_grads`: all are averaged, then each is taken from."""
        for bucket in buckets:
            if bucket.weights:
                self._average(bucket)
        for bucket in buckets:
            for weight in bucket.weights:
                self._keep_ours(weight, bucket)
            bucket.clear()

    def _average(self, bucket: Bucket) -> None:
        """1588–1716 `average_tensor`: the slices by rank, flattened anew where they are several."""
        s, size = self.job.settings, self.gradient
        if not s.scatters and self.buffers:
            self._reduced(bucket, 0, bucket.elements)
            return
        for slices in self._small_buckets(bucket):
            self._reduced(bucket, sum(slices) * size * (len(slices) > 1), sum(slices))

    def _reduced(self, bucket: Bucket, flat: int, elements: int) -> None:
        """2361–2393, 2485: `flat` bytes cast for the way; what came back is added to this rank's part."""
        cast = elements * bucket.reduced * (bucket.reduced != self.gradient)
        self.ledger.take(STAGING, flat)
        self.ledger.take(STAGING, cast)
        self.ledger.drop(STAGING, flat, times=cast > 0)
        if self.is_compact:
            self._add_to_compact(bucket)
        self.ledger.drop(STAGING, cast or flat)

    def _add_to_compact(self, bucket: Bucket) -> None:
        """1324: what was reduced, widened slice by slice."""
        s = self.job.settings
        for weight in bucket.weights:
            part = self.part_of[weight.name]
            for piece in part.slices[weight.name] if self._is_compact(part) else ():
                if piece.rank == self.job.rank:
                    self._collect(part)
                    self.ledger.pass_by(STAGING, piece.numel * s.accumulated * (bucket.reduced != s.accumulated))

    def _small_buckets(self, bucket: Bucket) -> list[list[int]]:
        found: list[list[int]] = [[]]
        total = 0
        for count in self._slices(bucket):
            if total > self.job.settings.bucket:
                found.append([])
                total = 0
            found[-1].append(count)
            total += count
        return found

    def _slices(self, bucket: Bucket) -> list[int]:
        """Neighbours for one rank go together, except those that are added to the compact part here."""
        if not self.buffers:
            return [weight.numel for weight in bucket.weights]
        counts, last = list[int](), -1
        for weight in bucket.weights:
            part = self.part_of[weight.name]
            for piece in part.slices[weight.name]:
                is_ours = piece.rank == self.job.rank and self._is_compact(part)
                if is_ours:
                    self._collect(part)
                if piece.rank == last and not is_ours:
                    counts[-1] += piece.numel
                else:
                    counts.append(piece.numel)
                last = piece.rank
        return counts

    def _keep_ours(self, weight: Weight, bucket: Bucket) -> None:
        """Stage 2 drops what other ranks update; ours is copied together (2184–2203) or to the host."""
        part = self.part_of[weight.name]
        pieces = [piece for piece in part.slices[weight.name] if piece.rank == self.job.rank]
        if not pieces:
            if self.job.settings.stage == 2:
                self._release(weight)
            elif self.buffers and weight.numel <= self.job.settings.bucket:
                self.viewed.add((bucket.reduced, bucket.index))
        elif self.buffers:
            self._copy_ours(weight, pieces[0].numel)

    def _copy_ours(self, weight: Weight, numel: int) -> None:
        part = self.part_of[weight.name]
        if self.offloads:
            self._to_host(numel, part)
        elif not self._is_compact(part):
            self._collect(part)
        if self._lets_go(part):
            self._release(weight)

    def _lets_go(self, part: Partition) -> bool:
        """Whether what was copied goes at once. What was added in fp32 stays until the end of the backward, but for
        stage 1's own (2153–2182)."""
        if self.offloads:
            return self.is_boundary or (self.job.settings.stage == 2 and not self._is_compact(part))
        return self.widens or not self._is_compact(part)

    def _collect(self, part: Partition) -> None:
        """The buffer that this rank's gradients are copied into, at the first of them: one for each group where they
        are added in fp32 (1311), else one for all."""
        s = self.job.settings
        if self._is_compact(part):
            if not any(one is part for one in self.compact):
                self.compact.append(part)
                self.ledger.take(COMPACT, part.part * s.accumulated)
        elif not self.collected:
            self.collected = sum(part.whole for part in self.parts) * s.weight
            self.ledger.take(OURS, self.collected)

    def _to_host(self, numel: int, part: Partition) -> None:
        """1886 the norm in fp64; 1898 the slice in the master's dtype."""
        if not self.is_boundary:
            return
        s = self.job.settings
        self.ledger.pass_by(NORM, numel * 8)
        source = s.accumulated if self._is_compact(part) else self.gradient
        self.ledger.pass_by(STAGING, numel * s.master * (source != s.master))

    def end_backward(self, is_boundary: bool) -> None:
        """1025–1064: the last bucket; what was collected waits; the buffers go."""
        if is_boundary and not self.fills_early:
            for part in self.parts:
                for weight in part.weights:
                    self._fill(weight)
        self._reduce_bucket(*self.buckets)
        if self.is_compact and is_boundary and not self.offloads:  # 1032
            for part in filter(self._is_compact, self.parts):
                self._collect(part)
        if self.job.settings.stage == 2 or is_boundary:
            self._end_of_partition()

    def _drop_buckets(self, count: int) -> None:
        self.ledger.drop(BUCKETS, self.job.settings.bucket * self.gradient, count)
        self.buffers -= count

    def _keep_own(self) -> None:
        """Without contiguous buffers this rank's gradients stay as autograd made them (`all_grad_tensors`, 1033)."""
        mine = [weight for part in self.parts for weight, _ in part.mine]
        self.collected = sum(weight.numel for weight in mine) * self.gradient
        for weight in mine:
            self._release(weight)
        self.ledger.take(OURS, self.collected)

    def _end_of_partition(self) -> None:
        if not self.copies and not self.is_compact:
            self._keep_own()
        if self.is_boundary and not self.offloads:
            self._orthogonalize()  # while the last micro batch's are still there beside the sum
            if self.is_compact and not self.widens:  # of what was copied together nothing but Muon's was waited for
                self.ledger.drop(OURS, self.collected)
                self.ledger.drop(OURS, self.accumulated)
                self.collected = self.accumulated = 0
        if not self.is_boundary or self.accumulated:
            self._accumulate_ours()
        for weight in self.job.trainable:
            self.forget(weight)
        if self.widens:
            self._drop_buckets(self.buffers - len(self.viewed))
        else:
            self._release_all()

    def _orthogonalize(self) -> None:
        """2836–2886: whole gradients, whose updates wait for the step."""
        for number, part in enumerate(self.parts):
            for weight, _ in part.mine if self._of_muon(part) else ():
                update = update_of(weight, self._whole_gradient, self.job.settings)
                self.ledger.pass_by(UPDATE, update.most)
                self.ledger.take(UPDATE, update.result)
                self.updates.setdefault(number, []).append(update.result)

    def _release_all(self) -> None:
        """`param.grad_accum` of other ranks' weights outlives the backward, and with it the bucket that it points into
        (1129–1145)."""
        for weight in self.job.trainable:
            self._release(weight)
        self._drop_buckets(self.buffers)
        self.viewed = set()
        for bucket in self.buckets:
            bucket.index = 0

    def _accumulate_ours(self) -> None:
        """1033–1041: the first micro batch's buffer is kept; a later one's is added to it and goes."""
        if self.accumulated:
            self.ledger.drop(OURS, self.collected)
        else:
            self.accumulated = self.collected
        self.collected = 0

    # --- step ---

    def step(self) -> None:
        s = self.job.settings
        if self.offloads:
            self._orthogonalize_offloaded()
            self._release_compact()
            return
        if s.takes_norm:
            self.ledger.pass_by(NORM, max(part.longest for part in self.parts) * 8)
        if self.widens:
            self._release_all()
        kept = self.collected or self.accumulated
        for index, part in enumerate(self.parts):
            self._step_of(part, kept if index == len(self.parts) - 1 else 0, self.updates.pop(index, []))
        self.collected = self.accumulated = 0
        self.compact = []

    def _step_of(self, part: Partition, kept: int, updates: list[int]) -> None:
        """3112–3140: flattened, cast, then the collected gradients go (they are views of one buffer: with the last)."""
        s = self.job.settings
        source = s.accumulated if self._is_compact(part) else self.gradient
        source = self._whole_gradient if self._of_muon(part) else source
        flat = part.part * source * (not self._is_compact(part) and part.pieces > 1)
        cast = part.part * s.master * (source != s.master)
        self.ledger.take(FLATTENED, flat)
        self.ledger.take(FLATTENED, cast)
        if cast:
            self.ledger.drop(FLATTENED, flat)
        self.ledger.drop(OURS, kept)
        for count in updates:
            self.ledger.drop(UPDATE, count)
        if s.is_foreach:
            self.ledger.pass_by(FLATTENED, part.part * s.master)
        self.ledger.drop(FLATTENED, cast or flat)
        if self._is_compact(part):
            self.ledger.drop(COMPACT, part.part * s.accumulated)

    def _orthogonalize_offloaded(self) -> None:
        """2059–2123: matrices are gathered, a batch of 64 MiB with their momentums at once."""
        self._each_batch(self._batch)

    def _each_batch(self, do: Callable[[int, Partition, list[Weight]], None]) -> None:
        for number, part in enumerate(self.parts):
            for batch in _batches(part.weights, self.job.settings.master) if self._of_muon(part) else ():
                do(number, part, batch)

    def _batch(self, number: int, part: Partition, batch: list[Weight]) -> None:
        m, names = self.job.settings.master, Names(self.ledger)
        names.put("whole", *(weight.numel * m for weight in batch for _ in range(2)))
        self._gather(number, part, batch)
        for weight in batch:
            names.update("update", update_of(weight, m, self.job.settings))
            ours = sum(piece.numel for piece in part.slices[weight.name] if piece.rank == self.job.rank)
            if ours:
                names.put("scaled", ours * m * (self.job.settings.precision == "fp16"))
                self.ledger.pass_by(NORM, ours * 8)
                names.drop("scaled")
        names.end()

    def _gather_first(self, number: int, part: Partition, batch: list[Weight]) -> None:
        """Momentums of zeros are not gathered (2079)."""
        self._gather(number, part, batch, lists=1)

    def _gather(self, number: int, part: Partition, batch: list[Weight], lists: int = 2) -> None:
        """1956–2010: no more than 64 MiB are under way at once."""
        ranks, m = self.job.ranks, self.job.settings.master
        if ranks == 1:
            return
        pieces = [piece for weight in batch for piece in part.slices[weight.name]]
        longest = max(sum(piece.numel for piece in pieces if piece.rank == rank) for rank in range(ranks))
        chunk = min(longest, max(1, _AT_ONCE // ((ranks + 1) * lists * m)))
        self.scratch.take((number, chunk, lists), chunk * lists * m, chunk * lists * m * ranks)

    def _release_compact(self) -> None:
        for part in self.compact:
            self.ledger.drop(COMPACT, part.part * self.job.settings.accumulated)
        self.compact = []
