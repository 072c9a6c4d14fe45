"""What leaves with a config: its native and HF forms, and the lines of Python and shell that people need next."""

from dataclasses import dataclass

from dsgui.core.context import Context
from dsgui.core.document import Document


@dataclass(frozen=True, slots=True)
class Converted:
    """A config in another form, as text, and one sentence for each thing that changed or has to be known."""

    text: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrainerArguments:
    """The HF `TrainingArguments` that "auto" is filled from, with their defaults (transformers 5.23)."""

    per_device_train_batch_size: int = 8
    gradient_accumulation_steps: int = 1
    learning_rate: float = 5e-5
    adam_beta1: float = 0.9
    adam_beta2: float = 0.999
    adam_epsilon: float = 1e-8
    weight_decay: float = 0.0
    max_grad_norm: float = 1.0
    warmup_steps: float = 0
    max_steps: int = -1
    fp16: bool = False
    bf16: bool = False


def native_form(document: Document, context: Context, arguments: TrainerArguments = TrainerArguments()) -> Converted:
    """The config for native DeepSpeed: no "auto" that only the HF Trainer fills."""
    raise NotImplementedError


def hf_form(document: Document) -> Converted:
    """The config for the HF Trainer: what the Trainer compares with its own arguments becomes "auto"."""
    raise NotImplementedError


def training_arguments(document: Document, path: str = "ds_config.json") -> str:
    """Python that makes the `TrainingArguments` which this config's numbers demand."""
    raise NotImplementedError


def initialize_snippet(document: Document, path: str = "ds_config.json") -> str:
    """A short native training loop around `deepspeed.initialize` that fits this config."""
    raise NotImplementedError


def launch_line(context: Context, script: str = "train.py", path: str = "ds_config.json") -> str:
    """The `deepspeed` command line for this context's nodes and devices."""
    raise NotImplementedError
