"""The table of runs in Chromium: what it is scrolled, searched, chosen and edited like."""

import re

import pytest
from playwright.sync_api import expect

from dsgui.shell.runs.store import Store
from tests.browser.running.test_browser_monitor import opened
from tests.support.app_server import running_app
from tests.support.chromium.axe import violations
from tests.support.made_runs import Made, make_many, make_run
from tests.support.run_fixtures import wait_until

pytestmark = pytest.mark.browser

MANY = 40
# Every head stands over its cells: how far its left edge is from theirs, by column.
OFFSETS = """() => [...document.querySelectorAll(".ds-heads > [data-column]")].map((head) => {
  const cell = document.querySelector(`.ds-run-rows [data-column="${head.dataset.column}"]`);
  return head.getBoundingClientRect().left - cell.getBoundingClientRect().left; })"""
# How much of the last row in sight is cut off by the list's edge.
CUT = """() => { const list = document.querySelector(".ds-run-list").getBoundingClientRect();
  const rows = [...document.querySelectorAll(".ds-run-entry")].map((row) => row.getBoundingClientRect());
  return rows.filter((row) => row.top < list.bottom - 2 && row.bottom > list.bottom + 2).length; }"""
SCROLLS = "document.documentElement.scrollHeight > window.innerHeight"
AT_TOP = """(cell) => { const { left, top, width, height } = cell.getBoundingClientRect();
  return cell.contains(document.elementFromPoint(left + width / 2, top + height / 2)); }"""


@pytest.fixture
def many(tmp_path):
    """An app on many runs, the newest with a learning rate; its folder and their ids, oldest first."""
    ids = make_many(tmp_path, MANY)
    ids.append(make_run(tmp_path, Made("t5", 20, arguments="--learning_rate 1e-4")))
    with running_app(tmp_path) as app:
        yield app, tmp_path, ids


def row(page, name):
    return page.locator(".ds-run-rows .ds-run-entry", has=page.get_by_text(name, exact=True))


def box(page, number):
    return page.get_by_label(f"Compare many-{number} with others")


def test_what_can_be_done_with_a_run_is_in_a_menu_at_its_row_by_keyboard_too(browser, many):
    app, folder, ids = many
    with opened(browser, app, "tab=runs") as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        link = row(page, "t5").locator(".ds-run-row")
        link.focus()
        page.keyboard.press("Tab")
        opener = page.get_by_role("button", name="Actions for t5")
        expect(opener).to_be_focused()
        page.keyboard.press("Enter")
        menu = page.get_by_role("menu", name="Actions for t5")
        items = menu.get_by_role("menuitem")
        told = ["Open", "Open in new tab", "Clone and edit", "Rename", "Edit tags", "Edit note", "Pin as baseline"]
        expect(items).to_have_text([*told, "Archive", "Copy run ID", "Copy link", "Delete…"])
        expect(items.first).to_be_focused()
        assert violations(page) == []
        for _ in range(2):
            page.keyboard.press("ArrowUp")
        expect(items.filter(has_text="Copy link")).to_be_focused()
        page.keyboard.press("Enter")
        wait_until(lambda: page.evaluate("navigator.clipboard.readText()") == f"{app.url}?run={ids[-1]}")
        expect(menu).to_have_count(0)
        expect(opener).to_be_focused()
        page.keyboard.press("Enter")
        expect(items.first).to_be_focused()
        page.keyboard.press("Escape")
        expect(menu).to_have_count(0)
        expect(opener).to_be_focused()
        expect(page.locator(".ds-run-table")).to_be_visible()  # and left nothing
        opener.click()
        items.filter(has_text="Rename").click()
        page.get_by_role("textbox", name="Rename").fill("t5 again")
        page.keyboard.press("Enter")
        opener = page.get_by_role("button", name="Actions for t5 again")
        expect(opener).to_be_focused()
        wait_until(lambda: Store(folder).open(ids[-1]).read_label().name == "t5 again")
        opener.click()
        page.get_by_role("menuitem", name="Edit note").click()  # a column that is not shown
        page.get_by_role("textbox", name="Edit note").fill("warm")
        page.keyboard.press("Enter")
        wait_until(lambda: Store(folder).open(ids[-1]).read_label().note == "warm")
        opener.click()
        page.get_by_role("menuitem", name="Pin as baseline").click()
        expect(page.locator(".ds-pinned")).to_contain_text("t5 again")
        opener.click()
        expect(page.get_by_role("menuitem", name="Unpin the baseline")).to_be_visible()
        page.get_by_role("menuitem", name="Archive").click()
        expect(page.locator(".ds-toast")).to_contain_text("1 run archived")
        expect(row(page, "t5 again")).to_have_count(0)
        expect(page.get_by_role("button", name="Undo")).to_be_focused()
        page.keyboard.press("Enter")
        expect(row(page, "t5 again")).to_be_visible()
        opener.click()
        page.get_by_role("menuitem", name="Clone and edit").click()
        expect(page.locator(".ds-cloned")).to_contain_text("t5 again")
        page.get_by_role("tab", name="3 · Runs").click()
        asked = page.locator(".ds-question")
        opener.click()
        page.get_by_role("menuitem", name="Delete…").click()
        expect(asked).to_contain_text(ids[-1])
        expect(page.locator("#keep-run")).to_be_focused()
        page.keyboard.press("Escape")
        expect(asked).to_have_count(0)
        expect(opener).to_be_focused()
        opener.click()
        page.get_by_role("menuitem", name="Delete…").click()
        page.click("#confirm-delete")
        expect(row(page, "t5 again")).to_have_count(0)
        expect(asked).to_have_count(0)
        expect(page.locator("#search-runs")).to_be_focused()  # the row that had it is gone
        assert ids[-1] not in [one.run_id for one in Store(folder).list()]


def test_heads_stand_over_their_cells_and_menus_and_editors_have_room_and_close(browser, many):
    app, _, _ = many
    with opened(browser, app, "tab=runs") as page:
        expect(row(page, "t5")).to_be_visible()
        wait_until(lambda: not page.evaluate(SCROLLS))
        assert page.evaluate(CUT) == 1  # the last one in sight, which says that more come below it
        fades = "(node) => getComputedStyle(node).maskImage.includes('rgba(0, 0, 0, 0)')"
        assert page.locator(".ds-run-list").evaluate(fades)
        expect(page.get_by_role("columnheader", name="Started")).to_have_attribute("aria-sort", "descending")
        figure = row(page, "t5").locator('[data-column="best_loss"]')
        assert figure.evaluate("node => getComputedStyle(node).textAlign") == "right"
        expect(row(page, "t5").locator('[data-column="final_loss"]')).to_have_text("0.3632")  # that of its curve

        menu, opener = page.locator("#choose-columns"), page.locator("#choose-columns summary")
        before = page.locator(".ds-run-list").bounding_box()
        opener.click()
        assert page.locator(".ds-run-list").bounding_box() == before  # it opens over the table
        box = page.locator(".ds-columns-list").bounding_box()
        assert box["y"] < before["y"] < box["y"] + box["height"]
        assert page.locator(".ds-columns-list input").first.evaluate(AT_TOP)
        expect(page.locator(".ds-columns-group:not([hidden])").first).to_be_visible()
        assert violations(page) == []
        page.get_by_label("Note", exact=True).check()
        page.get_by_label("Tags", exact=True).check()
        page.keyboard.press("Escape")
        expect(menu).not_to_have_attribute("open", "")
        expect(opener).to_be_focused()
        opener.click()
        expect(page.get_by_label("Note", exact=True)).to_be_visible()
        row(page, "many-30").locator('[data-column="date"]').click()
        expect(menu).not_to_have_attribute("open", "")
        expect(page.locator(".ds-run-title")).to_have_count(0)  # the press did nothing else

        for what in ("tags", "note"):
            row(page, "t5").hover()
            row(page, "t5").get_by_role("button", name=f"Edit {what}").click()
            editor = page.get_by_role("textbox", name=f"Edit {what}")
            expect(editor).to_be_focused()
            assert editor.bounding_box()["width"] >= 320
            editor.fill("one, and-another, third")
            page.keyboard.press("Enter")
            expect(editor).to_have_count(0)
        expect(row(page, "t5").locator(".ds-tag")).to_have_text(["one"])
        expect(row(page, "t5").locator('[data-column="tags"]')).to_contain_text("+2")
        row(page, "t5").hover()
        assert row(page, "t5").get_by_role("button", name="Edit tags").evaluate(AT_TOP)

        page.set_viewport_size({"width": 780, "height": 700})
        opener.click()
        box = page.locator(".ds-columns-list").bounding_box()
        assert 0 < box["x"] < box["x"] + box["width"] < 780  # within the window
        page.keyboard.press("Escape")
        wait_until(lambda: not page.evaluate(SCROLLS) and page.evaluate(CUT) == 1)
        page.locator(".ds-run-list").evaluate("list => { list.scrollLeft = 300; list.scrollTop = 200; }")
        wait_until(lambda: max(map(abs, page.evaluate(OFFSETS))) < 1)
        row(page, "many-30").hover()
        row(page, "many-30").locator(".ds-run-choose").check()
        for column in ("choose", "name"):
            assert row(page, "many-30").locator(f'[data-column="{column}"]').evaluate(AT_TOP)
            head = page.locator(f'.ds-heads [data-column="{column}"]')
            assert head.evaluate(AT_TOP)
            assert head.evaluate("node => getComputedStyle(node).backgroundColor").startswith("rgb(")  # opaque


def test_runs_are_chosen_in_ranges_or_all_and_archiving_is_undone(browser, many):
    app, folder, ids = many
    every, toast = "#choose-every", ".ds-toast"
    with opened(browser, app, "tab=runs") as page:
        expect(box(page, 38)).to_be_visible()
        hint = page.locator("#add-tag")
        assert hint.get_attribute("placeholder") == "Add tag, press Enter"
        muted = "node => [getComputedStyle(node, '::placeholder').color, getComputedStyle(node).color]"
        assert len(set(hint.evaluate(muted))) == 2
        places = {name: page.locator(name).bounding_box() for name in ("#choose-columns", "#add-folder")}
        box(page, 38).check()
        assert page.locator(every).evaluate("box => box.indeterminate")
        box(page, 35).click(modifiers=["Shift"])
        expect(page.locator("#compare-runs")).to_have_text("Compare 4 runs")
        box(page, 37).click(modifiers=["Shift"])  # as the box is now: off
        expect(page.locator(".ds-run-choose:checked")).to_have_count(1)
        box(page, 37).click()
        page.locator("#archive-runs").click()
        expect(page.locator(toast)).to_contain_text("2 runs archived")
        expect(box(page, 37)).to_have_count(0)
        wait_until(lambda: Store(folder).open(ids[37]).read_label().archived)
        expect(page.get_by_label("Archived (2)")).to_be_visible()
        assert places == {name: page.locator(name).bounding_box() for name in places}

        page.get_by_label("Archived (2)").check()
        box(page, 38).check()
        box(page, 36).check()
        box(page, 35).check()
        expect(page.locator("#archive-runs")).to_have_text("Archive 2")
        page.locator("#archive-runs").press("Enter")
        expect(page.get_by_role("button", name="Undo")).to_be_focused()
        wait_until(lambda: Store(folder).open(ids[36]).read_label().archived)
        page.keyboard.press("Enter")
        wait_until(lambda: not Store(folder).open(ids[36]).read_label().archived)
        assert Store(folder).open(ids[38]).read_label().archived  # it was before
        expect(page.locator(toast)).to_be_hidden()

        page.locator(every).check()
        expect(page.locator("#compare-runs")).to_have_text("At most 6 can be compared")
        page.locator(".ds-run-list").evaluate("list => { list.scrollTop = list.scrollHeight; }")
        expect(box(page, 0)).to_be_checked()
        expect(page.locator(every)).to_be_checked()
        page.locator(every).uncheck()
        expect(page.locator("#compare-runs")).to_be_hidden()

        with page.context.expect_page() as other:
            row(page, "many-3").locator('[data-column="state"]').click(modifiers=["ControlOrMeta"])
        expect(other.value).to_have_url(re.compile(rf"\?run={ids[3]}$"))
        other.value.close()
        with page.context.expect_page() as other:
            row(page, "many-3").locator(".ds-run-row").click(button="middle")
        expect(other.value).to_have_url(re.compile(rf"\?run={ids[3]}$"))
        row(page, "many-2").locator('[data-column="state"]').click()
        expect(page.locator(".ds-run-title")).to_have_text("many-2")


def test_a_search_compares_and_what_is_shown_is_listed_whatever_it_finds(browser, many):
    app, _, ids = many
    with opened(browser, app, "tab=runs") as page:
        count = page.locator(".ds-run-count")
        expect(count).to_have_text(f"{MANY + 1} runs")
        page.focus("#search-runs")
        expect(page.locator("#search-runs-help")).to_contain_text("loss<1")
        page.fill("#search-runs", "lr>=")
        expect(page.locator("#search-runs-help")).to_have_text("Finish `lr>=` with a value, e.g. lr>=1e-4")
        expect(count).to_have_text(f"{MANY + 1} runs")
        page.fill("#search-runs", "lr>=1e-4 stage=3 gpus=2")
        expect(count).to_have_text(f"1 match in {MANY + 1} runs")
        expect(page.locator(".ds-run-name")).to_have_text(["t5"])
        row(page, "t5").locator(".ds-run-choose").check()
        page.click("#archive-runs")
        expect(count).to_have_text("No run matches “lr>=1e-4 stage=3 gpus=2” · 1 archived run matches")
        none = page.locator(".ds-run-none")
        expect(none).to_contain_text("No run matches “lr>=1e-4 stage=3 gpus=2”")
        none.get_by_role("button", name="Show 1 archived match").click()
        expect(page.locator(".ds-run-name")).to_have_text(["t5"])
        expect(none).to_be_hidden()
        page.get_by_label("Archived (1)").uncheck()
        page.fill("#search-runs", "loss<abc")
        expect(none).to_contain_text("Can’t read “loss<abc”: a comparison needs a number, e.g. loss<1")
        expect(none).not_to_contain_text("No run matches")
        expect(none).to_contain_text("lr>=1e-4 · stage=3")  # what can be written
        expect(page.locator("#search-runs-help")).to_be_hidden()  # which is told once
        expect(page.locator("#choose-every")).to_be_disabled()
        page.fill("#search-runs", "los<1")
        expect(none).to_contain_text("No run has a figure, argument or config key named “los”")
        expect(count).to_contain_text("named “los”")
        page.select_option("#filter-state", "queued")
        expect(none).to_contain_text("named “los”")
        expect(page.locator("#clear-search")).to_have_text(f"Show all {MANY} runs")
        page.click("#clear-search")
        expect(page.locator("#filter-state")).to_have_value("")
        expect(count).to_have_text(f"{MANY} runs")
        expect(page.locator("#choose-every")).to_be_enabled()
        expect(page.locator("#search-runs")).to_have_value("")
    with opened(browser, app, f"run={ids[-1]}") as page:
        expect(page.locator('.ds-run-row[aria-current="true"] .ds-run-name')).to_have_text("t5")
        expect(page.locator(".ds-run-name").first).to_have_text("t5")
        expect(page.locator(".ds-run-count")).to_have_text(f"{MANY} runs")
    with opened(browser, app, f"compare={ids[0]},{ids[-1]}") as page:
        expect(page.locator('.ds-run-row[aria-current="true"] .ds-run-name')).to_have_text(["many-0", "t5"])
        expect(page.locator(".ds-run-name").nth(1)).to_have_text("t5")
    with opened(browser, app, f"compare={ids[0]},{ids[1]}") as page:
        state = page.locator(".ds-compare .ds-state")
        expect(state).to_have_text(["succeeded", "failed"])
        expect(state.nth(1)).to_have_attribute("data-state", "failed")  # it has the colour that it has everywhere


def test_how_the_table_is_looked_at_stands_in_its_address_and_is_no_step(browser, many):
    app, _, _ = many
    query = "tab=runs&q=loss%3C0.5+t5-small&state=failed&sort=-name"
    newest = [f"many-{number}" for number in sorted((n for n in range(MANY) if n % 3 == 1), key=str, reverse=True)]
    with opened(browser, app, query) as page:
        names = page.locator(".ds-run-rows .ds-run-name")
        wait_until(lambda: names.all_inner_texts() == newest)
        assert page.url.endswith(f"?{query}")
        assert (page.input_value("#search-runs"), page.input_value("#filter-state")) == ("loss<0.5 t5-small", "failed")
        page.wait_for_function("history.state")
        began = page.evaluate("history.length")
        page.fill("#search-runs", "many-1")
        expect(page).to_have_url(re.compile(r"q=many-1&state=failed&sort=-name$"))
        page.select_option("#filter-state", "")
        expect(page).to_have_url(re.compile(r"\?tab=runs&q=many-1&sort=-name$"))
        assert page.evaluate("history.length") == began
        row(page, "many-1").locator(".ds-run-row").click()
        expect(page.locator(".ds-run-title")).to_have_text("many-1")
        assert "q=" not in page.url
        page.fill("#search-runs", "")
        page.go_back()
        expect(page.locator("#search-runs")).to_have_value("many-1")
        page.reload()
        wait_until(lambda: names.all_inner_texts()[:2] == ["many-19", "many-18"])


def test_the_word_about_archiving_stays_while_it_has_the_focus(browser, many):
    app, _, _ = many
    with opened(browser, app, "tab=runs") as page:
        page.clock.install()
        box(page, 38).check()
        page.locator("#archive-runs").press("Enter")
        undo = page.get_by_role("button", name="Undo")
        expect(undo).to_be_focused()
        page.clock.fast_forward(11_000)
        expect(undo).to_be_focused()
        page.locator("#search-runs").focus()
        page.clock.fast_forward(11_000)
        expect(undo).to_have_count(0)


def test_an_answer_from_before_a_label_was_written_does_not_take_it_back(browser, many):
    app, folder, ids = many
    asked, held, waits = "**/dsgui/runs?*", [], []

    def told(route):
        answer = route.fetch()
        if waits and '"first"' in answer.text():
            held.append((route, answer))
        else:
            route.fulfill(response=answer)

    with opened(browser, app, "tab=runs") as page:
        expect(row(page, "t5")).to_be_visible()
        page.route(asked, told)
        waits.append(True)
        rename(page, "t5", "first")
        wait_until(lambda: page.evaluate("true") and held)  # evaluating lets the route be told
        rename(page, "first", "second")
        page.evaluate("""window.seen = new Set(); new MutationObserver(() => {
          for (const one of document.querySelectorAll(".ds-run-name")) window.seen.add(one.textContent);
        }).observe(document.querySelector(".ds-run-list"), {subtree: true, childList: true, characterData: true});""")
        wait_until(lambda: Store(folder).open(ids[-1]).read_label().name == "second")
        waits.clear()
        for route, answer in held:
            route.fulfill(response=answer)
        page.wait_for_timeout(1_200)  # both times that the list is read again after a change
        assert "first" not in page.evaluate("[...window.seen]")
        expect(row(page, "second")).to_be_visible()


def test_a_label_that_is_written_late_stands_meanwhile_in_the_list_and_on_the_runs_page(browser, many):
    app, folder, ids = many
    held, answers = [], []
    asked = re.compile(r"/dsgui/runs\?")
    with opened(browser, app, "tab=runs") as page:
        expect(row(page, "t5")).to_be_visible()
        page.on("response", lambda answer: answers.append(answer) if asked.search(answer.url) else None)
        page.route("**/queue/join*", lambda route: held.append(route))
        rename(page, "t5", "t5 again")
        page.evaluate("""window.seen = new Set(); new MutationObserver(() => {
          for (const one of document.querySelectorAll(".ds-run-name")) window.seen.add(one.textContent);
        }).observe(document.querySelector(".ds-run-list"), {subtree: true, childList: true, characterData: true});""")
        wait_until(lambda: page.evaluate("true") and held and len(answers) >= 3)  # evaluating lets them be told
        expect(row(page, "t5 again")).to_be_visible()
        row(page, "t5 again").locator(".ds-run-row").click()
        expect(page.locator(".ds-run-title")).to_have_text("t5 again")
        for route in held:
            route.continue_()
        page.unroute("**/queue/join*")
        wait_until(lambda: page.evaluate("true") and Store(folder).open(ids[-1]).read_label().name == "t5 again")
        told = len(answers)
        wait_until(lambda: page.evaluate("true") and len(answers) > told)
        expect(row(page, "t5 again")).to_be_visible()
        assert "t5" not in page.evaluate("[...window.seen]")


def test_an_editor_that_was_opened_before_a_tags_answer_came_stays_and_the_column_comes_after_it(browser, many):
    app, _, _ = many
    held, waits = [], []

    def told(route):
        answer = route.fetch()
        if waits and '"later"' in answer.text():
            held.append((route, answer))
        else:
            route.fulfill(response=answer)

    with opened(browser, app, "tab=runs") as page:
        row(page, "t5").locator(".ds-run-choose").check()
        column = page.get_by_role("columnheader", name="Tags")
        page.route("**/dsgui/runs?*", told)
        waits.append(True)
        page.fill("#add-tag", "later")
        page.keyboard.press("Enter")
        wait_until(lambda: page.evaluate("true") and held)  # evaluating lets the route be told
        row(page, "t5").locator(".ds-run-row").focus()
        page.keyboard.press("F2")
        editor = page.get_by_role("textbox", name="Rename")
        expect(editor).to_be_focused()
        waits.clear()
        for route, answer in held:
            route.fulfill(response=answer)
        page.wait_for_timeout(1_200)  # both times that the list is read again after a change
        expect(editor).to_be_focused()
        expect(column).to_have_count(0)
        page.keyboard.press("Escape")
        expect(editor).to_have_count(0)
        expect(column).to_have_count(1)


def rename(page, name, to):
    """In place, by the keyboard."""
    row(page, name).locator(".ds-run-row").focus()
    page.keyboard.press("F2")
    page.keyboard.insert_text(to)
    page.keyboard.press("Enter")
    expect(row(page, to)).to_be_visible()


def test_a_touch_that_shuts_a_menu_and_becomes_a_scroll_swallows_no_later_click(browser, many):
    app, _, _ = many
    with opened(browser, app, "tab=runs") as page:
        page.click("#choose-columns summary")
        cell = row(page, "many-30").locator('[data-column="duration"]')
        for kind in ("pointerdown", "pointercancel"):
            cell.dispatch_event(kind, {"bubbles": True, "pointerType": "touch", "button": 0})
        expect(page.locator("#choose-columns")).not_to_have_attribute("open", "")
        row(page, "many-31").locator('[data-column="state"]').click()
        expect(page.locator(".ds-run-title")).to_have_text("many-31")


def test_the_order_that_an_address_tells_is_not_the_readers_own_afterwards(browser, many):
    app, _, _ = many
    with opened(browser, app, "tab=runs&sort=name") as page:
        expect(page.get_by_role("columnheader", name="Name")).to_have_attribute("aria-sort", "ascending")
        expect(page.locator(".ds-run-name").first).to_have_text("many-0")
        page.goto(f"{app.url}?tab=runs")
        expect(page.get_by_role("columnheader", name="Started")).to_have_attribute("aria-sort", "descending")
        expect(page.locator(".ds-run-name").first).to_have_text("t5")


def test_chosen_runs_that_a_search_hides_are_told_and_a_row_has_one_tint(browser, many):
    app, _, ids = many
    with opened(browser, app, "tab=runs") as page:
        for number in (len(ids) - 2, len(ids) - 3):
            box(page, number).check()
        hidden = page.get_by_text("2 selected (hidden by the search)")
        expect(hidden).to_be_hidden()
        page.fill("#search-runs", "zzz")
        expect(hidden).to_be_visible()
        expect(page.locator("#clear-chosen")).to_have_text("Clear selection")
        page.get_by_role("button", name=re.compile("^Show all")).click()
        expect(hidden).to_be_hidden()
        chosen = row(page, f"many-{len(ids) - 2}")
        chosen.hover()
        told = "(node) => [node, node.querySelector('[data-column=name]')].map((one) => getComputedStyle(one))"
        ground = f"(node) => ({told})(node).map((one) => one.backgroundColor + one.boxShadow)"
        first, second = chosen.evaluate(ground)
        assert first == second
        assert first.endswith("none")  # a shadow over the row would not be over its name, which stands above it


def test_on_a_phone_the_page_scrolls_and_the_rows_come_as_it_does(browser, many):
    app, _, ids = many
    with opened(browser, app, "tab=runs") as page:
        page.set_viewport_size({"width": 390, "height": 844})
        expect(row(page, "t5")).to_be_visible()
        entries = page.locator(".ds-run-entry")
        wait_until(lambda: page.evaluate(SCROLLS) and entries.count() < len(ids))
        inside = "(node) => node.scrollHeight > node.clientHeight + 1 && getComputedStyle(node).overflowY !== 'visible'"
        assert not page.locator(".ds-run-list").evaluate(inside)
        page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight / 2)")
        expect(row(page, f"many-{len(ids) // 2}")).to_be_attached()
        expect(row(page, "t5")).to_have_count(0)
        page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
        expect(row(page, "many-0")).to_be_in_viewport()
        box(page, 0).check()
        page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
        bar, last = page.locator(".ds-run-choice").bounding_box(), row(page, "many-0").bounding_box()
        assert last["y"] + last["height"] <= bar["y"]
        page.fill("#search-runs", "t5")
        expect(row(page, "t5")).to_be_in_viewport()
