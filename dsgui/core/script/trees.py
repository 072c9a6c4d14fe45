"""Python source as a tree. CPython 3.11 and older count the depth of what is being parsed once for all threads: a page
that parses while another does would fail with `SystemError: AST constructor recursion depth mismatch` (cpython issue
106905). One parses at a time."""

import ast
from threading import Lock

_ONE_AT_A_TIME = Lock()
_MOST_OF_DATA = 2000  # nodes
_DATA = (ast.List, ast.Tuple, ast.Set, ast.Dict)
_OF_DATA = (*_DATA, ast.Constant, ast.UnaryOp, ast.unaryop, ast.expr_context)


def module_tree(source: str) -> ast.Module:
    """Raises what `ast.parse` does: `SyntaxError`, `ValueError`, `RecursionError`, `MemoryError`."""
    with _ONE_AT_A_TIME:
        return ast.parse(source)


def expression_tree(source: str) -> ast.expr:
    """As `module_tree`, of one expression."""
    with _ONE_AT_A_TIME:
        return ast.parse(source, mode="eval").body


def as_written(node: ast.AST) -> str:
    """As Python writes it; "…" for what is deeper than calls go."""
    try:
        return ast.unparse(node)
    except RecursionError:
        return "…"


def without_data(tree: ast.Module) -> ast.Module:
    """The same tree, without what long tables and lists hold that have nothing but constants."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _DATA) and _is_long(node):
            unknown = ast.copy_location(ast.Name("UNKNOWN", ast.Load()), node)
            if isinstance(node, ast.Dict):
                node.keys, node.values = [None], [unknown]
            else:
                node.elts = [ast.copy_location(ast.Starred(unknown, ast.Load()), node)]
        else:
            waiting += ast.iter_child_nodes(node)
    return tree


def _is_long(data: ast.expr) -> bool:
    waiting: list[ast.AST] = [data]
    for count in range(_MOST_OF_DATA):
        if count == len(waiting) or not isinstance(waiting[count], _OF_DATA):
            return False
        waiting += ast.iter_child_nodes(waiting[count])
    return all(isinstance(one, _OF_DATA) for one in waiting)
