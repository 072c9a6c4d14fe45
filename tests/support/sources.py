"""The code that tests read, as trees: each file is parsed once a process, and each tree walked once."""

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """The module in a file. Nobody changes it."""
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes_of(tree: ast.AST) -> tuple[ast.AST, ...]:
    """All that `ast.walk` finds, in its order."""
    return tuple(ast.walk(tree))
