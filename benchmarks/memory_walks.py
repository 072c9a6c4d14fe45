"""The memory model's walks beside transformers' real classes on fake tensors, at real sizes:
`python -m benchmarks.memory_walks [NAME …]`.

For each model the bytes of activations that are kept after the forward, and alive at most in the forward and in the
backward. A line a case; then the median and the worst difference. About fifteen minutes for all, on one core."""

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.memory.model_configs import REAL
from tests.support.memory.walk_peaks import peaks_beside_fake_tensors

ORACLE = Path(__file__).parents[1] / "tests" / "support" / "memory" / "training_oracle.py"
GIB = 1 << 30
MODELS = ("t5-base", "t5-3b", "flan-t5-xl", "gpt2-xl", "bloom-560m", "Llama-2-7b", "Llama-3-8B", "Mistral-7B-v0.1")
MODELS += ("Qwen2.5-0.5B", "Qwen3-0.6B", "gemma-2b", "gemma-2-9b", "gemma-3-1b")
SIZES = ((1, 512), (4, 2048))
WITHOUT_SDPA = ("bloom", "gemma2")


def cases(name: str, config: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for attention in ("eager",) if config["model_type"] in WITHOUT_SDPA else ("sdpa", "eager"):
        for batch, length in SIZES:
            for checkpointing in (False, True):
                limits = {"batch": batch, "length": min(length, config.get("n_positions", length))}
                yield limits | {"checkpointing": checkpointing, "attention": attention, "dtype": "bf16"}


def compared(name: str) -> Iterator[float]:
    """Prints and yields the differences, in parts of what the fake tensors had."""
    config = REAL[name][0]
    with subprocess.Popen([sys.executable, ORACLE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as oracle:
        assert oracle.stdin
        assert oracle.stdout
        for case in cases(name, config):
            print(json.dumps(case | {"config": config}), file=oracle.stdin, flush=True)
            real = json.loads(oracle.stdout.readline())
            ours = peaks_beside_fake_tensors(config, **case)
            theirs = (real["kept"], real["forward"], real["backward"])
            off = [mine / one - 1 for mine, one in zip(ours, theirs, strict=True)]
            again = "checkpointed" if case["checkpointing"] else ""
            print(f"{name:16} {case['attention']:5} {case['batch']} × {case['length']:4} {again:12}", end=" ")
            print(
                "  ".join(f"{one / GIB:7.3f} GiB {100 * much:+6.2f} %" for one, much in zip(theirs, off, strict=True))
            )
            yield from map(abs, off)


def main() -> None:
    print(f"{'kept':>60} {'forward':>20} {'backward':>20}")
    off = [one for name in sys.argv[1:] or MODELS for one in compared(name)]
    print(f"median {100 * statistics.median(off):.2f} %, worst {100 * max(off):.2f} %")


if __name__ == "__main__":
    main()
