"""What is wrong with the files of a run's folder: each that is not what dsgui wrote, in a clause."""

import os
from collections.abc import Iterator
from pathlib import Path

from dsgui.core.metrics.curves import RECORD
from dsgui.core.texts.saying import Said, said, set_apart
from dsgui.shell.files.json_files import MOST_BYTES
from dsgui.shell.files.refusals import os_reason
from dsgui.shell.files.regular_files import kind_of, open_regular
from dsgui.shell.runs.curve_reader import MOST_POINT_BYTES
from dsgui.shell.runs.store import RunDirectory, size_of

_MOST_NAMED = 6
_LOOKED_AT = 256  # records
_NOT_OURS = ("checkpoint",)


def damage(directory: RunDirectory) -> tuple[Said, ...]:
    """Of its plan and its state, without which nothing is known of a run; then of all that is no file. None of a
    sound folder."""
    return (*_foreign(directory), *_told([*_unread(directory), *_no_files(directory).values()]))


def whole_damage(directory: RunDirectory) -> tuple[Said, ...]:
    """The same, and of what the other files hold: more to read, for the page of one run."""
    return (*_foreign(directory), *_told(_all(directory)))


def damage_found(directory: RunDirectory) -> tuple[Said, ...]:
    """That, where it is said already that something is damaged."""
    return _told(_all(directory), is_said=True)


def _foreign(directory: RunDirectory) -> tuple[Said, ...]:
    """What another version of dsgui wrote is no damage."""
    known = ((directory.plan_file, directory.foreign_plan), (directory.state_file, directory.foreign_state))
    return tuple(said("troubles", "another_version", file=path.name) for path, is_foreign in known if is_foreign())


def _unread(directory: RunDirectory) -> list[Said]:
    """What is wrong with plan and state."""
    plan = None if directory.foreign_plan() else directory.plan_damage()
    state = None if directory.foreign_state() else directory.status_damage()
    return [one for one in (plan, state) if one]


def _all(directory: RunDirectory) -> list[Said]:
    odd = _no_files(directory)
    found = [*_unread(directory), *odd.values()]
    held = [clause for name, clause in _contents(directory) if name not in odd]
    return [*found, *held, *_points(directory)]


def kept(directory: RunDirectory) -> list[str]:
    """The names of its files that hold what a user looks for, and can be read."""
    odd = {*_no_files(directory), *directory.other_damage()}
    shown = (directory.output_file, directory.points_file, directory.config_file, directory.samples_file(0))
    documents = ((directory.plan_file, directory.plan_damage), (directory.state_file, directory.status_damage))
    sound = [path for path, damage_of in documents if damage_of() is None]
    return [path.name for path in (*sound, *shown) if path.name not in odd and size_of(path)]


def _told(found: list[Said], *, is_said: bool = False) -> tuple[Said, ...]:
    told = list(dict.fromkeys(found))
    if not told:
        return ()
    what = set_apart(told[:_MOST_NAMED])
    damaged = said("troubles", "damage_found", what=what) if is_said else said("troubles", "damaged", what=what)
    more = len(told) - _MOST_NAMED
    return (damaged, said("troubles", "more_damage", count=str(more))) if more > 0 else (damaged,)


def _no_files(directory: RunDirectory) -> dict[str, Said]:
    """What stands in place of a file that every run has: a pipe, a folder, a device, a link to nothing. By name."""
    known = {path.name for path in _files(directory)}
    try:
        with os.scandir(directory.path) as entries:
            odd = sorted(entry.name for entry in entries if entry.name in known and not _is_file(entry))
    except OSError as error:
        return {"": said("troubles", "folder_unreadable", why=os_reason(error))}
    return {name: _oddity(directory.path / name) for name in odd}


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # links in a ring
        return False


def _oddity(path: Path) -> Said:
    try:
        return said("troubles", "no_file", file=path.name, kind=kind_of(os.stat(path).st_mode))
    except OSError:
        return said("troubles", "no_file", file=path.name, kind=said("files", "dead_link"))


def _files(directory: RunDirectory) -> Iterator[Path]:
    yield from (directory.output_file, directory.points_file, directory.config_file, directory.events_file)
    yield from (directory.samples_file(0), directory.command_file, directory.supervisor_log, directory.beat_file)
    yield from _documents(directory)


def _documents(directory: RunDirectory) -> Iterator[Path]:
    yield from (directory.plan_file, directory.state_file, directory.asked_file, directory.progress_file)
    yield from (directory.series_file, directory.patterns_file, directory.diagnosis_file, directory.provenance_file)
    yield from (directory.sample_columns_file(0), directory.label_file, directory.adopted_file)


def _contents(directory: RunDirectory) -> Iterator[tuple[str, Said]]:
    yield from directory.other_damage().items()
    if (size := size_of(directory.config_file)) > MOST_BYTES:
        name = directory.config_file.name
        yield name, said("troubles", "not_shown", file=name, bytes=f"{size:,}")


def _points(directory: RunDirectory) -> Iterator[Said]:
    """Whether the points are points: the first of them are looked at."""
    if (size := size_of(directory.points_file)) > MOST_POINT_BYTES:
        yield said("troubles", "large_points", file=directory.points_file.name, bytes=f"{size:,}")
    try:
        with open_regular(directory.points_file) as file:
            records = file.read(_LOOKED_AT * RECORD.size)
    except OSError:
        return
    records = records[: len(records) // RECORD.size * RECORD.size]
    known = len(directory.read_series())
    strange = sum(number >= known for number, *_ in RECORD.iter_unpack(records))
    if strange:
        yield said("troubles", "strange_points", file=directory.points_file.name)
