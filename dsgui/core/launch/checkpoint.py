"""A saved checkpoint, told by the names of its files: its step, who can load it, and how many ranks its ZeRO states are
for.

Names: deepspeed/runtime/engine.py (`_get_rank_zero_ckpt_name`, `_get_ckpt_name`, `latest`); transformers writes
`checkpoint-N` (trainer.py, trainer_jit_checkpoint.py); accelerate puts `pytorch_model` and `random_states_R.pkl` into
the folder that `save_state` is given.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from dsgui.core.texts.saying import Said, said

RESUME = "--resume_from_checkpoint"
HF_FOLDER = re.compile(r"checkpoint-(\d{1,12})\Z")
STATE_FOLDER = re.compile(r"global_step(\d{1,12})\Z")
LATEST = "latest"  # names the newest tag; written when all of it is saved
# What ds_to_universal makes of a checkpoint: its name's end, the file that names it, and a folder with every parameter.
UNIVERSAL, LATEST_UNIVERSAL, ZERO_OF_UNIVERSAL = "_universal", "latest_universal", "zero"
HALF_SAVED = "checkpoint-is-incomplete.txt"
STATE_OF_TRAINER, ARGUMENTS_OF_TRAINER = "trainer_state.json", "training_args.bin"
OF_ACCELERATE, _RANDOM_OF_ACCELERATE = "pytorch_model", "random_states_0.pkl"
_PART = re.compile(r"(?:bf16_|fp16_)?zero_pp_rank_(\d{1,6})_mp_rank_(\d{1,4})_?optim_states\.pt\Z")
_MODEL = re.compile(r"(?:zero_pp_rank_(\d{1,6})_)?mp_rank_(\d{1,4})_model_states\.pt\Z")
_RANDOM = re.compile(r"rng_state_\d{1,6}\.pth\Z")
_LAST_NUMBER = re.compile(r"(\d{1,12})\D{0,100}\Z")
# In what torch saved: the config that the engine or the Trainer was given, which is one of ours.
_OUR_CONFIG = re.compile(rb"/(\d{8}-\d{6}-[0-9a-f]{4})/ds_config\.json")


class SavedBy(Enum):
    """Who wrote a checkpoint, and so who loads it."""

    TRAINER = "HF Trainer"
    ENGINE = "DeepSpeed’s engine"
    ACCELERATE = "accelerate"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """`path` is its own folder; `shards` how many parts ZeRO divided the states into (None: not divided, so any number
    of ranks can load it); `complete` False where a part is missing or cut short; `model_ranks` is the model-parallel
    size. `newest`: `latest` beside it names it, which is what an engine loads that is told no tag."""

    path: str
    step: int
    saved_by: SavedBy
    shards: int | None
    complete: bool
    model_ranks: int = 1
    newest: bool = True

    @property
    def name(self) -> str:
        return self.path.rstrip("/").rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The folder it lies in."""
        return self.path.rstrip("/").rpartition("/")[0] or "/"

    def problem(self, ranks: int) -> Said | None:
        """Why `ranks` ranks can't go on from here."""
        if not self.complete:
            return said("resuming", "incomplete", checkpoint=self.name)
        needed = (self.shards or 0) * self.model_ranks
        if not self.shards or needed == ranks:
            return None
        return said("resuming", "other_ranks", checkpoint=self.name, saved=str(needed), ranks=str(ranks))

    def to_json(self, ranks: int) -> dict[str, Any]:
        shards, problem = {"shards": self.shards, "complete": self.complete}, str(self.problem(ranks) or "")
        return {"path": self.path, "name": self.name, "step": self.step, "problem": problem} | shards


def checkpoint_from(path: str, saved_by: SavedBy, names: Iterable[str]) -> Checkpoint | None:
    """`names` are the files of the folder that holds DeepSpeed's states; None when there are no such."""
    listed = list(names)
    parts = {(int(m[1]), int(m[2])) for name in listed if (m := _PART.match(name))}
    models = [m for name in listed if (m := _MODEL.match(name))]
    if not parts and not models:
        return None
    model_ranks = max({mp for _, mp in parts} | {int(m[2]) for m in models}) + 1
    shards = max((dp for dp, _ in parts), default=-1) + 1
    complete = len(parts) == shards * (max((mp for _, mp in parts), default=-1) + 1) and bool(models)
    divided = sum(m[1] is not None for m in models)  # at stage 3 the model too
    complete = complete and divided in (0, shards * model_ranks)
    return Checkpoint(path, step_of(path), saved_by, shards or None, complete, model_ranks)


def step_of(path: str) -> int:
    """The last number in its name; 0 where there is none."""
    match = _LAST_NUMBER.search(path.rstrip("/").rpartition("/")[2][-200:])
    return int(match[1]) if match else 0


def is_state_file(name: str) -> bool:
    """Whether it is one of those that DeepSpeed saves."""
    return bool(_PART.match(name) or _MODEL.match(name))


def lists_accelerate(names: Iterable[str]) -> bool:
    """Whether a folder with these names is one that accelerate's `save_state` wrote with DeepSpeed."""
    return {OF_ACCELERATE, _RANDOM_OF_ACCELERATE} <= set(names)


def lists_all_of_trainer(names: Iterable[str], shards: int | None) -> bool:
    """Whether the Trainer came to the end of saving: its state is what it writes last, a rank's random state before."""
    listed = list(names)
    random = sum(bool(_RANDOM.match(name)) for name in listed)
    return STATE_OF_TRAINER in listed and HALF_SAVED not in listed and (not random or random >= (shards or 0))


def runs_named(pickled: bytes) -> frozenset[str]:
    """The runs of dsgui whose config is named in what torch saved."""
    return frozenset(found.decode() for found in _OUR_CONFIG.findall(pickled))
