"""What is read from /proc, from made-up trees and real processes; and questions that are answered late, or never."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from dsgui.shell.metrics.aside import Aside, Bounded
from dsgui.shell.metrics.proc import DiskReading, HostReader, HostReading, Marked, RunCpu, RunMemory, read_disk
from tests.support.run_fixtures import wait_until

KIB, GIB = 1 << 10, 1 << 30
_MEMINFO = "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 400 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\n"
_GROUPS = "29 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"


def tree(root: Path, **files: str) -> Path:
    """A root with these files; `__` in a name stands for a slash."""
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "ascii")
    return root


def test_a_machine_is_read_from_proc(tmp_path: Path) -> None:
    reader = HostReader(str(tree(tmp_path, proc__meminfo=_MEMINFO, proc__stat="cpu 100 0 100 700 100 0 0 0 90 0\n")))
    tree(tmp_path, proc__stat="cpu 150 0 110 720 120 0 0 0 130 0\ncpu0 1\n")
    assert reader.read() == HostReading(600 * KIB, 1000 * KIB, 60.0, 30 * KIB, 50 * KIB)  # 60 of 100 ticks
    assert reader.read().cpu_percent is None  # no tick since


def test_a_machine_that_tells_nothing_is_unknown(tmp_path: Path) -> None:
    assert HostReader(str(tmp_path)).read() == HostReading()


@pytest.mark.parametrize(("limit", "told"), [(500 * KIB, (500 * KIB, 200 * KIB)), (2000 * KIB, (None, None))])
def test_a_limit_below_what_the_machine_has_is_told_with_its_use(
    tmp_path: Path, limit: int, told: tuple[int | None, int | None]
) -> None:
    tree(tmp_path, proc__meminfo=_MEMINFO, proc__self__cgroup="0::/job\n", proc__self__mountinfo=_GROUPS)
    group = {"memory_dot_max": str(limit), "memory_dot_current": str(300 * KIB)}
    tree(tmp_path / "sys/fs/cgroup/job", **group, memory_dot_stat=f"anon 5\ninactive_file {100 * KIB}\n")
    reading = HostReader(str(tmp_path)).read()
    assert (reading.limit_bytes, reading.limit_used_bytes) == told


def test_the_cpu_of_a_run_is_what_its_processes_took_since_the_last_reading(tmp_path: Path) -> None:
    def took(pid: int, user: int, system: int, ended: int = 0) -> None:
        times = f"{user} {system} {ended} 0"
        tree(tmp_path, **{f"proc__{pid}__stat": f"{pid} (a (b) c) S 1 2 3 4 5 6 7 8 9 10 {times} 20 0\n"})

    now = [100.0]
    cpu = RunCpu(str(tmp_path), lambda: now[0])
    second = os.sysconf("SC_CLK_TCK") * (os.cpu_count() or 1)  # ticks of all cores

    def told(*pids: int) -> float | None:
        now[0] += 2
        return cpu.read(pids)

    took(7, 9 * second, 0)  # what it did before it was seen is not of these seconds
    assert told(7) is None
    took(7, 9 * second + second // 2, second // 2)
    assert told(7, 2**22 + 1) == 50.0
    took(8, second // 2, 0)  # began since, and works for it
    assert told(7, 8) == 25.0
    took(7, 9 * second + second // 2, second // 2, ended=second)  # 8 ended half a second of work later
    assert told(7) == 25.0
    took(7, 9 * second + second // 2, second // 2, ended=2 * second)  # one that nobody saw
    assert told(7) == 50.0
    took(9, second, 0)
    assert told(7, 9) == 50.0
    assert told(7) == 0.0  # ended, not waited for yet
    took(7, 9 * second + second // 2, second // 2, ended=3 * second + second // 2)
    assert told(7) == 25.0
    assert told() == 0.0
    now[0] -= 2
    assert told(7) is None  # no time since


def test_the_disk_is_the_first_folders_that_exists(tmp_path: Path) -> None:
    used = os.statvfs(tmp_path)
    assert read_disk([str(tmp_path / "not yet"), str(tmp_path)]).total_bytes == used.f_blocks * used.f_frsize
    assert read_disk([str(tmp_path / "not yet")]) == DiskReading()


_GROWS = """
import mmap, sys
file = open(sys.argv[1], "r+b")
shared = mmap.mmap(file.fileno(), 64 << 20)
print("ready", flush=True)
sys.stdin.readline()
for place in range(0, 64 << 20, 4096):
    shared[place] = 1
print("grown", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def shared_file() -> Iterator[Path]:
    path = Path(f"/dev/shm/dsgui-test-grows-{os.getpid()}")
    path.write_bytes(b"")
    os.truncate(path, 64 << 20)
    yield path
    path.unlink()


def test_shared_memory_that_grows_is_seen_at_the_next_reading(shared_file: Path) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", _GROWS, str(shared_file)], stdin=pipe, stdout=pipe) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        memory = RunMemory()
        child.stdout.readline()
        before = memory.read([child.pid])
        child.stdin.write(b"\n")
        child.stdin.flush()
        child.stdout.readline()
        assert 60 << 20 < memory.read([child.pid]) - before < 68 << 20
        child.communicate()


def test_a_process_that_becomes_one_of_the_run_is_found_soon() -> None:
    marked = Marked("DSGUI_RUN_ID=20260101-000000-beef")
    becomes = "read go; DSGUI_RUN_ID=20260101-000000-beef exec sleep 600"
    with subprocess.Popen(["sh", "-c", becomes], stdin=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert marked.look() == set()
        child.stdin.write(b"\n")
        child.stdin.flush()
        wait_until(lambda: b"beef" in Path(f"/proc/{child.pid}/environ").read_bytes())
        looks = [marked.look() for _ in range(11)]
        child.kill()
    assert {child.pid} in looks
    assert marked.look() == set()


class Later(Aside):
    """Answers when the test says so."""

    def __init__(self) -> None:
        super().__init__("later")
        self.open: list[tuple[Future[int], Callable[[], int]]] = []

    def ask(self, question):  # type: ignore[no-untyped-def]
        future: Future[int] = Future()
        self.open.append((future, question))
        return future

    def answer(self) -> None:
        future, question = self.open.pop(0)
        future.set_result(question())


def test_a_late_answer_counts_once_and_nothing_is_asked_twice() -> None:
    later, now = Later(), [100.0]
    readings: Bounded[int] = Bounded(later, 0.01, clock=lambda: 1000 + now[0], monotonic=lambda: now[0])
    assert readings.ask(lambda: 1) is None
    assert readings.ask(lambda: 2) is None
    assert len(later.open) == 1  # the first is still open
    later.answer()
    assert readings.ask(lambda: 3) == 1
    now[0] += 5
    assert readings.silent_since == 1100
    assert readings.ask(lambda: 4) is None
    later.answer()
    assert readings.silent_since is None
    assert readings.ask(lambda: 5) == 3


def test_a_question_that_raises_is_an_answer_that_is_missing() -> None:
    aside = Aside("raises")
    readings: Bounded[float] = Bounded(aside, 5)
    assert readings.ask(lambda: 1 / 0) is None
    assert "ZeroDivisionError" in readings.problem
    assert readings.ask(lambda: 7.0) == 7.0
    assert readings.problem == ""
    aside.close()


def test_only_the_first_question_of_a_hang_is_waited_for_and_the_thread_ends_after_it() -> None:
    aside, go = Aside("hangs for a test"), threading.Event()
    readings: Bounded[bool] = Bounded(aside, 0.2)
    began = time.monotonic()
    for _ in range(200):
        assert readings.ask(go.wait) is None
    assert 0.2 <= time.monotonic() - began < 20  # 40, if each were waited for
    aside.close()
    go.set()
    wait_until(lambda: not any(thread.name == "hangs for a test" for thread in threading.enumerate()))
