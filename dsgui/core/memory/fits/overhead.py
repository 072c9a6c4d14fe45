"""What a training takes besides what DeepSpeed and the model allocate: named amounts with their source and their
margin. What was measured on a machine takes their place."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from dsgui.core.sizes import GIB, MIB


class Overhead(StrEnum):
    """The words stand in the catalogue (`memory_parts`)."""

    CONTEXT = "cuda_context"
    NCCL = "nccl"
    WORKSPACE = "cublas"
    FRAGMENTATION = "fragmentation"
    INTERPRETER = "interpreter"
    WORKERS = "dataloader"
    PINS = "pinned_cache"
    SYSTEM = "system"
    IN_USE = "in_use"


@dataclass(frozen=True, slots=True)
class Amount:
    """Bytes: at least, likely, at most."""

    low: int = 0
    likely: int = 0
    high: int = 0

    def times(self, count: float) -> "Amount":
        return Amount(*(round(one * count) for one in (self.low, self.likely, self.high)))

    def plus(self, other: "Amount") -> "Amount":
        return Amount(self.low + other.low, self.likely + other.likely, self.high + other.high)


def exactly(count: int) -> Amount:
    """An amount without a margin."""
    return Amount(count, count, count)


@dataclass(frozen=True, slots=True)
class Constant:
    """`source` says where the amount is from; `measured`: on the machine that it is used for, by so many `runs`."""

    amount: Amount
    source: str
    measured: bool = False
    runs: int = 0


def _gib(low: float, likely: float, high: float) -> Amount:
    return Amount(round(low * GIB), round(likely * GIB), round(high * GIB))


# A rank each, but for SYSTEM, which is a machine's. FRAGMENTATION is a share, below.
CONSTANTS: Mapping[Overhead, Constant] = {
    Overhead.CONTEXT: Constant(
        _gib(0.3, 0.8, 1.1),
        "the driver's context and the kernels that a training loads: 0.51 and then 0.95 GiB on an H200 (driver 580, "
        "torch 2.11 for CUDA 13), 0.3 to 0.5 at first on older cards",
    ),
    Overhead.NCCL: Constant(
        _gib(0.2, 0.8, 1.5), "NCCL: 10 to 16 MB a channel and peer, and DeepSpeed makes one to four groups"
    ),
    Overhead.INTERPRETER: Constant(
        _gib(0.6, 0.9, 1.3), "anonymous memory of Python, torch with CUDA, transformers, DeepSpeed and datasets"
    ),
    Overhead.WORKERS: Constant(_gib(0.1, 0.3, 0.6), "what a forked DataLoader worker stops sharing with its rank"),
    Overhead.SYSTEM: Constant(_gib(0.5, 1.0, 2.0), "the operating system and its services, on a machine of its own"),
}
# DeepSpeed communicates with itself, too: 0.64 GiB from the first collective of a single rank on (NCCL 2.28, H200).
NCCL_ALONE = _gib(0.2, 0.6, 0.7)
# Python 3.11 with torch 2.13 (CPU wheel), transformers 5.23, DeepSpeed 0.19.8 and datasets imported: 0.31 GiB RssAnon.
ON_THE_CPU = Constant(_gib(0.3, 0.35, 0.6), "RssAnon after importing torch's CPU wheel, transformers and DeepSpeed")

# torch/aten/src/ATen/cuda/CUDABlas.cpp, chooseCUDABlasWorkspaceSize: 32 MiB from Hopper on, 8 MiB before.
HOPPER = (9, 0)
WORKSPACE_BYTES, WORKSPACE_BEFORE_BYTES = 32 * MIB, 8 * MIB

# Reserved over allocated in torch's caching allocator: with expandable segments, and without. Without, far more was
# seen (LLaMA-Factory issue 2744: 9.96 GiB reserved but unallocated beside 11.74 GiB).
EXPANDABLE, SEGMENTS = (0.01, 0.03, 0.05), (0.03, 0.08, 0.15)


@dataclass(frozen=True, slots=True)
class Overheads:
    """The constants for one machine. `expandable`: PYTORCH_ALLOC_CONF has expandable_segments:True; `unrounded`: it
    leaves large pinned blocks as they are."""

    constants: Mapping[Overhead, Constant]
    expandable: bool = False
    on_cpu: bool = False
    unrounded: bool = False

    def of(self, which: Overhead) -> Amount:
        return self.constants[which].amount

    def fragmentation(self, allocated: int) -> Amount:
        """Of a GPU whose tensors take `allocated` bytes."""
        measured = self.constants.get(Overhead.FRAGMENTATION)
        shares = EXPANDABLE if self.expandable else SEGMENTS
        return measured.amount if measured else Amount(*(round(allocated * share) for share in shares))

    def nccl(self, ranks: int) -> Amount:
        """Of the communicators of so many ranks, on each GPU."""
        return self.of(Overhead.NCCL) if ranks > 1 else NCCL_ALONE

    def workspace(self, capability: tuple[int, int] | None) -> Amount:
        """cuBLAS's, by the card's compute capability; either where that is not known."""
        if capability is None:
            return Amount(WORKSPACE_BEFORE_BYTES, WORKSPACE_BYTES, WORKSPACE_BYTES)
        return exactly(WORKSPACE_BYTES if capability >= HOPPER else WORKSPACE_BEFORE_BYTES)

    @property
    def measured(self) -> bool:
        return any(constant.measured for constant in self.constants.values())

    @property
    def runs(self) -> int:
        """From how many runs of this machine, at most."""
        return max(constant.runs for constant in self.constants.values())


def overheads(
    measured: Mapping[Overhead, Constant] | None = None,
    *,
    expandable: bool = False,
    on_cpu: bool = False,
    unrounded: bool = False,
) -> Overheads:
    """The named constants, with what was `measured` on this machine in their place."""
    usual = {**CONSTANTS, Overhead.INTERPRETER: ON_THE_CPU} if on_cpu else CONSTANTS
    told = {which: replace(constant, measured=True) for which, constant in (measured or {}).items()}
    return Overheads({**usual, **told}, expandable, on_cpu, unrounded)


USUAL = overheads()


def asks_for_expandable(environment: Mapping[str, str]) -> bool:
    """Whether torch's allocator is asked for expandable segments: the older name counts first, the last word wins."""
    told = environment.get("PYTORCH_CUDA_ALLOC_CONF") or environment.get("PYTORCH_ALLOC_CONF") or ""
    pairs = dict(one.strip().partition(":")[::2] for one in told[:1000].split(","))
    return pairs.get("expandable_segments", "").strip().lower() == "true"
