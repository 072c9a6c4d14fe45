"""The recipes under the real DeepSpeed with two CPU ranks: what they print is read, what they save is resumed from and
merged. `make test-all` also lets each learn for as long as it does by default."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dsgui.core.launch.recipes import BY_NAME, RECIPES
from dsgui.core.logs.trainlog import TrainLog
from tests.support import recipes
from tests.support.ports import free_port

pytestmark = [pytest.mark.deepspeed, pytest.mark.remembered("recipes", "presets")]
# The first run on a machine compiles DeepSpeed's operators.
TIMEOUT_S = 480
BIN = Path(sys.executable).parent
# Recipe → the metric that rises.
METRICS = {
    "translation": "eval_chrf",
    "summarization": "eval_rougeL",
    "instruction_lora": "eval_answer_accuracy",
    "pretraining": "eval_accuracy",
    "classification": "eval_accuracy",
}
MERGED_IS_THE_SAME = """
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM
base = AutoModelForCausalLM.from_pretrained("out/base", dtype=torch.bfloat16)
adapted = PeftModel.from_pretrained(base, "out")
merged = AutoModelForCausalLM.from_pretrained("out/merged", dtype=torch.bfloat16)
ids = torch.arange(3, 19)[None]
apart, together, before = adapted(ids).logits, merged(ids).logits, 0
with adapted.disable_adapter():
    before = adapted(ids).logits
print(float((apart - together).abs().max()), float((apart - before).abs().max()))
"""


def command(recipe: str, arguments: str, launcher: str = "deepspeed") -> list[str]:
    port = str(free_port())
    known = {
        "deepspeed": ["deepspeed", "--num_gpus=2", "--master_port", port],
        "torchrun": ["torchrun", "--nproc_per_node=2", "--master_port", port],
    }
    return [*known[launcher], str(recipes.RECIPES / f"{recipe}.py"), *arguments.split()]


def trained(folder: Path, recipe: str, arguments: str, preset: str = "", launcher: str = "deepspeed") -> bytes:
    """The output of a run that ends well."""
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "HF_HUB_OFFLINE": "1"}
    if preset:
        option = "--deepspeed" if BY_NAME[recipe].takes.integration.value == "hf" else "--deepspeed --deepspeed_config"
        arguments = f"{option} {recipes.RECIPES.parent / 'presets' / preset}.ds_config.json {arguments}"
    done = subprocess.run(
        command(recipe, f"{arguments} --output_dir out", launcher),
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode()[-3000:]
    return done.stdout


def points(output: bytes, kind: str, name: str, rank: int | None = None) -> list[tuple[int, float]]:
    """(step, value) of each point that dsgui reads."""
    log = TrainLog()
    read = [*log.feed(output), *log.finish()]
    return [
        (point.step, point.values[name])
        for point in read
        if point.kind == kind and name in point.values and point.rank in (None, rank)
    ]


def test_pretraining_is_read_and_goes_on_from_a_checkpoint(tmp_path):
    short = "--logging_steps 1 --max_train_samples 200 --max_eval_samples 16"
    whole = trained(tmp_path, "pretraining", f"{short} --max_steps 6 --save_steps 3", launcher="torchrun")
    losses = points(whole, "train", "loss", rank=0)
    assert [step for step, _ in losses] == [1, 2, 3, 4, 5, 6]
    assert points(whole, "train", "loss", rank=1) != losses
    assert [step for step, _ in points(whole, "eval", "eval_accuracy")] == [0, 6]
    assert b"optimizer: the script's" in whole
    resumed = trained(
        tmp_path,
        "pretraining",
        f"{short} --max_steps 6 --resume_from_checkpoint out/global_step3",
    )
    assert dict(points(resumed, "train", "loss", rank=0)) == pytest.approx(dict(losses[3:]), abs=1e-3)


def test_classification_trains_with_its_preset(tmp_path):
    output = trained(tmp_path, "classification", "--num_train_epochs 1", "native-hello")
    assert points(output, "train", "loss")[-1][1] < points(output, "train", "loss")[0][1]
    figures = json.loads((tmp_path / "out/results.json").read_text())
    assert points(output, "eval", "eval_accuracy")[-1][1] == pytest.approx(figures["eval_accuracy"], abs=1e-3)


def test_summarization_trains_with_its_preset_and_keeps_the_best(tmp_path):
    options = "--bf16 --max_steps 4 --eval_steps 2 --logging_steps 1 --made_dialogues 200 --max_eval_samples 8"
    output = trained(tmp_path, "summarization", options, "zero3-offload-bf16-flan-t5")
    assert b"ZeRO stage 3" in output
    loss = points(output, "train", "loss")
    assert loss[-1][1] < loss[0][1]
    assert len(list((tmp_path / "out").glob("checkpoint-*"))) == 1


def test_the_adapter_is_trained_in_what_the_hardware_has_saved_and_merged(tmp_path):
    options = "--max_steps 6 --logging_steps 2 --fp16 --merge_adapter"
    output = trained(tmp_path, "instruction_lora", options, "zero2-offload-bloom-lora")
    asked = "from deepspeed.accelerator import get_accelerator; print(get_accelerator().is_fp16_supported())"
    has_fp16 = recipes.python(["-c", asked], tmp_path).stdout.split()[-1] == "True"  # some CPUs do
    assert (b"this machine doesn't support fp16; training in bf16 instead" in output) != has_fp16
    assert points(output, "train", "loss")[-1][1] < points(output, "train", "loss")[0][1]
    assert (tmp_path / "out/adapter_model.safetensors").is_file()
    child = recipes.python(["-c", MERGED_IS_THE_SAME], tmp_path)
    assert child.returncode == 0, child.stderr
    apart, changed = map(float, child.stdout.split())
    assert apart < 0.1 < changed


@pytest.mark.complete
@pytest.mark.parametrize("recipe", [recipe for recipe in RECIPES if recipe.name != "translation"], ids=lambda r: r.name)
def test_a_recipe_learns_as_it_is_offered(recipe, tmp_path):
    output = trained(tmp_path, recipe.name, recipe.arguments, recipe.preset)
    losses = [value for _, value in points(output, "train", "loss", rank=0)]
    assert losses[-1] < losses[0] / 2
    metric = [value for _, value in points(output, "eval", METRICS[recipe.name])]
    assert metric[-1] > metric[0] + 20
