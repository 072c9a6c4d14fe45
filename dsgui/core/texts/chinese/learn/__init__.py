"""Texts of the tutorials: the drawer's own, and what each step says. `\\n` parts paragraphs, backticks mark code."""

from collections.abc import Mapping

from dsgui.core.texts.chinese.learn.learn_panel import LEARN_NOTES, LEARN_NUMBERS, LEARN_PANEL
from dsgui.core.texts.chinese.learn.learn_tables import LEARN_TABLES
from dsgui.core.texts.chinese.learn.lora_track import LORA
from dsgui.core.texts.chinese.learn.memory_track import MEMORY
from dsgui.core.texts.chinese.learn.native_track import NATIVE
from dsgui.core.texts.chinese.learn.translation_track import TRANSLATION

LEARNING: Mapping[str, Mapping[str, str]] = {
    "learn": {**TRANSLATION, **MEMORY, **NATIVE, **LORA},
    "learn_panel": LEARN_PANEL,
    "learn_notes": LEARN_NOTES,
    "learn_numbers": LEARN_NUMBERS,
    "learn_tables": LEARN_TABLES,
}
