"""What checks and errors say stands in the catalogue: no sentence of theirs is in the code, and each is said by its
code, with its places, where it can be held to the text."""

import ast
import re

from dsgui.core import errors
from dsgui.core.texts.english import TEXTS, verdict_launch, verdict_machine, verdict_room
from tests.core.texts.test_texts import MAKERS, ROOT, all_said, literals, said_in, trees
from tests.support.cases import each_case
from tests.support.sources import nodes_of

ERRORS = frozenset(
    name for name, one in vars(errors).items() if isinstance(one, type) and one.__module__ == errors.__name__
)
# Where what is said has codes alone.
WITH_CODES = tuple(
    path.relative_to(ROOT / "dsgui").as_posix()
    for folder, names in (
        ("core/machine", ("*_checks.py",)),
        ("core/preflight", ("*.py",)),
        ("core/launch", ("handing.py",)),
        ("core/script", ("gone_options.py", "named_files.py", "taken.py", "script.py", "script_options.py")),
    )
    for name in names
    for path in sorted((ROOT / "dsgui" / folder).glob(name))
    if path.name != "__init__.py"
)
# Where errors do too.
RAISING = ("core/launch", "core/script", "core/logs/patterns.py", "core/config/arguments.py", "shell/launch")
RAISING += ("commands", "runs", "shell/runs", "shell/access/places.py", "shell/machine")
# Words of others, commands, and where a check's knowledge is from.
THEIRS = ("--", "argument ", "unrecognized arguments: ", "DeepSpeed Zero-3 is not compatible with ", "sudo ", "docker ")
THEIRS += (
    "for host in ",
    "Could not consume arg: ",
    "x is not a valid ",
    "x: invalid ",
    "x -m pip install ",
    "pip install ",
    "man 7 ",
    "deepspeed/",
    "transformers/",
)
PROSE = re.compile(r"[A-Za-z]{2,}[,.:;]? +[a-z]{2,}")
ONE_KIND = tuple(name for name, (kind, _) in MAKERS.items() if kind in ("verdicts", "verdict_advice", "errors"))
STRICT = ("verdicts", "verdict_advice", "handing", "offers", "errors", "resuming")


def test_what_a_check_says_has_its_code_and_its_places_where_it_is_said() -> None:
    """No code is put together, and no place is filled from elsewhere: a text, its code and its places can be held to
    each other without running any check."""
    unseen = [(where, kind, code) for where, kind, code, given in all_said() if kind in STRICT and given is None]
    assert unseen == []
    named = {(kind, code) for _, kind, code, _ in all_said()}
    assert [(kind, code) for kind in STRICT for code in TEXTS[kind] if (kind, code) not in named] == []
    built = [
        (path.name, node.lineno)
        for path, tree in trees().items()
        for node in nodes_of(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ONE_KIND and not literals(node.args[0])
    ]
    assert built == []


def prose_in(tree: ast.Module) -> list[tuple[int, str]]:
    """The sentences and parts of sentences that stand in the code, without docstrings."""
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef)
    told = {id(node.body[0].value) for node in nodes_of(tree)
            if isinstance(node, holders) and node.body and isinstance(node.body[0], ast.Expr)}  # fmt: skip
    told |= {id(part) for node in nodes_of(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    texts = ((node, prose_of(node)) for node in nodes_of(tree) if isinstance(node, ast.Constant | ast.JoinedStr))
    return [(node.lineno, text) for node, text in texts if id(node) not in told and PROSE.search(text)]


def prose_of(node: ast.Constant | ast.JoinedStr) -> str:
    """Its text; bytes are none."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    values = (one.value if isinstance(one, ast.Constant) else "x" for one in parts)
    return "".join(str(value) for value in values if not isinstance(value, bytes))


@each_case("place", WITH_CODES)
def test_no_sentence_stands_in_the_code_of_a_check(place: str) -> None:
    found = prose_in(trees()[ROOT / "dsgui" / place])
    assert [(line, text) for line, text in found if not text.startswith(THEIRS)] == []


def raised_in_words(tree: ast.Module) -> list[int]:
    """The lines where an error of ours is given a text that stands there."""
    calls = [node.exc for node in nodes_of(tree) if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)]
    ours = [call for call in calls if ast.unparse(call.func) in ERRORS and call.args]
    return [call.lineno for call in ours if isinstance(call.args[0], ast.Constant | ast.JoinedStr)]


def test_errors_of_a_launch_have_codes() -> None:
    for place in RAISING:
        inside = [path for path in trees() if path.relative_to(ROOT / "dsgui").as_posix().startswith(place)]
        assert inside, place
        assert {path.name: lines for path in inside if (lines := raised_in_words(trees()[path]))} == {}


def test_an_error_in_words_is_seen() -> None:
    source = "raise PlanError('Give it.')\nraise RunError(f'{x} is not.') from e\nraise PlanError(wrong('a.b'))"
    assert raised_in_words(ast.parse(source + "\nraise ValueError('of Python')")) == [1, 2]


def test_a_sentence_in_the_code_is_seen() -> None:
    source = (
        """'A docstring is one.'\nok('given')\nok(as_told(f'{size} may be locked'))\nproblem('There is no disk.')"""
    )
    assert sorted(prose_in(ast.parse(source))) == [(3, "x may be locked"), (4, "There is no disk.")]


def test_places_that_come_in_a_dict_are_seen() -> None:
    """And what of a dict is not known where it stands."""
    for source, given in (
        ("def f():\n given = {'a': x}\n saw('c.one', b=y, **given)", {"a", "b"}),
        ("def f():\n n, given = 1, {'a': x}\n given |= {'d': x}\n saw('c.one', **given)", {"a", "d"}),
        ("def f():\n given = {'a': x}\n given = {'e': x}\n saw('c.one', **given)", {"e"}),
        ("def f(**given):\n saw('c.one', **given)", None),
        ("def f():\n given = made()\n saw('c.one', **given)", None),
        ("given = {'a': 1}\ndef f():\n saw('c.one', **given)", None),
    ):
        assert said_in("x", ast.parse(source)) == [("x", "verdicts", "c.one", given)]


def test_no_code_stands_in_two_modules_of_a_catalogue() -> None:
    """The second would take the first one's place."""
    parts = {
        "verdicts": (verdict_machine.MACHINE_VERDICTS, verdict_launch.LAUNCH_VERDICTS, verdict_room.ROOM_VERDICTS),
        "verdict_advice": (verdict_machine.MACHINE_ADVICE, verdict_launch.LAUNCH_ADVICE, verdict_room.ROOM_ADVICE),
    }
    for kind, modules in parts.items():
        assert sorted(code for texts in modules for code in texts) == sorted(TEXTS[kind])
