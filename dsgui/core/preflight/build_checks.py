"""Checks of what DeepSpeed compiles or loads for one config: which operators, and whether the target can. None where
there is nothing to judge."""

import re
from collections.abc import Callable, Iterable

from dsgui.core.config.context import Integration
from dsgui.core.machine import environment_checks, host_checks
from dsgui.core.machine.hardware import Op
from dsgui.core.machine.machine import Environment, Machine
from dsgui.core.machine.verdicts import Status, Verdict, advise, ok, problem, saw, unknown
from dsgui.core.preflight.surroundings import Question
from dsgui.core.rules.base import Config, enabled, is_set, name_of, offload_device, value_or, zero_stage
from dsgui.core.texts.saying import Said, listed

SHARED_MEMORY_OP = "deepspeed_shm_comm"  # deepspeed/comm/torch.py: build_shm_op; left out where it can't be compiled
_READS_ARCHITECTURES_SINCE = "0.19.0"
ARCHITECTURES = "TORCH_CUDA_ARCH_LIST"  # a reason that begins so is ask_target.py's
# deepspeed/ops/op_builder/builder.py: compute_capability_args, since 0.19.0. Empty is as unset.
READ = re.compile(r"[; ]*(?:\d+\.\d+(?:\+PTX)?(?:[; ]+|$))*")
_ON_THE_HOST = {"adam": "cpu_adam", "adamw": "cpu_adam", "adagrad": "cpu_adagrad", "lion": "cpu_lion"}
_FUSED = {"adam": "fused_adam", "adamw": "fused_adam", "lion": "fused_lion", "lamb": "fused_lamb"}

_MONITORS = {"tensorboard": "tensorboard", "wandb": "wandb", "comet": "comet_ml"}  # deepspeed/monitor/utils.py
_SINCE = {"comet": "0.14.3", "datastates_ckpt": "0.18.1"}
_OF_MUP = ("muadam", "muadamw", "musgd")
_NOT_ON_PYPI = "datastates"


def needed_packages(question: Question) -> dict[str, str | Said]:
    """The modules that DeepSpeed imports for this config, with what asks for each.

    Source: deepspeed/monitor/utils.py; deepspeed/runtime/engine.py, _configure_basic_optimizer; deepspeed/datastates/
    config.py and deepspeed/runtime/checkpoint_engine/utils.py, where a checkpoint writer takes precedence."""
    config, context = question.config, question.context
    found: dict[str, str | Said] = {
        module: f"{key}.enabled" for key, module in _MONITORS.items() if enabled(config, key, context)
    }
    if config.get("datastates_ckpt", False) is not False and not is_set(config, "/checkpoint/writer"):
        found["datastates"] = "datastates_ckpt"
    name = name_of(config, "optimizer")
    if name.lower() in _OF_MUP:
        found["mup"] = saw("needs.optimizer", name=name)
    return {module: key for module, key in found.items() if context.at_least(_since(key))}


def _since(key: str | Said) -> str:
    return _SINCE.get(key.partition(".")[0], "") if isinstance(key, str) else ""


def needs(question: Question) -> Verdict | None:
    """None where nothing else is needed, or the environment that trains was not asked."""
    environment, needed = question.around.machine.environment, needed_packages(question)
    lacking = (
        sorted(environment.target.lacking & needed.keys()) if environment and not question.launch.elsewhere else []
    )
    if not lacking:
        return None
    asked = [saw("needs.module", module=module, key=needed[module]) for module in lacking]
    if "PYTHONPATH" in question.launch.environment:
        return unknown(saw("needs.other_path", modules=listed(asked)))
    return problem(saw("needs.lacking", modules=listed(asked)), _install(lacking[0], needed[lacking[0]]))


def _install(module: str, key: str | Said) -> Said:
    return advise("needs.datastates") if module == _NOT_ON_PYPI else advise("needs.install", module=module, key=key)


def needed_ops(question: Question) -> tuple[str, ...]:
    """Those that this config loads, by the names of their builders.

    Source: deepspeed/runtime/engine.py, _configure_basic_optimizer; accelerate/utils/deepspeed.py,
    map_pytorch_optim_to_deepspeed, for the HF Trainer's own optimizer."""
    config = question.config
    shared = () if question.around.machine.gpus else (SHARED_MEMORY_OP,)
    name = name_of(config, "optimizer").lower()
    offloads = zero_stage(config) > 0 and offload_device(config, "offload_optimizer") != "none"
    if not name and offloads and question.launch.reader is Integration.HF and _forced(config):
        name = "adamw"
    if value_or(config, "/optimizer/params/torch_adam", False) is True:
        return shared
    op = (_ON_THE_HOST if offloads else _FUSED).get(name)
    return (op, *shared) if op else shared


def _forced(config: Config) -> bool:
    return value_or(config, "/zero_force_ds_cpu_optimizer", True) is not False


def operators(question: Question) -> Verdict | None:
    names = needed_ops(question)
    environment = question.around.machine.environment
    if not names or question.launch.elsewhere:
        return None
    if environment is None or environment.target.ops is None:
        return unknown(saw("operators.not_asked", operators=listed(names)))
    known = [op for name in names if (op := environment.op(name))]
    named = question.launch.environment.get(ARCHITECTURES)
    if named and not READ.fullmatch(named) and _compiles_for_cuda(question, known):
        return problem(saw("operators.unread_archs", named=named), advise("operators.plain_archs"))
    bad = [op for op in known if not op.usable and op.name != SHARED_MEMORY_OP and not _renamed(op, named)]
    if bad:
        of_architectures = bad[0].reason.startswith(ARCHITECTURES)
        return problem(_no(bad[0]), advise("operators.plain_archs" if of_architectures else "operators.see_machine"))
    return ok(saw("operators.found", operators=listed(map(_yes, known)))) if known else None


def _compiles_for_cuda(question: Question, ops: Iterable[Op]) -> bool:
    """Whether some operator of this config is compiled by the code that reads the variable."""
    to_compile = any(op.name in _FUSED.values() and op.usable and not op.installed for op in ops)
    return to_compile and question.context.at_least(_READS_ARCHITECTURES_SINCE)


def _renamed(op: Op, named: str | None) -> bool:
    """Whether it can't be compiled for what this machine's environment names only, and the run names others."""
    return named is not None and op.reason.startswith(ARCHITECTURES) and READ.fullmatch(named) is not None


def _no(op: Op) -> Said:
    if op.first_reason:
        return saw("operators.cannot_because", op=op.name, why=op.first_reason)
    return saw("operators.cannot", op=op.name)


def _yes(op: Op) -> Said:
    return saw("op.built_in", op=op.name) if op.installed else saw("operators.on_first_use", op=op.name)


def _where_it_compiles(judge: Callable[[Environment], Verdict | None]) -> Callable[[Question], Verdict | None]:
    """A check of the target that matters only if this config needs an operator which is not there yet."""

    def judged(question: Question) -> Verdict | None:
        environment = question.around.machine.environment
        if environment is None or question.launch.elsewhere or not _compiles(question, environment):
            return None
        return judge(environment)

    return judged


def _compiles(question: Question, environment: Environment) -> bool:
    ops = (environment.op(name) for name in needed_ops(question))
    return any(op and op.usable and not op.installed for op in ops)


def _of_machine(judge: Callable[[Machine], Verdict | None]) -> Callable[[Question], Verdict | None]:
    def judged(question: Question) -> Verdict | None:
        environment = question.around.machine.environment
        if environment is None or question.launch.elsewhere or not _compiles(question, environment):
            return None
        return judge(question.around.machine)

    return judged


compiler = _where_it_compiles(environment_checks.compiler)
ninja = _where_it_compiles(environment_checks.ninja)
headers = _where_it_compiles(environment_checks.headers)
toolkit = _where_it_compiles(environment_checks.toolkit)
builds_disk = _of_machine(host_checks.builds_disk)


def packages(question: Question) -> Verdict | None:
    environment = question.around.machine.environment
    if environment is None or environment.target.versions is None:
        return None
    return environment_checks.needed(environment)


def trainer(question: Question) -> Verdict | None:
    environment = question.around.machine.environment
    if question.launch.reader is not Integration.HF or environment is None or environment.target.versions is None:
        return None
    return environment_checks.trainer(environment)


def cuda(question: Question) -> Verdict | None:
    machine = question.around.machine
    if not question.gpus or question.launch.elsewhere:
        return None
    found = environment_checks.cuda(machine)
    if found is None or found.status is not Status.OK:
        return found
    driver = environment_checks.driver(machine)
    return driver if driver and driver.status is not Status.OK else found
