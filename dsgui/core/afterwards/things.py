"""What a training left on the disk, and what can be made of it."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from dsgui.core.launch.checkpoint import Checkpoint, SavedBy


class Verb(Enum):
    """A job after training, as the command line and `weights_worker.py` call it."""

    CONSOLIDATE = "consolidate"
    MERGE = "merge"
    UNIVERSAL = "universal"


class Kind(Enum):
    """What lies in a folder."""

    CHECKPOINT = "checkpoint"
    ADAPTER = "adapter"
    MODEL = "model"
    UNFINISHED = "unfinished"  # by a job that was killed


@dataclass(frozen=True, slots=True)
class Thing:
    """`path` is its own folder, `states` the one that holds DeepSpeed's files ("" for none), `beside` the one whose
    config.json makes its weights a model of transformers ("" for none). `base` is the model that an adapter was trained
    on. `loads`: transformers or peft can load what lies in `path`."""

    path: str
    kind: Kind
    size_bytes: int
    step: int = 0
    states: str = ""
    beside: str = ""
    base: str = ""
    checkpoint: Checkpoint | None = None
    adapter: bool = False
    loads: bool = False

    @property
    def name(self) -> str:
        return self.path.rstrip("/").rpartition("/")[2]

    @property
    def folder(self) -> str:
        return self.path.rstrip("/").rpartition("/")[0] or "/"

    @property
    def verbs(self) -> tuple[Verb, ...]:
        """What can be made of it. A checkpoint of adapters has the base model's weights under names of peft's: merged,
        not consolidated."""
        found = [Verb.MERGE] if self.adapter else []
        one = self.checkpoint
        if one and one.complete and one.model_ranks == 1 and not self.adapter:
            found.append(Verb.CONSOLIDATE)
        if one and one.complete and one.shards:
            found.append(Verb.UNIVERSAL)
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        whole = self.checkpoint is None or self.checkpoint.complete
        told = {"path": self.path, "name": self.name, "kind": self.kind.value, "step": self.step}
        return told | {
            "size_bytes": self.size_bytes,
            "complete": whole,
            "verbs": [verb.value for verb in self.verbs],
            "base": self.base,
            "tries": self.loads,
        }

    @property
    def saved_by_trainer(self) -> bool:
        return self.checkpoint is not None and self.checkpoint.saved_by is SavedBy.TRAINER
