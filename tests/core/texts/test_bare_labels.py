"""What people read stands in the catalogue, not in the code: a page's labels, hints, buttons and messages, and every
sentence that a command prints, an error says or a function returns."""

import ast
import re

import pytest

from tests.core.texts.test_coded import prose_in
from tests.core.texts.test_languages import left_in_english
from tests.core.texts.test_texts import ROOT, trees
from tests.support.sources import nodes_of

NAMED = {"label", "placeholder", "info", "title", "aria-label"}
FIRST = {"gr.Button", "gr.UploadButton", "gr.Markdown", "gr.Accordion", "gr.Tab", "gr.Warning", "refusal", "tell"}


def bare_in(tree: ast.Module) -> list[tuple[int, str]]:
    """The labels and messages that stand in the code as words."""
    found = []
    for call in (node for node in nodes_of(tree) if isinstance(node, ast.Call)):
        given = [word.value for word in call.keywords if word.arg in NAMED]
        given += call.args[:1] if ast.unparse(call.func) in FIRST else []
        texts = [ast.unparse(one) for one in given if isinstance(one, ast.JoinedStr)]
        texts += [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        found += [
            (call.lineno, text)
            for text in texts
            if text != "dsgui" and left_in_english(text) and not text.endswith((".json", "'"))
        ]
    return found


def test_no_label_stands_in_the_code_of_a_page() -> None:
    pages = {path: tree for path, tree in trees().items() if "ui" in path.parts}
    bare = {path.name: found for path, tree in pages.items() if (found := bare_in(tree))}
    assert bare == {}


def test_a_label_in_the_code_is_seen() -> None:
    source = "gr.Button('Launch now', size='sm')\ngr.Textbox('', label='Path of a file')\ngr.Button(words('a', 'b'))"
    assert bare_in(ast.parse(source)) == [(1, "Launch now"), (2, "Path of a file")]


# Where English stands that nobody reads on a page or a terminal of dsgui, or that has its translation elsewhere.
EXCUSED = {
    "core/diagnosis/": "patterns for others' output, and where their words are from",
    "core/logs/": "patterns for others' output",
    "core/rules/": "where a rule's knowledge is from; its words are in the catalogue",
    "core/launch/run_fields.py": "declared in English: test_every_input_of_a_launch_is_named",
    "core/launch/recipes.py": "a recipe's own words",
    "core/launch/log_folders.py": "stands for a checkpoint",
    "core/launch/places/": "declared in English: test_every_input_of_a_launch_is_named",
    "core/launch/plan.py": "declared in English: test_every_input_of_a_launch_is_named",
    "core/launch/field.py": "names of kinds and parts, for who writes fields",
    "core/config/schema.py": "for who writes the schema",
    "core/config/compare.py": "codes",
    "core/metrics/": "sent to other machines without texts, and notes in supervisor.log",
    "core/memory/fits/overhead.py": "where a constant is from",
    "core/imported/launchers.py": "names of commands",
    "core/preflight/": "argparse's and the Trainer's words; test_coded.py reads the rest",
    "core/machine/": "commands to type, and where a check's knowledge is from; test_coded.py reads the rest",
    "core/oracle/refusals.py": "DeepSpeed's words",
    "core/runs/alerts.py": "names of what is watched",
    "core/runs/report_page.py": "HTML; test_a_report_is_written_in_the_language_spoken",
    "core/script/": "argparse's words, options of transformers",
    "shell/afterwards/weights_worker.py": "a program of the training environment: its words are a job's output",
    "shell/launch/ask_machines.py": "a program",
    "shell/launch/other_machines.py": "a program",
    "shell/launch/follow_job.py": "part of a run's output, which is read by patterns",
    "shell/logs/": "supervisor.log, and a mark in a run's output",
    "shell/memory/": "why a function is patched, for who reads the code",
    "shell/metrics/": "programs that are sent to other machines",
    "shell/oracle/oracle_trainer.py": "in place of DeepSpeed's own error",
    "shell/oracle/oracle_trial.py": "in place of DeepSpeed's own error",
    "shell/runs/run_list.py": "a thread's name",
    "supervise.py": "supervisor.log, and the options of a program that nobody calls by hand",
    "ui/access/connections.py": "errors for httptools alone",
    "ui/access/guard.py": "HTML and headers",
    "ui/access/server_log.py": "the server's own messages, which uvicorn writes in English",
    "ui/site/by_language.py": "for who writes a page",
    "ui/site/pages.py": "JavaScript",
    "ui/launch/previewed.py": "JavaScript",
    "ui/common/embedded.py": "JavaScript",
}
# No sentence: markup, code, types, headers, patterns, a call of a program, accelerate's and Python's words.
CODE = re.compile(
    r"\s*<|.*</|.*\\[a-zA-Z]|.*(?:\(\?|\.\*|\[\^|\|)|\w+\[|from [\w.]+ import|import \w+\Z|with [\w.]+\("
    r"|for [\w, ]+ in \w+:"
    r"|[\w, ]+ = [\w.]+\(|nvalid job id"
    r"|(?:text/html|application/json); |\{x+: |attachment; |x -m pip|x says x\Z|cpu model\Z|model name\Z|@media"
    r"|`--mixed_precision` arg|Please specify the ZeRO|object has no attribute|- ds x=|(?:HF|DeepSpeed) default\Z"
    r"|not tried\Z",
    re.DOTALL,
)


def sentences_in(tree: ast.Module) -> list[tuple[int, str]]:
    """Without what stands by itself, as below an attribute that it explains."""
    alone = {
        node.value.lineno
        for node in nodes_of(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return [(line, text) for line, text in prose_in(tree) if line not in alone and not CODE.match(text)]


def test_no_sentence_that_people_read_stands_in_the_code() -> None:
    inside = {path.relative_to(ROOT / "dsgui").as_posix(): tree for path, tree in trees().items()}
    found = {place: sentences_in(tree) for place, tree in inside.items() if not place.startswith(tuple(EXCUSED))}
    assert {place: told for place, told in found.items() if told} == {}


def test_an_excuse_has_something_to_excuse() -> None:
    inside = {path.relative_to(ROOT / "dsgui").as_posix(): tree for path, tree in trees().items()}
    told = [place for place, tree in inside.items() if prose_in(tree)]
    assert [excuse for excuse in EXCUSED if not any(place.startswith(excuse) for place in told)] == []


@pytest.mark.parametrize(
    "source",
    [
        "raise TokenError(f'{path} can not be read. Correct it.')",
        "print(f'dsgui: no rule {one} here', file=sys.stderr)",
        "parser.add_argument('--port', help='port to listen on')",
        "def f():\n return f'{name} has not answered since {date}'",
        "yield f'the folder is {kind}, where a file was expected'",
    ],
)
def test_a_sentence_in_the_code_is_seen(source: str) -> None:
    assert len(sentences_in(ast.parse(source))) == 1


@pytest.mark.parametrize(
    "source", ["x: 'dict[str, object]'", "re.compile(r'no space left (\\d+)')", "'<p>Read it now</p>'"]
)
def test_code_is_no_sentence(source: str) -> None:
    assert sentences_in(ast.parse(source)) == []
