"""Finds the lines of a block that may matter: those with one of a few words, searched for at the speed of memchr.

Most lines of a training say nothing of interest. Finding the others costs one search of the whole block per word, and
nothing per line.
"""

from collections.abc import Iterable
from functools import lru_cache
from heapq import heapify, heappop, heapreplace

# Lower-case, as `TellingLines` looks for them. One of these is in every line that has points or a bar.
OF_POINTS = (
    *(b"{", b"loss", b"step", b"iter", b"%|", b"time (ms)", b"max_ma ", b"virtual memory:  used", b"overflow!"),
    b"average reward score: ",
    b"samplespersec",
    "损失".encode(),
    b"***** ",
)
# In every line that says how a rank or the launcher ended. A traceback is read from its first line to its last.
# (Few words, and long ones: each is looked for in all of a flood. torchrun's summary comes last.)
OF_THE_END = (b"traceback (most", b"spawned with", b" exits ", b"killing subprocess", b"pdsh@", b"slurm: job")
# What else changes how an ending or the events read; of a flood only the last such lines matter.
OF_LAST_WORDS = (
    *(b"error", b"(local_rank:", b"exitcode", b"launch.py:", b"runner.py:", b"accelerator.py:", b"watchdog caught"),
    *(
        b"warnings.warn(",
        b"host key verification",
        b"permission denied (",
        b"exception ignored",
        b"slurmstepd",
        b"slurm: the job was rejected",
        b"ssh: ",
    ),
)
OF_EVENTS = (b"warn", b"critical", b"]:[w", b"sav")
# Only before the training.
OF_PHASES = (b"extension", b"ninja", b"cuda files", b"++", b"nvcc", b"built success", b" seconds")
# And bars of preparations whose end is not known.
OF_PREPARATIONS = (b"examples/s]",)
# Only where epochs begin with a line of their own.
OF_EPOCHS = (b"epoch",)

IN_A_FLOOD = (*OF_POINTS, *OF_THE_END)
ALL = (*IN_A_FLOOD, *OF_LAST_WORDS, *OF_EVENTS)
# A line with one of these does more than its numbers say.
BEYOND_NUMBERS = (*OF_THE_END, *OF_LAST_WORDS, *OF_PHASES)


# A character alone is found at a fraction of what a word costs, and these are in few blocks: a word that has one is
# only looked for where it is.
_RARE = b"{%(!_[]@|*\xe6.:"


@lru_cache(256)
def _rare(word: bytes) -> bytes:
    return next((word[place : place + 1] for place in range(len(word)) if word[place] in _RARE), b"")


class TellingLines:
    """Those lines of a block that contain one of the words; every line ends with a newline. `block` is in lower
    case."""

    def __init__(self, block: bytes, words: Iterable[bytes]) -> None:
        self._block = block
        self._next = [(place, word) for word in words if _rare(word) in block and (place := block.find(word)) >= 0]
        heapify(self._next)

    def after(self, start: int) -> int:
        """The beginning of the first such line at or after `start` (the beginning of a line); the block's end if there
        is none."""
        block, coming = self._block, self._next
        while coming:
            place, word = coming[0]
            if place >= start:
                return block.rfind(b"\n", start, place) + 1 or start
            place = block.find(word, start)
            if place < 0:
                heappop(coming)
            else:
                heapreplace(coming, (place, word))
        return len(block)
