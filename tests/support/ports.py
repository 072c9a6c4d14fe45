"""Ports that nobody listens on."""

import contextlib
import socket

_known: list[int] = []


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def known_port() -> int:
    """One that was given before, if nobody listens there any more: a browser knows what is compiled by its address."""
    for port in _known:
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return port
    _known.append(free_port())
    return _known[-1]
