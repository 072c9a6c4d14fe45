"""With which settings a training was made, as far as its files tell: its arguments, its DeepSpeed config, its model."""

import json
import posixpath
from collections.abc import Iterable, Mapping
from typing import Any

from dsgui.core.access.secret_forms import is_secret_option
from dsgui.core.config.document import Document
from dsgui.core.errors import DocumentError

# What a trainer_state.json has of them (transformers/trainer_callback.py, TrainerState).
_OF_STATE = ("max_steps", "num_train_epochs", "train_batch_size", "logging_steps", "eval_steps", "save_steps")
_UNBOUNDED = (1 << 63) - 1  # sys.maxsize: the epochs of a training that only its steps end
# Files that hold the arguments by name: TrainingArguments as JSON, ms-swift's, Lightning's.
ARGUMENT_FILES = ("training_args.json", "args.json", "hparams.json")
MODEL_FILES = ("config.json", "adapter_config.json")
PICKLED = "training_args.bin"
_CONFIG_NAMES = ("ds_", "deepspeed", "zero", "ds.")
# A DeepSpeed config has at least one of these.
_CONFIG_KEYS = frozenset(
    {"train_batch_size", "train_micro_batch_size_per_gpu", "zero_optimization", "gradient_accumulation_steps"}
)
_MOST_WORDS, _LONGEST = 400, 300


def might_be_config(path: str) -> bool:
    """By the name of a file."""
    name = posixpath.basename(path).lower()
    return name.endswith(".json") and (name.startswith(_CONFIG_NAMES) or "ds_config" in name)


def is_config(text: str) -> bool:
    """Whether a text is a config for DeepSpeed."""
    try:
        value = Document(text).value
    except DocumentError:
        return False
    return isinstance(value, dict) and bool(_CONFIG_KEYS & value.keys())


def config_of(arguments: Mapping[str, Any]) -> str:
    """The DeepSpeed config that the arguments hold themselves, "" where they name a file."""
    held = arguments.get("deepspeed")
    text = json.dumps(held, indent=2) if isinstance(held, dict) else ""
    return text if text and is_config(text) else ""


def object_of(text: str | bytes) -> dict[str, Any]:
    """A JSON object; {} for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def words_of_state(state: Mapping[str, Any]) -> tuple[str, ...]:
    """What the state tells of the arguments, as they would be typed."""
    return words_of({name: state[name] for name in _OF_STATE if name in state and state[name] != _UNBOUNDED})


def words_of(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Settings by name, as words of a command line: those with one plain value that is no secret."""
    plain = [(name, value) for name, value in settings.items() if _is_plain(name, value)]
    return tuple(word for name, value in plain[:_MOST_WORDS] for word in (f"--{name}", _word(value)))


def _is_plain(name: str, value: Any) -> bool:
    if not name.isidentifier() or len(name) > _LONGEST or value is None:
        return False
    if isinstance(value, int | float):
        return True
    return isinstance(value, str) and 0 < len(value) <= _LONGEST and not is_secret_option(f"--{name}", value)


def _word(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool | int | float) else value


def model_of(files: Iterable[Mapping[str, Any]]) -> str:
    """The model's name, where a file of what was saved has it."""
    for one in files:
        for name in ("base_model_name_or_path", "_name_or_path"):
            if isinstance(one.get(name), str) and one[name]:
                return str(one[name])[:_LONGEST]
    return ""


def total_of(state: Mapping[str, Any]) -> int | None:
    """How many steps the training was to have."""
    found = state.get("max_steps")
    return found if type(found) is int and 0 < found < 1 << 53 else None


def step_of(state: Mapping[str, Any]) -> int:
    """How far the training had come when the state was written; -1 where it does not say."""
    found = state.get("global_step")
    return found if type(found) is int and 0 <= found < 1 << 53 else -1
