"""The YAML that `accelerate config` writes: reads the DeepSpeed config that it stands for, and writes one that points
to a config file."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml  # type: ignore[import-untyped] # PyYAML ships no type information

from dsgui.core.config.bounded_yaml import load, seen
from dsgui.core.config.document import Document
from dsgui.core.config.pointer import MISSING, lookup
from dsgui.core.errors import DocumentError
from dsgui.core.texts.saying import Said, listed, said, words

# accelerate's short keys that become keys of a DeepSpeed config, and what it takes when one is absent
# (accelerate/utils/dataclasses.py: DeepSpeedPlugin.__post_init__).
_SHORT: dict[str, Any] = {
    "gradient_accumulation_steps": "auto",
    "gradient_clipping": "auto",
    "zero_stage": 2,
    "offload_optimizer_device": "none",
    "offload_optimizer_nvme_path": "none",
    "offload_param_device": "none",
    "offload_param_nvme_path": "none",
    "zero3_save_16bit_model": False,
}
# With `deepspeed_config_file`, accelerate stops when one of these stands beside it (`_deepspeed_config_checks`).
REFUSED_BESIDE_A_FILE = (*_SHORT, "mixed_precision")
# What the rest of `deepspeed_config` is for, by code: none of it belongs to a DeepSpeed config.
_ELSEWHERE = {
    "zero3_init_flag": "by_script",
    "deepspeed_multinode_launcher": "launcher_at_start",
    "deepspeed_hostfile": "hosts_at_start",
    "deepspeed_inclusion_filter": "devices_at_start",
    "deepspeed_exclusion_filter": "devices_at_start",
    "deepspeed_moe_layer_cls_names": "moe_by_script",
}
_ONLY_SHORT = [key for key in _SHORT if key not in ("gradient_accumulation_steps", "gradient_clipping")]
# Keys of accelerate's file at the start of a line (indented in its JSON form); DeepSpeed has none of them.
_OWN_KEY = re.compile(
    r"^[ \t{\ufeff]*[\"']?(?:deepspeed_config|distributed_type|compute_environment)[\"']? *:", re.MULTILINE
)
_PRECISIONS = ("no", "fp16", "bf16", "fp8")


@dataclass(frozen=True, slots=True)
class AccelerateConfig:
    """What an accelerate YAML says about DeepSpeed.

    `text` is the DeepSpeed config as strict JSON, or "" when the file points to one: then `config_file` is the path as
    written there. `num_processes` counts the ranks of all machines; 0 if the file does not say.
    """

    text: str
    config_file: str
    num_machines: int
    num_processes: int
    mixed_precision: str
    notes: tuple[str, ...]


def is_one(text: str) -> bool:
    """True for a text with keys that only accelerate's file has. To be called before `tidy`: hjson accepts some YAML
    and misreads it."""
    return _OWN_KEY.search(text) is not None


def read(text: str) -> AccelerateConfig:
    """The DeepSpeed part of an accelerate YAML (or of its JSON form). Raises `DocumentError`."""
    document, short = _mapping(text)
    precision = _precision(document)
    machines = _count(document, "num_machines") or 1
    processes = _count(document, "num_processes")
    left = ((key, words("yaml", code)) for key, code in _ELSEWHERE.items() if key in short)
    notes = tuple(words("yaml", "left_out", key=key, why=why) for key, why in left)
    file = short.get("deepspeed_config_file")
    if file not in (None, "", "none"):
        notes = (*_refused(document, short), *notes)
        return AccelerateConfig("", str(file), machines, processes, precision, notes)
    if _is_config(short):
        own = {key: value for key, value in short.items() if key not in (*_ELSEWHERE, *_ONLY_SHORT)}
        return AccelerateConfig(_dumped(own), "", machines, processes, precision, (words("yaml", "embedded"), *notes))
    config = _dumped(_config(short, precision))
    notes = (words("yaml", "written_out"), *notes)
    notes += (*_lost_paths(short), *_unknown(short))
    return AccelerateConfig(config, "", machines, processes, precision, notes)


def _is_config(part: Mapping[str, Any]) -> bool:
    """Whether the block holds DeepSpeed's own keys: nested blocks or a batch size, neither of which is among the short
    keys."""
    return any(isinstance(value, dict) or str(key).startswith("train_") for key, value in part.items())


def _dumped(config: Mapping[str, Any]) -> str:
    try:
        return json.dumps(config, indent=2, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise DocumentError(said("yaml", "no_json", why=str(error))) from error


def write(config: Mapping[str, Any], *, nodes: int, gpus_per_node: int, config_path: str = "ds_config.json") -> str:
    """An accelerate YAML that launches with the DeepSpeed config at `config_path`, which holds `config`.

    It repeats none of the config's values: accelerate refuses that.
    """
    deepspeed: dict[str, Any] = {"deepspeed_config_file": config_path}
    deepspeed["zero3_init_flag"] = lookup(config, "/zero_optimization/stage") == 3
    if nodes > 1:
        deepspeed |= {"deepspeed_multinode_launcher": "pdsh", "deepspeed_hostfile": "hostfile"}
    document = {
        "compute_environment": "LOCAL_MACHINE",
        "distributed_type": "DEEPSPEED",
        "num_machines": nodes,
        "num_processes": nodes * gpus_per_node,
        "machine_rank": 0,
        "deepspeed_config": deepspeed,
    }
    remarks = "".join(f"# {line}\n" for line in _remarks(config, nodes, config_path))
    return remarks + str(yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=1000))


def _remarks(config: Mapping[str, Any], nodes: int, config_path: str) -> list[str]:
    name: str | Said = config_path if config_path.isprintable() else said("yaml", "the_config")
    remarks = [words("yaml", "how", config=name)]
    if nodes > 1:
        remarks.append(words("yaml", "hostfile"))
    if lookup(config, "/zero_optimization") is MISSING:
        remarks.append(words("yaml", "no_zero", config=name))
    if "auto" in (lookup(config, "/fp16/enabled"), lookup(config, "/bf16/enabled")):
        remarks.append(words("yaml", "precision"))
        remarks.append(words("yaml", "precision_else"))
    return remarks


# ------------------------------------------------------------------------------------------------------------- reading
def _mapping(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The whole and its DeepSpeed part. Of its JSON form that holds none, what JSON has against it comes first."""
    try:
        document = load(text)
        return document, _deepspeed_part(document)
    except DocumentError:
        body = text.removeprefix("\ufeff")
        if body.lstrip().startswith("{"):
            Document(body)
        raise


def _deepspeed_part(document: Mapping[str, Any]) -> dict[str, Any]:
    part = document.get("deepspeed_config")
    if isinstance(part, dict) and part:
        return part
    if isinstance(part, str | int | float | list) and part:
        raise DocumentError(said("yaml", "no_keys", seen=seen(part)))
    if "distributed_type" not in document:
        raise DocumentError(said("yaml", "not_one"))
    raise DocumentError(said("yaml", "no_block", kind=seen(document["distributed_type"])))


def _precision(document: Mapping[str, Any]) -> str:
    """`no` if it is absent; YAML also reads `no` as false."""
    value = document.get("mixed_precision")
    if value in (None, False):
        return "no"
    if str(value).lower() not in _PRECISIONS:
        raise DocumentError(said("yaml", "bad_precision", seen=seen(value), known=listed(_PRECISIONS)))
    return str(value).lower()


def _count(document: Mapping[str, Any], key: str) -> int:
    """A number of machines or processes; 0 for -1, by which accelerate means “not given”, and for what is not a
    number."""
    value = document.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


# ------------------------------------------------------------------------------------------ as accelerate writes it out
def _config(short: Mapping[str, Any], precision: str) -> dict[str, Any]:
    """The DeepSpeed config that the short keys describe, as `DeepSpeedPlugin` builds it; without nulls, and without the
    `steps_per_print` of infinity, which JSON does not have."""
    given = {**_SHORT, **{key: value for key, value in short.items() if value is not None}}
    config: dict[str, Any] = {
        "train_batch_size": "auto",
        "train_micro_batch_size_per_gpu": "auto",
        "gradient_accumulation_steps": _number(given, "gradient_accumulation_steps", int),
        "zero_optimization": {
            "stage": _number(given, "zero_stage", int),
            "offload_optimizer": _offload(given, "offload_optimizer"),
            "offload_param": _offload(given, "offload_param"),
            "stage3_gather_16bit_weights_on_model_save": str(given["zero3_save_16bit_model"]).lower() == "true",
        },
    }
    clipping = _number(given, "gradient_clipping", float)
    return config | ({"gradient_clipping": clipping} if clipping else {}) | _precision_blocks(precision)


def _number(given: Mapping[str, Any], key: str, kind: type[int] | type[float]) -> int | float | str:
    """The value as accelerate takes it from the environment, where everything is text."""
    value = str(given[key]).lower()
    if value == "auto" and key != "zero_stage":
        return value
    try:
        number = kind(value)
    except ValueError as error:
        code = "no_whole_number" if kind is int else "no_number"
        raise DocumentError(said("yaml", code, key=key, seen=seen(given[key]))) from error
    if not 0 <= number < float("inf"):
        raise DocumentError(said("yaml", "out_of_range", key=key, seen=seen(given[key])))
    return number


def _offload(given: Mapping[str, Any], block: str) -> dict[str, str]:
    device, path = str(given[f"{block}_device"]).lower(), str(given[f"{block}_nvme_path"])
    return {"device": device} | ({"nvme_path": path} if device == "nvme" else {})


def _precision_blocks(precision: str) -> dict[str, Any]:
    """`DeepSpeedPlugin.set_mixed_precision`; fp8 trains on top of bf16."""
    fp16 = {"enabled": True, "auto_cast": True} if precision == "fp16" else {"enabled": False}
    return {"fp16": fp16, "bf16": {"enabled": precision in ("bf16", "fp8")}}


# --------------------------------------------------------------------------------------------------------------- notes
def _refused(document: Mapping[str, Any], short: Mapping[str, Any]) -> tuple[str, ...]:
    beside = [key for key in REFUSED_BESIDE_A_FILE if key in short]
    if document.get("mixed_precision") is not None:
        beside.append("mixed_precision")
    if not beside:
        return ()
    return (words("yaml", "refused", keys=listed(beside)),)


def _lost_paths(short: Mapping[str, Any]) -> Iterator[str]:
    for block in ("offload_optimizer", "offload_param"):
        path = short.get(f"{block}_nvme_path")
        if path and short.get(f"{block}_device") == "nvme":  # 1.15: utils/launch.py exports no variable for the path
            yield words("yaml", "lost_path", key=f"{block}_nvme_path", path=str(path))


def _unknown(short: Mapping[str, Any]) -> tuple[str, ...]:
    known = {*_SHORT, *_ELSEWHERE, "deepspeed_config_file"}
    names = [seen(key) for key in short if key not in known]
    return (words("yaml", "not_understood", keys=listed(names[:8])),) if names else ()
