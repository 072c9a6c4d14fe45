"""The HF Trainer's way to a config, by its own code: what accelerate hands to `deepspeed.initialize`, as a dict.

Runs in the target environment, for `oracle_trial.py`. The TrainingArguments are the caller's or, where none are given,
the ones that fit the file, so that only what no arguments could repair is refused.
"""

import importlib
from types import SimpleNamespace
from typing import Any

HIDDEN_SIZE = 32
TRAINING_STEPS = 100
# What the Trainer compares with its own arguments: a number in the file needs the argument to say the same.
_SAME = (
    ("gradient_clipping", "max_grad_norm"),
    ("scheduler.params.warmup_max_lr", "learning_rate"),
    ("optimizer.params.lr", "learning_rate"),
    ("optimizer.params.eps", "adam_epsilon"),
    ("optimizer.params.weight_decay", "weight_decay"),
    ("optimizer.params.betas.0", "adam_beta1"),
    ("optimizer.params.betas.1", "adam_beta2"),
    ("scheduler.params.warmup_num_steps", "warmup_steps"),
    ("scheduler.params.total_num_steps", "max_steps"),
)


def filled(trial: Any, path: str) -> "dict[str, Any]":
    """The config after the Trainer and accelerate have filled it in, for `trial.world_size` ranks."""
    trainer = importlib.import_module("transformers.integrations.deepspeed").HfTrainerDeepSpeedConfig(path)
    if not isinstance(trainer.config, dict):
        raise TypeError(f"the config is a {type(trainer.config).__name__}, not an object")
    trial.enter("fill")
    given = trial.question.get("arguments")
    chosen = (
        dict(given)
        if given is not None
        else fitting(trainer.config, trial.world_size, trial.question.get("lend", False))
    )
    if given is None:
        trial.answer["arguments"] = chosen
    arguments = training_arguments(chosen, trial.world_size)
    trainer.trainer_config_process(arguments)
    plugin = importlib.import_module("accelerate.utils").DeepSpeedPlugin(hf_ds_config=trainer)
    plugin.set_mixed_precision("bf16" if arguments.bf16 else "fp16" if arguments.fp16 else "no")
    hidden_size = int(chosen.get("hidden_size") or HIDDEN_SIZE)
    model = SimpleNamespace(config=SimpleNamespace(hidden_size=hidden_size))
    trainer.trainer_config_finalize(arguments, model, training_steps(chosen))
    return prepared(plugin, arguments, hidden_size)


def training_steps(chosen: "dict[str, Any]") -> int:
    """The number of steps of the training."""
    steps = chosen.get("num_training_steps") or chosen.get("max_steps") or 0
    return int(steps) if steps > 0 else TRAINING_STEPS


def training_arguments(chosen: "dict[str, Any]", world_size: int) -> Any:
    """Stands in for a `TrainingArguments` at a world size that this machine need not have: the class's own defaults
    and its own warm-up arithmetic, without the devices it would look for."""
    real = importlib.import_module("transformers").TrainingArguments
    missing = importlib.import_module("dataclasses").MISSING
    values = {name: f.default for name, f in real.__dataclass_fields__.items() if f.default is not missing}
    stand_in = SimpleNamespace(**{**values, **chosen, "world_size": world_size})
    if stand_in.warmup_steps is None:
        stand_in.warmup_steps = 0
    stand_in.get_warmup_steps = lambda steps: real.get_warmup_steps(stand_in, steps)
    return stand_in


def fitting(config: "dict[str, Any]", world_size: int, any_type: bool) -> "dict[str, Any]":
    """The arguments that agree with every value of the file that they can agree with."""
    chosen: dict[str, Any] = {argument: value for key, argument in _SAME if is_number(value := at(config, key))}
    chosen.update(fitting_batch(config, world_size))
    wants = {name: at(config, f"{name}.enabled") for name in ("bf16", "fp16")}
    if wants["fp16"] is True or wants["bf16"] is True:
        chosen.update({name: wanted is True for name, wanted in wants.items()})
    elif wants["bf16"] == "auto":
        chosen["bf16"] = True
    elif wants["fp16"] == "auto" and any_type:
        chosen["fp16"] = True
    return chosen


def fitting_batch(config: "dict[str, Any]", world_size: int) -> "dict[str, Any]":
    """Micro batch and accumulation such that their product with the ranks is the file's train batch, if any are."""
    train, micro = at(config, "train_batch_size"), at(config, "train_micro_batch_size_per_gpu")
    steps = at(config, "gradient_accumulation_steps")
    whole = train // world_size if is_number(train) else 0
    if not is_number(steps):
        steps = max(1, whole // micro) if is_number(micro) and micro > 0 and steps == "auto" else 1
    if not is_number(micro):
        micro = max(1, whole // steps) if steps > 0 else 1
    return {"per_device_train_batch_size": micro, "gradient_accumulation_steps": steps}


def prepared(plugin: Any, arguments: Any, hidden_size: int) -> "dict[str, Any]":
    """What `Accelerator._prepare_deepspeed` still fills in; an "auto" that is left then is an error of its own."""
    micro = plugin.get_value("train_micro_batch_size_per_gpu")
    plugin.fill_match(
        "gradient_accumulation_steps",
        must_match=False,
        gradient_accumulation_steps=arguments.gradient_accumulation_steps,
    )
    values: dict[str, Any] = {
        "gradient_clipping": 1.0,
        "zero_optimization.stage3_gather_16bit_weights_on_model_save": False,
    }
    if micro is not None:
        steps = plugin.get_value("gradient_accumulation_steps")
        values["train_micro_batch_size_per_gpu"] = micro
        values["train_batch_size"] = micro * steps * arguments.world_size
    square = hidden_size * hidden_size
    sizes = {
        "zero_optimization.reduce_bucket_size": square,
        "zero_optimization.stage3_prefetch_bucket_size": int(0.9 * square),
        "zero_optimization.stage3_param_persistence_threshold": 10 * hidden_size,
    }
    if any(plugin.is_auto(key) for key in sizes):
        values.update(sizes)
    config: dict[str, Any] = plugin.deepspeed_config
    if "optimizer" in config:  # the Trainer then passes accelerate's DummyOptim, with these defaults
        values.update({"optimizer.params.lr": 0.001, "optimizer.params.weight_decay": 0})
    else:
        config["zero_allow_untested_optimizer"] = True
    if "scheduler" in config:  # … and its DummyScheduler
        values.update({"scheduler.params.warmup_min_lr": 0, "scheduler.params.warmup_max_lr": 0.001})
        values["scheduler.params.warmup_num_steps"] = 1
    plugin.deepspeed_config_process(must_match=False, **values)
    return config


def at(config: Any, key: str) -> Any:
    """The value at a dotted key; None where there is none."""
    for part in key.split("."):
        if isinstance(config, dict):
            config = config.get(part)
        elif isinstance(config, list) and part.isdigit() and int(part) < len(config):
            config = config[int(part)]
        else:
            return None
    return config


def is_number(value: Any) -> bool:
    """JSON's true is no number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
