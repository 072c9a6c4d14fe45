"""Twelve tasks as a new user does them, in a real browser: `make walkthrough` counts the clicks and keys of each, takes
its time, and writes docs/walkthrough.md with a picture of each task's end, if it can be seen. Three runs are real."""

import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.support.app_server import App, running_app  # noqa: E402
from tests.support.browser import CHROMIUM, FLAGS  # noqa: E402

DOCUMENT, IMAGES = ROOT / "docs" / "walkthrough.md", ROOT / "docs" / "images" / "walkthrough"
SIZE = {"width": 1180, "height": 760}
expect.set_options(timeout=60_000)
BUSY = 3  # processes that want a core, for each there is; the walk and its training alone are about two
QUALITY = 60  # of the pictures, which are JPEG
STARTS_MS = 600_000  # the first run on a machine compiles DeepSpeed's operators
WRONG_BATCH = {
    "train_batch_size": 100,
    "train_micro_batch_size_per_gpu": 4,
    "gradient_accumulation_steps": 8,
    "zero_optimization": {"stage": 2},
}
NO_ZERO = {"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": True}, "zero_optimization": {"stage": 0}}
FAILS = 'import sys\n\nprint("reading data", flush=True)\nopen("data/train.jsonl", encoding="utf-8")\n'
POINTS = "() => document.querySelector('[data-chart=\"Loss\"] .js-plotly-plot')?.data?.[0]?.x.length >= 3"


@dataclass
class Hand:
    """A user's hand on a page; every click and key of it is counted."""

    page: Page
    clicks: int = 0
    keys: int = 0
    opened: Page | None = None  # what the task's result is seen in, if that is not the page

    def click(self, target: str | Locator) -> None:
        """One click, when the target can be clicked."""
        (self.page.locator(target).first if isinstance(target, str) else target).click()
        self.clicks += 1

    def type(self, text: str) -> None:
        """Letter for letter, where the focus is."""
        self.page.keyboard.type(text)
        self.keys += len(text)

    def press(self, key: str) -> None:
        """A key, or several at once."""
        self.page.keyboard.press(key)
        self.keys += 1

    def fill(self, target: str, text: str) -> None:
        """A click into a field, and the text instead of what it has."""
        self.click(target)
        self.press("Control+a")
        self.type(text)

    def paste(self, target: str, text: str) -> None:
        """As `fill`, from the clipboard."""
        self.click(target)
        self.press("Control+a")
        self.page.keyboard.insert_text(text)
        self.keys += 1

    def choose(self, target: str, typed: str) -> None:
        """In a picker: a click, some letters, Enter."""
        self.click(target)
        self.type(typed)
        self.press("Enter")


@dataclass(frozen=True)
class Task:
    """What is to be done, from which page, how, and how it ends; `steps` tells a reader how. `prepare`, with the page
    and a folder of scripts, is no part of what is counted. `found`: what earlier walks stumbled over, and what became
    of it. `pictured` is false where the page looks as before."""

    id: str
    title: str
    steps: str
    do: Callable[[Hand], str]
    fresh: bool = True
    first_visit: bool = False
    prepare: Callable[[Page, Path], None] = lambda page, scripts: None
    found: str = ""
    pictured: bool = True


@dataclass(frozen=True)
class Done:
    """A task as it went; `said` is what the page showed at its end."""

    task: Task
    clicks: int
    keys: int
    seconds: float
    said: str


def goal(hand: Hand) -> str:
    """Model and GPUs, then the first config that is offered."""
    hand.fill("#goal-model", "7B")
    hand.page.select_option("#goal-device", "a100-80")
    hand.clicks += 2  # the list, and its entry
    hand.fill("#goal-gpus", "8")
    hand.press("Enter")
    hand.click(".ds-goal-card button")
    fit = hand.page.locator("#standing-fit")
    expect(fit).to_contain_text("fits")
    return f"The workspace holds “{hand.page.locator('.ds-standing-name').inner_text()}”: {fit.inner_text()}."


def chinese(hand: Hand) -> str:
    """From anywhere: the search's key, and the word."""
    search = hand.page.locator(".ds-search")
    hand.press("/")
    expect(search).to_be_focused()
    hand.type("卸载")
    expect(search).to_have_value("卸载")
    found = hand.page.locator(".ds-panels .ds-field:visible .ds-key")
    expect(found.first).to_contain_text("offload")
    return f"{found.count()} fields; the first is `{''.join(found.first.inner_text().split())}`."


def batch(hand: Hand) -> str:
    """A pasted config with a wrong batch identity, and its first fix."""
    hand.paste("#config-json .cm-content", json.dumps(WRONG_BATCH, indent=2))
    hand.click("#findings .ds-fix:has-text('Set train_batch_size')")
    verdict = hand.page.locator("#findings .ds-verdict")
    expect(verdict).to_contain_text("Checks pass")
    return f"{verdict.inner_text()}."


def fits(hand: Hand) -> str:
    """Device, GPUs and model, the verdict, and the cheapest change."""
    hand.choose("#device input", "a100 80")
    hand.fill("#gpus input", "8")
    hand.fill("#memory-model :is(textarea, input)", "7B")
    chip = hand.page.locator("#memory-panel .ds-mem-chip").first
    expect(chip).to_have_text("doesn’t fit")
    hand.click("#ds-mem-find")
    hand.click("#ds-mem-apply")
    expect(chip).to_have_text("fits")
    return f"{hand.page.locator('#memory-panel [data-device=gpu] .ds-mem-need').inner_text()}."


def download(hand: Hand) -> str:
    """The button of the bar that stays in view."""
    with hand.page.expect_download() as caught:
        hand.click("#standing-download")
    return f"`{caught.value.suggested_filename}` is saved."


def launch(hand: Hand) -> str:
    """The bundled recipe with its usual arguments: it is chosen already."""
    hand.click("#to-launch")
    hand.click("#launch:not([disabled])")
    title = hand.page.locator(".ds-run-title")
    expect(title).to_contain_text("T5 translates", timeout=STARTS_MS)
    expect(title).to_be_visible()
    return f"The page of the run “{title.inner_text()}” is open."


def watch(hand: Hand) -> str:
    """Loss and memory stand side by side; one look at a point."""
    hand.page.wait_for_function(POINTS, timeout=STARTS_MS)
    plot = hand.page.locator('[data-chart="Loss"] .nsewdrag').first
    box = plot.bounding_box()
    assert box is not None
    hand.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    row = hand.page.locator('[data-chart="Loss"] .ds-tip')
    expect(row).to_be_visible()
    expect(hand.page.locator('[data-chart="Host memory"]')).to_be_visible()
    return f"Tooltip: {' · '.join(row.inner_text().split(chr(10)))}."


def stop(hand: Hand) -> str:
    """Stop, and yes to what is lost."""
    hand.click("#stop-run")
    hand.click("#confirm-stop")
    expect(hand.page.locator('.ds-run-head .ds-state[data-state="stopped"]')).to_be_visible()
    return "The run is stopped, and no process of it is left."


def clone(hand: Hand) -> str:
    """Clone, one more argument, start."""
    hand.click("#clone-run")
    arguments = hand.page.locator("#arguments :is(textarea, input)")
    expect(arguments).to_be_visible()
    before = hand.page.url
    hand.click(arguments)
    hand.press("Control+End")
    hand.type(" --learning_rate 1e-4")
    expect(hand.page.locator("#command")).to_contain_text("--learning_rate 1e-4")
    hand.click("#launch:not([disabled])")
    hand.page.wait_for_url(lambda url: "run=" in url and url != before, timeout=STARTS_MS)
    hand.page.wait_for_function(POINTS, timeout=STARTS_MS)
    differs = hand.page.locator(".ds-run")
    expect(differs).to_contain_text("learning_rate")
    return "The clone trains with `--learning_rate 1e-4`."


def compare(hand: Hand) -> str:
    """Both runs ticked in the list."""
    for place in (0, 1):
        hand.click(hand.page.locator(".ds-run-entry .ds-run-choose").nth(place))
    hand.click("#compare-runs")
    table = hand.page.locator(".ds-differences .ds-table").first
    expect(table).to_contain_text("learning_rate")
    name, *values = table.locator("tbody tr:has(td)").first.locator("th, td").all_inner_texts()
    assert len(values) == 2
    return f"First difference: `{name.strip()}`, {' → '.join(' '.join(value.split()) for value in values[:2])}."


def failure(hand: Hand) -> str:
    """A click on the failed run in the list."""
    hand.click(hand.page.locator(".ds-run-entry", has_text="failed").locator(".ds-run-row"))
    told = hand.page.locator(".ds-diagnosis")
    expect(told).to_contain_text("train.jsonl")
    title = told.locator("h3")
    expect(title).to_be_visible()
    return f"“{title.inner_text()}”, what to do, and the traceback."


def report(hand: Hand) -> str:
    """A run's report, one file; it is pictured as whoever gets it sees it."""
    with hand.page.expect_download() as caught:
        hand.click("#report-run")
    name, saved = caught.value.suggested_filename, Path(caught.value.path())
    hand.opened = hand.page.context.new_page()
    hand.opened.set_content(saved.read_text("utf-8"))
    hand.opened.locator(".js-plotly-plot").first.wait_for()
    hand.opened.locator("h2", has_text="Figures").evaluate("node => node.scrollIntoView()")  # what is above are paths
    return f"`{name}`, one file of {saved.stat().st_size / 1e6:.1f} MB, opens in any browser."


def _paste_no_zero(page: Page, _: Path) -> None:
    Hand(page).paste("#config-json .cm-content", json.dumps(NO_ZERO, indent=2))
    expect(page.locator("#findings .ds-verdict")).to_contain_text("pass")


def _open_first(page: Page, _: Path) -> None:
    """The run that trained first: it is the last in the list."""
    page.locator(".ds-run-row").last.click()
    expect(page.locator(".ds-run-title")).to_contain_text("T5 translates")
    page.wait_for_function(POINTS)


def _end_clone(page: Page, _: Path) -> None:
    stop(Hand(page))
    _open_runs(page)


def _open_runs(page: Page) -> None:
    page.goto(page.url.partition("?")[0] + "?tab=runs")


def _fail(page: Page, scripts: Path) -> None:
    """A script whose data are not there, launched."""
    page.goto(page.url.partition("?")[0] + "?tab=launch")
    page.get_by_label("My own script").check()
    page.fill("#script :is(textarea, input)", str(scripts / "train.py"))
    page.locator("#launch:not([disabled])").click()
    expect(page.locator('.ds-run-head .ds-state[data-state="failed"]')).to_be_visible(timeout=STARTS_MS)
    _open_runs(page)


TASKS = (
    Task(
        "goal",
        "Create a config from a goal: a 7B model on 8 × A100",
        "Enter the model and the GPUs, then use the first config that is offered.",
        goal,
        first_visit=True,
        found="“Start from a goal” took a line of its own above the workspace; it is now beside the tabs.",
    ),
    Task(
        "chinese",
        "Find the offload keys by their Chinese name, 卸载",
        "Press `/` on any page and type the word.",
        chinese,
        found="Fields that only mention offloading came first; now those named so do.",
    ),
    Task(
        "batch",
        "Paste a config with inconsistent batch sizes and fix it",
        "Paste into the editor, then click the first fix.",
        batch,
    ),
    Task(
        "fits",
        "Check whether a 7B model fits on 8 × A100, and apply the cheapest change that makes it fit",
        "Choose the device, the number of GPUs and the model; then find and apply a change.",
        fits,
        prepare=_paste_no_zero,
        found="“Browse…” was below its field or cut off; now it is beside it.",
    ),
    Task(
        "download",
        "Download ds_config.json",
        "Click **Download** in the bar that stays in view. (The page doesn’t change: no picture.)",
        download,
        fresh=False,
        pictured=False,
    ),
    Task(
        "launch",
        "Launch the bundled recipe",
        "Go to Launch, where the recipe is already selected, and start it with its default arguments.",
        launch,
        found="Six recipes in uneven rows, five with the same remark; now a list with the remark once. "
        "On a busy machine a second press was needed; now one is enough.",
    ),
    Task(
        "watch",
        "Watch loss and memory, and read one point",
        "Loss and memory are side by side; point at a curve.",
        watch,
        fresh=False,
        found="Open: the first step has to wait for PyTorch and the model to load. The page says so.",
    ),
    Task(
        "stop",
        "Stop the run",
        "Click **Stop** and confirm what will be lost.",
        stop,
        fresh=False,
        found="A stopped run still said that its speed wasn’t known yet; now it says nothing.",
    ),
    Task(
        "clone",
        "Clone the run with one argument changed, and start it",
        "Click **Clone and edit**, add the argument, and launch.",
        clone,
        fresh=False,
    ),
    Task(
        "compare",
        "Compare the two runs and find the difference",
        "Select both in the list, then click **Compare**.",
        compare,
        fresh=False,
        prepare=_end_clone,
        found="On a phone the row names scrolled away with the values; now they stay.",
    ),
    Task(
        "failure",
        "Find out why a run failed",
        "Click the failed run in the list.",
        failure,
        fresh=False,
        prepare=_fail,
    ),
    Task(
        "report",
        "Save a run’s report to share",
        "On the run’s page, click **Report (HTML)**. The picture shows the saved file.",
        report,
        fresh=False,
        prepare=_open_first,
        found="The link was in a closed section at the end of the page; now it is beside **Clone and edit**.",
    ),
)


def walk(browser: Browser, app: App, scripts: Path) -> Iterator[Done]:
    """Does them all, one after the other."""
    page = None
    for task in TASKS:
        if page is None or task.fresh:
            page = _opened(browser, app, task)
        task.prepare(page, scripts)
        hand, begun = Hand(page), time.monotonic()
        said = task.do(hand)
        seconds = time.monotonic() - begun
        if task.pictured:
            shown = hand.opened or page
            shown.wait_for_timeout(600)  # what moves has come to rest
            shown.screenshot(path=IMAGES / f"{task.id}.jpg", type="jpeg", quality=QUALITY)
        yield Done(task, hand.clicks, hand.keys, seconds, said)


def _opened(browser: Browser, app: App, task: Task) -> Page:
    """The first page, as a browser shows it that was here before, or never."""
    context = browser.new_context(viewport=SIZE, color_scheme="light", locale="en", accept_downloads=True)
    app.sign_in(context, first=task.first_visit)
    page: Page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(app.url)
    page.wait_for_selector("#standing-verdict", state="attached")
    return page


HEAD = """# A walk through dsgui

`make walkthrough` (`scripts/walkthrough.py`) performs these twelve tasks the way a new user would, in a real browser,
and writes this page. Measured on {where}.

- **Clicks**: every mouse click. **Keys**: every key press; a paste counts as one.
- **Seconds**: from the first action until the result is on screen, including whatever dsgui, DeepSpeed and the training
  need. Time to read, think and type is not included.

| | Task | Clicks | Keys | Seconds | Result |
|---|---|--:|--:|--:|---|
"""
FOUND = """
## What earlier walks found

"""


def document(done: list[Done], where: str) -> str:
    """The page, in Markdown."""
    rows = [f"| {number} | {_row(one)} |\n" for number, one in enumerate(done, 1)]
    sums = [sum(getattr(one, name) for one in done) for name in ("clicks", "keys", "seconds")]
    total = f"| | **Total** | {sums[0]} | {sums[1]} | {sums[2]:.1f} | |\n"
    found = [f"- Task {number}: {one.task.found}\n" for number, one in enumerate(done, 1) if one.task.found]
    parts = [_part(number, one.task) for number, one in enumerate(done, 1)]
    return HEAD.format(where=where) + "".join(rows) + total + FOUND + "".join(found) + "".join(parts)


def _part(number: int, task: Task) -> str:
    picture = f"\n![{task.title}](images/walkthrough/{task.id}.jpg)\n" if task.pictured else ""
    return f"\n## {number}. {task.title}\n\n{task.steps}\n{picture}"


def _row(one: Done) -> str:
    counted = (str(one.clicks), str(one.keys), f"{one.seconds:.1f}")
    return " | ".join((one.task.title, *counted, _cell(one.said)))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main() -> None:
    """Walks, and writes."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    where = f"{platform.system()} with Python {platform.python_version()}, {os.cpu_count()} cores and no GPU"
    with tempfile.TemporaryDirectory() as folder:
        scripts = Path(folder) / "scripts"
        runs = Path(folder) / "runs"
        scripts.mkdir()
        runs.mkdir()
        (scripts / "train.py").write_text(FAILS, "utf-8")
        with running_app(runs) as app, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            done = []
            for one in walk(browser, app, scripts):
                print(f"{one.task.title}: {one.clicks} clicks, {one.keys} keys, {one.seconds:.1f} s", flush=True)
                done.append(one)
            browser.close()
    busy = os.getloadavg()[2] / (os.cpu_count() or 1)
    if busy > BUSY:
        where += f", beside other programs (load average {busy:.0f} per core), so the seconds are longer than usual"
    DOCUMENT.write_text(document(done, where), "utf-8")


if __name__ == "__main__":
    main()
