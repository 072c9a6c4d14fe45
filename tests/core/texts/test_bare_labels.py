"""A page's labels, hints, buttons and messages stand in the catalogue, not in the code of the page."""

import ast

from tests.core.texts.test_languages import left_in_english
from tests.core.texts.test_texts import trees

NAMED = {"label", "placeholder", "info", "title", "aria-label"}
FIRST = {"gr.Button", "gr.UploadButton", "gr.Markdown", "gr.Accordion", "gr.Tab", "gr.Error", "gr.Info", "gr.Warning"}


def bare_in(tree: ast.Module) -> list[tuple[int, str]]:
    """The labels and messages that stand in the code as words."""
    found = []
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
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
