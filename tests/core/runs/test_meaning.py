"""What a setting is about."""

from dsgui.core.runs.meaning import LITTLE, OTHER, meaning
from tests.support.cases import each_case

ORDER = (
    ("config", "/zero_optimization/stage"),
    ("config", "/zero_optimization/offload_optimizer/device"),
    ("arguments", "--bf16"),
    ("config", "/optimizer/type"),
    ("arguments", "--per_device_train_batch_size"),
    ("arguments", "--learning_rate"),
    ("arguments", "--model_name_or_path"),
    ("config", "/zero_optimization/overlap_comm"),
    ("arguments", "--output_dir"),
)


def test_the_order_of_the_classes():
    assert [meaning(*one) for one in ORDER] == list(range(LITTLE + 1))


@each_case("key", ["--gradient_checkpointing", "--seed", "--dataset_name", "/activation_checkpointing/profile"])
def test_what_may_change_a_training_is_no_bookkeeping(key):
    assert meaning("arguments", key) == OTHER


@each_case("key", ["--max_steps", "--logging_steps", "--save_steps", "--eval_steps", "/steps_per_print", "--run_name"])
def test_bookkeeping_comes_last(key):
    assert meaning("arguments", key) == LITTLE
