"""Environment variables as typed, one per line."""

from collections.abc import Iterable, Mapping

from dsgui.core.access.secrets import is_secret_name
from dsgui.core.errors import PlanError
from dsgui.core.texts.saying import wrong


def parse_variables(text: str) -> dict[str, str]:
    """`NAME=value` lines; empty lines and those that begin with # are skipped. Raises `PlanError`."""
    found: dict[str, str] = {}
    for place, line in enumerate(text.splitlines(), 1):
        bare = line.strip().removeprefix("export ")
        if not bare or bare.startswith("#"):
            continue
        name, equals, value = bare.partition("=")
        if not equals:
            # The line itself may be a secret.
            raise PlanError(wrong("environment.no_equals", line=str(place)))
        found[name.strip()] = _unquoted(value.strip())
    return found


def variables_text(variables: Mapping[str, str]) -> str:
    """The lines that `parse_variables` reads as these variables: a value that looks quoted, or begins or ends with
    blanks, is quoted again."""
    return "\n".join(f"{name}={_quoted(value)}" for name, value in variables.items())


def with_variables(typed: str, new: Iterable[tuple[str, str]]) -> str:
    """The lines with some variables set; all others, and comments, stay as they are."""
    for name, value in new:
        lines = [line for line in typed.splitlines() if _named(line) != name]
        typed = "\n".join([*lines, f"{name}={_quoted(value)}"])
    return typed


def _named(line: str) -> str:
    return line.strip().removeprefix("export ").partition("=")[0].strip()


def plain_and_secret(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """The variables as typed: those that may be stored, and separately those that may not. Raises `PlanError`."""
    variables = parse_variables(text)
    secrets = {name: value for name, value in variables.items() if is_secret_name(name)}
    return {name: value for name, value in variables.items() if name not in secrets}, secrets


def _quoted(value: str) -> str:
    return value if _unquoted(value.strip()) == value else f'"{value}"'


def _unquoted(value: str) -> str:
    quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value
