"""Every page and main state as pictures and one contact sheet, each width, theme and language: `make screenshots`.

They go to test-artifacts/screenshots; `index.html` there is the contact sheet. What axe-core finds wrong in any of them
is printed. Some only: `make screenshots ARGS="--state runs compare --width 390 --theme dark --language zh-CN"`. With
`--readme`, the two pictures of the README are made instead, from a real run."""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import product
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from dsgui.core.launch.state import RunState  # noqa: E402
from dsgui.core.texts.languages import LANGUAGES  # noqa: E402
from tests.support.app_server import BEEN_HERE, App, running_app  # noqa: E402
from tests.support.browser import CHROMIUM, FLAGS, replace_text  # noqa: E402
from tests.support.chromium.axe import violations  # noqa: E402
from tests.support.made_runs import Made, make_run  # noqa: E402

IMAGES = ROOT / "docs" / "images"
SHEET = ROOT / "test-artifacts" / "screenshots"
SETTLES_MS = 600  # what moves has come to rest
HEIGHT = 900
PATIENCE_MS = 120_000  # on a busy machine
RUN_TIMEOUT_MS = 1_200_000  # on a busy machine
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


def _learn(page: Page) -> None:
    page.click("#learn-open")
    page.locator("[data-track]").first.wait_for()


def _learning(page: Page) -> None:
    _learn(page)
    page.click("[data-track=memory]")
    page.locator("#learn-step-title").wait_for()


def _report(page: Page) -> None:
    """The file that is saved, as it is opened from a folder; the page has the address of one run."""
    run_id = page.url.partition("run=")[2]
    answer = page.context.request.get(page.url.partition("?")[0] + f"dsgui/report?runs={run_id}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        file.write_bytes(answer.body())
        page.goto(file.as_uri())
        page.locator(".js-plotly-plot").first.wait_for()


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
    ("learn", "", _learn),
    ("learning", "", _learning),
    ("report", "?run={1}", _report),
    ("empty", "?tab=runs", lambda page: page.locator("#monitor .ds-empty:not([hidden])").wait_for()),
)
NAMES = [name for name, *_ in STATES]
NOT_ALL = ("shortcuts", "devices", "learn", "learning")  # what stays in view is pictured as it is seen


def _made_runs(folder: Path) -> list[str]:
    failed = Made("out of memory", 40, output="torch.OutOfMemoryError: CUDA out of memory.\n", state=RunState.FAILED)
    return [
        make_run(folder, Made("bloom-560m lr 5e-5", 300)),
        make_run(folder, Made("bloom-560m lr 1e-4", 300, spikes=(120,), arguments="--lr 1e-4")),
        make_run(folder, failed),
        make_run(folder, Made("bloom-560m stage 2", 300, spikes=(200,), config=STAGE_2)),
        make_run(folder, Made("bloom-560m stage 2, again", 300, config=STAGE_2)),
    ]


@dataclass(frozen=True)
class Asked:
    """Which pictures."""

    languages: Sequence[str]
    states: Sequence[str]
    themes: Sequence[str]
    widths: Sequence[int]
    contrasts: Sequence[str]

    def looks(self, width: int) -> list[tuple[str, str, int]]:
        """Theme, contrast and width of each that is as wide."""
        asked = (self.themes, self.contrasts, (width,))
        return [look for look in LOOKS if all(one in among for one, among in zip(look, asked, strict=True))]


def _pictures(browser: Browser, apps: tuple[App, App], ids: list[str], asked: Asked) -> Iterator[str]:
    """Makes each; yields its name. A page is loaded once for a width, and its theme is switched, as people do. The
    second app has no runs."""
    for language in asked.languages:
        context = browser.new_context(locale=language)
        context.set_default_timeout(PATIENCE_MS)
        for app in apps:
            context.add_cookies([{"name": "dsgui_language", "value": language, "url": app.url}])
            app.sign_in(context, first=True)
        for (name, address, act), width in product(STATES, asked.widths):
            if name not in asked.states:
                continue
            page = context.new_page()
            page.set_viewport_size({"width": width, "height": HEIGHT})
            if name != "goal":
                page.add_init_script(BEEN_HERE)
            page.goto(apps[name == "empty"].url + address.format(*ids))
            page.wait_for_selector('[data-pointer="/train_batch_size"]', state="attached")
            act(page)
            for look in asked.looks(width):
                yield _picture(page, f"{name}-{language}", look, full_page=name not in NOT_ALL)
            page.close()
        context.close()


def _picture(page: Page, name: str, look: tuple[str, str, int], *, full_page: bool) -> str:
    theme, contrast, width = look
    page.emulate_media(color_scheme=theme, contrast=contrast or "no-preference")
    page.evaluate("scrollTo(0, 0)")  # the bar that stays in view stands where it begins
    page.wait_for_timeout(SETTLES_MS)
    picture = f"{name}-{theme}{contrast}-{width}.png"
    page.screenshot(path=SHEET / picture, full_page=full_page)
    _tell_what_is_wrong(page, picture)
    return picture


def _tell_what_is_wrong(page: Page, picture: str) -> None:
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    found = [*violations(page), *([f"{wide} px wider than the window"] if wide > 0 else [])]
    if found:
        print(f"{picture}:", *found, sep="\n", flush=True)


def contact_sheet(asked: Asked) -> None:
    """The pictures, and the page that shows them side by side."""
    SHEET.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        runs, none = Path(folder) / "runs", Path(folder) / "none"
        runs.mkdir()
        none.mkdir()
        ids = _made_runs(runs)
        with running_app(runs) as app, running_app(none) as empty, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            pictures = list(_pictures(browser, (app, empty), ids, asked))
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
        # By points, each of ten steps: the first ones are drawn by time.
        "() => (document.querySelector('[data-chart=\"Loss\"] .js-plotly-plot')?.data?.[0]?.x.length ?? 0) > 10",
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
    parser.add_argument("--language", nargs="+", choices=LANGUAGES, default=list(LANGUAGES))
    parser.add_argument("--state", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--theme", nargs="+", choices=THEMES, default=THEMES)
    parser.add_argument("--width", nargs="+", type=int, choices=WIDTHS, default=WIDTHS)
    parser.add_argument("--usual-contrast", dest="contrasts", action="store_const", const=("",), default=("", "more"))
    given = parser.parse_args()
    if given.readme:
        readme()
    else:
        contact_sheet(Asked(given.language, given.state, given.theme, given.width, given.contrasts))


if __name__ == "__main__":
    main()
