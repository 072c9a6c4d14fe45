"""Parts hand each other codes: nothing compares or takes apart a sentence of ours (docs/structure.md, room `texts`).

A sentence is told by its look: words with a blank between them. What others say (DeepSpeed, Python, Slurm, the kernel)
may be matched: it is listed here, with whose it is."""

import ast
import re
from pathlib import Path

from tests.support.cases import each_case
from tests.support.sources import nodes_of, tree_of

ROOT = Path(__file__).parents[2]
TESTS = frozenset(
    {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "find", "index"}
)
PROSE = re.compile(r"[A-Za-z]{2,}[,.:;]? +[a-z]{2,}|\A[A-Z][a-z]+ |\A, [a-z]{2,}")
SCRIPT = re.compile(
    r"""(?:\.(?:startsWith|endsWith|includes|indexOf|match|search)\(|[!=]==\s*)["'`/]([^"'`]*)|/([^/\n]+)/[a-z]*\.test\("""
)
THEIRS = {
    "This example": "transformers",
    " is required": "transformers",
    ", release ": "nvcc",
    "model name": "the kernel",
    "cpu model": "the kernel",
    "sbatch: error: ": "Slurm",
    "nvalid job id": "Slurm",
    "urrent state": "DeepSpeed",
    "Warning: ": "Python",
    "len(sys.argv) == 2": "a script’s source",
    " batches |": "PyTorch’s examples",
    "| epoch ": "fairseq",
    "epoch ": "fairseq",
    '  File "': "Python",
}
KEYS = {"Enter", "Escape", "Tab"}  # as a browser names them


LITERALS = (ast.Constant, ast.Tuple, ast.Set, ast.List)


def constants(node):
    return [one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def compared(tree):
    """(line, text) of each text that something is compared with or cut by."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Compare):
            sides = [
                one for one in (node.left, *node.comparators) if isinstance(one, ast.Constant | ast.Tuple | ast.Set)
            ]
            yield from ((node.lineno, text) for side in sides for text in constants(side))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TESTS:
            yield from ((node.lineno, text) for one in node.args for text in constants(one))
        elif isinstance(node, ast.MatchValue):
            yield from ((node.lineno, text) for text in constants(node))


def of_ours(tree):
    return [(line, text) for line, text in compared(tree) if PROSE.search(text) and text not in THEIRS]


def in_script(source):
    """(line, text) of each text of ours that JavaScript compares or searches."""
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith(("//", "*", "/*")):
            continue
        for one, other in SCRIPT.findall(line):
            text = one or other
            if text in KEYS:
                continue
            if PROSE.search(text) or re.fullmatch(r"[A-Z][a-z]+", text) or re.search(r"[a-zN]{3,}\|[a-z]{3,}", text):
                yield number, text


def modules():
    return sorted((ROOT / "dsgui").rglob("*.py"))


@each_case("path", modules(), ids=lambda path: path.relative_to(ROOT / "dsgui").as_posix())
def test_no_sentence_of_ours_is_compared(path):
    assert of_ours(tree_of(path)) == []


@each_case("path", sorted((ROOT / "dsgui/ui/static").rglob("*.js")), ids=lambda path: path.name)
def test_the_browser_compares_no_sentence(path):
    assert list(in_script(path.read_text("utf-8"))) == []


def test_what_was_there_is_seen():
    """Each was in the code once."""
    for source in (
        'headline.startswith("Opened it")',
        'answer.summary.partition("; not tested")',
        'x = [n for n in f if ", where a file was expected" in n]',
        'title.removeprefix("This machine: ")',
        'expected.removesuffix(", or “auto”")',
        'phase == "waiting in Slurm’s queue"',
    ):
        assert of_ours(ast.parse(source)), source
    for source in (
        "if (live || /NaN|infinit/.test(event.text)) show();",
        'if (delta.phase.startsWith("waiting in Slurm")) return "";',
        'chart.set(lines, chart.title === "Loss" ? message : "");',
        'if (chart === "GPU memory") return 1;',
    ):
        assert list(in_script(source)), source


def test_codes_and_names_are_no_sentences():
    codes = 'kind == "eval" and name.startswith("gpu.") and stop in ("not_tried", "-")'
    assert of_ours(ast.parse(codes)) == []
    assert list(in_script('if (event.kind === "calm" && name.endsWith("_ms")) return;')) == []


def test_what_is_said_to_be_others_words_is_matched_somewhere():
    met = {text for path in modules() for _, text in compared(tree_of(path))}
    assert set(THEIRS) <= met
