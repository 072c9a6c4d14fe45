"""What the real DeepSpeed confirmed once is remembered by content: a hash of what dsgui says and of the code that asks,
with the releases that answered, in tests/answers/confirmed.json. `make test` asks about what is new or changed;
`make test-all` asks about everything; `make confirm` does so and writes the file."""

import fcntl
import hashlib
import json
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("confirmed.json")
ANSWERING = ("deepspeed", "torch", "transformers", "accelerate")


@cache
def releases() -> str:
    return ", ".join(f"{name} {version(name)}" for name in ANSWERING)


class Confirmed:
    """Claims that hold. `asks_again`: nothing is taken from the file; `writes`: what holds goes into it."""

    def __init__(self, *, asks_again: bool, writes: bool, file: Path = FILE) -> None:
        self._asks_again, self._writes, self._file = asks_again, writes, file

    def check(self, about: str, claim: Any, ask: Callable[[], object]) -> None:
        """`ask`, which fails where the claim is wrong, unless the very claim was seen to hold. `about` names it for who
        reads the file."""
        key = _key(about, claim)
        if not self.holds(key):
            ask()
            self.held(key)

    def holds(self, key: str) -> bool:
        """Whether it was seen to hold, and need not be seen again."""
        return not self._asks_again and key in self._known()

    def held(self, key: str) -> None:
        """What was seen just now."""
        if self._writes:
            self._write(key)

    def _known(self) -> set[str]:
        """What the releases that are installed here confirmed."""
        kept = json.loads(self._file.read_text("utf-8")) if self._file.exists() else {}
        return set(kept["confirmed"]) if kept.get("by") == releases() else set()

    def _write(self, key: str) -> None:
        """Several workers write."""
        with self._file.with_suffix(".lock").open("a") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            kept = {"by": releases(), "confirmed": sorted(self._known() | {key})}
            whole = self._file.with_suffix(".new")  # others read meanwhile
            whole.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
            whole.replace(self._file)


def _key(about: str, claim: Any) -> str:
    said = json.dumps(claim, sort_keys=True, default=str)
    return f"{about} {hashlib.sha256(said.encode()).hexdigest()[:16]}"
