"""Makes the README's pictures from the real app and a real run: `make screenshots`."""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.support.app_server import running_app  # noqa: E402
from tests.support.browser import CHROMIUM, FLAGS  # noqa: E402

IMAGES = ROOT / "docs" / "images"
RUN_TIMEOUT_MS = 400_000


def configure(page: Page) -> None:
    """The first page with one finding and its button."""
    page.wait_for_selector('[data-pointer="/train_batch_size"]')
    for field, value in (("micro", "4"), ("accumulation", "8"), ("train_batch", "100")):
        page.fill(f'[data-pointer*="{field}"]', value)
    page.locator(".ds-fix").first.wait_for()
    page.wait_for_timeout(500)
    page.screenshot(path=IMAGES / "configure.png")
    page.evaluate("localStorage.clear()")


def run(page: Page, url: str) -> None:
    """A run of the bundled recipe some hundred steps in."""
    page.goto(url)
    page.get_by_role("tab", name="2 · Launch").click()
    page.locator("#launch:not([disabled])").click()
    page.wait_for_function(
        "() => (document.querySelector('[data-chart=\"Loss\"] .js-plotly-plot')?.data?.[0]?.x.at(-1) ?? 0) >= 150",
        timeout=RUN_TIMEOUT_MS,
    )
    page.wait_for_timeout(1500)
    page.screenshot(path=IMAGES / "run.png")
    page.click("#stop-run")
    page.click("#confirm-stop")
    page.locator('.ds-run-head .ds-state[data-state="stopped"]').wait_for(timeout=60_000)


def main() -> None:
    """Both pictures."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as runs, running_app(Path(runs)) as app, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 860}, color_scheme="light")
        page.goto(app.entrance)
        configure(page)
        run(page, app.url)
        browser.close()


if __name__ == "__main__":
    main()
