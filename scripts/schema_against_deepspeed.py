#!/usr/bin/env python
"""Compares schemas/ds_config.schema.json with the DeepSpeed installed here: one line a difference, exit code 1 if any.

Looks at the blocks that DeepSpeed models with pydantic (keys, defaults, bounds), at the top-level and raw keys whose
default can be read off a DeepSpeedConfig, and at the arguments of its optimizers and schedulers.
"""

import inspect
import json
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("DS_ACCELERATOR", "cpu")
report, sys.stdout = sys.stdout, sys.stderr  # DeepSpeed logs to stdout while it is imported

import torch  # noqa: E402
from deepspeed.comm.config import CommsLoggerConfig  # noqa: E402
from deepspeed.monitor import config as monitor  # noqa: E402
from deepspeed.ops.adagrad import DeepSpeedCPUAdagrad  # noqa: E402
from deepspeed.ops.adam import DeepSpeedCPUAdam, FusedAdam  # noqa: E402
from deepspeed.ops.lamb import FusedLamb  # noqa: E402
from deepspeed.ops.lion import DeepSpeedCPULion, FusedLion  # noqa: E402
from deepspeed.runtime import lr_schedules, precision_config  # noqa: E402
from deepspeed.runtime.config import DeepSpeedConfig  # noqa: E402
from deepspeed.runtime.engine import DeepSpeedEngine  # noqa: E402
from deepspeed.runtime.zero import config as zero  # noqa: E402
from deepspeed.runtime.zero import offload_config  # noqa: E402
from pydantic_core import PydanticUndefined  # noqa: E402

logging.disable(logging.CRITICAL)

SCHEMA = Path(__file__).resolve().parents[1] / "schemas/ds_config.schema.json"
ABSENT = "(none)"

MODELS = {
    "/fp16": precision_config.DeepSpeedFP16Config,
    "/bf16": precision_config.DeepSpeedBF16Config,
    "/bfloat16": precision_config.DeepSpeedBF16Config,
    "/zero_optimization": zero.DeepSpeedZeroConfig,
    "/zero_optimization/offload_param": offload_config.DeepSpeedZeroOffloadParamConfig,
    "/zero_optimization/offload_optimizer": offload_config.DeepSpeedZeroOffloadOptimizerConfig,
    "/tensorboard": monitor.TensorBoardConfig,
    "/wandb": monitor.WandbConfig,
    "/csv_monitor": monitor.CSVConfig,
    "/comet": monitor.CometConfig,
    "/comms_logger": CommsLoggerConfig,
}

# Where a DeepSpeedConfig keeps what it read from a raw key.
ATTRIBUTES = {
    "/steps_per_print": "steps_per_print",
    "/dump_state": "dump_state",
    "/wall_clock_breakdown": "wall_clock_breakdown",
    "/memory_breakdown": "memory_breakdown",
    "/log_level": "log_level",
    "/gradient_clipping": "gradient_clipping",
    "/prescale_gradients": "prescale_gradients",
    "/gradient_predivide_factor": "gradient_predivide_factor",
    "/gradient_allreduce_op": "gradient_allreduce_op",
    "/managed_gradient_accumulation": "managed_gradient_accumulation",
    "/communication_data_type": "communication_data_type",
    "/zero_allow_untested_optimizer": "zero_allow_untested_optimizer",
    "/zero_force_ds_cpu_optimizer": "zero_force_ds_cpu_optimizer",
    "/optimizer/legacy_fusion": "optimizer_legacy_fusion",
    "/torch_autocast/enabled": "torch_autocast_enabled",
    "/data_types/grad_accum_dtype": "grad_accum_dtype",
    **{
        f"/{block}/{key}": f"{block}_config.{key}"
        for block, keys in {
            "flops_profiler": "enabled recompute_fwd_factor profile_step module_depth top_modules detailed output_file",
            "activation_checkpointing": "partition_activations number_checkpoints contiguous_memory_optimization "
            "synchronize_checkpoint_boundary profile cpu_checkpointing",
        }.items()
        for key in keys.split()
    },
}

# The classes an optimizer type may become, the usual one first, and the arguments the engine takes for itself.
ADAM = ((FusedAdam, DeepSpeedCPUAdam, torch.optim.AdamW), {"torch_adam", "adam_w_mode", "fp32_optimizer_states"})
OPTIMIZERS = {
    "Adam": ADAM,
    "AdamW": ADAM,
    "Lamb": ((FusedLamb,), set()),
    "Lion": ((FusedLion, DeepSpeedCPULion), set()),
    "Muon": (
        (),
        {*DeepSpeedEngine._MUON_HALF_KEYS, *DeepSpeedEngine._ADAM_HALF_KEYS, "muon_lr", "adam_lr", "per_head_muon"}
        | ADAM[1],
    ),
    "Adagrad": ((torch.optim.Adagrad, DeepSpeedCPUAdagrad), set()),
    **{
        name: ((getattr(torch.optim, name),), set())
        for name in (
            *("SGD", "NAdam", "RAdam", "Adamax", "RMSprop"),
            *("Adadelta", "Adafactor", "ASGD", "Rprop", "SparseAdam"),
        )
    },
}
# The schema has every argument of these; of other PyTorch optimizers, only the arguments they share with these.
OURS = ("Adam", "AdamW", "Lamb", "Lion", "Muon", "Adagrad", "SGD")
SCHEDULERS = ("LRRangeTest", "OneCycle", "WarmupLR", "WarmupDecayLR", "WarmupCosineLR")

EXPECTED = {
    "/optimizer/params/adamw_mode: the schema lacks it": "the engine passes it itself; in a config it is a TypeError",
    "/optimizer/params/max_grad_norm: the schema lacks it": "the engine refuses it: gradient_clipping takes its place",
}


def main_branch(node: dict[str, Any]) -> dict[str, Any]:
    return node["anyOf"][0] if "anyOf" in node else node


def node_at(schema: dict[str, Any], pointer: str) -> dict[str, Any]:
    node = schema
    for part in pointer.split("/")[1:]:
        node = main_branch(node).get("properties", {}).get(part, {})
    return node


def keys(pointer: str, ours: set[str], theirs: set[str]) -> Iterator[str]:
    for key in sorted(theirs - ours):
        yield f"{pointer}/{key}: the schema lacks it"
    for key in sorted(ours - theirs):
        yield f"{pointer}/{key}: DeepSpeed has no such key"


def plain(value: Any) -> Any:
    """A default as JSON would spell it, so that (0.9, 0.999) equals [0.9, 0.999]."""
    return list(value) if isinstance(value, tuple) else value


def default(pointer: str, ours: Any, theirs: Any) -> Iterator[str]:
    same_kind = isinstance(ours, bool) == isinstance(plain(theirs), bool)
    if ours != plain(theirs) or not same_kind:
        yield f"{pointer}: default {ours!r}, in DeepSpeed {theirs!r}"


def modelled(schema: dict[str, Any]) -> Iterator[str]:
    for pointer, model in MODELS.items():
        properties = main_branch(node_at(schema, pointer))["properties"]
        spellings = {s: f for name, f in model.model_fields.items() for s in (name, f.alias) if s}
        yield from keys(pointer, set(properties), set(spellings))
        for key in properties.keys() & spellings.keys():
            yield from one_field(f"{pointer}/{key}", properties[key], spellings[key])


def one_field(pointer: str, node: dict[str, Any], field: Any) -> Iterator[str]:
    if field.default is not PydanticUndefined:
        yield from default(pointer, node.get("default", ABSENT), field.default)
    main, names = main_branch(node), {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum"}
    for name, keyword in names.items():
        bound = next((getattr(m, name) for m in field.metadata if hasattr(m, name)), None)
        if bound is not None and main.get(keyword) != bound:
            yield f"{pointer}: {keyword} {main.get(keyword)}, in DeepSpeed {bound}"


def read_raw(schema: dict[str, Any]) -> Iterator[str]:
    config = DeepSpeedConfig({"train_batch_size": 1})
    for pointer, attribute in ATTRIBUTES.items():
        value: Any = config
        for name in attribute.split("."):
            value = getattr(value, name)
        yield from default(pointer, node_at(schema, pointer).get("default", ABSENT), value)


def arguments(*classes: type) -> dict[str, Any]:
    """Name → default over all classes, the first one's where they differ; without self and what is optimised."""
    found: dict[str, Any] = {}
    for cls in classes:
        for name, parameter in list(inspect.signature(cls.__init__).parameters.items())[2:]:
            found.setdefault(name, ABSENT if parameter.default is parameter.empty else parameter.default)
    return found


def parameters(schema: dict[str, Any], pointer: str, by_type: dict[str, dict[str, Any]]) -> Iterator[str]:
    properties = main_branch(node_at(schema, pointer))["properties"]
    ours = [t for t in by_type if t in OURS or t in SCHEDULERS]
    yield from keys(pointer, set(properties), {name for t in ours for name in by_type[t]})
    for name, node in properties.items():
        takers = [t for t in by_type if name in by_type[t]]
        said = node.get("x-for-types", list(by_type))
        if sorted(said) != sorted(takers):
            yield f"{pointer}/{name}: x-for-types {said}, in DeepSpeed {takers}"
        for t in (t for t in takers if t in OURS or t in SCHEDULERS):
            expected = node.get("x-default-for-types", {}).get(t, node.get("default", ABSENT))
            yield from (f"{line} ({t})" for line in default(f"{pointer}/{name}", expected, by_type[t][name]))


def optimizers() -> dict[str, dict[str, Any]]:
    """Arguments by type. What the engine or Muon's param groups take has no signature to read a default from."""
    own = {"torch_adam": False, "adam_w_mode": True, "fp32_optimizer_states": True}
    own |= {"momentum": 0.95, "ns_method": "gram", "per_head_muon": False, "weight_decay": 0.0}
    own |= {"lr": 0.02, "betas": (0.9, 0.95), "eps": 1e-10, "muon_lr": ABSENT, "adam_lr": ABSENT}
    return {t: {key: own[key] for key in extra} | arguments(*classes) for t, (classes, extra) in OPTIMIZERS.items()}


def differences(schema: dict[str, Any]) -> Iterator[str]:
    yield from modelled(schema)
    yield from read_raw(schema)
    yield from parameters(schema, "/optimizer/params", optimizers())
    yield from parameters(schema, "/scheduler/params", {t: arguments(getattr(lr_schedules, t)) for t in SCHEDULERS})


def main() -> int:
    lines = list(differences(json.loads(SCHEMA.read_text("utf-8"))))
    found = [line for line in lines if line not in EXPECTED]
    found += [f"no longer a difference, strike it from EXPECTED: {line}" for line in EXPECTED if line not in lines]
    print(*found, sep="\n", end="\n" if found else "", file=report)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
