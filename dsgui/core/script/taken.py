"""What a script makes of the words it is given: its own options joined with those of the classes that the training
environment has, the files of arguments it reads, and the HF Trainer's arguments that come of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dsgui.core.config.arguments import EVERY_NAME, TrainingArguments, from_mapping, from_words, with_defaults
from dsgui.core.script.command_line import UNSET, Option, Reading, read
from dsgui.core.script.imports import Absent
from dsgui.core.script.named_files import NamedFile, named_files
from dsgui.core.script.script_options import LOGGING, ArgumentsFile, CommandLine, trainer_defaults
from dsgui.core.texts.saying import Said, said

CONFIG_OPTION = Option("config", ("--config",))  # TrlParser takes it out before anything is parsed
LOGGING_WORDS = ("--logging_steps", "10")
# Compared when training starts, after what the script assigns: all else while the arguments are read.
_LATE = frozenset({"max_steps", "num_train_epochs", "warmup_steps", "warmup_ratio"})


@dataclass(frozen=True, slots=True)
class ScriptAnswers:
    """What the training environment has for a script. `missing`: of its imports, and of the files beside it that it
    imports, those whose package is not there; `gone`: what the installed release of one does not have, and `refused`:
    keywords that its classes do not take. `options`: of the classes its parser is given, `known` where all of them
    could be read. `trainers`: the names that transformers' own training arguments have. `python_path`: the PYTHONPATH
    that a run has."""

    missing: tuple[Absent, ...] = ()
    gone: tuple[Absent, ...] = ()
    refused: tuple[Absent, ...] = ()
    options: tuple[Option, ...] = ()
    known: bool = False
    trainers: frozenset[str] = frozenset()
    python_path: str = ""


@dataclass(frozen=True, slots=True)
class ArgumentsFromFile:
    """A file of arguments as far as it could be read: `path` as given, `values` of a mapping, `words` of a file that
    holds a command line (`train.args` beside train.py), which is read before the arguments. `converts`: values that
    are text are read like words. `problem`: why it holds no arguments; `was_read`: whether there was anything to read.
    """

    path: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    converts: bool = False
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
    def named_files(self) -> tuple[NamedFile, ...]:
        """What it is to read, its file of arguments among them."""
        values = {name: (value,) for name, value in self.file.values.items() if isinstance(value, str)}
        file = (
            (NamedFile(said("verdicts", "files_in_arguments.of_arguments"), self.file.path),) if self.file.path else ()
        )
        return (*file, *named_files(values | dict(self.reading.given)))


def file_named(line: CommandLine, words: tuple[str, ...]) -> str:
    """The file of arguments that the script is given; "" for none."""
    if line.file is ArgumentsFile.ALONE and len(words) == 1 and words[0].endswith((".json", ".yaml", ".yml")):
        return words[0]
    if line.file is ArgumentsFile.CONFIG and "--config" in words[:-1]:
        return words[words.index("--config") + 1]
    return ""


def taken(
    line: CommandLine, answers: ScriptAnswers, words: tuple[str, ...], file: ArgumentsFromFile | None = None
) -> Taken:
    """What the script's parser makes of `words`. The file is that of `file_named`."""
    file = file or ArgumentsFromFile()
    by_file = (CONFIG_OPTION,) if line.file is ArgumentsFile.CONFIG else ()
    options = (*line.own, *answers.options, *by_file)
    alone = line.file is ArgumentsFile.ALONE and bool(file.path)
    reading = read(() if alone else (*file.words, *words), options)
    return Taken(words, reading, options, line.whole and (answers.known or not line.by_dataclass), file)


def trainer_arguments(line: CommandLine, answers: ScriptAnswers, found: Taken) -> TrainingArguments | None:
    """The HF Trainer's, of a script whose parser takes them; None for any other, and where not one of them is known.
    What its classes set otherwise than transformers is the default, and what its code computes is not known."""
    if not line.by_dataclass or _not_the_trainers(answers):
        return None
    defaults = {option.name: option.default for option in answers.options} if answers.known else {}
    computed = line.defaults_changed or line.file is ArgumentsFile.SOMEHOW or not _defaults_known(line, answers)
    unknown = EVERY_NAME if computed else _LATE & line.assigned
    every = with_defaults(defaults, unknown=unknown)
    for words, values in ((_as_words(found.file), _as_values(found.file)), (_typed(found), {})):
        every = every.overlaid(from_words(words)).overlaid(from_mapping(values))
    if not every.given and every.unknown >= EVERY_NAME:
        return None
    if defaults.get("bf16", UNSET) is None and "bf16" in every.unknown:  # trl/trainer/base_config.py
        every = replace(every, bf16=not every.fp16, unknown=every.unknown - {"bf16"})
    return every


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
