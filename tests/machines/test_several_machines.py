"""Runs over two machines: DeepSpeed's own launcher over real pdsh and sshd, in namespaces that see nothing of each
other."""

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import dedent

import pytest
from playwright.sync_api import Browser, expect

from dsgui.core.launch.state import RunState
from dsgui.core.runs.news import Cursor, Delta
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.runs.store import Store
from tests.answers.remembered import SERVER, TRAINING
from tests.machines import two_machines as networks
from tests.machines.two_machines import INTERFACE, NAMES, TwoMachines, two_machines
from tests.support.app_server import running_app
from tests.support.curves_json import logged, sampled

# Ranks over there get no TORCH_EXTENSIONS_DIR: they may have to compile DeepSpeed's operators into their home.
COMPILES_MS = 480_000

pytestmark = [
    pytest.mark.deepspeed,
    pytest.mark.machines,
    pytest.mark.remembered(*TRAINING),
    pytest.mark.skipif(bool(networks.missing()), reason=networks.missing() or "there are two machines"),
]
CONFIG = {
    "train_micro_batch_size_per_gpu": 2,
    "optimizer": {"type": "Adam", "params": {"lr": 0.01, "torch_adam": True}},
}
# Ends when the file given is there; every rank says where it is.
TRAIN = """
    import argparse, os, pathlib, socket, time
    import deepspeed, torch
    parser = deepspeed.add_config_arguments(argparse.ArgumentParser())
    parser.add_argument("--local_rank", type=int)
    parser.add_argument("--until", type=pathlib.Path)
    parser.add_argument("--one_fails", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    engine, *_ = deepspeed.initialize(args=options, model=model, model_parameters=model.parameters())
    rank, world = torch.distributed.get_rank(), torch.distributed.get_world_size()
    print(f"rank {rank} of {world} is process {os.getpid()}, note {os.environ.get('NOTE')}", flush=True)
    if options.one_fails:
        if rank == 1:
            raise SystemExit(3)
        time.sleep(600)
    step = 0
    while True:
        loss = engine(torch.ones(2, 4)).square().mean()
        engine.backward(loss)
        engine.step()
        step += 1
        print(f"step={step} loss={loss.item():.4f}", flush=True)
        over = torch.tensor([float(step >= 2 and (options.until is None or options.until.exists()))])
        torch.distributed.all_reduce(over)
        if over.item():
            break
        time.sleep(0.2)
    torch.distributed.destroy_process_group()
"""
GONE_S = 30.0  # so long an agent may take to end beside other load


class Site:
    """Two machines, and a place beside them where dsgui runs."""

    def __init__(self, machines: TwoMachines, folder: Path) -> None:
        self.machines, self.folder = machines, folder
        (folder / "train.py").write_text(dedent(TRAIN), encoding="utf-8")
        (folder / "ds_config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
        (folder / "hostfile").write_text(machines.hostfile, encoding="utf-8")
        self.runs = Runs(Store(folder / "runs"), Launcher())

    def launch(
        self, *arguments: str, until: str = "never", master: str = "worker-a", script: tuple[str, ...] = ()
    ) -> str:
        where = ("--hostfile", str(self.folder / "hostfile"), "--master-addr", self.machines.addresses[master])
        environment = ("--env", f"GLOO_SOCKET_IFNAME={INTERFACE}", "--env", "NOTE=to both")
        given = ("--reader", "native", "--when-busy", "start", *where, *environment, *arguments)
        words = (str(self.folder / "train.py"), "--until", str(self.folder / until), *script)
        config = ("--config", str(self.folder / "ds_config.json"))
        return self.machines.dsgui("launch", *self._runs_dir(), *config, *given, *words).strip()

    def stop(self, run_id: str) -> None:
        self.machines.dsgui("stop", *self._runs_dir(), run_id)

    def seen(self, run_id: str) -> Delta:
        """What is on the disk; from here its supervisor can't be seen, so a live run looks lost."""
        return self.runs.follow(run_id, Cursor(output=0))

    def wait(self, run_id: str, condition: Callable[[Delta], object], timeout_s: float = 240) -> Delta:
        deadline = time.monotonic() + timeout_s
        while not condition(delta := self.seen(run_id)):
            assert time.monotonic() < deadline, (delta.state, delta.reason, delta.output[-3000:])
            time.sleep(0.2)
        return delta

    def ended(self, run_id: str) -> Delta:
        over = (RunState.SUCCEEDED, RunState.FAILED, RunState.STOPPED)
        return self.wait(run_id, lambda delta: delta.state in over)

    def left(self, run_id: str) -> dict[str, str]:
        """The pids of the run's processes on each machine, seen there."""
        find = f"grep -lzxF DSGUI_RUN_ID={run_id} /proc/[0-9]*/environ 2>/dev/null; echo asked"
        told = {name: self.machines.on(name, find).strip() for name in NAMES}
        assert all(answer.endswith("asked") for answer in told.values())
        return {name: answer.removesuffix("asked") for name, answer in told.items()}

    def agents(self) -> dict[str, bool]:
        """Whether anything that samples for dsgui is on each machine."""
        find = "grep -lz 'dsgui.shell.metrics.node_agen[t]' /proc/[0-9]*/cmdline 2>/dev/null; echo asked"
        told = {name: self.machines.on(name, find).strip() for name in NAMES}
        assert all(answer.endswith("asked") for answer in told.values())
        return {name: answer != "asked" for name, answer in told.items()}

    def sampled_on(self, machines: dict[str, bool]) -> None:
        """Waits until something samples on just these: an agent that is told to end takes a moment for it."""
        deadline = time.monotonic() + GONE_S
        while (seen := self.agents()) != machines:
            assert time.monotonic() < deadline, seen
            time.sleep(0.2)

    def _runs_dir(self) -> tuple[str, ...]:
        return ("--runs-dir", str(self.folder / "runs"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    with two_machines(folder / "net") as machines:
        yield Site(machines, folder)


def trains_on_both(delta: Delta) -> bool:
    return all(f"{name}: step=2 " in delta.output for name in NAMES)


def test_both_machines_train_with_the_config_and_the_variables_they_were_given(site: Site) -> None:
    (site.folder / "now").touch()
    run_id = site.launch(until="now")
    delta = site.ended(run_id)
    assert (delta.state, delta.exit_code) == (RunState.SUCCEEDED, 0), delta.output
    for rank, name in enumerate(NAMES):
        assert f"{name}: rank {rank} of 2 is process" in delta.output
    assert delta.output.count("note to both") == 2
    assert {point["step"] for point in logged(delta.curves)} >= {1, 2}
    assert site.left(run_id) == dict.fromkeys(NAMES, "")


def test_stop_ends_this_run_on_both_machines_and_no_other(site: Site) -> None:
    first, second = site.launch(), site.launch()
    for run_id in (first, second):
        site.wait(run_id, trains_on_both)
        assert all(site.left(run_id).values())
    before = time.monotonic()
    site.stop(first)
    delta = site.ended(first)
    assert time.monotonic() - before < 20
    assert delta.state is RunState.STOPPED
    assert "no processes are left here or on worker-a, worker-b" in delta.reason
    assert site.left(first) == dict.fromkeys(NAMES, "")
    steps = site.seen(second).output.count("step=")
    site.wait(second, lambda delta: delta.output.count("step=") > steps + 4)
    site.stop(second)
    assert site.ended(second).state is RunState.STOPPED


def samples_both(delta: Delta) -> bool:
    """Three of each, one of them with the launcher's part there and a rank; and one of the disk, which a thread reads:
    a sample does not wait for it, so that beside other load the first may have none."""
    seen = [sampled(delta.curves, name) for name in NAMES]
    return all(
        len(samples) >= 3 and max(known(samples, "run_processes"), default=0) >= 2 and known(samples, "disk_free_bytes")
        for samples in seen
    )


def known(samples: Sequence[Mapping[str, float]], name: str) -> list[float]:
    """The values of those samples that have one."""
    return [value for one in samples if not math.isnan(value := float(one.get(name, math.nan)))]


def test_both_machines_are_sampled_and_nothing_of_that_is_left_there(site: Site) -> None:
    run_id = site.launch()
    site.wait(run_id, trains_on_both)
    delta = site.wait(run_id, samples_both)
    site.sampled_on(dict.fromkeys(NAMES, True))
    for name in NAMES:
        samples = sampled(delta.curves, name)
        assert max(known(samples, "run_bytes")) > 50 << 20
        assert all(0 < sample["host_used_bytes"] < sample["host_total_bytes"] for sample in samples)
        assert all(free > 0 for free in known(samples, "disk_free_bytes"))
        assert 0 < samples[0]["elapsed_s"] < samples[-1]["elapsed_s"] < 600
    assert not any(name in delta.telemetry_note for name in NAMES)
    site.stop(run_id)
    delta = site.ended(run_id)
    assert "no processes are left here or on worker-a, worker-b" in delta.reason
    site.sampled_on(dict.fromkeys(NAMES, False))


# Cheaper: a rank that fails by itself, the next test; one killed on this machine,
# tests/real_deepspeed/test_real_launcher.py::test_a_rank_that_is_killed….
@pytest.mark.complete
def test_a_rank_killed_on_one_machine_ends_the_run_as_failed_on_both(site: Site) -> None:
    run_id = site.launch()
    output = site.wait(run_id, trains_on_both).output
    pid = next(line.split("process ")[1].split(",")[0] for line in output.splitlines() if "worker-b: rank 1" in line)
    site.machines.on("worker-b", f"kill -KILL {pid}")
    delta = site.ended(run_id)
    assert delta.state is RunState.FAILED
    assert site.left(run_id) == dict.fromkeys(NAMES, "")


def test_a_machine_that_fails_is_not_waited_for_by_the_other_for_ever(site: Site) -> None:
    run_id = site.launch(script=("--one_fails",))
    delta = site.ended(run_id)
    assert delta.state is RunState.FAILED
    assert "exit code 3 on worker-b" in delta.reason
    assert site.left(run_id) == dict.fromkeys(NAMES, "")


def test_a_machine_that_does_not_answer_fails_the_launch_in_words(site: Site) -> None:
    (site.folder / "hostfile with a stranger").write_text("worker-a slots=1\nnowhere.invalid slots=1\n", "utf-8")
    run_id = site.launch("--hostfile", str(site.folder / "hostfile with a stranger"))
    delta = site.ended(run_id)
    assert delta.state is RunState.FAILED
    assert "could not be copied to every host (nowhere.invalid: " in delta.reason


# Cheaper: tests/core/launch/test_plan.py::test_one_remote_machine_alone….
@pytest.mark.complete
def test_one_remote_machine_alone_is_not_taken_for_this_one(site: Site) -> None:
    (site.folder / "now").touch()
    run_id = site.launch("--include", "worker-b", until="now", master="worker-b")
    assert "worker-b: rank 0 of 1" in site.ended(run_id).output


@pytest.mark.browser
@pytest.mark.remembered(*SERVER)
def test_the_recipe_trains_over_both_from_the_pages_hostfile(site: Site, browser: Browser) -> None:
    machines, runs_dir = site.machines, site.folder / "page"
    with running_app(runs_dir, around=machines.command, environment=machines.environment()) as app:
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.goto(app.entrance)
        page.get_by_role("tab", name="2 · Launch").click()
        page.get_by_label("Several machines over ssh").click()
        page.fill("#hostfile textarea", "worker-a slots=0-3")
        expect(page.locator("#preflight")).to_contain_text("a range is not supported")
        page.fill("#hostfile textarea", machines.hostfile)
        page.fill("#master-addr input, #master-addr textarea", machines.addresses["worker-a"])
        page.fill("#arguments textarea, #arguments input", "--max_steps 4 --logging_steps 1")
        expect(page.locator("#launch-verdict")).to_contain_text("2 nodes × 1 rank")  # of what, nobody said
        launch, checks = page.locator("#launch"), page.locator("#preflight")
        expect(launch).to_have_text("Launch · hosts not checked")
        checks.get_by_role("button", name="Check hosts").click()
        expect(checks).to_contain_text(f"GLOO_SOCKET_IFNAME={INTERFACE}")
        expect(launch).to_have_text("Launch · 1 warning")  # the same of both
        page.get_by_text("More: launcher, queue").click()
        page.fill("#environment textarea", f"GLOO_SOCKET_IFNAME={INTERFACE}")
        expect(page.locator("#command")).to_contain_text("--force_multi")
        expect(page.locator("#command")).to_contain_text(f"GLOO_SOCKET_IFNAME={INTERFACE}")
        checks.get_by_role("button", name="Check hosts").click()
        expect(launch).to_have_text("Launch")
        expect(checks).to_contain_text("Pre-flight: all checks passed")
        launch.click()
        expect(page.locator(".ds-run-head .ds-state")).to_have_text("succeeded", timeout=COMPILES_MS)
        run_id = next(runs_dir.glob("2*")).name
        delta = Runs(Store(runs_dir), Launcher()).follow(run_id, Cursor(output=0))
        assert delta.state is RunState.SUCCEEDED
        assert {point["step"] for point in logged(delta.curves) if point["kind"] == "train"} == {1, 2, 3, 4}
        assert all(f"{name}: " in delta.output for name in NAMES)
        page.context.close()
