"""The HF Trainer's arguments that a script does not take from its command line: those it writes in a call of its own,
and the files of arguments that it has read."""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dsgui.core.script.command_line import UNSET
from dsgui.core.script.in_a_run.branches import Branches, When
from dsgui.core.script.in_a_run.worth import Spelled, Values
from dsgui.core.script.parser_source import called, keyword

_OF_FILES = {"parse_json_file": ("json_file",), "parse_yaml_file": ("yaml_file",)}


@dataclass(frozen=True, slots=True)
class Setting:
    """One of them: what it is given, as `Values` reads it, and the line where that stands."""

    name: str
    expression: str
    line: int


@dataclass(frozen=True, slots=True)
class Made:
    """`TrainingArguments(…)`: `name` of the class as written there. `whole`: nothing else is given to it, as `**more`
    may."""

    name: str
    line: int
    when: When
    settings: tuple[Setting, ...] = ()
    whole: bool = True


@dataclass(frozen=True, slots=True)
class FileCall:
    """`parser.parse_json_file(args.file)`."""

    expression: str
    line: int
    when: When


def made_in_code(
    nodes: Sequence[ast.AST], makes: Callable[[ast.Call], str], branches: Branches, spelled: Spelled
) -> tuple[Made, ...]:
    """`makes`: the name of the class of training arguments that a call makes, "" for any other call."""
    calls = [(node, makes(node)) for node in nodes if isinstance(node, ast.Call)]
    return tuple(_made(call, name, branches, spelled) for call, name in calls if name)


def _made(call: ast.Call, name: str, branches: Branches, spelled: Spelled) -> Made:
    settings, whole = list[Setting](), not any(isinstance(one, ast.Starred) for one in call.args)
    for given, value in _keywords(call, spelled):
        if given is None:
            whole = False
        else:
            settings.append(Setting(given, spelled.expression(value), value.lineno))
    return Made(name, call.lineno, branches.when(call), tuple(settings), whole)


def _keywords(call: ast.Call, spelled: Spelled) -> Iterator[tuple[str | None, ast.expr]]:
    """With those of a dict that is written out; the name is None for what can't be followed."""
    for word in call.keywords:
        if word.arg is not None:
            yield word.arg, word.value
            continue
        value = spelled.scopes.value(word.value) if isinstance(word.value, ast.Name) else word.value
        if isinstance(value, ast.Call) and called(value) == "dict" and not value.args:
            yield from ((one.arg, one.value) for one in value.keywords)
        elif isinstance(value, ast.Dict):
            yield from ((_text(key), item) for key, item in zip(value.keys, value.values, strict=True))
        else:
            yield None, word.value


def _text(key: ast.expr | None) -> str | None:
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None


def file_calls(calls: Sequence[ast.Call], branches: Branches, spelled: Spelled) -> tuple[FileCall, ...]:
    """In the order of the source."""
    found = []
    for call in calls:
        names = _OF_FILES.get(called(call))
        given = (call.args[0] if call.args else keyword(call, *names)) if names else None
        if given is not None:
            found.append(FileCall(spelled.expression(given), call.lineno, branches.when(call)))
    return tuple(sorted(found, key=lambda one: one.line))


def file_reached(calls: Sequence[FileCall], values: Values) -> str | None:
    """The file that the script reads its arguments from with these values, "" for none; None where nobody knows."""
    for call in calls:
        reached = values.worth(call.when.condition) if call.when.condition else True
        path = values.value(call.expression)
        if reached is UNSET or (reached and not isinstance(path, str)):
            return None
        if reached:
            return str(path)
    return ""


def made_reached(made: Sequence[Made], values: Values) -> Made | None:
    """The only one of them that the script surely gets to; None where it may be another one, or none."""
    worths = [(values.worth(one.when.condition) if one.when.condition else True, one) for one in made]
    perhaps = [(worth, one) for worth, one in worths if worth is UNSET or worth]
    return perhaps[0][1] if len(perhaps) == 1 and perhaps[0][0] is not UNSET else None
