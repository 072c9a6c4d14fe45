"""Reads what dsgui ships as documents: `schemas/` and `presets/`, and the bundled recipes."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from dsgui.core.config.context import Integration
from dsgui.core.config.form_texts import FormTexts
from dsgui.core.config.preset import Preset, PresetPlan
from dsgui.core.config.schema import Schema
from dsgui.core.launch.recipes import BY_NAME
from dsgui.core.texts.languages import ENGLISH_TAG, LANGUAGES
from dsgui.shell.files.installation import DOCUMENTS


class Catalog:
    """The documents under `root`: `schemas/`, `presets/` and `recipes/`."""

    def __init__(self, root: Path = DOCUMENTS) -> None:
        self._root = root

    def schema(self) -> Schema:
        """The schema and presentation, joined."""
        return Schema(self._json("schemas/ds_config.schema.json"), self._json("schemas/presentation.json"))

    def form_texts(self, tag: str) -> FormTexts:
        """What the form says in another language than English."""
        return FormTexts.from_json(self._json(f"schemas/{tag}.json"))

    def presets(self, tag: str = ENGLISH_TAG) -> tuple[Preset, ...]:
        """Every shipped preset, in the order they are offered; what is said of it in the language with this tag."""
        presets = _presets(self._root / "presets")
        if tag == ENGLISH_TAG:
            return presets
        texts = self._json(f"presets/{tag}.json")
        return tuple(_told(preset, texts.get(preset.id, {})) for preset in presets)

    def recipe(self, name: str) -> Path:
        """The path of a bundled training script."""
        return self._root / "recipes" / f"{name}.py"

    def is_recipe(self, path: Path) -> bool:
        """Whether `path` is one of the bundled training scripts."""
        return path.stem in BY_NAME and path.resolve() == self.recipe(path.stem).resolve()

    def _json(self, name: str) -> Any:
        return json.loads((self._root / name).read_text("utf-8"))


def _presets(folder: Path) -> tuple[Preset, ...]:
    paths = sorted(folder.glob("*.json"))
    others = {f"{tag}.json" for tag in LANGUAGES}
    presets = [_preset(path) for path in paths if not path.name.endswith(".ds_config.json") and path.name not in others]
    return tuple(sorted(presets, key=lambda preset: preset.order))


def _told(preset: Preset, texts: dict[str, Any]) -> Preset:
    """What the preset lacks in another language stays as it is."""
    told = {name: texts[name] for name in ("group", "title", "purpose", "source") if name in texts}
    titles = texts.get("plans", [plan.title for plan in preset.plans])
    plans = tuple(replace(plan, title=title) for plan, title in zip(preset.plans, titles, strict=True))
    return replace(preset, **told, notes=tuple(texts.get("notes", preset.notes)), plans=plans)


def _preset(path: Path) -> Preset:
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
        plans=tuple(map(_plan, entry.get("plans", ()))),
    )


def _plan(entry: dict[str, Any]) -> PresetPlan:
    values = tuple((key, json.dumps(value)) for key, value in entry["config"].items())
    return PresetPlan(entry["title"], entry["gpus"], entry["nodes"], values)
