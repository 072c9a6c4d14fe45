"""Master ports: free ones, and holding them from the preview of a command until it is launched."""

import errno
import random
import socket
import threading
import weakref
from collections import OrderedDict

from dsgui.core.errors import PlanError
from dsgui.core.launch.plan_making import check_port
from dsgui.core.texts.saying import wrong

# Below Linux's ephemeral ports (32768 and up), which any outgoing connection may take, and away from DeepSpeed's 29500.
_PORTS = range(20_000, 29_000)
_PORT_TRIES = 50
_MOST_HELD = 16


class Ports:
    """Ports by the run they are for. While one is held, nothing else of this machine can take it."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, list[socket.socket]] = OrderedDict()
        self._lock = threading.Lock()
        weakref.finalize(self, _close_all, self._held)

    def hold(self, run_id: str, asked: int | None) -> int:
        """A free port, held until `release`; the longest held go when there are many. Raises `PlanError`."""
        if asked is not None:
            check_port(asked)
        for port in [asked] if asked is not None else random.sample(_PORTS, _PORT_TRIES):
            if (listeners := _listen(port)) is not None:
                self._keep(run_id, listeners, asked is not None)
                return port
        if asked is None:
            raise PlanError(wrong("port.none_free", tries=str(_PORT_TRIES)))
        raise PlanError(wrong("port.in_use", port=str(asked), free=str(free_port())))

    def release(self, run_id: str) -> None:
        """Lets go of the run's port: its own processes will listen there."""
        with self._lock:
            _close(self._held.pop(run_id, []))

    def is_free_for(self, run_id: str, port: int) -> bool:
        """Whether the run could listen there: the port is held for it, or nobody has it."""
        with self._lock:
            held = run_id in self._held
        return held or is_free(port)

    def _keep(self, run_id: str, listeners: list[socket.socket], was_asked: bool) -> None:
        if was_asked:  # the same number is asked for again with every preview
            _close(listeners)
            return
        with self._lock:
            self._held[run_id] = listeners
            while len(self._held) > _MOST_HELD:
                _close(self._held.popitem(last=False)[1])


def free_port() -> int:
    """One that nobody listens on now. Raises `PlanError`."""
    for port in random.sample(_PORTS, _PORT_TRIES):
        if is_free(port):
            return port
    raise PlanError(wrong("port.none_free", tries=str(_PORT_TRIES)))


def is_free(port: int) -> bool:
    """Whether a rank could listen there, on every address."""
    listeners = _listen(port)
    _close(listeners or [])
    return listeners is not None


def _listen(port: int) -> list[socket.socket] | None:
    """Listens on every address; None where one is taken."""
    families = [(socket.AF_INET, "0.0.0.0")] + ([(socket.AF_INET6, "::")] if socket.has_ipv6 else [])
    listeners: list[socket.socket] = []
    for family, address in families:
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            # As torch's store does: a connection in TIME_WAIT does not keep a port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind((address, port))
            listener.listen(1)
            listeners.append(listener)
        except OSError as error:
            listener.close()
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                _close(listeners)
                return None
            # A machine without IPv6 has no such address to be taken.
    return listeners


def _close_all(held: OrderedDict[str, list[socket.socket]]) -> None:
    while held:
        _close(held.popitem()[1])


def _close(listeners: list[socket.socket]) -> None:
    for listener in listeners:
        listener.close()
