"""What the files of a training tell of its settings."""

import sys

from dsgui.core.adopted.found_settings import (
    is_config,
    might_be_config,
    model_of,
    object_of,
    step_of,
    total_of,
    words_of,
    words_of_state,
)
from dsgui.core.adopted.lying import Kind, Lying
from dsgui.core.adopted.record import Adopted
from dsgui.core.texts.saying import said


def test_a_state_tells_a_part_of_the_arguments():
    state = {"max_steps": 60, "global_step": 40, "logging_steps": 5, "log_history": [], "trial_params": None}
    assert words_of_state(state) == ("--max_steps", "60", "--logging_steps", "5")
    assert words_of_state({**state, "num_train_epochs": sys.maxsize}) == words_of_state(state)
    assert (total_of(state), step_of(state)) == (60, 40)
    assert (total_of({"max_steps": -1}), step_of({"global_step": "x"})) == (None, -1)


def test_secrets_and_what_is_nested_are_no_words():
    given = {"learning_rate": 1e-3, "bf16": True, "hub_token": "hf_abcdefghijklmnop", "fsdp_config": {"a": 1}, "x y": 1}
    assert words_of(given) == ("--learning_rate", "0.001", "--bf16", "true")


def test_a_config_is_told_by_its_keys():
    assert is_config('{"zero_optimization": {"stage": 2}}')
    assert not any(map(is_config, ('{"model_type": "t5"}', "[]", "{", "")))
    assert [might_be_config(name) for name in ("x/ds_config.json", "zero3.json", "config.json")] == [True, True, False]


def test_the_model_is_told_by_what_was_saved():
    assert model_of([{"model_type": "t5"}, {"base_model_name_or_path": "bigscience/bloom"}]) == "bigscience/bloom"
    assert model_of([{"_name_or_path": 3}, {}]) == ""
    assert object_of("[1]") == object_of("{") == object_of("[" * 100_000) == {}


def test_the_record_comes_back_as_it_was():
    one = Adopted("/a", "b", (Kind.STATE,), (Lying("b/x", 3, -4),), (said("adopted", "links", count="2"),), 5.0)
    assert Adopted.from_json(one.to_json()) == one
