"""The form in a real browser: segments, steps, auto; findings at their field and beside the editor's lines."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.support.app_server import BEEN_HERE
from tests.support.browser import choose, editor, findings, json_text, replace_text
from tests.support.pages import opened

pytestmark = pytest.mark.browser
CONFIG = {"train_batch_size": -8, "zero_optimization": {"stage": 2, "overlap_comm": True, "bogus": 3}}


def wait_for_config(page, condition):
    page.wait_for_function(
        f"(() => {{ const c = JSON.parse(localStorage.getItem('dsgui.config')); return {condition} }})()"
    )


def wait_for_cursor(page, text):
    """Until the editor's cursor stands in a line with `text`."""
    line = "getSelection().anchorNode?.parentElement?.closest('#config-json .cm-line')?.textContent.includes(text)"
    page.wait_for_function(f"(text) => {line}", arg=text)


def mark(page, line):
    return page.locator("#config-json .cm-lineNumbers [data-mark]").get_by_text(str(line), exact=True)


def test_auto_has_no_steps_and_what_takes_a_value_away_is_there_where_it_is_pointed_at(page):
    row = page.locator('[data-row="/train_batch_size"], :has(> * [data-pointer="/train_batch_size"]).ds-field').first
    steps, auto, clear = row.locator(".ds-stepper"), row.locator(".ds-auto"), row.locator(".ds-clear")
    replace_text(page, '{"train_batch_size": 8}')
    expect(steps).to_have_count(2)
    expect(steps.first).to_be_visible()
    page.mouse.move(0, 0)
    expect(clear).to_have_css("opacity", "0")
    row.hover()
    expect(clear).to_have_css("opacity", "1")
    right = "(e) => e.getBoundingClientRect().right"
    before = auto.evaluate(right)
    auto.click()
    expect(auto).to_have_attribute("aria-pressed", "true")
    expect(steps.first).to_be_hidden()
    assert auto.evaluate(right) == before  # nothing moves under the pointer
    auto.click()
    expect(steps.first).to_be_visible()


def test_a_switch_has_three_states_and_a_short_list_is_chosen_by_the_arrow_keys(page):
    replace_text(page, json.dumps({"train_batch_size": 8, "zero_optimization": {"stage": 2}}))
    page.click('[data-tab="zero"]')
    switch = page.get_by_role("radiogroup", name="zero_optimization.contiguous_gradients")
    expect(switch.get_by_role("radio", name="not set")).to_be_checked()
    switch.get_by_role("radio", name="off").check()
    wait_for_config(page, "c.zero_optimization.contiguous_gradients === false")
    switch.get_by_role("radio", name="not set").check()
    wait_for_config(page, "!('contiguous_gradients' in c.zero_optimization)")
    stage = page.get_by_role("radiogroup", name="zero_optimization.stage")
    stage.get_by_role("radio", name="2").focus()
    page.keyboard.press("ArrowRight")
    wait_for_config(page, "c.zero_optimization.stage === 3")
    expect(stage.get_by_role("radio", name="3")).to_be_focused()
    # What the list doesn't offer is shown as it stands, and goes when it is gone.
    replace_text(page, '{"zero_optimization": {"stage": "many"}}')
    expect(stage.get_by_role("radio", name="many")).to_be_checked()
    stage.get_by_role("radio", name="1").check()
    wait_for_config(page, "c.zero_optimization.stage === 1")
    expect(stage.get_by_role("radio", name="many")).to_have_count(0)


def test_the_editor_gaining_and_losing_the_focus_moves_nothing(page):
    height = "document.documentElement.scrollHeight"
    # What comes with the first answers has its place.
    expect(findings(page)).to_contain_text("Checks pass")
    expect(page.locator(".ds-mem-head").first).to_be_visible()
    page.locator(".ds-search").focus()
    expect(page.locator("#config-json")).to_have_attribute("data-hint", re.compile("Tab"))
    apart = page.evaluate(height)
    page.locator("#config-json .cm-content").focus()
    assert page.evaluate(height) == apart
    page.locator(".ds-search").focus()
    assert page.evaluate(height) == apart


def _counted_in(more):
    return sum(map(int, re.findall(r"\d+", more.text_content())))


def test_a_count_goes_by_steps_and_auto_is_one_press(page):
    replace_text(page, '{"train_batch_size": 8}')
    page.click('[data-tab="batch"]')
    batch = page.locator('input[data-pointer="/train_batch_size"]')
    expect(batch).to_have_value("8")
    page.get_by_role("button", name="Increase train_batch_size").click()
    wait_for_config(page, "c.train_batch_size === 9")
    batch.focus()
    page.keyboard.press("ArrowDown")
    wait_for_config(page, "c.train_batch_size === 8")
    auto = page.get_by_role("button", name="auto: train_batch_size")
    auto.click()
    wait_for_config(page, "c.train_batch_size === 'auto'")
    expect(auto).to_have_attribute("aria-pressed", "true")
    auto.click()
    wait_for_config(page, "!('train_batch_size' in c)")


def test_findings_stand_at_their_field_and_beside_their_line_and_lead_to_each_other(page):
    replace_text(page, json.dumps(CONFIG, indent=2))
    page.click('[data-tab="batch"]')
    at_field = page.locator('[data-row="/train_batch_size"] .ds-at-field button')
    expect(at_field.first).to_contain_text("Error -8 is not a whole number of 1 or more")
    expect(mark(page, 2)).to_have_attribute("data-mark", "error")
    # The list of findings ends with a whole one, and tells how many more there are.
    page.set_viewport_size({"width": 1280, "height": 420})
    more = findings(page).locator(".ds-more-findings button")
    expect(more).to_have_text("1 note ↓")
    # It is as long as what it shows: it does not scroll within the page, nor does the Tab key go where nothing is seen.
    hidden = findings(page).locator(".ds-finding[hidden]").count()
    assert hidden > 0
    assert _counted_in(more) == hidden
    assert page.evaluate(
        "() => { const list = document.querySelector('#findings .ds-findings > ul');"
        " return list.scrollHeight === list.clientHeight && list.style.maxHeight === ''; }"
    )
    more.focus()
    page.keyboard.press("Enter")
    expect(more).to_have_text("Show fewer ↑")
    expect(more).to_be_focused()
    expect(findings(page).locator(".ds-finding").last).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 900})
    expect(page.locator('#config-json [title^="-8"]')).to_have_count(1)
    expect(mark(page, 3)).to_have_count(0)
    # A key that no section knows is told in that of the keys beside it.
    expect(page.get_by_role("tab", name=re.compile(r"^ZeRO \(1 error\)"))).to_be_visible()
    page.click('[data-tab="zero"]')
    unknown = page.locator('[data-section="zero"] > .ds-at-field button')
    expect(unknown).to_contain_text("zero_optimization.bogus: zero_optimization has no such key")
    mark(page, 2).click()
    expect(page.locator('input[data-pointer="/train_batch_size"]')).to_be_focused()
    at_field.first.click()
    listed = findings(page).get_by_role("button", name="train_batch_size", exact=True).first
    expect(listed).to_be_focused()
    expect(listed).to_be_in_viewport()
    # A key that is no field of the form: the list and the mark lead to its line.
    findings(page).get_by_role("button", name="zero_optimization.bogus", exact=True).click()
    wait_for_cursor(page, '"bogus": 3')
    replace_text(page, '{"train_batch_size": 8}')
    expect(at_field.filter(has_text="-8")).to_have_count(0)
    expect(page.locator('#config-json [title^="-8"]')).to_have_count(0)
    assert json.loads(json_text(page)) == {"train_batch_size": 8}


def test_a_finding_is_told_once_in_full_and_at_its_field_in_one_line_that_leads_there(page):
    page.set_viewport_size({"width": 1280, "height": 500})
    batch = {"train_batch_size": 100, "train_micro_batch_size_per_gpu": 4}
    replace_text(page, json.dumps({"steps_per_print": -1, "fp16": {"loss_scale": -1}, "zero": 1} | batch))
    page.click('[data-tab="batch"]')
    here = page.locator('[data-row="/train_batch_size"] .ds-at-field')
    line, row = here.get_by_role("button", name="Error 100 is not"), page.locator('[data-row="/train_batch_size"]')
    expect(line).to_be_visible()
    assert here.get_by_role("button").count() == here.locator("li").count()  # what mends it is in the list alone
    assert line.bounding_box()["height"] < 30
    assert line.bounding_box()["x"] + line.bounding_box()["width"] <= sum(
        row.bounding_box()[one] for one in ("x", "width")
    )
    # Where it leads may be below those that stand open.
    offered = findings(page).locator('[data-pointer="/train_batch_size"][data-fix]').first
    expect(findings(page).locator(".ds-finding[hidden]").first).to_be_attached()
    line.click()
    expect(offered).to_be_in_viewport()
    assert page.evaluate("document.activeElement.dataset.goto") == "/train_batch_size"
    offered.click()
    expect(line).to_have_count(0)


def test_on_a_phone_the_form_stays_within_the_screen(page):
    page.set_viewport_size({"width": 390, "height": 800})
    replace_text(page, json.dumps(CONFIG, indent=2))
    for section in ("batch", "precision", "zero", "optimizer"):
        page.click(f'[data-tab="{section}"]')
        expect(page.locator(f'[data-section="{section}"]')).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    # A search stays where it is while it is in view, with how much it found, in each section too.
    page.locator(".ds-search").scroll_into_view_if_needed()
    page.fill(".ds-search", "bu")
    at = page.evaluate("scrollY")
    page.fill(".ds-search", "bucket")
    assert page.evaluate("scrollY") == at
    expect(page.locator(".ds-search-keys")).to_be_hidden()
    count = page.locator(".ds-search-count")
    expect(count).to_have_text(re.compile(r"^\d+ fields match$"))
    expect(page.locator(".ds-field:visible").first).to_be_in_viewport()
    counted = page.eval_on_selector_all("[data-tab]", "(all) => all.reduce((n, { dataset }) => n + +dataset.count, 0)")
    assert f"{counted} fields match" == count.inner_text()
    # One that stands at the end of the screen goes up with what it found: the answer above the form came late.
    search = page.locator(".ds-search")
    page.fill(".ds-search", "")
    search.evaluate("(one) => scrollBy(0, one.getBoundingClientRect().bottom - innerHeight + 4)")
    search.press_sequentially("bucket")
    expect(page.locator(".ds-field:visible").first).to_be_in_viewport(ratio=1)
    # One that the bar hides comes out below it.
    search.evaluate("(one) => scrollBy(0, one.getBoundingClientRect().top - 10)")
    search.evaluate("(one) => one.dispatchEvent(new Event('input', { bubbles: true }))")
    beneath = """(one) => one.getBoundingClientRect().top >=
      document.querySelector("#workspace-bar").getBoundingClientRect().bottom"""
    assert search.evaluate(beneath)
    page.fill(".ds-search", "")
    expect(count).to_be_hidden()
    hides = "(one) => { for (; one; one = one.parentElement) if (getComputedStyle(one).display === 'none') return 1; }"
    assert not count.evaluate(hides)  # a status that appears with its text is not read out


TYPOS = {
    "train_batch_size": 33,
    "train_micro_batch_size_per_gpu": 4,
    "gradient_accumulation_steps": 4,
    "fp16": {"enabld": False},
    "bf16": {"enabled": True, "check_grad_overflw": True},
    "optimizer": {"type": "AdamW", "params": {"lr": 2e-5}},
    "zero_optimisation": {"stage": "3", "offload_optimzer": {"device": "cpu"}, "reduce_bucket_size": 4000},
}


def test_all_fixes_from_the_top_keep_the_block_that_was_misspelt(page):
    choose(page, "#device", "A100 80 GB")  # this machine's CPU may have fp16, or not
    replace_text(page, json.dumps(TYPOS, indent=2))
    fixes = page.locator("#findings .ds-finding:is(.ds-error, .ds-warning) .ds-fix")  # one at a time
    expect(page.locator("#findings .ds-finding").first).to_contain_text("zero_optimisation")
    expect(fixes.first).to_contain_text("Rename to zero_optimization")
    # The tabs count what is wrong; how much is set is in the tooltip.
    precision = page.locator('[data-tab="precision"]')
    expect(precision).to_have_attribute("data-count", "2")
    expect(precision).to_have_attribute("data-chip", "error")
    expect(precision).to_have_attribute("title", "2 errors · 1 set")
    expect(precision).to_contain_text("(2 errors)")
    told = page.locator("#findings .ds-findings")
    while fixes.count():
        before = told.evaluate("(one) => one.outerHTML")
        fixes.first.click()
        page.wait_for_function(
            "(old) => document.querySelector('#findings .ds-findings').outerHTML !== old", arg=before
        )
    expect(page.locator("#findings .ds-verdict")).to_contain_text("Checks pass")
    zero = json.loads(json_text(page))["zero_optimization"]
    assert (str(zero["stage"]), zero["offload_optimizer"], zero["reduce_bucket_size"]) == ("3", {"device": "cpu"}, 4000)


def test_all_plain_fixes_of_errors_are_one_press_and_one_step_of_undo(page):
    choose(page, "#device", "A100 80 GB")
    replace_text(page, json.dumps(TYPOS, indent=2))
    everything = page.get_by_role("button", name=re.compile(r"^Fix \d errors$"))
    expect(everything).to_have_text("Fix 4 errors")
    # It alone is solid; what mends one error is outlined.
    ground = "(one) => getComputedStyle(one).backgroundColor"
    assert everything.evaluate(ground) != "rgba(0, 0, 0, 0)"
    singles = page.locator("#findings .ds-finding .ds-fix")
    assert {one.evaluate(ground) for one in singles.all()} == {"rgba(0, 0, 0, 0)"}
    key = page.locator("#findings .ds-where").first
    assert key.evaluate("(one) => getComputedStyle(one).borderTopWidth") == "0px"  # it is no field
    before = json_text(page)
    everything.click()
    expect(page.locator("#findings .ds-verdict")).to_contain_text("Checks pass")
    expect(everything).to_have_count(0)
    fixed = json.loads(json_text(page))
    assert (fixed["train_batch_size"], fixed["zero_optimization"]["stage"]) == (32, "3")
    page.click("#undo-edit")
    expect(editor(page)).to_contain_text("zero_optimisation")
    assert json_text(page) == before


def test_a_search_leads_with_what_most_are_after_and_ends_with_what_is_not_used(page):
    replace_text(page, '{"train_batch_size": 8, "zero_optimization": {"stage": 2}}')
    rows = "(all) => all.filter((one) => one.offsetParent).map((one) => one.dataset.row)"

    def found(typed):
        page.fill(".ds-search", typed)
        expect(page.locator(".ds-search-count")).to_have_text(re.compile("match"))
        return page.eval_on_selector_all("[data-row]", rows)

    zero = "/zero_optimization"
    for typed in ("memory", "显存"):
        assert found(typed)[:4] == [
            f"{zero}/stage",
            f"{zero}/offload_optimizer/device",
            f"{zero}/offload_param/device",
            "/train_micro_batch_size_per_gpu",
        ]
    assert found("学习率")[0] == found("learning rate")[0] == "/optimizer/params/lr"
    buckets = [one for one in found("bucket") if one.startswith(zero)]
    assert buckets[0] == f"{zero}/reduce_bucket_size"
    assert buckets.index(f"{zero}/stage3_prefetch_bucket_size") > buckets.index(f"{zero}/contiguous_gradients")
    # Each is in its section again.
    page.fill(".ds-search", "")
    page.click('[data-tab="batch"]')
    expect(page.locator('[data-section="batch"] [data-row="/train_micro_batch_size_per_gpu"]')).to_be_visible()
    page.click('[data-tab="zero"]')
    assert page.eval_on_selector_all('[data-section="zero"] [data-row]', rows)[0] == f"{zero}/stage"


def test_what_is_wrong_with_a_text_that_is_no_json_is_said_once(page):
    replace_text(page, '{\n  "fp16": {"enabled": True},\n  "steps_per_print": 1,\n}')
    expect(page.locator(".ds-banner")).to_have_text("Form paused until the JSON is valid.")
    # What is shown of the last text that was JSON waits; of none there is nothing to show.
    expect(page.locator(".ds-memory")).to_have_attribute("inert", "")
    expect(page.locator("#memory-panel")).not_to_contain_text("Fix the JSON first.")
    expect(page.locator("#findings code").first).to_have_text("true")
    told = page.locator("#findings .ds-changes li")
    expect(told).to_have_text([re.compile(r"false, null \(line 2\)$"), re.compile(r"\(line 3\)$")])
    expect(told.first).to_be_visible()  # what mends all of it is not behind a press
    assert page.locator("body").inner_text().count("Line 2, column") == 1
    underlined = "() => [...(CSS.highlights.get('ds-wrong') ?? [])].map(String)"
    assert page.evaluate(underlined) == ["True"]
    # That no model is named holds until one is.
    expect(page.locator(".ds-memory")).to_contain_text("no model yet")
    page.fill("#memory-model textarea, #memory-model input", "7B")
    expect(page.locator(".ds-memory")).to_contain_text("Fix the JSON first.")
    page.fill("#memory-model textarea, #memory-model input", "")
    page.reload()
    expect(page.locator("#memory-panel")).to_contain_text("Fix the JSON first.")
    expect(page.locator(".ds-before")).to_have_count(0)
    replace_text(page, "{}")
    expect(page.locator(".ds-banner")).to_have_text("")
    assert page.evaluate(underlined) == []


def test_an_edit_during_a_search_moves_no_row_and_keeps_the_focus(page):
    replace_text(page, json.dumps({"train_batch_size": 8, "zero_optimization": {"stage": 2}}))
    page.fill(".ds-search", "stage")
    stages = page.get_by_role("radiogroup", name="zero_optimization.stage")
    order = """() => [...document.querySelectorAll(".ds-panels [data-row]")]
      .filter((row) => row.checkVisibility()).map((row) => row.dataset.row)"""
    before = page.evaluate(order)
    stages.get_by_role("radio", name="2").focus()
    page.keyboard.press("ArrowRight")
    wait_for_config(page, "c.zero_optimization.stage === 3")
    expect(page.locator("#findings .ds-verdict")).to_contain_text("pass")
    assert page.evaluate(order) == before
    expect(stages.get_by_role("radio", name="3")).to_be_focused()


HELD = ".ds-field:visible .ds-held:visible"


def test_what_a_search_finds_is_a_line_each_that_opens_where_it_stands(page):
    zero = "/zero_optimization"
    replace_text(page, '{"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}}')
    page.click('[data-tab="offload"]')
    whole = page.locator(f'[data-row="{zero}/offload_optimizer/device"]').bounding_box()["height"]
    page.fill(".ds-search", "offload")
    device = page.locator(f'[data-row="{zero}/offload_optimizer/device"]')
    expect(device.locator(".ds-held")).to_have_text("cpu")
    expect(page.locator(f'[data-row="{zero}/offload_optimizer/ratio"] .ds-held')).to_have_text("default 1.0")
    expect(device.locator(".ds-control")).to_be_hidden()
    rows = page.locator(".ds-field:visible")
    assert rows.count() > 30
    tall = rows.evaluate_all("(all) => all.map((one) => one.offsetHeight)")
    assert max(tall) < whole
    assert sum(tall) / len(tall) < 75
    found = page.locator('[data-section="offload"] .ds-section-title')
    count = page.locator('[data-section="offload"] .ds-field:visible').count()
    expect(found).to_have_attribute("data-count", str(count))
    # A press anywhere on it opens it and closes no other; its button closes it again.
    device.locator(".ds-help").click()
    expect(device.get_by_role("radio", name="cpu")).to_be_focused()
    device.get_by_role("radio", name="nvme").check()
    wait_for_config(page, "c.zero_optimization.offload_optimizer.device === 'nvme'")
    expect(device.locator(".ds-control")).to_be_visible()
    device.locator(".ds-result").click()
    expect(device.locator(".ds-control")).to_be_hidden()
    expect(device.locator(".ds-held")).to_have_text("nvme")
    # In its section it is whole again.
    page.fill(".ds-search", "")
    page.click('[data-tab="offload"]')
    expect(device.locator(".ds-control")).to_be_visible()
    expect(device.locator(".ds-result")).to_be_hidden()


def test_the_keyboard_goes_through_what_a_search_finds(page):
    replace_text(page, '{"zero_optimization": {"stage": 2}}')
    search = page.locator(".ds-search")
    search.fill("offload")
    buttons = page.locator(".ds-result:visible")
    search.press("ArrowDown")
    expect(buttons.first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(buttons.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator('[data-pointer="/zero_optimization/offload_optimizer/ratio"]')).to_be_focused()
    page.keyboard.press("Escape")
    expect(buttons.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(search).to_be_focused()
    search.press("Enter")
    expect(page.locator(".ds-opened:visible").first.locator("input:focus")).to_have_count(1)


def test_a_whole_key_or_pointer_leads_a_search_and_stands_open(page):
    stage = page.locator('[data-row="/zero_optimization/stage"]')
    for typed in ("zero_optimization.stage", "/zero_optimization/stage", "stage"):
        page.fill(".ds-search", typed)
        expect(page.locator(".ds-field:visible").first).to_have_attribute("data-row", "/zero_optimization/stage")
        expect(stage.locator(".ds-control")).to_be_visible()
        expect(page.locator(HELD).first).to_be_visible()  # the others are lines
    page.fill(".ds-search", "prefetch")  # few are not closed
    expect(page.locator(HELD)).to_have_count(0)


def test_what_a_field_is_for_is_its_first_sentence_and_the_rest_a_press_away(page):
    batch = page.locator('[data-row="/train_batch_size"]')
    text, rest, more = batch.locator(".ds-help"), batch.locator(".ds-help .ds-rest"), batch.locator(".ds-help-more")
    seen = "(one) => one.getBoundingClientRect().height > 4"
    assert not rest.evaluate(seen)
    expect(batch.locator("[data-pointer]")).to_have_accessible_description(re.compile("if all are given the product"))
    # By keyboard, next to what it is about.
    batch.locator(".ds-at-field button").last.focus()
    page.keyboard.press("Tab")
    expect(more).to_be_focused()
    expect(more).to_have_accessible_name("What train_batch_size is for")
    page.keyboard.press("Enter")
    expect(more).to_have_attribute("aria-expanded", "true")
    assert rest.evaluate(seen)
    page.keyboard.press("Enter")
    expect(more).to_have_attribute("aria-expanded", "false")
    assert not rest.evaluate(seen)
    # By a press on the line, and by another; who selects a part of it presses nothing.
    for expanded in ("true", "false", "true"):
        text.click(position={"x": 30, "y": 10})
        expect(more).to_have_attribute("aria-expanded", expanded)
    text.dblclick(position={"x": 30, "y": 10})
    assert page.evaluate("String(getSelection())")
    expect(more).to_have_attribute("aria-expanded", "false")  # by the first of the two
    # A single sentence has no button.
    page.get_by_role("button", name="Show all fields").click()
    page.click('[data-tab="zero"]')
    buttons = """() => [...document.querySelectorAll("[data-section=zero] .ds-help")].map((one) => [
      one.querySelector(".ds-rest") !== null, one.parentElement.querySelector(".ds-help-more") !== null])"""
    page.wait_for_function(f"() => new Set(({buttons})().map(String)).size === 2")
    assert {tuple(one) for one in page.evaluate(buttons)} == {(True, True), (False, False)}


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_what_is_said_at_a_field_is_not_cut(page, width):
    """What it is for and what was found, whatever the width; its sign for more stands on a line with a word of it."""
    page.set_viewport_size({"width": width, "height": 844})
    replace_text(page, '{"train_batch_size": 100, "train_micro_batch_size_per_gpu": 4}')
    expect(page.locator('[data-row="/train_batch_size"] .ds-at-field button').first).to_be_visible()
    cut = """() => [...document.querySelectorAll("#config-form :is(.ds-help, .ds-at-field button)")]
      .filter((one) => one.checkVisibility() && getComputedStyle(one).textOverflow === "ellipsis"
        || one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline")
      .map((one) => one.textContent)"""
    assert page.evaluate(cut) == []
    alone = """() => [...document.querySelectorAll("#config-form .ds-help-more")].filter((one) => one.checkVisibility())
      .filter((one) => { const text = one.previousElementSibling.getClientRects();
        return one.getBoundingClientRect().top > text[text.length - 1].bottom; }).length"""
    assert page.evaluate(alone) == 0


def test_notes_alone_leave_the_room_to_what_stands_below_them(page):
    page.set_viewport_size({"width": 1280, "height": 900})
    json_box = page.locator("#config-json")
    more = findings(page).locator(".ds-more-findings button")
    notes = findings(page).locator(".ds-finding")
    expect(more).to_have_text("2 notes ↓")
    expect(notes.first).to_be_hidden()
    assert json_box.bounding_box()["y"] < 540
    more.click()
    expect(more).to_have_text("Hide notes ↑")
    expect(more).to_be_focused()
    expect(notes).to_have_count(2)
    expect(notes.last).to_be_visible()
    # Errors leave the JSON in the window, too.
    offload = {"stage": 2, "offload_param": {"device": "cpu"}}
    batch = {"train_batch_size": 100, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 8}
    replace_text(page, json.dumps({**batch, "zero_optimization": offload, "gradient_clipping": "high"}))
    expect(findings(page).locator(".ds-verdict")).to_contain_text("2 errors, 1 warning")
    expect(findings(page).locator(".ds-finding").first).to_be_visible()
    assert json_box.bounding_box()["y"] < 750


def test_on_a_phone_the_sections_go_to_the_first_in_which_a_search_finds_something(page):
    page.set_viewport_size({"width": 390, "height": 844})
    sections = page.locator(".ds-tabs")
    page.fill(".ds-search", "tensorboard")
    first = page.locator(".ds-tabs [data-tab]:not(.ds-nowhere)").first
    expect(first).to_contain_text("Logging")
    assert _within(first, sections)
    page.get_by_role("button", name="Clear search").click()
    assert _within(page.locator('.ds-tabs [data-tab="batch"]'), sections)


def _within(one, line):
    box, around = one.bounding_box(), line.bounding_box()
    return around["x"] <= box["x"] and box["x"] + box["width"] <= around["x"] + around["width"]


def test_the_button_that_clears_a_field_stands_beside_it_at_every_width(page):
    apart = """() => [...document.querySelectorAll(".ds-control:has(> .ds-auto)")].filter((one) => one.offsetWidth)
      .filter((one) => { const [auto, clear] = [".ds-auto", ".ds-clear"].map((name) =>
        one.querySelector(name).getBoundingClientRect()); return clear.top > auto.bottom || auto.right > clear.left; })
      .map((one) => one.closest("[data-row]").dataset.row)"""
    unit = page.locator('[data-row="/gradient_accumulation_steps"] .ds-unit')
    for width in (390, 768, 1021, 1050, 1100, 1200, 1280, 1700):
        page.set_viewport_size({"width": width, "height": 900})
        expect(page.locator('[data-row="/train_batch_size"] .ds-auto')).to_be_visible()
        assert page.evaluate(apart) == [], width
        assert unit.evaluate("(one) => one.getClientRects().length") == 1, width
        assert unit.bounding_box()["height"] < 30, width  # "micro batches" is one line
    page.set_viewport_size({"width": 1280, "height": 900})
    title = page.locator('[data-row="/gradient_accumulation_steps"] .ds-title').bounding_box()
    assert abs(unit.bounding_box()["y"] - title["y"]) < title["height"] / 2  # the one of its name


def test_what_was_searched_for_is_marked_and_a_section_without_it_is_faded_and_leaves_the_search(page):
    replace_text(page, '{"zero_optimization": {"stage": 2}}')
    expect(page.locator(".ds-search-clear")).to_be_hidden()
    page.fill(".ds-search", "offload")
    row = page.locator('[data-row="/zero_optimization/offload_optimizer/device"]')
    expect(row.locator(".ds-title mark")).to_have_text("Offload")
    expect(row.locator(".ds-key mark")).to_have_text("offload")
    expect(row.locator(".ds-key")).to_have_text("zero_optimization.offload_optimizer.device")
    expect(page.locator(".ds-section-title:visible").first).to_have_text("Offload")
    faded = page.locator(".ds-tabs .ds-nowhere")
    assert faded.count() > 3
    assert not page.locator(".ds-tabs .ds-nowhere:not([data-count=''])").count()
    for typed in ("lr", "学习率"):  # what leads stands in no section, and has a head all the same
        page.fill(".ds-search", typed)
        expect(page.locator(".ds-section-title:visible").first).to_have_text("Best match")
        first = page.locator('.ds-panels [data-row="/optimizer/params/lr"]')
        expect(first.locator("mark").last).to_be_visible()
    page.fill(".ds-search", "no such field")
    nothing = page.locator(".ds-nothing")
    expect(nothing).to_contain_text("No field matches “no such field”. Try")
    expect(nothing).to_contain_text(re.compile(r"key, name and description of all \d{3} fields"))
    told, tabs = page.locator(".ds-search-told"), page.locator(".ds-tabs")
    expect(told.locator(".ds-search-count")).to_have_text("0 fields match")
    expect(tabs).to_be_hidden()  # no section has anything
    told.get_by_role("button", name="Clear search").click()
    expect(tabs).to_be_visible()
    expect(page.locator(".ds-search")).to_have_value("")
    expect(page.locator(".ds-search")).to_be_focused()
    expect(page.locator(".ds-field mark:visible")).to_have_count(0)
    expect(faded).to_have_count(0)
    page.fill(".ds-search", "bucket")
    page.click('[data-tab="batch"].ds-nowhere')
    expect(page.locator(".ds-search")).to_have_value("")
    expect(page.locator('[data-section="batch"]')).to_be_visible()
    expect(page.locator(".ds-field mark:visible")).to_have_count(0)


@pytest.mark.parametrize("width", [1280, 390])
def test_eleven_findings_are_two_entries_and_one_press_below_the_verdict(browser, app, width):
    screen = {"viewport": {"width": width, "height": 844}, "has_touch": width == 390}
    with opened(browser, app, BEEN_HERE, **screen) as page:
        choose_framework(page, "native DeepSpeed")
        told = findings(page)
        expect(told.locator(".ds-verdict")).to_contain_text("11 errors, 2 warnings, 1 note")
        page.locator("#standing-verdict").click()  # one tap from wherever it is
        press = told.get_by_role("button", name="Fix 11 errors, 2 warnings")
        expect(press).to_be_in_viewport(ratio=1)
        assert press.bounding_box()["height"] >= (40 if width == 390 else 24)
        assert_above(told.locator(".ds-verdict"), press, told.locator(".ds-finding").first)
        expect(told).to_contain_text("Write what the HF Trainer fills by default, for every “auto”")
        # Alike ones are one entry with all their keys; what is counted is findings.
        expect(told.locator(".ds-finding.ds-error")).to_have_count(2)
        expect(told.locator(".ds-finding.ds-error [data-goto]")).to_have_count(11)
        expect(told.locator(".ds-finding").first).to_contain_text("8 errors")
        hidden = told.locator(".ds-finding[hidden] [data-goto]").count()
        assert _counted_in(told.locator(".ds-more-findings button")) == hidden
        for key in told.locator(".ds-finding:not(.ds-brief) [data-goto]").filter(visible=True).all():
            assert key.bounding_box()["height"] >= (40 if width == 390 else 24)
        # The next finding is the next key, and each leads to its field.
        told.locator("[data-goto]").first.focus()
        page.keyboard.press("n")
        expect(told.locator('[data-goto="/optimizer/params/betas"]')).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator('#config-form [data-pointer="/optimizer/params/betas"]')).to_be_focused()
        press.click()
        expect(told.locator(".ds-verdict")).to_contain_text("Checks pass (1 note)")
        expect(told.get_by_role("button", name=re.compile("^Fix "))).to_have_count(0)


def choose_framework(page, name):
    """On a narrow screen it is behind a line."""
    if page.locator(".ds-context-fold").is_visible():
        page.click(".ds-context-fold")
    choose(page, "#integration", name)


def assert_above(*parts):
    tops = [one.evaluate("(one) => one.getBoundingClientRect().top + scrollY") for one in parts]  # the page scrolls
    assert tops == sorted(tops)


def test_unknown_keys_of_one_block_are_one_entry_in_which_each_has_its_own_repair(page):
    choose(page, "#integration", "native DeepSpeed")
    own = {f"own_{number}": number for number in range(20)}
    replace_text(page, json.dumps({"train_batch_size": 8, "bf16": {"enabled": True, **own}}, indent=2))
    entry = findings(page).locator(".ds-finding.ds-error")
    expect(entry).to_have_count(1)
    expect(entry).to_contain_text("20 errors")
    seen = entry.locator("[data-goto]:visible")
    expect(seen).to_have_count(12)
    entry.get_by_text("8 more", exact=True).click()
    expect(seen).to_have_count(20)
    entry.get_by_role("button", name="Remove own_7", exact=True).click()
    expect(entry).to_contain_text("19 errors")
    expect(seen).to_have_count(19)  # what was opened stays open
    assert "own_7" not in json.loads(json_text(page))["bf16"]
    expect(page.locator("#standing-verdict")).to_contain_text("19 errors")
