"""What dsgui said of a run's memory at its launch stays with the run, and is held against what was measured."""

import json
from dataclasses import replace
from functools import partial

import pytest

from dsgui.cli import main
from dsgui.core.launch.state import RunState, RunStatus
from dsgui.core.memory.answer import Device
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.memory.fits.fitting import Fitted
from dsgui.core.memory.fits.foretold import Foretold
from dsgui.core.memory.fits.memory_report import foretold, kept
from dsgui.core.metrics.samples import GpuSample, Sample
from dsgui.core.preflight.judging import memory_of, rows_around
from dsgui.core.script.script import ScriptFacts
from dsgui.core.validation.checker import Checker
from dsgui.runs.archive import Archive, Judge
from dsgui.runs.report import Reports
from dsgui.shell.config.catalog import Catalog
from dsgui.shell.logs.records import Records
from dsgui.shell.preflight.scout import Scout
from tests.support.run_fixtures import Bench, bench

__all__ = ["bench"]
GIB = 1 << 30
STAGE_2 = '{"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true}, "zero_optimization": {"stage": 2}}'
STAGE_0 = STAGE_2.replace("2}}", "0}}")
CHOICE = ModelChoice("1B", length=256, checkpointing=True)


def judge(bench: Bench) -> Judge:
    checker, scout = Checker(Catalog().schema()), Scout.of(bench.store.runs_dir, lambda: None)
    return Judge(
        lambda plan, text: scout.surroundings(plan, ScriptFacts(), False),
        partial(rows_around, checker=checker),
        memory=partial(memory_of, checker=checker),
    )


def prepared(bench: Bench, config: str = STAGE_2, **changes):
    """A plan with a model, and the verdict on it."""
    request = replace(bench.request(bench.script("pass"), config_text=config, **changes), model=CHOICE)
    plan, who = bench.runs.prepare(request), judge(bench)
    fitted = who.memory(plan, config, who.surroundings(plan, config))
    assert isinstance(fitted, Fitted)
    return plan, fitted


def written(bench: Bench, said: Foretold | None, samples=(), config: str = STAGE_2) -> str:
    """A run as its supervisor leaves it."""
    plan, _ = prepared(bench, config)
    directory = bench.store.create(plan.run_id)
    bench.store.write_plan(directory, plan, config, foretold=said)
    records = Records(directory, lambda: 0.0, lambda: 0.0)
    for sample in samples:
        records.take_sample(sample)
    records.finish()
    directory.write_status(RunStatus(RunState.SUCCEEDED, started_at=1_790_000_000.0, lasted_s=9.0, exit_code=0))
    return plan.run_id


def sample(host: int | None, gpu: int | None = None) -> Sample:
    return Sample(0.0, None, None, host, None, (GpuSample(0, "card", None, gpu),), 0.0)


def test_a_verdict_survives_the_runs_folder(bench: Bench) -> None:
    _, fitted = prepared(bench)
    said = kept(fitted)
    assert said
    again = Foretold.from_json(json.loads(json.dumps(said.to_json())))
    assert again == said
    assert (again.fit, again.predicted) == (fitted.verdict.fit, foretold(fitted))
    bars = {(bar.device, bar.moment): bar.amount for bar in fitted.verdict.bars}
    assert {(bar.device, bar.moment): bar.amount for bar in again.bars} == bars
    assert again.bar(Device.HOST, "no such moment") == again.bar(Device.HOST)


def test_what_was_said_at_the_launch_is_told_though_the_model_says_another_thing_now(bench: Bench) -> None:
    archive = Archive(bench.store, bench.runs, judge=judge(bench))
    said = kept(prepared(bench, STAGE_0)[1])
    run_id, old = written(bench, said), written(bench, None)
    now = foretold(prepared(bench)[1])
    assert said
    assert said.predicted != now
    assert archive.about(run_id)["predicted"] == said.predicted
    assert archive.about(old)["predicted"] == now  # of an older dsgui
    bench.store.open(run_id).memory_file.write_text('{"fit": "fits", "devices": [{}]}')
    assert archive.about(run_id)["predicted"] == now
    assert "memory.json" in bench.store.open(run_id).other_damage()


def test_where_nothing_could_be_said_that_is_kept_too(bench: Bench) -> None:
    request = replace(bench.request(bench.script("pass"), config_text='{"fp16": 3}'), model=CHOICE)
    plan, who = bench.runs.prepare(request), judge(bench)
    said = kept(who.memory(plan, request.config_text, who.surroundings(plan, request.config_text)))
    assert said
    assert said.predicted is None
    run_id = written(bench, said)
    assert bench.store.open(run_id).read_foretold() == said
    assert "why" in said.to_json()
    assert Archive(bench.store, bench.runs, judge=judge(bench)).about(run_id)["predicted"] is None


def test_predicted_and_measured_stand_in_the_list_and_in_the_report(bench: Bench) -> None:
    said = Foretold.from_json({"fit": "fits", "predicted": {"gpu_bytes": 18 * GIB, "host_bytes": 3 * GIB}})
    measured = [sample(2 * GIB, 17 * GIB), sample(4 * GIB, None), sample(1 * GIB, 19 * GIB)]
    run_id, bare = written(bench, said, measured), written(bench, None, measured[:1])
    runs = {run.run_id: run for run in bench.runs.list()}
    assert (runs[run_id].predicted, runs[run_id].peak) == (
        said.predicted,
        {"gpu_bytes": 19 * GIB, "host_bytes": 4 * GIB},
    )
    assert (runs[bare].predicted, runs[bare].peak) == (None, {"gpu_bytes": 17 * GIB, "host_bytes": 2 * GIB})
    assert runs[run_id].to_json()["peak"]["gpu_bytes"] == 19 * GIB
    reports = Reports(bench.store, bench.runs)
    assert "GPU: predicted 18.0 GiB, was 19.0; Host: predicted 3.0 GiB, was 4.0" in reports.html([run_id])
    assert ": predicted" not in reports.html([bare])


def test_a_launch_from_the_command_line_keeps_what_its_checks_said(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    config = bench.folder / "ds.json"
    config.write_text(STAGE_2)
    words = ["--config", str(config), "--python", str(bench.python), "--runs-dir", str(bench.store.runs_dir)]
    script = bench.script("print('ends')")
    for model in ([], ["--model", "1B", "--length", "256", "--checkpointing"]):
        assert main(["launch", *words, *model, "--although", "--ranks", "1", "--reader", "native", str(script)]) == 0
        told = capsys.readouterr()
        run_id = told.out.strip()
        bench.ended(run_id)
        said = bench.store.open(run_id).read_foretold()
        assert (said is not None) == bool(model)
        assert said is None or said.predicted == bench.runs.summary(run_id).predicted
        assert said is None or (said.predicted or {})["host_bytes"] > 16 * 10**9
