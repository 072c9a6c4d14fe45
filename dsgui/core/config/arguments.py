"""The HF Trainer's arguments as a value: those that reach DeepSpeed, from a command line, JSON or YAML.

Options are read as `HfArgumentParser` reads them (transformers/hf_argparser.py); what it would refuse, or what
`TrainingArguments` refuses afterwards, is kept in `problems`. Options that don't concern DeepSpeed are skipped.
"""

import json
import math
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import yaml  # type: ignore[import-untyped] # PyYAML ships no type information

from dsgui.core.errors import ArgumentsError
from dsgui.core.texts.saying import Said, as_told, phrase, said, wrong

MAX_CHARACTERS = 64_000


@dataclass(frozen=True, slots=True)
class Problem:
    """What can't be read or would be refused, up to its full stop, and what to do."""

    says: Said
    advises: Said

    @classmethod
    def of(cls, code: str, advice: str, /, **given: str | Said) -> "Problem":
        """The codes are of the catalogue's arguments and advice."""
        return cls(said("arguments", code, **given), said("advice", advice))

    @classmethod
    def unreadable(cls, error: ArgumentsError) -> "Problem":
        """A text that is no arguments at all."""
        return cls(as_told(str(error).removesuffix(".")), said("advice", "correct_arguments"))

    def __str__(self) -> str:
        return str(said("arguments", "problem", says=self.says, advises=self.advises))


@dataclass(frozen=True, slots=True)
class TrainingArguments:
    """The Trainer's arguments with their defaults (transformers 5.23); `given` names those that were set, `unknown`
    those that the script computes and whose values are not known.

    `hidden_size` is the model's, `total_steps` what the Trainer counts from its data while `max_steps` is negative;
    None means unknown. `places`: where code or a file gives an argument; `made_at`: where they are made, if not by the
    words of a command line.
    """

    per_device_train_batch_size: int = 8
    gradient_accumulation_steps: int = 1
    learning_rate: float = 5e-5
    adam_beta1: float = 0.9
    adam_beta2: float = 0.999
    adam_epsilon: float = 1e-8
    weight_decay: float = 0.0
    max_grad_norm: float = 1.0
    warmup_steps: float = 0  # below 1: a share of all steps
    warmup_ratio: float = 0.0  # transformers 4's name for such a share
    max_steps: int = -1
    num_train_epochs: float = 3.0
    fp16: bool = False
    bf16: bool = False
    fp16_full_eval: bool = False
    bf16_full_eval: bool = False
    save_on_each_node: bool = False
    lr_scheduler_type: str = "linear"
    optim: str = "adamw_torch"
    model_name_or_path: str = ""
    hidden_size: int | None = None
    total_steps: int | None = None
    given: frozenset[str] = field(default=frozenset())
    unknown: frozenset[str] = field(default=frozenset())
    problems: tuple[Problem, ...] = field(default=())
    places: tuple[tuple[str, Said], ...] = field(default=())
    made_at: Said | None = None

    @property
    def steps(self) -> int | None:
        """The number of steps of the run, as far as the arguments determine it."""
        return self.max_steps if self.max_steps >= 0 else self.total_steps

    @property
    def warmup(self) -> int | None:
        """`TrainingArguments.get_warmup_steps`, and at least 1, as the Trainer fills it in; None where it is a share of
        an unknown number."""
        if self.warmup_steps >= 1:
            return int(self.warmup_steps)
        share = self.warmup_steps or self.warmup_ratio
        if not share:
            return 1
        return None if self.steps is None else max(1, math.ceil(self.steps * share))

    @property
    def mixed_precision(self) -> str:
        """What the Trainer tells accelerate."""
        return "fp16" if self.fp16 else "bf16" if self.bf16 else "no"

    def switched_on(self, block: str) -> bool:
        """What "auto" in `enabled` of "fp16" or "bf16" becomes."""
        return bool(getattr(self, block) or getattr(self, f"{block}_full_eval"))

    @property
    def settled(self) -> "TrainingArguments":
        """Two that exclude each other both count as unknown: the Trainer never gets as far as combining them."""
        names = {name for pair in _EXCLUSIVE if all(getattr(self, one) for one in pair) for name in pair}
        off: dict[str, Any] = dict.fromkeys(names, False)
        return replace(self, **off, unknown=self.unknown | names) if names else self

    def overlaid(self, other: "TrainingArguments") -> "TrainingArguments":
        """These, overridden by what `other` was given."""
        values = {name: getattr(other, name) for name in other.given}
        given, problems = self.given | other.given, (*self.problems, *other.problems)
        places = (*(one for one in self.places if one[0] not in other.given), *other.places)
        return replace(self, **values, given=given, unknown=self.unknown - given, problems=problems, places=places)

    def place_of(self, names: Iterable[str]) -> Said | None:
        """Where one of these is given, or could be, if not among the words of a command line."""
        places = dict(self.places)
        return next((places[name] for name in names if name in places), self.made_at)


_EXCLUSIVE = (("fp16", "bf16"), ("fp16_full_eval", "bf16_full_eval"))  # TrainingArguments._validate_args
_DEFAULTS = TrainingArguments()
_ABOUT = ("given", "unknown", "problems", "places", "made_at")
_NAMES = tuple(f.name for f in fields(TrainingArguments) if f.name not in _ABOUT)
_KINDS: dict[str, type] = {name: type(getattr(_DEFAULTS, name)) for name in _NAMES}
_KINDS |= {"warmup_steps": float, "hidden_size": int, "total_steps": int}
# Scripts name the model in several ways; only the first is HF's.
_ALSO = dict.fromkeys(("model_name", "model_id", "model_path", "model", "base_model"), "model_name_or_path")
_OPTIONS = {spelled: name for name in _NAMES for spelled in (name, name.replace("_", "-"))}
_OPTIONS |= {spelled: name for also, name in _ALSO.items() for spelled in (also, also.replace("_", "-"))}
_TRUE, _FALSE = ("yes", "true", "t", "y", "1"), ("no", "false", "f", "n", "0")
_NEGATIVE = re.compile(r"-\d+|-\d*\.\d+")  # argparse takes no other word with a hyphen for a value
_EXPECTED = {int: "whole_number", float: "number", bool: "true_or_false", str: "text"}
_LEAST = {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 1, "hidden_size": 1, "total_steps": 0}
_LEAST |= {"warmup_steps": 0}
_LARGEST = 10**15


def read_arguments(text: str) -> TrainingArguments:
    """The arguments in `text`: a command line as typed, a JSON object, or a YAML mapping. Raises `ArgumentsError` for
    a text that is none of these."""
    if len(text) > MAX_CHARACTERS:
        raise ArgumentsError(wrong("trainer.long", count=f"{len(text):,}", most=f"{MAX_CHARACTERS:,}"))
    if text.lstrip().startswith("{"):
        return from_mapping(_json(text))
    if not text.strip() or text.lstrip().startswith("-"):
        return from_command_line(text)
    return from_mapping(_yaml(text))


def from_command_line(text: str) -> TrainingArguments:
    """What `HfArgumentParser` makes of the words typed after a script's name."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        return TrainingArguments(problems=(Problem.of("words", "close_the_quote", error=str(error)),))
    return from_words(words)


def from_words(words: Sequence[str]) -> TrainingArguments:
    """The same for words that are already split."""
    values: dict[str, Any] = {}
    problems: dict[str, Problem] = {}
    for name, option, word in _options(list(words)):
        try:
            values[name] = _converted(name, word)
            problems.pop(name, None)  # the last one counts
        except ValueError:
            problems[name] = _unread(name, option, word)
    return _checked(values, list(problems.values()))


def from_mapping(mapping: Mapping[str, Any]) -> TrainingArguments:
    """The arguments of a file. A value of another type is a problem: the Trainer converts nothing."""
    values: dict[str, Any] = {}
    problems = []
    for key, value in mapping.items():
        name = _OPTIONS.get(str(key))
        if name is None or value is None:
            continue
        if _fits(name, value):
            values[name] = value
        else:
            problems.append(_other_type(name, str(key), value))
    return _checked(values, problems)


def with_defaults(defaults: Mapping[str, Any], *, unknown: frozenset[str] = frozenset()) -> TrainingArguments:
    """The arguments of a class whose `defaults` differ from transformers'. A default of the wrong type is computed when
    the class is created, so it is not known, like those that are `unknown` by name."""
    named = {name: value for name, value in defaults.items() if name in _NAMES}
    fitting = {name: value for name, value in named.items() if value is not None and _fits(name, value)}
    empty = {"warmup_ratio"}  # None is no share there
    return replace(TrainingArguments(), **fitting, unknown=frozenset({*named, *unknown} - {*fitting, *empty} | unknown))


EVERY_NAME = frozenset(_NAMES)


def given(arguments: TrainingArguments) -> dict[str, Any]:
    """The arguments that were set, by name, in the order of the fields."""
    return {name: getattr(arguments, name) for name in _NAMES if name in arguments.given}


def _options(words: list[str]) -> Iterator[tuple[str, str, str | None]]:
    """Each known option as (name, spelling, value); the value of a bare switch is None."""
    for index, word in enumerate(words):
        option, has_value, value = word.partition("=")
        name = _OPTIONS.get(option.removeprefix("--")) if option.startswith("--") else None
        if name is None:
            continue
        follows = words[index + 1] if index + 1 < len(words) else None
        if follows is not None and follows.startswith("-") and not _NEGATIVE.fullmatch(follows):
            follows = None
        yield name, option, value if has_value else follows


def _converted(name: str, word: str | None) -> Any:
    """Raises `ValueError` for a word that the option does not take."""
    kind = _KINDS[name]
    if kind is bool:
        if word is None or word.lower() in _TRUE:
            return True
        if word.lower() in _FALSE:
            return False
        raise ValueError
    if word is None:
        raise ValueError
    return kind(word)


def _unread(name: str, option: str, word: str | None) -> Problem:
    expected = phrase(_EXPECTED[_KINDS[name]])
    if word is None:
        return Problem.of("no_value", "correct_argument", option=option, expected=expected)
    return Problem.of("unread", "correct_argument", option=option, seen=word[:60], expected=expected)


def _fits(name: str, value: Any) -> bool:
    kind = _KINDS[name]
    if isinstance(value, bool) or kind in (bool, str):
        return isinstance(value, kind)
    return isinstance(value, int) or (kind is float and isinstance(value, float))


def _other_type(name: str, key: str, value: Any) -> Problem:
    is_quoted = isinstance(value, str) and _KINDS[name] in (int, float)
    expected = phrase(_EXPECTED[_KINDS[name]])
    advice = "unquote_number" if is_quoted else "correct_it"
    return Problem.of("other_type", advice, name=key, seen=_shown(value), expected=expected)


def _checked(values: Mapping[str, Any], problems: list[Problem]) -> TrainingArguments:
    """The value, with everything that can't be left out at its default."""
    kept: dict[str, Any] = {}
    for name, value in values.items():
        problem = _out_of_range(name, value)
        problems += [problem] if problem else []
        kept |= {} if problem else {name: value}
    arguments = replace(TrainingArguments(), **kept, given=frozenset(kept))
    return replace(arguments, problems=(*problems, *_exclusive(arguments)))


def _out_of_range(name: str, value: Any) -> Problem | None:
    if isinstance(value, bool | str):
        return None
    if not math.isfinite(value) or abs(value) > _LARGEST:
        return Problem.of("unusable", "correct_it", name=name, seen=_shown(value)[:60])
    if value < _LEAST.get(name, -math.inf):
        return Problem.of("too_low", "correct_it", name=name, seen=_shown(value), least=str(_LEAST[name]))
    return None


def _exclusive(arguments: TrainingArguments) -> Iterator[Problem]:
    """Pairs that `TrainingArguments._validate_args` refuses."""
    if arguments.fp16 and arguments.bf16:
        yield Problem.of("both_types", "leave_one_out")
    if arguments.fp16_full_eval and arguments.bf16_full_eval:
        yield Problem.of("both_evaluations", "leave_one_out")


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f"“{value[:60]}”"
    return json.dumps(value, default=str)[:60]


def _json(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArgumentsError(wrong("trainer.bad_json", why=str(error))) from error
    return value if isinstance(value, Mapping) else {}


def _yaml(text: str) -> Mapping[str, Any]:
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text)):
            raise ArgumentsError(wrong("trainer.aliases"))
        value = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise ArgumentsError(wrong("trainer.unreadable", why=str(error).splitlines()[0])) from error
    if not isinstance(value, Mapping):
        raise ArgumentsError(wrong("trainer.no_mapping", text=text.strip()[:60]))
    return value
