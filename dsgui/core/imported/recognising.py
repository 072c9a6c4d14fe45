"""Tells by its content what a text describes: a tool's settings, a command line that trains, or neither."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dsgui.core.config import accelerate_yaml, bounded_yaml
from dsgui.core.errors import DocumentError
from dsgui.core.imported.outline import Outline
from dsgui.core.imported.shell_lines import MAX_CHARACTERS
from dsgui.core.imported.tool_settings import file_words, outline_of
from dsgui.core.imported.tools import Tool, has_marks, tool_of
from dsgui.core.imported.training_line import read_command

_KEY = re.compile(r"^[ \t{]{0,8}[\"']?([A-Za-z_][A-Za-z0-9_]{1,40})[\"']?[ \t]{0,4}:", re.MULTILINE)
_PROGRAMS = "accelerate|accelerate-launch|torchrun|deepspeed|swift|llamafactory-cli|lmf|axolotl|trl"
_TRAINS = re.compile(rf"\b(?:{_PROGRAMS}|python[\d.]{{0,5}})[ \t]")


def recognised(text: str, path: str = "") -> Outline | None:
    """What a file at `path`, or pasted text, says of a run; None for a config or accelerate's YAML. Raises
    `DocumentError` for settings of a tool that can't be read."""
    if accelerate_yaml.is_one(text):
        return None if _is_mapping(text) else _command(text)
    try:
        found = settings_in(text)
    except DocumentError:  # a script may write a YAML or JSON with a tool's keys
        if outline := _command(text):
            return outline
        raise
    if found:
        outline = outline_of(*found)
        return replace(outline, words=file_words(outline, path)) if found[0].by_file and path else outline
    return _command(text)


def _command(text: str) -> Outline | None:
    is_json = text.lstrip("\ufeff \t\r\n").startswith("{")
    return None if is_json or not might_train(text) else read_command(text)


def _is_mapping(text: str) -> bool:
    """Whether it is a YAML, and no script that writes one; one that can't train is not asked."""
    if not might_train(text):
        return True
    try:
        return bool(bounded_yaml.load(text))
    except DocumentError:
        return False


def might_train(text: str) -> bool:
    """Whether one of the launchers or tools is named at all: cheap, for any text."""
    return len(text) <= MAX_CHARACTERS and _TRAINS.search(text) is not None


def settings_in(text: str) -> tuple[Tool, Mapping[str, Any]] | None:
    """The tool and its settings; None where they are no tool's."""
    if len(text) > bounded_yaml.MAX_CHARACTERS or not has_marks(_KEY.findall(text)):
        return None
    settings = _json(text) if text.lstrip("\ufeff \t\r\n").startswith("{") else bounded_yaml.load(text)
    tool = tool_of(settings)
    return (tool, settings) if tool else None


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def as_settings(text: str) -> Mapping[str, Any]:
    """A file of settings that a command line names. Raises `DocumentError` for what is none."""
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return _json(text)
    return bounded_yaml.load(text)
