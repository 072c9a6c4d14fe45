"""What the HF Trainer and accelerate do with a config before DeepSpeed sees it."""

from collections.abc import Iterator
from typing import Any

from dsgui.core.context import Context, Integration
from dsgui.core.findings import Change, Finding, Fix, Severity
from dsgui.core.pointer import lookup
from dsgui.core.rules.base import ACCUMULATION, MICRO, Config, Rule, found, name_of, number, zero_stage

# Key → Trainer option and its default: a number in the file must equal the argument
# (transformers/integrations/deepspeed.py, `trainer_config_process` and `fill_match`).
_COMPARED: tuple[tuple[str, str, Any], ...] = (
    (MICRO, "--per_device_train_batch_size", 8),
    (ACCUMULATION, "--gradient_accumulation_steps", 1),
    ("/gradient_clipping", "--max_grad_norm", 1.0),
    ("/optimizer/params/lr", "--learning_rate", 5e-5),
    ("/optimizer/params/betas/0", "--adam_beta1", 0.9),
    ("/optimizer/params/betas/1", "--adam_beta2", 0.999),
    ("/optimizer/params/eps", "--adam_epsilon", 1e-8),
    ("/optimizer/params/weight_decay", "--weight_decay", 0.0),
    ("/scheduler/params/warmup_max_lr", "--learning_rate", 5e-5),
    ("/scheduler/params/warmup_num_steps", "--warmup_steps", 0),
    ("/fp16/enabled", "--fp16", False),
    ("/bf16/enabled", "--bf16", False),
)


def _trainer_arguments(config: Config, context: Context) -> Iterator[Finding]:
    if context.integration is not Integration.HF:
        return
    words: dict[str, str] = {}
    pointers = []
    for pointer, option, default in _COMPARED:
        value = lookup(config, pointer)
        if isinstance(value, int | float) and value != default:
            words.setdefault(option, "" if value is True else f" {value:g}" if value < 1 else f" {number(value)}")
            pointers.append(pointer)
    if words:
        yield found(
            Severity.NOTE,
            pointers[0].removesuffix("/0").removesuffix("/1"),
            "The HF Trainer compares its own arguments with these values and stops at a difference. The script needs: "
            + " ".join(option + word for option, word in words.items())
            + ".",
            "Pass them, or write “auto” in the config. The bundled recipe takes them from the config by itself.",
        )


def _zero_block(config: Config, context: Context) -> Iterator[Finding]:
    if context.integration is Integration.HF and "zero_optimization" not in config:
        yield found(
            Severity.ERROR,
            "/zero_optimization",
            "zero_optimization: missing; accelerate, which the HF Trainer uses, stops with “Please specify the ZeRO "
            "optimization config in the DeepSpeed config”.",
            "Add the block; stage 0 is plain data parallelism.",
            Fix("Add ZeRO stage 0", (Change("/zero_optimization/stage", "0"),)),
        )


def _old_offload(config: Config, context: Context) -> Iterator[Finding]:
    """accelerate swaps the Trainer's AdamW for DeepSpeed's CPU Adam only where it sees `offload_optimizer`."""
    old = "/zero_optimization/cpu_offload"
    own = not name_of(config, "optimizer") and context.integration is Integration.HF
    if own and zero_stage(config) > 0 and lookup(config, old) is True and _forced(config):
        yield found(
            Severity.ERROR,
            old,
            "zero_optimization.cpu_offload: accelerate does not know this old name, so the Trainer's own AdamW reaches "
            "ZeRO-Offload and DeepSpeed stops (ZeRORuntimeException).",
            "Use offload_optimizer with device cpu.",
            Fix(
                "Rewrite as offload_optimizer",
                (Change("/zero_optimization/offload_optimizer/device", '"cpu"'), Change(old, None)),
            ),
        )


def _forced(config: Config) -> bool:
    return lookup(config, "/zero_force_ds_cpu_optimizer") is not False


RULES = (
    Rule(
        "DS013",
        "Values the HF Trainer compares with its arguments",
        "transformers/integrations/deepspeed.py: fill_match",
        _trainer_arguments,
        "A number in the file must equal the Trainer's own argument: the Trainer compares the two and stops at the "
        "first training step's preparation with a list of mismatches, even where only the default differs. Pass the "
        "arguments that the note lists, or write “auto” in the file and let the arguments decide.",
        (Severity.NOTE,),
    ),
    Rule(
        "DS014",
        "accelerate wants a ZeRO block",
        "accelerate/utils/dataclasses.py: DeepSpeedPlugin",
        _zero_block,
        "The HF Trainer hands the file to accelerate, which reads the ZeRO stage from zero_optimization and stops when "
        "the block is not there. Native DeepSpeed needs no such block. Add it; stage 0 is plain data parallelism.",
    ),
    Rule(
        "DS015",
        "The old offload switch under HF",
        "accelerate/accelerator.py: _prepare_deepspeed",
        _old_offload,
        "With the optimizer offloaded, accelerate swaps the Trainer's AdamW for DeepSpeed's CPU Adam, and it "
        "recognises offload by offload_optimizer alone. Under the old name cpu_offload the swap does not happen, and "
        "DeepSpeed refuses to offload an optimizer that is not its own. Rewrite the old name.",
    ),
)
