"""What another tool's settings name is found where the tool is started, above its example; the rest is asked for."""

import json

import pytest

from dsgui.core.config.context import Integration
from dsgui.core.errors import DocumentError
from dsgui.shell.access.places import Places
from dsgui.shell.config.imports import open_config, open_file, read_text

FACTORY = "stage: sft\nfinetuning_type: full\ntemplate: x\nbf16: true\ndeepspeed: examples/ds.json\n"
SWIFT = "swift sft --model m --tuner_type full --deepspeed zero2 --per_device_train_batch_size 2"


@pytest.fixture
def repository(tmp_path):
    (tmp_path / "repo" / "examples" / "full").mkdir(parents=True)
    (tmp_path / "repo" / "src").mkdir()
    (tmp_path / "repo" / "src" / "train.py").write_text("")
    (tmp_path / "repo" / "examples" / "ds.json").write_text('{"train_batch_size": 8, /* eight */ "x": 1}')
    (tmp_path / "repo" / "examples" / "full" / "run.yaml").write_text(FACTORY)
    return tmp_path / "repo"


def test_config_and_script_are_found_above_the_settings(repository):
    found = open_file(repository / "examples" / "full" / "run.yaml")
    assert json.loads(found.text)["train_batch_size"] == 8
    assert found.integration is Integration.HF
    assert found.run.fields["script"] == str(repository / "src" / "train.py")
    assert str(repository / "examples" / "ds.json") in found.notes[0]
    assert any("comment removed" in note for note in found.notes)
    assert not any("Still needed" in note for note in found.notes)


def test_what_anyone_may_have_left_above_is_not_taken_for_the_config(repository, tmp_path):
    run = repository / "examples" / "full" / "run.yaml"
    run.write_text(FACTORY.replace("examples/ds.json", "left.json"))
    (tmp_path / "left.json").write_text("{}")
    assert open_file(run).text == "{}"
    tmp_path.chmod(0o1777)
    found = open_file(run)
    assert found.text == ""
    assert "Still needed: the DeepSpeed config left.json" in found.notes[0]
    run.write_text(FACTORY.replace("examples/ds.json", "../left.json"))
    assert open_file(run).text == ""
    run.write_text(FACTORY.replace("examples/ds.json", "../../../left.json"))
    assert open_file(run).text == "{}"  # the settings themselves lead there


def test_what_lies_outside_the_places_is_not_here(repository, tmp_path):
    (tmp_path / "ds.json").write_text("{}")
    (repository / "examples" / "full" / "run.yaml").write_text(FACTORY.replace("examples/ds.json", "../../../ds.json"))
    found = open_file(repository / "examples" / "full" / "run.yaml", Places([repository]))
    assert found.text == ""
    assert "Still needed: the DeepSpeed config ../../../ds.json" in found.notes[0]
    whole = FACTORY.replace("examples/ds.json", str(tmp_path / "ds.json"))
    assert read_text(whole, places=Places([repository])).text == ""
    assert read_text(whole, places=Places([tmp_path])).text == "{}"


def test_a_named_preset_is_asked_for_and_never_made_up(repository):
    found = read_text(SWIFT)
    assert found.text == ""
    assert "“zero2”. It is ms-swift’s own file swift/config/zero2.json" in found.notes[0]
    assert found.run.brought.trainer.per_device_train_batch_size == 2
    (repository / "swift" / "config").mkdir(parents=True)
    (repository / "swift" / "config" / "zero2.json").write_text('{"zero_optimization": {"stage": 2}}')
    (repository / "run.sh").write_text(SWIFT)
    assert json.loads(open_file(repository / "run.sh").text) == {"zero_optimization": {"stage": 2}}


def test_an_accelerate_yaml_behind_a_command_line_brings_config_and_ranks(repository):
    (repository / "z3.yaml").write_text(
        "distributed_type: DEEPSPEED\nnum_processes: 4\ndeepspeed_config: {zero_stage: 3}\n"
    )
    (repository / "run.sh").write_text("accelerate launch --config_file z3.yaml src/train.py --lr 1\n")
    found = open_file(repository / "run.sh")
    assert json.loads(found.text)["zero_optimization"]["stage"] == 3
    assert (found.gpus, found.run.fields["ranks"], found.run.fields["arguments"]) == (4, 4, "--lr 1")
    (repository / "z3.yaml").write_text("distributed_type: FSDP\nfsdp_config: {}\n")
    assert "no deepspeed_config block" in open_file(repository / "run.sh").notes[0]


def test_a_settings_file_that_is_not_here_stays_an_argument(repository):
    found = read_text("llamafactory-cli train gone.yaml bf16=true")
    assert any("the settings file gone.yaml" in note for note in found.notes)
    assert found.run.fields["arguments"] == "gone.yaml bf16=true"
    assert found.run.fields["reader"] == "llamafactory"
    assert found.run.brought is None
    assert read_text("trl sft --config gone.yaml --lr 1").run.fields["arguments"] == "--config gone.yaml --lr 1"
    assert read_text("axolotl train gone.yaml").run.fields["arguments"] == "gone.yaml"


def test_where_a_config_is_needed_a_run_without_one_is_refused(repository):
    (repository / "run.sh").write_text(SWIFT)
    with pytest.raises(DocumentError, match=r"no DeepSpeed config was found.*swift/config/zero2\.json"):
        open_config(repository / "run.sh")


def test_a_script_that_does_not_show_its_framework_leaves_that_open(repository):
    assert read_text("torchrun --nproc_per_node 2 train.py --lr 1").integration is None
    assert read_text("deepspeed train.py --deepspeed --deepspeed_config x.json").integration is Integration.NATIVE
    assert read_text("accelerate launch --use_deepspeed --zero_stage 2 train.py").integration is Integration.HF


def test_an_accelerate_yaml_names_its_config_from_where_accelerate_starts(tmp_path):
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "ds.json").write_text('{"train_batch_size": 8}')
    (tmp_path / "configs" / "a.yaml").write_text(
        "distributed_type: DEEPSPEED\ndeepspeed_config: {deepspeed_config_file: configs/ds.json}\n"
    )
    assert json.loads(open_file(tmp_path / "configs" / "a.yaml").text) == {"train_batch_size": 8}
    (tmp_path / "outside.json").write_text("{}")
    (tmp_path / "configs" / "b.yaml").write_text(
        "distributed_type: DEEPSPEED\ndeepspeed_config: {deepspeed_config_file: outside.json}\n"
    )
    with pytest.raises(DocumentError):
        open_file(tmp_path / "configs" / "b.yaml", Places([tmp_path / "configs"]))


@pytest.mark.parametrize(
    "text", ["#!/bin/sh\nls\n", "NPROC_PER_NODE=2 megatron sft --a 1\n", "export A=1\nbash other.sh\n"]
)
def test_a_shell_script_without_a_training_is_told_as_such(text):
    with pytest.raises(DocumentError, match="No command here starts a training"):
        read_text(text)


def test_a_settings_file_that_is_here_is_passed_by_its_whole_path(repository):
    (repository / "axolotl" / "cli").mkdir(parents=True)
    (repository / "axolotl" / "cli" / "train.py").write_text("")
    settings = repository / "examples" / "full" / "run.yaml"
    settings.write_text("base_model: m\nmicro_batch_size: 2\n")
    (repository / "run.sh").write_text("axolotl train examples/full/run.yaml\n")
    assert open_file(repository / "run.sh").run.fields["arguments"] == str(settings)


def test_what_stands_behind_a_settings_file_is_written_as_the_tool_reads_it():
    line = "train gone.yaml --lora_target q_proj v_proj --bf16 --lr 1 template=x"
    read = 'gone.yaml \'lora_target=["q_proj", "v_proj"]\' bf16=true lr=1 template=x'
    assert read_text(f"llamafactory-cli {line}").run.fields["arguments"] == read
    assert read_text(f"python -m llamafactory.v1.launcher {line[6:]}").run.fields["arguments"] == read
    assert (
        read_text("trl sft --lr 1 --packing --config a.yaml").run.fields["arguments"]
        == "--config a.yaml --lr 1 --packing"
    )


@pytest.mark.parametrize("setting", [
    "beta: 0.1\nmax_prompt_length: 512",
    "loss_type: sigmoid",
    "loss_type: [sigmoid, bco_pair]",
    "precompute_ref_log_probs: true",
    "desirable_weight: 1.0",
    "undesirable_weight: 1.0",
    "use_vllm: false",
    "scale_rewards: group",
    "rloo_k: 4",
    "kl_coef: 0.03",
    "center_rewards_coefficient: 0.01",
])  # fmt: skip
def test_settings_for_another_of_trls_scripts_do_not_take_the_one_for_sft(repository, setting):
    (repository / "trl" / "scripts").mkdir(parents=True)
    (repository / "trl" / "scripts" / "sft.py").write_text("")
    (repository / "other.yaml").write_text(
        f"model_name_or_path: m\ndataset_name: d\nlearning_rate: 1e-5\nbf16: true\n{setting}\n"
    )
    found = open_file(repository / "other.yaml")
    assert found.run.fields["script"] == ""
    assert any("Still needed: the script" in note and "dpo" in note and "sft.py" not in note for note in found.notes)


@pytest.mark.parametrize(
    "setting", ["packing: true", "loss_type: dft", "loss_type: nll", "beta:", "label_smoothing_factor: 0.1"]
)
def test_what_trls_sft_script_takes_is_trained_by_it(repository, setting):
    (repository / "trl" / "scripts").mkdir(parents=True)
    (repository / "trl" / "scripts" / "sft.py").write_text("")
    (repository / "sft.yaml").write_text(
        f"model_name_or_path: m\ndataset_name: d\nlearning_rate: 1e-5\nbf16: true\n{setting}\n"
    )
    assert open_file(repository / "sft.yaml").run.fields["script"].endswith("sft.py")


def test_settings_of_ms_swifts_rlhf_take_its_script(repository):
    (repository / "swift" / "cli").mkdir(parents=True)
    for name in ("sft.py", "rlhf.py"):
        (repository / "swift" / "cli" / name).write_text("")
    settings = "model: m\ntuner_type: full\nper_device_train_batch_size: 1\n"
    for setting, script in (
        ("", "sft.py"),
        ("loss_type: infonce\n", "sft.py"),
        ("rlhf_type: dpo\n", "rlhf.py"),
        ("ref_model: m\n", "rlhf.py"),
    ):
        (repository / "run.yaml").write_text(settings + setting)
        assert open_file(repository / "run.yaml").run.fields["script"] == str(repository / "swift" / "cli" / script)
    (repository / "swift" / "cli" / "rlhf.py").unlink()
    assert any("swift/cli/rlhf.py" in note for note in open_file(repository / "run.yaml").notes)
