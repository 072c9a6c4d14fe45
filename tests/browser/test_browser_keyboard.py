"""The pages by keyboard and for a screen reader, in Chromium: axe-core finds nothing wrong, nothing holds the focus."""

import json

import pytest
from playwright.sync_api import expect

from tests.answers.remembered import BROWSER
from tests.support.app_server import running_app
from tests.support.browser import editor, json_text, replace_text
from tests.support.chromium.axe import violations
from tests.support.made_runs import Made, make_run
from tests.support.run_fixtures import wait_until

pytestmark = pytest.mark.browser

WRONG = {"train_batch_size": 100, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 8}
# What of the page changes with its tab: the rest was looked at before.
OPEN_PANEL = '#pages > .tabitem:not([style*="none"])'
# The editor's light theme is darkened by a filter, which axe-core does not see: what of it is too pale even so.
PALE = """() => [...document.querySelectorAll("#config-json .cm-line span")].filter((span) => {
  if (!span.textContent.trim() || !span.checkVisibility()) return false;
  const bright = Number(getComputedStyle(span).filter.match(/brightness\\(([\\d.]+)\\)/)[1]);
  const parts = getComputedStyle(span).color.match(/\\d+/g).slice(0, 3).map((one) => (one / 255) * bright);
  const [red, green, blue] = parts.map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) < 4.5;
}).map((span) => span.textContent)"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An app on two runs, and their ids."""
    folder = tmp_path_factory.mktemp("runs")
    ids = [make_run(folder, Made("one", 100)), make_run(folder, Made("other", 100, arguments="--lr 1e-4"))]
    with running_app(folder) as app:
        yield app, ids


@pytest.fixture
def at(browser, made, request):
    """A page of the app, and its runs' ids."""
    scheme, width = getattr(request, "param", ("light", 1280))
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    made[0].sign_in(context)
    page = context.new_page()
    begin(page, made[0].url)
    yield page, *made
    context.close()


def begin(page, url):
    page.goto(url)
    page.wait_for_selector('[data-pointer="/train_batch_size"]', state="attached")
    page.wait_for_selector(".ds-skip", state="attached")


def open_tab(page, number):
    page.locator("#pages > .tab-wrapper [role=tab]").nth(number).click()


# Cheaper: colours that can be read in the dark, tests/ui/site/test_design.py; narrow, test_nothing_is_wider… in
# test_browser_monitor.py; axe on a narrow dark page, test_browser_learn.py, and on a dark report, below. `make
# screenshots` asks axe of every page in every look and in Chinese.
MODES = [("light", 1280)]
OTHERS = [pytest.param(mode, marks=pytest.mark.complete) for mode in (("dark", 390), ("dark", 1280), ("light", 390))]


@pytest.mark.remembered(*BROWSER)
@pytest.mark.parametrize("at", [*MODES, *OTHERS], indirect=True, ids=lambda mode: f"{mode[0]}-{mode[1]}")
def test_axe_finds_nothing_wrong_on_any_page(at):
    page, app, (one, other) = at
    assert violations(page) == []
    page.click("#goal-open")
    assert violations(page, "#goal") == []
    page.click("#goal-skip")
    replace_text(page, json.dumps(WRONG))
    page.locator(".ds-fix").first.wait_for()
    assert violations(page, ".ds-side") == []
    page.fill(".ds-search", "offload")
    assert violations(page, "#config-form") == []
    open_tab(page, 1)
    expect(page.locator("#preflight")).not_to_be_empty()
    assert violations(page, OPEN_PANEL) == []
    open_tab(page, 3)
    page.locator(".ds-readings").wait_for()
    assert violations(page, OPEN_PANEL) == []
    page.keyboard.press("?")
    page.locator("#ds-shortcuts[open]").wait_for()
    assert violations(page, "#ds-shortcuts") == []
    for address in (f"?run={one}", f"?compare={one},{other}"):
        page.goto(app.url + address)
        page.locator("[data-chart]:not([hidden]) .js-plotly-plot").first.wait_for()
        assert violations(page, OPEN_PANEL) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


def test_axe_finds_nothing_wrong_in_a_report(browser, made, tmp_path):
    app, (one, _) = made
    report = tmp_path / "report.html"
    report.write_bytes(app.get(f"dsgui/report?runs={one}").read())
    for scheme in ("light", "dark"):
        with browser.new_context(color_scheme=scheme) as context:
            page = context.new_page()
            page.goto(report.as_uri())
            page.locator(".js-plotly-plot").first.wait_for()
            assert violations(page) == []
            ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert ground == ("rgb(245, 247, 250)" if scheme == "light" else "rgb(12, 17, 24)")


def test_axe_would_find_what_is_wrong(at):
    page, *_ = at
    page.evaluate("document.querySelector('.ds-search').removeAttribute('aria-label')")
    page.evaluate("document.querySelector('.ds-search').removeAttribute('placeholder')")
    assert [text.split(":")[0] for text in violations(page)] == ["label"]


def test_the_editors_words_can_be_read(at):
    page, *_ = at
    page.locator("#config-json .cm-line span").first.wait_for()
    assert page.evaluate(PALE) == []


def test_tab_leaves_the_editor_and_a_hint_says_how_to_indent(at):
    page, *_ = at
    replace_text(page, '{"steps_per_print": 5}')
    expect(page.locator("#config-json")).to_have_attribute("data-hint", "Tab leaves the editor · Ctrl+] indents")
    page.keyboard.press("Control+]")
    page.wait_for_function("localStorage.getItem('dsgui.config').startsWith('  {')")
    before = json_text(page)
    page.keyboard.press("Tab")
    assert not editor(page).evaluate("node => node.contains(document.activeElement)")
    assert json_text(page) == before


# Whether its title and its button are in sight, and how far it is scrolled.
SHEET_HEAD = """(sheet) => [...sheet.querySelectorAll("h2, .ds-sheet-close")].map((one) => {
  const { left, top, width, height } = one.getBoundingClientRect();
  return one.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}).concat(sheet.scrollTop)"""


def test_on_a_phone_the_sheet_opens_at_its_title_and_can_be_shut_from_anywhere_in_it(at):
    page, *_ = at
    page.set_viewport_size({"width": 390, "height": 600})
    page.locator("[data-keys]").first.click()
    sheet = page.locator("#ds-shortcuts[open]")
    expect(sheet.get_by_role("button", name="Close")).to_be_focused()
    assert sheet.evaluate(SHEET_HEAD) == [True, True, 0]
    sheet.evaluate("(node) => (node.scrollTop = node.scrollHeight)")
    title, close, scrolled = sheet.evaluate(SHEET_HEAD)
    assert (title, close, scrolled > 100) == (True, True, True)


def test_shortcuts_are_listed_and_work_but_not_while_typing(at):
    page, *_ = at
    replace_text(page, json.dumps(WRONG))
    page.locator(".ds-fix").first.wait_for()
    page.locator("#findings .ds-fix").first.focus()
    page.keyboard.press("?")
    sheet = page.locator("#ds-shortcuts[open]")
    heads = ["Everywhere", "On Runs", "On Configure", "On Launch"]
    expect(sheet.get_by_role("heading", level=3)).to_have_text(heads)
    told = dict(zip(*(sheet.locator(part).all_inner_texts() for part in ("dt", "dd")), strict=True))
    assert (told["Ctrl+Z\nu"], told["Ctrl+Shift+Z"], told["j\nk"]) == ("Undo", "Redo", "Next or previous run")
    close = sheet.get_by_role("button", name="Close")
    expect(close).to_be_focused()
    edges = [one.bounding_box() for one in (close, sheet.locator("section").nth(0), sheet.locator("section").nth(2))]
    assert edges[2]["x"] > edges[1]["x"] + edges[1]["width"]  # two columns
    assert edges[0]["x"] > edges[2]["x"] + edges[2]["width"] / 2  # at the right
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    page.get_by_role("button", name="Keyboard shortcuts").click()
    expect(sheet).to_be_visible()
    sheet.get_by_role("button", name="Close").click()
    expect(sheet).to_have_count(0)
    page.keyboard.press("n")
    expect(page.locator("#findings [data-goto]").first).to_be_focused()
    page.keyboard.press("/")
    expect(page.locator(".ds-search")).to_be_focused()
    page.keyboard.press("n")
    expect(page.locator(".ds-search")).to_have_value("n")
    page.fill(".ds-search", "")
    page.locator("#findings [data-goto]").first.focus()
    page.keyboard.press("l")
    expect(page.get_by_role("tab", name="2 · Launch")).to_have_attribute("aria-selected", "true")


def focused_run(page):
    """The run whose row has the focus."""
    return page.evaluate("document.activeElement.closest('[data-run]')?.dataset.run ?? ''")


def test_a_key_does_on_runs_what_it_says_there_and_nothing_of_another_page(at):
    page, _, (one, other) = at
    replace_text(page, json.dumps(WRONG))
    expect(page.locator("#findings .ds-verdict")).to_contain_text("2 errors")
    page.locator("#findings .ds-fix").first.focus()
    page.locator("#undo-edit:not([disabled])").wait_for()
    page.keyboard.press("3")
    page.locator(f'[data-run="{other}"]').wait_for()
    for key in ("u", "s", "n", "l", "Control+z"):
        page.keyboard.press(key)
    expect(page.get_by_role("tab", selected=True)).to_have_text("3 · Runs")
    page.wait_for_timeout(500)  # an undo would come soon
    assert json.loads(json_text(page)) == WRONG
    page.keyboard.press("j")
    assert focused_run(page) == other  # the newest
    for key, run in (("j", one), ("j", one), ("k", other), ("k", other)):
        page.keyboard.press(key)
        assert focused_run(page) == run
    compare = page.locator("#compare-runs")
    page.keyboard.press("x")
    expect(page.locator(".ds-run-choose[aria-label]:checked")).to_have_count(1)
    page.keyboard.press("c")  # one alone: nothing
    page.locator(".ds-run-rows .ds-run-choose").nth(1).focus()  # a box is no text
    page.keyboard.press("x")
    expect(compare).to_have_text("Compare 2 runs")
    page.keyboard.press("/")
    expect(page.locator("#search-runs")).to_be_focused()
    page.keyboard.press("c")
    expect(page.locator("#search-runs")).to_have_value("c")
    page.fill("#search-runs", "")
    page.locator(f'[data-run="{one}"] .ds-run-row').focus()
    page.keyboard.press("c")
    expect(page.locator(".ds-run-title")).to_have_text("2 runs compared")
    page.keyboard.press("Escape")
    expect(page.get_by_role("table", name="Runs")).to_be_visible()


def test_on_a_runs_page_keys_go_to_the_next_search_its_output_and_lead_back_to_its_row(at):
    page, app, (_, other) = at
    page.goto(f"{app.url}?run={other}")
    title = page.locator(".ds-run-title")
    expect(title).to_have_text("other")
    for key, name in (("j", "one"), ("j", "one"), ("k", "other"), ("k", "other")):
        page.keyboard.press(key)
        expect(title).to_have_text(name)
    page.wait_for_function("document.querySelector('.ds-run-detail .ds-run').ariaBusy !== 'true'")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search the whole output")).to_be_focused()
    page.keyboard.press("Escape")  # the field's own
    page.locator(".ds-log").focus()
    page.locator(".ds-run-detail [data-menu] > summary").first.click()
    page.keyboard.press("Escape")  # shuts the menu
    expect(page.locator("[data-menu][open]")).to_have_count(0)
    page.keyboard.press("?")
    page.locator("#ds-shortcuts[open]").wait_for()
    page.keyboard.press("Escape")  # shuts the sheet
    expect(page.locator("#ds-shortcuts")).to_have_count(0)
    expect(title).to_have_text("other")
    page.keyboard.press("Escape")
    expect(title).to_have_count(0)
    expect(page.locator(f'[data-run="{other}"] .ds-run-row')).to_be_focused()


def test_the_focus_stays_in_the_findings_after_a_fix(at):
    page, *_ = at
    replace_text(page, json.dumps(WRONG))
    expect(page.locator("#findings .ds-verdict")).to_contain_text("2 errors")
    page.locator("#findings .ds-more-findings button").click()  # it is told in a line
    page.locator("#findings .ds-fix", has_text="Set train_batch_size").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("!localStorage.getItem('dsgui.config').includes('100')")
    page.wait_for_function("document.querySelector('#findings').contains(document.activeElement)")
    # On the next finding's button: one more Enter is one more fix, not all of them.
    zero = {"stge": 2, "reduce_bucket_sise": 1000, "overlap_com": True}
    replace_text(page, json.dumps({"train_batch_size": 8, "zero_optimization": zero}))
    expect(page.get_by_role("button", name="Fix 3 errors")).to_be_visible()
    page.locator("#findings .ds-finding .ds-fix", has_text="Rename to stage").press("Enter")
    expect(page.get_by_role("button", name="Fix 2 errors")).to_be_visible()
    page.wait_for_function("document.activeElement.closest('#findings .ds-finding')")


def test_what_is_folded_of_the_findings_is_no_dead_end_for_the_keyboard(at):
    page, *_ = at
    batch = {"train_batch_size": 9, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 1}
    replace_text(page, json.dumps({**batch, "zero_optimization": {"stage": 1}}))
    expect(page.locator("#findings .ds-verdict")).to_contain_text("1 error")
    page.locator("#findings .ds-fix", has_text="Set train_batch_size").press("Enter")
    expect(page.locator("#findings .ds-verdict")).to_contain_text("Checks pass")  # notes are left, and folded
    page.wait_for_function("document.querySelector('#findings').contains(document.activeElement)")
    page.locator("body").evaluate("() => document.activeElement.blur()")
    page.keyboard.press("n")
    more = page.locator("#findings .ds-more-findings button")
    expect(more).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("n")
    expect(page.locator("#findings .ds-finding [data-goto]").first).to_be_focused()


def test_the_first_stop_of_the_tab_key_leads_past_the_tabs(at):
    page, *_ = at
    page.keyboard.press("Tab")
    expect(page.locator(".ds-skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#pages > [role=tabpanel]").first).to_be_focused()


ASKED = (
    ({"contrast": "more"}, {"contrast": "no-preference"}, "--ds-text", "#000000"),
    ({"reduced_motion": "reduce"}, {"reduced_motion": "no-preference"}, "--ds-quick", "0.01ms"),
    ({"forced_colors": "active"}, {"forced_colors": "none"}, "--ds-page", "Canvas"),
)


def test_what_the_system_asks_of_the_look_reaches_the_page(at):
    page, *_ = at
    for asked, not_asked, name, told in ASKED:
        value = f"getComputedStyle(document.querySelector('.gradio-container')).getPropertyValue('{name}').trim()"
        assert page.evaluate(value) != told
        page.emulate_media(**asked)
        assert page.evaluate(value) == told
        page.emulate_media(**not_asked)


BOX = """() => {
  const [box, field] = ["#choose-every", "#search-runs"].map((one) => getComputedStyle(document.querySelector(one)));
  return [box.appearance, box.backgroundColor === field.backgroundColor];
}"""


def test_a_box_looks_as_fields_do_and_in_forced_colours_as_the_systems(at):
    page, *_ = at
    open_tab(page, 2)
    page.locator("#choose-every").wait_for()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(BOX) == ["none", True]
    page.check("#choose-every")
    assert page.evaluate(BOX) == ["none", False]
    page.emulate_media(forced_colors="active")
    assert page.evaluate(BOX)[0] == "auto"


# The words on Highlight that Chromium puts a piece of Canvas behind, which hides HighlightText.
COVERED = """() => {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.cssText = "forced-color-adjust: none; background: Highlight";
  const highlight = getComputedStyle(probe).backgroundColor;
  probe.remove();
  const filled = [...document.querySelectorAll("body *")].filter((one) =>
    one.checkVisibility() && one.textContent.trim() && getComputedStyle(one).backgroundColor === highlight);
  return [filled.length, filled.filter((one) => getComputedStyle(one).forcedColorAdjust !== "none")
    .map((one) => one.textContent)];
}"""
TICK = """() => {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = "CanvasText";
  const colours = [probe, document.querySelector(".js-plotly-plot .xtick text")];
  const [text, tick] = colours.map((one, at) => getComputedStyle(one)[at ? "fill" : "color"]);
  probe.remove();
  return [text, tick];
}"""


def test_in_forced_colours_what_is_filled_keeps_its_words_and_a_chart_is_read(at):
    page, app, (one, _) = at
    page.emulate_media(forced_colors="active", color_scheme="dark")
    replace_text(page, json.dumps({**WRONG, "bf16": {"enabled": True}}))
    page.locator(".ds-fix").first.wait_for()
    page.click('[data-tab="precision"]')
    count, covered = page.evaluate(COVERED)
    # The way to Launch, the download, a fix, the section, a chosen segment, the language.
    assert (covered, count >= 6) == ([], True)
    begin_run(page, app.url, one)
    count, covered = page.evaluate(COVERED)
    assert (covered, count >= 2) == ([], True)  # the axis, the language
    text, tick = page.evaluate(TICK)
    assert tick == text


def begin_run(page, url, run_id):
    page.goto(f"{url}?run={run_id}")
    page.locator(".js-plotly-plot .xtick text").first.wait_for()


def test_the_editors_focus_is_shown_over_its_line_numbers(at):
    page, *_ = at
    page.locator("#config-json .cm-content").click()
    told = page.evaluate(
        """() => { const ring = getComputedStyle(document.querySelector("#config-json .cm-editor"), "::after");
        const gutters = getComputedStyle(document.querySelector("#config-json .cm-gutters"));
        return [ring.borderTopWidth, ring.borderTopStyle, Number(ring.zIndex) > Number(gutters.zIndex)]; }"""
    )
    assert told == ["2px", "solid", True]


def test_the_key_for_the_search_counts_before_the_form_is_there(browser, made):
    context = browser.new_context()
    context.add_init_script("localStorage.setItem('dsgui.goal', '1')")
    made[0].sign_in(context)
    page = context.new_page()
    held = []
    page.route("**/config/form.js*", lambda route: held.append(route))
    page.goto(made[0].url)
    page.wait_for_function("document.querySelector('#pages [role=tab]')")
    wait_until(lambda: page.evaluate("1") and held)
    page.keyboard.press("/")
    expect(page.locator(".ds-search")).to_have_count(0)
    for route in held:
        route.continue_()
    expect(page.locator(".ds-search")).to_be_focused()
    expect(page.locator(".ds-search")).to_have_value("")
    context.close()
