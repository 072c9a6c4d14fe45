"""A run that prints 100 MB a second for a minute: `python -m benchmarks.flood [SECONDS] [MB PER SECOND]`.

Prints what of it was kept, how much memory its supervisor and the server grew by (a page that follows it asks once a
second, as the real one does), and how fast it could print.
"""

import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import psutil

from benchmarks.launching import CONFIG_TEXT, FollowingPage, request, runs_in_a_folder, supervisor_of
from benchmarks.run import dsgui, free_port, served
from dsgui.runs.runs import Runs
from dsgui.shell.runs.store import Store

SECONDS, RATE = 60, 100
GOAL_GROWTH_MIB = 50
LINE_BYTES = 1000
# Numbered lines of `LINE_BYTES` bytes from rank 0, at a bounded rate and for a bounded time.
FLOOD = """
    import argparse, sys, time
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=0)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--least", type=float, default=0)  # in MB, however long that takes
    options, _ = parser.parse_known_args()
    if options.local_rank:
        raise SystemExit
    print("step=1 loss=2.0", flush=True)
    began, lines = time.monotonic(), 0
    while (elapsed := time.monotonic() - began) < options.seconds or lines < options.least * 1000:
        if lines * 1000 > options.rate * 1e6 * elapsed:
            time.sleep(0.001)
            continue
        sys.stdout.write("".join(f"flood {n:015d} {'x' * 977}\\n" for n in range(lines, lines + 500)))
        lines += 500
    print("step=2 loss=1.0")
    print("printed", lines, "lines in", round(time.monotonic() - began, 2), "s", flush=True)
"""

_MARKER = re.compile(rb"\n--- dsgui left out ([\d,]+) bytes here; [^\n]+ ---\n")
_LINE = re.compile(rb"flood (\d{15}) x{977}\n")
_TOLD = re.compile(rb"printed (\d+) lines in ([\d.]+) s")


class Watched:
    """Processes and how much their resident memory has grown since the first look."""

    def __init__(self, pids: dict[str, int]) -> None:
        self._processes = {name: psutil.Process(pid) for name, pid in pids.items()}
        self._first = {name: process.memory_info().rss for name, process in self._processes.items()}
        self.growth_bytes = dict.fromkeys(pids, 0)

    def look(self) -> None:
        """One that has ended has stopped growing."""
        for name, process in self._processes.items():
            try:
                grown = process.memory_info().rss - self._first[name]
            except psutil.NoSuchProcess:
                continue
            self.growth_bytes[name] = max(self.growth_bytes[name], grown)


@dataclass(frozen=True)
class Kept:
    """What of a flood is in the output file: the first and last lines without a gap, and what the marker says."""

    printed_bytes: int
    took_s: float
    left_out_bytes: int
    marker_bytes: int
    head_is_whole: bool
    tail_is_whole: bool


def kept(path: Path) -> Kept:
    """Reads the output of a flood that has ended. Raises ValueError where marker or last words are missing."""
    text = path.read_bytes()
    marker, told = _MARKER.search(text), _TOLD.search(text)
    if not marker or not told:
        raise ValueError(f"{path}: no marker, or the flood did not come to its end")
    lines = int(told[1])
    head = [int(number) for number in _LINE.findall(text[: marker.start()])]
    tail = [int(number) for number in _LINE.findall(text[marker.end() :])]
    first_bytes = text.index(b"flood ")
    last_bytes = len(text) - (text.rindex(b"\n", 0, text.index(b"step=2")) + 1)
    return Kept(
        printed_bytes=first_bytes + lines * LINE_BYTES + last_bytes,
        took_s=float(told[2]),
        left_out_bytes=int(marker[1].replace(b",", b"")),
        marker_bytes=len(marker[0]),
        head_is_whole=head == list(range(len(head))) and len(head) > 0,
        tail_is_whole=tail == list(range(lines - len(tail), lines)) and len(tail) > 0,
    )


def flood(folder: Path, runs: Runs, seconds: float, rate: float) -> tuple[Kept, Path, Watched]:
    """One flood, followed to its end."""
    script = folder / "flood.py"
    script.write_text(dedent(FLOOD), "utf-8")
    port = free_port()
    with served(dsgui(port, str(folder / "runs")), port) as server:
        plan = runs.prepare(request(script, f"--seconds {seconds} --rate {rate}"))
        run_id = runs.start(plan, CONFIG_TEXT)
        store = Store(folder / "runs")
        watched = Watched({"server": server.pid, "supervisor": supervisor_of(store, run_id).pid})
        page = FollowingPage(port, run_id)
        while page.follow()["state"] in {"pending", "queued", "running"}:
            watched.look()
            time.sleep(1)
    path = store.open(run_id).output_file
    return kept(path), path, watched


def main() -> None:
    """Print every figure."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    rate = float(sys.argv[2]) if len(sys.argv) > 2 else RATE
    with runs_in_a_folder() as (folder, runs):
        found, path, watched = flood(folder, runs, seconds, rate)
        size = path.stat().st_size
    speed = found.printed_bytes / found.took_s / 1e6
    print(f"printed    {found.printed_bytes / 1e6:,.0f} MB in {found.took_s:.0f} s: {speed:.0f} of {rate:.0f} MB/s")
    ends = "whole" if found.head_is_whole and found.tail_is_whole else "NOT WHOLE"
    print(
        f"kept       {size / 2**20:.1f} MiB (goal ≤ 64), {found.left_out_bytes:,} bytes left out; head and tail {ends}"
    )
    for name, grown in watched.growth_bytes.items():
        print(f"{name:<10} grew by {grown / 2**20:.1f} MiB (goal ≤ {GOAL_GROWTH_MIB})")


if __name__ == "__main__":
    main()
