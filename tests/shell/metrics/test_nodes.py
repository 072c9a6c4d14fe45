"""A run's other machines are sampled by an agent that is sent there. Here a program takes the place of ssh: it runs the
command on this machine, with nothing of dsgui in reach. Real ssh: tests/machines/test_several_machines.py."""

import ast
import base64
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.launch.places.ssh import Machines
from dsgui.core.launch.plan import ConfigArgument, Plan
from dsgui.core.metrics.samples import GpuSample, Sample
from dsgui.core.texts.english import TEXTS
from dsgui.core.texts.saying import sentences
from dsgui.shell.metrics.nodes import Nodes, bundle, folders_written, is_here
from tests.answers.remembered import SUPERVISION
from tests.support.fake_driver import FakeDriver, missing, serves, without_pcie
from tests.support.run_fixtures import exists, wait_until

pytestmark = pytest.mark.remembered(*SUPERVISION)

RUN = "20260101-000000-abcd"
# Greets as a login shell may; says what it is on a line of its own; keeps nothing of this environment.
_STAND_IN = """#!/bin/sh
echo "Welcome to $1"
echo '{{"a": "greeting"}}'
exec env -i PATH="$PATH" {environment} sh -c "$2"
"""


def plan_for(folder: Path, *names: str, python: str = sys.executable) -> Plan:
    hosts = "".join(f"{name} slots=2\n" for name in names)
    return Plan(
        run_id=RUN,
        name="",
        run_directory=str(folder),
        script=str(folder / "train.py"),
        arguments=("--output_dir", "out"),
        ranks=2,
        gpu_indices=(),
        master_port=29500,
        working_directory=str(folder),
        config_argument=ConfigArgument.HF,
        target_python=python,
        place=Machines(hosts),
    )


def stand_in(folder: Path, name: str = "ssh", **environment: str) -> tuple[str]:
    path = folder / name
    words = " ".join(f"{key}='{value}'" for key, value in environment.items())
    path.write_text(_STAND_IN.format(environment=words), "utf-8")
    path.chmod(0o755)
    return (str(path),)


def collect(nodes: Nodes, count: int, name: str = "worker-a") -> list[Sample]:
    """Asks as a supervisor does, only faster, until there are so many of one machine."""
    found: list[Sample] = []
    elapsed_s = iter(range(1, 10_000))
    deadline = time.monotonic() + 20
    while len(found) < count:
        assert time.monotonic() < deadline, sentences(nodes.lacks)
        found += [sample for node, sample in nodes.take() if node == name]
        nodes.ask(float(next(elapsed_s)))
        time.sleep(0.05)
    return found


@pytest.fixture
def reach() -> Iterator[Callable[..., Nodes]]:
    """`Nodes` that are closed after the test, also when it fails."""
    with contextlib.ExitStack() as stack:
        yield lambda *given, **more: stack.enter_context(contextlib.closing(Nodes(*given, **more)))


@pytest.fixture
def marked() -> Iterator[int]:
    """A process of the run that this one did not tell anybody of."""
    environment = {**os.environ, "DSGUI_RUN_ID": RUN}
    with subprocess.Popen(["sleep", "600"], env=environment) as child:
        yield child.pid
        child.kill()


def test_an_agent_samples_its_machine_and_finds_the_runs_processes(
    tmp_path: Path, reach: Callable[..., Nodes], marked: int
) -> None:
    nodes = reach(plan_for(tmp_path, "worker-a", "worker-b"), stand_in(tmp_path))
    samples = collect(nodes, 3)
    assert [sample.run_processes for sample in samples] == [1, 1, 1]
    assert [sample.elapsed_s for sample in samples] == sorted({sample.elapsed_s for sample in samples})
    last = samples[-1]
    assert 0 < (last.host_used_bytes or 0) < (last.host_total_bytes or 0)
    assert (last.run_bytes or 0) > 0
    assert last.disk_total_bytes == os.statvfs(tmp_path).f_blocks * os.statvfs(tmp_path).f_frsize
    assert sentences(nodes.lacks) == ""
    assert len(collect(nodes, 1, "worker-b")) == 1
    pids = nodes.pids
    assert len(pids) == 2
    nodes.close()
    assert nodes.pids == set()
    assert not any(exists(pid) for pid in pids)


@pytest.mark.skipif(bool(missing()), reason=missing() or "the library can be built")
def test_an_agent_reads_the_cards_of_its_machine_that_the_run_has(tmp_path: Path, reach: Callable[..., Nodes]) -> None:
    driver = FakeDriver(tmp_path / "driver")
    nodes = reach(plan_for(tmp_path, "worker-a"), stand_in(tmp_path, **driver.environment))
    samples = collect(nodes, 4)
    assert without_pcie(samples[-1].gpus) == [serves(0), serves(1)]  # slots=2 of eight


def test_an_agent_ends_with_its_supervisor(tmp_path: Path, reach: Callable[..., Nodes]) -> None:
    nodes = reach(plan_for(tmp_path, "worker-a"), stand_in(tmp_path))
    collect(nodes, 1)
    [pid] = nodes.pids
    nodes.leave()
    wait_until(lambda: not exists(pid), 5)


def test_what_an_agent_imports_is_sent_with_it_and_before() -> None:
    """Nothing of dsgui is installed there."""
    sent: set[str] = set()
    for name, text in json.loads(zlib.decompress(base64.b64decode(bundle()))):
        nodes = ast.walk(ast.parse(text))
        asked = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
        assert {module for module in asked if module.partition(".")[0] == "dsgui"} <= sent, name
        sent.add(name)


_OWNER = """
import sys, time
from pathlib import Path
from dsgui.shell.metrics.nodes import Nodes
from tests.shell.metrics.test_nodes import collect, plan_for
nodes = Nodes(plan_for(Path(sys.argv[1]), "worker-a"), (sys.argv[2],))
collect(nodes, 1)
print(*nodes.pids, flush=True)
time.sleep(600)
"""


def test_an_agent_ends_with_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    words = [sys.executable, "-c", _OWNER, str(tmp_path), *stand_in(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        assert exists(pid)
        owner.kill()
    wait_until(lambda: not exists(pid), 5)


def test_an_agent_that_nobody_speaks_to_any_more_ends(tmp_path: Path, reach: Callable[..., Nodes]) -> None:
    nodes = reach(plan_for(tmp_path, "worker-a"), stand_in(tmp_path))
    collect(nodes, 1)
    [pid] = nodes.pids
    wait_until(lambda: not exists(pid), 20)  # its input is still open


def test_a_machine_that_does_not_answer_is_told_of_and_holds_up_nobody(
    tmp_path: Path, reach: Callable[..., Nodes]
) -> None:
    now = [0.0]
    nodes = reach(plan_for(tmp_path, "worker-a"), stand_in(tmp_path), monotonic=lambda: now[0])
    collect(nodes, 1)
    [pid] = nodes.pids
    os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    for _ in range(8):
        list(nodes.take())
        nodes.ask(now[0])
        now[0] += 1
    assert time.monotonic() - began < 20
    assert "worker-a has not answered since" in sentences(nodes.lacks)
    os.kill(pid, signal.SIGCONT)
    collect(nodes, 2)
    assert sentences(nodes.lacks) == ""


def test_a_machine_that_cannot_be_reached_is_told_of_and_tried_again(
    tmp_path: Path, reach: Callable[..., Nodes]
) -> None:
    now = [0.0]
    nodes = reach(plan_for(tmp_path, "worker-a"), (str(tmp_path / "ssh"),), monotonic=lambda: now[0])
    assert "worker-a provides no readings (ssh can't be started" in sentences(nodes.lacks)
    stand_in(tmp_path)
    nodes.ask(1.0)
    assert nodes.pids == set()
    now[0] = 31
    collect(nodes, 1)
    assert sentences(nodes.lacks) == ""


def test_a_machine_without_the_python_only_lacks_samples(tmp_path: Path, reach: Callable[..., Nodes]) -> None:
    nodes = reach(plan_for(tmp_path, "worker-a", python="/nowhere/python"), stand_in(tmp_path))
    wait_until(lambda: list(nodes.take()) == [] and "worker-a provides no readings (" in sentences(nodes.lacks))
    assert "/nowhere/python" in sentences(nodes.lacks)


def test_what_is_no_sample_is_not_taken_for_one(tmp_path: Path, reach: Callable[..., Nodes]) -> None:
    lying = tmp_path / "ssh"
    lying.write_text(
        "#!/bin/sh\necho 'dsgui samples'\n"
        'echo \'{"lacks": [], "time_s": "rm -rf", "gpus": []}\'\necho \'{"gpus": 3}\'\necho "[[[["\nsleep 600\n',
        "utf-8",
    )
    lying.chmod(0o755)
    nodes = reach(plan_for(tmp_path, "worker-a"), (str(lying),))
    for _ in range(20):
        assert list(nodes.take()) == []
        nodes.ask(1.0)
        time.sleep(0.02)
    nodes.close()
    assert nodes.pids == set()


def test_absurd_numbers_of_another_machine_end_nothing(tmp_path: Path, reach: Callable[..., Nodes]) -> None:
    lacks = {"lacks": [["disk_silent", [["folder", "\ud800"], ["since", "now"]]]]}
    sent = Sample(1.0, 5, 10, None, 50.0, (GpuSample(0, "a"),), 2.0).to_json() | lacks
    absurd = json.dumps(sent | {"host_used_bytes": 10**400}), json.dumps(sent).replace('"index": 0', '"index": 1e400')
    (tmp_path / "sent").write_text("".join(f"{line}\n" for line in ("dsgui samples", *absurd)), "utf-8")
    lying = tmp_path / "ssh"
    lying.write_text(f"#!/bin/sh\ncat '{tmp_path}/sent'\nsleep 600\n", "utf-8")
    lying.chmod(0o755)
    nodes = reach(plan_for(tmp_path, "worker-a"), (str(lying),))
    first, second = collect(nodes, 2)
    assert (first.host_used_bytes, first.host_total_bytes, second.gpus) == (None, 10, ())
    assert sentences(nodes.lacks) == "worker-a: The disk of ? has not answered since now."


def test_this_machine_needs_no_agent(tmp_path: Path, reach: Callable[..., Nodes]) -> None:
    assert is_here("localhost")
    assert is_here(os.uname().nodename)
    assert not is_here("worker-a")
    nodes = reach(plan_for(tmp_path, "localhost"), stand_in(tmp_path))
    assert nodes.pids == set()


def test_the_disk_is_that_of_the_output_folder_where_it_exists(tmp_path: Path) -> None:
    assert folders_written(plan_for(tmp_path, "worker-a")) == (str(tmp_path / "out"), str(tmp_path))


def test_of_a_slurm_job_the_page_is_told_whose_readings_it_shows(tmp_path: Path) -> None:
    plan = replace(plan_for(tmp_path), place=SlurmJob(2, 4))
    assert sentences(Nodes(plan).lacks) == TEXTS["sampling"]["slurm_nodes"]
    assert Nodes(plan_for(tmp_path, "localhost")).lacks == ()
