"""Several machines: DeepSpeed's launcher reaches each over ssh, by pdsh, and starts the ranks there."""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from dsgui.core.errors import PlanError
from dsgui.core.launch.command import (
    HOSTFILE,
    MARKER,
    PLAIN_WORD,
    added,
    config_words,
    own_variables,
    programs,
    script_words,
    told_by_environment,
)
from dsgui.core.launch.field import Field, Kind, Part
from dsgui.core.launch.hostfile import Host, chosen_hosts, example, hostfile_for, parse_hostfile
from dsgui.core.launch.plan import Place, Plan, StartedBy, ranks_said
from dsgui.core.machine.verdicts import saw
from dsgui.core.texts.saying import Said, listed, phrase, words, wrong

REMOTE_ENVIRONMENT_FILE = "deepspeed_env"
# The launcher puts its words into a command line for the other machines' shells; it quotes those with a space alone.
_PLAIN_WORDS = re.compile(r"[\w@+=:,./ -]+\Z", re.ASCII)
# pdsh holds back what has no line end yet, and errors apart from the rest: the bars of an hour would come at once, and
# nobody could tell to which of them a line belongs. The launcher hands on names unquoted, so this is run there.
_MERGED = "PYTHONUNBUFFERED; exec 2>&1; export PYTHONUNBUFFERED=1\n"
_MOST_NAMED = 4
_MOST_SHOWN = 64  # hosts of a template

_FIELDS = (
    Field(
        name="hostfile",
        part=Part.PLACE,
        kind=Kind.LINES,
        label="Hostfile",
        lines=3,
        most_lines=12,
        placeholder="worker-0 slots=4\nworker-1 slots=4",
        help="One host per line with its slots (GPUs, or CPU ranks where it has none), or paste your hostfile. Ranks "
        "are counted in this order. ssh must reach each without a password; Python, script and data lie at the same "
        "paths everywhere.",
        option="--hostfile",
        usage="several hosts, one per line: worker-0 slots=4",
        from_file="a file such as “worker-0 slots=4”",
        instead_of_devices=True,
        id="hostfile",
    ),
    Field(
        name="include",
        part=Part.PLACE,
        label="Include",
        placeholder="all, or worker-0:0,1",
        option="--include",
        usage="use only these hosts or GPUs of the hostfile: worker-0@worker-1:0,2",
        beside=True,
        id="include",
    ),
    Field(
        name="exclude",
        part=Part.PLACE,
        label="Exclude",
        placeholder="none, or worker-1:0",
        option="--exclude",
        usage="don't use these hosts or GPUs of the hostfile",
        beside=True,
        id="exclude",
    ),
    Field(
        name="master_addr",
        part=Part.PLACE,
        label="Master address",
        placeholder="address of the first host",
        option="--master-addr",
        usage="rendezvous address (default: the first host's)",
        beside=True,
        id="master-addr",
    ),
)


@dataclass(frozen=True, slots=True)
class Machines(Place):
    """`text` is the hostfile, `include` and `exclude` are the launcher's filters (`worker-0@worker-1:0,2`),
    `master_addr` is "" if the launcher should ask the first machine."""

    NAME = "several"
    LABEL = "Several machines over ssh"
    KEY = "machines"
    FIELDS = _FIELDS
    ON_THIS_MACHINE = False
    IS_WAITED_FOR = True
    CAN_BE_ASKED = "machines"
    COUNTS_GPUS = False

    text: str
    include: str = ""
    exclude: str = ""
    master_addr: str = ""

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> Self:
        return cls(values["hostfile"], values["include"], values["exclude"], values["master_addr"])

    @classmethod
    def of_options(cls, given: Mapping[str, Any]) -> dict[str, Any] | None:
        if given["hostfile"] is not None:
            return {"ranks": 0}
        if any(given[name] for name in ("include", "exclude", "master_addr")):
            raise PlanError(wrong("options.need_hostfile"))
        return None

    @classmethod
    def placeholders(cls, nodes: int, per_node: int) -> dict[str, str]:
        return {"hostfile": f"{words('launch_page', 'for_example')}\n{example(min(nodes, _MOST_SHOWN), per_node)}"}

    @classmethod
    def as_planned(cls, nodes: int, per_node: int, values: Mapping[str, Any]) -> dict[str, Any]:
        return {"hostfile": hostfile_for(values["hostfile"] or "", nodes, per_node)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        machines = cls(**{name: str(value.get(name, "")) for name in ("text", "include", "exclude", "master_addr")})
        machines.hosts()  # raises now, so that nobody trips over it later
        return machines

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def values(self) -> dict[str, Any]:
        return {
            "hostfile": self.text,
            "include": self.include,
            "exclude": self.exclude,
            "master_addr": self.master_addr,
        }

    def hosts(self) -> tuple[Host, ...]:
        """The machines that train, in the order of their ranks. Raises `PlanError`."""
        return chosen_hosts(parse_hostfile(self.text), self.include.strip(), self.exclude.strip())

    def ranks(self, asked: int) -> int:
        return sum(len(host.slots) for host in self.hosts())

    def check(self, plan: Plan) -> None:
        """Raises `PlanError` for what the launcher can't pass to other machines."""
        if plan.started_by is StartedBy.TORCHRUN:
            raise PlanError(wrong("ssh.torchrun"))
        if plan.gpu_indices:
            raise PlanError(wrong("ssh.local_gpus"))
        if plan.secret_names:
            raise PlanError(wrong("ssh.secrets", names=listed(plan.secret_names)))
        self._check_words(plan)

    def _check_words(self, plan: Plan) -> None:
        """deepspeed/launcher/multinode_runner.py, PDSHRunner: what is typed here is read by a shell again there."""
        paths = (plan.target_python, plan.working_directory, plan.script, *config_words(plan))
        for word in (*paths, *told_by_environment(plan).values(), self.master_addr.strip() or "-"):
            if not PLAIN_WORD.match(word):
                raise PlanError(wrong("ssh.path_changed", word=word[:80]))
        for word in (*script_words(plan), *filter(None, own_variables(plan).values())):
            if not _PLAIN_WORDS.match(word):
                raise PlanError(wrong("ssh.word_changed", word=word[:80]))

    @property
    def nodes(self) -> int:
        """1 if the numbers of ranks differ, as if all were on one machine."""
        hosts = self.hosts()
        return len(hosts) if len({len(host.slots) for host in hosts}) == 1 else 1

    @property
    def elsewhere(self) -> str:
        names = [host.name for host in self.hosts()]
        return ", ".join(names[:_MOST_NAMED]) + (" …" if len(names) > _MOST_NAMED else "")

    @property
    def not_asked(self) -> Said:
        return saw("elsewhere.not_asked", machines=self.elsewhere)

    def slots(self, plan: Plan) -> frozenset[str]:
        return frozenset(f"{host.name}:{slot}" for host in self.hosts() for slot in host.slots)

    def devices(self, plan: Plan) -> str | Said:
        hosts = listed(host.name for host in self.hosts())
        return phrase("ranks_on", ranks=ranks_said(plan.ranks), hosts=hosts)

    def launcher_options(self, plan: Plan) -> tuple[str, ...]:
        """`--force_multi`: a filter may leave a single machine, which need not be this one."""
        given = (("include", self.include), ("exclude", self.exclude), ("master_addr", self.master_addr))
        return (
            f"--hostfile={posixpath.join(plan.run_directory, HOSTFILE)}",
            *(f"--{name}={value.strip()}" for name, value in given if value.strip()),
            "--force_multi",
        )

    def variables(self, plan: Plan) -> dict[str, str]:
        return {"DS_ENV_FILE": posixpath.join(plan.run_directory, REMOTE_ENVIRONMENT_FILE)}

    def files(self, plan: Plan) -> dict[str, str]:
        return {HOSTFILE: self.text, REMOTE_ENVIRONMENT_FILE: remote_environment(plan)}


def remote_environment(plan: Plan) -> str:
    """What the launcher passes to every machine, one NAME=value per line, as in a `.deepspeed_env`. This includes the
    marker by which a run's processes are found there."""
    handed = {"PATH": f"{programs(plan)}:$PATH", **added(plan), MARKER: plan.run_id}
    return "".join(f"{name}={value}\n" for name, value in handed.items()) + _MERGED
