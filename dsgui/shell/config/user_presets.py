"""The user's own presets: one JSON file each, in a folder outside the installation."""

import contextlib
import fcntl
import itertools
import json
import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

from dsgui.core.config.context import Integration
from dsgui.core.config.document import Document
from dsgui.core.config.preset import Preset
from dsgui.core.errors import DsguiError, PresetError
from dsgui.core.texts.saying import words, wrong
from dsgui.shell.files.folders import make_private
from dsgui.shell.files.json_files import replace_file
from dsgui.shell.files.refusals import os_reason

MAX_PRESETS = 200
MAX_BYTES = 1 << 20
MAX_TITLE, MAX_PURPOSE, MAX_COUNT = 60, 300, 100_000
_MAX_SLUG = 40
_AFTER_THE_SHIPPED = 1000
_ID = re.compile(r"user-[a-z0-9-]+\Z")


class UserPresets:
    """The presets in `folder`, which the first `save` makes. Several servers may share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def list(self) -> tuple[Preset, ...]:
        """Every preset that can be read, by title; what can't be is in `problems`."""
        return self._read()[0]

    def problems(self) -> tuple[str, ...]:
        """A sentence for each file in the folder that is no preset, or one for the folder itself."""
        return self._read()[1]

    def save(
        self,
        title: str,
        text: str,
        integration: Integration,
        gpus: int,
        nodes: int,
        purpose: str = "",
        *,
        replace: bool = False,
    ) -> Preset:
        """Writes a preset and returns it. With `replace` it takes the file and the id of the one with its title.

        Raises `PresetError`, and `DocumentError` when `text` is not a config.
        """
        context = {"gpus": gpus, "nodes": nodes}
        entry = {"title": title, "purpose": purpose, "integration": integration.value, "context": context, "text": text}
        preset = _preset("", entry)
        content = _content(preset)
        with self._saying_what_to_do(), self._locked():
            preset = changed(preset, id=self._id_for(preset.title, replace))
            replace_file(self._path(preset.id), content)
        return preset

    def remove(self, id: str) -> None:
        """Deletes a preset. Raises `PresetError`, also when there is none with that id."""
        path = self._path(id)
        if not path.exists():
            raise PresetError(wrong("preset.gone", path=str(path)))
        with self._saying_what_to_do():
            path.unlink(missing_ok=True)

    def _path(self, id: str) -> Path:
        """The file of `id`, which a browser may have sent: never a path that leads out of the folder."""
        if _ID.match(id):
            path = self._folder / f"{id}.json"
            if os.path.dirname(os.path.realpath(path)) == os.path.realpath(self._folder):
                return path
        raise PresetError(wrong("preset.unknown", id=repr(id[:80])))

    def _id_for(self, title: str, replace: bool) -> str:
        """The id to write: that of the preset with this title, or a new one."""
        old = next((preset for preset in self.list() if preset.title == title), None)
        if old and replace:
            return old.id
        if old:
            raise PresetError(wrong("preset.title", title=title))
        if len(self._files()) >= MAX_PRESETS:
            raise PresetError(wrong("preset.limit", folder=str(self._folder), most=str(MAX_PRESETS)))
        ids = (f"user-{_slug(title)}-{n}" for n in itertools.count(1))
        return next(id for id in ids if not os.path.lexists(self._folder / f"{id}.json"))

    def _files(self) -> tuple[Path, ...]:
        """What is in the folder, hidden files (the lock, a half-written one) apart. Raises OSError."""
        try:
            return tuple(sorted(path for path in self._folder.iterdir() if not path.name.startswith(".")))
        except FileNotFoundError:
            return ()

    def _read(self) -> tuple[tuple[Preset, ...], tuple[str, ...]]:
        presets, problems = list[Preset](), list[str]()
        try:
            files = self._files()
        except OSError as error:
            return (), (words("errors", "preset.folder", folder=str(self._folder), why=os_reason(error)),)
        for path in files:
            try:
                presets.append(_read_preset(path))
            except (DsguiError, OSError, ValueError, RecursionError) as error:
                problems.append(words("errors", "preset.none", path=str(path), problem=os_reason(error)))
        return tuple(sorted(presets, key=lambda preset: (preset.title.casefold(), preset.id))), tuple(problems)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """One writer at a time, whichever server it belongs to; makes the folder."""
        make_private(self._folder)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self._folder / ".lock", flags, 0o600)
        try:
            with contextlib.suppress(OSError):  # some network file systems have no locks: then one server is assumed
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def _saying_what_to_do(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise PresetError(wrong("preset.not_written", folder=str(self._folder), why=os_reason(error))) from error


def _preset(id: str, entry: dict[str, Any]) -> Preset:
    """The preset that `entry` describes. Raises `PresetError`, and `DocumentError` for its text."""
    context = entry.get("context")
    context = context if isinstance(context, dict) else {}
    text = entry.get("text")
    if not isinstance(text, str):
        raise PresetError(wrong("preset.text", seen=_seen(text)))
    Document(text)
    return Preset(
        id=id,
        group=words("configs", "my_presets"),
        title=_line("title", entry.get("title"), 1, MAX_TITLE),
        purpose=_line("purpose", entry.get("purpose", ""), 0, MAX_PURPOSE),
        source=words("configs", "saved_here"),
        integration=_integration(entry.get("integration")),
        gpus=_count("gpus", context.get("gpus")),
        nodes=_count("nodes", context.get("nodes")),
        model="",
        notes=(),
        arguments="",
        text=text,
        order=_AFTER_THE_SHIPPED,
    )


def _line(name: str, value: object, least: int, most: int) -> str:
    line = value.strip() if isinstance(value, str) else None
    if line is None or not least <= len(line) <= most or not line.isprintable():
        known = line is not None and line.isprintable()
        seen = wrong("preset.characters", count=str(len(line or ""))) if known else _seen(value)
        told = wrong(
            "preset.line",
            name=wrong("preset.title_name") if name == "title" else wrong("preset.purpose_name"),
            seen=seen,
            least=str(least),
            most=str(most),
        )
        raise PresetError(told)
    return line


def _integration(value: object) -> Integration:
    found = next((integration for integration in Integration if integration.value == value), None)
    if found is None:
        raise PresetError(wrong("preset.integration", seen=_seen(value)))
    return found


def _count(name: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_COUNT:
        raise PresetError(wrong("preset.count", name=name, seen=_seen(value), most=str(MAX_COUNT)))
    return value


def _seen(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _slug(title: str) -> str:
    """Small letters, digits and dashes: `ZeRO-3, Größe L` → `zero-3-groe-l`."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_MAX_SLUG].strip("-") or "preset"


def _content(preset: Preset) -> bytes:
    """The file of a preset. Raises `PresetError` when it is too large."""
    entry = {
        "title": preset.title,
        "purpose": preset.purpose,
        "integration": preset.integration.value,
        "context": {"gpus": preset.gpus, "nodes": preset.nodes},
        "text": preset.text,
    }
    content = json.dumps(entry, indent=1).encode("ascii") + b"\n"
    if len(content) > MAX_BYTES:
        raise PresetError(wrong("preset.too_long", bytes=str(len(content)), most=str(MAX_BYTES)))
    return content


def _read_preset(path: Path) -> Preset:
    """Raises OSError, ValueError, RecursionError, `PresetError` and `DocumentError`."""
    if path.suffix != ".json" or not _ID.match(path.stem):
        raise PresetError(wrong("preset.file_name"))
    entry = json.loads(_read_file(path))
    if not isinstance(entry, dict):
        raise PresetError(wrong("preset.no_object", seen=_seen(entry)))
    return _preset(path.stem, entry)


def _read_file(path: Path) -> bytes:
    """The bytes of a plain file that is not too large; links are not followed, and a pipe does not block."""
    if path.is_symlink():
        raise PresetError(wrong("preset.link"))
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise PresetError(wrong("preset.no_file"))
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise PresetError(wrong("preset.large", bytes=str(status.st_size), most=str(MAX_BYTES)))
    return content
