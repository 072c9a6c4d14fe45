"""Hostfiles and filters: what DeepSpeed's own launcher makes of them, and bad ones in words."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.errors import PlanError
from dsgui.core.launch.hostfile import Host
from dsgui.core.launch.places.ssh import Machines
from tests.support.cases import each_case

TEXT = "# ours\nworker-0 slots=4\n\n  worker-1   slots=2  # older\n"


def slots_of(hosts: tuple[Host, ...]) -> dict[str, list[int]]:
    return {host.name: list(host.slots) for host in hosts}


def test_machines_keep_their_order_and_all_their_slots() -> None:
    assert slots_of(Machines(TEXT).hosts()) == {"worker-0": [0, 1, 2, 3], "worker-1": [0, 1]}


@pytest.mark.parametrize(
    ("include", "exclude", "left"),
    [
        ("worker-1@worker-0:1,3", "", {"worker-0": [1, 3], "worker-1": [0, 1]}),
        ("worker-1", "", {"worker-1": [0, 1]}),
        ("", "worker-0", {"worker-1": [0, 1]}),
        ("", "worker-0:0@worker-1:0,1", {"worker-0": [1, 2, 3]}),
        ("worker-0:2@worker-0", "", {"worker-0": [2]}),
    ],
)
def test_filters_leave_what_the_launcher_starts(include: str, exclude: str, left: dict[str, list[int]]) -> None:
    assert slots_of(Machines(TEXT, include, exclude).hosts()) == left


@each_case(
    ("machines", "says"),
    [
        (Machines(""), "add at least one host, e.g. worker-0 slots=4"),
        (Machines("worker-0"), "line 1 is “worker-0”"),
        (Machines("worker-0 slots=0-3"), "a range is not supported"),
        (Machines("worker-0 slots=0"), "0 slots"),
        (Machines("a slots=1\na slots=2"), "line 2 names a again"),
        (Machines("node[1-4] slots=2"), "is not a valid host name"),
        (Machines("-oProxyCommand=x slots=2"), "is not a valid host name"),
        (Machines("me@a slots=2"), "~/.ssh/config"),
        (Machines(TEXT, "worker-9"), "not in the hostfile"),
        (Machines(TEXT, "worker-0:9"), "no slot 9"),
        (Machines(TEXT, "worker-0:0-2"), "can’t be read"),
        (Machines(TEXT, "worker-0", "worker-1"), "Include and exclude can’t be combined"),
        (Machines(TEXT, "", "worker-0@worker-1"), "excludes every slot"),
    ],
)
def test_what_is_wrong_is_said(machines: Machines, says: str) -> None:
    with pytest.raises(PlanError, match=re.escape(says)):
        machines.hosts()


NAMES = st.sampled_from(["a", "b-1", "c.example"])
FILTERS = st.lists(
    st.tuples(NAMES, st.lists(st.integers(0, 3), max_size=3)).map(
        lambda part: part[0] + (":" + ",".join(map(str, part[1])) if part[1] else "")
    ),
    max_size=3,
).map("@".join)


@pytest.mark.deepspeed
@given(st.dictionaries(NAMES, st.integers(1, 4), min_size=1), FILTERS, st.booleans())
def test_the_launcher_itself_leaves_the_same(pool: dict[str, int], words: str, includes: bool) -> None:
    from deepspeed.launcher.runner import _parse_hostfile, parse_inclusion_exclusion

    text = "".join(f"{name} slots={count}\n" for name, count in pool.items())
    include, exclude = (words, "") if includes else ("", words)
    try:
        theirs = dict(parse_inclusion_exclusion(_parse_hostfile(text.splitlines()), include, exclude))
    except ValueError:
        theirs = {}
    try:
        ours = slots_of(Machines(text, include, exclude).hosts())
    except PlanError:
        ours = {}
    assert ours == theirs
    assert list(ours) == list(theirs)
