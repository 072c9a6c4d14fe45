"""Compiles the operators that training on a CPU uses, before the tests that train: else several tests wait for one
compilation, and each other, at once. Does nothing once they are compiled; who asks meanwhile waits.

DeepSpeed asks the compiler for a debugger's tables, which take half of the time and which nobody here reads:
scripts/compilers/c++ leaves them out. The code is the same, and ninja, in a run, finds nothing to do anew."""

import fcntl
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

BUILDERS = ("CPUAdamBuilder", "ShareMemCommBuilder", "FusedAdamBuilder")
COMPILERS = Path(__file__).resolve().with_name("compilers")
LOCK = Path(sys.prefix) / ".operators.lock"


def build(name: str) -> None:
    from deepspeed.ops.op_builder import cpu
    from torch.utils.cpp_extension import _get_build_directory

    builder = getattr(cpu, name)()
    clear(Path(_get_build_directory(builder.name, False)) / "lock")
    builder.load(verbose=False)


def clear(lock: Path) -> None:
    """Removes torch's lock of a compilation that was ended: whoever compiles has it open, and who asks afterwards
    would wait for ever for nobody."""
    if lock.exists() and not _is_open(lock):
        lock.unlink(missing_ok=True)


def _is_open(path: Path) -> bool:
    for one in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if one.samefile(path):
                return True
        except OSError:  # another user's, or closed by now
            continue
    return False


def main() -> None:
    os.environ["DS_ACCELERATOR"] = "cpu"
    # The ninja of this environment, as in a run: what another one has compiled would be compiled again.
    os.environ["PATH"] = f"{COMPILERS}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
    with LOCK.open("a") as held, ProcessPoolExecutor(2) as pool:
        fcntl.flock(held, fcntl.LOCK_EX)
        list(pool.map(build, BUILDERS))


if __name__ == "__main__":
    main()
