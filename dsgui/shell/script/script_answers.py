"""What the training environment has for a script: which of its imports are there, and which options its classes make.

Where modules lie is asked of the target; their source is read here, and none of it is run.
"""

import ast
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped] # PyYAML ships no type information

from dsgui.core.config.arguments import MAX_CHARACTERS
from dsgui.core.errors import PlaceError
from dsgui.core.launch.plan import Plan
from dsgui.core.machine.verdicts import saw
from dsgui.core.script.class_keywords import Given
from dsgui.core.script.command_line import Option
from dsgui.core.script.declared import Module, inherited, module_of
from dsgui.core.script.imports import Absent
from dsgui.core.script.packages import PACKAGES
from dsgui.core.script.script_options import TRANSFORMERS, ArgumentsFile, CommandLine, origin
from dsgui.core.script.taken import ArgumentsFromFile, ScriptAnswers, file_named
from dsgui.core.script.trees import module_tree
from dsgui.core.texts.saying import Said
from dsgui.shell.files.regular_files import read_regular
from dsgui.shell.machine.target import as_in_a_run
from dsgui.shell.script import names_there
from dsgui.shell.script.imported_files import Followed, folders_added, followed
from dsgui.shell.script.module_places import Found, absolute, file_of
from dsgui.shell.script.names_there import doubtful, gone, taken_here
from dsgui.shell.script.packages_above import packages_above

SCRIPT = Path(__file__).with_name("ask_script.py")
TIMEOUT_S = 15.0
FRESH_S = 20.0  # a missing module is installed in another window meanwhile
SILENT_S = 120.0  # a target that could not be asked took up to TIMEOUT_S to show it
_MOST_KEPT = 8
_MOST_BYTES = 4_000_000
_DEEPEST = 12  # modules and bases that are followed for one class

# What PyYAML raises of values that their own tags contradict (`!!bool foo`), besides its own.
_UNREADABLE = (yaml.YAMLError, ValueError, RecursionError, LookupError, AttributeError, TypeError, OverflowError)


_Lacking = tuple[tuple[Absent, ...], tuple[Absent, ...], tuple[Absent, ...]]


@dataclass(frozen=True, slots=True)
class _Kept:
    question: tuple[object, ...]
    until: float
    answers: ScriptAnswers


class ScriptReader:
    """Asks and remembers the last few answers: they are wanted with every keystroke on the page."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: tuple[_Kept, ...] = ()

    def read(self, plan: Plan, line: CommandLine) -> ScriptAnswers:
        """The answers for one planned launch; those of a target that can't be asked know nothing."""
        question = _question(plan, line)
        kept = next((one for one in self._kept if one.question == question), None)
        if kept is None or self._clock() > kept.until:
            found, good_s = _answers(plan, line)
            kept = _Kept(question, self._clock() + good_s, found)
        others = (one for one in self._kept if one.question != question)
        self._kept = (*others, kept)[-_MOST_KEPT:]  # as a whole: several threads ask
        return kept.answers


def arguments_file(plan: Plan, line: CommandLine, check: Callable[[Path], object]) -> ArgumentsFromFile:
    """The file of arguments that the script is given, or `train.args` beside train.py, which transformers looks for.
    `check` raises `PlaceError` for a path that may not be read."""
    named = file_named(line, plan.arguments)
    if not named:
        if not line.by_dataclass or not Path(plan.script).name:
            return ArgumentsFromFile()
        beside = _text(Path(plan.script).with_suffix(".args"), check)
        return ArgumentsFromFile(words=tuple((beside or "").split()))
    path, converts = Path(plan.working_directory, named), line.file is ArgumentsFile.CONFIG
    text = _text(path, check)
    if text is None:
        return ArgumentsFromFile(named, converts=converts, was_read=False)
    try:
        values, lines = (_json if path.suffix == ".json" and not converts else _yaml)(text)
    except _UNREADABLE as error:
        return ArgumentsFromFile(named, converts=converts, problem=_wrong(error))
    if not isinstance(values, dict):
        return ArgumentsFromFile(named, converts=converts, problem=saw("arguments_file.no_names"))
    told = {str(key): value for key, value in values.items()}
    return ArgumentsFromFile(named, told, converts=converts, lines=lines)


def _yaml(text: str) -> tuple[Any, dict[str, int]]:
    """What it holds, and the line of each of its names."""
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        values = loader.construct_document(node) if node is not None else None
    finally:
        loader.dispose()
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return values, {str(key.value): key.start_mark.line + 1 for key, _ in pairs}


def _json(text: str) -> tuple[Any, dict[str, int]]:
    """The same."""
    values, lines = json.loads(text), dict[str, int]()
    if not isinstance(values, dict):
        return values, lines
    decoder, line, seen = json.JSONDecoder(), 1, 0
    place = _after_space(text, text.index("{") + 1)
    while text[place] != "}":
        line, seen = line + text.count("\n", seen, place), place
        name, place = decoder.raw_decode(text, place)
        lines[name] = line
        _, place = decoder.raw_decode(text, _after_space(text, text.index(":", place) + 1))
        place = _after_space(text, place)
        place = _after_space(text, place + 1) if text[place] == "," else place
    return values, lines


def _after_space(text: str, place: int) -> int:
    while text[place].isspace():
        place += 1
    return place


def _wrong(error: Exception) -> str | Said:
    mark = getattr(error, "problem_mark", None)
    line = mark.line + 1 if mark else getattr(error, "lineno", None)
    said = getattr(error, "problem", None) or getattr(error, "msg", None) or str(error)
    return saw("arguments_file.in_line", line=str(line), words=said) if line else said


def _text(path: Path, check: Callable[[Path], object]) -> str | None:
    """None for what is not there, or may not be read."""
    try:
        check(path)
        return read_regular(path, MAX_CHARACTERS)
    except (PlaceError, OSError):
        return None


def _question(plan: Plan, line: CommandLine) -> tuple[object, ...]:
    return plan.target_python, plan.script, plan.working_directory, tuple(plan.environment.items()), line


def _answers(plan: Plan, line: CommandLine) -> tuple[ScriptAnswers, float]:
    """And how long they are good, in seconds; nothing is known where the target can't be asked."""
    imports = {one.top for one in line.imports if one.top}
    packages = {origin(name, line.module)[0].partition(".")[0] for name in _foreign(line)}
    trainers = [TRANSFORMERS] if line.groups or line.made_of else []
    found = _find(plan, sorted(filter(None, {*imports, *packages, *trainers})))
    if found is None:
        return ScriptAnswers(), SILENT_S
    missing, lacking = _absent(plan, line, found)
    gone_names, refused, unseen = lacking or ((), (), ())
    groups = tuple(_of_class(name, line.module, "", found, _DEEPEST) for name in line.groups)
    known = None not in groups and bool(line.groups or not line.by_dataclass)
    made = tuple(_of_class(name, line.module, "", found, _DEEPEST) for name in line.made_of)
    answers = ScriptAnswers(
        missing=missing,
        gone=gone_names,
        refused=refused,
        unseen=unseen,
        options=inherited(option for group in groups for option in group or ()),
        known=known,
        made=inherited(option for group in made for option in group or ()),
        made_known=bool(made) and None not in made,
        trainers=frozenset() if known or not line.groups else _trainers(found),
        python_path=_environment(plan).get("PYTHONPATH", ""),
    )
    return answers, SILENT_S if lacking is None and not missing else FRESH_S


def _absent(plan: Plan, line: CommandLine, found: Found) -> tuple[tuple[Absent, ...], _Lacking | None]:
    """The packages that are not there, and of those which are the names that they do not have, the keywords that
    their classes do not take, and what keeps both from being looked for: None where these can't be asked for. Of
    modules that are found in ways of the script's own nothing is known."""
    named = plan.environment.get("PYTHONPATH", "").split(os.pathsep)
    folders = (plan.working_directory, *(one for one in named if os.path.isabs(one)))
    beside = followed(Path(plan.script), folders, line.imports, found, partial(_find, plan))
    if line.finds_more or beside.finds_more:
        return (), ((), (), ())
    lacking = [Absent(one.top, "", one.line) for one in line.imports if one.top and found.get(one.top, {}) is None]
    names = doubtful(beside, line.patches)
    keywords = [one for one in taken_here(line.keywords, beside) if not _is_declared(one, beside.found)]
    told = gone(names, keywords, beside.found, plan.target_python, _environment(plan), _folder(plan))
    missing = _with_folders(_each_once([*lacking, *beside.missing]), plan, beside)
    if growing := (*([plan.script] if line.finds_later else []), *beside.finding_later):
        added = [folder for file in growing for folder in folders_added(file, plan.working_directory)]
        known = (one for one in missing if one.name in PACKAGES and not one.above)
        missing = tuple(one for one in known if not any(_lies_in(folder, one.name) for folder in added))
    asks = any(one.top in names_there.PACKAGES for _, one in beside.taken)
    unseen = (*line.unseen, *beside.unseen) if asks else ()
    return missing, told and (_each_once(told[0]), _each_once(told[1]), unseen)


def _lies_in(folder: str, module: str) -> bool:
    place = os.path.join(folder, module)
    return os.path.isdir(place) or os.path.isfile(f"{place}.py")


def _with_folders(missing: tuple[Absent, ...], plan: Plan, beside: Followed) -> tuple[Absent, ...]:
    taken = [one for _, one in beside.taken]
    imported = {module for one in taken for module in (one.module, f"{one.module}.{one.name}")}
    above = packages_above(plan.script, {one.name: imported for one in missing}) if missing else {}
    return tuple(replace(one, above=above.get(one.name, "")) for one in missing)


def _is_declared(given: Given, found: Found) -> bool:
    """Whether the keyword stands in the source of the class, so that there is nothing to ask."""
    module = Module(imported={given.name: (given.module, given.name)})
    return given.keyword in _parameters(given.name, module, "", found, _DEEPEST)


def _parameters(name: str, module: Module, place: str, found: Found, deep: int) -> frozenset[str]:
    """Those of a class and its bases, as far as they can be read."""
    declared, names = module.classes.get(name), frozenset[str]()
    if declared:
        names = names.union(declared.parameters, (option.name for option in declared.options))
        asked = [(base, module, place) for base in declared.bases]
    else:
        source, original = origin(name, module)
        whole = absolute(source, place, found)
        asked = [(original, _module(file_of(whole, found)), whole)] if whole and original else []
    return names.union(*(_parameters(*one, found, deep - 1) for one in asked if deep))


def _each_once(told: Iterable[Absent]) -> tuple[Absent, ...]:
    """Where it is imported first."""
    first: dict[str, Absent] = {}
    for one in told:
        first.setdefault(one.name, one)
    return tuple(first.values())


def _trainers(found: Found) -> frozenset[str]:
    """The names of transformers' own training arguments; none where they can't be read."""
    name = "Seq2SeqTrainingArguments"
    module = Module(imported={name: (TRANSFORMERS, name)})
    return frozenset(option.name for option in _of_class(name, module, "", found, _DEEPEST) or ())


def _foreign(line: CommandLine) -> set[str]:
    """The classes handed to the parser, and the bases of those declared in the script."""
    bases = {base for declared in line.module.classes.values() for base in declared.bases}
    return {*line.groups, *line.made_of, *bases}


def _find(plan: Plan, modules: list[str]) -> Found | None:
    """Where the target finds each; None where it can't be asked."""
    # deepspeed/launcher/runner.py adds the working directory to PYTHONPATH where several machines train.
    added = plan.working_directory if plan.elsewhere else ""
    command = [plan.target_python, str(SCRIPT), str(Path(plan.script).parent), added, *modules]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=TIMEOUT_S,
            env=_environment(plan),
            cwd=_folder(plan),
            check=True,
        )
        found = json.loads(done.stdout.decode("utf-8", "replace").strip().splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None
    return found if isinstance(found, dict) else None


def _environment(plan: Plan) -> dict[str, str]:
    return {**as_in_a_run(plan.target_python), **plan.environment}


def _folder(plan: Plan) -> str:
    """Where the run starts, for PYTHONPATH may name folders of it; its own folder, made with its config, has none."""
    return plan.working_directory if os.path.isdir(plan.working_directory) else "/"


def _of_class(name: str, module: Module, place: str, found: Found, deep: int) -> tuple[Option, ...] | None:
    """The options of a class as `module` names it, its bases' first; None where one of them can't be read. `place` is
    the module's dotted name, "" for the script."""
    if deep == 0:
        return None
    declared = module.classes.get(name)
    if declared is None:
        return _of_import(name, module, place, found, deep - 1)
    options: list[Option] = []
    for base in declared.bases:
        more = () if base in _EMPTY else _of_class(base, module, place, found, deep - 1)
        if more is None:
            return None
        options += more
    own = (_with_choices(option, module, place, found, deep - 1) for option in declared.options)
    every = inherited((*options, *own))
    return tuple(replace(one, rewritten=True) if one.name in declared.sets else one for one in every)


def _with_choices(option: Option, module: Module, place: str, found: Found, deep: int) -> Option:
    """With the values of its enumeration, where that can be read."""
    choices = _members_of(option.members, module, place, found, deep) if option.members else ()
    return replace(option, choices=choices) if choices else option


def _members_of(name: str, module: Module, place: str, found: Found, deep: int) -> tuple[str, ...]:
    declared = module.classes.get(name)
    if declared or deep <= 0:
        return declared.members if declared else ()
    source, original = origin(name, module)
    whole = absolute(source, place, found)
    path = file_of(whole, found) if whole and original else ""
    return _members_of(original, _module(path), whole, found, deep - 1) if path else ()


_EMPTY = ("object", "ABC", "abc.ABC", "Generic", "Protocol")


def _of_import(name: str, module: Module, place: str, found: Found, deep: int) -> tuple[Option, ...] | None:
    source, original = origin(name, module)
    whole = absolute(source, place, found)
    if not whole or not original:
        return None
    path = file_of(whole, found)
    return _of_class(original, _module(path), whole, found, deep) if path else None


def _module(path: str) -> Module:
    try:
        seen = os.stat(path)
    except OSError:
        return Module()
    return _parsed(path, seen.st_mtime_ns, seen.st_size)


@lru_cache(maxsize=64)
def _parsed(path: str, changed_ns: int, size: int) -> Module:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return module_of(ast.walk(module_tree(file.read(_MOST_BYTES))))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return Module()
