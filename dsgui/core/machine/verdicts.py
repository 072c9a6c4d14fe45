"""What a check of the machine is made of: its verdict, the row it becomes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

from dsgui.core.texts.saying import Said, in_row, said, sentences, set_apart

Subject = TypeVar("Subject")


class Status(Enum):
    """problem: an ordinary run fails · warning: some runs fail or are slow · ok · unknown: it not checked."""

    PROBLEM = "problem"
    WARNING = "warning"
    OK = "ok"
    UNKNOWN = "unknown"


Sentences = tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One judgement: what was seen (`told`), the things that it counts (`items`, a line each; () where it names a
    single one), what to do about it (`advised`), and the exact command where there is one. `count`: how many it stands
    for among the rows of its status; `found`: what it is about by its own count, `11 errors` of one config."""

    check: str
    title: Said
    status: Status
    told: Sentences
    advised: Sentences = ()
    command: str = ""
    source: str = ""
    count: int = 1
    items: Sentences = ()
    found: Said | None = None

    @property
    def seen(self) -> str:
        return sentences(self.told)

    @property
    def all_seen(self) -> str:
        """With its items, where there is no room for a list."""
        whole = all(str(one).endswith((".", "?", "。", "？")) for one in self.items)
        return in_row((self.seen, sentences(self.items) if whole else str(set_apart(self.items))))

    @property
    def advice(self) -> str:
        return sentences(self.advised)

    def to_json(self) -> dict[str, Any]:
        """For programs: the texts, and the codes by which a program knows them."""
        return {
            "check": self.check,
            "title": str(self.title),
            "status": self.status.value,
            "seen": self.seen,
            "items": [str(one) for one in self.items],
            "advice": self.advice,
            "command": self.command,
            "source": self.source,
            "code": self.told[0].code,
            "advice_code": self.advised[0].code if self.advised else "",
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """A row before its check has stamped it."""

    status: Status
    told: Sentences
    advised: Sentences = ()
    command: str = ""
    count: int = 1
    items: Sentences = ()
    found: Said | None = None


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
        said_so = (verdict.status, verdict.told, verdict.advised, verdict.command)
        return Row(self.id, self.title, *said_so, self.source, verdict.count, verdict.items, verdict.found)


def saw(code: str, /, **given: str | Said) -> Said:
    """A sentence of the catalogue's verdicts: what was seen."""
    return said("verdicts", code, **given)


def advise(code: str, /, **given: str | Said) -> Said:
    """A sentence of the catalogue's advice: what to do about it."""
    return said("verdict_advice", code, **given)


def ok(*told: Said) -> Verdict:
    return Verdict(Status.OK, told)


def warning(told: Said | Sentences, advised: Said | Sentences = (), command: str = "") -> Verdict:
    return Verdict(Status.WARNING, _several(told), _several(advised), command)


def problem(told: Said | Sentences, advised: Said | Sentences = (), command: str = "") -> Verdict:
    return Verdict(Status.PROBLEM, _several(told), _several(advised), command)


def unknown(*told: Said) -> Verdict:
    """What is not known, and why."""
    return Verdict(Status.UNKNOWN, told)


def _several(one: Said | Sentences) -> Sentences:
    return one if isinstance(one, tuple) else (one,)


def worst_first(rows: Iterable[Row]) -> tuple[Row, ...]:
    return tuple(sorted(rows, key=lambda row: list(Status).index(row.status)))


def how_many(rows: Iterable[Row], status: Status) -> int:
    return sum(row.count for row in rows if row.status is status)


def has_problem(rows: Iterable[Row]) -> bool:
    return any(row.status is Status.PROBLEM for row in rows)
