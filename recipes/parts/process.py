"""One process among the ranks of a run: who speaks, how bad input ends it, what it leaves behind."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

BAD_INPUT = 2
RANK_0_SPEAKS_S = 5.0
ASK_HUB = "Check the name, and that this machine reaches the hub; a local folder or file needs no hub."


class RecipeError(Exception):
    """The recipe cannot proceed; the message says what was seen, what was expected and what to do."""


def outcome(script: str, run: Callable[[Sequence[str]], None], argv: Sequence[str]) -> int:
    """Run a recipe. The exit code is 0, or 2 for bad input; anything else that fails keeps its traceback."""
    share_cores()
    try:
        run(argv)
        code = 0
    except RecipeError as error:
        code = refuse(script, error)
    leave_process_group()
    return code


def is_rank_0() -> bool:
    """Whether this process speaks for the whole run."""
    return int(os.environ.get("RANK", "0")) == 0


def say(message: str) -> None:
    """One line for the user, from rank 0, that leaves a progress bar whole."""
    from tqdm import tqdm

    if is_rank_0():
        tqdm.write(f"recipe: {message}")


def write_line(text: str) -> None:
    """A line at once: where nothing is buffered, print writes its end apart, and another rank's text comes between."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def refuse(script: str, error: RecipeError) -> int:
    """Tell why, once, and return the exit code."""
    if is_rank_0():
        print(f"{script}: {error}", file=sys.stderr, flush=True)
    else:
        # The launcher ends all ranks as soon as one has failed; rank 0 must not be ended before it has spoken.
        time.sleep(RANK_0_SPEAKS_S)
    return BAD_INPUT


@contextmanager
def bad_input(what: str, advice: str = "") -> Iterator[None]:
    """Turn what libraries raise for bad input into a RecipeError."""
    try:
        yield
    except library_errors() as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise RecipeError(f"{what}: {reason.rstrip('.')}. {advice}".rstrip()) from error


def library_errors() -> tuple[type[Exception], ...]:
    """The exceptions by which transformers, datasets and the hub's client report bad input."""
    from datasets.exceptions import DatasetsError

    return OSError, ValueError, ImportError, DatasetsError


def share_cores() -> None:
    """Give each rank its share of the cores: two ranks with all cores each are slower than one."""
    ranks = int(os.environ.get("LOCAL_WORLD_SIZE") or os.environ.get("LOCAL_SIZE") or 1)
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // ranks)))


def leave_process_group() -> None:
    """Close the process group: after ZeRO-3 the interpreter can abort at exit when it is still open."""
    torch = sys.modules.get("torch")
    if torch and torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
