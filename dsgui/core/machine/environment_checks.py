"""Checks of the training environment: its packages, CUDA, compilers and operators. A check returns None if there is
nothing to judge."""

from collections.abc import Callable

from dsgui.core.machine.hardware import Op
from dsgui.core.machine.machine import Environment, Machine, release
from dsgui.core.machine.verdicts import Verdict, ok, problem, warning

# deepspeed/ops/op_builder/builder.py: cuda_minor_mismatch_ok. Within these, any minor release will do.
MINOR_MAY_DIFFER = (10, 11, 12)


def of_environment(judge: Callable[[Environment], Verdict | None]) -> Callable[[Machine], Verdict | None]:
    """A check of what the target answered; None until it has answered."""
    return lambda machine: judge(machine.environment) if machine.environment else None


def answered(machine: Machine) -> Verdict | None:
    if machine.problem:
        return problem(machine.problem, "The training environment could not be checked: see --python.")
    return None


def parts(environment: Environment) -> Verdict | None:
    if not environment.problems:
        return None
    return problem(
        " · ".join(environment.problems), "The same import would fail in a run: fix the environment, then check again."
    )


def _packages(
    names: tuple[str, ...], severity: Callable[[str, str, str], Verdict], advice: str
) -> Callable[[Environment], Verdict]:
    def judge(environment: Environment) -> Verdict:
        target = environment.target
        missing = [name for name in names if not target.version(name)]
        if not missing:
            return ok(", ".join(f"{name} {target.version(name)}" for name in names))
        command = f"{target.python} -m pip install {' '.join(missing)}"
        return severity(f"{target.python} has no {' and no '.join(missing)}.", advice, command)

    return judge


needed = _packages(
    ("torch", "deepspeed"),
    problem,
    "Install it there, or start dsgui with a --python that has it.",
)
trainer = _packages(("transformers", "accelerate"), warning, "Only the HF Trainer (and the bundled recipe) needs them.")


def _program(name: str, what: str, advice: str, command: str) -> Callable[[Environment], Verdict | None]:
    def judge(environment: Environment) -> Verdict | None:
        tool = environment.tool(name)
        if tool is None:
            return None
        if not tool.path:
            return problem(f"No {tool.command} in the PATH of a run. {what}", advice, command)
        if not tool.told:
            return problem(f"{tool.path} does not start. {what}", advice, command)
        return ok(f"{tool.version} ({tool.path})")

    return judge


_COMPILES = "DeepSpeed compiles its operators on first use and stops without it."
compiler = _program(
    "compiler", _COMPILES, "Install a C++ compiler, or name one in CXX before dsgui starts.", "sudo apt install g++"
)
ninja = _program("ninja", _COMPILES, "Install it in the training environment.", "pip install ninja")


def headers(environment: Environment) -> Verdict | None:
    if environment.has_headers is None:
        return None
    if environment.has_headers:
        return ok(environment.headers_path)
    return problem(
        f"No Python headers: {environment.headers_path} does not exist. {_COMPILES}",
        "Install the headers of this Python.",
        f"sudo apt install python{environment.target.python_version.rpartition('.')[0]}-dev",
    )


def cuda(machine: Machine) -> Verdict | None:
    torch = machine.environment.torch if machine.environment else None
    if torch is None or not (machine.gpus or torch.cuda or torch.hip):
        return None
    if torch.usable:
        return ok(f"torch for {_build(torch.cuda, torch.hip)} sees its device")
    if not torch.cuda and not torch.hip:
        return problem(
            f"This machine has {len(machine.gpus)} GPU{'s' * (len(machine.gpus) > 1)}, but torch is a CPU-only build.",
            "Install a torch built for CUDA: see pytorch.org.",
        )
    seen = f"torch is built for {_build(torch.cuda, torch.hip)} and can't use it: {torch.why_not}."
    if not machine.gpus:
        return warning(seen, "Runs here use the CPU. On a machine with a GPU: check its driver with nvidia-smi.")
    return problem(seen, "Check the driver with nvidia-smi, and CUDA_VISIBLE_DEVICES.", "nvidia-smi")


def _build(cuda: str, hip: str) -> str:
    return f"CUDA {cuda}" if cuda else f"ROCm {hip}"


def driver(machine: Machine) -> Verdict | None:
    torch = machine.environment.torch if machine.environment else None
    built = release(torch.cuda) if torch else None
    if machine.driver is None or machine.driver.cuda is None or built is None:
        return None
    newest = "{}.{}".format(*machine.driver.cuda)
    # A driver runs every older CUDA, and later minor releases of its own major one:
    # https://docs.nvidia.com/deploy/cuda-compatibility/
    if machine.driver.cuda[0] >= built[0]:
        return ok(f"driver {machine.driver.version} runs CUDA up to {newest}; torch is built for {built[0]}.{built[1]}")
    return problem(
        f"Driver {machine.driver.version} runs CUDA up to {newest}, and torch is built for {built[0]}.{built[1]}.",
        f"Update the driver, or install a torch built for CUDA {machine.driver.cuda[0]}.",
    )


def toolkit(environment: Environment) -> Verdict | None:
    torch = environment.torch
    built = release(torch.cuda) if torch else None
    if torch is None or built is None or not torch.usable:
        return None
    found = release(environment.toolkit_release)
    if found is None:
        return problem(
            f"No CUDA toolkit with nvcc ({environment.toolkit_home or 'CUDA_HOME is not set'}): DeepSpeed can't "
            "compile FusedAdam or DeepSpeedCPUAdam for the GPU.",
            f"Install the CUDA {torch.cuda} toolkit and set CUDA_HOME, or use a torch optimizer (“torch_adam”: true).",
        )
    versions = f"nvcc {found[0]}.{found[1]} in {environment.toolkit_home}, torch built for CUDA {built[0]}.{built[1]}"
    if found == built or (found[0] == built[0] and found[0] in MINOR_MAY_DIFFER):
        return ok(versions)
    return problem(
        f"{versions}: DeepSpeed refuses to compile with a CUDA version other than torch's.",
        f"Point CUDA_HOME to a CUDA {built[0]}.{built[1]} toolkit. DS_SKIP_CUDA_CHECK=1 skips the check.",
    )


def _op(name: str, needed_for: str, advice: str, command: str = "") -> Callable[[Environment], Verdict | None]:
    def judge(environment: Environment) -> Verdict | None:
        op = environment.op(name)
        if op is None:
            return None
        if op.usable:
            return ok(f"{name} {'is built in' if op.installed else 'can be compiled on first use'}")
        return warning(f"{name} can't be compiled{_reason(op)}. {needed_for}", advice, command)

    return judge


def _reason(op: Op) -> str:
    return f": {op.first_reason}" if op.reason else ""


async_io = _op(
    "async_io",
    "Offloading to NVMe stops with “Unable to JIT load the async_io op”.",
    "Install libaio with its headers. Only NVMe offload needs it.",
    "sudo apt install libaio-dev",
)
cpu_adam = _op("cpu_adam", "Offloading the optimizer to the CPU needs it.", "See the compiler and CUDA toolkit above.")
