"""The bundled recipe under the real DeepSpeed with two CPU ranks, owned by a real supervisor."""

import sys
import time

import pytest

from dsgui.core.news import Cursor
from dsgui.core.plan import ConfigArgument, LaunchRequest
from dsgui.core.state import RunState
from dsgui.runs import Runs
from dsgui.shell.launcher import Launcher
from dsgui.shell.store import Store
from tests.curves_json import logged, sampled

pytestmark = pytest.mark.deepspeed
# The first run on a machine compiles DeepSpeed's operators.
TIMEOUT_S = 480


def launch(runs, catalog, preset_id, arguments):
    (preset,) = (p for p in catalog.presets() if p.id == preset_id)
    request = LaunchRequest(
        name="",
        script=str(catalog.recipe("translation")),
        arguments=arguments,
        ranks=2,
        gpu_indices=(),
        master_port=None,
        working_directory="",
        config_text=preset.text,
        config_argument=ConfigArgument.HF,
        target_python=sys.executable,
        environment={},
    )
    return runs.start(runs.prepare(request), preset.text)


def ended(runs, run_id):
    deadline = time.monotonic() + TIMEOUT_S
    while runs.summary(run_id).state.live:
        assert time.monotonic() < deadline, runs.follow(run_id, Cursor()).output[-3000:]
        time.sleep(0.5)
    return runs.follow(run_id, Cursor())


def values(run, name, kind):
    return [p["values"][name] for p in logged(run.curves) if p["kind"] == kind and name in p["values"]]


def test_the_recipe_learns_on_two_cpu_ranks_and_everything_is_kept(tmp_path, catalog):
    runs = Runs(Store(tmp_path), Launcher())
    run_id = launch(runs, catalog, "zero2-offload-t5", "--max_steps 120 --eval_steps 60 --logging_steps 10")
    run = ended(runs, run_id)
    assert run.state is RunState.SUCCEEDED, run.output[-3000:]

    loss = values(run, "loss", "train")
    assert len(loss) >= 10
    assert loss[-1] < loss[0] / 2
    score = values(run, "eval_chrf", "eval")
    assert score[-1] > score[0]
    assert run.progress["step"] == run.progress["total"] == 120
    assert max(sample["run_bytes"] for sample in sampled(run.curves)) > 100 << 20

    directory = Store(tmp_path).open(run_id)
    (preset,) = (p for p in catalog.presets() if p.id == "zero2-offload-t5")
    assert directory.config_file.read_text("utf-8") == preset.text
    assert directory.command_file.read_text("utf-8").strip() == run.about["command"]
    assert runs.alive_processes(run_id) == []


def test_a_config_that_deepspeed_refuses_ends_as_failed_with_its_own_words(tmp_path):
    runs = Runs(Store(tmp_path), Launcher())
    script = tmp_path / "native.py"
    script.write_text(
        "import sys, torch, deepspeed\ndeepspeed.initialize(model=torch.nn.Linear(2, 2), config=sys.argv[-1])\n"
    )
    text = '{"train_batch_size": 100, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 8}'
    request = LaunchRequest("", str(script), "", 1, (), None, "", text, ConfigArgument.HF, sys.executable, {})
    run_id = runs.start(runs.prepare(request), text)
    run = ended(runs, run_id)
    assert run.state is RunState.FAILED
    assert "100 != 4 * 8 * 1" in run.reason
