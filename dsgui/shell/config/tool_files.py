"""The files that another tool's settings or command line name: settings, configs, scripts, where a tool is started in
its own repository."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from dsgui.core.errors import DocumentError, PlaceError, PlanError
from dsgui.core.imported.outline import Outline, shown
from dsgui.core.imported.recognising import as_settings
from dsgui.core.imported.shell_below import WrittenFile
from dsgui.core.imported.tool_settings import behind_file
from dsgui.core.imported.tools import Tool
from dsgui.core.imported.training_line import with_settings
from dsgui.core.launch.hostfile import chosen_hosts, parse_hostfile
from dsgui.core.texts.saying import Said, listed, said
from dsgui.shell.access.places import Places
from dsgui.shell.config.plain_text import expanded, read_plain
from dsgui.shell.files.folders import is_anyones

_HIGHEST = 8  # folders above the file that names another


@dataclass(frozen=True, slots=True)
class Reach:
    """From where names are followed: `folder` is None for pasted text, where only whole paths are."""

    folder: Path | None
    places: Places | None

    def find(self, named: str) -> Path | None:
        """The nearest plain file of that name, from the folder upwards: tools are started above their examples. None
        where none may be read. The search ends below a folder like /tmp: anyone may have left a file there."""
        path = Path(named)
        try:
            path = expanded(path)
        except DocumentError:
            return None
        if path.is_absolute():
            return self._allowed(path)
        return next((found for one in self._tried(path) if (found := self._allowed(one))), None)

    def _tried(self, path: Path) -> Iterator[Path]:
        if self.folder is None:
            return
        yield self.folder / path
        for one in self.folder.parents[:_HIGHEST]:
            if is_anyones(one) or is_anyones((one / path).parent):  # also by `..`
                return
            yield one / path

    def _allowed(self, path: Path) -> Path | None:
        try:
            real = self.places.check(path) if self.places else path
            return real if real.is_file() else None
        except (PlaceError, OSError, ValueError):
            return None


def with_file(outline: Outline, reach: Reach) -> tuple[Outline, tuple[Said, ...]]:
    """With the settings' file that a command line names; what is said where it is not here."""
    tool = outline.tool
    if not outline.settings_file or tool is None:
        return outline, ()
    path = reach.find(outline.settings_file)
    if written := outline.written(outline.settings_file):
        return _with_written(outline, tool, written)
    if path is None:
        return _unread(outline, tool), (said("imported", "needs_settings", file=outline.settings_file),)
    try:
        settings = as_settings(read_plain(path))
    except DocumentError as error:
        return _unread(outline, tool), (said("imported", "settings_unreadable", path=str(path), problem=str(error)),)
    # The run starts in another folder than the line did.
    outline = replace(outline, settings_file=str(path.absolute()))
    return with_settings(outline, tool, settings), (said("imported", "settings_at", path=str(path)),)


def _with_written(outline: Outline, tool: Tool, file: WrittenFile) -> tuple[Outline, tuple[Said, ...]]:
    """With settings that the script writes itself; its file is still to be there when the run starts."""
    if file.unknown:
        return _unread(outline, tool), (_unknown_in(file),)
    try:
        settings = as_settings(file.text)
    except DocumentError as error:
        told = said("imported", "settings_unreadable", path=file.path, problem=str(error))
        return _unread(outline, tool), (told,)
    return with_settings(outline, tool, settings), _written(file, said("imported", "settings_written", file=file.path))


def _unknown_in(file: WrittenFile) -> Said:
    return said("imported", "written_unknown", file=file.path, names=listed(file.unknown))


def _written(file: WrittenFile, told: Said) -> tuple[Said, ...]:
    depends = [shown(f"{file.path}: {one}") for one in file.depends]
    return (told, said("imported", "depends", what=listed(depends))) if depends else (told,)


def text_written(outline: Outline, named: str) -> tuple[str | None, tuple[Said, ...]]:
    """The text that the script itself writes to the file `named`, and what is said of it: None where it writes none,
    "" where nobody but a shell knows it."""
    file = outline.written(named)
    if file is None:
        return None, ()
    told = said("imported", "config_written", file=file.path)
    return ("", (_unknown_in(file),)) if file.unknown else (file.text, _written(file, told))


def with_hosts(outline: Outline, reach: Reach) -> tuple[Outline, tuple[Said, ...]]:
    """With the nodes that the launcher's hostfile names; as it is where that is not here."""
    path = reach.find(outline.hostfile) if outline.hostfile else None
    if path is None:
        return outline, ()
    try:
        hosts = chosen_hosts(parse_hostfile(read_plain(path)), *outline.hosts)[: outline.nodes]
    except (DocumentError, PlanError) as error:
        return outline, (said("imported", "hostfile_unreadable", path=str(path), problem=str(error)),)
    slots = {len(host.slots) for host in hosts}
    ranks = outline.ranks or (slots.pop() if len(slots) == 1 else None)
    return replace(outline, nodes=len(hosts), ranks=ranks, hostfile=""), (said("imported", "hosts_at", path=str(path)),)


def _unread(outline: Outline, tool: Tool) -> Outline:
    """The file stays among the arguments, where the tool looks for it; what it says is not known."""
    named = (tool.names_file,) if tool.names_file else ()
    words = (*named, outline.settings_file, *behind_file(tool, outline.words))
    return replace(outline, words=words, reader=tool.reader_behind or outline.reader, trainer=None)


def needed(outline: Outline, named: str) -> Said:
    """What is asked of the user where the config is not here."""
    if outline.config_name and outline.tool:
        return said("imported", "needs_named", name=outline.config_name, tool=outline.tool.name, file=named)
    return said("imported", "needs_accelerate" if outline.accelerate_file else "needs_config", file=named)


def script_of(outline: Outline, reach: Reach) -> str:
    """Where the script lies; "" where that is not known."""
    if outline.script and outline.tool is None:
        found = reach.find(outline.script)
        return str(found) if found else ""
    tried = (outline.script, f"src/{outline.script}") if outline.script else outline.scripts
    return next((str(found) for one in tried if (found := reach.find(one))), "")
