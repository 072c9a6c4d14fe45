"""The pages in Chinese: by the browser's wish, by the switch, and in what events answer."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.browser import replace_text
from tests.support.pages import BEEN_HERE, app, browser

__all__ = ["app", "browser"]
pytestmark = pytest.mark.browser
HAN = re.compile(r"[\u3400-\u9fff]")
FIELD = '[data-pointer="/train_batch_size"]'
BROKEN_ZERO = '{"zero_optimization": {"stage": 4}}'


@pytest.fixture
def chinese(browser, app):
    """A page of a browser that prefers Chinese."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="zh-CN")
    context.add_init_script(BEEN_HERE)
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(app.entrance)
    page.wait_for_selector(FIELD, state="attached")
    yield page
    context.close()
    assert errors == []


def tab(page, name):
    return page.get_by_role("tab", name=name)


def test_the_page_speaks_what_the_browser_prefers_and_what_is_chosen(chinese):
    page = chinese
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    expect(tab(page, "配置")).to_be_visible()
    expect(page.locator("#config-form").get_by_label("全局批大小").locator("visible=true").first).to_be_visible()
    expect(page.locator("#findings .ds-verdict")).to_contain_text("检查通过")  # of the first preset
    replace_text(page, BROKEN_ZERO)
    found = page.locator('#findings li[data-rule="DS001"]')
    expect(found).to_contain_text(HAN)  # an event that goes past the queue
    expect(page.locator("#findings .ds-verdict")).to_contain_text("拒绝")
    page.locator('[data-speak="en"]').click()
    expect(tab(page, "1 · Configure")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(found).to_contain_text("Error")  # the text was kept, the finding is told anew
    expect(page.locator("#findings")).not_to_contain_text(HAN)
    page.locator('[data-speak="zh-CN"]').click()
    expect(tab(page, "配置")).to_be_visible()
    expect(found).to_contain_text(HAN)


def shown(page):
    return set(page.locator("#config-form [data-open]:visible").evaluate_all("all => all.map(one => one.dataset.open)"))


def searched(page, word):
    page.locator("#config-form input[type=search]").fill(word)
    expect(page.locator("#config-form [data-open='/train_batch_size']")).to_be_hidden()
    return shown(page)


def test_the_search_finds_in_both_languages(chinese):
    page = chinese
    english = searched(page, "memory")
    assert english
    assert english <= searched(page, "显存")
    page.locator('[data-speak="en"]').click()
    expect(tab(page, "1 · Configure")).to_be_visible()
    page.wait_for_selector(FIELD, state="attached")
    assert english <= searched(page, "显存")


def test_an_event_of_the_queue_answers_in_the_language(chinese):
    page = chinese
    page.locator("#open-path input, #open-path textarea").first.fill("/nowhere/ds_config.json")
    page.locator("#open-file").click()
    expect(page.locator("#open-problem")).to_contain_text(HAN)


def test_a_press_of_the_switch_before_its_module_is_there_counts(page, app):
    held = []
    page.route("**/site/language.js*", lambda route: route.continue_() if held else held.append(route))
    page.goto(app.url)
    page.locator('[data-speak="zh-CN"]').click()
    while not held:
        page.wait_for_timeout(50)
    held[0].continue_()
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
