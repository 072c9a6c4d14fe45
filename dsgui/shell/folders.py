"""Where dsgui keeps what outlives it. Imported at start: the standard library alone."""

import os
from pathlib import Path


def default_runs_dir() -> Path:
    """`$XDG_DATA_HOME/dsgui/runs`: outside the checkout, so that an update of dsgui touches no run."""
    return _data_home() / "runs"


def default_presets_dir() -> Path:
    """Beside the runs, for the same reason."""
    return _data_home() / "presets"


def _data_home() -> Path:
    data_home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data_home) / "dsgui"


def make_private(folder: Path) -> None:
    """Makes a folder and those missing above it for their owner alone, whatever the umask is.
    `Path.mkdir(parents=True)` gives its mode to the last one only. Raises OSError."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in (*reversed(missing), folder):
        place.mkdir(mode=0o700, exist_ok=True)
