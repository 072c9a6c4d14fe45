"""After a run: its diagnosis under a real supervisor, the same again, checkpoints, deletion, where it came from."""

import json
import os
import pickle
import select
import subprocess
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsgui.core.errors import PlaceError, PlanError, RunError
from dsgui.core.launch.checkpoint import SavedBy, checkpoint_from
from dsgui.core.launch.command import argv
from dsgui.core.launch.plan import ConfigArgument, Plan
from dsgui.core.launch.plan_making import make_plan
from dsgui.core.launch.state import RunState, RunStatus
from dsgui.core.machine.verdicts import Row, Status
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.preflight.judging import memory_of, rows_around
from dsgui.core.preflight.preflight import AGREEMENT, CHECKS, OF_SETTINGS
from dsgui.core.preflight.surroundings import Surroundings
from dsgui.core.runs.clone import clone
from dsgui.core.script.script import ScriptFacts
from dsgui.core.script.words import value_of, with_option
from dsgui.core.texts.languages import speaking
from dsgui.core.texts.saying import as_told
from dsgui.core.validation.checker import Checker
from dsgui.runs.archive import Archive, Judge
from dsgui.shell.access.places import Places
from dsgui.shell.config.catalog import Catalog
from dsgui.shell.machine.provenance import git_state
from dsgui.shell.preflight.scout import Scout
from dsgui.shell.processes.ends import Ends
from dsgui.shell.processes.oom import OomKills, read_oom_kills
from dsgui.shell.runs.store import Store
from tests.support.run_fixtures import CONFIG, Bench, bench, wait_until

__all__ = ["bench"]

BATCH = """
    def check(train, micro, steps, ranks):
        assert train == micro * steps * ranks, (
            "Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * gradient_acc_step"
            f" * world_size {train} != {micro} * {steps} * {ranks}")
    check(8, 3, 1, 2)
"""


TRAINER = """
    from transformers import HfArgumentParser, Trainer, TrainingArguments
    (training,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    Trainer(args=training).train(resume_from_checkpoint=training.resume_from_checkpoint)
"""


NATIVE = """
    import argparse
    parser = argparse.ArgumentParser()
    parser.add_argument("--save_dir")
    parser.add_argument("--load_dir")
    parser.add_argument("--ckpt_id")
    args = parser.parse_args()
    engine = None
    if args.load_dir:
        engine.load_checkpoint(args.load_dir, args.ckpt_id)
    engine.save_checkpoint(args.save_dir)
"""


@pytest.fixture
def archive(bench: Bench) -> Archive:
    return Archive(bench.store, bench.runs)


def ended_run(bench: Bench, source: str = TRAINER, **changes: object) -> tuple[str, Path]:
    """A run that has ended, as the supervisor leaves it; its id and folder."""
    plan = bench.runs.prepare(bench.request(bench.script(source), **changes))
    directory = bench.store.create(plan.run_id)
    directory.write_plan(plan, CONFIG)
    directory.write_status(RunStatus(RunState.SUCCEEDED, started_at=time.time(), ended_at=time.time() + 1))
    return plan.run_id, directory.path


# --- diagnosis under the supervisor -----------------------------------------------------------------------------------


def test_a_failing_script_is_diagnosed_and_a_clone_repairs_it(bench: Bench, archive: Archive) -> None:
    run_id = bench.start(BATCH)
    assert bench.ended(run_id).state is RunState.FAILED
    found = archive.about(run_id)["diagnosis"]
    assert (found["signature"], found["remedy"]["label"]) == ("batch-identity", "train_batch_size 6")
    assert "in check" in found["traceback"]
    made = archive.repaired(run_id)
    assert json.loads(made.request.config_text) == {"train_batch_size": 6}
    keys = [one["key"] for one in found["remedies"]]
    with speaking("zh-CN"):  # a server's call may be in another language than the page
        assert archive.about(run_id)["diagnosis"]["remedies"][0]["label"] != found["remedy"]["label"]
        assert [archive.repaired(run_id, key).request.config_text for key in keys[:1]] == [made.request.config_text]
        assert len({archive.repaired(run_id, key).request.config_text for key in keys}) == len(keys)
    with pytest.raises(RunError):
        archive.repaired(run_id, "another change")
    assert made.notes == ("train_batch_size set to 6",)


@pytest.mark.parametrize(("check", "offered"), [("port", True), ("gpus", True), ("runs_disk", True), ("config", False)])
def test_the_machine_is_looked_at_once_and_only_what_a_change_can_touch_counts(
    bench: Bench, check: str, offered: bool
) -> None:
    run_id = bench.start(BATCH)
    bench.ended(run_id)
    looked: list[str] = []
    around: Any = object()

    def rows(plan: Plan, text: str, seen: Surroundings) -> list[Row]:
        assert seen is around
        return [Row(check, as_told(""), Status.PROBLEM, (as_told("Not now."),))] if text != looked[0] else []

    def surroundings(plan: Plan, text: str) -> Surroundings:
        looked.append(text)
        return around

    made = Archive(bench.store, bench.runs, judge=Judge(surroundings, rows)).offer(run_id)
    assert made
    assert [str(one.label) for one in made.diagnosis.remedies] == (["train_batch_size 6"] if offered else [])
    assert looked == [bench.store.open(run_id).read_config()]


def test_what_happened_is_told_without_the_checks_that_its_changes_wait_for(bench: Bench) -> None:
    run_id = bench.start(BATCH)
    bench.ended(run_id)
    looked: list[str] = []
    around: Any = object()

    def surroundings(plan: Plan, text: str) -> Surroundings:
        looked.append(text)
        return around

    def rows(plan: Plan, text: str, seen: Surroundings) -> list[Row]:
        return [Row("config", as_told(""), Status.PROBLEM, (as_told("No."),))] if text != looked[0] else []

    archive = Archive(bench.store, bench.runs, judge=Judge(surroundings, rows))
    about = archive.about(run_id)
    assert looked == []
    assert about["checking"]
    assert about["diagnosis"]["title"] == "The three batch sizes don't fit together"
    assert about["diagnosis"]["remedy"]["label"] == "train_batch_size 6"  # not checked yet
    found = archive.judged(run_id)["diagnosis"]
    assert looked
    assert found["remedy"] is None
    assert len(found["set_aside"]) == 1


def test_without_changes_to_check_a_diagnosis_is_whole_at_once(bench: Bench) -> None:
    run_id = bench.start("raise RuntimeError('of its own')")
    bench.ended(run_id)
    bench.store.open(run_id).memory_file.write_text('{"fit": "fits", "predicted": {"host_bytes": 1}}')
    around: Any = object()
    archive = Archive(bench.store, bench.runs, judge=Judge(lambda plan, text: around, lambda *given: []))
    about = archive.about(run_id)
    assert (about["checking"], about["diagnosis"]["remedy"]) == (False, None)


def test_the_checks_that_count_against_a_change_are_in_the_table() -> None:
    assert {one.id for one in CHECKS} >= OF_SETTINGS - {AGREEMENT}


OUT_OF_MEMORY = "raise RuntimeError('CUDA out of memory. Tried to allocate 2.00 GiB')"
READERS = [
    ("HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()", "--per_device_train_batch_size"),
    ("TrainingArguments('out', deepspeed='ds.json')", ""),
]


@pytest.mark.parametrize(("reader", "option"), READERS)
def test_a_script_that_reads_its_config_through_the_trainer_is_given_advice_for_the_trainer(
    bench: Bench, reader: str, option: str
) -> None:
    source = f"if False:\n    from transformers import *\n    {reader}\n{OUT_OF_MEMORY}"
    run_id = bench.start(source, config_argument=ConfigArgument.TRAINER)
    bench.ended(run_id)
    found = bench.store.open(run_id).read_diagnosis()
    assert found
    assert found.signature == "cuda-memory"
    assert str(bench.runs.summary(run_id).why) == str(found.title)
    assert [name for one in found.remedies for name, _ in one.options][:1] == ([option] if option else [])


def test_code_above_the_script_is_offered_in_front_of_the_runs_pythonpath(bench: Bench, archive: Archive) -> None:
    part = bench.folder / "project" / "mine" / "part.py"
    part.parent.mkdir(parents=True)
    part.write_text("x = 1\n")
    scripts = bench.folder / "project" / "scripts"
    scripts.mkdir()
    (scripts / "train.py").write_text("from mine.part import x\nprint(x)\n")
    request = bench.request(scripts / "train.py", environment={"PYTHONPATH": "/not/there"})
    run_id = bench.runs.start(bench.runs.prepare(request), "{}")
    bench.ended(run_id)
    found = bench.store.open(run_id).read_diagnosis()
    assert found
    assert found.remedy
    assert found.remedy.variables == (("PYTHONPATH", f"{part.parents[1]}:/not/there"),)


def test_a_run_that_ends_well_has_no_diagnosis_whatever_it_caught(bench: Bench, archive: Archive) -> None:
    run_id = bench.start("""
        import traceback
        try:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        except RuntimeError:
            traceback.print_exc()
    """)
    assert bench.ended(run_id).state is RunState.SUCCEEDED
    assert archive.about(run_id)["diagnosis"] is None
    assert not bench.store.directory(run_id).diagnosis_file.exists()
    with pytest.raises(RunError, match="proposes no change"):
        archive.repaired(run_id)


def test_a_run_stopped_on_request_has_no_diagnosis(bench: Bench, archive: Archive) -> None:
    run_id = bench.start("import time\nprint('on')\ntime.sleep(600)")
    bench.wait_for_output(run_id, "on")
    bench.runs.stop(run_id)
    assert bench.ended(run_id).state is RunState.STOPPED
    assert archive.about(run_id)["diagnosis"] is None


def test_a_killed_script_is_told_from_one_the_kernel_ended(bench: Bench, archive: Archive) -> None:
    run_id = bench.start("import os\nos.kill(os.getpid(), 9)")
    bench.ended(run_id)
    found = archive.about(run_id)["diagnosis"]
    assert found["signature"] in ("killed", "cgroup-memory")
    if read_oom_kills().machine is not None and found["signature"] == "killed":
        assert "kernel" in found["meaning"]


def test_the_rank_that_was_killed_is_named_in_the_reason_and_the_diagnosis(bench: Bench, archive: Archive) -> None:
    run_id = bench.start(RANK_1_IS_KILLED)
    said = bench.ended(run_id)
    found = archive.about(run_id)["diagnosis"]
    assert (found["signature"], found["rank"]) == ("killed", 1)
    assert said.reason.startswith("Rank 1 was killed by SIGKILL (signal 9). ")
    assert found["meaning"] in said.reason


# As DeepSpeed's launcher says it: its last line quotes the command of the last rank, whichever failed.
RANK_1_IS_KILLED = """
    import os, subprocess, sys, time
    last = [subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) for _ in range(3)]
    for one in last:
        print(f"[2026-01-31 12:00:00,000] [INFO] [launch.py:245:main] process {one.pid} spawned with command: ['x']",
              flush=True)
    time.sleep(1)
    last[1].kill()
    last[1].wait()
    for one in (last[0], last[2]):
        one.terminate()
        one.wait()
    print("[2026-01-31 12:00:00,000] [ERROR] [launch.py:259:sigkill_handler] ['x', '--local_rank=2'] exits with "
          "return code = -9", flush=True)
    os._exit(247)
"""
VERSIONS = {
    "v2": (("0::/job\n", "35 25 0:32 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"), "sys/fs/cgroup/job", {
        "memory.max": "4294967296\n", "memory.events": "low 0\nhigh 0\nmax 9\noom 1\noom_kill 2\n"}),
    "v1": (("4:memory:/job\n0::/\n", "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"),
           "sys/fs/cgroup/memory/job", {
        "memory.limit_in_bytes": "4294967296\n",
        "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"}),
}  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("total_kib", "limit"), [(16 << 20, 4 << 30), (2 << 20, None)])
def test_the_kernels_counts_and_limit_are_read_where_there_are_any(
    tmp_path: Path, version: str, total_kib: int, limit: int | None
) -> None:
    """A limit above what the machine has is none."""
    (cgroup, mountinfo), folder, files = VERSIONS[version]
    texts = {"proc/self/cgroup": cgroup, "proc/self/mountinfo": mountinfo, "proc/vmstat": "pgfault 12\noom_kill 3\n"}
    texts |= {"proc/meminfo": f"MemTotal: {total_kib} kB\n"} | {
        f"{folder}/{name}": text for name, text in files.items()
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    now = read_oom_kills(str(tmp_path))
    assert now == OomKills(3, 2, limit)
    assert now.since(OomKills(1, None)) == OomKills(2, None, limit)
    assert read_oom_kills(str(tmp_path / "none")) == OomKills()


def test_processes_are_told_in_the_order_of_their_ends() -> None:
    children = [subprocess.Popen(["sleep", "60"]) for _ in range(3)]
    ends = Ends()
    ends.watch([child.pid for child in children])
    for child in (children[2], children[0]):
        child.kill()
        wait_until(lambda: bool(select.select([ends], [], [], 1)[0]), 30)
        ends.take()
        child.wait()
    assert ends.order == [children[2].pid, children[0].pid]
    children[1].kill()
    children[1].wait()
    ends.close()


def test_advice_that_failed_before_in_a_chain_of_clones_is_not_given_again(bench: Bench, archive: Archive) -> None:
    """DeepSpeed wants another batch size each time: what the first run had is not offered to the third."""
    script = """
        import json, sys
        train = json.load(open(sys.argv[sys.argv.index("--deepspeed") + 1]))["train_batch_size"]
        micro = 3 if train in (4, 8) else 2
        assert False, ("Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * "
                       f"gradient_acc_step * world_size {train} != {micro} * 2 * 1")
    """
    path, parent = bench.script(script), ""
    for size in (4, 6):
        request = replace(bench.request(path), config_text=json.dumps({"train_batch_size": size}), parent=parent)
        plan = bench.runs.prepare(request)
        parent = bench.runs.start(plan, request.config_text)
        bench.ended(parent)
    made = archive.about(parent)
    assert made["parent"] == bench.store.open(parent).read_plan().parent != ""
    found = made["diagnosis"]
    assert (found["remedy"], found["remedies"]) == (None, [])
    assert "train_batch_size 4: run" in found["set_aside"][0]
    assert found["ends"]
    with pytest.raises(RunError, match="proposes no change"):
        archive.repaired(parent)


def test_a_clone_names_its_parent_and_lives_longer_than_it(bench: Bench, archive: Archive) -> None:
    first = bench.start(BATCH)
    bench.ended(first)
    request = archive.repaired(first).request
    assert request.parent == first
    second = bench.runs.start(bench.runs.prepare(request), request.config_text)
    bench.ended(second)
    archive.delete(first)
    assert archive.about(second)["diagnosis"]["signature"] == "batch-identity"


# --- the same again ---------------------------------------------------------------------------------------------------

WORDS = st.lists(
    st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=12), max_size=5
)


@given(WORDS, st.sampled_from(ConfigArgument), st.lists(st.integers(0, 7), unique=True, max_size=4), st.booleans())
def test_a_clone_makes_the_same_command(words: list[str], how: ConfigArgument, gpus: list[int], own: bool) -> None:
    request = Bench.request(
        type("Anything", (), {"python": "/env/bin/python"})(),  # type: ignore[arg-type]
        "/w/train me.py",
        arguments="",
        gpu_indices=tuple(gpus),
        ranks=len(gpus) or 2,
        config_argument=how,
        working_directory="" if own else "/w",
        environment={"A": "b"},
        preset="zero2-hf",
    )
    place = {"run_id": "20260131-235959-0a1b", "run_directory": "/runs/1", "script_path": "/w/train me.py"}
    plan = replace(make_plan(request, master_port=20_001, **place), arguments=tuple(words))
    again = clone(plan, CONFIG)
    assert again.notes == ()
    assert again.request.parent == plan.run_id
    assert make_plan(again.request, master_port=20_001, **place) == replace(plan, parent=plan.run_id)
    assert argv(make_plan(again.request, master_port=20_001, **place)) == argv(plan)


def test_an_option_is_set_where_it_stood_in_either_spelling() -> None:
    words = ("--lr", "1", "--output-dir=x", "--fp16", "--name", "a b")
    assert value_of(words, ("--output_dir",)) == "x"
    assert value_of(words, ("--fp16",)) == ""
    assert value_of(words, ("--seed",)) is None
    assert with_option(words, "--output_dir", "y") == ("--lr", "1", "--output_dir", "y", "--fp16", "--name", "a b")
    assert with_option(words, "--fp16", None) == ("--lr", "1", "--output-dir=x", "--name", "a b")
    assert with_option(words, "--bf16", "")[-1] == "--bf16"
    assert with_option(("--a", "-1"), "--a", None) == ()


# --- checkpoints ------------------------------------------------------------------------------------------------------


def saved(path: Path, config: str = "") -> None:
    """A file as torch saves it: what is pickled, tensors, the directory at the end."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", pickle.dumps({"ds_config": config}))
        file.writestr("archive/data/0", b"0" * 100)


def save_states(states: Path, ranks: int, missing: int = 0, config: str = "") -> None:
    """The files that DeepSpeed's engine writes, `latest` after all the others."""
    states.mkdir(parents=True)
    saved(states / "mp_rank_00_model_states.pt", config)
    for rank in range(missing, ranks):
        saved(states / f"bf16_zero_pp_rank_{rank}_mp_rank_00_optim_states.pt", config)
    (states.parent / "latest").write_text(states.name)


def make_universal(states: Path) -> Path:
    """As ds_to_universal does, as far as it is looked at: it copies the model's states."""
    made = states.with_name(f"{states.name}_universal")
    (made / "zero").mkdir(parents=True)
    saved(made / "mp_rank_00_model_states.pt", "")
    (states.parent / "latest_universal").write_text(made.name)
    return made


def save_checkpoint(folder: Path, step: int, ranks: int, missing: int = 0, config: str = "") -> Path:
    """What the HF Trainer writes, as far as it is looked at."""
    path = folder / f"checkpoint-{step}"
    save_states(path / f"global_step{step}", ranks, missing)
    saved(path / "training_args.bin", config)
    for rank in range(ranks):
        (path / f"rng_state_{rank}.pth").touch()
    (path / "trainer_state.json").write_text(f'{{"global_step": {step}}}\n')
    return path


def date_back(folder: Path, when: float) -> None:
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (when, when))


def test_the_latest_checkpoint_comes_first_and_resuming_passes_it(bench: Bench, archive: Archive) -> None:
    run_id, folder = ended_run(bench, arguments="--output_dir out --max_steps 5")
    save_checkpoint(folder / "out", 20, ranks=2)
    latest = save_checkpoint(folder / "out", 100, ranks=2)
    listed = archive.about(run_id)["checkpoints"]
    assert [(one["name"], one["problem"]) for one in listed] == [("checkpoint-100", ""), ("checkpoint-20", "")]
    made = archive.resumed(run_id, str(latest))
    assert made.request.arguments == f"--output_dir out --max_steps 5 --resume_from_checkpoint {latest}"
    with pytest.raises(RunError, match="no checkpoint /etc"):
        archive.resumed(run_id, "/etc")


def test_what_a_stop_would_lose_is_counted_from_the_last_whole_checkpoint(bench: Bench, archive: Archive) -> None:
    run_id, folder = ended_run(bench, arguments="--output_dir out --max_steps 5")
    directory = bench.store.open(run_id)
    directory.write_progress({"step": 130, "total": 500})
    told = archive.stake(run_id)
    assert (told["step"], told["checkpoint"], told["looked"]) == (130, None, True)
    save_checkpoint(folder / "out", 100, ranks=2)
    save_checkpoint(folder / "out", 120, ranks=2, missing=1)
    kept = archive.stake(run_id)["checkpoint"]
    assert (kept["name"], kept["step"]) == ("checkpoint-100", 100)
    assert 0 <= kept["age_s"] < 60
    (bench.folder / "elsewhere").mkdir()
    forbidden = Archive(bench.store, bench.runs, Places([bench.folder / "elsewhere"]).check)
    told = forbidden.stake(run_id)
    assert (told["step"], told["checkpoint"], told["looked"]) == (130, None, False)


def test_labels_written_at_the_same_time_are_all_kept(bench: Bench, archive: Archive) -> None:
    """By as many servers on one folder."""
    run_id, _ = ended_run(bench)
    servers = [Archive(Store(bench.store.runs_dir), bench.runs) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        asked = (pool.submit(one.label, run_id, {"add_tags": [f"tag {number}"]}) for number, one in enumerate(servers))
        for one in list(asked):
            one.result()
    archive.label(run_id, {"name": "better", "note": "hf_" + "A1b2C3d4" * 5})
    label = bench.store.open(run_id).read_label()
    assert sorted(label.tags) == [f"tag {number}" for number in range(8)]
    assert (label.name, "A1b2" in label.note) == ("better", False)  # a secret is written nowhere
    assert bench.runs.summary(run_id).name == "better"
    assert (archive.launched(run_id).name, archive.launched(run_id).parent) == ("better", "")


def test_a_checkpoint_of_other_ranks_and_half_a_one_say_so(bench: Bench, archive: Archive) -> None:
    run_id, folder = ended_run(bench)
    save_checkpoint(folder / "output/translation", 5, ranks=4)
    save_checkpoint(folder / "output/translation", 9, ranks=2, missing=1)
    half, four = archive.about(run_id)["checkpoints"]
    assert "checkpoint-9 is incomplete" in half["problem"]
    assert "saved with 4 ranks, but this run would use 2" in four["problem"]
    assert "universal" in archive.resumed(run_id, four["path"]).notes[-1]


@pytest.mark.parametrize(("ranks", "config", "fits"), [(2, CONFIG, True), (1, CONFIG, False), (4, CONFIG, False)])
def test_a_launch_that_resumes_with_other_ranks_is_refused(bench: Bench, ranks: int, config: str, fits: bool) -> None:
    path = save_checkpoint(bench.folder / "out", 5, ranks=2)
    request = bench.request(
        bench.script(""), arguments=("--resume_from_checkpoint", str(path)), ranks=ranks, config_text=config
    )
    if fits:
        bench.runs.prepare(request)
        return
    with pytest.raises(PlanError, match=f"was saved with 2 ranks, but this run would use {ranks}"):
        bench.runs.prepare(request)
    universal = replace(request, config_text='{"checkpoint": {"load_universal": true}}')
    with pytest.raises(PlanError, match="has no universal checkpoint"):
        bench.runs.prepare(universal)
    make_universal(path / "global_step5")
    assert bench.runs.prepare(universal).ranks == ranks
    off = replace(request, config_text='{"checkpoint": {"load_universal": false}}')
    with pytest.raises(PlanError, match="was saved with 2 ranks"):
        bench.runs.prepare(off)


@pytest.mark.parametrize("source", ["TRAINER", "NATIVE"])
def test_a_universal_checkpoint_is_resumed_by_any_number_of_ranks(bench: Bench, archive: Archive, source: str) -> None:
    words = "--output_dir out" if source == "TRAINER" else "--save_dir out"
    run_id, folder = ended_run(bench, globals()[source], arguments=words)
    if source == "TRAINER":
        states = save_checkpoint(folder / "out", 5, ranks=2) / "global_step5"
    else:
        save_states(states := folder / "out/global_step5", ranks=2)
    assert len(archive.about(run_id)["checkpoints"]) == 1
    made = make_universal(states)
    plain, universal = archive.about(run_id)["checkpoints"]
    assert (universal["path"], universal["name"], universal["problem"]) == (str(made), made.name, "")
    request = archive.resumed(run_id, universal["path"]).request
    assert json.loads(request.config_text)["checkpoint"] == {"load_universal": True}
    assert bench.runs.prepare(replace(request, ranks=1)).ranks == 1
    assert "load_universal" not in archive.resumed(run_id, plain["path"]).request.config_text


@pytest.mark.parametrize("words", [("--load_dir", "{out}"), ("--load_dir", "{out}", "--ckpt_id", "global_step5")])
def test_a_native_launch_that_resumes_with_other_ranks_is_refused(bench: Bench, words: tuple[str, ...]) -> None:
    save_states(bench.folder / "out/global_step5", ranks=2)
    given = tuple(word.format(out=bench.folder / "out") for word in words)
    request = bench.request(bench.script(NATIVE), arguments=given, ranks=2)
    assert bench.runs.prepare(request).ranks == 2
    with pytest.raises(PlanError, match="--load_dir: global_step5 was saved with 2 ranks, but this run would use 1"):
        bench.runs.prepare(replace(request, ranks=1))


def test_checkpoints_of_earlier_runs_are_not_offered(bench: Bench, archive: Archive) -> None:
    out = bench.folder / "shared"
    old = save_checkpoint(out, 5, ranks=2)
    date_back(old, 1)
    run_id, _ = ended_run(bench, arguments=f"--output_dir {out}")
    assert archive.about(run_id)["checkpoints"] == []


def test_a_checkpoint_saved_after_the_clock_was_set_back_is_offered(bench: Bench, archive: Archive) -> None:
    run_id, folder = ended_run(bench)
    date_back(save_checkpoint(folder / "tmp", 5, ranks=2), time.time() - 3600)
    assert archive.about(run_id)["checkpoints"] == []
    directory = bench.store.open(run_id)
    directory.write_status(replace(directory.read_status(), clock_back_s=3601.0))  # type: ignore[type-var]
    assert [one["step"] for one in archive.about(run_id)["checkpoints"]] == [5]


def test_deepspeeds_own_folders_are_known_by_latest(bench: Bench, archive: Archive) -> None:
    run_id, folder = ended_run(bench, NATIVE, arguments="--save_dir saved")
    save_states(folder / "saved/global_step7", ranks=2)
    assert [one["name"] for one in archive.about(run_id)["checkpoints"]] == ["global_step7"]
    (folder / "saved/latest").unlink()
    assert archive.about(run_id)["checkpoints"] == []


def test_states_that_are_not_divided_fit_any_ranks() -> None:
    found = checkpoint_from("/x/checkpoint-1", SavedBy.TRAINER, ["mp_rank_00_model_states.pt", "notes.txt"])
    assert found
    assert (found.shards, found.problem(3)) == (None, None)
    assert checkpoint_from("/x", SavedBy.TRAINER, ["notes.txt"]) is None


def test_a_checkpoint_that_was_cut_short_is_said_to_be_incomplete_and_not_resumed(
    bench: Bench, archive: Archive
) -> None:
    run_id, folder = ended_run(bench, arguments="--output_dir out")
    paths = [save_checkpoint(folder / "out", step, ranks=2) for step in (1, 2, 3, 4, 5)]
    shard = paths[1] / "global_step2/bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt"
    shard.write_bytes(shard.read_bytes()[:-30])
    (paths[2] / "trainer_state.json").unlink()
    (paths[3] / "rng_state_1.pth").unlink()
    (paths[4] / "checkpoint-is-incomplete.txt").touch()
    listed = archive.about(run_id)["checkpoints"]
    assert [one["step"] for one in listed if one["complete"]] == [1]
    assert all("incomplete" in one["problem"] for one in listed if one["step"] != 1)
    with pytest.raises(RunError, match="checkpoint-3 is incomplete"):
        archive.resumed(run_id, str(paths[2]))
    assert "checkpoint-1" in archive.resumed(run_id, str(paths[0])).request.arguments


def test_a_tag_that_is_newer_than_latest_was_not_saved_to_its_end(bench: Bench, archive: Archive) -> None:
    run_id, folder = ended_run(bench, NATIVE, arguments="--save_dir out")
    save_states(folder / "out/global_step9", ranks=2)
    save_states(folder / "out/global_step5", ranks=2)  # and `latest`
    date_back(folder / "out/global_step9", time.time() + 0.5)
    listed = archive.about(run_id)["checkpoints"]
    assert [(one["name"], one["complete"]) for one in listed] == [("global_step9", False), ("global_step5", True)]
    (folder / "out/latest").write_text("global_step9")
    assert all(one["complete"] for one in archive.about(run_id)["checkpoints"])


def test_a_run_has_fewer_shards_than_ranks_where_one_was_killed_before_it_saved(bench: Bench, archive: Archive) -> None:
    run_id, folder = ended_run(bench, NATIVE, arguments="--save_dir out", ranks=2)
    save_states(folder / "out/global_step5", ranks=1)
    [one] = archive.about(run_id)["checkpoints"]
    assert "incomplete" in one["problem"]


@pytest.mark.parametrize("when", ["while it ran", "later"])
def test_what_another_run_saved_in_the_same_folder_is_not_offered(bench: Bench, archive: Archive, when: str) -> None:
    """Both models' checkpoints lie in one working directory; a config of another run, or the date, tells them apart."""
    shared = {"working_directory": str(bench.folder), "arguments": ""}
    (first, _), (second, _) = ended_run(bench, NATIVE, **shared), ended_run(bench, NATIVE, **shared)
    config = bench.store.directory(second).path / "ds_config.json"
    save_states(bench.folder / "global_step500", ranks=2, config=str(config) if when == "while it ran" else "")
    if when == "later":
        directory = bench.store.open(first)
        directory.write_status(RunStatus(RunState.FAILED, started_at=time.time() - 60, ended_at=time.time() - 50))
    assert archive.about(first)["checkpoints"] == []
    assert [one["step"] for one in archive.about(second)["checkpoints"]] == [500]
    with pytest.raises(RunError, match="no checkpoint"):
        archive.resumed(first, str(bench.folder / "global_step500"))


def test_a_resumed_run_that_saves_where_it_loads_from_has_its_checkpoints(bench: Bench, archive: Archive) -> None:
    run_id, folder = ended_run(bench, NATIVE, arguments="--load_dir old")
    save_states(folder / "old/global_step8", ranks=2)
    assert [one["step"] for one in archive.about(run_id)["checkpoints"]] == [8]


def test_what_was_saved_long_after_a_run_was_lost_is_another_runs(bench: Bench, archive: Archive) -> None:
    run_id, _ = ended_run(bench, NATIVE, working_directory=str(bench.folder))
    bench.store.open(run_id).write_status(RunStatus(RunState.RUNNING, started_at=time.time()))
    save_states(bench.folder / "global_step4", ranks=2)
    assert [one["step"] for one in archive.about(run_id)["checkpoints"]] == [4]
    date_back(bench.folder / "global_step4", time.time() + 300)
    assert archive.about(run_id)["checkpoints"] == []


def test_a_config_of_its_own_in_the_checkpoint_proves_it_whatever_its_date(bench: Bench, archive: Archive) -> None:
    run_id, folder = ended_run(bench, arguments="--output_dir out")
    config = bench.store.directory(run_id).path / "ds_config.json"
    date_back(save_checkpoint(folder / "out", 4, ranks=2, config=str(config)), 1)
    assert [one["step"] for one in archive.about(run_id)["checkpoints"]] == [4]


def test_what_was_saved_after_the_clock_was_set_ahead_and_back_again_is_its_own(bench: Bench, archive: Archive) -> None:
    run_id, folder = ended_run(bench)
    date_back(save_checkpoint(folder / "out", 4, ranks=2), time.time() + 3600)
    assert archive.about(run_id)["checkpoints"] == []
    directory = bench.store.open(run_id)
    directory.write_status(replace(directory.read_status(), lasted_s=1.0, clock_ahead_s=3601.0))  # type: ignore[type-var]
    assert [one["step"] for one in archive.about(run_id)["checkpoints"]] == [4]


def test_pipes_and_broken_files_among_checkpoints_hold_up_nobody(bench: Bench, archive: Archive) -> None:
    run_id, folder = ended_run(bench, arguments="--output_dir out")
    path = save_checkpoint(folder / "out", 4, ranks=2)
    for name in ("training_args.bin", "trainer_state.json", "latest"):
        (path / name).unlink()
        os.mkfifo(path / name)
    shard = path / "global_step4/mp_rank_00_model_states.pt"
    shard.write_bytes(b"PK\x05\x06" + b"\xff" * 18)
    [one] = archive.about(run_id)["checkpoints"]
    assert "incomplete" in one["problem"]


# --- deleting ---------------------------------------------------------------------------------------------------------


def test_deleting_removes_the_folder_and_follows_no_link(bench: Bench, archive: Archive) -> None:
    outside = bench.folder / "precious"
    outside.mkdir()
    (outside / "weights").write_text("w" * 100)
    run_id, folder = ended_run(bench)
    (folder / "link").symlink_to(outside)
    (folder / "output.log").write_text("x" * 5000)
    told = archive.removal(run_id)
    assert told.path == str(folder)
    assert told.largest[0] == ("output.log", 5000)
    assert told.size_bytes < 10_000
    archive.delete(run_id)
    assert not folder.exists()
    assert (outside / "weights").read_text() == "w" * 100
    assert bench.runs.list() == []


def test_a_run_folder_that_is_a_link_is_left_alone(bench: Bench, archive: Archive) -> None:
    run_id, folder = ended_run(bench)
    elsewhere = bench.folder / "elsewhere"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    with pytest.raises(RunError, match="Nothing was removed"):
        archive.delete(run_id)
    assert (elsewhere / "plan.json").is_file()


@pytest.mark.parametrize(
    "run_id", ["..", "../precious", "/", "", ".", "20260131-235959-0a1b/..", "20260131-235959-0a1b\n"]
)
def test_what_is_no_run_id_deletes_nothing(bench: Bench, archive: Archive, run_id: str) -> None:
    keep, folder = ended_run(bench)
    with pytest.raises(RunError):
        archive.delete(run_id)
    assert folder.is_dir()
    assert [run.run_id for run in bench.runs.list()] == [keep]


def test_a_live_run_is_not_deleted(bench: Bench, archive: Archive) -> None:
    run_id = bench.start("import time\nprint('on')\ntime.sleep(600)")
    bench.wait_for_output(run_id, "on")
    for refused in (archive.removal, archive.delete):
        with pytest.raises(RunError, match="still be running"):
            refused(run_id)
    assert bench.store.directory(run_id).path.is_dir()


# --- where it came from -----------------------------------------------------------------------------------------------


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def test_the_commit_of_the_scripts_folder_is_kept(bench: Bench, archive: Archive) -> None:
    project = bench.folder / "project"
    project.mkdir()
    script = project / "train.py"
    script.write_text("print('hello')\n")
    assert git_state(project) is None
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "first"]):
        git(project, *words)
    run_id = bench.runs.start(bench.runs.prepare(bench.request(script)), CONFIG)
    bench.ended(run_id)
    kept = archive.about(run_id)["provenance"]["git"]
    assert (len(kept["commit"]), kept["branch"], kept["dirty"]) == (40, "main", False)
    script.write_text("print('changed')\n")
    state = git_state(project)
    assert state
    assert state["dirty"] is True


def test_the_list_tells_model_devices_and_script(bench: Bench) -> None:
    ended_run(bench, arguments="--model_name_or_path google/flan-t5-small", preset="zero2-hf")
    [run] = bench.runs.list()
    assert (run.model, str(run.devices), run.preset) == ("google/flan-t5-small", "2 ranks", "zero2-hf")
    with speaking("zh-CN"):  # what was read for one reader is told another in theirs
        assert run.to_json()["devices"] == "2 个 rank"
    assert run.script.endswith("train.py")


def test_what_deepspeed_estimates_for_what_is_offloaded_is_told_to_hold_the_measured_against(
    bench: Bench, archive: Archive
) -> None:
    header = json.dumps({"w": {"dtype": "F32", "shape": [1000, 1000], "data_offsets": [0, 4_000_000]}}).encode()
    model = bench.folder / "model"
    model.mkdir()
    (model / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    offloads = '{"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}}'
    given = f"--model_name_or_path '{model}'"
    for config, arguments, expected in ((offloads, given, 16_000_000), (offloads, "", None), ("{}", given, None)):
        script = bench.script("print('ends')")
        plan = bench.runs.prepare(bench.request(script, arguments=arguments, config_text=config))
        run_id = bench.runs.start(plan, config)
        bench.ended(run_id)
        found = archive.about(run_id)["estimate"]
        assert (found and found["states_bytes"]) == expected
        assert found is None or found["estimate_bytes"] == 24_000_000  # buffers: half as much again


def test_what_the_memory_model_foretells_is_told_to_hold_the_measured_against(bench: Bench) -> None:
    """And the model goes on with the run: to its plan, and to a clone of it."""
    checker = Checker(Catalog().schema())
    scout = Scout.of(bench.store.runs_dir, lambda: None)
    judge = Judge(
        lambda plan, text: scout.surroundings(plan, ScriptFacts(), False),
        partial(rows_around, checker=checker),
        memory=partial(memory_of, checker=checker),
    )
    archive = Archive(bench.store, bench.runs, judge=judge)
    config = '{"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true}, "zero_optimization": {"stage": 2}}'
    chosen = ModelChoice("1B", length=256, checkpointing=True)
    for model, arguments in ((chosen, ""), (ModelChoice(), "--model_name_or_path 1B"), (ModelChoice(), "")):
        script = bench.script("print('ends')")
        request = replace(bench.request(script, arguments=arguments, config_text=config), model=model)
        run_id = bench.runs.start(bench.runs.prepare(request), config)
        bench.ended(run_id)
        found = archive.judged(run_id)["predicted"]
        named = bool(model.model or arguments)
        assert (found is not None) == named
        assert found is None or found["host_bytes"] > 16 * 10**9
        assert bench.store.open(run_id).read_plan().model == model
        assert archive.clone(run_id).request.model == model


def test_resuming_says_that_the_script_can_not_be_read_any_more(bench: Bench, archive: Archive) -> None:
    run_id, folder = ended_run(bench, NATIVE, arguments="--save_dir saved")
    save_states(folder / "saved/global_step7", ranks=2)
    Path(bench.store.open(run_id).read_plan().script).write_text("def (", "utf-8")
    with pytest.raises(RunError, match="the script can’t be read any more"):
        archive.resumed(run_id, str(folder / "saved/global_step7"))


def test_the_last_mention_of_an_option_counts_however_it_is_spelled() -> None:
    assert value_of(("--a_b", "4", "--a-b", "8"), ("--a_b",)) == "8"
    assert value_of(("--a-b=8", "--a_b=4"), ("--a_b",)) == "4"
    assert value_of(("--a_b", "4", "--a-b"), ("--a_b",)) == ""


def test_a_stored_plans_script_outside_the_allowed_folders_is_not_read(bench: Bench) -> None:
    run_id, folder = ended_run(bench, arguments="--output_dir out --deepspeed", working_directory="")
    save_checkpoint(folder / "out", 20, ranks=2)
    script, asked = Path(bench.store.open(run_id).read_plan().script), list[Path]()
    assert Archive(bench.store, bench.runs).about(run_id)["checkpoints"]

    def check(named: Path) -> None:
        asked.append(named)
        raise PlaceError(f"{named}: outside the folders that dsgui may use: /home. Move it there.")

    elsewhere = Archive(bench.store, bench.runs, check)
    about = elsewhere.about(run_id)
    assert script in asked
    assert about["script"] == str(script)
    assert about["checkpoints"] == []
    assert "outside the folders" in about["resume_note"]
    assert elsewhere.clone(run_id).request.script == str(script)


def test_a_run_that_stopped_short_says_that_it_left_no_checkpoint(bench: Bench, archive: Archive) -> None:
    run_id, folder = ended_run(bench, arguments="--output_dir out --deepspeed", working_directory="")
    directory = bench.store.open(run_id)
    assert archive.about(run_id)["resume_note"] == ""  # it succeeded: nothing to go on with
    directory.write_status(RunStatus(RunState.STOPPED, started_at=time.time(), ended_at=time.time() + 1))
    assert archive.about(run_id)["resume_note"] == ""  # it never took a step
    directory.write_progress({"step": 7})
    assert "No complete checkpoint" in archive.about(run_id)["resume_note"]
    save_checkpoint(folder / "out", 20, ranks=2)
    assert archive.about(run_id)["resume_note"] == ""


def test_checkpoints_are_not_looked_for_outside_the_allowed_folders(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A stored plan may be somebody else's: the folder that it names to save in, and where a link in it leads."""
    outside = tmp_path_factory.mktemp("elsewhere")
    run_id, folder = ended_run(bench, arguments="--output_dir link --deepspeed", working_directory="")
    (folder / "link").symlink_to(outside)
    saved = save_checkpoint(outside, 20, ranks=2)
    assert Archive(bench.store, bench.runs).about(run_id)["checkpoints"]
    script = Path(bench.store.open(run_id).read_plan().script)
    archive = Archive(bench.store, bench.runs, Places([folder, script.parent]).check)
    about = archive.about(run_id)
    assert about["checkpoints"] == []
    assert f"Checkpoints not searched: {folder / 'link'} (it leads to {outside})" in about["resume_note"]
    with pytest.raises(RunError, match="outside the folders that dsgui may use"):
        archive.resumed(run_id, str(saved))
