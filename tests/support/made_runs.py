"""Runs that were never run: their folders as a supervisor would have written them, for what looks at runs."""

import math
import os
import random
import shutil
import sys
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dsgui.core.launch.plan import ConfigArgument, LaunchRequest
from dsgui.core.launch.plan_making import make_plan
from dsgui.core.launch.state import Asked, RunState, RunStatus
from dsgui.core.metrics.points import Event, Point
from dsgui.core.metrics.samples import GpuSample, Sample
from dsgui.core.script.script import ScriptFacts
from dsgui.core.texts.saying import said
from dsgui.shell.files.json_files import json_bytes
from dsgui.shell.logs.records import Records
from dsgui.shell.runs.store import RunDirectory, Store

GIB = 1 << 30
STEP_S = 0.4
SPIKE = 4.0
FIRST_OF_MANY = 1_735_689_600  # 2025-01-01


@dataclass(frozen=True)
class Made:
    """What the run should have been. Losses stay under 3 but at `spikes`; each fifth of the steps is evaluated."""

    name: str = "made"
    steps: int = 200
    spikes: Collection[int] = ()
    nan_at: Collection[int] = ()
    config: str = '{"zero_optimization": {"stage": 3}}'
    arguments: str = ""
    gpu_gib: float = 12.0
    gpus: int = 2
    output: str = ""
    events: Mapping[int, str] = field(default_factory=dict)
    state: RunState = RunState.SUCCEEDED


@dataclass(frozen=True)
class Printed:
    """A run by what it printed, `lines` by the second at which each came; it was sampled once a second. A point, an
    event or a sample stands for itself."""

    name: str
    lines: Iterable[tuple[float, str | Point | Event | Sample]]
    seconds: int = 60
    arguments: str = ""
    reads_config: ConfigArgument = ConfigArgument.NATIVE
    state: RunState = RunState.SUCCEEDED


def make_run(folder: Path, made: Made) -> str:
    """Writes it; returns its id."""
    directory = _create(folder, made.name, config=made.config, gpus=made.gpus, arguments=made.arguments)
    now = [0.0]
    records = Records(directory, time.monotonic, lambda: now[0])
    records.take_output(made.output.encode())
    noise = random.Random(3)
    every = max(made.steps // 100_000, 1)
    for step in range(1, made.steps + 1):
        now[0] = 20 + step * STEP_S
        loss = 2 * math.exp(-3 * step / made.steps) + 0.3 + noise.uniform(-0.05, 0.05)
        loss = math.nan if step in made.nan_at else loss + SPIKE * (step in made.spikes)
        values = {"loss": loss, "grad_norm": noise.uniform(0.5, 1.5), "learning_rate": 5e-5 * (1 - step / made.steps)}
        records.take_points([Point(step, 3 * step / made.steps, values)])
        if step % max(made.steps // 5, 1) == 0:
            records.take_points([Point(step, 3 * step / made.steps, {"eval_loss": 1.0, "eval_bleu": 30.0}, "eval")])
        if step in made.events:
            records.take_event(Event("checkpoint", made.events[step], step))
        if step % every == 0:
            records.take_sample(_sample(made, step, now[0]))
    records.finish()
    _end(directory, made.state, now[0])
    peak = {"gpu_bytes": int(made.gpu_gib * GIB)} if made.gpus else {}
    told = {"step": made.steps, "total": made.steps, "eta_s": None}
    directory.write_progress({**directory.read_progress(), **told, "peak": {**peak, "host_bytes": 19 * GIB}})
    return directory.run_id


def make_many(folder: Path, count: int) -> list[str]:
    """Runs that have ended, copies of one an hour apart; their ids, oldest first. They succeeded, failed and were
    stopped in turn."""
    store = Store(folder)
    made = store.open(make_run(folder, Made("one-of-many", 20, arguments="--model_name_or_path t5-small")))
    files = {path.name: path.read_bytes() for path in made.path.iterdir()}
    shutil.rmtree(made.path)
    return [_copy(store, files, made.run_id, number) for number in range(count)]


def _copy(store: Store, files: Mapping[str, bytes], copied: str, number: int) -> str:
    begun = FIRST_OF_MANY + number * 3600
    run_id = f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(begun))}-{number % 65536:04x}"
    directory = store.create(run_id)
    for name, data in files.items():
        own = data.replace(copied.encode(), run_id.encode()).replace(b"one-of-many", f"many-{number}".encode())
        (directory.path / name).write_bytes(own)
    directory.asked_file.write_bytes(json_bytes(Asked(number + 1, 0.0, "").to_json()))
    state = (RunState.SUCCEEDED, RunState.FAILED, RunState.STOPPED)[number % 3]
    status = RunStatus(state, started_at=begun, ended_at=begun + 1111, lasted_s=1111.0, phase="training")
    directory.state_file.write_bytes(json_bytes(status.to_json()))
    for path in directory.path.iterdir():
        os.utime(path, (begun, begun))
    return run_id


def make_printed(folder: Path, printed: Printed) -> str:
    """Writes it as a supervisor does that reads these lines; returns its id."""
    directory = _create(folder, printed.name, arguments=printed.arguments, reads_config=printed.reads_config)
    now = [0.0]
    records = Records(directory, lambda: now[0], lambda: now[0])
    lines = list(printed.lines)
    for second in range(printed.seconds + 1):
        while lines and lines[0][0] <= second:
            now[0], came = lines.pop(0)
            if isinstance(came, Point):
                records.take_points([came])
            elif isinstance(came, Event):
                records.take_event(came)
            elif isinstance(came, Sample):
                records.take_sample(came)
            else:
                records.take_output(came.encode())
        now[0] = float(second)
        records.take_sample(_sample(Made(steps=printed.seconds, gpus=0), second, now[0]))
    records.finish()  # writes how far it came
    _end(directory, printed.state, now[0], records.log.phase)
    return directory.run_id


def _create(
    folder: Path,
    name: str,
    *,
    config: str = "{}",
    gpus: int = 0,
    arguments: str = "",
    reads_config: ConfigArgument = ConfigArgument.HF,
) -> RunDirectory:
    """A run's folder with its plan."""
    store = Store(folder)
    directory = store.create(store.new_id())
    request = LaunchRequest(
        name=name,
        script="train.py",
        arguments=arguments,
        ranks=2,
        gpu_indices=tuple(range(gpus)),
        working_directory=str(folder),
        config_text=config,
        config_argument=reads_config,
        target_python=sys.executable,
    )
    plan = make_plan(
        request,
        run_id=directory.run_id,
        run_directory=str(directory.path),
        script_path=str(folder / "train.py"),
        master_port=29500,
        script=ScriptFacts(strict=True),  # which is not given --local_rank
    )
    place = len(store.list()) + 1  # in the order in which they are made
    store.write_plan(directory, plan, config, Asked(place, 0.0, ""))
    return directory


def _end(directory: RunDirectory, state: RunState, lasted_s: float, phase: str = "training") -> None:
    ended = time.time()
    directory.write_status(
        RunStatus(
            state,
            started_at=ended - lasted_s,
            ended_at=ended,
            begun_s=0,
            lasted_s=lasted_s,
            exit_code=int(state is RunState.FAILED),
            phase=phase,
            reasons=(said("reasons", "only_stopped"),) if state is RunState.STOPPED else (),
        )
    )


def _sample(made: Made, step: int, now_s: float) -> Sample:
    gpus = tuple(
        GpuSample(index, "A100", int((made.gpu_gib + index) * GIB), int(made.gpu_gib * GIB), 80 * GIB, 90)
        for index in range(made.gpus)
    )
    return Sample(now_s, 30 * GIB, 64 * GIB, int((18 + step / made.steps) * GIB), 40.0, gpus, now_s)
