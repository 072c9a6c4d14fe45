"""The start from a goal in a real browser: a first visit, configs that fit, one of them in the workspace; and the
ladder of other configs for it."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.support.browser import choose, editor, replace_text

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
    # The first asks for no host that few have; the next one says that it does, as the workspace would.
    first = cards.first
    expect(first.locator(".ds-goal-role")).to_have_text("Fastest · 1×")
    expect(cards.nth(1).locator(".ds-goal-role")).to_contain_text(
        re.compile(r"· ≈ \d+\.\d× slower · needs a host with")
    )
    expect(page.locator(".ds-goal-cards")).not_to_contain_text("HF Trainer")  # it was chosen above
    expect(first).to_have_attribute("data-fit", "fits")
    needed = first.locator('[data-device="gpu"] .ds-mem-need').inner_text()
    assert re.fullmatch(r"≈ \d+ GiB / 78\.8 GiB", needed)
    expect(page.locator(".ds-goal-results .ds-zs-legend")).to_contain_text("limit")
    expect(first.locator(".ds-mem-line").first).to_have_attribute(
        "title", re.compile(r"^limit, \d+\.\d\d GiB: as the driver reports it")
    )
    # Each part that a bar shows is named, as it is drawn; that it can't run here is said before it is chosen.
    page.locator(".ds-goal-results .ds-zs-legend").get_by_role("button", name=re.compile("smaller parts$")).click()
    codes = "(all) => all.filter((one) => one.offsetWidth > 1).map((one) => one.dataset.code)"
    named = page.eval_on_selector_all(".ds-goal-results .ds-zs-legend [data-code]", codes)
    assert set(page.eval_on_selector_all(".ds-goal-card .ds-mem-part", codes)) == set(named)
    assert {"cuda_context", "nccl", "fragmentation"} <= set(named)
    looks = """(all) => all.map((one) => { const { backgroundColor, backgroundImage } = getComputedStyle(one);
      return backgroundColor + backgroundImage; })"""
    swatches = page.eval_on_selector_all(".ds-goal-results .ds-zs-legend .ds-mem-swatch", looks)
    assert len(set(swatches)) == len(swatches)
    expect(page.locator(".ds-goal-elsewhere")).to_contain_text("This machine has no GPU")
    # Scrolled so that the button which takes the focus is in view all the same.
    page.set_viewport_size({"width": 1280, "height": 900})
    page.evaluate("scrollTo(0, 80)")
    assert page.evaluate("scrollY") == 80
    first.get_by_role("button").evaluate("(one) => one.click()")
    expect(panel).to_be_hidden()
    assert page.evaluate("scrollY") == 0  # the header is in view
    expect(page.locator("#goal-open")).to_be_focused()
    expect(editor(page)).to_contain_text("zero_optimization")
    expect(page.locator("#gpus input")).to_have_value("8")
    expect(page.locator("#memory-model input, #memory-model textarea")).to_have_value("7B")
    # The workspace says of it what the card said.
    expect(page.locator(".ds-mem-chip")).to_have_text("fits")
    told = page.locator('#memory-panel [data-device="gpu"] .ds-mem-need')
    assert told.inner_text().split(", ")[0] == needed.replace(" / ", " of ")
    limit = page.locator("#memory-panel .ds-mem-limit").first
    total = page.locator('#memory-panel [data-device="gpu"] .ds-mem-need').inner_text().split(" of ")[1].split(",")[0]
    expect(limit).to_have_text(f"limit{total}")
    page.get_by_role("tab", name="Launch").click()
    expect(page.locator("#arguments input, #arguments textarea")).to_have_value(
        "--per_device_train_batch_size 1 --bf16"
    )
    # No recipe trains that model, and this machine is not the one that is planned for.
    expect(page.get_by_label("My own script")).to_be_checked()
    differs = page.locator("#plan-differs")
    expect(differs).to_contain_text("Planned for 8 × A100 80 GB; this machine has no GPU: launch over ssh")
    differs.get_by_role("link", name="submit with Slurm").click()
    expect(page.get_by_label("Slurm", exact=True)).to_be_checked()
    expect(differs).to_be_hidden()
    page.get_by_label("This machine", exact=True).check()
    script = page.locator("#script textarea, #script input")
    # It is asked for; nothing is wrong before something is typed.
    expect(script).not_to_have_attribute("aria-invalid", "true")
    script.fill("/no/such/train.py")
    expect(page.locator("#script .ds-refused")).to_have_text("No file at /no/such/train.py")
    # Whoever chooses a recipe has it, and hears nothing of a model that it doesn't train.
    page.get_by_role("button", name="Change", exact=True).click()
    page.get_by_label("T5 translates number words").check()
    expect(page.locator("#command")).to_contain_text("translation.py")
    expect(page.locator("#preflight")).not_to_contain_text("7B")
    page.get_by_role("tab", name="Configure").click()
    page.fill("#memory-model textarea, #memory-model input", "3B")
    page.get_by_role("tab", name="Launch").click()
    expect(page.get_by_label("T5 translates number words")).to_be_checked()
    page.get_by_role("tab", name="Configure").click()
    page.fill("#memory-model textarea, #memory-model input", "7B")
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
    model = page.locator("#goal-model")
    model.fill("no/such-model")
    page.fill("#goal-gpus", "0")
    page.click("#goal-find")
    # What is wrong is said at its field.
    expect(page.locator(".ds-goal-panel").get_by_role("alert")).to_have_text("At least 1")
    expect(page.locator("#goal-gpus")).to_have_attribute("aria-invalid", "true")
    page.fill("#goal-gpus", "1")
    page.click("#goal-find")
    expect(page.locator(".ds-goal-panel").get_by_role("alert")).to_contain_text("no/such-model")
    expect(model).to_have_attribute("aria-invalid", "true")
    model.fill("no/such-model-7")
    expect(model).not_to_have_attribute("aria-invalid", "true")
    page.get_by_text("I have a ds_config.json").click()
    expect(page.locator("#goal-find")).to_be_hidden()
    page.click("#goal-skip")
    expect(page.locator(".ds-goal-panel")).to_be_hidden()
    expect(page.locator("#goal-open")).to_be_focused()


def test_configs_are_shown_again_and_those_for_other_values_are_outdated(first_page):
    page = first_page
    page.fill("#goal-model", "Qwen/Qwen2.5-7B")
    page.select_option("#goal-device", "a100-80")
    page.fill("#goal-gpus", "8")
    find, results = page.locator("#goal-find"), page.locator(".ds-goal-results")
    find.click()
    expect(page.locator(".ds-goal-card")).to_have_count(3)
    expect(results).to_contain_text(
        "Planned as 7B: Qwen/Qwen2.5-7B isn’t downloaded, so its layers and width are guessed."
    )
    # The answer is the same as before, and the page is told so.
    find.click()
    expect(find).to_have_text("Show configs that fit")
    expect(results).not_to_have_attribute("inert", "")
    expect(find).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    page.fill("#goal-gpus", "4")
    outdated = page.get_by_text("Outdated: the values changed. Show configs again.")
    expect(outdated).to_be_visible()
    expect(results).to_have_attribute("inert", "")
    expect(find).not_to_have_css("background-color", "rgba(0, 0, 0, 0)")  # filled is what comes next
    page.fill("#goal-gpus", "8")
    expect(outdated).to_be_hidden()
    expect(results).not_to_have_attribute("inert", "")


def test_a_host_that_is_not_known_gets_no_bar_that_looks_full(first_page):
    page = first_page
    page.fill("#goal-model", "70B")
    page.select_option("#goal-device", "rtx4090")
    page.fill("#goal-gpus", "1")
    page.click("#goal-find")
    card = page.locator(".ds-goal-card")
    expect(card).to_have_count(1)
    expect(card).not_to_contain_text("The only preset that fits")
    expect(card.locator(".ds-goal-role")).to_have_text(re.compile(r"^Fits the GPUs; needs a host with 1\.\d TiB$"))
    host = card.locator('[data-device="host"]')
    expect(host).to_contain_text(re.compile(r"needs ≈ 1\.\d TiB of host memory per node"))
    # What it takes is drawn, in no frame and with room beside it, which does not fade out.
    end = "(one) => one.lastElementChild.getBoundingClientRect().right - one.getBoundingClientRect().left"
    track, frame = host.locator(".ds-mem-track"), host.locator(".ds-mem-bar")
    assert 0 < track.evaluate(end) < 0.8 * frame.bounding_box()["width"]
    for drawn in ("boxShadow", "backgroundImage"):
        assert frame.evaluate(f"(one) => getComputedStyle(one).{drawn}") == "none"
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator("#goal-host")).to_be_hidden()  # behind the line of what was asked
    page.locator(".ds-goal-ways").get_by_role("button", name="Set host memory").click()
    expect(page.locator("#goal-host")).to_be_focused()
    page.set_viewport_size({"width": 1280, "height": 844})
    legend = page.locator(".ds-goal-results .ds-zs-legend")
    expect(legend).to_contain_text("gathered parameters")
    expect(legend).to_contain_text("optimizer states")
    # With its size it is judged, and the workspace judges by the same.
    page.fill("#goal-host", "64")
    page.click("#goal-find")
    expect(page.locator(".ds-goal-results")).to_contain_text("No preset fits here, but this would.")
    nearest = page.locator(".ds-goal-card").first
    expect(nearest.locator(".ds-goal-role")).to_have_text(re.compile(r" short in host memory$"))
    error = nearest.locator('[data-device="host"] .ds-mem-need').evaluate("(one) => getComputedStyle(one).color")
    assert nearest.locator(".ds-goal-role").evaluate("(one) => getComputedStyle(one).color") == error
    for use in page.locator(".ds-goal-card").get_by_role("button").all():
        assert use.evaluate("(one) => getComputedStyle(one).backgroundColor") == "rgba(0, 0, 0, 0)"
    # What would fit is a press away, and asks again: LoRA does not on one such GPU of that host.
    ways = page.locator(".ds-goal-ways")
    expect(ways.get_by_role("button")).to_have_text(["Try 4 nodes × 8 A100 80 GB"])
    for facts in page.locator(".ds-goal-facts").all_inner_texts():  # what doesn't fit is not praised
        assert "left on each GPU" not in facts
        assert "as fast" not in facts
    page.fill("#goal-host", "512")
    page.click("#goal-find")
    expect(ways.get_by_role("button")).to_have_text(["Try 4 nodes × 8 RTX 4090 24 GB", "With LoRA"])
    ways.get_by_role("button", name="With LoRA").click()
    expect(page.locator(".ds-goal-results")).to_contain_text("With LoRA adapters of rank 16")
    page.locator(".ds-goal-card").first.get_by_role("button").click()
    expect(page.locator('#memory-panel [data-device="host"] .ds-mem-need')).to_contain_text("512")
    expect(page.locator('#memory-panel [data-code="frozen_weights"]').first).to_be_visible()


CONFIG = {
    "train_micro_batch_size_per_gpu": 4,
    "gradient_clipping": 1.0,
    "bf16": {"enabled": True},
    "zero_optimization": {"stage": 2},
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}},
}


def test_on_a_phone_the_first_screen_is_calm(first_page):
    page = first_page
    page.set_viewport_size({"width": 390, "height": 844})
    heading, find = page.locator("#goal-title"), page.locator("#goal-find")
    lines = "(one) => one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight)"
    assert heading.evaluate(lines) < 1.5  # beside its button
    # It is on this screen: the host's memory, which may be left out, is asked for with what was found.
    box = find.bounding_box()
    assert box["y"] + box["height"] <= 844
    # The button is below the fields, wherever the page stands, and every field is whole.
    for top in (0, 120, 400):
        page.evaluate(f"scrollTo(0, {top})")
        bottoms = [one.bounding_box() for one in page.locator(".ds-goal-field").filter(visible=True).all()]
        assert find.bounding_box()["y"] >= max(one["y"] + one["height"] for one in bottoms)
    # What the way that is chosen is for is told; of the others when they are.
    expect(page.locator(".ds-goal-choice .ds-goal-about:visible")).to_have_count(1)
    page.fill("#goal-model", "7B")
    page.select_option("#goal-device", "a100-80")
    find.click()
    expect(page.locator(".ds-goal-card").first).to_be_visible()
    # Of the legend the largest parts and the limit, all of the first card: the small ones come on a press.
    legend = page.locator(".ds-goal-results .ds-zs-legend")
    more = legend.get_by_role("button", name=re.compile(r"^\d+ smaller parts$"))
    expect(more).to_have_attribute("aria-expanded", "false")
    assert legend.locator("li").filter(visible=True).count() <= 9 + 2
    expect(legend.get_by_text("weights", exact=True)).to_be_visible()
    large = (
        page.locator(".ds-goal-card")
        .first.locator(".ds-mem-part")
        .evaluate_all("(all) => all.filter((one) => parseFloat(one.style.width) >= 2).map((one) => one.dataset.code)")
    )
    assert large
    for code in large:
        assert legend.locator(f'[data-code="{code}"]').filter(visible=True).count() > 0
    expect(legend.get_by_text("limit", exact=True)).to_be_visible()
    expect(legend.get_by_text("CUDA context")).to_be_hidden()
    more.click()
    expect(legend.get_by_text("CUDA context")).to_be_visible()
    legend.get_by_role("button", name="Show fewer").click()
    expect(legend.get_by_text("CUDA context")).to_be_hidden()
    page.set_viewport_size({"width": 1280, "height": 900})
    expect(more).to_be_visible()


def test_on_a_phone_what_was_found_is_in_view_and_what_was_asked_one_line(first_page):
    page = first_page
    page.set_viewport_size({"width": 390, "height": 844})
    page.fill("#goal-model", "7B")
    page.select_option("#goal-device", "a100-80")
    page.fill("#goal-gpus", "8")
    page.click("#goal-find")
    change = page.locator("#goal-change")
    expect(change).to_be_focused()
    expect(page.locator(".ds-goal-brief")).to_contain_text("Fine-tune with the HF Trainer · 7B · 8 × A100 80 GB")
    expect(page.locator(":is(.ds-goal-what, .ds-goal-ask)").filter(visible=True)).to_have_count(0)
    use = page.locator(".ds-goal-card").first.get_by_role("button")
    for one in (change, use):  # the whole of the first card
        expect(one).to_be_in_viewport(ratio=1)
    # Two of the three are on one screen, each with what it costs below its name.
    second = page.locator(".ds-goal-card").nth(1)
    for part in ("h3", ".ds-goal-facts"):
        expect(second.locator(part)).to_be_in_viewport(ratio=1)
    facts, bars = (second.locator(one).first.bounding_box() for one in (".ds-goal-facts", ".ds-mem-bar"))
    assert facts["y"] + facts["height"] <= bars["y"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    # What is only guessed is said after what it is about.
    cards, guess = (page.locator(one).last.bounding_box() for one in (".ds-goal-card", ".ds-goal-guess"))
    assert guess["y"] >= cards["y"] + cards["height"]
    change.click()
    expect(page.locator("#goal-model")).to_be_focused()
    expect(page.locator("#goal-find")).to_be_visible()
    expect(page.locator("#goal-host")).to_be_visible()  # asked for now that the cards say what a host needs
    expect(change).to_be_hidden()
    # Where there is room the questions stay beside what was found.
    page.set_viewport_size({"width": 1280, "height": 900})
    page.click("#goal-find")
    expect(page.locator("#goal-find")).to_have_text("Show configs that fit")
    expect(page.locator("#goal-model")).to_be_visible()
    expect(page.locator(".ds-goal-brief")).to_be_hidden()


def test_a_leaner_config_is_a_press_away(page):
    replace_text(page, json.dumps(CONFIG))
    choose(page, "#device", "RTX 4090 24 GB")
    page.fill("#gpus input", "4")
    page.fill("#memory-model textarea, #memory-model input", "3B")
    expect(page.locator("#memory-panel .ds-mem-chip").first).to_have_text("doesn’t fit")
    page.get_by_text("Other configs: speed and memory").click()
    rows = page.locator(".ds-ld-table tbody tr")
    expect(rows.first).to_contain_text("This config")
    fitting = page.locator('.ds-ld-table tr[data-fit="fits"]').first
    needed = fitting.locator("td").nth(1).inner_text()
    fitting.get_by_role("button").click()
    expect(page.locator("#memory-panel .ds-mem-chip").first).to_have_text("fits")
    expect(page.locator('#memory-panel [data-device="gpu"] .ds-mem-need')).to_contain_text(needed)
    # The ladder follows: what was applied is where it begins.
    current = page.locator('.ds-ld-table tr[aria-current="true"]')
    expect(current.locator("td").nth(1)).to_have_text(needed)


def test_of_other_configs_those_that_fit_come_first_and_on_a_phone_each_is_a_card(page):
    replace_text(page, json.dumps(CONFIG))
    choose(page, "#device", "RTX 4090 24 GB")
    page.fill("#gpus input", "4")
    page.fill("#memory-model textarea, #memory-model input", "7B")
    expect(page.locator("#memory-panel .ds-mem-chip").first).to_have_text("doesn’t fit")
    page.get_by_text("Other configs: speed and memory").click()
    rows = page.locator(".ds-ld-table tbody tr")
    expect(rows.nth(1)).to_have_attribute("data-fit", "fits")
    expect(rows.first.locator("td").first).to_have_text("1.0×")
    expect(page.locator('.ds-ld-table tr[data-fit="does_not_fit"]:not([aria-current])')).to_have_count(0)
    page.get_by_role("button", name=re.compile(r"^Show all \d+, with \d+ that don’t fit$")).click()
    short = page.locator('.ds-ld-table tr[data-fit="does_not_fit"]:not([aria-current])')
    expect(short.last).to_be_visible()
    fits = [row.get_attribute("data-fit") == "does_not_fit" for row in rows.all()[1:]]
    assert fits == sorted(fits)
    expect(short.first.get_by_role("button")).to_have_text("Apply anyway")
    page.set_viewport_size({"width": 390, "height": 800})
    row, press = rows.nth(1), rows.nth(1).get_by_role("button", name="Apply")
    assert press.bounding_box()["width"] > 0.95 * row.bounding_box()["width"]
    assert row.locator("th").bounding_box()["width"] > 0.95 * row.bounding_box()["width"]
    assert page.locator(".ds-ld").evaluate("(one) => one.scrollWidth <= one.clientWidth")


def test_a_first_visit_offers_goals_to_begin_with_and_speaks_of_ranks_on_a_cpu(first_page):
    page = first_page
    expect(page.locator(".ds-goal-gpus > label")).to_have_text("CPU ranks per node")
    expect(page.locator(".ds-goal-micro > label")).to_have_text("Micro batch per GPU")  # as 1 · Configure has it
    page.select_option("#goal-device", "a100-80")
    expect(page.locator(".ds-goal-gpus > label")).to_have_text("GPUs per node")
    page.set_viewport_size({"width": 390, "height": 800})
    expect(page.locator("#workspace-bar")).to_be_hidden()  # of another config
    page.get_by_role("button", name="Qwen2.5-0.5B on this machine").click()
    expect(page.locator(".ds-goal-gpus > label")).to_have_text("CPU ranks per node")
    expect(page.locator("#goal-model")).to_have_value("Qwen/Qwen2.5-0.5B")
    expect(page.locator(".ds-goal-card").first).to_be_visible()
    # The colours are told below the first card: before it they pushed it down, below the last they were a screen away.
    legend, first = (
        page.locator(one).first.bounding_box() for one in (".ds-goal-results .ds-zs-legend", ".ds-goal-card")
    )
    assert first["y"] + first["height"] <= legend["y"]
    others = [one.bounding_box()["y"] for one in page.locator(".ds-goal-card").all()[1:]]
    assert all(legend["y"] + legend["height"] <= top for top in others)
    expect(page.locator(".ds-goal-results")).to_contain_text("Memory is predicted for each node.")
    expect(page.locator(".ds-goal-results")).not_to_contain_text("CUDA")
    expect(page.locator(".ds-goal-examples")).to_be_hidden()
