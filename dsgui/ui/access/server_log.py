"""Keeps the server's own messages few: whoever reaches the port can cause them, and each may be a traceback."""

import logging
import time
from collections import deque
from collections.abc import Callable

MOST, WITHIN_S = 20, 3600.0
LOGGERS = ("uvicorn.error", "asyncio")
# Of single connections: what they did is their own affair.
_NOT_SAID = ("Invalid HTTP request", "Unsupported upgrade request", "No supported WebSocket")


class Few(logging.Filter):
    """Lets through `most` messages in `within_s`, and none about what one connection sent; the last one says so."""

    def __init__(
        self, most: int = MOST, within_s: float = WITHIN_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._within_s, self._clock = within_s, clock
        self._times: deque[float] = deque(maxlen=most)

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a message is written."""
        if record.levelno < logging.CRITICAL and str(record.msg).startswith(_NOT_SAID):
            return False
        now = self._clock()
        if len(self._times) == self._times.maxlen and now - self._times[0] < self._within_s:
            return False
        self._times.append(now)
        if len(self._times) == self._times.maxlen and now - self._times[0] < self._within_s:
            record.msg = f"{record.msg} (further server messages are suppressed for a while)"
        return True


def keep_short() -> None:
    """From now on, for this process's server."""
    few = Few()
    for name in LOGGERS:
        logging.getLogger(name).addFilter(few)
