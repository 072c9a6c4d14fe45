"""What a run's supervisor costs: `python -m benchmarks.supervisor [SECONDS]`, at 1 Hz, beside an idle and a real run.

Prints CPU as a share of one core, and the most resident memory. Each is measured in windows, and their median and
range are printed: what a timer tick is charged to is partly luck.
"""

import statistics
import sys
import time
from pathlib import Path

import psutil

from benchmarks.launching import CONFIG_TEXT, TRAINING, end, printed, request, runs_in_a_folder, supervisor_of
from dsgui.runs.runs import Runs
from dsgui.shell.runs.store import Store

SECONDS = 60
WINDOWS = 6
GOAL_PERCENT, GOAL_MIB = 1.0, 60
# Name → the training's arguments, and what it prints once it is at work.
KINDS = {"idle run": ("--steps 0", "ready"), "real run": ("--steps 1000000", "step=20 ")}


def cpu_s(process: psutil.Process) -> float:
    """Seconds of CPU that the process itself has used."""
    times = process.cpu_times()
    return float(times.user + times.system)


def windows(process: psutil.Process, seconds: float) -> tuple[list[float], float]:
    """CPU in percent of a core for each window, and the most resident memory in MiB."""
    shares, highest = [], 0.0
    for _ in range(WINDOWS):
        began, before = time.perf_counter(), cpu_s(process)
        while time.perf_counter() - began < seconds / WINDOWS:
            time.sleep(0.5)
            highest = max(highest, process.memory_info().rss / 2**20)
        shares.append(100 * (cpu_s(process) - before) / (time.perf_counter() - began))
    return shares, highest


def measure(folder: Path, runs: Runs, kind: str, seconds: float) -> None:
    """One run of a kind; prints its line."""
    arguments, sign = KINDS[kind]
    run_id = runs.start(runs.prepare(request(TRAINING, arguments)), CONFIG_TEXT)
    try:
        while not printed(runs, run_id, sign):
            time.sleep(0.2)
        process = psutil.Process(supervisor_of(Store(folder / "runs"), run_id).pid)
        shares, mib = windows(process, seconds)
    finally:
        end(runs, run_id)
    spread = f"{min(shares):.2f}–{max(shares):.2f}"
    print(
        f"{kind}  {statistics.median(shares):.2f} % of a core ({spread}; goal ≤ {GOAL_PERCENT:g}), "
        f"{mib:.0f} MiB resident at most (goal ≤ {GOAL_MIB})",
        flush=True,
    )


def main() -> None:
    """Print both kinds' figures."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    print(f"{len(psutil.pids())} processes on this machine, load {psutil.getloadavg()[0]:.1f}")
    with runs_in_a_folder() as (folder, runs):
        for kind in KINDS:
            measure(folder, runs, kind, seconds)


if __name__ == "__main__":
    main()
