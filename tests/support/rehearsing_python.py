"""A training environment whose dry runs are made up: `made_up` writes an interpreter that is this one but for the
memory worker. Run by path it is that worker: it tells of phases, then waits for the file `go`, and answers with
`answer.json` beside it."""

import json
import shlex
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
WAIT_S = 0.05
PHASES = (("model", 0), ("init", 0), ("forward", 0), ("backward", 1))


def made_up(folder: Path, answer: object) -> Path:
    """The interpreter, for `--python`; it answers once `go` is there."""
    (folder / "answer.json").write_text(json.dumps(answer), "utf-8")
    python, this = shlex.quote(sys.executable), shlex.quote(str(Path(__file__)))
    worker = f"exec {python} {this} {shlex.quote(str(folder))}"
    script = f'#!/bin/sh\ncase "$1" in */memory_worker.py) {worker};; esac\nexec {python} "$@"\n'
    (folder / "python").write_text(script, "utf-8")
    (folder / "python").chmod(0o755)
    return folder / "python"


def running(folder: Path) -> list[str]:
    """The workers that are there, by their pids."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if str(Path(__file__)).encode() in words and str(folder).encode() in words:
            found.append(entry.name)
    return found


def main(folder: Path) -> None:
    say({"hello": {"deepspeed": "0", "torch": "0", "transformers": "0"}})
    for _ in sys.stdin:
        for phase, step in PHASES:
            say({"phase": phase, "step": step})
        while not (folder / "go").exists():
            time.sleep(WAIT_S)
        say({"answer": json.loads((folder / "answer.json").read_text("utf-8"))})


def say(message: object) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
