"""What lies beside a training's own files and tells with what it was made: a DeepSpeed config, arguments, the model."""

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dsgui.core.adopted.found_settings import (
    ARGUMENT_FILES,
    MODEL_FILES,
    PICKLED,
    is_config,
    might_be_config,
    model_of,
    object_of,
    words_of,
)
from dsgui.core.adopted.lying import Lying
from dsgui.core.config.document import Document
from dsgui.core.texts.saying import Said, listed, said
from dsgui.shell.adopted.walking import read_inside

_MOST_BYTES = 1 << 20
_MOST_CONFIGS = 20


@dataclass(frozen=True, slots=True)
class Around:
    """`config` is the text of its DeepSpeed config, "" for none; `words` its arguments, as they would be typed; `batch`
    how many samples a step has; `notes` say what was not taken."""

    config: str = ""
    words: tuple[str, ...] = ()
    model: str = ""
    batch: int | None = None
    notes: tuple[Said, ...] = ()


def around(source: Path, root: str, files: Iterable[Lying]) -> Around:
    """Of the training in the folder `root` of `source`: what lies in that folder itself, or in the one above where that
    still belongs to `source`."""
    folders = (root, posixpath.dirname(root)) if root else ("",)
    near = [one for folder in folders for one in files if one.folder == folder and one.size <= _MOST_BYTES]
    own = [one for one in near if one.folder == root]
    config, notes = _config(source, near)
    arguments = [object_of(_text(source, one)) for one in own if posixpath.basename(one.path) in ARGUMENT_FILES]
    models = [object_of(_text(source, one)) for one in own if posixpath.basename(one.path) in MODEL_FILES]
    if any(posixpath.basename(one.path) == PICKLED for one in own):
        notes = (*notes, said("adopted", "pickled", file=PICKLED))
    words = words_of(arguments[0]) if arguments else ()
    return Around(config, words, model_of([*models, *arguments]), _batch(config), notes)


def _config(source: Path, near: Sequence[Lying]) -> tuple[str, tuple[Said, ...]]:
    """The one that there is; of several nobody knows which it was."""
    named = [one for one in near if might_be_config(one.path)][:_MOST_CONFIGS]
    texts = {one.path: text for one in named if is_config(text := _text(source, one))}
    if len({*texts.values()}) > 1:
        return "", (said("adopted", "several_configs", files=listed(list(texts)[:5])),)
    return next(iter(texts.values()), ""), ()


def _batch(config: str) -> int | None:
    found = Document(config).value.get("train_batch_size") if config else None
    return found if type(found) is int and found > 0 else None


def _text(source: Path, one: Lying) -> str:
    try:
        return read_inside(source, one.path, _MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
