"""What the machine, the run and its GPUs use. Cards are fakes that answer as pynvml does; memory is real processes'."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dsgui.core.metrics.samples import GpuSample, Sample, SampleTable, throttle_reasons
from dsgui.shell.machine.gpus import Gpus, list_gpus
from dsgui.shell.metrics.nvml import NO_DRIVER, Cards
from dsgui.shell.metrics.proc import HostReader, HostReading, RunMemory
from dsgui.shell.metrics.telemetry import GpuWatch, Telemetry

GIB = 1 << 30
MIB = 1 << 20


class FakeNvml:
    """Answers as pynvml does. `cards` maps a question to its answer, by index; what is missing is unsupported."""

    class NVMLError(Exception):
        pass

    def __init__(self, *cards: dict[str, Any]) -> None:
        self.cards, self.closed = cards, False

    def nvmlInit(self) -> None:
        self.closed = False

    def nvmlDeviceGetCount(self) -> int:
        return len(self.cards)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlShutdown(self) -> None:
        self.closed = True

    def __getattr__(self, question: str) -> Any:
        def answer(handle: int, *which: int) -> Any:
            if question not in self.cards[handle]:
                raise self.NVMLError("Not Supported")
            return self.cards[handle][question]

        return answer


def card(used_gib: int = 3, processes: tuple[tuple[int, int | None], ...] = (), **more: Any) -> dict[str, Any]:
    return {
        "nvmlDeviceGetName": "NVIDIA H200",
        "nvmlDeviceGetMemoryInfo": SimpleNamespace(used=used_gib * GIB, total=141 * GIB, free=(141 - used_gib) * GIB),
        "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=97, memory=50),
        "nvmlDeviceGetCudaComputeCapability": (9, 0),
        "nvmlDeviceGetComputeRunningProcesses": [
            SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in processes
        ],
    } | more


def test_a_card_tells_its_own_and_the_runs_memory() -> None:
    gpus = Gpus(FakeNvml(card(), card(5, ((10, 2 * GIB), (11, GIB), (99, 7)))))
    first, second = gpus.read({10, 11})
    assert first == GpuSample(0, "NVIDIA H200", 3 * GIB, 0, 141 * GIB, 97.0)
    assert (second.index, second.used_bytes, second.run_bytes) == (1, 5 * GIB, 3 * GIB)
    [described, _] = gpus.list()
    assert (described.index, described.capability, described.memory_bytes) == (0, (9, 0), 141 * GIB)


def test_only_the_chosen_cards_are_read() -> None:
    assert [gpu.index for gpu in Gpus(FakeNvml(card(), card(), card()), (2,)).read(())] == [2]


def test_what_a_card_cannot_tell_is_none() -> None:
    [sample] = Gpus(FakeNvml({"nvmlDeviceGetName": b"Old card"})).read({1})
    assert sample == GpuSample(0, "Old card")
    [described] = Gpus(FakeNvml({})).list()
    assert (described.name, described.capability, described.memory_bytes) == ("NVIDIA GPU", None, None)


def test_an_idle_card_is_at_zero_not_unknown() -> None:
    idle = card(0, nvmlDeviceGetUtilizationRates=SimpleNamespace(gpu=0, memory=0))
    [sample] = Gpus(FakeNvml(idle)).read({1})
    assert (sample.used_bytes, sample.run_bytes, sample.utilisation_percent) == (0, 0, 0.0)


@pytest.mark.parametrize("processes", [((10, None),), ((2**22 + 1, GIB),)])
def test_the_runs_part_is_unknown_where_nvml_hides_it_or_speaks_of_other_pids(
    processes: tuple[tuple[int, int | None], ...],
) -> None:
    [sample] = Gpus(FakeNvml(card(3, processes))).read({10})
    assert sample.run_bytes is None


def test_no_driver_is_said_once_and_gives_no_cards() -> None:
    watch = GpuWatch(lambda: Cards(None))
    telemetry = Telemetry(watch, host=lambda: HostReading(1, 2, 3.0), run_bytes=lambda pids: 7, clock=lambda: 9.0)
    assert telemetry.sample(()) == Sample(9.0, 1, 2, 7, 3.0, (), run_processes=0)  # the first knows no CPU of the run
    assert telemetry.lacks == ((NO_DRIVER, ()),)
    telemetry.close()


def test_this_machine_can_be_read_whatever_it_has() -> None:
    assert isinstance(list_gpus(), tuple)
    host = HostReader().read()
    assert 0 < (host.used_bytes or 0) < (host.total_bytes or 0)
    telemetry = Telemetry()
    sample = telemetry.sample({os.getpid()})
    telemetry.close()
    assert (sample.run_bytes or 0) > MIB


def test_closing_lets_go_of_the_driver() -> None:
    nvml = FakeNvml(card())
    gpus = Gpus(nvml)
    gpus.close()
    assert nvml.closed
    assert gpus.read({1}) == ()


def test_a_sample_becomes_columns() -> None:
    sample = Sample(1.5, 2, 3, None, None, (GpuSample(0, "a", 1, None, 2, 3.5), GpuSample(3, "b")), 0.5)
    flat = sample.flat()
    assert (flat["elapsed_s"], flat["host_used_bytes"], flat["run_bytes"]) == (0.5, 2, None)
    assert (flat["gpu0.used_bytes"], flat["gpu0.utilisation_percent"], flat["gpu3.used_bytes"]) == (1, 3.5, None)
    columns = ("elapsed_s", *(name for name in flat if name != "elapsed_s"))
    table = SampleTable(columns, "worker-1", {0: "a", 3: "b"})
    assert SampleTable.from_json(json.loads(json.dumps(table.to_json())) | {"later": 1}) == table


@pytest.mark.parametrize(
    "absurd", [10**400, -(10**400), 1e400, math.nan, 1 << 63], ids=["long", "negative", "inf", "nan", "2**63"]
)
def test_a_number_that_no_reading_can_have_is_not_known(absurd: float) -> None:
    sent = Sample(1.0, 5, 10, None, 50.0, (GpuSample(1, "a", 3),), 2.0).to_json()
    assert Sample.from_json(sent | {"host_used_bytes": absurd}) == Sample.from_json(sent | {"host_used_bytes": None})
    card = sent["gpus"][0]
    (found,) = Sample.from_json(sent | {"gpus": [card | {"throttle": 1.5, "used_bytes": absurd}]}).gpus
    assert (found.throttle, found.used_bytes) == (None, None)
    assert Sample.from_json(sent | {"gpus": [card | {"index": absurd}, card | {"index": 64}]}).gpus == ()
    with pytest.raises(TypeError, match="expected a number"):
        Sample.from_json(sent | {"host_used_bytes": True})


def test_what_holds_the_clocks_down_is_told_in_words() -> None:
    assert throttle_reasons(0) == ((), 0)
    assert throttle_reasons(0x44) == (("power_cap", "hot_hardware"), 0)
    assert throttle_reasons(0x1001) == (("idle",), 0x1000)


def test_a_sample_of_another_machine_arrives_as_it_was() -> None:
    sample = Sample(1.5, 2, 3, None, 4.5, (GpuSample(0, "a", 1, throttle=4), GpuSample(3, "b")), 0.5, disk_free_bytes=9)
    sent = json.loads(json.dumps(sample.to_json()))
    assert Sample.from_json(sent) == sample


@pytest.mark.parametrize("wrong", ["text", True, [1], {}])
def test_what_is_no_number_is_no_reading_of_another_machine(wrong: object) -> None:
    sent = Sample(1.5, 2, 3, None, 4.5, (GpuSample(0, "a"),)).to_json()
    for spoilt in (sent | {"run_bytes": wrong}, sent | {"gpus": [sent["gpus"][0] | {"power_w": wrong}]}):
        with pytest.raises(TypeError):
            Sample.from_json(spoilt)


_HOLD = """
import mmap, sys
own = bytearray(b"x" * (40 << 20))
file = open(sys.argv[1], "r+b")
shared = mmap.mmap(file.fileno(), 64 << 20)
for place in range(0, 64 << 20, 4096):
    shared[place] = 1
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def shared_file() -> Iterator[Path]:
    path = Path(f"/dev/shm/dsgui-test-{os.getpid()}")
    path.write_bytes(b"")
    os.truncate(path, 64 * MIB)
    yield path
    path.unlink()


def test_memory_that_two_processes_share_is_counted_once(shared_file: Path) -> None:
    command = [sys.executable, "-c", _HOLD, str(shared_file)]
    pipe = subprocess.PIPE
    with (
        subprocess.Popen(command, stdin=pipe, stdout=pipe) as a,
        subprocess.Popen(command, stdin=pipe, stdout=pipe) as b,
    ):
        assert a.stdout is not None
        assert b.stdout is not None
        assert a.stdout.readline() == b.stdout.readline() == b"ready\n"
        one, both = RunMemory().read([a.pid]), RunMemory().read([a.pid, b.pid])
        a.communicate()
        b.communicate()
    assert 104 * MIB < one < 124 * MIB
    assert 40 * MIB < both - one < 60 * MIB  # the second's own memory, not the shared 64 MiB again


def test_a_process_that_is_gone_counts_nothing() -> None:
    assert RunMemory().read([2**22 + 1]) == 0
    assert RunMemory().read([]) == 0
