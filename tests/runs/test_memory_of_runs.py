"""What dsgui said of a run's memory at its launch stays with the run, and is held against what was measured."""

import json
import re
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from dsgui.cli import main
from dsgui.commands.why import as_text
from dsgui.core.config.findings import Change, Fix
from dsgui.core.diagnosis.diagnosis import Diagnosis
from dsgui.core.diagnosis.remedies import Remedy
from dsgui.core.launch.plan import ConfigArgument
from dsgui.core.launch.planned import Planned
from dsgui.core.launch.state import RunState, RunStatus
from dsgui.core.machine.hardware import Gpu
from dsgui.core.memory.answer import Device, Place
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.memory.fits.fitting import Fitted
from dsgui.core.memory.fits.foretold import Foretold
from dsgui.core.memory.fits.memory_report import foretold, kept
from dsgui.core.memory.fits.overhead import Overhead, exactly
from dsgui.core.memory.fits.sharpened import CPU
from dsgui.core.memory.fits.verdict import Bar, Segment
from dsgui.core.metrics.performance import figures
from dsgui.core.metrics.samples import GpuSample, Sample
from dsgui.core.preflight.as_it_ran import as_planned
from dsgui.core.preflight.judging import memory_of, rows_around
from dsgui.core.preflight.leaner import leaner
from dsgui.core.runs.news import Cursor
from dsgui.core.script.script import ScriptFacts
from dsgui.core.texts.languages import speaking
from dsgui.core.texts.saying import said as recorded
from dsgui.core.validation.checker import Checker
from dsgui.runs.archive import Archive, Judge
from dsgui.runs.inspection import Inspection
from dsgui.runs.learning import _outcome_of
from dsgui.runs.report import Reports
from dsgui.shell.config.catalog import Catalog
from dsgui.shell.logs.records import Records
from dsgui.shell.memory.constants import sharpened
from dsgui.shell.preflight.scout import Scout
from tests.support.run_fixtures import Bench, bench, wait_until

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
    assert (archive.about(old)["predicted"], archive.about(old)["checking"]) == (None, True)
    assert archive.judged(old)["predicted"] == now  # of an older dsgui
    bench.store.open(run_id).memory_file.write_text('{"fit": "fits", "devices": [{}]}')
    assert archive.judged(run_id)["predicted"] == now
    assert "memory.json" in bench.store.open(run_id).other_damage()


def test_the_need_of_training_on_a_cpu_is_not_held_against_a_run_on_gpus(bench: Bench) -> None:
    run_id, archive = written(bench, None), Archive(bench.store, bench.runs, judge=judge(bench))
    directory, config = bench.store.open(run_id), bench.store.open(run_id).read_config()
    assert set(archive.judged(run_id)["predicted"]) == {"host_bytes"}
    bench.store.write_plan(directory, replace(directory.read_plan(), gpu_indices=(0,)), config)
    assert archive.judged(run_id)["predicted"] is None


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
    host = "Host memory: predicted 3.0 GiB, used 4.0 GiB"
    assert f"GPU memory: predicted 18.0 GiB, used 19.0 GiB; {host}" in reports.html([run_id])
    assert ": predicted" not in reports.html([bare])
    directory = bench.store.open(run_id)
    directory.write_status(RunStatus(RunState.FAILED, started_at=1_790_000_000.0, lasted_s=9.0, exit_code=1))
    directory.write_diagnosis(Diagnosis("cuda-memory", "T", "M", (), evidence=OUT_OF_MEMORY).to_json())
    assert f"GPU memory: predicted 18.0 GiB, 19.0 GiB when it ran out; {host}" in reports.html([run_id])


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


OUT_OF_MEMORY = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.65 GiB "
    "of which 1.20 GiB is free. Including non-PyTorch memory, this process has 22.44 GiB memory in use. Of the "
    "allocated memory 19.00 GiB is allocated by PyTorch, and 2.00 GiB is reserved by PyTorch but unallocated."
)
STEP = 'Traceback (most recent call last):\n  File "/e/deepspeed/runtime/engine.py", line 3, in step\n    x()\n'


CARD = Gpu(0, "card", (8, 9), 24 * GIB)


def with_cards(bench: Bench, *cards: Gpu):
    """The surroundings on a machine that has these."""

    def surroundings(plan, text):
        around = judge(bench).surroundings(plan, text)
        return replace(around, machine=replace(around.machine, gpus=cards))

    return surroundings


def died_of_memory(
    bench: Bench,
    found: Diagnosis,
    config: str,
    choice: ModelChoice = CHOICE,
    *,
    reader=ConfigArgument.HF,
    keeps: bool = True,
):
    """The plan of a run on that card."""
    request = replace(bench.request(bench.script("pass"), config_text=config), model=choice)
    plan = bench.runs.prepare(replace(request, ranks=1, gpu_indices=(0,), config_argument=reader))
    around = with_cards(bench, CARD)(plan, config)
    said = kept(memory_of(plan, config, around, Checker(Catalog().schema()))) if keeps else None
    directory = bench.store.create(plan.run_id)
    bench.store.write_plan(directory, plan, config, foretold=said)
    directory.write_status(RunStatus(RunState.FAILED, started_at=1_790_000_000.0, lasted_s=9.0, exit_code=1))
    directory.write_diagnosis(found.to_json())
    return plan


WITH_ADAMW = STAGE_0.replace('"bf16"', '"optimizer": {"type": "AdamW", "params": {"lr": 1e-4}}, "bf16"')


def test_a_run_that_died_of_memory_is_told_what_took_it_and_offered_what_would_have_fitted(bench: Bench) -> None:
    checker, surroundings = Checker(Catalog().schema()), with_cards(bench, CARD)
    found = Diagnosis("cuda-memory-optimizer", "T", "M", (), evidence=OUT_OF_MEMORY, traceback=STEP)
    plan = died_of_memory(bench, found, WITH_ADAMW)
    calls = []

    def leaner_once(*given):
        calls.append(given)
        return leaner(*given, checker=checker)

    archive = Archive(bench.store, bench.runs, judge=Judge(surroundings, lambda *given: (), leaner=leaner_once))
    made, again = archive.offer(plan.run_id), archive.offer(plan.run_id)
    assert made
    assert made == again
    assert len(calls) == 1
    told = " ".join(made.to_json()["cause"])
    assert "The run had 22.4 GiB when it ran out in the optimizer step, and asked for 2 GiB more." in told
    assert "fragmentation" in told
    first, second = made.diagnosis.remedies
    assert first.variables == (("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"),)
    assert "fits by estimate: GPU" in str(second.label)
    assert Remedy.from_json(json.loads(json.dumps(second.to_json()))) == second
    again = archive.repaired(plan.run_id)
    assert again.request.environment == dict(first.variables)
    assert again.notes == ("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",)
    assert told.split(".")[0] in Reports(bench.store, bench.runs).html([plan.run_id])
    assert told.split(".")[0] in as_text(made)


def judging(bench: Bench, *cards: Gpu) -> Archive:
    checker = Checker(Catalog().schema())
    memory, leaner_here = partial(memory_of, checker=checker), partial(leaner, checker=checker)
    who = Judge(with_cards(bench, *cards), partial(rows_around, checker=checker), memory=memory, leaner=leaner_here)
    return Archive(bench.store, bench.runs, judge=who)


# As the real one: half of it would be too much, too.
MICRO_32 = WITH_ADAMW.replace('"train_micro_batch_size_per_gpu": 1', '"train_micro_batch_size_per_gpu": 32')
HALF = Remedy(
    recorded("remedies", "smaller_micro_batch", micro="16", micro_before="32", steps="2", steps_before="1"),
    Fix(recorded("remedies", "resume"), (Change("/train_micro_batch_size_per_gpu", "16"),)),
)
LONG = ModelChoice("0.5B", length=4096, checkpointing=True)
PLAIN = OUT_OF_MEMORY.replace("2.00 GiB is reserved", "2.00 MiB is reserved")
FORWARD = Diagnosis("cuda-memory", "T", "M", (), evidence=PLAIN, remedies=(HALF,))


NATIVE = ConfigArgument.NATIVE


def test_what_may_help_is_checked_for_the_card_that_the_run_had_wherever_it_is_looked_at(bench: Bench) -> None:
    """On a laptop, on a machine with a larger card, and there: the same changes; what would still be too much is
    not among them."""
    plan = died_of_memory(bench, FORWARD, MICRO_32, LONG, reader=NATIVE)
    there = judging(bench, CARD).offer(plan.run_id)
    assert there
    assert [one.label.code for one in there.diagnosis.remedies] == ["cheapest"]
    assert there.checked is None
    assert "Micro batch 16" in str(there.set_aside[0])
    [key] = [one.key for one in there.diagnosis.remedies]
    fits = there.to_json()["remedies"][0]["fits"]
    assert re.match(r"Fits by estimate: GPU \d+\.\d of 23\.6 GiB", fits)
    larger = Gpu(0, "another", (9, 0), 141 * GIB)
    for cards in ((), (larger,), (replace(CARD, memory_bytes=48 * GIB),)):
        archive = judging(bench, *cards)
        seen = archive.offer(plan.run_id)
        assert seen
        assert seen.diagnosis.remedies == there.diagnosis.remedies
        assert str(seen.checked) == "Checked for the GPU it ran on: card, 23.6 GiB."
        assert seen.to_json()["checked"] == str(seen.checked)
        assert ("this machine has no GPU. A clone opens for ssh" in seen.to_json()["away"]) is (not cards)
        assert str(seen.checked) in as_text(seen)
        with speaking("zh-CN"):
            assert archive.repaired(plan.run_id, key).request.config_text != MICRO_32


def test_the_machine_that_a_run_was_foretold_for_can_be_planned_for(bench: Bench) -> None:
    plan = died_of_memory(bench, FORWARD, MICRO_32, LONG)
    kept_there = bench.store.open(plan.run_id).read_foretold()
    assert judging(bench).ran_on(plan.run_id) == Planned()  # no card is called so
    host = kept_there.bar(Device.HOST).capacity // GIB
    assert as_planned(replace(kept_there, card="NVIDIA GeForce RTX 4090")) == Planned("rtx4090", host_gib=host)
    assert as_planned(replace(kept_there, card="NVIDIA GeForce RTX 4090", on_cpu=True)) == Planned()


def test_of_changes_that_are_too_small_it_is_said(bench: Bench) -> None:
    """The script takes no options by which it would fit."""
    plan = died_of_memory(bench, FORWARD, MICRO_32, LONG)
    seen = judging(bench).offer(plan.run_id)
    assert seen
    assert seen.diagnosis.remedies == (HALF,)
    assert str(seen.checked) == "By estimate the first change alone is not enough."


def test_where_nothing_was_foretold_the_changes_are_said_to_be_unchecked(bench: Bench) -> None:
    plan = died_of_memory(bench, FORWARD, MICRO_32, LONG, keeps=False)
    for cards in ((), (CARD,)):
        seen = judging(bench, *cards).offer(plan.run_id)
        assert seen
        assert str(seen.checked) == "Not checked for memory: no prediction was stored with the run."
    bench.store.open(plan.run_id).memory_file.write_text('{"fit": "cannot_say"}')
    seen = judging(bench).offer(plan.run_id)
    assert seen
    assert "the prediction stored with the run has no number for the GPU" in str(seen.checked)
    gone = died_of_memory(bench, FORWARD, MICRO_32, LONG, reader=NATIVE)
    bench.store.open(gone.run_id).plan_file.write_text(
        bench.store.open(gone.run_id).plan_file.read_text().replace('"0.5B"', '"/no/such/model"')
    )
    seen = judging(bench).offer(gone.run_id)
    assert seen
    assert "Not checked for memory: " in str(seen.checked)
    assert "/no/such/model" in str(seen.checked)


def test_a_run_that_went_well_sharpens_the_constants_of_its_machine(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Really run and measured: what a rank holds beside what was said of its tensors."""
    monkeypatch.setenv("XDG_DATA_HOME", str(bench.folder / "data"))
    script = """
        import sys, time
        kept = bytearray(600 << 20)
        for step in range(1, 6):
            print({"loss": 1.0, "step": step}, flush=True)
            print(f"step={step} loss=1.0", flush=True)
        while not __import__("os").path.exists(sys.argv[1]):
            time.sleep(0.05)
    """
    tensors = Segment("weights", Place.HOST, exactly(100 << 20))
    interpreter = Segment("interpreter", Place.HOST, exactly(350 << 20))
    bar = Bar(Device.HOST, "step", (tensors, interpreter), 64 * GIB)
    told = {"fit": "fits", "release": "0.19.8", "on_cpu": True, "ranks_per_node": 1}
    parts = [{"part": one.code, "place": "host", "bytes": one.amount.likely} for one in bar.segments]
    devices = [{"device": "host", "capacity": bar.capacity, "moments": [{"moment": "step", "parts": parts}]}]
    said = Foretold.from_json(told | {"devices": devices})
    go = bench.folder / "go"
    plan = bench.runs.prepare(bench.request(bench.script(script), arguments=str(go), ranks=1))
    run_id = bench.runs.start(plan, STAGE_2, None, said)
    wait_until(lambda: (bench.runs.summary(run_id).peak or {}).get("host_bytes", 0) > 600 << 20)
    go.touch()
    bench.ended(run_id)
    wait_until(lambda: sharpened().seen)
    [seen] = sharpened().seen
    peak = bench.runs.summary(run_id).peak or {}
    assert seen.run_id == run_id
    assert seen.interpreter == peak["host_bytes"] - (100 << 20)
    assert sharpened().constants(CPU, "0.19.8", alone=True)[Overhead.INTERPRETER].runs == 1


def test_what_compilers_take_before_the_training_is_no_peak_of_it(bench: Bench) -> None:
    """“Host memory: predicted 2.6 GiB, used 4.6 GiB”: what was 4.6 were the compilers of DeepSpeed's operators."""
    (bench.folder / "cc1plus").symlink_to(Path(sys.executable).resolve())
    script = """
        import os, subprocess, sys, time
        fills = "import sys; kept = bytearray(700 << 20); sys.stdin.read()"
        compiler = subprocess.Popen([sys.argv[1], "-S", "-c", fills], stdin=subprocess.PIPE)
        while not os.path.exists(sys.argv[2]):
            time.sleep(0.05)
        compiler.communicate()
        print({"loss": 1.0, "step": 1}, flush=True)
        while not os.path.exists(sys.argv[3]):
            time.sleep(0.05)
    """
    compiled, trained = bench.folder / "compiled", bench.folder / "trained"
    run_id = bench.start(script, arguments=f"{bench.folder / 'cc1plus'} {compiled} {trained}")
    wait_until(lambda: (figures(bench.runs.curves(run_id)).run_peak_bytes or 0) > 650 << 20)  # it was sampled full
    wait_until(lambda: bench.runs.follow(run_id, Cursor()).phase == "compiling")
    compiled.touch()
    wait_until(lambda: bench.runs.summary(run_id).peak)
    trained.touch()
    bench.ended(run_id)
    peak = (bench.runs.summary(run_id).peak or {}).get("host_bytes", 0)
    assert 0 < peak < 600 << 20
    # One figure, also where runs are compared, and what Learn holds against a guess.
    [row] = Inspection(bench.store, bench.runs).compare([run_id])["runs"]
    assert row["figures"]["run_peak_bytes"] == peak
    assert row["figures"]["run_mean_bytes"] <= peak
    assert _outcome_of(bench.runs, bench.runs.summary(run_id)).host_bytes == peak
