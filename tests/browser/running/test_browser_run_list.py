"""The Runs page's list with hundreds of runs, in Chromium: only the rows in sight are in the page, none is missed."""

import re
import shutil

import pytest
from playwright.sync_api import expect

from tests.browser.running.test_browser_monitor import opened
from tests.support.app_server import running_app
from tests.support.made_runs import make_many
from tests.support.run_fixtures import wait_until

pytestmark = pytest.mark.browser

MANY = 400


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """An app on many runs; its folder and their ids, oldest first."""
    folder = tmp_path_factory.mktemp("runs")
    ids = make_many(folder, MANY)
    with running_app(folder) as app:
        yield app, folder, ids


def names(page):
    return page.locator(".ds-run-name").all_inner_texts()


def scroll_to(page, place):
    """Puts the middle of the list in sight, or another part of it."""
    page.evaluate("""(place) => { const list = document.querySelector(".ds-run-list");
      list.scrollTop = place * (list.scrollHeight - list.clientHeight); }""", place)  # fmt: skip


def test_the_newest_rows_are_there_and_no_more_than_are_in_sight(browser, many):
    app, _, ids = many
    with opened(browser, app, "") as page:
        page.get_by_role("tab", name="3 · Runs").click()
        expect(page.locator(".ds-run-name").first).to_have_text(f"many-{MANY - 1}")
        expect(page.locator(".ds-run-count")).to_have_text(f"{MANY} runs")
        expect(page.get_by_role("table", name="Runs")).to_be_visible()
        expect(page.locator(".ds-run-title")).to_have_count(0)
        expect(page).to_have_url(re.compile(r"tab=runs$"), timeout=15_000)
        assert page.locator(".ds-run-entry").count() < 60
        scroll_to(page, 1)
        expect(page.locator(".ds-run-name").last).to_have_text("many-0")
        expect(page.locator(".ds-run-count")).to_have_text(f"{MANY} runs")
        assert page.locator(".ds-run-entry").count() < 60
        page.locator(".ds-run-row", has_text="many-3").last.click()
        expect(page.locator(".ds-run-title")).to_have_text("many-3")
        expect(page.locator('.ds-run-row[aria-current="true"] .ds-run-name')).to_have_text("many-3")
        assert f"run={ids[3]}" in page.url


def test_beside_a_run_the_list_fades_where_it_goes_on(browser, many):
    app, _, ids = many
    with opened(browser, app, f"run={ids[-1]}") as page:
        page.set_viewport_size({"width": 1280, "height": 900})
        listed = page.locator(".ds-run-list")
        faded = [re.compile(f"ds-goes-{way}") for way in ("up", "down")]
        expect(listed).to_have_class(faded[1])
        expect(listed).not_to_have_class(faded[0])
        assert "rgba(0, 0, 0, 0)" in listed.evaluate("(node) => getComputedStyle(node).maskImage")
        scroll_to(page, 1)
        expect(listed).to_have_class(faded[0])
        expect(listed).not_to_have_class(faded[1])
        expect(page.locator(".ds-run .ds-progress")).to_be_hidden()  # it has ended: its step says how far it came


def test_every_row_is_reached_by_the_keyboard(browser, many):
    app, _, _ = many
    with opened(browser, app, "") as page:
        page.get_by_role("tab", name="3 · Runs").click()
        page.locator(".ds-run-row").first.focus()
        for number in range(60):  # more than the page holds at once; each row has a menu, a box and a link
            for _ in range(3):
                page.keyboard.press("Tab")
            expect(page.locator(".ds-run-row:focus .ds-run-name")).to_have_text(f"many-{MANY - 2 - number}")


def test_an_old_run_is_opened_by_its_address_and_runs_out_of_sight_stay_chosen_and_are_compared(browser, many):
    app, _, ids = many
    with opened(browser, app, f"run={ids[123]}") as page:
        shown = page.locator('.ds-run-row[aria-current="true"]')
        expect(page.locator(".ds-run-title")).to_have_text("many-123")
        expect(shown.locator(".ds-run-name")).to_have_text("many-123")
        expect(shown).to_be_in_viewport()
        scroll_to(page, 0)
        page.get_by_label(f"Compare many-{MANY - 1} with others").check()
        scroll_to(page, 1)
        page.get_by_label("Compare many-0 with others").check()
        expect(page.get_by_label(f"Compare many-{MANY - 1} with others")).to_have_count(0)
        expect(page.locator("#compare-runs")).to_have_text("Compare 2 runs")
        scroll_to(page, 0)
        expect(page.get_by_label(f"Compare many-{MANY - 1} with others")).to_be_checked()
        page.click("#compare-runs")
        expect(page.locator(".ds-run-title")).to_have_text("2 runs compared")
        assert f"compare={ids[0]}%2C{ids[-1]}" in page.url
        page.click("#clear-chosen")
        expect(page.locator("#compare-runs")).to_be_hidden()
        expect(page.locator(".ds-run-choose:checked")).to_have_count(0)


def test_back_returns_to_what_was_shown_before(browser, many):
    app, _, _ = many
    with opened(browser, app, "") as page:
        title, table = page.locator(".ds-run-title"), page.get_by_role("table", name="Runs")
        page.wait_for_function("history.state")  # the first page is noted
        began = page.evaluate("history.length")
        page.get_by_role("tab", name="3 · Runs").click()
        page.locator(".ds-run-row", has_text=f"many-{MANY - 2}").click()
        expect(title).to_have_text(f"many-{MANY - 2}")
        for box in page.locator(".ds-run-choose").all()[:2]:
            box.check()
        page.click("#compare-runs")
        expect(title).to_have_text("2 runs compared")
        page.get_by_role("tab", name="2 · Launch").click()
        expect(page.locator("#launch")).to_be_visible()
        wait_until(lambda: page.evaluate("history.length") - began == 4)
        assert page.url.endswith("?tab=launch")
        for shown in ("2 runs compared", f"many-{MANY - 2}"):
            page.go_back()
            expect(title).to_have_text(shown)
            expect(title).to_be_visible()
        page.go_back()
        expect(table).to_be_visible()
        expect(title).to_have_count(0)
        page.go_back()
        expect(page.get_by_role("tab", name="1 · Configure")).to_have_attribute("aria-selected", "true")
        assert "run=" not in page.url
        assert "tab=" not in page.url
        page.go_forward()
        page.go_forward()
        expect(title).to_have_text(f"many-{MANY - 2}")
        expect(title).to_be_visible()
        assert page.evaluate("history.length") - began == 4  # going back and forth is no step
        page.click("#all-runs")
        expect(table).to_be_visible()
        assert page.url.endswith("?tab=runs")


def test_each_page_has_an_address(browser, many):
    app, _, _ = many
    for tab, title in (("launch", "2 · Launch"), ("machine", "4 · Machine"), ("runs", "3 · Runs")):
        with opened(browser, app, f"tab={tab}") as page:
            expect(page.get_by_role("tab", name=title)).to_have_attribute("aria-selected", "true")
            assert page.url.endswith(f"?tab={tab}")


def test_a_search_looks_at_all_runs_and_its_count_is_of_the_words_that_were_searched(browser, many):
    """While the answer to other words is on its way, nothing says that they were found."""
    app, _, ids = many
    with opened(browser, app, "") as page:
        page.get_by_role("tab", name="3 · Runs").click()
        count, held = page.locator(".ds-run-count"), []
        expect(count).to_have_text(f"{MANY} runs")
        scroll_to(page, 1)
        expect(page.locator(".ds-run-name").last).to_have_text("many-0")
        waits = [True]
        asked = re.compile("words=none-such")
        page.route(asked, lambda route: held.append(route) if waits else route.continue_())
        page.fill("#search-runs", "none-such")  # scrolls back to the top
        wait_until(lambda: page.evaluate("document.querySelector('.ds-run-list').scrollTop") == 0 and held)
        assert "match" not in count.inner_text()
        waits.clear()  # what is not read yet is asked for again
        for one in held:
            one.continue_()
        expect(count).to_have_text("No run matches “none-such”")
        expect(page.locator(".ds-run-row")).to_have_count(0)
        page.fill("#search-runs", "t5-small many-1 FAILED")
        failed = len([number for number in range(MANY) if number % 3 == 1 and str(number).startswith("1")])
        expect(count).to_have_text(f"{failed} matches in {MANY} runs")
        page.fill("#search-runs", ids[0])
        expect(page.locator(".ds-run-name")).to_have_text(["many-0"])
        expect(count).to_have_text(f"1 match in {MANY} runs")
        page.fill("#search-runs", "")
        expect(page.locator(".ds-run-name").first).to_have_text(f"many-{MANY - 1}")


def test_a_run_that_another_page_starts_or_deletes_comes_and_goes(browser, many):
    app, folder, ids = many
    with opened(browser, app, "") as page:
        page.get_by_role("tab", name="3 · Runs").click()
        expect(page.locator(".ds-run-name").first).to_have_text(f"many-{MANY - 1}")
        new = folder / "20260101-000000-0000"
        shutil.copytree(folder / ids[-1], new)
        expect(page.locator(".ds-run-count")).to_have_text(f"{MANY + 1} runs")
        wait_until(lambda: names(page)[:3] == [new.name, f"many-{MANY - 1}", f"many-{MANY - 2}"])  # damaged: a copy
        shutil.rmtree(new)
        expect(page.locator(".ds-run-count")).to_have_text(f"{MANY} runs")
        wait_until(lambda: names(page)[:2] == [f"many-{MANY - 1}", f"many-{MANY - 2}"])
