"""Which model is trained, and how much of it at once, as somebody says it: part of what is to run."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from dsgui.core.memory.question import Lora, Workload
from dsgui.core.script.words import MODEL_OPTIONS, value_of, without_adapters

USUAL_LENGTH = 512
_SIZE = re.compile(r"\d{1,6}(?:\.\d{1,6})?\s?[BbMm]")
ATTENTIONS = ("sdpa", "eager", "flash_attention_2")
MOST_TOKENS = 10**8
_LONGEST_PATH = 1000
# The names that scripts give to the tokens of an example and of a target.
LENGTH_OPTIONS = (
    *("--max_seq_length", "--max_source_length", "--block_size", "--max_length", "--cutoff_len", "--seq_length"),
    *("--model_max_length", "--sequence_length", "--sequence_len", "--max_seq_len"),
)
TARGET_OPTIONS = ("--max_target_length",)
_CHECKPOINTING, _ATTENTION = ("--gradient_checkpointing",), ("--attn_implementation",)
_SHAPE_OPTIONS = ("--config_name",)  # a model of that shape from random weights, where none is named
_RANKS = ("--lora_rank", "--lora_r")
_OFF = ("false", "no", "f", "n", "0")
# What PEFT adapts where nothing is said (peft/utils/constants.py: TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING).
LORA_TARGETS = ("q", "v", "q_proj", "v_proj", "c_attn", "query_key_value")


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """`model`: a folder with config.json, a hub id, or a size such as 7B; "" for none. Lengths are tokens, 0 where
    nothing was said; `lora_rank` 0: all of the model is trained. `zero_init`: a native script makes the model within
    `deepspeed.zero.Init`; the HF Trainer always does at stage 3. `nvme`: a folder that plans may offload to, "" for
    none. `named`: the model that the script's arguments name, whichever one counts."""

    model: str = ""
    length: int = 0
    target_length: int = 0
    checkpointing: bool = False
    attention: str = ATTENTIONS[0]
    lora_rank: int = 0
    zero_init: bool = False
    nvme: str = ""
    named: str = ""

    @property
    def is_by_arguments(self) -> bool:
        """Whether the model is the one that the script's arguments name, as nobody said another."""
        return self.model != "" and self.model == self.named

    @property
    def instead_of(self) -> str:
        """The model that the script's arguments name where another was said; "" for none."""
        is_other = self.model and self.named and self.model.rstrip("/") != self.named.rstrip("/")
        return self.named if is_other else ""

    def over(self, other: "ModelChoice") -> "ModelChoice":
        """This, with `other` where nothing was said here."""
        usual = ModelChoice()
        said = {one.name: getattr(self, one.name) for one in fields(self)}
        return replace(other, **{name: value for name, value in said.items() if value != getattr(usual, name)})

    def workload(self, micro_batch: int) -> Workload:
        """What a step takes at once."""
        return Workload(
            micro_batch=micro_batch,
            length=self.length or USUAL_LENGTH,
            target_length=self.target_length or None,
            checkpointing=self.checkpointing,
            attention=self.attention,
            lora=Lora(self.lora_rank, LORA_TARGETS) if self.lora_rank else None,
        )

    def to_json(self) -> dict[str, Any]:
        """What was said; what the arguments name stands in them."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "named"}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ModelChoice":
        """What of it can be read; a run of an older dsgui has none."""
        attention = str(value.get("attention", ""))
        return cls(
            model=str(value.get("model") or ""),
            length=_count(value.get("length")),
            target_length=_count(value.get("target_length")),
            checkpointing=value.get("checkpointing") is True,
            attention=attention if attention in ATTENTIONS else ATTENTIONS[0],
            lora_rank=_count(value.get("lora_rank")),
            zero_init=value.get("zero_init") is True,
            nvme=str(value.get("nvme") or "").strip()[:_LONGEST_PATH],
        )


def is_size(text: str) -> bool:
    """Whether it names a number of parameters, such as 7B or 770M, and no model."""
    return _SIZE.fullmatch(text.strip()) is not None


def of_words(words: Sequence[str]) -> ModelChoice:
    """What a script's arguments say of it."""
    checkpointing = value_of(words, _CHECKPOINTING)
    attention = value_of(words, _ATTENTION) or ""
    model = value_of(words, MODEL_OPTIONS) or value_of(words, _SHAPE_OPTIONS) or ""
    return ModelChoice(
        model=model,
        named=model,
        length=_count(value_of(words, LENGTH_OPTIONS)),
        target_length=_count(value_of(words, TARGET_OPTIONS)),
        checkpointing=checkpointing is not None and checkpointing.lower() not in _OFF,
        attention=attention if attention in ATTENTIONS else ATTENTIONS[0],
        lora_rank=0 if without_adapters(words) else _count(value_of(words, _RANKS)),
    )


def of_text(typed: str) -> ModelChoice:
    """The same of arguments as they are typed; nothing of what no shell can read."""
    try:
        return of_words(shlex.split(typed))
    except ValueError:
        return ModelChoice()


def _count(value: object) -> int:
    """A whole number of what was typed; 0 for anything else."""
    if isinstance(value, str):
        value = int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else 0
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= MOST_TOKENS
    return int(value) if usable and isinstance(value, int | float) else 0
