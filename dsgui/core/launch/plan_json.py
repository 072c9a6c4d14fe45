"""A plan as stored in plan.json: what was requested from a place is under that place's key; the other places' keys are
null."""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from enum import Enum
from typing import Any

from dsgui import __version__
from dsgui.core.decoding import sequence, whole
from dsgui.core.launch.plan import ConfigArgument, Here, Place, Plan, StartedBy, WhenBusy
from dsgui.core.launch.planned import MOST_HOST_GIB, Planned
from dsgui.core.launch.where import BY_NAME, PLACES
from dsgui.core.memory.choice import MOST_TOKENS, ModelChoice
from dsgui.core.texts.saying import Said, said

_MOST_RANKS, _MOST_WORDS = 1 << 17, 1 << 16
_WRITER, _LONGEST_VERSION = "dsgui", 40
_TRAINS = "trains"  # the name of the place
_CHOICES: Mapping[str, type[Enum]] = {
    "config_argument": ConfigArgument,
    "started_by": StartedBy,
    "when_busy": WhenBusy,
}
_CHOICE = re.compile(r"[A-Z][A-Z0-9_]{0,39}")


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """The plan as JSON, with the version of dsgui that writes it."""
    values = {one.name: getattr(plan, one.name) for one in fields(Plan) if one.name != "place"}
    written = {name: _WRITTEN.get(name, _same)(value) for name, value in values.items()}
    return written | place_to_json(plan.place) | {_TRAINS: plan.place.NAME, _WRITER: __version__}


def place_to_json(place: Place) -> dict[str, Any]:
    """What is requested from it."""
    return {kind.KEY: place.to_json() if isinstance(place, kind) else None for kind in PLACES if kind.KEY}


def plan_from_json(value: Mapping[str, Any]) -> Plan:
    """The inverse of `plan_to_json`; unknown keys are ignored. Raises KeyError, TypeError, ValueError or
    `PlanError`."""
    needed = {name: value[name] for name in _NEEDED}
    given = {one.name: value[one.name] for one in fields(Plan) if one.name in _READ and one.name in value}
    return Plan(**{name: _READ[name](one) for name, one in (needed | given).items()}, place=_place(value))


def foreign_in(value: Mapping[str, Any]) -> Said | None:
    """What another version of dsgui wrote in a plan that `plan_from_json` can't read, in a sentence: that it is newer,
    or what it has for a choice that is none here. None where neither tells."""
    if not value.keys() >= {*_NEEDED}:
        return None
    writer = value.get(_WRITER)
    if isinstance(writer, str) and _numbers(writer) > _numbers(__version__):
        return said("reasons", "another_writer", version=writer[:_LONGEST_VERSION], own=__version__)
    if isinstance(place := value.get(_TRAINS), str) and place not in BY_NAME:
        return said("reasons", "another_place", place=place[:_LONGEST_VERSION])
    named = ((key, value.get(key)) for key in _CHOICES)
    for key, one in named:
        if isinstance(one, str) and _CHOICE.fullmatch(one) and one not in _CHOICES[key].__members__:
            return said("reasons", "another_choice", key=key, value=one)
    return None


def _numbers(version: str) -> tuple[int, ...]:
    """Those that it begins with."""
    found = re.match(r"\d{1,6}(?:\.\d{1,6}){0,5}", version)
    return tuple(map(int, found[0].split("."))) if found else ()


def _is_known_place(value: Mapping[str, Any]) -> bool:
    """A plan of before places were named is where what was requested says."""
    named = value.get(_TRAINS)
    return named is None or (isinstance(named, str) and named in BY_NAME)


def _place(value: Mapping[str, Any]) -> Place:
    if not _is_known_place(value):
        raise ValueError(_TRAINS)
    asked = ((kind, value.get(kind.KEY)) for kind in PLACES)
    return next((kind.from_json(one) for kind, one in asked if one is not None), Here())


def _same(value: Any) -> Any:
    return value


def _name_of(choice: Enum) -> str:
    return choice.name


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(one) for one in sequence(value, _MOST_WORDS))


def _planned(value: Mapping[str, Any]) -> Planned:
    """One of an older dsgui has no host."""
    return Planned(str(value["device"]), str(value["version"]), whole(value.get("host_gib", 0), 0, MOST_HOST_GIB))


# How each field of a plan stands in plan.json, where that is not as it is; and how it is read from there.
_WRITTEN: dict[str, Callable[[Any], Any]] = {
    "config_argument": _name_of,
    "started_by": _name_of,
    "when_busy": _name_of,
    "environment": dict,
    "model": ModelChoice.to_json,
    "planned": asdict,
    **dict.fromkeys(("arguments", "secret_names", "gpu_indices"), list),
}
_OF_TYPE: dict[Any, Callable[[Any], Any]] = {str: str, bool: bool, int: lambda value: whole(value, 0, MOST_TOKENS)}
_READ: dict[str, Callable[[Any], Any]] = {
    **{one.name: _OF_TYPE[one.type] for one in fields(Plan) if one.type in _OF_TYPE},
    "ranks": lambda value: whole(value, 0, _MOST_RANKS),
    "master_port": lambda value: whole(value, 0, 65535),
    **dict.fromkeys(("arguments", "secret_names"), _texts),
    "gpu_indices": lambda value: tuple(whole(index, 0, _MOST_RANKS) for index in sequence(value, _MOST_RANKS)),
    **{key: kind.__getitem__ for key, kind in _CHOICES.items()},
    "environment": lambda value: {str(name): str(one) for name, one in value.items()},
    "model": lambda value: ModelChoice.from_json(value) if isinstance(value, Mapping) else ModelChoice(),
    "planned": _planned,
}
# What a plan of any release of dsgui has.
_NEEDED = (
    *("run_id", "run_directory", "name", "script", "arguments", "ranks", "gpu_indices", "master_port"),
    *("working_directory", "config_argument", "target_python"),
)
