"""How a training script is told to go on from a checkpoint, read from its source: which options reach the call that
loads one, and what each of them wants.

`engine.load_checkpoint(args.load_dir, tag=args.ckpt_id)`, `accelerator.load_state(args.resume)` and
`trainer.train(resume_from_checkpoint=…)` are looked for; a name is followed through assignments and through calls of
the script's own functions. Where no such call is seen in the file, options are known by their usual names.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dsgui.core.script.command_line import Option
from dsgui.core.script.declared import module_of
from dsgui.core.script.parser_source import added, added_by_function, added_to_click, called

_ENGINE, _ACCELERATE, _TRAINER = "load_checkpoint", "load_state", "train"
_FROM = "resume_from_checkpoint"
_GIVES_PARSER = {"HfArgumentParser", "TrlParser", "parse_args_into_dataclasses"}
# argparse's usual names where the call that loads is in another file; DeepSpeed's documentation and Megatron's.
_FOLDERS = ("load_checkpoint_dir", "load_dir", "load", "load_checkpoint", "checkpoint_load_dir", "resume_dir")
_TAGS = ("load_tag", "ckpt_id", "load_checkpoint_id", "checkpoint_tag", "ckpt_tag")
# What splits a checkpoint's own path into the folder and the tag that `load_checkpoint` wants.
_SPLITS = {"dirname", "basename", "split", "rsplit", "rpartition", "parent", "name"}
_COMMANDS = {"fire": "Fire", "typer": "run"}
_MOST_STEPS = 40
_MOST_CALLS = 100  # of those that load, and of those that save: a script has a few
_CALLERS = 3  # levels of functions around a call that are looked at


@dataclass(frozen=True, slots=True)
class Resuming:
    """Options of the script, "" where it has none: `checkpoint` is given the checkpoint's own path, `folder` the one it
    lies in, `tag` its name; `switches` have no value. `not_beside` are options that the script refuses beside those.
    `from_output`: it loads from where it saves, given by that option or written in the source. `saving` are the options
    for that folder. `loads`: whether a call that loads was seen; `ignores`: --resume_from_checkpoint is taken and never
    handed to the Trainer."""

    checkpoint: str = ""
    folder: str = ""
    tag: str = ""
    switches: tuple[str, ...] = ()
    not_beside: tuple[str, ...] = ()
    from_output: bool = False
    saving: tuple[str, ...] = ()
    loads: bool = False
    ignores: bool = False


def resuming(nodes: Sequence[ast.AST], *, by_trainer: bool) -> Resuming:
    """Of all nodes of a script's source. `by_trainer`: its command line takes the HF Trainer's arguments."""
    source = _Source(nodes, by_trainer)
    calls = [call for call in source.calls if called(call) in (_ENGINE, _ACCELERATE, _TRAINER)][:_MOST_CALLS]
    ways = [way for call in calls if source.runs(call) and (way := source.way_of(call))]
    ways.sort(key=lambda way: "resum" not in f"{way.checkpoint}{way.folder}")  # a script may load a model's start too
    return source.completed(ways[0] if ways else source.by_name())


class _Source:
    """A tree with what is asked of it more than once."""

    def __init__(self, nodes: Sequence[ast.AST], by_trainer: bool) -> None:
        self.nodes, self.by_trainer = nodes, by_trainer
        self.calls = [node for node in self.nodes if isinstance(node, ast.Call)]
        self.parents = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}
        self.otherwise = {
            one for node in self.nodes if isinstance(node, ast.If | ast.IfExp) for one in _otherwise(node)
        }
        self.functions = {n.name: n for n in self.nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
        self.plain_names = {n.id for n in self.nodes if isinstance(n, ast.Name)}
        self.names = self.plain_names | {n.attr for n in self.nodes if isinstance(n, ast.Attribute)}
        self.groups = {
            name
            for node in self.nodes
            if isinstance(node, ast.Assign) and called(node.value) == "add_mutually_exclusive_group"
            for name in _names_of(node.targets[0])
        }
        self.options = {option.name: option for option in _options(self.calls, self.functions)}
        if self.names & _GIVES_PARSER:
            classes = module_of(self.nodes).classes.values()
            self.options |= {option.name: option for declared in classes for option in declared.options}
        if by_trainer:
            self.options[_FROM] = Option(_FROM, (f"--{_FROM}",))
        self.bound = _bindings(self.nodes, self.calls, self.functions)
        self.callers: dict[str, list[ast.Call]] = {}
        for call in self.calls:
            self.callers.setdefault(called(call), []).append(call)
        self._asked: dict[tuple[str, int], dict[str, None]] = {}
        self._read: dict[ast.AST, list[str]] = {}
        self.saving = self._saving()

    # -- the call that loads ---------------------------------------------------------------------------------------

    def runs(self, call: ast.Call) -> bool:
        """Not in a function of the file that nothing there names."""
        node: ast.AST | None = call
        while (node := self.parents.get(node)) is not None:  # type: ignore[arg-type]
            if isinstance(node, ast.FunctionDef) and isinstance(self.parents.get(node), ast.Module):
                return bool(node.decorator_list) or node.name in self.plain_names
        return True

    def way_of(self, call: ast.Call) -> Resuming | None:
        """What reaches this call, where it is one that loads."""
        if not isinstance(call.func, ast.Attribute):
            return None
        if call.func.attr == _TRAINER:
            return self._of_trainer(call)
        if call.func.attr == _ACCELERATE:
            return self._of_path(call, _argument(call, "input_dir", 0))
        return self._of_engine(call) if call.func.attr == _ENGINE else None

    def _of_trainer(self, call: ast.Call) -> Resuming | None:
        """`model.train(False)` is none."""
        given = _argument(call, _FROM, 0)
        if isinstance(given, ast.Constant):
            return Resuming(from_output=True, loads=True) if given.value is True and call.keywords else None
        found = self._of_path(call, given)
        return found if found and (found.checkpoint or call.keywords) else None

    def _of_path(self, call: ast.Call, given: ast.expr | None) -> Resuming | None:
        found = self._place(self._reaching(given)[0])
        return Resuming(found.long if found else "", switches=self._switches(call), loads=True) if given else None

    def _of_engine(self, call: ast.Call) -> Resuming | None:
        place, tag = _argument(call, "load_dir", 0), _argument(call, "tag", 1)
        if place is None or _loads_weights_alone(call):
            return None
        reaching, words = self._reaching(place)
        folder, named = self._place(reaching), self._best(self._reaching(tag)[0])
        switches = self._switches(call)
        if folder and (words & _SPLITS or folder == named):
            return Resuming(checkpoint=folder.long, switches=switches, loads=True)
        tag_option = named.long if named else ""
        saved = {option.name for option in self.saving}
        if folder and (folder.name not in saved or _says_loading(folder)):
            return Resuming(folder=folder.long, tag=tag_option, switches=switches, loads=True)
        written = folder is None and isinstance(place, ast.Constant) and isinstance(place.value, str)
        return Resuming(tag=tag_option, switches=switches, from_output=folder is not None or written, loads=True)

    def _saving(self) -> list[Option]:
        """The options that reach a call that saves."""
        calls = [
            call for name in ("save_checkpoint", "save_state") for call in self.callers.get(name, ())[:_MOST_CALLS]
        ]
        given = (_argument(call, name, 0) for call in calls for name in ("save_dir", "output_dir"))
        return [option for one in given for option in self._reaching(one)[0] if option.takes_value]

    # -- options ---------------------------------------------------------------------------------------------------

    def _reaching(self, node: ast.expr | None) -> tuple[list[Option], set[str]]:
        """The options whose values reach an expression, and the words met on the way."""
        found: dict[str, Option] = {}
        words, waiting, seen = set[str](), [node] if node is not None else [], set[str]()
        for _ in range(_MOST_STEPS):
            if not waiting:
                break
            for word in self._words(waiting.pop(0)):
                words.add(word)
                if word in self.options:
                    found[word] = self.options[word]
                if word not in seen:
                    seen.add(word)
                    waiting += self.bound.get(word, ())[:_MOST_STEPS]
        return list(found.values()), words

    @staticmethod
    def _best(options: Iterable[Option]) -> Option | None:
        """Of those that take a value, one whose name is about loading comes first."""
        takes = [option for option in options if option.takes_value]
        return next((option for option in takes if _says_loading(option)), takes[0] if takes else None)

    @classmethod
    def _place(cls, options: Iterable[Option]) -> Option | None:
        return cls._best(option for option in options if not option.number)

    def _switches(self, call: ast.Call) -> tuple[str, ...]:
        """The options without a value that an `if` around the call asks for, or one around its function's calls."""
        return tuple(self._asked_around(call, _CALLERS))

    def _asked_around(self, call: ast.Call, levels: int) -> dict[str, None]:
        found: dict[str, None] = {}
        child, node = call, self.parents.get(call)  # type: ast.AST, ast.AST | None
        while node is not None:
            if isinstance(node, ast.If | ast.IfExp) and child is not node.test and child not in self.otherwise:
                held = (self.options.get(word) for word in self._words(node.test) if not _negated(node.test))
                found |= {option.long: None for option in held if option and not option.takes_value}
            if isinstance(node, ast.FunctionDef) and levels:
                found |= self._asked_by_callers(node.name, levels - 1)
            child, node = node, self.parents.get(node)
        return found

    def _asked_by_callers(self, name: str, levels: int) -> dict[str, None]:
        """Once for each function and level: the callers' callers would be as many as the paths to it."""
        key = (name, levels)
        if key not in self._asked:
            self._asked[key] = {}
            for caller in self.callers.get(name, ()):
                self._asked[key] |= self._asked_around(caller, levels)
        return self._asked[key]

    def _words(self, node: ast.AST) -> list[str]:
        """Of an expression that may be asked for from many places."""
        if node not in self._read:
            self._read[node] = _words(node)
        return self._read[node]

    # -- without such a call, and what else is known -----------------------------------------------------------------

    def by_name(self) -> Resuming:
        """By the usual names, where another file loads: not where this one trains."""
        trains = any(isinstance(c.func, ast.Attribute) and _is_trainer(c.func) for c in self.calls)
        if self.by_trainer:
            return Resuming(ignores=True) if trains else Resuming(checkpoint=f"--{_FROM}")
        folder = "" if trains else self._named(_FOLDERS)
        return Resuming(folder=folder, tag=self._named(_TAGS) if folder else "")

    def _named(self, names: Iterable[str]) -> str:
        return next((self.options[name].long for name in names if name in self.options), "")

    def completed(self, way: Resuming) -> Resuming:
        """With the options that stand in the way."""
        saving = (one.long for one in self.saving if _names_folder(one) and not _says_loading(one))
        given = {way.checkpoint, way.folder, way.tag, *way.switches} - {""}
        excluded = [name for name in dict.fromkeys(self._excluded(given)) if name not in given]
        return replace(way, not_beside=tuple(excluded), saving=tuple(saving)[:1])

    def _excluded(self, given: set[str]) -> Iterator[str]:
        groups = {option.added_to for option in self.options.values() if option.long in given} & self.groups
        yield from (option.long for option in self.options.values() if option.added_to in groups)
        for terms in map(_refused, self.nodes):
            named = [self.options[word].long for term in terms for word in _words(term) if word in self.options]
            if given & set(named) and len(named) == len(terms):
                yield from named


def _refused(node: ast.AST) -> list[ast.expr]:
    """`if a is not None and b is not None: raise …`: what is refused together."""
    if not (isinstance(node, ast.If) and isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And)):
        return []
    ends = any(
        isinstance(one, ast.Raise | ast.Return)
        or (isinstance(one, ast.Expr) and called(one.value) in ("error", "exit"))
        for one in node.body
    )
    return node.test.values if ends and all(map(_is_given, node.test.values)) else []


def _is_trainer(called: ast.Attribute) -> bool:
    """`trainer.train`, not `model.train`."""
    return called.attr == _TRAINER and any("trainer" in word.lower() for word in _words(called.value))


def _is_given(test: ast.expr) -> bool:
    """`x`, `args.x` or `x is not None`."""
    if isinstance(test, ast.Compare):
        return len(test.ops) == 1 and isinstance(test.ops[0], ast.IsNot) and _is_given(test.left)
    return isinstance(test, ast.Name | ast.Attribute)


def _loads_weights_alone(call: ast.Call) -> bool:
    """deepspeed/runtime/engine.py: load_module_only, or without the optimizer's states: a start, and no resuming."""
    given = {word.arg: word.value.value for word in call.keywords if isinstance(word.value, ast.Constant)}
    return given.get("load_module_only") is True or given.get("load_optimizer_states") is False


def _otherwise(node: ast.If | ast.IfExp) -> list[ast.AST]:
    return list(node.orelse) if isinstance(node, ast.If) else [node.orelse]


def _negated(test: ast.expr) -> bool:
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _names_folder(option: Option) -> bool:
    return any(word in option.name.lower() for word in ("dir", "path", "save", "out", "folder", "ckpt", "checkpoint"))


def _says_loading(option: Option) -> bool:
    return any(word in option.name.lower() for word in ("load", "resum", "restore"))


# --- where names come from --------------------------------------------------------------------------------------------


def _options(
    calls: Iterable[ast.Call], functions: Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef]
) -> Iterator[Option]:
    """Of argparse and click; of a function that fire or typer calls."""
    for call in calls:
        yield from (*added(call), *added_to_click(call))
        owner = getattr(getattr(call.func, "value", None), "id", "")
        if _COMMANDS.get(owner) == called(call) and call.args and isinstance(call.args[0], ast.Name):
            function = functions.get(call.args[0].id)
            yield from added_by_function(function.args, dashes=owner == "typer") if function else ()


def _bindings(
    nodes: Iterable[ast.AST],
    calls: Iterable[ast.Call],
    functions: Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef],
) -> dict[str, list[ast.expr]]:
    """What each name was given: by assignments, and by calls of the file's own functions."""
    bound: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for word in (word for target in targets for word in _names_of(target)):
                bound.setdefault(word, []).append(node.value)
    for call in calls:
        if function := functions.get(called(call)):
            names = (one.arg for one in function.args.args)
            pairs = [*zip(names, call.args, strict=False), *((k.arg, k.value) for k in call.keywords if k.arg)]
            for name, value in pairs:
                bound.setdefault(str(name), []).append(value)
    return bound


def _names_of(target: ast.expr) -> list[str]:
    if isinstance(target, ast.Tuple | ast.List):
        return [name for one in target.elts for name in _names_of(one)]
    return [target.id] if isinstance(target, ast.Name) else []


def _words(node: ast.AST) -> list[str]:
    """Names, attributes and keys (`args["resume"]`) of an expression."""
    found = []
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            found.append(one.id)
        elif isinstance(one, ast.Attribute):
            found.append(one.attr)
        elif isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Constant):
            found.append(str(one.slice.value))
    return found


def _argument(call: ast.Call, name: str, place: int) -> ast.expr | None:
    named = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    if named is not None:
        return named
    return call.args[place] if place < len(call.args) and not isinstance(call.args[place], ast.Starred) else None
