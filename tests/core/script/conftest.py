"""The training environment is asked for real here, which imports transformers: a busy machine takes its time."""

import pytest

from dsgui.shell.script import names_there


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names_there, "TIMEOUT_S", 300.0)
