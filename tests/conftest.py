"""Shared fixtures, a real browser among them, and Hypothesis' settings for noisy two-core machines."""

import os
import sys

import pytest
from hypothesis import HealthCheck, settings
from playwright.sync_api import expect, sync_playwright

from dsgui.core.validation.checker import Checker
from dsgui.shell.config.catalog import Catalog
from tests.support.app_server import running_app
from tests.support.browser import CHROMIUM, FLAGS

# The ninja of this environment, as in a run: each compiles anew what another has compiled.
os.environ["PATH"] = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"

# Timings say nothing on a shared machine: a slow draw or example is no failure.
settings.register_profile("dsgui", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dsgui")
expect.set_options(timeout=20_000)


def pytest_addoption(parser):
    parser.addoption("--complete", action="store_true", help="also what takes minutes: make test-all")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--complete"):
        left_out = [item for item in items if item.get_closest_marker("complete")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("complete")]


@pytest.fixture(scope="session")
def catalog():
    return Catalog()


@pytest.fixture(scope="session")
def schema(catalog):
    return catalog.schema()


@pytest.fixture(scope="session")
def checker(schema):
    return Checker(schema)


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
    assert foreign == []
    assert errors == []


def _ours(url, app):
    return url.startswith((app.url, "data:", "blob:"))
