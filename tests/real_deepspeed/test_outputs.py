"""The forms a config leaves in agree with what the HF Trainer does, and the snippets run."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dsgui.core.config.arguments import TrainingArguments
from dsgui.core.config.context import Context
from dsgui.core.config.document import Document
from dsgui.core.config.filling import FILLED_BY_TRAINER
from dsgui.core.config.outputs import (
    hf_form,
    initialize_snippet,
    launch_line,
    native_form,
    training_arguments,
)
from dsgui.core.config.pointer import MISSING, lookup

ORACLE = Path(__file__).parents[1] / "support" / "oracles" / "trainer_oracle.py"
FOUR = Context(gpus_per_node=4)

NUMBERS = """{
    "train_micro_batch_size_per_gpu": 4,
    "gradient_accumulation_steps": 2,
    "gradient_clipping": 0.5,
    "optimizer": {
        "type": "AdamW",
        "params": {"lr": 3e-4, "betas": [0.9, 0.95], "eps": 1e-6, "weight_decay": 0.1}
    },
    "scheduler": {"type": "WarmupLR", "params": {"warmup_min_lr": 0, "warmup_max_lr": 3e-4, "warmup_num_steps": 10}},
    "zero_optimization": {"stage": 2, "reduce_bucket_size": 5e8},
    "my own": "auto"
}
"""
AUTO = {
    "train_batch_size": "auto",
    "train_micro_batch_size_per_gpu": "auto",
    "gradient_accumulation_steps": "auto",
    "gradient_clipping": "auto",
    "optimizer": {
        "type": "AdamW",
        "params": {"lr": "auto", "betas": "auto", "eps": "auto", "weight_decay": "auto"},
    },
    "scheduler": {
        "type": "WarmupDecayLR",
        "params": {
            "warmup_min_lr": "auto",
            "warmup_max_lr": "auto",
            "warmup_num_steps": "auto",
            "total_num_steps": "auto",
        },
    },
    "zero_optimization": {
        "stage": "auto",
        "reduce_bucket_size": "auto",
        "stage3_prefetch_bucket_size": "auto",
        "stage3_param_persistence_threshold": "auto",
        "stage3_gather_16bit_weights_on_model_save": "auto",
        "offload_optimizer": {"device": "auto", "nvme_path": "auto"},
        "offload_param": {"device": "auto", "nvme_path": "auto"},
    },
    "fp16": {"enabled": "auto"},
    "bf16": {"enabled": "auto"},
}


# What only the model can tell, and a path that nobody gave.
LEFT_OUT = {
    "nvme_path",
    "reduce_bucket_size",
    "stage3_prefetch_bucket_size",
    "stage3_param_persistence_threshold",
}


def document(config):
    return Document(config if isinstance(config, str) else json.dumps(config))


def keywords(source):
    """The keyword arguments of the `TrainingArguments(…)` in a snippet."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return {keyword.arg: ast.literal_eval(keyword.value) for keyword in calls[-1].keywords}


def asked(config, choices, steps, cwd):
    """What the real Trainer makes of a config, for each choice of its arguments."""
    questions = [json.dumps({"config": config, "arguments": arguments, "steps": steps}) for arguments in choices]
    done = subprocess.run(
        [sys.executable, str(ORACLE)],
        input="\n".join(questions),
        capture_output=True,
        text=True,
        cwd=cwd,
        env=os.environ | {"MASTER_PORT": "0"},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


# ------------------------------------------------------------------------------------------------------- native form
def test_every_auto_that_the_trainer_fills_is_gone_from_the_native_form():
    converted = native_form(document(AUTO), FOUR, TrainingArguments(max_steps=100))
    config = json.loads(converted.text)
    assert "auto" not in converted.text
    assert config["train_batch_size"] == 32
    assert config["scheduler"]["params"]["total_num_steps"] == 100
    assert config["zero_optimization"]["stage"] == 2
    assert lookup(config, "/zero_optimization/reduce_bucket_size") is MISSING
    assert len(converted.notes) == len(FILLED_BY_TRAINER)
    assert all(
        any(lookup(AUTO, p) == "auto" and p[1:].replace("/", ".") in n for n in converted.notes)
        for p in FILLED_BY_TRAINER
    )


def test_the_native_form_keeps_the_text_of_everything_else():
    text = (
        '{\n    "gradient_clipping": "auto", "x": 5e8,\n    "optimizer": {}, "zenflow": {"select_strategy": "auto"}\n}'
    )
    assert native_form(document(text), FOUR).text == text.replace(
        '"gradient_clipping": "auto"', '"gradient_clipping": 1.0'
    )


def test_numbers_in_the_file_count_for_the_train_batch():
    config = {"train_batch_size": "auto", "train_micro_batch_size_per_gpu": 3, "gradient_accumulation_steps": 5}
    converted = native_form(document(config), Context(nodes=2, gpus_per_node=4))
    assert json.loads(converted.text) == config | {"train_batch_size": 120}
    assert "3 × 5 × world size 8" in converted.notes[0]


def test_a_micro_batch_beside_a_train_batch_is_left_to_deepspeed():
    converted = native_form(document({"train_batch_size": 64, "train_micro_batch_size_per_gpu": "auto"}), FOUR)
    assert json.loads(converted.text) == {"train_batch_size": 64}


def test_an_unknown_number_of_steps_is_told_not_guessed():
    converted = native_form(document(AUTO), FOUR)
    assert lookup(json.loads(converted.text), "/scheduler/params/total_num_steps") is MISSING
    assert any(note.startswith("scheduler.params.total_num_steps: removed") for note in converted.notes)


def test_a_missing_optimizer_is_told_to_be_the_scripts():
    assert any(note.startswith("optimizer:") for note in native_form(document({}), FOUR).notes)
    assert not native_form(document(NUMBERS), FOUR).notes


@pytest.mark.deepspeed
@pytest.mark.remembered("tests/support/oracles/trainer_oracle.py")
def test_the_native_form_has_what_the_trainer_fills(tmp_path):
    given = {
        "per_device_train_batch_size": 2,
        "gradient_accumulation_steps": 3,
        "learning_rate": 2e-4,
        "adam_beta2": 0.95,
        "adam_epsilon": 1e-6,
        "weight_decay": 0.01,
        "max_grad_norm": 0.3,
        "warmup_steps": 0.1,
        "max_steps": 45,
        "bf16": True,
    }
    choices = [{"max_steps": 45}, given]
    for arguments, answer in zip(choices, asked(AUTO, choices, 45, tmp_path), strict=True):
        converted = native_form(document(AUTO), Context(), TrainingArguments(**arguments))
        ours, theirs = dict(document(converted.text).literals()), dict(document(answer["config"]).literals())
        assert {pointer: theirs.get(pointer) for pointer in ours} == ours
        assert {pointer.rpartition("/")[2] for pointer in theirs.keys() - ours.keys()} == LEFT_OUT


# ------------------------------------------------------------------------------------------------------------ HF form
def test_what_the_trainer_compares_becomes_auto_and_the_notes_carry_the_values():
    converted = hf_form(document(NUMBERS))
    config = json.loads(converted.text)
    assert config["optimizer"]["params"] == dict.fromkeys(["lr", "betas", "eps", "weight_decay"], "auto")
    assert config["scheduler"]["params"] == {"warmup_min_lr": 0, "warmup_max_lr": "auto", "warmup_num_steps": "auto"}
    assert '"reduce_bucket_size": 5e8' in converted.text
    assert "optimizer.params.lr: 3e-4 → “auto” (TrainingArguments: learning_rate=3e-4)" in converted.notes
    assert any("adam_beta1=0.9, adam_beta2=0.95" in note for note in converted.notes)


def test_the_three_batch_keys_are_auto_together():
    converted = hf_form(document({"train_batch_size": 64}))
    assert json.loads(converted.text) == dict.fromkeys(
        ["train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"], "auto"
    )
    assert "must make 64" in converted.notes[0]
    assert hf_form(document({"zero_optimization": {"stage": 2}})).text == '{"zero_optimization": {"stage": 2}}'


def test_the_hf_form_leaves_autos_nulls_and_words_alone():
    text = '{"optimizer": {"params": {"lr": "auto", "eps": null, "betas": "x", "weight_decay": "0.1"}}}'
    assert hf_form(document(text)).text == text
    assert hf_form(document(text)).notes == ()


def test_the_two_forms_are_inverse_when_the_arguments_carry_the_values():
    there = hf_form(document(NUMBERS))
    arguments = TrainingArguments(
        per_device_train_batch_size=4,
        gradient_accumulation_steps=2,
        max_grad_norm=0.5,
        learning_rate=3e-4,
        adam_beta2=0.95,
        adam_epsilon=1e-6,
        weight_decay=0.1,
        warmup_steps=10,
    )
    back = native_form(document(there.text), Context(), arguments)
    assert json.loads(back.text) == json.loads(NUMBERS)


# ----------------------------------------------------------------------------------------------------------- snippets
def test_the_arguments_are_those_that_the_numbers_demand():
    assert keywords(training_arguments(document(NUMBERS), "my ds.json")) == {
        "output_dir": "output",
        "deepspeed": "my ds.json",
        "per_device_train_batch_size": 4,
        "gradient_accumulation_steps": 2,
        "max_grad_norm": 0.5,
        "learning_rate": 3e-4,
        "adam_beta2": 0.95,
        "adam_epsilon": 1e-6,
        "weight_decay": 0.1,
        "warmup_steps": 10,
    }


def test_defaults_and_autos_demand_nothing():
    config = {
        "train_micro_batch_size_per_gpu": 8,
        "gradient_clipping": 1.0,
        "fp16": {"enabled": False},
        **{"bf16": {"enabled": "auto"}},
    }
    assert keywords(training_arguments(document(config))) == {"output_dir": "output", "deepspeed": "ds_config.json"}


def test_integral_floats_become_the_integers_that_the_arguments_take():
    config = '{"train_micro_batch_size_per_gpu": 1e1, "gradient_accumulation_steps": 4.0, "fp16": {"enabled": true}}'
    found = keywords(training_arguments(document(config)))
    assert (found["per_device_train_batch_size"], found["gradient_accumulation_steps"]) == (10, 4)
    assert isinstance(found["per_device_train_batch_size"], int)
    assert found["fp16"] is True


def test_a_train_batch_alone_gives_the_batch_of_each_device_when_the_ranks_are_known():
    config = {"train_batch_size": 64, "gradient_accumulation_steps": 2}
    known = training_arguments(document(config), context=FOUR)
    assert keywords(known)["gradient_accumulation_steps"] == 2
    assert "per_device_train_batch_size" not in keywords(known)  # 64 / (2 × 4) is 8, the default
    assert keywords(training_arguments(document(config), context=Context()))["per_device_train_batch_size"] == 32
    for unknown in (
        training_arguments(document(config)),
        training_arguments(document({"train_batch_size": 7}), context=FOUR),
    ):
        assert "number of ranks must make train_batch_size" in unknown


def test_two_keys_that_want_different_values_of_one_argument_are_told():
    config = {"optimizer": {"params": {"lr": 1e-4}}, "scheduler": {"params": {"warmup_max_lr": 2e-4}}}
    source = training_arguments(document(config))
    assert keywords(source)["learning_rate"] == 1e-4
    assert "# scheduler.params.warmup_max_lr is 0.0002, and the Trainer has one learning_rate" in source


@pytest.mark.parametrize(
    "path", ["a.json", 'quo"te.json', "back\\slash.json", "línea.json", "new\nline.json", "\u2028"]
)
@pytest.mark.parametrize("config", [{}, AUTO, NUMBERS, {"train_batch_size": 7}, {"zero_optimization": {"stage": 3}}])
def test_snippets_are_python_whatever_the_path(path, config):
    assert keywords(training_arguments(document(config), path))["deepspeed"] == path
    source = initialize_snippet(document(config), path)
    compile(source, "snippet", "exec")
    assert repr(path) in source or json.dumps(path) in source


def test_the_program_brings_the_optimizer_that_the_file_lacks():
    offloaded = {"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}}
    assert "DeepSpeedCPUAdam(" in initialize_snippet(document(offloaded))
    assert "torch.optim.AdamW(" in initialize_snippet(document({}))
    assert "lr=" not in initialize_snippet(document(NUMBERS))
    assert "“auto”" in initialize_snippet(document(AUTO))


def test_the_launch_line_counts_nodes_and_devices():
    assert launch_line(FOUR) == "deepspeed --num_gpus=4 train.py"
    assert launch_line(Context(nodes=2, gpus_per_node=8), "my train.py") == (
        "deepspeed --hostfile=hostfile --num_nodes=2 --num_gpus=8 'my train.py'"
    )


@pytest.mark.deepspeed
@pytest.mark.remembered("tests/support/oracles/trainer_oracle.py")
def test_the_trainer_takes_the_config_with_the_demanded_arguments_and_refuses_it_without(tmp_path):
    config, demanded = json.loads(NUMBERS), keywords(training_arguments(document(NUMBERS)))
    del config["my own"]  # accelerate stops at an “auto” that nobody fills
    arguments = {name: value for name, value in demanded.items() if name not in ("output_dir", "deepspeed")}
    without = [{other: arguments[other] for other in arguments if other != name} for name in arguments]
    taken, *refused = asked(config, [arguments, *without], 50, tmp_path)
    assert taken["config"]["optimizer"] == config["optimizer"]
    assert all("mismatch" in answer["error"] for answer in refused)
    assert len(refused) == 8


@pytest.mark.deepspeed
@pytest.mark.remembered("tests/support/oracles/trainer_oracle.py")
def test_the_snippet_with_the_arguments_runs_as_it_is(tmp_path):
    (tmp_path / "ds_config.json").write_text(NUMBERS)
    source = training_arguments(document(NUMBERS)) + "print(args.hf_deepspeed_config.mismatches)\n"
    assert ran(source, tmp_path).stdout.splitlines()[-1] == "[]"


@pytest.mark.deepspeed
@pytest.mark.remembered("tests/support/oracles/trainer_oracle.py")
@pytest.mark.parametrize("stage", [0, 2, 3])
def test_the_native_program_trains_as_it_is(stage, tmp_path):
    config = {
        "train_micro_batch_size_per_gpu": 32,
        "zero_optimization": {"stage": stage},
        "bf16": {"enabled": stage > 0},
    }
    (tmp_path / "ds_config.json").write_text(json.dumps(config))
    source = initialize_snippet(document(config)) + "print('steps', engine.global_steps)\n"
    assert "steps 8" in ran(source, tmp_path).stdout


def ran(source, folder):
    """A snippet, run by itself as one rank."""
    (folder / "train.py").write_text(source)
    alone = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    environment = os.environ | alone | {"DS_ACCELERATOR": "cpu"}
    done = subprocess.run(
        [sys.executable, "train.py"], capture_output=True, text=True, cwd=folder, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done
