"""What a config will run on: a GPU from the table, or this machine as the target environment describes it.

Compute capabilities and memory: NVIDIA's CUDA GPU list and data sheets. Native bf16 arithmetic needs capability 8.0 or
higher; fp16 in DeepSpeed needs 7.0 (deepspeed/accelerator/cuda_accelerator.py, `is_fp16_supported`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dsgui.core.sizes import GIB

NATIVE_BF16_CAPABILITY = (8, 0)
FP16_CAPABILITY = (7, 0)


@dataclass(frozen=True, slots=True)
class Hardware:
    """One kind of device. `bf16`/`fp16` are what DeepSpeed's accelerator answered, None if unknown."""

    id: str
    title: str
    vendor: str  # "nvidia", "amd" or "cpu"
    capability: tuple[int, int] | None = None
    memory_bytes: int | None = None
    bf16: bool | None = None
    fp16: bool | None = None
    generation: str = ""  # as its vendor names it, "AMD CDNA 3" say


# NVIDIA's generations by the compute capability they begin with, the newest first.
_GENERATIONS = (
    ((10, 0), "Blackwell"),
    ((9, 0), "Hopper"),
    ((8, 9), "Ada Lovelace"),
    ((8, 0), "Ampere"),
    ((7, 5), "Turing"),
    ((7, 0), "Volta"),
    ((6, 0), "Pascal"),
)


def has_bf16(device: Hardware) -> bool:
    """In hardware; False where nobody knows."""
    if device.capability is not None:
        return device.capability >= NATIVE_BF16_CAPABILITY
    return device.bf16 is True


def refuses_fp16(device: Hardware) -> bool:
    """Whether DeepSpeed's accelerator does; False where nobody knows."""
    if device.vendor == "nvidia" and device.capability is not None:
        return device.capability < FP16_CAPABILITY
    return device.fp16 is False


def _nvidia(id: str, title: str, capability: tuple[int, int], memory_gib: int) -> Hardware:
    name = next(name for first, name in _GENERATIONS if capability >= first)
    return Hardware(id, title, "nvidia", capability, memory_gib * GIB, generation=f"NVIDIA {name}")


def _amd(id: str, title: str, memory_gib: int, generation: str) -> Hardware:
    return Hardware(id, title, "amd", None, memory_gib * GIB, bf16=True, fp16=True, generation=f"AMD {generation}")


# Memory as the vendors name it: the driver shows up to 6 % less where ECC takes its part (T4, A10, A40, L4, L40S).
# Capabilities: https://developer.nvidia.com/cuda-gpus and https://developer.nvidia.com/cuda-legacy-gpus.
CARDS: tuple[Hardware, ...] = (
    _nvidia("p40", "P40 24 GB", (6, 1), 24),
    _nvidia("p100", "P100 16 GB", (6, 0), 16),
    _nvidia("v100-16", "V100 16 GB", (7, 0), 16),
    _nvidia("v100", "V100 32 GB", (7, 0), 32),
    _nvidia("t4", "T4 16 GB", (7, 5), 16),
    _nvidia("rtx2080ti", "RTX 2080 Ti 11 GB", (7, 5), 11),
    _nvidia("rtx8000", "Quadro RTX 8000 48 GB", (7, 5), 48),
    _nvidia("rtx3060", "RTX 3060 12 GB", (8, 6), 12),
    _nvidia("rtx3090", "RTX 3090 24 GB", (8, 6), 24),
    _nvidia("rtx4080", "RTX 4080 16 GB", (8, 9), 16),
    _nvidia("rtx4090", "RTX 4090 24 GB", (8, 9), 24),
    _nvidia("rtx5090", "RTX 5090 32 GB", (12, 0), 32),
    _nvidia("a5000", "RTX A5000 24 GB", (8, 6), 24),
    _nvidia("a6000", "RTX A6000 48 GB", (8, 6), 48),
    _nvidia("rtx6000ada", "RTX 6000 Ada 48 GB", (8, 9), 48),
    _nvidia("rtxpro6000", "RTX PRO 6000 Blackwell 96 GB", (12, 0), 96),
    _nvidia("a10", "A10 24 GB", (8, 6), 24),
    _nvidia("a10g", "A10G 24 GB", (8, 6), 24),
    _nvidia("a30", "A30 24 GB", (8, 0), 24),
    _nvidia("a40", "A40 48 GB", (8, 6), 48),
    _nvidia("a100-40", "A100 40 GB", (8, 0), 40),
    _nvidia("a100-80", "A100 80 GB", (8, 0), 80),
    _nvidia("l4", "L4 24 GB", (8, 9), 24),
    _nvidia("l40s", "L40S 48 GB", (8, 9), 48),
    _nvidia("h100", "H100 80 GB", (9, 0), 80),
    _nvidia("h100-nvl", "H100 NVL 94 GB", (9, 0), 94),
    _nvidia("gh200", "GH200 96 GB", (9, 0), 96),
    _nvidia("h200", "H200 141 GB", (9, 0), 141),
    _nvidia("b200", "B200 180 GB", (10, 0), 180),
    _amd("mi210", "AMD MI210 64 GB", 64, "CDNA 2"),
    _amd("mi250", "AMD MI250 64 GB a die", 64, "CDNA 2"),
    _amd("mi300x", "AMD MI300X 192 GB", 192, "CDNA 3"),
    _amd("mi325x", "AMD MI325X 256 GB", 256, "CDNA 3"),
    _amd("mi355x", "AMD MI355X 288 GB", 288, "CDNA 4"),
)
# As they are offered: by vendor and generation, the newest first.
_ORDER = (*(f"NVIDIA {name}" for _, name in _GENERATIONS), "AMD CDNA 4", "AMD CDNA 3", "AMD CDNA 2")
OFFERED: tuple[Hardware, ...] = tuple(sorted(CARDS, key=lambda card: _ORDER.index(card.generation)))
_SIZE = re.compile(r" \d+ GB.*")
# A name that fits two cards means the smaller one: what fits there fits on both.
ALIASES = {"a100": "a100-40", "v100-32": "v100", "h100-80": "h100", "rtxa6000": "a6000", "mi250x": "mi250"}


def card_named(name: str) -> Hardware | None:
    """The GPU with this id or alias."""
    return next((card for card in CARDS if card.id == ALIASES.get(name, name)), None)


_OFF = 0.12  # what is named less than what a driver shows


def card_of(name: str, memory_bytes: int) -> Hardware | None:
    """The card that a driver calls so (“NVIDIA A100-SXM4-80GB”), by as much memory."""
    called = name.lower()
    fit = [card for card in CARDS if _is_called(card, called) and _is_as_large(card, memory_bytes)]
    return max(fit, key=lambda card: len(card.title), default=None)


def _is_called(card: Hardware, name: str) -> bool:
    """H200 is no part of GH200, and AMD's drivers have “Instinct” before the card's name."""
    words = _SIZE.sub("", card.title).lower().removeprefix("amd ").split()
    return re.search(rf"(?<![a-z0-9]){'[^a-z0-9]*'.join(map(re.escape, words))}", name) is not None


def _is_as_large(card: Hardware, memory_bytes: int) -> bool:
    return card.memory_bytes is not None and abs(card.memory_bytes - memory_bytes) <= _OFF * card.memory_bytes


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU of this machine; `index` is the physical one (PCI bus order)."""

    index: int
    name: str
    capability: tuple[int, int] | None
    memory_bytes: int | None
    free_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Op:
    """One of DeepSpeed's operators: built when DeepSpeed was `installed`, or buildable at first use (`compatible`);
    otherwise `reason` is what its builder says."""

    name: str
    installed: bool
    compatible: bool
    reason: str = ""

    @property
    def usable(self) -> bool:
        """Whether a run can load it."""
        return self.installed or self.compatible

    @property
    def first_reason(self) -> str:
        """The first sentence of the reason, without its full stop."""
        return self.reason.partition(". ")[0].removesuffix(".")

    @classmethod
    def list_from_json(cls, answer: object) -> "tuple[Op, ...] | None":
        """What `shell/machine/ask_target.py` answered; None if it was not asked or could not tell."""
        if not isinstance(answer, Mapping) or "problem" in answer:
            return None
        return tuple(
            cls(str(name), bool(told.get("installed")), bool(told.get("compatible")), str(told.get("reason", "")))
            for name, told in answer.items()
            if isinstance(told, Mapping)
        )


@dataclass(frozen=True, slots=True)
class Target:
    """What the training environment's Python has. A version is "" if the package is not installed there. `lacking`:
    those modules that DeepSpeed imports for some configs and that are missing, as far as they were asked about."""

    python: str
    python_version: str = ""
    versions: Mapping[str, str] | None = None
    accelerator: str | None = None  # "cuda", "cpu" …; None until it was asked
    bf16: bool | None = None
    fp16: bool | None = None
    gpus: tuple[Gpu, ...] = ()
    problem: str = ""
    ops: tuple[Op, ...] | None = None  # None: not known
    lacking: tuple[str, ...] = ()

    def version(self, package: str) -> str:
        """The installed version of `package`, or ""."""
        return (self.versions or {}).get(package, "")

    @classmethod
    def from_json(cls, python: str, answer: Mapping[str, Any], gpus: tuple[Gpu, ...]) -> "Target":
        """Built from what `shell/machine/ask_target.py` printed."""
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
            ops=Op.list_from_json(answer.get("ops")),
            lacking=tuple(name for name, there in (answer.get("modules") or {}).items() if there is False),
        )

    @property
    def missing_ops(self) -> frozenset[str]:
        """The operators that a run here can't load; none if that is unknown."""
        return frozenset(op.name for op in self.ops or () if not op.usable)

    @property
    def hardware(self) -> tuple[Hardware, ...]:
        """This machine's devices, each GPU once; without a GPU, its CPU."""
        if not self.gpus:
            return (Hardware("this", "CPU", "cpu", bf16=self.bf16, fp16=self.fp16),)
        return tuple(
            Hardware("this", f"GPU {g.index}: {g.name}", "nvidia", g.capability, g.memory_bytes) for g in self.gpus
        )
