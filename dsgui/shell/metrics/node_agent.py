"""Runs on another machine of a run, in the training environment there, sent over ssh (nodes.py): the standard
library alone. Answers each line on its standard input, the seconds since the run's beginning, with a sample as a line
of JSON; an empty line only says that somebody still listens. Ends with its input, and when nothing was said for a
while, as on a machine that lost its network.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

from dsgui.shell.metrics.nvml import Cards, load_nvml
from dsgui.shell.metrics.proc import Marked
from dsgui.shell.metrics.telemetry import DiskWatch, GpuWatch, Telemetry

READY = "dsgui samples"
SILENCE_S = 15


def main(arguments: Sequence[str]) -> None:
    """`arguments`: the marker that the run's processes carry, the numbers of its GPUs, and where it may write to. Never
    returns: a thread that hangs in a driver would be waited for."""
    marker, slots, *folders = arguments
    indices = [int(slot) for slot in slots.split(",") if slot]
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends this process, wherever it waits
    signal.alarm(SILENCE_S)
    watch = GpuWatch(lambda: Cards(load_nvml(), indices))
    answer(Telemetry(watch, disk=DiskWatch(folders), marked=Marked(marker)), sys.stdin.buffer.readline)
    os._exit(0)


def answer(telemetry: Telemetry, next_line: Callable[[], bytes]) -> None:
    """Until the last line."""
    try:
        print(READY, flush=True)
        while line := next_line():
            signal.alarm(SILENCE_S)
            if line.strip():
                sample = replace(telemetry.sample(()), elapsed_s=float(line))
                print(json.dumps({"lacks": telemetry.lacks} | sample.to_json()), flush=True)
    except BrokenPipeError:
        return
