"""What one does with runs, in a real browser: find one again, read its output and why it failed, open the repaired
clone, search, delete."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.answers.remembered import BROWSER
from tests.browser.test_browser import processes_of, start_script
from tests.runs.test_archive import BATCH
from tests.support.browser import json_text

pytestmark = [pytest.mark.browser, pytest.mark.remembered(*BROWSER)]

TAKES_ANYTHING = "import sys\nprint('<b>step</b>', sys.argv[1:])\n"
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for n in range(600):
    print(f"step={n} loss={1/(n+1)}")
    time.sleep(0.2)
"""
PLACES = (("x", "width"), ("y", "height"))
SCROLLED_AT_LAUNCH = """(button) => button.addEventListener("click", () => {
  window.scrollTo(0, 100);
  window.scrolled = window.scrollY;
})"""
# What is shown right after the click, before any server could have told.
LISTEN = """() => document.querySelector("#confirm-stop").addEventListener("click", () => {
  const told = (selector) => document.querySelector(selector).textContent;
  window.atOnce = [told("#stop-run"), told(".ds-run-head .ds-state")];
})"""
HOSTILE = r"""
import os, sys
os.write(1, b"\x1b[31mred\x1b[0m \x00nul \xff\xfe not text\n")
os.write(1, b"<script>window.taken = 1</script><img src=x onerror='window.taken = 2'>\n")
os.write(1, b"\x1b]0;title\x07\x1b[2J &lt;b&gt; step=1 loss=2\n")
sys.exit("<script>window.taken = 3</script> ended it")
"""


@pytest.fixture(scope="module")
def app(app_at_once):
    return app_at_once


def state(page):
    return page.locator(".ds-run-head .ds-state")


def test_a_run_outlives_its_tab_is_found_by_its_url_and_killed_where_it_does_not_stop(page, app, browser, tmp_path):
    start_script(page, tmp_path / "slow.py", STUBBORN)
    expect(page.locator(".ds-run-head .ds-state")).to_have_text("running", timeout=60_000)
    url = page.url
    page.close()
    context = app.sign_in(browser.new_context())
    other = context.new_page()
    other.goto(url)
    expect(other.locator(".ds-run-head .ds-state")).to_have_text("running", timeout=60_000)
    expect(other.locator('[data-chart="Loss"] .js-plotly-plot')).to_be_visible(timeout=60_000)
    kill(other)
    expect(other.locator(".ds-run-head .ds-state")).to_have_text("stopped", timeout=30_000)
    expect(other.locator(".ds-reason")).to_contain_text("no processes are left")
    assert processes_of(url.split("run=")[1]) == []
    context.close()


def kill(page):
    """A run that ignores SIGTERM; on the way no click does what it was not meant to do."""
    stop = page.locator("#stop-run")
    place = stop.bounding_box()
    stop.click()
    expect(page.locator(".ds-stake")).to_contain_text("No checkpoint of this run was found: all")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(state(page)).to_have_text("running")
    stop.click()
    answer = page.locator("#confirm-stop")
    answered = answer.bounding_box()
    page.evaluate(LISTEN)
    answer.dblclick()  # kills nothing
    assert page.evaluate("window.atOnce") == ["Stopping…", "stopping"]
    expect(stop).to_have_text("Stopping…", timeout=30_000)
    expect(stop).to_be_disabled()
    expect(page.locator(".ds-reason")).to_have_text(re.compile(r"any left after \d+ s will be killed"))
    button = page.locator("#kill-run")
    for clicked in (place, answered):
        assert not overlap(button.bounding_box(), clicked)
    button.click()


def overlap(one, other):
    return all(one[at] < other[at] + other[size] and other[at] < one[at] + one[size] for at, size in PLACES)


def test_output_that_would_be_a_program_is_shown_as_text(page, tmp_path):
    start_script(page, tmp_path / "<img src=x onerror=window.taken=4>.py", HOSTILE)
    expect(state(page)).to_have_text("failed", timeout=120_000)
    log = page.locator(".ds-log").last
    expect(log).to_contain_text("<script>window.taken = 1</script><img src=x onerror='window.taken = 2'>")
    expect(log).to_contain_text("red")
    expect(log).to_contain_text("&lt;b&gt; step=1")
    expect(log).to_contain_text("<script>window.taken = 3</script> ended it")
    expect(page.locator(".ds-run-title")).to_contain_text("<img src=x")
    expect(page.locator(".ds-reason")).to_contain_text("exit code 1")
    expect(page.locator(".ds-reason")).to_be_hidden()  # the card says it
    card = page.locator(".ds-diagnosis")
    expect(card.locator("h3")).to_contain_text("exit code 1")
    expect(card.locator("pre")).to_have_text("<script>window.taken = 3</script> ended it")
    expect(card.get_by_role("button")).to_have_text(["See the output"])
    expect(page.locator(".ds-facts dt")).to_have_text(["Step", "Duration", "Last loss", "Best loss"])
    assert "\x1b[" not in log.text_content()
    assert page.evaluate("window.taken") is None
    assert page.locator(".ds-run script, .ds-run img").count() == 0
    page.get_by_label("More actions: Host memory").scroll_into_view_if_needed()
    page.click("#see-output")
    expect(page.locator(".ds-output > summary")).to_be_in_viewport()
    expect(log.locator("mark")).to_have_text("<script>window.taken = 3</script> ended it")  # as quoted
    # It has ended: nothing more comes, and no line of it tells of an error.
    expect(page.get_by_role("button", name="First error")).to_be_hidden()
    page.get_by_role("button", name="Jump to end").click()
    expect(page.get_by_role("button", name=re.compile("Follow|Jump to end"))).to_have_count(0)
    expect(page.locator(".ds-run").get_by_role("button", name="Clone and edit")).to_have_count(1)
    expect(page.get_by_label("Smoothing")).to_be_visible()
    page.click("#clone-run")
    expect(page.get_by_role("tab", name="2 · Launch")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#loaded-run")).to_contain_text("Cloned from")
    # Its page begins at its top, however far down Launch and the page before were.
    page.set_viewport_size({"width": 1280, "height": 500})
    page.locator("#launch").evaluate(SCROLLED_AT_LAUNCH)
    address = page.url
    page.click("#launch")
    page.wait_for_url(lambda url: "run=" in url and url != address)
    expect(state(page)).to_have_text("failed", timeout=120_000)
    assert page.evaluate("[window.scrolled, window.scrollY]") == [100, 0]


def test_of_a_run_that_is_not_there_only_that_is_said(app, browser):
    context = app.sign_in(browser.new_context())
    page = context.new_page()  # its console tells of the 404
    page.goto(f"{app.url}?run=20990101-000000-dead")
    run = page.locator(".ds-run")
    expect(run.get_by_role("heading")).to_have_text("Run not found")
    expect(run).to_contain_text("No run 20990101-000000-dead. It may have been deleted")
    back = run.get_by_role("button", name="← All runs")
    expect(back).to_be_visible()
    expect(run.locator("progress, details, .ds-board")).to_have_count(0)
    page.set_viewport_size({"width": 390, "height": 800})
    expect(back).to_be_hidden()  # the one above the run is as near
    expect(page.locator("#all-runs")).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 800})
    back.click()
    expect(run).to_have_count(0)
    expect(page).not_to_have_url(re.compile("run="))
    context.close()


# px of a long line that are not seen.
CUT_OFF = "(node) => { node.append('ValueError: ' + 'long '.repeat(100)); return node.scrollWidth - node.clientWidth; }"


def test_a_failing_script_shows_its_diagnosis_and_the_button_opens_the_repaired_clone(page, tmp_path):
    from textwrap import dedent

    start_script(page, tmp_path / "broken.py", dedent(BATCH))
    expect(state(page)).to_have_text("failed", timeout=120_000)
    diagnosis = page.locator(".ds-diagnosis")
    expect(diagnosis.locator("h3")).to_have_text("The three batch sizes don't fit together")
    expect(page.locator("#report-run")).to_be_visible()
    expect(diagnosis).to_contain_text("train_batch_size 8 is not micro batch 3 × accumulation steps 1 × 2 ranks")
    expect(diagnosis.locator(".ds-traceback")).to_be_hidden()
    expect(diagnosis.locator(".ds-raised")).to_contain_text("AssertionError: Check batch related parameters")
    diagnosis.locator("summary").filter(has_text="traceback").click()
    expect(diagnosis.locator(".ds-traceback")).to_contain_text("in check")
    assert diagnosis.locator(".ds-traceback").evaluate(CUT_OFF) == 0
    runs = page.locator(".ds-run-row").count()
    expect(page.locator("#open-repaired")).to_have_text("Clone with train_batch_size 6")
    page.click("#open-repaired")
    expect(page.get_by_role("tab", name="2 · Launch")).to_have_attribute("aria-selected", "true")
    expect(page.locator('input[data-pointer="/train_batch_size"]')).to_have_value("6")
    assert json.loads(json_text(page))["train_batch_size"] == 6
    expect(page.locator("#loaded-run summary")).to_contain_text('1 change: train_batch_size: "auto" → 6')
    expect(page.locator("#loaded-run")).to_contain_text("Cloned from")
    expect(page.locator("#command")).to_contain_text("broken.py")
    page.get_by_role("tab", name="3 · Runs").click()
    assert page.locator(".ds-run-row").count() == runs


TOPS = """() => [...document.querySelectorAll('.ds-diagnosis > *, .ds-run .ds-facts, .ds-run .ds-board')]
  .map((node) => Math.round(node.getBoundingClientRect().top))"""


@pytest.mark.parametrize("width", [1280, 390])
def test_a_diagnosis_does_not_wait_for_the_checks_of_its_change_and_nothing_moves_when_they_come(page, tmp_path, width):
    from textwrap import dedent

    asked: list = []
    page.route(re.compile(r"/judged$"), lambda route: asked.append(route))
    start_script(page, tmp_path / "broken.py", dedent(BATCH))
    expect(state(page)).to_have_text("failed", timeout=120_000)
    page.set_viewport_size({"width": width, "height": 800})
    diagnosis = page.locator(".ds-diagnosis")
    expect(diagnosis.locator("h3")).to_have_text("The three batch sizes don't fit together")
    expect(diagnosis.locator(".ds-raised")).to_be_visible()
    expect(diagnosis.locator(".ds-fix")).to_be_disabled()
    expect(diagnosis).to_contain_text("Checking this change…")
    expect(page.locator(".ds-board")).to_be_visible()
    page.wait_for_timeout(300)
    before = page.evaluate(TOPS)
    for route in asked:
        route.continue_()
    expect(page.locator("#open-repaired")).to_be_enabled(timeout=60_000)
    expect(diagnosis).not_to_contain_text("Checking")
    assert page.evaluate(TOPS) == before
    place = diagnosis.locator(".ds-remedies")
    assert place.evaluate("(node) => node.scrollHeight - node.clientHeight") <= 0


def test_a_file_that_was_not_found_leads_to_the_working_directory_of_a_clone(page, tmp_path):
    start_script(page, tmp_path / "reads.py", "open('data/train.jsonl')\n")
    expect(state(page)).to_have_text("failed", timeout=120_000)
    expect(page.locator(".ds-diagnosis h3")).to_contain_text("data/train.jsonl")
    # What has no curve takes a line, not a card as high as its neighbours.
    loss = page.locator('[data-chart-id="loss"]')
    expect(loss).to_contain_text("No loss was printed")
    assert loss.bounding_box()["height"] < 120
    expect(page.get_by_role("button", name="First error")).to_be_visible()
    expect(page.get_by_role("group", name="Horizontal axis")).to_be_hidden()  # nothing is drawn by it
    expect(page.get_by_label("Smoothing")).to_be_hidden()
    memory = page.locator('[data-chart-id="host_memory"]')
    expect(memory).to_be_visible()
    assert memory.bounding_box()["width"] == loss.bounding_box()["width"]  # the only one that is drawn
    page.locator(".ds-diagnosis li", has_text="working directory").get_by_role("button").click()
    expect(page.get_by_role("tab", name="2 · Launch")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#working-dir :is(textarea, input)").first).to_be_focused()
    expect(page.locator("#script textarea, #script input").first).to_have_value(str(tmp_path / "reads.py"))


def test_the_same_again_from_another_tab_then_search_and_delete(page, app, tmp_path):
    start_script(page, tmp_path / "fine.py", TAKES_ANYTHING)
    expect(state(page)).to_have_text("succeeded", timeout=120_000)
    expect(page.locator(".ds-diagnosis")).to_be_hidden()
    url = page.url
    run_id = url.split("run=")[1]
    page.goto(app.url)
    page.goto(url)
    page.click("#clone-run")
    expect(page.get_by_role("tab", name="2 · Launch")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#script textarea, #script input").first).to_have_value(str(tmp_path / "fine.py"))
    expect(page.locator("#command")).to_contain_text("fine.py")
    page.get_by_role("tab", name="3 · Runs").click()
    page.fill("#search-runs", "no such run")
    expect(page.locator(".ds-run-count")).to_have_text("No run matches “no such run”")
    expect(page.locator(".ds-run-row:visible")).to_have_count(1)  # the one that is open
    expect(page.locator('.ds-run-row[aria-current="true"]')).to_be_visible()
    page.fill("#search-runs", "fine SUCCEEDED")
    expect(page.locator(f'[data-run="{run_id}"]')).to_be_visible()
    page.click("#delete-run")
    expect(page.locator(".ds-question")).to_contain_text(run_id)
    expect(page.locator(".ds-question")).to_contain_text("output.log")
    expect(page.locator(".ds-question li").first).to_be_hidden()  # in a fold
    expect(page.locator("#keep-run")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".ds-question")).to_be_hidden()
    expect(page.locator("#delete-run")).to_be_focused()
    page.click("#delete-run")
    page.click("#confirm-delete")
    expect(page.locator(f'[data-run="{run_id}"]')).to_have_count(0, timeout=30_000)
    expect(page).not_to_have_url(re.compile(run_id))
