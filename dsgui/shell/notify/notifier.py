"""Tells a webhook of a run. Each message is a process of its own that is never waited for while the run goes on; what
became of it is an event of the run."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from dsgui.core.access.secret_forms import NOTIFY
from dsgui.core.errors import PlanError
from dsgui.core.metrics.points import Event
from dsgui.core.notify.webhook import Message, Webhook, request_of, webhook_of
from dsgui.core.texts.saying import Said, said, wrong
from dsgui.shell.files.folders import data_home
from dsgui.shell.notify.sender import ALL_S

SENDER = Path(__file__).with_name("sender.py")
MOST = 20  # of a run: one that goes on and off is no news
_MOST_BYTES = 4096
_LONGEST = 200
_LOOK_S = 0.05
# Of the run's variables only what a request needs to find its way.
_HANDED_ON = ("PATH", "HOME", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR")
_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "all_proxy")


def all_runs_file() -> Path:
    """Where the address for all runs may stand, beside the runs' own folder."""
    return data_home() / "notify"


def asked_webhook(environment: Mapping[str, str]) -> tuple[Webhook | None, Event | None]:
    """The run's own or that of all runs: of the variable, else of the file; and what is to be noted of one that can't
    be told."""
    try:
        return webhook_of(_configured(environment)[0]), None
    except PlanError as error:
        return None, Event.of("warning", said("events", "not_notified", why=str(error).rstrip(".")))


def _configured(environment: Mapping[str, str]) -> tuple[str, str]:
    """What stands in the variable, else in the file, and which of them it is."""
    typed = environment.get(NOTIFY, "")
    if typed:
        return typed, NOTIFY
    with suppress(OSError, UnicodeDecodeError), all_runs_file().open("rb") as file:
        typed = file.read(_MOST_BYTES).decode()
    return typed, str(all_runs_file())


class Notifier:
    """`note` takes the events of what became of the messages; `unusable` is noted in place of the first."""

    def __init__(self, webhook: Webhook | None, note: Callable[[Event], None], unusable: Event | None = None) -> None:
        self._webhook, self._note, self._unusable = webhook, note, unusable
        self._sending: list[subprocess.Popen[bytes]] = []
        self._count = 0

    @property
    def pids(self) -> frozenset[int]:
        """Of those that send: no part of the run."""
        return frozenset(one.pid for one in self._sending)

    def tell(self, message: Message) -> None:
        """Returns at once. Raises OSError where no process can be started."""
        if self._unusable:
            event, self._unusable = self._unusable, None
            self._note(event)
        if self._webhook is None or self._count >= MOST:
            return
        self._count += 1
        request = request_of(self._webhook, message, time.time())
        told = json.dumps({**asdict(request), "headers": dict(request.headers)}).encode()
        process = subprocess.Popen(
            [sys.executable, "-I", str(SENDER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=_environment(),
            start_new_session=True,
        )
        assert process.stdin
        assert process.stdout
        os.set_blocking(process.stdout.fileno(), False)
        self._sending.append(process)
        with suppress(OSError), process.stdin:  # some KiB, which a pipe takes whether or not anybody reads
            process.stdin.write(told)

    def look(self) -> None:
        """Notes what those said that have ended."""
        for process in tuple(self._sending):
            assert process.stdout
            said_last = process.stdout.read(_LONGEST)
            if said_last is None and process.poll() is None:
                continue
            self._sending.remove(process)
            process.stdout.close()
            process.wait()
            self._note(_outcome((said_last or b"").decode("utf-8", "replace").strip()))

    def close(self) -> None:
        """Waits for the rest, a bounded time: a run that has ended waits for nobody."""
        deadline = time.monotonic() + ALL_S + 1
        while self._sending and time.monotonic() < deadline:
            self.look()
            time.sleep(_LOOK_S if self._sending else 0)
        for process in self._sending:
            process.kill()
            process.wait()


def try_webhook(typed: str, environment: Mapping[str, str]) -> tuple[str, str | Said] | None:
    """Sends one message as a run would: to the address typed, else to that of all runs. The form it was sent in, and
    why it was not, "" where it was; None where no address is set. Raises `PlanError`, OSError."""
    webhook = webhook_of(typed) if typed.strip() else _of_all_runs(environment)
    if webhook is None:
        return None
    noted: list[Event] = []
    notifier = Notifier(webhook, noted.append)
    notifier.tell(Message("test", "test", "test", "test", str(said("notifying", "test"))))
    notifier.close()
    event = noted[0] if noted else _outcome("")
    why = dict(event.said.given).get("why", "") if event.said else ""
    return webhook.form, "" if event.kind == "notified" else why


def _of_all_runs(environment: Mapping[str, str]) -> Webhook | None:
    """Raises `PlanError`, which says where it stands."""
    configured, where = _configured(environment)
    try:
        return webhook_of(configured)
    except PlanError as error:
        raise PlanError(wrong("notify.configured", where=where, why=str(error))) from error


def _outcome(told: str) -> Event:
    if told == "sent":
        return Event.of("notified", said("events", "notified"))
    return Event.of("warning", said("events", "not_notified", why=_why(told or "no_answer")))


def _why(told: str) -> str | Said:
    """A code of `notifying` in the catalogue, with what fills its place behind a colon; else words of the service's."""
    code, _, what = told.partition(":")
    if code in ("no_connection", "refused"):
        return said("notifying", code, what=what)
    return said("notifying", code) if code in ("timed_out", "unreadable", "no_answer") else told


def _environment() -> dict[str, str]:
    names = (*_HANDED_ON, *_PROXIES, *(name.upper() for name in _PROXIES))
    return {name: os.environ[name] for name in names if name in os.environ}
