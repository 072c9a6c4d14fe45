"""Which names a script imports from packages whose releases differ that the installed release does not have, and which
keywords it gives to their classes.

Most are seen in the packages' source. Of the others the training environment is asked, which imports them.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache
from pathlib import Path

from dsgui.core.script.class_keywords import Given
from dsgui.core.script.imports import EVERY, Absent, Import
from dsgui.shell.script.imported_files import Followed
from dsgui.shell.script.module_places import Found, file_of, folders_of, is_installed

SCRIPT = Path(__file__).with_name("ask_names.py")
# Those of which old scripts import what is gone.
PACKAGES = frozenset({"transformers", "datasets", "trl", "peft", "accelerate"})
# They make the classes of the others anew when they are imported.
_PATCHING = frozenset({"unsloth", "unsloth_zoo"})
TIMEOUT_S = 30.0
# How an __init__.py has names that it does not spell.
_PASSES_ON = re.compile(r"import \*|_LazyModule\(|\b__getattr__\b|\bglobals\(")
_MOST_ASKED = 40
_MOST_BYTES = 2_000_000


def doubtful(of: Followed, patches: Set[str]) -> list[tuple[str, Import]]:
    """What does not stand in the source where it should. A package of one's own that has such a name is none of them,
    and what the script (`patches`) or a file beside it may set itself is no loss."""
    set_here = of.patches | patches
    asked = [] if EVERY in set_here else [(file, one) for file, one in of.taken if _is_installed(one.top, of.found)]
    kept = [(file, one) for file, one in asked if set_here.isdisjoint({*one.module.split(".")[1:], one.name})]
    return [(file, one) for file, one in kept if not _stands_there(one, of.found)][:_MOST_ASKED]


def taken_here(given: Sequence[Given], of: Followed) -> list[Given]:
    """The keywords given to classes of installed packages, and not to those that a file beside the script or a package
    patches."""
    if of.patches & {EVERY, "__init__", "__new__"} or not _PATCHING.isdisjoint(one.top for _, one in of.taken):
        return []
    kept = [one for one in given if of.patches.isdisjoint({*one.module.split(".")[1:], one.name})]
    return [one for one in kept if _is_installed(one.module.partition(".")[0], of.found)][:_MOST_ASKED]


def _is_installed(package: str, found: Found) -> bool:
    return package in PACKAGES and is_installed(file_of(package, found))


def gone(
    names: Sequence[tuple[str, Import]],
    keywords: Sequence[Given],
    found: Found,
    python: str,
    environment: Mapping[str, str],
    folder: str,
) -> tuple[tuple[Absent, ...], tuple[Absent, ...]] | None:
    """Those names that the training environment does not have, and those keywords that its classes do not take; None
    where it can't be asked."""
    asked = tuple(sorted({*map(_spelled, keywords), *(_spelled(one) for _, one in names)}))
    if not asked:
        return (), ()
    installed = tuple(_changed(file_of(top, found)) for top in sorted(PACKAGES))
    try:
        lacking = _lacking(asked, python, tuple(sorted(environment.items())), folder, installed)
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None
    absent = (
        Absent(f"{one.module}.{one.name}".rstrip("."), file, one.line)
        for file, one in names
        if _spelled(one) in lacking
    )
    refused = (Absent(f"{one.name}({one.keyword}=…)", "", one.line) for one in keywords if _spelled(one) in lacking)
    return tuple(absent), tuple(refused)


def _spelled(one: Import | Given) -> str:
    return f"{one.module}:{one.name}" + (f":{one.keyword}" if isinstance(one, Given) else "")


@lru_cache(maxsize=16)  # until a package is installed anew; what it raises is not remembered
def _lacking(
    pairs: tuple[str, ...], python: str, environment: tuple[tuple[str, str], ...], folder: str, installed: object
) -> frozenset[str]:
    done = subprocess.run(
        [python, str(SCRIPT), *pairs],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=TIMEOUT_S,
        env=dict(environment),
        cwd=folder,
        check=True,
    )
    return frozenset(json.loads(done.stdout.decode("utf-8", "replace").strip().splitlines()[-1]))


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _stands_there(one: Import, found: Found) -> bool:
    path = file_of(one.module, found)
    if not one.name or one.name == "*":
        return bool(path)
    if file_of(f"{one.module}.{one.name}", found):
        return True
    word = re.compile(rf"\b{re.escape(one.name)}\b")
    return bool(word.search(_text(path))) or any(word.search(_text(str(file))) for file in _near(one, path, found))


def _near(one: Import, path: str, found: Found) -> Iterator[Path]:
    """Where a package makes its names of the files in it: `LlamaForCausalLM` of transformers stands in models/llama."""
    if one.module == "transformers":
        lowered = one.name.lower()
        for folder in folders_of(one.top, found):
            for name in _models(folder):
                if name == "auto" or lowered.startswith(name.replace("_", "")):
                    yield from sorted(Path(folder, "models", name).glob("*.py"))
    elif path.endswith("__init__.py") and _PASSES_ON.search(_text(path)):
        yield from sorted(Path(path).parent.glob("*.py"))


@lru_cache(maxsize=4)
def _models(folder: str) -> tuple[str, ...]:
    try:
        return tuple(sorted(one.name for one in Path(folder, "models").iterdir() if one.is_dir()))
    except OSError:
        return ()


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MOST_BYTES)
    except (OSError, ValueError):
        return ""
