"""Presets and devices are chosen from grouped lists that a few letters search, by mouse, keyboard and on a phone."""

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
