"""What pre-commit installs of dsgui is enough to check a config."""

import os
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]


def test_the_hook_finds_its_configs_and_runs_from_an_installed_copy(tmp_path):
    copy = tmp_path / "copy"
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0")
    for name in (name.decode() for name in tracked if name.startswith((b"dsgui/", b"schemas/", b"presets/"))):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes((ROOT / name).read_bytes())
    (copy / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    install = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        str(tmp_path / "site"),
    ]
    subprocess.run([sys.executable, *install, str(copy)], check=True, capture_output=True)
    (tmp_path / "ds_config.json").write_text('{"train_batch_size": 3, "train_micro_batch_size_per_gpu": 2}')
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    done = subprocess.run(
        [sys.executable, *hook["entry"].split()[1:], "ds_config.json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "error DS010" in done.stdout
