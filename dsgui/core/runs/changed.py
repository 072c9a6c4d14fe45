"""What differs between the settings of a run and those of another one like it: each setting as it was and as it is."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dsgui.core.access.secret_forms import is_secret_name, is_secret_option
from dsgui.core.access.secrets import MASK
from dsgui.core.config.compare import leaves
from dsgui.core.config.document import Document
from dsgui.core.config.pointer import dotted
from dsgui.core.texts.saying import Said, said

_LONGEST = 60  # of a value beside another
_IN_SHORT = {
    "gradient_accumulation_steps": "short_steps",
    "per_device_train_batch_size": "short_micro",
    "train_micro_batch_size_per_gpu": "short_micro",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """A key of the config or an option of the script; None where it is not there, "" of an option without a value."""

    name: str
    before: str | None
    after: str | None

    @property
    def told(self) -> Said:
        """`stage 2 → 3`."""
        if self.after is None:
            return said("cloning", "without", what=f"{self.name} {self._readable(self.before) or ''}".strip())
        if self.before is None and not self.after:
            return said("cloning", "with", what=self.name)
        before, after = (_shown(self._readable(one)) for one in (self.before, self.after))
        return said("cloning", "moved", what=self.name, before=before, after=after)

    @property
    def short(self) -> str:
        """As it is now, by the last part of its name: `stage 3`, `lr 1`, `micro batch 16`."""
        name = self.name.removeprefix("--")
        name = name if self.name.startswith("--") else name.rpartition(".")[2]
        if self.after is None:
            return str(said("cloning", "without", what=self.name))
        code, after = _IN_SHORT.get(name), self._readable(self.after) or ""
        return str(said("cloning", code, value=after)) if code else f"{name} {after}".strip()

    def _readable(self, value: str | None) -> str | None:
        """Hidden where the name says that it is a secret: beside “→” nothing else would."""
        last = self.name.rpartition(".")[2]
        is_secret = bool(value) and (is_secret_option(self.name, value or "") or is_secret_name(last))
        return MASK if is_secret else value


def _shown(value: str | None) -> str | Said:
    if value is None:
        return said("cloning", "not_set")
    return (value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…") or said("cloning", "set_so")


def in_config(before: str, after: str) -> list[Difference]:
    """Raises `DocumentError` where one of them can't be read."""
    return _between(*({dotted(at): value for at, value in leaves(Document(one)).items()} for one in (before, after)))


def in_words(before: Sequence[str], after: Sequence[str]) -> list[Difference]:
    """Of a script's arguments."""
    old, new = _options(before), _options(after)
    return [one for one in _between(old, new) if one.name or one.after is not None]


def in_environment(before: Mapping[str, str], after: Mapping[str, str]) -> list[Difference]:
    return _between(before, after)


def _between(old: Mapping[str, str], new: Mapping[str, str]) -> list[Difference]:
    changed = [Difference(name, old.get(name), value) for name, value in new.items() if old.get(name) != value]
    return changed + [Difference(name, old[name], None) for name in old if name not in new]


def _options(given: Sequence[str]) -> dict[str, str]:
    """Each option with its values; what stands before the first one under ""."""
    found: dict[str, list[str]] = {}
    name = ""
    for word in given:
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            found[name] = [value] if equals else []
        else:
            found.setdefault(name, []).append(word)
    return {name: shlex.join(values) for name, values in found.items()}
