"""A run's first process, followed by whoever supervises it now: its parent, or a process that came later."""

import os
import subprocess
import time

from dsgui.core.state import Identity
from dsgui.shell.guardian import collect
from dsgui.shell.keeping import Keeping
from dsgui.shell.processes import descendants, identify, is_alive, marked, snapshot

_PATIENCE_S = 5.0  # a fork of a killed supervisor becomes the launcher in a few milliseconds
_POLL_S = 0.01


class Launched:
    """`exit_code` is as `Popen` has it: None while it runs, and where nobody of dsgui's was left to be told."""

    def __init__(self, identity: Identity, keeping: Keeping, popen: "subprocess.Popen[bytes] | None" = None) -> None:
        self.identity, self.pid, self._keeping = identity, identity.pid, keeping
        self._popen = popen  # that it does not wait for the process itself once nobody holds it
        self.exit_code: int | None = None
        self.runs_on = True

    def poll(self) -> bool:
        """Whether it runs on."""
        if self.runs_on:
            collect(self._keeping, self.pid)
            gone = identify(self.pid) != self.identity  # looked at first: whoever waits for it tells before
            self.exit_code = dict(self._keeping.facts.ended).get(self.pid)
            self.runs_on = self.exit_code is None and not gone
            if not self.runs_on and self._popen:
                self._popen.returncode = self.exit_code
        return self.runs_on

    def wait(self) -> None:
        while self.poll():
            time.sleep(_POLL_S)


def find_started(keeping: Keeping, run_id: str) -> Identity | None:
    """The launcher that a supervisor started, who may have been killed before it could tell which process it is; None
    where it did not come so far."""
    if keeping.facts.launcher:
        return keeping.facts.launcher
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        table = snapshot()
        owners = [one.pid for one in keeping.facts.guardians if is_alive(one)]
        below = descendants(owners, table) - {os.getpid(), *owners}
        if found := [pid for pid in marked(run_id, below) if table[pid].session == pid]:
            identity = identify(min(found, key=lambda pid: table[pid].start_time))
            if identity:
                keeping.tell(launcher=identity.to_json())
            return identity
        if not below:
            return None
        time.sleep(_POLL_S)
    return None
