"""What keeps a trial from harm: no network, no accelerator, bounded memory, and an end that spares nothing it started.

Runs in the target environment, for `oracle_worker.py`: standard library alone, from Python 3.9 on.
"""

import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
import time

_PR_SET_PDEATHSIG = 1
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_LEAST_MEMORY = 6 << 30  # bytes; default buckets reserve a few GB that they never touch
_MOST_ROUNDS = 100
_LAST_TO_LIVE = "1000"


def end_session(session: int) -> None:
    """Kills the other processes of a session, also those that appear meanwhile."""
    for _ in range(_MOST_ROUNDS):
        others = session_members(session)
        if not others:
            return
        for pid in others:
            kill_if_there(pid)
        time.sleep(0.01)


def session_members(session: int) -> "list[int]":
    """The processes of a session that still run, without its leader."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != session:
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    state, _, _, its_session = file.read().rpartition(b")")[2].split()[:4]
            except OSError:  # it has just ended
                continue
            if int(its_session) == session and state not in (b"Z", b"X"):
                found.append(int(name))
    return found


def kill_if_there(pid: int) -> None:
    """KILL, unless it has just ended."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def end_with_parent(number: signal.Signals) -> None:
    """Asks the kernel for this signal when the thread that started this process ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)


def limit_memory() -> None:
    """A config may ask for buckets of a terabyte: let it fail by itself, and be the first to go when memory ends."""
    with open("/proc/self/statm") as statm, open("/proc/meminfo") as meminfo:
        pages = int(statm.read().split()[0])
        free = next((int(line.split()[1]) << 10 for line in meminfo if line.startswith("MemAvailable")), 0)
    limit = pages * resource.getpagesize() + max(free, _LEAST_MEMORY)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    with open("/proc/self/oom_score_adj", "w") as score:
        score.write(_LAST_TO_LIVE)


def leave_network() -> str:
    """Puts this process where there is no network but loopback; "namespace", or "loopback" where that is refused and
    only what the worker itself does keeps it off the network."""
    unshare = ctypes.CDLL(None, use_errno=True).unshare
    user, group = os.getuid(), os.getgid()
    if unshare(_CLONE_NEWNET) != 0:
        if unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
            return "loopback"
        keep_identity(user, group)
    with socket.socket() as any_socket:
        request = struct.pack("16sh", b"lo", 0)
        _, flags = struct.unpack("16sh", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, request))
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh", b"lo", flags | _IFF_UP))
    return "namespace"


def keep_identity(user: int, group: int) -> None:
    """In a user namespace of its own the process stays who it was."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def set_environment() -> None:
    """The CPU alone, offline, one thread; before anything is imported."""
    for name in [n for n in os.environ if n.lower().endswith("_proxy")]:
        del os.environ[name]
    for name in [n for n in os.environ if n.startswith("ACCELERATE_")]:  # a launch of the server's own
        del os.environ[name]
    os.environ.update(
        DS_ACCELERATOR="cpu",
        CUDA_VISIBLE_DEVICES="",
        HF_HUB_OFFLINE="1",
        TRANSFORMERS_OFFLINE="1",
        WANDB_MODE="offline",
        GLOO_SOCKET_IFNAME="lo",
        OMP_NUM_THREADS="1",
        TOKENIZERS_PARALLELISM="false",
    )
