"""A training for the benchmarks, under the real DeepSpeed: `training.py --steps N --to FILE --deepspeed CONFIG`.

Prints a line a step, as trainings do; rank 0 writes when each step began (monotonic) and the seconds it took to FILE,
as a JSON list of pairs. `--steps 0`: both
ranks start and then sleep, until they are ended.
"""

import argparse
import json
import os
import signal
import time
from pathlib import Path

import deepspeed
import torch

WIDTH = 768
BATCH = 64
SETTLING_STEPS = 20
IDLE_S = 3600


def step_times(engine: deepspeed.DeepSpeedEngine, steps: int, took: list[tuple[float, float]]) -> None:
    """Adds when each step began, and the seconds it took."""
    batch = torch.randn(BATCH, WIDTH)
    for step in range(1, steps + 1):
        began = time.monotonic()
        loss = engine(batch).square().mean()
        engine.backward(loss)
        engine.step()
        took.append((began, time.monotonic() - began))
        print(f"step={step} loss={loss.item():.5f}", flush=True)


def main() -> None:
    """Train, or sleep."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--to", type=Path)
    parser.add_argument("--until-stopped", action="store_true", help="write the times when TERM comes")
    parser.add_argument("--deepspeed", required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = torch.nn.Sequential(*(torch.nn.Linear(WIDTH, WIDTH) for _ in range(4)))
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=options.deepspeed)
    print("ready", flush=True)
    if not options.steps:
        time.sleep(IDLE_S)
    took: list[tuple[float, float]] = []

    def write() -> None:
        if torch.distributed.get_rank() == 0 and options.to:
            options.to.write_text(json.dumps(took[SETTLING_STEPS:]), "utf-8")

    def write_and_end(*_: object) -> None:
        write()
        os._exit(0)

    if options.until_stopped:
        signal.signal(signal.SIGTERM, write_and_end)
    step_times(engine, options.steps, took)
    write()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
