"""NVIDIA's driver, through the real pynvml: what eight cards say, what is missing, lost or hangs, and what comes back.
The library is built here from C (tests/support/fake_driver.py)."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dsgui.core.launch.state import RunState
from dsgui.core.metrics.samples import GpuSample, Sample
from dsgui.core.runs.news import Cursor
from tests.answers.remembered import SUPERVISION
from tests.support import fake_driver
from tests.support.curves_json import sampled
from tests.support.fake_driver import GIB, GPU_IS_LOST, NOT_SUPPORTED, FakeDriver, serves, without_pcie
from tests.support.run_fixtures import Bench, bench, wait_until  # noqa: F401 — bench is a fixture

pytestmark = [
    pytest.mark.remembered(*SUPERVISION),
    pytest.mark.skipif(bool(fake_driver.missing()), reason=fake_driver.missing() or "it can be built"),
]

_BOUND_S = 0.15  # what is promised is 50 ms; the rest is the rest of a sample on a busy machine
_PROGRAM = """
import json, sys, threading, time
from dsgui.shell.machine.gpus import gpus_and_driver, list_gpus, read_gpus
from dsgui.shell.metrics.nvml import Cards, load_nvml
from dsgui.shell.metrics.telemetry import GpuWatch, Telemetry
telemetry = Telemetry(GpuWatch(lambda: Cards(load_nvml(), json.loads(sys.argv[1]), retry_s=0.2)))
def pages():
    return repr((list_gpus(), read_gpus(), gpus_and_driver()))
asked = {
    "sample": lambda *pids: telemetry.sample(set(pids)).to_json(),
    "holders": lambda *pids: telemetry.gpu_holders() if pids == () else None,
    "pages": pages,
    "close": telemetry.close,
}
for line in sys.stdin:
    what, *pids = line.split()
    began = time.perf_counter()
    told = asked[what](*map(int, pids))
    told = sorted(told) if isinstance(told, set) else told
    took_s = time.perf_counter() - began
    main = threading.get_native_id()
    lacks = " ".join(code for code, _ in telemetry.lacks)
    print(json.dumps({"told": told, "took_s": took_s, "note": lacks, "main": main}), flush=True)
"""


class Sampler:
    """A process with telemetry that finds the fake library."""

    def __init__(self, driver: FakeDriver, indices: tuple[int, ...] = ()) -> None:
        pipe = subprocess.PIPE
        words = [sys.executable, "-c", _PROGRAM, json.dumps(indices)]
        root = Path(__file__).parents[3]
        environment = {**os.environ, **driver.environment}
        self.process = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, cwd=root, env=environment)
        self.note, self.took_s, self.main = "", 0.0, 0

    def ask(self, what: str, *pids: int) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(" ".join([what, *map(str, pids)]) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        self.note, self.took_s, self.main = answer["note"], answer["took_s"], answer["main"]
        return answer["told"]

    def sample(self, *pids: int) -> tuple[GpuSample, ...]:
        return Sample.from_json(self.ask("sample", *pids)).gpus

    def until(self, wanted: list[GpuSample], *pids: int) -> None:
        """Samples until it has those readings; PCIe, which is asked for in turn, is left out."""
        deadline = time.monotonic() + 10
        while (told := without_pcie(self.sample(*pids))) != wanted:
            assert time.monotonic() < deadline, told
            time.sleep(0.05)


@pytest.fixture
def driver(tmp_path: Path) -> FakeDriver:
    return FakeDriver(tmp_path / "driver")


@pytest.fixture
def sampler(driver: FakeDriver) -> Iterator[Sampler]:
    sampler = Sampler(driver)
    yield sampler
    sampler.process.kill()
    sampler.process.communicate()


def missing_readings(index: int) -> GpuSample:
    return GpuSample(index, f"NVIDIA Fake {index}")


def test_eight_cards_are_read_as_the_library_serves_them(driver: FakeDriver, sampler: Sampler) -> None:
    sampler.until([serves(index) for index in range(8)])
    assert sampler.note == ""
    deadline = time.monotonic() + 10
    counted: tuple[GpuSample, ...] = ()
    while counted != tuple(serves(index, counted=True) for index in range(8)):
        assert time.monotonic() < deadline, counted
        counted = sampler.sample()
        time.sleep(0.1)
    threads = {thread for _, thread in driver.calls()}
    assert len(threads) == 1
    assert sampler.main not in threads


def test_pcie_is_asked_of_one_card_at_a_time_and_seldom(driver: FakeDriver, sampler: Sampler) -> None:
    driver.say(cards=2)
    sampler.until([serves(0), serves(1)])
    for _ in range(20):
        sampler.sample()
        time.sleep(0.05)
    asked = sum(function == "nvmlDeviceGetPcieThroughput" for function, _ in driver.calls())
    assert 2 <= asked <= 4  # two questions for each card within three seconds


def test_memory_of_the_runs_processes_is_told_by_pid(driver: FakeDriver, sampler: Sampler) -> None:
    own, parent = sampler.process.pid, os.getpid()
    driver.say(f"process 0 {own} {3 * GIB}", f"process 0 {parent} {GIB}", f"process 1 {own} 7", cards=3)
    sampler.until([serves(0, 3 * GIB), serves(1, 7), serves(2)], own)
    assert sampler.ask("holders") == [own]
    driver.say(f"process 0 {parent} {GIB}", cards=3)
    assert sampler.ask("holders") == []


def test_what_a_card_does_not_support_is_missing_and_nothing_else(driver: FakeDriver, sampler: Sampler) -> None:
    lacks = ("nvmlDeviceGetPowerUsage", "nvmlDeviceGetClockInfo", "nvmlDeviceGetComputeRunningProcesses_v3")
    driver.say(*(f"error {function} 1 {NOT_SUPPORTED}" for function in lacks), cards=2)
    without = replace(serves(1, None), power_w=None, sm_clock_mhz=None, memory_clock_mhz=None)
    sampler.until([serves(0), without])


def test_a_card_that_falls_off_the_bus_leaves_the_others_and_comes_back(driver: FakeDriver, sampler: Sampler) -> None:
    driver.say(cards=3)
    sampler.until([serves(index) for index in range(3)])
    driver.say(f"error * 1 {GPU_IS_LOST}", cards=3)
    sampler.until([serves(0), missing_readings(1), serves(2)])
    driver.say(cards=3)
    sampler.until([serves(index) for index in range(3)])


def test_a_card_is_found_again_by_what_it_is_where_the_driver_counts_anew(driver: FakeDriver, sampler: Sampler) -> None:
    driver.say(cards=2)
    sampler.until([serves(0), serves(1)])
    before = len(driver.calls())
    driver.say(cards=2, generation=1)
    sampler.until([serves(0), serves(1)])
    after = [function for function, _ in driver.calls()[before:]]
    assert "nvmlDeviceGetHandleByUUID" in after
    assert "nvmlDeviceGetHandleByIndex_v2" not in after


def test_a_driver_that_comes_later_is_found(driver: FakeDriver, sampler: Sampler) -> None:
    driver.say(cards=0)
    wait_until(lambda: sampler.sample() == () and "no_driver" in sampler.note)
    driver.say(cards=1)
    sampler.until([serves(0)])
    assert sampler.note == ""


@pytest.mark.parametrize("function", ["nvmlDeviceGetMemoryInfo", "nvmlDeviceGetPcieThroughput", "*"])
def test_a_driver_that_hangs_holds_up_no_sample_and_recovers(
    driver: FakeDriver, sampler: Sampler, function: str
) -> None:
    both = [serves(0), serves(1)]
    driver.say(cards=2)
    sampler.until(both)
    driver.say(f"hang {function} 1", cards=2)
    sampler.until([missing_readings(0), missing_readings(1)])
    took = []
    for _ in range(10):
        assert sampler.sample() == (missing_readings(0), missing_readings(1))
        took.append(sampler.took_s)
    assert max(took) < _BOUND_S
    wait_until(lambda: sampler.sample() and "driver_silent" in sampler.note, 10)
    assert sampler.ask("holders") is None
    assert sampler.took_s < _BOUND_S
    driver.say(cards=2)
    sampler.until(both)
    assert sampler.note == ""


def test_a_driver_that_hangs_from_the_first_question_on_is_left_alone(driver: FakeDriver, sampler: Sampler) -> None:
    driver.say("hang nvmlInitWithFlags -1")
    for _ in range(3):
        assert sampler.sample() == ()
        assert sampler.took_s < _BOUND_S
    sampler.ask("close")
    assert sampler.took_s < _BOUND_S


def test_one_hang_costs_the_pages_one_wait_and_one_thread(driver: FakeDriver, sampler: Sampler) -> None:
    assert "NVIDIA Fake 7" in sampler.ask("pages")
    driver.say("hang * -1")
    assert "NVIDIA" not in sampler.ask("pages")
    assert 4 < sampler.took_s < 7
    for _ in range(3):
        assert "NVIDIA" not in sampler.ask("pages")
        assert sampler.took_s < _BOUND_S
    assert len(list(Path(f"/proc/{sampler.process.pid}/task").iterdir())) == 2
    driver.say()
    wait_until(lambda: "NVIDIA Fake 7" in sampler.ask("pages"))


_PRINTS = """
import time
for number in range(100_000):
    print("line", number, flush=True)
    time.sleep(0.02)
"""


@pytest.fixture
def runs_see(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    """The driver, where the runs that a test starts find it."""
    for name, value in driver.environment.items():
        monkeypatch.setenv(name, value)
    return driver


def test_a_run_goes_on_and_ends_beside_a_driver_that_hangs(bench: Bench, runs_see: FakeDriver) -> None:  # noqa: F811
    driver = runs_see
    driver.say(cards=2)
    run_id = bench.start(_PRINTS)
    telemetry = lambda: sampled(bench.runs.follow(run_id, Cursor()).curves)  # noqa: E731
    wait_until(lambda: telemetry() and telemetry()[-1].get("gpu1.power_w") == 101.5)
    driver.say("hang * -1", cards=2)
    status = lambda: bench.store.open(run_id).read_status()  # noqa: E731
    wait_until(lambda: "has not answered since" in status().telemetry_note)  # type: ignore[union-attr]
    lines = lambda: bench.runs.follow(run_id, Cursor()).output.count("line")  # noqa: E731
    before, count = lines(), len(telemetry())
    wait_until(lambda: lines() > before + 50 and len(telemetry()) > count + 1)
    began = time.monotonic()
    bench.runs.stop(run_id)
    delta = bench.ended(run_id)
    assert time.monotonic() - began < 20
    assert delta.state is RunState.STOPPED
    assert "no processes are left." in delta.reason
    last = sampled(delta.curves)[-1]
    assert not isinstance(last["gpu0.used_bytes"], int | float)
    assert last["host_used_bytes"] > 0


def test_a_run_tells_that_the_driver_is_back_and_who_holds_its_memory(bench: Bench, runs_see: FakeDriver) -> None:  # noqa: F811
    driver = runs_see
    driver.say("hang * -1", cards=1)
    run_id = bench.start(_PRINTS)
    status = lambda: bench.store.open(run_id).read_status()  # noqa: E731
    wait_until(lambda: "has not answered since" in status().telemetry_note)  # type: ignore[union-attr]
    driver.say(cards=1)
    wait_until(lambda: status().telemetry_note == "")  # type: ignore[union-attr]
    bench.runs.stop(run_id)
    delta = bench.ended(run_id)
    assert "and none holds GPU memory" in delta.reason
    assert sampled(delta.curves)[-1]["gpu0.temperature_c"] == 30.0
