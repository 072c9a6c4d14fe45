"""Prints dsgui's figures beside their goals: `make bench`. Runs are paired and medians quoted: the machine is noisy.

Never run as a test: a figure is read by a person.
"""

import contextlib
import json
import os
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
from playwright.sync_api import Page, sync_playwright

from benchmarks import ask
from dsgui.core.config.context import LATEST_KNOWN, Context
from dsgui.core.config.document import Document
from dsgui.core.config.pointer import MISSING
from dsgui.core.memory.guessed import model_of_size
from dsgui.core.memory.instant import answer
from dsgui.core.memory.question import Group, Question, Workload
from dsgui.core.validation.checker import Checker
from dsgui.shell.config.catalog import Catalog

ROOT = Path(__file__).parents[1]
PAIRS = 7
EDITS = 40
CHECKS = 60
IDLE_MS = 4000
TOKEN = secrets.token_urlsafe(24)
CHROMIUM = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Resolves with the milliseconds from an input event to the JSON and the findings both showing its value.
TIME_EDIT = """([selector, text]) => new Promise((resolve) => {
  const input = document.querySelector(selector);
  const json = document.querySelector('#config-json .cm-content');
  const findings = document.querySelector('#findings');
  const started = performance.now();
  const wait = () => {
    const shown = json.innerText.includes(text) && findings.innerText.includes(text);
    if (shown) resolve(performance.now() - started); else requestAnimationFrame(wait);
  };
  input.value = text;
  input.dispatchEvent(new Event('input', { bubbles: true }));
  wait();
})"""


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(frozen=True)
class Server:
    """A running server: seconds from its start to its first answered page, and its process id."""

    started_s: float
    pid: int

    def cpu_s(self) -> float:
        """Seconds of CPU used until now, by the server and what it started."""
        process = psutil.Process(self.pid)
        times = [p.cpu_times() for p in (process, *process.children(recursive=True))]
        return sum(t.user + t.system for t in times)


def _first_page(port: int) -> urllib.request.Request:
    return urllib.request.Request(f"http://127.0.0.1:{port}/", headers={"Authorization": f"Bearer {TOKEN}"})


@contextlib.contextmanager
def served(command: list[str], port: int, checkout: Path = ROOT) -> Iterator[Server]:
    """The server of `command`, ended afterwards."""
    started = time.perf_counter()
    environment = {**os.environ, "DSGUI_TOKEN": TOKEN}
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=checkout, env=environment, stdout=quiet, stderr=quiet)
    try:
        while True:
            with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
                urllib.request.urlopen(_first_page(port), timeout=30).read()
                break
            time.sleep(0.01)
        yield Server(time.perf_counter() - started, process.pid)
    finally:
        process.terminate()
        process.wait()


def dsgui(port: int, runs: str) -> list[str]:
    """The command that starts dsgui."""
    return [sys.executable, "app.py", "--port", str(port), "--runs-dir", runs]


def start_ratios(runs: str) -> list[tuple[float, float]]:
    """Paired starts, (dsgui, minimal Gradio app) in seconds."""
    pairs = []
    for _ in range(PAIRS):
        ours, theirs = free_port(), free_port()
        with served(dsgui(ours, runs), ours) as first:
            pass
        with served([sys.executable, "-m", "benchmarks.minimal_app", str(theirs)], theirs) as second:
            pass
        pairs.append((first.started_s, second.started_s))
    return pairs


def full_document() -> Document:
    """A config that sets every key the newest release has a default for."""
    view = Catalog().schema().at(LATEST_KNOWN)
    document = Document("{}")
    for pointer, field in view.fields.items():
        if field.default is not MISSING:
            document = document.set(pointer, json.dumps(field.default))
    return document.set("/train_batch_size", "64")


def check_times() -> dict[str, float]:
    """Median milliseconds to parse the full document, and to check it: every block anew, and after one edit."""
    checker, context, document = Checker(Catalog().schema()), Context(), full_document()
    texts = [document.set("/zero_optimization/reduce_bucket_size", str(10**8 + n)).text for n in range(CHECKS)]
    parsed = [Document(text) for text in texts]
    checker.findings(document, context)  # compiles the schema
    return {
        "keys": float(len(dict(document.literals()))),
        "parse": median_ms(lambda n: Document(texts[n])),
        "edited": median_ms(lambda n: checker.findings(parsed[n], context)),
        "anew": median_ms(lambda n: anew(checker, parsed[n], context)),
    }


def memory_times() -> list[float]:
    """Median milliseconds of the instant answer for a 7B Llama on eight ranks, at ZeRO stages 0 to 3."""
    questions = [
        Question(
            model_of_size("7B"),
            {"bf16": {"enabled": True}, "zero_optimization": {"stage": stage}, "gradient_accumulation_steps": 2},
            Workload(1, 2048, checkpointing=True),
            Group(8),
        )
        for stage in range(4)
    ]
    return [median_ms(lambda _, asked=one: answer(asked)) for one in questions]


def anew(checker: Checker, document: Document, context: Context) -> None:
    """A check that remembers nothing."""
    checker.forget()
    checker.findings(document, context)


def median_ms(call: Callable[[int], object]) -> float:
    """The median of `CHECKS` calls, in milliseconds."""
    taken = []
    for n in range(CHECKS):
        started = time.perf_counter()
        call(n)
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)


def cpu_per_edit_ms(page: Page, server: Server) -> float:
    """Milliseconds of the server's CPU that one keystroke costs beyond what the idle page does."""
    selector = '[data-pointer="/train_batch_size"]'
    idle, began = server.cpu_s(), time.perf_counter()
    page.wait_for_timeout(IDLE_MS)
    idle_share = (server.cpu_s() - idle) / (time.perf_counter() - began)
    used, began = server.cpu_s(), time.perf_counter()
    for n in range(EDITS):
        page.evaluate(TIME_EDIT, [selector, str(90001 + n)])
    wall = time.perf_counter() - began
    return max(0.0, server.cpu_s() - used - idle_share * wall) / EDITS * 1000


def load_full_document(page: Page) -> None:
    """Put the full document into the editor, and let the page settle."""
    text = full_document().text
    page.evaluate("(text) => localStorage.setItem('dsgui.config', text)", text)
    page.reload()
    page.wait_for_selector('[data-row="/train_batch_size"].ds-set', state="attached")
    page.wait_for_timeout(1000)


def edit_times(page: Page) -> list[float]:
    """Milliseconds from one keystroke in the form to JSON and findings on the screen."""
    selector = '[data-pointer="/train_batch_size"]'
    page.wait_for_selector(selector, state="attached")
    # Micro batch and accumulation are fixed, so every new train batch breaks the identity and shows in the findings.
    for field, value in (("/train_micro_batch_size_per_gpu", "2"), ("/gradient_accumulation_steps", "3")):
        page.fill(f'[data-pointer="{field}"]', value)
    page.wait_for_timeout(500)
    return [page.evaluate(TIME_EDIT, [selector, str(70001 + n)]) for n in range(EDITS)]


def main() -> None:
    """Print every figure."""
    times = check_times()
    print(f"full document         {times['keys']:.0f} keys, parsed in {times['parse']:.2f} ms")
    print(f"validation of it      {times['edited']:.2f} ms after an edit, {times['anew']:.2f} ms anew (goal ≤ 2 ms)")
    memory = ", ".join(f"{ms:.0f}" for ms in memory_times())
    print(f"memory of a 7B model  {memory} ms at ZeRO stages 0 to 3 (goal ≤ 50 ms)")
    ask.main()
    with tempfile.TemporaryDirectory() as runs:
        pairs = start_ratios(runs)
        ratio = statistics.median(a / b for a, b in pairs)
        ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
        print(f"start to first page   {ours:.2f} s, minimal Gradio {theirs:.2f} s: ratio {ratio:.2f} (goal ≤ 1.25)")
        port = free_port()
        with served(dsgui(port, runs), port) as server, sync_playwright() as playwright:
            body = urllib.request.urlopen(_first_page(port)).read()
            print(f"first page            {len(body) / 1000:.0f} kB (goal ≤ 300 kB)")
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium-headless-shell", args=CHROMIUM)
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.add_init_script("localStorage.setItem('dsgui.goal', '1')")  # not a first visit
            page.goto(f"http://127.0.0.1:{port}/?token={TOKEN}")
            print_edits("a preset", page, server)
            load_full_document(page)
            print_edits("every key", page, server)
            browser.close()


def print_edits(what: str, page: Page, server: Server) -> None:
    """What one keystroke costs while `what` is in the editor."""
    times, cpu = sorted(edit_times(page)), cpu_per_edit_ms(page, server)
    p95 = times[int(len(times) * 0.95)]
    print(
        f"one edit, {what:<11} median {statistics.median(times):.0f} ms to the screen, p95 {p95:.0f} (goal ≤ 150); "
        f"{cpu:.1f} ms of server CPU (goal ≤ 10)"
    )


if __name__ == "__main__":
    main()
