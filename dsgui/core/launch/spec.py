"""From the values of the fields to the spec of a run, and back."""

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from dsgui.core.config.arguments import TrainingArguments, from_command_line
from dsgui.core.errors import PlanError
from dsgui.core.launch.handing import is_settings_file
from dsgui.core.launch.plan import (
    AS_SCRIPT_READS,
    READERS,
    WHEN_BUSY,
    ConfigArgument,
    Here,
    LaunchRequest,
    Place,
    RunSpec,
    StartedBy,
    WhenBusy,
    reader_word,
)
from dsgui.core.launch.planned import MOST_HOST_GIB, Planned
from dsgui.core.launch.run_fields import BY_NAME, OWN_SCRIPT, complete
from dsgui.core.launch.variables import plain_and_secret, variables_text
from dsgui.core.launch.where import BY_NAME as PLACES
from dsgui.core.memory.choice import MOST_TOKENS, ModelChoice
from dsgui.core.notify.webhook import webhook_of
from dsgui.core.script.words import with_option
from dsgui.core.texts.saying import wrong

_Value = TypeVar("_Value")
_SAVES = " --enable_jit_checkpoint True"
_GIB = re.compile(r"(\d{1,9})(?:\.0*)?\s*(?:GiB|GB|G)?", re.ASCII | re.IGNORECASE)
_RELEASE = re.compile(r"\d{1,5}\.\d{1,5}\.\d{1,5}(\+[\w.]{1,60})?", re.ASCII)
# Who holds the Trainer's arguments against the config, as far as the way it is handed tells.
_TRAINERS = (ConfigArgument.HF, ConfigArgument.OVERRIDE, ConfigArgument.TRAINER)
_BUSY_WORDS = {choice: word for word, choice in WHEN_BUSY.items()}


def request_of(
    values: Mapping[str, Any],
    config_text: str,
    target_python: str,
    *,
    recipe: str = "",
    configured: ConfigArgument = ConfigArgument.HF,
    preset: str = "",
) -> LaunchRequest:
    """The spec that the fields' values request. `recipe` is the bundled script, if one was chosen: it takes the config
    as `configured`, as does a script that does not show how it takes it. Raises `PlanError` for what can't be read."""
    asked = complete(values)
    variables, secrets = plain_and_secret(asked["environment"])
    place = _one_of("where", PLACES, asked)
    detects = bool(recipe) or asked["reader"] == AS_SCRIPT_READS
    gpus = tuple(sorted(int(index) for index in asked["gpus"])) if place.ON_THIS_MACHINE else ()
    return LaunchRequest(
        script=recipe or asked["script"].strip(),
        arguments=arguments_of(asked),
        ranks=len(gpus) or int(asked["ranks"]),
        gpu_indices=gpus,
        master_port=_port(asked["port"].strip()),
        working_directory=asked["directory"].strip(),
        config_text=config_text,
        config_argument=configured if detects else _one_of("reader", READERS, asked),
        as_script_reads=detects and not recipe,
        target_python=target_python,
        environment=variables,
        started_by=_one_of(
            "started_by", {kind.value: kind for kind in StartedBy if kind is not StartedBy.OTHERS}, asked
        ),
        when_busy=_when_busy(asked, place.IS_WAITED_FOR),
        secrets=secrets,
        preset=preset,
        place=place.of_values(asked),
        logs=bool(asked["logs"]),
        model=model_of(asked),
        planned=_planned(asked),
        notify=notify_of(asked),
        **{name: plain(name, asked[name]) for name, plain in _PLAIN.items()},
    )


def place_of(values: Mapping[str, Any]) -> Place:
    """Where the fields' values say that it trains, be the rest what it may."""
    asked = complete(values)
    return PLACES.get(str(asked["where"]), Here).of_values(asked)


def typed_arguments(values: Mapping[str, Any]) -> TrainingArguments | None:
    """The HF Trainer's as they were typed, while there is no script that shows what it takes; None for none, where they
    stand in a file, and where another than the Trainer reads the config: accelerate holds no argument against it."""
    asked = complete(values)
    typed = str(asked["arguments"])
    if READERS.get(asked["reader"], ConfigArgument.HF) not in _TRAINERS:
        return None
    return from_command_line(typed) if typed.strip() and not is_settings_file(typed.split()) else None


def values_of(request: LaunchRequest) -> dict[str, Any]:
    """The values of the fields that request `request`. The values of its secrets, and its port, have to be entered
    again; what was added to its arguments is already among them."""
    given = {
        "what": OWN_SCRIPT,
        "script": request.script,
        "arguments": request.arguments if isinstance(request.arguments, str) else shlex.join(request.arguments),
        "reader": reader_word(request.config_argument),
        "where": request.place.NAME,
        "ranks": request.ranks,
        "gpus": [str(index) for index in request.gpu_indices],
        "logs": False,
        "started_by": request.started_by.value,
        "when_busy": _BUSY_WORDS[request.when_busy],
        "environment": variables_text(request.environment),
        "directory": request.working_directory,
        "device": request.planned.device,
        "version": request.planned.version,
        "host_memory": str(request.planned.host_gib or ""),
        **{name: getattr(request, name) for name in _PLAIN},
        **_counts(request),
    }
    return complete(given | request.model.to_json() | request.place.values())


def _counts(request: LaunchRequest) -> dict[str, int]:
    """What it is planned for: as many as it has. Machines that can't be counted count as one."""
    try:
        nodes = request.place.nodes
    except PlanError:
        nodes = 1
    return {"planned_gpus": request.ranks // nodes, "planned_nodes": nodes}


def model_of(asked: Mapping[str, Any]) -> ModelChoice:
    """The model, and how much of it at once, from the fields' values by name. Raises `PlanError`."""
    counts = {name: _count(name, asked[name]) for name in ("length", "target_length", "lora_rank")}
    return ModelChoice.from_json({**asked, **counts, "model": str(asked["model"]).strip()})


def _planned(asked: Mapping[str, Any]) -> Planned:
    """Raises `PlanError`."""
    version = str(asked["version"]).strip()
    if version and not _RELEASE.fullmatch(version):
        raise PlanError(wrong("field.no_option", field="DeepSpeed", word=version[:40]))
    device = _one_of("device", {word: word for _, word in BY_NAME["device"].choices}, asked)
    return Planned(device, version, host_gib(asked["host_memory"]))


def host_gib(typed: str | int | None) -> int:
    """A whole number of GiB from what was typed, with its unit or without; 0 for anything else, which 1 · Configure
    tells."""
    found = _GIB.fullmatch(str(typed or "").strip())
    count = int(found[1]) if found else 0
    return count if count <= MOST_HOST_GIB else 0


def _count(name: str, said: Any) -> int:
    """A count from a number or from what was typed; 0 for nothing."""
    typed = str(said if said is not None else "").strip()
    if not typed:
        return 0
    if not (typed.isascii() and typed.isdecimal()) or len(typed) > 9 or int(typed) > MOST_TOKENS:
        given = {"field": BY_NAME[name].told("label"), "typed": typed[:40], "most": f"{MOST_TOKENS:,}"}
        raise PlanError(wrong("field.no_number", **given))
    return int(typed)


def _text(_: str, said: Any) -> str:
    return str(said or "").strip()


def _tick(_: str, said: Any) -> bool:
    return bool(said)


# What the spec has under a field's own name, as a plain value: nothing else is to be said of it here.
_OF_TYPE: Mapping[Any, Callable[[str, Any], Any]] = {int: _count, str: _text, bool: _tick}
_PLAIN = {
    one.name: _OF_TYPE[one.type]
    for one in fields(RunSpec)
    if one.name in BY_NAME and one.type in _OF_TYPE and one.default is not MISSING
}


def notify_of(asked: Mapping[str, Any]) -> str:
    """The address to tell of the run. Raises `PlanError` for one that can't be told."""
    typed = str(asked["notify"] or "").strip()
    webhook_of(typed)
    return typed


def arguments_of(asked: Mapping[str, Any]) -> str:
    """The arguments as typed, with what other fields add."""
    typed = str(asked["arguments"]) + (_SAVES if asked["saves"] else "")
    if not asked["output"].strip():
        return typed
    try:
        words = shlex.split(typed)
    except ValueError:  # the plan says what is wrong with it
        return typed
    return shlex.join(with_option(words, "--output_dir", asked["output"].strip()))


def _when_busy(asked: Mapping[str, Any], usually_waits: bool) -> WhenBusy:
    if not asked["when_busy"]:
        return WhenBusy.usual(bool(asked["gpus"]) or usually_waits)
    return _one_of("when_busy", WHEN_BUSY, asked)


def _one_of(name: str, known: Mapping[str, _Value], asked: Mapping[str, Any]) -> _Value:
    word = str(asked[name])
    if word not in known:
        raise PlanError(wrong("field.no_option", field=BY_NAME[name].told("label"), word=word[:40]))
    return known[word]


def _port(typed: str) -> int | None:
    if typed and not (typed.isascii() and typed.isdecimal() and len(typed) <= 5):
        raise PlanError(wrong("port.no_number", typed=typed[:40]))
    return int(typed) if typed else None
