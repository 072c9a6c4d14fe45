"""What a config will run on: a card from the table, or this machine as the target environment describes it.

Compute capabilities and memory: NVIDIA's CUDA GPU list and data sheets. Native bf16 arithmetic needs capability 8.0 or
higher; fp16 in DeepSpeed needs 7.0 (deepspeed/accelerator/cuda_accelerator.py, `is_fp16_supported`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

GIB = 1 << 30
NATIVE_BF16_CAPABILITY = (8, 0)
FP16_CAPABILITY = (7, 0)


@dataclass(frozen=True, slots=True)
class Hardware:
    """One kind of device. `bf16`/`fp16` are what DeepSpeed's accelerator answered, None where that is unknown."""

    id: str
    title: str
    vendor: str  # "nvidia", "amd" or "cpu"
    capability: tuple[int, int] | None = None
    memory_bytes: int | None = None
    bf16: bool | None = None
    fp16: bool | None = None


def _nvidia(id: str, title: str, capability: tuple[int, int], memory_gib: int) -> Hardware:
    return Hardware(id, title, "nvidia", capability, memory_gib * GIB)


CARDS: tuple[Hardware, ...] = (
    _nvidia("p100", "P100 16 GB", (6, 0), 16),
    _nvidia("v100", "V100 16/32 GB", (7, 0), 32),
    _nvidia("t4", "T4 16 GB", (7, 5), 16),
    _nvidia("rtx2080ti", "RTX 2080 Ti 11 GB", (7, 5), 11),
    _nvidia("rtx3090", "RTX 3090 24 GB", (8, 6), 24),
    _nvidia("rtx4090", "RTX 4090 24 GB", (8, 9), 24),
    _nvidia("a10", "A10 24 GB", (8, 6), 24),
    _nvidia("l40s", "L40S 48 GB", (8, 9), 48),
    _nvidia("a100-40", "A100 40 GB", (8, 0), 40),
    _nvidia("a100-80", "A100 80 GB", (8, 0), 80),
    _nvidia("h100", "H100 80 GB", (9, 0), 80),
    _nvidia("h200", "H200 141 GB", (9, 0), 141),
    Hardware("mi250", "AMD MI250 64 GB a die", "amd", None, 64 * GIB, bf16=True, fp16=True),
    Hardware("mi300x", "AMD MI300X 192 GB", "amd", None, 192 * GIB, bf16=True, fp16=True),
)


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU of this machine; `index` is the physical one (PCI bus order)."""

    index: int
    name: str
    capability: tuple[int, int] | None
    memory_bytes: int | None


@dataclass(frozen=True, slots=True)
class Target:
    """What the Python that will train has. A version is "" when the package is not installed there."""

    python: str
    python_version: str = ""
    versions: Mapping[str, str] | None = None
    accelerator: str | None = None  # "cuda", "cpu" …; None until it was asked
    bf16: bool | None = None
    fp16: bool | None = None
    gpus: tuple[Gpu, ...] = ()
    problem: str = ""

    def version(self, package: str) -> str:
        """The installed version of `package`, or ""."""
        return (self.versions or {}).get(package, "")

    @classmethod
    def from_json(cls, python: str, answer: Mapping[str, Any], gpus: tuple[Gpu, ...]) -> "Target":
        """Built from what `shell/ask_target.py` printed."""
        accelerator = answer.get("accelerator") or {}
        return cls(
            python=python,
            python_version=str(answer.get("python", "")),
            versions={str(k): str(v) for k, v in (answer.get("versions") or {}).items()},
            accelerator=accelerator.get("name"),
            bf16=accelerator.get("bf16"),
            fp16=accelerator.get("fp16"),
            gpus=gpus,
            problem=str(accelerator.get("problem", "")),
        )

    @property
    def hardware(self) -> tuple[Hardware, ...]:
        """This machine's devices, each GPU once; a machine without a GPU is its CPU."""
        if not self.gpus:
            return (Hardware("this", "This machine: CPU", "cpu", bf16=self.bf16, fp16=self.fp16),)
        return tuple(
            Hardware("this", f"GPU {g.index}: {g.name}", "nvidia", g.capability, g.memory_bytes) for g in self.gpus
        )
