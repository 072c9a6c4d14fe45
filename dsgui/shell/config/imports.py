"""Brings a config in: from a file, an upload or pasted text; JSON, hjson, accelerate's YAML, or what another tool
knows of a run."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dsgui.core.config import accelerate_yaml
from dsgui.core.config.accelerate_yaml import AccelerateConfig
from dsgui.core.config.arguments import TrainingArguments, read_arguments
from dsgui.core.config.context import Integration
from dsgui.core.config.document import Document
from dsgui.core.config.filling import FILLED_BY_TRAINER
from dsgui.core.config.pointer import lookup
from dsgui.core.errors import DocumentError
from dsgui.core.imported.brought import Brought
from dsgui.core.imported.import_notes import fields_of, notes_of
from dsgui.core.imported.outline import Outline
from dsgui.core.imported.recognising import might_train, recognised
from dsgui.core.imported.shell_lines import looks_like_shell
from dsgui.core.texts.saying import Said, said, words, wrong
from dsgui.core.validation import written
from dsgui.shell.access.places import Places
from dsgui.shell.config.plain_text import expanded, reached, read_plain
from dsgui.shell.config.tool_files import Reach, needed, script_of, text_written, with_file, with_hosts

_YAML_NAMES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Run:
    """What another tool's settings or command line say of a run: what they were recognised as, values of the Launch
    page's fields, and the HF Trainer's arguments: `brought` for the page, where they are typed anew."""

    source: str
    fields: Mapping[str, Any]
    brought: Brought | None
    trainer: TrainingArguments | None


@dataclass(frozen=True, slots=True)
class Missing:
    """A config that a run names and that was not read: its `file` as written, the note that says so, and the preset
    that is like it, "" for none."""

    file: str
    note: str
    preset: str = ""


@dataclass(frozen=True, slots=True)
class Imported:
    """A config's text (strict JSON), what was changed or found on the way, and what the source says of its context.

    `integration`, `nodes` and `gpus` (of each node) are None where the source does not tell. `written`: the JSON as it
    stands in the file, None where the config is a part of a YAML. `run`: what another tool's settings or command line
    say; the text is "" where they lead to no config, and `missing` is the one that they name.
    """

    text: str
    notes: tuple[str, ...]
    integration: Integration | None = None
    nodes: int | None = None
    gpus: int | None = None
    written: str | None = None
    run: Run | None = None
    missing: Missing | None = None


def open_file(path: Path, places: Places | None = None) -> Imported:
    """The config in the file at `path`, which may start with `~`. A YAML that points to a config leads to that.

    Raises `DocumentError` for a path that is no readable text file of at most `MAX_BYTES`, and for what `read_text`
    refuses; `PlaceError` for one that leads outside `places`, where those are given.
    """
    path = reached(expanded(path), places)
    text = read_plain(path)
    if outline := recognised(text, str(path.absolute())):
        return _run(outline, Reach(path.absolute().parent, places))
    return _open(path, places)


def open_config(path: Path) -> Imported:
    """The same where a config is needed. Raises `DocumentError` for a run that leads to none here."""
    found = open_file(path)
    if found.text:
        return found
    raise DocumentError(wrong("import.no_config", path=str(path), notes=" ".join(found.notes)))


def open_upload(path: Path, places: Places | None = None) -> Imported:
    """The config in an uploaded file, which lies at `path` for a while: messages say its name alone. Raises
    `DocumentError`, also for a YAML that only points to a config: where that file is can't be told from an upload."""
    return read_text(read_plain(path, path.name), path.name, places)


def read_text(text: str, name: str = "", places: Places | None = None) -> Imported:
    """The config in the text of a file called `name`. Raises `DocumentError`, as `open_upload` does. Files that it
    names are looked for where it names them from the root on, in `places`."""
    if outline := recognised(text):
        return _run(outline, Reach(None, places))
    return _of_text(text, name, None, places)


def read_training_arguments(option: str) -> TrainingArguments:
    """The HF Trainer's arguments from a JSON object or a command line as they are, or else from a file of that name.
    Raises `ArgumentsError` or, for a file that can't be read, `DocumentError`."""
    if not option.strip() or option.lstrip().startswith(("{", "-")):
        return read_arguments(option)
    return read_arguments(read_plain(expanded(Path(option))))


def _is_yaml(text: str, name: str) -> bool:
    """By content first: accelerate's own keys mean its file, and braces mean JSON whatever the name is."""
    if accelerate_yaml.is_one(text):
        return True
    return name.lower().endswith(_YAML_NAMES) and not text.lstrip("\ufeff \t\r\n").startswith("{")


def _run(outline: Outline, reach: Reach) -> Imported:
    """With what lies where the settings point."""
    outline, of_file = with_file(outline, reach)
    outline, of_hosts = with_hosts(outline, reach)
    config, of_config = _config_of(outline, reach)
    named = outline.config_file or outline.accelerate_file
    if config:
        outline = replace(outline, ranks=outline.ranks or config.gpus, nodes=outline.nodes or config.nodes)
    script = script_of(outline, reach)
    found, left = (*of_config, *of_file), notes_of(outline, bool(script))
    return Imported(
        config.text if config else "",
        (*map(str, found), *(config.notes if config else ()), *map(str, (*of_hosts, *left))),
        {"native": Integration.NATIVE, "": None}.get(outline.reader, Integration.HF),
        outline.nodes,
        outline.ranks,
        config.written if config else None,
        Run(str(outline.source), fields_of(outline, script), Brought.of(outline, script), outline.trainer),
        _missing(outline, named, str(of_config[0])) if named and not config else None,
    )


def _missing(outline: Outline, named: str, note: str) -> Missing:
    return Missing(named, note, outline.tool.preset_like(named) if outline.tool else "")


def _config_of(outline: Outline, reach: Reach) -> tuple[Imported | None, tuple[Said, ...]]:
    """The config that a run points to, where it is here; and where it was looked for."""
    if outline.config is not None:
        return _json(_dumped(outline.config)), (said("imported", "config_inside"),)
    if outline.short:
        yaml = accelerate_yaml.read(_dumped({"distributed_type": "DEEPSPEED", **outline.short}))
        return _accelerate(yaml, yaml.text), (said("imported", "config_of_options"),)
    named = outline.config_file or outline.accelerate_file
    if not named:
        return None, (said("imported", "no_config"),)
    text, told = text_written(outline, named)
    if text is not None:
        return _written_config(text, named, told, reach)
    path = reach.find(named)
    if path is None:
        return None, (needed(outline, named),)
    try:
        found = _open(path, reach.places)
    except DocumentError as error:
        return None, (said("imported", "config_unreadable", path=str(path), problem=str(error)),)
    return found, (said("imported", "config_at", path=str(path), named=outline.config_name or named),)


def _written_config(
    text: str, named: str, told: tuple[Said, ...], reach: Reach
) -> tuple[Imported | None, tuple[Said, ...]]:
    """The config that the script writes itself, "" where its text is not known."""
    if not text:
        return None, told
    try:
        return _of_text(text, named, reach.folder, reach.places), told
    except DocumentError as error:
        return None, (said("imported", "config_unreadable", path=named, problem=str(error)),)


def _open(path: Path, places: Places | None) -> Imported:
    """A config or accelerate's YAML."""
    return _of_text(read_plain(path), path.name, path.parent, places)


def _of_text(text: str, name: str, folder: Path | None, places: Places | None) -> Imported:
    if not _is_yaml(text, name):
        return _json(text)
    yaml = accelerate_yaml.read(text)
    if yaml.text:
        return _accelerate(yaml, yaml.text)
    if folder is None:
        raise DocumentError(wrong("import.points", path=yaml.config_file))
    return _followed(yaml, folder, places)


def _json(text: str) -> Imported:
    if looks_like_shell(text) or (not text.lstrip("\ufeff \t\r\n").startswith("{") and might_train(text)):
        raise DocumentError(wrong("import.no_training"))
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
    path = Reach(folder, places).find(yaml.config_file) or reached(folder / expanded(Path(yaml.config_file)), places)
    try:
        config = _json(read_plain(path))
    except DocumentError as error:
        told = wrong("import.pointed", path=str(path), problem=str(error))
        raise DocumentError(told, error.line, error.column) from error
    found = words("errors", "import.followed", path=str(path))
    followed = replace(_accelerate(yaml, config.text), notes=(found, *config.notes, *yaml.notes))
    return replace(followed, written=config.written)


def _dumped(config: Mapping[str, Any]) -> str:
    try:
        return json.dumps(config, indent=2, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise DocumentError(wrong("import.no_json", why=str(error))) from error
