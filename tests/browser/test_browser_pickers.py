"""Presets and devices are chosen from grouped lists that a few letters search, by mouse, keyboard and on a phone."""

import math
import re

import pytest
from playwright.sync_api import expect

from tests.support.browser import choose, json_text
from tests.support.chromium.axe import violations

pytestmark = pytest.mark.browser


def test_presets_and_devices_are_found_in_their_groups(page):
    box = page.locator("#preset input")
    box.click()
    groups = page.locator("#preset").get_by_role("group")
    expect(groups).to_have_count(4)
    expect(page.get_by_role("group", name="ZeRO ladder, native").get_by_role("option")).to_have_count(8)
    assert violations(page) == []
    box.fill("卸载 lora")
    option = page.get_by_role("option")
    expect(option).to_have_text("Bloomz-7B LoRA: ZeRO-2, optimizer offload")
    box.fill("nothing like this")
    expect(page.locator("#preset [role=status]")).to_have_text("Nothing matches “nothing like this”")
    box.press("Escape")
    expect(option).to_have_count(0)
    expect(box).to_have_value("T5-small / T5-large: ZeRO-2, optimizer offload")
    box.press("ArrowDown")
    box.type("native 3")
    for key in ("ArrowDown", "ArrowUp", "ArrowUp", "ArrowDown", "Enter"):
        box.press(key)
    expect(page.locator("#standing .ds-standing-name")).to_contain_text("every number written out")
    page.wait_for_function("localStorage.getItem('dsgui.config').includes('\"stage\": 3')")
    assert '"auto"' not in json_text(page)
    choose(page, "#device", "H100 80 GB")
    expect(page.locator("#findings .ds-subject")).to_contain_text("H100")

    page.set_viewport_size({"width": 390, "height": 780})
    page.click("#context-fold")
    page.click("#device input")
    popup = page.locator("#device .ds-picker-popup").bounding_box()
    assert popup["x"] >= 0
    assert popup["x"] + popup["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.fill("#device input", "4090")
    page.get_by_role("option", name="RTX 4090 24 GB").click()
    expect(page.locator("#device input")).to_have_value("RTX 4090 24 GB")
    page.reload()
    expect(page.locator("#device input")).to_have_value("RTX 4090 24 GB")


LISTS = ("#integration", "#version", "#download-form", "#memory-attention")
ON_LAUNCH = ("#reader", "#started-by", "#when-busy")
AT_TOP = """(selector) => {
  const label = document.querySelector(selector);
  label.style.pointerEvents = "auto";
  scrollBy(0, label.getBoundingClientRect().top - 20);
  const { left, top, height } = label.getBoundingClientRect();
  return Boolean(document.elementFromPoint(left + 4, top + height / 2).closest("#workspace-bar"));
}"""


def test_every_list_is_the_same_control_and_the_bar_lies_over_the_page(page):
    page.get_by_text("More: checkpointing, LoRA").click()
    for at in LISTS:
        expect(page.locator(f"{at} .ds-picker [role=combobox]")).to_be_visible()
    assert page.locator("[aria-haspopup=listbox]").count() == 0, "a list of Gradio's own"
    framework = page.locator("#integration input")
    framework.focus()
    expect(framework).to_have_attribute("aria-expanded", "false")
    framework.press("ArrowDown")
    popup = page.locator("#integration .ds-picker-popup")
    assert popup.bounding_box()["width"] == math.ceil(framework.bounding_box()["width"])  # in whole pixels
    framework.press("Tab")
    expect(popup).to_be_hidden()

    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_label("My own script").check()
    page.get_by_text("More: launcher, queue").click()
    for at in ON_LAUNCH:
        expect(page.locator(f"{at} .ds-picker [role=combobox]")).to_be_visible()
    expect(page.locator("#reader input")).to_have_value("Detect from script")
    expect(page.locator("#arguments")).to_contain_text("stands for its path")
    page.locator("#reader input").click()
    assert page.locator("#reader [role=option]").count() > 2
    page.get_by_role("tab", name="1 · Configure").click()

    browse = page.locator("#memory-model .ds-browse-open")
    browse.focus()
    assert browse.evaluate("(one) => getComputedStyle(one.closest('.block')).overflow") == "visible", "its ring is cut"
    page.set_viewport_size({"width": 390, "height": 780})
    page.click("#context-fold")
    expect(page.locator("#workspace-bar")).to_be_visible()
    for label in ("#memory-model [data-testid=block-info]", "#memory-length [data-testid=block-info]", "#device label"):
        assert page.evaluate(AT_TOP, label), f"{label} shines through the bar"
    page.locator("#version input").scroll_into_view_if_needed()
    page.evaluate("scrollBy(0, document.querySelector('#version input').getBoundingClientRect().top - 130)")
    page.locator("#version input").click()
    assert page.locator("#version .ds-picker-popup").evaluate(
        "(one) => { const { left, top } = one.getBoundingClientRect();"
        " return one.contains(document.elementFromPoint(left + 20, top + 20)); }"
    )


def test_beside_the_tutorials_no_choice_of_the_context_is_cut(page):
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_role("button", name="Learn", exact=True).click()
    expect(page.locator(".ds-learn")).to_be_visible()
    expect(page.locator("#version input")).to_have_value(re.compile(r"\(installed\)$"))
    for name in ("integration", "device", "version"):
        chosen = page.locator(f"#{name} input")
        assert chosen.evaluate("(one) => one.scrollWidth - one.clientWidth") <= 0, name
