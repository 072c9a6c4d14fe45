"""Checks of what DeepSpeed compiles or loads for one config: which operators, and whether the target can. None where
there is nothing to judge."""

from collections.abc import Callable

from dsgui.core.config.context import Integration
from dsgui.core.machine import environment_checks, host_checks
from dsgui.core.machine.machine import Environment, Machine
from dsgui.core.machine.verdicts import Status, Verdict, ok, problem, unknown
from dsgui.core.preflight.surroundings import Question
from dsgui.core.rules.base import Config, enabled, is_set, name_of, offload_device, value_or, zero_stage

SHARED_MEMORY_OP = "deepspeed_shm_comm"  # deepspeed/comm/torch.py: build_shm_op; left out where it can't be compiled
_ON_THE_HOST = {"adam": "cpu_adam", "adamw": "cpu_adam", "adagrad": "cpu_adagrad", "lion": "cpu_lion"}
_FUSED = {"adam": "fused_adam", "adamw": "fused_adam", "lion": "fused_lion", "lamb": "fused_lamb"}

_MONITORS = {"tensorboard": "tensorboard", "wandb": "wandb", "comet": "comet_ml"}  # deepspeed/monitor/utils.py
_SINCE = {"comet": "0.14.3", "datastates_ckpt": "0.18.1"}
_OF_MUP = ("muadam", "muadamw", "musgd")
_INSTALL = {"datastates": "See github.com/DataStates/datastates-llm, or remove datastates_ckpt"}


def needed_packages(question: Question) -> dict[str, str]:
    """The modules that DeepSpeed imports for this config, with what asks for each.

    Source: deepspeed/monitor/utils.py; deepspeed/runtime/engine.py, _configure_basic_optimizer; deepspeed/datastates/
    config.py and deepspeed/runtime/checkpoint_engine/utils.py, where a checkpoint writer takes precedence."""
    config, context = question.config, question.context
    found = {module: f"{key}.enabled" for key, module in _MONITORS.items() if enabled(config, key, context)}
    if config.get("datastates_ckpt", False) is not False and not is_set(config, "/checkpoint/writer"):
        found["datastates"] = "datastates_ckpt"
    name = name_of(config, "optimizer")
    if name.lower() in _OF_MUP:
        found["mup"] = f"the optimizer {name}"
    return {module: key for module, key in found.items() if context.at_least(_SINCE.get(key.partition(".")[0], ""))}


def needs(question: Question) -> Verdict | None:
    """None where nothing else is needed, or the environment that trains was not asked."""
    environment, needed = question.around.machine.environment, needed_packages(question)
    lacking = (
        sorted(environment.target.lacking & needed.keys()) if environment and not question.launch.elsewhere else []
    )
    if not lacking:
        return None
    asked = ", ".join(f"{module} (for {needed[module]})" for module in lacking)
    install = _INSTALL.get(lacking[0], f"pip install {lacking[0]} there, or remove {needed[lacking[0]]}")
    return problem(f"DeepSpeed imports {asked}, and the Python that trains does not have it: it stops.", f"{install}.")


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
        return unknown(
            f"Whether the training environment can build {', '.join(names)} is not known before it was asked: "
            "4 · Machine and “python -m dsgui doctor” ask it."
        )
    known = [op for name in names if (op := environment.op(name))]
    bad = [op for op in known if not op.usable and op.name != SHARED_MEMORY_OP]
    if bad:
        return problem(
            f"This config needs {bad[0].name}, and the training environment can't compile it: "
            f"{bad[0].first_reason or 'no reason was given'}.",
            "See 4 · Machine for what is missing, or choose another optimizer or no offload (“torch_adam”: true in "
            "optimizer.params needs no operator of DeepSpeed's).",
        )
    told = [f"{op.name} is built in" if op.installed else f"{op.name} is compiled on first use" for op in known]
    return ok(", ".join(told)) if told else None


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
