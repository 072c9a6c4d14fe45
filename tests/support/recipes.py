"""The bundled recipes in children: torch and transformers warn while being imported, and warnings are errors here."""

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

RECIPES = Path(__file__).parents[2] / "recipes"
CHILD_S = 240
_OF_A_LAUNCHER = ("RANK", "LOCAL_RANK", "WORLD_SIZE")

# Argument 1: the recipes' folder; 2: {case: [recipe, option, …]} as JSON. Prints {case: [exit code, standard error]}.
_RUN_CASES = """
import contextlib, importlib, io, json, sys
sys.path.insert(0, sys.argv[1])
outcomes = {}
for case, (recipe, *options) in json.loads(sys.argv[2]).items():
    with contextlib.redirect_stderr(io.StringIO()) as stderr:
        outcomes[case] = importlib.import_module(recipe).main(options), stderr.getvalue()
print(json.dumps(outcomes))
"""


def part(name: str) -> ModuleType:
    """A module of the recipes' own, found as it is when a recipe is run as a script."""
    sys.path.insert(0, str(RECIPES))
    try:
        return importlib.import_module(f"parts.{name}")
    finally:
        sys.path.remove(str(RECIPES))


def python(arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python in `folder` as a user would, without a network and on one core."""
    environment = {name: value for name, value in os.environ.items() if name not in _OF_A_LAUNCHER}
    environment |= {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hf"), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=CHILD_S
    )


def outcomes(cases: Mapping[str, Sequence[str]], folder: Path) -> dict[str, tuple[int, str]]:
    """(exit code, standard error) of each case; one child for all, since importing torch takes most of the time."""
    child = python(["-c", _RUN_CASES, str(RECIPES), json.dumps(cases)], folder)
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout.splitlines()[-1])
