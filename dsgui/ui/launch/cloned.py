"""A clone on the Launch page: which run it is of, what differs from that by now, and the name that says so."""

import re
import shlex
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from dsgui.core.access.secrets import MASK, is_secret_name
from dsgui.core.config.compare import leaves
from dsgui.core.config.document import Document
from dsgui.core.config.pointer import dotted
from dsgui.core.errors import DocumentError, DsguiError
from dsgui.core.launch.plan import LaunchRequest, ranks_words
from dsgui.core.launch.recipes import BY_NAME as RECIPES
from dsgui.core.launch.run_fields import BY_NAME
from dsgui.core.launch.spec import values_of
from dsgui.core.texts.saying import listed, words
from dsgui.runs.bundled import recipe_of
from dsgui.ui.common.services import Services

_MOST_IN_LINE = 3
_LONGEST = 40  # of a setting in a name
_KEY = re.compile(r"[A-Za-z_][\w.]*", re.ASCII)
_OF_THE_PAGE = (
    "script",
    "where",
    "reader",
    "started_by",
    "when_busy",
    "environment",
    "directory",
    "device",
    "version",
    "host_memory",
)


class Changed(NamedTuple):
    """`told` as somebody would type or say it; `short` in a name."""

    told: str
    short: str


def original(services: Services, run_id: str) -> LaunchRequest | None:
    """What started the run; None where it is gone."""
    if not run_id:
        return None
    try:
        return services.archive.launched(run_id)
    except DsguiError:
        return None


def changes(before: LaunchRequest, now: LaunchRequest, services: Services) -> list[Changed]:
    """What differs: arguments, then the config, then the rest of the page."""
    told = [*_in_arguments(_words(before), _words(now)), *_in_config(before.config_text, now.config_text)]
    found = [*(Changed(one, _short(one)) for one in told), *_elsewhere(before, now, services)]
    return [Changed(*map(services.runs.masked, one)) for one in found]


def of_parent(before: LaunchRequest, services: Services) -> list[Changed]:
    """What a run that was itself a clone changed; nothing where what it was cloned from is gone."""
    parent = original(services, before.parent)
    return changes(parent, before, services) if parent else []


def name_of(before: LaunchRequest, changed: list[Changed], by_parent: Sequence[Changed] = ()) -> str:
    """`translation · learning_rate 1e-4`; while nothing differs `translation 2`. Where the name ends with what
    `before` itself changed, `by_parent`, that makes way; what somebody wrote stays."""
    name = before.name.strip() or Path(before.script).stem
    ends = [end for one in by_parent[:1] if name.endswith(end := f" · {_cut(one.short)}")]
    name = name.removesuffix(ends[0]) if ends else name
    if changed:
        return f"{name} · {_cut(changed[0].short)}"
    counted = re.fullmatch(r"(.+) (\d{1,2})", name)  # 512 is a size
    return f"{counted[1]} {int(counted[2]) + 1}" if counted else f"{name} 2"


def _short(told: str) -> str:
    """`--lr 1` as `lr 1`; of a key of the config its last part, as in `stage 3`."""
    key, space, value = told.partition(" ")
    if key.startswith("--"):
        return told.removeprefix("--")
    return f"{key.rpartition('.')[2]}{space}{value}" if _KEY.fullmatch(key) else told


def _cut(short: str) -> str:
    return short if len(short) <= _LONGEST else f"{short[:_LONGEST]}…"


def line_html(
    run_id: str, before: LaunchRequest, changed: list[Changed], now: LaunchRequest, services: Services, was: str = ""
) -> str:
    """One line; all that is set is behind it. `was`: the name that static/launch/cloned_name.js replaces with that of
    `now`, "" for none."""
    of = words("runs_page", "cloned_from", name="\0", id=run_id.rpartition("-")[2])
    title = escape(of).replace("\0", f"<strong>{escape(before.name)}</strong>")
    rows = settings(now, services)
    every = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in rows)
    more = "".join(f"<li>{escape(one.told)}</li>" for one in changed) if len(changed) > _MOST_IN_LINE else ""
    named = f' data-was="{escape(was)}" data-name="{escape(now.name)}"' if was else ""
    return (
        f'<details class="ds-cloned"{named}><summary>{title} · {escape(_counted(changed))}</summary>'
        f"{f'<ul>{more}</ul>' if more else ''}<dl>{every}</dl></details>"
    )


def _counted(changed: list[Changed]) -> str:
    if not changed:
        return words("runs_page", "cloned_unchanged")
    shown = str(listed(one.told for one in changed[:_MOST_IN_LINE])) + (" …" if len(changed) > _MOST_IN_LINE else "")
    if len(changed) == 1:
        return words("runs_page", "cloned_change", changes=shown)
    return words("runs_page", "cloned_changes", count=str(len(changed)), changes=shown)


def _words(request: LaunchRequest) -> tuple[str, ...]:
    if not isinstance(request.arguments, str):
        return request.arguments
    try:
        return tuple(shlex.split(request.arguments))
    except ValueError:
        return tuple(request.arguments.split())


def _options(given: tuple[str, ...]) -> dict[str, str]:
    """Each option with its values; what stands before the first one under ""."""
    found: dict[str, list[str]] = {}
    name = ""
    for word in given:
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            found[name] = [value] if equals else []
        else:
            found.setdefault(name, []).append(word)
    return {name: shlex.join(values) for name, values in found.items()}


def _in_arguments(before: tuple[str, ...], now: tuple[str, ...]) -> list[str]:
    old, new = _options(before), _options(now)
    changed = [f"{name} {value}".strip() for name, value in new.items() if old.get(name) != value]
    return changed + [words("runs_page", "cloned_without", what=name) for name in old if name not in new and name]


def _in_config(before: str, now: str) -> list[str]:
    try:
        old, new = leaves(Document(before)), leaves(Document(now))
    except DocumentError:
        return [] if before.strip() == now.strip() else [words("runs_page", "clone_config")]
    changed = [f"{dotted(at)} {value}" for at, value in new.items() if old.get(at) != value]
    return changed + [words("runs_page", "cloned_without", what=dotted(at)) for at in old if at not in new]


def _elsewhere(before: LaunchRequest, now: LaunchRequest, services: Services) -> list[Changed]:
    """Fields of the page, and of the place where it trains now."""
    old, new, place = values_of(before), values_of(now), now.place.FIELDS
    recipes = [recipe_of(services.recipes, one.script) for one in (before, now)]
    if recipes[0] and recipes[0] == recipes[1]:  # wherever it is installed
        old |= {"script": new["script"]}
    shown = [*_OF_THE_PAGE, *(field.name for field in place)]
    told = [_field(name, new) for name in shown if old.get(name) != new.get(name)]
    devices = [_devices(one, services) for one in (before, now)]
    if devices[0] != devices[1] and not place:
        was = words("runs_page", "clone_was", now=devices[1], before=devices[0])
        told.append(Changed(_told(words("runs_page", "clone_devices"), was), devices[1]))
    return told


def _field(name: str, values: Mapping[str, Any]) -> Changed:
    """In a name the value says enough, unless it is none."""
    value = _value(name, values)
    told = _told(BY_NAME[name].told("label"), value)
    return Changed(told, value if str(values[name]).strip() else told)


def _told(name: str, value: str) -> str:
    return words("runs_page", "clone_told", name=name, value=value)


def _value(name: str, values: Mapping[str, Any]) -> str:
    value = values[name]
    if name == "environment":
        return " ".join(str(value).split()) or words("runs_page", "clone_none")
    return _chosen(name, values) if str(value) else words("runs_page", "clone_none")


def settings(request: LaunchRequest, services: Services) -> list[tuple[str, str]]:
    """Everything that a clone sets, in the words of the page; the secrets in it hidden."""
    values = values_of(request)
    recipe = recipe_of(services.recipes, request.script)
    told = {
        "config": _config(request, services),
        "what": words("launch_page", RECIPES[recipe].label) if recipe else request.script,
        "arguments": _arguments(request),
        "reader": _chosen("reader", values),
        "where": request.place.called(),
        "devices": _devices(request, services),
        "nodes": str(request.place.nodes) if request.place.nodes > 1 else "",
        "started_by": request.started_by.value,
        "when_busy": _chosen("when_busy", values),
        "environment": str(listed(_variables(request))) or words("runs_page", "clone_none"),
        "directory": request.working_directory or words("runs_page", "clone_own"),
        "model": request.model.model,
        "name": request.name,
    }
    hide = services.runs.masked
    return [(_label(code, request), hide(value)) for code, value in told.items() if value]


def _chosen(name: str, values: Mapping[str, Any]) -> str:
    """What the page calls the choice."""
    return next((label for label, value in BY_NAME[name].offered if value == values[name]), str(values[name]))


def _label(code: str, request: LaunchRequest) -> str:
    if code == "when_busy" and not request.gpu_indices:
        return words("launch_page", "if_busy_on_cpu")
    if code in BY_NAME and code != "model":  # what the model is for stands in the fold
        return BY_NAME[code].told("label")
    return words("runs_page", f"clone_{code}")


def _config(request: LaunchRequest, services: Services) -> str:
    try:
        count = len(leaves(Document(request.config_text)))
    except DocumentError:
        return words("runs_page", "clone_unreadable")
    one, many = words("runs_page", "clone_setting"), words("runs_page", "clone_settings", count=str(count))
    told = one if count == 1 else many
    id, _, edited = request.preset.partition(" ")
    preset = next((one.title for one in services.all_presets() if one.id == id), id)
    if edited:
        preset = words("runs_page", "clone_edited", preset=preset)
    return words("runs_page", "clone_preset", preset=preset, settings=told) if preset else told


def _arguments(request: LaunchRequest) -> str:
    given = request.arguments if isinstance(request.arguments, str) else shlex.join(request.arguments)
    return given or words("runs_page", "clone_none")


def _variables(request: LaunchRequest) -> list[str]:
    return [f"{name}={MASK if is_secret_name(name) else value}" for name, value in request.environment.items()]


def _devices(request: LaunchRequest, services: Services) -> str:
    """With a word where this machine has not all of its GPUs."""
    if not request.place.ON_THIS_MACHINE or not request.gpu_indices:
        return ranks_words(request.ranks)
    gpus = _gpus(request.gpu_indices)
    here = {gpu.index for gpu in services.target().gpus}
    missing = [one for one in request.gpu_indices if one not in here]
    if not missing:
        return gpus
    code = "clone_missing" if len(missing) < len(request.gpu_indices) else "clone_all_missing"
    return words("runs_page", code, devices=gpus, missing=_gpus(missing))


def _gpus(indices: Sequence[int]) -> str:
    return f"GPU {words('runs_page', 'clone_between').join(map(str, indices))}"
