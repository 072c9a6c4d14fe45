"""Options made from the fields of what is to run, and those of its memory. Imports little: `validate` has them, too."""

import argparse
from pathlib import Path
from typing import Any

from dsgui.core.launch.field import Field, Kind, Part
from dsgui.core.launch.run_fields import complete, fields_of
from dsgui.core.launch.spec import model_of
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.texts.saying import words, wrong

_MOST = 10**6


def add_field(parser: argparse._ActionsContainer, field: Field) -> None:
    """The option of one field of what is to run."""
    given: dict[str, Any] = {"dest": field.name, "help": field.told("usage") or None}
    if field.from_file:
        given |= {"type": Path}
    elif field.kind is Kind.CHOICE:
        given |= {"choices": [value for _, value in field.choices], "default": field.default or None}
        given |= {"metavar": field.metavar} if field.metavar else {}
    elif field.kind is Kind.LINES:
        given |= {"action": "append", "default": [], "metavar": field.metavar}
    elif field.kind is Kind.COUNT:
        given |= {"type": int, "metavar": field.metavar, "default": None if field.metavar else field.default}
    elif field.kind is Kind.TICK:
        given |= {"action": "store_false" if field.default else "store_true"}
    elif field.kind is Kind.GPUS:
        given |= {"type": _indices, "default": field.default}
    else:
        given |= {"default": field.default}
    parser.add_argument(field.option, **given)


def add_model(parser: argparse._ActionsContainer) -> None:
    """The options that say which model, and how much of it at once."""
    for field in fields_of(Part.MODEL):
        add_field(parser, field)


def model_said(options: argparse.Namespace) -> ModelChoice:
    """What these options say. Raises `PlanError`."""
    given = vars(options)
    return model_of(complete({field.name: given[field.name] for field in fields_of(Part.MODEL)}))


def add_room(parser: argparse._ActionsContainer) -> None:
    """The options that say how much of the model at once, and what memory there is besides the device's."""
    parser.add_argument("--micro-batch", type=_count, metavar="B", help=words("options", "micro_batch"))
    parser.add_argument("--workers", type=_number, default=0, metavar="N", help=words("options", "workers"))
    parser.add_argument("--host-memory", type=_number, metavar="GIB", help=words("options", "host_memory"))


def _count(text: str) -> int:
    if text.isdecimal() and 1 <= int(text) <= _MOST:
        return int(text)
    raise argparse.ArgumentTypeError(wrong("options.no_count", text=text, least="1", most=str(_MOST)))


def _number(text: str) -> int:
    if text.isdecimal() and int(text) <= _MOST:
        return int(text)
    raise argparse.ArgumentTypeError(wrong("options.no_count", text=text, least="0", most=str(_MOST)))


def _indices(text: str) -> tuple[str, ...]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdecimal() for word in words):
        raise argparse.ArgumentTypeError(wrong("options.no_gpus", text=text))
    return tuple(words)
