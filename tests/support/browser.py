"""What the browser tests share: how Chromium starts, and the page's parts by their names."""

import os

CHROMIUM = os.environ.get("DSGUI_CHROMIUM", "/usr/bin/chromium-headless-shell")
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
    page.get_by_role("listbox").get_by_role("option", name=title).first.click()


def findings(page):
    return page.locator("#findings")


def editor(page):
    return page.locator("#config-json .cm-content")


def replace_text(page, text):
    """Paste `text` over what the editor holds."""
    editor(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def paste_over(page, text):
    """As Ctrl+A, Ctrl+V: what a keyboard puts in is no paste."""
    editor(page).click()
    page.keyboard.press("Control+a")
    page.evaluate(
        """text => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text/plain", text);
          const pasted = { clipboardData, bubbles: true, cancelable: true };
          document.querySelector("#config-json .cm-content").dispatchEvent(new ClipboardEvent("paste", pasted));
        }""",
        text,
    )


def choose(page, selector, option):
    page.click(f"{selector} input")
    page.get_by_role("listbox").get_by_role("option", name=option, exact=True).click()


def stop_run(page):
    """Stops the run that is shown, and says yes to what that loses."""
    page.click("#stop-run")
    page.click("#confirm-stop")


class HeldAnswers:
    """Keeps back the server's answers to what the page posts with one of `words` in it, until `release`: those that
    have `telling` in them."""

    def __init__(self, page, *words, telling=""):
        self._page, self._words, self._telling = page, words, telling
        self._held, self._over = [], False
        page.route("**/gradio_api/run/**", self._take)

    def _take(self, route):
        posted = route.request.post_data or ""
        if self._over or not any(words in posted for words in self._words):
            route.fallback()
            return
        answer = route.fetch()
        if self._telling in answer.text():
            self._held.append((route, answer))
        else:
            route.fulfill(response=answer)

    def wait(self):
        """Until one is held."""
        for _ in range(1200):
            if self._held:
                return
            self._page.wait_for_timeout(50)
        raise AssertionError("nothing was posted")

    def release(self):
        self._over = True
        for route, response in self._held:
            route.fulfill(response=response)
