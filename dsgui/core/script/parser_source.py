"""What a script's source adds to its parser: the options of argparse and click, and of a function that fire or typer
calls; and who else is handed the parser."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from dsgui.core.script.command_line import NOTHING, ONE, PERHAPS, UNSET, Option
from dsgui.core.script.declared import literal

FOR_DATACLASSES = ("HfArgumentParser", "TrlParser")
MAKERS = (*FOR_DATACLASSES, "ArgumentParser")
_PARSERS = (*MAKERS, "add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "add_parser")
_BARE = ("store_true", "store_false", "store_const", "append_const", "count", "help", "version")
_NUMBERS = ("int", "float")
_BARE_VALUES = {"store_true": True, "store_false": False}


def called(node: ast.AST) -> str:
    """The name behind the last dot: `transformers.TrainingArguments(…)` → TrainingArguments; "" for what is no call."""
    function = node.func if isinstance(node, ast.Call) else None
    return str(getattr(function, "attr", None) or getattr(function, "id", ""))


def keyword(call: ast.Call, *names: str) -> ast.expr | None:
    """The value of the first of these keyword arguments; None too where it is written out as None."""
    given = (one.value for one in call.keywords if one.arg in names)
    return next((value for value in given if not (isinstance(value, ast.Constant) and value.value is None)), None)


def adds(call: ast.Call) -> bool:
    """Whether it adds an option or a positional word to argparse's parser."""
    return called(call) == "add_argument"


def names_added(call: ast.Call) -> list[str]:
    """Of an option its spellings, of a positional word its name; what is computed is left out."""
    return [word.value for word in call.args if isinstance(word, ast.Constant) and isinstance(word.value, str)]


def added(call: ast.Call) -> list[Option]:
    """`add_argument("-d", "--data", nargs="+")` → its option, and its opposite where it has one; none for a positional
    word and for any other call."""
    names = tuple(name for name in names_added(call) if name.startswith("-")) if adds(call) else ()
    if not names:
        return []
    action = keyword(call, "action")
    bare = "store_true" if _last_name(action) == "BooleanOptionalAction" else literal(action)
    told = literal(keyword(call, "dest"))
    option = _option(call, names, told if isinstance(told, str) else "", NOTHING if bare in _BARE else _follow(call))
    if bare is literal(action):
        return [option]
    off = tuple(f"--no-{name.removeprefix('--')}" for name in names if name.startswith("--"))
    return [option, Option(f"no_{option.name}", off, NOTHING, negates=option.name)]


def added_to_click(call: ast.Call) -> list[Option]:
    """`@click.option("--resume/--no-resume")`."""
    words = [name for name in names_added(call) if name.startswith("-")] if called(call) == "option" else []
    if not words:
        return []
    switch = literal(keyword(call, "is_flag")) is True or any("/" in word for word in words)
    return [_option(call, tuple(word.partition("/")[0] for word in words), "", NOTHING if switch else ONE)]


def added_by_function(arguments: ast.arguments, *, dashes: bool) -> Iterator[Option]:
    """The parameters of a function that is a command: what is true or false from the start is a switch."""
    for one, default in _parameters(arguments):
        spelled = one.arg.replace("_", "-") if dashes else one.arg
        yield Option(one.arg, (f"--{spelled}",), NOTHING if isinstance(literal(default), bool) else ONE)


def _parameters(arguments: ast.arguments) -> list[tuple[ast.arg, ast.expr | None]]:
    """With their defaults."""
    every = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(every) - len(arguments.defaults)) + list(arguments.defaults)
    return [*zip(every, defaults, strict=True), *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]


def fired(nodes: Sequence[ast.AST]) -> tuple[Option, ...] | None:
    """The options of the function that `fire.Fire(main)` makes a command: its parameters and nothing else. None where
    that is no one function of this file, or one that takes any word."""
    calls = [node for node in nodes if isinstance(node, ast.Call) and called(node) == "Fire"]
    if len(calls) != 1 or len(calls[0].args) != 1 or calls[0].keywords:
        return None
    name = getattr(calls[0].args[0], "id", "")
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == name]
    if len(functions) != 1 or functions[0].decorator_list or functions[0].args.kwarg or functions[0].args.vararg:
        return None
    given = _parameters(functions[0].args)
    letters = Counter(one.arg[0] for one, _ in given) + Counter("h")  # `-h` is its help
    return (*_HELP_OF_FIRE, *(_of_fire(one, default, letters[one.arg[0]] == 1) for one, default in given))


_HELP_OF_FIRE = (Option("help", ("-h", "--help"), NOTHING),)


def _of_fire(one: ast.arg, default: ast.expr | None, alone: bool) -> Option:
    """fire/core.py, `_ParseKeywordArgs`: `--name` alone is True, `--noname` False; dashes count as underscores, one is
    enough in front, and so is the first letter where it is no other's."""
    words = (one.arg, one.arg.replace("_", "-"), f"no{one.arg}", *([one.arg[0]] if alone else []))
    spelled = (f"{dashes}{word}" for dashes in ("--", "-") for word in words)
    return Option(one.arg, tuple(dict.fromkeys(spelled)), PERHAPS, literal(default), switch=True, kind="fire")


def is_readable(call: ast.Call) -> bool:
    """Whether the option's names and number of values are written out."""
    nargs = keyword(call, "nargs")
    written = len(names_added(call)) == len(call.args) and all(word.arg for word in call.keywords)
    return written and (nargs is None or isinstance(nargs, ast.Constant))


def handed_out(nodes: Sequence[ast.AST], calls: Iterable[ast.Call]) -> bool:
    """Whether a parser is given to a function of another file, which may add options to it."""
    functions = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
    pairs = [(called(call), *one) for call in calls for one in _given(call, functions.get(called(call)))]
    parsers, known = _held(nodes), -1
    while known < len(parsers):  # a function of this file may hand on what it was given
        known = len(parsers)
        parsers |= {name for _, name, word in pairs if name and _is_parser(word, parsers)}
    here = functions.keys() | {"add_config_arguments"}
    return any(function not in here and _is_parser(word, parsers) for function, _, word in pairs)


def kept_in_attribute(nodes: Iterable[ast.AST]) -> bool:
    """Whether a parser is: who adds to that one can't be followed."""
    made = (node for node in nodes if isinstance(node, ast.Assign) and called(node.value) in _PARSERS)
    return any(not isinstance(target, ast.Name) for node in made for target in node.targets)


def written_out(nodes: Iterable[ast.AST]) -> dict[str, ast.expr]:
    """Names that are given a value once in the whole file, and that value."""
    values: dict[str, list[ast.expr]] = {}
    for name, value in _assignments(nodes):
        values.setdefault(name, []).append(value)
    return {name: given[0] for name, given in values.items() if len(given) == 1}


def _assignments(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """`config["x"] = 1` counts as another value for `config`."""
    for node in nodes:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        for target in targets:
            while isinstance(target, ast.Subscript | ast.Attribute):
                target = target.value
            if isinstance(target, ast.Name) and isinstance(value, ast.expr):
                yield target.id, value


def _option(call: ast.Call, names: tuple[str, ...], told: str, values: str) -> Option:
    long = next((name for name in names if name.startswith("--")), names[0])
    action = keyword(call, "action")
    both = _last_name(action) == "BooleanOptionalAction"
    bare = True if both else _BARE_VALUES.get(str(literal(action)), UNSET)
    usual = not bare if bare is not UNSET and not both else None
    usual = UNSET if any(word.arg is None for word in call.keywords) else usual
    default = next((literal(word.value) for word in call.keywords if word.arg == "default"), usual)
    kind = keyword(call, "type")
    return Option(
        told or long.lstrip("-").replace("-", "_"),
        names,
        values,
        default,
        number=_last_name(kind) in _NUMBERS,
        added_to=getattr(getattr(call.func, "value", None), "id", ""),
        kind="str" if kind is None else _last_name(kind),
        bare=bare,
        choices=_choices(call),
        action="" if both else _action(action),
    )


def _action(node: ast.expr | None) -> str:
    """As `Option` has it."""
    written = literal(node)
    if node is None or written == "store" or written in _BARE:
        return ""
    return "append" if written == "append" else "?"


def _choices(call: ast.Call) -> tuple[str, ...]:
    """Those that are written out."""
    written = literal(keyword(call, "choices"))
    return tuple(map(str, written)) if isinstance(written, list | tuple | set) else ()


def _follow(call: ast.Call) -> str:
    nargs = keyword(call, "nargs")
    count = literal(nargs)
    return ONE if nargs is None else str(count) if isinstance(count, int | str) else PERHAPS


def _last_name(node: ast.expr | None) -> str:
    return str(getattr(node, "attr", None) or getattr(node, "id", ""))


def _held(nodes: Iterable[ast.AST]) -> set[str]:
    """The variables that hold a parser."""
    made = (node for node in nodes if isinstance(node, ast.Assign) and called(node.value) in _PARSERS)
    return {target.id for node in made for target in node.targets if isinstance(target, ast.Name)} | {"parser"}


def _given(call: ast.Call, function: ast.FunctionDef | None) -> Iterator[tuple[str, ast.expr]]:
    """Each argument and the name that it has in the function, "" where that is in another file."""
    names = [one.arg for one in function.args.args if one.arg != "self"] if function else []
    yield from zip((*names, *[""] * len(call.args)), call.args, strict=False)
    yield from ((word.arg if function and word.arg else "", word.value) for word in call.keywords)


def _is_parser(word: ast.expr, names: set[str]) -> bool:
    return called(word) in _PARSERS or (isinstance(word, ast.Name) and word.id in names)
