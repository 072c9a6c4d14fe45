"""Prints what many runs in the folder cost: the Runs page's first row, its polls, `dsgui runs`, a launch's look at the
queue, and memory, each with 100, 2,000 and 10,000 runs.

`python -m benchmarks.runs_list [100 2000 …]`. Runs are made of one written run's files, so that making them takes
seconds."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Page, sync_playwright

from benchmarks.run import CHROMIUM, ROOT, TOKEN, dsgui, free_port, served
from dsgui.core.plan import ConfigArgument, LaunchRequest
from dsgui.core.planning import make_plan
from dsgui.core.points import Point
from dsgui.core.script import ScriptFacts
from dsgui.core.state import Asked, RunState, RunStatus
from dsgui.shell.records import Records
from dsgui.shell.store import Store
from dsgui.shell.turns import Queue

SIZES = (100, 2_000, 10_000)
REPEATS = 3
POLLS = 8
_LEFT_OUT = (".tmp", "supervisor.log")
_MIB = 1 << 20
_BEGUN = 1_735_689_600  # 2025-01-01
_APART_S = 3600


def make_runs(folder: Path, count: int) -> list[str]:
    """`count` runs that have ended, an hour apart, oldest first."""
    store = Store(folder)
    template = _template(store)
    files = {path.name: path.read_bytes() for path in template.path.iterdir() if not path.name.endswith(_LEFT_OUT)}
    old = template.run_id
    for path in template.path.iterdir():
        path.unlink()
    template.path.rmdir()
    return [_copy(folder, files, old, number) for number in range(count)]


def _template(store: Store) -> Any:
    directory = store.create(store.new_id())
    request = LaunchRequest(
        "run-name", "train.py", "--model_name_or_path t5-small --learning_rate 5e-5", 2, (), None, str(store.runs_dir),
        "{}", ConfigArgument.HF, sys.executable, environment={},
    )  # fmt: skip
    plan = make_plan(
        request,
        run_id=directory.run_id,
        run_directory=str(directory.path),
        script_path=__file__,
        master_port=29500,
        script=ScriptFacts(strict=True),  # which is not given --local_rank
    )
    store.write_plan(directory, plan, "{}", Asked(7_777_777, 0.0, ""))
    records = Records(directory, time.monotonic, time.monotonic)
    for step in range(1, 21):
        records.take_points([Point(step, step / 10, {"loss": 2 / step, "learning_rate": 5e-5})])
    records.finish()
    directory.write_status(RunStatus(RunState.SUCCEEDED, started_at=8_888_888.0, ended_at=8_889_999.0, lasted_s=1111.0))
    directory.write_progress({"step": 20, "total": 20, "eta_s": None, "loss": 0.1})
    return directory


def _copy(folder: Path, files: dict[str, bytes], old: str, number: int) -> str:
    begun = _BEGUN + number * _APART_S
    run_id = f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(begun))}-{number % 65536:04x}"
    path, date = folder / run_id, begun + 5
    path.mkdir()
    state = ("succeeded", "failed", "stopped")[number % 7 % 3]
    for name, data in files.items():
        text = data.replace(old.encode(), run_id.encode()).replace(b"run-name", f"t5-{number}".encode())
        text = text.replace(b"7777777", str(number + 1).encode()).replace(b"8888888.0", f"{date}.0".encode())
        (path / name).write_bytes(text.replace(b'"succeeded"', f'"{state}"'.encode()))
        os.utime(path / name, (date, date))
    return run_id


def milliseconds(call: Callable[[], object]) -> float:
    """How long one call takes."""
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def command_line(folder: Path) -> dict[str, float]:
    """`dsgui runs` as a program of its own: seconds and memory."""
    taken, most = [], 0.0
    for _ in range(REPEATS):
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "dsgui", "runs", "--runs-dir", str(folder)], cwd=ROOT, stdout=subprocess.DEVNULL
        )
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
        taken.append(time.perf_counter() - began)
        most = max(most, used.ru_maxrss / 1024)
    return {"cli_s": statistics.median(taken), "cli_mib": most}


def queue(folder: Path) -> dict[str, float]:
    """What a launch asks of the other runs, in a process that has not asked before, and again."""
    asked = Queue(Store(folder))
    both = lambda: (asked.next_place(), asked.holders())  # noqa: E731
    return {"queue_ms": milliseconds(both), "queue_again_ms": statistics.median(milliseconds(both) for _ in range(5))}


_NEXT_ROW = "document.querySelector('.ds-run-row')?.offsetHeight > 0"
_LISTED = """() => performance.getEntriesByType('resource')
  .filter((one) => /dsgui\\/runs(\\?|$)/.test(one.name)).map((one) => [one.duration, one.transferSize])"""


def browser(folder: Path, ids: list[str]) -> dict[str, float]:
    """Seconds to the first row, from a click on the tab and from opening a run's address; what polls cost."""
    port = free_port()
    with served(dsgui(port, str(folder)), port) as server, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)
        address = f"http://127.0.0.1:{port}/"
        context = chromium.new_context(viewport={"width": 1280, "height": 900})
        context.request.get(f"{address}?token={TOKEN}")
        opened, linked, tabs = [], [], []
        for _ in range(REPEATS):
            page = context.new_page()
            began = time.perf_counter()
            page.goto(address)
            tab = page.get_by_role("tab", name="3 · Runs")
            tab.wait_for()
            tabs.append(time.perf_counter() - began)
            page.wait_for_selector('[data-pointer="/train_batch_size"]', state="attached")
            page.wait_for_timeout(1500)
            began = time.perf_counter()
            tab.click()
            page.wait_for_function(_NEXT_ROW, timeout=120_000)
            opened.append(time.perf_counter() - began)
            page.close()
            page = context.new_page()
            began = time.perf_counter()
            page.goto(f"{address}?run={ids[0]}")
            page.wait_for_function(_NEXT_ROW, timeout=120_000)
            linked.append(time.perf_counter() - began)
            if len(linked) < REPEATS:
                page.close()
        figures = _polled(page, lambda: server.cpu_s())
        memory = psutil.Process(server.pid).memory_info().rss / _MIB
        chromium.close()
    times = {"tab_s": tabs, "first_row_s": opened, "linked_s": linked}
    return {name: statistics.median(values) for name, values in times.items()} | figures | {
        "first_look_s": opened[0], "server_mib": memory}  # fmt: skip


def _polled(page: Page, cpu_s: Callable[[], float]) -> dict[str, float]:
    """An open page that goes on asking."""
    page.wait_for_function(f"({_LISTED})().length > 1", timeout=120_000)
    before = len(page.evaluate(_LISTED))
    used, began = cpu_s(), time.perf_counter()
    page.wait_for_function(f"({_LISTED})().length >= {before + POLLS}", timeout=300_000)
    share = (cpu_s() - used) / (time.perf_counter() - began)
    polls = page.evaluate(_LISTED)
    client = page.context.new_cdp_session(page)
    client.send("HeapProfiler.collectGarbage")
    client.send("Performance.enable")
    metrics = {one["name"]: one["value"] for one in client.send("Performance.getMetrics")["metrics"]}
    return {
        "first_kb": polls[0][1] / 1000,
        "poll_ms": statistics.median(poll[0] for poll in polls[before:]),
        "poll_kb": statistics.median(poll[1] for poll in polls[before:]) / 1000,
        "cpu_percent": 100 * share,
        "nodes": page.evaluate("document.querySelectorAll('.ds-run-side *').length"),
        "heap_mib": metrics["JSHeapUsedSize"] / _MIB,
    }


_SHOWN = {
    "tab_s": "Gradio's tabs there, s",
    "first_row_s": "click on Runs → first row, s",
    "first_look_s": "the same, the server's first look, s",
    "linked_s": "address of the oldest run → first row, s",
    "first_kb": "first list, kB",
    "poll_ms": "a poll of the list, ms",
    "poll_kb": "a poll of the list, kB",
    "cpu_percent": "server with one page open, % of a core",
    "nodes": "elements of the list",
    "heap_mib": "page's JavaScript heap, MiB",
    "server_mib": "server, MiB",
    "cli_s": "`dsgui runs`, s",
    "cli_mib": "`dsgui runs`, MiB",
    "queue_ms": "a launch's look at the queue, ms",
    "queue_again_ms": "the same again, ms",
}


def main() -> None:
    """Print every figure for every number of runs, and the ratio of the last to the first."""
    sizes = [int(word) for word in sys.argv[1:]] or list(SIZES)
    found = []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="dsgui bench ") as folder:
            runs = Path(folder) / "runs"
            ids = make_runs(runs, size)
            found.append(queue(runs) | command_line(runs) | browser(runs, ids))
            print(json.dumps({"runs": size} | found[-1]), file=sys.stderr)
    print(f"| | {' | '.join(f'{size:,} runs' for size in sizes)} | ratio |\n|---|{'---|' * (len(sizes) + 1)}")
    for name, title in _SHOWN.items():
        values = [one[name] for one in found]
        ratio = f"{values[-1] / values[0]:.1f}" if values[0] else ""
        print(f"| {title} | {' | '.join(f'{value:,.3g}' if value < 1000 else f'{value:,.0f}' for value in values)} | {ratio} |")


if __name__ == "__main__":
    main()
