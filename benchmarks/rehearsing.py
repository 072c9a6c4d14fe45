"""What a dry run of a 7B model takes of this machine: `python -m benchmarks.rehearsing`. No GPU, no model file."""

import os
import sys
import threading
import time
from dataclasses import dataclass, field

import psutil

from dsgui.core.memory.answer import Answer, Device
from dsgui.core.memory.instant import answer
from dsgui.core.memory.question import Group, Model, Question, Workload
from dsgui.core.sizes import in_gib
from dsgui.shell.memory.asking import dry_run

LLAMA_7B = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "intermediate_size": 11008,
    "num_attention_heads": 32,
    "num_key_value_heads": 32,
    "vocab_size": 32000,
    "tie_word_embeddings": False,
}
ZERO_3 = {
    "bf16": {"enabled": True},
    "gradient_clipping": 1.0,
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}},
    "zero_optimization": {"stage": 3},
}
LENGTH, RANKS, POLL_S = 2048, 8, 0.1
GOAL_S, GOAL_GIB = 60, 2


@dataclass
class Watch:
    """Looks at this process's children until `over`: the memory of the largest, and the CPU time of all."""

    over: threading.Event = field(default_factory=threading.Event)
    largest: int = 0
    seconds: dict[int, float] = field(default_factory=dict)

    def run(self) -> None:
        while not self.over.wait(POLL_S):
            for child in psutil.Process().children(recursive=True):
                try:
                    self.largest = max(self.largest, child.memory_info().rss)
                    times = child.cpu_times()
                except psutil.Error:
                    continue
                self.seconds[child.pid] = times.user + times.system


def main() -> None:
    """Print every figure; the goals are those of a quiet machine with two cores."""
    question = Question(Model("llama-7b", LLAMA_7B), ZERO_3, Workload(1, LENGTH, checkpointing=True), Group(RANKS))
    watch, began = Watch(), time.monotonic()
    watching = threading.Thread(target=watch.run)
    watching.start()
    real = dry_run(question, sys.executable)
    wall_s = time.monotonic() - began
    watch.over.set()
    watching.join()
    load = ", ".join(f"{each:.0f}" for each in os.getloadavg())
    print(f"Llama-7B, ZeRO-3, {RANKS} ranks, {LENGTH} tokens, checkpointing; load {load}")
    print(f"CPU time {sum(watch.seconds.values()):.0f} s, imports included (goal ≤ {GOAL_S}); {wall_s:.0f} s passed")
    print(f"resident {in_gib(watch.largest, 2)} GiB (goal ≤ {GOAL_GIB})")
    formula = answer(question)
    for device in (Device.GPU, Device.HOST):
        found = [one.worst(device) if isinstance(one, Answer) else None for one in (real, formula)]
        print(device.value, *(f"{in_gib(peak.count, 3)} GiB" if peak else "–" for peak in found), "(dry run, formula)")


if __name__ == "__main__":
    main()
