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

import psutil
from playwright.sync_api import Page, sync_playwright

from benchmarks.run import CHROMIUM, ROOT, TOKEN, dsgui, free_port, served
from dsgui.shell.runs.store import Store
from dsgui.shell.runs.turns import Queue
from tests.support.made_runs import make_many

SIZES = (100, 2_000, 10_000)
REPEATS = 3
POLLS = 8
_MIB = 1 << 20


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
        chromium = playwright.chromium.launch(executable_path="/usr/bin/chromium-headless-shell", args=CHROMIUM)
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
            ids = make_many(runs, size)
            found.append(queue(runs) | command_line(runs) | browser(runs, ids))
            print(json.dumps({"runs": size} | found[-1]), file=sys.stderr)
    print_table(sizes, found)


def print_table(sizes: list[int], found: list[dict[str, float]]) -> None:
    """As Markdown."""
    print(f"| | {' | '.join(f'{size:,} runs' for size in sizes)} | ratio |\n|---|{'---|' * (len(sizes) + 1)}")
    for name, title in _SHOWN.items():
        values = [one[name] for one in found]
        cells = [f"{value:,.3g}" if value < 1000 else f"{value:,.0f}" for value in values]
        ratio = f"{values[-1] / values[0]:.1f}" if values[0] else ""
        print(f"| {title} | {' | '.join(cells)} | {ratio} |")


if __name__ == "__main__":
    main()
