"""The bundled recipe under the real DeepSpeed with two CPU ranks, owned by a real supervisor."""

import sys
import time
from dataclasses import replace

import pytest

from dsgui.core.launch.plan import ConfigArgument, LaunchRequest
from dsgui.core.launch.state import RunState
from dsgui.core.runs.news import Cursor
from dsgui.runs.runs import Runs
from dsgui.shell.launch.launcher import Launcher
from dsgui.shell.runs.store import Store
from tests.answers.remembered import TRAINING
from tests.support.curves_json import logged, sampled

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


# tests/browser/test_browser.py trains with the same preset and script each time, from the page.
@pytest.mark.remembered(*TRAINING, "recipes", "presets")
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
    shown = run.about["command"].replace(" \\\n  ", " ")  # a part to a line
    assert directory.command_file.read_text("utf-8").strip() == shown
    assert runs.alive_processes(run_id) == []


@pytest.mark.remembered(*TRAINING)
def test_a_config_that_deepspeed_refuses_ends_as_failed_with_its_own_words(tmp_path):
    runs = Runs(Store(tmp_path), Launcher())
    script = tmp_path / "native.py"
    script.write_text(
        "import sys, torch, deepspeed\ndeepspeed.initialize(model=torch.nn.Linear(2, 2), config=sys.argv[-1])\n"
    )
    text = '{"train_batch_size": 100, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 8}'
    request = LaunchRequest(
        name="",
        script=str(script),
        arguments="",
        ranks=1,
        gpu_indices=(),
        master_port=None,
        working_directory="",
        config_text=text,
        config_argument=ConfigArgument.HF,
        target_python=sys.executable,
        environment={},
    )
    run_id = runs.start(runs.prepare(request), text)
    run = ended(runs, run_id)
    assert run.state is RunState.FAILED
    assert "100 != 4 * 8 * 1" in run.reason


def launched(runs, script, text, **changes):
    request = LaunchRequest(
        name="",
        script=str(script),
        arguments="",
        ranks=2,
        gpu_indices=(),
        master_port=None,
        working_directory="",
        config_text=text,
        config_argument=ConfigArgument.HF,
        target_python=sys.executable,
        environment={},
    )
    run_id = runs.start(runs.prepare(replace(request, as_script_reads=True, **changes)), text)
    return ended(runs, run_id)


ACCELERATED = """
import argparse
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

argparse.ArgumentParser().parse_args()
accelerator = Accelerator()
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
loader = DataLoader(TensorDataset(torch.randn(16, 8), torch.randn(16, 1)), batch_size=4)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for x, y in loader:
    accelerator.backward(torch.nn.functional.mse_loss(model(x), y))
    optimizer.step()
print(f"engine {type(model).__module__} {model.zero_optimization_stage()} {model.gradient_clipping()}", flush=True)
accelerator.end_training()
"""


@pytest.mark.remembered(*TRAINING)
def test_an_accelerate_script_trains_with_deepspeed_and_the_config_of_the_run(tmp_path):
    script = tmp_path / "accelerated.py"
    script.write_text(ACCELERATED)
    text = '{"train_micro_batch_size_per_gpu": "auto", "zero_optimization": {"stage": 1}, "gradient_clipping": 0.25}'
    run = launched(Runs(Store(tmp_path / "runs"), Launcher()), script, text)
    assert run.state is RunState.SUCCEEDED, run.output[-3000:]
    assert run.output.count("engine deepspeed.runtime.engine 1 0.25") == 2


NAMED_INSIDE = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

args = TrainingArguments(
    "out", deepspeed="own.json", use_cpu=True, max_steps=2, per_device_train_batch_size=2, logging_steps=1,
    save_strategy="no", report_to=[], disable_tqdm=True,
)
model = GPT2LMHeadModel(GPT2Config(vocab_size=32, n_positions=16, n_embd=16, n_layer=1, n_head=2))
data = [{"input_ids": torch.arange(8), "labels": torch.arange(8)} for _ in range(64)]
trainer = Trainer(model, args, train_dataset=data)
trainer.train()
engine = trainer.model_wrapped
print(f"engine {type(engine).__module__} {engine.zero_optimization_stage()} {engine.train_batch_size()}", flush=True)
torch.distributed.destroy_process_group()
"""


@pytest.mark.remembered(*TRAINING)
def test_a_config_that_training_arguments_name_in_code_is_left_to_the_script(tmp_path):
    """“auto” is no native value: were the rules native, the launch would be refused before it starts."""
    script = tmp_path / "inside.py"
    script.write_text(NAMED_INSIDE)
    text = '{"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto", "zero_optimization": {"stage": 1}}'
    (tmp_path / "own.json").write_text(text)
    runs = Runs(Store(tmp_path / "runs"), Launcher())
    run = launched(runs, script, text, working_directory=str(tmp_path))
    assert run.state is RunState.SUCCEEDED, run.output[-3000:]
    assert run.output.count("engine deepspeed.runtime.engine 1 4") == 2
    assert "--deepspeed" not in run.about["command"].replace("deepspeed.launcher", "")
    assert runs.summary(run.run_id).state is RunState.SUCCEEDED
