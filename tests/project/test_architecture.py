"""Floors and rooms: no arrow turns back, rooms use each other as the table here says, and no room is too full."""

import ast
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.support.cases import each_case

ROOT = Path(__file__).parents[2]
# A floor, or a module beside the floors, may import itself and what stands here.
FLOORS = {
    "core": set(),
    "shell": {"core"},
    "supervise": {"shell", "core"},
    "runs": {"shell", "core"},
    "commands": {"runs", "shell", "core"},
    "cli": {"commands", "shell", "core"},
    "commands.serve": {"compose", "ui", "shell", "core"},
    "ui": {"runs", "core"},
    "compose": {"ui", "runs", "shell", "core"},
}
# A room may import itself, the modules that stand on its floor in no room, and the rooms named here.
ROOMS = {
    "core": {
        "access": "texts",
        "adopted": "access config launch metrics texts",
        "afterwards": "launch script texts",
        "config": "machine texts",
        "diagnosis": "config launch memory metrics script texts",
        "imported": "config launch script texts",
        "launch": "access config machine memory notify script texts",
        "learn": "config launch machine memory script texts validation",
        "logs": "access diagnosis metrics texts",
        "machine": "texts",
        "memory": "config machine script texts validation",
        "metrics": "texts",
        "notify": "access texts",
        "oracle": "config texts",
        "preflight": "access config diagnosis launch machine memory oracle rules script texts validation",
        "rules": "config machine texts",
        "runs": "access config diagnosis launch logs memory metrics script texts",
        "script": "config texts",
        "slow": "metrics texts",
        "texts": "",
        "validation": "config rules texts",
    },
    "shell": {
        "access": "files",
        "adopted": "files logs runs",
        "afterwards": "files machine metrics oracle",
        "config": "access files",
        "files": "",
        "launch": "files processes runs",
        "learn": "files",
        "logs": "files runs",
        "machine": "metrics processes",
        "metrics": "launch",
        "memory": "files oracle",
        "notify": "files",
        "oracle": "machine processes",
        "preflight": "files machine memory script",
        "processes": "",
        "runs": "files processes",
        "script": "files machine",
    },
    "ui": {
        "access": "common",
        "common": "",
        "config": "access common",
        "launch": "common config preflight",
        "learn": "common config launch",
        "machine": "common",
        "preflight": "common machine",
        "runs": "common config launch",
        "site": "access common config launch learn machine preflight runs",
    },
}
MOST_MODULES = 20
# yaml: accelerate's file is YAML, and reading a text is pure. hjson is read by our own code (docs/decisions/005).
# numpy: arrays are what a million points are thinned in; who starts a run never imports it (the last test here).
CORE_MAY_USE = {"jsonschema", "yaml", "numpy"}
# CPython's parser is shared by all threads: a lock keeps them apart, and changes no answer.
MAY_ALSO = {"dsgui.core.script.trees": {"threading"}}
NOT_IN_CORE = {"subprocess", "os", "socket", "pathlib", "time", "threading", "signal", "tempfile", "shutil", "sqlite3"}
NEVER = {"torch", "deepspeed", "transformers", "datasets", "accelerate"}


def modules():
    return sorted((ROOT / "dsgui").rglob("*.py"))


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


@cache
def imports_of(source):
    return tuple(_imports(ast.walk(ast.parse(source))))


def _imports(nodes):
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def floor_of(module):
    top, _, rest = module.partition(".")
    floor = rest if rest in FLOORS else rest.partition(".")[0]
    return floor if top == "dsgui" and floor in FLOORS else None


def room_of(module):
    """The room on its floor, or None: of what is on no floor, and of a floor's own modules."""
    words = module.split(".")
    return words[2] if len(words) > 2 and words[0] == "dsgui" and words[2] in ROOMS.get(words[1], {}) else None


def turned_back(module, source):
    """The imports of `module` that point the wrong way."""
    floor = floor_of(module)
    if floor is None:
        return []
    theirs = [(name, floor_of(name)) for name in imports_of(source)]
    return [name for name, other in theirs if other and other not in FLOORS[floor] | {floor}]


def rooms_asked(module, source):
    """The other rooms of its floor that `module` imports from."""
    here = floor_of(module), room_of(module)
    asked = {(floor_of(name), room_of(name)) for name in imports_of(source)}
    return {room for floor, room in asked if floor == here[0] and room not in (None, here[1])}


@each_case("path", modules(), ids=name_of)
def test_no_arrow_turns_back(path):
    assert turned_back(name_of(path), path.read_text("utf-8")) == []


def test_an_arrow_that_turns_back_is_seen():
    assert turned_back("dsgui.core.config.batch_size", "from dsgui.shell.runs.store import Store") != []
    assert turned_back("dsgui.ui.site.pages", "import dsgui.shell.machine.target") == ["dsgui.shell.machine.target"]
    assert rooms_asked("dsgui.core.config.schema", "from dsgui.core.rules.base import Rule") == {"rules"}
    assert rooms_asked("dsgui.core.errors", "from dsgui.core.config import schema") == {"config"}


@pytest.mark.parametrize("floor", ROOMS)
def test_rooms_use_each_other_as_declared(floor):
    found = {room: set() for room in ROOMS[floor]} | {None: set()}
    for path in (ROOT / "dsgui" / floor).rglob("*.py"):
        found[room_of(name_of(path))] |= rooms_asked(name_of(path), path.read_text("utf-8"))
    assert found == {room: set(uses.split()) for room, uses in ROOMS[floor].items()} | {None: set()}


@pytest.mark.parametrize("floor", ROOMS)
def test_rooms_stand_in_no_circle(floor):
    assert circle({room: set(uses.split()) for room, uses in ROOMS[floor].items()}) == []


@pytest.mark.parametrize("floor", ROOMS)
def test_every_room_is_declared(floor):
    folders = {path.parent.name for path in (ROOT / "dsgui" / floor).glob("*/__init__.py")}
    assert folders == set(ROOMS[floor])


def test_no_folder_is_too_full():
    """A module is found by reading its room's names."""
    sizes = Counter(path.parent for top in ("dsgui", "tests") for path in (ROOT / top).rglob("*.py"))
    full = {folder.relative_to(ROOT).as_posix(): n for folder, n in sizes.items() if n > MOST_MODULES + 1}
    assert full == {}  # with __init__.py
    scripts = Counter(path.parent for top in ("dsgui", "tests") for path in (ROOT / top).rglob("*.js"))
    assert {folder.name: n for folder, n in scripts.items() if n > MOST_MODULES} == {}


def test_the_browsers_modules_stand_in_the_same_rooms():
    rooms = {room for floor in ROOMS.values() for room in floor} | {"styles"}
    for top in ("dsgui/ui/static", "tests/js"):
        assert {path.name for path in (ROOT / top).iterdir() if path.is_dir()} <= rooms
    assert [path.name for path in (ROOT / "dsgui/ui/static").glob("*.js")] == []


@pytest.mark.parametrize("floor", [floor for floor in FLOORS if (ROOT / "dsgui" / floor).is_dir()])
def test_no_stem_stands_twice_on_a_floor(floor):
    """But for the catalogues: each language has the same modules."""
    languages = (ROOT / "dsgui/core/texts").glob("*/**/*.py")
    others = {*(ROOT / "dsgui" / floor).rglob("*.py")} - {*languages}
    stems = Counter(path.stem for path in others if path.stem != "__init__")
    assert [stem for stem, n in stems.items() if n > 1] == []


@each_case("path", sorted((ROOT / "dsgui/core").rglob("*.py")), ids=name_of)
def test_core_touches_no_world(path):
    tops = {name.split(".")[0] for name in imports_of(path.read_text("utf-8"))}
    assert not tops & NOT_IN_CORE - MAY_ALSO.get(name_of(path), set())
    third_party = {top for top in tops if top not in sys.stdlib_module_names and top != "dsgui"}
    assert third_party <= CORE_MAY_USE


@each_case("path", [p for p in modules() if p.name != "ask_target.py"], ids=name_of)
def test_dsgui_never_imports_what_trains(path):
    tops = {name.split(".")[0] for name in imports_of(path.read_text("utf-8"))}
    assert not tops & NEVER


def circle(arrows):
    """Modules that import each other in a circle, if any do: importing one of them first fails or not by luck."""
    left = {module: set(targets) for module, targets in arrows.items()}
    while ready := [module for module, targets in left.items() if not targets & left.keys()]:
        for module in ready:
            del left[module]
    return sorted(left)


def arrows():
    """Module → the modules that importing it runs first: with a module come the packages around it."""
    names = {name_of(path): path for path in modules()}
    found = {}
    for name, path in names.items():
        asked = {target for target in imports_of(path.read_text("utf-8")) if target in names}
        around = {target.rpartition(".")[0] for target in asked} & names.keys()
        found[name] = {target for target in asked | around if not name.startswith(f"{target}.") and target != name}
    return found


def test_no_modules_import_each_other():
    assert circle(arrows()) == []
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["a", "b", "c"]


def test_no_module_beside_the_scripts_run_by_path_has_a_name_of_pythons_own():
    """Their folder comes first on the path of the interpreter that trains: a queue.py there breaks `import torch`."""
    names = {path.stem for path in (ROOT / "dsgui/shell").rglob("*.py")} - {"__init__"}
    assert len(names) > 40
    assert names & sys.stdlib_module_names == set()


def test_who_starts_a_run_imports_neither_numpy_nor_the_pages() -> None:
    """A supervisor stands beside every training, for as long as it takes."""
    heavy = "[name for name in ('numpy', 'gradio', 'fastapi', 'plotly', 'torch') if name in sys.modules]"
    code = f"import sys, dsgui.supervise; print({heavy})"
    told = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert told.stdout.strip() == "[]"
