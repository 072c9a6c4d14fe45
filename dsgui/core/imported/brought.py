"""The HF Trainer's arguments of an imported run, for as long as its script and its settings stand on the page."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.imported.outline import Outline
from dsgui.core.imported.tool_settings import from_options, trainer_of
from dsgui.core.imported.tools import Tool
from dsgui.core.launch.run_fields import OWN_SCRIPT


@dataclass(frozen=True, slots=True)
class Brought:
    """`script`: as it was filled in, "" where it is still to be named. `file` holds the settings, "" where the
    arguments are all of them; `trainer` is what both say."""

    tool: Tool
    script: str
    file: str
    trainer: TrainingArguments

    @classmethod
    def of(cls, outline: Outline | None, script: str) -> "Brought | None":
        """None for a script of one's own: its source and its arguments tell."""
        if outline is None or outline.tool is None or outline.trainer is None:
            return None
        file = outline.words[0] if outline.tool.by_file and outline.words else ""
        return cls(outline.tool, script, file, outline.trainer)

    def now(self, asked: Mapping[str, Any]) -> TrainingArguments | None:
        """With the arguments as they are typed by now; None where something else is to run."""
        if asked["what"] != OWN_SCRIPT or not self._is_its_script(str(asked["script"] or "").strip()):
            return None
        try:
            words = shlex.split(str(asked["arguments"] or ""))
        except ValueError:
            return None
        if not self.tool.by_file:
            return trainer_of(self.tool, from_options(words))
        if words[:1] != [self.file] and self.file:
            return None
        typed = trainer_of(self.tool, from_options(words[1:]))
        return self.trainer.overlaid(typed)

    def _is_its_script(self, script: str) -> bool:
        return script == self.script or any(f"/{script}".endswith(f"/{one}") for one in self.tool.scripts)
