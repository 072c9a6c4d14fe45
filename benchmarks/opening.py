"""Prints what whoever opens an address with charts waits for: milliseconds to the tabs, to the first chart and to
all that are in view, in a browser that was never here.

`python -m benchmarks.opening [another checkout]`: with one, the two take turns, so that both had the same machine."""

import contextlib
import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks.run import CHROMIUM, ROOT, TOKEN, dsgui, free_port, served
from tests.support.made_runs import Made, make_run

ROUNDS = 7
SETTLED_MS = 300
# When each was there, looked at with every frame.
SEEN = """window.seen = {};
const look = () => {
  const charts = [...document.querySelectorAll(".ds-chart:not([hidden])")].filter((one) =>
    one.offsetWidth && one.getBoundingClientRect().top < innerHeight);
  const drawn = charts.filter((one) => one.querySelector(".scatterlayer path"));
  const is = {
    tabs: document.querySelector("#pages [role=tab]"),
    boxes: charts.length,
    first: drawn.length,
    all: drawn.length && drawn.length === charts.length,
  };
  for (const [what, there] of Object.entries(is)) if (there) window.seen[what] ??= performance.now();
  requestAnimationFrame(look);
};
look();"""


def opened(browser: Browser, port: int, address: str) -> dict[str, float]:
    """Milliseconds from the navigation until each of `SEEN` was there."""
    with contextlib.closing(browser.new_context(viewport={"width": 1280, "height": 900})) as context:
        context.add_init_script(SEEN)
        context.request.get(f"http://127.0.0.1:{port}/?token={TOKEN}")
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/{address}")
        page.wait_for_function("seen.all")
        page.wait_for_timeout(SETTLED_MS)
        seen: dict[str, float] = page.evaluate("seen")
        return seen


def main(checkouts: list[Path]) -> None:
    """Print the medians of each checkout."""
    with contextlib.ExitStack() as stack:
        runs = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "runs"
        one, other = (make_run(runs, Made(name, 2000)) for name in ("one", "other"))
        ports = {tree: free_port() for tree in checkouts}
        for tree, port in ports.items():
            stack.enter_context(served(dsgui(port, str(runs)), port, tree))
        browser = stack.enter_context(sync_playwright()).chromium.launch(
            executable_path="/usr/bin/chromium-headless-shell", args=CHROMIUM
        )
        for address in (f"?run={one}", f"?compare={one},{other}"):
            rounds = [{tree: opened(browser, port, address) for tree, port in ports.items()} for _ in range(ROUNDS)]
            for tree in checkouts:
                medians = {what: statistics.median(taken[tree][what] for taken in rounds) for what in rounds[0][tree]}
                told = ", ".join(f"{what} {ms:.0f}" for what, ms in medians.items())
                print(f"{address.partition('=')[0]:<9} {tree.name:<12} {told} ms")
        browser.close()


if __name__ == "__main__":
    main([ROOT, *map(Path, sys.argv[1:])])
