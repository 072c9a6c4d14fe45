"""A check before a start of the values that options have: those of an enumeration or a list of choices, however they
are given. None where there is nothing to judge."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from dsgui.core.machine.verdicts import Sentences, Verdict, advise, problem, saw
from dsgui.core.preflight.surroundings import Question
from dsgui.core.script.command_line import SOME, UNSET, Option
from dsgui.core.script.in_a_run.made import made_reached
from dsgui.core.script.in_a_run.trainers import in_line
from dsgui.core.texts.saying import Said, listed, said

_LONGEST = 60
_ALIKE = 0.4
_MOST_TOLD = 4
_FEW, _MOST_CHOICES = 12, 60
# Kinds of options whose choices are held against the word itself, and against what is made of it. Of any other type
# (`str.lower`, a function of the script) it isn't known what it makes, and a bool's is true for any word.
_AS_TYPED = ("str", "literal")
_NUMBERS: Mapping[str, Callable[[str], float]] = {"int": int, "float": float}
# What newer releases call a value that they dropped.
_NOW = {"adamw_hf": "adamw_torch", "adamw_apex_fused": "adamw_torch_fused"}


def values(question: Question) -> Verdict | None:
    """argparse's choices; transformers/training_args.py: `__post_init__` makes each of its enumerations."""
    if not question.launch.script or question.around.script.problem:
        return None
    told = [*_typed(question), *_in_file(question), *_in_code(question)][:_MOST_TOLD]
    if not told:
        return None
    return problem(tuple(seen for seen, _ in told), tuple(one for _, several in told for one in several))


def _typed(question: Question) -> Iterator[tuple[Said, Sentences]]:
    found = question.taken
    for option in found.options:
        mentions = [one.values for one in found.reading.mentions if option.choices and one.option == option]
        # The parser looks at each, what is made of them at the last.
        words = [word for one in (mentions[-1:] if option.members else mentions) for word in one]
        wrong = [(word, refused) for word in words if (refused := _refused(option, word))]
        if wrong and (found.sure or option.members):
            word, refused = wrong[0]
            given = {"option": option.long, "value": _shown(word), "words": refused}
            yield saw("values.refused", **given), _advice(option, word, question)


def _refused(option: Option, word: str) -> str:
    """argparse's words, "" where it takes the word or where it isn't known what the option's type makes of it."""
    of_argument = f"argument {'/'.join(option.names)}"
    if option.members or option.kind in _AS_TYPED:
        return f"{of_argument}: invalid choice: {word!r}" if word not in option.choices else ""
    number = _NUMBERS.get(option.kind)
    choices = [_read(number, one) for one in option.choices] if number else [None]
    if number is None or None in choices:
        return ""
    value = _read(number, word)
    if value is None:
        return f"{of_argument}: invalid {option.kind} value: {word!r}"
    return f"{of_argument}: invalid choice: {value!r}" if value not in choices else ""


def _read(number: Callable[[str], float], word: str) -> float | None:
    try:
        return number(word)
    except ValueError:
        return None


def _in_file(question: Question) -> Iterator[tuple[Said, Sentences]]:
    """Of a file only what the class looks at itself counts."""
    file = question.taken.file
    typed = question.taken.reading.given
    for option in _enumerated((*question.taken.options, *question.around.answers.made)):
        value = file.values.get(option.name, UNSET)
        if option.name not in typed and _is_wrong(option, value):
            line = file.lines.get(option.name)
            place = in_line(file.path, line) if line else said("arguments", "in_file", file=file.path)
            yield _refused_there(option, value, place), _advice(option, value, question)


def _in_code(question: Question) -> Iterator[tuple[Said, Sentences]]:
    line, values = question.around.script.command_line, question.around.values(question.launch)
    made = made_reached(line.made, values) if not line.by_dataclass else None
    options = {option.name: option for option in _enumerated(question.around.answers.made)}
    for one in made.settings if made else ():
        option, value = options.get(one.name), values.value(one.expression)
        if option and _is_wrong(option, value):
            place = in_line(question.launch.script.rpartition("/")[2], one.line)
            yield _refused_there(option, value, place), _advice(option, value, question)


def _enumerated(options: Iterable[Option]) -> Iterator[Option]:
    return (option for option in options if option.members and option.choices)


def _is_wrong(option: Option, value: Any) -> bool:
    if value is UNSET or value is None or option.values == SOME or not isinstance(value, str | bool | int | float):
        return False
    return value not in option.choices


def _refused_there(option: Option, value: Any, place: Said) -> Said:
    words = f"{_short(str(value))} is not a valid {option.members}"
    return saw("values.refused_there", option=option.name, value=_shown(str(value)), place=place, words=words)


def _advice(option: Option, value: Any, question: Question) -> Sentences:
    """The nearest value, and all of them where they are few."""
    near, few = _nearest(option, value), len(option.choices) <= _FEW
    release = question.around.version("transformers") if option.members else ""
    choices = listed(option.choices[:_MOST_CHOICES])
    if near and release and not few:
        return (advise("values.write_of_release", value=near, release=release),)
    instead = (advise("values.write", value=near),) if near else ()
    if release:
        return (*instead, advise("values.release_takes", release=release, choices=choices))
    return (*instead, advise("values.takes", choices=choices))


def _nearest(option: Option, value: Any) -> str:
    """YAML reads `no` as false."""
    word = {False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)
    if word in option.choices:
        return f'"{word}"'
    if _NOW.get(word) in option.choices:
        return _NOW[word]
    found = get_close_matches(word[:_LONGEST], option.choices, n=1, cutoff=_ALIKE)
    return found[0] if found else ""


def _shown(word: str) -> str:
    return _short(word) or '""'


def _short(word: str) -> str:
    return word if len(word) <= _LONGEST else f"{word[:_LONGEST]}…"
