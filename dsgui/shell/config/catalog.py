"""Reads what dsgui ships as documents: `schemas/` and `presets/`, and the bundled recipes."""

import json
from pathlib import Path
from typing import Any

from dsgui.core.config.context import Integration
from dsgui.core.config.preset import Preset
from dsgui.core.config.schema import Schema
from dsgui.shell.files.installation import DOCUMENTS


class Catalog:
    """The documents under `root`: `schemas/`, `presets/` and `recipes/`."""

    def __init__(self, root: Path = DOCUMENTS) -> None:
        self._root = root

    def schema(self) -> Schema:
        """The schema and presentation, joined."""
        return Schema(self._json("schemas/ds_config.schema.json"), self._json("schemas/presentation.json"))

    def presets(self) -> tuple[Preset, ...]:
        """Every shipped preset, in the order they are offered."""
        paths = sorted((self._root / "presets").glob("*.json"))
        presets = [self._preset(path) for path in paths if not path.name.endswith(".ds_config.json")]
        return tuple(sorted(presets, key=lambda preset: preset.order))

    def recipe(self, name: str) -> Path:
        """The path of a bundled training script."""
        return self._root / "recipes" / f"{name}.py"

    def _preset(self, path: Path) -> Preset:
        entry = json.loads(path.read_text("utf-8"))
        context = entry.get("context", {})
        return Preset(
            id=entry["id"],
            group=entry["group"],
            title=entry["title"],
            purpose=entry["purpose"],
            source=entry["source"],
            integration=Integration(entry["integration"]),
            gpus=context.get("gpus", 1),
            nodes=context.get("nodes", 1),
            model=context.get("model", ""),
            notes=tuple(entry.get("notes", ())),
            arguments=entry.get("arguments", ""),
            text=(path.parent / entry["config_file"]).read_text("utf-8"),
            order=entry.get("order", 99),
        )

    def _json(self, name: str) -> Any:
        return json.loads((self._root / name).read_text("utf-8"))
