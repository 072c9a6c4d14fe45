"""Which files of a folder belong to one training, told by their names and places.

The HF Trainer writes `trainer_state.json` into its output folder and into each `checkpoint-N`, its event files into
`runs/<date>_<host>` (transformers/training_args.py). For TensorBoard every folder with event files is a run.
DeepSpeed's monitors write to `<output_path>/<job_name>` (deepspeed/monitor).
"""

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from dsgui.core.launch.checkpoint import HF_FOLDER

_NEAR = 2  # folders between what a training saved and its event files, its CSV files and its log
_HPARAMS = re.compile(r"\d{9,11}\.\d+\Z")  # a folder of torch's add_hparams below the run's own
_LOG_ENDINGS = (".log", ".out", ".txt", ".err", ".stdout", ".stderr")
# LLaMA-Factory's trainer_log.jsonl, ms-swift's logging.jsonl; not the data that lie beside them.
_OF_LOGS = frozenset({"log", "logs", "logging", "metrics", "history", "loss", "losses"})
_APART = re.compile(r"[^a-z]")
_LOG_NAMES = frozenset({"log", "stdout", "stderr", "output"})


class Kind(Enum):
    """A form that a training's files have."""

    STATE = "trainer_state"
    EVENTS = "tensorboard"
    CSV = "csv_monitor"
    LOG = "log"


@dataclass(frozen=True, slots=True)
class Lying:
    """A file, by its path within the folder that was named; `changed_ns` as its date says."""

    path: str
    size: int
    changed_ns: int

    @property
    def folder(self) -> str:
        return posixpath.dirname(self.path)


@dataclass(frozen=True, slots=True)
class Group:
    """The files of one training. `root` is its folder within the one that was named, "" for that itself; `name` is
    what tells it from the others there."""

    root: str
    name: str
    files: Mapping[Kind, Sequence[Lying]] = field(default_factory=dict)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(kind for kind in Kind if self.files.get(kind))

    def joined(self, other: "Group") -> "Group":
        """Both as one, under this one's name."""
        both = {kind: (*self.files.get(kind, ()), *other.files.get(kind, ())) for kind in Kind}
        return Group(self.root, self.name, {kind: files for kind, files in both.items() if files})


def might_be(path: str) -> Kind | None:
    """What a file's name promises. What it holds is looked at for CSV files and logs: others have such names, too."""
    name = posixpath.basename(path)
    if name == "trainer_state.json":
        return Kind.STATE
    if "tfevents" in name:
        return Kind.EVENTS
    if name.endswith(".csv"):
        return Kind.CSV
    is_log = name.lower().endswith(_LOG_ENDINGS) or name.lower() in _LOG_NAMES or _is_json_log(name.lower())
    return Kind.LOG if is_log else None


def _is_json_log(name: str) -> bool:
    return name.endswith(".jsonl") and not _OF_LOGS.isdisjoint(_APART.split(name))


def groups(files: Mapping[Kind, Iterable[Lying]]) -> list[Group]:
    """The trainings that these files tell of, by their folders."""
    found: dict[str, Group] = {}
    for kind in (Kind.STATE, Kind.EVENTS, Kind.CSV):
        for one in sorted(files.get(kind, ()), key=lambda one: one.path):
            home = _home(kind, one, found)
            found[home] = found.get(home, _group(home)).joined(Group(home, "", {kind: (one,)}))
    made = _of_one_name(list(found.values()))
    return sorted(_with_logs(made, files.get(Kind.LOG, ())), key=lambda group: group.root)


def _group(root: str, name: str = "") -> Group:
    return Group(root, name or posixpath.basename(root))


def _home(kind: Kind, one: Lying, known: Mapping[str, Group]) -> str:
    """The folder of the training that the file belongs to."""
    if kind is Kind.STATE:
        inner = HF_FOLDER.match(posixpath.basename(one.folder))
        return posixpath.dirname(one.folder) if inner else one.folder
    folder = _told_of(one)
    near = _near(folder, known)
    return near if near is not None and _takes(known[near], kind, folder) else folder


def _told_of(one: Lying) -> str:
    """The folder that a file is about."""
    return posixpath.dirname(one.folder) if _HPARAMS.match(posixpath.basename(one.folder)) else one.folder


def _takes(group: Group, kind: Kind, folder: str) -> bool:
    """A folder with event files is a run of its own for TensorBoard, whatever lies above it; but what the Trainer
    leaves is told of by its state."""
    others = {_told_of(one) for one in group.files.get(kind, ())}
    return Kind.STATE in group.files or not others - {folder}


def _near(folder: str, known: Mapping[str, Group]) -> str | None:
    """The nearest of the known folders in which this one lies, or which it is."""
    for _ in range(_NEAR + 1):
        if folder in known:
            return folder
        if not folder:
            return None
        folder = posixpath.dirname(folder)
    return None


def _of_one_name(found: list[Group]) -> list[Group]:
    """DeepSpeed's monitors call their folders by the same job, in different places."""
    made: list[Group] = []
    for group in found:
        same = (at for at, one in enumerate(made) if one.name == group.name and not {*one.kinds} & {*group.kinds})
        place = next(same, None) if group.name else None
        if place is None:
            made.append(group)
        else:
            made[place] = made[place].joined(group)
    return made


def _with_logs(found: list[Group], logs: Iterable[Lying]) -> list[Group]:
    """Each log with the training that it lies beside; one above a single training is that one's."""
    made = {group.root: group for group in found}
    for log in sorted(logs, key=lambda one: one.path):
        home = _near(log.folder, made)
        below = [root for root in made if _lies_in(root, log.folder)]
        if home is None and len(below) == 1 and len(found) == 1:
            home = below[0]
        of_log = Group(log.path, posixpath.splitext(posixpath.basename(log.path))[0], {Kind.LOG: (log,)})
        if home is None:
            made[log.path] = of_log
        else:
            made[home] = made[home].joined(of_log)
    return list(made.values())


def _lies_in(root: str, folder: str) -> bool:
    return not folder or root.startswith(f"{folder}/")
