"""A driver of NVIDIA's that is none: a library built from tests/support/fake_nvml/nvml.c, which the real pynvml finds.

What it says can be changed while it runs: cards that are lost, features that are missing, calls that hang.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from dsgui.core.metrics.samples import GpuSample

SOURCE = Path(__file__).parent / "fake_nvml" / "nvml.c"
GIB = 1 << 30
NOT_SUPPORTED, GPU_IS_LOST = 3, 15


def missing() -> str:
    """Why it can't be built here, or ""."""
    return "" if shutil.which("cc") else "there is no C compiler"


class FakeDriver:
    """In a folder of its own; `environment` is for the process that shall find it."""

    def __init__(self, folder: Path, cards: int = 8) -> None:
        self._folder, self._cards = folder, cards
        folder.mkdir(parents=True)
        library = folder / "libnvidia-ml.so.1"
        words = ["cc", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-O1", "-o", str(library), str(SOURCE)]
        subprocess.run(words, check=True)
        self.say()

    @property
    def environment(self) -> dict[str, str]:
        paths = f"{self._folder}:{os.environ.get('LD_LIBRARY_PATH', '')}".rstrip(":")
        state, log = str(self._folder / "state"), str(self._folder / "log")
        return {"LD_LIBRARY_PATH": paths, "FAKE_NVML": state, "FAKE_NVML_LOG": log}

    def say(self, *lines: str, cards: int | None = None, generation: int = 0) -> None:
        """What holds from now on, and nothing else: lines as tests/support/fake_nvml/nvml.c explains them."""
        new = self._folder / "state.new"
        first = (f"cards {self._cards if cards is None else cards}", f"generation {generation}")
        new.write_text("".join(f"{line}\n" for line in (*first, *lines)), encoding="ascii")
        new.replace(self._folder / "state")

    def calls(self) -> list[tuple[str, int]]:
        """The functions that were called, each with the thread that did."""
        path = self._folder / "log"
        lines = path.read_text("ascii").splitlines() if path.exists() else []
        return [(line.split()[0], int(line.split()[1])) for line in lines]


def serves(index: int, run_bytes: int | None = 0, counted: bool = False) -> GpuSample:
    """What a card of the library says; `counted`: it was this card's turn to be asked for its PCIe."""
    return GpuSample(
        index,
        f"NVIDIA Fake {index}",
        used_bytes=(index + 1) * GIB + index,
        run_bytes=run_bytes,
        total_bytes=141 * GIB,
        utilisation_percent=10.0 * index,
        power_w=100.5 + index,
        power_limit_w=700.0 - index,
        temperature_c=30.0 + index,
        sm_clock_mhz=1000.0 + index,
        memory_clock_mhz=2000.0 + index,
        throttle=1 << index,
        pcie_rx_bytes_s=1000.0 * (200 + index) if counted else None,
        pcie_tx_bytes_s=1000.0 * (100 + index) if counted else None,
    )


def without_pcie(samples: Iterable[GpuSample]) -> list[GpuSample]:
    """Samples as if no card's PCIe was ever asked for."""
    return [replace(one, pcie_rx_bytes_s=None, pcie_tx_bytes_s=None) for one in samples]
