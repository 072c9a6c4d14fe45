"""The dry run against processes that really train on the CPU: `python -m benchmarks.memory_real`.

The same counter in both. Real DeepSpeed on 1 and 2 gloo ranks; compared is what is alive at the fullest
instant of each moment. With `--alone`, one process trains as the first rank of many: torch's fake group gives each
collective the rank's own shard, so that everything is computed, and no other rank is needed. (Another rank would fail:
DeepSpeed has each compare itself with the first.)"""

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from dsgui.core.memory.answer import Answer, CannotSay, Device, Moment
from dsgui.core.memory.dry_run import answer_of
from dsgui.core.memory.question import Group, Model, Question, Workload
from dsgui.shell.memory.asking import Worker, as_json

Train = Callable[[Question], Answer]
_LIMIT_S = 300
_SMALL = {"vocab_size": 2048}
MODELS: dict[str, dict[str, Any]] = {
    "llama": _SMALL
    | {"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 4, "intermediate_size": 704}
    | {"num_attention_heads": 8, "num_key_value_heads": 4, "max_position_embeddings": 512},
    "gpt2": _SMALL | {"model_type": "gpt2", "n_embd": 256, "n_layer": 4, "n_head": 8, "n_positions": 512},
    "t5-small": {"model_type": "t5", "d_model": 512, "num_layers": 6, "d_ff": 2048, "num_heads": 8, "d_kv": 64}
    | {"vocab_size": 32128, "decoder_start_token_id": 0},
}
_ADAM = {"type": "AdamW", "params": {"lr": 1e-4, "torch_adam": True}}
_OFFLOADED = {"type": "AdamW", "params": {"lr": 1e-4}}
_CPU = {"device": "cpu"}
CONFIGS: dict[str, dict[str, Any]] = {
    "stage 0": {"optimizer": _ADAM},
    "stage 1": {"optimizer": _ADAM, "zero_optimization": {"stage": 1, "reduce_bucket_size": 1 << 20}},
    "stage 2": {"optimizer": _ADAM, "zero_optimization": {"stage": 2, "reduce_bucket_size": 1 << 20}},
    "stage 2 offload": {
        "optimizer": _OFFLOADED,
        "zero_optimization": {"stage": 2, "reduce_bucket_size": 1 << 20, "offload_optimizer": _CPU},
    },
    "stage 3": {"optimizer": _ADAM, "zero_optimization": {"stage": 3, "reduce_bucket_size": 1 << 20}},
    "stage 3 offload": {
        "optimizer": _OFFLOADED,
        "zero_optimization": {
            "stage": 3, "reduce_bucket_size": 1 << 20, "offload_optimizer": _CPU, "offload_param": _CPU,
        },
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """Bytes alive at the fullest instant of a moment."""

    case: str
    moment: Moment
    dry_run: int
    real: int

    @property
    def difference(self) -> float:
        return (self.dry_run - self.real) / max(self.real, 1)


def question_of(model: str, config: str, ranks: int) -> Question:
    """In bf16, a short batch."""
    whole = CONFIGS[config] | {"bf16": {"enabled": True}, "gradient_clipping": 1.0}
    return Question(Model(model, MODELS[model]), whole, Workload(1, 64), Group(ranks))


def really(question: Question) -> Answer:
    """Trained by real processes; what rank 0 counted. Raises RuntimeError when one fails."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    ranks = question.group.ranks
    given = json.dumps(as_json(question))
    processes = [_rank(rank, ranks, port, given) for rank in range(ranks)]
    outs = [process.communicate(timeout=_LIMIT_S) for process in processes]
    for process, (_, errors) in zip(processes, outs, strict=True):
        if process.returncode:
            raise RuntimeError(errors[-2000:])
    return answer_of(without_gloo(json.loads(outs[0][0].splitlines()[-1])))


def really_alone(question: Question) -> Answer:
    """Trained by one process, as the first rank. Raises RuntimeError when it fails."""
    process = _rank(0, question.group.ranks, "0", json.dumps(as_json(question)), "--alone")
    try:
        out, errors = process.communicate(timeout=_LIMIT_S)
    finally:
        process.kill()
    if process.returncode:
        raise RuntimeError(errors[-2000:])
    return answer_of(json.loads(out.splitlines()[-1]))


def without_gloo(told: dict[str, Any]) -> dict[str, Any]:
    """gloo has no reduce-scatter: DeepSpeed makes one of an all-reduce, on a copy that NCCL does without."""
    its = {number for number, line in enumerate(told["lines"]) if line[1].startswith("deepspeed/comm/")}
    told["sizes"] = [0 if key in its else size for size, key in zip(told["sizes"], told["keys"], strict=True)]
    return told


def _rank(rank: int, ranks: int, port: str, given: str, *options: str) -> "subprocess.Popen[str]":
    here = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": ranks, "LOCAL_SIZE": ranks}
    environment = os.environ | {name: str(value) for name, value in here.items()}
    environment |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "DS_ACCELERATOR": "cpu", "OMP_NUM_THREADS": "1"}
    environment |= {"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-m", "benchmarks.memory_real", "--rank", given, *options]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True)


def one_rank(given: str, *, alone: bool) -> None:
    """Trains, and prints what it counted."""
    from dsgui.shell.memory import fake_machine, rehearsal

    answers = os.dup(1)
    os.dup2(2, 1)  # DeepSpeed prints to stdout
    question = json.loads(given)
    if alone:
        fake_machine.start_group(**question["group"])
        os.environ["LOCAL_SIZE"] = "1"  # DeepSpeed's operator for shared memory would wait for the others
    told = rehearsal.Rehearsal(question, lambda message: None, rehearsal.Stage("cpu", real=True)).run()
    with open(answers, "w") as out:
        out.write(json.dumps(told) + "\n")
    os._exit(0)


def compared(question: Question, worker: Worker, case: str, train: Train = really) -> Iterator[Row]:
    """Each moment. Raises RuntimeError where a dry run can't say."""
    rehearsed, real = worker.ask(question), train(question)
    if isinstance(rehearsed, CannotSay):
        raise RuntimeError(str(rehearsed.why))
    theirs = {peak.moment: peak.count for peak in real.of(Device.HOST)}
    for peak in rehearsed.of(Device.HOST):
        yield Row(case, peak.moment, peak.count, theirs[peak.moment])


def main() -> None:
    """Each model with each config on each number of ranks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rank", help=argparse.SUPPRESS)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--alone", action="store_true", help="the first of the ranks, by itself")
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--configs", nargs="+", default=list(CONFIGS))
    options = parser.parse_args()
    if options.rank:
        one_rank(options.rank, alone=options.alone)
    began, rows = time.monotonic(), list[Row]()
    with Worker(sys.executable, device="cpu") as worker:
        for ranks in options.ranks:
            for model in options.models:
                for config in options.configs:
                    case = f"{model}, {config}, {ranks} ranks"
                    try:
                        question = question_of(model, config, ranks)
                        found = list(compared(question, worker, case, really_alone if options.alone else really))
                    except RuntimeError as error:
                        print(f"{case}: {error}", flush=True)
                        continue
                    rows += found
                    each = ", ".join(f"{row.moment} {row.real / 2**20:.2f} MiB {row.difference:+.2%}" for row in found)
                    print(f"{case}: {each}", flush=True)
    worst = max((abs(row.difference) for row in rows), default=0.0)
    print(f"{len(rows)} peaks, worst {worst:.2%}; {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
