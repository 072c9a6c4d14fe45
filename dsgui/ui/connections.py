"""How many connections the server holds, for how long one that asks nothing, and how long the head of a request may be:
uvicorn's own has no such limits."""

import asyncio
import socket
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_CONNECTIONS = 400
FIRST_REQUEST_S = 10.0
MOST_HEAD_BYTES = 1 << 15
MOST_AHEAD = 8  # requests that wait behind the one being answered: browsers send none ahead


class Connections:
    """Those of one server. A full house makes room by closing the oldest that was never let in: a stranger who holds
    connections open can't keep the owner out."""

    def __init__(self, most: int = MOST_CONNECTIONS, first_request_s: float = FIRST_REQUEST_S) -> None:
        self.most, self.first_request_s = most, first_request_s
        self._all: set[HttpToolsProtocol] = set()
        self._closed = False
        self._strangers: dict[tuple[Any, ...], asyncio.Transport] = {}  # the oldest first

    def protocol(self) -> type[asyncio.Protocol]:
        """The protocol class for uvicorn."""
        house = self

        class Protocol(HttpToolsProtocol):
            patience: asyncio.TimerHandle | None = None
            headed = False  # what comes now follows a body
            unread, named = 0, 0  # bytes since something came to its end; bytes of this request's address and headers

            def data_received(self, data: bytes) -> None:
                """Neither httptools nor uvicorn says how long a part of a request may be."""
                self.unread += len(data)
                super().data_received(data)
                if self.unread > MOST_HEAD_BYTES and not self.transport.is_closing():
                    self.send_400_response("A part of the request has no end.")

            def count(self, length: int) -> None:
                """Raises ValueError, which httptools takes for a request that is none."""
                self.named += length
                if self.named > MOST_HEAD_BYTES:
                    raise ValueError("more headers than any request needs")

            def on_message_begin(self) -> None:
                super().on_message_begin()
                self.named, self.headed = 0, False

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
                house.came(self, transport)
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
                house.left(self)

        return Protocol

    def came(self, connection: HttpToolsProtocol, transport: asyncio.Transport) -> None:
        """A connection was accepted."""
        self._all.add(connection)
        self._strangers[_address(connection)] = transport
        if self._closed:
            transport.abort()
        elif len(self._all) > self.most and self._strangers:
            self._strangers.pop(next(iter(self._strangers))).abort()

    def let_in(self, client: Any) -> None:
        """The connection from `client`, an address and a port, has shown the token."""
        self._strangers.pop(tuple(client or ()), None)

    def close(self) -> None:
        """Ends them all: a page that is open would hold its connections for as long as it is open."""
        self._closed = True
        for connection in list(self._all):
            connection.transport.abort()

    def left(self, connection: HttpToolsProtocol) -> None:
        """A connection was closed."""
        self._all.discard(connection)
        self._strangers.pop(_address(connection), None)


class Server(uvicorn.Server):
    """uvicorn's, which closes its `connections` when it is told to stop."""

    def __init__(self, config: uvicorn.Config, connections: Connections) -> None:
        super().__init__(config)
        self._connections = connections

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Nobody is waited for."""
        self._connections.close()
        await super().shutdown(sockets)


def _address(connection: HttpToolsProtocol) -> tuple[Any, ...]:
    return tuple(connection.client or (id(connection),))
