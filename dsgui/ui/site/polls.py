"""What a page asks every second: a run's news as JSON, without the layers of a web framework, which cost more than the
answer."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from dsgui.core.errors import RunError
from dsgui.core.runs.news import Cursor, Delta
from dsgui.core.texts.saying import words
from dsgui.runs.growing import Growing
from dsgui.runs.runs import Runs

_PATH = re.compile(r"/dsgui/runs/([^/]+)\Z")
_HEADERS = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
_MOST = 1 << 60
_MOST_TABLES = 1000


class Polls:
    """An ASGI middleware: answers `GET /dsgui/runs/{run_id}` with a `Delta`, and leaves everything else to `app`."""

    def __init__(self, app: ASGIApp, runs: Runs, growing: Growing | None = None) -> None:
        self._app, self._runs, self._growing = app, runs, growing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and _PATH.match(scope["path"])
        if not asked:
            await self._app(scope, receive, send)
            return
        query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        status, answer = await self._answer(asked[1], query)
        body = orjson.dumps(answer)
        headers = [*_HEADERS, (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, run_id: str, query: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        try:
            cursor = cursor_of(query)
        except ValueError:
            return 422, {"detail": words("requests", "cursor")}
        try:
            growth = await self._grown(run_id)
            return 200, (await self._follow(run_id, cursor)).to_json() | {"growth": growth}
        except (RunError, FileNotFoundError) as error:  # it may be deleted while it is read
            return 404, {"detail": str(error)}

    async def _grown(self, run_id: str) -> dict[str, Any] | None:
        """Of a training of others, whose files are read again while a page asks for it."""
        if self._growing is None:
            return None
        if self._growing.is_due(run_id):
            await run_in_threadpool(self._growing.look, run_id)
        told = self._growing.told(run_id)
        return told.to_json() if told else None

    async def _follow(self, run_id: str, cursor: Cursor) -> Delta:
        """News takes less than a change of threads; all of a long run takes a third of a second."""
        if self._runs.is_quick(run_id, cursor):
            return self._runs.follow(run_id, cursor)
        return await run_in_threadpool(partial(self._runs.follow, run_id, cursor))


def cursor_of(query: Mapping[str, str]) -> Cursor:
    """Raises ValueError for what is no cursor."""
    names = {"points": 0, "events": 0, "output": -1, "series": 0, "turn": 0}
    numbers = {name: int(query.get(name, least)) for name, least in names.items()}
    samples = tuple(map(int, query["samples"].split(","))) if query.get("samples") else ()
    if len(samples) > _MOST_TABLES or any(number < names[name] for name, number in numbers.items()):
        raise ValueError
    if any(not 0 <= number < _MOST for number in (*samples, *(number + 1 for number in numbers.values()))):
        raise ValueError
    return Cursor(samples=samples, **numbers)
