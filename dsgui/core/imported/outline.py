"""What another tool's file or command line says of a run: a config to find, and values of the Launch page's fields."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.imported.shell_below import WrittenFile
from dsgui.core.imported.tools import Tool
from dsgui.core.texts.saying import Said

MOST_SHOWN = 12
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Outline:
    """`source` says what it was recognised as; `tool` is None for a script of one's own. `settings_file` is still to be
    read; so are `accelerate_file` and `config_file`, all as written. `config_name`: the tool's own name for that file.
    `config`: a config that stands inside. `short`: accelerate's short keys. `script` is "" where the tool's own trains,
    which lies in one of `trains`, none where it can't be told which of its scripts is meant; `words` are its arguments,
    without the config. `ranks` counts those of one node, None where nothing is said; `fields` are further values of the
    Launch page by name. `trainer`: the HF Trainer's arguments, None for a tool that was not recognised. `unread`: what
    was not understood, as it stands there; `passed`: what goes to the tool as it is; `cut`: the first option that a
    shell would not pass, since the command ends before it. `in_front`: what stands in front of the launcher and is
    left out; `depends`: conditions that nobody but the shell can decide. `files`: what the script writes before it
    trains. `hostfile` names the machines, of which `hosts` includes and excludes some; it is still to be read."""

    source: Said
    tool: Tool | None = None
    settings_file: str = ""
    config_file: str = ""
    config_name: str = ""
    config: Mapping[str, Any] | None = None
    accelerate_file: str = ""
    short: Mapping[str, Any] = field(default_factory=dict)
    script: str = ""
    trains: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    reader: str = ""
    ranks: int | None = None
    nodes: int | None = None
    gpus: tuple[str, ...] = ()
    started_by: str = ""
    port: str = ""
    environment: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    trainer: TrainingArguments | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    passed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    cut: str = ""
    in_front: tuple[str, ...] = ()
    depends: tuple[str, ...] = ()
    files: tuple[WrittenFile, ...] = ()
    hostfile: str = ""
    hosts: tuple[str, str] = ("", "")

    def written(self, named: str) -> WrittenFile | None:
        """The file of that name as the script writes it, where it does."""
        return next((file for file in reversed(self.files) if file.is_called(named)), None) if named else None

    @property
    def scripts(self) -> tuple[str, ...]:
        """Where what trains may lie; none where that is not known."""
        return (self.script,) if self.script else self.trains


def shown(value: Any) -> str:
    """A value or a line as a note shows it."""
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
