"""Lines of JSON as LLaMA-Factory's trainer_log.jsonl and ms-swift's logging.jsonl have them."""

from dsgui.core.logs.dict_lines import read_dicts
from dsgui.core.logs.trainlog import Progress, TrainLog

SWIFT = (
    '{"loss": 3.9, "grad_norm": 2.0, "learning_rate": 9.9e-05, "token_acc": 0.5, "epoch": 0.5, '
    '"global_step/max_steps": "10/438", "percentage": "2.28%", "elapsed_time": "51s", "memory(GiB)": 16.25, '
    '"train_speed(iter/s)": 0.25}'
)
FACTORY = (
    '{{"current_steps": 10, "total_steps": 93, "loss": 4.25, "lr": 2e-06, "epoch": 0.5, "percentage": 10.75, '
    '"elapsed_time": "0:04:02", "remaining_time": "0:33:29", "throughput": {}, "total_tokens": {}}}'
)


def test_ms_swifts_memory_and_speed_are_read_with_the_step():
    (one,) = read_dicts(SWIFT)
    assert (one.step, one.total, one.epoch, one.kind) == (10, 438, 0.5, "train")
    assert one.values == {
        "loss": 3.9,
        "grad_norm": 2.0,
        "learning_rate": 9.9e-05,
        "token_acc": 0.5,
        "memory(GiB)": 16.25,
        "train_speed(iter/s)": 0.25,
    }


def test_an_evaluation_of_ms_swift_has_no_memory_and_the_end_is_the_last_step():
    judged = '{"eval_loss": 0.5, "epoch": 1.0, "global_step/max_steps": "438/438", "memory(GiB)": 16.5}'
    (one,) = read_dicts(judged)
    assert (one.kind, one.step, one.values) == ("eval", 438, {"eval_loss": 0.5})
    log = TrainLog()
    log.feed(f'{SWIFT}\n{{"train_runtime": 9.0, "train_loss": 1.5, "global_step/max_steps": "438/438"}}\n')
    assert log.progress == Progress(438, 438)


def test_the_history_that_ms_swift_appends_is_no_evaluation():
    assert read_dicts('{"global_step": 438, "log_history": [{"loss": 20.5, "step": 1}, {"eval_loss": 0.1}]}') == []


def test_llama_factorys_throughput_is_tokens_a_second_and_nothing_where_none_are_counted():
    (counted,) = read_dicts(FACTORY.format("13174.5", "3189568"))
    assert (counted.step, counted.total, counted.epoch) == (10, 93, 0.5)
    assert counted.values == {
        "loss": 4.25,
        "learning_rate": 2e-06,
        "tokens_per_second": 13174.5,
        "total_tokens": 3189568,
    }
    (uncounted,) = read_dicts(FACTORY.format('"0.00"', "0"))
    assert uncounted.values == {"loss": 4.25, "learning_rate": 2e-06}
