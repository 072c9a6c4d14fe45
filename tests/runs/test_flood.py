"""A run that prints a hundred megabytes a second: what is kept of it, and what it costs supervisor and server.

`python -m benchmarks.flood` does it for a minute.
"""

import json
from pathlib import Path

from benchmarks.flood import FLOOD, Watched, kept
from dsgui.core.launch.state import RunState
from tests.support.app_server import running_app
from tests.support.curves_json import logged
from tests.support.run_fixtures import Bench, bench

__all__ = ["bench"]

MOST_KEPT_BYTES = 64 << 20  # a head of 32 MiB, and at most two pieces of 16 MiB
MOST_GROWTH_BYTES = 50 << 20


def test_a_flood_of_output_is_capped_and_costs_neither_supervisor_nor_server_memory(bench: Bench) -> None:
    with running_app(bench.store.runs_dir) as app:
        run_id = bench.start(FLOOD, arguments="--seconds 5 --rate 100 --least 160")
        status = bench.store.open(run_id).read_status()
        assert status is not None
        assert status.supervisor is not None
        watched = Watched({"server": app.process.pid, "supervisor": status.supervisor.pid})
        cursor = {"output": -1}
        while bench.runs.summary(run_id).state.live:
            query = "&".join(f"{name}={value}" for name, value in cursor.items())
            cursor = json.load(app.get(f"dsgui/runs/{run_id}?{query}"))["cursor"]
            watched.look()
        ended = json.load(app.get(f"dsgui/runs/{run_id}"))
    assert ended["state"] == RunState.SUCCEEDED.value, ended["reason"]
    assert watched.growth_bytes["server"] <= MOST_GROWTH_BYTES
    assert watched.growth_bytes["supervisor"] <= MOST_GROWTH_BYTES

    path: Path = bench.store.open(run_id).output_file
    found = kept(path)
    assert found.printed_bytes > 2 * MOST_KEPT_BYTES  # or nothing would have been left out
    assert path.stat().st_size <= MOST_KEPT_BYTES + 200
    assert found.head_is_whole
    assert found.tail_is_whole
    assert found.left_out_bytes == found.printed_bytes - (path.stat().st_size - found.marker_bytes)
    assert list(path.parent.glob("output.tail.*")) == []
    assert [point["step"] for point in logged(ended["curves"])] == [1, 2]  # before the flood, and after it
