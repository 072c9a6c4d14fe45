"""What the Python environment that will train has, asked of it through a script run by path.

The versions answer comes in tens of milliseconds and is waited for; the accelerator's takes seconds (it imports torch
and DeepSpeed there) and arrives from a thread.
"""

import json
import os
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from dsgui.core.errors import TargetError
from dsgui.core.machine.hardware import Gpu, Target
from dsgui.core.texts.saying import Said, wrong

SCRIPT = Path(__file__).with_name("ask_target.py")
VERSIONS_TIMEOUT_S = 20
ACCELERATOR_TIMEOUT_S = 180


def ask(python: str, what: str, timeout_s: float) -> dict[str, Any]:
    """The target's answer to `what` ("versions", "accelerator" or "machine"). Raises `TargetError`."""
    try:
        done = subprocess.run(
            [python, str(SCRIPT), what],
            capture_output=True,
            timeout=timeout_s,
            stdin=subprocess.DEVNULL,
            env=as_in_a_run(python),
            check=False,
        )
    except FileNotFoundError as error:
        raise TargetError(wrong("python.missing", python=python)) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TargetError(wrong("python.not_asked", python=python, why=str(error))) from error
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    if done.returncode or not lines:
        raise TargetError(_ended(python, done.returncode, done.stderr.decode("utf-8", "replace").strip().splitlines()))
    try:
        answer = json.loads(lines[-1])
    except json.JSONDecodeError as error:
        raise TargetError(wrong("python.no_json", python=python, answer=lines[-1][:80])) from error
    return dict(answer)


def _ended(python: str, code: int, printed: list[str]) -> Said:
    if not printed:
        return wrong("python.ended_silently", python=python, code=str(code))
    return wrong("python.ended", python=python, code=str(code), line=printed[-1])


def as_in_a_run(python: str) -> dict[str, str]:
    """The target's own programs come first in PATH, as `core/launch/plan.py:environment` has it for a run."""
    return {**os.environ, "PATH": ":".join(filter(None, (str(Path(python).parent), os.environ.get("PATH", ""))))}


class TargetProbe:
    """The target environment, asked once. `gpus` lists this machine's GPUs (injected: it needs pynvml)."""

    def __init__(self, python: str, gpus: Callable[[], tuple[Gpu, ...]]) -> None:
        self.python = python
        self._gpus = gpus
        self._lock = threading.Lock()
        self._target: Target | None = None
        self._thread = threading.Thread(target=self._ask_accelerator, name="target-probe", daemon=True)

    def start(self) -> None:
        """Begin asking the accelerator in the background."""
        self._thread.start()

    @property
    def current(self) -> Target:
        """What is known by now; the versions are always there, unless the interpreter can't be asked (`problem`)."""
        with self._lock:
            if self._target is None:
                self._target = self._describe("versions", VERSIONS_TIMEOUT_S, Target(self.python, gpus=self._gpus()))
            return self._target

    @property
    def complete(self) -> bool:
        """True once the accelerator has answered or failed to."""
        return not self._thread.is_alive() and self._thread.ident is not None

    def _describe(self, what: str, timeout_s: float, known: Target) -> Target:
        """The answer, or what was known before with the problem said."""
        try:
            return Target.from_json(self.python, ask(self.python, what, timeout_s), known.gpus)
        except TargetError as error:
            return replace(known, problem=str(error))

    def _ask_accelerator(self) -> None:
        target = self._describe("accelerator", ACCELERATOR_TIMEOUT_S, self.current)
        with self._lock:
            self._target = target
