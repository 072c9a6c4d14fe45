"""From a config and a choice of model to the question: nothing is "auto" in it, and what was said last counts."""

from dataclasses import replace

import pytest

from dsgui.core.config.arguments import from_words
from dsgui.core.config.context import Context, Integration
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.choice import ModelChoice, is_size, of_words
from dsgui.core.memory.fits.inquiry import hidden_size, made_of, question_for
from dsgui.core.memory.question import Model, Question
from dsgui.shell.config.catalog import Catalog

SCHEMA = Catalog().schema()
T5 = Model("t5", {"model_type": "t5", "d_model": 1024, "dtype": "bfloat16"})
AUTO = {
    "train_micro_batch_size_per_gpu": "auto",
    "bf16": {"enabled": "auto"},
    "zero_optimization": {"stage": 3, "reduce_bucket_size": "auto", "stage3_param_persistence_threshold": "auto"},
    "scheduler": {"type": "WarmupLR", "params": {"warmup_num_steps": "auto"}},
}


def asked(config, words=(), **context):
    about = Context(Integration.HF, gpus_per_node=4, nodes=2, arguments=from_words(list(words)), **context)
    found = question_for(config, about, T5, ModelChoice(length=128), SCHEMA)
    assert isinstance(found, Question)
    return found


def test_what_is_auto_is_filled_from_arguments_and_the_models_width():
    found = asked(AUTO, ("--per_device_train_batch_size", "3", "--bf16", "--warmup_ratio", "0.1"))
    zero = found.config["zero_optimization"]
    assert (zero["reduce_bucket_size"], zero["stage3_param_persistence_threshold"]) == (1024 * 1024, 10 * 1024)
    assert (found.workload.micro_batch, found.workload.length) == (3, 128)
    assert (found.group.ranks, found.group.nodes, found.by_decay) == (8, 2, True)
    assert found.config["bf16"] == {"enabled": True}
    assert "auto" not in str(found.config)


def test_what_the_script_computes_is_taken_at_the_trainers_default():
    arguments = replace(from_words(["--per_device_train_batch_size", "3", "--bf16"]), unknown=frozenset({"fp16"}))
    about = Context(Integration.HF, gpus_per_node=4, nodes=2, arguments=arguments)
    found = question_for(AUTO | {"fp16": {"enabled": "auto"}}, about, T5, ModelChoice(length=128), SCHEMA)
    assert isinstance(found, Question)
    assert (found.config["bf16"], found.config["fp16"]) == ({"enabled": True}, {"enabled": False})


def test_the_micro_batch_is_solved_as_deepspeed_solves_it():
    assert asked({"train_batch_size": 64, "gradient_accumulation_steps": 2}).workload.micro_batch == 4
    nothing = question_for({}, Context(Integration.NATIVE), T5, ModelChoice(), SCHEMA)
    assert isinstance(nothing, CannotSay)
    assert "micro batch is not known" in str(nothing.why)


def test_how_the_model_is_made_follows_from_its_dtype_and_who_reads_the_config():
    found = asked(AUTO)
    assert (made_of(found, Integration.HF).element, made_of(found, Integration.HF).inside) == (2, True)
    assert made_of(found, Integration.NATIVE).inside is False


def test_what_was_said_counts_before_what_the_arguments_say():
    words = ["--model_name_or_path", "llama", "--max_seq_length=2048", "--gradient_checkpointing", "--lora_r", "8"]
    said = of_words(words)
    assert said == ModelChoice("llama", 2048, checkpointing=True, lora_rank=8, named="llama")
    assert ModelChoice("7B", 512).over(said) == ModelChoice("7B", 512, checkpointing=True, lora_rank=8, named="llama")
    assert of_words(["--gradient_checkpointing", "False"]) == ModelChoice()
    assert of_words(["--config_name", "shape"]).model == "shape"
    assert of_words(["--config_name", "shape", "--model_name_or_path", "llama"]).model == "llama"
    assert of_words(["--use_peft", "False", "--lora_rank", "8"]).lora_rank == 0
    assert ModelChoice.from_json(said.to_json()) == replace(said, named="")  # the arguments themselves are kept
    assert ModelChoice.from_json({"length": "x", "lora_rank": -1, "attention": "own"}) == ModelChoice()


@pytest.mark.parametrize(
    ("config", "width"),
    [
        ({"n_embd": 768}, 768),
        ({"text_config": {"hidden_size": 2048}}, 2048),
        ({"hidden_sizes": [64, 512, "x"]}, 512),
        ({"hidden_size": True}, None),
        ({}, None),
    ],
)
def test_the_width_has_many_names(config, width):
    assert hidden_size(config) == width


def test_a_size_is_told_from_a_model():
    assert all(map(is_size, ("7B", "770m", "1.5 B")))
    assert not any(map(is_size, ("t5-3b", "7", "B", "llama-7B", "")))
