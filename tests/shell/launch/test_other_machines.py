"""Commands on other machines, with an ssh that is a script."""

import time
from pathlib import Path

import pytest

from dsgui.core.launch.hostfile import Host
from dsgui.core.machine.verdicts import saw
from dsgui.shell.launch.backend import Ended
from dsgui.shell.launch.other_machines import end, put

HOSTS = (Host("a", (0,)), Host("b", (0,)))


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An executable `ssh`, to be written."""
    path = tmp_path / "ssh"
    path.touch(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return path


def test_what_a_login_shell_prints_besides_is_passed_over(ssh: Path) -> None:
    ssh.write_text("#!/bin/sh\ncat > /dev/null\nprintf 'hello\\n\\nleft alone\\ntold 2\\nleft 7 8\\n'\n", "utf-8")
    assert end(HOSTS[:1], "run", 0, lambda: False) == (Ended("a", told=2, left=(7, 8)),)


def test_a_machine_that_is_silent_or_refuses_is_named_and_the_other_is_ended(ssh: Path) -> None:
    ssh.write_text(
        "#!/bin/sh\ncat > /dev/null\n"
        'case "$*" in *" a "*) printf "told 1\\nleft\\n";; *) echo "Permission denied" >&2; exit 255;; esac\n',
        "utf-8",
    )
    assert end(HOSTS, "run", 0, lambda: False) == (Ended("a", told=1), Ended("b", problem="Permission denied"))


def test_nobody_waits_for_a_helper_that_outlives_ssh(
    ssh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dsgui.shell.launch.other_machines._ANSWER_S", 1)
    ssh.write_text("#!/bin/sh\nsleep 30 &\nwait\n", "utf-8")
    began = time.monotonic()
    large = b"x" * 300_000  # more than a pipe holds
    assert put(HOSTS, tmp_path / "config", large) == dict.fromkeys("ab", saw("host.timed_out"))
    assert time.monotonic() - began < 10
