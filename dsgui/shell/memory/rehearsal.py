"""A training that is not done: the installed DeepSpeed's engine on tensors without storage, three steps of it.

Runs in the target environment, in a child of `memory_worker.py`. Every line of DeepSpeed, transformers and torch is
the installed one, but for what the table in `patched.py` names."""

import contextlib
import copy
import logging
import time
import warnings
from typing import Any, Callable  # noqa: UP035 — Python 3.9 must read this file

from dsgui.shell.memory import counting, fake_machine, patched
from dsgui.shell.memory.model_building import FromConfig, FromFunction, Refused
from dsgui.shell.memory.target_modules import load

Tell = Callable[["dict[str, Any]"], None]
STEPS = 3  # the first of ZeRO-3 records a trace and prefetches nothing
MOST_MICRO_BATCHES = 2  # from the second on, accumulation looks the same
# Code of transformers that looks into the attention mask: nothing is padded in a full batch.
_ALL_TRUE = ("transformers/masking_utils.py", "transformers/modeling_attn_mask_utils.py")
_MAY_READ = ("deepspeed/", "accelerate/")


class ReadsValue(Exception):
    """Code of the model asks what stands in a tensor."""


class Rehearsal:
    """One question. `tell` sends how far it is."""

    def __init__(self, question: "dict[str, Any]", tell: Tell) -> None:
        self.question, self._tell = question, tell
        self.config = copy.deepcopy(question["config"])
        self.on_gpu = question.get("device", "gpu") == "gpu"
        self.real = bool(question.get("real"))
        self.notes: "list[dict[str, Any]]" = []
        self._began = time.monotonic()

    def run(self) -> "dict[str, Any]":
        """Everything that was allocated, and when. Raises `Refused`, `ReadsValue`, `patched.Moved` and whatever
        DeepSpeed raises."""
        quiet()
        self.micro_batches = self._shorten()
        self._prepare()
        with contextlib.ExitStack() as modes:
            for mode in self._modes:
                modes.enter_context(mode)
            return self._train()

    def _shorten(self) -> int:
        """Micro batches of a step here; the config is changed to as many."""
        wanted = int(self.config.get("gradient_accumulation_steps") or 1)
        here = min(wanted, MOST_MICRO_BATCHES)
        if here != wanted:
            self.note("fewer_micro_batches", steps=str(wanted), here=str(here))
        self.config["gradient_accumulation_steps"] = here
        self.config["train_micro_batch_size_per_gpu"] = self.question["workload"]["micro_batch"]
        self.config.pop("train_batch_size", None)
        self.config["steps_per_print"] = 10**9
        return here

    def note(self, code: str, **given: str) -> None:
        self.notes.append({"code": code, "given": given})

    def _prepare(self) -> None:
        """The machine that is not there."""
        torch, group = load("torch"), self.question["group"]
        whose = counting.Whose(self.question["model"].get("folder") or "")
        self.device = fake_machine.register_device() if self.on_gpu else torch.device("cpu")
        fake_kind = load("torch._subclasses.fake_tensor")
        self._whose = whose
        self.counter = counting.counter(whose, self._place_of(fake_kind), self._answer)
        if self.real:
            self._modes: "list[Any]" = [self.counter]
            return
        setting = patched.Setting(self.counter, self.device, lambda tensor: isinstance(tensor, fake_kind.FakeTensor))
        patched.replace(setting, "torch", fakes_gpu=self.on_gpu)
        for name in ("deepspeed", "transformers"):
            load(name)
        patched.replace(setting, "deepspeed", fakes_gpu=self.on_gpu)
        ranks, nodes = group["ranks"], group["nodes"]
        stands = fake_machine.accelerator(self.counter, self.device, -(-ranks // nodes), fakes_gpu=self.on_gpu)
        load("deepspeed.accelerator.real_accelerator").set_accelerator(stands)
        fake_machine.start_group(group["rank"], ranks, nodes)
        self._modes = [fake_kind.FakeTensorMode(allow_non_fake_inputs=True), self.counter]

    def _place_of(self, fake_kind: Any) -> Any:
        if self.real:
            return lambda tensor: counting.HOST if tensor.device.type == "cpu" else ""
        fake, places = fake_kind.FakeTensor, {"cpu": counting.HOST, fake_machine.NAME: counting.GPU}
        return lambda tensor: places.get(tensor.fake_device.type, "") if isinstance(tensor, fake) else ""

    def _answer(self, function: Any, arguments: Any) -> Any:
        """What no tensor without storage can tell. DeepSpeed's own questions (is a norm finite, did it overflow) have
        an answer that goes on; a model's have none."""
        if self.real:
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
        dtype = arguments[0].dtype
        return False if dtype is load("torch").bool else 1.0 if dtype.is_floating_point else 0

    def _train(self) -> "dict[str, Any]":
        model = self._model()
        parameters = list(model.parameters())
        counts = [int(getattr(p, "ds_numel", p.numel())) for p in parameters]
        trainable = sum(n for p, n in zip(parameters, counts) if p.requires_grad)  # noqa: B905
        self._tag_weights(parameters)
        engine = self._engine(model)
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
        self.enter("model", 0)
        given = self.question["model"]
        self.source: Any = (FromFunction if given.get("factory") else FromConfig)(given, self.question["workload"])
        dtype = dtype_of(self.config)
        zero3 = int((self.config.get("zero_optimization") or {}).get("stage") or 0) == 3
        partitioned = zero3 and self.question.get("partitioned_load", True)
        init: Any = load("deepspeed").zero.Init(config_dict_or_path=self.config) if partitioned else None
        with init if init is not None else self.device:
            model = self.source.build(dtype)
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(self._has_gradient)
        return model

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
        named: "dict[str, Any]" = {"model": model, "config": self.config, "model_parameters": groups}
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


def loss_of(out: Any) -> Any:
    """Of transformers' outputs, of a tuple, or the loss itself."""
    torch = load("torch")
    found = getattr(out, "loss", None)
    found = out["loss"] if found is None and isinstance(out, dict) and "loss" in out else found
    found = out[0] if found is None and isinstance(out, (tuple, list)) else found
    found = out if found is None else found
    if not isinstance(found, torch.Tensor) or found.numel() != 1:
        raise Refused("no_loss", kind=type(out).__name__)
    return found


def dtype_of(config: "dict[str, Any]") -> Any:
    """The data type that DeepSpeed gives the model's weights."""
    torch = load("torch")
    for block, dtype in (("fp16", torch.float16), ("bf16", torch.bfloat16), ("bfloat16", torch.bfloat16)):
        if (config.get(block) or {}).get("enabled"):
            return dtype
    return torch.float32


def quiet() -> None:
    """Nothing is said but the answer."""
    load("torch").set_num_threads(1)
    for name in ("DeepSpeed", "transformers", "accelerate"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [logging.NullHandler()], False
    warnings.simplefilter("ignore")
