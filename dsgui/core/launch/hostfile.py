"""The machines and slots that a hostfile with a filter selects, read as DeepSpeed's launcher reads them.

Source: `_parse_hostfile` and `parse_resource_filter` of deepspeed/launcher/runner.py. Stricter where the launcher would
silently do the wrong thing: it reads `slots=0-2` as 0 slots, and pdsh would expand `node[1-4]`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dsgui.core.errors import PlanError
from dsgui.core.texts.saying import Said, listed, wrong

MOST_HOSTS = 256  # each is asked at once, with three open files
MOST_SLOTS = 1024
_MOST_TOLD = 4
_LINE = re.compile(r"(\S+)\s+slots=(\d{1,6})(?:\s+#.*)?\Z", re.ASCII)
_LONGEST_NUMBER = 6
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,252})?\Z")
_UNNAMED, _EXAMPLE = "<host-{}>", "worker-{}"
_IS_UNNAMED = re.compile(r"<host-\d{1,6}>\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Host:
    """One training machine: `slots` are its GPU numbers; on a CPU, its ranks."""

    name: str
    slots: tuple[int, ...]


def parse_hostfile(text: str) -> tuple[Host, ...]:
    """All machines it names. Raises `PlanError`, also while one has the name that `hostfile_for` gave it."""
    found: dict[str, Host] = {}
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        host = _host(bare, number)
        if host.name in found:
            raise PlanError(wrong("hostfile.twice", line=str(number), host=host.name))
        found[host.name] = host
    if unnamed := [name for name in found if _IS_UNNAMED.match(name)]:
        raise PlanError(wrong("hostfile.unnamed", hosts=listed(unnamed[:_MOST_TOLD])))
    if not found:
        raise PlanError(wrong("hostfile.empty"))
    if len(found) > MOST_HOSTS:
        raise PlanError(wrong("hostfile.many", count=str(len(found)), most=str(MOST_HOSTS)))
    return tuple(found.values())


def _host(line: str, number: int) -> Host:
    match = _LINE.match(line)
    if not match:
        raise PlanError(wrong("hostfile.no_host", line=str(number), text=line[:80]))
    name, slots = match[1], int(match[2])
    if not _NAME.match(name) and not _IS_UNNAMED.match(name):
        raise PlanError(wrong("hostfile.bad_name", line=str(number), host=name[:80]))
    if not 1 <= slots <= MOST_SLOTS:
        given = {"line": str(number), "host": name, "slots": str(slots), "most": str(MOST_SLOTS)}
        raise PlanError(wrong("hostfile.bad_slots", **given))
    return Host(name, tuple(range(slots)))


def hostfile_for(text: str, nodes: int, slots: int) -> str:
    """A hostfile of that many machines with as many slots each: those that `text` names first, then some that are still
    to be named."""
    lines = (_LINE.match(line.strip()) for line in text.splitlines())
    named = list(dict.fromkeys(line[1] for line in lines if line and _NAME.match(line[1])))[:nodes]
    return _lines([*named, *map(_UNNAMED.format, range(len(named) + 1, nodes + 1))], slots)


def example(nodes: int, slots: int) -> str:
    """What such a hostfile looks like: worker-0 and on."""
    return _lines(map(_EXAMPLE.format, range(nodes)), slots).strip()


def _lines(names: Iterable[str], slots: int) -> str:
    return "".join(f"{name} slots={slots}\n" for name in names)


def chosen_hosts(hosts: Iterable[Host], include: str, exclude: str) -> tuple[Host, ...]:
    """The part of `hosts` that a filter leaves, in their order. Raises `PlanError`."""
    known = {host.name: host for host in hosts}
    if include and exclude:
        raise PlanError(wrong("filter.both"))
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
        raise PlanError(wrong("filter.excludes_all", text=exclude))
    return tuple(kept)


def _filter(text: str, what: str, known: Mapping[str, Host]) -> dict[str, tuple[int, ...]]:
    """Slots by machine; a machine without slots means all of its slots."""
    found: dict[str, set[int]] = {}
    for part in text.split("@"):
        name, colon, numbers = part.partition(":")
        words = numbers.split(",") if colon else []
        if not all(word.strip().isdecimal() and len(word) <= _LONGEST_NUMBER for word in words):
            raise PlanError(wrong("filter.unreadable", field=what, text=part[:80]))
        host = known.get(name)
        if host is None:
            names = listed(list(known)[:8])
            raise PlanError(wrong("filter.unknown_host", field=what, host=name[:80], hosts=names))
        slots = {int(word) for word in words}
        if strange := slots - set(host.slots):
            raise PlanError(_no_slot(what, host, min(strange)))
        found.setdefault(name, set()).update(slots)
    return {name: tuple(sorted(slots)) or known[name].slots for name, slots in found.items()}


def _no_slot(what: str, host: Host, slot: int) -> Said:
    count = len(host.slots)
    given = {"field": what, "host": host.name, "slot": str(slot), "count": str(count), "last": str(count - 1)}
    return wrong("filter.no_slot", **given)
