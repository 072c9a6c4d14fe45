"""Why a run is slow, told from made samples of each kind, and from recorded runs."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from dsgui.core.metrics.curves import Series
from dsgui.core.metrics.points import Event
from dsgui.core.metrics.thinning import Curve
from dsgui.core.sizes import GIB
from dsgui.core.slow.causes import FEWEST, why_slow
from dsgui.core.texts.chinese import TEXTS as CHINESE
from dsgui.core.texts.english import TEXTS
from dsgui.core.texts.languages import speaking
from dsgui.core.texts.saying import text_of
from dsgui.shell.runs.curve_reader import read_points, read_samples
from dsgui.shell.runs.store import RunDirectory

SECONDS = 200
RECORDED = Path(__file__).parents[2] / "outputs" / "slow"


def curve(name, value, *, time=None, step=None, kind="train", rank=None):
    value = np.array(value, dtype=float)
    time = np.arange(len(value), dtype=float) if time is None else np.array(time, dtype=float)
    step = np.full(len(value), math.nan) if step is None else np.array(step, dtype=float)
    return Curve(Series(name, kind, rank), step, np.full(len(value), math.nan), time, value)


def loss(seconds=SECONDS):
    return curve("loss", np.linspace(3, 1, seconds), step=np.arange(seconds))


def sampled(**values):
    return [curve(name.replace("__", "."), value, kind="sample") for name, value in values.items()]


def alternating(busy, idle, share):
    """`idle` for that share of the time, spread over it."""
    return [idle if second % 100 < 100 * share else busy for second in range(SECONDS)]


def judged(*curves, moments=(), offloads=False):
    return why_slow([loss(), *curves], list(moments), offloads=offloads)


WAITING = alternating(100, 0, 0.38)


def test_waiting_for_data_is_told_with_its_share_of_the_time():
    cpu = alternating(30, 70, 0.38)
    found = judged(*sampled(gpu0__utilisation_percent=WAITING, cpu_percent=cpu, run_processes=[9] * SECONDS))
    assert (found.code, found.causes[0].share) == ("data", pytest.approx(0.38))
    assert str(found.line) == "Waiting for data 38 % of the time: GPUs idle while the host CPU works."
    assert [str(figure) for figure in found.causes[0].figures] == [
        "GPU utilization: 62 %",
        "host CPU while the GPUs were idle: 70 %",
        "host CPU while they were busy: 30 %",
        "processes of the run: 9",
    ]


@pytest.mark.parametrize(
    ("readings", "offloads", "code"),
    [
        ({"cpu_percent": alternating(30, 70, 0.38)}, True, "offload"),
        ({"cpu_percent": [97] * SECONDS}, False, "cpu_full"),
        ({"cpu_percent": [20] * SECONDS}, False, "idle"),
        ({}, False, "idle"),
        ({"gpu0__pcie_rx_bytes_s": [5 * GIB] * SECONDS, "gpu0__pcie_tx_bytes_s": [4 * GIB] * SECONDS}, 0, "transfers"),
    ],
)
def test_what_the_machine_did_meanwhile_says_what_an_idle_gpu_waited_for(readings, offloads, code):
    assert judged(*sampled(gpu0__utilisation_percent=WAITING, **readings), offloads=offloads).code == code


def test_gpus_that_were_never_busy_say_nothing_of_the_data():
    """A small model keeps a fast GPU idle whatever the host does."""
    found = judged(*sampled(gpu0__utilisation_percent=[9] * SECONDS, cpu_percent=[2] * SECONDS))
    assert found.code == "idle"


def test_a_busy_gpu_is_no_bottleneck():
    found = judged(*sampled(gpu0__utilisation_percent=[97] * SECONDS, cpu_percent=[99] * SECONDS))
    assert (found.code, found.causes) == ("nothing", ())
    assert [str(one) for one in found.figures] == ["GPU utilization: 97 %", "host CPU: 99 %"]


def test_without_gpu_readings_waiting_is_unknown_and_a_full_cpu_is_the_limit():
    assert judged(*sampled(cpu_percent=[30] * SECONDS)).code == "no_gpu"
    assert judged(*sampled(cpu_percent=[98] * SECONDS)).code == "cpu_limit"


@pytest.mark.parametrize(
    ("own", "gpus", "code", "figures"),
    [
        (
            90,
            {},
            "cpu_own",
            ["host CPU: 98 %", "taken by this run while saturated: 90 %", "taken by other processes: 8 %"],
        ),
        (
            20,
            {},
            "cpu_others",
            ["host CPU: 98 %", "taken by this run while saturated: 20 %", "taken by other processes: 78 %"],
        ),
        (float("nan"), {}, "cpu_limit", ["host CPU: 98 %"]),
        (90, {"gpu0__utilisation_percent": WAITING}, "cpu_full", None),
        (20, {"gpu0__utilisation_percent": WAITING}, "cpu_full_others", None),
    ],
)
def test_a_full_cpu_is_told_to_be_the_runs_own_or_others(own, gpus, code, figures):
    found = judged(*sampled(cpu_percent=[98] * SECONDS, run_cpu_percent=[own] * SECONDS, **gpus))
    assert found.code == code
    told = [str(one) for one in found.causes[0].figures]
    assert told == (figures or told)
    assert figures or told[-2].startswith("taken by this run")


def test_too_few_samples_are_no_verdict():
    few = sampled(gpu0__utilisation_percent=[0] * (FEWEST - 1), cpu_percent=[0] * (FEWEST - 1))
    assert judged(*few).code == "too_few"
    assert why_slow([]).code == "too_few"
    # What was sampled while it loaded its model tells nothing of its training.
    late = curve("loss", [3, 2, 1], time=[190, 195, 199], step=[1, 2, 3])
    assert why_slow([late, *sampled(gpu0__utilisation_percent=[0] * SECONDS)]).code == "too_few"


def pausing(kind):
    """A step a second, and after every 40 a pause of 20 seconds."""
    time = [step + 20 * (step // 40) for step in range(160)]
    moments = [(float(time[step - 1]) + 0.5, Event(kind, "")) for step in range(40, 160, 40)]
    logged = curve("loss", np.ones(160), time=time, step=np.arange(160))
    return why_slow([logged, *sampled(gpu0__utilisation_percent=[95] * 220)], moments)


def test_the_share_of_evaluations_and_of_checkpoints_is_what_they_take_beyond_a_step():
    for kind in ("evaluation", "checkpoint"):
        found = pausing(kind)
        assert (found.code, found.causes[0].share) == (kind, pytest.approx(60 / 219, abs=0.005))
        assert [str(one) for one in found.causes[0].figures] == ["60 of 219 s"]
    assert pausing("warning").code == "nothing"


def test_swapping_a_slow_rank_uneven_gpus_and_heat_are_told():
    busy = {"gpu0__utilisation_percent": [97] * SECONDS}
    swapping = judged(*sampled(**busy, swap_used_bytes=np.linspace(0, 3 * GIB, SECONDS)))
    assert (swapping.code, [str(one) for one in swapping.causes[0].figures]) == (
        "swap",
        ["swap used: 3.0 GiB more than at the start"],
    )
    assert judged(*sampled(**busy, swap_used_bytes=[3 * GIB] * SECONDS)).code == "nothing"  # since before
    ranks = [curve("forward_ms", [100 + 40 * (rank == 3)] * 20, rank=rank) for rank in range(4)]
    slow = judged(*sampled(**busy), *ranks)
    assert (slow.code, str(slow.line)) == (
        "rank",
        "Rank 3 took 1.40 times as long as the others, which waited for it in every step.",
    )
    even = [curve("forward_ms", [100 + rank] * 20, rank=rank) for rank in range(4)]
    assert judged(*sampled(**busy), *even).code == "nothing"
    uneven = judged(*sampled(**busy, gpu1__utilisation_percent=[60] * SECONDS))
    assert "uneven" in [cause.code for cause in uneven.causes]
    assert judged(*sampled(**busy, gpu0__throttle=[0x40] * SECONDS)).code == "slowed"
    assert judged(*sampled(**busy, gpu0__throttle=[0x4] * SECONDS)).code == "nothing"  # its power cap: ordinary


def test_the_largest_part_of_the_time_comes_first_and_all_of_it_is_json():
    found = judged(
        *sampled(gpu0__utilisation_percent=alternating(100, 0, 0.2), cpu_percent=[20] * SECONDS),
        *[curve("forward_ms", [100 + 100 * rank] * 20, rank=rank) for rank in range(2)],
    )
    assert [cause.code for cause in found.causes] == ["rank", "idle"]
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["causes"][0]["share"] == 0.5


def test_every_text_has_its_chinese_with_the_same_places():
    for kind in ("slow", "slow_figures", "slow_advice"):
        assert CHINESE[kind].keys() == TEXTS[kind].keys()
        for code, text in TEXTS[kind].items():
            given = dict.fromkeys(("share", "count", "fewest", "rank", "times", "name", "value", "of", "others"), "7")
            with speaking("zh-CN"):
                told = text_of(kind, code, given)
            assert told != text.format_map(given)
            assert told.count("7") == text.format_map(given).count("7")


@pytest.mark.parametrize(
    ("name", "code", "figures"),
    [
        ("hello-deepspeed", "cpu_limit", ["host CPU: 100 %"]),
        ("cifar10", "cpu_limit", ["host CPU: 100 %"]),
        ("translation", "too_few", []),
    ],
)
def test_recorded_runs_on_a_cpu_are_judged(name, code, figures):
    """Real runs of public scripts with two ranks on a machine without a GPU, as their supervisor recorded them."""
    directory = RunDirectory(RECORDED / name)
    samples, _ = read_samples(directory, directory.sample_tables())
    events = map(json.loads, directory.events_file.read_text("utf-8").splitlines())
    moments = [(event["elapsed_s"], Event(event["kind"], "")) for event in events]
    found = why_slow([*read_points(directory)[0].values(), *samples.values()], moments)
    assert (found.code, [str(one) for cause in found.causes for one in cause.figures]) == (code, figures)
