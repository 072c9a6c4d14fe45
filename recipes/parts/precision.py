"""16-bit training where the hardware has it: what a config that asks for fp16 becomes on a machine without."""

from __future__ import annotations

from typing import Any

from parts.process import say


def fitted(config: dict[str, Any], fp16: bool, bf16: bool) -> tuple[dict[str, Any], str]:
    """The config for hardware that has fp16, bf16, or neither, and a sentence about what was changed, "" for nothing.

    fp16 becomes bf16, or fp32; the loss scale goes with fp16. bf16 becomes fp32.
    """
    wants_fp16, wants_bf16 = (_enabled(config, block) for block in ("fp16", "bf16"))
    if (wants_fp16 and fp16) or (wants_bf16 and bf16) or not (wants_fp16 or wants_bf16):
        return config, ""
    asked = "fp16" if wants_fp16 else "bf16"
    rest = {key: value for key, value in config.items() if key != asked}
    if wants_fp16 and bf16:
        return rest | {"bf16": {"enabled": True}}, "this machine doesn't support fp16; training in bf16 instead"
    return rest, f"this machine doesn't support {asked}; training in fp32 instead"


def fitted_here(config: dict[str, Any]) -> dict[str, Any]:
    """The config for this machine; rank 0 says what was changed."""
    from deepspeed.accelerator import get_accelerator

    accelerator = get_accelerator()
    config, told = fitted(config, accelerator.is_fp16_supported(), accelerator.is_bf16_supported())
    if told:
        say(told)
    return config


def _enabled(config: dict[str, Any], block: str) -> bool:
    found = config.get(block)
    return isinstance(found, dict) and found.get("enabled") is True
