"""A page that is used again knows nothing of who had it before."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.support import pages

pytestmark = pytest.mark.browser

KEEPS = "localStorage.kept = 1; sessionStorage.kept = 1; document.cookie = 'kept=1'; name = 'kept'"
KEPT = "[localStorage.length, sessionStorage.length, document.cookie, name, history.length, window.begun ?? null]"
SAYS = "(it) => matchMedia(`(${it})`).matches"
LOOKS = f"[innerWidth, ...['prefers-color-scheme: dark', 'forced-colors: active'].map({SAYS})]"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def places(tmp_path):
    """Two origins."""
    (tmp_path / "index.html").write_text("<!doctype html>", "utf-8")
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path)) for _ in range(2)]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield [f"http://127.0.0.1:{server.server_port}/" for server in servers]
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_closed_context_leaves_its_page_and_nothing_else(browser, places):
    told, asked = [], []
    with browser.new_context(viewport={"width": 500, "height": 500}, color_scheme="dark") as context:
        context.add_init_script("window.begun = true")
        first = context.new_page()
        first.on("console", lambda message: told.append(message.text))
        first.route("**/*", lambda route: (asked.append(route.request.url), route.fallback()))
        first.emulate_media(forced_colors="active")
        for place in places:
            first.goto(place)
            first.evaluate(KEEPS)
        first.evaluate("console.log('heard')")
        assert first.evaluate(KEPT)[-1] is True
        assert first.evaluate(LOOKS) == [500, True, True]
    assert told[0] == "heard"
    told.clear()
    asked.clear()
    with browser.new_context() as context:
        again = context.new_page()
        assert again is first
        for number, place in enumerate(places, 1):
            again.goto(place)
            assert again.evaluate(KEPT) == [0, 0, "", "", number + 1, None]
        again.evaluate("console.log('unheard')")
        assert again.evaluate(LOOKS) == [1280, False, False]
    assert told == asked == []


def test_a_page_that_was_closed_is_not_given_again(browser, places):
    with browser.new_context() as context:
        closed = context.new_page()
        closed.goto(places[0])
        closed.close()
    with browser.new_context() as context:
        assert context.new_page() is not closed


def test_an_option_that_no_page_can_be_given_makes_a_context_of_its_own(browser):
    with browser.new_context(locale="zh-CN") as own, browser.new_context() as kept:
        assert type(own) is not type(kept)


def test_a_page_that_was_cut_off_is_loaded_again(browser, places, tmp_path, monkeypatch):
    """As another test's network cuts it off: its form comes late, and what it could not load is no error of its."""
    monkeypatch.setattr(pages, "CUT_OFF", "ERR_CONNECTION_RESET")
    (tmp_path / "form.js").write_text("document.body.innerHTML = '<p data-pointer=\"/train_batch_size\"></p>'", "utf-8")
    (tmp_path / "page.html").write_text("<!doctype html><body><script src=form.js></script>", "utf-8")
    left, errors = [1], ["of its own"]
    with browser.new_context() as context:
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text))
        page.route(
            "**/form.js", lambda route: route.abort("connectionreset") if left and left.pop() else route.continue_()
        )
        pages.load(page, f"{places[0]}page.html", errors)
        assert page.locator("[data-pointer]").count() == 1
    assert (left, errors) == ([], ["of its own"])
