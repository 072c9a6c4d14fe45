"""Why one run is slow: its curves, samples and events, read for `core/slow`."""

import math
from collections.abc import Iterator
from contextlib import suppress

from dsgui.core.config.document import Document
from dsgui.core.errors import DocumentError
from dsgui.core.metrics.points import Event
from dsgui.core.rules.base import offload_device
from dsgui.core.slow.causes import Judgement, why_slow
from dsgui.core.slow.sampled import Moment
from dsgui.runs.runs import Runs
from dsgui.shell.files.json_files import parse_object
from dsgui.shell.runs.store import RunDirectory, Store


def why_run_is_slow(store: Store, runs: Runs, run_id: str) -> Judgement:
    """Of all that was logged and sampled so far. Raises `RunError` when there is no such run."""
    directory = store.open(run_id)
    return why_slow(runs.curves(run_id), list(_moments(directory)), offloads=_offloads(directory))


def _moments(directory: RunDirectory) -> Iterator[Moment]:
    lines, _ = directory.read_lines(directory.events_file, 0)
    for line in lines:
        with suppress(ValueError, KeyError, TypeError):
            told = parse_object(line)
            at = float(told["elapsed_s"])
            if math.isfinite(at):
                yield at, Event(str(told["kind"]), "")


def _offloads(directory: RunDirectory) -> bool:
    try:
        return offload_device(Document(directory.read_config()).value, "offload_optimizer") != "none"
    except DocumentError:
        return False
