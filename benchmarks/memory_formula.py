"""The instant answer against the dry run: the 27 cases of the matrix and random ones; `make bench-memory`.

Each question goes to both. Printed are the median and the worst difference of the largest peak of the GPU and of the
host, and the worst rows. The dry runs are forked children of one worker that has DeepSpeed imported."""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsgui.core.memory.answer import Answer, CannotSay, Device
from dsgui.core.memory.instant import answer
from dsgui.core.memory.question import Group, Model, Question, Workload
from dsgui.shell.memory.asking import Worker

MATRIX = Path(__file__).parents[1] / "tests/core/memory/dry_run_matrix.json"
_MI = 1 << 20
_LLAMA = {"model_type": "llama", "hidden_act": "silu", "max_position_embeddings": 4096, "rms_norm_eps": 1e-6}
_GPT2 = {"model_type": "gpt2", "n_positions": 2048, "n_ctx": 2048}
_T5 = {"model_type": "t5", "feed_forward_proj": "relu", "decoder_start_token_id": 0}
MODELS = {
    "llama": _LLAMA
    | {"hidden_size": 1024, "num_hidden_layers": 4, "intermediate_size": 2816, "num_attention_heads": 16}
    | {"num_key_value_heads": 16, "vocab_size": 32000, "tie_word_embeddings": False},
    "llama-grouped": _LLAMA
    | {"hidden_size": 768, "num_hidden_layers": 6, "intermediate_size": 2048, "num_attention_heads": 12}
    | {"num_key_value_heads": 4, "vocab_size": 16000, "tie_word_embeddings": True},
    "gpt2": _GPT2 | {"n_embd": 768, "n_layer": 4, "n_head": 12, "vocab_size": 50257},
    "t5": _T5 | {"d_model": 512, "num_layers": 4, "d_ff": 2048, "num_heads": 8, "d_kv": 64, "vocab_size": 32128},
}


@dataclass(frozen=True, slots=True)
class Row:
    """Bytes of both at the fullest moment of a device."""

    case: str
    device: Device
    formula: int
    dry_run: int

    @property
    def difference(self) -> float:
        return (self.formula - self.dry_run) / max(self.dry_run, 1)


def random_case(luck: random.Random) -> tuple[str, Question]:
    """One of the kinds of config that people write, with values from small to large."""
    stage, precision = luck.choice((0, 1, 2, 2, 3, 3, 3)), luck.choice(("bf16", "bf16", "fp16", "fp32"))
    zero: dict[str, Any] = {"stage": stage}
    if stage:
        zero |= {"reduce_bucket_size": luck.choice((1, 16, 500)) * _MI}
    if stage in (1, 2) and luck.random() < 0.3:
        zero |= {"overlap_comm": luck.random() < 0.5}
    if stage and luck.random() < 0.4:
        zero |= {"offload_optimizer": {"device": "cpu", "pin_memory": luck.random() < 0.5}}
    if stage == 3:
        zero |= _third(luck)
    config: dict[str, Any] = {"zero_optimization": zero, "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}}}
    config |= {precision: {"enabled": True}} if precision != "fp32" else {}
    config |= {"gradient_accumulation_steps": luck.choice((1, 1, 2)), "gradient_clipping": luck.choice((0.0, 1.0))}
    if stage and luck.random() < 0.2:
        config |= {"data_types": {"grad_accum_dtype": "fp32"}}
    name, ranks = luck.choice(sorted(MODELS)), luck.choice((1, 2, 3, 8, 64))
    work = Workload(luck.choice((1, 2)), luck.choice((128, 512)), checkpointing=luck.random() < 0.4)
    question = Question(
        Model(name, MODELS[name]), config, work, Group(ranks, rank=luck.randrange(ranks)), by_decay=luck.random() < 0.7
    )
    return f"{name} {work.micro_batch}×{work.length}{' ckpt' if work.checkpointing else ''} {ranks} ranks", question


def _third(luck: random.Random) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if luck.random() < 0.4:
        found |= {"offload_param": {"device": "cpu", "pin_memory": luck.random() < 0.5}}
    if luck.random() < 0.5:
        found |= {"stage3_max_live_parameters": luck.choice((1, 2 * _MI, 1000 * _MI))}
        found |= {"stage3_max_reuse_distance": luck.choice((0, 4 * _MI, 1000 * _MI))}
        found |= {"stage3_prefetch_bucket_size": luck.choice((1, _MI, 50 * _MI))}
    if luck.random() < 0.3:
        found |= {"sub_group_size": luck.choice((_MI, 8 * _MI))}
    if luck.random() < 0.3:
        found |= {"stage3_param_persistence_threshold": luck.choice((0, 10000))}
    return found


def matrix_cases() -> Iterator[tuple[str, Question]]:
    """The configs of the matrix, on a small model of transformers: there a stack of matrices took them."""
    for row in json.loads(MATRIX.read_text("utf-8")):
        zero = dict(row["config"].get("zero_optimization", {}))
        small = {
            key: min(value, 4 * _MI) if type(value) is int and value > 1000 else value for key, value in zero.items()
        }
        config = row["config"] | {"gradient_accumulation_steps": row["accumulation"]}
        config |= {"zero_optimization": small} if small else {}
        config |= {"optimizer": {"type": "AdamW", "params": {"lr": 1e-4}}, "gradient_clipping": 1.0}
        model = Model("llama", MODELS["llama"])
        yield row["case"], Question(model, config, Workload(1, 128), Group(row["ranks"]), by_decay=False)


def compared(case: str, question: Question, worker: Worker) -> list[Row]:
    """Both answers; nothing where one of them can't say."""
    formula, real = answer(question), worker.ask(question)
    if isinstance(formula, CannotSay) or isinstance(real, CannotSay):
        for source, told in (("formula", formula), ("dry run", real)):
            if isinstance(told, CannotSay):
                print(f"  no {source}: {case} {json.dumps(question.config)}: {told.why}", flush=True)
        return []
    devices = [device for device in (Device.GPU, Device.HOST) if most(real, device) > _MI]
    return [Row(described(case, question), device, most(formula, device), most(real, device)) for device in devices]


def described(case: str, question: Question) -> str:
    return (
        f"{case} rank {question.group.rank} {'two groups ' if question.by_decay else ''}{json.dumps(question.config)}"
    )


def most(found: Answer, device: Device) -> int:
    """Bytes at its fullest moment."""
    peak = found.worst(device)
    return peak.count if peak else 0


def say(row: Row) -> Row:
    """As it comes: it takes a while."""
    print(f"  {row.difference:+.2%} {row.device} {row.case}", flush=True)
    return row


def told(rows: list[Row], worst: int) -> None:
    """Medians and worst rows."""
    for device in (Device.GPU, Device.HOST):
        found = [row for row in rows if row.device is device]
        if not found:
            continue
        off = sorted(abs(row.difference) for row in found)
        middle, within = statistics.median(off), sum(value <= 0.01 for value in off) / len(off)
        print(f"{device}: {len(off)} peaks, median {middle:.3%}, worst {off[-1]:.2%}, within 1 %: {within:.0%}")
        for row in sorted(found, key=lambda row: -abs(row.difference))[:worst]:
            mib = f"formula {row.formula / _MI:.1f}, dry run {row.dry_run / _MI:.1f} MiB"
            print(f"  {row.difference:+.2%}  {mib}  {row.case}")


def main() -> None:
    """Ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200, help="random cases beside the matrix")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worst", type=int, default=8, help="rows to print")
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    luck, began, rows = random.Random(options.seed), time.monotonic(), list[Row]()
    every = [*matrix_cases(), *(random_case(luck) for _ in range(options.cases))]
    with Worker(options.python) as worker:
        print(f"{len(every)} cases, {worker.versions}", flush=True)
        for case, question in every:
            rows += [say(row) for row in compared(case, question, worker)]
    told(rows, options.worst)
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
