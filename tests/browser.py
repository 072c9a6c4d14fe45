"""What the browser tests share: how Chromium starts, and the page's parts by their names."""

import os

CHROMIUM = os.environ.get("DSGUI_CHROMIUM", "/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def json_text(page):
    """The text of the JSON editor, as the browser keeps it."""
    return page.evaluate("localStorage.getItem('dsgui.config')")


def fill(page, pointer, value, section):
    page.click(f'[data-tab="{section}"]')
    page.fill(f'[data-pointer="{pointer}"]', value)


def choose_preset(page, title):
    page.click("#preset input")
    page.get_by_role("option", name=title).first.click()


def findings(page):
    return page.locator("#findings")


def editor(page):
    return page.locator("#config-json .cm-content")


def replace_text(page, text):
    """Paste `text` over what the editor holds."""
    editor(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def choose(page, selector, option):
    page.click(f"{selector} input")
    page.get_by_role("option", name=option, exact=True).click()
