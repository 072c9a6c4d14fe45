"""The one door: an ASGI middleware in front of every route, Gradio's, the static files' and ours.

It asks `core.access.access` about each request, takes the whole body of those let in (so that nobody behind it waits
for a slow or endless one), and puts the headers on every answer that keep a browser from doing more than the page does.
"""

import asyncio
import gzip
import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import suppress
from html import escape
from typing import Any

from dsgui.core.access import access
from dsgui.core.access.access import Access, Decision, Request
from dsgui.core.texts.languages import speaking, spoken, wished

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

BODY_TIMEOUT_S = 15.0
MOST_BODIES = 32  # read at once
GUESS_DELAY_S = 1.0
MOST_GUESSES = 32  # made to wait at once; what comes on top is turned away unheard
SCOPE_KEY = "dsgui.connection"  # in a request's ASGI scope: the number of the connection it came by
_JSON = b"application/json"
# Gradio builds its URLs from these, whoever sent them.
_NOT_PASSED_ON = {b"x-forwarded-host", b"x-gradio-server", b"x-gradio-user"}
# Browsers ask for it without the cookie, and there is nothing in it for this page.
# Not of Gradio's `head`, which comes after its modules.
_FIRST = b"".join(
    b'<script src="/dsgui/static/site/%s.js"></script>' % name
    for name in (b"loading_clock", b"early_press", b"early_tab")
)
_MANIFEST = b'<link rel="manifest" href="/manifest.json" />'
_IN_ENGLISH = b'lang="en"'  # Gradio's template
_SCRIPT = re.compile(rb"<script(?=[\s>])")


_log = logging.getLogger("uvicorn.error")  # the server's, which is kept short


class Guard:
    """`app` behind `rules`. `problem_of` says what is wrong with the body of an event, "" for nothing."""

    def __init__(
        self,
        app: App,
        rules: Access,
        problem_of: Callable[[bytes], str],
        *,
        let_in: Callable[[Any], None] = lambda client: None,
        body_timeout_s: float = BODY_TIMEOUT_S,
        guess_delay_s: float = GUESS_DELAY_S,
    ) -> None:
        self._app, self._rules, self._problem_of, self._let_in = app, rules, problem_of, let_in
        self._body_timeout_s, self._guess_delay_s = body_timeout_s, guess_delay_s
        self._bodies = self._guesses = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            with speaking(_language(_request(scope))):
                await self._answer_always(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": access.NO_SOCKETS.title})
        else:  # lifespan
            await self._app(scope, receive, send)

    async def _answer_always(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A mistake of ours is answered like everything else: with our headers, and nothing of what went wrong."""
        begun = False

        async def noting(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._answer(scope, receive, noting)
        except Exception:
            if begun:
                raise
            _log.exception("a request failed")
            await _refuse(access.BROKEN, _request(scope), send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = _request(scope)
        decision = self._rules.decide(request)
        if decision.guessed:
            decision = await self._slowed(decision)
        if decision.status != 200:
            await _refuse(decision, request, send)
            return
        self._let_in(scope.get(SCOPE_KEY))
        inner = {**scope, "headers": _passed_on(scope, whole=request.path == "/")}
        answer = Answer(request, send)
        if request.method != "POST":
            await self._app(inner, receive, answer.send)
            return
        body = await self._whole_body(receive)
        if isinstance(body, Decision):
            await _refuse(body, request, send)
        elif (
            (kind := request.first("content-type"))
            and kind.startswith(access.JSON)
            and (problem := _event_problem(self._problem_of, request.path, body))
        ):
            await _refuse(Decision(422, "event", problem=problem), request, send)
        else:
            await self._app(inner, _replayed(body, receive), answer.send)

    async def _slowed(self, decision: Decision) -> Decision:
        """A wrong token's answer takes its time. The right one is never made to wait for it."""
        if self._guesses >= MOST_GUESSES:
            return access.TOO_MANY_GUESSES
        self._guesses += 1
        try:
            await asyncio.sleep(self._guess_delay_s)
        finally:
            self._guesses -= 1
        return decision

    async def _whole_body(self, receive: Receive) -> bytes | Decision:
        if self._bodies >= MOST_BODIES:
            return access.TOO_MANY
        self._bodies += 1
        try:
            async with asyncio.timeout(self._body_timeout_s):
                return await _read(receive)
        except TimeoutError:
            return access.TOO_SLOW
        finally:
            self._bodies -= 1


def content_policy(nonce: str = "") -> str:
    """What a browser may load for the page: from us alone. docs/decisions/008 says why two lines are not tighter."""
    scripts = f"'self' 'nonce-{nonce}' 'unsafe-eval'" if nonce else "'self'"
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {scripts}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "manifest-src 'self'",
            "base-uri 'self'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )


_STRICT = content_policy().encode()
_EVERYWHERE = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), usb=(), payment=()"),
)
ALWAYS = (*_EVERYWHERE, (b"content-security-policy", _STRICT), (b"cache-control", b"no-store"))
_DROPPED = {b"server", b"access-control-allow-origin", b"access-control-allow-credentials", b"content-security-policy"}
_OURS = _DROPPED | {name for name, _ in _EVERYWHERE}


class Answer:
    """One answer on its way out, with the headers every answer has. The first page is held until it is whole, since its
    scripts get a mark that no other request's page has."""

    def __init__(self, request: Request, send: Send) -> None:
        self._send, self._request = send, request
        self._start: Message | None = None
        self._page = b""

    async def send(self, message: Message) -> None:
        """The ASGI `send` for the app behind the guard."""
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            if self._request.path == "/" and self._request.method == "GET" and message["status"] == 200:
                self._start = {**message, "headers": headers}
                return
            message = {**message, "headers": _hardened(headers)}
        elif self._start is not None:
            self._page += message.get("body", b"")
            if not message.get("more_body"):
                await self._send_page(self._start)
            return
        await self._send(message)

    async def _send_page(self, start: Message) -> None:
        nonce = secrets.token_urlsafe(16)
        body = _SCRIPT.sub(b'<script nonce="' + nonce.encode() + b'"', self._page.replace(_MANIFEST, _FIRST))
        body = body.replace(_IN_ENGLISH, b'lang="' + spoken().encode() + b'"', 1)
        headers = [(k, v) for k, v in start["headers"] if k.lower() != b"content-length"]
        if "gzip" in self._request.first("accept-encoding"):
            body = gzip.compress(body, 5)
            headers.append((b"content-encoding", b"gzip"))
        headers += [(b"content-length", str(len(body)).encode()), (b"cache-control", b"no-store")]
        await self._send({**start, "headers": _hardened(headers, nonce)})
        await self._send({"type": "http.response.body", "body": body})


def _hardened(headers: Iterable[tuple[bytes, bytes]], nonce: str = "") -> list[tuple[bytes, bytes]]:
    kept = [(name, value) for name, value in headers if name.lower() not in _OURS]
    policy = content_policy(nonce).encode() if nonce else _STRICT
    return [*kept, *_EVERYWHERE, (b"content-security-policy", policy)]


async def _refuse(decision: Decision, request: Request, send: Send) -> None:
    """A short page of its own, with nothing in it of what was asked."""
    body = _page(decision).encode()
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        # What was not read of the request is not waited for.
        *([(b"connection", b"close")] if decision.status != 303 else []),
        *([(b"location", decision.location.encode())] if decision.location else []),
        *([(b"set-cookie", decision.cookie.encode())] if decision.cookie else []),
        *([(b"www-authenticate", b'Bearer realm="dsgui"')] if decision.status == 401 else []),
        *([(b"allow", b"GET, HEAD, POST")] if decision.status == 405 else []),
        *([(b"retry-after", b"2")] if decision.status in (429, 503) else []),
    ]
    # A client that has gone needs no answer.
    with suppress(OSError):
        status = 200 if _is_foreign_jump(decision, request) else decision.status
        await send({"type": "http.response.start", "status": status, "headers": _hardened(headers)})
        await send({"type": "http.response.body", "body": b"" if request.method == "HEAD" else body})


def _is_foreign_jump(decision: Decision, request: Request) -> bool:
    """Whether the printed address was clicked on another site (a terminal in the browser, say): a redirect would still
    count as that site's, and the cookie stay behind; the page that goes on by itself is ours."""
    return decision.status == 303 and request.first("sec-fetch-site") in ("cross-site", "same-site")


def _page(decision: Decision) -> str:
    jump = f'<meta http-equiv="refresh" content="0; url={escape(decision.location)}">' if decision.location else ""
    return (
        f'<!doctype html><html lang="{spoken()}"><head><meta charset="utf-8"><title>dsgui</title>{jump}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;"
        "margin:15vh auto 0;padding:0 1.25rem}h1{font-size:1.25rem;margin:0 0 .5rem}p{margin:0;opacity:.85}</style>"
        f"</head><body><h1>{escape(decision.title)}</h1><p>{_advice(decision)}</p></body></html>"
    )


def _advice(decision: Decision) -> str:
    advice = escape(decision.advice)
    return f'<a href="/">{advice}</a>' if decision.status == 404 else advice


def _language(request: Request) -> str:
    return wished(request.first("cookie"), request.first("accept-language"))


def _request(scope: Scope) -> Request:
    headers = tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"])
    query = scope.get("query_string", b"").decode("latin-1")
    return Request(scope["method"], scope["scheme"], scope["path"], query, headers)


def _passed_on(scope: Scope, whole: bool) -> list[tuple[bytes, bytes]]:
    """The headers for the app. A page that is to be marked comes `whole`, not compressed."""
    dropped = _NOT_PASSED_ON | ({b"accept-encoding"} if whole else set())
    return [(name, value) for name, value in scope["headers"] if name.lower() not in dropped]


async def _read(receive: Receive) -> bytes | Decision:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":  # it went away
            return access.TOO_SLOW
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > access.MAX_BODY_BYTES:
            return access.TOO_LARGE
        if not message.get("more_body"):
            return b"".join(parts)


def _event_problem(problem_of: Callable[[bytes], str], path: str, body: bytes) -> str:
    return problem_of(body) if path.startswith("/gradio_api/") else ""


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body once, then whatever comes after it: that the client has gone."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
