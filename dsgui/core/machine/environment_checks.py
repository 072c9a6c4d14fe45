"""Checks of the training environment: its packages, CUDA, compilers and operators. A check returns None if there is
nothing to judge."""

from collections.abc import Callable

from dsgui.core.machine.hardware import Op
from dsgui.core.machine.machine import Environment, Machine, release
from dsgui.core.machine.verdicts import Verdict, advise, ok, problem, saw, warning
from dsgui.core.texts.saying import Said, listed

# deepspeed/ops/op_builder/builder.py: cuda_minor_mismatch_ok. Within these, any minor release will do.
MINOR_MAY_DIFFER = (10, 11, 12)


def of_environment(judge: Callable[[Environment], Verdict | None]) -> Callable[[Machine], Verdict | None]:
    """A check of what the target answered; None until it has answered."""
    return lambda machine: judge(machine.environment) if machine.environment else None


def answered(machine: Machine) -> Verdict | None:
    if machine.problem:
        return problem(saw("target.problem", problem=machine.problem), advise("target.see_python"))
    return None


def parts(environment: Environment) -> Verdict | None:
    if not environment.problems:
        return None
    return problem(saw("imports.problems", problems=" · ".join(environment.problems)), advise("imports.fix"))


def _packages(
    names: tuple[str, str], severity: Callable[[Said, Said, str], Verdict], advice: Said
) -> Callable[[Environment], Verdict]:
    def judge(environment: Environment) -> Verdict:
        target = environment.target
        missing = [name for name in names if not target.version(name)]
        if not missing:
            every = [saw("packages.version", name=name, version=target.version(name)) for name in names]
            return ok(saw("packages.found", packages=listed(every)))
        command = f"{target.python} -m pip install {' '.join(missing)}"
        return severity(_lacks(target.python, missing), advice, command)

    return judge


def _lacks(python: str, missing: list[str]) -> Said:
    if len(missing) == 1:
        return saw("packages.lacks", python=python, name=missing[0])
    return saw("packages.lacks_both", python=python, name=missing[0], other=missing[1])


needed = _packages(("torch", "deepspeed"), problem, advise("packages.install"))
trainer = _packages(("transformers", "accelerate"), warning, advise("trainer.only_hf"))


def _program(name: str, advice: Said, command: str) -> Callable[[Environment], Verdict | None]:
    def judge(environment: Environment) -> Verdict | None:
        tool = environment.tool(name)
        if tool is None:
            return None
        if not tool.path:
            return problem(saw("program.missing", command=tool.command), advice, command)
        if not tool.told:
            return problem(saw("program.does_not_start", path=tool.path), advice, command)
        return ok(saw("program.found", version=tool.version, path=tool.path))

    return judge


compiler = _program("compiler", advise("compiler.install"), "sudo apt install g++")
ninja = _program("ninja", advise("ninja.install"), "pip install ninja")


def headers(environment: Environment) -> Verdict | None:
    if environment.has_headers is None:
        return None
    if environment.has_headers:
        return ok(saw("headers.found", path=environment.headers_path))
    return problem(
        saw("headers.missing", path=environment.headers_path),
        advise("headers.install"),
        f"sudo apt install python{environment.target.python_version.rpartition('.')[0]}-dev",
    )


def cuda(machine: Machine) -> Verdict | None:
    torch = machine.environment.torch if machine.environment else None
    if torch is None or not (machine.gpus or torch.cuda or torch.hip):
        return None
    if torch.usable:
        return ok(saw("cuda.usable", build=_build(torch.cuda, torch.hip)))
    if not torch.cuda and not torch.hip:
        return problem(_built_for_the_cpu(len(machine.gpus)), advise("cuda.install"))
    seen = saw("cuda.unusable", build=_build(torch.cuda, torch.hip), why=torch.trouble)
    if not machine.gpus:
        return warning(seen, advise("cuda.on_the_cpu"))
    return problem(seen, advise("cuda.check_driver"), "nvidia-smi")


def _built_for_the_cpu(gpus: int) -> Said:
    return saw("cuda.cpu_build_one") if gpus == 1 else saw("cuda.cpu_build", gpus=str(gpus))


def _build(cuda: str, hip: str) -> str:
    return f"CUDA {cuda}" if cuda else f"ROCm {hip}"


def driver(machine: Machine) -> Verdict | None:
    torch = machine.environment.torch if machine.environment else None
    built = release(torch.cuda) if torch else None
    if machine.driver is None or machine.driver.cuda is None or built is None:
        return None
    newest = _dotted(machine.driver.cuda)
    # A driver runs every older CUDA, and later minor releases of its own major one:
    # https://docs.nvidia.com/deploy/cuda-compatibility/
    if machine.driver.cuda[0] >= built[0]:
        return ok(saw("driver.new_enough", version=machine.driver.version, newest=newest, built=_dotted(built)))
    return problem(
        saw("driver.too_old", version=machine.driver.version, newest=newest, built=_dotted(built)),
        advise("driver.update", cuda=str(machine.driver.cuda[0])),
    )


def _dotted(release: tuple[int, int]) -> str:
    return "{}.{}".format(*release)


def toolkit(environment: Environment) -> Verdict | None:
    torch = environment.torch
    built = release(torch.cuda) if torch else None
    if torch is None or built is None or not torch.usable:
        return None
    found = release(environment.toolkit_release)
    if found is None:
        return problem(_no_nvcc(environment.toolkit_home), advise("toolkit.install", cuda=torch.cuda))
    given = {"nvcc": _dotted(found), "home": environment.toolkit_home, "built": _dotted(built)}
    if found == built or (found[0] == built[0] and found[0] in MINOR_MAY_DIFFER):
        return ok(saw("toolkit.found", **given))
    return problem(saw("toolkit.differs", **given), advise("toolkit.point", built=_dotted(built)))


def _no_nvcc(home: str) -> Said:
    return saw("toolkit.no_nvcc", home=home) if home else saw("toolkit.no_home")


def _op(name: str, needed_for: Said, advice: Said, command: str = "") -> Callable[[Environment], Verdict | None]:
    def judge(environment: Environment) -> Verdict | None:
        op = environment.op(name)
        if op is None:
            return None
        if op.usable:
            return ok(saw("op.built_in", op=name) if op.installed else saw("op.can_be_compiled", op=name))
        return warning((needed_for, _cannot_be_compiled(name, op)), advice, command)

    return judge


def _cannot_be_compiled(name: str, op: Op) -> Said:
    return saw("op.no_because", op=name, why=op.first_reason) if op.reason else saw("op.no", op=name)


async_io = _op("async_io", saw("async_io.needed"), advise("async_io.install"), "sudo apt install libaio-dev")
cpu_adam = _op("cpu_adam", saw("cpu_adam.needed"), advise("cpu_adam.see_above"))
