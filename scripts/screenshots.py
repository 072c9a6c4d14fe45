"""Every page and main state as pictures and one contact sheet, each width, theme and language: `make screenshots`.

They go to test-artifacts/screenshots; `index.html` there is the contact sheet. With `--readme`, the two pictures of the
README are made instead, from a real run."""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from html import escape
from itertools import product
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from dsgui.core.launch.state import RunState  # noqa: E402
from dsgui.core.texts.languages import LANGUAGES  # noqa: E402
from tests.support.app_server import App, running_app  # noqa: E402
from tests.support.browser import CHROMIUM, FLAGS, replace_text  # noqa: E402
from tests.support.made_runs import Made, make_run  # noqa: E402

IMAGES = ROOT / "docs" / "images"
SHEET = ROOT / "test-artifacts" / "screenshots"
RUN_TIMEOUT_MS = 400_000
WIDTHS, THEMES = (390, 768, 1280, 1920), ("light", "dark")
LOOKS = (*product(THEMES, ("",), WIDTHS), *product(THEMES, ("more",), (1280,)))  # theme, contrast, width
WRONG = {
    "train_batch_size": 100,
    "train_micro_batch_size_per_gpu": 4,
    "gradient_accumulation_steps": 8,
    "zero_optimization": {"stage": 2, "offload_param": {"device": "cpu"}},
}
STAGE_2 = '{"zero_optimization": {"stage": 2}}'
DRAWN = "[data-chart]:not([hidden]) .js-plotly-plot"
STYLE = "body{font:14px system-ui;margin:16px}div{display:flex;flex-wrap:wrap;gap:12px}img{max-height:420px}"


def _tab(page: Page, place: int) -> None:
    page.locator("#pages > .tab-wrapper [role=tab]").nth(place).click()


def _findings(page: Page) -> None:
    replace_text(page, json.dumps(WRONG, indent=2))
    page.locator(".ds-fix").first.wait_for()


def _search(page: Page) -> None:
    page.fill(".ds-search", "offload")


def _devices(page: Page) -> None:
    page.click("#device input")
    page.locator("#device [role=option]").first.wait_for()


def _launch(page: Page) -> None:
    _tab(page, 1)
    page.locator("#preflight .ds-findings").wait_for()


def _machine(page: Page) -> None:
    _tab(page, 3)
    page.locator(".ds-readings").wait_for()


def _goal(page: Page) -> None:
    page.fill("#goal-model", "7B")
    page.select_option("#goal-device", "a100-80")
    page.click("#goal-find")
    page.locator(".ds-goal-card").first.wait_for()


def _grouped(page: Page) -> None:
    page.locator(DRAWN).first.wait_for()
    page.locator(".ds-grouping select").select_option("config")


def _shortcuts(page: Page) -> None:
    page.keyboard.press("?")
    page.locator("#ds-shortcuts[open]").wait_for()


# What is opened (the ids of two runs and of a failed one are put in), and what is then done there.
STATES: tuple[tuple[str, str, Callable[[Page], None]], ...] = (
    ("goal", "", _goal),
    ("configure", "", lambda page: None),
    ("findings", "", _findings),
    ("search", "", _search),
    ("devices", "", _devices),
    ("launch", "", _launch),
    ("machine", "", _machine),
    ("shortcuts", "", lambda page: (_machine(page), _shortcuts(page))[0]),
    ("run", "?run={0}", lambda page: page.locator(DRAWN).first.wait_for()),
    ("failed", "?run={2}", lambda page: page.locator(".ds-run-head").wait_for()),
    ("runs", "?tab=runs", lambda page: page.locator(".ds-run-row").first.wait_for()),
    ("grouped", "?compare={0},{1},{3},{4}", _grouped),
    ("compare", "?compare={0},{1}", lambda page: page.locator(DRAWN).first.wait_for()),
)


def _made_runs(folder: Path) -> list[str]:
    failed = Made("out of memory", 40, output="torch.OutOfMemoryError: CUDA out of memory.\n", state=RunState.FAILED)
    return [
        make_run(folder, Made("bloom-560m lr 5e-5", 300)),
        make_run(folder, Made("bloom-560m lr 1e-4", 300, spikes=(120,), arguments="--lr 1e-4")),
        make_run(folder, failed),
        make_run(folder, Made("bloom-560m stage 2", 300, spikes=(200,), config=STAGE_2)),
        make_run(folder, Made("bloom-560m stage 2, again", 300, config=STAGE_2)),
    ]


def _pictures(browser: Browser, app: App, ids: list[str], languages: tuple[str, ...]) -> Iterator[str]:
    """Makes each; yields its name."""
    for language, (theme, contrast, width) in product(languages, LOOKS):
        asked = {"color_scheme": theme, "contrast": contrast or None, "locale": language}
        context = browser.new_context(viewport={"width": width, "height": 900}, **asked)
        context.add_cookies([{"name": "dsgui_language", "value": language, "url": app.url}])
        app.sign_in(context, first=True)  # the goal comes first; then it has been here
        for name, address, act in STATES:
            page = context.new_page()
            page.goto(app.url + address.format(*ids))
            page.wait_for_selector('[data-pointer="/train_batch_size"]', state="attached")
            act(page)
            page.evaluate("scrollTo(0, 0)")  # the bar that stays in view stands where it begins
            page.wait_for_timeout(600)  # what moves has come to rest
            picture = f"{name}-{language}-{theme}{contrast}-{width}.png"
            page.screenshot(path=SHEET / picture, full_page=name not in ("shortcuts", "devices"))
            page.close()
            yield picture
        context.close()


def contact_sheet(languages: tuple[str, ...]) -> None:
    """All pictures, and the page that shows them side by side."""
    SHEET.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(folder) / "runs"
        runs.mkdir()
        ids = _made_runs(runs)
        with running_app(runs) as app, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            pictures = list(_pictures(browser, app, ids, languages))
            browser.close()
    shown = "".join(
        f"<h2>{name}</h2><div>" + "".join(_figure(one) for one in pictures if one.startswith(f"{name}-")) + "</div>"
        for name, *_ in STATES
    )
    page = f"<!doctype html><meta charset=utf-8><title>dsgui</title><style>{STYLE}</style>{shown}"
    (SHEET / "index.html").write_text(page, "utf-8")
    print(f"dsgui: {len(pictures)} pictures in {SHEET / 'index.html'}")


def _figure(picture: str) -> str:
    name = escape(picture)
    return f'<a href="{name}"><img loading=lazy src="{name}" alt="{name}" title="{name}"></a>'


def configure(page: Page) -> None:
    """The first page with one finding and its button."""
    page.wait_for_selector('[data-pointer="/train_batch_size"]')
    for field, value in (("micro", "4"), ("accumulation", "8"), ("train_batch", "100")):
        page.fill(f'[data-pointer*="{field}"]', value)
    page.locator(".ds-fix").first.wait_for()
    page.evaluate("scrollTo(0, 0)")
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


def readme() -> None:
    """The README's pictures."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as runs, running_app(Path(runs)) as app, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 860}, color_scheme="light")
        page.add_init_script("localStorage.setItem('dsgui.goal', '1')")  # not a first visit
        page.goto(app.entrance)
        configure(page)
        run(page, app.url)
        browser.close()


def main() -> None:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readme", action="store_true", help="the README's pictures")
    parser.add_argument("--language", choices=LANGUAGES, help="one language only")
    given = parser.parse_args()
    if given.readme:
        readme()
    else:
        contact_sheet((given.language,) if given.language else tuple(LANGUAGES))


if __name__ == "__main__":
    main()
