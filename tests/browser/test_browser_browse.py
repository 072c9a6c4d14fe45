"""A script is found by the arrow keys, with the focus where it was before; what can't be read is said."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.app_server import running_app
from tests.support.pages import BEEN_HERE, browser

__all__ = ["browser"]
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scripts")
    (folder / "a-folder").mkdir()
    for name in ("train.py", "<b>bold<b>.py", "notes.txt"):
        (folder / name).write_text("print('hi')\n")
    (folder / "a-folder" / "inner.py").write_text("print('hi')\n")
    return folder


@pytest.fixture(scope="module")
def app(tmp_path_factory, folder):
    with running_app(tmp_path_factory.mktemp("runs"), "--allow", str(folder)) as app:
        yield app


@pytest.fixture
def page(browser, app):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(BEEN_HERE)
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(app.entrance)
    page.wait_for_selector('[data-pointer="/train_batch_size"]', state="attached")
    yield page
    context.close()
    assert errors == []


def photograph(page, name):
    """For who looks at the page: DSGUI_SHOTS names a folder."""
    if folder := os.environ.get("DSGUI_SHOTS"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def test_a_script_is_chosen_by_the_keyboard_and_the_path_may_still_be_typed(page, folder):
    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_label("My own script").check()
    script = page.locator("#script textarea, #script input").first
    expect(script).to_be_visible()
    edge = "panel => { const css = getComputedStyle(panel); return css.borderBottomWidth + css.borderBottomStyle; }"
    assert page.locator(".ds-own-script").evaluate(edge) == "2pxsolid"  # one panel with the choice above it
    script.fill(str(folder / "not-there.py"))
    opener = page.locator("#script .ds-browse-open")
    opener.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Choose a script")
    rows = dialog.locator(".ds-browse-list button")
    expect(rows).to_have_text(["a-folder/", "<b>bold<b>.py", "train.py"])  # markup is a name; no other files
    expect(rows.nth(0)).to_be_focused()
    photograph(page, "browse")
    page.keyboard.press("Enter")
    expect(rows).to_have_text(["inner.py"])
    page.keyboard.press("ArrowLeft")
    expect(rows).to_have_count(3)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(opener).to_be_focused()
    expect(script).to_have_value(str(folder / "not-there.py"))
    page.keyboard.press("Enter")
    path = page.get_by_label("Folder", exact=True)
    expect(rows.nth(0)).to_be_focused()
    path.fill("/etc")
    path.press("Enter")
    expect(dialog.get_by_role("status")).to_contain_text("/etc")  # outside what may be named
    path.fill(str(folder))
    path.press("Enter")
    expect(rows.nth(0)).to_be_focused()
    page.keyboard.press("End")
    expect(rows.nth(2)).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(script).to_have_value(str(folder / "train.py"))
    expect(opener).to_be_focused()
    expect(page.locator("#command")).to_contain_text("train.py")  # the page knows it


def test_a_folder_is_chosen_as_its_path_stands_there_and_none_while_another_is_listed(page, folder):
    page.get_by_role("tab", name="3 · Runs").click()
    page.get_by_role("button", name="Add folder…").click()
    dialog = page.get_by_role("dialog")
    path, take = dialog.get_by_label("Folder", exact=True), dialog.get_by_role("button", name="Choose this folder")
    expect(take).to_be_enabled()
    held = []
    page.route("**/dsgui/folder?**", lambda route: held.append(route))
    path.fill(str(folder))
    path.press("Enter")
    expect(take).to_be_disabled()  # it would take the one before
    held[0].continue_()
    expect(take).to_be_enabled()
    path.fill(str(folder / "a-folder"))  # and not listed
    with page.expect_request(lambda request: "a-folder" in (request.post_data or "")):
        take.click()
