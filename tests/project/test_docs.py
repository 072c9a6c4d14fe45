"""What the documents name exists, and what a user can set is documented."""

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dsgui.cli import _parser

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_every_picture_of_the_readme_is_there():
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README)
    assert pictures
    assert [p for p in pictures if not (ROOT / p).is_file()] == []


@pytest.mark.parametrize("target", re.findall(r"^ {4}make (\w+)", README, re.MULTILINE))
def test_every_command_of_the_readme_is_a_make_target(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)


READMES = ["README.md", "README.zh-CN.md"]


@pytest.mark.parametrize("name", READMES)
def test_a_readme_is_short_says_what_is_not_measured_and_links_every_document_it_names(name):
    text = (ROOT / name).read_text("utf-8")
    assert len(text.splitlines()) <= 120
    status = {"README.md": "**Status:**", "README.zh-CN.md": "**状态：**"}[name]
    assert status in text.split("## ", 1)[0]
    linked = re.findall(r"\]\(([^):#]+)(?:#[^)]*)?\)", text)
    assert [path for path in linked if not (ROOT / path).exists()] == []
    named = set(re.findall(r"(?:[\w-]+/)*[\w-]+(?:\.[\w-]+)?\.md", text))
    assert named - set(linked) == set()


@pytest.mark.parametrize("page", [*READMES, *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))])
def test_every_link_between_documents_leads_to_a_file_and_its_heading(page):
    folder = (ROOT / page).parent
    for path, heading in re.findall(r"\]\(([^):#]*\.md)(?:#([^)]+))?\)", (ROOT / page).read_text("utf-8")):
        told = (folder / path).read_text("utf-8")
        anchors = [
            re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in re.findall(r"^#+ (.*)$", told, re.M)
        ]
        assert not heading or heading in anchors


@pytest.mark.parametrize(
    "page", [*READMES, "docs/command_line.md", "docs/watching.md", "docs/launching.md", "docs/zh-CN.md"]
)
def test_every_command_that_a_document_shows_is_one(page):
    lines = re.findall(r"^ {4}(?:python -m )?dsgui (.+)$", (ROOT / page).read_text("utf-8"), re.MULTILINE)
    assert lines or page.startswith("docs/")
    for line in lines:
        words = shlex.split(line.partition("  #")[0])
        _parser(words[:1]).parse_args(words)  # exits where one is none


STRUCTURE = (ROOT / "docs/structure.md").read_text("utf-8")


def test_structure_names_every_room_and_only_those():
    rows = re.findall(r"^\| `(\w+)` \|(.*)\|(.*)\|(.*)\|$", STRUCTURE, re.MULTILINE)
    named = {
        (floor, room)
        for room, *told in rows
        for floor, cell in zip(("core", "shell", "ui"), told, strict=True)
        if cell.strip()
    }
    folders = ROOT.glob("dsgui/*/*/__init__.py")
    assert named == {path.parts[-3:-1] for path in folders if path.parts[-3] in ("core", "shell", "ui")}


def test_structure_names_what_is_there():
    named = set(re.findall(r"`((?:dsgui|core|shell|ui|runs|tests)/[\w./]+)`", STRUCTURE))
    assert len(named) > 20
    assert [name for name in named if not any((ROOT / top / name).exists() for top in ("", "dsgui"))] == []


def test_every_module_says_what_it_does():
    silent = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "dsgui").rglob("*.py")
        if not ast.get_docstring(ast.parse(path.read_text("utf-8"))) and path.read_text("utf-8").strip()
    ]
    assert silent == []


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
