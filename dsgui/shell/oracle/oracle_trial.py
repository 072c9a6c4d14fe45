"""One config tried by the real DeepSpeed, stage by stage; runs in a forked child of `oracle_worker.py`.

Read and parse as `deepspeed.initialize` does (HF: after the Trainer's and accelerate's own fill), then, when asked,
initialize a tiny model and take two training steps. What DeepSpeed raises is the answer. Standard library and whatever
the target environment has, from Python 3.9 and DeepSpeed 0.14.5 on.
"""

import logging
import os
import shutil
import sys
import time
import warnings
from types import ModuleType
from typing import Any, Callable  # noqa: UP035 — Python 3.9 must read this file

from dsgui.shell.oracle import oracle_trainer
from dsgui.shell.oracle.oracle_setting import (
    ROWS,
    TOKENS,
    WORDS,
    lend_data_types,
    load,
    prepare_process,
    start_group,
    tiny_model,
)

Tell = Callable[["dict[str, Any]"], None]
OUR_PACKAGES = ("deepspeed", "transformers", "accelerate", "hjson", "json", "pydantic")
STEPS = 2
MOST_MICRO_BATCHES = 128
_MOST_WARNINGS, _MOST_CHARACTERS = 20, 4000
# With one of these a rank is not like any other: the config can't be tried on a single one.
_MANY_RANKS = ("sequence_parallel_size", "tensor_parallel", "expert_parallel", "pipeline", "data_parallel_size")


class Trial:
    """One question on its way through the stages. `tell` sends what is known so far; `scratch` is its own folder."""

    def __init__(self, question: "dict[str, Any]", tell: Tell, scratch: str) -> None:
        self.question, self._tell, self.scratch = question, tell, scratch
        self.world_size = int(question["world_size"])
        self.answer: dict[str, Any] = {"stage": "", "seconds": {}, "warnings": [], "remarks": []}
        self._began = time.monotonic()

    def run(self) -> "dict[str, Any]":
        """Everything that was asked for, up to the first exception."""
        collect_warnings(self.answer["warnings"])
        try:
            self._stages()
            self.enter("done")
        except Exception as error:  # noqa: BLE001 — whatever DeepSpeed raises is the answer
            self._spend()
            self.answer["error"] = describe(error)
        return self.answer

    def enter(self, stage: str) -> None:
        """The next stage begins; the time until now belongs to the one before."""
        self._spend()
        self.answer["stage"] = stage
        self._tell({"stage": stage})

    def doing(self, op: str) -> None:
        """That it loads an op, which takes long where it is compiled first, for whoever waits."""
        self._tell({"stage": self.answer["stage"], "doing": op})

    def remark(self, code: str, **given: str) -> None:
        """Something that had to be decided to try this at all, as a text of `oracle` in the catalogue."""
        self.answer["remarks"].append({"code": code, "given": given})

    def _spend(self) -> None:
        now = time.monotonic()
        if self.answer["stage"]:
            self.answer["seconds"][self.answer["stage"]] = round(now - self._began, 4)
        self._began = now

    def _stages(self) -> None:
        lend_data_types(self.question.get("lend", False))
        self.enter("read")
        path = text_as_file(self.question["text"])
        handed = self._read(path)
        self.enter("parse")
        self._parse(handed)
        if self.question["do"] == "parse":
            return
        if self.question.get("one_rank"):
            handed, self.world_size = self._on_one_rank(path, handed), 1
        self.enter("initialize")
        engine = self._initialize(handed)
        if self.world_size == 1:
            self.enter("step")
            self._train(engine)

    def _read(self, path: str) -> Any:
        """What the reader hands to `deepspeed.initialize`: the path, or a dict of its own making."""
        if self.question["reader"] == "hf":
            return oracle_trainer.filled(self, path)
        config = read_native(path)
        if not isinstance(config, dict):
            raise TypeError(f"the config is a {type(config).__name__}, not an object")
        # Since 0.18 initialize reads the file before it makes the DeepSpeedConfig; before, the path went through.
        return config if hasattr(load("deepspeed"), "load_ds_config") else path

    def _parse(self, handed: Any) -> None:
        comm, module = load("deepspeed.comm"), load("deepspeed.runtime.config")
        real = comm.get_rank, comm.get_world_size
        comm.get_rank, comm.get_world_size = (lambda group=None: 0), (lambda group=None: self.world_size)
        try:
            self.answer["resolved"] = resolved(module.DeepSpeedConfig(copy_of(handed)))
        finally:
            comm.get_rank, comm.get_world_size = real

    def _on_one_rank(self, path: str, handed: Any) -> Any:
        """The config with the batch that one rank of many has."""
        config = dict(handed) if isinstance(handed, dict) else dict(read_native(path))
        shared = [key for key in _MANY_RANKS if config.get(key) not in (None, 1, {})]
        if shared:
            raise NotTried(shared[0])
        terms = self.answer["resolved"]
        config["train_micro_batch_size_per_gpu"] = terms["micro"]
        config["gradient_accumulation_steps"] = terms["accumulation"]
        config["train_batch_size"] = terms["micro"] * terms["accumulation"]
        return config

    def _initialize(self, handed: Any) -> Any:
        deepspeed = load("deepspeed")
        prepare_process(self)
        start_group(self.world_size)
        model = tiny_model()
        parameters = [p for p in model.parameters() if p.requires_grad]
        arguments: dict[str, Any] = {"model": model, "model_parameters": parameters, "config": copy_of(handed)}
        optimizer = self._client_optimizer(handed, parameters)
        if optimizer is not None:
            arguments["optimizer"] = optimizer
        engine, _, _, scheduler = deepspeed.initialize(**arguments)
        self.answer["engine"] = {
            "engine": type(engine).__name__,
            "optimizer": type(engine.optimizer).__name__,
            "scheduler": type(scheduler).__name__ if scheduler else "",
        }
        return engine

    def _client_optimizer(self, handed: Any, parameters: Any) -> Any:
        """The optimizer that a script passes when the file names none (the Trainer always does then)."""
        config = handed if isinstance(handed, dict) else read_native(handed)
        named = config.get("optimizer") or {}
        if named.get("type") or (self.question["reader"] == "hf" and "optimizer" in config):
            return None
        offload = offload_device(config)
        cpu_adam = offload == "cpu" and config.get("zero_force_ds_cpu_optimizer", True)
        name, module = ("DeepSpeedCPUAdam", "deepspeed.ops.adam") if cpu_adam else ("AdamW", "torch.optim")
        self.remark("no_optimizer", optimizer=f"{module}.{name}")
        return getattr(load(module), name)(parameters, lr=1e-3)

    def _train(self, engine: Any) -> None:
        torch = load("torch")
        taken = batches = 0
        while taken < STEPS and batches < MOST_MICRO_BATCHES:
            loss = engine(*(torch.randint(0, WORDS, (ROWS, TOKENS)) for _ in range(2)))
            engine.backward(loss)
            taken += bool(engine.is_gradient_accumulation_boundary())
            engine.step()
            batches += 1
        if taken < STEPS:
            self.remark("few_steps", taken=str(taken), steps=str(STEPS), batches=str(batches))
        self.answer["steps"] = taken


class NotTried(Exception):
    """One rank can't try this: the key that it names needs more."""


def read_native(path: str) -> Any:
    """The file as native DeepSpeed reads it: hjson that refuses duplicate keys."""
    duplicates = load("deepspeed.runtime.config_utils").dict_raise_error_on_duplicate_keys
    with open(path) as file:
        return load("hjson").load(file, object_pairs_hook=duplicates)


def text_as_file(text: str) -> str:
    """The path of a file with this text that exists in memory only: nothing is left when the process is killed."""
    handle = os.memfd_create("ds_config.json")
    with open(handle, "wb", closefd=False) as file:
        file.write(text.encode("utf-8", "surrogatepass"))
    return f"/proc/self/fd/{handle}"


def copy_of(handed: Any) -> Any:
    """DeepSpeed changes what it is given."""
    return load("copy").deepcopy(handed)


def resolved(config: Any) -> "dict[str, Any]":
    """What DeepSpeed made of the config: the solved batch, the ZeRO stage, the data type."""
    names = ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps")
    train, micro, accumulation = (getattr(config, name) for name in names)
    return {
        "train": train,
        "micro": micro,
        "accumulation": accumulation,
        "stage": int(config.zero_optimization_stage),
        "dtype": "fp16"
        if is_on(config, "float16", "fp16")
        else "bf16"
        if is_on(config, "bfloat16", "bf16")
        else "fp32",
    }


def is_on(config: Any, block: str, old: str) -> bool:
    """Whether a precision block is on; releases before 0.17 keep a flag in place of the block."""
    found = getattr(config, f"{block}_config", None)
    return bool(found.enabled if found is not None else getattr(config, f"{old}_enabled", False))


def offload_device(config: "dict[str, Any]") -> str:
    """Where the optimizer states go, by the block or by its old switch."""
    zero = config.get("zero_optimization")
    zero = zero if isinstance(zero, dict) else {}
    block = zero.get("offload_optimizer")
    device = block.get("device", "none") if isinstance(block, dict) else "none"
    return "cpu" if zero.get("cpu_offload") is True else str(device)


def describe(error: BaseException) -> "dict[str, Any]":
    """The exception as JSON: what it says, and the calls it went through, the innermost last."""
    described: dict[str, Any] = {
        "type": type(error).__name__,
        "message": str(error)[:_MOST_CHARACTERS],
        "frames": list(frames(error)),
    }
    if isinstance(error, NotTried):
        described["not_tried"] = True
    if type(error).__name__ == "ValidationError" and hasattr(error, "errors"):  # pydantic's: it knows the keys
        problems = error.errors()
        model = getattr(error, "model", None)  # pydantic 1, which DeepSpeed used before 0.15
        described["model"] = model.__name__ if model else error.title  # type: ignore[attr-defined]
        described["problems"] = [{"keys": [str(key) for key in p["loc"]], "message": p["msg"]} for p in problems]
    return described


def frames(error: BaseException) -> Any:
    """Module, function and source line of each call inside a package that judges configs."""
    lines = load("linecache")
    step = error.__traceback__
    while step is not None:
        frame = step.tb_frame
        module = str(frame.f_globals.get("__name__", ""))
        if module.split(".")[0] in OUR_PACKAGES:
            source = lines.getline(frame.f_code.co_filename, step.tb_lineno).strip()
            yield {"module": module, "function": frame.f_code.co_name, "source": source[:200]}
        step = step.tb_next


def collect_warnings(found: "list[str]") -> None:
    """From now on what DeepSpeed, transformers and Python warn of goes into `found`, and nowhere else."""

    def keep(text: str) -> None:
        if text not in found and len(found) < _MOST_WARNINGS:
            found.append(text[:_MOST_CHARACTERS])

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            keep(record.getMessage())

    for name in ("DeepSpeed", "transformers", "accelerate"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [Keep(logging.WARNING)], False
    warnings.simplefilter("ignore")
    logging.captureWarnings(False)


def forget_folder(path: str) -> None:
    """Removes a scratch folder, whatever is in it."""
    shutil.rmtree(path, ignore_errors=True)


def versions() -> "dict[str, str]":
    """Installed versions of what answers."""
    found: dict[str, str] = {}
    for name in ("deepspeed", "torch", "transformers", "accelerate"):
        module: ModuleType | None = sys.modules.get(name)
        if module is not None:
            found[name] = str(getattr(module, "__version__", ""))
    return found
