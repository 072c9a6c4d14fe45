"""Configs that DeepSpeed or the HF Trainer refuses, and the key each refusal is about.

`python -m tests.support.oracles.oracle_cases` asks the real ones of this environment and writes what they answer to
`tests/answers/refusals.json`, from which the mapping of an answer to its key is tested without them.
"""

import json
import sys
from pathlib import Path

from dsgui.core.config.context import Integration
from dsgui.core.oracle.answers import Question
from dsgui.shell.oracle.oracle import Oracle

ANSWERS = Path(__file__).parents[2] / "answers" / "refusals.json"
SGD = {"type": "SGD", "params": {"lr": 0.01}}
AUTO = {
    "train_batch_size": "auto",
    "train_micro_batch_size_per_gpu": "auto",
    "gradient_accumulation_steps": "auto",
    "zero_optimization": {"stage": 2},
}


def batch(**more):
    return {"train_batch_size": 8, **more}


def zero(**more):
    return batch(zero_optimization=more)


def scheduled(name, **parameters):
    return batch(optimizer=SGD, scheduler={"type": name, "params": parameters})


# (config, the key's pointer)
PARSED = [
    ({}, "/train_micro_batch_size_per_gpu"),
    ({"train_batch_size": 10, "train_micro_batch_size_per_gpu": 4}, "/train_batch_size"),
    ({"train_batch_size": 4, "train_micro_batch_size_per_gpu": 8}, "/gradient_accumulation_steps"),
    ({"train_batch_size": "8"}, "/train_batch_size"),
    ({"train_batch_size": 0}, "/train_batch_size"),
    (batch(fp16={"enabled": True}, bf16={"enabled": True}), "/fp16"),
    (batch(fp16=None), "/fp16"),
    (batch(fp16={"enabled": True, "opt_level": "O1"}), "/fp16/opt_level"),
    (batch(fp16={"enabled": True, "min_loss_scale": 0.5}), "/fp16/min_loss_scale"),
    (batch(fp16={"enabled": True, "loss_scale_window": 0}), "/fp16/loss_scale_window"),
    (batch(bf16={"enabled": True, "loss_scale": 0}), "/bf16/loss_scale"),
    (batch(bfloat16={"enabled": True, "loss_scale": 0}), "/bfloat16/loss_scale"),
    (batch(amp={"enabled": False}), "/amp"),
    (batch(elasticity={"enabled": False}), "/elasticity"),
    (batch(torch_autocast={"enabled": True, "dtype": "fp8"}), "/torch_autocast/dtype"),
    (batch(communication_data_type="int8"), "/communication_data_type"),
    (batch(wall_clock_breakdown="auto"), "/wall_clock_breakdown"),
    (batch(optimizer=None), "/optimizer"),
    (batch(checkpoint={"tag_validation": None}), "/checkpoint/tag_validation"),
    (batch(checkpoint={"tag_validation": "Maybe"}), "/checkpoint/tag_validation"),
    (batch(checkpoint={"writer": {"type": "slow"}}), "/checkpoint/writer/type"),
    (batch(tensorboard=None), "/tensorboard"),
    (batch(wandb={"enabled": True, "name": "x"}), "/wandb/name"),
    (batch(timers={"throughput": {"foo": 1}}), "/timers/throughput/foo"),
    (batch(compile={"passes": ["foo"]}), "/compile/passes/0"),
    (batch(autotuning={"results_dir": ""}), "/autotuning/results_dir"),
    (batch(gradient_allreduce_op="max"), "/gradient_allreduce_op"),
    (zero(stage=4), "/zero_optimization/stage"),
    (zero(stage=2, stage3_gather=True), "/zero_optimization/stage3_gather"),
    (zero(stage=2, reduce_bucket_size=943718.4), "/zero_optimization/reduce_bucket_size"),
    (zero(stage=3, compute_grad_norm=False), "/zero_optimization/compute_grad_norm"),
    (zero(stage=3, offload_param={"device": "gpu"}), "/zero_optimization/offload_param/device"),
    (zero(stage=2, cpu_offload=True, offload_optimizer={"device": "cpu"}), "/zero_optimization/cpu_offload"),
    (zero(stage=3, mics_shard_size=2), "/zero_optimization/mics_shard_size"),
]
TRAINED = [
    (batch(optimizer={"type": "Foo", "params": {}}), "/optimizer/type"),
    (batch(optimizer={"type": "SGD", "params": {"lr": 0.01, "foo": 1}}), "/optimizer/params/foo"),
    (batch(optimizer={"type": "SGD", "params": {"lr": 0.01, "max_grad_norm": 1}}), "/optimizer/params/max_grad_norm"),
    ({**zero(stage=2), "optimizer": SGD}, "/zero_allow_untested_optimizer"),
    (scheduled("Foo"), "/scheduler/type"),
    (batch(optimizer=SGD, scheduler={"type": "WarmupLR"}), "/scheduler/type"),
    (scheduled("WarmupDecayLR", warmup_num_steps=10), "/scheduler/params/total_num_steps"),
    (scheduled("WarmupLR", warmup_num_steps=0), "/scheduler/params/warmup_num_steps"),
    (scheduled("WarmupDecayLR", total_num_steps="auto", warmup_num_steps=10), "/scheduler/params/total_num_steps"),
    ({**zero(stage=2), "gradient_clipping": "1.0"}, "/gradient_clipping"),
    (batch(optimizer=SGD, steps_per_print=0), "/steps_per_print"),
    (batch(optimizer=SGD, log_level="verbose"), "/log_level"),
    (zero(stage=2, allgather_bucket_size=5), "/zero_optimization/allgather_bucket_size"),
    (zero(stage=1, legacy_stage1=True), "/zero_optimization/stage"),
    (zero(stage=3, offload_param={"device": "nvme"}), "/zero_optimization/offload_param/device"),
]
FILLED = [
    ({key: value for key, value in AUTO.items() if key != "zero_optimization"}, "/zero_optimization"),
    ({**AUTO, "wall_clock_breakdown": "auto"}, "/wall_clock_breakdown"),
    ({**AUTO, "zero_optimization": {"stage": 3, "overlap_comm": "auto"}}, "/zero_optimization/overlap_comm"),
    ({**AUTO, "bf16": {"enabled": True}, "fp16": {"enabled": True}}, "/bf16"),
    ({**AUTO, "fp16": {"enabled": "auto", "min_loss_scale": 1e-10}}, "/fp16/min_loss_scale"),
]
MISMATCHED = [
    ({**AUTO, "gradient_clipping": 0.5}, "/gradient_clipping"),
    ({**AUTO, "train_micro_batch_size_per_gpu": 4}, "/train_micro_batch_size_per_gpu"),
    ({**AUTO, "bf16": {"enabled": True}}, "/bf16/enabled"),
]
KINDS = {
    "parsed": (PARSED, Integration.NATIVE, "parse", None),
    "trained": (TRAINED, Integration.NATIVE, "run", None),
    "filled": (FILLED, Integration.HF, "parse", None),
    "mismatched": (MISMATCHED, Integration.HF, "parse", ()),
}


def cases():
    """Every case as (name, config, pointer)."""
    for kind, (listed, *_) in KINDS.items():
        yield from ((f"{kind}-{number}", *case) for number, case in enumerate(listed))


def ask(oracle, name, config):
    """What the worker answers, as it sends it."""
    _, reader, do, arguments = KINDS[name.partition("-")[0]]
    question = Question(json.dumps(config), reader, 1, lend=True, arguments=arguments)
    return oracle._exchange(question.to_json(do=do, limit_s=60), lambda stage, doing: None)


def main():
    oracle = Oracle(sys.executable)
    answers = {name: ask(oracle, name, config) for name, config, _ in cases()}
    oracle.close()
    for answer in answers.values():
        answer.pop("seconds", None)
        answer.pop("versions", None)
    ANSWERS.parent.mkdir(exist_ok=True)
    ANSWERS.write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()
