"""A real browser, the app behind its port, and a page of it, as fixtures: a room that needs them imports them in its
conftest."""

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.support.app_server import running_app
from tests.support.browser import CHROMIUM, FLAGS

expect.set_options(timeout=60_000)  # what only a failure takes


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    with running_app(tmp_path_factory.mktemp("runs")) as app:
        yield app


@pytest.fixture
def page(browser, app):
    """A page whose console errors and foreign requests fail the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page = context.new_page()
    foreign, errors = [], []
    page.on("request", lambda request: None if _ours(request.url, app) else foreign.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(app.entrance)
    page.wait_for_selector('[data-pointer="/train_batch_size"]', state="attached")
    yield page
    context.close()
    assert foreign == [], foreign
    assert errors == [], errors


def _ours(url, app):
    return url.startswith((app.url, "data:", "blob:"))
