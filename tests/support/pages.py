"""A real browser, the app behind its port, and a page of it, as fixtures: a room that needs them imports them in its
conftest."""

import sys
from contextlib import contextmanager
from functools import cache

import pytest
from playwright.sync_api import Error, expect, sync_playwright

from tests.support.app_server import BEEN_HERE, running_app
from tests.support.browser import CHROMIUM, FLAGS
from tests.support.chromium.reused import TIMEOUT_MS, Loop, Reusing
from tests.support.run_fixtures import wait_until

expect.set_options(timeout=TIMEOUT_MS)


@cache
def chromium(config):
    """One for all that a worker tests, and the loop that has to run while it is used."""
    playwright = sync_playwright().start()
    loop = Loop()
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)

    def end():
        with loop.at_work():
            browser.close()
            playwright.stop()

    config.add_cleanup(end)
    loop.rest()
    return Reusing(browser), loop


@pytest.fixture(scope="module")
def browser(request):
    reusing, loop = chromium(request.config)
    with loop.at_work():
        yield reusing


# A target Python that starts the script itself where DeepSpeed's launcher would: two processes fewer that import torch.
AT_ONCE = f"""\
#!{sys.executable}
import os, sys
words = sys.argv[1:]
if words[:2] == ["-m", "deepspeed.launcher.runner"]:
    script = next(i for i, word in enumerate(words[2:], 2) if not word.startswith("--"))
    words = ["-u", *words[script:]]
os.execv({sys.executable!r}, [{sys.executable!r}, *words])
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    with running_app(tmp_path_factory.mktemp("runs")) as app:
        yield app


@pytest.fixture(scope="module")
def app_at_once(tmp_path_factory):
    """An app for tests of the page whose runs need a script but no DeepSpeed."""
    python = tmp_path_factory.mktemp("python") / "python"
    python.write_text(AT_ONCE, encoding="utf-8")
    python.chmod(0o755)
    with running_app(tmp_path_factory.mktemp("runs"), "--python", str(python)) as app:
        yield app


@pytest.fixture
def page(browser, app):
    """A page whose console errors and foreign requests fail the test."""
    with opened(browser, app, BEEN_HERE) as page:
        yield page


@pytest.fixture
def first_page(browser, app):
    """As `page`, of a browser that was never here."""
    with opened(browser, app) as page:
        yield page


# Gradio gives up what it is asking for when its page is left, and says so: no error of the page.
LEFT = "addEventListener('beforeunload', () => { console.error = () => {}; });"


@contextmanager
def opened(browser, app, kept="", **screen):
    screen = {"viewport": {"width": 1280, "height": 900}, "accept_downloads": True} | screen
    context = browser.new_context(**screen)
    context.add_init_script(f"{LEFT}\n{kept}")
    page = context.new_page()
    foreign, errors = [], []
    page.on("request", lambda request: None if _ours(request.url, app) else foreign.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    load(page, app.entrance, errors)
    yield page
    context.close()
    assert foreign == [], foreign
    assert errors == [], errors


# Chromium gives up what it is loading, from loopback as well, while another test makes a network or takes one away.
CUT_OFF = "ERR_NETWORK_CHANGED"
LOADS = 3


def load(page, address, errors):
    """The page with its form; once more where it was cut off, and its `errors` of that are no errors of its."""
    cut_off = []
    page.on(
        "requestfailed", lambda request: cut_off.append(request.url) if CUT_OFF in (request.failure or "") else None
    )
    form = page.locator('[data-pointer="/train_batch_size"]').first
    for _ in range(LOADS - 1):
        cut_off.clear()
        try:
            page.goto(address)
            wait_until(lambda: cut_off or form.count(), TIMEOUT_MS / 1000)
        except Error as error:
            if CUT_OFF not in str(error):
                raise
            cut_off.append(address)
        if not cut_off:
            return
        errors[:] = [one for one in errors if CUT_OFF not in one]
    page.goto(address)
    form.wait_for(state="attached")


def _ours(url, app):
    return url.startswith((app.url, "data:", "blob:"))
