"""What a whole test depends on, by content: a test that is marked `remembered` is not run again while its own file,
what it names, all that those import of ours, and the releases that answer are the same as when it passed.
`make test-all` runs it all the same."""

import ast
import hashlib
import re
import subprocess
from collections.abc import Collection, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

from tests.support.browser import CHROMIUM

ROOT = Path(__file__).parents[2]
LEFT_OUT = ("__pycache__", "node_modules")
# What a supervised training runs, beside what its test names.
TRAINING = ("dsgui/supervise.py", "dsgui/shell", "schemas")
TEXTS = "dsgui/core/texts"
# How it is said: no number hangs on it. A test that reads sentences names TEXTS among its roots.
WORDS = (f"{TEXTS}/english/", f"{TEXTS}/chinese/")
# What a run needs that is supervised, stopped and damaged without a training.
SUPERVISION = (*TRAINING, TEXTS)
# What a server and its pages are made of.
SERVER = ("app.py", "dsgui", "presets", "recipes", "requirements.txt", "schemas", TEXTS)
# The same in a browser, of whichever release it is here.
BROWSER = (*SERVER, "requirements-dev.txt", "package-lock.json")


# What answers a server's requests beside our own code, in whichever release it is here.
SERVED_BY = ("gradio", "fastapi", "starlette", "uvicorn", "h11", "httptools")


def key_of(nodeid: str, roots: Collection[str]) -> str:
    """What a test that passed is remembered by. `roots`: files and folders of the checkout."""
    digest, file = hashlib.sha256(), nodeid.partition("::")[0]
    fixtures = (f"{room}/conftest.py" for room in Path(file).parents if len(room.parts) > 1)
    own = (file, *(one for one in fixtures if (ROOT / one).exists()))
    for path in sorted(behind(frozenset((*own, *roots)))):
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + _hash_of(path))
    if set(SERVER) <= set(roots):
        digest.update(_served_by())
    if set(BROWSER) <= set(roots):
        digest.update(_chromium())
    return f"{nodeid} {digest.hexdigest()[:16]}"


@cache
def behind(roots: frozenset[str]) -> frozenset[Path]:
    """The files that `roots` are or hold, and all of ours that these import, wherever an import stands."""
    found: set[Path] = set()
    unread = () if TEXTS in roots else WORDS
    waiting = [file for root in roots for file in _files(ROOT / root)]
    while waiting:
        path = waiting.pop()
        if path not in found and not path.relative_to(ROOT).as_posix().startswith(unread):
            found.add(path)
            waiting += _imported(path)
    return frozenset(found)


def _files(root: Path) -> list[Path]:
    if not root.exists():
        raise FileNotFoundError(f"{root}: a test says that it depends on it")
    return [root] if root.is_file() else [one for one in root.rglob("*") if one.is_file() and _counts(one)]


def _counts(path: Path) -> bool:
    return not any(part in LEFT_OUT for part in path.parts)


@cache
def _served_by() -> bytes:
    return ", ".join(f"{name} {version(name)}" for name in SERVED_BY).encode()


@cache
def _chromium() -> bytes:
    """The number of its release; b"" where there is none."""
    if not Path(CHROMIUM).exists():
        return b""
    told = subprocess.run([CHROMIUM, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\d+", told)
    return found[0].encode() if found else b""


@cache
def _hash_of(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


@cache
def _imported(path: Path) -> tuple[Path, ...]:
    """The modules of ours that a module imports, with the packages around them."""
    if path.suffix != ".py":
        return ()
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return tuple({file for node in nodes for name in _names(node, path) for file in _modules(name, path)})


def _names(node: ast.AST, path: Path) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (one.name for one in node.names)
    if isinstance(node, ast.ImportFrom):
        around = ".".join(path.relative_to(ROOT).parts[: -node.level]) if node.level else ""
        module = ".".join(filter(None, (around, node.module)))
        yield from (f"{module}.{one.name}" for one in node.names)


def _modules(name: str, path: Path) -> Iterator[Path]:
    """The files that an import of `name` reads; a script finds what lies beside it as well."""
    parts = name.split(".")
    for place in (ROOT, path.parent):
        for length in range(1, len(parts) + 1):
            stem = place.joinpath(*parts[:length])
            yield from (one for one in (stem.with_suffix(".py"), stem / "__init__.py") if one.is_file())
