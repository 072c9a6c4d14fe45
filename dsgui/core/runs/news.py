"""What a page is told of runs: a line of the list, and what was added to a run since it last asked."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from dsgui.core.launch.state import RunState
from dsgui.core.runs.no_loss import NoLoss
from dsgui.core.texts.saying import Said, sentences


@dataclass(frozen=True, slots=True)
class Cursor:
    """What a page has already: byte offsets, of the samples one for each table, and how many series it knows.
    `output` is -1 for "nothing yet, begin near the end". `turn` is that of `core.adopted.record`."""

    points: int = 0
    samples: tuple[int, ...] = ()
    events: int = 0
    output: int = -1
    series: int = 0
    turn: int = 0

    def to_json(self) -> dict[str, Any]:
        """As a page sends it back."""
        offsets = {"points": self.points, "events": self.events, "output": self.output, "series": self.series}
        offsets["turn"] = self.turn
        return offsets | {"samples": ",".join(map(str, self.samples))}

    @property
    def fresh(self) -> bool:
        """Whether the page has nothing yet."""
        return self.output < 0


@dataclass(frozen=True, slots=True)
class Change:
    """One setting in which a run differs from an earlier one: the part it belongs to, and its value before and after
    (None: not set, "": an option without a value)."""

    part: str
    key: str
    before: str | Said | None
    after: str | Said | None

    def told(self) -> "Change":
        """In the language in use."""
        before, after = (None if value is None else str(value) for value in (self.before, self.after))
        return replace(self, before=before, after=after)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One line of the list. `loss` is a number, or "NaN", "Infinity", "-Infinity"; None where nothing was logged, and
    `no_loss` says why; `doing` is what is prepared before the training. `place` counts the runs in the order they were
    launched; 0 for those from before they were counted. `predicted` is the memory that was foretold, `peak` the most
    that was measured, in bytes by device; `step_s` is what a step takes, after the first.
    `odd_loss` has the first loss that is no number, and its step, which may be None. `trial` is the plan's.
    `why` is the title of the diagnosis that was kept of a failed run, or ""; `trouble` is what is wrong with its folder
    or its supervisor; `adopted`: dsgui did not start it."""

    run_id: str
    name: str
    state: RunState
    started_at: float | None
    duration_s: float | None
    step: int | None
    total: int | None
    loss: float | str | None
    preset: str
    model: str = ""
    devices: str | Said = ""
    script: str = ""
    place: int = 0
    doing: str = ""
    no_loss: NoLoss | None = None
    why: str | Said = ""
    trouble: tuple[Said, ...] = ()
    predicted: Mapping[str, int] | None = None
    peak: Mapping[str, int] | None = None
    best_loss: float | str | None = None
    odd_loss: Mapping[str, Any] | None = None
    steps_per_second: float | None = None
    step_s: float | None = None
    tags: tuple[str, ...] = ()
    note: str = ""
    archived: bool = False
    differs: tuple[Change, ...] = ()
    differs_from: str = ""
    trial: str = ""
    adopted: bool = False

    @property
    def problem(self) -> str:
        """The trouble, in sentences."""
        return sentences(self.trouble)

    def to_json(self) -> dict[str, Any]:
        """`why`, `problem`, `devices` and what `differs` are in the language in use."""
        differs = tuple(one.told() for one in self.differs)
        plain = asdict(replace(self, trouble=(), why=str(self.why), devices=str(self.devices), differs=differs))
        del plain["trouble"]
        return plain | {"state": self.state.value, "problem": self.problem}


@dataclass(frozen=True, slots=True)
class Window:
    """The part of the list of runs that a page shows: `count` of those that fit every one of `words`, from the
    `first` on. `since`: what the page was told with its last answer for the same window, "" for nothing yet. `find`: a
    run whose place in the list is asked for. `sort` is a column, "" for the order in which they were launched.
    `archived`: those that were put away are asked for, too. `baseline`: a run that is told wherever it stands. `held`:
    the runs that a page shows: several come first; one comes first only where the list would not have it. `more`:
    further columns that are shown, as `run_settings.column_values` and `metrics:…` name them; `sort` may be one."""

    first: int = 0
    count: int = 50
    words: tuple[str, ...] = ()
    since: str = ""
    find: str = ""
    sort: str = ""
    descending: bool = False
    archived: bool = False
    baseline: str = ""
    held: tuple[str, ...] = ()
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listed:
    """What a page is told of its window. `fits` of all `total` runs fit the words, `held` of these only because they
    are shown; `unread` others are still to be read. `ids` are the window's runs in order, None where they are what the
    page has; `rows` those of them that changed since then. `place` is that of the run that was asked for, None where
    it is not among those that fit; `archived` counts the runs that were put away, `archived_fit` those of them that
    would fit if they were asked for, `tagged` those that have a tag; `unfinished` is as `filters.unfinished` says
    and `misread` as `filters.misread`, where nothing fits; `more` has the further columns of each run of the window,
    `bases` the names of the runs that these differ from, "" of one that was deleted."""

    total: int
    fits: int
    unread: int
    ids: tuple[str, ...] | None
    rows: tuple[RunSummary, ...]
    since: str
    place: int | None = None
    archived: int = 0
    archived_fit: int = 0
    held: int = 0
    baseline: RunSummary | None = None
    unfinished: tuple[str, str] | None = None
    misread: tuple[str, str, str] | None = None
    tagged: int = 0
    more: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    bases: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values. Why there is no loss is told with the run."""
        rows, baseline = [_row(row) for row in self.rows], self.baseline and _row(self.baseline)
        return {name: getattr(self, name) for name in self.__slots__} | {"rows": rows, "baseline": baseline}


def _row(run: RunSummary) -> dict[str, Any]:
    return {name: value for name, value in run.to_json().items() if name != "no_loss"}


@dataclass(frozen=True, slots=True)
class Delta:
    """One run as it is now, and what was added since a cursor. `alive` counts the processes of a lost run;
    `progress` has `step`, `total`, `eta_s`, or is None before the output told any; `epoch` has `number` and
    `epochs`, where a script names them; `doing` is what is prepared before the training, in words. `no_loss` says
    why there is no curve of the loss; `phase_s` is how long its phase has lasted; `about` is what never changes, told
    once; `problem` is its trouble in sentences, as in `RunSummary`. `curves` is as `core.metrics.thinning.to_json`
    says, with the `series` that are new, by id; `anew`: they are all that there are, and take the place of those that
    were told before. `tags` and `note`: what its user wrote on it; `peak`: the most memory it had, by its record."""

    run_id: str
    name: str
    state: RunState
    reason: str
    phase: str
    phase_s: float | None
    exit_code: int | None
    started_at: float | None
    ended_at: float | None
    elapsed_s: float | None
    alive: int
    telemetry_note: str
    problem: str
    kill_in_s: float | None
    can_end: bool
    can_save: bool
    progress: dict[str, Any] | None
    epoch: dict[str, Any] | None
    doing: str
    no_loss: NoLoss | None
    about: dict[str, Any]
    curves: dict[str, Any]
    events: list[dict[str, Any]]
    output: str
    cursor: Cursor
    anew: bool = False
    tags: tuple[str, ...] = ()
    note: str = ""
    archived: bool = False
    peak: Mapping[str, int] | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, no NaN."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        no_loss = self.no_loss and self.no_loss.to_json()
        return fields | {"state": self.state.value, "cursor": self.cursor.to_json(), "no_loss": no_loss}
