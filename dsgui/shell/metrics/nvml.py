"""What NVIDIA's cards do, asked of the driver through pynvml. Any question may fail alone, and may hang: whoever must
not hang with it asks from a thread (shell/metrics/aside.py).

Source: NVML's API reference (https://docs.nvidia.com/deploy/nvml-api/) and nvml.h.
This module is also sent to the other machines of a run (shell/metrics/nodes.py): the standard library alone, and
pynvml where it is installed.
"""

import importlib
import os
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from dsgui.core.metrics.samples import GpuSample, Lack

NO_DRIVER = "no_driver"
_RETRY_S = 5.0
_COUNTS_S = 3.0  # between two countings of what goes over a card's PCIe, each of which takes 40 ms
# nvml.h, enum nvmlReturn_t
_UNINITIALIZED, _DRIVER_NOT_LOADED = 1, 9
_GONE = frozenset({15, 16})  # GPU_IS_LOST, RESET_REQUIRED
_TEMPERATURE_GPU = 0
_CLOCK_SM, _CLOCK_MEMORY = 1, 2
_PCIE_TX, _PCIE_RX = 0, 1
_KB = 1000  # "KB/s", nvmlDeviceGetPcieThroughput


def load_nvml() -> Any | None:
    """The pynvml module; None where it is not installed. Nothing is asked of the driver yet."""
    try:
        return importlib.import_module("pynvml")
    except ImportError:
        return None


@dataclass(slots=True)
class Card:
    """One card: `handle` is None while it can't be reached. By its `uuid` it is found again when others have gone."""

    index: int
    name: str = ""
    uuid: Any = None
    handle: Any = None
    asked_s: float = 0.0
    counted_s: float | None = None
    received_bytes_s: float | None = None
    sent_bytes_s: float | None = None


class Cards:
    """This machine's NVIDIA GPUs, or the chosen ones. `nvml` is the pynvml module, or anything that answers as it does;
    None where there is none. A card that is lost is asked for again now and then, and a driver that is not there."""

    def __init__(
        self,
        nvml: Any | None,
        indices: Collection[int] = (),
        monotonic: Callable[[], float] = time.monotonic,
        retry_s: float = _RETRY_S,
    ) -> None:
        self._nvml, self._wanted, self._monotonic, self._retry_s = nvml, frozenset(indices), monotonic, retry_s
        self._started = False
        self._tried_s = monotonic()
        self._cards: list[Card] = []
        self._start()

    @property
    def lacks(self) -> tuple[Lack, ...]:
        """That there is no driver."""
        return () if self._cards or self._started else ((NO_DRIVER, ()),)

    def read(self, pids: Collection[int]) -> tuple[GpuSample, ...]:
        """What they do; `pids` are the run's processes."""
        self._revive()
        return tuple(self._sample(card, pids) for card in self._cards)

    def holders(self, pids: Collection[int]) -> set[int] | None:
        """Those of `pids` that still hold memory of a GPU; None where the driver does not say."""
        answers = [self._processes(card) for card in self._cards]
        if not answers or any(answer is None for answer in answers):
            return None
        return {process.pid for answer in answers for process in answer or () if process.pid in pids}

    def count_next(self) -> None:
        """Counts what goes over the PCIe of one card, the one whose turn it is; takes 40 ms."""
        now = self._monotonic()
        reached = [card for card in self._cards if card.handle is not None]
        card = min(reached, key=lambda card: card.counted_s or 0.0, default=None)
        if card is None or (card.counted_s is not None and now - card.counted_s < _COUNTS_S):
            return
        card.counted_s = now
        card.received_bytes_s = _times(self._of(card, "nvmlDeviceGetPcieThroughput", _PCIE_RX), _KB)
        card.sent_bytes_s = _times(self._of(card, "nvmlDeviceGetPcieThroughput", _PCIE_TX), _KB)

    def close(self) -> None:
        """Lets go of the driver."""
        if self._started:
            self._ask("nvmlShutdown")
        self._nvml, self._cards, self._started = None, [], False

    # -- reaching them ---------------------------------------------------------------------------------------------

    def _start(self) -> None:
        """The driver anew: handles that it gave before are void."""
        self._tried_s = self._monotonic()
        if self._nvml is None:
            return
        self._started = True
        self._ask("nvmlInit")
        if not self._started:
            return
        if not self._cards:
            count = self._ask("nvmlDeviceGetCount") or 0
            self._cards = [Card(index) for index in range(count) if not self._wanted or index in self._wanted]
        for card in self._cards:
            self._reach(card)

    def _revive(self) -> None:
        now = self._monotonic()
        if not self._started and now - self._tried_s >= self._retry_s:
            self._start()
        for card in self._cards:
            if self._started and card.handle is None and now - card.asked_s >= self._retry_s:
                self._reach(card)

    def _reach(self, card: Card) -> None:
        """By its index the first time only: when a card is gone the driver may count the others anew."""
        card.asked_s = self._monotonic()
        if card.uuid is not None:
            card.handle = self._ask("nvmlDeviceGetHandleByUUID", card.uuid)
        else:
            card.handle = self._ask("nvmlDeviceGetHandleByIndex", card.index)
            card.uuid = self._of(card, "nvmlDeviceGetUUID")
        card.name = card.name or _text(self._of(card, "nvmlDeviceGetName"))

    def _of(self, card: Card, question: str, *arguments: Any) -> Any | None:
        """What the driver says of a card. One that is gone is not asked again for a while."""
        if card.handle is None:
            return None
        try:
            return self._call(question, card.handle, *arguments)
        except LookupError:
            card.handle, card.asked_s = None, self._monotonic()
            card.received_bytes_s = card.sent_bytes_s = None
            return None

    def _ask(self, question: str, *arguments: Any) -> Any | None:
        try:
            return self._call(question, *arguments)
        except LookupError:
            return None

    def _call(self, question: str, *arguments: Any) -> Any | None:
        """Raises LookupError where the card is gone."""
        asks = getattr(self._nvml, question, None) if self._started else None
        if asks is None:
            return None
        try:
            return asks(*arguments)
        except self._nvml.NVMLError as error:  # type: ignore[union-attr]  # there is one, it was asked
            code = getattr(error, "value", None)
            if question == "nvmlInit" or code in (_UNINITIALIZED, _DRIVER_NOT_LOADED):
                self._lose_driver()
            if code in _GONE:
                raise LookupError(question) from error
            return None

    def _lose_driver(self) -> None:
        self._started, self._tried_s = False, self._monotonic()
        for card in self._cards:
            card.handle = card.received_bytes_s = card.sent_bytes_s = None

    # -- asking them -----------------------------------------------------------------------------------------------

    def _sample(self, card: Card, pids: Collection[int]) -> GpuSample:
        memory = self._of(card, "nvmlDeviceGetMemoryInfo")
        rates = self._of(card, "nvmlDeviceGetUtilizationRates")
        readings = GpuSample(
            index=card.index,
            name=card.name or "NVIDIA GPU",
            used_bytes=memory and int(memory.used),
            run_bytes=self._run_bytes(card, pids),
            total_bytes=memory and int(memory.total),
            utilisation_percent=rates and float(rates.gpu),
            power_w=_times(self._of(card, "nvmlDeviceGetPowerUsage"), 0.001),
            power_limit_w=_times(self._of(card, "nvmlDeviceGetEnforcedPowerLimit"), 0.001),
            temperature_c=_times(self._of(card, "nvmlDeviceGetTemperature", _TEMPERATURE_GPU), 1),
            sm_clock_mhz=_times(self._of(card, "nvmlDeviceGetClockInfo", _CLOCK_SM), 1),
            memory_clock_mhz=_times(self._of(card, "nvmlDeviceGetClockInfo", _CLOCK_MEMORY), 1),
            throttle=self._throttle(card),
            pcie_rx_bytes_s=card.received_bytes_s,
            pcie_tx_bytes_s=card.sent_bytes_s,
        )
        return readings if card.handle is not None else GpuSample(card.index, readings.name)

    def _throttle(self, card: Card) -> int | None:
        """Drivers before 535 know the older name alone."""
        for question in ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"):
            if (mask := self._of(card, question)) is not None:
                return int(mask)
        return None

    def _processes(self, card: Card) -> Any | None:
        """Drivers before 510 know the older form alone."""
        for question in ("nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetComputeRunningProcesses_v2"):
            if (found := self._of(card, question)) is not None:
                return found
        return None

    def _run_bytes(self, card: Card, pids: Collection[int]) -> int | None:
        processes = self._processes(card)
        if processes is None:
            return None
        ours: list[int | None] = [process.usedGpuMemory for process in processes if process.pid in pids]
        # In a container NVML speaks of the host's pids: none of them exists here, and 0 would be a lie.
        if processes and not ours and not any(os.path.exists(f"/proc/{process.pid}") for process in processes):
            return None
        known = [used for used in ours if used is not None]
        return sum(known) if len(known) == len(ours) else None


def _text(name: Any) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name or "")


def _times(number: Any, unit: float) -> float | None:
    return None if number is None else round(float(number) * unit, 3)
