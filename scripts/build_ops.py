"""Compiles the operators that training on a CPU uses, before the tests: else several tests wait for one compilation,
and each other, at once. Does nothing once they are compiled."""

import os
import sys
from concurrent.futures import ProcessPoolExecutor

os.environ["DS_ACCELERATOR"] = "cpu"
# The ninja of this environment, as in a run: what another one has compiled would be compiled again.
os.environ["PATH"] = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
BUILDERS = ("CPUAdamBuilder", "FusedAdamBuilder", "ShareMemCommBuilder")


def build(name: str) -> None:
    from deepspeed.ops.op_builder import cpu

    getattr(cpu, name)().load(verbose=False)


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(build, BUILDERS))
