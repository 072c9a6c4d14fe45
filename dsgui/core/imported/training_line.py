"""A command line that trains: the launcher around it, the tool or script in it, and the run that both describe."""

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dsgui.core.config.conversion import truth
from dsgui.core.imported.launchers import BY_MODULE, BY_WORDS, Launcher, Started, read
from dsgui.core.imported.outline import Outline, shown
from dsgui.core.imported.shell_lines import Command, commands, is_computed
from dsgui.core.imported.tool_settings import as_words, behind_file, file_words, from_options, outline_of
from dsgui.core.imported.tools import AXOLOTL, LLAMA_FACTORY, LLAMA_FACTORY_V1, TOOLS, TRL, Tool, has_plugins, tool_of
from dsgui.core.script.words import value_of, with_option
from dsgui.core.texts.saying import Said, said

_PYTHON = re.compile(r"python(?:3(?:\.\d{1,2})?)?")
_IN_FRONT = frozenset({"then", "else", "do", "nohup", "time", "exec", "uv", "run", "env", "poetry", "sudo", "--"})
# Options of Python itself, in front of its script or module: alone, and with a value behind them.
_SWITCH, _SWITCH_WITH_VALUE = re.compile(r"-[bBdEiIOPqsSuvx]{1,8}"), frozenset({"-X", "-W"})
# What starts a program once or many times, watched or inside something; their own options are told.
_STARTERS = frozenset(
    {"srun", "mpirun", "mpiexec", "jsrun", "aprun", "env", "sudo", "uv", "poetry", "pipenv", "conda", "mamba", "pixi"}
    | {"nsys", "ncu", "rocprof", "py-spy", "perf", "strace", "numactl", "taskset", "nice", "ionice", "chrt", "timeout"}
    | {"stdbuf", "unbuffer", "setsid", "nohup", "time", "singularity", "apptainer", "docker", "podman", "micromamba"}
)
_MOST_IN_FRONT = 60
_SETTINGS = (".yaml", ".yml", ".json")
_PROGRAMS = {program: tool for tool in TOOLS for program in tool.programs}
_MODULES = {module: tool for tool in TOOLS for module in tool.modules}
_INDICES = re.compile(r"\d{1,4}(?:,\d{1,4}){0,63}")
_MOST_UNREAD = 40
# Commands that say nothing of a run, and the words of a shell that follow a condition, which is told.
_QUIET = frozenset({"set", "echo", "wait", "mkdir", "fi", "done", "esac", "shift", "exit", "{", "}", "cat"})
# Options of `accelerate launch` that `trl` takes among its own (what its scripts have themselves stays theirs).
_TRL_LAUNCHES = (
    *("num_processes", "num_machines", "config_file", "accelerate_config", "gpu_ids", "main_process_port"),
    *("machine_rank", "main_process_ip", "use_deepspeed", "deepspeed_config_file", "zero_stage"),
)
# How many ranks, to the programs that start their own.
_RANKS, _NODES, _PORT, _DEVICES = "NPROC_PER_NODE", "NNODES", "MASTER_PORT", "CUDA_VISIBLE_DEVICES"
_AT_START = frozenset(
    {_RANKS, _NODES, _PORT, _DEVICES, "MASTER_ADDR", "NODE_RANK", "FORCE_TORCHRUN", "RDZV_ID", "MAX_RESTARTS"}
    | {"MIN_NNODES", "MAX_NNODES", "WORLD_SIZE", "RANK", "LOCAL_RANK"}
)


@dataclass(frozen=True, slots=True)
class _Found:
    """What starts the ranks, and what they run. `before`: words in front that say nothing here."""

    launcher: Launcher | None
    started: Started
    tool: Tool | None = None
    script: str = ""
    words: tuple[str, ...] = ()
    before: tuple[str, ...] = ()


def read_command(text: str) -> Outline | None:
    """The first command that trains, where possible one that ranks or a tool are named in: a plain `python prepare.py`
    often stands before it. The others are told. None where none does."""
    lines = commands(text)
    every = {n: found for n, line in enumerate(lines) if line.words[0] not in _QUIET and (found := _found(line.words))}
    if not every:
        return None
    trains = {n: found for n, found in every.items() if lines[n].runs is not False} or every
    chosen = next((n for n, found in trains.items() if _for_ranks(found)), next(iter(trains)))
    outline = _outline(trains[chosen], lines[chosen])
    left = (line for n, line in enumerate(lines) if n != chosen and line.runs is not False)
    rest = (shown(" ".join(line.words)) for line in left if not _says_nothing(line.words) and not _is_taken(line))
    files = tuple(line.writes for line in lines[:chosen] if line.writes and line.runs is not False)
    return replace(outline, unread=(*outline.unread, *rest)[:_MOST_UNREAD], files=files)


def _for_ranks(found: _Found) -> bool:
    """Whether more is known of a command than that Python runs a script."""
    return (
        bool(found.launcher or found.tool) or value_of(found.words, ("--deepspeed", "--deepspeed_config")) is not None
    )


def _is_taken(line: Command) -> bool:
    """Whether all that it does is to write a text that is known."""
    return line.writes is not None and bool(line.writes.text)


def _says_nothing(words: Sequence[str]) -> bool:
    """Also `then` alone, a fence around the text, and the options that a `case` tells apart."""
    alone = len(words) == 1 and (words[0] in _IN_FRONT or words[0].startswith("-"))
    return alone or words[0] in _QUIET or words[0].startswith("```") or words[-1].endswith(")")


def with_settings(outline: Outline, tool: Tool, settings: Mapping[str, Any]) -> Outline:
    """With what the settings' file says, which a command line overrides; `settings_file` is read then."""
    typed = from_options(outline.words)
    tool = LLAMA_FACTORY_V1 if tool == LLAMA_FACTORY and has_plugins(settings) else tool
    made = outline_of(tool, {**settings, **typed})
    fields = {**made.fields, **outline.fields}
    return replace(
        made,
        source=outline.source,
        words=(*file_words(made, outline.settings_file), *behind_file(tool, outline.words))
        if tool.by_file
        else made.words,
        started_by=outline.started_by or made.started_by,
        config=None if outline.config_file or outline.accelerate_file else made.config,
        config_file=outline.config_file or ("" if outline.accelerate_file else made.config_file),
        config_name=outline.config_name or made.config_name,
        accelerate_file=outline.accelerate_file or made.accelerate_file,
        short=outline.short,
        reader=outline.reader if outline.accelerate_file or outline.short else made.reader,
        script=tool.scripts[0] if tool == LLAMA_FACTORY_V1 else outline.script,
        ranks=outline.ranks,
        nodes=outline.nodes,
        gpus=outline.gpus,
        port=outline.port,
        environment=(*made.environment, *outline.environment),
        fields=fields,
        unread=(*outline.unread, *made.unread),
        cut=outline.cut,
        in_front=outline.in_front,
        depends=outline.depends,
        files=outline.files,
        hostfile=outline.hostfile,
        hosts=outline.hosts,
    )


# ------------------------------------------------------------------------------------------------------ finding it
def _found(words: Sequence[str]) -> _Found | None:
    """The part of a command that trains, None where nothing does."""
    has_starter = False
    for place, word in enumerate(words[:_MOST_IN_FRONT]):
        rest = tuple(words[place:])
        found = _launcher(rest) or _program(rest)
        if found:
            return replace(found, before=tuple(itertools.dropwhile(_IN_FRONT.__contains__, words[:place])))
        has_starter |= _base(word) in _STARTERS or _base(word).endswith("_wrapper")
        if not (word in _IN_FRONT or word.startswith("-") or place == 0 or has_starter):
            return None
    return None


def _launcher(words: Sequence[str]) -> _Found | None:
    started = _by_words(words) or _by_module(words)
    if started is None:
        return None
    launcher, rest = started
    told = read(launcher, rest)
    inner = _run(told.words, told.module)
    return replace(inner, launcher=launcher, started=told) if inner else None


def _by_words(words: Sequence[str]) -> tuple[Launcher, Sequence[str]] | None:
    names = (_base(words[0]), *words[1:2])
    for length in (2, 1):
        if names[:length] in BY_WORDS and len(names) >= length:
            return BY_WORDS[names[:length]], words[length:]
    return None


def _by_module(words: Sequence[str]) -> tuple[Launcher, Sequence[str]] | None:
    module, *rest = [*_behind_python(words)[1:], ""] if _behind_python(words)[:1] == ("-m",) else [""]
    if module not in BY_MODULE:
        return None
    verb = module.endswith("accelerate_cli") and rest[0] == "launch"
    return BY_MODULE[module], tuple(rest[1 if verb else 0 : -1])


def _behind_python(words: Sequence[str]) -> tuple[str, ...]:
    """`python -u -X dev -m torch.distributed.run …` without Python and its switches; nothing of another program."""
    if not _PYTHON.fullmatch(_base(words[0])):
        return ()
    place = 1
    while place < len(words) and (words[place] in _SWITCH_WITH_VALUE or _SWITCH.fullmatch(words[place])):
        place += 2 if words[place] in _SWITCH_WITH_VALUE else 1
    return tuple(words[place:])


def _program(words: Sequence[str]) -> _Found | None:
    """`swift sft …`, `python train.py …`, `python -m axolotl.cli.train …`."""
    base = _base(words[0])
    tool = _PROGRAMS.get(base)
    if tool and len(words) > 1 and words[1] in tool.verbs:
        return _Found(None, Started(), tool, _script_of(tool, words[1]), tuple(words[2:]))
    rest = _behind_python(words)
    module = rest[:1] == ("-m",)
    return _run(rest[1:] if module else rest, module)


def _script_of(tool: Tool, verb: str) -> str:
    """Where the verb's script lies, where each has its own."""
    if tool == TRL:
        return f"trl/scripts/{verb}.py"
    return next((script for script in tool.scripts if script.endswith(f"/{verb}.py")), tool.scripts[0])


def _run(words: Sequence[str], module: bool) -> _Found | None:
    """What a launcher runs: a script or a module."""
    if not words:
        return None
    first, rest = words[0], tuple(words[1:])
    if module:
        tool = _MODULES.get(first)
        return _Found(None, Started(), tool, _of_module(first), rest) if tool or "." in first else None
    if not first.endswith(".py"):
        return _program(words) if _base(first) in _PROGRAMS else None
    return _Found(None, Started(), _tool_of(first, rest), first, rest)


def _of_module(name: str) -> str:
    return name.replace(".", "/") + ".py"


def _tool_of(script: str, words: Sequence[str]) -> Tool | None:
    """Whose script it is: by its place in a repository; by its options, where many scripts are called so."""
    for tool in (tool for tool in TOOLS if tool not in (LLAMA_FACTORY, TRL)):
        if any(f"/{script}".endswith(f"/{one}") for one in tool.scripts):
            return tool
    if "/trl/scripts/" in f"/{script}":
        return TRL
    if "llamafactory/launcher.py" in script:
        return LLAMA_FACTORY
    if not f"/{script}".endswith("/src/train.py"):
        return None
    by_file = bool(words) and words[0].endswith(_SETTINGS)
    return LLAMA_FACTORY if by_file or tool_of(from_options(words)) is LLAMA_FACTORY else None


def _base(word: str) -> str:
    return word.rpartition("/")[2]


# ----------------------------------------------------------------------------------------------------- reading it
def _outline(found: _Found, command: Command) -> Outline:
    says, words = dict(found.started.says), found.words
    unread = list(found.started.unread)
    if found.tool == TRL and found.launcher is None:
        words, says = _trl_launch(words)
    if found.tool == AXOLOTL:
        words, says, more = _axolotl_launch(words, says)
        unread += more
    outline = _of_tool(found, words) if found.tool else _of_script(found, words)
    return replace(
        outline,
        **_devices(says, command.variables, found.launcher),
        **_configured(outline, says),
        source=_source(found),
        script=found.script,
        started_by=found.launcher.started_by if found.launcher else outline.started_by,
        environment=_environment(command.variables),
        unread=(*outline.unread, *unread, *_said_of_place(says), *_computed(command)),
        cut=command.cut,
        in_front=(*command.before, *found.before),
        depends=command.depends,
        hostfile=says.get("hostfile", ""),
        hosts=(says.get("include", ""), says.get("exclude", "")),
    )


def _source(found: _Found) -> Said:
    what = found.tool.name if found.tool else _base(found.script)
    if found.launcher is None:
        return said("imported", "command", what=what)
    return said("imported", "launched", what=what, launcher=found.launcher.name)


def _of_tool(found: _Found, words: tuple[str, ...]) -> Outline:
    tool = found.tool
    assert tool is not None
    words, file = _settings_file(tool, words)
    overrides = [word for word in words if tool.override and "=" in word and not word.startswith("-")]
    typed = from_options(words) | dict(word.split("=", 1) for word in overrides)
    made = outline_of(tool, typed)
    rest = with_option([word for word in words if word not in overrides], "--deepspeed", None)
    rest = (*with_option(rest, "--accelerate_config", None), *as_words(dict(w.split("=", 1) for w in overrides)))
    return replace(made, words=with_option(rest, "--deepspeed", None), settings_file=file, unread=made.unread)


def _settings_file(tool: Tool, words: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """The file of settings that a command line names, and the words without it."""
    if words and not words[0].startswith("-") and words[0].endswith(_SETTINGS):
        return words[1:], words[0]
    named = value_of(words, (tool.names_file,)) if tool.names_file else None
    return (with_option(words, tool.names_file, None), named) if named else (words, "")


def _of_script(found: _Found, words: tuple[str, ...]) -> Outline:
    """A script of one's own: `--deepspeed FILE` for the Trainer, `--deepspeed --deepspeed_config FILE` natively."""
    native = value_of(words, ("--deepspeed_config",))
    if native:
        words = with_option(with_option(words, "--deepspeed_config", None), "--deepspeed", None)
        return Outline(said("imported", "command", what=""), words=words, config_file=native, reader="native")
    trainers = value_of(words, ("--deepspeed",))
    if trainers and truth(trainers) is None:  # `--deepspeed true` switches it on
        words = with_option(words, "--deepspeed", None)
        outline = Outline(said("imported", "command", what=""), words=words, reader="hf")
        inside = _json_object(trainers)
        return replace(outline, config=inside) if inside is not None else replace(outline, config_file=trainers)
    return Outline(said("imported", "command", what=""), words=words)


def _json_object(text: str) -> dict[str, Any] | None:
    """The config that the Trainer's option holds itself (`_VALID_DICT_FIELDS` of `TrainingArguments`)."""
    try:
        value = json.loads(text) if text.startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _trl_launch(words: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, str]]:
    """`trl sft` hands to `accelerate launch` what its script has no option for."""
    given = {name: value for name in _TRL_LAUNCHES if (value := value_of(words, (f"--{name}",))) is not None}
    for name in given:
        if name != "accelerate_config":  # read with the script's settings
            words = with_option(words, f"--{name}", None)
    given.pop("accelerate_config", None)
    launcher = BY_WORDS[("accelerate", "launch")]
    told = read(launcher, [part for name, value in given.items() for part in (f"--{name}", value) if part])
    return words, told.says


def _axolotl_launch(
    words: tuple[str, ...], says: dict[str, str]
) -> tuple[tuple[str, ...], dict[str, str], tuple[str, ...]]:
    """`axolotl train FILE --launcher torchrun -- --nproc_per_node=2`: what stands behind `--` is the launcher's."""
    name = value_of(words, ("--launcher",)) or "accelerate"
    words = with_option(words, "--launcher", None)
    if "--" not in words:
        return words, says, ()
    at = words.index("--")
    launcher = BY_WORDS[("torchrun",) if name == "torchrun" else ("accelerate", "launch")]
    told = read(launcher, words[at + 1 :])
    return words[:at], {**says, **told.says}, (*told.unread, *told.words)


def _configured(outline: Outline, says: Mapping[str, str]) -> dict[str, Any]:
    """Which config the launcher's options point to, where the script's own name none."""
    if outline.config_file or outline.config is not None or outline.accelerate_file:
        return {}
    if file := says.get("config_file"):
        return {"config_file": file, "reader": "accelerate"}
    if file := says.get("accelerate_file"):
        return {"accelerate_file": file, "reader": "accelerate"}
    short = {name.removeprefix("short."): value for name, value in says.items() if name.startswith("short.")}
    if "deepspeed" in says or "zero_stage" in short:
        precision = {"mixed_precision": says["mixed_precision"]} if "mixed_precision" in says else {}
        return {"short": {"deepspeed_config": short or {"zero_stage": 2}, **precision}, "reader": "accelerate"}
    return {}


def _devices(says: Mapping[str, str], variables: Mapping[str, str], launcher: Launcher | None) -> dict[str, Any]:
    """Ranks of one node, nodes, GPUs and the port."""
    own = variables if launcher is None else {}
    nodes = _number(says.get("nodes") or own.get(_NODES, ""))
    ranks = _number(says.get("ranks") or own.get(_RANKS, ""))
    if processes := _number(says.get("processes", "")):
        ranks = processes // (nodes or 1) if processes % (nodes or 1) == 0 else None
    include = says.get("include", "")
    local = include.removeprefix("localhost:") if include.startswith("localhost:") else ""
    named = says.get("gpus") or local or variables.get(_DEVICES, "")
    gpus = tuple(named.split(",")) if _INDICES.fullmatch(named) else ()
    if gpus and ranks and ranks < len(gpus):
        gpus = gpus[:ranks]
    return {
        "nodes": nodes,
        "ranks": ranks or len(gpus) or None,
        "gpus": gpus,
        "port": says.get("port") or own.get(_PORT, ""),
    }


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and 1 <= len(text) <= 4 and int(text) else None


def _said_of_place(says: Mapping[str, str]) -> tuple[str, ...]:
    """Other machines are chosen on Launch, and numbers that no number stands for are told."""
    include = says.get("include", "")
    found = [f"--include {include}"] if include and not include.startswith("localhost:") else []
    found += [f"--exclude {says['exclude']}"] if says.get("exclude") else []
    numbers = {"ranks", "nodes", "processes"} & says.keys()
    return (*found, *(f"{name}: {says[name]}" for name in sorted(numbers) if _number(says[name]) is None))


def _environment(variables: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(
        f"{name}={value}" for name, value in variables.items() if name not in _AT_START and not is_computed(value)
    )


def _computed(command: Command) -> tuple[str, ...]:
    """Words and variables that only a shell can tell."""
    variables = (f"{name}={value}" for name, value in command.variables.items() if is_computed(value))
    return tuple(shown(word) for word in (*command.computed, *variables))
