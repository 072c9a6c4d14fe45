"""What a script makes of the words it is given: its own options joined with those of the classes that the training
environment has, the files of arguments it reads, and the HF Trainer's arguments that come of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dsgui.core.config.arguments import EVERY_NAME, TrainingArguments, from_mapping, from_words, with_defaults
from dsgui.core.script.command_line import UNSET, Mention, Option, Reading, read
from dsgui.core.script.imports import EVERY, Absent
from dsgui.core.script.in_a_run.changes import Changes
from dsgui.core.script.in_a_run.made import file_reached, made_reached
from dsgui.core.script.in_a_run.trainers import arguments_in_code, arguments_of_file, placed, with_bf16
from dsgui.core.script.in_a_run.worth import Values, value_given
from dsgui.core.script.named_files import NamedFile, named_files
from dsgui.core.script.script_options import LOGGING, ArgumentsFile, CommandLine, declared_here, trainer_defaults
from dsgui.core.script.words import RANK
from dsgui.core.texts.saying import Said, said

CONFIG_OPTION = Option("config", ("--config",))  # TrlParser takes it out before anything is parsed
LOGGING_WORDS = ("--logging_steps", "10")
# Compared when training starts, after what the script assigns: all else while the arguments are read.
_LATE = frozenset({"max_steps", "num_train_epochs", "warmup_steps", "warmup_ratio"})


@dataclass(frozen=True, slots=True)
class ScriptAnswers:
    """What the training environment has for a script. `missing`: of its imports, and of the files beside it that it
    imports, those whose package is not there; `gone`: what the installed release of one does not have, and `refused`:
    keywords that its classes do not take; `unseen`: what may set any of these names, so that they were not looked for.
    `options`: of the classes its parser is given, `known` where all of them
    could be read; `made`, `made_known`: of the classes that have the Trainer's arguments where these do not come from
    the command line. `trainers`: the names that transformers' own training arguments have. `python_path`: the
    PYTHONPATH that a run has."""

    missing: tuple[Absent, ...] = ()
    gone: tuple[Absent, ...] = ()
    refused: tuple[Absent, ...] = ()
    unseen: tuple[Absent, ...] = ()
    options: tuple[Option, ...] = ()
    known: bool = False
    made: tuple[Option, ...] = ()
    made_known: bool = False
    trainers: frozenset[str] = frozenset()
    python_path: str = ""


@dataclass(frozen=True, slots=True)
class ArgumentsFromFile:
    """A file of arguments as far as it could be read: `path` as given, `values` of a mapping, `words` of a file that
    holds a command line (`train.args` beside train.py), which is read before the arguments. `converts`: values that
    are text are read like words. `lines`: where each name stands. `problem`: why it holds no arguments; `was_read`:
    whether there was anything to read."""

    path: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    converts: bool = False
    lines: Mapping[str, int] = field(default_factory=dict)
    problem: str | Said = ""
    was_read: bool = True


@dataclass(frozen=True, slots=True)
class Taken:
    """`words` as they were typed. `sure`: every option is known, so that what is left over is left over."""

    words: tuple[str, ...]
    reading: Reading
    options: tuple[Option, ...]
    sure: bool
    file: ArgumentsFromFile

    @property
    def words_with_file(self) -> tuple[str, ...]:
        """The words as they were typed, behind those that the file of arguments stands for."""
        plain = ((n, v) for n, v in self.file.values.items() if isinstance(v, str | int | float) and v is not False)
        words = ((f"--{name}",) if value is True else (f"--{name}", str(value)) for name, value in plain)
        return (*self.file.words, *(word for several in words for word in several), *self.words)

    @property
    def named_files(self) -> tuple[NamedFile, ...]:
        """What it is to read, its file of arguments among them."""
        values = {name: (value,) for name, value in self.file.values.items() if isinstance(value, str)}
        file = (
            (NamedFile(said("verdicts", "files_in_arguments.of_arguments"), self.file.path),) if self.file.path else ()
        )
        return (*file, *named_files(values | dict(self.reading.given)))


def values_of(line: CommandLine, found: Taken, variables: Mapping[str, str | None]) -> Values:
    """What the script's options are worth in a run with these `variables`. What its code assigns itself is not known,
    nor a default that it may set."""
    changes = line.changes
    changed = line.assigned | changes.names
    names = {option.name for option in found.options if not option.negates} - changed
    values = {} if changes.any or changes.words else {name: _worth(line, found, name) for name in names}
    words = tuple(UNSET if word == RANK else word for word in found.words)
    return Values(values, line.plain, _unchanged(variables, changes), None if changes.words else words)


def values_of_words(line: CommandLine, words: tuple[str, ...]) -> Values:
    """The same where nothing but the whole command line is known: no variable, and no file that it may name."""
    found = taken(line, ScriptAnswers(), words)
    somehow = line.file is ArgumentsFile.SOMEHOW or bool(line.file_groups)
    file = file_somehow(line, words) if somehow else file_named(line, words)
    return Values(words=words) if file or file is None else values_of(line, found, {})


def _unchanged(variables: Mapping[str, str | None], changes: Changes) -> dict[str, Any]:
    if EVERY in changes.variables:
        return {}
    filled = {name for name, value in variables.items() if value is None and {name, EVERY} & changes.filled}
    unset = UNSET if changes.unread else None  # which a file that it imports may set
    known = ((name, value) for name, value in variables.items() if name not in filled | changes.variables)
    return {name: unset if value is None else value for name, value in known}


def _worth(line: CommandLine, found: Taken, name: str) -> Any:
    options = [option for option in found.options if option.name == name]
    spelled = [one for option in options for one in option.names]
    if len({option.added_to for option in options}) > 1 or len(spelled) > len(set(spelled)):
        return UNSET  # of parsers of their own: who is asked is not known
    if any(option.rewritten for option in options):
        return UNSET
    mentions = [one for one in found.reading.mentions if name in (one.option.name, one.option.negates)]
    if mentions:
        return _mentioned(mentions, options[0])
    if name in found.file.values:
        return found.file.values[name]
    by_place = line.by_fire and any(not left.words[0].startswith("-") for left in found.reading.leftovers)
    return UNSET if line.defaults_changed or by_place else value_given(options[0], None)


def _mentioned(mentions: Sequence[Mention], option: Option) -> Any:
    """`option`: the first that has the name, whose default counts."""
    actions = {one.option.action for one in mentions}
    if actions == {""}:
        return _value(mentions[-1])
    given = [_value(one) for one in mentions]
    before = value_given(option, None)
    before = [] if before is None else before
    known = actions == {"append"} and isinstance(before, list) and not any(one is UNSET for one in given)
    return [*before, *given] if known else UNSET


def _value(one: Mention) -> Any:
    """python-fire takes `--notune` for what is no option, and dashes for underscores."""
    option, typed = one.option, one.word.lstrip("-").replace("-", "_")
    if f"--{typed}={''.join(one.values)}" == RANK:
        return UNSET
    if option.negates:
        return False
    if option.kind == "fire" and typed == f"no{option.name}":
        return UNSET if one.values else False
    if option.kind == "fire" and typed not in (option.name, option.name[0]):
        return UNSET
    return value_given(option, one.values)


def file_named(line: CommandLine, words: tuple[str, ...]) -> str:
    """The file of arguments that the script is given; "" for none."""
    if line.file is ArgumentsFile.ALONE and len(words) == 1 and words[0].endswith((".json", ".yaml", ".yml")):
        return words[0]
    if line.file is ArgumentsFile.CONFIG and "--config" in words[:-1]:
        return words[words.index("--config") + 1]
    if line.file is ArgumentsFile.SOMEHOW or line.file_groups:
        return file_somehow(line, words) or ""
    return ""


def file_somehow(line: CommandLine, words: tuple[str, ...]) -> str | None:
    """The same where the script decides by its own conditions; None where that is not known."""
    return file_reached(line.file_calls, values_of(line, taken(line, ScriptAnswers(), words), {}))


def taken(
    line: CommandLine, answers: ScriptAnswers, words: tuple[str, ...], file: ArgumentsFromFile | None = None
) -> Taken:
    """What the script's parser makes of `words`. The file is that of `file_named`."""
    file = file or ArgumentsFromFile()
    by_file = (CONFIG_OPTION,) if line.file is ArgumentsFile.CONFIG else ()
    options = (*line.own, *(answers.options or declared_here(line)), *by_file)
    alone = line.file in (ArgumentsFile.ALONE, ArgumentsFile.SOMEHOW) and bool(file.path)
    typed = () if alone else tuple(word for word in (*file.words, *words) if word not in line.passes)
    reading = read(typed, options)
    return Taken(words, reading, options, line.whole and (answers.known or not line.by_dataclass), file)


def trainer_arguments(
    line: CommandLine, answers: ScriptAnswers, found: Taken, values: Values | None = None, script: str = ""
) -> TrainingArguments | None:
    """The HF Trainer's, of a script whose parser takes them; None for any other, and where not one of them is known.
    What its classes set otherwise than transformers is the default, and what its code computes is not known. `values`:
    what its options are worth, for what it makes itself in the file named `script`."""
    if not line.by_dataclass:
        return _elsewhere(line, answers, found, values, script)
    if _not_the_trainers(answers):
        return None
    defaults = {option.name: option.default for option in answers.options} if answers.known else {}
    somehow = line.file is ArgumentsFile.SOMEHOW and file_somehow(line, found.words) is None
    computed = line.defaults_changed or line.changes.words or somehow or not _defaults_known(line, answers)
    late = _LATE if line.changes.any else _LATE & (line.assigned | line.changes.names)
    unknown = EVERY_NAME if computed else late
    every = with_defaults(defaults, unknown=unknown)
    file = found.file
    for of_file in (from_words(_as_words(file)), from_mapping(_as_values(file))):
        every = every.overlaid(placed(of_file, file.lines, file.path))
    every = every.overlaid(from_words(_typed(found)))
    if file.path and not file.converts:
        every = replace(every, made_at=said("arguments", "in_file", file=file.path))
    if not every.given and every.unknown >= EVERY_NAME:
        return None
    return with_bf16(every, defaults)


def _elsewhere(
    line: CommandLine, answers: ScriptAnswers, found: Taken, values: Values | None, script: str
) -> TrainingArguments | None:
    """Of a script that makes them in its code, or reads them from a file and its command line otherwise."""
    defaults = {option.name: option.default for option in answers.made} if answers.made_known else None
    if line.file_groups:
        file, known = found.file, bool(found.file.path and found.file.was_read and not found.file.problem)
        return arguments_of_file(file.values, file.lines, file.path, defaults) if known else None
    values = values or values_of(line, found, {})
    made = made_reached(line.made, values)
    if made is None:
        return None
    changed = EVERY_NAME if line.changes.any else EVERY_NAME & (line.assigned | line.changes.names)
    return arguments_in_code(made, defaults, values, script, changed)


def _not_the_trainers(answers: ScriptAnswers) -> bool:
    """Every release of TrainingArguments has `deepspeed`; a parser of dataclasses of one's own may be without it."""
    return answers.known and all(option.name != "deepspeed" for option in answers.options)


def _defaults_known(line: CommandLine, answers: ScriptAnswers) -> bool:
    return answers.known or trainer_defaults(line)


def _typed(found: Taken) -> list[str]:
    """The words as they were typed where not every option is known, else each option by its whole name."""
    if not found.sure:
        return [*found.file.words, *found.words]
    pairs = ((name, words[:1]) for name, words in found.reading.given.items())
    return [f"--{name}={words[0]}" if words else f"--{name}" for name, words in pairs]


def _as_words(file: ArgumentsFromFile) -> list[str]:
    """TrlParser makes defaults of what is in its file, and argparse converts a default that is text."""
    if not file.converts:
        return []
    return [f"--{name}={value}" for name, value in file.values.items() if isinstance(value, str)]


def _as_values(file: ArgumentsFromFile) -> Mapping[str, Any]:
    return {n: v for n, v in file.values.items() if not (file.converts and isinstance(v, str))}


def offers_logging(line: CommandLine, words: tuple[str, ...], file: ArgumentsFromFile) -> bool:
    """Whether `--logging_steps 10` may be added: the HF Trainer is behind the script's parser, which would log every
    500 steps, and nobody says anything about it."""
    if not trainer_defaults(line) or line.logs_itself or line.defaults_changed or _NO_MORE_WORDS[line.file](file):
        return False
    typed = [word.partition("=")[0].replace("-", "_") for word in (*file.words, *words) if word.startswith("--")]
    said = any(_begins(word, name) for word in typed for name in LOGGING)
    return not said and not any(name in file.values for name in LOGGING)


# Beside a file that has to be the only argument none is added.
_NO_MORE_WORDS: dict[ArgumentsFile, Callable[[ArgumentsFromFile], bool]] = {
    ArgumentsFile.NONE: lambda file: False,
    ArgumentsFile.CONFIG: lambda file: False,
    ArgumentsFile.ALONE: lambda file: bool(file.path),
    ArgumentsFile.SOMEHOW: lambda file: True,
}


def _begins(word: str, name: str) -> bool:
    """Whether a word typed, dashes as underscores, may be short for an option; `--logging_s` is."""
    return f"__{name}".startswith(word) and len(word) > len("__logging")
