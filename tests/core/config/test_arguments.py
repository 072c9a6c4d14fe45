"""The HF Trainer's arguments are read as its own parser reads them, and what it would refuse is said."""

import pytest

from dsgui.core.config.arguments import TrainingArguments, from_command_line, from_mapping, given, read_arguments
from dsgui.core.errors import ArgumentsError, DsguiError
from dsgui.shell.config.imports import read_training_arguments
from tests.support.cases import each_case


def test_options_are_read_in_every_spelling_of_a_command_line():
    arguments = from_command_line(
        "--learning_rate 1e-4 --per-device-train-batch-size=4 --bf16 --max_steps -1 --fp16 false --output_dir 'a b' x"
    )
    assert given(arguments) == {
        "per_device_train_batch_size": 4,
        "learning_rate": 1e-4,
        "max_steps": -1,
        "fp16": False,
        "bf16": True,
    }
    assert arguments.problems == ()


def test_a_switch_takes_the_word_behind_it_only_when_that_is_no_option():
    assert from_command_line("--bf16 --fp16 no").bf16
    assert not from_command_line("--bf16 0").bf16
    assert "“train.py” was given; expected true or false" in str(from_command_line("--bf16 train.py").problems[0])


def test_the_last_of_two_counts():
    assert from_command_line("--max_steps 5 --max_steps 7").max_steps == 7
    assert from_command_line("--max_steps five --max_steps 7").problems == ()


@each_case(
    ("text", "told"),
    [
        ("--learning_rate abc", "--learning_rate: “abc” was given; expected a number"),
        ("--max_steps 1.5", "expected a whole number"),
        ("--weight_decay", "no value follows"),
        ("--learning_rate -1e-5", "no value follows"),  # argparse takes it for an option
        ("--warmup_steps -5", "expected 0 or more"),
        ("--per_device_train_batch_size 0", "expected 1 or more"),
        ("--learning_rate nan", "not a usable number"),
        ("--learning_rate 1e999", "not a usable number"),
        ("--fp16 --bf16", "At most one of fp16 and bf16 can be True"),
        ("--fp16_full_eval --bf16_full_eval", "at most one"),
        ("--model 'unclosed", "Close the quote"),
    ],
)
def test_what_can_not_be_is_said(text, told):
    (problem,) = from_command_line(text).problems
    assert told in str(problem)


def test_a_refused_value_leaves_the_default():
    assert from_command_line("--learning_rate abc").learning_rate == TrainingArguments().learning_rate
    assert from_command_line("--learning_rate abc").given == frozenset()


def test_a_mapping_is_taken_as_it_is_and_other_types_are_said():
    assert given(from_mapping({"bf16": True, "learning_rate": 1, "optim": None, "other": {}})) == {
        "learning_rate": 1,
        "bf16": True,
    }
    for key, value in (("learning_rate", "1e-4"), ("max_steps", 5.0), ("bf16", 1), ("model_name_or_path", 3)):
        assert key in str(from_mapping({key: value}).problems[0])


def test_yaml_that_reads_a_number_as_text_is_explained():
    (problem,) = read_arguments("learning_rate: 1e-4\nbf16: true\n").problems
    assert "1.0e-4" in str(problem)


def test_warm_up_is_a_number_of_steps_or_a_share_of_them():
    assert TrainingArguments(warmup_steps=10).warmup == 10
    assert TrainingArguments().warmup == 1  # DeepSpeed takes no 0, so the Trainer fills 1
    assert TrainingArguments(warmup_steps=0.1, max_steps=45).warmup == 5
    assert TrainingArguments(warmup_ratio=0.1, total_steps=100).warmup == 10
    assert TrainingArguments(warmup_steps=0.1).warmup is None


@pytest.mark.parametrize("text", ["[1, 2]", "just words", "a: &x 1\nb: *x", "{broken", "a: [", "{}" + " " * 70_000])
def test_a_text_that_is_none_of_the_three_is_an_error(text):
    with pytest.raises(ArgumentsError):
        read_arguments(text)


@pytest.mark.parametrize("text", ["", "  ", "{}"])
def test_nothing_typed_means_the_defaults(text):
    assert read_arguments(text) == TrainingArguments()


def test_a_file_is_json_or_yaml(tmp_path):
    (tmp_path / "a.json").write_text('{"max_steps": 3}')
    (tmp_path / "a.yaml").write_text("max_steps: 3\nlearning_rate: 1.0e-4\n")
    assert read_training_arguments(str(tmp_path / "a.json")).max_steps == 3
    assert read_training_arguments(str(tmp_path / "a.yaml")).learning_rate == 1e-4
    assert read_training_arguments('{"max_steps": 3}').max_steps == 3
    with pytest.raises(DsguiError, match=r"gone\.json"):
        read_training_arguments(str(tmp_path / "gone.json"))
