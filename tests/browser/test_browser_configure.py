"""The Configure page in a real browser: every field, both ways, files in and out, undo, other releases, presets."""

import itertools
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.app_server import BEEN_HERE
from tests.support.browser import (
    HeldAnswers,
    choose,
    choose_preset,
    editor,
    fill,
    findings,
    json_text,
    paste_over,
    replace_text,
)
from tests.support.pages import opened
from tests.support.run_fixtures import wait_until

pytestmark = pytest.mark.browser

PREFETCH = "/zero_optimization/stage3_prefetch_bucket_size"
MOST_ROWS = 20  # of 486


def config(page):
    return json.loads(json_text(page))


def wait_for_config(page, condition):
    page.wait_for_function(
        f"(() => {{ const c = JSON.parse(localStorage.getItem('dsgui.config')); return {condition} }})()"
    )


def open_path(page, path):
    page.locator("#open-path textarea, #open-path input").first.fill(str(path))
    page.click("#open-file")


def test_a_deep_field_is_found_by_a_word_and_set_and_keeps_its_spelling(page):
    # Only the rows that are looked at are made: all of them took a third of what a page takes.
    assert page.locator("[data-row]").count() <= MOST_ROWS
    page.fill(".ds-search", "prefetch")
    expect(page.locator(f'[data-row="{PREFETCH}"]')).to_be_visible()
    expect(page.locator('[data-row="/train_batch_size"]')).to_be_hidden()
    page.fill(f'[data-pointer="{PREFETCH}"]', "5e7")
    expect(editor(page)).to_contain_text('"stage3_prefetch_bucket_size": 5e7')
    expect(page.locator(f'[data-row="{PREFETCH}"] .ds-inactive')).to_contain_text("stage 3")
    page.fill(".ds-search", "no such thing at all")
    expect(page.locator(".ds-nothing")).to_be_visible()


def test_a_field_shows_its_default_and_can_be_unset(page):
    page.click('[data-tab="zero"]')
    page.get_by_role("button", name="Show all fields").click()
    sub_group = page.locator('[data-pointer="/zero_optimization/sub_group_size"]')
    expect(sub_group).to_have_attribute("placeholder", "default 1000000000")
    sub_group.fill("1e9")
    wait_for_config(page, "c.zero_optimization.sub_group_size === 1e9")
    page.click('[data-clear="/zero_optimization/sub_group_size"]')
    wait_for_config(page, "!('sub_group_size' in c.zero_optimization)")


def test_undo_and_redo_take_form_edits_presets_and_typed_text_back_and_forth(page):
    before = json_text(page)
    fill(page, "/train_batch_size", "64", "batch")
    wait_for_config(page, "c.train_batch_size === 64")
    choose_preset(page, "Pre-training: native ZeRO-2, fp16, cosine schedule")
    wait_for_config(page, "c.train_batch_size === 144")
    expect(page.locator("#integration input")).to_have_value("native DeepSpeed")
    page.click("#undo-edit")
    wait_for_config(page, "c.train_batch_size === 64")
    expect(page.locator("#integration input")).to_have_value("HF Trainer")
    page.click("#undo-edit")
    expect(page.locator('[data-auto="/train_batch_size"]')).to_have_attribute("aria-pressed", "true")
    expect(page.locator('input[data-pointer="/train_batch_size"]')).to_have_value("")
    assert json_text(page) == before
    expect(page.locator("#undo-edit")).to_be_disabled()
    page.locator("h1").click()  # the keys mean the config only outside a text field
    page.keyboard.press("Control+Shift+z")
    wait_for_config(page, "c.train_batch_size === 64")
    page.keyboard.press("Control+z")
    expect(page.locator('[data-auto="/train_batch_size"]')).to_have_attribute("aria-pressed", "true")
    expect(page.locator('input[data-pointer="/train_batch_size"]')).to_have_value("")


def test_quick_undos_and_redos_lose_no_step(page):
    for value in ("8", "16", "32"):
        replace_text(page, json.dumps({"train_batch_size": int(value)}))
        expect(page.locator('input[data-pointer="/train_batch_size"]')).to_have_value(value)
        page.wait_for_timeout(1300)  # a step of its own
    page.evaluate("for (const n of [1, 2]) document.querySelector('#undo-edit').click()")
    wait_for_config(page, "c.train_batch_size === 8")
    page.wait_for_timeout(1000)  # late answers would be taken for new edits
    page.evaluate("for (const n of [1, 2]) document.querySelector('#redo-edit').click()")
    wait_for_config(page, "c.train_batch_size === 32")
    expect(page.locator("#redo-edit")).to_be_disabled()


def test_a_slow_answer_about_an_older_text_does_not_undo_an_undo(page):
    for value in ("8", "16"):
        replace_text(page, json.dumps({"train_batch_size": int(value)}))
        expect(page.locator('input[data-pointer="/train_batch_size"]')).to_have_value(value)
        page.wait_for_timeout(1300)  # a step of its own
    page.click("#undo-edit")
    expect(page.locator('input[data-pointer="/train_batch_size"]')).to_have_value("8")
    about_16 = HeldAnswers(page, r"{\"train_batch_size\": 16}")
    page.click("#redo-edit")
    about_16.wait()
    page.click("#undo-edit")
    page.wait_for_timeout(500)  # an answer about 8 has come, if it does not wait for the other
    about_16.release()
    wait_for_config(page, "c.train_batch_size === 8")
    expect(page.locator('input[data-pointer="/train_batch_size"]')).to_have_value("8")
    page.wait_for_timeout(500)
    expect(page.locator('input[data-pointer="/train_batch_size"]')).to_have_value("8")


def test_a_slow_first_answer_leaves_what_is_typed_meanwhile(page):
    # The form asks, or what it is told at first does, where the form itself comes later.
    first = HeldAnswers(page, '"edits":{}', '"discard":true')
    page.reload()
    first.wait()
    fill(page, "/train_batch_size", "1", "batch")
    page.wait_for_timeout(500)  # an answer about 1 has come, if it does not wait for the first
    page.keyboard.press("End")
    page.keyboard.type("2")
    first.release()
    wait_for_config(page, "c.train_batch_size === 12")
    expect(page.locator('input[data-pointer="/train_batch_size"]')).to_have_value("12")


def test_typing_in_the_json_moves_the_form_and_leaves_the_cursor_where_it_is(page):
    replace_text(page, '{"train_batch_size": 8}')
    expect(page.locator('input[data-pointer="/train_batch_size"]')).to_have_value("8")
    page.keyboard.press("ArrowLeft")
    for digit in "000":
        page.keyboard.type(digit)
        page.wait_for_timeout(150)  # answers arrive between the digits
    expect(page.locator('input[data-pointer="/train_batch_size"]')).to_have_value("8000")
    assert json_text(page) == '{"train_batch_size": 8000}'


def test_pasted_comments_are_explained_and_converted_on_a_click(page):
    replace_text(page, '{\n  // the batch\n  "train_batch_size": 8, # all GPUs\n  "steps_per_print": 1e1,\n}\n')
    expect(findings(page)).to_contain_text("Line 2, column 3")
    expect(findings(page)).to_contain_text("hjson")
    page.get_by_role("button", name="Convert to strict JSON").click()
    expect(page.locator('input[data-pointer="/train_batch_size"]')).to_have_value("8")
    text = json_text(page)
    assert json.loads(text) == {"train_batch_size": 8, "steps_per_print": 10}
    assert '"steps_per_print": 1e1' in text


def test_where_a_text_is_broken_is_a_press_away_and_marked_and_mended_there(page):
    replace_text(page, '{\n  "train_batch_size": 8,,\n  "steps_per_print": 1e1\n}\n')
    place = findings(page).get_by_role("button", name="Line 2, column 25")
    expect(page.locator('.cm-gutterElement[data-mark="error"]')).to_have_text("2")
    before = """() => {
      const { focusNode, focusOffset } = getSelection();
      const text = document.createRange();
      text.setStart(focusNode.parentElement.closest(".cm-line"), 0);
      text.setEnd(focusNode, focusOffset);
      return text.toString() === '  "train_batch_size": 8,';
    }"""
    for way in (place, page.locator('.cm-gutterElement[data-mark="error"]')):
        page.locator("h1").click()
        way.click()
        expect(page.locator("#config-json .cm-content")).to_be_focused()
        page.wait_for_function(before)
    findings(page).get_by_role("button", name="Remove the extra comma").click()
    expect(page.locator('input[data-pointer="/train_batch_size"]')).to_have_value("8")
    assert json_text(page).strip() == '{\n  "train_batch_size": 8,\n  "steps_per_print": 1e1\n}'
    expect(page.locator('.cm-gutterElement[title*="Line 2"]')).to_have_count(0)


def test_a_commented_file_is_uploaded_and_what_was_changed_is_said(page, tmp_path):
    path = tmp_path / "with comments.json"
    path.write_text('{\n  /* two\n     lines */\n  "train_micro_batch_size_per_gpu": 4,\n}\n')
    with page.expect_file_chooser() as chooser:
        page.click("#upload")
    chooser.value.set_files(path)
    expect(page.locator("#file-notes")).to_contain_text("comment")
    wait_for_config(page, "c.train_micro_batch_size_per_gpu === 4")


def test_a_path_and_an_accelerate_yaml_are_opened_and_a_wrong_path_is_said(page, tmp_path):
    (tmp_path / "ds.json").write_text('{"train_batch_size": 48}')
    open_path(page, tmp_path / "ds.json")
    wait_for_config(page, "c.train_batch_size === 48")
    (tmp_path / "accelerate.yaml").write_text(
        "distributed_type: DEEPSPEED\nnum_machines: 2\nnum_processes: 8\n"
        "deepspeed_config:\n  deepspeed_config_file: ds.json\n  zero3_init_flag: false\n"
    )
    open_path(page, tmp_path / "accelerate.yaml")
    expect(page.locator("#nodes input")).to_have_value("2")
    expect(page.locator("#gpus input")).to_have_value("4")
    expect(page.locator("#file-notes")).to_contain_text("ds.json")
    open_path(page, tmp_path / "nowhere.json")
    problem, path = page.locator("#open-problem"), page.locator("#open-path textarea, #open-path input").first
    expect(problem.get_by_role("alert")).to_contain_text("nowhere.json")
    expect(path).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".toast-body")).to_have_count(0)
    assert config(page)["train_batch_size"] == 48
    path.fill(str(tmp_path / "ds.json"))
    expect(problem).to_be_empty()
    expect(path).to_have_attribute("aria-invalid", "false")


# Cheaper: tests/core/rules/test_keys.py::test_a_key_that_came_later…, ::test_a_removed_block…; that the page plans for
# the release: test_browser_ask.py.
@pytest.mark.complete
def test_a_key_that_the_target_release_lacks_is_flagged_and_offered_to_go(page):
    replace_text(page, '{"train_batch_size": 2, "torch_autocast": {"enabled": true}, "amp": {"enabled": false}}')
    choose(page, "#integration", "native DeepSpeed")
    expect(findings(page)).to_contain_text("NVIDIA Apex AMP was removed")
    choose(page, "#version", "Plan for 0.14.5")
    expect(findings(page)).to_contain_text("added in DeepSpeed 0.17.2")
    expect(findings(page)).not_to_contain_text("NVIDIA Apex AMP")
    page.click('[data-tab="batch"]')
    expect(page.locator('[data-pointer="/gradient_clipping"]')).to_have_attribute("placeholder", "default 0.0")


# Cheaper: tests/core/rules/test_keys.py::test_an_old_name_is_rewritten…; a fix is pressed in test_browser.py.
@pytest.mark.complete
def test_an_old_name_is_rewritten_on_a_click(page):
    replace_text(page, '{"train_batch_size": 2, "zero_optimization": {"stage": 2, "cpu_offload": true}}')
    page.click('#findings button:has-text("Rewrite as zero_optimization.offload_optimizer")')
    wait_for_config(page, "c.zero_optimization.offload_optimizer?.device === 'cpu'")
    assert "cpu_offload" not in config(page)["zero_optimization"]


def test_a_preset_of_ones_own_is_saved_compared_and_removed(page):
    fill(page, "/gradient_clipping", "0.5", "batch")
    wait_for_config(page, "c.gradient_clipping === 0.5")
    page.get_by_role("button", name="Save as preset").click()
    page.locator("#preset-title textarea, #preset-title input").first.fill("My two nodes")
    page.click("#save-preset")
    expect(page.locator("#preset input")).to_have_value("Mine: My two nodes")
    page.reload()
    expect(page.locator("#preset input")).to_have_value("Mine: My two nodes")
    choose(page, "#preset", "Mine: My two nodes")
    wait_for_config(page, "c.gradient_clipping === 0.5")
    page.get_by_role("button", name="Compare with a preset").click()
    expect(page.locator("#tool-panel")).to_contain_text("gradient_clipping")
    expect(page.locator("#tool-panel tbody tr")).to_have_count(1)
    expect(page.locator("#compare-with input")).to_have_value("T5-small / T5-large: ZeRO-2, optimizer offload")
    choose(page, "#compare-with", "Mine: My two nodes")
    expect(page.locator("#tool-panel")).not_to_contain_text("gradient_clipping")
    page.get_by_role("button", name="Save as preset").click()
    page.click("#remove-preset")
    expect(page.locator("#preset input")).not_to_have_value("Mine: My two nodes")


def test_the_download_is_strict_json_for_the_reader_asked_for(page):
    choose(page, "#download-form", "for native DeepSpeed")
    with page.expect_download() as caught:
        page.click("#download")
    text = Path(caught.value.path()).read_text("utf-8")
    assert '"auto"' not in text
    assert json.loads(text)["zero_optimization"]["stage"] == 2
    assert '"auto"' in json_text(page)
    expect(page.locator("#file-notes")).to_contain_text("the editor is unchanged")


def test_a_text_that_is_no_json_is_not_downloaded(page):
    replace_text(page, '{"train_batch_size": ')
    expect(findings(page)).to_contain_text("can’t be read yet")
    below = "getComputedStyle(document.querySelector('#config-json'), '::after').content"
    assert page.evaluate(below).startswith('"Line 1, column ')
    page.click("#download")
    expect(page.get_by_text("Not downloaded.")).to_be_visible()


@pytest.mark.parametrize("width", [390, 1280])
def test_what_repairs_the_json_is_beside_the_reason_below_the_editor(page, width):
    page.set_viewport_size({"width": width, "height": 844})
    replace_text(page, '{\n  "fp16": {"enabled": true}\n  "train_batch_size": 8\n}')
    repair, box = page.locator("#repair-json"), page.locator("#config-json")
    expect(repair).to_have_text("Add the comma")
    expect(repair).to_be_in_viewport(ratio=1)
    at, around = repair.bounding_box(), box.bounding_box()
    assert at["height"] >= 24
    assert around["x"] <= at["x"]
    assert at["y"] + at["height"] <= around["y"] + around["height"]
    text = box.locator(".cm-editor").bounding_box()
    assert at["y"] >= text["y"] + text["height"] - 1  # over no line of the text
    repair.click()
    expect(findings(page)).not_to_contain_text("can’t be read yet")
    assert json.loads(json_text(page)) == {"fp16": {"enabled": True}, "train_batch_size": 8}
    expect(repair).to_have_count(0)
    replace_text(page, '{"a": 1, // x\n}')
    expect(repair).to_have_text("Remove the comment and the extra comma")
    assert repair.bounding_box()["height"] <= box.evaluate(BELOW)  # a line of its own


# What stays free below the reason, which stands under the editor.
BELOW = "(box) => parseFloat(getComputedStyle(box, '::after').paddingBottom)"
DOUBLE_TAP = """(button) => {
  const { left, top } = button.getBoundingClientRect();
  const tap = { bubbles: true, clientX: left + 8, clientY: top + 8, pointerType: "touch" };
  const findings = document.querySelector("#findings .ds-findings-root");
  new MutationObserver((_, seen) => {
    seen.disconnect();
    setTimeout(() => document.querySelector("#repair-json").dispatchEvent(new PointerEvent("click", tap)));
  }).observe(findings, { childList: true });
  button.dispatchEvent(new PointerEvent("click", tap));
}"""


def test_the_second_of_a_double_tap_repairs_no_other_place(page):
    page.set_viewport_size({"width": 390, "height": 844})
    replace_text(page, '{\n  "a": 1\n  "b": 2\n  "c": 3\n  "d": 4\n}')
    repair = page.locator("#repair-json")
    expect(repair).to_have_text("Add the comma")
    repair.evaluate(DOUBLE_TAP)
    page.wait_for_timeout(1500)  # an answer to a second one would be here by now
    assert json_text(page).count(",") == 1


def test_on_a_phone_a_number_stays_in_one_piece(page):
    page.set_viewport_size({"width": 390, "height": 844})
    replace_text(page, '{"train_micro_batch_size_per_gpu": 4,"steps_per_print": 2e-5, "x": 33e-5, "y": 333e-5}')
    lines = """() => [...document.querySelectorAll("#config-json .cm-line span")]
      .filter((one) => /^[0-9.]+e-[0-9]+$/.test(one.textContent)).map((one) => {
        const all = document.createRange(); all.selectNodeContents(one); return all.getClientRects().length })"""
    for inserted in ("", *"abcdefghij"):  # wherever the end of the line comes
        page.keyboard.press("Control+Home")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        page.keyboard.insert_text(inserted)
        assert page.evaluate(lines) == [1, 1, 1]


@pytest.mark.parametrize("width", [360, 390])
def test_on_a_phone_the_bar_tells_of_warnings_leads_to_the_model_and_downloads(page, width):
    page.set_viewport_size({"width": width, "height": 844})
    ways = [page.get_by_role("button", name=name, exact=True) for name in ("Edit JSON", "Download config")]
    model = page.locator("#standing-model")
    for way in (*ways, model):
        expect(way).to_be_in_viewport(ratio=1)  # a click would bring it there
    model.click()
    expect(page.locator("#memory-model :is(input, textarea)")).to_be_focused()
    expect(page.locator("#memory-model")).to_be_in_viewport()
    with page.expect_download():
        ways[1].click()
    replace_text(page, '{"train_batch_size": 8, "zero_optimization": {"stage": 5}, "zero_optimisation": {}}')
    verdict = page.locator("#standing-verdict")
    expect(verdict).to_have_attribute("data-kind", "error")
    expect(verdict.locator(".ds-standing-few")).to_have_text(re.compile(r"^ ▲ \d$"))
    for way in (*ways, model, verdict.locator(".ds-standing-few")):
        expect(way).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name=re.compile(r"^\d errors? · \d warnings?"))).to_be_visible()
    # Without another chip beside it there is room for the word.
    model.evaluate("(one) => one.remove()")
    expect(verdict.locator(".ds-standing-few")).to_be_hidden()
    expect(verdict).to_be_in_viewport(ratio=1)
    assert re.fullmatch(r"\d errors? · \d warnings?", verdict.inner_text())
    page.set_viewport_size({"width": 1280, "height": 844})
    expect(verdict.locator(".ds-standing-few")).to_be_hidden()
    expect(model).to_be_hidden()


def test_on_a_phone_a_long_name_has_two_lines_of_a_bar_that_is_no_higher(page):
    page.set_viewport_size({"width": 390, "height": 844})
    replace_text(page, "{}")
    name, bar = page.locator(".ds-standing-name > b"), page.locator("#workspace-bar")
    expect(name).to_have_text("Your config")
    line, height = name.bounding_box()["height"], bar.bounding_box()["height"]
    choose(page, "#preset", "T5-3B: ZeRO-3, more parameters kept on the GPU")
    expect(name).to_have_text("T5-3B: ZeRO-3, more parameters kept on the GPU")
    assert name.bounding_box()["height"] == pytest.approx(2 * line, abs=2)
    assert bar.bounding_box()["height"] == pytest.approx(height, abs=1)


TOP = "Math.round(document.querySelector('#config-json').getBoundingClientRect().top)"
BOXES = "[...document.querySelectorAll('#findings, #memory, #config-form')]"
PLACES = f"[{TOP}, ...{BOXES}.map((one) => one.offsetHeight)]"


@pytest.mark.parametrize("width", [390, 1280])
def test_a_wrong_character_moves_nothing_under_who_types_it(page, width):
    page.set_viewport_size({"width": width, "height": 844})
    fill(page, "/train_batch_size", "-8", "batch")
    expect(findings(page).locator(".ds-finding")).not_to_have_count(2)
    _at_line(page, 3)
    before = page.evaluate(PLACES)
    for _ in range(2):
        page.keyboard.type("x")
        expect(findings(page)).to_contain_text("can’t be read yet")
        expect(page.locator("#config-form .ds-panels")).to_have_js_property("inert", True)
        expect(page.locator(".ds-memory")).to_have_js_property("inert", True)
        assert page.evaluate(PLACES) == pytest.approx(before, abs=2)
        # What was found before it stays, says so, and is smaller than it was.
        before_it = findings(page).locator(".ds-before")
        expect(before_it.locator("summary").first).to_have_text(re.compile(r"^Findings before the error: \d+$"))
        first = before_it.locator(".ds-finding").first
        expect(first).to_contain_text("-8 is not a whole number")
        expect(first).to_be_visible()
        expect(before_it.locator(".ds-advice, .ds-fix").filter(visible=True)).to_have_count(0)
        expect(page.locator('[data-row="/train_batch_size"] .ds-at-field')).to_be_visible()
        page.keyboard.press("Backspace")
        expect(findings(page)).not_to_contain_text("can’t be read yet")
        expect(page.locator(".ds-memory")).to_have_js_property("inert", False)
        assert page.evaluate(PLACES) == pytest.approx(before, abs=2)


def test_findings_before_a_broken_text_are_to_be_read_or_not_there(page):
    page.set_viewport_size({"width": 1280, "height": 800})
    replace_text(page, '{\n  "train_batch_size": -8\n}')
    told, fold = findings(page), findings(page).locator(".ds-before")
    expect(told).to_contain_text("-8 is not a whole number")
    expect(page.locator(CHIP)).to_have_count(1)
    assert page.locator(CHIP).evaluate(OPACITY) == "1"
    page.keyboard.type("x")
    expect(fold.locator(".ds-finding").first).to_be_visible()
    assert float(page.locator(CHIP).evaluate(OPACITY)) < 1  # as the form that it counts in
    page.keyboard.press("Backspace")
    expect(told).to_contain_text("-8 is not a whole number")
    _at_line(page, 1)
    page.keyboard.insert_text(', "bf16": {"enabled": True}')
    expect(told).to_contain_text("found “True”")
    head, card = fold.locator("summary").first, told.bounding_box()
    if not fold.is_hidden():
        assert head.bounding_box()["y"] + head.bounding_box()["height"] * 2 <= card["y"] + card["height"] + 1


CHIP = '#config-form [data-tab="batch"][data-chip="error"]'
OPACITY = "(one) => getComputedStyle(one, '::after').opacity"


def test_on_a_phone_the_editor_follows_what_is_wrong_with_the_json_and_moves_under_nobody(page):
    page.set_viewport_size({"width": 390, "height": 844})
    replace_text(page, '{\n  "train_batch_size": 8\n}')
    expect(page.locator("#standing-verdict")).not_to_have_attribute("data-kind", "error")
    page.locator("#config-json").evaluate("(one) => one.scrollIntoView({ block: 'center' })")
    fields, whole = page.locator("#config-form .ds-panels"), page.locator(".ds-form")
    page.wait_for_function("(window.seenAt ?? NaN) === scrollY || ((window.seenAt = scrollY), false)", polling=300)
    before = page.evaluate(TOP)
    page.keyboard.type("x")
    expect(findings(page)).to_contain_text("can’t be read yet")
    page.wait_for_timeout(600)  # longer than it waits for where nobody types
    expect(fields).to_be_visible()
    assert page.evaluate(TOP) == pytest.approx(before, abs=2)
    # Out of its sight, as of who reads what is wrong.
    page.locator("#standing-verdict").click()
    expect(whole).to_have_class(re.compile("ds-aside"))
    expect(fields).to_be_hidden()
    expect(page.locator(".ds-banner")).to_be_visible()
    verdict, box = findings(page).bounding_box(), page.locator("#config-json").bounding_box()
    paused = page.locator(".ds-banner").bounding_box()
    assert verdict["y"] + verdict["height"] <= paused["y"] <= paused["y"] + paused["height"] <= box["y"]
    assert box["y"] - verdict["y"] - verdict["height"] < 80
    page.keyboard.press("Escape")
    editor(page).click()
    page.keyboard.press("Control+End")
    before = page.evaluate(TOP)
    page.keyboard.press("Backspace")
    expect(fields).to_be_visible()
    page.wait_for_timeout(300)
    assert page.evaluate(TOP) == pytest.approx(before, abs=2)
    page.set_viewport_size({"width": 1280, "height": 844})
    page.keyboard.type("x")
    page.locator(".ds-search").focus()
    page.locator("#preset input").focus()
    expect(whole).to_have_class(re.compile("ds-aside"))
    expect(fields).to_be_visible()  # beside it there


def test_the_findings_before_a_broken_text_stay_closed_once_somebody_closed_them(page):
    _dimmed(page)
    fold = findings(page).locator(".ds-before")
    expect(fold).to_have_attribute("open", "")
    fold.locator("summary").first.click()
    expect(fold.locator(".ds-finding").first).to_be_hidden()
    editor(page).click()
    page.keyboard.press("End")
    page.keyboard.type("y")
    expect(findings(page).locator(".ds-excerpt")).to_contain_text("xy")
    expect(fold.locator(".ds-finding").first).to_be_hidden()


def test_a_config_of_one_line_says_how_much_is_found_in_it_and_gets_its_lines_on_a_press(page):
    packed = '{"train_batch_size": 100, "gradient_clipping": -5e-1, "zero_optimization": {"stage": 7, "x": [1, 2]}}'
    replace_text(page, packed)
    mark = page.locator("#config-json .cm-lineNumbers [data-mark]")
    expect(mark).to_have_attribute("title", re.compile(r"^[2-9] findings on this line:\n"))
    press = page.get_by_role("button", name="Format", exact=True)
    press.click()
    page.wait_for_function("localStorage.getItem('dsgui.config').split('\\n').length > 6")
    assert json.loads(json_text(page)) == json.loads(packed)
    assert '"gradient_clipping": -5e-1,\n' in json_text(page)
    expect(press).to_have_count(0)
    expect(mark).not_to_have_count(1)
    page.get_by_role("button", name="Undo").click()
    page.wait_for_function(f"localStorage.getItem('dsgui.config').trim() === {json.dumps(packed)}")
    expect(press).to_be_visible()
    replace_text(page, packed[:-1])  # no JSON: there are no lines to make
    expect(findings(page)).to_contain_text("can’t be read yet")
    expect(press).to_have_count(0)


def test_what_is_done_with_the_file_is_one_part_with_a_heading_below_what_checks_it(page):
    files = page.locator("#files")
    expect(files.get_by_role("heading", name="Open and download")).to_be_visible()
    for part in ("#download", "#open-path", "#upload", "#import-run"):
        expect(files.locator(part)).to_have_count(1)
    assert page.locator("#ask").bounding_box()["y"] < files.bounding_box()["y"]
    edge = "(one) => getComputedStyle(one).borderTopColor"
    verdict = findings(page).locator(".ds-verdict").evaluate("(one) => getComputedStyle(one).color")
    assert findings(page).locator(".ds-findings-root").evaluate(edge) == verdict


BROKEN_OTHER = '{"zero_optimization": {"stage": 2} x}'


def _dimmed(page):
    """Of a text that was typed and is broken: what is kept of the one before it."""
    replace_text(page, '{"train_batch_size": -8}')
    expect(findings(page)).to_contain_text("-8 is not a whole number")
    page.keyboard.press("End")
    page.keyboard.type(" x")
    expect(findings(page).locator(".ds-before")).to_contain_text("-8 is not a whole number")
    expect(page.locator(".ds-memory")).to_have_js_property("inert", True)


def _nothing_of_another(page):
    expect(findings(page)).to_contain_text("can’t be read yet")
    expect(findings(page).locator(".ds-before")).to_have_count(0)
    expect(page.locator(".ds-memory")).to_have_js_property("inert", False)
    expect(page.locator("#memory-panel")).to_contain_text("Fix the JSON first.")


def test_an_empty_editor_is_no_config_and_keeps_the_findings_of_the_last_one_dimmed(page):
    replace_text(page, '{"train_batch_size": -8}')
    expect(findings(page)).to_contain_text("-8 is not a whole number")
    for typed in ("", " ", '{"fp16": {"enabled": tr'):
        page.keyboard.press("Control+A")
        page.keyboard.press("Delete")
        page.keyboard.insert_text(typed)
        says = "Invalid JSON" if typed.strip() else "No config yet"
        expect(page.locator("#standing-verdict")).to_have_text(says)
        expect(findings(page).locator(".ds-before")).to_contain_text("-8 is not a whole number")
        expect(findings(page)).not_to_contain_text("No batch size")
        expect(page.locator(".ds-memory")).to_have_js_property("inert", True)


def test_a_broken_text_pasted_over_a_broken_one_shows_nothing_of_the_config_before_it(page):
    _dimmed(page)
    paste_over(page, BROKEN_OTHER)
    expect(editor(page)).to_contain_text("zero_optimization")
    _nothing_of_another(page)
    # Nor does who goes on typing in it get that back.
    page.keyboard.type(" ")
    page.wait_for_function("localStorage.getItem('dsgui.config').endsWith('x} ')")
    _nothing_of_another(page)


def test_who_leaves_the_editor_before_the_answer_comes_has_typed_all_the_same(page):
    replace_text(page, '{"train_batch_size": -8}')
    expect(findings(page)).to_contain_text("-8 is not a whole number")
    held = HeldAnswers(page, "-8} x")
    page.keyboard.press("End")
    page.keyboard.type(" x")
    held.wait()
    page.locator(".ds-search").focus()
    held.release()
    expect(findings(page).locator(".ds-before")).to_contain_text("-8 is not a whole number")
    expect(page.locator(".ds-memory")).to_have_js_property("inert", True)


def test_who_scrolls_with_the_editor_beside_a_long_page_goes_as_far_as_asked(page):
    """On a wide screen the editor stays in view, and has the focus."""
    page.set_viewport_size({"width": 1920, "height": 860})
    page.locator("#config-form .ds-toggle").click()  # every field
    page.evaluate("scrollTo(0, 600)")
    _at_line(page, 3)
    page.wait_for_timeout(300)
    before = page.evaluate("scrollY")
    page.evaluate("scrollBy(0, -50)")
    page.wait_for_timeout(300)
    assert page.evaluate("scrollY") == pytest.approx(before - 50, abs=2)


def test_what_is_typed_moves_the_editor_nowhere_when_more_is_found_above_it(page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.add_style_tag(content="* { overflow-anchor: none !important }")  # as in a browser that has no such thing
    replace_text(page, '{\n  "zero_optimization": {},\n  "train_batch_size": 8\n}')
    expect(page.locator('input[data-pointer="/train_batch_size"]')).to_have_value("8")
    expect(findings(page)).to_contain_text("Checks pass")
    _at_line(page, 2)
    before, height = page.evaluate(TOP), page.evaluate("document.body.scrollHeight")
    more = '.5, "gradient_clipping": "a", "train_micro_batch_size_per_gpu": -1'
    page.keyboard.type(more)
    expect(findings(page)).to_contain_text("errors")
    expect(page.locator('[data-row="/gradient_clipping"] .ds-at-field')).to_be_visible()
    assert page.evaluate("document.body.scrollHeight") > height + 100
    page.wait_for_function(f"Math.abs({TOP} - {before}) <= 2")
    for _ in more:
        page.keyboard.press("Backspace")
    expect(findings(page)).to_contain_text("Checks pass")
    page.wait_for_function(f"Math.abs({TOP} - {before}) <= 2")


def _at_line(page, number):
    page.locator("#config-json").scroll_into_view_if_needed()
    page.locator("#config-json .cm-line").nth(number).click()
    page.keyboard.press("End")
    page.wait_for_timeout(300)  # the browser has scrolled


def test_on_a_phone_the_folds_are_one_list_below_a_low_editor(page):
    page.set_viewport_size({"width": 390, "height": 844})
    names = ["ZeRO stages compared", "Other configs: speed and memory", "Save as preset", "Compare with a preset"]
    names += ["Check against another version", "Code snippets", "What the HF Trainer passes"]
    beneath = page.locator("#beneath-form")
    heads = beneath.locator("summary:visible, .label-wrap:visible")
    expect(heads).to_contain_text(names)

    def steps():
        boxes = [one.bounding_box() for one in heads.all()]
        return [two["y"] - one["y"] for one, two in itertools.pairwise(boxes)]

    wait_until(lambda: all(30 <= step <= 45 for step in steps()))  # the page is narrow at once, its form soon
    editor_box = page.locator("#config-json").bounding_box()
    memory = page.locator("#memory").bounding_box()
    assert editor_box["y"] + editor_box["height"] <= memory["y"] < beneath.bounding_box()["y"]
    assert editor_box["height"] < 340
    assert page.locator("#memory").bounding_box()["y"] < heads.first.bounding_box()["y"]
    # Each of them opens where it is.
    heads.nth(2).click()
    expect(page.locator("#preset-title")).to_be_visible()
    heads.nth(5).click()
    expect(page.locator("#tool-panel .ds-findings-root")).to_contain_text("TrainingArguments")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_on_a_phone_what_is_wrong_comes_first_and_the_bar_leads_to_it_and_to_the_json(page):
    page.set_viewport_size({"width": 390, "height": 844})
    first = findings(page).locator(".ds-finding").first
    expect(page.locator('[data-pointer="/train_batch_size"]')).to_be_in_viewport()  # nothing is wrong: the form
    page.locator("#standing-json").click()
    expect(page.locator("#config-json")).to_be_in_viewport(ratio=0.9)
    replace_text(page, '{"train_batch_size": 8, "zero_optimization": {"stage": 5, "overlap_com": true}}')
    expect(page.locator("#standing-verdict")).to_contain_text("2 errors")
    # What has no room in the bar is not there, rather than cut.
    cut = """(all) => all.filter((one) => { const its = one.getBoundingClientRect();
      const room = one.parentElement.getBoundingClientRect();
      return its.top < room.bottom && (its.right > room.right || its.bottom > room.bottom); }).length"""
    assert page.locator(".ds-standing-chip:visible").evaluate_all(cut) == 0
    page.locator("#standing-verdict").click()
    expect(first).to_be_in_viewport()
    # Without a press it is in the first screen.
    page.evaluate("window.scrollTo(0, 0)")
    expect(first).to_be_in_viewport(ratio=1)
    form, found = page.locator("#config-form"), page.locator("#findings")
    assert found.bounding_box()["y"] + found.bounding_box()["height"] <= form.bounding_box()["y"]
    # What is typed in a field stays where it is when findings come above it, in a browser too that doesn't see to it.
    page.add_style_tag(content="* { overflow-anchor: none !important }")
    page.click('[data-tab="batch"]')
    batch = page.locator('input[data-pointer="/gradient_accumulation_steps"]')
    batch.scroll_into_view_if_needed()
    replace_text(page, '{"zero_optimization": {}, "train_batch_size": 8}')
    expect(found.locator(".ds-finding.ds-error")).to_have_count(0)
    batch.focus()
    at = batch.bounding_box()["y"]
    batch.press_sequentially("-8")
    expect(found.locator(".ds-finding.ds-error").first).to_be_attached()
    wait_until(lambda: abs(batch.bounding_box()["y"] - at) <= 3)


def test_the_code_people_need_next_is_shown_and_copied(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Code snippets").click()
    panel = page.locator("#tool-panel")
    expect(panel).to_contain_text('deepspeed="ds_config.json"')
    panel.get_by_role("button", name="Copy").click()
    assert "TrainingArguments(" in page.evaluate("navigator.clipboard.readText()")
    choose(page, "#snippet", "accelerate YAML")
    expect(panel).to_contain_text("deepspeed_config_file")
    choose(page, "#snippet", "deepspeed.initialize")
    expect(panel).to_contain_text("deepspeed.initialize(")
    # Another press closes it.
    tool = page.get_by_role("group", name="Tools").get_by_role("button", name="Code snippets")
    expect(tool).to_have_attribute("aria-expanded", "true")
    tool.click()
    expect(tool).to_have_attribute("aria-expanded", "false")
    expect(page.locator("#snippet")).to_be_hidden()
    expect(panel).not_to_contain_text("deepspeed.initialize(")


def test_the_trainers_tool_starts_with_the_launch_arguments_and_makes_the_findings_exact(page):
    page.get_by_role("tab", name="2 · Launch").click()
    page.locator("#arguments textarea, #arguments input").first.fill("--max_steps 77")
    page.get_by_role("tab", name="1 · Configure").click()
    replace_text(page, '{"train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 2}}')
    wait_for_config(page, "c.train_micro_batch_size_per_gpu === 4")
    page.get_by_role("button", name="What the HF Trainer passes").click()
    typed = page.locator("#training-arguments textarea")
    expect(typed).to_have_value("--max_steps 77")
    typed.fill("--per_device_train_batch_size 2 --bf16")
    panel = page.locator("#tool-panel")
    expect(panel.locator("tr", has_text="bf16.enabled").first).to_contain_text("TrainingArguments")
    expect(panel).to_contain_text("The Trainer stops first with an error")
    expect(findings(page)).to_contain_text("- ds train_micro_batch_size_per_gpu=4 vs hf per_device_train_batch_size=2")
    findings(page).get_by_role("button", name="Set train_micro_batch_size_per_gpu to “auto”").click()
    wait_for_config(page, "c.train_micro_batch_size_per_gpu === 'auto'")
    expect(findings(page)).not_to_contain_text("- ds ")
    choose(page, "#integration", "native DeepSpeed")
    expect(panel).to_contain_text("Native DeepSpeed gets the file unchanged")
    page.get_by_role("button", name="Check against another version").click()  # another tool, with a fix to press
    choose(page, "#move-to", "0.14.5")
    panel.locator('[data-pointer="/gradient_clipping"]').click()
    wait_for_config(page, "c.gradient_clipping === 1")


@pytest.mark.parametrize("width", [1280, 390])
def test_a_line_of_the_editor_is_broken_in_no_number_and_none_is_left_empty(browser, app, width):
    keys = {"k" * length: 500000000 for length in range(10, 22)}  # at one of them the line is full within the number
    zero = {"stage": 3, "stage3_param_persistence_threshold": 500000000, **keys}
    screen = {"viewport": {"width": width, "height": 844}, "has_touch": width == 390}
    with opened(browser, app, BEEN_HERE, **screen) as page:
        replace_text(page, json.dumps({"zero_optimization": zero}, indent=4))
        expect(editor(page)).to_contain_text("stage3_param")
        rows = """(words) => words.map((word) => { const walker = document.createTreeWalker(
          document.querySelector("#config-json .cm-content"), NodeFilter.SHOW_TEXT), found = [];
          for (let node; (node = walker.nextNode()); ) if (node.data.includes(word)) {
            const range = document.createRange(), at = node.data.indexOf(word);
            range.setStart(node, at); range.setEnd(node, at + word.length);
            const line = node.parentElement.closest(".cm-line").getBoundingClientRect();
            found.push([new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size,
              Math.round(range.getClientRects()[0].top - line.top) < 10]); }
          return found; })"""
        numbers, keys = page.evaluate(rows, ["500000000", "stage3_param_persistence"])
        assert {count for count, _ in numbers} == {1}
        assert len(numbers) > 5
        assert keys[0][1]  # on the line that its number is beside
        copy = page.locator("#config-json").get_by_role("button", name="Copy").bounding_box()
        assert min(copy["width"], copy["height"]) >= (40 if width == 390 else 24)
