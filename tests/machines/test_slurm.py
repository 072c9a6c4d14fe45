"""Runs through Slurm: the script that is submitted, and a real Slurm that takes it."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
from playwright.sync_api import Browser, expect

from dsgui.core.errors import PlanError, RunError
from dsgui.core.launch.command import argv, shown_command
from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.launch.plan import ConfigArgument, LaunchRequest, Plan, StartedBy
from dsgui.core.launch.plan_json import plan_from_json, plan_to_json
from dsgui.core.launch.plan_making import make_plan
from dsgui.core.launch.spec import values_of
from dsgui.core.launch.state import RunState
from dsgui.core.logs.phases import SLURM_QUEUE
from dsgui.core.logs.trainlog import TrainLog
from dsgui.core.runs.news import Cursor
from dsgui.core.texts.english import TEXTS
from dsgui.runs.archive import Archive
from dsgui.shell.launch.places.slurm import submitting
from dsgui.shell.processes.processes import send_signal
from tests.answers.remembered import SERVER, TRAINING
from tests.machines import slurm_cluster as clusters
from tests.machines.slurm_cluster import slurm_cluster
from tests.support.app_server import running_app
from tests.support.curves_json import logged
from tests.support.run_fixtures import Bench, bench, lose, wait_until

__all__ = ["bench"]

GOLDEN = Path(__file__).parents[1] / "answers" / "slurm"
REQUEST = LaunchRequest(
    name="t5 small/3",
    script="/srv/train.py",
    arguments="--lr 1e-4 --note 'two words'",
    ranks=0,
    gpu_indices=(),
    master_port=None,
    working_directory="/srv",
    config_text="{}",
    config_argument=ConfigArgument.HF,
    target_python="/env/bin/python",
    environment={"NCCL_DEBUG": "INFO", "NOTE": "it's $5"},
    secrets={"HF_TOKEN": "hf_secret"},
    place=SlurmJob(2, 4, partition="gpu", time="2-12:00:00", account="lab", options="--qos=high\n--exclusive\n"),
)


def plan(request: LaunchRequest = REQUEST) -> Plan:
    return make_plan(
        request,
        run_id="20260131-235959-0a1b",
        run_directory="/runs/r",
        script_path="/srv/train.py",
        master_port=29501,
    )


@pytest.mark.parametrize(
    ("name", "request_"),
    [
        ("gpus.sh", REQUEST),
        ("torchrun.sh", replace(REQUEST, started_by=StartedBy.TORCHRUN)),
        ("cpu.sh", replace(REQUEST, place=SlurmJob(1, 2, on_cpu=True), environment={}, secrets={})),
    ],
)
def test_the_script_is_the_one_that_was_looked_at(name: str, request_: LaunchRequest) -> None:
    assert shown_command(plan(request_)) == (GOLDEN / name).read_text("utf-8")


def test_the_command_is_sbatch_and_slurm_queues_by_itself() -> None:
    asked = plan()
    assert argv(asked) == ("sbatch", "--parsable", "/runs/r/job.sh")
    assert asked.ranks == 8
    assert not asked.slots & replace(asked, run_id="another").slots
    assert plan_from_json(plan_to_json(asked)) == asked
    assert "hf_secret" not in shown_command(asked)


@pytest.mark.parametrize(
    ("job", "says"),
    [
        (SlurmJob(nodes=0), "Nodes: 0"),
        (SlurmJob(per_node=-1), "GPUs per node: -1"),
        (SlurmJob(partition="gpu --wrap=id"), "Partition"),
        (SlurmJob(account="a\nb"), "Account"),
        (SlurmJob(time="tomorrow"), "Time limit: “tomorrow”"),
        (SlurmJob(cpus="many"), "CPUs per task: “many”"),
        (SlurmJob(cpus="0"), "CPUs per task: “0”"),
        (SlurmJob(memory="64G\n#SBATCH --wrap=id"), "Memory"),
        (SlurmJob(memory="64GB"), "Memory: “64GB” can’t be used. Expected a whole number and one letter"),
        (SlurmJob(gpu_type="a100:8"), "GPU type: “a100:8” can’t be used. Expected the type alone"),
        (SlurmJob(gpu_type="a100", on_cpu=True), "GPU type: “a100” is given, but no GPUs are requested"),
        (SlurmJob(memory="64G", options="--mem-per-cpu=1G"), "can’t be used together with Memory"),
        (SlurmJob(memory="64G", options="--mem-per-g=1G"), "can’t be used together with Memory"),
        (SlurmJob(cpus="8", options="--cpus-per-gpu=2"), "can’t be used together with CPUs per task"),
        (SlurmJob(gpu_type="a100", options="--gres=tmp:1,gpu:2"), "can’t be used together with GPU type"),
        (SlurmJob(gpu_type="a100", options="--gpus=2"), "the batch script sets it already"),
        (SlurmJob(per_node=4, gpu_type="a100", options="--gpus-per-task=4"), "must give the same GPU type"),
        (SlurmJob(per_node=4, gpu_type="a100", options="--gpus-per-t=h100:4"), "must give the same GPU type"),
        (SlurmJob(per_node=4, gpu_type="a100", options="--gpus-per-socket=2"), "must give the same GPU type"),
        (SlurmJob(per_node=4, options="--gpus-per-task=a100:4"), "must give the same GPU type"),
        (SlurmJob(per_node=4, options="--gres=tmp:1,gpu:a100:4"), "must give the same GPU type"),
        (SlurmJob(per_node=4, gpu_type="a100", options="--gpus-per-task=a100:2"), "Expected 4, as GPUs per node says"),
        (SlurmJob(memory="64G", options="--mem=1G"), "the batch script sets it already"),
        (SlurmJob(options="--output=/etc/passwd"), "the batch script sets it already"),
        (SlurmJob(options="--outp=elsewhere"), "the batch script sets it already"),
        (SlurmJob(options="--clusters=other"), "the batch script sets it already"),
        (SlurmJob(options="rm -rf /"), "expected one per line"),
        (SlurmJob(options="--comment=$(id)"), "expected one per line"),
    ],
)
def test_what_sbatch_would_read_differently_is_refused(job: SlurmJob, says: str) -> None:
    with pytest.raises(PlanError, match=re.escape(says)):
        plan(replace(REQUEST, place=job))


def test_cores_memory_and_the_type_of_gpu_are_requested_kept_and_cloned() -> None:
    job = SlurmJob(2, 4, cpus="16", memory="256G", gpu_type="h100")
    asked = plan(replace(REQUEST, place=job))
    for line in ("--gpus-per-node=h100:4", "--cpus-per-task=16", "--mem=256G"):
        assert f"#SBATCH {line}\n" in shown_command(asked)
    assert plan_from_json(plan_to_json(asked)) == asked
    assert SlurmJob.of_values(values_of(replace(REQUEST, place=job))) == job
    on_cpu = plan(replace(REQUEST, place=replace(job, on_cpu=True, gpu_type="")))
    assert "--gpus-per-node" not in shown_command(on_cpu)
    overrule = ("CPUS_PER_TASK", "CPUS_PER_GPU", "MEM_PER_NODE", "MEM_PER_CPU", "MEM_PER_GPU")
    given = {f"SBATCH_{name}": "1" for name in overrule} | {"SBATCH_QOS": "low"}
    assert submitting(given, asked) == {"SBATCH_QOS": "low"}
    assert submitting(given, plan()) == given


def test_a_jobs_name_has_what_slurm_takes_of_the_runs() -> None:
    for name, job in (
        ("T5 translates", "T5_translates"),
        ("T5 翻译", "T5_翻译"),
        ("翻译", "翻译"),
        ("摘要 · ZeRO-2", "摘要_ZeRO-2"),
        ("Übung “%j” $(x)", "Übung_j_x"),
        ("…", "run"),
        ("a · b 1e-4", "a_b_1e-4"),
    ):
        asked = plan(replace(REQUEST, place=SlurmJob(), name=name))
        assert f"#SBATCH --job-name={job}\n" in shown_command(asked)


def test_what_only_together_is_too_much_is_taken_alone() -> None:
    asked = SlurmJob(options="--mem-per-cpu=1G\n--cpus-per-gpu=2\n--gres=gpu:2\n--gres-flags=enforce-binding")
    assert "#SBATCH --mem-per-cpu=1G\n" in shown_command(plan(replace(REQUEST, place=asked)))
    typed = SlurmJob(gpu_type="a100", memory="64g", options="--gres=tmp:1")
    assert "#SBATCH --mem=64G\n" in shown_command(plan(replace(REQUEST, place=typed)))
    for job in (
        SlurmJob(1, 4, gpu_type="a100", options="--gpus-per-task=a100:4\n--gpus-per-socket=a100:2"),
        SlurmJob(1, 4, options="--gpus-per-task=4\n--gpus-per-socket=2\n--sockets-per-node=2"),
        SlurmJob(1, 4, options="--gres=tmp:1"),
        SlurmJob(1, 4, on_cpu=True, options="--gpus-per-task=a100:1"),
    ):
        assert all(
            f"#SBATCH {one}\n" in shown_command(plan(replace(REQUEST, place=job))) for one in job.options.split()
        )


def test_a_folder_that_no_directive_can_name_is_refused() -> None:
    with pytest.raises(PlanError, match="/my work"):
        plan(replace(REQUEST, working_directory="/my work"))


def test_what_would_overrule_the_script_is_not_handed_to_sbatch() -> None:
    given = {"SBATCH_PARTITION": "old", "SBATCH_QOS": "low", "SBATCH_EXPORT": "NONE", "SLURM_CLUSTERS": "b", "A": "1"}
    assert submitting(given, plan()) == {"SBATCH_QOS": "low", "A": "1"}
    by_default = plan(replace(REQUEST, place=SlurmJob(1, 1)))
    assert submitting(given, by_default) == {"SBATCH_PARTITION": "old", "SBATCH_QOS": "low", "A": "1"}


def test_waiting_in_slurms_queue_is_a_phase() -> None:
    log = TrainLog()
    log.feed("slurm: submitted as job 7\nslurm: job 7 is PENDING (Resources)\n")
    assert log.phase == "slurm_queue"
    log.feed("slurm: job 7 is RUNNING\n")
    assert log.phase == "starting"


def test_without_sbatch_nothing_is_started(bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here = {"script": str(bench.script("")), "working_directory": str(tmp_path), "target_python": sys.executable}
    asked = bench.runs.prepare(replace(REQUEST, **here))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunError, match="no sbatch on this machine"):
        bench.runs.start(asked, "{}")
    assert bench.runs.list() == []


# --- a real Slurm -----------------------------------------------------------------------------------------------------

on_slurm = pytest.mark.skipif(bool(clusters.missing()), reason=clusters.missing() or "there is a Slurm")
TRAIN = """
    import os, sys, time
    size, token = os.environ["WORLD_SIZE"], os.environ["MY_TOKEN"][:3]
    os.write(1, f"rank of {size} {token}\\nstep=1 loss=2.5\\n".encode())
    time.sleep(int(sys.argv[2]))
    sys.exit(int(sys.argv[3]))
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with slurm_cluster(tmp_path_factory.mktemp("slurm") / "c") as environment:
        yield environment


@pytest.fixture
def on_cluster(bench: Bench, cluster: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("SLURM_CONF", cluster["SLURM_CONF"])
    return bench


def submit(bench: Bench, seconds: int = 0, code: int = 0, name: str = REQUEST.name, **job: object) -> str:
    asked = replace(
        REQUEST,
        name=name,
        script=str(bench.script(TRAIN)),
        arguments=f"{seconds} {code}",
        working_directory=str(bench.folder),
        target_python=sys.executable,
        environment={},
        secrets={},
        place=SlurmJob(**{"nodes": 1, "per_node": 2, "on_cpu": True, **job}),  # type: ignore[arg-type]
    )
    return bench.runs.start(bench.runs.prepare(asked), "{}", {"MY_TOKEN": "abcdefghij"})


@on_slurm
@pytest.mark.machines
@pytest.mark.deepspeed
def test_a_job_runs_and_its_end_is_the_runs_end(on_cluster: Bench) -> None:
    delta = on_cluster.ended(submit(on_cluster), 120)
    assert delta.state is RunState.SUCCEEDED, delta.output
    assert re.search(r"slurm: job \d+ is COMPLETED", delta.output)
    assert len(re.findall(r"of 2 abc", delta.output)) == 2
    assert [point["step"] for point in logged(delta.curves)] == [1, 1]
    assert TEXTS["sampling"]["slurm_nodes"] in delta.telemetry_note
    failed = on_cluster.ended(submit(on_cluster, code=3), 120)
    assert (failed.state, failed.exit_code) == (RunState.FAILED, 3)


@on_slurm
@pytest.mark.machines
@pytest.mark.remembered(*TRAINING)
def test_a_job_that_waits_can_be_stopped_and_so_can_one_that_trains(on_cluster: Bench) -> None:
    held = submit(on_cluster, options="--hold")
    on_cluster.wait_for_output(held, "PENDING (JobHeldUser)")
    wait_until(lambda: on_cluster.runs.follow(held, Cursor()).phase == SLURM_QUEUE)
    on_cluster.runs.stop(held)
    assert on_cluster.ended(held).state is RunState.STOPPED
    assert jobs() == ""
    trains = submit(on_cluster, seconds=600)
    on_cluster.wait_for_output(trains, "loss=2.5", 120)
    wait_until(lambda: on_cluster.runs.follow(trains, Cursor()).curves["y"])
    on_cluster.runs.stop(trains)
    delta = on_cluster.ended(trains)
    assert delta.state is RunState.STOPPED
    assert "here or on the nodes of Slurm job" in delta.reason
    assert jobs() == ""


@on_slurm
@pytest.mark.machines
def test_slurm_has_a_jobs_name_as_it_was_written(on_cluster: Bench) -> None:
    held = submit(on_cluster, options="--hold", name="T5 翻译")
    on_cluster.wait_for_output(held, "PENDING (JobHeldUser)")
    assert subprocess.check_output(["squeue", "-h", "-o", "%j"], text=True, encoding="utf-8").split() == ["T5_翻译"]
    on_cluster.runs.stop(held)
    on_cluster.ended(held)


def in_front(folder: Path, monkeypatch: pytest.MonkeyPatch, **programs: str) -> None:
    """Shell scripts that are found before Slurm's programs of the same names."""
    (folder / "front").mkdir()
    for name, text in programs.items():
        (folder / "front" / name).write_text(f"#!/bin/sh\n{text}\n", "utf-8")
        (folder / "front" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'front'}:{os.environ['PATH']}")


@on_slurm
@pytest.mark.machines
@pytest.mark.remembered(*TRAINING)
def test_a_controller_that_can_t_be_asked_for_a_while_ends_no_job(
    on_cluster: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = tmp_path / "away"
    fails = f'case "$*" in *"show job"*) [ -e {away} ] && exit 1;; esac; exec /usr/bin/scontrol "$@"'
    in_front(tmp_path, monkeypatch, scontrol=fails, sacct="exit 1")
    run_id = submit(on_cluster, seconds=8)
    on_cluster.wait_for_output(run_id, "loss=2.5", 120)
    away.touch()
    on_cluster.wait_for_output(run_id, "Slurm is not responding")
    assert on_cluster.runs.summary(run_id).state is RunState.RUNNING
    away.unlink()
    assert on_cluster.ended(run_id, 60).state is RunState.SUCCEEDED


@on_slurm
@pytest.mark.machines
def test_a_stop_while_the_job_is_being_submitted_leaves_none(
    on_cluster: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_front(tmp_path, monkeypatch, sbatch='job=$(/usr/bin/sbatch "$@"); sleep 3; echo "$job"')
    run_id = submit(on_cluster, seconds=600)
    wait_until(lambda: jobs() != "")
    on_cluster.runs.stop(run_id)
    assert on_cluster.ended(run_id, 60).state is RunState.STOPPED
    assert jobs() == ""


@on_slurm
@pytest.mark.machines
@pytest.mark.remembered(*TRAINING)
def test_a_job_whose_supervisor_and_follower_are_gone_is_kept_until_it_is_stopped(on_cluster: Bench) -> None:
    run_id = submit(on_cluster, seconds=600)
    on_cluster.wait_for_output(run_id, "loss=2.5", 120)
    status = on_cluster.store.open(run_id).read_status()
    assert status
    assert status.process
    lose(on_cluster, run_id)
    send_signal(status.process, signal.SIGKILL)
    with pytest.raises(RunError, match="may still be running"):
        Archive(on_cluster.store, on_cluster.runs).delete(run_id)
    on_cluster.runs.stop(run_id)
    delta = on_cluster.ended(run_id, 60)
    assert delta.state is RunState.STOPPED
    assert "here or on the nodes of Slurm job" in delta.reason
    assert jobs() == ""


def jobs() -> str:
    """What Slurm has now."""
    return subprocess.run(["squeue", "-h"], capture_output=True, text=True, check=True).stdout.strip()


@on_slurm
@pytest.mark.machines
def test_a_job_that_slurm_refuses_is_told_in_its_words(on_cluster: Bench) -> None:
    delta = on_cluster.ended(submit(on_cluster, partition="none-such"))
    assert delta.state is RunState.FAILED
    assert "invalid partition specified: none-such" in delta.reason


@on_slurm
@pytest.mark.machines
@pytest.mark.browser
@pytest.mark.remembered(*SERVER)
def test_the_page_shows_the_script_and_submits_it(cluster: dict[str, str], tmp_path: Path, browser: Browser) -> None:
    script = tmp_path / "train.py"
    script.write_text(dedent(TRAIN), "utf-8")
    with running_app(tmp_path / "runs", environment=cluster) as app:
        page = browser.new_page()
        page.goto(app.entrance)
        page.get_by_role("tab", name="2 · Launch").click()
        page.get_by_label("My own script").click()
        page.fill("#script input, #script textarea", str(script))
        page.fill("#arguments input, #arguments textarea", "0 0")
        page.get_by_label("Slurm", exact=True).click()
        page.fill("#slurm-options textarea", "--output=elsewhere")
        expect(page.locator("#preflight")).to_contain_text("the batch script sets it already")
        page.fill("#slurm-options textarea", "--comment=mine")
        page.fill("#slurm-per-node input", "2")
        page.get_by_label("CPU only: GPUs per node counts ranks").click()
        page.get_by_text("More: launcher, queue").click()
        page.fill("#environment textarea", "MY_TOKEN=abcdefghij")
        expect(page.locator("#command")).to_contain_text("#SBATCH --comment=mine")
        expect(page.locator("#command")).not_to_contain_text("abcdefghij")
        expect(page.locator("#launch-verdict")).to_contain_text("2 CPU ranks")
        page.click("#launch")
        expect(page.locator(".ds-run-head .ds-state")).to_have_text("succeeded", timeout=120_000)
        output = next((tmp_path / "runs").glob("2*/output.log")).read_text("utf-8")
        assert "is COMPLETED" in output
        page.close()
