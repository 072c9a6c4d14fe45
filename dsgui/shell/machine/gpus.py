"""What this machine's NVIDIA GPUs are, for pages and checks; asked in one thread, so that a driver that hangs costs a
page its GPUs and nothing else."""

import contextlib
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NoAnswer
from functools import cache
from typing import Any, TypeVar

from dsgui.core.machine.hardware import Gpu
from dsgui.core.machine.machine import Driver
from dsgui.core.metrics.samples import GpuSample
from dsgui.shell.metrics.aside import Aside
from dsgui.shell.metrics.nvml import Cards, load_nvml

_PATIENCE_S = 5.0  # a driver that nobody uses first starts its cards, about half a second each
Answer = TypeVar("Answer")


class Gpus(Cards):
    """Cards that also say what they are."""

    def list(self) -> tuple[Gpu, ...]:
        """Physical indices, in PCI bus order as NVML counts. One that can't be reached is left out."""
        return tuple(self._describe(card) for card in self._cards if card.handle is not None)

    def driver(self) -> Driver | None:
        """The driver's version and the newest CUDA it can run; None without one."""
        version = self._ask("nvmlSystemGetDriverVersion")
        cuda = self._ask("nvmlSystemGetCudaDriverVersion_v2")
        if version is None:
            return None
        text = version.decode("utf-8", "replace") if isinstance(version, bytes) else str(version)
        return Driver(text, cuda and (int(cuda) // 1000, int(cuda) % 1000 // 10))

    def _describe(self, card: Any) -> Gpu:
        capability = self._of(card, "nvmlDeviceGetCudaComputeCapability")
        memory = self._of(card, "nvmlDeviceGetMemoryInfo")
        return Gpu(
            card.index,
            card.name or "NVIDIA GPU",
            capability and (int(capability[0]), int(capability[1])),
            memory and int(memory.total),
            memory and int(memory.free),
        )


class Driven:
    """Asks the driver one thing at a time, and waits a bounded time. While a question hangs no other waits for it."""

    def __init__(self, load: Callable[[], Any | None] = load_nvml, patience_s: float = _PATIENCE_S) -> None:
        self._load, self._patience_s = load, patience_s
        self._aside = Aside("nvml")
        self._hangs: Future[Any] | None = None

    def ask(self, question: Callable[[Gpus], Answer], otherwise: Answer) -> Answer:
        """The answer, or `otherwise` where none comes in time."""
        if self._hangs is not None and not self._hangs.done():
            return otherwise
        asked = self._aside.ask(lambda: self._answer(question))
        try:
            return asked.result(self._patience_s)
        except NoAnswer:
            self._hangs = asked
            return otherwise

    def _answer(self, question: Callable[[Gpus], Answer]) -> Answer:
        with contextlib.closing(Gpus(self._load())) as gpus:
            return question(gpus)


@cache
def _this_machine() -> Driven:
    """One thread for all pages: each poll would leave its own in a driver that hangs."""
    return Driven()


def list_gpus() -> tuple[Gpu, ...]:
    """This machine's NVIDIA GPUs; none without a driver that answers."""
    return _this_machine().ask(Gpus.list, ())


def read_gpus() -> tuple[GpuSample, ...]:
    """What this machine's NVIDIA GPUs do now; none without a driver that answers."""
    return _this_machine().ask(lambda gpus: gpus.read(()), ())


def gpus_and_driver() -> tuple[tuple[Gpu, ...], Driver | None]:
    """This machine's NVIDIA GPUs and their driver."""
    nothing: tuple[tuple[Gpu, ...], Driver | None] = ((), None)
    return _this_machine().ask(lambda gpus: (gpus.list(), gpus.driver()), nothing)
