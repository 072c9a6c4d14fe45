"""What dsgui costs a training: `python -m benchmarks.overhead [PAIRS] [STEPS]`.

Each pair trains the same real DeepSpeed script (two CPU ranks, ZeRO-1) twice: by its command alone with the output in a
file, and as a run of dsgui, with its supervisor, a server, and a page that follows it once a second. Which comes first
alternates. Prints the median step time of both, and the ratio of each pair with its spread: on a machine that others
use, the spread says how far the ratio can be believed.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.launching import CONFIG_TEXT, TRAINING, FollowingPage, end, request, runs_in_a_folder
from benchmarks.run import dsgui, free_port, served
from dsgui.core.plan import argv, environment
from dsgui.runs import Runs
from dsgui.shell.ports import free_port as free_master_port

PAIRS, STEPS = 6, 400
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
    """What the training wrote; the file goes, so that no later one is mistaken for it."""
    found: list[float] = json.loads(times.read_text("utf-8"))
    times.unlink()
    return found


def percents(pairs: list[tuple[float, float]]) -> list[float]:
    """By how much more each pair's supervised median is, in percent."""
    return [100 * (supervised / alone - 1) for alone, supervised in pairs]


def main() -> None:
    """Print each pair, and what they say together."""
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
