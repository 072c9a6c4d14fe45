"""What stands in the way of a run over several machines: what each answered over ssh, judged beside the others."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dsgui.core.launch.hostfile import Host
from dsgui.core.launch.plan import Plan
from dsgui.core.machine.verdicts import Row, Status, advise, saw, worst_first
from dsgui.core.texts.saying import Said, as_told, listed, refilled, set_apart

# OpenSSH: ssh.c, sshconnect.c
_UNKNOWN_HOST = re.compile(r"resolve\s+hostname")
_NOBODY_LISTENS = re.compile(r"connect\s+to\s+host\s+\S+\s+port\s+\d+:\s+Connection\s+refused")
_NO_KEY = re.compile(r"Permission\s+denied\s\(")  # OpenSSH names the methods; a program there does not
OF_HOSTS = ("machine", "ssh", "pdsh", "loopback")  # the checks of these rows
_ANY = "…"  # in the place of a name
_MOST_NAMED, _MOST_LISTED = 4, 12
_COMPARED = {"python": "Python", "deepspeed": "DeepSpeed", "torch": "torch", "transformers": "transformers"}


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """What one machine answered. `problem`: why it did not, in ssh's words. `versions` are those of the Python that
    will train, None where there is no such Python; `gpus` None where nobody could say; `port_free` is asked of the
    first machine alone. `address` is what its own name resolves to there."""

    name: str
    problem: str | Said = ""
    versions: Mapping[str, str] | None = field(default_factory=dict)
    gpus: int | None = None
    has_script: bool = True
    has_folder: bool = True
    port_free: bool | None = None
    address: str = ""
    interfaces: tuple[str, ...] = ()


def rows(plan: Plan, facts: Sequence[MachineFacts], has_pdsh: bool) -> tuple[Row, ...]:
    """One row for each thing in the way, of all the machines that have it, and one for each machine that is fine. Worst
    first."""
    found = [] if has_pdsh else [_no_pdsh()]
    hosts = {host.name: host for host in plan.place.hosts()}
    usual = next((one.versions for one in facts if one.versions), {})
    for one in facts:
        wrong = _of_one(plan, one, hosts[one.name], usual)
        found += wrong or [Row("machine", as_told(one.name), Status.OK, (_seen(one),))]
    return worst_first(_together(found))


def _together(found: Iterable[Row]) -> list[Row]:
    """What is wrong with several hosts alike is said once, of all of them; the commands follow one another."""
    alike: dict[Row, list[Row]] = {}
    for row in found:
        alike.setdefault(row if row.status is Status.OK else _of_any(row), []).append(row)
    return [one if len(rows) == 1 else _of_several(of_any, rows) for of_any, rows in alike.items() for one in rows[:1]]


def _of_any(row: Row) -> Row:
    """The same without the host's name."""
    host = re.compile(rf"(?<![\w.-]){re.escape(str(row.title))}(?![\w.-])")

    def unnamed(text: str) -> str:
        return host.sub(_ANY, text)

    told = tuple(refilled(one, unnamed) for one in row.told)
    return replace(row, title=as_told(""), told=told, command=unnamed(row.command))


def _of_several(of_any: Row, found: Sequence[Row]) -> Row:
    """Its command does the same for each host, also where it fails for one."""
    names, more = [str(row.title) for row in found], len(found) - _MOST_NAMED
    title, items = saw("host.several", names=listed(names)), of_any.items
    if len(found) > _MOST_LISTED:
        title = saw("host.and_more", names=listed(names[:_MOST_NAMED]), count=str(more))
        items = (saw("host.several", names=listed(names)),)
    command = of_any.command.replace(_ANY, '"$host"')
    command = f"for host in {shlex.join(names)}; do {command}; done" if command != of_any.command else command
    return replace(of_any, title=title, items=items, command=command)


def _of_one(plan: Plan, one: MachineFacts, host: Host, usual: Mapping[str, str]) -> list[Row]:
    if one.problem:
        return [_does_not_answer(one)]
    if one.versions is None:
        return [_problem(one, saw("host.no_python", python=plan.target_python), advise("host.install_python"))]
    found = [_no_deepspeed(one)] if not one.versions.get("deepspeed") else _differing(one, usual)
    if not one.has_folder:
        found.append(_problem(one, saw("host.no_folder", folder=plan.working_directory), advise("host.create_folder")))
    if not one.has_script:
        found.append(_problem(one, saw("host.no_script", script=plan.script), advise("host.copy_script")))
    if one.port_free is False:
        found.append(_problem(one, saw("host.port_taken", port=str(plan.master_port)), advise("host.another_port")))
    return found + _warnings(plan, one, host)


def _warnings(plan: Plan, one: MachineFacts, host: Host) -> list[Row]:
    found = []
    if one.gpus and one.gpus <= max(host.slots):
        found.append(_problem(one, _few_gpus(one.gpus, max(host.slots)), advise("host.correct_slots")))
    interface = next((name for name in one.interfaces if name != "lo"), "eth0")
    if not one.gpus and one.address.startswith("127.") and "GLOO_SOCKET_IFNAME" not in plan.environment:
        found.append(_loopback(one, interface))
    return found


def _few_gpus(gpus: int, slot: int) -> Said:
    if gpus == 1:
        return saw("host.one_gpu", slot=str(slot))
    return saw("host.few_gpus", gpus=str(gpus), slot=str(slot))


def _loopback(one: MachineFacts, interface: str) -> Row:
    return Row(
        "loopback",
        as_told(one.name),
        Status.WARNING,
        (saw("host.loopback", address=one.address),),
        (advise("host.name_interface"),),
        f"GLOO_SOCKET_IFNAME={interface}",
    )


def _does_not_answer(one: MachineFacts) -> Row:
    advised, command = _way_in(one)
    seen = saw("host.not_reachable", problem=_cause(one.problem))
    return Row("ssh", as_told(one.name), Status.PROBLEM, (seen,), (advised,), command)


def _way_in(one: MachineFacts) -> tuple[Said, str]:
    """By what ssh says of it: a key helps where one is asked for, and nowhere else."""
    told = one.problem if isinstance(one.problem, str) else ""
    if _UNKNOWN_HOST.search(told):
        return advise("host.check_name"), ""
    if _NOBODY_LISTENS.search(told):
        return advise("host.start_sshd"), ""
    if _NO_KEY.search(told):
        return advise("host.without_password"), f"ssh-copy-id {one.name}"
    return advise("host.try_ssh"), f"ssh {one.name} true"


def _cause(problem: str | Said) -> str | Said:
    """Without the name of who says it, which the sentence has."""
    return problem.removeprefix("ssh: ").rstrip(".") if isinstance(problem, str) else problem


def _no_deepspeed(one: MachineFacts) -> Row:
    return _problem(one, saw("host.no_deepspeed"), advise("host.same_versions"))


def _differing(one: MachineFacts, usual: Mapping[str, str]) -> list[Row]:
    versions = one.versions or {}
    differ = [key for key in _COMPARED if versions.get(key) != usual.get(key)]
    if not differ:
        return []
    told = set_apart(_differs(_COMPARED[key], versions.get(key), usual.get(key)) for key in differ)
    return [_problem(one, saw("host.other_versions", versions=told), advise("host.install_everywhere"))]


def _differs(name: str, here: str | None, elsewhere: str | None) -> Said:
    if not here:
        return saw("host.lacks", name=name, elsewhere=elsewhere or "")
    if not elsewhere:
        return saw("host.only_here", name=name, here=here)
    return saw("host.differs", name=name, here=here, elsewhere=elsewhere)


def _no_pdsh() -> Row:
    return Row(
        "pdsh",
        saw("host.this_machine"),
        Status.PROBLEM,
        (saw("host.no_pdsh"),),
        (advise("host.install_pdsh"),),
        "sudo apt install pdsh",
    )


def _problem(one: MachineFacts, seen: Said, advice: Said) -> Row:
    return Row("machine", as_told(one.name), Status.PROBLEM, (seen,), (advice,))


def _seen(one: MachineFacts) -> Said:
    versions = one.versions or {}
    known = listed(f"{name} {versions[key]}" for key, name in _COMPARED.items() if versions.get(key))
    if not one.gpus:
        return saw("host.found_without_gpu", versions=known)
    if one.gpus == 1:
        return saw("host.found_with_one_gpu", versions=known)
    return saw("host.found", versions=known, gpus=str(one.gpus))
