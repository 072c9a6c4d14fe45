"""`dsgui import`: another tool's run as the command that starts it, and its config checked."""

import io
import json

import pytest

from dsgui.cli import main

SETTINGS = "model: m\ntuner_type: full\nper_device_train_batch_size: 2\ndeepspeed: ds.json\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "run.yaml").write_text(SETTINGS)
    (tmp_path / "ds.json").write_text('{"train_micro_batch_size_per_gpu": 4, "train_batch_size": "auto"}')
    return tmp_path


def test_a_run_is_told_checked_and_its_config_written(folder, capsys):
    assert main(["import", str(folder / "run.yaml"), "--out", str(folder / "out.json")]) == 1
    told = capsys.readouterr().out
    assert "run.yaml: ms-swift settings" in told
    assert f"dsgui launch --config {folder / 'out.json'} --reader hf --launcher torchrun" in told
    assert "--per_device_train_batch_size" in told
    assert "2" in told
    assert "train_micro_batch_size_per_gpu" in told  # 4 in the config, 2 in the settings: the Trainer stops
    assert json.loads((folder / "out.json").read_text())["train_micro_batch_size_per_gpu"] == 4


def test_validate_takes_settings_with_their_arguments(folder, capsys):
    assert main(["validate", str(folder / "run.yaml")]) == 1
    assert "HF Trainer with its arguments" in capsys.readouterr().out
    (folder / "ds.json").unlink()
    assert main(["validate", str(folder / "run.yaml")]) == 2
    assert "Still needed: the DeepSpeed config ds.json" in capsys.readouterr().err


def test_a_piped_line_lacks_its_config_until_it_is_given(folder, capsys, monkeypatch):
    line = "HF_TOKEN=hf_abcdefgh torchrun --nproc_per_node=2 train.py --deepspeed conf.json --lr 1\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(line))
    assert main(["import", "-", "--format", "json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["config"] is None
    assert told["fields"]["arguments"] == "--lr 1"
    monkeypatch.setattr("sys.stdin", io.StringIO(line))
    (folder / "ok.json").write_text('{"train_batch_size": "auto", "zero_optimization": {"stage": 1}}')
    assert main(["import", "-", "--config", str(folder / "ok.json")]) == 0
    told = capsys.readouterr().out
    assert "hf_abcdefgh" not in told
    assert "--ranks 2 --env 'HF_TOKEN=" in told
    assert "SCRIPT --lr 1" in told


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("deepspeed train.py --epochs 3 --deepspeed --deepspeed_config ds.json", False),
        ("accelerate launch --use_deepspeed --deepspeed_config_file ds.json train.py --train_batch_size=1", False),
        ("deepspeed train.py --max_steps 3 --deepspeed ds.json", True),
    ],
)
def test_only_what_the_trainer_is_given_is_held_against_the_config(tmp_path, capsys, line, refused):
    """The script is not there: the way the config is handed tells who reads it."""
    config = {"train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 1}}
    config["optimizer"] = {"type": "AdamW", "params": {"lr": 0.001}}
    (tmp_path / "ds.json").write_text(json.dumps(config))
    (tmp_path / "run.sh").write_text(line)
    assert main(["import", str(tmp_path / "run.sh")]) == int(refused)
    assert ("mismatch TrainingArguments values" in capsys.readouterr().out) == refused


def test_a_config_is_no_run(folder, capsys):
    assert main(["import", str(folder / "ds.json")]) == 2
    assert "does not describe a run" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "text", "says"), [
    ("export.sh", "swift export \\\n    --adapters out/checkpoint-1\n", "No command here starts a training"),
    ("infer.yaml", "model_name_or_path: m\ninfer_backend: huggingface\n", "describes no run of LLaMA-Factory"),
    ("fsdp.yaml", "distributed_type: FSDP\n", "its distributed_type is “FSDP”"),
])  # fmt: skip
def test_what_trains_nothing_is_told_as_what_it_is(tmp_path, capsys, name, text, says):
    (tmp_path / name).write_text(text)
    assert main(["import", str(tmp_path / name)]) == 2
    assert says in capsys.readouterr().err


SCRIPT = """#!/bin/bash
STAGE=2
cat <<EOT > ds.json
{"train_micro_batch_size_per_gpu": %s, "zero_optimization": {"stage": $STAGE}}
EOT
deepspeed --hostfile hosts --num_gpus=2 train.py --deepspeed --deepspeed_config ds.json
"""


def test_a_config_that_the_script_writes_is_read_instead_of_the_file_on_disk(folder, capsys):
    (folder / "run.sh").write_text(SCRIPT % 1)
    assert main(["import", str(folder / "run.sh"), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["config"] == {"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 2}}
    assert "DeepSpeed config: ds.json, as the script itself writes it" in told["notes"]
    assert "How many nodes there are depends on the hostfile hosts, which is not here" in told["notes"]
    assert "Ranks per node: 2" in told["notes"]


def test_a_config_with_what_only_a_shell_can_tell_is_not_read(folder, capsys):
    (folder / "run.sh").write_text(SCRIPT % "$(nproc)")
    assert main(["import", str(folder / "run.sh"), "--format", "json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["config"] is None
    assert told["notes"][0].startswith("ds.json was not read: the script itself writes it")
    assert told["notes"][0].endswith("tell: $(nproc)")
    (folder / "run.sh").write_text(SCRIPT % "1,,")
    assert main(["import", str(folder / "run.sh")]) == 1
    assert "DeepSpeed config not loaded from ds.json." in capsys.readouterr().out


@pytest.mark.parametrize(("hosts", "says"), [
    ("a slots=2\nb slots=2\nc slots=2\n", ("Hosts: {path}", "Ranks per node: 2; nodes: 3")),
    ("a slots=0-2\n", ("Hosts not read from {path}.", "depends on the hostfile hosts")),
])  # fmt: skip
def test_the_nodes_are_those_of_the_hostfile(folder, capsys, hosts, says):
    (folder / "run.sh").write_text(SCRIPT % 1)
    (folder / "hosts").write_text(hosts)
    main(["import", str(folder / "run.sh")])
    told = capsys.readouterr().out
    assert [one for one in says if one.format(path=folder / "hosts") not in told] == []


def test_an_accelerate_yaml_that_the_script_writes_is_followed(folder, capsys):
    yaml = "distributed_type: DEEPSPEED\nnum_processes: 2\ndeepspeed_config:\n  zero_stage: 3\n"
    (folder / "run.sh").write_text(
        f"cat > acc.yaml <<'X'\n{yaml}X\naccelerate launch --config_file acc.yaml train.py --lr 1\n"
    )
    main(["import", str(folder / "run.sh"), "--format", "json"])
    told = json.loads(capsys.readouterr().out)
    assert told["config"]["zero_optimization"]["stage"] == 3
    assert "Ranks per node: 2; nodes: 1" in told["notes"]


def test_settings_that_the_script_writes_are_read(folder, capsys):
    (folder / "run.sh").write_text(
        "cat > run2.yaml <<X\nmodel_name_or_path: m\nstage: sft\ndeepspeed: ds.json\nlearning_rate: 3.0e-5\n"
        "template: x\nX\nllamafactory-cli train run2.yaml\n"
    )
    main(["import", str(folder / "run.sh"), "--format", "json"])
    told = json.loads(capsys.readouterr().out)
    assert "Settings: run2.yaml, as the script itself writes it" in told["notes"]
    assert "--learning_rate 3e-05" in told["fields"]["arguments"]
    assert told["config"]["train_batch_size"] == "auto"
