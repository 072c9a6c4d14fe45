"""One app for the whole table: making it takes longer than asking it everything. Some tests here drive a browser."""

import pytest

from tests.security.table import serve
from tests.support.pages import app, browser, page

__all__ = ["app", "browser", "page"]


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    return serve(tmp_path_factory.mktemp("served"))
