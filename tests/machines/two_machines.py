"""Two machines on one: network and process namespaces, each with a real sshd, and a third place where dsgui runs.

Nothing on one side sees the other's processes; ssh and pdsh are Debian's. Needs root, `openssh-server`, `pdsh` and
`iproute2`. Everything is on a bridge of its own without a way out.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMES = ("worker-a", "worker-b")
INTERFACE = "eth0"
_PROGRAMS = ("ip", "unshare", "nsenter", "ssh", "ssh-keygen", "pdsh")
_SSHD = "/usr/sbin/sshd"
_PATIENCE_S = 20


def missing() -> str:
    """Why there can be no two machines here, or ""."""
    if os.geteuid():
        return "namespaces with a network of their own need root here"
    lacking = [name for name in _PROGRAMS if not shutil.which(name)] + ([] if Path(_SSHD).exists() else ["sshd"])
    if lacking:
        return f"not installed: {', '.join(lacking)}"
    allowed = subprocess.run(["unshare", "--net", "--pid", "--fork", "true"], capture_output=True, check=False)
    return "" if allowed.returncode == 0 else "namespaces are not allowed here"


class TwoMachines:
    """The machines `worker-a` and `worker-b`, with addresses; `run` and `start` do something where dsgui is."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack) -> None:
        self._folder, self._stack = folder, stack
        self._number = os.getpid() % 250
        self._bridge = f"dsgui{self._number}"
        self.addresses = {name: f"10.77.{self._number}.{place}" for place, name in enumerate(NAMES, 1)}
        self._bin = folder / "bin"
        self.hostfile = "".join(f"{name} slots=1\n" for name in NAMES)
        self._keys()
        self._network()
        for name in NAMES:
            self._sshd(name)
        self._here = self._namespace([])
        self._wait()

    # -- where dsgui runs ------------------------------------------------------------------------------------------

    def environment(self, **more: str) -> Mapping[str, str]:
        """With an `ssh` that knows the two machines."""
        return {**os.environ, "PATH": f"{self._bin}:{os.environ['PATH']}", **more}

    def command(self, words: Sequence[str]) -> list[str]:
        """`words`, seen from where dsgui runs: no process of the two machines can be seen or signalled there."""
        return ["nsenter", f"--target={self._here}", "--pid", "--mount", f"--wd={ROOT}", "--", *words]

    def run(self, *words: str, check: bool = True) -> str:
        """A command where dsgui runs; what it printed."""
        done = subprocess.run(
            self.command(words), env=self.environment(), capture_output=True, text=True, check=False, timeout=120
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout

    def dsgui(self, *words: str, check: bool = True) -> str:
        """`python -m dsgui …`."""
        return self.run(sys.executable, "-m", "dsgui", *words, check=check)

    def on(self, name: str, command: str) -> str:
        """A shell command on one of the machines."""
        return self.run(str(self._bin / "ssh"), name, command, check=False)

    # -- how they are made -----------------------------------------------------------------------------------------

    def _keys(self) -> None:
        self._bin.mkdir(parents=True)
        for name in ("client", "host"):
            _do("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self._folder / name))
        shutil.copy(self._folder / "client.pub", self._folder / "authorized")
        hosts = "".join(f"Host {name}\n  HostName {address}\n" for name, address in self.addresses.items())
        (self._folder / "ssh_config").write_text(
            f"{hosts}Host *\n  IdentityFile {self._folder / 'client'}\n  StrictHostKeyChecking no\n"
            "  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n",
            encoding="utf-8",
        )
        ssh = self._bin / "ssh"
        ssh.write_text(
            f'#!/bin/sh\nexec {shutil.which("ssh")} -F {self._folder / "ssh_config"} "$@"\n', encoding="utf-8"
        )
        ssh.chmod(0o755)
        (self._folder / "sshd_config").write_text(
            f"HostKey {self._folder / 'host'}\nAuthorizedKeysFile {self._folder / 'authorized'}\n"
            "StrictModes no\nUsePAM no\nPermitRootLogin prohibit-password\nPasswordAuthentication no\nPidFile none\n",
            encoding="utf-8",
        )

    def _network(self) -> None:
        _do("ip", "link", "add", self._bridge, "type", "bridge")
        self._stack.callback(_do, "ip", "link", "del", self._bridge)
        _do("ip", "addr", "add", f"10.77.{self._number}.254/24", "dev", self._bridge)
        _do("ip", "link", "set", self._bridge, "up")
        for place, (name, address) in enumerate(self.addresses.items()):
            space, here = self._space(name), f"dsgui{self._number}v{place}"
            _do("ip", "netns", "add", space)
            self._stack.callback(_do, "ip", "netns", "del", space)
            _do("ip", "link", "add", here, "type", "veth", "peer", "name", INTERFACE, "netns", space)
            _do("ip", "link", "set", here, "master", self._bridge, "up")
            for words in (
                ("addr", "add", f"{address}/24", "dev", INTERFACE),
                ("link", "set", INTERFACE, "up"),
                ("link", "set", "lo", "up"),
            ):
                _do("ip", "-netns", space, *words)

    def _sshd(self, name: str) -> None:
        Path("/run/sshd").mkdir(exist_ok=True)
        config = str(self._folder / "sshd_config")
        within = ["ip", "netns", "exec", self._space(name)]
        self._namespace(within, [_SSHD, "-D", "-e", "-f", config])

    def _namespace(self, within: Sequence[str], words: Sequence[str] = ("sleep", "1000")) -> int:
        """A process namespace whose first process is `words`; the pid of that, seen from the test."""
        with (self._folder / "namespaces.log").open("ab") as log:
            outer = subprocess.Popen(
                [*within, "unshare", "--pid", "--fork", "--kill-child", "--mount-proc", *words],
                stdin=subprocess.DEVNULL,
                stderr=log,
            )
        self._stack.callback(_end, outer)
        children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children")
        _until(lambda: children.read_text("ascii").strip() != "")
        return int(children.read_text("ascii").split()[0])

    def _space(self, name: str) -> str:
        return f"dsgui{self._number}-{name}"

    def _wait(self) -> None:
        for name in NAMES:
            _until(lambda name=name: self.on(name, "echo on").strip() == "on")  # type: ignore[misc]


@contextlib.contextmanager
def two_machines(folder: Path) -> Iterator[TwoMachines]:
    """For as long as the context lasts; then every process on them is gone."""
    with contextlib.ExitStack() as stack:
        yield TwoMachines(folder, stack)


def _do(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()


def _until(condition: object) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.1)
