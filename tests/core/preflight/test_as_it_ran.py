"""Which machine the changes are checked for of a run that died of memory, and what is said of that."""

import json
import re
from dataclasses import replace

from dsgui.core.diagnosis.memory_cause import Cause
from dsgui.core.launch.plan import ConfigArgument, LaunchRequest, Plan
from dsgui.core.machine.hardware import Gpu
from dsgui.core.machine.machine import Host, Machine
from dsgui.core.memory.answer import CannotSay, Device
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.memory.fits.fitting import Fitted
from dsgui.core.memory.fits.foretold import Foretold
from dsgui.core.memory.fits.memory_report import kept
from dsgui.core.memory.guessed import model_of_size
from dsgui.core.preflight.as_it_ran import as_it_ran, checked_for
from dsgui.core.preflight.judging import memory_of
from dsgui.core.preflight.leaner import leaner
from dsgui.core.preflight.surroundings import Surroundings
from dsgui.core.script.script import script_facts
from dsgui.core.sizes import GIB
from dsgui.core.texts.saying import as_told
from dsgui.core.validation.checker import Checker
from dsgui.shell.config.catalog import Catalog
from tests.support.cases import each_case

CHECKER = Checker(Catalog().schema())
H100 = Gpu(0, "H100", (9, 0), 80 * GIB)
A10 = Gpu(1, "A10", (8, 6), 24 * GIB)
SMALL, LARGE = Host(memory_bytes=64 * GIB), Host(memory_bytes=1024 * GIB)
TEXT = json.dumps(
    {
        "train_micro_batch_size_per_gpu": 1,
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}},
        "bf16": {"enabled": True},
        "zero_optimization": {"stage": 0},
    }
)


def plan_of(ranks: int = 1, gpu_indices: tuple[int, ...] = (0,)) -> Plan:
    choice = ModelChoice("1B", length=256, checkpointing=True)
    request = LaunchRequest(
        script="/w/train.py",
        arguments="",
        ranks=ranks,
        gpu_indices=gpu_indices,
        target_python="python",
        config_text=TEXT,
        config_argument=ConfigArgument.NATIVE,
        model=choice,
    )
    spec = request.spec() | {"arguments": (), "master_port": 2000}
    return Plan(**spec, run_id="1", run_directory="/runs/1")


def on(host: Host, *gpus: Gpu) -> Surroundings:
    return Surroundings(script_facts(""), Machine(host, gpus), shape=model_of_size("1B"))


def then_on(host: Host, *gpus: Gpu, plan: Plan) -> Foretold:
    """What was said of the plan at its launch there."""
    said = kept(memory_of(plan, TEXT, on(host, *gpus), CHECKER))
    assert said
    assert said.bars
    return said


ONE, BOTH, CPU = plan_of(), plan_of(2, (0, 1)), plan_of(1, ())


@each_case(
    ("plan", "then", "now", "judged"),
    [
        (ONE, (SMALL, H100), (SMALL, H100), None),
        (ONE, (SMALL, H100), (Host(memory_bytes=64 * GIB - 4096), H100), None),
        (ONE, (SMALL, H100), (Host(), H100), None),  # what can't be read is not another
        (ONE, (SMALL, H100), (LARGE, H100), ([80], 64)),
        (ONE, (SMALL, H100), (replace(LARGE, memory_limit_bytes=64 * GIB), H100), None),  # of a container
        (ONE, (SMALL, H100), (SMALL,), ([80], 64)),
        (ONE, (SMALL, H100), (SMALL, replace(H100, name="H200")), ([80], 64)),
        (ONE, (SMALL, H100), (SMALL, replace(H100, memory_bytes=94 * GIB)), ([80], 64)),
        (BOTH, (SMALL, H100, A10), (SMALL, H100, A10), None),  # the smallest is what was told
        (BOTH, (SMALL, H100, A10), (SMALL, A10), ([24, 24], 64)),
        (BOTH, (SMALL, H100, A10), (SMALL, H100, replace(H100, index=1)), ([24, 24], 64)),
        (CPU, (SMALL,), (SMALL,), None),
        (CPU, (SMALL,), (LARGE,), ([], 64)),
        (CPU, (SMALL,), (SMALL, H100), ([], 64)),  # or it would be judged by that
    ],
)
def test_changes_are_judged_by_the_machine_of_then(plan, then, now, judged):
    said, here = then_on(*then, plan=plan), on(*now)
    found = as_it_ran(here, plan, said, {})
    if judged is None:
        assert found is here
        return
    machine = found.machine
    assert ([round((gpu.memory_bytes or 0) / GIB) for gpu in machine.gpus], machine.host.memory_bytes) == (
        judged[0],
        judged[1] * GIB,
    )
    again = kept(memory_of(plan, TEXT, found, CHECKER))
    assert again
    assert [(bar.device, bar.moment, bar.capacity) for bar in again.bars] == [
        (bar.device, bar.moment, bar.capacity) for bar in said.bars
    ]


def test_where_nobody_kept_what_it_had_it_is_judged_here():
    here = on(LARGE)
    assert as_it_ran(here, ONE, None, {}) is here
    assert as_it_ran(here, ONE, kept(CannotSay(as_told("No."))), {}) is here


SAID = then_on(SMALL, H100, plan=ONE)
NO_NUMBER = kept(CannotSay(as_told("No config.json.")))
NO_NUMBER_FOR = "Not checked for memory: the prediction stored with the run has no number for %s."
WITHOUT_ROOM = replace(SAID, bars=tuple(replace(bar, capacity=None) for bar in SAID.bars))
MEMORY = memory_of(ONE, TEXT, on(SMALL, H100), CHECKER)


@each_case(
    ("device", "said", "memory", "elsewhere", "told"),
    [
        (Device.GPU, SAID, MEMORY, False, "None"),
        (Device.GPU, SAID, MEMORY, True, "Checked for the GPU it ran on: H100, 78.8 GiB."),
        (Device.HOST, SAID, MEMORY, True, "Checked for the machine it ran on: 64.0 GiB of host memory."),
        (Device.GPU, None, None, False, "Not checked for memory: no prediction was stored with the run."),
        (Device.GPU, NO_NUMBER, None, False, NO_NUMBER_FOR % "the GPU"),
        (Device.HOST, NO_NUMBER, None, False, NO_NUMBER_FOR % "host memory"),
        (Device.GPU, then_on(SMALL, plan=CPU), MEMORY, False, NO_NUMBER_FOR % "the GPU"),
        (Device.GPU, SAID, None, False, "Not checked for memory: the run’s memory can’t be estimated here."),
        (Device.GPU, SAID, CannotSay(as_told("No model.")), True, "Not checked for memory: no model."),
        (Device.HOST, WITHOUT_ROOM, MEMORY, False, "Not checked for memory: how much the run had is not known."),
    ],
)
def test_what_they_were_checked_for_is_said_where_it_is_not_this_machine(device, said, memory, elsewhere, told):
    assert str(checked_for(device, said, memory, elsewhere=elsewhere)) == told


def test_what_would_fit_is_told_of_the_whole_card():
    """Though it has to fit in what is left of that without what was missed."""
    assert isinstance(MEMORY, Fitted)
    around = on(LARGE, Gpu(0, "RTX 4090", (8, 9), 24 * GIB))
    for missing in (0, 6 * GIB):
        *_, last = leaner(ONE, TEXT, around, Cause(Device.GPU, (), missing), checker=CHECKER)
        [(need, has)] = re.findall(r"GPU ([\d.]+) of ([\d.]+) GiB", str(last.label))
        assert (has, float(need) <= 23.7 - missing / GIB) == ("23.6", True)
