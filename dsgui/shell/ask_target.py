"""Run by path in the Python that will train: prints one JSON line about it. Needs nothing of dsgui there.

`ask_target.py versions` reads package metadata (milliseconds); `ask_target.py accelerator` imports torch and DeepSpeed
and asks DeepSpeed's own accelerator (seconds).
"""

import importlib.metadata
import json
import platform
import sys

PACKAGES = ("deepspeed", "torch", "transformers", "accelerate", "datasets")


def versions() -> "dict[str, str]":
    """Installed versions by package name; a package that is not installed is left out."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def accelerator() -> "dict[str, object]":
    """What DeepSpeed's accelerator answers: its name and whether it has bf16 and fp16."""
    try:
        from deepspeed.accelerator import get_accelerator

        device = get_accelerator()
        return {
            "name": device.device_name(),
            "bf16": bool(device.is_bf16_supported()),
            "fp16": bool(device.is_fp16_supported()),
        }
    except Exception as error:  # noqa: BLE001 — whatever a stranger's environment raises is the answer
        return {"problem": f"{type(error).__name__}: {error}"}


def main() -> None:
    """Print the answer as the last line: DeepSpeed may print before it."""
    answer: dict[str, object] = {"python": platform.python_version(), "versions": versions()}
    if "accelerator" in sys.argv[1:]:
        answer["accelerator"] = accelerator()
    print("\n" + json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
