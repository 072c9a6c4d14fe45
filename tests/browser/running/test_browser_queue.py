"""Two runs and one place to train, in a real browser: waiting for the other's end, with a secret."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_browser import processes_of, start_script
from tests.support.browser import stop_run

pytestmark = pytest.mark.browser
LONG = 120_000  # ms
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("on", flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def app(app_at_once):
    return app_at_once


def choose(page, selector, option):
    page.click(f"{selector} input")
    page.get_by_role("listbox").get_by_role("option", name=option, exact=True).click()


def state(page):
    return page.locator(".ds-run-head .ds-state")


# Cheaper: tests/runs/test_queue.py::test_a_waiting_run_says…; tests/runs/test_runs.py::test_secrets_reach…; the kill,
# test_browser_runs.py; that the chosen way to wait is asked for, tests/ui/launch/test_launch_page.py.
@pytest.mark.complete
def test_a_second_run_waits_until_the_first_is_killed(page, tmp_path):
    start_script(page, tmp_path / "first.py", STUBBORN)
    expect(page.locator(".ds-log")).to_contain_text("on", timeout=LONG)
    first = page.url.split("run=")[1]

    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_text("More: launcher, queue").click()
    choose(page, "#when-busy", "wait in the queue")
    page.locator("#environment textarea").fill("HF_TOKEN=hf_not_to_be_seen\nNOTE=seen")
    expect(page.locator("#command")).to_contain_text("NOTE=seen")
    start_script(page, tmp_path / "second.py", "import os; print(len(os.environ['HF_TOKEN']), 'characters')")
    expect(state(page)).to_have_text("queued", timeout=LONG)
    expect(page.locator(".ds-reason")).to_contain_text(f"({first}) comes first")
    expect(page.locator(".ds-command").first).to_contain_text('HF_TOKEN="$HF_TOKEN"')
    expect(page.locator(".ds-facts")).not_to_contain_text("–")  # a figure comes with its value
    expect(page.locator(".ds-slow")).to_be_hidden()
    assert "hf_not_to_be_seen" not in page.locator(".ds-run").inner_text()

    page.click(f'[data-run="{first}"]')
    stop_run(page)
    page.click("#kill-run")
    expect(state(page)).to_have_text("stopped", timeout=LONG)
    assert processes_of(first) == []

    page.locator(".ds-run-row", has_text="second").click()
    expect(state(page)).to_have_text("succeeded", timeout=LONG)
    expect(page.locator(".ds-log")).to_contain_text("17 characters")
