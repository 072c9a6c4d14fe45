"""Shared fixtures and Hypothesis' settings for noisy two-core machines."""

import pytest
from hypothesis import HealthCheck, settings

from dsgui.core.checker import Checker
from dsgui.shell.catalog import Catalog

# Timings say nothing on a shared machine: a slow draw or example is no failure.
settings.register_profile("dsgui", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dsgui")


@pytest.fixture(scope="session")
def catalog():
    return Catalog()


@pytest.fixture(scope="session")
def schema(catalog):
    return catalog.schema()


@pytest.fixture(scope="session")
def checker(schema):
    return Checker(schema)
