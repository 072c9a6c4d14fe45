"""Python source as a tree. CPython 3.11 and older count the depth of what is being parsed once for all threads: a page
that parses while another does would fail with `SystemError: AST constructor recursion depth mismatch` (cpython issue
106905). One parses at a time."""

import ast
from threading import Lock

_ONE_AT_A_TIME = Lock()


def module_tree(source: str) -> ast.Module:
    """Raises what `ast.parse` does: `SyntaxError`, `ValueError`, `RecursionError`, `MemoryError`."""
    with _ONE_AT_A_TIME:
        return ast.parse(source)


def expression_tree(source: str) -> ast.expr:
    """As `module_tree`, of one expression."""
    with _ONE_AT_A_TIME:
        return ast.parse(source, mode="eval").body
