"""Run by path in the Python that will train: prints one JSON line about it. Needs nothing of dsgui there.

`ask_target.py versions` reads package metadata (milliseconds); `ask_target.py accelerator` imports torch and DeepSpeed
and asks DeepSpeed's own accelerator and operator builders (seconds); `ask_target.py machine` answers that, and how
torch's CUDA and the programs that compile operators are found from here. Every part may fail alone: what it raised is
then its answer, as `problem`.
"""

import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from typing import Any

PACKAGES = ("deepspeed", "torch", "transformers", "accelerate", "datasets")
MODULES = ("comet_ml", "datastates", "mup", "tensorboard", "wandb")  # what DeepSpeed imports for some configs
TOOL_TIMEOUT_S = 10


def versions() -> "dict[str, str]":
    """Installed versions by package name; a package that is not installed is left out."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def modules() -> "dict[str, object]":
    """Whether each of `MODULES` is there; none is imported."""
    return {module: importlib.util.find_spec(module) is not None for module in MODULES}


def attempt(question: "Callable[[], dict[str, object]]") -> "dict[str, object]":
    """The answer, or what the question raised."""
    try:
        return question()
    except Exception as error:  # noqa: BLE001 — whatever a stranger's environment raises is the answer
        return {"problem": f"{type(error).__name__}: {error}"}


def accelerator() -> "dict[str, object]":
    """What DeepSpeed's accelerator answers: its name and whether it has bf16 and fp16."""
    from deepspeed.accelerator import get_accelerator

    device = get_accelerator()
    return {
        "name": device.device_name(),
        "bf16": bool(device.is_bf16_supported()),
        "fp16": bool(device.is_fp16_supported()),
    }


def ops() -> "dict[str, object]":
    """Each operator as `ds_report` lists it: built at installation, or buildable when first used, or why not."""
    from deepspeed.accelerator import get_accelerator
    from deepspeed.git_version_info import accelerator_name, installed_ops
    from deepspeed.ops.op_builder.all_ops import ALL_OPS

    # What was built for another accelerator is not used (deepspeed/ops/op_builder/builder.py: load).
    ours = accelerator_name == get_accelerator()._name
    return {
        name: {**_compatible(builder), "installed": bool(ours and installed_ops.get(name))}
        for name, builder in ALL_OPS.items()
    }


def _compatible(builder: Any) -> "dict[str, object]":
    """Builders tell their reasons through `warning`, and keep only the last one."""
    told: list[str] = []
    builder.warning = told.append
    try:
        compatible = bool(builder.is_compatible(True))
        unread = unread_architectures(builder) if compatible else ""
    except Exception as error:  # noqa: BLE001 — a CUDA builder raises where there is no toolkit
        return {"compatible": False, "reason": f"{type(error).__name__}: {error}"}
    if unread:
        return {"compatible": False, "reason": unread}
    return {"compatible": compatible, "reason": "" if compatible else " ".join(str(t).strip() for t in told)}


def unread_architectures(builder: Any) -> str:
    """What DeepSpeed says of TORCH_CUDA_ARCH_LIST where it would compile for CUDA and can't read it: is_compatible does
    not look there (deepspeed/ops/op_builder/builder.py: jit_load, compute_capability_args)."""
    from deepspeed.ops.op_builder.builder import CUDAOpBuilder

    named = os.environ.get("TORCH_CUDA_ARCH_LIST", "").strip()
    if not named or not isinstance(builder, CUDAOpBuilder):
        return ""
    builder.jit_mode, builder._jit_arch_list = True, named
    try:
        builder.compute_capability_args()
    except (ValueError, IndexError, RuntimeError) as error:  # 9.0a is no number; or nothing in it is for this operator
        return f"TORCH_CUDA_ARCH_LIST={named}: {error}"
    finally:
        os.environ["TORCH_CUDA_ARCH_LIST"] = named
    return ""


def torch_cuda() -> "dict[str, object]":
    """The CUDA or ROCm this torch was built for, and whether it works here."""
    import torch

    usable = bool(torch.cuda.is_available())
    return {
        "cuda": torch.version.cuda,
        "hip": getattr(torch.version, "hip", None),
        "usable": usable,
        "why_not": "" if usable else _cuda_failure(torch),
    }


def _cuda_failure(torch: Any) -> str:
    try:
        torch.cuda.init()
    except Exception as error:  # noqa: BLE001 — torch raises RuntimeError or AssertionError, by its build
        return str(error).strip().splitlines()[0]
    return ""


def toolkit() -> "dict[str, object]":
    """The CUDA toolkit that DeepSpeed would compile with: torch's own guess (torch/utils/cpp_extension.py)."""
    import torch
    from torch.utils import cpp_extension

    home = cpp_extension.CUDA_HOME
    if not torch.version.cuda or not home:
        return {"home": home, "version": ""}
    return {"home": home, "version": _nvcc_release(tool(os.path.join(home, "bin", "nvcc"), "-V"))}


def _nvcc_release(nvcc: "dict[str, str]") -> str:
    """`13.0` of “Cuda compilation tools, release 13.0, V13.0.88”."""
    return nvcc["told"].partition("release ")[2].partition(",")[0]


def tools() -> "dict[str, object]":
    """Programs as found in PATH. torch compiles with $CXX, else c++ (torch/utils/cpp_extension.py)."""
    compiler = os.environ.get("CXX") or "c++"
    return {
        "compiler": tool(compiler, "--version"),
        "ninja": tool("ninja", "--version"),
        "nvcc": tool("nvcc", "-V"),
        "ssh": tool("ssh", "-V"),
        "pdsh": tool("pdsh", "-V"),
    }


def tool(command: str, option: str) -> "dict[str, str]":
    """Where it is and what it says of itself; `path` is "" where there is none, `told` "" where it will not start."""
    path = shutil.which(command) or ""
    if not path:
        return {"command": command, "path": "", "told": ""}
    try:
        done = subprocess.run(
            [path, option],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TOOL_TIMEOUT_S,
            check=False,
        )
        told = done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""
    except (OSError, subprocess.TimeoutExpired):
        told = ""
    return {"command": command, "path": path, "told": told[:2000]}


def headers() -> "dict[str, object]":
    """Python's headers, which every compiled operator includes."""
    path = os.path.join(sysconfig.get_paths()["include"], "Python.h")
    return {"path": path, "exists": os.path.exists(path)}


def main() -> None:
    """Print the answer as the last line: DeepSpeed may print before it."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if folder != here]  # others have modules of these names too
    asked = sys.argv[1:]
    answer: dict[str, object] = {"python": platform.python_version(), "versions": versions()}
    answer["modules"] = attempt(modules)
    if "accelerator" in asked or "machine" in asked:
        answer["accelerator"] = attempt(accelerator)
        answer["ops"] = attempt(ops)
    if "machine" in asked:
        answer["torch"] = attempt(torch_cuda)
        answer["toolkit"] = attempt(toolkit)
        answer["tools"] = attempt(tools)
        answer["headers"] = attempt(headers)
    print("\n" + json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
