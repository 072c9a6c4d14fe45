"""How the HF Trainer and accelerate complete a config before DeepSpeed sees it, and what stops them.

The steps are those of transformers/integrations/deepspeed.py (`trainer_config_process`, `trainer_config_finalize`,
`deepspeed_optim_sched`) and accelerate (utils/dataclasses.py: DeepSpeedPlugin; accelerator.py: `_prepare_deepspeed`),
in their order; transformers 5.23 and accelerate 1.15. A run started by `accelerate launch` with DeepSpeed settings in
its own YAML is another matter.
"""

import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Context
from dsgui.core.config.pointer import MISSING, child, dotted, lookup, split
from dsgui.core.texts.saying import Said, listed, said

TRAIN = "/train_batch_size"
MICRO = "/train_micro_batch_size_per_gpu"
ACCUMULATION = "/gradient_accumulation_steps"
WARMUP, STEPS = "/scheduler/params/warmup_num_steps", "/scheduler/params/total_num_steps"

# Key → the `TrainingArguments` that it must agree with: "auto" is filled from them, another value must be equal.
ARGUMENTS: dict[str, tuple[str, ...]] = {
    MICRO: ("per_device_train_batch_size",),
    ACCUMULATION: ("gradient_accumulation_steps",),
    "/gradient_clipping": ("max_grad_norm",),
    "/optimizer/params/lr": ("learning_rate",),
    "/optimizer/params/betas": ("adam_beta1", "adam_beta2"),
    "/optimizer/params/eps": ("adam_epsilon",),
    "/optimizer/params/weight_decay": ("weight_decay",),
    "/scheduler/params/warmup_max_lr": ("learning_rate",),
    WARMUP: ("warmup_steps",),
    STEPS: ("max_steps",),
    "/fp16/enabled": ("fp16",),
    "/bf16/enabled": ("bf16",),
}
# The order in which the Trainer compares, which is that of its message.
_COMPARED_FIRST = (MICRO, ACCUMULATION, TRAIN, *[p for p in ARGUMENTS if p not in (MICRO, ACCUMULATION, WARMUP, STEPS)])
_COMPARED_LAST = (STEPS, WARMUP)
# What its message calls a value that is not one argument as it is.
_LABELS = {
    TRAIN: "train_batch_size (calculated)",
    "/optimizer/params/betas": "adam_beta1+adam_beta2",
    STEPS: "num_training_steps (calculated)",
    "/fp16/enabled": "fp16|fp16_full_eval",
    "/bf16/enabled": "bf16|bf16_full_eval",
}
# "auto" that is computed from the model's hidden size: in words, and how.
FROM_MODEL: dict[str, tuple[str, Callable[[int], int]]] = {
    "/zero_optimization/reduce_bucket_size": ("hidden_size²", lambda size: size * size),
    "/zero_optimization/stage3_prefetch_bucket_size": ("0.9 × hidden_size²", lambda size: int(0.9 * size * size)),
    "/zero_optimization/stage3_param_persistence_threshold": ("10 × hidden_size", lambda size: 10 * size),
}
# "auto" that no argument fills: the first by the Trainer, the others by accelerate's plugin.
CONSTANTS: dict[str, Any] = {
    "/scheduler/params/warmup_min_lr": 0,
    "/zero_optimization/stage": 2,
    "/zero_optimization/offload_optimizer/device": "none",
    "/zero_optimization/offload_optimizer/nvme_path": "none",
    "/zero_optimization/offload_param/device": "none",
    "/zero_optimization/offload_param/nvme_path": "none",
    "/zero_optimization/stage3_gather_16bit_weights_on_model_save": False,
}
# The arguments that decide a value, where it is not that of its own alone.
_DECIDED_BY = {
    TRAIN: (*ARGUMENTS[MICRO], *ARGUMENTS[ACCUMULATION]),
    WARMUP: ("warmup_steps", "warmup_ratio", "max_steps"),
    "/fp16/enabled": ("fp16", "fp16_full_eval"),
    "/bf16/enabled": ("bf16", "bf16_full_eval"),
}
FILLED_BY_TRAINER = (TRAIN, *ARGUMENTS, *FROM_MODEL, *CONSTANTS)


# accelerate's own words, and Python's.
NO_ZERO_BLOCK = "Please specify the ZeRO optimization config in the DeepSpeed config."
NO_ATTRIBUTE = "object has no attribute"


class Origin(Enum):
    """Where a value of the final config comes from."""

    FILE = "file"
    ARGUMENTS = "TrainingArguments"
    MODEL = "model"
    HF = "HF default"
    ACCELERATE = "accelerate"
    DEEPSPEED = "DeepSpeed default"

    @property
    def told(self) -> Said:
        """In words; the value is its code."""
        return said("origins", self.name.lower())


@dataclass(frozen=True, slots=True)
class Source:
    """An origin with its detail: the argument's name, or how the value was computed."""

    origin: Origin
    what: str | Said = ""
    given: bool = True  # an argument that is not counts by its default

    @property
    def detail(self) -> str:
        """In words."""
        return str(self.what if self.given else said("filling", "not_given", what=self.what))


@dataclass(frozen=True, slots=True)
class Unknown:
    """Stands for a value that depends on the model or the data; `what` describes it in words."""

    what: str | Said


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A value that differs from the arguments, and the line about it in the Trainer's ValueError. `apart`: where not
    all of these are known, those that differ, each with its value and the file's."""

    pointer: str
    seen: Any
    wanted: Any
    said: str
    apart: tuple[tuple[str, Any, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Stop:
    """Another error on the way to `deepspeed.initialize`: where it occurs, and its message."""

    pointer: str
    said: str


@dataclass(slots=True)
class Filled:
    """The config as `deepspeed.initialize` gets it, where each changed value comes from, and what prevents that. `left`
    are the keys where "auto" remains, at which accelerate stops."""

    config: dict[str, Any]
    arguments: TrainingArguments
    sources: dict[str, Source] = field(default_factory=dict)
    mismatches: list[Mismatch] = field(default_factory=list)
    stops: list[Stop] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    @property
    def stopped(self) -> bool:
        return bool(self.mismatches or self.stops or self.left)


def fill(config: Mapping[str, Any], arguments: TrainingArguments, context: Context) -> Filled:
    """The final config. What would stop in reality is noted, and the rest is filled in anyway."""
    filler = _Filler(Filled(deepcopy(dict(config)), arguments), context)
    filler.process()
    filler.plug_in()
    filler.set_precision()
    filler.prepare_data()
    filler.finalize()
    filler.prepare()
    return filler.filled


class _Filler:
    """One pass over one config."""

    def __init__(self, filled: Filled, context: Context) -> None:
        self.filled = filled
        self.config = filled.config
        self.arguments = filled.arguments
        self.context = context

    def process(self) -> None:
        """When `TrainingArguments` are created."""
        for pointer in _COMPARED_FIRST:
            self._match(pointer)
        self._constant("/scheduler/params/warmup_min_lr", Source(Origin.HF, said("filling", "always_zero")))
        if self.arguments.save_on_each_node:
            self._save_on_each_node()

    def plug_in(self) -> None:
        """accelerate's DeepSpeedPlugin."""
        if "gradient_accumulation_steps" not in self.config:
            self._write(ACCUMULATION, 1, Source(Origin.ACCELERATE, said("filling", "absent")))
        if "zero_optimization" not in self.config:
            self._stop("/zero_optimization", NO_ZERO_BLOCK)
        for pointer in CONSTANTS:
            self._constant(pointer, Source(Origin.ACCELERATE))
        self._write("/steps_per_print", math.inf, Source(Origin.ACCELERATE, said("filling", "trainer_logs")))

    def set_precision(self) -> None:
        """accelerate's `set_mixed_precision`, when the Trainer is created."""
        chosen = self.arguments.mixed_precision
        on = {"enabled": True, "auto_cast": True} if chosen == "fp16" else {"enabled": True}
        source = Source(Origin.ARGUMENTS, chosen)
        if chosen != "no":
            if chosen not in self.config:
                self._write(f"/{chosen}", on, source)
            self._refuse_other_precision(chosen, "bf16" if chosen == "fp16" else "fp16")
        for block in ("fp16", "bf16"):
            if block not in self.config:
                self._write(f"/{block}", {"enabled": False}, Source(Origin.ACCELERATE, said("filling", "no_block")))
        fp16 = self.config["fp16"]
        asked = ("fp16", "bf16") if fp16 is None or (isinstance(fp16, dict) and not fp16.get("enabled")) else ()
        empty = next((block for block in asked if self.config[block] is None), None)
        if empty:
            self._stop(f"/{empty}", f"'AcceleratorState' {NO_ATTRIBUTE} 'mixed_precision'")
        if chosen == "bf16" and self._on_rocm() and "communication_data_type" not in self.config:
            self._write("/communication_data_type", "fp32", Source(Origin.ACCELERATE, said("filling", "bf16_on_rocm")))

    def prepare_data(self) -> None:
        """accelerate multiplies the batch terms when it gets the data, before the Trainer compares anything. By then, a
        term that the script computes is a number."""
        micro, steps = self.config.get("train_micro_batch_size_per_gpu"), self.config["gradient_accumulation_steps"]
        micro, steps = (1 if isinstance(term, Unknown) else term for term in (micro, steps))
        if micro is None:
            return
        try:
            _sample(micro) * _sample(steps) * 1 // 1
        except TypeError as error:
            culprit = ACCUMULATION if isinstance(micro, int | float | Unknown) else MICRO
            self._stop(culprit, str(error))

    def finalize(self) -> None:
        """When training starts: the model and the number of steps are known."""
        size = self.arguments.hidden_size
        for pointer, (words, computed) in FROM_MODEL.items():
            if self._get(pointer) == "auto":
                value = Unknown(words) if size is None else computed(size)
                self._write(pointer, value, Source(Origin.MODEL, words))
        for pointer in _COMPARED_LAST:
            self._match(pointer)

    def prepare(self) -> None:
        """The optimizer's part, and accelerate's `_prepare_deepspeed`."""
        if "optimizer" not in self.config:
            why = said("filling", "own_optimizer")
            self._write("/zero_allow_untested_optimizer", True, Source(Origin.HF, why))
            self._look_for_offload()
        if lookup(self.config, "/tensor_parallel") is None:
            self._no_object("/tensor_parallel", None)
        self._find_left(self.config, "", "")

    # -------------------------------------------------------------------------------------------------- one key
    def _match(self, pointer: str) -> None:
        """`fill_match`: "auto" is replaced, null is left alone, anything else has to be equal."""
        seen = self._get(pointer)
        if seen is MISSING or seen is None:
            return
        wanted, source = self._wanted(pointer)
        if seen == "auto":
            self._write(pointer, wanted, source)
            return
        label = _LABELS.get(pointer) or "+".join(ARGUMENTS[pointer])
        line = f"- ds {dotted(pointer)}={seen} vs hf {label}="
        if isinstance(wanted, Unknown):
            if apart := self._apart(pointer, seen):
                self.filled.mismatches.append(Mismatch(pointer, seen, wanted, f"{line}…", apart))
        elif seen != wanted:
            self.filled.mismatches.append(Mismatch(pointer, seen, wanted, f"{line}{wanted}"))

    def _wanted(self, pointer: str) -> tuple[Any, Source]:
        """The arguments' value for a key, and where it comes from."""
        arguments, names = self.arguments, ARGUMENTS.get(pointer, ())
        if not arguments.unknown.isdisjoint(_DECIDED_BY.get(pointer, names)):
            return Unknown(said("filling", "by_script")), Source(Origin.ARGUMENTS, listed(names))
        detail = listed(names)
        value: Any
        if pointer == TRAIN:
            return self._train_batch()
        if pointer == STEPS:
            return self._steps()
        if pointer == WARMUP:
            names = ("warmup_steps", "warmup_ratio")
            value = Unknown(said("filling", "share_of_steps")) if arguments.warmup is None else arguments.warmup
        elif pointer.endswith("/enabled"):
            names = (names[0], f"{names[0]}_full_eval")
            value = arguments.switched_on(names[0])
        elif len(names) > 1:
            value = [getattr(arguments, name) for name in names]
        else:
            value = getattr(arguments, names[0])
        return value, self._source(names, detail)

    def _apart(self, pointer: str, seen: Any) -> tuple[tuple[str, Any, Any], ...]:
        """Of several arguments, some of them unknown, those that differ from the file: (argument, its value, the
        file's)."""
        names, unknown = ARGUMENTS.get(pointer, ()), self.arguments.unknown
        if pointer in _DECIDED_BY or not isinstance(seen, list) or len(seen) != len(names):
            return ()
        known = ((name, getattr(self.arguments, name), one) for name, one in zip(names, seen, strict=True))
        return tuple((name, ours, one) for name, ours, one in known if name not in unknown and ours != one)

    def _train_batch(self) -> tuple[int, Source]:
        """The Trainer multiplies by all ranks, however they are divided later."""
        micro, steps = self.arguments.per_device_train_batch_size, self.arguments.gradient_accumulation_steps
        ranks = self.context.world_size
        names = ("per_device_train_batch_size", "gradient_accumulation_steps")
        product = said("filling", "product", micro=str(micro), steps=str(steps), ranks=str(ranks))
        return micro * steps * ranks, self._source(names, product)

    def _steps(self) -> tuple[int | Unknown, Source]:
        steps = self.arguments.steps
        if steps is None:
            return Unknown(said("filling", "steps")), Source(Origin.HF, said("filling", "counted"))
        return steps, self._source(("max_steps", "total_steps"), "max_steps" if steps >= 0 else "")

    def _source(self, names: tuple[str, ...], detail: str | Said) -> Source:
        given = any(name in self.arguments.given for name in names)
        return Source(Origin.ARGUMENTS if given else Origin.HF, detail, given)

    def _constant(self, pointer: str, source: Source) -> None:
        if self._get(pointer) == "auto":
            self._write(pointer, CONSTANTS[pointer], source)

    # ------------------------------------------------------------------------------------------------- the rest
    def _save_on_each_node(self) -> None:
        if not isinstance(self.config.get("checkpoint", {}), dict):
            self._stop("/checkpoint", str(said("filling", "no_checkpoint")))
            return
        pointer = "/checkpoint/use_node_local_storage"
        self.config.setdefault("checkpoint", {})
        self._write(pointer, True, Source(Origin.ARGUMENTS, "save_on_each_node"))

    def _refuse_other_precision(self, chosen: str, other: str) -> None:
        block = self.config.get(other, {})
        if not self.arguments.unknown.isdisjoint(("fp16", "bf16")):
            return
        if not isinstance(block, dict):
            self._no_object(f"/{other}", block)
        elif str(block.get("enabled", "False")).lower() == "true":
            start = f"`--mixed_precision` arg cannot be set to `{chosen}` when `{other}` is set in the DeepSpeed config"
            self._stop(f"/{other}/enabled", f"{start} file.")

    def _look_for_offload(self) -> None:
        """accelerate replaces the Trainer's optimizer with a CPU one if the file offloads; it looks up the keys without
        checking that they exist."""
        zero = self.config.get("zero_optimization", {})
        if not isinstance(zero, dict):
            self._no_object("/zero_optimization", zero)
        elif not isinstance(zero.get("offload_optimizer", {}), dict):
            self._no_object("/zero_optimization/offload_optimizer", zero["offload_optimizer"])

    def _on_rocm(self) -> bool:
        return bool(self.context.hardware) and all(device.vendor == "amd" for device in self.context.hardware)

    def _find_left(self, block: Mapping[str, Any], pointer: str, name: str) -> None:
        """`deepspeed_config_process`. It looks up keys by their dotted name, so a key that contains a dot is not
        found."""
        for key, value in block.items():
            place = child(pointer, key)
            if isinstance(value, dict):
                self._find_left(value, place, f"{name}{key}.")
            elif value == "auto" and lookup(self.config, "/" + f"{name}{key}".replace(".", "/")) == "auto":
                self.filled.left.append(place)

    # ------------------------------------------------------------------------------------------- reading, writing
    def _get(self, pointer: str) -> Any:
        """`find_config_node`: null on the way counts as nothing, any other value there is an error."""
        value: Any = self.config
        place = ""
        for part in split(pointer):
            if value is None:
                return MISSING
            if not isinstance(value, dict):
                self._no_object(place, value)
                return MISSING
            place = child(place, part)
            value = value.get(part, MISSING)
            if value is MISSING:
                return MISSING
        return value

    def _write(self, pointer: str, value: Any, source: Source) -> None:
        *parents, last = split(pointer)
        block = self.config
        for part in parents:
            block = block[part]
        block[last] = value
        self.filled.sources[pointer] = source

    def _no_object(self, pointer: str, value: Any) -> None:
        self._stop(pointer, f"'{type(value).__name__}' {NO_ATTRIBUTE} 'get'")

    def _stop(self, pointer: str, said: str) -> None:
        stop = Stop(pointer, said)
        if stop not in self.filled.stops:
            self.filled.stops.append(stop)


def _sample(value: Any) -> Any:
    """A small value of the same type, to try an operation on. A value that is not known yet counts as a number."""
    if isinstance(value, int | float | Unknown):
        return 1
    return type(value)() if isinstance(value, str | list | dict) else value
