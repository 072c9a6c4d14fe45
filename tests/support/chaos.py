"""Kills dsgui's processes and the training's at random, over many short runs, and looks at what is left of each.

    make chaos ARGS="--kills 1000"

A run is a launcher with two ranks that say what DeepSpeed's say; rank 0 prints numbered losses and notes in a file how
many it has printed. The last of a run's supervisor and guardians is never killed: then nothing can be done.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from dsgui.core.launch.state import Identity, RunState, RunStatus
from dsgui.shell.processes.processes import identify, is_alive, members, send_signal
from dsgui.shell.runs.curve_reader import read_points
from dsgui.shell.runs.store import RunDirectory
from tests.support.app_server import running_app
from tests.support.run_fixtures import CONFIG, Bench

SCRIPT = """\
import os, subprocess, sys, time
if sys.argv[1] == "rank":
    rank, steps, pause, printed = int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), sys.argv[5]
    count = os.open(printed, os.O_WRONLY)
    for step in range(1, steps + 1):
        if rank == 0:
            os.write(1, b"step=%d loss=%.6f lr=0.1\\n" % (step, 1 / step))
            os.pwrite(count, b"%06d" % step, 0)
        time.sleep(pause)
    sys.exit(0)
def say(text):
    print("[2026-01-31 23:59:59,000] [INFO] [launch.py:100:main]", text, flush=True)
ranks = [subprocess.Popen([sys.executable, __file__, "rank", str(rank), *sys.argv[1:]]) for rank in (0, 1)]
for rank in ranks:
    say(f"process {rank.pid} spawned with command: [python]")
left = list(ranks)
while left:
    time.sleep(0.01)
    for rank in [rank for rank in left if rank.poll() is not None]:
        left.remove(rank)
        if rank.returncode == 0:
            say(f"Process {rank.pid} exits successfully.")
            continue
        for other in left:
            say(f"Killing subprocess {other.pid}")
            other.kill()
        say(f"[{rank.args}] exits with return code = {rank.returncode}")
        sys.exit(rank.returncode)
"""
OWN = ("supervisor", "guardian")
_END_S, _START_S = 60.0, 30.0


@dataclass
class Tally:
    """What was killed, and what was wrong afterwards. Of all threads."""

    kills: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    points: int = 0
    faults: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def killed(self) -> int:
        return sum(self.kills.values())

    def add(self, what: str) -> None:
        with self.lock:
            self.kills[what] += 1


@dataclass
class Trial:
    """One run under fire."""

    bench: Bench
    chance: random.Random
    tally: Tally
    run_id: str = ""
    guardians_killed: int = 0
    killed: str = ""  # of the training's own processes
    began: float = 0.0
    shots: list[str] = field(default_factory=list)
    dying: list[Identity] = field(default_factory=list)

    @property
    def directory(self) -> RunDirectory:
        return self.bench.store.open(self.run_id)

    @property
    def status(self) -> RunStatus:
        return self.directory.read_status() or RunStatus()

    @property
    def printed(self) -> Path:
        return self.bench.folder / f"printed-{self.run_id}"

    def go(self) -> None:
        self.began = time.time()
        steps, pause = self.chance.randint(150, 400), self.chance.choice((0.001, 0.003, 0.006))
        name = f"printed-{self.chance.getrandbits(64):x}"
        arguments = f"{steps} {pause} {self.bench.folder / name}"
        plan = self.bench.runs.prepare(self.bench.request(self.bench.folder / "train.py", arguments=arguments))
        (self.bench.folder / name).touch()
        self.run_id = self.bench.runs.start(plan, CONFIG)
        self.printed.symlink_to(self.bench.folder / name)
        ends_training = self.chance.choice(("", "", "", "launcher", "rank"))
        shots = [self.chance.choice((*OWN, *OWN, "both")) for _ in range(self.chance.randint(3, 8))]
        if ends_training:
            shots.insert(self.chance.randint(0, len(shots)), ends_training)
        for shot in shots:
            time.sleep(self.chance.random() * steps * (pause + 0.001) / len(shots))
            self.shoot(shot)
        self.look(steps)

    # -- shooting --------------------------------------------------------------------------------------------------

    def shoot(self, what: str) -> None:
        status = self.status
        if not status.state.live:
            return
        owners = [one for one in status.owners if is_alive(one)]
        guardians = [one for one in status.guardians if is_alive(one)]
        supervisor = status.supervisor if is_alive(status.supervisor) else None
        if what in OWN and len(owners) > 1:
            self.kill(what, supervisor if what == "supervisor" else self.chance.choice(guardians or [None]))
        elif what == "both" and supervisor and len(guardians) > 1:
            victims = [("supervisor", supervisor), ("guardian", self.chance.choice(guardians))]
            self.chance.shuffle(victims)
            for name, victim in victims:
                self.kill(name, victim)
        elif what == "launcher":
            self.killed = what if self.kill(what, status.process) else ""
        elif what == "rank" and (pids := self.ranks(status)):
            self.killed = what if self.kill(what, identify(self.chance.choice(pids))) else ""
        # Where there is much to do, what was killed lives on for a while: the next shot must not take it for living.
        assert until(lambda: not any(map(is_alive, self.dying)), _END_S)

    def kill(self, name: str, victim: Identity | None) -> bool:
        if victim is None or not is_alive(victim) or not send_signal(victim, signal.SIGKILL):
            return False
        self.guardians_killed += name == "guardian"
        self.dying.append(victim)
        self.shots.append(f"{name} {victim.pid} at {time.time() - self.began:.2f}")
        self.tally.add(name)
        return True

    def ranks(self, status: RunStatus) -> list[int]:
        launcher = status.process.pid if status.process else 0
        with suppress(OSError):
            return [int(pid) for pid in Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()]
        return []

    # -- looking ---------------------------------------------------------------------------------------------------

    def look(self, steps: int) -> None:
        if not until(lambda: not self.bench.runs.summary(self.run_id).state.live, _END_S):
            self.fault(f"still {self.status.state} after {_END_S:.0f} s")
            self.bench.runs.stop(self.run_id)
            return
        status = self.status
        told, reason = status.state, status.reason
        with self.tally.lock:
            self.tally.ends[f"{told.value}, {self.killed or 'nothing'} of the training killed"] += 1
        recorded = self.recorded()
        printed = int(self.printed.read_text() or 0)
        with self.tally.lock:
            self.tally.points += len(recorded)
        if recorded != list(range(1, len(recorded) + 1)):
            self.fault(f"points lost, doubled or in another order: {odd(recorded)}")
        if not printed <= len(recorded) <= printed + 1:
            self.fault(f"{printed} printed, {len(recorded)} recorded")
        # A rank or a launcher may have ended by itself just before.
        if self.killed and told is not RunState.FAILED and len(recorded) < steps:
            self.fault(f"the {self.killed} was killed and the run {told.value}")
        if self.killed == "rank" and told is RunState.FAILED and "killed by SIGKILL" not in reason:
            self.fault(f"the rank was killed, and it says: {reason}")
        if (
            self.killed == "launcher"
            and "SIGKILL" not in reason
            and self.guardians_killed < 2
            and len(recorded) < steps
        ):
            self.fault(f"the launcher was killed, and it says: {reason}")
        if not self.killed and (told is not RunState.SUCCEEDED or len(recorded) != steps):
            self.fault(f"nothing of the training was killed: {told.value} after {len(recorded)} of {steps}: {reason}")
        if not until(lambda: not self.left(status), 10):
            self.fault(f"processes are left: {self.left(status)}")

    def recorded(self) -> list[int]:
        curves = read_points(self.directory)[0].values()
        return next((curve.step.astype(int).tolist() for curve in curves if curve.series.name == "loss"), [])

    def left(self, status: RunStatus) -> list[str]:
        pids = {*members(self.run_id, status.process), *(one.pid for one in status.owners if is_alive(one))}
        return sorted({*map(str, pids), *commands_with(self.run_id)})

    def fault(self, text: str) -> None:
        with self.tally.lock:
            self.tally.faults.append(f"{self.run_id}: {text} ({', '.join(self.shots)})")


def odd(recorded: list[int]) -> str:
    place = next(at for at, step in enumerate(recorded) if step != at + 1)
    return f"… {recorded[max(place - 3, 0) : place + 4]} … at {place} of {len(recorded)}"


def commands_with(word: str) -> Iterator[str]:
    """The processes of this machine whose command line has the word."""
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if name.isdecimal() and word.encode() in (Path("/proc") / name / "cmdline").read_bytes():
                yield f"{name} (command)"


def until(condition: Callable[[], object], timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@contextmanager
def killed_servers(runs_dir: Path, tally: Tally, chance: random.Random, over: threading.Event) -> Iterator[None]:
    """Beside the runs a real server that lists them, killed and started again and again."""

    def work() -> None:
        while not over.is_set():
            with running_app(runs_dir, ends_runs=False, cold=True) as app:
                for _ in range(chance.randint(1, 6)):
                    with suppress(OSError), app.get() as answer:
                        answer.read()
                    over.wait(chance.random())
                app.process.kill()
                app.process.wait()
                tally.add("server")

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def no_servers() -> Iterator[None]:
    yield


def chaos(folder: Path, kills: int, seed: int, workers: int = 4, limit_s: float = 3600, servers: bool = True) -> Tally:
    """Until so many processes were killed."""
    bench, tally, over = Bench(folder), Tally(), threading.Event()
    bench.script(SCRIPT)
    deadline = time.monotonic() + limit_s

    def work(chance: random.Random) -> None:
        while tally.killed < kills and time.monotonic() < deadline and len(tally.faults) < 20:
            trial = Trial(bench, chance, tally)
            try:
                trial.go()
            except Exception as error:  # noqa: BLE001  one that can't be looked at is told, and the others go on
                trial.fault(repr(error))
            with tally.lock:
                tally.runs += 1

    around = killed_servers(bench.store.runs_dir, tally, random.Random(seed), over) if servers else no_servers()
    with around:
        threads = [threading.Thread(target=work, args=(random.Random(f"{seed} {n}"),)) for n in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill what runs, at random; look at what is left.")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--workers", type=int, default=4, help="runs at a time")
    parser.add_argument("--limit", type=float, default=3600, help="seconds")
    parser.add_argument("--folder", type=Path, help="keep the runs there")
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as made:
        folder = options.folder or Path(made)
        folder.mkdir(exist_ok=True)
        tally = chaos(folder, options.kills, options.seed, options.workers, options.limit)
    print(f"seed {options.seed}: {tally.killed} kills over {tally.runs} runs in {time.monotonic() - began:.0f} s")
    for what, count in (*sorted(tally.kills.items()), *sorted(tally.ends.items()), ("points recorded", tally.points)):
        print(f"  {count:8,} {what}")
    print(f"{len(tally.faults)} faults", *tally.faults, sep="\n  ")
    return 1 if tally.faults or tally.killed < options.kills else 0


if __name__ == "__main__":
    sys.exit(main())
