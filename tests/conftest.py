"""What every test may ask for, and Hypothesis' settings for noisy two-core machines. The browser and the app are for
the rooms that need them: tests/support/pages.py."""

import os
import sys

import pytest
from hypothesis import HealthCheck, settings

from dsgui.core.validation.checker import Checker
from dsgui.shell.config.catalog import Catalog

# The ninja of this environment, as in a run: each compiles anew what another has compiled.
os.environ["PATH"] = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"

# Timings say nothing on a shared machine: a slow draw or example is no failure.
settings.register_profile("dsgui", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dsgui")


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
