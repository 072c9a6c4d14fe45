"""Posts one request and prints what became of it: "sent", or why not. Run by path as a process of its own, so that
nothing that a network does reaches a run; the standard library alone, since the light core has no HTTP client.

What is to be sent comes as JSON by standard input: an address in the arguments could be read by every user. Nothing of
the address is printed. No redirect is followed: a service's answer must not send a run's news elsewhere.
"""

import http.client
import json
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from typing import Any

ALL_S = 25  # for all tries together; then the kernel ends this process
_TRY_S = 6.0
_PAUSES_S = (1.0, 4.0)  # between three tries
_MOST_BYTES = 1 << 16
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
# Services that answer 200 whatever they think, and say it in the body: what is 0 there.
_CODES = {"feishu": ("code", "StatusCode"), "dingtalk": ("errcode",)}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def main() -> None:
    """Ends within `ALL_S`, whatever the other side does."""
    signal.alarm(ALL_S)
    told = json.load(sys.stdin)
    for pause in (*_PAUSES_S, None):
        outcome, again = once(told)
        if not again or pause is None:
            break
        time.sleep(pause)
    print(outcome, flush=True)


def once(told: dict[str, Any]) -> tuple[str, bool]:
    """What became of it, and whether another try may do better."""
    opener = urllib.request.build_opener(_NoRedirect)
    request = urllib.request.Request(told["url"], told["body"].encode(), told["headers"], method="POST")
    try:
        with opener.open(request, timeout=_TRY_S) as answer:
            return judged(told["form"], answer.read(_MOST_BYTES)), False
    except urllib.error.HTTPError as error:
        error.close()
        return f"HTTP {error.code}", error.code in _AGAIN
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        timed_out = isinstance(reason, TimeoutError | socket.timeout)
        return "timed_out" if timed_out else f"no_connection:{type(reason).__name__}", True


def judged(form: str, body: bytes) -> str:
    """Of an answer with 200."""
    if form not in _CODES:
        return "sent"
    try:
        answer = json.loads(body)
        codes = [answer[name] for name in _CODES[form] if name in answer]
    except (ValueError, TypeError):
        return "unreadable"
    refused = next((code for code in codes if code != 0), None)
    return "sent" if codes and refused is None else f"refused:{str(refused)[:12]}"


if __name__ == "__main__":
    main()
