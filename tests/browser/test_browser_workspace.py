"""The bar that stays in view on Configure, in a real browser: preset, verdict, fit, undo, download, on to Launch."""

import json
import re
from itertools import combinations
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.browser import choose, editor, json_text, paste_over, replace_text
from tests.support.pages import BEEN_HERE, opened

pytestmark = pytest.mark.browser
MOVED = {
    "train_micro_batch_size_per_gpu": 1,
    "bf16": {"enabled": True},
    "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "cpu"}},
}
OTHER = {
    "train_micro_batch_size_per_gpu": 1,
    "gradient_clipping": 1.0,
    "bf16": {"enabled": True},
    "zero_optimization": {"stage": 2},
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}},
}
HEADER = (
    ".ds-header h1",
    "#pages > .tab-wrapper [data-tab-id=machine]",
    ".ds-target",
    "#goal-open",
    "[data-keys]",
    "#learn-open",
    ".ds-languages",
)
PRESET = Path(__file__).parents[2] / "presets" / "zero2-offload-t5.ds_config.json"
FP16 = "Pre-training: native ZeRO-2, fp16, cosine schedule"

COUNTS = """
window.drawn = 0;
const frames = window.requestAnimationFrame;
window.requestAnimationFrame = (tick) => frames((now) => { window.drawn += 1; tick(now); });
"""
IN_A_SECOND = (
    "async () => { const b = drawn; await new Promise((end) => setTimeout(end, 1000)); return drawn - b < 10 }"
)


def name(page):
    return page.locator(".ds-standing-name")


def test_the_bar_stays_in_view_and_says_what_is_true(page):
    verdict = page.locator("#standing-verdict")
    expect(name(page)).to_have_text("T5-small / T5-large: ZeRO-2, optimizer offload")
    expect(verdict).to_have_text("2 notes")
    page.set_viewport_size({"width": 390, "height": 800})
    page.mouse.wheel(0, 1200)
    expect(verdict).to_be_in_viewport()
    verdict.click()
    expect(page.locator("#findings")).to_be_focused()
    expect(page.locator("#findings")).to_be_in_viewport()
    page.set_viewport_size({"width": 1280, "height": 900})
    # An edit is an edit of the preset, another config is none; undo comes back to it.
    replace_text(page, PRESET.read_text("utf-8").replace('"loss_scale": 0,', '"loss_scale": 128,'))
    expect(name(page)).to_contain_text("modified")
    replace_text(page, json.dumps(OTHER))
    expect(name(page)).to_have_text("Your config")
    expect(page.locator("#preset input")).to_have_value("Your config")
    replace_text(page, '{"train_batch_size": }')
    expect(verdict).to_have_text("Invalid JSON")
    expect(verdict).to_have_attribute("data-kind", "error")
    page.click("#undo-edit")
    expect(name(page)).to_have_text("Your config")
    page.fill("#memory-model textarea, #memory-model input", "7B")
    choose(page, "#device", "RTX 4090 24 GB")
    expect(page.locator("#standing-fit")).to_have_text("doesn’t fit (estimate)")
    guessed = page.locator("#standing-fit .ds-standing-more")
    expect(guessed).to_be_visible()
    wide = page.viewport_size
    page.set_viewport_size({"width": 390, "height": 844})
    expect(guessed).to_be_hidden()
    # What would mend it stands first there, as errors do, and the chip leads to it.
    card, form = page.locator("#findings"), page.locator("#config-form")
    expect(card.locator(".ds-way-out")).to_be_attached()
    for width in (390, 800):  # wherever there is one column
        page.set_viewport_size({"width": width, "height": 844})
        assert card.bounding_box()["y"] < form.bounding_box()["y"]
        page.click("#standing-fit")
        expect(card).to_be_focused()
    page.set_viewport_size(wide)
    # What fits the GPUs and asks for a host that few have isn't green; a press leads to where its memory is told.
    replace_text(page, json.dumps(MOVED))
    expect(page.locator("#standing-fit")).to_have_text(re.compile(r"^needs \d+ GiB on the host \(estimate\)$"))
    expect(page.locator("#standing-fit")).to_have_attribute("data-kind", "tight")
    expect(page.locator("#memory-panel .ds-mem-chip")).to_have_text(re.compile(r"^needs \d+ GiB on the host$"))
    page.click("#standing-fit")
    expect(page.locator("#memory-host :is(input, textarea)")).to_be_focused()
    page.keyboard.type("512")
    expect(page.locator("#standing-fit")).to_have_text("fits (estimate)")
    replace_text(page, json.dumps(OTHER))
    expect(page.locator("#standing-fit")).to_have_text("doesn’t fit (estimate)")
    names = [page.locator(one).text_content().strip() for one in ("#standing-download", "#download")]
    assert names == ["Download config", "Convert and download"]
    with page.expect_download() as saved:
        page.click("#standing-download")
    assert json.loads(saved.value.path().read_text()) == OTHER
    page.click("#to-launch")
    expect(page.locator("#launch")).to_be_visible()


# How far the box that clips it goes beyond the pill.
ROOM = """(chip) => { const clip = chip.parentElement.getBoundingClientRect(), box = chip.getBoundingClientRect();
  return [clip.bottom - box.bottom, box.top - clip.top, box.left - clip.left]; }"""


def test_on_a_phone_a_host_that_is_asked_for_is_told_and_not_cut_off(page):
    page.fill("#memory-model textarea, #memory-model input", "7B")
    choose(page, "#device", "RTX 4090 24 GB")
    replace_text(page, json.dumps(MOVED))
    expect(page.locator("#standing-fit")).to_contain_text("on the host")
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    chip = page.locator("#standing-fit")
    expect(chip).to_have_text(re.compile(r"^host ≥ \d+ GiB"))
    expect(page.locator("#standing-verdict")).to_be_hidden()  # green, it would be all that is seen
    assert min(chip.evaluate(ROOM)) >= 0


def test_on_a_phone_what_clips_the_pills_leaves_their_borders_and_outlines(page):
    page.set_viewport_size({"width": 390, "height": 844})
    replace_text(page, '{"train_batch_size": 8}')
    verdict = page.locator("#standing-verdict")
    expect(verdict).to_have_attribute("data-kind", "error")
    assert verdict.evaluate("(chip) => getComputedStyle(chip.parentElement).overflowX") == "hidden"
    assert min(verdict.evaluate(ROOM)) >= 4  # 2 px of an outline, 2 px from the pill
    left = page.locator(".ds-standing-name").bounding_box()["x"]
    assert verdict.bounding_box()["x"] == left  # in line with the name above


def test_on_a_phone_the_first_field_is_in_view_and_what_is_planned_for_is_a_line_that_opens(page):
    page.set_viewport_size({"width": 390, "height": 844})
    fold, device = page.locator("#context-fold"), page.locator("#device input")
    expect(fold).to_contain_text("HF Trainer")
    expect(device).to_be_hidden()
    assert page.locator("#workspace-bar").bounding_box()["height"] < 90
    expect(page.locator('[data-pointer="/train_batch_size"]')).to_be_in_viewport()
    fold.click()
    expect(fold).to_have_attribute("aria-expanded", "true")
    choose(page, "#device", "RTX 4090 24 GB")
    expect(fold).to_contain_text("RTX 4090 24 GB")
    page.set_viewport_size({"width": 1280, "height": 900})
    expect(fold).to_be_hidden()
    expect(device).to_be_visible()


def test_a_job_for_gpus_leads_on_a_phone_to_the_device_that_it_lacks(page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_label("Slurm", exact=True).check()
    page.get_by_role("link", name="choose it").click()
    expect(page.locator("#device")).to_be_focused()
    expect(page.locator("#device input")).to_be_in_viewport()
    expect(page.locator("#context-fold")).to_have_attribute("aria-expanded", "true")


# Nearly the first preset, line by line, but a file of somebody else's.
KIN = PRESET.read_text("utf-8").replace('"stage": 2', '"stage": 3')


@pytest.mark.parametrize("way", ["uploaded", "opened", "imported", "pasted"])
def test_another_config_is_not_called_the_preset_it_took_the_place_of(page, tmp_path, way):
    path = tmp_path / "theirs.json"
    path.write_text(KIN)
    expect(name(page)).to_contain_text("T5-small")
    bring(page, way, path)
    expect(editor(page)).to_contain_text('"stage": 3')
    called = "theirs.json" if way in ("uploaded", "opened") else "Your config"
    expect(name(page)).to_have_text(called)
    expect(page.locator("#preset input")).to_have_value(called)
    expect(page.locator("#preset-purpose")).to_be_hidden()
    page.click("#undo-edit")
    expect(name(page)).to_have_text("T5-small / T5-large: ZeRO-2, optimizer offload")
    expect(page.locator("#preset input")).to_have_value("T5-small / T5-large: ZeRO-2, optimizer offload")
    expect(page.locator("#preset-purpose")).to_be_visible()
    page.click("#redo-edit")
    expect(name(page)).to_have_text(called)


def test_a_file_keeps_its_name_through_edits_a_reload_and_the_download(page, tmp_path):
    path = tmp_path / "ds_z3.hjson"
    path.write_text(KIN + "# mine\n")
    bring(page, "uploaded", path)
    expect(name(page)).to_have_text("ds_z3.hjson")
    page.fill('[data-pointer="/train_micro_batch_size_per_gpu"]', "3")
    expect(name(page)).to_have_text("ds_z3.hjson modified")
    page.reload()
    expect(name(page)).to_have_text("ds_z3.hjson modified")
    expect(page.locator("#preset input")).to_have_value("ds_z3.hjson")
    with page.expect_download() as saved:
        page.click("#standing-download")
    assert saved.value.suggested_filename == "ds_z3.json"
    page.fill('[data-pointer="/train_micro_batch_size_per_gpu"]', "auto")
    expect(name(page)).to_have_text("ds_z3.hjson")
    paste_over(page, json.dumps(OTHER))
    expect(name(page)).to_have_text("Your config")
    choose(page, "#preset", FP16)
    expect(name(page)).to_have_text(FP16)
    with page.expect_download() as saved:
        page.click("#download")
    assert saved.value.suggested_filename == "ds_config.json"


def bring(page, way, path):
    if way == "uploaded":
        with page.expect_file_chooser() as chooser:
            page.click("#upload")
        chooser.value.set_files(path)
    elif way == "opened":
        page.locator("#open-path textarea, #open-path input").first.fill(str(path))
        page.click("#open-file")
    elif way == "imported":
        page.locator("#import-run button").first.click()
        page.fill("#pasted-run textarea", f"deepspeed train.py --deepspeed {path}")
        page.click("#import-pasted")
    else:
        paste_over(page, path.read_text())


def test_a_reload_keeps_what_the_config_began_as(page):
    replace_text(page, PRESET.read_text("utf-8").replace('"loss_scale": 0,', '"loss_scale": 128,'))
    expect(name(page)).to_contain_text("modified")
    page.reload()
    expect(name(page)).to_have_text("T5-small / T5-large: ZeRO-2, optimizer offload modified")
    expect(page.locator("#preset-purpose")).to_be_visible()


def test_a_preset_for_another_machine_says_so_and_plans_for_it(page):
    choose(page, "#preset", FP16)
    # How many depends on this machine: some CPUs have fp16.
    expect(page.locator("#standing-verdict")).to_have_text(re.compile(r"^\d errors? · 1 note$"))
    plan = page.locator(".ds-standing-plan")
    expect(plan).to_contain_text("This preset was made for 1 GPU")
    page.click("#plan-for-that")
    expect(page.locator("#gpus input")).to_have_value("1")
    expect(page.locator("#standing-verdict")).to_have_attribute("data-kind", "ok")
    expect(plan).to_have_count(0)
    expect(name(page)).to_have_text(FP16)


def test_a_page_at_rest_draws_no_frames(browser, app):
    """Gradio's loading screen would go on with sixty a second."""
    with opened(browser, app, f"{BEEN_HERE};{COUNTS}") as page:
        expect(name(page)).not_to_be_empty()
        assert page.evaluate("drawn") > 0
        assert any(page.evaluate(IN_A_SECOND) for _ in range(20))


def test_the_name_and_the_pages_are_one_line_where_they_have_room(browser, app):
    with opened(browser, app, BEEN_HERE) as page:
        for width, lines in ((1920, 1), (1280, 1), (1100, 1), (768, 2)):
            page.set_viewport_size({"width": width, "height": 900})
            boxes = [page.locator(part).bounding_box() for part in HEADER]
            assert (abs(boxes[0]["y"] - boxes[1]["y"]) > boxes[0]["height"]) == (lines == 2), width
            assert not any(_over(one, other) for one, other in combinations(boxes, 2)), width


TAB = "#pages > .tab-wrapper [role=tab]"


@pytest.mark.parametrize("width", [1280, 390])
def test_the_tabs_stand_where_they_stand_on_a_first_visit_and_beside_a_tutorial(browser, app, width):
    screen = {"viewport": {"width": width, "height": 900}}
    with opened(browser, app, **screen) as page:
        expect(page.locator(".ds-lead")).to_be_visible()
        first = page.locator(TAB).first.bounding_box()
        assert page.locator(".ds-lead").bounding_box()["y"] > first["y"] + first["height"]
    with opened(browser, app, BEEN_HERE, **screen) as page:
        expect(name(page)).not_to_be_empty()
        expect(page.locator(".ds-lead")).to_be_hidden()
        assert page.locator(TAB).first.bounding_box() == first
        page.click("#learn-open")
        expect(page.locator(".ds-learn")).to_be_visible()
        beside = page.locator(".gradio-container").bounding_box()["x"]
        now = page.locator(TAB).first.bounding_box()
        assert (now["x"] - beside, now["y"]) == (first["x"], first["y"])
        boxes = [page.locator(one).bounding_box() for one in (HEADER[1], "#goal-open", "#learn-open")]
        assert not any(_over(one, other) for one, other in combinations(boxes, 2))


def styled(locator, name):
    return locator.evaluate("(one, name) => getComputedStyle(one)[name]", name)


def test_what_unfolds_looks_alike(page):
    folds = page.locator("#own-presets").or_(page.locator(".ds-zs-fold")).or_(page.locator("#tool .ds-toggle"))
    expect(folds).to_have_count(7)
    assert {one.bounding_box()["height"] for one in folds.all()} == {42}
    tools = page.locator("#tool .ds-toggle")
    assert {styled(one, "borderTopColor") for one in folds.all()} == {styled(tools.first, "borderTopColor")}
    assert styled(page.locator("#tool .ds-segments"), "borderTopWidth") == "0px"
    # They begin in one line, their texts too.
    whole = [page.locator(".ds-zs-fold").first, page.locator("#own-presets"), tools.first]
    assert len({one.bounding_box()["x"] for one in whole}) == 1
    assert {styled(one, "paddingLeft") for one in whole} == {"12px"}
    # The sign is before the text, as a fold's.
    sign = tools.first.locator(".icon")
    assert sign.bounding_box()["x"] < tools.first.bounding_box()["x"] + 20
    tools.first.click()
    expect(tools.first).to_have_attribute("aria-expanded", "true")
    assert styled(sign, "transform") == "none"


def test_on_a_narrow_window_no_field_is_alone_on_its_line_and_the_sections_fade_where_they_go_on(page):
    page.set_viewport_size({"width": 768, "height": 900})
    page.click("#context-fold")
    around = page.locator(".ds-context").bounding_box()
    boxes = [page.locator(one).bounding_box() for one in ("#device", "#version")]
    assert boxes[0]["y"] == boxes[1]["y"] > page.locator("#integration").bounding_box()["y"]
    assert boxes[1]["x"] + boxes[1]["width"] > around["x"] + around["width"] - 20  # the line is full
    sections = page.locator(".ds-tabs")
    expect(sections).to_have_class(re.compile("ds-goes-on"))
    assert "gradient" in styled(sections, "maskImage")
    sections.evaluate("(one) => one.scrollTo(9999, 0)")
    expect(sections).not_to_have_class(re.compile("ds-goes-on"))


def test_a_radio_is_of_the_colour_of_a_field_in_the_dark_too(browser, app):
    with opened(browser, app, BEEN_HERE) as page:
        page.emulate_media(color_scheme="dark")
        page.reload()
        page.click("#goal-open")
        expect(page.locator("body")).to_have_class(re.compile("dark"))
        radio = page.get_by_role("radio", name="Native DeepSpeed loop")
        expect(radio).to_be_visible()
        assert styled(radio, "appearance") == "none"
        assert styled(radio, "backgroundColor") == styled(page.locator("#goal-model"), "backgroundColor")


def _over(one, other):
    """Whether two boxes have a place in common."""
    return all(
        one[at] < other[at] + other[size] and other[at] < one[at] + one[size]
        for at, size in (("x", "width"), ("y", "height"))
    )


TWICE = """button => {
  const { left, top } = button.getBoundingClientRect();
  const tap = { bubbles: true, clientX: left + 8, clientY: top + 8, pointerType: "touch" };
  const findings = button.closest(".ds-findings-root");
  new MutationObserver((_, seen) => {
    seen.disconnect();
    const next = findings.querySelector(".ds-fix"); // as if it had moved up to the finger
    setTimeout(() => next.dispatchEvent(new PointerEvent("click", tap)), 50);
  }).observe(findings, { childList: true });
  button.dispatchEvent(new PointerEvent("click", tap));
}"""


def test_the_second_of_a_double_tap_presses_no_other_fix(page):
    wrong = {"train_batch_size": 100, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 8}
    stage = {"stage": 2, "offload_param": {"device": "cpu"}}
    replace_text(page, json.dumps({**wrong, "zero_optimization": stage}))
    fix = page.locator("#findings .ds-fix").first
    expect(fix).to_have_text("Set train_batch_size to 64")
    fix.evaluate(TWICE)
    expect(fix).not_to_have_text("Set train_batch_size to 64")
    page.wait_for_timeout(600)  # an answer to a second one would be here by now
    left = json.loads(json_text(page))
    assert (left["train_batch_size"], left["zero_optimization"]) == (64, stage)
    fix.click()
    expect(page.locator("#config-json .cm-content")).not_to_contain_text("offload_param")
