"""A clone on the Launch page: which run it is of, what differs from that by now, and the name that says so."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from dsgui.core.access.secrets import MASK, is_secret_name
from dsgui.core.config.compare import leaves
from dsgui.core.config.document import Document
from dsgui.core.config.preset import title_of
from dsgui.core.errors import DocumentError, DsguiError, PlanError
from dsgui.core.launch.places.slurm import SlurmJob
from dsgui.core.launch.places.ssh import Machines
from dsgui.core.launch.plan import Here, LaunchRequest, ranks_words
from dsgui.core.launch.recipes import BY_NAME as RECIPES
from dsgui.core.launch.run_fields import BY_NAME
from dsgui.core.launch.spec import values_of
from dsgui.core.runs import changed
from dsgui.core.sizes import GIB, gib
from dsgui.core.texts.saying import listed, words
from dsgui.runs.bundled import recipe_of
from dsgui.ui.common.services import Services

_MOST_IN_LINE = 3
_LONGEST = 40  # of a setting in a name
_NUMBER = re.compile(r"[\d.,:]+[kKmMgGtT]?")
# They have one value each.
_SINGLE = frozenset({"where", "reader", "started_by", "when_busy", "device", "version", "host_memory"})
_TO_SSH = (f'data-where="{Machines.NAME}"', "clone_over_ssh")
_TO_SLURM = (f'data-where="{SlurmJob.NAME}"', "clone_with_slurm")
_TO_FILE = ('data-press="standing-download"', "clone_config_file")
_NEXT = (  # where it is to train: what is said there, and the ways on
    (Here, "clone_next_here", (_TO_SSH, _TO_SLURM, _TO_FILE)),
    (Machines, "clone_next_ssh", (_TO_SLURM, _TO_FILE)),
    (SlurmJob, "clone_next_slurm", (_TO_SSH, _TO_FILE)),
)
_OF_THE_GPU = frozenset({"where", "device", "host_memory", "when_busy"})  # where a run goes that needs another machine
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
    in_arguments = map(_changed, changed.in_words(_words(before), _words(now)))
    found = [*in_arguments, *_in_config(before.config_text, now.config_text), *_elsewhere(before, now, services)]
    return [Changed(*map(services.runs.masked, one)) for one in found]


def of_parent(before: LaunchRequest, services: Services) -> list[Changed]:
    """What a run that was itself a clone changed; nothing where what it was cloned from is gone."""
    parent = original(services, before.parent)
    return changes(parent, before, services) if parent else []


def name_of(before: LaunchRequest, found: list[Changed], by_parent: Sequence[Changed] = ()) -> str:
    """`translation · learning_rate 1e-4`; while nothing differs `translation 2`. Where the name ends with what
    `before` itself changed, `by_parent`, that makes way; what somebody wrote stays."""
    name = before.name.strip() or Path(before.script).stem
    ends = [end for one in by_parent[:1] if name.endswith(end := f" · {_cut(one.short)}")]
    name = name.removesuffix(ends[0]) if ends else name
    if found:
        return f"{name} · {_cut(found[0].short)}"
    counted = re.fullmatch(r"(.+) (\d{1,2})", name)  # 512 is a size
    return f"{counted[1]} {int(counted[2]) + 1}" if counted else f"{name} 2"


def _cut(short: str) -> str:
    return short if len(short) <= _LONGEST else f"{short[:_LONGEST]}…"


def is_away(before: LaunchRequest, services: Services) -> bool:
    """Whether it ran on GPUs of a machine, and this one has none."""
    return before.place.ON_THIS_MACHINE and bool(before.gpu_indices) and not services.target().gpus


def line_html(
    run_id: str,
    before: LaunchRequest,
    found: list[Changed],
    now: LaunchRequest,
    services: Services,
    was: Sequence[str] = (),
) -> str:
    """One line, and what comes next; all that is set is behind it. `was`: the names that static/launch/cloned_name.js
    replaces with that of `now`."""
    of = words("runs_page", "cloned_from", name="\0", id=run_id.rpartition("-")[2])
    title = escape(of).replace("\0", f"<strong>{escape(before.name)}</strong>")
    rows = settings(now, services)
    every = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in rows)
    more = "".join(f"<li>{escape(one.told)}</li>" for one in found) if len(found) > _MOST_IN_LINE else ""
    named = f' data-was="{escape(json.dumps(was, ensure_ascii=False))}" data-name="{escape(now.name)}"' if was else ""
    return (
        f'<div class="ds-cloned"{named}><details><summary>{title} · {escape(_counted(found))}</summary>'
        f"{f'<ul>{more}</ul>' if more else ''}<dl>{every}</dl></details>{_next_html(before, now, services)}</div>"
    )


def _next_html(before: LaunchRequest, now: LaunchRequest, services: Services) -> str:
    """That nothing runs yet, and what is left to do; ways to a GPU where it ran on one and none is here."""
    if not is_away(before, services):
        return f'<p class="ds-next">{escape(words("runs_page", "clone_next"))}</p>'
    card, gpus = now.planned.card, _gpus(before.gpu_indices)
    devices = words("runs_page", "clone_card", devices=gpus, card=card) if card else gpus
    return "".join(_next_at(kind.NAME, code, devices, ways) for kind, code, ways in _NEXT)


def _next_at(place: str, code: str, devices: str, ways: Sequence[tuple[str, str]]) -> str:
    """What is shown while that place is chosen (static/styles/runs.css)."""
    told = words("runs_page", code, devices=devices)
    buttons = "".join(
        f'<button type="button" class="ds-step" {does}>{escape(words("runs_page", way))}</button>' for does, way in ways
    )
    return f'<p class="ds-next" data-at="{place}"><span>{escape(told)}</span>{buttons}</p>'


def _counted(found: list[Changed]) -> str:
    if not found:
        return words("runs_page", "cloned_unchanged")
    shown = str(listed(one.told for one in found[:_MOST_IN_LINE])) + (" …" if len(found) > _MOST_IN_LINE else "")
    if len(found) == 1:
        return words("runs_page", "cloned_change", changes=shown)
    return words("runs_page", "cloned_changes", count=str(len(found)), changes=shown)


def _words(request: LaunchRequest) -> tuple[str, ...]:
    if not isinstance(request.arguments, str):
        return request.arguments
    try:
        return tuple(shlex.split(request.arguments))
    except ValueError:
        return tuple(request.arguments.split())


def _in_config(before: str, now: str) -> list[Changed]:
    try:
        return [_changed(one) for one in changed.in_config(before, now)]
    except DocumentError:
        whole = words("runs_page", "clone_config")
        return [] if before.strip() == now.strip() else [Changed(whole, whole)]


def _changed(one: changed.Difference) -> Changed:
    return Changed(str(one.told), one.short)


def _elsewhere(before: LaunchRequest, now: LaunchRequest, services: Services) -> list[Changed]:
    """Fields of the page, and of the place where it trains now."""
    old, new, place = values_of(before), values_of(now), now.place.FIELDS
    recipes = [recipe_of(services.recipes, one.script) for one in (before, now)]
    if recipes[0] and recipes[0] == recipes[1]:  # wherever it is installed
        old |= {"script": new["script"]}
    moves = is_away(before, services) and not now.place.ON_THIS_MACHINE
    shown = [*(one for one in _OF_THE_PAGE if not (moves and one in _OF_THE_GPU)), *(field.name for field in place)]
    told = [_field(name, old, new) for name in shown if old.get(name) != new.get(name)]
    devices = [_devices(one, services) for one in (before, now)]
    if devices[0] != devices[1] and not place:
        was = words("runs_page", "clone_was", now=devices[1], before=devices[0])
        told.append(Changed(_told(words("runs_page", "clone_devices"), was), devices[1]))
    return told


def _field(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Changed:
    """In a name the value says enough, unless it is none, or a number."""
    value, was = _value(name, new), _value(name, old) if name in old else ""
    label = BY_NAME[name].told("label")
    told = _told(label, words("runs_page", "clone_was", now=value, before=was) if name in _SINGLE and was else value)
    if not str(new[name]).strip():
        return Changed(told, _told(label, value))
    if name == "host_memory":
        return Changed(told, words("runs_page", "clone_host", size=gib(int(new[name]) * GIB, 0)))
    return Changed(told, _told(label, value) if _NUMBER.fullmatch(value) else value)


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
        "nodes": str(nodes) if (nodes := _nodes(request)) > 1 else "",
        "started_by": request.started_by.value,
        "when_busy": _chosen("when_busy", values),
        "environment": str(listed(_variables(request))) or words("runs_page", "clone_none"),
        "directory": request.working_directory or words("runs_page", "clone_own"),
        "model": request.model.model,
        "name": request.name,
    }
    hide = services.runs.masked
    return [(_label(code, request), hide(value)) for code, value in told.items() if value]


def _nodes(request: LaunchRequest) -> int:
    """1 while no host is named."""
    try:
        return request.place.nodes
    except PlanError:
        return 1


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
    preset = title_of(request.preset, services.all_presets())
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
