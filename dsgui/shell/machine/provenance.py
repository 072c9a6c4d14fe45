"""Where a run comes from, beyond its plan: the versions in the training environment, and the commit of the script."""

import os
import subprocess
from pathlib import Path
from typing import Any

from dsgui.core.errors import TargetError
from dsgui.core.launch.plan import Plan
from dsgui.shell.machine.target import ask

# They delay the start of a run, so neither may take long.
_VERSIONS_TIMEOUT_S, _GIT_TIMEOUT_S = 10, 5


def provenance(plan: Plan) -> dict[str, Any]:
    """What can be known, as JSON: `python` and `versions` of the target, `git` of the script's folder or None."""
    try:
        answer = ask(plan.target_python, "versions", _VERSIONS_TIMEOUT_S)
    except TargetError:
        answer = {}
    known = {"python": str(answer.get("python", "")), "versions": dict(answer.get("versions", {}))}
    return known | {"git": git_state(Path(plan.script).parent)}


def git_state(folder: Path) -> dict[str, Any] | None:
    """The commit that is checked out and whether tracked files differ from it; None outside a repository."""
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit:
        return None
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    branch = _git(folder, "rev-parse", "--abbrev-ref", "HEAD")
    return {"commit": commit, "branch": branch or "", "dirty": None if changed is None else bool(changed)}


def _git(folder: Path, *words: str) -> str | None:
    """None when git is missing, refuses or takes too long. It runs none of the repository's own programs."""
    command = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-C", str(folder), *words]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            command,
            env=environment | {"LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None
