"""DeepSpeed's operators may be being compiled beside the tests (`make test`): what trains waits for them."""

import fcntl
from functools import cache

from scripts.build_ops import LOCK


@cache
def wait_for_operators() -> None:
    """Returns once nobody compiles them; at once, where nobody does."""
    with LOCK.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
