"""What stands in the way of a run over several machines: what each answered over ssh, judged beside the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dsgui.core.launch.hostfile import Host
from dsgui.core.launch.plan import Plan
from dsgui.core.machine.verdicts import Row, Status, worst_first

_COMPARED = {"python": "Python", "deepspeed": "DeepSpeed", "torch": "torch", "transformers": "transformers"}


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """What one machine answered. `problem`: why it did not, in ssh's words. `versions` are those of the Python that
    will train, None where there is no such Python; `gpus` None where nobody could say; `port_free` is asked of the
    first machine alone. `address` is what its own name resolves to there."""

    name: str
    problem: str = ""
    versions: Mapping[str, str] | None = field(default_factory=dict)
    gpus: int | None = None
    has_script: bool = True
    has_folder: bool = True
    port_free: bool | None = None
    address: str = ""
    interfaces: tuple[str, ...] = ()


def rows(plan: Plan, facts: Sequence[MachineFacts], has_pdsh: bool) -> tuple[Row, ...]:
    """One row for each thing in the way, and one for each machine that is fine. Worst first."""
    found = [] if has_pdsh else [_no_pdsh()]
    hosts = {host.name: host for host in plan.place.hosts()}
    usual = next((one.versions for one in facts if one.versions), {})
    for one in facts:
        wrong = _of_one(plan, one, hosts[one.name], usual)
        found += wrong or [Row("machine", one.name, Status.OK, _seen(one))]
    return worst_first(found)


def _of_one(plan: Plan, one: MachineFacts, host: Host, usual: Mapping[str, str]) -> list[Row]:
    if one.problem:
        return [_does_not_answer(one)]
    if one.versions is None:
        return [
            _problem(
                one,
                f"{plan.target_python} does not exist.",
                "The launcher uses the same path everywhere. Install the environment at this path, or share it.",
            )
        ]
    found = [_no_deepspeed(one)] if not one.versions.get("deepspeed") else _differing(one, usual)
    if not one.has_folder:
        found.append(
            _problem(
                one,
                f"The folder {plan.working_directory} does not exist.",
                "The launcher changes to it on every host. Create it there, or share it.",
            )
        )
    if not one.has_script:
        found.append(
            _problem(one, f"{plan.script} does not exist.", "Copy the script to the same place, or share its folder.")
        )
    if one.port_free is False:
        found.append(
            _problem(
                one,
                f"Port {plan.master_port} is in use, but the ranks need it.",
                "Give another one as “Master port”.",
            )
        )
    return found + _warnings(plan, one, host)


def _warnings(plan: Plan, one: MachineFacts, host: Host) -> list[Row]:
    found = []
    if one.gpus and one.gpus <= max(host.slots):
        found.append(
            _problem(one, f"It has {one.gpus} GPUs, and slot {max(host.slots)} is asked of it.", "Correct its slots.")
        )
    interface = next((name for name in one.interfaces if name != "lo"), "eth0")
    if not one.gpus and one.address.startswith("127.") and "GLOO_SOCKET_IFNAME" not in plan.environment:
        found.append(
            Row(
                "loopback",
                one.name,
                Status.WARNING,
                f"Its own name resolves to {one.address}: ranks on a CPU (gloo) would wait there for the others.",
                "Name the network interface under “Environment variables”.",
                f"GLOO_SOCKET_IFNAME={interface}",
            )
        )
    return found


def _does_not_answer(one: MachineFacts) -> Row:
    return Row(
        "ssh",
        one.name,
        Status.PROBLEM,
        f"Not reachable over ssh: {one.problem.removeprefix('ssh: ').rstrip('.')}.",
        "ssh must connect without a password. If it asks for one:",
        f"ssh-copy-id {one.name}",
    )


def _no_deepspeed(one: MachineFacts) -> Row:
    return _problem(one, "Its Python has no DeepSpeed.", "Install the same versions as on the other hosts.")


def _differing(one: MachineFacts, usual: Mapping[str, str]) -> list[Row]:
    versions = one.versions or {}
    differ = [
        f"{name} {versions.get(key) or 'missing'}, elsewhere {usual.get(key) or 'missing'}"
        for key, name in _COMPARED.items()
        if versions.get(key) != usual.get(key)
    ]
    if not differ:
        return []
    return [_problem(one, f"{'; '.join(differ)}.", "All ranks need the same versions. Install them everywhere.")]


def _no_pdsh() -> Row:
    return Row(
        "pdsh",
        "This machine",
        Status.PROBLEM,
        "pdsh is missing; DeepSpeed’s launcher needs it to reach the other hosts.",
        "Install it here.",
        "sudo apt install pdsh",
    )


def _problem(one: MachineFacts, seen: str, advice: str) -> Row:
    return Row("machine", one.name, Status.PROBLEM, seen, advice)


def _seen(one: MachineFacts) -> str:
    versions = one.versions or {}
    known = [f"{name} {versions[key]}" for key, name in _COMPARED.items() if versions.get(key)]
    return ", ".join([*known, f"{one.gpus} GPUs" if one.gpus else "no GPU"])
