"""After training: what a run left, jobs on it, and old checkpoints deleted; the jobs under a real supervisor."""

import json
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from dsgui.cli import main
from dsgui.core.afterwards.jobs import made_by
from dsgui.core.afterwards.pruning import Rule
from dsgui.core.errors import DsguiError, RunError
from dsgui.core.launch.plan import StartedBy
from dsgui.core.launch.state import RunState
from dsgui.runs.afterwards import AfterTraining
from dsgui.runs.archive import Archive
from dsgui.runs.runs import Runs
from dsgui.shell.access.places import Places
from dsgui.shell.afterwards import left, weights_worker
from dsgui.shell.launch.launcher import Launcher
from tests.support.run_fixtures import Bench, bench, wait_until

__all__ = ["bench"]


def save(folder: Path, step: int, *, adapter: bool = False, whole: bool = True) -> Path:
    """As the Trainer saves with DeepSpeed on two ranks."""
    path = folder / f"checkpoint-{step}"
    states = path / f"global_step{step}"
    states.mkdir(parents=True)
    for name in ("mp_rank_00_model_states.pt", *(f"zero_pp_rank_{rank}_mp_rank_00_optim_states.pt" for rank in (0, 1))):
        with zipfile.ZipFile(states / name, "w") as file:
            file.writestr("archive/data.pkl", b"N.")
    (path / "latest").write_text(states.name)
    for name in ("config.json", "training_args.bin"):
        (path / name).write_text("{}")
    if adapter:
        (path / "adapter_config.json").write_text('{"base_model_name_or_path": "base"}')
    if whole:
        best = str(folder / "checkpoint-10")
        (path / "trainer_state.json").write_text(json.dumps({"best_model_checkpoint": best}))
    return path


@pytest.fixture
def run_id(bench: Bench) -> str:
    """A run that has ended and saves into `out`."""
    (bench.folder / "out").mkdir()
    return bench.past_run("--output_dir out")


def after(bench: Bench, *roots: Path) -> AfterTraining:
    """With `roots`: as a server whose pages may name files in them."""
    if not roots:
        return AfterTraining(bench.store, bench.runs, Archive(bench.store, bench.runs))
    places = Places([bench.store.runs_dir, *roots])
    runs = Runs(bench.store, Launcher(grace_s=1), places=places)
    return AfterTraining(bench.store, runs, Archive(bench.store, runs, places.check), sys.executable, places.check)


def test_what_a_run_left_is_listed_with_what_can_be_made_of_it(bench: Bench, run_id: str) -> None:
    out = bench.folder / "out"
    assert after(bench).told(run_id)["things"] == []
    save(out, 10)
    save(out, 20, whole=False)
    save(out, 30, adapter=True)
    (out / "adapter").mkdir()
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        (out / "adapter" / name).write_text("{}")
    things = {one["name"]: (one["kind"], one["complete"], one["verbs"]) for one in after(bench).told(run_id)["things"]}
    assert things == {
        "checkpoint-30": ("checkpoint", True, ["merge", "universal"]),
        "checkpoint-20": ("checkpoint", False, []),
        "checkpoint-10": ("checkpoint", True, ["consolidate", "universal"]),
        "adapter": ("adapter", True, ["merge"]),
    }


def test_what_lies_where_a_recipe_saves_by_itself_is_found(bench: Bench) -> None:
    run_id = bench.past_run("")
    directory = bench.store.open(run_id)
    directory.write_plan(replace(directory.read_plan(), working_directory=str(directory.path)), None)
    saved = directory.path / "output" / "instruction_lora"
    saved.mkdir(parents=True)
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        (saved / name).write_text("{}")
    assert [one.path for one in after(bench).things(run_id)] == [str(saved)]


def test_what_lies_where_its_parser_saves_by_itself_is_found(bench: Bench) -> None:
    parser = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--output_dir', default='saved/here')\n"
    run_id = bench.past_run("")
    assert after(bench).things(run_id) == []
    bench.script(parser + "args = p.parse_args()\n")
    path = save(bench.folder / "saved" / "here", 10)
    assert [one.path for one in after(bench).things(run_id)] == [str(path)]


def test_old_checkpoints_go_by_a_rule_after_they_were_seen(bench: Bench, run_id: str) -> None:
    out = bench.folder / "out"
    paths = [str(save(out, step)) for step in (10, 20, 30, 40)]
    told = after(bench).old_told(run_id, Rule(1, 0))
    assert [(one["step"], one["why"]) for one in told["checkpoints"]] == [
        (40, "newest"),
        (30, ""),
        (20, ""),
        (10, "best"),
    ]
    assert told["freed_bytes"] == sum(one["size_bytes"] for one in told["checkpoints"] if not one["why"])
    assert after(bench).delete_old(run_id, Rule(1, 0), [paths[1], paths[3]]) == ["checkpoint-20"]  # 40 was seen, too
    assert sorted(one.name for one in out.iterdir()) == ["checkpoint-10", "checkpoint-30", "checkpoint-40"]


def test_a_link_in_a_checkpoints_place_is_no_checkpoint(bench: Bench, run_id: str) -> None:
    elsewhere = save(bench.folder / "elsewhere", 10)
    save(bench.folder / "out", 20)
    (bench.folder / "out" / "checkpoint-10").symlink_to(elsewhere)
    assert after(bench).delete_old(run_id, Rule(0), [str(elsewhere), "checkpoint-10"]) == []
    assert elsewhere.is_dir()


def test_what_a_job_reads_stays(bench: Bench, run_id: str) -> None:
    first = save(bench.folder / "out", 10)
    save(bench.folder / "out", 20)
    wait = bench.script("import time; time.sleep(600)", "wait.py")
    asked = bench.request(wait, arguments=f"consolidate --states={first}/global_step10", target_python=sys.executable)
    job = bench.runs.start(bench.runs.prepare(replace(asked, started_by=StartedBy.PYTHON, ranks=1)), "{}")
    wait_until(lambda: bench.runs.summary(job).state is RunState.RUNNING)
    old = after(bench).old_told(run_id, Rule(0, 0, best=False))
    assert [one["why"] for one in old["checkpoints"]] == ["newest", "in_use"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"source": "nothing"}, "checkpoint-10"),
        ({"verb": "merge"}, "can't be used"),
        ({"dtype": "fp8"}, "fp32 or bf16"),
        ({"shard": "5"}, "5GB or 500MB"),
        ({"to": "checkpoint-10"}, "nothing is overwritten"),
        ({"to": "/elsewhere/weights"}, "outside"),
        ({"to": "../../../weights"}, "outside"),
    ],
)
def test_bad_input_is_told_in_a_sentence(bench: Bench, run_id: str, given: dict[str, str], expected: str) -> None:
    save(bench.folder / "out", 10)
    with pytest.raises(DsguiError, match=expected):
        after(bench, bench.folder).asked(run_id, {"verb": "consolidate", "source": "checkpoint-10"} | given)


def test_a_full_disk_is_told_before(bench: Bench, run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    save(bench.folder / "out", 10)
    one = {"verb": "universal", "source": "checkpoint-10"}
    assert after(bench).asked(run_id, one)["refusal"] == ""
    monkeypatch.setattr(left, "read_disk", lambda path: type("Full", (), {"free_bytes": 10})())
    assert "is free on that disk" in after(bench).asked(run_id, one)["refusal"]
    with pytest.raises(DsguiError, match="is free on that disk"):
        after(bench).start(run_id, one)


def test_a_job_is_a_run_with_a_log_that_says_why_it_failed(bench: Bench, run_id: str) -> None:
    """Its checkpoint has no states in it. The server may start its own script though no page may name that."""
    save(bench.folder / "out", 10)
    one = after(bench, bench.folder, Path(sys.prefix))
    job = one.start(run_id, {"verb": "consolidate", "source": "checkpoint-10"})
    assert [(listed["run_id"], listed["name"]) for listed in one.told(run_id)["jobs"]] == [
        (job, "fp32 weights of checkpoint-10")
    ]
    ended = bench.ended(job)
    assert ended.state is RunState.FAILED
    assert "consolidate: DeepSpeed can't consolidate" in ended.output
    assert not [path for path in (bench.folder / "out").iterdir() if "weights" in path.name]
    assert Archive(bench.store, bench.runs).about(job)["is_job"]
    assert one.told(job)["things"] == []


def killed(bench: Bench, one: AfterTraining, run_id: str, **given: str) -> Path:
    """A job that was ended by SIGKILL; what is left of what it wrote."""
    job = one.start(run_id, {"verb": "consolidate", "source": "checkpoint-10"} | given)
    assert bench.ended(job).state is RunState.FAILED
    part = Path(weights_worker.part_of(made_by(bench.store.open(job).read_plan().arguments)))
    part.mkdir()
    (part / "model.safetensors").write_bytes(b"1" * 1000)
    return part


def test_what_a_killed_job_left_is_told_and_can_be_deleted(
    bench: Bench, run_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    save(bench.folder / "out", 10)
    one = after(bench)
    parts = [killed(bench, one, run_id), killed(bench, one, run_id, to=str(bench.folder / "elsewhere"))]
    told = {thing["path"]: thing for thing in one.told(run_id)["things"] if thing["kind"] == "unfinished"}
    assert {path: (thing["size_bytes"], thing["verbs"]) for path, thing in told.items()} == {
        str(part): (1000, []) for part in parts
    }
    assert one.delete_old(run_id, Rule(0), [str(parts[0])]) == [parts[0].name]
    assert [part.exists() for part in parts] == [False, True]
    words = ["after", "--runs-dir", str(bench.store.runs_dir), run_id, "clean"]
    assert main(words) == 0
    assert parts[1].name in capsys.readouterr().out
    assert parts[1].exists()
    assert main([*words, "--yes"]) == 0
    assert not parts[1].exists()
    assert [thing.name for thing in one.things(run_id)] == ["checkpoint-10"]


def test_what_a_job_is_writing_is_nothing_that_is_left(bench: Bench, run_id: str) -> None:
    save(bench.folder / "out", 10)
    one = after(bench)
    part = killed(bench, one, run_id)
    to = str(part.with_name(part.name[1:].removesuffix(".part")))
    wait = bench.script("import time; time.sleep(600)", "wait.py")
    asked = bench.request(wait, arguments=f"consolidate --to={to}", target_python=sys.executable, parent=run_id)
    job = bench.runs.start(bench.runs.prepare(replace(asked, started_by=StartedBy.PYTHON, ranks=1)), "{}")
    wait_until(lambda: bench.runs.summary(job).state is RunState.RUNNING)
    assert not [thing for thing in one.told(run_id)["things"] if thing["kind"] == "unfinished"]
    assert one.delete_old(run_id, Rule(0), [str(part)]) == []


def test_what_the_next_try_writes_over_counts_as_free(
    bench: Bench, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(bench.folder / "out", 10)
    one = after(bench)
    given = {"verb": "universal", "source": "checkpoint-10"}
    part = Path(weights_worker.part_of(one.asked(run_id, given)["to"]))
    part.mkdir()
    (part / "states").write_bytes(b"1" * 100_000)
    monkeypatch.setattr(left, "read_disk", lambda path: type("Full", (), {"free_bytes": 10})())
    assert one.asked(run_id, given)["refusal"] == ""


def test_the_command_lists_and_deletes(bench: Bench, run_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    for step in (10, 20, 30):
        save(bench.folder / "out", step)
    words = ["after", "--runs-dir", str(bench.store.runs_dir), run_id]
    assert main([*words, "list"]) == 0
    listed = capsys.readouterr().out
    assert "checkpoint-20  checkpoint  20" in listed
    assert main([*words, "clean", "--keep-last", "1"]) == 0
    would_go = capsys.readouterr().out
    assert "1 of 3 checkpoints would be deleted" in would_go
    assert "MiB" not in listed + would_go  # files are counted as the page counts them
    assert (bench.folder / "out" / "checkpoint-20").is_dir()
    assert main([*words, "clean", "--keep-last", "1", "--yes"]) == 0
    assert "Deleted: checkpoint-20" in capsys.readouterr().out
    assert not (bench.folder / "out" / "checkpoint-20").exists()
    assert main([*words, "consolidate", "checkpoint-20"]) == 2


def test_the_folder_of_runs_stands_before_or_behind_the_verb(
    bench: Bench, run_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    save(bench.folder / "out", 10)
    folder = ["--runs-dir", str(bench.store.runs_dir)]
    for words in (["after", run_id, *folder, "list"], ["after", run_id, "list", *folder]):
        assert main(words) == 0
        assert "checkpoint-10" in capsys.readouterr().out
    assert main(["after", *folder, "last", "consolidate", "--dry-run", *folder]) == 0
    assert capsys.readouterr().out.strip().endswith("weights-10-fp32")


def test_a_run_that_saved_nothing_says_so_where_no_name_was_given(bench: Bench, run_id: str) -> None:
    jobs = after(bench)
    with pytest.raises(DsguiError, match="This run has saved nothing that can be used for this"):
        jobs.thing(run_id, "")
    with pytest.raises(DsguiError, match=r"“other”: this run saved nothing usable under that name\. Found: –"):
        jobs.thing(run_id, "other")


def test_what_is_left_in_the_usual_place_is_told_without_the_run_of_its_job(bench: Bench, run_id: str) -> None:
    save(bench.folder / "out", 10)
    one = after(bench)
    part = killed(bench, one, run_id)
    job = one.told(run_id)["jobs"][0]["run_id"]
    (bench.store.open(job).path / "plan.json").write_text("{")
    assert [thing["path"] for thing in after(bench).told(run_id)["things"]][1:] == [str(part)]
    Archive(bench.store, bench.runs).delete(job)
    assert [thing["path"] for thing in after(bench).told(run_id)["things"]][1:] == [str(part)]
    with pytest.raises(RunError) as refused:
        one.thing(run_id, "nowhere")
    assert part.name not in str(refused.value)  # nothing can be made of it


@pytest.mark.parametrize("to", ["/", ".", "relative", "/no\0name"])
def test_no_path_of_a_stored_plan_is_a_fault(to: str) -> None:
    assert left.unfinished(to) is None
