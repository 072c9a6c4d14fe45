"""A launch through Slurm: what is requested, and the batch script that requests it.

One task per node starts DeepSpeed's launcher there with `--no_ssh` and the node's rank (deepspeed/launcher/runner.py),
or torchrun. Options: https://slurm.schedmd.com/sbatch.html
"""

import posixpath
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from dsgui.core.decoding import whole
from dsgui.core.errors import PlanError
from dsgui.core.launch.command import (
    HOSTFILE,
    MARKER,
    PLAIN_WORD,
    added,
    argv,
    config_words,
    programs,
    script_words,
)
from dsgui.core.launch.field import Field, Kind, Part
from dsgui.core.launch.plan import Place, Plan, StartedBy
from dsgui.core.machine.hardware import Hardware
from dsgui.core.machine.verdicts import saw
from dsgui.core.texts.saying import Said, words, wrong

BATCH_SCRIPT, BATCH_OUTPUT = "job.sh", "slurm.out"
MOST_NODES = 4096
_A_CPU = Hardware("cpu", "CPU", "cpu")  # what it can do is asked of none
_WORDS = ("partition", "time", "account", "cpus", "memory", "gpu_type")
_SECOND_ROW = 2
_WORD = re.compile(r"[A-Za-z0-9_][\w.,:+@-]{0,200}\Z")
_TIME = re.compile(r"\d{1,6}(-\d{1,2})?(:\d{1,2}){0,2}\Z", re.ASCII)
_CPUS, _MEMORY = re.compile(r"[1-9]\d{0,4}\Z", re.ASCII), re.compile(r"\d{1,9}[KMGTkmgt]?\Z", re.ASCII)
_TYPE = re.compile(r"[A-Za-z0-9_][\w.-]{0,60}\Z", re.ASCII)
_OPTION = re.compile(r"--(?P<name>[a-z][a-z0-9-]{1,60})(?:=(?P<value>[\w.,:/%@+*\[\]()&|!-]{1,300}))?\Z", re.ASCII)
# What the script says itself, and what its run depends on.
_OURS = frozenset(
    {"job-name", "nodes", "ntasks", "ntasks-per-node", "gpus-per-node", "partition", "time", "account", "output"}
    | {"error", "open-mode", "chdir", "export", "export-file", "wrap", "array", "parsable", "wait", "test-only"}
    | {"quiet", "clusters", "cluster", "input", "help", "usage", "version"}
)

# Options that sbatch takes only in place of what the field asks for.
_EXCLUDED = {"slurm_cpus": ("cpus-per-gpu",), "slurm_memory": ("mem-per-cpu", "mem-per-gpu")}
_GRES_GPU = re.compile(r"(^|,)(gres[:/])?gpu\b")
# Further requests for GPUs, beside --gpus-per-node.
_MORE_GPUS = ("gpus-per-task", "gpus-per-socket", "gres")

# As sbatch is used: what every job names first.
_FIELDS = (
    Field(
        name="slurm_nodes",
        part=Part.PLACE,
        kind=Kind.COUNT,
        default=1,
        label="Nodes",
        option="--slurm-nodes",
        metavar="N",
        usage="number of nodes to request",
        beside=True,
        id="slurm-nodes",
    ),
    Field(
        name="slurm_per_node",
        part=Part.PLACE,
        kind=Kind.COUNT,
        default=1,
        label="GPUs per node",
        option="--gpus-per-node",
        metavar="N",
        usage="one rank per GPU; without it, --ranks ranks per node on the CPU",
        beside=True,
        id="slurm-per-node",
    ),
    Field(
        name="slurm_partition",
        part=Part.PLACE,
        label="Partition",
        placeholder="Slurm’s default",
        option="--partition",
        usage="partition (default: Slurm's)",
        beside=True,
        id="slurm-partition",
    ),
    Field(
        name="slurm_gpu_type",
        part=Part.PLACE,
        label="GPU type",
        placeholder="any",
        option="--gpu-type",
        usage="type of GPU, as sinfo -o %%G lists it (default: any)",
        beside=True,
        id="slurm-gpu-type",
    ),
    Field(
        name="slurm_on_cpu",
        part=Part.PLACE,
        kind=Kind.TICK,
        default=False,
        label="CPU only: GPUs per node counts ranks",
        beside=True,
        id="slurm-on-cpu",
    ),
    Field(
        name="slurm_time",
        part=Part.PLACE,
        label="Time limit",
        placeholder="e.g. 2-12:00:00",
        option="--time",
        usage="limit: minutes or [days-]hours:minutes:seconds",
        beside=_SECOND_ROW,
        id="slurm-time",
    ),
    Field(
        name="slurm_account",
        part=Part.PLACE,
        label="Account",
        placeholder="yours",
        option="--account",
        usage="account (default: yours)",
        beside=_SECOND_ROW,
        id="slurm-account",
    ),
    Field(
        name="slurm_cpus",
        part=Part.PLACE,
        label="CPUs per task",
        placeholder="Slurm’s default",
        option="--cpus-per-task",
        metavar="N",
        usage="CPU cores per node, for its one task (default: Slurm's)",
        beside=_SECOND_ROW,
        id="slurm-cpus",
    ),
    Field(
        name="slurm_memory",
        part=Part.PLACE,
        label="Memory",
        placeholder="Slurm’s default",
        option="--mem",
        usage="host memory per node, such as 64G (default: Slurm's)",
        beside=_SECOND_ROW,
        id="slurm-memory",
    ),
    Field(
        name="slurm_options",
        part=Part.PLACE,
        kind=Kind.LINES,
        label="More sbatch options",
        placeholder="--qos=high",
        help="One per line. Submitted from this machine with sbatch; script, data and Python lie on a shared disk.",
        option="--slurm-option",
        metavar="=--OPTION",
        usage="another sbatch option",
        lines=2,
        id="slurm-options",
    ),
)


def _label(name: str) -> str:
    return next(field.told("label") for field in _FIELDS if field.name == name)


@dataclass(frozen=True, slots=True)
class SlurmJob(Place):
    """What is requested from Slurm. `per_node` are GPUs per node, or with `on_cpu` ranks per node. `partition`, `time`
    and `account` are "" for Slurm's own default, as are `cpus` per task, `memory` per node and `gpu_type`; `options`
    are further sbatch options, one per line."""

    NAME = "slurm"
    LABEL = "Slurm"
    KEY = "slurm"
    FIELDS = _FIELDS
    ON_THIS_MACHINE = False
    NOT_SAMPLED = "slurm_nodes"
    FOLLOWS = ("slurm_nodes", "slurm_per_node")

    nodes: int = 1
    per_node: int = 1
    on_cpu: bool = False
    partition: str = ""
    time: str = ""
    account: str = ""
    options: str = ""
    cpus: str = ""
    memory: str = ""
    gpu_type: str = ""

    @classmethod
    def options_note(cls) -> str:
        return words("options", "slurm_note")

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> Self:
        asked = {field.name.removeprefix("slurm_"): values[field.name] for field in cls.FIELDS}
        return cls(**{name: value.strip() if name in _WORDS else value for name, value in asked.items()})

    @classmethod
    def of_options(cls, given: Mapping[str, Any]) -> dict[str, Any] | None:
        if given["slurm_nodes"] is None:
            if any(given[field.name] for field in cls.FIELDS if field.option):
                raise PlanError(wrong("options.need_slurm_nodes"))
            return None
        if given["gpus"]:
            raise PlanError(wrong("options.slurm_chooses_gpus"))
        nodes, gpus, ranks = given["slurm_nodes"], given["slurm_per_node"], given["ranks"]
        if gpus is None:
            return {"slurm_on_cpu": True, "slurm_per_node": 1 if ranks is None else ranks}
        if ranks not in (None, gpus, nodes * gpus):
            asked = {"ranks": str(ranks), "nodes": str(nodes), "gpus": str(gpus), "total": str(nodes * gpus)}
            raise PlanError(wrong("options.slurm_ranks", **asked))
        return {"slurm_on_cpu": False, "slurm_per_node": gpus}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        words = {name: str(value.get(name, "")) for name in (*_WORDS, "options")}
        nodes, per_node = (whole(value[name], 0, 1 << 20) for name in ("nodes", "per_node"))
        return cls(nodes, per_node, bool(value.get("on_cpu")), **words)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def values(self) -> dict[str, Any]:
        return {f"slurm_{name}": value for name, value in self.to_json().items()}

    def ranks(self, asked: int) -> int:
        return self.nodes * self.per_node

    def check(self, plan: Plan) -> None:
        if plan.gpu_indices:
            raise PlanError(wrong("slurm.gpus_selected"))
        self.check_options()
        # In its own lines sbatch takes a space for an end, and % for the beginning of a pattern.
        for path in (plan.working_directory, plan.run_directory):
            if not PLAIN_WORD.match(path):
                field = "directory" if path == plan.working_directory else ""
                raise PlanError(wrong("slurm.bad_path", path=path[:80]), field)

    @property
    def elsewhere(self) -> Said:
        return saw("elsewhere.nodes_of_slurm")

    def hardware(self, here: tuple[Hardware, ...], planned: tuple[Hardware, ...] = ()) -> tuple[Hardware, ...]:
        return (_A_CPU,) if self.on_cpu else planned

    def slots(self, plan: Plan) -> frozenset[str]:
        return frozenset({f"slurm:{plan.run_id}"})  # Slurm has a queue of its own

    def devices(self, plan: Plan) -> str:
        return f"Slurm: {self.nodes} × {self.per_node}"

    def command(self, plan: Plan, launcher: tuple[str, ...]) -> tuple[str, ...]:
        return ("sbatch", "--parsable", posixpath.join(plan.run_directory, BATCH_SCRIPT))

    def files(self, plan: Plan) -> dict[str, str]:
        return {BATCH_SCRIPT: self.script(plan)}

    def script(self, plan: Plan) -> str:
        """The script passed to sbatch. Secrets come from the environment that submits it."""
        directory, port = plan.run_directory, f"--master_port={plan.master_port}"
        static = {name: shlex.quote(value) for name, value in {**added(plan), MARKER: plan.run_id}.items()}
        if plan.started_by is StartedBy.TORCHRUN:
            module = "torch.distributed.run"
            where = [f"--nnodes={self.nodes}", f"--nproc_per_node={self.per_node}", '--master_addr="$first"', port]
        else:
            module = "deepspeed.launcher.runner"
            without = () if plan.passes_local_rank else ("--no_local_rank",)
            where = ['--hostfile="$hosts"', "--no_ssh", '--master_addr="$first"', port, *without]
        trains = (plan.script, *script_words(plan), *config_words(plan))
        return batch_script(
            f"dsgui run {plan.run_id}, submitted with: {shlex.join(argv(plan))}",
            self._directives(plan.name, posixpath.join(directory, BATCH_OUTPUT), plan.working_directory),
            {"PATH": f'{shlex.quote(programs(plan))}:"$PATH"', **static},
            posixpath.join(directory, HOSTFILE),
            self.per_node,
            [shlex.quote(plan.target_python), module, *where, *(shlex.quote(word) for word in trains)],
        )

    def check_options(self) -> None:
        """Raises `PlanError` for what sbatch would reject or misread."""
        for name, label, count in (
            ("slurm_nodes", _label("slurm_nodes"), self.nodes),
            (
                "slurm_per_node",
                words("slurm", "ranks_per_node") if self.on_cpu else _label("slurm_per_node"),
                self.per_node,
            ),
        ):
            if not 1 <= count <= MOST_NODES:
                told = wrong("slurm.out_of_range", field=label, count=str(count), most=str(MOST_NODES))
                raise PlanError(told, name)
        if self.time and not _TIME.match(self.time):
            raise PlanError(wrong("slurm.bad_time", time=self.time[:80]), "slurm_time")
        self._check_words()
        if self.gpu_type and self.on_cpu:
            told = wrong("slurm.type_of_none", field=_label("slurm_gpu_type"), word=self.gpu_type)
            raise PlanError(told, "slurm_gpu_type")
        self._check_further_options()

    def _check_words(self) -> None:
        for name, word in (("slurm_partition", self.partition), ("slurm_account", self.account)):
            if word and not _WORD.match(word):
                raise PlanError(wrong("slurm.bad_name", field=_label(name), word=word[:80]), name)
        if self.cpus and not _CPUS.match(self.cpus):
            told = wrong("slurm.bad_cpus", field=_label("slurm_cpus"), word=self.cpus[:80])
            raise PlanError(told, "slurm_cpus")
        if self.memory and not _MEMORY.match(self.memory):
            told = wrong("slurm.bad_memory", field=_label("slurm_memory"), word=self.memory[:80])
            raise PlanError(told, "slurm_memory")
        if self.gpu_type and not _TYPE.match(self.gpu_type):
            told = wrong("slurm.bad_gpu_type", field=_label("slurm_gpu_type"), word=self.gpu_type[:80])
            raise PlanError(told, "slurm_gpu_type")

    def _check_further_options(self) -> None:
        ours = _OURS | ({"cpus-per-task"} if self.cpus else set()) | ({"mem"} if self.memory else set())
        for option in self._options():
            match = _OPTION.match(option)
            if not match:
                raise PlanError(wrong("slurm.option_unreadable", option=option[:80]), "slurm_options")
            if any(one.startswith(match["name"]) for one in ours):  # sbatch takes beginnings too
                raise PlanError(wrong("slurm.option_set_already", option=option[:80]), "slurm_options")
            excluded = self._excluded_by(match["name"], match["value"] or "")
            if excluded:
                told = wrong("slurm.option_excluded", option=option[:80], field=_label(excluded))
                raise PlanError(told, "slurm_options")
            if not self.on_cpu:
                self._check_gpus(option, match["name"], match["value"] or "")

    def _check_gpus(self, option: str, name: str, value: str) -> None:
        """All that requests GPUs has one type, or none has: for a mix sbatch says “Invalid GRES specification (with and
        without type identification)”. There is one task per node, which has all of its GPUs."""
        asks = next((one for one in _MORE_GPUS if one.startswith(name)), "")
        requests = _gpus_in(value, asks == "gres") if asks else ()
        if any(kind != self.gpu_type for kind, _ in requests):
            raise PlanError(
                wrong("slurm.option_type", option=option[:80], field=_label("slurm_gpu_type")), "slurm_options"
            )
        if asks == "gpus-per-task" and any(count != str(self.per_node) for _, count in requests):
            given = {"option": option[:80], "field": _label("slurm_per_node"), "count": str(self.per_node)}
            raise PlanError(wrong("slurm.option_per_task", **given), "slurm_options")

    def _excluded_by(self, option: str, value: str) -> str:
        """The field that is filled in and that sbatch takes no such option with, "" for none."""
        if self.gpu_type and "gres".startswith(option) and _GRES_GPU.search(value):
            return "slurm_gpu_type"
        filled = {"slurm_cpus": self.cpus, "slurm_memory": self.memory}
        excluded = ((field, one) for field, options in _EXCLUDED.items() if filled[field] for one in options)
        return next((field for field, one in excluded if one.startswith(option)), "")

    def _directives(self, name: str, output: str, folder: str) -> list[str]:
        """The `#SBATCH` lines' options."""
        asked = [f"--job-name={_job_name(name)}", f"--nodes={self.nodes}"]
        gpus = f"{self.gpu_type}:{self.per_node}" if self.gpu_type else str(self.per_node)
        asked += ["--ntasks-per-node=1"] + ([] if self.on_cpu else [f"--gpus-per-node={gpus}"])
        given = (
            *(("cpus-per-task", self.cpus), ("mem", self.memory.upper())),
            *(("partition", self.partition), ("time", self.time), ("account", self.account)),
        )
        asked += [f"--{option}={value}" for option, value in given if value]
        return [*asked, f"--output={output}", "--open-mode=append", f"--chdir={folder}", *self._options()]

    def _options(self) -> list[str]:
        return [line.strip() for line in self.options.splitlines() if line.strip()]


def _job_name(name: str) -> str:
    """Letters and digits of any script: Slurm takes a name as it is. At the rest sbatch would end the word, or read a
    quote or a pattern of a file name."""
    return re.sub(r"[^\w.-]+", "_", name).strip("_")[:60] or "run"


def _gpus_in(value: str, by_name: bool) -> tuple[tuple[str, str], ...]:
    """The type, "" for none, and the number of each GPU request in `[type:]number,…`, or, where each thing has its
    name, in `gpu[:type][:number],…`."""
    asked = [one.removeprefix("gres:").removeprefix("gres/") for one in value.split(",") if one]
    if by_name:
        asked = [one[len("gpu:") :] for one in asked if one.partition(":")[0] == "gpu"]
    parted = [one.partition(":") for one in asked]
    return tuple(("", kind) if not count and kind.isdecimal() else (kind, count) for kind, _, count in parted)


def batch_script(
    about: str,
    directives: Sequence[str],
    exports: Mapping[str, str],
    hostfile: str,
    per_node: int,
    words: Sequence[str],
) -> str:
    """The script for sbatch, with a line `about` it. `exports` and `words` are quoted for a shell; the words are the
    interpreter, the launcher's module and what comes after the node's rank. They may use $first, the first node, and
    $hosts, a hostfile of the job's nodes."""
    asked = "".join(f"#SBATCH {directive}\n" for directive in directives)
    given = "".join(f"export {name}={value}\n" for name, value in exports.items())
    return (
        f"#!/bin/bash\n# {about}\n{asked}\n{given}\n"
        'nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST")\n'
        'first=$(printf "%s\\n" $nodes | head -n 1)\n'
        f"hosts={shlex.quote(hostfile)}.$SLURM_JOB_ID\n"
        f'printf "%s slots={per_node}\\n" $nodes > "$hosts"\n\n'
        "# srun does not take it over by itself.\n"
        '[ -z "$SLURM_CPUS_PER_TASK" ] || export SRUN_CPUS_PER_TASK="$SLURM_CPUS_PER_TASK"\n'
        "# One task a node. What is printed and the progress bars come as one stream, in their order.\n"
        'exec srun --ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 --kill-on-bad-exit=1 --export=ALL \\\n'
        "  bash -c 'exec 2>&1; python=$1; module=$2; shift 2; "
        'exec "$python" -m "$module" --node_rank="$SLURM_NODEID" "$@"\' launch \\\n'
        f"  {' '.join(words)}\n"
    )
