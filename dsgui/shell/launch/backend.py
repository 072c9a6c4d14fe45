"""What dsgui does where a run trains: looks before the start, starts it, ends it, tells what is left."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, Protocol

from dsgui.core.errors import PlanError
from dsgui.core.launch.command import argv
from dsgui.core.launch.plan import Plan
from dsgui.core.launch.state import Identity
from dsgui.core.machine.verdicts import Row
from dsgui.core.texts.saying import Said, listed, said, wrong


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of ending a run on one machine: how many processes were `told` to, which are `left`, or a `problem`."""

    host: str | Said
    told: int = 0
    left: tuple[int, ...] = ()
    problem: str | Said = ""


@dataclass(frozen=True, slots=True)
class Start:
    """How a run's first process is started here: it lives for as long as the run, and prints what the run prints."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    descriptors: tuple[int, ...] = ()


class Backend(Protocol):
    """One for each `Place`, listed in `where.py`. What is done here is what this machine alone needs; the processes of
    the run that are on this machine are the supervisor's own matter."""

    TAKES_SECONDS: ClassVar[bool] = False
    """Whether a start does: then nobody waits for it who launched."""
    OUT_OF_SIGHT: ClassVar[bool] = False
    """Whether something of the run may be left that `end` alone can tell of and reach."""
    RANKS_ARE_KIN: ClassVar[bool] = True
    """Whether the ranks on this machine descend from the run's first process."""
    REACHES: ClassVar[Sequence[str]] = ()
    """What runs a command on one of the place's hosts, before the host's name."""

    def check(self) -> None:
        """Raises `RunError` where nothing can be started."""
        return

    def ask(self, plan: Plan) -> tuple[Row, ...]:
        """What stands in the way there, where the place can be asked. May take some seconds. Raises `PlanError`."""
        raise PlanError(wrong("place.nothing_to_check", place=plan.place.called()))

    @contextmanager
    def starting(self, plan: Plan, environment: Mapping[str, str]) -> Iterator[Start]:
        """While the run's first process is started with `environment`. Raises `RunError`, OSError."""
        yield Start(argv(plan), environment)

    def end(self, plan: Plan, process: Identity | None, grace_s: float, hurry: Callable[[], bool]) -> tuple[Ended, ...]:
        """Ends the run where this machine's signals don't reach: TERM, and KILL after `grace_s` or as soon as `hurry`
        says so. `process` is the run's first one: ended as well if it would start more."""
        return ()

    def end_late(self, plan: Plan, ended: tuple[Ended, ...], hurry: Callable[[], bool]) -> tuple[Ended, ...]:
        """Once no process of the run is left on this machine: what they may have started meanwhile. `ended` is what
        `end` returned."""
        return ended


def what_is_left(ended: Sequence[Ended]) -> Said:
    """Goes on a sentence about this machine: " here or on worker-1; worker-2 could not be asked (No route to host)"."""
    clear = listed(one.host for one in ended if not one.left and not one.problem)
    found = said("reasons", "here_or_on", hosts=clear) if clear else said("reasons", "nowhere_else")
    for one in ended:
        if one.problem:
            found = said("reasons", "host_not_asked", elsewhere=found, host=one.host, problem=one.problem)
        elif one.left:
            pids = listed(map(str, one.left))
            found = said("reasons", "left_on_host", elsewhere=found, host=one.host, pids=pids)
    return found
