"""A saved checkpoint, told by the names of its files: its step, and how many ranks its ZeRO states are for.

Names: deepspeed/runtime/engine.py (`_get_rank_zero_ckpt_name`, `_get_ckpt_name`, `latest`); transformers writes
`checkpoint-N`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

RESUME = "--resume_from_checkpoint"
HF_FOLDER = re.compile(r"checkpoint-(\d{1,12})\Z")
STATE_FOLDER = re.compile(r"global_step(\d{1,12})\Z")
_PART = re.compile(r"(?:bf16_|fp16_)?zero_pp_rank_(\d{1,6})_mp_rank_(\d{1,4})_?optim_states\.pt\Z")
_MODEL = re.compile(r"(?:zero_pp_rank_\d{1,6}_)?mp_rank_(\d{1,4})_model_states\.pt\Z")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """`path` is what the script is given; `shards` how many parts ZeRO divided the states into (None: not divided, so
    any number of ranks can load it); `complete` False where a part is missing; `model_ranks` is the model-parallel
    size."""

    path: str
    step: int
    trainer: bool
    shards: int | None
    complete: bool
    model_ranks: int = 1

    @property
    def name(self) -> str:
        return self.path.rstrip("/").rpartition("/")[2]

    def problem(self, ranks: int) -> str:
        """Why `ranks` ranks can't go on from here, or ""."""
        if not self.complete:
            return f"{self.name} is not whole: some of its files are missing, as when a run ends while it saves."
        needed = (self.shards or 0) * self.model_ranks
        if not self.shards or needed == ranks:
            return ""
        return (
            f"{self.name} was saved by {needed} ranks, and this would run on {ranks}: ZeRO can't divide its optimizer "
            f"states anew. Use {needed} ranks, or convert it to a universal checkpoint first "
            "(python -m deepspeed.checkpoint.ds_to_universal, then checkpoint.load_universal)."
        )

    def to_json(self, ranks: int) -> dict[str, Any]:
        shards = {"shards": self.shards, "complete": self.complete}
        return {"path": self.path, "name": self.name, "step": self.step, "problem": self.problem(ranks)} | shards


def checkpoint_from(path: str, step: int, trainer: bool, names: Iterable[str]) -> Checkpoint | None:
    """`names` are the files of the folder that holds DeepSpeed's states; None when there are no such."""
    listed = list(names)
    parts = {(int(m[1]), int(m[2])) for name in listed if (m := _PART.match(name))}
    models = {int(m[1]) for name in listed if (m := _MODEL.match(name))}
    if not parts and not models:
        return None
    model_ranks = max({mp for _, mp in parts} | models) + 1
    shards = max((dp for dp, _ in parts), default=-1) + 1
    complete = len(parts) == shards * (max((mp for _, mp in parts), default=-1) + 1) and bool(models)
    return Checkpoint(path, step, trainer, shards or None, complete, model_ranks)
