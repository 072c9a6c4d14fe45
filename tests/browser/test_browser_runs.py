"""What one does with runs, in a real browser: read why it failed, open the repaired clone, search, delete."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser.test_browser import start_script
from tests.runs.test_archive import BATCH
from tests.support.browser import json_text

pytestmark = pytest.mark.browser

TAKES_ANYTHING = "import sys\nprint('<b>step</b>', sys.argv[1:])\n"


def state(page):
    return page.locator(".ds-run-head .ds-state")


def test_a_failing_script_shows_its_diagnosis_and_the_button_opens_the_repaired_clone(page, tmp_path):
    from textwrap import dedent

    start_script(page, tmp_path / "broken.py", dedent(BATCH))
    expect(state(page)).to_have_text("failed", timeout=120_000)
    diagnosis = page.locator(".ds-diagnosis")
    expect(diagnosis.locator("h3")).to_have_text("The three batch sizes don't fit together")
    expect(diagnosis).to_contain_text("train_batch_size 8 is not micro batch 3 × accumulation steps 1 × 2 ranks")
    expect(diagnosis.locator(".ds-traceback")).to_contain_text("in check")
    runs = page.locator(".ds-run-row").count()
    page.click("#open-repaired")
    expect(page.get_by_role("tab", name="1 · Configure")).to_have_attribute("aria-selected", "true")
    expect(page.locator('[data-pointer="/train_batch_size"]')).to_have_value("6")
    assert json.loads(json_text(page))["train_batch_size"] == 6
    expect(page.get_by_text("train_batch_size set to 6").first).to_be_visible()
    page.get_by_role("tab", name="2 · Launch").click()
    expect(page.locator("#launch-message")).to_contain_text("not started")
    expect(page.locator("#command")).to_contain_text("broken.py")
    page.get_by_role("tab", name="3 · Runs").click()
    assert page.locator(".ds-run-row").count() == runs


def test_the_same_again_from_another_tab_then_search_and_delete(page, app, tmp_path):
    start_script(page, tmp_path / "fine.py", TAKES_ANYTHING)
    expect(state(page)).to_have_text("succeeded", timeout=120_000)
    expect(page.locator(".ds-diagnosis")).to_be_hidden()
    url = page.url
    run_id = url.split("run=")[1]
    page.goto(app.url)
    page.goto(url)
    page.click("#clone-run")
    page.get_by_role("tab", name="2 · Launch").click()
    expect(page.locator("#script textarea, #script input").first).to_have_value(str(tmp_path / "fine.py"))
    expect(page.locator("#command")).to_contain_text("fine.py")
    page.get_by_role("tab", name="3 · Runs").click()
    page.fill("#search-runs", "no such run")
    expect(page.locator(".ds-run-row:visible")).to_have_count(0)
    page.fill("#search-runs", "fine SUCCEEDED")
    expect(page.locator(f'[data-run="{run_id}"]')).to_be_visible()
    page.click("#delete-run")
    expect(page.locator(".ds-question")).to_contain_text(run_id)
    expect(page.locator(".ds-question")).to_contain_text("output.log")
    page.click("#confirm-delete")
    expect(page.locator(f'[data-run="{run_id}"]')).to_have_count(0, timeout=30_000)
    assert f"run={run_id}" not in page.url
