"""`python scripts/beside_load.py N -- COMMAND`: the command beside N processes that do nothing but compute."""

import subprocess
import sys
from contextlib import ExitStack

BUSY = "while True: pass"


def main(count: int, command: list[str]) -> int:
    """The command's exit status."""
    with ExitStack() as stack:
        for _ in range(count):
            busy = stack.enter_context(subprocess.Popen([sys.executable, "-c", BUSY]))
            stack.callback(busy.kill)
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[3:]))
