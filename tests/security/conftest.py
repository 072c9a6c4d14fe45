"""One app for the whole table: making it takes longer than asking it everything."""

import pytest

from tests.security.table import serve


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    return serve(tmp_path_factory.mktemp("served"))
