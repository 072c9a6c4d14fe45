"""Two runs and one place to train, in a real browser: waiting, stopping with a countdown, killing, secrets."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_browser import processes_of, start_script

PLACES = (("x", "width"), ("y", "height"))

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


def overlap(one, other):
    return all(one[at] < other[at] + other[size] and other[at] < one[at] + one[size] for at, size in PLACES)


# Cheaper: tests/runs/test_queue.py.
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
    assert "hf_not_to_be_seen" not in page.locator(".ds-run").inner_text()

    page.click(f'[data-run="{first}"]')
    stop = page.locator("#stop-run")
    place = stop.bounding_box()
    stop.click()
    expect(page.locator(".ds-stake")).to_contain_text("No step is done yet")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(state(page)).to_have_text("running")
    stop.click()
    answer = page.locator("#confirm-stop")
    answered = answer.bounding_box()
    answer.dblclick()  # kills nothing
    expect(stop).to_have_text("Stopping…", timeout=LONG)
    expect(stop).to_be_disabled()
    expect(page.locator(".ds-reason")).to_have_text(re.compile(r"any left after \d+ s will be killed"))
    kill = page.locator("#kill-run")
    for clicked in (place, answered):
        assert not overlap(kill.bounding_box(), clicked)
    kill.click()
    expect(state(page)).to_have_text("stopped", timeout=LONG)
    expect(page.locator(".ds-reason")).to_contain_text("no processes are left")
    assert processes_of(first) == []

    page.locator(".ds-run-row", has_text="second").click()
    expect(state(page)).to_have_text("succeeded", timeout=LONG)
    expect(page.locator(".ds-log")).to_contain_text("17 characters")
