"""A tool's settings, by name: which config they point to, which arguments of the HF Trainer they are."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dsgui.core.config.arguments import TrainingArguments, from_words, with_defaults
from dsgui.core.imported.outline import Outline, shown
from dsgui.core.imported.tools import AXOLOTL, LLAMA_FACTORY_V1, TRL, Tool
from dsgui.core.texts.saying import said

_CONFIG, _PLUGIN = "deepspeed", "dist_config"
_LARGEST = 10**8
_TYPES = ("bf16", "fp16")


def outline_of(tool: Tool, settings: Mapping[str, Any], extra: Sequence[str] = ()) -> Outline:
    """The run that settings describe; `extra` words stand behind the file on a command line."""
    given = {str(name): value for name, value in settings.items() if value is not None}
    if tool == LLAMA_FACTORY_V1:
        given = _without_plugins(given)
    outline = Outline(said("imported", "settings", tool=tool.name), tool, **_config(tool, given))
    rest = {name: value for name, value in given.items() if name not in (_CONFIG, "accelerate_config", "ENV")}
    names = {name: tool.trainers(name) for name in rest}
    return replace(
        outline,
        trains=tool.scripts_for(rest),
        words=() if tool.by_file else (*as_words(rest), *extra),
        reader="accelerate" if outline.accelerate_file else tool.reader,
        started_by="torchrun" if tool.torchrun else "",
        environment=_environment(given.get("ENV")),
        fields=_fields(tool, rest),
        trainer=trainer_of(tool, rest),
        renamed={name: trainers for name, trainers in names.items() if trainers},
        passed=tuple(name for name, trainers in names.items() if not trainers and name not in tool.unread),
        unread=tuple(f"{name}: {shown(value)}" for name, value in rest.items() if name in tool.unread and value),
    )


def file_words(outline: Outline, file: str) -> tuple[str, ...]:
    """The arguments of a script that takes its settings' file, with the word that names the run's config."""
    named = outline.tool.names_config if outline.tool and outline.config_file else ""
    return (file, named) if named else (file,)


def trainer_of(tool: Tool, settings: Mapping[str, Any]) -> TrainingArguments:
    """The HF Trainer's arguments: what is set, else the tool's defaults; what only its code knows counts as unknown."""
    words, undecided = [], set[str]()
    for name, value in settings.items():
        trainers = tool.trainers(name)
        if not trainers:
            continue
        if trainers in _TYPES and str(value).lower() == "auto":  # what the GPU has
            undecided |= set(_TYPES)
        elif tool == AXOLOTL and name == "bf16" and str(value).lower() == "full":
            words.append("--bf16_full_eval=true")
        else:
            words.append(f"--{trainers}={_word(value)}")
    given = from_words(words)
    unknown = (tool.computed - given.given) | (undecided - given.given)
    if tool == AXOLOTL:
        given, unknown = _of_axolotl(given, settings, unknown)
    return with_defaults(tool.defaults, unknown=frozenset(unknown)).overlaid(given)


def _of_axolotl(
    given: TrainingArguments, settings: Mapping[str, Any], unknown: frozenset[str]
) -> tuple[TrainingArguments, frozenset[str]]:
    """bf16 goes before fp16; the accumulation comes of a batch size, where only that is given."""
    if given.bf16 and given.fp16:
        given = replace(given, fp16=False, problems=())
    if "batch_size" in settings and "gradient_accumulation_steps" not in settings:
        unknown |= {"gradient_accumulation_steps"}
    return given, unknown


def as_words(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The same as options of a command line."""
    words: list[str] = []
    for name, value in settings.items():
        values = value if isinstance(value, list) else [value]
        words += [f"--{name}", *(_word(one) for one in values)]
    return tuple(words)


def behind_file(tool: Tool, words: Sequence[str]) -> tuple[str, ...]:
    """Options of a command line as the tool takes them behind its file of settings."""
    if not tool.override:
        return tuple(words)
    given = from_options(words)
    return tuple(tool.override.format(name=name, value=_word(value)) for name, value in given.items())


def from_options(words: Sequence[str]) -> dict[str, Any]:
    """Options with their values by name, `-` as `_`; a switch is true, the last mention counts."""
    found: dict[str, Any] = {}
    name = ""
    for word in words:
        if word.startswith("--") and len(word) > 2:
            name, equals, value = word[2:].partition("=")
            name = name.replace("-", "_")
            found[name] = value if equals else True
            name = "" if equals else name
        elif name:
            before = found[name]
            found[name] = word if before is True else [*(before if isinstance(before, list) else [before]), word]
    return found


def _without_plugins(settings: dict[str, Any]) -> dict[str, Any]:
    """LLaMA-Factory v1's settings with what its plugins say by the names that other tools have for it."""
    rest, dist = dict(settings), settings.get(_PLUGIN)
    if isinstance(dist, Mapping) and dist.get("name") == _CONFIG and isinstance(dist.get("config_file"), str):
        rest |= {_CONFIG: dist["config_file"]}
        del rest[_PLUGIN]
    peft = settings.get("peft_config")
    if isinstance(peft, Mapping) and peft.get("name") == "lora" and _count(peft.get("r")):
        rest |= {"lora_rank": _count(peft["r"])}
        del rest["peft_config"]
    return rest


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)


def _config(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """Where the DeepSpeed config is: inside, in a file, or under a name of the tool's own."""
    if tool == TRL and "accelerate_config" in given:
        named = str(given["accelerate_config"])
        return {
            "accelerate_file": tool.configs.get(named, named),
            "config_name": named if named in tool.configs else "",
        }
    value = given.get(_CONFIG)
    if isinstance(value, dict):
        return {"config": value}
    if isinstance(value, str) and value.lstrip().startswith("{"):
        return _inline(value)
    if not value or not isinstance(value, str):
        return {}
    known = tool.configs if tool != TRL else {}
    return {"config_file": known.get(value, value), "config_name": value if value in known else ""}


def _inline(text: str) -> dict[str, Any]:
    try:
        config = json.loads(text)
    except (ValueError, RecursionError):
        return {"unread": (f"{_CONFIG}: {shown(text)}",)}
    return {"config": config} if isinstance(config, dict) else {}


def _environment(value: Any) -> tuple[str, ...]:
    """ms-swift's ENV block."""
    return tuple(f"{name}={text}" for name, text in value.items()) if isinstance(value, dict) else ()


def _fields(tool: Tool, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the memory is reckoned from."""
    found: dict[str, Any] = {}
    for name, field in tool.model.items():
        value = settings.get(name)
        if field == "model" and isinstance(value, str):
            found[field] = value
        elif field == "checkpointing" and value is not None:
            found[field] = value is not False and str(value).lower() not in ("false", "no", "0")
        elif field in ("length", "lora_rank") and (count := _count(value)):
            found[field] = count
    return found


def _count(value: Any) -> int:
    text = str(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 and int(text) <= _LARGEST else 0
