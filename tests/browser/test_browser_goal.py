"""The start from a goal in a real browser: a first visit, configs that fit, one of them in the workspace."""

import pytest
from playwright.sync_api import expect

from tests.support.browser import editor

pytestmark = pytest.mark.browser


def test_from_a_goal_to_a_config_that_fits(first_page, app):
    page = first_page
    panel = page.locator(".ds-goal-panel")
    expect(panel).to_be_visible()
    page.click("#goal-find")
    expect(panel.get_by_role("alert")).to_have_text("Enter a model or a size, such as 7B.")
    page.fill("#goal-model", "7B")
    page.fill("#goal-length", "2048")
    page.select_option("#goal-device", "a100-80")
    page.fill("#goal-gpus", "8")
    page.click("#goal-find")
    cards = page.locator(".ds-goal-card")
    expect(cards).to_have_count(3)
    second = cards.nth(1)
    expect(second).to_have_attribute("data-fit", "fits")
    needed = second.locator('[data-device="gpu"] .ds-mem-need').inner_text().split(" / ")[0]
    second.get_by_role("button").click()
    expect(panel).to_be_hidden()
    expect(editor(page)).to_contain_text("zero_optimization")
    expect(page.locator("#gpus input")).to_have_value("8")
    expect(page.locator("#memory-model input, #memory-model textarea")).to_have_value("7B")
    # The workspace says of it what the card said.
    expect(page.locator(".ds-mem-chip")).to_have_text("fits")
    expect(page.locator('#memory-panel [data-device="gpu"] .ds-mem-need')).to_contain_text(needed)
    page.get_by_role("tab", name="Launch").click()
    expect(page.locator("#arguments input, #arguments textarea")).to_have_value(
        "--per_device_train_batch_size 1 --bf16"
    )
    # The next visit opens the work of this one.
    page.goto(app.url)
    page.wait_for_selector("#goal-open")
    expect(panel).to_be_hidden()
    expect(page.locator("#gpus input")).to_have_value("8")
    page.click("#goal-open")
    expect(panel).to_be_visible()
    expect(page.locator("#goal-title")).to_be_focused()


def test_a_goal_can_be_skipped_and_what_is_wrong_is_said(first_page):
    page = first_page
    page.fill("#goal-model", "no/such-model")
    page.click("#goal-find")
    expect(page.locator(".ds-goal-results")).to_contain_text("no/such-model")
    page.get_by_text("I have a ds_config.json").click()
    expect(page.locator("#goal-find")).to_be_hidden()
    page.click("#goal-skip")
    expect(page.locator(".ds-goal-panel")).to_be_hidden()
    expect(page.locator("#goal-open")).to_be_focused()
