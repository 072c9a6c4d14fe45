"""How many lines of output become points in a second of processor time.

`python -m benchmarks.parsing [OTHER CHECKOUT]`

Logs fed in chunks of 64 KiB: two as a long training prints them, the HF Trainer's and the tutorials' own; lines without
points; points alone; and the recorded outputs in tests/outputs over and over, which are start-ups, evaluations and ends
more than steps. With another checkout's folder its parser is measured too, in turns with this one.
"""

import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
GOAL = 200_000
RUNS = 5
CHUNK_BYTES = 1 << 16
LINES = 60_000


def mixed() -> bytes:
    """The recorded outputs one after the other, over and over, the digits of each copy changed."""
    samples = [path.read_bytes() for path in sorted((ROOT / "tests/outputs").glob("*.txt"))]
    chance, text, lines = random.Random(6), b"", 0
    while lines < LINES:
        digits = bytes.maketrans(b"23456789", bytes(chance.choices(b"23456789", k=8)))
        text += (copy := b"\n".join(samples).translate(digits) + b"\n")
        lines += copy.count(b"\n") + copy.count(b"\r")
    return text


def plain() -> bytes:
    return b"".join(
        b"[2026-11-21 22:18:%02d,%03d] [INFO] [config.py:%d:print] checkpoint_tag_validation_fail ... False\n"
        % (n % 60, n % 1000, n % 997)
        for n in range(LINES)
    )


def points() -> bytes:
    chance = random.Random(6)
    return "".join(
        f"step={n} loss={chance.random() * 4:.4f} lr={chance.random() / 1e4:.3e} grad_norm={chance.random():.3f}\n"
        for n in range(LINES)
    ).encode()


def trainer() -> bytes:
    """The HF Trainer's: a bar drawn for each step, a dict every ten, a warning every thousand, a checkpoint every five
    thousand, between them the launcher's and DeepSpeed's lines as they come once."""
    chance, steps, lines = random.Random(6), LINES * 10 // 11, []
    for n in range(1, steps + 1):
        left = steps - n
        lines.append(
            f"\r{100 * n // steps:3d}%|{'█' * (10 * n // steps):<10}| {n}/{steps} "
            f"[{n // 60:02d}:{n % 60:02d}<{left // 60:02d}:{left % 60:02d},  9.{n % 100:02d}it/s]"
        )
        if n % 10 == 0:
            lines.append(
                f"\n{{'loss': '{chance.random() * 4:.4f}', 'grad_norm': '{chance.random():.3f}', "
                f"'learning_rate': '{chance.random() / 1e4:.3e}', 'epoch': '{3 * n / steps:.2f}'}}\n"
            )
        if n % 1000 == 0:
            lines.append(f"[rank0]: UserWarning: the scheduler was stepped {n} times\n")
        if n % 5000 == 0:
            lines.append(f"[transformers] Saving model checkpoint to out/checkpoint-{n}\n")
    return "".join(lines).encode()


def tutorial() -> bytes:
    chance = random.Random(6)
    return "".join(
        f"Rank[{n % 2}]: Epoch 1, step {n // 2} / 37256, loss {chance.random() * 4:.4f}\n" for n in range(LINES)
    ).encode()


LOGS = {
    "a HF training": trainer,
    "a tutorial's training": tutorial,
    "lines without points": plain,
    "points alone": points,
    "start-ups over and over": mixed,
}


def measure(name: str) -> float:
    """Lines a second of one reading, by the `dsgui` on the path."""
    from dsgui.core.logs.trainlog import TrainLog

    log, data = TrainLog(), LOGS[name]()
    chunks = [data[start : start + CHUNK_BYTES] for start in range(0, len(data), CHUNK_BYTES)]
    began = time.process_time()
    for chunk in chunks:
        log.feed(chunk)
    took = time.process_time() - began
    return (data.count(b"\n") + data.count(b"\r")) / took


def measured_in(checkout: Path, name: str) -> float:
    """The same in a new process with the `dsgui` of that checkout."""
    program = f"import sys; sys.path[:0] = [{str(checkout)!r}, {str(ROOT)!r}]; import benchmarks.parsing as b; "
    found = subprocess.run(
        [sys.executable, "-c", program + f"print(b.measure({name!r}))"],
        capture_output=True, text=True, check=True, cwd=checkout,
    )  # fmt: skip
    return float(found.stdout)


def main() -> None:
    """Print the median of each, and its ratio to the goal."""
    checkouts = [ROOT, *(Path(word).resolve() for word in sys.argv[1:])]
    for name in LOGS:
        runs = [[measured_in(checkout, name) for checkout in checkouts] for _ in range(RUNS)]
        for place, checkout in enumerate(checkouts):
            median = statistics.median(run[place] for run in runs)
            which = "this" if checkout == ROOT else str(checkout)
            print(f"{name:<22} {which:<10} {median:>10,.0f} lines/s  {median / GOAL:5.2f} of the goal", flush=True)


if __name__ == "__main__":
    main()
