"""Which files of a folder belong to one training."""

from dsgui.core.adopted.lying import Kind, Lying, groups, might_be


def grouped(*paths: str) -> dict[str, list[str]]:
    files: dict[Kind, list[Lying]] = {}
    for path in paths:
        kind = might_be(path)
        assert kind
        files.setdefault(kind, []).append(Lying(path, 1, 1))
    made = groups(files)
    assert sorted(one.path for group in made for part in group.files.values() for one in part) == sorted(paths)
    return {group.root: [kind.value for kind in group.kinds] for group in made}


def test_an_output_folder_is_one_training_with_its_checkpoints_event_files_and_log():
    assert grouped(
        "trainer_state.json",
        "checkpoint-20/trainer_state.json",
        "checkpoint-40/trainer_state.json",
        "runs/May05_host/events.out.tfevents.1.host.7.0",
        "runs/May06_host/events.out.tfevents.2.host.8.0",
        "runs/May06_host/1683291234.5/events.out.tfevents.2.host.8.1",
        "train.log",
    ) == {"": ["trainer_state", "tensorboard", "log"]}


def test_each_output_folder_below_is_a_training():
    found = grouped("a/trainer_state.json", "b/checkpoint-5/trainer_state.json", "b/runs/x/events.out.tfevents.1.h.1.0")
    assert found == {"a": ["trainer_state"], "b": ["trainer_state", "tensorboard"]}


def test_without_the_trainer_each_folder_with_event_files_is_one_as_tensorboard_has_it():
    found = grouped("logs/a/events.out.tfevents.1.h.1.0", "logs/a/val/events.out.tfevents.1.h.1.0")
    assert found == {"logs/a": ["tensorboard"], "logs/a/val": ["tensorboard"]}
    hparams = grouped("a/events.out.tfevents.1.h.1.0", "a/1683291234.5/events.out.tfevents.1.h.1.1")
    assert hparams == {"a": ["tensorboard"]}


def test_deepspeeds_monitors_of_one_job_are_one_training():
    found = grouped("tiny/Train_Samples_lr.csv", "tiny/Train_Samples_train_loss.csv", "tb/tiny/events.out.tfevents.1")
    assert list(found.values()) == [["tensorboard", "csv_monitor"]]


def test_what_lies_far_below_a_state_is_not_taken_for_its_own():
    found = grouped("trainer_state.json", "old/tries/of/mine/events.out.tfevents.1.h.1.0")
    assert found == {"": ["trainer_state"], "old/tries/of/mine": ["tensorboard"]}


def test_logs_alone_are_trainings_each():
    assert grouped("first.log", "deep/second.out") == {"first.log": ["log"], "deep/second.out": ["log"]}
    assert grouped("train.log", "out/trainer_state.json") == {"out": ["trainer_state", "log"]}


def test_other_files_are_none():
    assert [might_be(path) for path in ("model.safetensors", "README.md", "config.json", "training_args.bin")] == (
        [None] * 4
    )


def test_what_llama_factory_and_ms_swift_log_as_lines_of_json_are_logs_and_their_data_are_not():
    for path in (
        "trainer_log.jsonl",
        "v0-2025/logging.jsonl",
        "train_metrics.jsonl",
        "log.jsonl",
        "loss-history.jsonl",
    ):
        assert might_be(path) is Kind.LOG
    for path in (
        "train.jsonl",
        "dialog.jsonl",
        "catalogue.jsonl",
        "prompts.jsonl",
        "blog_posts.jsonl",
        "trainer_log.json",
    ):
        assert might_be(path) is None
