"""Sources are parsed in many threads at once: pages, and what looks at scripts for them."""

import ast
import concurrent.futures
import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dsgui.core.script.trees import expression_tree, module_tree


@pytest.fixture
def eager() -> Iterator[None]:
    """Threads take turns, and memory is collected, as often as they can: in the middle of what is being parsed."""
    switch, thresholds = sys.getswitchinterval(), gc.get_threshold()
    turn = lambda *_: sum(range(200))  # noqa: E731
    gc.callbacks.append(turn)
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    yield
    gc.set_threshold(*thresholds)
    sys.setswitchinterval(switch)
    gc.callbacks.remove(turn)


def test_threads_that_parse_at_once_get_their_trees(eager: None) -> None:
    library = sorted(Path(ast.__file__).parent.glob("*.py"), key=lambda path: -path.stat().st_size)
    sources = [path.read_text("utf-8") for path in library[:12]]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        trees = list(pool.map(module_tree, sources))
    assert all(isinstance(tree, ast.Module) for tree in trees)


def test_an_expression_is_parsed_as_one() -> None:
    assert ast.unparse(expression_tree("a | b")) == "a | b"
