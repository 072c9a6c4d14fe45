"""What a check of the machine is made of: its verdict, the row it becomes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from dsgui.core.texts.saying import Said, said

Subject = TypeVar("Subject")


class Status(Enum):
    """problem: an ordinary run fails · warning: some runs fail or are slow · ok · unknown: it not checked."""

    PROBLEM = "problem"
    WARNING = "warning"
    OK = "ok"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Row:
    """One judgement: what was `seen`, what to do about it, and the exact command where there is one."""

    check: str
    title: str
    status: Status
    seen: str
    advice: str = ""
    command: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A row before its check has stamped it."""

    status: Status
    seen: str
    advice: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class Check(Generic[Subject]):
    """One entry of a table. `judge` gives None where there is nothing to judge. Its title is the text of its id among
    the catalogue's checks, or of `code` where another check of that id is about something else."""

    id: str
    source: str
    judge: Callable[[Subject], Verdict | None]
    code: str = ""

    @property
    def title(self) -> Said:
        return said("checks", self.code or self.id)

    def row(self, subject: Subject) -> Row | None:
        verdict = self.judge(subject)
        if verdict is None:
            return None
        return Row(self.id, str(self.title), verdict.status, verdict.seen, verdict.advice, verdict.command, self.source)


def ok(seen: str) -> Verdict:
    return Verdict(Status.OK, seen)


def warning(seen: str, advice: str, command: str = "") -> Verdict:
    return Verdict(Status.WARNING, seen, advice, command)


def problem(seen: str, advice: str, command: str = "") -> Verdict:
    return Verdict(Status.PROBLEM, seen, advice, command)


def unknown(seen: str) -> Verdict:
    """`seen` says what is not known, and why."""
    return Verdict(Status.UNKNOWN, seen)


def worst_first(rows: Iterable[Row]) -> tuple[Row, ...]:
    return tuple(sorted(rows, key=lambda row: list(Status).index(row.status)))


def has_problem(rows: Iterable[Row]) -> bool:
    return any(row.status is Status.PROBLEM for row in rows)
