"""What of a config governs memory, as DeepSpeed reads it: each key once, with the default of the release."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dsgui.core.config.context import LATEST_KNOWN, version_tuple
from dsgui.core.config.conversion import truth
from dsgui.core.config.pointer import MISSING, lookup

ZERO = "/zero_optimization"
STAGE = f"{ZERO}/stage"
BUCKET = f"{ZERO}/reduce_bucket_size"
SUB_GROUP = f"{ZERO}/sub_group_size"
PREFETCH = f"{ZERO}/stage3_prefetch_bucket_size"
LIVE = f"{ZERO}/stage3_max_live_parameters"
REUSE = f"{ZERO}/stage3_max_reuse_distance"
PERSISTENT = f"{ZERO}/stage3_param_persistence_threshold"
ALL_PERSISTENT = f"{ZERO}/stage3_model_persistence_threshold"
OVERLAP = f"{ZERO}/overlap_comm"
LINEAR = f"{ZERO}/memory_efficient_linear"
CONTIGUOUS = f"{ZERO}/contiguous_gradients"
SCATTER = f"{ZERO}/reduce_scatter"
HPZ = f"{ZERO}/zero_hpz_partition_size"
SEQUENTIAL = f"{ZERO}/stage3_allgather_sequential"
OPTIMIZER_DEVICE = f"{ZERO}/offload_optimizer/device"
OPTIMIZER_PINS = f"{ZERO}/offload_optimizer/pin_memory"
PARAM_DEVICE = f"{ZERO}/offload_param/device"
PARAM_PINS = f"{ZERO}/offload_param/pin_memory"
NVME_PATHS = (f"{ZERO}/offload_optimizer/nvme_path", f"{ZERO}/offload_param/nvme_path")
ACCUMULATED_IN = "/data_types/grad_accum_dtype"
REDUCED_IN = "/communication_data_type"
ACCUMULATION = "/gradient_accumulation_steps"
OPTIMIZER = "/optimizer/type"
AUTOCAST = "/torch_autocast/enabled"
AUTOCAST_IN = "/torch_autocast/dtype"
SAFE = "/torch_autocast/lower_precision_safe_modules"

BYTES = {"fp32": 4, "float32": 4, "fp16": 2, "float16": 2, "half": 2, "bf16": 2, "bfloat16": 2, "int8": 1}
# Moments: on the GPU, and as the CPU optimizer allocates them (ops/lion/cpu_lion.py:121 has two). Muon's are of what
# Adam trains beside it.
_MOMENTS = {"adam": (2, 2), "adamw": (2, 2), "lion": (1, 2), "adagrad": (1, 1), "sgd": (0, 0), "muon": (2, 2)}
_FOR_EVER = 1 << 62
# Classes of modules that autocast is told are safe (runtime/torch_autocast.py:16), by the walk's names of them.
CLASSES = {"Linear": "linear", "Embedding": "embedding", "LayerNorm": "layer_norm"}
_NARROW = {"bf16": "bf16", "bfloat16": "bf16", "fp16": "fp16", "float16": "fp16", "half": "fp16"}
_ABSENT_CLASSES = ("Conv1d", "Conv2d", "Conv3d")


@dataclass(frozen=True, slots=True)
class Offload:
    """Where the optimizer's or the parameters' states are (zero/offload_config.py). Sizes are elements."""

    device: str = "none"
    pins: bool = True
    ratio: float = 1.0
    buffer_count: int = 0
    buffer_size: int = 0
    max_in_cpu: int = 0
    fast: bool = False

    @property
    def is_on(self) -> bool:
        return self.device in ("cpu", "nvme")

    @property
    def is_nvme(self) -> bool:
        return self.device == "nvme"


@dataclass(frozen=True, slots=True)
class Settings:
    """Bytes of an element: `weight` of the model, `accumulated` of a gradient that waits for the step, `reduced` of one
    on its way between ranks, `master` of the optimizer's weights, `moment` of each of its `moments`. Sizes of
    buckets, groups and distances are elements, as in the config; `block` is bytes of one transfer to NVMe,
    by so many `threads`. `autocast`: the dtype that torch casts to, or ""; `lowered`: the classes of modules whose
    weights DeepSpeed then exchanges in it."""

    stage: int = 0
    precision: str = "fp32"
    weight: int = 4
    accumulated: int = 4
    reduced: int = 4
    master: int = 4
    moment: int = 4
    moments: int = 2
    optimizer: str = "adamw"
    ns_method: str = "gram"
    is_foreach: bool = False
    gas: int = 1
    bucket: int = 500_000_000
    sub_group: int = 1_000_000_000
    prefetch: int = 50_000_000
    live: int = 1_000_000_000
    reuse: int = 1_000_000_000
    persistent: int = 100_000
    all_persistent: int = _FOR_EVER
    hpz: int = 1
    overlaps: bool = False
    is_contiguous: bool = True
    scatters: bool = True
    is_sequential: bool = False
    round_robin: bool = False
    aligns: bool = False
    takes_norm: bool = True
    immediate: bool = False
    autocast: str = ""
    lowered: frozenset[str] = frozenset({"linear"})
    keeps_inputs: bool = False
    block: int = 1 << 20
    threads: int = 1
    optimizer_at: Offload = Offload()
    params_at: Offload = Offload()

    @property
    def is_16_bit(self) -> bool:
        return self.weight == 2

    @property
    def is_nvme(self) -> bool:
        return self.optimizer_at.is_nvme or self.params_at.is_nvme

    @property
    def is_muon(self) -> bool:
        return self.optimizer == "muon"


@dataclass(frozen=True, slots=True)
class _Reader:
    """A config with DeepSpeed's readings: an absent key is its default, "auto" that nobody filled too."""

    config: Mapping[str, Any]
    release: str

    def since(self, version: str) -> bool:
        return version_tuple(self.release) >= version_tuple(version)

    def at(self, pointer: str, default: Any) -> Any:
        value = lookup(self.config, pointer)
        return default if value in (MISSING, None, "auto") else value

    def on(self, pointer: str, default: bool = False) -> bool:
        value = self.at(pointer, default)
        return bool(truth(value)) if isinstance(value, str) else bool(value)

    def number(self, pointer: str, default: float) -> float:
        value = self.at(pointer, default)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else default

    def count(self, pointer: str, default: int) -> int:
        return int(self.number(pointer, default))

    def zero(self, key: str, default: int) -> int:
        """A key of stage 3 that also goes by a name without its prefix (zero/config.py aliases)."""
        return self.count(f"{ZERO}/{key}", self.count(f"{ZERO}/{key.removeprefix('stage3_')}", default))


def settings_of(config: Mapping[str, Any], release: str = LATEST_KNOWN) -> Settings:
    """DeepSpeed's own reading of what memory hangs on. Raises nothing: what is no number counts as not written."""
    read = _Reader(config, release)
    stage = read.count(STAGE, 0)
    precision = _precision(read)
    weight = 2 if precision in ("fp16", "bf16") else 4
    optimizer_at, params_at = _optimizer_at(read, stage), _params_at(read, stage)
    master = _master(read, precision)
    name = str(read.at(OPTIMIZER, "adamw")).lower()
    on_cpu = optimizer_at.is_on
    return Settings(
        stage=stage,
        precision=precision,
        weight=weight,
        accumulated=BYTES.get(str(read.at(ACCUMULATED_IN, "")).lower(), weight),
        reduced=BYTES.get(str(read.at(REDUCED_IN, "")).lower(), weight),
        master=master,
        moment=_moment(read, master, on_cpu),
        moments=_MOMENTS.get(name, (2, 2))[on_cpu] + (name == "sgd" and bool(read.at("/optimizer/params/momentum", 0))),
        optimizer=name,
        ns_method=str(read.at("/optimizer/params/ns_method", "gram")),
        is_foreach=read.on("/optimizer/params/torch_adam") or name in ("sgd", "adagrad"),
        gas=max(1, read.count(ACCUMULATION, 1)),
        bucket=read.count(BUCKET, 500_000_000),
        sub_group=read.count(SUB_GROUP, 1_000_000_000),
        prefetch=1 if read.on(SEQUENTIAL) else read.zero("stage3_prefetch_bucket_size", 50_000_000),
        live=read.zero("stage3_max_live_parameters", 1_000_000_000),
        reuse=read.zero("stage3_max_reuse_distance", 1_000_000_000),
        persistent=read.zero("stage3_param_persistence_threshold", 100_000),
        all_persistent=read.zero("stage3_model_persistence_threshold", _FOR_EVER),
        hpz=read.count(HPZ, 1),
        overlaps=read.on(OVERLAP, stage == 3),
        is_contiguous=read.on(CONTIGUOUS, True),
        scatters=read.on(SCATTER, True),
        is_sequential=read.on(SEQUENTIAL),
        round_robin=read.on(f"{ZERO}/round_robin_gradients"),
        aligns=read.on(f"{ZERO}/parameter_alignment"),
        takes_norm=read.on(f"{ZERO}/compute_grad_norm", True),
        immediate=_is_immediate(read),
        autocast=_autocast(read),
        lowered=frozenset(filter(None, map(class_of, _safe(read)))),
        keeps_inputs=stage == 3 and read.on(LINEAR, True),
        block=read.count("/aio/block_size", 1 << 20),
        threads=max(1, read.count("/aio/intra_op_parallelism", 1)),
        optimizer_at=optimizer_at,
        params_at=params_at,
    )


def _autocast(read: _Reader) -> str:
    name = str(read.at(AUTOCAST_IN, "")).lower().removeprefix("torch.")
    return _NARROW.get(name, "") if read.on(AUTOCAST) else ""


def _safe(read: _Reader) -> list[Any]:
    named = read.at(SAFE, ["torch.nn.Linear"])
    return named if isinstance(named, list) else []


def class_of(name: Any) -> str | None:
    """The walk's name of a class that a config names; "" of one that no language model has; None of any other."""
    package, _, last = str(name).rpartition(".")
    if package != "torch.nn" and not package.startswith("torch.nn.modules."):
        return None
    return "" if last in _ABSENT_CLASSES else CLASSES.get(last)


def _precision(read: _Reader) -> str:
    if read.on("/fp16/enabled"):
        return "fp16"
    return "bf16" if read.on("/bf16/enabled") or read.on("/bfloat16/enabled") else "fp32"


def _master(read: _Reader, precision: str) -> int:
    """base_optimizer.py:484–528: 2 where the 16-bit masters are asked for."""
    return 2 if precision != "fp32" and read.on(f"/{precision}/{precision}_master_weights_and_grads") else 4


def _moment(read: _Reader, master: int, on_cpu: bool) -> int:
    """FusedAdam's are like the master (fused_adam.py:155); CPUAdam's are fp32 unless told (cpu_adam.py:157)."""
    if not on_cpu:
        return master
    lower = read.on("/bf16/bf16_optimizer_states") or not read.on("/optimizer/params/fp32_optimizer_states", True)
    return master if lower else 4


def _is_immediate(read: _Reader) -> bool:
    """`bf16.immediate_grad_update` was true by default from 0.16.5 up to 0.17.0."""
    return read.on("/bf16/immediate_grad_update", read.since("0.16.5") and not read.since("0.17.1"))


def _optimizer_at(read: _Reader, stage: int) -> Offload:
    old = "cpu" if read.on(f"{ZERO}/cpu_offload") else "none"
    device = str(read.at(OPTIMIZER_DEVICE, old)).lower()
    block = f"{ZERO}/offload_optimizer"
    return Offload(
        device=device if stage else "none",
        pins=read.on(OPTIMIZER_PINS, read.since("0.19.5")),
        ratio=read.number(f"{block}/ratio", 1.0),
        buffer_count=read.count(f"{block}/buffer_count", 4),
        fast=read.on(f"{block}/fast_init"),
    )


def _params_at(read: _Reader, stage: int) -> Offload:
    old = "cpu" if read.on(f"{ZERO}/cpu_offload_param") else "none"
    device = str(read.at(PARAM_DEVICE, old)).lower()
    block = f"{ZERO}/offload_param"
    return Offload(
        device=device if stage == 3 else "none",
        pins=read.on(PARAM_PINS, read.since("0.19.5")),
        buffer_count=read.count(f"{block}/buffer_count", 5),
        buffer_size=read.count(f"{block}/buffer_size", 100_000_000),
        max_in_cpu=read.count(f"{block}/max_in_cpu", 1_000_000_000),
    )
