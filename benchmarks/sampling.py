"""What one sample costs with 64 processes: `python -m benchmarks.sampling [SAMPLES]`.

The processes are real children that sleep, and each is looked for and read as a supervisor does once a second. Medians
are printed: of finding the run's processes, and of the readings.
"""

import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from dsgui.shell.metrics.telemetry import Telemetry
from dsgui.shell.processes.processes import Kin

PROCESSES = 64
SAMPLES = 200
GOAL_MS = 5.0
_PAUSE_S = 0.02


@contextlib.contextmanager
def sleeping(count: int) -> Iterator[None]:
    """So many children that hold a little memory, for as long as the block lasts."""
    line = "import sys; print('ready', flush=True); sys.stdin.read()"
    pipe = subprocess.PIPE
    children = [subprocess.Popen([sys.executable, "-c", line], stdin=pipe, stdout=pipe) for _ in range(count)]
    try:
        for child in children:
            assert child.stdout is not None  # stdout=PIPE
            child.stdout.readline()
        yield
    finally:
        for child in children:
            child.communicate()


def measure(samples: int) -> tuple[list[float], list[float]]:
    """Milliseconds to find the processes and to read, for each sample."""
    kin, telemetry = Kin([os.getpid()]), Telemetry()
    found, read = [], []
    with contextlib.closing(telemetry):
        for _ in range(samples):
            began = time.perf_counter()
            family = kin.look()
            between = time.perf_counter()
            telemetry.sample(family)
            found.append(1000 * (between - began))
            read.append(1000 * (time.perf_counter() - between))
            time.sleep(_PAUSE_S)
    return found, read


def main() -> None:
    """Print the medians."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES
    with sleeping(PROCESSES):
        found, read = measure(samples)
    whole = [one + other for one, other in zip(found, read, strict=True)]
    print(
        f"{PROCESSES} processes, {samples} samples, load {os.getloadavg()[0]:.1f}: "
        f"{statistics.median(whole):.2f} ms a sample (goal ≤ {GOAL_MS:g}; 95th percentile "
        f"{sorted(whole)[int(0.95 * len(whole))]:.2f}), of which {statistics.median(found):.2f} to find the processes "
        f"and {statistics.median(read):.2f} to read"
    )


if __name__ == "__main__":
    main()
