"""Issues that a run on this machine would meet: one table of checks, each of which says what was seen and what to
do."""

from dsgui.core.machine import environment_checks as environment
from dsgui.core.machine import host_checks as host
from dsgui.core.machine.environment_checks import of_environment
from dsgui.core.machine.machine import Machine
from dsgui.core.machine.verdicts import Check, Row, worst_first

_BUILDER = "deepspeed/ops/op_builder/builder.py"
CHECKS: tuple[Check[Machine], ...] = (
    Check("target", "", environment.answered),
    Check("imports", "", of_environment(environment.parts)),
    Check("packages", "", of_environment(environment.needed)),
    Check("trainer", "", of_environment(environment.trainer)),
    Check("cuda", "torch.cuda", environment.cuda),
    Check("driver", "docs.nvidia.com/deploy/cuda-compatibility", environment.driver),
    Check("toolkit", f"{_BUILDER}: assert_no_cuda_mismatch", of_environment(environment.toolkit)),
    Check("compiler", f"torch/utils/cpp_extension.py, {_BUILDER}", of_environment(environment.compiler)),
    Check("ninja", f"{_BUILDER}: jit_load", of_environment(environment.ninja)),
    Check("headers", "torch/utils/cpp_extension.py", of_environment(environment.headers)),
    Check("cpu_adam", "deepspeed/ops/adam/cpu_adam.py", of_environment(environment.cpu_adam)),
    Check("async_io", "deepspeed/ops/op_builder/async_io.py", of_environment(environment.async_io)),
    Check("locks", "torch/utils/file_baton.py", host.locks),
    Check("memory", "man 7 cgroups", host.memory),
    Check("shm", "deepspeed/env_report.py, deepspeed/ops/csrc/cpu/comm/shm.cpp", host.shm),
    Check("shm_left", "deepspeed/ops/csrc/cpu/comm/shm.cpp", host.shm_left),
    Check("memlock", "deepspeed/ops/csrc/pin_memory/page_alloc.cpp", host.memlock),
    Check("files", "", host.open_files),
    Check("runs_disk", "", host.runs_disk),
    Check("builds_disk", "", host.builds_disk),
    Check("bf16", "developer.nvidia.com/cuda-gpus", host.bf16),
    Check("busy", "", host.busy),
)


def check(machine: Machine) -> tuple[Row, ...]:
    """All rows, the worst first."""
    return worst_first(row for row in (entry.row(machine) for entry in CHECKS) if row)
