"""Environment variables as typed, one a line."""

from dsgui.core.errors import PlanError


def parse_variables(text: str) -> dict[str, str]:
    """`NAME=value` lines; empty ones and those that begin with # are left out. Raises `PlanError`."""
    found: dict[str, str] = {}
    for place, line in enumerate(text.splitlines(), 1):
        bare = line.strip().removeprefix("export ")
        if not bare or bare.startswith("#"):
            continue
        name, equals, value = bare.partition("=")
        if not equals:
            # The line itself may be a secret.
            raise PlanError(f"Environment: line {place} has no “=”. Expected NAME=value. Write it so, or remove it.")
        found[name.strip()] = _unquoted(value.strip())
    return found


def _unquoted(value: str) -> str:
    quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value
