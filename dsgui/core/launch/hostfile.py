"""The machines and slots that a hostfile with a filter selects, read as DeepSpeed's launcher reads them.

Source: `_parse_hostfile` and `parse_resource_filter` of deepspeed/launcher/runner.py. Stricter where the launcher would
silently do the wrong thing: it reads `slots=0-2` as 0 slots, and pdsh would expand `node[1-4]`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dsgui.core.errors import PlanError

MOST_HOSTS = 256  # each is asked at once, with three open files
MOST_SLOTS = 1024
_LINE = re.compile(r"(\S+)\s+slots=(\d{1,6})(?:\s+#.*)?\Z", re.ASCII)
_LONGEST_NUMBER = 6
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,252})?\Z")


@dataclass(frozen=True, slots=True)
class Host:
    """One training machine: `slots` are its GPU numbers; on a CPU, its ranks."""

    name: str
    slots: tuple[int, ...]


def parse_hostfile(text: str) -> tuple[Host, ...]:
    """All machines it names. Raises `PlanError`."""
    found: dict[str, Host] = {}
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        host = _host(bare, number)
        if host.name in found:
            raise PlanError(f"Hostfile: line {number} names {host.name} again. List each host once.")
        found[host.name] = host
    if not found:
        raise PlanError("Hostfile: add at least one host, e.g. worker-0 slots=4.")
    if len(found) > MOST_HOSTS:
        raise PlanError(f"Hostfile: it lists {len(found)} hosts; at most {MOST_HOSTS} are supported. Remove some.")
    return tuple(found.values())


def _host(line: str, number: int) -> Host:
    match = _LINE.match(line)
    if not match:
        raise PlanError(
            f"Hostfile: line {number} is “{line[:80]}”. Expected a host and its number of GPUs, such as "
            "“worker-0 slots=4”; a range is not supported."
        )
    name, slots = match[1], int(match[2])
    if not _NAME.match(name):
        raise PlanError(
            f"Hostfile: line {number}: “{name[:80]}” is not a valid host name. Expected letters, digits, dots, "
            "dashes and underscores. Put a user or a port into ~/.ssh/config."
        )
    if not 1 <= slots <= MOST_SLOTS:
        raise PlanError(f"Hostfile: line {number}: {name} has {slots} slots. Expected 1 to {MOST_SLOTS}.")
    return Host(name, tuple(range(slots)))


def chosen_hosts(hosts: Iterable[Host], include: str, exclude: str) -> tuple[Host, ...]:
    """The part of `hosts` that a filter leaves, in their order. Raises `PlanError`."""
    known = {host.name: host for host in hosts}
    if include and exclude:
        raise PlanError("Include and exclude can’t be combined. Clear one of them.")
    if not include and not exclude:
        return tuple(known.values())
    named = _filter(include or exclude, "Include" if include else "Exclude", known)
    kept = []
    for host in known.values():
        if include:
            slots = named.get(host.name, ())
        else:
            gone = named.get(host.name, ())
            slots = tuple(slot for slot in host.slots if slot not in gone)
        if slots:
            kept.append(Host(host.name, tuple(slots)))
    if not kept:
        raise PlanError(f"Exclude: “{exclude}” excludes every slot. Keep at least one.")
    return tuple(kept)


def _filter(text: str, what: str, known: Mapping[str, Host]) -> dict[str, tuple[int, ...]]:
    """Slots by machine; a machine without slots means all of its slots."""
    found: dict[str, set[int]] = {}
    for part in text.split("@"):
        name, colon, numbers = part.partition(":")
        words = numbers.split(",") if colon else []
        if not all(word.strip().isdecimal() and len(word) <= _LONGEST_NUMBER for word in words):
            raise PlanError(
                f"{what}: “{part[:80]}” can’t be read. Expected hosts with optional slots, such as "
                "“worker-0@worker-1:0,2”."
            )
        host = known.get(name)
        if host is None:
            names = ", ".join(list(known)[:8])
            raise PlanError(
                f"{what}: “{name[:80]}” is not in the hostfile ({names}). Correct the name or add the host."
            )
        slots = {int(word) for word in words}
        if strange := slots - set(host.slots):
            raise PlanError(
                f"{what}: {name} has no slot {min(strange)}; the hostfile gives it {len(host.slots)} "
                f"(0 to {len(host.slots) - 1}). Make them agree."
            )
        found.setdefault(name, set()).update(slots)
    return {name: tuple(sorted(slots)) or known[name].slots for name, slots in found.items()}
