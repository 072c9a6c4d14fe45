"""Run by path in the Python that will train: imports DeepSpeed once, then tries configs for `oracle.py`.

A JSON question a line on stdin, JSON a line on stdout: first `{"hello": …}`, then for each question any number of
`{"id": …, "stage": …}` and one `{"id": …, "answer": …}`. Each question is tried in a forked child, in a session of its
own with a time limit; several at once. The argument is a folder to write in, which the worker removes when it ends:
with its stdin, or with the thread that started it.
"""

import ctypes
import fcntl
import importlib
import json
import os
import resource
import selectors
import shutil
import signal
import socket
import struct
import sys
import tempfile
import time
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from dsgui.shell import oracle_trial

sys.path[:2] = []  # nor the folder of this script, whose modules' names others may have too

_PR_SET_PDEATHSIG = 1
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_LEAST_MEMORY = 6 << 30  # bytes; default buckets reserve a few GB that they never touch
_MOST_ROUNDS = 100
_LAST_TO_LIVE = "1000"
_HF_MODULES = ("transformers", "transformers.training_args", "transformers.integrations.deepspeed", "accelerate.utils")


class Child:
    """A question being tried: the process, the pipe it answers through, and when it must be done."""

    def __init__(self, question: "dict[str, Any]", scratch: str) -> None:
        self.id, self.stage, self.doing = question["id"], "", ""
        self.answered, self.rest = False, b""
        self.may_start_others = question["do"] != "parse"
        self.limit_s = float(question["limit_s"])
        self.deadline = time.monotonic() + self.limit_s
        self.scratch = tempfile.mkdtemp(dir=scratch)
        self.pipe, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.pipe)
            be_a_child(question, self.scratch, write)
        os.close(write)

    def lines(self) -> "list[dict[str, Any]] | None":
        """What it has said since; None once it has ended."""
        chunk = os.read(self.pipe, 1 << 16)
        if not chunk:
            return None
        *lines, self.rest = (self.rest + chunk).split(b"\n")
        return [json.loads(line) for line in lines]

    def end(self) -> int:
        """Ends it with everything it started; the signal that it died of, or 0."""
        os.kill(self.pid, signal.SIGKILL)
        if self.may_start_others:  # ninja gives each compiler a group of its own, so the session is what they share
            end_session(self.pid)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.pipe)
        oracle_trial.forget_folder(self.scratch)
        return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


class Worker:
    """Reads questions and forwards answers until stdin ends."""

    def __init__(self, answers: int, scratch: str) -> None:
        self._answers, self._scratch, self._rest = answers, scratch, b""
        self._selector = selectors.DefaultSelector()
        self._selector.register(0, selectors.EVENT_READ, None)
        self._children: dict[int, Child] = {}

    def serve(self) -> None:
        """Until stdin ends. What is still being tried then is ended too."""
        try:
            while True:
                for key, _ in self._selector.select(self._patience()):
                    if key.data is None and not self._take():
                        return
                    if key.data is not None:
                        self._hear(key.data)
                for child in [c for c in self._children.values() if c.deadline <= time.monotonic()]:
                    self._close(child, {"ended": "limit", "limit_s": child.limit_s})
        finally:
            for child in list(self._children.values()):
                child.end()

    def say(self, **message: Any) -> None:
        """One line to whoever asked."""
        data = (json.dumps(message) + "\n").encode()
        while data:
            data = data[os.write(self._answers, data) :]

    def _patience(self) -> "float | None":
        deadlines = [child.deadline for child in self._children.values()]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def _take(self) -> bool:
        """The questions that have come; False at the end of stdin."""
        chunk = os.read(0, 1 << 16)
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._ask(json.loads(line))
        return bool(chunk)

    def _ask(self, question: "dict[str, Any]") -> None:
        try:
            warm_up(question)
        except Exception as error:  # noqa: BLE001 — whatever a stranger's environment raises is the answer
            self.say(id=question["id"], answer={"stage": "read", "missing": f"{type(error).__name__}: {error}"})
            return
        child = Child(question, self._scratch)
        self._children[child.pid] = child
        self._selector.register(child.pipe, selectors.EVENT_READ, child)
        self.say(id=child.id, stage="read", pid=child.pid)

    def _hear(self, child: Child) -> None:
        lines = child.lines()
        if lines is None:
            if not child.answered:
                self._close(child, {"ended": "crash"})
            return
        for line in lines:
            if "answer" in line:
                child.answered = True
                self._close(child, line["answer"])
                return
            child.stage, child.doing = line["stage"], line.get("doing", "")
            self.say(id=child.id, **line)

    def _close(self, child: Child, answer: "dict[str, Any]") -> None:
        self._selector.unregister(child.pipe)
        del self._children[child.pid]
        died = child.end()
        if "ended" in answer:
            answer = {**answer, "stage": child.stage or "read", "doing": child.doing}
            answer.update({"signal": died} if answer["ended"] == "crash" else {})
        self.say(id=child.id, answer={**answer, "versions": oracle_trial.versions()})


def be_a_child(question: "dict[str, Any]", scratch: str, write: int) -> None:
    """Tries the question, writes the answer, and ends this process."""
    try:
        os.setsid()
        end_with_parent(signal.SIGKILL)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for handle in (0, 1, 2):
            os.dup2(nowhere, handle)
        os.chdir(scratch)
        tempfile.tempdir = scratch
        limit_memory()

        def tell(message: "dict[str, Any]") -> None:
            os.write(write, (json.dumps(message) + "\n").encode())

        tell({"answer": oracle_trial.Trial(question, tell, scratch).run()})
    finally:
        os._exit(0)


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


def warm_up(question: "dict[str, Any]") -> None:
    """Imports what this kind of question needs, once, so that no child has to."""
    if question["reader"] == "hf":
        for name in _HF_MODULES:
            importlib.import_module(name)
        importlib.import_module("transformers").TrainingArguments  # noqa: B018 — transformers imports when it is asked
    if question["do"] != "parse" and "torch._dynamo" not in sys.modules:
        importlib.import_module("torch._dynamo")  # every optimizer imports it, for seconds
        cpuinfo: Any = importlib.import_module("cpuinfo")
        known = cpuinfo.get_cpu_info()  # DeepSpeed's CPU optimizers ask anew each time, for seconds
        cpuinfo.get_cpu_info = lambda: known


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


def hello(network: str) -> "dict[str, Any]":
    """What answers from now on, or why nothing will."""
    try:
        importlib.import_module("hjson")
        oracle_trial.resolved(
            importlib.import_module("deepspeed.runtime.config").DeepSpeedConfig({"train_batch_size": 1})
        )
    except BaseException as error:  # noqa: BLE001 — some builds of torch end the interpreter
        return {"problem": f"{type(error).__name__}: {error}"}
    return {"versions": oracle_trial.versions(), "network": network}


def main() -> None:
    """Serve until stdin ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    end_with_parent(signal.SIGTERM)
    answers = os.dup(1)  # not inherited by what it starts
    os.dup2(2, 1)  # DeepSpeed prints to stdout
    set_environment()
    network = leave_network()
    scratch = sys.argv[1]
    try:
        os.makedirs(scratch, exist_ok=True)
        tempfile.tempdir = os.environ["TMPDIR"] = scratch
        worker = Worker(answers, scratch)
        greeting = hello(network)
        worker.say(hello=greeting)
        if "problem" not in greeting:
            worker.serve()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        os._exit(0)  # torch takes seconds to say goodbye


if __name__ == "__main__":
    main()
