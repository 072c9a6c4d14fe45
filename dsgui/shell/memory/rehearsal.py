"""A training that is not done: the installed DeepSpeed's engine on tensors without storage, three steps of it.

Runs in the target environment, in a child of `memory_worker.py`. Every line of DeepSpeed, transformers and torch is
the installed one, but for what the table in `patched.py` names."""

import collections
import contextlib
import copy
import gc
import linecache
import logging
import time
import warnings
from typing import Any, Callable, Iterator  # noqa: UP035 — Python 3.9 must read this file

from dsgui.shell.memory import autocast, counting, fake_machine, fake_nvme, patched
from dsgui.shell.memory.model_building import FromConfig, FromFunction, Refused
from dsgui.shell.memory.target_modules import load

Tell = Callable[["dict[str, Any]"], None]
STEPS = 3  # the first of ZeRO-3 records a trace and prefetches nothing
# Code of transformers that looks into the attention mask: nothing is padded in a full batch.
_ALL_TRUE = ("transformers/masking_utils.py", "transformers/modeling_attn_mask_utils.py")
_NOT_FOLLOWED = (("aio", "use_gds"),)  # GPUDirect asks for CUDA itself
_MAY_READ = ("deepspeed/", "accelerate/", "torch/")


class ReadsValue(Exception):
    """Code of the model asks what stands in a tensor."""


class Stage:
    """What is the same for every question: the device, torch and DeepSpeed with what is replaced in them. `device` is
    "gpu" or "cpu"; a `real` one replaces nothing and counts what a real process does. Raises `patched.Moved`."""

    def __init__(self, device: str, *, real: bool = False) -> None:
        torch = load("torch")
        self.on_gpu, self.real = device == "gpu", real
        self.device = fake_machine.register_device() if self.on_gpu else torch.device("cpu")
        self.fakes = load("torch._subclasses.fake_tensor")
        self.setting = patched.Setting(self.device, lambda tensor: isinstance(tensor, self.fakes.FakeTensor))
        self._replace("torch")
        for name in ("deepspeed", "transformers"):
            load(name)
        for name in ("transformers", "deepspeed"):
            self._replace(name)

    def _replace(self, of: str) -> None:
        if not self.real:
            patched.replace(self.setting, of, fakes_gpu=self.on_gpu)

    def modes(self, counter: Any, group: "dict[str, int]") -> "list[Any]":
        """What the training happens in; its group of ranks is there from now on."""
        if self.real:
            return [counter]
        self.setting.counter = counter
        ranks, nodes = group["ranks"], group["nodes"]
        stands = fake_machine.accelerator(counter, self.device, -(-ranks // nodes), fakes_gpu=self.on_gpu)
        load("deepspeed.accelerator.real_accelerator").set_accelerator(stands)
        fake_machine.start_group(group["rank"], ranks, nodes)
        return [self.fakes.FakeTensorMode(allow_non_fake_inputs=True), counter]

    def place_of(self, tensor: Any) -> str:
        """Where a tensor is; "" for what is not counted."""
        if self.real:
            return counting.HOST if tensor.device.type == "cpu" else ""
        if not isinstance(tensor, self.fakes.FakeTensor):
            return ""
        kind = tensor.fake_device.type
        return counting.HOST if kind == "cpu" else counting.GPU if kind == fake_machine.NAME else ""


class Rehearsal:
    """One question. `tell` sends how far it is."""

    def __init__(self, question: "dict[str, Any]", tell: Tell, stage: Stage) -> None:
        self.question, self._tell, self.stage = question, tell, stage
        self.config, self.device = copy.deepcopy(question["config"]), stage.device
        self.notes: list[dict[str, Any]] = []
        self._whose = counting.Whose(question["model"].get("folder") or "")
        self.counter = counting.counter(self._whose, stage.place_of, self._answer)
        self._began = time.monotonic()

    def run(self) -> "dict[str, Any]":
        """Everything that was allocated, and when. Raises `Refused`, `ReadsValue` and whatever DeepSpeed raises."""
        quiet()
        refuse(self.config)
        self.micro_batches = self._shorten()
        with contextlib.ExitStack() as modes:
            for mode in self.stage.modes(self.counter, self.question["group"]):
                modes.enter_context(mode)
            return self._train()

    def _shorten(self) -> int:
        """Micro batches of a step here; the config is changed to as many."""
        wanted = int(self.config.get("gradient_accumulation_steps") or 1)
        here = min(wanted, int(self.question["most_micro_batches"]))
        if here != wanted:
            self.note("fewer_micro_batches", steps=str(wanted), here=str(here))
        self.config["gradient_accumulation_steps"] = here
        self.config["train_micro_batch_size_per_gpu"] = self.question["workload"]["micro_batch"]
        self.config.pop("train_batch_size", None)
        fake_nvme.move_away(self.config)
        self.config["steps_per_print"] = 10**9
        return here

    def note(self, code: str, **given: str) -> None:
        self.notes.append({"code": code, "given": given})

    def _answer(self, function: Any, arguments: Any) -> Any:
        """What no tensor without storage can tell. DeepSpeed's own questions (is a norm finite, did it overflow) have
        an answer that goes on; a model's have none."""
        if self.stage.real:
            return NotImplemented
        name = function._schema.name
        if name == "aten::equal":
            return True
        if name != "aten::_local_scalar_dense" or getattr(arguments[0], "constant", None) is not None:
            return NotImplemented
        code, line = self._whose.caller()
        where = counting.short(code.co_filename) if code else ""
        if where.startswith(_ALL_TRUE):
            return True
        if where and not where.startswith(_MAY_READ):
            raise ReadsValue(f"{where}:{line}")
        if code and linecache.getline(code.co_filename, line).lstrip().startswith("assert "):
            return True
        dtype = arguments[0].dtype
        return False if dtype is load("torch").bool else 1.0 if dtype.is_floating_point else 0

    def _train(self) -> "dict[str, Any]":
        with uncollected():
            model = self._model()
            parameters = list(model.parameters())
            counts = [int(getattr(p, "ds_numel", p.numel())) for p in parameters]
            trainable = sum(n for p, n in zip(parameters, counts) if p.requires_grad)  # noqa: B905
            self._tag_weights(parameters)
            engine = self._engine(model)
        self._watch_gradients(parameters)
        self._tag_weights(parameters)
        self.counter.big_logits = self.source.logits()
        for step in range(self.question.get("steps", STEPS)):
            self._step(engine, step)
        self.enter("end", 0)
        return {
            **self.counter.record.to_json(),
            "parameters": sum(counts),
            "trainable": trainable,
            "optimizer": type(engine.optimizer).__name__,
            "notes": self.notes,
            "seconds": round(time.monotonic() - self._began, 2),
        }

    def enter(self, phase: str, step: int) -> None:
        self.counter.record.enter(phase, step)
        self._tell({"phase": phase, "step": step})

    def _model(self) -> Any:
        given = self.question["model"]
        self.source: Any = (FromFunction if given.get("factory") else FromConfig)(self.question, fills=self.stage.real)
        for code, told in self.source.notes():
            self.note(code, **told)
        zero3 = int((self.config.get("zero_optimization") or {}).get("stage") or 0) == 3
        partitioned = zero3 and self.question.get("partitioned_load", True)
        self.enter("model" if partitioned else "load", 0)
        init: Any = load("deepspeed").zero.Init(config_dict_or_path=self.config) if partitioned else None
        with init or contextlib.nullcontext():
            model = self.source.build()
        return self.source.adapt(model)

    def _watch_gradients(self, parameters: "list[Any]") -> None:
        """Says of each gradient what it is, before DeepSpeed's own hook takes it away. Registered after the model was
        moved: with what torch keeps outside of Python, a hook does not move."""
        for parameter in parameters:
            if parameter.requires_grad:
                handle = parameter.register_post_accumulate_grad_hook(self._has_gradient)
                hooks = getattr(parameter, "_post_accumulate_grad_hooks", None)
                if isinstance(hooks, collections.OrderedDict):
                    hooks.move_to_end(handle.id, last=False)

    def _has_gradient(self, parameter: Any) -> None:
        if parameter.grad is not None:
            self.counter.tag(parameter.grad, "gradient")

    def _tag_weights(self, parameters: "list[Any]") -> None:
        for parameter in parameters:
            tag = "weight" if parameter.requires_grad else "frozen"
            self.counter.tag(getattr(parameter, "ds_tensor", parameter.data), tag)

    def _engine(self, model: Any) -> Any:
        self.enter("init", 0)
        groups = self.source.groups(model)
        named: dict[str, Any] = {"model": model, "config": self.config, "model_parameters": groups}
        optimizer = self._client_optimizer(groups)
        if optimizer is not None:
            named["optimizer"] = optimizer
        return load("deepspeed").initialize(**named)[0]

    def _client_optimizer(self, groups: Any) -> Any:
        """What a script passes where the config names none, as the Trainer does it."""
        if (self.config.get("optimizer") or {}).get("type"):
            return None
        zero = self.config.get("zero_optimization") or {}
        offloaded = (zero.get("offload_optimizer") or {}).get("device", "none") != "none"
        on_cpu = offloaded and self.config.get("zero_force_ds_cpu_optimizer", True)
        module, name = ("deepspeed.ops.adam", "DeepSpeedCPUAdam") if on_cpu else ("torch.optim", "AdamW")
        self.note("client_optimizer", name=f"{module}.{name}")
        return getattr(load(module), name)(groups, lr=1e-4)

    def _step(self, engine: Any, step: int) -> None:
        for _ in range(self.micro_batches):
            self.enter("forward", step)
            out = engine(**self.source.batch(self.device))
            loss = loss_of(out)
            del out
            self.enter("backward", step)
            engine.backward(loss)
            del loss
            self.enter("step", step)
            engine.step()


@contextlib.contextmanager
def uncollected() -> "Iterator[None]":
    """What only Python's collector frees stays to the end, and is gone then, whatever the collector would have done on
    its own: DeepSpeed's parameters are in cycles, and a weight that was tied away is such a one (engine.py:931)."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()


def refuse(config: "dict[str, Any]") -> None:
    """What can't be followed here. Raises `Refused`, and `patched.Moved` where this release swaps otherwise."""
    for block, key in _NOT_FOLLOWED:
        if (config.get(block) or {}).get(key):
            raise Refused("not_followed", key=f"/{block}/{key}")
    if (config.get("torch_autocast") or {}).get("enabled"):
        for name in autocast.unknown()[:1]:
            raise patched.Moved(f"torch.autocast: {name}")
    if fake_nvme.swaps(config):
        patched.look_for_swapping()


def loss_of(out: Any) -> Any:
    """Of transformers' outputs, of a tuple, or the loss itself."""
    torch = load("torch")
    found = getattr(out, "loss", None)
    found = out["loss"] if found is None and isinstance(out, dict) and "loss" in out else found
    found = out[0] if found is None and isinstance(out, (tuple, list)) else found
    found = out if found is None else found
    if not isinstance(found, torch.Tensor) or found.numel() != 1:
        raise Refused("no_loss", type=type(out).__name__)
    return found


def quiet() -> None:
    """Nothing is said but the answer."""
    load("torch").set_num_threads(1)
    for name in ("DeepSpeed", "transformers", "accelerate"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [logging.NullHandler()], False
    warnings.simplefilter("ignore")
