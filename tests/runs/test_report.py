"""A report is one file that tells all, asks nobody for anything, and hides what is secret."""

import json
import math
import os
import re
from dataclasses import replace
from html import escape, unescape

import numpy as np
import pytest
from playwright.sync_api import expect

from dsgui import __version__
from dsgui.cli import main
from dsgui.core.errors import RunError
from dsgui.core.launch.state import Identity, RunState, RunStatus
from dsgui.core.memory.fits.foretold import Foretold
from dsgui.core.metrics import chart_table
from dsgui.core.metrics.chart_table import COLOURS, DASHES, READINGS
from dsgui.core.metrics.curves import Series
from dsgui.core.metrics.points import Point
from dsgui.core.metrics.samples import GpuSample, Sample
from dsgui.core.metrics.thinning import STRETCHES_SHOWN, Curve
from dsgui.core.runs import report_charts
from dsgui.core.runs.news import Cursor
from dsgui.core.runs.report_charts import STRETCHES, _cards, _look, by_time, charts, without_dots
from dsgui.core.runs.report_page import _away, _legend
from dsgui.core.texts.durations import duration
from dsgui.core.texts.languages import speaking
from dsgui.core.texts.saying import as_told, said
from dsgui.runs.archive import Archive
from dsgui.runs.inspection import Inspection
from dsgui.runs.report import MOST_RUNS, Reports, _python
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.logs.records import Records
from tests.security.table import bearer, serve
from tests.support.made_runs import Made, Printed, make_printed, make_run
from tests.support.run_fixtures import Bench, bench

__all__ = ["bench"]
SECRET = "the-owners-own-secret"
HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
NAN, GIB = math.nan, 1 << 30
DIAGNOSIS = {
    "signature": "out_of_memory",
    "title": "The GPU’s memory ran out",
    "meaning": "Rank 1 asked for more than there was.",
    "advice": ["Halve the micro batch."],
    "rank": 1,
    "evidence": "OutOfMemoryError",
    "traceback": f"Traceback: {HOSTILE}",
}


def made_run(bench: Bench, name="first", *, config="{}", steps=200, state=RunState.SUCCEEDED, output="", **changes):
    """A run as its supervisor leaves it, with losses, speeds and the memory of two GPUs; returns its id."""
    plan = bench.runs.prepare(bench.request(bench.script("pass"), name=name, config_text=config, **changes))
    directory = bench.store.create(plan.run_id)
    bench.store.write_plan(directory, plan, config)
    directory.write_status(
        RunStatus(state, started_at=1_790_000_000.0, lasted_s=steps / 2.0, exit_code=0, reasons=(as_told("Done."),))
    )
    directory.write_provenance({"python": "3.11.2", "versions": {"deepspeed": "0.19.8"}, "git": {"commit": "c0ffee"}})
    if state is RunState.FAILED:
        directory.write_diagnosis(DIAGNOSIS)
    now = [0.0]
    records = Records(directory, lambda: now[0], lambda: now[0])
    records.take_output(output.encode())
    for step in range(1, steps + 1):
        now[0] = step / 2
        loss = "nan" if step % 50 == 0 else f"{3 / step + len(name) / 10:.4f}"
        records.take_output(f"step={step} loss={loss} lr=0.001 grad_norm={1 + step % 7}\n".encode())
        gpus = tuple(
            GpuSample(index, "card", (10 + index) * GIB + step, 9 * GIB, 80 * GIB, 50.0 + step % 40) for index in (0, 1)
        )
        records.take_sample(Sample(0.0, 30 * GIB, 64 * GIB, 5 * GIB + step * 1_000_000, 20.0, gpus, now[0]))
    records.finish()
    return plan.run_id


def report(bench, *run_ids, secrets=(), baseline=""):
    reports = Reports(bench.store, Runs(bench.store, Launcher(), secrets=secrets), lambda: 1_790_000_000.0)
    return reports.html(run_ids, baseline)


def text_of(html):
    """What is not one of its scripts."""
    return re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)


def test_it_tells_what_the_run_was_and_what_it_took(bench: Bench):
    config = '{"train_batch_size": 8, "bf16": {"enabled": true}}'
    run_id = made_run(bench, config=config, arguments="--epochs 3")
    text = text_of(report(bench, run_id))
    for told in (run_id, "first", "succeeded", "0.19.8", "c0ffee", "--epochs 3", "train_batch_size", "step=200 loss="):
        assert told in text
    rows = dict(re.findall(r"<th scope=row[^>]*>(.*?)</th><td[^>]*>(.*?)</td>", text))
    assert rows["Steps"] == "200"
    assert rows["Final loss (last logged)"] == "NaN"
    assert rows["Steps/s"] == "2"
    assert rows["Duration"] == "1m 40s"
    assert rows["GPU memory of this run, peak · mean"] == "9.00 · 9.00 GiB"
    assert rows["Whole GPU 1, all processes, peak · mean"] == "11.00 · 11.00 GiB"


def test_one_duration_is_told_everywhere(bench: Bench, capsys):
    """The list told 19:11 and Compare 19:10: one had it from the supervisor's clock, the other from the last sample."""
    run_id = made_run(bench)
    bench.store.open(run_id).write_status(RunStatus(RunState.SUCCEEDED, started_at=1_790_000_000.0, lasted_s=1150.5))
    [row] = Inspection(bench.store, bench.runs).compare([run_id])["runs"]
    assert row["figures"]["duration_s"] == bench.runs.summary(run_id).duration_s == 1150.5
    assert "19m 11s" in text_of(report(bench, run_id))
    for command in (["show", run_id], []):
        main(["runs", "--runs-dir", str(bench.store.runs_dir), *command])
        assert "19m 11s" in capsys.readouterr().out
    assert [duration(one) for one in (None, 0.4, 59.5, 3723)] == ["–", "0s", "1m 00s", "1h 02m"]


def test_the_command_tells_the_peaks_of_a_run_and_of_its_cards_alike(bench: Bench, capsys):
    assert main(["runs", "--runs-dir", str(bench.store.runs_dir), "show", made_run(bench)]) == 0
    peaks = [line.rpartition(": ")[0] for line in capsys.readouterr().out.splitlines() if ", peak: " in line]
    assert peaks == [
        "GPU memory of this run, peak",
        "GPU 0 memory of all processes, peak",
        "GPU 1 memory of all processes, peak",
        "host memory of this run, peak",
    ]


def test_a_failed_run_says_why_and_one_that_did_not_fail_does_not(bench: Bench):
    failed = made_run(bench, state=RunState.FAILED)
    assert "Halve the micro batch." in text_of(report(bench, failed))
    bench.store.open(failed).write_status(RunStatus(RunState.STOPPED))
    assert "Halve" not in text_of(report(bench, failed))


def test_several_runs_are_laid_over_each_other_and_their_configs_compared(bench: Bench):
    first = made_run(bench, "one", config='{"a": 1, "zero_optimization": {"stage": 2}, "same": 5e8}')
    second = made_run(bench, "two", config='{"zero_optimization": {"stage": 3}, "same": 500000000, "b": [1]}')
    third = made_run(bench, "three", config="no config")
    text = text_of(report(bench, first, second, third, second))
    assert "3 runs compared" in text
    keys = re.search(r"<table class=keys .*?</table>", text, re.DOTALL)[0]
    rows = re.findall(r"<tr><th scope=row>(.*?)</th>(.*?)</tr>", keys.replace("<wbr>", ""))
    assert {key: re.findall(r"<td>(.*?)</td>", cells) for key, cells in rows} == {
        "a": ["1", "not set", "can’t be read"],
        "zero_optimization.stage": ["2", "3", "can’t be read"],
        "b": ["not set", "[1]", "can’t be read"],
    }
    drawn = charts_in(report(bench, first, second, third))
    assert [line["run"] for line in drawn["Loss"]["lines"]] == ["one", "two", "three"]
    assert len({line["colour"] for line in drawn["GPU memory"]["lines"]}) == 3
    assert {line["what"] for line in drawn["GPU memory"]["lines"]} == {"GPU 0, this run", "GPU 1, this run"}


def test_figures_are_told_against_the_baseline_and_are_better_or_worse_where_one_is(bench: Bench):
    first, second = made_run(bench, "one", steps=49), made_run(bench, "three", steps=98)
    plain = text_of(report(bench, first, second))
    assert "class='away" not in plain
    assert "<small>baseline" not in plain

    def rows(baseline):
        text = text_of(report(bench, first, second, baseline=baseline))
        return text, dict(re.findall(r"<tr><th scope=row>(.*?)</th>(.*?)</tr>", text))

    text, told = rows(first)
    assert re.search(r"one</span><small>baseline</small>", text)
    assert "<td>98 <small class='away '>+100 %</small></td>" in told["Steps"]
    assert re.search(r"<small class='away worse'>\+\d+ % worse</small>", told["Final loss (last logged)"])
    assert "away" not in told["Whole GPU 0, all processes, peak · mean"]  # as much in both
    assert "% better" in rows(second)[1]["Final loss (last logged)"]
    run = "Host memory of this run, peak · mean"
    assert ("% worse" in told[run], "% better" in rows(second)[1][run]) == (True, True)  # less of it is better


def test_how_far_a_run_came_that_ended_early_is_no_saving(bench: Bench):
    whole = made_run(bench, "one", steps=98)
    early = made_run(bench, "three", steps=49, state=RunState.FAILED)
    for baseline in (whole, early):
        html = report(bench, whole, early, baseline=baseline)
        told = dict(re.findall(r"<tr><th scope=row>(.*?)</th>(.*?)</tr>", html))
        assert not [one for one in ("Steps", "Duration", "Final loss (last logged)") if "away" in told[one]]
        assert "away" in told["Host memory of this run, peak · mean"]  # what it took until then was taken


def test_neither_a_loss_nor_a_speed_of_another_script_is_better_or_so_many_times_as_much(bench: Bench):
    first, second = made_run(bench, "one", steps=49), made_run(bench, "three", steps=98)
    directory = bench.store.open(second)
    plan = json.loads(directory.plan_file.read_text())
    directory.plan_file.write_text(json.dumps(plan | {"script": "/srv/other.py"}))
    text = text_of(report(bench, first, second, baseline=first))
    assert "Different scripts: losses and speeds aren’t comparable" in text
    assert re.findall(r"(?<=<th scope=row>)[^<]*(?=</th>(?:(?!</tr>).)*class='away)", text) == [
        "Host memory of this run, peak · mean"
    ]  # what it takes can be compared, and is no better for that
    assert not re.search("class='away (?:better|worse)", text)
    assert bench_compare(bench, first, second)["unlike"] == "script"
    assert text.index("Script and model") < text.index("<th scope=row>Script") < text.index("id=curves")


def bench_compare(bench, *run_ids):
    return Inspection(bench.store, bench.runs).compare(run_ids)


def test_losses_ten_times_apart_have_a_logarithmic_scale_that_is_said(bench: Bench):
    def of(name, start):
        lines = [(20.0 + step, Point(step, None, {"loss": start / step})) for step in range(1, 41)]
        return make_printed(bench.store.runs_dir, Printed(name, lines))

    low, near, high = of("low", 1.0), of("near", 9.0), of("high", 90.0)
    html = report(bench, low, high)
    assert "Log scale: these runs’ values are about 90× apart." in text_of(html)
    assert [title for title, one in charts_in(html).items() if one["scale"]] == ["Loss"]
    assert "Log scale" not in text_of(report(bench, low, near))
    assert "Log scale" not in text_of(report(bench, high))


def test_how_far_apart_losses_are_is_told_as_the_page_does_and_up_to_a_thousand():
    def of(*values):
        places = np.arange(1.0, len(values) + 1)
        return [Curve(Series("loss"), places, np.full(len(values), np.nan), places, np.array(values))]

    told = report_charts._unlike_scale
    assert "about 10× apart" in told([of(1.0), of(10.0)])
    assert "about 100× apart" in told([of(1.0, 1.0, 5.0), of(99.6, 99.6, 90.0)])
    assert told([of(1.0), of(9.9)]) == told([of(1.0)]) == told([of(np.nan), of(1.0)]) == told([of(0.0), of(1.0)]) == ""
    assert "more than 1,000× apart" in told([of(1.0), of(1_234_567.0)])
    assert "more than 1,000× apart" in told([of(5e-324), of(1e300)])
    spiky = np.ones(3 * STRETCHES_SHOWN)
    spiky[::3] = 60.0  # one in each of the stretches that the page has
    assert "about 21× apart" in told([of(*spiky), of(1.0)])


def test_a_name_breaks_at_hyphens_underscores_and_dots_but_not_before_its_ending(bench: Bench):
    first, second = made_run(bench, "text-classi_fication.second.py"), made_run(bench, "two")
    text = text_of(report(bench, first, second))
    assert "</svg>text-<wbr>classi_<wbr>fication<wbr>.second.py</span>" in text


def test_a_loss_spike_is_told_of_the_run_that_has_one_and_nothing_where_none_has(bench: Bench):
    ids = [make_run(bench.store.runs_dir, made) for made in (Made("one", 60), Made("odd", 60, spikes=(40,)))]
    found = [row["figures"]["loss_spike"] for row in bench_compare(bench, *ids)["runs"]]
    assert (found[0], found[1]["step"], found[1]["count"]) == (None, 40, 1)
    told = re.search(r"<th scope=row>Loss spike</th><td>(.*?)</td><td>(.*?)</td>", report(bench, *ids))
    assert told[1] == "none"
    assert re.fullmatch(r"at step 40: 4\.\d+", told[2])
    assert "Loss spike" not in text_of(report(bench, ids[0]))


def test_of_a_lost_run_it_tells_what_its_page_does(bench: Bench):
    run_id = make_run(bench.store.runs_dir, Made("one", 60, output="the last line\n"))
    directory = bench.store.open(run_id)
    gone = Identity(os.getpid(), 1, "another boot")
    status = replace(directory.read_status(), state=RunState.RUNNING, supervisor=gone, process=gone, ended_at=None)
    directory.write_status(status)
    text = text_of(report(bench, run_id))
    about = Archive(bench.store, bench.runs).about(run_id)["diagnosis"]
    assert about["signature"] == "lost"
    for told in (about["title"], about["meaning"], *(one["value"] for one in about["facts"])):
        assert escape(told) in text
    assert "Last recorded</dt><dd>step 60 of 60<" in text
    assert text.count(escape(about["title"])) == 1  # its reason says the same


def test_of_a_lost_run_that_was_resumed_no_clone_from_the_beginning_is_told(bench: Bench):
    given = "--resume_from_checkpoint /x/checkpoint-50"
    run_id = make_run(bench.store.runs_dir, Made("one", 60, output="x\n", arguments=given))
    directory = bench.store.open(run_id)
    gone = Identity(os.getpid(), 1, "another boot")
    status = replace(directory.read_status(), state=RunState.RUNNING, supervisor=gone, process=gone, ended_at=None)
    directory.write_status(status)
    told = Archive(bench.store, bench.runs).about(run_id)["diagnosis"]["meaning"]
    assert told.endswith("Look at its last output first. A clone resumes again, as its arguments say.")
    directory.write_plan(replace(directory.read_plan(), arguments=()), None)
    told = Archive(bench.store, bench.runs).about(run_id)["diagnosis"]["meaning"]
    assert told.endswith("A clone starts from the beginning.")


def test_a_state_of_another_version_is_told_as_such(bench: Bench):
    directory = bench.store.open(make_run(bench.store.runs_dir, Made("one", 60)))
    sound = json.loads(directory.state_file.read_text())
    about = Archive(bench.store, bench.runs).about
    for state, title in (
        ("hibernating", "state.json was written by another version of dsgui"),
        ("lost", "state.json is damaged"),  # which no version writes
        ("<b>", "state.json is damaged"),
        (7, "state.json is damaged"),
    ):
        directory.state_file.write_text(json.dumps(sound | {"state": state}))
        told = about(directory.run_id)["diagnosis"]
        assert told["title"] == title
        assert not told["meaning"].startswith("Damaged:")  # its title says so
        listed = bench.runs.summary(directory.run_id)
        assert listed.state.value == ("foreign" if state == "hibernating" else "damaged")
        assert ("was written by another version" in listed.problem) == (state == "hibernating")


def test_a_plan_of_another_version_is_told_as_such_with_its_name_and_what_is_left(bench: Bench):
    directory = bench.store.open(make_run(bench.store.runs_dir, Made("one", 60)))
    sound, about = json.loads(directory.plan_file.read_text()), Archive(bench.store, bench.runs).about
    assert sound["dsgui"] == __version__
    for change, says in (
        ({"when_busy": "PREEMPT"}, "It has when_busy “PREEMPT”, which this version doesn't know."),
        ({"trains": "kubernetes"}, "It ran on “kubernetes”, which this version doesn't know."),
        ({"trains": []}, ""),
        ({"dsgui": "10.2", "ranks": "many"}, f"It was written by dsgui 10.2, and this one is {__version__}."),
        ({"dsgui": "0.0.9", "ranks": "many"}, ""),
        ({"dsgui": "<b>", "when_busy": "<b>"}, ""),
    ):
        directory.plan_file.write_text(json.dumps(sound | change))
        told, listed = about(directory.run_id)["diagnosis"], bench.runs.summary(directory.run_id)
        assert listed.state.value == ("foreign" if says else "damaged")
        assert listed.name == ("one" if says else directory.run_id)
        assert told["title"] == f"plan.json {'was written by another version of dsgui' if says else 'is damaged'}"
        assert told["meaning"].startswith(f"{says} Open this folder with" if says else "plan.json")
        facts = {one["name"]: one["value"] for one in told["facts"]}
        assert facts.keys() == {"State", "Command", "Still readable", "Folder"}
        assert facts["State"] == "succeeded"
        assert "deepspeed.launcher.runner" in facts["Command"]
    directory.plan_file.write_text('{"dsgui": "10.2"}')  # no plan at all
    assert bench.runs.summary(directory.run_id).state.value == "damaged"
    directory.plan_file.write_text(json.dumps(sound | {"dsgui": "10.2", "new": 1}))  # it can be read
    assert bench.runs.summary(directory.run_id).state.value == "succeeded"


def test_a_runs_page_is_told_the_title_of_its_preset(bench: Bench):
    directory = bench.store.open(make_run(bench.store.runs_dir, Made("one", 20)))
    directory.write_plan(replace(directory.read_plan(), preset="zero2"), directory.read_config())
    runs = Runs(bench.store, Launcher(), preset_title=lambda kept: f"the title of {kept}")
    assert runs.follow(directory.run_id, Cursor()).about["preset"] == "the title of zero2"


def test_the_config_of_a_run_whose_plan_is_damaged_is_had_on_its_own_where_it_is_one(bench: Bench):
    directory = bench.store.open(make_run(bench.store.runs_dir, Made("one", 60)))
    archive = Archive(bench.store, bench.runs)
    assert archive.about(directory.run_id)["opens_config"] is False  # a clone has it
    directory.plan_file.write_text("{")
    assert archive.about(directory.run_id)["opens_config"] is True
    for command, shown in (("python t.py --hub_token s3cr3t-one", True), ("python 'cut", False)):
        directory.command_file.write_text(command)
        told = str(archive.about(directory.run_id)["diagnosis"]["facts"])
        assert ("--hub_token" in told, "s3cr3t" in told, "'Command'" in told) == (shown, False, shown)
    assert archive.config_of(directory.run_id) == directory.read_config()
    for text in ("{", ""):
        directory.config_file.write_text(text)
        told = archive.about(directory.run_id)
        assert (told["config"], told["opens_config"]) == (text, False)
        with pytest.raises(RunError, match="is no config"):
            archive.config_of(directory.run_id)


@pytest.mark.parametrize(("tag", "limit"), [("en", "20 steps"), ("zh-CN", "20 步")])
def test_a_text_within_a_charts_mark_is_told_in_the_readers_language(bench: Bench, tag: str, limit: str):
    directory = bench.store.open(make_run(bench.store.runs_dir, Made("one", 60)))
    stopped = said("events", "limit_reached", limit=said("reasons", "limit_steps", steps="20"))
    event = {"time": 0, "kind": "stop", "text": str(stopped), **stopped.to_json()}
    with directory.events_file.open("a", encoding="utf-8") as file:
        file.write(json.dumps(event) + "\n")
    with speaking(tag):
        told = bench.runs.follow(directory.run_id, Cursor()).events[-1]
    assert told["given"] == {"limit": limit}


def test_what_is_listed_of_a_run_is_what_its_page_and_a_comparison_say(bench: Bench):
    run_id = make_run(bench.store.runs_dir, Made("one", 60, spikes=(60,)))
    listed, told = bench.runs.summary(run_id), bench.runs.figures(run_id)
    assert (listed.loss, listed.best_loss) == (told.final_loss, told.best_loss)
    assert listed.loss > 4  # the last one, whatever it is
    assert listed.peak == {"gpu_bytes": told.run_gpu_peak_bytes, "host_bytes": told.run_peak_bytes}


def test_from_the_same_percent_on_as_in_the_list_of_runs_two_figures_differ():
    assert "+0.12 %" in _away(1.0012, 1, "")
    assert "+100 %" in _away(1.997, 1, "")
    assert "+1,000 %" in _away(10.997, 1, "")
    assert _away(1.0007, 1, "") == _away(0.9993, 1, "") == ""


def test_what_is_many_times_the_baselines_is_told_in_percent_as_well(bench: Bench):
    short, long = made_run(bench, "one", steps=5), made_run(bench, "two" * 30, steps=40)
    text = text_of(report(bench, short, long, baseline=short))
    assert "<td>40 <small class='away '>+700 %</small></td>" in text
    told = text_of(report(bench, long, short, baseline=long))
    assert "<td>5 <small class='away '>−88 %</small></td>" in told
    first, second = (made_run(bench, name, steps=49) for name in ("x", "x" * 90))  # losses of 0.16 and 9.06
    rows = dict(
        re.findall(r"<th scope=row>(.*?)</th>(.*?)</tr>", text_of(report(bench, first, second, baseline=first)))
    )
    assert re.search(r"<small class='away worse'>\+\d,\d{3} % worse</small>", rows["Final loss (last logged)"])


def test_runs_of_one_name_are_told_apart_everywhere_and_have_their_colours_squares(bench: Bench):
    ids = [made_run(bench, "same", steps=60, arguments=f"--lr {number}", output="end\n") for number in (1, 2)]
    text = text_of(report(bench, *ids))
    names = [f"same ({run_id[-4:]})" for run_id in ids]
    assert {line["run"] for line in charts_in(report(bench, *ids))["Loss"]["lines"]} == set(names)
    heads = re.findall(r"<h2>(.*?)</h2>|<span class=name title='.*?'>(.*?)</span>", text)
    told = [one or other for one, other in heads if "same" in one + other]
    assert len(told) == 2 * (1 + 2 + 2)  # a card, a column of figures and of differences; command and output
    for place, name in enumerate(names):
        own = [one for one in told if name in one]
        assert len(own) == 5
        assert all(f'class="square line-{place}"' in one for one in own)
    order = [text.index(f"<h2>{title}</h2>") for title in ("Figures", "Differences in settings", "Curves")]
    assert order == sorted(order)


def test_of_many_differences_those_that_tell_most_come_first_and_the_others_are_folded(bench: Bench):
    keys = ", ".join(f'"k{number}": 1' for number in range(9))
    runs = [made_run(bench, config=config, steps=3) for config in (f'{{{keys}, "last": 1}}', '{"last": 2}')]
    shown, folded = text_of(report(bench, *runs)).split("<details><summary>4 more differences</summary>")
    (table,) = re.findall(r"<table class=keys.*?</table>", shown, re.DOTALL)
    assert re.findall(r"<th scope=row>(.*?)</th>", table) == ["last", *(f"k{number}" for number in range(5))]
    assert re.findall(r"<th scope=row>(k\d)</th>", folded) == [f"k{number}" for number in range(5, 9)]
    few = [made_run(bench, config=config, steps=3) for config in ('{"a": 1, "b": 1}', '{"a": 2, "b": 2}')]
    assert "<details>" not in text_of(report(bench, *few))


def test_what_evaluations_logged_is_among_the_figures(bench: Bench):
    ids = [make_run(bench.store.runs_dir, Made(name, 10)) for name in ("one", "two")]
    rows = dict(re.findall(r"<tr><th scope=row>(.*?)</th>(.*?)</tr>", text_of(report(bench, *ids))))
    assert rows["Final eval loss"] == "<td>1</td><td>1</td>"
    assert rows["bleu"] == "<td>30</td><td>30</td>"


def test_a_large_figure_is_written_out(bench: Bench):
    values = {"loss": 2.0, "tokens_per_second": 123456.7}
    points = [(step / 2, Point(step, None, values)) for step in range(1, 5)]
    evaluated = (2.5, Point(4, None, {"eval_perplexity": 27711.52, "eval_accuracy": 0.41594}, "eval"))
    ids = [make_printed(bench.store.runs_dir, Printed(name, [*points, evaluated], 5)) for name in ("one", "two")]
    rows = dict(re.findall(r"<tr><th scope=row>(.*?)</th><td>(.*?)</td>", text_of(report(bench, *ids))))
    assert (rows["perplexity"], rows["accuracy"], rows["Tokens/s"]) == ("27,710", "0.4159", "123,500")


@pytest.mark.parametrize(
    ("code", "told"), [(-15, "-15 (ended by signal SIGTERM)"), (-99, "-99 (ended by signal 99)"), (3, "3")]
)
def test_an_exit_code_of_a_signal_names_it(bench: Bench, code, told):
    run_id = made_run(bench, steps=1)
    bench.store.open(run_id).write_status(RunStatus(RunState.STOPPED, exit_code=code))
    assert f"<dt>Exit code</dt><dd>{told}</dd>" in text_of(report(bench, run_id))


def test_the_file_has_a_name_that_every_system_takes(bench: Bench):
    hostile, chinese = made_run(bench, 'a/../"b"\r\n: ' + "c" * 99, steps=1), made_run(bench, "翻译", steps=1)
    same = [made_run(bench, "lr 5e-4", steps=1) for _ in range(2)]
    reports = Reports(bench.store, bench.runs)
    told = [reports.file_name(ids) for ids in ([same[0]], same, [chinese], [hostile, chinese, *same])]
    assert told[:3] == [f"lr-5e-4-{same[0]}.html", f"lr-5e-4-vs-lr-5e-4-{same[1][-4:]}.html", f"{chinese}.html"]
    assert re.fullmatch(rf"a-[.c-]*-b-c+-vs-{chinese}-and-2-more-{chinese[-4:]}\.html", told[3].replace("..", "."))
    assert len(told[3]) < 100


def test_all_charts_of_a_run_with_steps_are_drawn_by_them_the_machines_too(bench: Bench):
    drawn = charts_in(report(bench, made_run(bench, steps=40)))
    assert {chart["axis"] for chart in drawn.values()} == {"step"}
    (line, *_) = drawn["GPU utilization"]["lines"]
    # A reading is at the step that was done by then; before the first step and after the last it is nowhere.
    assert [step for step in line["step"] if step is not None][-1] <= 40
    assert all(step is None or abs(step - 2 * time) <= 1 for step, time in zip(line["step"], line["time"], strict=True))
    assert {title: chart["y"] for title, chart in drawn.items()}.items() >= {
        "Loss": "loss",
        "GPU memory": "GiB",
    }.items()


def test_what_a_card_holds_is_a_line_of_a_single_runs_chart(bench: Bench):
    first, second = made_run(bench), made_run(bench, "second")
    alone = charts_in(report(bench, first))
    assert alone["GPU memory"]["limits"] == [{"at": 80.0, "text": "GPU has 80 GiB"}]
    assert alone["Loss"]["limits"] == []
    assert charts_in(report(bench, first, second))["GPU memory"]["limits"] == []  # as a comparison has it


def test_what_was_predicted_is_a_line_of_the_reports_chart_as_of_the_pages(bench: Bench):
    run_id = made_run(bench)
    said = Foretold.from_json({"fit": "fits", "predicted": {"gpu_bytes": 18 * GIB, "host_bytes": 3 * GIB}})
    bench.store.open(run_id).write_foretold(said)
    drawn = charts_in(report(bench, run_id))
    predicted = {"at": 18.0, "text": "predicted peak: 18.0 GiB", "colour": "--ds-curve-4"}
    assert drawn["GPU memory"]["limits"] == [{"at": 80.0, "text": "GPU has 80 GiB"}, predicted]
    assert [one["text"] for one in drawn["Host memory"]["limits"]] == ["predicted peak: 3.0 GiB"]
    assert charts_in(report(bench, run_id, made_run(bench, "second")))["GPU memory"]["limits"] == []


def memory_of(name, *cards):
    return [curve([GIB, 2 * GIB], name=f"gpu{card}.{name}_bytes", kind="sample") for card in cards]


def memory_chart(*runs):
    return next(one for one in charts(runs) if one["title"] == "GPU memory")


def keys_of(chart):
    legend = _legend(chart, True)
    return dict(zip(re.findall("</svg> (.*?)</li>", legend), re.findall('dasharray="(.*?)"', legend), strict=True))


def test_of_several_runs_lines_of_other_names_have_other_dashes_and_those_of_one_name_the_same():
    told, whole = ("a", memory_of("run", 0)), ("b", memory_of("used", 0))
    chart = memory_chart(told, whole, ("c", memory_of("run", 0)))
    assert [line["dash"] for line in chart["lines"]] == [0, 1, 0]
    keys = keys_of(chart)
    assert list(keys) == ["GPU 0, this run", "GPU 0"]
    assert len(set(keys.values())) == 2


def test_of_several_runs_a_single_line_of_memory_says_whose_it_is():
    one, other = ("a", memory_of("run", 0)), ("b", memory_of("run", 0))
    assert list(keys_of(memory_chart(one, other))) == ["GPU 0, this run"]
    loss = next(chart for chart in charts([("a", [curve([1, 2])]), ("b", [curve([1, 2])])]))
    assert keys_of(loss) == {}  # its title says it


def test_the_steps_of_a_run_are_looked_for_once_for_all_lines_of_a_chart(monkeypatch):
    asked = []
    monkeypatch.setattr(report_charts, "_ends", lambda curves: asked.append(1) or (0.0, 1.0))
    assert len(memory_chart(("a", [curve([1, 2]), *memory_of("run", *range(8))]))["lines"]) == 8
    assert len(asked) <= 2  # of the GPUs and of the host


def test_an_evaluation_has_the_symbols_that_it_has_on_the_page():
    values = np.array([1.0, 2.0])
    loss = Curve(Series("loss", "train"), values, values, values, values)
    scored = Curve(Series("eval_loss", "eval"), values, values, values, values)
    (chart, *_) = charts([("one", [loss, scored])])
    assert {line["what"]: line["symbols"] for line in chart["lines"]} == {"train": False, "eval": True}


def test_what_the_machine_did_after_the_last_step_is_shown_by_time_alone():
    logged = (np.array(one, float) for one in ([1, 2], [1, 2], [5, 6], [2, 1]))
    loss = Curve(Series("loss", "train", 0, "output"), *logged)
    times = np.arange(10.0)
    none = np.full(10, np.nan)
    used = Curve(Series("host_used_bytes", "sample", None, "telemetry"), none, none, times, times)
    (chart,) = (one for one in charts([("one", [loss, used])]) if one["title"] == "Host memory")
    (line,) = chart["lines"]
    assert line["step"] == [None] * 5 + [1.0, 2.0] + [None] * 3
    assert line["time"] == list(times)


def test_a_peak_that_is_not_shown_by_step_is_said_at_its_chart():
    logged = (np.array(one, float) for one in ([1, 2], [1, 2], [5, 6], [2, 1]))
    loss = Curve(Series("loss", "train", 0, "output"), *logged)
    none, times = np.full(10, np.nan), np.arange(10.0)

    def said(*gib, peaks=()):
        used = Curve(Series("run_bytes", "sample", None, "telemetry"), none, none, times, np.array(gib) * GIB)
        return {chart["title"]: chart["beyond"] for chart in charts([("one", [loss, used])], None, peaks)}

    assert said(1, 9, 1, 1, 1, 2, 2, 1, 1, 1) == {"Loss": "", "Host memory": "Peak 9.00 GiB before step 1"}
    assert said(1, 1, 1, 1, 1, 2, 2, 1, 9, 1)["Host memory"] == "Peak 9.00 GiB after step 2"
    assert said(1, 9, 1, 1, 1, math.nan, 2, 1, 1, 1)["Host memory"] == "Peak 9.00 GiB before step 1"  # as the page says
    assert said(1, 1, 1, 1, 1, 2, 2, 1, 1, 1)["Host memory"] == ""
    assert said(1, 9, 1, 1, 1, math.nan, math.nan, 1, 1, 1)["Host memory"] == ""  # nothing is shown
    # What a run has while operators are compiled is no peak of its own: as its record and the list of runs say.
    compiled = said(1, 9, 1, 1, 1, 2, 2, 1, 1, 1, peaks=[{"host_bytes": 2 * GIB}])
    assert compiled["Host memory"] == "Peak 2.00 GiB; 9.00 GiB before step 1"
    loaded = said(1, 9, 1, 1, 1, 2, 2, 1, 1, 1, peaks=[{"host_bytes": 9 * GIB}])
    assert loaded["Host memory"] == "Peak 9.00 GiB before step 1"


def test_what_it_ran_with_is_folded_and_an_unknown_version_of_python_is_said_to_be(bench: Bench):
    text = text_of(report(bench, made_run(bench)))
    folded = text[text.index("<summary>Code and environment</summary>") :]
    assert "c0ffee" in folded[: folded.index("</details>")]
    plan = bench.store.open(made_run(bench, "second")).read_plan()
    assert _python(replace(plan, target_python="/env/bin/python"), "") == "not known (/env/bin/python)"
    assert _python(replace(plan, target_python="/env/bin/python"), "3.11.7") == "3.11.7 (/env/bin/python)"


def test_its_parts_are_linked_from_its_head(bench: Bench):
    for ids in ([made_run(bench)], [made_run(bench), made_run(bench, "second")]):
        text = text_of(report(bench, *ids))
        links = re.findall(r"<a href=#(\w+)>", text)
        assert links == ["figures", *(["differences"] * (len(ids) > 1)), "curves", "command"]
        assert all(f"id={one}>" in text for one in links)
        assert "<nav class=ways aria-label='Contents'>" in text


def test_the_figures_of_one_run_stay_a_table_however_they_are_laid_out(bench: Bench):
    text = text_of(report(bench, made_run(bench, steps=5)))
    table = re.search(r"<table class=alone role=table .*?</table>", text)[0]
    roles = re.findall(r"<(\w+)[^>]* role=(\w+)", table)
    assert roles[:5] == [("table", "table"), ("tbody", "rowgroup"), ("tr", "row"), ("th", "rowheader"), ("td", "cell")]
    assert len(roles) == len(re.findall(r"<(?:table|tbody|tr|th|td)\b", table))


def test_a_line_has_the_colour_of_the_runs_page(bench: Bench):
    drawn = charts_in(report(bench, made_run(bench)))
    looks = {line["what"]: (COLOURS[line["colour"]], DASHES[line["dash"]]) for line in drawn["GPU memory"]["lines"]}
    first, second = COLOURS[:2]
    assert looks == {
        "GPU 0": (first, "solid"),
        "GPU 0, this run": (first, "dot"),
        "GPU 1": (second, "solid"),
        "GPU 1, this run": (second, "dot"),
    }
    assert [line["colour"] for line in drawn["GPU utilization"]["lines"]] == [0, 1]
    host = {line["what"]: COLOURS[line["colour"]] for line in drawn["Host memory"]["lines"]}
    table = {place.note: place.colour for place in READINGS.values() if place.chart == "host_memory"}
    assert host != {}
    assert host == {chart_table.told(note): colour for note, colour in table.items() if chart_table.told(note) in host}


def test_a_curve_that_goes_back_is_broken_there():
    """Lines of another rank, or a training that begins anew."""
    epochs, times, values = np.array([0.1, 0.2, 0.1, 0.2]), np.arange(4.0), np.array([2.0, 0.4, 2.0, np.nan])
    loss = Curve(Series("loss", "train"), np.full(4, np.nan), epochs, times, values)
    (line,) = charts([("one", [loss])])[0]["lines"]
    assert (line["time"], line["value"]) == ([0, 1, 2, 2, 3], [2.0, 0.4, None, 2.0, None])
    assert line["odd"] == [{"place": 4, "text": "NaN"}]


def charts_in(html):
    found = json.loads(re.search(r'<script type="application/json" id="charts">(.*?)</script>', html, re.DOTALL)[1])
    return {chart["title"]: chart for chart in found}


def test_nothing_of_a_run_becomes_markup(bench: Bench):
    config = json.dumps({"note": HOSTILE})
    run_id = made_run(bench, HOSTILE, config=config, state=RunState.FAILED, output=HOSTILE + "\n", arguments=(HOSTILE,))
    other = made_run(bench, "b", config=json.dumps({"note": 1, HOSTILE: 2}), steps=3)
    for html in (report(bench, run_id), report(bench, run_id, other)):
        assert "<img" not in text_of(html)
        assert "<script>document" not in html
        assert html.count("<script") == html.count("</script>") == 3


def test_nothing_of_a_run_is_secret_any_more(bench: Bench):
    config = json.dumps({"comet": {"api_key": "comets-very-own-key"}, "note": SECRET})
    run_id = made_run(
        bench, f"with {SECRET}", config=config, steps=5,
        output=f"logged in with {SECRET}\nHF_TOKEN=token-that-was-printed\n",
        environment={"API_KEY": "keyed-by-its-name", "PLAIN": "shown"}, arguments=f"--hub_token {SECRET}",
    )  # fmt: skip
    html = report(bench, run_id, secrets=(SECRET,))
    for hidden in (SECRET, "comets-very-own-key", "token-that-was-printed", "keyed-by-its-name"):
        assert hidden not in html
    assert "PLAIN=shown" in html


def test_the_end_of_the_output_is_as_a_terminal_shows_it(bench: Bench):
    lines = "".join(f"line {number}\n" for number in range(500))
    run_id = made_run(bench, output=lines + "10%\r20%\r\x1b[31mred\x1b[0m\n", steps=1)
    text = "<pre class=wraps>(.*?)</pre>"
    whole = f"End of the output</h2><details><summary>(.*?)</summary>{text}</details>{text}"
    summary, before, last = re.search(whole, report(bench, run_id), re.DOTALL).groups()
    before, shown = before.split("\n"), last.split("\n")
    assert (summary, len(before), len(shown)) == ("Earlier output (75 lines)", 75, 25)
    assert shown[-2] == "red"
    assert shown[-1].startswith("step=1 ")
    assert "line 400" not in before


def test_a_config_of_one_line_is_told_in_lines(bench: Bench):
    html = report(bench, made_run(bench, config='{"bf16":{"enabled":true}}', steps=1))
    assert (
        unescape(re.search(r"<pre>(\{.*?)</pre>", html, re.DOTALL)[1]) == '{\n  "bf16": {\n    "enabled": true\n  }\n}'
    )


def test_a_config_that_all_runs_have_is_told_once(bench: Bench):
    first, second, other = (
        made_run(bench, name, config=config, steps=2)
        for name, config in (("one", '{"a": 1}'), ("two", '{"a": 1}'), ("three", '{"a": 2}'))
    )
    assert re.findall(r"Config as launched[^<]*", report(bench, first, second)) == ["Config as launched · all runs"]
    assert report(bench, first, other).count("Config as launched") == 2
    assert report(bench, first).count("<h2>Config as launched</h2>") == 1


def curve(value, **series):
    count = np.arange(float(len(value)))
    return Curve(Series(**{"name": "loss", **series}), count, count, count, np.array(value, float))


def test_a_long_curve_is_thinned_its_spike_stays_and_what_is_no_number_is_a_gap():
    value = np.ones(100_000)
    value[54_321], value[77_777] = 99.0, NAN
    (chart,) = [one for one in charts([("run", [curve(value)])]) if one["title"] == "Loss"]
    (line,) = chart["lines"]
    assert len(line["value"]) <= 2 * STRETCHES + 1
    assert line["step"][line["value"].index(99.0)] == 54_321
    assert [(line["step"][one["place"]], one["text"]) for one in line["odd"]] == [(77_777, "NaN")]
    assert line["value"][line["odd"][0]["place"]] is None


def test_a_training_that_tells_no_speed_has_one_measured():
    found = {chart["title"]: chart for chart in charts([("run", [curve(np.ones(100))])])}
    assert set(found["Throughput"]["lines"][0]["value"]) == {1.0}
    assert found["Throughput"]["unit"] == "steps/s"
    assert "Throughput" not in {chart["title"] for chart in charts([("run", [curve(np.ones(8))])])}


def test_a_lone_score_is_named_and_a_unit_stands_at_its_axis(bench: Bench):
    html = report(bench, make_run(bench.store.runs_dir, Made(steps=20)))
    captions = dict(re.findall(r"<figcaption>(.*?)</figcaption>(.*?)<div class=chart", html))
    assert {"Gradient norm", "Evaluation: bleu", "Host memory"} <= set(captions)
    assert captions["Gradient norm"] == captions["Evaluation: bleu"] == ""


def test_each_score_has_a_chart_of_its_own_of_all_runs():
    first = [curve([0.5, 0.6], name="eval_accuracy", kind="eval"), curve([6e4, 10], name="perplexity", kind="eval")]
    second = [curve([7, 5], name="perplexity", kind="eval"), curve([0.1, 0.2], name="eval_f1_macro", kind="eval")]
    found = {one["title"]: one for one in charts([("a", first), ("b", second)])}
    runs = {title.removeprefix("Evaluation: "): [line["run"] for line in one["lines"]] for title, one in found.items()}
    assert runs == {"accuracy": ["a"], "perplexity": ["a", "b"], "f1 macro": ["b"]}
    perplexity = found["Evaluation: perplexity"]
    assert (perplexity["y"], perplexity["unit"]) == ("perplexity", "")
    assert [(line["what"], line["colour"], line["dash"]) for line in perplexity["lines"]] == [("", 0, 0), ("", 1, 0)]


def test_of_very_many_scores_those_that_were_logged_first_have_charts():
    scores = [curve([0.5, 0.6], name=f"eval_{place}_f1", kind="eval") for place in range(150, 0, -1)]
    titles = [one["title"] for one in charts([("a", scores[:100]), ("b", scores)])]
    assert titles == [f"Evaluation: {place} f1" for place in range(150, 138, -1)]


def test_a_single_value_is_told_and_makes_no_chart(bench: Bench):
    one = [curve([2.5]), replace(curve([1.5]), series=Series("learning_rate"))]
    more = [curve([2.5, 2.0]), replace(curve([math.nan]), series=Series("learning_rate"))]
    drawn, singles = without_dots(charts([("a", one), ("b", more)]))
    assert [chart["title"] for chart in drawn] == ["Loss"]
    assert [(one.title, one.run, one.value) for one in singles] == [
        ("Learning rate", "a", "1.5"),
        ("Learning rate", "b", "NaN"),
    ]
    run_id = make_run(bench.store.runs_dir, Made("one", 1))
    page = report(bench, run_id)
    assert "One value each, so no chart:" in page
    assert "<dt>Loss</dt>" in page
    lines = json.loads(page.split('id="charts">')[1].split("</script>")[0])
    assert all(any(len(line["value"]) > 1 for line in chart["lines"]) for chart in lines)


def test_it_says_how_many_scores_are_not_drawn(bench: Bench):
    def said(count):
        scores = {f"eval_{place}_f1": 0.5 for place in range(count)}
        evaluated = [(float(at), Point(at, None, scores, "eval")) for at in (1, 2)]
        points = [(at / 2, Point(at, None, {"loss": 2.0})) for at in range(1, 5)]
        run_id = make_printed(bench.store.runs_dir, Printed(f"of {count}", [*points, *evaluated], 5))
        return "Only the first 12 of 15 evaluation scores are drawn." in text_of(report(bench, run_id))

    assert (said(15), said(12)) == (True, False)


def test_what_has_no_times_is_drawn_by_step_or_in_its_order_never_by_time():
    nowhere = np.full(3, np.nan)
    scores = Curve(Series("accuracy", "eval"), nowhere, np.arange(3.0), nowhere, np.array([0.5, 0.6, 0.7]))
    runs = [("elsewhere", [scores])]
    (chart,) = charts(runs)
    assert (by_time(runs), chart["axis"], chart["lines"][0]["step"]) == ("", "step", [0.0, 1.0, 2.0])


def test_the_runs_without_steps_are_named_in_quotes_as_a_name_may_hold_a_comma():
    nowhere = np.full(2, np.nan)
    loss = Curve(Series("loss", "train"), nowhere, nowhere, np.arange(2.0), np.array([2.0, 1.0]))
    assert "“lr 1, again”" in by_time([("lr 1, again", [loss]), ("b", [loss])])


def test_a_run_without_curves_has_a_report_too(bench: Bench):
    run_id = made_run(bench, steps=0)
    html = report(bench, run_id)
    assert "Nothing was logged" in html
    assert len(html) < 100_000  # no plotly


def test_no_run_and_too_many_are_sentences(bench: Bench):
    for wrong in ((), [f"2020010{n % 10}-000000-{n:04x}" for n in range(MOST_RUNS + 1)]):
        with pytest.raises(RunError, match="Expected 1 to 12"):
            report(bench, *wrong)
    with pytest.raises(RunError, match="was not found"):
        report(bench, "20200101-000000-0000")


def test_the_command_writes_it_and_overwrites_nothing(bench: Bench, capsys):
    run_id = made_run(bench, steps=5)
    path = bench.folder / "report.html"
    command = ["report", run_id, "-o", str(path), "--runs-dir", str(bench.store.runs_dir)]
    assert main(command) == 0
    assert run_id in path.read_text("utf-8")
    assert main(command) == 2
    assert "already exists" in capsys.readouterr().err


def test_the_command_tells_figures_against_the_first_run_or_another(bench: Bench, capsys):
    first, second, other = (made_run(bench, name, steps=5) for name in ("first", "second", "other"))
    where = ["--runs-dir", str(bench.store.runs_dir)]

    def baseline(*more):
        path = bench.folder / f"{len(more)}.html"
        assert main(["report", first, second, "-o", str(path), *where, *more]) == 0
        return re.search(r"(\w+)</span><small>baseline</small>", path.read_text("utf-8"))[1]

    assert baseline() == "first"
    assert baseline("--baseline", second) == "second"
    assert main(["report", first, second, "-o", str(bench.folder / "no.html"), *where, "--baseline", other]) == 2
    assert f"The baseline {other} is none of the runs in the report" in capsys.readouterr().err
    assert not (bench.folder / "no.html").exists()


def test_the_route_gives_it_as_a_file_and_an_unknown_run_is_a_sentence(tmp_path):
    served = serve(tmp_path)
    made = Bench(tmp_path)
    run_id = made_run(made, steps=5)
    answer = served.ask("GET", f"/dsgui/report?runs={run_id}", bearer())
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == f'attachment; filename="first-{run_id}.html"'
    assert run_id in answer.text
    assert served.ask("GET", f"/dsgui/report?runs={run_id}&baseline=<b>", bearer()).status_code == 422
    answer = served.ask("GET", f"/dsgui/report?runs={run_id},20200101-000000-0000", bearer())
    assert answer.status_code == 404
    assert "Run 20200101-000000-0000 was not found" in answer.json()["detail"]
    assert served.ask("GET", "/dsgui/report?runs=../../etc", bearer()).status_code == 422
    assert served.ask("GET", f"/dsgui/report?runs={run_id}").status_code == 401


# Cheaper: a dark report, tests/browser/test_browser_keyboard.py::test_axe_finds_nothing_wrong_in_a_report.
@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.complete)])
def test_it_opens_from_the_disk_draws_every_chart_and_asks_nobody(bench: Bench, browser, scheme):
    first = made_run(bench, HOSTILE, config=json.dumps({"note": HOSTILE}), output=HOSTILE + "\n", state=RunState.FAILED)
    second = made_run(bench, "second", steps=3000)
    path = bench.folder / "report.html"
    path.write_text(report(bench, first, second), "utf-8")
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=scheme, offline=True)
    page = context.new_page()
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(path.as_uri())
    expect(page.locator(".chart .main-svg").first).to_be_visible()
    count = page.locator(".chart").count()
    assert count >= 6
    assert page.locator(".chart").filter(has=page.locator(".scatterlayer .trace")).count() == count
    assert page.title() == "2 runs compared · dsgui"
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390
    page.select_option("#axis", "time")
    title = page.locator(".chart").first.locator(".xtitle")
    expect(title).to_have_text("time since start (mm:ss)")
    expect(page.locator(".beyond:visible")).to_have_count(0)
    times = page.locator(".chart").first.locator(".xtick").all_text_contents()
    assert times
    assert all(re.fullmatch(r"\d\d:\d\d", one) for one in times)
    page.evaluate("Plotly.relayout(document.querySelector('.chart'), { 'xaxis.range': [60, 64] })")  # as a drag zooms
    ticks = page.locator(".chart").first.locator(".xtick")
    expect(ticks.first).to_have_text("01:00")
    assert all(one.startswith("01:0") for one in ticks.all_text_contents())
    page.evaluate("Plotly.relayout(document.querySelector('.chart'), { 'xaxis.range': [3590, 3640] })")
    expect(title).to_have_text("time since start (h:mm:ss)")
    page.evaluate("Plotly.relayout(document.querySelector('.chart'), { 'xaxis.autorange': true })")
    expect(title).to_have_text("time since start (mm:ss)")
    assert {*times} <= {*ticks.all_text_contents()}
    told = page.evaluate("document.querySelector('.chart').data[0].customdata[2]")
    assert told == "00:02"
    asked_for = page.evaluate("document.querySelector('.chart').layout.xaxis.unifiedhovertitle.text")
    assert asked_for == "time since start (mm:ss)"
    lefts = page.locator(".chart .nsewdrag").evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().left)")
    assert max(lefts) - min(lefts) <= 1  # as wide as the window, all begin at one line
    assert page.evaluate("[...document.fonts].filter((one) => one.status === 'loaded').length") >= 2  # they are in it
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(245, 247, 250)" if scheme == "light" else "rgb(12, 17, 24)")
    blue = {"light": "rgb(0, 114, 178)", "dark": "rgb(90, 169, 230)"}[scheme]  # as the page has it
    drawn = page.locator(".chart .scatterlayer .trace .js-line").first
    for line in (drawn, page.locator(".legend .line-0").first):
        assert line.evaluate("(one) => getComputedStyle(one).stroke") == blue
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert errors == []
    context.close()


def test_the_eighth_card_has_the_first_ones_colour_and_dashes_as_on_the_page():
    whole, own = (Series(f"gpu7.{name}", "sample") for name in ("used_bytes", "run_bytes"))
    cards = {("", 7): len(COLOURS)}
    assert _look(whole, 0, cards) == (len(COLOURS), 0)  # the second turn of the colours is dashed
    assert _look(own, 0, cards) == (0, DASHES.index("dot"))


def test_the_colour_of_a_card_is_by_node_and_number_as_on_the_page():
    heard = [("node-b", 0), ("", 10), ("", 2)]
    curves = [curve([1, 2], name=f"gpu{gpu}.used_bytes", kind="sample", node=node) for node, gpu in heard]
    assert _cards(curves) == {("", 2): 0, ("", 10): 1, ("node-b", 0): 2}
