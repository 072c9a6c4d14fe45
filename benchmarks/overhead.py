"""What dsgui costs a training: `python -m benchmarks.overhead [PAIRS] [STEPS]`, and `… within [WINDOWS]`.

Each pair trains the same real DeepSpeed script (two CPU ranks, ZeRO-1) twice: by its command alone with the output in a
file, and as a run of dsgui, with its supervisor, a server, and a page that follows it once a second. Which comes first
alternates. Prints the median step time of both, and the ratio of each pair with its spread: on a machine that others
use, the spread says how far the ratio can be believed.

`within` pairs inside one run, so that a load that comes and goes matters less: in every other window of a few seconds
the supervisor and the server are stopped (SIGSTOP). What they put off they catch up on in the next window, so this
errs against dsgui.
"""

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import psutil

from benchmarks.launching import (
    CONFIG_TEXT,
    TRAINING,
    FollowingPage,
    end,
    request,
    runs_in_a_folder,
    supervisor_of,
    wait_until,
)
from benchmarks.run import dsgui, free_port, served
from dsgui.core.launch.command import argv, environment
from dsgui.runs.runs import Runs
from dsgui.shell.launch.ports import free_port as free_master_port
from dsgui.shell.runs.store import Store

PAIRS, STEPS = 6, 400
WINDOWS, WINDOW_S = 20, 5.0
GOAL_PERCENT = 1.0


def alone(folder: Path, runs: Runs, steps: int) -> list[float]:
    """Seconds of each step, without dsgui: the very command, in the folder that a run would have."""
    times, config = folder / "alone.json", folder / "ds_config.json"
    config.write_text(CONFIG_TEXT, "utf-8")
    asked = request(TRAINING, f"--steps {steps} --to '{times}'")
    plan = runs.prepare(replace(asked, master_port=free_master_port()))  # a port of its own choice it would hold
    command = [str(config) if word.endswith("/ds_config.json") else word for word in argv(plan)]
    with open(folder / "alone.log", "wb") as log:
        subprocess.run(
            command, cwd=folder, env=environment(plan, os.environ), stdout=log, stderr=subprocess.STDOUT, check=True
        )
    return read(times)


def supervised(folder: Path, runs: Runs, steps: int, port: int) -> list[float]:
    """Seconds of each step, as a run that a page follows."""
    times = folder / "supervised.json"
    plan = runs.prepare(request(TRAINING, f"--steps {steps} --to '{times}'"))
    run_id = runs.start(plan, CONFIG_TEXT)
    page = FollowingPage(port, run_id)
    while page.follow()["state"] in {"pending", "running"}:
        time.sleep(1)
    end(runs, run_id)
    return read(times)


def read(times: Path) -> list[float]:
    """Seconds of each step."""
    return [took for _, took in read_steps(times)]


def read_steps(times: Path) -> list[tuple[float, float]]:
    """What the training wrote; the file goes, so that no later one is mistaken for it."""
    found = [(began, took) for began, took in json.loads(times.read_text("utf-8"))]
    times.unlink()
    return found


def windows(pids: Sequence[int], page: FollowingPage, count: int) -> list[tuple[float, float, bool]]:
    """From when to when dsgui was stopped (False) or at work (True)."""
    found = []
    for turn in range(2 * count):
        works, began = turn % 2 == 1, time.monotonic()
        for pid in pids:
            os.kill(pid, signal.SIGCONT if works else signal.SIGSTOP)
        while time.monotonic() - began < WINDOW_S:
            if works:
                page.follow()
            time.sleep(1)
        found.append((began, time.monotonic(), works))
    return found


def cpu_s(pids: Sequence[int]) -> float:
    """Seconds of CPU that these processes have used."""
    times = [psutil.Process(pid).cpu_times() for pid in pids]
    return float(sum(one.user + one.system for one in times))


def within(folder: Path, runs: Runs, port: int, server_pid: int, count: int) -> list[tuple[float, float]]:
    """For each two windows the median step time without dsgui, and with it."""
    times = folder / "within.json"
    run_id = runs.start(runs.prepare(request(TRAINING, f"--steps 1000000 --until-stopped --to '{times}'")), CONFIG_TEXT)
    page = FollowingPage(port, run_id)
    wait_until(lambda: page.follow()["curves"]["y"], "the first step")
    pids = (supervisor_of(Store(folder / "runs"), run_id).pid, server_pid)
    used, since = cpu_s(pids), time.monotonic()
    try:
        looked = windows(pids, page, count)
        share = 100 * (cpu_s(pids) - used) / (time.monotonic() - since)
        print(f"CPU        supervisor and server used {share:.2f} % of one core while two ranks trained")
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    end(runs, run_id)
    steps = read_steps(times)
    medians = [
        statistics.median(took for at, took in steps if began <= at and at + took <= ended)
        for began, ended, _ in looked
    ]
    return list(zip(medians[::2], medians[1::2], strict=True))


def percents(pairs: list[tuple[float, float]]) -> list[float]:
    """By how much more each pair's supervised median is, in percent."""
    return [100 * (supervised / alone - 1) for alone, supervised in pairs]


def main() -> None:
    """Print each pair, and what they say together."""
    if sys.argv[1:2] == ["within"]:
        within_main(int(sys.argv[2]) if len(sys.argv) > 2 else WINDOWS)
        return
    count = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else STEPS
    pairs: list[tuple[float, float]] = []
    with runs_in_a_folder() as (folder, runs):
        port = free_port()
        for turn in range(count):
            taken = {}
            for kind in ("alone", "supervised") if turn % 2 == 0 else ("supervised", "alone"):
                if kind == "alone":
                    taken[kind] = statistics.median(alone(folder, runs, steps))
                    continue
                with served(dsgui(port, str(folder / "runs")), port):
                    taken[kind] = statistics.median(supervised(folder, runs, steps, port))
            pairs.append((taken["alone"], taken["supervised"]))
            print(f"pair {turn + 1}  {pairs[-1][0] * 1000:.2f} ms a step alone, {pairs[-1][1] * 1000:.2f} ms in dsgui")
    summary(pairs)


def within_main(count: int) -> None:
    """Print what the windows say together."""
    with runs_in_a_folder() as (folder, runs):
        port = free_port()
        with served(dsgui(port, str(folder / "runs")), port) as server:
            pairs = within(folder, runs, port, server.pid, count)
    summary(pairs)


def summary(pairs: list[tuple[float, float]]) -> None:
    """The medians and the spread."""
    more = sorted(percents(pairs))
    alone_s, supervised_s = (statistics.median(column) for column in zip(*pairs, strict=True))
    quartiles = statistics.quantiles(more, n=4) if len(more) > 1 else [more[0]] * 3
    print(
        f"a step     {alone_s * 1000:.2f} ms alone, {supervised_s * 1000:.2f} ms in dsgui "
        f"(medians of {len(pairs)} pairs)"
    )
    print(
        f"overhead   {statistics.median(more):+.2f} % (median; quartiles {quartiles[0]:+.2f} to {quartiles[2]:+.2f}, "
        f"range {more[0]:+.2f} to {more[-1]:+.2f}; goal ≤ {GOAL_PERCENT:g} %)"
    )


if __name__ == "__main__":
    main()
