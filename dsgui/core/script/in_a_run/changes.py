"""What a script changes itself of that by which its run is foretold: the values of its options after they were read,
the words that its parser gets, the variables of its environment."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dsgui.core.script.declared import dotted_name, literal
from dsgui.core.script.imports import EVERY
from dsgui.core.script.in_a_run.options_held import GIVES, OptionsHeld, argument_of
from dsgui.core.script.in_a_run.scopes import FUNCTIONS, READ_ONLY, Scopes
from dsgui.core.script.packages import from_own_files
from dsgui.core.script.parser_source import MAKERS, called
from dsgui.core.script.trees import as_written

_ENVIRONS = ("os.environ", "environ")
_CHANGES = frozenset(
    {"append", "extend", "insert", "remove", "pop", "clear", "update", "setdefault", "sort", "reverse", "add"}
    | {"discard", "popitem", "__setitem__", "__delitem__"}
)
_OTHER_WORDS = ("fromfile_prefix_chars", "argument_default", "prefix_chars")
_MAKES_ENGINE = "deepspeed.initialize"  # what the options are needed for is decided then
_FILES_OF_WORDS = ("namespace", "args_filename", "args_file_flag")
# transformers/training_args.py
_SETS_SEVERAL = frozenset(
    f"set_{one}"
    for one in ("training", "evaluate", "testing", "save", "logging", "push_to_hub", "optimizer", "lr_scheduler")
) | {"set_dataloader"}


@dataclass(frozen=True, slots=True)
class Changes:
    """`names`: attributes that are set or changed, of whatever, `*` among them for any. `words`: its parser may read
    others than those of its command line. `variables`: those that it sets, `filled` those that it sets where they are
    not set, `*` for any. `unread`: it imports files of its own, which nobody has read and which may change the
    environment too."""

    names: frozenset[str] = frozenset()
    unread: bool = False
    words: bool = False
    variables: frozenset[str] = frozenset()
    filled: frozenset[str] = frozenset()

    @property
    def any(self) -> bool:
        """Whether any option may have another value."""
        return EVERY in self.names


def changes_in(scopes: Scopes, held: OptionsHeld, makes: Callable[[ast.Call], str]) -> Changes:
    """Of one file. `makes`: the class of training arguments that a call makes, "" for any other call."""
    stored, filled = set[str](), set[str]()
    for name, only_if_unset in _variables(scopes):
        (filled if only_if_unset else stored).add(name)
    words = any(_changes_words(node, scopes) or _parses_others(node, scopes, held) for node in scopes.nodes)
    theirs = from_own_files(scopes.nodes)

    def is_held(node: ast.expr) -> bool:
        given = scopes.bindings(node) if isinstance(node, ast.Name) else None
        made = any(isinstance(one.value, ast.Call) and makes(one.value) for one in given or ())
        return made or (isinstance(node, ast.Name | ast.Attribute) and held.holds(node))

    handed_out = [node for node in scopes.nodes if _is_handed_out(node, theirs, is_held)]
    calls = [node for node in scopes.nodes if isinstance(node, ast.Call)]
    made = [one for one in calls if dotted_name(one.func) == _MAKES_ENGINE or called(one) == "load_checkpoint"]
    handed = [] if all(isinstance(one, ast.Call) and scopes.is_after(one, made) for one in handed_out) else [EVERY]
    names = frozenset([*_names(scopes), *handed])
    return Changes(names, bool(theirs), words, frozenset(stored), frozenset(filled))


# ----------------------------------------------------------------------------------------------------------- options
def _names(scopes: Scopes) -> Iterator[str]:
    modules = {(node.asname or node.name.partition(".")[0]) for node in scopes.nodes if isinstance(node, ast.alias)}
    own = {node.name for node in scopes.nodes if isinstance(node, FUNCTIONS)} | from_own_files(scopes.nodes)
    for node in scopes.nodes:
        if isinstance(node, ast.Attribute):
            if not isinstance(node.ctx, ast.Load) or is_changed(node, scopes):
                yield node.attr
            if node.attr == "__dict__" and not _is_looked_at(node, scopes, own):
                yield EVERY
        elif isinstance(node, ast.Call):
            yield from _by_call(node, scopes, modules, own)


def _by_call(call: ast.Call, scopes: Scopes, modules: set[str], own: set[str]) -> Iterator[str]:
    name = called(call)
    if name in ("setattr", "delattr", "__setattr__") and call.args:
        named = [literal(one) for one in call.args[:2] if isinstance(literal(one), str)]
        of_module = dotted_name(call.args[0]).partition(".")[0] in modules
        if named or not (of_module or _is_plain_self(call, scopes)):
            yield str(named[0]) if named else EVERY
    elif name in _SETS_SEVERAL or (name == "vars" and call.args and not _is_looked_at(call, scopes, own)):
        yield EVERY
    elif name == "replace" and call.keywords:
        yield from (word.arg or EVERY for word in call.keywords)


def _is_handed_out(call: ast.AST, theirs: frozenset[str], is_held: Callable[[ast.expr], bool]) -> bool:
    """Whether what holds the options is given to one of `theirs`, which may change them."""
    if not isinstance(call, ast.Call) or dotted_name(call.func).partition(".")[0] not in theirs:
        return False
    given = [*call.args, *(word.value for word in call.keywords)]
    return any(map(is_held, given))


def _is_plain_self(call: ast.Call, scopes: Scopes) -> bool:
    """`setattr(self, name, value)` of a class that no parser fills."""
    of = scopes.class_of(call)
    filled = of is None or any("dataclass" in as_written(one) for one in of.decorator_list)
    return not filled and isinstance(call.args[0], ast.Name) and call.args[0].id == "self"


def is_changed(node: ast.Attribute | ast.Name, scopes: Scopes) -> bool:
    """`args.names.append(…)`, `args.names[0] = …`."""
    below: ast.AST = node
    above = scopes.parents.get(node)
    while isinstance(above, ast.Subscript) and above.value is below:
        if not isinstance(above.ctx, ast.Load):
            return True
        below, above = above, scopes.parents.get(above)
    method = isinstance(above, ast.Attribute) and above.attr in _CHANGES
    return method and isinstance(scopes.parents.get(above), ast.Call) if above is not None else False


def _is_looked_at(node: ast.expr, scopes: Scopes, own: set[str]) -> bool:
    """Whether the table of an object's attributes stays as it is; `own`: functions of this file, and what
    comes of others that nobody has read: they may change it."""
    above = scopes.parents.get(node)
    if isinstance(above, ast.Attribute):
        return above.attr in READ_ONLY
    if isinstance(above, ast.keyword) and above.arg is not None:
        above = scopes.parents.get(above)
    if isinstance(above, ast.Call):
        return called(above) not in own and dotted_name(above.func).partition(".")[0] not in own
    if isinstance(above, ast.Assign):
        return all(isinstance(one, ast.Name) and scopes.value(one) is not None for one in above.targets)
    return scopes.is_read(node)


# ------------------------------------------------------------------------------------------------------------- words
def _changes_words(node: ast.AST, scopes: Scopes) -> bool:
    if isinstance(node, ast.Attribute) and dotted_name(node) == "sys.argv":
        return not isinstance(node.ctx, ast.Load) or is_changed(node, scopes)
    return False


def _parses_others(call: ast.AST, scopes: Scopes, held: OptionsHeld) -> bool:
    if not isinstance(call, ast.Call):
        return False
    given = {word.arg: word.value for word in call.keywords}
    if called(call) in MAKERS:
        return not set(_OTHER_WORDS).isdisjoint(given)
    if called(call) not in GIVES or not isinstance(call.func, ast.Attribute) or "_file" in called(call):
        return False
    words = [*call.args, *([given["args"]] if "args" in given else [])]
    return (
        not set(_FILES_OF_WORDS).isdisjoint(given) or len(words) > 1 or not all(_plain(w, scopes, held) for w in words)
    )


def _plain(words: ast.expr | None, scopes: Scopes, held: OptionsHeld) -> bool:
    """`None`, `sys.argv[1:]`, or a parameter that nobody gives anything else."""
    if words is None or (isinstance(words, ast.Constant) and words.value is None):
        return True
    if isinstance(words, ast.Subscript):
        return dotted_name(words.value) == "sys.argv" and as_written(words.slice) == "1:"
    bindings = scopes.bindings(words) if isinstance(words, ast.Name) else None
    if not isinstance(words, ast.Name) or not bindings or len(bindings) > 1:
        return False
    function = bindings[0].function
    if function is None:
        value = scopes.value(words)
        return isinstance(value, ast.Subscript) and _plain(value, scopes, held)
    calls = held.calls_of(function)
    given = [argument_of(call, function, words.id) for call in calls or ()]
    return calls is not None and all(_plain(one, scopes, held) for one in given if not isinstance(one, ast.Name))


# --------------------------------------------------------------------------------------------------------- variables
def _variables(scopes: Scopes) -> Iterator[tuple[str, bool]]:
    """Each name, and whether it is set only where it is not set yet."""
    for node in scopes.nodes:
        if isinstance(node, ast.Name | ast.Attribute) and dotted_name(node) in _ENVIRONS:
            yield from _of_environ(node, scopes)
        elif isinstance(node, ast.Call) and called(node) in ("putenv", "unsetenv"):
            yield _text(node.args[0] if node.args else None), False
        elif isinstance(node, ast.Call) and called(node) == "load_dotenv":
            yield EVERY, not (node.args[2:] or any(word.arg == "override" for word in node.keywords))


def _of_environ(node: ast.Name | ast.Attribute, scopes: Scopes) -> Iterator[tuple[str, bool]]:
    above = scopes.parents.get(node)
    if not isinstance(node.ctx, ast.Load):
        table = above.value if isinstance(above, ast.AugAssign) else None
        yield from ((name, False) for name in _keys(table))
    elif isinstance(above, ast.Subscript) and above.value is node:
        if not isinstance(above.ctx, ast.Load):
            yield _text(above.slice), False
    elif isinstance(above, ast.Attribute):
        yield from _by_method(above, scopes.parents.get(above))
    elif isinstance(above, ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.Return):
        yield EVERY, False


def _by_method(method: ast.Attribute, call: ast.AST | None) -> Iterator[tuple[str, bool]]:
    if method.attr not in _CHANGES:
        return
    if not isinstance(call, ast.Call) or method.attr in ("clear", "popitem"):
        yield EVERY, False
    elif method.attr == "update":
        yield from ((word.arg or EVERY, False) for word in call.keywords)
        yield from ((name, False) for table in call.args for name in _keys(table))
    else:
        yield _text(call.args[0] if call.args else None), method.attr == "setdefault"


def _keys(table: ast.expr | None) -> list[str]:
    return [_text(key) for key in table.keys] if isinstance(table, ast.Dict) else [EVERY]


def _text(node: ast.expr | None) -> str:
    named = literal(node)
    return named if isinstance(named, str) else EVERY
