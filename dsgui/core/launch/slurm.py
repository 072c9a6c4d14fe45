"""A launch through Slurm: what is asked of it, and the batch script that asks for it.

One task a node starts DeepSpeed's launcher there with `--no_ssh` and the node's rank (deepspeed/launcher/runner.py), or
torchrun. Options: https://slurm.schedmd.com/sbatch.html
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dsgui.core.decoding import whole
from dsgui.core.errors import PlanError

MOST_NODES = 4096
_WORD = re.compile(r"[A-Za-z0-9_][\w.,:+@-]{0,200}\Z")
_TIME = re.compile(r"\d{1,6}(-\d{1,2})?(:\d{1,2}){0,2}\Z", re.ASCII)
_OPTION = re.compile(r"--(?P<name>[a-z][a-z0-9-]{1,60})(?:=(?P<value>[\w.,:/%@+*\[\]()&|!-]{1,300}))?\Z", re.ASCII)
# What the script says itself, and what its run depends on.
_OURS = frozenset(
    {"job-name", "nodes", "ntasks", "ntasks-per-node", "gpus-per-node", "partition", "time", "account", "output"}
    | {"error", "open-mode", "chdir", "export", "export-file", "wrap", "array", "parsable", "wait", "test-only"}
    | {"quiet", "clusters", "cluster", "input", "help", "usage", "version"}
)


@dataclass(frozen=True, slots=True)
class SlurmJob:
    """What is asked of Slurm. `per_node` are GPUs a node, or with `on_cpu` ranks a node. `partition`, `time` and
    `account` are "" for Slurm's own default; `options` are further ones of sbatch, one a line."""

    nodes: int = 1
    per_node: int = 1
    on_cpu: bool = False
    partition: str = ""
    time: str = ""
    account: str = ""
    options: str = ""

    @property
    def ranks(self) -> int:
        return self.nodes * self.per_node

    def check(self) -> None:
        """Raises `PlanError` for what sbatch would not take, or read as something else."""
        for name, count in (
            ("Nodes", self.nodes),
            ("Ranks per node" if self.on_cpu else "GPUs per node", self.per_node),
        ):
            if not 1 <= count <= MOST_NODES:
                raise PlanError(f"{name}: {count} was asked for. Expected 1 to {MOST_NODES}.")
        for name, word in (("Partition", self.partition), ("Account", self.account)):
            if word and not _WORD.match(word):
                raise PlanError(f"{name}: “{word[:80]}” is not valid. Expected a name such as “gpu”.")
        if self.time and not _TIME.match(self.time):
            raise PlanError(
                f"Time limit: “{self.time[:80]}” can’t be read. Expected minutes, or [days-]hours:minutes:seconds, "
                "such as “2-12:00:00”."
            )
        for option in self._options():
            match = _OPTION.match(option)
            if not match or any(ours.startswith(match["name"]) for ours in _OURS):  # sbatch takes beginnings too
                why = "the batch script sets it already" if match else "expected one per line, such as “--qos=high”"
                raise PlanError(f"Slurm option: “{option[:80]}” can’t be used: {why}. Change or remove it.")

    def directives(self, name: str, output: str, folder: str) -> list[str]:
        """The `#SBATCH` lines' options."""
        asked = [f"--job-name={re.sub(r'[^A-Za-z0-9_.-]', '_', name)[:60] or 'run'}", f"--nodes={self.nodes}"]
        asked += ["--ntasks-per-node=1"] + ([] if self.on_cpu else [f"--gpus-per-node={self.per_node}"])
        given = (("partition", self.partition), ("time", self.time), ("account", self.account))
        asked += [f"--{option}={value}" for option, value in given if value]
        return [*asked, f"--output={output}", "--open-mode=append", f"--chdir={folder}", *self._options()]

    def _options(self) -> list[str]:
        return [line.strip() for line in self.options.splitlines() if line.strip()]

    @classmethod
    def from_json(cls, value: Mapping[str, Any] | None) -> "SlurmJob | None":
        """None for a launch without Slurm."""
        if value is None:
            return None
        words = {name: str(value.get(name, "")) for name in ("partition", "time", "account", "options")}
        nodes, per_node = (whole(value[name], 0, 1 << 20) for name in ("nodes", "per_node"))
        return cls(nodes, per_node, bool(value.get("on_cpu")), **words)


def batch_script(
    about: str,
    directives: Sequence[str],
    exports: Mapping[str, str],
    hostfile: str,
    per_node: int,
    words: Sequence[str],
) -> str:
    """The script for sbatch, with a line `about` it. `exports` and `words` are as a shell reads them; the words are the
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
