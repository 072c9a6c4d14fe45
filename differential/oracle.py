"""Puts questions to the real DeepSpeed of a release: the environment's own, or an overlay folder laid over it.

Overlays are made by `make matrix` and lie in `.overlays/<release>`, or where DSGUI_OVERLAYS says.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[1]
CHILD = Path(__file__).with_name("child.py")
OVERLAYS = Path(os.environ.get("DSGUI_OVERLAYS", ROOT / ".overlays"))
_LIMIT_S = 3600


class OracleError(Exception):
    """The real DeepSpeed could not be asked."""


@dataclass(frozen=True)
class Question:
    """One config and the circumstances. `script` says how the training script behaves:

    optimizer: "torch.optim.AdamW" (the default), "DeepSpeedCPUAdam" or null, used where the file has none ·
    model: "pipeline", or "llama" (which tensor parallelism recognises) · steps: how many ·
    checkpointing: calls deepspeed.checkpointing.configure · save: calls save_16bit_model ·
    rank: the one that is tried, of several · bf16_supported, fp16_supported: what the accelerator answers.
    """

    text: str
    reader: str = "native"
    world_size: int = 1
    script: Mapping[str, Any] = field(default_factory=dict)
    training_arguments: Mapping[str, Any] = field(default_factory=dict)
    until: str = "step"


@dataclass(frozen=True)
class Answer:
    """verdict: ok · reject · unavailable (this machine lacks something) · crash; stage: where it stopped or came to."""

    verdict: str
    stage: str
    message: str = ""


def installed() -> str:
    """The release of the environment's own DeepSpeed."""
    return version("deepspeed")


def install(release: str) -> None:
    """Installs DeepSpeed `release` into its overlay folder, unless it is there."""
    folder = overlay(release)
    if release == installed() or (folder / "deepspeed").is_dir():
        return
    wanted = ["--no-deps", "--no-build-isolation", "--target", str(folder), f"deepspeed=={release}"]
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *wanted], check=True)


def ask(questions: Sequence[Question], release: str = "") -> list[Answer]:
    """The answers of DeepSpeed `release`, in the order of the questions. Raises `OracleError` without that release."""
    lines = "".join(json.dumps(asdict(question)) + "\n" for question in questions)
    done = subprocess.run(
        [sys.executable, str(CHILD)], input=lines, capture_output=True, text=True, check=False, timeout=_LIMIT_S,
        env=_environment(release),
    )  # fmt: skip
    answers = [Answer(**json.loads(line)) for line in done.stdout.splitlines()]
    if len(answers) != len(questions):
        ended = f"{CHILD.name} gave {len(answers)} of {len(questions)} answers and ended with {done.returncode}"
        raise OracleError(f"DeepSpeed {release or installed()}: {ended}.\n{done.stderr[-2000:]}")
    return answers


class Resident:
    """The installed DeepSpeed, kept running to be asked one question after another. A context manager."""

    def __init__(self, program: Path = CHILD) -> None:
        self._program = program

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, str(self._program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=_environment(""),
        )  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """One answer, as the program writes it. Raises `OracleError` when the program is gone."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise OracleError(f"{self._program.name} ended with status {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def overlay(release: str) -> Path:
    """The folder that is laid over the environment for `release`."""
    return OVERLAYS / release


def _environment(release: str) -> dict[str, str]:
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}
    if release in ("", installed()):
        return environment
    if not (overlay(release) / "deepspeed").is_dir():
        raise OracleError(f"DeepSpeed {release}: not in {OVERLAYS}. Run make matrix, which installs it there.")
    return {**environment, "PYTHONPATH": str(overlay(release)), "DSGUI_OPS_OF_THE_ENVIRONMENT": "1"}
