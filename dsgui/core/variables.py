"""Environment variables as typed, one a line, and which of them are secrets."""

import re

from dsgui.core.errors import PlanError

_SECRET = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|PRIVATE|API_?KEY|ACCESS_?KEY|_KEY\Z|\AKEY\Z|_PAT\Z", re.IGNORECASE
)
_NOT_SECRET = frozenset({"TOKENIZERS_PARALLELISM"})


def is_secret(name: str) -> bool:
    """Whether the value is to be kept out of every file, page and command line: HF_TOKEN, WANDB_API_KEY …"""
    return bool(_SECRET.search(name)) and name.upper() not in _NOT_SECRET


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
