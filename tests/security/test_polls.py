"""What a page is told whose question is wrong, and what when the answer fails: two things."""

import asyncio
from types import SimpleNamespace

import pytest

from dsgui.ui.site.polls import Polls


class _Broken:
    """Runs whose reading fails in a way that has nothing to do with what was asked."""

    def is_quick(self, run_id, cursor):
        return True

    def follow(self, run_id, cursor):
        raise ValueError("a record is no number")


def asked(query: bytes) -> int:
    """The status of the answer."""
    told: list[dict] = []

    async def send(message: dict) -> None:
        told.append(message)

    scope = {"type": "http", "method": "GET", "path": "/dsgui/runs/abc", "query_string": query}
    asyncio.run(Polls(SimpleNamespace(), _Broken())(scope, None, send))  # type: ignore[arg-type]
    return told[0]["status"]


def test_a_fault_while_reading_is_not_told_as_a_wrong_cursor() -> None:
    assert asked(b"points=x") == 422
    assert asked(b"points=-1") == 422
    with pytest.raises(ValueError, match="no number"):
        asked(b"points=0")
