"""What a file imports as soon as it runs: in which condition, try or function it imports more does not count."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dsgui.core.script.declared import dotted_name


@dataclass(frozen=True, slots=True)
class Import:
    """`from module import name`, or `import module` with no name; the module starts with a dot for each folder up."""

    module: str
    name: str
    line: int

    @property
    def top(self) -> str:
        """The package to be found; "" for one of the file's own."""
        return self.module.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Absent:
    """What a file imports and can't: `name` as written there, `file` its name, "" for the script itself."""

    name: str
    file: str
    line: int


def imports_of(body: Iterable[ast.stmt]) -> Iterator[Import]:
    """Of the statements that run first and in any case."""
    for statement in body:
        if isinstance(statement, ast.Import):
            yield from (Import(alias.name, "", statement.lineno) for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            module = "." * statement.level + (statement.module or "")
            yield from (Import(module, alias.name, statement.lineno) for alias in statement.names)


def finds_more(nodes: Iterable[ast.AST]) -> bool:
    """Whether it changes where modules are found."""
    return any(dotted_name(node) == "sys.path" for node in nodes if isinstance(node, ast.Attribute))
