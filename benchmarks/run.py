"""Prints dsgui's figures beside their goals: `make bench`. Runs are paired and medians quoted: the machine is noisy.

Never run as a test: a figure is read by a person.
"""

import contextlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
PAIRS = 7
EDITS = 40
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


@contextlib.contextmanager
def served(command: list[str], port: int) -> Iterator[float]:
    """The server of `command`; gives the seconds from its start to its first answered page."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            with contextlib.suppress(urllib.error.URLError, ConnectionError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30).read()
                break
            time.sleep(0.01)
        yield time.perf_counter() - started
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
        pairs.append((first, second))
    return pairs


def edit_times(page: Page) -> list[float]:
    """Milliseconds from one keystroke in the form to JSON and findings on the screen."""
    selector = '[data-pointer="/train_batch_size"]'
    page.wait_for_selector(selector, state="attached")
    # Micro batch and accumulation are fixed, so every new train batch breaks the identity and shows in the findings.
    page.evaluate("localStorage.clear()")
    for field, value in (("/train_micro_batch_size_per_gpu", "2"), ("/gradient_accumulation_steps", "3")):
        page.fill(f'[data-pointer="{field}"]', value)
    page.wait_for_timeout(500)
    return [page.evaluate(TIME_EDIT, [selector, str(70001 + n)]) for n in range(EDITS)]


def main() -> None:
    """Print every figure."""
    with tempfile.TemporaryDirectory() as runs:
        pairs = start_ratios(runs)
        ratio = statistics.median(a / b for a, b in pairs)
        ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
        print(f"start to first page   {ours:.2f} s, minimal Gradio {theirs:.2f} s: ratio {ratio:.2f} (goal ≤ 1.25)")
        port = free_port()
        with served(dsgui(port, runs), port), sync_playwright() as playwright:
            body = urllib.request.urlopen(f"http://127.0.0.1:{port}/").read()
            print(f"first page            {len(body) / 1000:.0f} kB (goal ≤ 300 kB)")
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(f"http://127.0.0.1:{port}/")
            times = sorted(edit_times(page))
            browser.close()
        print(
            f"one edit to screen    median {statistics.median(times):.0f} ms, "
            f"p95 {times[int(len(times) * 0.95)]:.0f} ms (goal ≤ 150 ms median)"
        )


if __name__ == "__main__":
    main()
