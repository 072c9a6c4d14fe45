"""What watching a run costs, beside TensorBoard: `python -m benchmarks.monitor [refresh|tabs|ticks|screen …]`.

refresh  a page asks after 100 new steps, at 1e4, 1e5 and 1e6 steps: the server's CPU and the bytes sent; opening the
         run, cold and again; how many of 20 one-step spikes are kept; the same of TensorBoard, with the same curves
tabs     50 pages at 1 Hz for 20 s: the server's CPU and how long each answer took
ticks    36,000 polls, as ten tabs ask in an hour, each with something new: growth of the server
screen   from a line printed to its point in a browser's chart

Needs `requirements-dev.txt`. CPU is that of the server's process and what it started.
"""

import contextlib
import http.client
import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import psutil
from playwright.sync_api import sync_playwright

from benchmarks.launching import FollowingPage, request, runs_in_a_folder, wait_until
from benchmarks.run import CHROMIUM, TOKEN, Server, dsgui, free_port, served
from dsgui.core.launch.plan import ConfigArgument, LaunchRequest
from dsgui.core.launch.plan_making import make_plan
from dsgui.core.launch.state import RunState, RunStatus
from dsgui.core.metrics.curves import Series
from dsgui.core.metrics.event_writing import event_file_begin, event_records
from dsgui.core.metrics.exporting import Block
from dsgui.core.metrics.points import Point
from dsgui.core.script.script import ScriptFacts
from dsgui.shell.logs.records import Records
from dsgui.shell.runs.store import RunDirectory, Store

SIZES = (10_000, 100_000, 1_000_000)
NEW_STEPS, REFRESHES = 100, 60
SPIKES, SPIKE = 20, 9.0
TABS, TABS_S, TAB_HZ = 50, 20, 1
TICKS = 36_000
LINES = 40
_POINTS_AT_ONCE = 1000
_RELOADED_S = 2.5  # by then TensorBoard, told to look every second, has


def point(step: int, steps: int) -> Point:
    """A noisy curve with `SPIKES` spikes of one step."""
    spiked = step % (steps // SPIKES) == steps // SPIKES // 2 and step < steps
    loss = SPIKE if spiked else 2 / (1 + step / steps) + random.random() / 10
    return Point(step, step / steps, {"loss": loss, "grad_norm": random.random(), "learning_rate": 5e-5 * step / steps})


class Growing:
    """A run whose points are written here: its folder, and more of it on demand."""

    def __init__(self, folder: Path, steps: int) -> None:
        store = Store(folder)
        self.directory: RunDirectory = store.create(store.new_id())
        asked = LaunchRequest(
            name="bench",
            script=__file__,
            arguments="",
            ranks=2,
            gpu_indices=(),
            master_port=None,
            working_directory=str(folder),
            config_text="{}",
            config_argument=ConfigArgument.HF,
            target_python=sys.executable,
            environment={},
        )
        plan = make_plan(
            asked,
            run_id=self.directory.run_id,
            run_directory=str(self.directory.path),
            script_path=__file__,
            master_port=29500,
            script=ScriptFacts(strict=True),  # which is not given --local_rank
        )
        store.write_plan(self.directory, plan, "{}")
        self.directory.write_status(RunStatus(RunState.SUCCEEDED, started_at=1.0, lasted_s=1.0))
        self._records = Records(self.directory, time.monotonic, lambda: float(self.step) / 10)
        self.steps, self.step, self.write_s = steps, 0, 0.0
        self.grow(steps)
        self.write_us = self.write_s / steps * 1e6

    def grow(self, count: int) -> None:
        """So many steps more."""
        for first in range(self.step + 1, self.step + count + 1, _POINTS_AT_ONCE):
            points = [
                point(step, self.steps) for step in range(first, min(first + _POINTS_AT_ONCE, self.step + count + 1))
            ]
            began = time.perf_counter()
            for one in points:
                self._records.take_points([one])
            self.write_s += time.perf_counter() - began
        self.step += count


class Page:
    """A page's polls, and how many bytes came."""

    def __init__(self, port: int, run_id: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)  # kept, as a browser keeps it
        self._path, self.bytes = f"/dsgui/runs/{run_id}", 0
        self._cursor: dict[str, Any] = {}

    def follow(self) -> dict[str, Any]:
        """One poll."""
        path = f"{self._path}?{urllib.parse.urlencode(self._cursor)}"
        try:
            body = self._ask(path)
        except (http.client.RemoteDisconnected, ConnectionError):  # it was idle for longer than the server keeps it
            self._connection.close()
            body = self._ask(path)
        self.bytes = len(body)
        found: dict[str, Any] = json.loads(body)
        self._cursor = found["cursor"]
        return found

    def _ask(self, path: str) -> bytes:
        self._connection.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}"})
        return self._connection.getresponse().read()


def settle(server: Server) -> None:
    """Waits until what the server asks of the target at its start, which imports torch, has been answered."""
    process, quiet_since = psutil.Process(server.pid), time.monotonic()
    while time.monotonic() - quiet_since < 4:
        if process.children():
            quiet_since = time.monotonic()
        time.sleep(0.2)


def idle_share(server: Server, seconds: float = 5.0) -> float:
    """CPU seconds a second that the server takes when nobody asks."""
    before, began = server.cpu_s(), time.monotonic()
    time.sleep(seconds)
    return (server.cpu_s() - before) / (time.monotonic() - began)


def spikes_in(answer: dict[str, Any]) -> int:
    """How many spikes the first answer has."""
    (loss,) = (one for one in answer["curves"]["y"] if answer["curves"]["series"][one["id"]]["name"] == "loss")
    return sum(value == SPIKE for value in loss["v"])


def refresh_ours(folder: Path, steps: int) -> dict[str, float]:
    """Milliseconds and bytes of one refresh; seconds to open."""
    run = Growing(folder, steps)
    port = free_port()
    with served(dsgui(port, str(folder)), port) as server:
        page = Page(port, run.directory.run_id)
        settle(server)
        opened = []
        for _ in range(2):
            began = time.perf_counter()
            page = Page(port, run.directory.run_id)
            first = page.follow()
            opened.append(time.perf_counter() - began)
        idle = idle_share(server)
        sizes, before, began = [], server.cpu_s(), time.monotonic()
        for _ in range(REFRESHES * 5):
            run.grow(NEW_STEPS)
            page.follow()
            sizes.append(page.bytes)
        used = server.cpu_s() - before - idle * (time.monotonic() - began)
    return {
        "write_us": run.write_us,
        "cold_s": opened[0],
        "again_s": opened[1],
        "spikes": spikes_in(first),
        "refresh_ms": used / (REFRESHES * 5) * 1000,
        "bytes": statistics.median(sizes),
    }


def refresh_tensorboard(folder: Path, steps: int) -> dict[str, float]:
    """The same of TensorBoard, that reads event files with the same three curves."""
    logs = folder / "logs"
    logs.mkdir()
    names = ("loss", "grad_norm", "learning_rate")
    step = 0
    with (logs / "events.out.tfevents.1.bench").open("ab") as file:
        file.write(event_file_begin(1.0))

        def grow(count: int) -> None:
            nonlocal step
            file.write(b"".join(event_records(_block(names, step, count, steps), 1.0)))
            file.flush()
            step += count

        for _ in range(steps // 10_000):
            grow(10_000)
        port = free_port()
        command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(logs), "--port", str(port)]
        process = subprocess.Popen(
            [*command, "--reload_interval", "1", "--bind_all"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        server = Server(0, process.pid)
        tag = f"http://127.0.0.1:{port}/data/plugin/scalars/scalars?run=.&tag=train%2F"
        try:
            began = time.perf_counter()
            wait_until(lambda: _last_step(tag) == step - 1, "TensorBoard to have read it all")
            cold_s = time.perf_counter() - began
            body = urllib.request.urlopen(tag + "loss", timeout=60).read()
            spikes = sum(row[2] > SPIKE - 0.5 for row in json.loads(body))
            time.sleep(5)
            idle = idle_share(server, 10)
            used, sizes = [], []
            for _ in range(20):
                before, began = server.cpu_s(), time.monotonic()
                grow(NEW_STEPS)
                time.sleep(_RELOADED_S)  # not asked meanwhile: an answer costs as much as reading the steps
                sizes.append(sum(len(urllib.request.urlopen(tag + name, timeout=60).read()) for name in names))
                used.append(server.cpu_s() - before - idle * (time.monotonic() - began))
                assert _last_step(tag) == step - 1, "TensorBoard has not read the new steps yet"
        finally:
            process.terminate()
            process.wait()
    return {
        "cold_s": cold_s,
        "spikes": spikes,
        "refresh_ms": statistics.mean(used) * 1000,
        "bytes": statistics.median(sizes),
    }


def _last_step(tag: str) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(json.loads(urllib.request.urlopen(tag + "loss", timeout=60).read())[-1][1])
    return -1


def _block(names: tuple[str, ...], begin: int, count: int, steps: int) -> Block:
    points = [point(step, steps) for step in range(begin, begin + count)]
    value = np.array([[one.values[name] for name in names] for one in points]).ravel()
    step = np.repeat(np.arange(begin, begin + count, dtype=float), len(names))
    number = np.tile(np.arange(len(names)), count)
    return Block([Series(name) for name in names], number, step, step, step, value)


def refresh() -> None:
    """Print ours at each size, TensorBoard's at the largest, and the ratio."""
    with tempfile.TemporaryDirectory(prefix="dsgui bench ") as folder:
        ours = {}
        for steps in SIZES:
            ours[steps] = refresh_ours(Path(folder) / str(steps), steps)
            one = ours[steps]
            print(
                f"{steps:>9,} steps   refresh {one['refresh_ms']:.2f} ms CPU, {one['bytes']:,.0f} bytes (≤ 1, ≤ 6k);"
                f" open {one['cold_s']:.2f} s, again {one['again_s']:.2f} s (≤ 2, ≤ 0.5); spikes {one['spikes']:.0f}"
                f" of {SPIKES}; writing a point {one['write_us']:.1f} µs (≤ 10)"
            )
        growth = ours[SIZES[-1]]["refresh_ms"] / ours[SIZES[0]]["refresh_ms"]
        print(f"growth     a refresh at {SIZES[-1]:,} steps costs {growth:.2f} × one at {SIZES[0]:,} (≤ 1.5)")
        peer = Path(folder) / "tensorboard"
        peer.mkdir()
        theirs = refresh_tensorboard(peer, SIZES[-1])
        last = ours[SIZES[-1]]
        print(
            f"TensorBoard        refresh {theirs['refresh_ms']:.2f} ms CPU, {theirs['bytes']:,.0f} bytes; first all "
            f"there after {theirs['cold_s']:.1f} s; spikes {theirs['spikes']:.0f} of {SPIKES}"
        )
        print(
            f"ratio      CPU {last['refresh_ms'] / theirs['refresh_ms']:.3f} (≤ 0.05), "
            f"bytes {last['bytes'] / theirs['bytes']:.3f}"
        )


def tabs() -> None:
    """Print the server's share of a core and the answers' times with 50 pages at 1 Hz."""
    with growing_server() as (run, port, server):
        pages = [Page(port, run.directory.run_id) for _ in range(TABS)]
        for page in pages:
            page.follow()
        took: list[float] = []
        stop = time.monotonic() + TABS_S

        def poll(page: Page, delay: float) -> None:
            time.sleep(delay)
            while time.monotonic() < stop:
                began = time.perf_counter()
                page.follow()
                took.append(time.perf_counter() - began)
                time.sleep(max(1 / TAB_HZ - (time.perf_counter() - began), 0))

        threads = [threading.Thread(target=poll, args=(page, n / TABS)) for n, page in enumerate(pages)]
        before, began = server.cpu_s(), time.monotonic()
        for thread in threads:
            thread.start()
        while time.monotonic() < stop:
            run.grow(3)
            time.sleep(1)
        for thread in threads:
            thread.join()
        share = 100 * (server.cpu_s() - before) / (time.monotonic() - began)
        p95 = statistics.quantiles(took, n=20)[-1] * 1000
    print(f"tabs       {TABS} at {TAB_HZ} Hz: {share:.1f} % of a core (≤ 10), p95 {p95:.0f} ms (≤ 50)")


def ticks() -> None:
    """Print how much the server has grown after an hour of ten tabs, replayed."""
    with growing_server() as (run, port, server):
        page = Page(port, run.directory.run_id)
        for _ in range(500):
            page.follow()
        process = psutil.Process(server.pid)
        before = process.memory_info().rss
        for tick in range(TICKS):
            if tick % 10 == 0:
                run.grow(1)
            page.follow()
        grown = (process.memory_info().rss - before) / (1 << 20)
    print(f"ticks      {TICKS:,} polls: the server grew by {grown:.1f} MiB (≤ 20 MB)")


@contextlib.contextmanager
def growing_server() -> Iterator[tuple[Growing, int, Server]]:
    """A server on a run of 1e5 steps that grows."""
    with tempfile.TemporaryDirectory(prefix="dsgui bench ") as folder:
        run, port = Growing(Path(folder) / "runs", 100_000), free_port()
        with served(dsgui(port, str(Path(folder) / "runs")), port) as server:
            settle(server)
            yield run, port, server


_PRINTS = """
    import time
    for step in range(1, 10_000):
        print(f"step={{step}} loss={{time.time() - {base}:.4f}}", flush=True)
        time.sleep(0.25)
"""
_SHOWN = """([base, lines]) => new Promise((resolve) => {
  const plot = document.querySelector('[data-chart="Loss"] .js-plotly-plot');
  const line = () => plot.data.find((trace) => trace.name === "train");
  let known = line().x.at(-1);
  const late = [];
  const look = () => {
    const { x, y } = line();
    for (let i = 0; i < x.length; i += 1) if (x[i] > known) late.push(Date.now() / 1000 - base - y[i]);
    known = x.at(-1);
    if (late.length >= lines) resolve(late); else setTimeout(look, 10);
  };
  look();
})"""


def screen() -> None:
    """Print the time from a printed line to its point in the chart. The line's loss is the time it was printed at."""
    with runs_in_a_folder() as (folder, runs), sync_playwright() as playwright:
        script = folder / "prints.py"
        base = int(time.time())
        script.write_text(dedent(_PRINTS).format(base=base), "utf-8")
        port = free_port()
        with served(dsgui(port, str(folder / "runs")), port):
            plain = folder / "python"
            plain.write_text(_STAND_IN.format(python=sys.executable), "utf-8")
            plain.chmod(0o755)
            run_id = runs.start(runs.prepare(request(script, "", str(plain))), "{}")
            follow = FollowingPage(port, run_id)
            wait_until(lambda: follow.follow()["curves"]["y"], "the first step")
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium-headless-shell", args=CHROMIUM)
            page = browser.new_page(extra_http_headers={"Authorization": f"Bearer {TOKEN}"})
            page.goto(f"http://127.0.0.1:{port}/?token={TOKEN}&run={run_id}")
            page.wait_for_selector('[data-chart="Loss"] .js-plotly-plot .trace', timeout=60_000)
            page.wait_for_timeout(3000)
            late = page.evaluate(_SHOWN, [base, LINES])
            browser.close()
    p95 = statistics.quantiles(late, n=20)[-1]
    print(f"screen     line printed → in the chart: median {statistics.median(late):.2f} s, p95 {p95:.2f} s (≤ 1.5)")


_STAND_IN = """#!{python}
import os, sys
words = sys.argv[1:]
script = next(i for i, word in enumerate(words[2:], 2) if not word.startswith("--"))
os.execv({python!r}, [{python!r}, "-u", *words[script:]])
"""

PARTS: dict[str, Callable[[], None]] = {"refresh": refresh, "tabs": tabs, "ticks": ticks, "screen": screen}


def main() -> None:
    """Print the parts asked for, or all."""
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main()
