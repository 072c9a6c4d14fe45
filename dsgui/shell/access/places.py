"""The parts of the file system that the page may name files in."""

import os
from collections.abc import Iterable
from pathlib import Path

from dsgui.core.errors import PlaceError
from dsgui.core.texts.saying import Said, listed, wrong
from dsgui.shell.files.folders import home

# The kernel's own: plain files by their mode, yet they tell about processes or act when they are read.
_NEVER = tuple(Path(name) for name in ("/proc", "/sys", "/dev"))


class Places:
    """The folders that may be reached, and what lies in them after every link is followed."""

    def __init__(self, roots: Iterable[Path]) -> None:
        """Raises `PlaceError` for a root that is no folder."""
        self.roots = tuple(dict.fromkeys(_root(root) for root in roots))

    def check(self, path: Path) -> Path:
        """Where `path` leads, links followed. Raises `PlaceError` when that is outside, or no path at all."""
        real = _real(path)
        if any(real.is_relative_to(never) for never in _NEVER):
            raise PlaceError(wrong("place.of_the_kernel", path=f"{path!s:.200}"))
        if not any(real.is_relative_to(root) for root in self.roots):
            raise PlaceError(self._outside(path, real))
        return real

    def _outside(self, path: Path, real: Path) -> Said:
        given = {"path": f"{path!s:.200}", "folders": self._listed(), "allow": _shown(real)}
        if real == path:
            return wrong("place.outside", **given)
        return wrong("place.leads_outside", **given, real=f"{real!s:.200}")

    def _listed(self) -> str | Said:
        return listed(map(str, self.roots))


def usual_places(allowed: Iterable[Path], own: Iterable[Path]) -> Places:
    """The home folder, the working directory (unless that is the root of everything), dsgui's `own` folders, and what
    was `allowed` on the command line. Raises `PlaceError`."""
    usual = [place for place in (home(), Path.cwd()) if place is not None and place.is_dir() and place != Path("/")]
    return Places([*usual, *own, *allowed])


def _root(path: Path) -> Path:
    real = _real(path.expanduser())
    if not real.is_dir():
        raise PlaceError(wrong("place.no_folder", path=str(path)))
    return real


def _real(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except (ValueError, OSError) as error:  # ValueError: a null character
        raise PlaceError(wrong("place.no_path", path=f"{path!s:.80}", why=str(error))) from error


def _shown(real: Path) -> str:
    """The folder to allow for a path to be reached."""
    return str(real if real.is_dir() else real.parent)
