"""How long the real DeepSpeed takes to answer: `python -m benchmarks.ask`, also a part of `make bench`."""

import json
import statistics
import sys
import time

from dsgui.core.config.context import Integration
from dsgui.core.oracle.answers import Question
from dsgui.shell.oracle.oracle import Oracle

TIMES = 40
TRAINED = {"train_batch_size": 2, "optimizer": {"type": "SGD", "params": {"lr": 0.01}}}


def parse_s(oracle: Oracle, reader: Integration, train_batch_size: int) -> float:
    """Seconds for one parse of a text that was not asked about before."""
    text = json.dumps({"train_batch_size": train_batch_size, "zero_optimization": {"stage": 2}})
    began = time.perf_counter()
    oracle.parse(Question(text, reader, 1))
    return time.perf_counter() - began


def main() -> None:
    """Print every figure; the goals are those of a quiet machine."""
    oracle = Oracle(sys.executable)
    cold = parse_s(oracle, Integration.NATIVE, 1)
    warm = statistics.median(parse_s(oracle, Integration.NATIVE, n + 2) for n in range(TIMES)) * 1000
    cold_hf = parse_s(oracle, Integration.HF, 1)
    warm_hf = statistics.median(parse_s(oracle, Integration.HF, n + 2) for n in range(TIMES)) * 1000
    print(f"DeepSpeed, a parse    {cold:.2f} s cold (goal ≤ 5), {warm:.0f} ms warm (goal ≤ 50)")
    print(f"the same through HF   {cold_hf:.2f} s more when first asked, {warm_hf:.0f} ms warm (goal ≤ 50)")
    for when in ("first", "second"):
        began = time.perf_counter()
        oracle.ask(Question(json.dumps({**TRAINED, "steps_per_print": 10 + len(when)}), Integration.NATIVE, 1))
        print(f"a whole answer        {time.perf_counter() - began:.2f} s the {when} time")
    oracle.close()


if __name__ == "__main__":
    main()
