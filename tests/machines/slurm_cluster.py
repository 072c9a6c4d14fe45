"""A real Slurm of one node on loopback, for tests: Debian's munge, slurmctld and slurmd, with files of their own."""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.support.ports import free_port

_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")
_CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldPort={controller}
SlurmdPort={node}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName={host} NodeAddr=127.0.0.1 CPUs=1 Boards=1 SocketsPerBoard=1 CoresPerSocket=1 ThreadsPerCore=1 RealMemory=1000
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""


def missing() -> str:
    """Why there can be no Slurm here, or ""."""
    if os.geteuid():
        return "Slurm's daemons need root here"
    lacking = [name for name in _PROGRAMS if not shutil.which(name, path="/usr/sbin:/usr/bin")]
    return f"not installed: {', '.join(lacking)}" if lacking else ""


@contextlib.contextmanager
def slurm_cluster(folder: Path) -> Iterator[dict[str, str]]:
    """The environment in which sbatch and the like find it. Its daemons end with the context."""
    folder.mkdir()
    for path in (folder, *folder.parents[:2]):
        path.chmod(path.stat().st_mode | 0o711)  # munge's clients look at the whole way to its socket
    for name in ("state", "spool"):
        (folder / name).mkdir()
    conf = folder / "slurm.conf"
    conf.write_text(
        _CONF.format(
            host=socket.gethostname().partition(".")[0], folder=folder, controller=free_port(), node=free_port()
        ),
        encoding="ascii",
    )
    key = folder / "munge.key"
    key.touch(0o600)
    key.write_bytes(os.urandom(1024))
    files = {option: folder / f"munge.{option}" for option in ("socket", "pid-file", "log-file", "seed-file")}
    munged = ["munged", "--foreground", "--force", f"--key-file={key}", *(f"--{k}={v}" for k, v in files.items())]
    environment = {**os.environ, "SLURM_CONF": str(conf)}
    with contextlib.ExitStack() as stack:
        for words in (munged, ["slurmctld", "-D", "-c"], ["slurmd", "-D"]):
            stack.enter_context(_daemon(words, folder, environment))
        _wait_for_node(environment)
        yield environment


@contextlib.contextmanager
def _daemon(words: list[str], folder: Path, environment: dict[str, str]) -> Iterator[None]:
    path = f"/usr/sbin:/usr/bin:{environment['PATH']}"
    with (folder / f"{words[0]}.log").open("wb") as log:
        process = subprocess.Popen(
            words, env={**environment, "PATH": path}, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        if words[0] == "munged":
            _until(lambda: (folder / "munge.socket").exists())
        yield
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=15)
        process.kill()
        process.wait()


def _wait_for_node(environment: dict[str, str]) -> None:
    def idle() -> bool:
        told = subprocess.run(["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, text=True, check=False)
        return told.stdout.strip() == "idle"

    _until(idle)


def _until(condition: object) -> None:
    deadline = time.monotonic() + 40
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.2)
