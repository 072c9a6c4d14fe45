"""Texts are looked up by code, and the browser has the same ones."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from types import MappingProxyType

import pytest

from dsgui.core.launch.run_fields import FIELDS
from dsgui.core.launch.state import RunState
from dsgui.core.logs.phases import FIRST_VALUES, PREPARATIONS, SLURM_QUEUE, STARTS
from dsgui.core.metrics.chart_table import CHARTS, ENDINGS, LOGGED, READINGS, name_of, place_of
from dsgui.core.metrics.curves import Series
from dsgui.core.texts.chinese import TEXTS as CHINESE
from dsgui.core.texts.english import TEXTS
from dsgui.core.texts.english.pages import PAGES
from dsgui.core.texts.languages import LANGUAGES
from dsgui.core.texts.saying import said
from scripts.browser_catalogue import catalogue, page
from tests.support.cases import each_case
from tests.support.sources import nodes_of, tree_of

Use = tuple[str, str, str, set[str | None] | None]
CODE = re.compile(r"(?:[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)?|DS\d{3}(?:\.[a-z][a-z0-9_]*)?)\Z")  # about … . what
NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
ROOT = Path(__file__).parents[3]
# Who says a text → its kind, and what else than places it takes by name.
MAKERS = {
    "said": ("", ()),
    "words": ("", ()),
    "Fix.of": ("fixes", ()),
    "_changed": ("remedies", ("options",)),
    "_title": ("diagnosis_titles", ()),
    "_meaning": ("diagnosis_meanings", ()),
    "_advice": ("diagnosis_advice", ()),
    "_part": ("diagnosis_parts", ()),
    "_said": ("reasons", ()),
    "_reasons": ("reasons", ()),
    "saw": ("verdicts", ()),
    "wrong": ("errors", ()),
    "advise": ("verdict_advice", ()),
    "phrase": ("parts", ()),
}
# What a page puts before a word: of a column, what is edited, what was cloned.
PREFIXES = ("phase_", "column_", "edit_", "hint_", "clone_")
SUFFIXES = (
    "_below",
    "_first",
    "_in_file",
    "_of",
    "_on",
    "s",
    "_of_training",
    "_one",
    "_many",
    "_title",
    "_advice",
)  # of codes that come in pairs
# By what is called so elsewhere: a state, a check's id, a component of an answer, a note of the dry run's worker, a
# refusal by the guard …
LOOKED_UP = (*PAGES, "access", "states", "phases", "marks", "checks", "memory_parts", "memory_about", "memory_moments")
LOOKED_UP += ("memory_places", "memory_sources", "memory_fits", "memory_notes", "parts", "judges", "arguments")
LOOKED_UP += ("memory_when", "memory_rehearsal", "sampling", "clocks", "files", "oracle", "yaml", "converting", "try")
LOOKED_UP += ("decoding", "learn_panel", "learn_numbers")
IN_THE_BROWSER = ("memory_rehearsal", *PAGES)  # kinds that JavaScript says as well
LOOKED_UP += ("diagnosis_titles", "diagnosis_meanings", "diagnosis_advice")  # test_diagnosis_texts.py
ON_PAGES = (*PAGES, "commands")
OF_FINDINGS = ("findings", "advice", "rule_titles", "rule_explanations")  # test_finding_texts.py
OF_TUTORIALS = ("learn", "learn_panel", "learn_tables")  # tests/core/learn/test_drawer_texts.py


def literals(node: ast.expr, named: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """The texts that an expression can be, where they stand there or under a name of the module."""
    if isinstance(node, ast.IfExp):
        return literals(node.body, named) + literals(node.orelse, named)
    if isinstance(node, ast.Name):
        return [named[node.id]] if node.id in named else []
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def named_in(tree: ast.Module) -> dict[str, str]:
    """The texts that have a name in the module."""
    return {
        target.id: text
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        for text in literals(node.value)
        if isinstance(target, ast.Name)
    }


def filled_by(name: str, line: int, around: ast.AST) -> set[str | None]:
    """The keys of the dict that `name` is in a line of a function; None among them where they don't stand there."""
    keys: set[str | None] = {None}
    changes = [node for node in ast.walk(around) if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)]
    for node in sorted(changes, key=lambda one: one.lineno):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if node.lineno >= line or not any(isinstance(one, ast.Name) and one.id == name for one in in_tuples(targets)):
            continue
        value = value_for(name, targets[0], node.value)
        if isinstance(value, ast.Dict):
            own = {key.value if isinstance(key, ast.Constant) else None for key in value.keys}
            keys = keys | own if isinstance(node, ast.AugAssign) else own
        else:
            keys = {None}
    return keys


def in_tuples(targets: list[ast.expr]) -> list[ast.expr]:
    return [one for target in targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]


def value_for(name: str, target: ast.expr, value: ast.expr | None) -> ast.expr | None:
    """What `name` becomes in `a, name = 1, {…}`."""
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
        return value
    return next(
        two for one, two in zip(target.elts, value.elts, strict=True) if isinstance(one, ast.Name) and one.id == name
    )


def places_given(call: ast.Call, around: ast.AST) -> set[str | None]:
    found: set[str | None] = set()
    for word in call.keywords:
        if word.arg is not None:
            found.add(word.arg)
        elif isinstance(word.value, ast.Name):
            found |= filled_by(word.value.id, call.lineno, around)
        else:
            found.add(None)
    return found


def functions_in(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Every node with the innermost function, or the module, around it."""
    waiting: list[tuple[ast.AST, ast.AST]] = [(tree, tree)]
    while waiting:
        node, around = waiting.pop()
        yield node, around
        inner = node if isinstance(node, ast.FunctionDef) else around
        waiting += [(child, inner) for child in reversed(list(ast.iter_child_nodes(node)))]


def makings(tree: ast.Module) -> Iterator[tuple[str, ast.Call, ast.AST]]:
    """The calls that make a text, by which name, and the function around each."""
    for node, around in functions_in(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            maker = ast.unparse(node.func)
            if maker in MAKERS:
                yield maker, node, around


def said_in(where: str, tree: ast.Module) -> list[Use]:
    """Every text that is said by a code that stands there: module, kind, code, and the places that are filled (None
    where they don't stand there)."""
    found: list[Use] = []
    named = named_in(tree)
    for maker, node, around in makings(tree):
        kind, besides = MAKERS[maker]
        kinds = [kind] if kind else literals(node.args[0], named)
        codes = literals(node.args[0 if kind else 1], named)
        names = places_given(node, around)
        given = None if None in names else {name for name in names if name not in besides}
        found += [(where, one, code, given) for one in kinds for code in codes]
    return found


@cache
def trees() -> dict[Path, ast.Module]:
    paths = sorted(path for path in (ROOT / "dsgui").rglob("*.py") if "texts" not in path.parts)
    return {path: tree_of(path) for path in paths}


@cache
def words_in(path: Path) -> set[str]:
    nodes = nodes_of(trees()[path])
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


@cache
def browser_words() -> set[str]:
    """What stands between quotes in JavaScript that says texts, whole words."""
    scripts = (
        path for path in (ROOT / "dsgui" / "ui" / "static").rglob("*.js") if not path.name.startswith("catalogue.")
    )
    return {
        word
        for path in scripts
        for word in re.findall(r"[\"`']([a-z0-9_]{1,40})(?:[\"`']|\$\{)", path.read_text("utf-8"))
    }


def page_words(codes: Iterable[str]) -> set[str]:
    """Of these codes those that stand in the code of a page or a command, whole or as a beginning with what it is
    completed by."""
    written = browser_words().union(*map(words_in, trees()))
    begun = tuple(one for one in written if one[-1:] == "_")
    return {code for code in codes if code in written or code.startswith(begun)}


def kinds_in(tree: ast.Module) -> set[str]:
    """The kinds that a module says texts of."""
    made = list(makings(tree))
    fixed = {MAKERS[maker][0] for maker, _, _ in made}
    said_here = [node.args[0] for maker, node, _ in made if maker in ("said", "words")]
    return fixed | {kind for node in said_here for kind in literals(node, named_in(tree))}


@pytest.mark.parametrize("tag", LANGUAGES)
def test_the_browser_has_the_same_texts_and_charts(tag: str) -> None:
    assert page(tag).read_text("utf-8") == catalogue(tag), "make docs writes it"


def test_codes_are_codes_and_places_have_names() -> None:
    for kind, texts in TEXTS.items():
        assert all(CODE.match(code) for code in (kind, *texts))
        places = [name for text in texts.values() for _, name, _, _ in Formatter().parse(text) if name is not None]
        assert all(NAME.match(name) for name in places)


@cache
def all_said() -> tuple[Use, ...]:
    """Every text that is said by its code."""
    return tuple(use for path, tree in trees().items() for use in said_in(path.name, tree))


def test_every_code_that_is_said_is_there_and_is_given_what_it_leaves_open() -> None:
    wrong, seen = [], 0
    for where, kind, code, given in all_said():
        text = TEXTS.get(kind, {}).get(code)
        places = None if text is None else {name for _, name, _, _ in Formatter().parse(text) if name is not None}
        seen += 1
        if places is None or (given is not None and given != places):
            wrong.append((where, kind, code, given, places))
    assert wrong == []
    assert seen > 100


def beginnings(codes: set[str], ends: Iterable[str]) -> set[str]:
    """The codes, and what they are completions of."""
    return codes | {code.removesuffix(end) for code in codes for end in ends}


def stands(code: str, words: set[str], whole: set[str], browser: bool) -> bool:
    """Whether a code is one of the words, as it is or completed by a suffix; in the browser by a prefix as well."""
    short = beginnings({code}, SUFFIXES)
    short = beginnings(short, ("_about", "_keys", "_run")) if browser else short
    bare = short | {one.removeprefix(prefix) for one in short for prefix in PREFIXES if browser}
    return not bare.isdisjoint(words) or not short.isdisjoint(whole)


def test_every_code_of_the_catalogue_is_said() -> None:
    """By its name in the call, or by a word in a module that says texts of its kind: whole, or to be completed with
    one of the prefixes or suffixes."""
    named = {(kind, code) for _, kind, code, _ in all_said()}
    kinds_of = {path: kinds_in(tree) for path, tree in trees().items()}
    idle = []
    for kind, texts in TEXTS.items():
        if kind in (*OF_FINDINGS, *OF_TUTORIALS):
            continue
        words = set().union(*(words_in(path) for path in trees() if kind in LOOKED_UP or kind in kinds_of[path]))
        words |= {word.replace("-", "_") for word in words}  # a signature's id
        words |= browser_words() if kind in IN_THE_BROWSER else set()
        whole = page_words(texts) if kind in ON_PAGES else set()
        unsaid = [code for code in texts if (kind, code) not in named]
        idle += [(kind, code) for code in unsaid if not stands(code, words, whole, kind in IN_THE_BROWSER)]
    # core/texts says the first two itself, argparse the third; an origin is its enum's name, a refusal errno's.
    assert [one for one in idle if one[0] not in ("plain", "lists", "argparse", "origins", "refusals")] == []


def test_a_code_that_nobody_knows_and_a_place_that_nobody_fills_are_seen() -> None:
    source = "said('fixes', 'none'); Fix.of('rename', change); _changed('stage', stage='2', options=())"
    assert said_in("x", ast.parse(source)) == [
        ("x", "fixes", "none", set()),
        ("x", "fixes", "rename", set()),
        ("x", "remedies", "stage", {"stage"}),
    ]


def test_every_state_and_phase_has_its_text() -> None:
    assert set(TEXTS["states"]) == {state.value for state in RunState}
    assert set(TEXTS["phases"]) == {*STARTS, SLURM_QUEUE, FIRST_VALUES, "training", "evaluating"} | PREPARATIONS


def test_a_text_that_is_not_there_or_lacks_a_word_is_noticed_where_it_is_said() -> None:
    assert str(said("alerts", "nan", name="loss")) == "loss is NaN."
    for wrong in (lambda: said("alerts", "none"), lambda: said("alerts", "nan")):
        with pytest.raises(KeyError):
            wrong()


def test_every_curve_of_the_table_has_its_chart() -> None:
    places = (*LOGGED.values(), *ENDINGS.values(), *READINGS.values())
    assert {place.chart for place in places} <= set(CHARTS)


@each_case(
    ("series", "chart", "name"),
    [
        (Series("lm_loss", rank=3), "loss", "lm_loss (rank 3)"),
        (Series("eval_loss", "eval"), "loss", "eval"),
        (Series("eval_exact_match", "eval"), "evaluation", "exact match"),
        (Series("eval_runtime", "eval"), None, ""),
        (Series("eval_num_tokens", "eval"), None, ""),  # TRL counts on: no score beside an accuracy
        (Series("train_runtime", "final"), None, ""),
        (Series("fwd_ms"), "step_times", "fwd ms"),
        (Series("gpu1.run_bytes", "sample", node="b"), "gpu_memory", "b: GPU 1, this run"),
        (Series("host_used_bytes", "sample"), "host_memory", "host, all processes"),
        (Series("gpu0.total_bytes", "sample"), None, ""),
        (Series("lossless"), None, ""),
    ],
)
def test_a_curve_is_drawn_where_the_page_draws_it(series: Series, chart: str | None, name: str) -> None:
    """As tests/js/metrics/charts.test.js has it."""
    place = place_of(series)
    assert (place and place.chart) == chart
    assert place is None or name_of(series, place) == name


def test_no_text_ends_in_an_ellipsis_and_a_full_stop() -> None:
    """A button that is called so, as Browse…, stands before the end of what names it."""
    told = [text for texts in (*TEXTS.values(), *CHINESE.values()) for text in texts.values()]
    assert [text for text in (*told, *(field.help for field in FIELDS)) if _ends_twice(text)] == []
    assert _ends_twice("Type its path, or use Browse….")


def _ends_twice(text: str) -> bool:
    return bool(re.search(r"…[”\"]?[.。]", text))
