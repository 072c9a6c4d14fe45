"""Which options a script's command line has, as far as its own source tells: those it adds to a parser, and the
dataclasses it hands to `HfArgumentParser`. What other files declare is joined by who can read them."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from dsgui.core.script.certain import certain, names_given
from dsgui.core.script.class_keywords import Given, keywords_given, rebinding
from dsgui.core.script.command_line import NOTHING, Option
from dsgui.core.script.declared import Module, dotted_name, module_of
from dsgui.core.script.imports import (
    Absent,
    Import,
    finds_later,
    finds_more,
    imports_of,
    names_computed,
    names_set,
)
from dsgui.core.script.in_a_run.changes import Changes
from dsgui.core.script.in_a_run.made import FileCall, Made
from dsgui.core.script.parser_source import (
    FOR_DATACLASSES,
    MAKERS,
    added,
    adds,
    called,
    fired,
    handed_out,
    is_readable,
    keyword,
    written_out,
)
from dsgui.core.script.trees import as_written

# Keywords of ArgumentParser that change nothing about which words it takes.
_HARMLESS = {
    "description",
    "prog",
    "usage",
    "epilog",
    "formatter_class",
    "conflict_handler",
    "dataclass_types",
    "add_help",
}
_DEEPSPEED = (  # deepspeed/__init__.py: _add_core_arguments
    Option("deepspeed", ("--deepspeed",), NOTHING),
    Option("deepspeed_config", ("--deepspeed_config",)),
    Option("deepscale", ("--deepscale",), NOTHING),
    Option("deepscale_config", ("--deepscale_config",)),
)
_HELP = Option("help", ("-h", "--help"), NOTHING)
LOGGING = ("logging_steps", "logging_strategy")
_TRAINERS = ("TrainingArguments", "Seq2SeqTrainingArguments")
TRANSFORMERS = "transformers"


class ArgumentsFile(Enum):
    """A file of arguments that the script may be given."""

    NONE = ""
    ALONE = "alone"  # a JSON or YAML file as its only argument: the branch that transformers' examples have
    CONFIG = "config"  # --config FILE: trl/scripts/utils.py, TrlParser
    SOMEHOW = "somehow"  # found in some other way


@dataclass(frozen=True, slots=True)
class CommandLine:
    """`own`: options added in this file. `groups`: the dataclasses handed to the parser, as written; `module` declares
    or imports them. `whole`: nothing else can add options. `strict`: words left over end the script. `positionals`: it
    takes words without a dash too. `stops_with`: what it says itself before words left over, "" where its parser does;
    `passes`: words that it drops unread. `defaults_changed`: `set_defaults` is called, or may be in the file that the
    parser is handed to; `assigned`: attributes it sets, of whatever; `logs_itself`: logging_steps or logging_strategy
    is set in the code. `imports`: what has to be there as soon as it starts; `finds_more`: it may find others than are
    found without it, `finds_later`: what is found nowhere without it; `patches`: names it may set on modules;
    `keywords`: those given to classes of packages whose releases differ; `plain`: options that are names of their own,
    the parameters of a function that is a command; `by_fire`: python-fire reads the words. `unseen`: where it may set
    any name on a module, `rebound`: where any name of its own, so that `keywords` are not known. `made`: the training
    arguments that it makes itself; `file_calls`: where it reads them from a file, and `file_groups` the classes for
    that where its command line is not read with them. `changes`: what it changes itself of what it was given."""

    own: tuple[Option, ...] = ()
    groups: tuple[str, ...] = ()
    module: Module = field(default_factory=Module)
    whole: bool = False
    strict: bool = False
    stops_with: str = ""
    passes: frozenset[str] = frozenset()
    positionals: bool = False
    by_dataclass: bool = False
    file: ArgumentsFile = ArgumentsFile.NONE
    defaults_changed: bool = False
    assigned: frozenset[str] = frozenset()
    logs_itself: bool = False
    imports: tuple[Import, ...] = ()
    finds_more: bool = False
    finds_later: bool = False
    patches: frozenset[str] = frozenset()
    keywords: tuple[Given, ...] = ()
    plain: frozenset[str] = frozenset()
    by_fire: bool = False
    unseen: tuple[Absent, ...] = ()
    rebound: Absent | None = None
    made: tuple[Made, ...] = ()
    file_calls: tuple[FileCall, ...] = ()
    file_groups: tuple[str, ...] = ()
    changes: Changes = field(default_factory=Changes)

    @property
    def made_of(self) -> tuple[str, ...]:
        """The classes that have the Trainer's arguments, where these do not come from the command line."""
        names = (*self.file_groups, *(one.name for one in self.made)) if not self.by_dataclass else ()
        return tuple(dict.fromkeys(names))


def command_line(
    tree: ast.Module,
    nodes: Sequence[ast.AST],
    *,
    whole: bool,
    by_dataclass: bool,
    lenient: bool,
    made: tuple[Made, ...] = (),
    files: tuple[FileCall, ...] = (),
) -> CommandLine:
    """`nodes`: all of the tree's; `made` and `files`: what is made and read in it. `whole`: the parser is filled in
    this file alone, and `lenient`: it lets unknown words pass, as far as the names in it tell."""
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    named = {called(call) for call in calls}
    own = [option for call in calls for option in added(call)]
    groups, groups_known = _groups(nodes, calls)
    file_groups = groups if files and not by_dataclass and groups_known else ()
    groups, file = (groups, _file(nodes, named)) if by_dataclass else ((), ArgumentsFile.NONE)
    whole = whole and bool(named & set(MAKERS)) and (groups_known or not by_dataclass)
    # deepspeed.add_config_arguments may be handed a parser of any kind.
    own += _DEEPSPEED if "add_config_arguments" in named else ()
    elsewhere = handed_out(nodes, calls)
    by_fire = None if named & set(MAKERS) else fired(nodes)
    if by_fire is not None:
        return replace(_of_fire(tree, nodes, by_fire), made=made)
    return CommandLine(
        own=(_HELP, *own),
        groups=groups,
        whole=whole and file is not ArgumentsFile.SOMEHOW and _ordinary(calls) and not elsewhere,
        strict=not lenient and not _keeps_rest(calls),
        positionals=any(adds(call) and not added(call) for call in calls),
        by_dataclass=by_dataclass,
        file=file,
        defaults_changed="set_defaults" in named or elsewhere or "default" in _assigned_attributes(nodes),
        made=made,
        file_calls=files,
        file_groups=file_groups,
        **_of_source(tree, nodes),
    )


def _of_fire(tree: ast.Module, nodes: Sequence[ast.AST], options: tuple[Option, ...]) -> CommandLine:
    """Of a function whose parameters are all that it takes."""
    return CommandLine(
        own=options,
        whole=True,
        strict=True,
        positionals=True,
        by_fire=True,
        plain=frozenset(option.name for option in options if list(names_given(nodes)).count(option.name) == 1),
        **_of_source(tree, nodes),
    )


def _of_source(tree: ast.Module, nodes: Sequence[ast.AST]) -> dict[str, Any]:
    """What has nothing to do with how the words are read."""
    module, patches = module_of(nodes), frozenset(names_set(nodes))
    keywords = keywords_given(nodes, certain(tree, nodes, as_script=True), module, patches)
    rebound = rebinding(nodes)
    return {
        "module": module,
        "assigned": frozenset(_assigned_attributes(nodes)),
        "logs_itself": _sets_logging(nodes),
        "imports": tuple(imports_of(tree, nodes, as_script=True)),
        "finds_more": finds_more(nodes),
        "finds_later": finds_later(nodes),
        "patches": patches,
        "keywords": keywords if rebound is None else (),
        "unseen": tuple(Absent(as_written(call), "", call.lineno) for call in names_computed(nodes)),
        "rebound": Absent(as_written(rebound), "", rebound.lineno) if rebound is not None and keywords else None,
    }


def trainer_defaults(line: CommandLine) -> bool:
    """Whether the parser is given transformers' own training arguments, or a class declared in this file that inherits
    them, and none of those in between declares `logging_steps` anew."""
    return any(_is_trainers(name, line.module, 0) for name in line.groups)


def _is_trainers(name: str, module: Module, depth: int) -> bool:
    declared = module.classes.get(name)
    if declared and depth < len(module.classes) + 1:
        own = any(option.name in LOGGING for option in declared.options)
        return not own and any(_is_trainers(base, module, depth + 1) for base in declared.bases)
    return origin(name, module) in {(TRANSFORMERS, trainer) for trainer in _TRAINERS}


def own_fields(line: CommandLine) -> tuple[Option, ...] | None:
    """The options of a parser whose classes are all declared in this file, down to their last base; None for any
    other, which may be given the HF Trainer's."""
    if not line.by_dataclass or not line.whole or not line.groups:
        return None
    found: dict[str, Option] = {}
    waiting, seen = list(line.groups), set[str]()
    while waiting:
        name = waiting.pop()
        declared = line.module.classes.get(name)
        if declared is None and name != "object":
            return None
        if declared and name not in seen:
            seen.add(name)
            found |= {option.name: option for option in declared.options}
            waiting += declared.bases
    return (*line.own, *found.values())


def declared_here(line: CommandLine) -> tuple[Option, ...]:
    """The options of those of the parser's classes that are declared in this file, without what they inherit."""
    classes = (line.module.classes.get(name) for name in line.groups)
    return tuple(option for one in classes if one for option in one.options)


def origin(name: str, module: Module) -> tuple[str, str]:
    """(module, class) that a name written there stands for; ("", "") where no import tells."""
    if name in module.imported:
        return module.imported[name]
    package, _, last = name.rpartition(".")
    found = module.imported.get(package)
    return (".".join(filter(None, found)), last) if found else ("", "")


def _ordinary(calls: list[ast.Call]) -> bool:
    """Whether every parser here reads `sys.argv` as argparse does unless it is told otherwise."""
    for call in calls:
        words = {keyword.arg for keyword in call.keywords}
        if called(call) in MAKERS and words - _HARMLESS:
            return False
        if called(call) in ("add_subparsers", "parse_intermixed_args"):
            return False
        if called(call) == "parse_args" and isinstance(call.func, ast.Attribute) and (call.args or "args" in words):
            return False
        if adds(call) and not is_readable(call):
            return False
    return True


def _keeps_rest(calls: list[ast.Call]) -> bool:
    """`parse_args_into_dataclasses(return_remaining_strings=True)`: the script is given what is left over."""
    words = [word for call in calls for word in call.keywords if word.arg == "return_remaining_strings"]
    return any(not (isinstance(word.value, ast.Constant) and word.value.value is False) for word in words)


def _groups(nodes: Sequence[ast.AST], calls: list[ast.Call]) -> tuple[tuple[str, ...], bool]:
    """The classes handed to HfArgumentParser, and whether all are named."""
    made = [call for call in calls if called(call) in FOR_DATACLASSES]
    written = written_out(nodes) if made else {}
    names: list[str] = []
    for call in made:
        given = call.args[0] if call.args else keyword(call, "dataclass_types")
        given = written.get(given.id, given) if isinstance(given, ast.Name) else given
        parts = given.elts if isinstance(given, ast.Tuple | ast.List) else [given] if given is not None else []
        names += [dotted_name(part) for part in parts]
    return tuple(names), bool(made) and all(names) and bool(names)


def _file(nodes: Sequence[ast.AST], named: set[str]) -> ArgumentsFile:
    if "parse_args_and_config" in named:
        return ArgumentsFile.CONFIG
    if not {"parse_json_file", "parse_yaml_file", "parse_dict"} & named:
        return ArgumentsFile.NONE
    compared = (as_written(node) for node in nodes if isinstance(node, ast.Compare))
    return ArgumentsFile.ALONE if "len(sys.argv) == 2" in compared else ArgumentsFile.SOMEHOW


def _sets_logging(nodes: Sequence[ast.AST]) -> bool:
    """`TrainingArguments(logging_steps=…)`, `args.logging_steps = …` or a table of defaults that names it."""
    if not _assigned_attributes(nodes).isdisjoint(LOGGING):
        return True
    for node in nodes:
        if isinstance(node, ast.keyword) and node.arg in LOGGING:
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.lstrip("-") in LOGGING:
            return True
    return False


def _assigned_attributes(nodes: Sequence[ast.AST]) -> set[str]:
    return {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
