"""What is kept of a training that dsgui did not start: where it lies, what was read of it, and what was not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dsgui.core.adopted.lying import Kind, Lying
from dsgui.core.decoding import number, sequence, text, whole
from dsgui.core.texts.saying import Said, recalled_sentences, sentences_to_json, words

MOST_FILES = 1000
_CALLED = {
    Kind.STATE: "kind_trainer_state",
    Kind.EVENTS: "kind_tensorboard",
    Kind.CSV: "kind_csv_monitor",
    Kind.LOG: "kind_log",
}
_MOST_BYTES = 1 << 62


def called(kind: Kind) -> str:
    """What people call the form of a file."""
    return words("adopted", _CALLED[kind])


@dataclass(frozen=True, slots=True)
class Adopted:
    """`source` is the folder that was named, or a file, and `root` the training's own within it. `files` are those that
    were read, as they were then; `notes` say what was not. `turn` counts how often the points that were read again did
    not begin with those from before; when `late` of them were logged is known by now, and not yet told."""

    source: str
    root: str
    kinds: tuple[Kind, ...]
    files: tuple[Lying, ...] = ()
    notes: tuple[Said, ...] = ()
    read_at: float = 0.0
    turn: int = 0
    late: int = 0

    def to_json(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "root": self.root,
            "kinds": [kind.value for kind in self.kinds],
            "files": [[one.path, one.size, one.changed_ns] for one in self.files[:MOST_FILES]],
            "notes": sentences_to_json(self.notes),
            "read_at": self.read_at,
            "turn": self.turn,
            "late": self.late,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Adopted":
        """Raises KeyError, TypeError or ValueError for what is none."""
        return cls(
            text(value["source"]),
            text(value["root"]),
            tuple(Kind(text(one)) for one in sequence(value["kinds"], len(Kind))),
            tuple(_lying(one) for one in sequence(value["files"], MOST_FILES)),
            recalled_sentences(value.get("notes"), ""),
            number(value["read_at"]),
            whole(value.get("turn", 0), 0, _MOST_BYTES),
            whole(value.get("late", 0), 0, _MOST_BYTES),
        )


def _lying(value: Any) -> Lying:
    path, size, changed_ns = sequence(value, 3)
    return Lying(text(path), whole(size, 0, _MOST_BYTES), whole(changed_ns, -_MOST_BYTES, _MOST_BYTES))
