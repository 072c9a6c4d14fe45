"""Asks every machine of a launch, over the ssh that the launcher will use, what a run needs to find there."""

import json
import shlex
import shutil
import time
from collections.abc import Mapping
from typing import Any

from dsgui.core.launch.plan import Plan
from dsgui.core.machine.verdicts import Row, saw
from dsgui.core.preflight.hosts_report import MachineFacts, rows
from dsgui.core.texts.saying import Said
from dsgui.shell.launch.other_machines import Asked, answers

_ANSWER_S = 20
_NO_PYTHON = 97
# Read by the Python that will train, wherever it is: the standard library alone.
_PROGRAM = r"""
import json, os, socket, subprocess, sys
from importlib.metadata import PackageNotFoundError, version
asked = json.loads(sys.argv[1])
def of(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
def gpus():
    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, timeout=10)
        return done.stdout.count(b"GPU ") if done.returncode == 0 else 0
    except (OSError, subprocess.SubprocessError):
        return 0
def free(port):
    if port is None:
        return None
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
def address():
    try:
        return socket.gethostbyname(socket.gethostname())
    except OSError:
        return ""
print(json.dumps({
    "versions": {"python": sys.version.split()[0], **{p: of(p) for p in ("deepspeed", "torch", "transformers")}},
    "gpus": gpus(), "has_script": os.path.isfile(asked["script"]), "has_folder": os.path.isdir(asked["folder"]),
    "port_free": free(asked["port"]), "address": address(), "interfaces": [name for _, name in socket.if_nameindex()],
}))
"""


def ask_machines(plan: Plan) -> tuple[Row, ...]:
    """What stands in the way on each machine of `plan`. Takes as long as the slowest answer, at most 20 s."""
    facts = tuple(_read(name, *answer) for name, answer in _ask(plan).items())
    return rows(plan, facts, has_pdsh=shutil.which("pdsh") is not None)


def _ask(plan: Plan) -> dict[str, tuple[str, str | Said]]:
    asked = {}
    for place, host in enumerate(plan.place.hosts()):
        port = plan.master_port if place == 0 else None
        question = json.dumps({"script": plan.script, "folder": _folder(plan), "port": port})
        python = shlex.quote(plan.target_python)
        command = f"[ -x {python} ] || exit {_NO_PYTHON}; exec {python} - {shlex.quote(question)}"
        asked[host.name] = Asked(host.name, command, _PROGRAM.encode())
    return answers(asked, time.monotonic() + _ANSWER_S)


def _folder(plan: Plan) -> str:
    """The run's own folder is made there with the config."""
    return "/" if plan.working_directory == plan.run_directory else plan.working_directory


def _read(name: str, printed: str, problem: str | Said) -> MachineFacts:
    if problem == saw("host.exit_code", code=str(_NO_PYTHON)):
        return MachineFacts(name, versions=None)
    if problem:
        return MachineFacts(name, problem=problem)
    try:
        told: Mapping[str, Any] = json.loads(printed.splitlines()[-1])
        return MachineFacts(
            name,
            versions={str(package): str(version) for package, version in told["versions"].items()},
            gpus=int(told["gpus"]),
            has_script=bool(told["has_script"]),
            has_folder=bool(told["has_folder"]),
            port_free=told["port_free"],
            address=str(told["address"]),
            interfaces=tuple(str(interface) for interface in told["interfaces"]),
        )
    except (ValueError, LookupError, TypeError, AttributeError):
        return MachineFacts(name, problem=saw("host.unreadable_answer"))
