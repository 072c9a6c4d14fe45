"""The arrows of docs/structure.md never turn back."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# A module may import its own layer and those to the right of it here.
ALLOWED = {
    "dsgui.core": {"dsgui.core"},
    "dsgui.shell": {"dsgui.shell", "dsgui.core"},
    "dsgui.supervise": {"dsgui.shell", "dsgui.core"},
    "dsgui.runs.runs": {"dsgui.shell", "dsgui.core"},
    "dsgui.runs.archive": {"dsgui.runs.runs", "dsgui.shell", "dsgui.core"},
    "dsgui.runs.inspection": {"dsgui.runs.runs", "dsgui.shell", "dsgui.core"},
    "dsgui.runs.export": {"dsgui.runs.runs", "dsgui.shell", "dsgui.core"},
    "dsgui.runs.report": {"dsgui.runs.runs", "dsgui.shell", "dsgui.core"},
    "dsgui.commands.serve": {"dsgui.compose", "dsgui.ui", "dsgui.shell", "dsgui.core"},
    "dsgui.commands": {
        "dsgui.commands",
        "dsgui.runs.archive",
        "dsgui.runs.export",
        "dsgui.runs.report",
        "dsgui.runs.runs",
        "dsgui.shell",
        "dsgui.core",
    },
    "dsgui.cli": {"dsgui.commands", "dsgui.shell", "dsgui.core"},
    "dsgui.ui": {
        "dsgui.ui",
        "dsgui.runs.archive",
        "dsgui.runs.inspection",
        "dsgui.runs.export",
        "dsgui.runs.report",
        "dsgui.runs.runs",
        "dsgui.core",
    },
    "dsgui.compose": {
        "dsgui.ui",
        "dsgui.runs.inspection",
        "dsgui.runs.archive",
        "dsgui.runs.export",
        "dsgui.runs.report",
        "dsgui.runs.runs",
        "dsgui.shell",
        "dsgui.core",
    },
}
# yaml: accelerate's file is YAML, and reading a text is pure. hjson is read by our own code (docs/decisions/005).
# numpy: arrays are what a million points are thinned in; who starts a run never imports it (the last test here).
CORE_MAY_USE = {"jsonschema", "yaml", "numpy"}
NOT_IN_CORE = {"subprocess", "os", "socket", "pathlib", "time", "threading", "signal", "tempfile", "shutil", "sqlite3"}
NEVER = {"torch", "deepspeed", "transformers", "datasets", "accelerate"}


def modules():
    return sorted((ROOT / "dsgui").rglob("*.py"))


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imports_of(source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def layer_of(module):
    return next((layer for layer in ALLOWED if module == layer or module.startswith(layer + ".")), None)


def turned_back(module, source):
    """The imports of `module` that point the wrong way."""
    layer = layer_of(module)
    if layer is None:
        return []
    ours = [name for name in imports_of(source) if layer_of(name)]
    return [name for name in ours if layer_of(name) not in ALLOWED[layer]]


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_no_arrow_turns_back(path):
    assert turned_back(name_of(path), path.read_text("utf-8")) == []


def test_an_arrow_that_turns_back_is_seen():
    assert turned_back("dsgui.core.config.batch_size", "from dsgui.shell.runs.store import Store") != []
    assert turned_back("dsgui.ui.site.pages", "import dsgui.shell.machine.target") == ["dsgui.shell.machine.target"]


@pytest.mark.parametrize("path", sorted((ROOT / "dsgui/core").rglob("*.py")), ids=name_of)
def test_core_touches_no_world(path):
    tops = {name.split(".")[0] for name in imports_of(path.read_text("utf-8"))}
    assert not tops & NOT_IN_CORE
    third_party = {top for top in tops if top not in sys.stdlib_module_names and top != "dsgui"}
    assert third_party <= CORE_MAY_USE


@pytest.mark.parametrize("path", [p for p in modules() if p.name != "ask_target.py"], ids=name_of)
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
    names = {path.stem for path in (ROOT / "dsgui/shell").glob("*.py")} - {"__init__"}
    assert names & sys.stdlib_module_names == set()


def test_who_starts_a_run_imports_neither_numpy_nor_the_pages() -> None:
    """A supervisor stands beside every training, for as long as it takes."""
    heavy = "[name for name in ('numpy', 'gradio', 'fastapi', 'plotly', 'torch') if name in sys.modules]"
    code = f"import sys, dsgui.supervise; print({heavy})"
    told = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert told.stdout.strip() == "[]"
