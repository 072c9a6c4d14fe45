"""How many connections the server holds, for how long one that asks nothing, and how long the head of a request may be:
uvicorn's own has no such limits. They count from the moment they are accepted, before any TLS handshake."""

import asyncio
import resource
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from dsgui.core.texts.saying import words
from dsgui.ui.access.guard import ALWAYS, SCOPE_KEY

MOST_CONNECTIONS = 400
FIRST_REQUEST_S = 10.0
MOST_HEAD_BYTES = 1 << 15
MOST_AHEAD = 8  # requests that wait behind the one being answered: browsers send none ahead


class Connections:
    """Those of one server. A full house makes room by closing the oldest that was never let in: a stranger who holds
    connections open can't keep the owner out."""

    def __init__(
        self, most: int = 0, first_request_s: float = FIRST_REQUEST_S, tls: ssl.SSLContext | None = None
    ) -> None:
        """`most` 0: as many as the open files that this process may have leave room for."""
        self.most, self.first_request_s, self._tls = most or _most_connections(), first_request_s, tls
        self._all: dict[int, asyncio.Transport] = {}
        self._strangers: dict[int, asyncio.Transport] = {}  # the oldest first
        self._closed = False
        self._number = 0

    def protocol(self) -> Callable[..., asyncio.Protocol]:
        """What makes a connection's protocol, for uvicorn."""
        plain = self._http_protocol()
        tls = self._tls
        return plain if tls is None else lambda **given: _Handshake(self, plain(**given), tls)

    def _http_protocol(self) -> "type[Counted]":
        house = self

        class Protocol(Counted):
            patience: asyncio.TimerHandle | None = None
            headed = False  # what comes now follows a body
            unread, named = 0, 0  # bytes since something came to its end; bytes of this request's address and headers

            def data_received(self, data: bytes) -> None:
                """Neither httptools nor uvicorn says how long a part of a request may be."""
                self.unread += len(data)
                super().data_received(data)
                if self.unread > MOST_HEAD_BYTES and not self.transport.is_closing():
                    self.send_400_response(words("requests", "no_end"))

            def count(self, length: int) -> None:
                """Raises ValueError, which httptools takes for a request that is none."""
                self.named += length
                if self.named > MOST_HEAD_BYTES:
                    raise ValueError("more headers than any request needs")

            def on_message_begin(self) -> None:
                super().on_message_begin()
                cast(dict[str, Any], self.scope)[SCOPE_KEY] = self.number
                self.named, self.headed = 0, False

            def send_400_response(self, msg: str) -> None:
                """Before anybody is let in; with the headers that every answer has, all the same."""
                self.transport.write(_refusal(msg))
                self.transport.close()

            def on_url(self, url: bytes) -> None:
                self.count(len(url))
                super().on_url(url)

            def on_header(self, name: bytes, value: bytes) -> None:
                """Those that follow a body are counted and dropped: nobody has looked at them."""
                self.count(len(name) + len(value))
                if not self.headed:
                    super().on_header(name, value)

            def on_headers_complete(self) -> None:
                """Raises ValueError for one request too many."""
                self.unread, self.headed = 0, True
                if len(self.pipeline) >= MOST_AHEAD:
                    raise ValueError("requests sent ahead")
                super().on_headers_complete()

            def on_body(self, body: bytes) -> None:
                self.unread = 0
                super().on_body(body)

            def on_message_complete(self) -> None:
                self.unread = 0
                super().on_message_complete()

            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
                super().connection_made(transport)
                self.number = house.came(transport, self.number)
                self.wait_for_request()

            def wait_for_request(self) -> None:
                """From now on, or anew."""
                if self.patience is not None:
                    self.patience.cancel()
                self.patience = self.loop.call_later(house.first_request_s, self.give_up)

            def give_up(self) -> None:
                """Unless it is being answered, the headers of its request never came whole."""
                if self.cycle is None or self.cycle.response_complete:
                    self.transport.abort()

            def on_response_complete(self) -> None:
                super().on_response_complete()
                self.wait_for_request()

            def connection_lost(self, exc: Exception | None) -> None:
                super().connection_lost(exc)
                if self.patience is not None:
                    self.patience.cancel()
                house.left(self.number)

        return Protocol

    def came(self, transport: asyncio.Transport, number: int = 0) -> int:
        """A connection was accepted; or that of `number` goes on by `transport`. Returns its number."""
        if not number:
            number = self._number = self._number + 1
        self._all[number] = self._strangers[number] = transport
        if self._closed:
            transport.abort()
        elif len(self._all) > self.most and self._strangers:
            oldest = next(iter(self._strangers))
            self._all.pop(oldest, None)
            self._strangers.pop(oldest).abort()
        return number

    def let_in(self, number: Any) -> None:
        """Connection `number` has shown the token."""
        self._strangers.pop(number, None)

    def close(self) -> None:
        """Ends them all: a page that is open would hold its connections for as long as it is open."""
        self._closed = True
        for transport in list(self._all.values()):
            transport.abort()

    def left(self, number: int) -> None:
        """A connection was closed."""
        self._all.pop(number, None)
        self._strangers.pop(number, None)


class Counted(HttpToolsProtocol):
    """uvicorn's, with the number of its connection; 0 until it is accepted."""

    number = 0


class _Handshake(asyncio.Protocol):
    """A connection until TLS stands: it counts like every other, and has no longer than a first request has. What comes
    right behind the handshake waits here until `inner` is told of its connection."""

    def __init__(self, house: Connections, inner: Counted, tls: ssl.SSLContext) -> None:
        self._house, self._inner, self._tls = house, inner, tls
        self._early: list[bytes] = []
        self._task: asyncio.Task[None] | None = None
        self._over = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._inner.number = self._house.came(transport)
        self._task = asyncio.get_running_loop().create_task(self._shake_hands(transport))

    def data_received(self, data: bytes) -> None:
        self._early.append(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._over = True
        self._house.left(self._inner.number)

    async def _shake_hands(self, transport: asyncio.Transport) -> None:
        loop = asyncio.get_running_loop()
        secured = None
        with suppress(OSError):  # no TLS, another's, none in time, gone: nobody needs to hear of it
            secured = await loop.start_tls(
                transport, self, self._tls, server_side=True, ssl_handshake_timeout=self._house.first_request_s
            )
        if secured is None or secured.is_closing() or self._over:
            transport.abort()
            self._house.left(self._inner.number)
            return
        secured.set_protocol(self._inner)
        self._inner.connection_made(secured)
        for data in self._early:
            self._inner.data_received(data)


class Server(uvicorn.Server):
    """uvicorn's, which closes its `connections` when it is told to stop. The kernel keeps up to `queued` for it:
    asyncio would have as few wait as it accepts at once."""

    def __init__(self, config: uvicorn.Config, connections: Connections, queued: int) -> None:
        super().__init__(config)
        self._connections, self._queued = connections, queued

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(self._queued)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Nobody is waited for."""
        self._connections.close()
        await super().shutdown(sockets)


def _most_connections() -> int:
    """Half of the open files that this process may have at most: with none left, accepting fails and asyncio says so
    thousands of times."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST_CONNECTIONS if files < 0 else max(8, min(MOST_CONNECTIONS, files // 2))


def _refusal(words: str) -> bytes:
    body = words.encode()
    headers = (*ALWAYS, (b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close"))
    lines = [b"HTTP/1.1 400 Bad Request", *(b": ".join(header) for header in headers)]
    return b"\r\n".join([*lines, b"content-length: %d" % len(body), b"", body])
