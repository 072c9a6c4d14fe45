"""A machine's constants as its finished runs told them: a file in dsgui's own folder, one for each machine."""

import platform
import re
from collections.abc import Mapping
from pathlib import Path

from dsgui.core.memory.fits.foretold import Foretold
from dsgui.core.memory.fits.learning import LEAST_STEPS, seen_in
from dsgui.core.memory.fits.sharpened import Sharpened
from dsgui.shell.files.folders import data_home, held, make_private
from dsgui.shell.files.json_files import Known, json_bytes, replace_file

_FOLDER = "memory"
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]")
_KNOWN = Known(Sharpened.from_json)


def constants_file() -> Path:
    """A home may be shared by several machines."""
    name = _NOT_IN_A_NAME.sub("_", platform.node())[:100] or "this"
    return data_home() / _FOLDER / f"machine-{name}.json"


def sharpened() -> Sharpened:
    """What was learnt so far; nothing where the file can't be read."""
    return _KNOWN.read(constants_file()) or Sharpened()


def learn(run_id: str, foretold: Foretold | None, peak: Mapping[str, int], steps: float) -> bool:
    """From a run that went well on this machine; whether it told anything. Raises `UNREADABLE`: a file that holds
    something else stays as it is. Waits for nobody: while another run's end has the file, this one tells nothing."""
    seen = seen_in(run_id, foretold, peak) if foretold and steps >= LEAST_STEPS else None
    if seen is None:
        return False
    path = constants_file()
    make_private(path.parent)
    with held(path.parent, wait=False):
        before = _KNOWN.read_strictly(path) if path.exists() else Sharpened()
        replace_file(path, json_bytes(before.adding(seen).to_json()), durable=False)
    return True
