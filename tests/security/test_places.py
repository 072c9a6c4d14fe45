"""Paths that the page names: inside the folders that are allowed once every link is followed, or refused."""

import ast
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from dsgui.core.errors import DsguiError, PlaceError, TokenError
from dsgui.core.launch.command import argv
from dsgui.core.launch.plan import ConfigArgument, LaunchRequest
from dsgui.core.launch.state import Asked, RunState, RunStatus
from dsgui.runs.runs import Runs
from dsgui.shell.access.access_token import choose_token
from dsgui.shell.access.places import Places, usual_places
from dsgui.shell.config.imports import open_file
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.processes.processes import boot_id, end_tree, identify, supervises
from dsgui.shell.runs.store import Store

ROOT = Path(__file__).parents[2]


@pytest.fixture
def ground(tmp_path):
    """A folder that is allowed, and what lies beside it."""
    inside, outside = tmp_path / "in side", tmp_path / "in side, no: outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "config.json").write_text('{"train_batch_size": 8}')
        (folder / "train.py").write_text("")
    (inside / "link.json").symlink_to(outside / "config.json")
    (inside / "link.py").symlink_to(outside / "train.py")
    (inside / "near.json").symlink_to(inside / "config.json")
    (inside / "away").symlink_to(outside)
    os.mkfifo(inside / "pipe.json")
    (inside / "follow.yaml").write_text(
        "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\ndeepspeed_config:\n"
        f"  deepspeed_config_file: {outside}/config.json\n"
    )
    return inside, outside


def test_what_lies_inside_opens_a_link_that_stays_inside_too(ground):
    inside, _ = ground
    for name in ("config.json", "near.json", "../in side/config.json"):
        assert "train_batch_size" in open_file(inside / name, Places([inside])).text


@pytest.mark.parametrize(
    "name",
    [
        "link.json",
        "away/config.json",
        "../in side, no: outside/config.json",
        "pipe.json",
        ".",
        "follow.yaml",
        "x\0.json",
    ],
)
def test_what_leads_outside_or_is_no_file_does_not_open(ground, name):
    inside, _ = ground
    with pytest.raises(DsguiError):
        open_file(Path(f"{inside}/{name}"), Places([inside]))


@pytest.mark.parametrize("path", ["/proc/self/environ", "/dev/null", "/sys/kernel/notes", "/dev/../proc/self/status"])
def test_the_kernels_own_files_stay_closed_when_everything_is_allowed(path):
    with pytest.raises(DsguiError):
        open_file(Path(path), Places([Path("/")]))


def test_a_refusal_says_how_to_allow_it(ground):
    inside, outside = ground
    with pytest.raises(PlaceError, match="outside the folders") as refused:
        Places([inside]).check(outside / "config.json")
    assert f"--allow {outside}" in str(refused.value)
    Places([inside, outside]).check(outside / "config.json")


def test_the_usual_places_are_home_and_where_it_was_started_but_not_everything(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir("/")
    assert usual_places([], []).roots == (tmp_path.resolve(),)


def test_a_folder_to_allow_that_is_not_there_is_said():
    with pytest.raises(PlaceError, match="--allow: /no/such"):
        usual_places([Path("/no/such")], [])


def request(script, **changes):
    fields = {
        "name": "", "script": str(script), "arguments": "", "ranks": 1, "gpu_indices": (), "master_port": None,
        "working_directory": "", "config_text": "{}", "config_argument": ConfigArgument.NONE,
        "target_python": "python3", "environment": {},
    }  # fmt: skip
    return LaunchRequest(**{**fields, **changes})


def test_a_script_or_working_directory_outside_is_not_launched(ground, tmp_path):
    inside, outside = ground
    runs = Runs(Store(tmp_path / "runs"), Launcher(), places=Places([inside]))
    assert runs.prepare(request(inside / "train.py", working_directory=str(inside))).script == str(inside / "train.py")
    for bad in (
        request(outside / "train.py"),
        request(inside / "link.py"),
        request(inside / "train.py", working_directory=str(outside)),
        request(inside / "train.py", working_directory=str(inside / "away")),
        request(inside / "train.py", working_directory="/proc"),
    ):
        with pytest.raises(PlaceError):
            runs.prepare(bad)


def test_a_link_put_elsewhere_after_the_preview_changes_nothing_of_what_starts(ground, tmp_path):
    inside, outside = ground
    link, folder = inside / "current.py", inside / "here"
    link.symlink_to(inside / "train.py")
    folder.symlink_to(inside)
    started = []
    runs = Runs(Store(tmp_path / "runs"), Recording(started), places=Places([inside]))
    plan = runs.prepare(request(link, working_directory=str(folder)))
    for changed, to in ((link, outside / "train.py"), (folder, outside)):
        changed.unlink()
        changed.symlink_to(to)
    assert (plan.script, plan.working_directory) == (str(inside / "train.py"), str(inside))
    assert plan.name == "current"
    runs.start(plan, "{}")
    assert len(started) == 1
    again = runs.prepare(request(inside / "train.py"))
    (inside / "train.py").unlink()
    (inside / "train.py").symlink_to(outside / "train.py")
    with pytest.raises(DsguiError):
        runs.start(again, "{}")
    assert len(started) == 1


class Recording(Launcher):
    """Starts nothing, and notes what it should have."""

    def __init__(self, started):
        super().__init__()
        self._started = started

    def start(self, directory, secrets):
        self._started.append(directory)


def test_a_planted_run_that_names_another_process_signals_nobody(tmp_path):
    """As its supervisor and as its launcher, which leads a session of its own."""
    store = Store(tmp_path / "runs")
    runs = Runs(store, Launcher(grace_s=1))
    (tmp_path / "train.py").write_text("")
    with subprocess.Popen(["sleep", "300"], start_new_session=True) as yours:
        try:
            mine = identify(yours.pid)
            for status in (
                RunStatus(RunState.RUNNING, supervisor=mine, process=mine),
                RunStatus(RunState.RUNNING, supervisor=replace(mine, pid=1 << 22), process=mine),
            ):
                plan = runs.prepare(request(tmp_path / "train.py"))
                directory = store.create(plan.run_id)
                store.write_plan(directory, plan, "{}", Asked(1, 0.0, boot_id()))
                store.write_status(directory, status)
                assert runs.alive_processes(plan.run_id) == []
                runs.stop(plan.run_id)
                assert end_tree(plan.run_id, mine, grace_s=0.1) == ()
                assert not supervises(mine, plan.run_id)
            with pytest.raises(subprocess.TimeoutExpired):
                yours.wait(1)
        finally:
            yours.kill()


def test_a_value_that_begins_like_an_option_stays_a_value(tmp_path):
    folder = tmp_path / "--include"
    folder.mkdir()
    (folder / "--num_gpus=8.py").write_text("")
    runs = Runs(Store(tmp_path / "runs"), Launcher())
    plan = runs.prepare(request("--num_gpus=8.py", working_directory=str(folder), name="--help", ranks=2))
    words = argv(plan)
    assert words[3:5] == ("--num_gpus=2", f"--master_port={plan.master_port}")
    assert words[5] == str(folder / "--num_gpus=8.py")
    assert "--help" not in words


# What a supervisor keeps for the next one is in memory that only the run's own processes hold (docs/decisions/015).
OWN_MEMORY = {"supervise.py", "keeping.py", "sources.py"}


def test_no_shell_anywhere():
    found = []
    for path in [ROOT / "app.py", *(ROOT / "dsgui").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "shell":
                found.append(path)
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if name in {"os.system", "os.popen", "eval", "exec", "subprocess.getoutput", "pickle.loads", "yaml.load"}:
                found += [] if (name == "pickle.loads" and path.name in OWN_MEMORY) else [(path, name)]
    assert found == []


# --- the token --------------------------------------------------------------------------------------------------------


def test_a_token_file_that_is_missing_is_made_for_its_owner_alone_and_read_again(tmp_path):
    file = tmp_path / "token"
    token = choose_token(None, file)
    assert len(token) == 32
    assert file.stat().st_mode & 0o777 == 0o600
    assert choose_token(None, file) == token


def test_a_token_that_others_can_read_is_refused(tmp_path):
    file = tmp_path / "token"
    choose_token(None, file)
    file.chmod(0o644)
    with pytest.raises(TokenError, match="chmod 600"):
        choose_token(None, file)


def test_a_folder_in_place_of_a_token_file_is_told(tmp_path):
    with pytest.raises(TokenError, match=str(tmp_path)):
        choose_token(None, tmp_path)


def test_the_variable_is_taken_and_removed(monkeypatch):
    monkeypatch.setenv("DSGUI_TOKEN", "a-long-token-in-a-variable")
    assert choose_token(None, None) == "a-long-token-in-a-variable"
    assert "DSGUI_TOKEN" not in os.environ
    assert choose_token(None, None) != choose_token(None, None)


@pytest.mark.parametrize("token", ["", "short", "aaaaaaaaaaaaaaaaaaaaaaaa"])
def test_a_weak_token_is_refused_with_a_better_one(token):
    with pytest.raises(TokenError, match="Use this one"):
        choose_token(token, None)
