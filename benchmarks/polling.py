"""What a poll costs by each way through the server: `python -m benchmarks.polling [POLLS]` (decision 018).

The parser (httptools behind our bounds, or h11) and the answer (`ui/site/polls.py`, or an ordinary FastAPI route), each
with the other, without Gradio and the guard, which are the same for all. CPU time of the server's process, in turns of
a hundred polls, so that what else the machine does falls on all alike."""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import orjson
import psutil
import uvicorn
from fastapi import FastAPI, HTTPException, Query
from fastapi.responses import Response

from benchmarks.launching import wait_until
from benchmarks.monitor import NEW_STEPS, Growing, Page
from benchmarks.run import free_port
from dsgui.core.errors import RunError
from dsgui.core.runs.news import Cursor
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.runs.store import Store
from dsgui.ui.access.connections import Connections
from dsgui.ui.site.polls import Polls

WAYS = [(parser, answer) for parser in ("httptools", "h11") for answer in ("polls", "route")]
TURN = 100
_MOST = 1 << 60


def app(answer: str, folder: str) -> Any:
    """What answers: in front of the framework, or as one of its routes."""
    runs, made = Runs(Store(Path(folder)), Launcher()), FastAPI(openapi_url=None)
    if answer == "polls":
        return Polls(made, runs)

    @made.get("/dsgui/runs/{run_id}")
    async def follow(
        run_id: str,
        points: int = Query(0, ge=0, lt=_MOST),
        events: int = Query(0, ge=0, lt=_MOST),
        output: int = Query(-1, ge=-1, lt=_MOST),
        series: int = Query(0, ge=0, lt=_MOST),
        samples: str = Query("", pattern=r"^(\d+(,\d+)*)?$"),
    ) -> Response:
        tables = tuple(map(int, samples.split(","))) if samples else ()
        try:
            delta = runs.follow(run_id, Cursor(points, tables, events, output, series))
        except RunError as error:
            raise HTTPException(404, str(error)) from error
        return Response(orjson.dumps(delta.to_json()), media_type="application/json")

    return made


def serve(parser: str, answer: str, folder: str, port: int) -> None:
    """Until it is killed."""
    http: Any = Connections().protocol() if parser == "httptools" else "h11"
    quiet: dict[str, Any] = {"log_level": "warning", "access_log": False, "timeout_keep_alive": 600}
    uvicorn.run(app(answer, folder), port=port, http=http, **quiet)


class Way:
    """One server and its page."""

    def __init__(self, parser: str, answer: str, folder: str, run_id: str) -> None:
        port = free_port()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.polling", "serve", parser, answer, folder, str(port)]
        )
        self._stat, self._where = psutil.Process(self.process.pid), (port, run_id)
        wait_until(self._answers, "the server to answer", 120)

    def _answers(self) -> bool:
        self._page = Page(*self._where)
        try:
            self._page.follow()
        except OSError:
            return False
        return True

    def turn(self, run: Growing | None) -> float:
        """Milliseconds a poll, of a hundred; with news for each where there is a run to grow."""
        before = self._stat.cpu_times()
        for _ in range(TURN):
            if run:
                run.grow(NEW_STEPS)
            self._page.follow()
        after = self._stat.cpu_times()
        return (after.user + after.system - before.user - before.system) / TURN * 1000


def measure(polls: int) -> None:
    """Prints a line a way."""
    with tempfile.TemporaryDirectory() as folder:
        run = Growing(Path(folder), 10_000)
        ways = {way: Way(*way, folder, run.directory.run_id) for way in WAYS}
        try:
            took: dict[tuple[str, str], tuple[list[float], list[float]]] = {way: ([], []) for way in WAYS}
            for _ in range(polls // TURN):
                for way, one in ways.items():
                    one.turn(None)  # what the other ways' turns added
                    took[way][0].append(one.turn(None))
                    took[way][1].append(one.turn(run))
        finally:
            for one in ways.values():
                one.process.kill()
                one.process.wait()
    for (parser, answer), turns in took.items():
        figures = (f"{statistics.median(one):.2f} ({min(one):.2f} to {max(one):.2f})" for one in turns)
        print(f"| {parser} | {answer} | {' | '.join(figures)} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))
    else:
        measure(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
