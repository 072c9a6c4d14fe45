"""Several machines: the config is put on each over ssh, the launcher reaches them by pdsh, and the run is ended on
each."""

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from dsgui.core.access.secrets import is_secret_name
from dsgui.core.errors import RunError
from dsgui.core.launch.command import CONFIG_FILE, argv
from dsgui.core.launch.places.ssh import remote_environment
from dsgui.core.launch.plan import Plan
from dsgui.core.launch.state import Identity
from dsgui.core.machine.verdicts import Row
from dsgui.core.texts.saying import set_apart, wrong
from dsgui.shell.files.in_memory import file_in_memory
from dsgui.shell.launch.ask_machines import ask_machines
from dsgui.shell.launch.backend import Backend, Ended, Start
from dsgui.shell.launch.other_machines import SSH, end, put
from dsgui.shell.processes.processes import marked, send_signal

_OWN_FILE, _NAMES_THEM = ".deepspeed_env", "DS_ENV_FILE"  # deepspeed/launcher/runner.py, DEEPSPEED_ENVIRONMENT_NAME


class Ssh(Backend):
    """The machines of a hostfile. Over ssh to itself a machine's ranks are the ssh server's children."""

    TAKES_SECONDS = True
    OUT_OF_SIGHT = True
    RANKS_ARE_KIN = False
    REACHES = SSH

    def ask(self, plan: Plan) -> tuple[Row, ...]:
        return ask_machines(plan)

    @contextmanager
    def starting(self, plan: Plan, environment: Mapping[str, str]) -> Iterator[Start]:
        """The config is put on each machine first, and DS_ENV_FILE names what the launcher hands to them: the user's
        own `.deepspeed_env` files, as without dsgui, and the run's. Secrets of this environment are left out: the
        launcher hands on whatever begins with PYTHON or MLFLOW, and logs it, as it logs what those files hold."""
        directory = Path(plan.run_directory)
        problems = put(plan.place.hosts(), directory / CONFIG_FILE, (directory / CONFIG_FILE).read_bytes())
        if problems:
            told = set_apart(f"{name}: {problem}" for name, problem in problems.items())
            raise RunError(wrong("ssh.config_not_put", problems=told))
        descriptor = file_in_memory("deepspeed_env")
        try:
            own = _own_environment_files(plan, environment.get(_NAMES_THEM, _OWN_FILE))
            os.write(descriptor, (own + remote_environment(plan)).encode())
            public = {name: value for name, value in environment.items() if not is_secret_name(name)}
            yield Start(argv(plan), public | {_NAMES_THEM: f"/proc/self/fd/{descriptor}"}, (descriptor,))
        finally:
            os.close(descriptor)

    def end(self, plan: Plan, process: Identity | None, grace_s: float, hurry: Callable[[], bool]) -> tuple[Ended, ...]:
        """Before this machine's own processes: they are the ssh clients, and at a TERM the launcher would end other
        runs too."""
        if process and marked(plan.run_id, [process.pid]):
            send_signal(process, signal.SIGKILL)
        return end(plan.place.hosts(), plan.run_id, grace_s, hurry)

    def end_late(self, plan: Plan, ended: tuple[Ended, ...], hurry: Callable[[], bool]) -> tuple[Ended, ...]:
        """The clients that are gone now may have started ranks until then."""
        return end(plan.place.hosts(), plan.run_id, 0, hurry)


def _own_environment_files(plan: Plan, name: str) -> str:
    """The user's, in the order in which the launcher reads them."""
    text = ""
    for folder in (Path.home(), Path(plan.working_directory)):
        with suppress(OSError):
            text += (folder / name).read_text("utf-8", "replace").rstrip("\n") + "\n"
    return text
