"""Several servers on one folder of runs, at once or one after the other: what was started stays, and starts once."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from textwrap import dedent

import pytest
from playwright.sync_api import Error as PageError
from playwright.sync_api import Page, expect

from dsgui.core.launch.plan import Plan, WhenBusy
from dsgui.core.launch.plan_json import plan_to_json
from dsgui.core.launch.state import RunState
from tests.answers.remembered import SERVER
from tests.browser.test_browser import start_script
from tests.support.app_server import BEEN_HERE, ROOT, App, running_app
from tests.support.browser import choose, stop_run
from tests.support.curves_json import logged, sampled
from tests.support.run_fixtures import Bench, bench, wait_until

__all__ = ["bench"]

SLOW_MS = 120_000
COMPILES_MS = 480_000
# Takes plans by name and, all servers at the same moment, starts them.
LAUNCHES = """
import json, pathlib, sys
from dsgui.core.errors import RunError
from dsgui.core.launch.plan_json import plan_from_json
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.runs.store import Store
runs = Runs(Store(pathlib.Path(sys.argv[1])), Launcher(grace_s=1))
plans = [plan_from_json(json.loads(text)) for text in sys.argv[2:]]
print("ready", flush=True)
sys.stdin.readline()
for plan in plans:
    try:
        print("started", runs.start(plan, "{}"), flush=True)
    except RunError as error:
        print("refused", error, flush=True)
"""
# Says when it is there, by the monotonic clock, until a file appears or for the seconds given.
BEATS = """
    import json, os, pathlib, sys, time
    words = [word for word in sys.argv[1:] if not word.startswith("--local_rank")]
    beats, may_end, most_s = pathlib.Path(words[0]), pathlib.Path(words[1]), float(words[2])
    end = time.monotonic() + most_s
    while time.monotonic() < end and not may_end.exists():
        if os.environ.get("RANK", "0") == "0":
            with beats.open("a") as file:
                print(json.dumps([os.environ["DSGUI_RUN_ID"], os.getpid(), time.monotonic()]), file=file)
        time.sleep(0.05)
"""


def stays(beats: Path) -> dict[str, tuple[float, float]]:
    """From when to when each run was there. One process of each, or it was started twice."""
    found: dict[str, tuple[float, float]] = {}
    pids: dict[str, set[int]] = {}
    for line in beats.read_text("utf-8").splitlines():
        run_id, pid, at = json.loads(line)
        pids.setdefault(run_id, set()).add(pid)
        found[run_id] = (found.get(run_id, (at, at))[0], at)
    assert all(len(one) == 1 for one in pids.values()), pids
    return found


def overlap(found: dict[str, tuple[float, float]]) -> bool:
    return any(later[0] <= earlier[1] for earlier, later in pairwise(sorted(found.values())))


def test_overlaps_are_seen() -> None:
    assert overlap({"a": (1.0, 2.0), "b": (1.5, 3.0)})
    assert not overlap({"b": (2.5, 3.0), "a": (1.0, 2.0)})


def start_at_once(runs_dir: Path, plans: Sequence[Sequence[Plan]]) -> list[str]:
    """A server for each list of plans; the lines they printed."""
    commands = ([json.dumps(plan_to_json(plan)) for plan in one] for one in plans)
    servers = [
        subprocess.Popen(
            [sys.executable, "-c", LAUNCHES, str(runs_dir), *texts],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for texts in commands
    ]
    with ExitStack() as stack:
        for server in servers:
            stack.enter_context(server)
            assert server.stdout is not None
            assert server.stdout.readline() == "ready\n"
        for server in servers:
            assert server.stdin is not None
            server.stdin.write("now\n")
            server.stdin.flush()
        return [line for server in servers for line in (server.stdout or ())]


def beating(bench: Bench, name: str, when_busy: WhenBusy, most_s: float = 1.0) -> Plan:
    script = bench.script(BEATS, "beats.py")
    words = (str(bench.folder / "beats"), str(bench.folder / "may end"), str(most_s))
    return bench.runs.prepare(bench.request(script, arguments=words, name=name, when_busy=when_busy))


def test_what_several_servers_start_at_once_never_overlaps_and_starts_once(bench: Bench) -> None:
    plans = [beating(bench, f"number {n}", WhenBusy.WAIT) for n in range(6)]
    printed = start_at_once(bench.store.runs_dir, [plans[:2], plans[2:4], plans[4:]])
    assert sorted(printed) == sorted(f"started {plan.run_id}\n" for plan in plans)
    wait_until(lambda: not any(run.state.live for run in bench.runs.list()), 90)
    assert {run.state for run in bench.runs.list()} == {RunState.SUCCEEDED}
    found = stays(bench.folder / "beats")
    assert found.keys() == {plan.run_id for plan in plans}
    assert not overlap(found)
    launched = [run.run_id for run in sorted(bench.runs.list(), key=lambda run: run.place)]
    assert sorted(found, key=lambda run_id: found[run_id]) == launched
    assert [run.place for run in reversed(bench.runs.list())] == [1, 2, 3, 4, 5, 6]


def test_one_plan_given_to_several_servers_starts_once(bench: Bench) -> None:
    plan = beating(bench, "one", WhenBusy.START)
    printed = start_at_once(bench.store.runs_dir, [[plan]] * 4)
    assert sorted(line.split()[0] for line in printed) == ["refused"] * 3 + ["started"]
    assert all("was started already" in line for line in printed if line.startswith("refused"))
    assert bench.ended(plan.run_id).state is RunState.SUCCEEDED
    assert stays(bench.folder / "beats").keys() == {plan.run_id}


def test_of_several_that_will_not_wait_one_is_started(bench: Bench) -> None:
    plans = [beating(bench, f"number {n}", WhenBusy.REFUSE, 20) for n in range(4)]
    printed = start_at_once(bench.store.runs_dir, [[plan] for plan in plans])
    assert sorted(line.split()[0] for line in printed) == ["refused"] * 3 + ["started"]
    (bench.folder / "may end").touch()
    [run] = bench.runs.list()
    assert bench.ended(run.run_id).state is RunState.SUCCEEDED


# --- in a browser -----------------------------------------------------------------------------------------------------


@contextmanager
def opened(browser, app: App) -> Iterator[Page]:
    """A page of somebody who has been let in. Their own context: cookies do not tell ports apart."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(BEEN_HERE)
    page = context.new_page()
    page.goto(app.entrance)
    page.wait_for_selector('[data-pointer="/train_batch_size"]', state="attached")
    yield page
    context.close()


def runs_of(app: App) -> dict[str, str]:
    """State by run id, as this server lists them."""
    return {run["run_id"]: run["state"] for run in json.load(app.get("dsgui/runs"))["rows"]}


def make_ready(page: Page, script: Path, source: str, arguments: str) -> None:
    """All but the click on Launch."""
    script.write_text(dedent(source), "utf-8")
    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_label("My own script").check()
    page.locator("#script textarea, #script input").first.fill(str(script))
    page.get_by_label("Arguments for the script").fill(arguments)
    page.get_by_text("More: launcher, queue").click()
    choose(page, "#when-busy", "wait in the queue")
    expect(page.locator("#command")).to_contain_text(script.name)
    expect(page.locator("#command")).to_contain_text("may end")
    expect(page.locator("#launch")).to_be_enabled()


def stop_from(page: Page, app: App, run_id: str) -> None:
    page.goto(f"{app.url}?run={run_id}")
    expect(page.locator(".ds-run-head .ds-state")).to_have_text("running", timeout=SLOW_MS)
    stop_run(page)
    expect(page.locator(".ds-run-head .ds-state")).to_have_text("stopped", timeout=SLOW_MS)


# Cheaper: without pages, test_what_several_servers_start_at_once…; a server that shows and stops what it did not start,
# the second one of test_a_server_killed_in_mid_run….
@pytest.mark.complete
@pytest.mark.browser
def test_two_servers_show_the_same_runs_start_one_at_a_time_and_stop_each_others(browser, tmp_path: Path) -> None:
    runs_dir, beats = tmp_path / "runs", tmp_path / "beats"
    arguments = f"'{beats}' '{tmp_path / 'may end'}' 600"
    with (
        running_app(runs_dir) as first,
        running_app(runs_dir) as second,
        opened(browser, first) as left,
        opened(browser, second) as right,
    ):
        for page, name in ((left, "left.py"), (right, "right.py")):
            make_ready(page, tmp_path / name, BEATS, arguments)
        for page in (left, right):
            page.evaluate("document.querySelector('#launch').click()")
        for page in (left, right):
            expect(page.locator(".ds-run-title")).to_be_visible(timeout=SLOW_MS)
        wait_until(lambda: sorted(runs_of(first).values()) == ["queued", "running"], 60)
        assert runs_of(second) == runs_of(first)
        started = [left.url.split("run=")[1], right.url.split("run=")[1]]
        assert set(started) == runs_of(first).keys()
        wait_until(beats.exists, 60)

        # Each is stopped by the server that did not start it.
        others = dict(zip(started, ((right, second), (left, first)), strict=True))
        for run_id in sorted(started, key=lambda run_id: runs_of(first)[run_id], reverse=True):  # "running" first
            wait_until(lambda run_id=run_id: run_id in stays(beats), 60)
            stop_from(*others[run_id], run_id)
        assert set(runs_of(first).values()) == set(runs_of(second).values()) == {"stopped"}
        assert not overlap(stays(beats))


# Started by DeepSpeed's launcher; that a real training goes on is shown by tests/real_deepspeed.
TRAINS = """
    import os, time
    for step in range(1, 100_000):
        if os.environ["RANK"] == "0":
            print(f"step={step} loss={4 / step:.4f}", flush=True)
        time.sleep(0.1)
"""
SHOWN_STEPS = "() => document.querySelector(`[data-chart='Loss'] .js-plotly-plot`)?.data?.[0]?.x.slice() ?? []"


def shown_steps(page: Page) -> list[float]:
    """None while the page loads itself anew, as Gradio's does when it finds that the server is another one."""
    try:
        return list(page.evaluate(SHOWN_STEPS))
    except PageError:
        return []


def whole(points: list[dict[str, float]], samples: list[dict[str, float]]) -> bool:
    """Whether no step and no second is missing."""
    elapsed = [sample["elapsed_s"] for sample in samples]
    steps = [point["step"] for point in points]
    return steps == list(range(1, len(steps) + 1)) and all(0 < b - a < 5 for a, b in pairwise(elapsed))


def test_what_is_missing_is_seen() -> None:
    points, samples = [{"step": 1}, {"step": 2}], [{"elapsed_s": 0.0}, {"elapsed_s": 1.0}]
    assert whole(points, samples)
    assert not whole([points[1]], samples)
    assert not whole(points, [*samples, {"elapsed_s": 8.0}])


@pytest.mark.browser
@pytest.mark.deepspeed
@pytest.mark.remembered(*SERVER)
def test_a_server_killed_in_mid_run_loses_nothing_and_the_next_one_takes_over(browser, tmp_path: Path) -> None:
    runs_dir, token = tmp_path / "runs", tmp_path / "token"
    options = ("--token-file", str(token))
    with ExitStack() as stack:
        first = stack.enter_context(running_app(runs_dir, *options, cold=True))
        page = stack.enter_context(opened(browser, first))
        start_script(page, tmp_path / "trains.py", dedent(TRAINS))
        expect(page.locator('[data-chart="Loss"] .js-plotly-plot')).to_be_visible(timeout=COMPILES_MS)
        run_id = page.url.split("run=")[1]
        points = runs_dir / run_id / "points.bin"

        first.process.kill()
        first.process.wait()
        killed_at = points.stat().st_size
        wait_until(lambda: points.stat().st_size > killed_at + 1000, 60)  # nobody serves, and it trains

        second = stack.enter_context(running_app(runs_dir, *options, port=first.port, cold=True))
        began = time.monotonic()
        assert runs_of(second) == {run_id: "running"}
        assert time.monotonic() - began < 20
        now = json.load(second.get(f"dsgui/runs/{run_id}"))
        assert whole(logged(now["curves"]), sampled(now["curves"]))
        assert len(sampled(now["curves"])) > 0.7 * now["elapsed_s"]

        # The page that was open all the while goes on where it was.
        wait_until(lambda: shown_steps(page), 60)
        had = len(logged(now["curves"]))
        wait_until(lambda: len(shown_steps(page)) > had + 5, 60)
        shown = shown_steps(page)
        assert shown == list(range(1, len(shown) + 1))
        stop_run(page)
        expect(page.locator(".ds-run-head .ds-state")).to_have_text("stopped", timeout=SLOW_MS)
        ended = json.load(second.get(f"dsgui/runs/{run_id}"))
        assert whole(logged(ended["curves"]), sampled(ended["curves"]))
        assert ended["reason"].startswith("Stopped on request: no processes are left")
