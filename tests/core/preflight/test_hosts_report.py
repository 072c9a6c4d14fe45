"""What stands in the way of a run over several machines, from what they answered."""

from dataclasses import replace

from dsgui.core.launch.places.ssh import Machines
from dsgui.core.launch.plan import ConfigArgument, LaunchRequest, Plan
from dsgui.core.launch.plan_making import make_plan
from dsgui.core.machine.verdicts import Status, saw
from dsgui.core.preflight.hosts_report import MachineFacts, rows
from dsgui.core.texts.saying import Said
from tests.support.cases import each_case

VERSIONS = {"python": "3.11.7", "deepspeed": "0.19.8", "torch": "2.13.0", "transformers": "5.23.0"}


def a_plan(**environment: str) -> Plan:
    request = LaunchRequest(
        name="train",
        script="/srv/train.py",
        arguments="",
        ranks=0,
        gpu_indices=(),
        master_port=None,
        working_directory="/srv",
        config_text="{}",
        config_argument=ConfigArgument.HF,
        target_python="/env/bin/python",
        environment=environment,
        place=Machines("a slots=2\nb slots=2"),
    )
    return make_plan(request, run_id="r", run_directory="/runs/r", script_path="/srv/train.py", master_port=29501)


def fine(name: str, **changes: object) -> MachineFacts:
    return MachineFacts(name, **{"versions": VERSIONS, "gpus": 2, **changes})  # type: ignore[arg-type]


def test_machines_that_are_fine_say_what_they_have() -> None:
    found = rows(a_plan(), [fine("a", port_free=True), fine("b")], has_pdsh=True)
    assert [row.status for row in found] == [Status.OK, Status.OK]
    assert found[0].seen == "Python 3.11.7, DeepSpeed 0.19.8, torch 2.13.0, transformers 5.23.0, 2 GPUs"


@each_case(
    ("changes", "says"),
    [
        ({"problem": "Permission denied (publickey)"}, "Not reachable over ssh: Permission denied"),
        ({"versions": None}, "/env/bin/python does not exist."),
        ({"versions": VERSIONS | {"deepspeed": ""}}, "no DeepSpeed"),
        ({"versions": VERSIONS | {"torch": "2.5.1"}}, "torch 2.5.1, elsewhere 2.13.0"),
        ({"has_script": False}, "/srv/train.py does not exist."),
        ({"has_folder": False}, "The folder /srv does not exist."),
        ({"port_free": False}, "Port 29501 is in use"),
        ({"gpus": 1}, "1 GPU is there, but slot 1 was requested."),
    ],
)
def test_each_thing_in_the_way_is_a_problem_of_that_machine(changes: dict[str, object], says: str) -> None:
    found = rows(a_plan(), [fine("a"), fine("b", **changes)], has_pdsh=True)
    assert [(str(row.title), row.status) for row in found] == [("b", Status.PROBLEM), ("a", Status.OK)]
    assert says in found[0].seen
    assert found[0].advice


@each_case(
    ("problem", "advice", "command"),
    [
        ("Permission denied (publickey)", "without a password", "ssh-copy-id b"),
        ("ssh: Could not resolve hostname b: Name or service not known", "Check the name in the hostfile", ""),
        ("ssh: connect to host b port 22: Connection refused", "Start sshd there", ""),
        ("bash: line 1: /opt/env/bin/python: Permission denied", "Try it in a terminal", "ssh b true"),
        ("nc: connect to jump: Connection refused", "Try it in a terminal", "ssh b true"),
        ("curl: (7) Failed to connect to host port 8080: Connection refused", "Try it in a terminal", "ssh b true"),
        ("Host key verification failed.", "Try it in a terminal", "ssh b true"),
        (saw("host.timed_out"), "Try it in a terminal", "ssh b true"),
    ],
)
def test_what_lets_ssh_in_depends_on_what_it_says(problem: str | Said, advice: str, command: str) -> None:
    first, *_ = rows(a_plan(), [fine("a"), fine("b", problem=problem)], has_pdsh=True)
    assert advice in first.advice
    assert first.command == command


def test_what_several_hosts_say_alike_is_said_once_of_all_of_them() -> None:
    unknown = "ssh: Could not resolve hostname {}: Name or service not known"
    facts = [fine(name, problem=unknown.format(name)) for name in "ab"]
    (one,) = rows(a_plan(), facts, has_pdsh=True)
    assert str(one.title) == "a, b"
    assert one.seen == "Not reachable over ssh: Could not resolve hostname …: Name or service not known."
    denied = [fine(name, problem="Permission denied (publickey)") for name in "ab"]
    assert rows(a_plan(), denied, has_pdsh=True)[0].command == 'for host in a b; do ssh-copy-id "$host"; done'
    (one,) = rows(a_plan(), [fine(name, has_script=False) for name in "ab"], has_pdsh=True)
    assert (str(one.title), one.seen) == ("a, b", "/srv/train.py does not exist.")
    differing = [fine("a", problem="no route"), fine("b", problem=saw("host.timed_out"))]
    assert [str(row.title) for row in rows(a_plan(), differing, has_pdsh=True)] == ["a", "b"]


def test_of_many_hosts_the_first_are_named() -> None:
    names = [f"worker-{number}" for number in range(20)]
    plan = replace(a_plan(), place=Machines("\n".join(f"{name} slots=2" for name in names)))
    (one,) = rows(plan, [fine(name, versions=None) for name in names], has_pdsh=True)
    assert str(one.title) == "worker-0, worker-1, worker-2, worker-3 and 16 more hosts"
    assert [str(item) for item in one.items] == [", ".join(names)]  # all of them
    few = rows(plan, [fine(name, versions=None) for name in names[:5]], has_pdsh=True)
    assert (str(few[0].title), few[0].items) == (", ".join(names[:5]), ())


def test_without_pdsh_nothing_starts() -> None:
    found = rows(a_plan(), [fine("a"), fine("b")], has_pdsh=False)
    assert (found[0].status, found[0].command) == (Status.PROBLEM, "sudo apt install pdsh")


def test_ranks_on_a_cpu_need_an_interface_where_a_name_leads_back_to_the_machine_itself() -> None:
    facts = [fine(name, gpus=0, address="127.0.1.1", interfaces=("lo", "ens3")) for name in "ab"]
    found = rows(a_plan(), facts, has_pdsh=True)
    assert [(str(row.title), row.status, row.command) for row in found] == [
        ("a, b", Status.WARNING, "GLOO_SOCKET_IFNAME=ens3")
    ]
    assert {row.status for row in rows(a_plan(GLOO_SOCKET_IFNAME="ens3"), facts, has_pdsh=True)} == {Status.OK}
