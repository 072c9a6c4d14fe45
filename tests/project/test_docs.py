"""What the documents name exists, and what a user can set is documented."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_every_picture_of_the_readme_is_there():
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README)
    assert pictures
    assert [p for p in pictures if not (ROOT / p).is_file()] == []


@pytest.mark.parametrize("target", re.findall(r"^ {4}make (\w+)", README, re.MULTILINE))
def test_every_command_of_the_readme_is_a_make_target(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)


def test_structure_names_every_module_and_only_those():
    text = (ROOT / "docs/structure.md").read_text("utf-8")
    modules = {path.relative_to(ROOT / "dsgui").as_posix() for path in (ROOT / "dsgui").glob("*/*.py")}
    named = set(re.findall(r"`((?:core|shell)/\w+\.py)`", text))
    wanted = {m for m in modules if m.startswith(("core/", "shell/")) and not m.endswith("__init__.py")}
    assert named == wanted


def test_help_names_every_option_with_a_sentence():
    done = subprocess.run([sys.executable, "app.py", "--help"], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    for option in (
        "--host",
        "--port",
        "--runs-dir",
        "--python",
        "--token-file",
        "--allow",
        "--allow-host",
        "--ssl-certfile",
    ):
        assert re.search(rf"{option} \S+\s+\w+", done.stdout), option
