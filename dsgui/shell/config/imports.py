"""Brings a config in: from a file, an upload or pasted text; JSON, hjson or accelerate's YAML."""

import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path

from dsgui.core.config import accelerate_yaml
from dsgui.core.config.accelerate_yaml import AccelerateConfig
from dsgui.core.config.arguments import TrainingArguments, read_arguments
from dsgui.core.config.context import Integration
from dsgui.core.config.document import Document
from dsgui.core.config.filling import FILLED_BY_TRAINER
from dsgui.core.config.pointer import lookup
from dsgui.core.errors import DocumentError
from dsgui.core.texts.saying import Said, words, wrong
from dsgui.core.validation import written
from dsgui.shell.access.places import Places

MAX_BYTES = 1 << 20
_YAML_NAMES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Imported:
    """A config's text (strict JSON), what was changed or found on the way, and what the source says of its context.

    `integration`, `nodes` and `gpus` (of each node) are None where the source does not tell. `written`: the JSON as it
    stands in the file, None where the config is a part of a YAML.
    """

    text: str
    notes: tuple[str, ...]
    integration: Integration | None = None
    nodes: int | None = None
    gpus: int | None = None
    written: str | None = None


def open_file(path: Path, places: Places | None = None) -> Imported:
    """The config in the file at `path`, which may start with `~`. A YAML that points to a config leads to that.

    Raises `DocumentError` for a path that is no readable text file of at most `MAX_BYTES`, and for what `read_text`
    refuses; `PlaceError` for one that leads outside `places`, where those are given.
    """
    path = _reached(_expanded(path), places)
    text = _read(path)
    if not _is_yaml(text, path.name):
        return _json(text)
    yaml = accelerate_yaml.read(text)
    return _accelerate(yaml, yaml.text) if yaml.text else _followed(yaml, path.parent, places)


def open_upload(path: Path) -> Imported:
    """The config in an uploaded file, which lies at `path` for a while: messages say its name alone. Raises
    `DocumentError`, also for a YAML that only points to a config: where that file is can't be told from an upload."""
    return read_text(_read(path, path.name), path.name)


def read_text(text: str, name: str = "") -> Imported:
    """The config in the text of a file called `name`. Raises `DocumentError`, as `open_upload` does."""
    if not _is_yaml(text, name):
        return _json(text)
    yaml = accelerate_yaml.read(text)
    if yaml.text:
        return _accelerate(yaml, yaml.text)
    raise DocumentError(wrong("import.points", path=yaml.config_file))


def read_training_arguments(option: str) -> TrainingArguments:
    """The HF Trainer's arguments from a JSON object or a command line as they are, or else from a file of that name.
    Raises `ArgumentsError` or, for a file that can't be read, `DocumentError`."""
    if not option.strip() or option.lstrip().startswith(("{", "-")):
        return read_arguments(option)
    return read_arguments(_read(_expanded(Path(option))))


def _is_yaml(text: str, name: str) -> bool:
    """By content first: accelerate's own keys mean its file, and braces mean JSON whatever the name is."""
    if accelerate_yaml.is_one(text):
        return True
    return name.lower().endswith(_YAML_NAMES) and not text.lstrip("\ufeff \t\r\n").startswith("{")


def _json(text: str) -> Imported:
    read = written.read(text)
    config = Document(read.text).value
    autos = any(lookup(config, pointer) == "auto" for pointer in FILLED_BY_TRAINER)
    return Imported(read.text, read.notes, Integration.HF if autos else None, written=text)


def _accelerate(yaml: AccelerateConfig, text: str) -> Imported:
    ranks = yaml.num_processes
    gpus = ranks // yaml.num_machines if ranks and ranks % yaml.num_machines == 0 else None
    return Imported(text, yaml.notes, Integration.HF, yaml.num_machines, gpus)


def _followed(yaml: AccelerateConfig, folder: Path, places: Places | None) -> Imported:
    """The config that a YAML in `folder` points to."""
    path = _reached(folder / _expanded(Path(yaml.config_file)), places)
    try:
        config = _json(_read(path))
    except DocumentError as error:
        told = wrong("import.pointed", path=str(path), problem=str(error))
        raise DocumentError(told, error.line, error.column) from error
    found = words("errors", "import.followed", path=str(path))
    followed = replace(_accelerate(yaml, config.text), notes=(found, *config.notes, *yaml.notes))
    return replace(followed, written=config.written)


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise DocumentError(wrong("import.no_home", path=str(path))) from error


def _reached(path: Path, places: Places | None) -> Path:
    """`path` as it was given, or where it leads when only `places` may be read: a link put in its way later is then
    refused, not followed."""
    return places.check(path) if places else path


def _read(path: Path, shown: str = "") -> str:
    """The text of a plain file, called `shown` in messages; no pipe or device is waited for. Raises `DocumentError`."""
    shown = shown or str(path)
    try:
        with open(path, "rb", opener=_plain_file) as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        raise DocumentError(_why_not(path, error)) from error
    if len(content) > MAX_BYTES:
        raise DocumentError(wrong("import.too_large", path=shown, most=f"{MAX_BYTES >> 20} MiB"))
    return _decoded(shown, content)


def _plain_file(path: str, flags: int) -> int:
    """Opens `path` without waiting for a pipe's other end; refuses what is no file before anything is read."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    raise DocumentError(wrong("import.folder" if stat.S_ISDIR(mode) else "import.device", path=path))


def _why_not(path: Path, error: OSError | ValueError) -> Said:
    if isinstance(error, FileNotFoundError):
        where = "" if path.is_absolute() else wrong("import.started_in", folder=str(Path.cwd()))
        return wrong("import.not_found", path=str(path), where=where)
    if isinstance(error, PermissionError):
        return wrong("import.denied", path=str(path))
    reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    return wrong("import.not_opened", path=f"{path!s:.200}", why=reason)


def _decoded(shown: str, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        byte, line = content[error.start], content.count(b"\n", 0, error.start) + 1
        told = wrong("import.no_utf8", path=shown, byte=f"{byte:#04x}", line=str(line))
        raise DocumentError(told, line) from error
