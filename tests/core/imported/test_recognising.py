"""What a text is is told by its content; each tool's names come in as the Trainer's."""

import json

import pytest

from dsgui.core.errors import DocumentError
from dsgui.core.imported.import_notes import fields_of, notes_of
from dsgui.core.imported.recognising import recognised
from tests.support.cases import each_case

FACTORY = """model_name_or_path: some/model
stage: sft
finetuning_type: lora
deepspeed: conf/ds.json
template: plain
cutoff_len: 1024
lora_rank: 8
per_device_train_batch_size: 2
gradient_accumulation_steps: 4
learning_rate: 1.0e-5
bf16: true
resume_from_checkpoint: null
"""
SWIFT = """model: some/model
tuner_type: lora
split_dataset_ratio: 0.01
dataset: ['one#500', 'two']
max_length: 2048
learning_rate: 1e-4
deepspeed: zero2
zero_hpz_partition_size: 4
ENV: {HF_HUB_OFFLINE: 1}
"""
AXOLOTL = """base_model: some/model
datasets: [{path: a, type: alpaca}]
sequence_len: 512
micro_batch_size: 2
gradient_accumulation_steps: 4
num_epochs: 3
optimizer: adamw_8bit
lr_scheduler: one
bf16: auto
fsdp: [full_shard]
deepspeed: deepspeed_configs/zero1.json
"""


def read(text, path=""):
    outline = recognised(text, path)
    assert outline is not None
    return outline


def told(outline):
    return " | ".join(str(note) for note in notes_of(outline, script_found=False))


def test_settings_of_llama_factory_are_options_of_its_script_and_the_trainers_arguments():
    outline = read(FACTORY)
    assert str(outline.source) == "LLaMA-Factory settings"
    assert outline.config_file == "conf/ds.json"
    trainer = outline.trainer
    assert (trainer.per_device_train_batch_size, trainer.gradient_accumulation_steps, trainer.bf16) == (2, 4, True)
    assert (trainer.learning_rate, trainer.unknown) == (1e-5, frozenset())
    assert "--cutoff_len" in outline.words
    assert not {"--deepspeed", "--resume_from_checkpoint"} & set(outline.words)
    fields = fields_of(outline, "")
    assert (fields["model"], fields["length"], fields["lora_rank"]) == ("some/model", 1024, 8)
    assert "src/train.py" in told(outline)


def test_a_preset_of_ms_swift_is_the_name_of_its_own_file_and_what_it_computes_is_unknown():
    outline = read(SWIFT)
    assert (outline.config_name, outline.config_file) == ("zero2", "swift/config/zero2.json")
    assert outline.trainer.unknown == {"gradient_accumulation_steps", "bf16", "fp16"}
    assert outline.trainer.per_device_train_batch_size == 1  # its default, not the Trainer's
    assert outline.trainer.learning_rate == 1e-4
    assert outline.words[outline.words.index("--dataset") + 1 :][:2] == ("one#500", "two")
    assert outline.environment == ("HF_HUB_OFFLINE=1",)
    assert outline.unread == ("zero_hpz_partition_size: 4",)


def test_the_names_of_axolotl_are_the_trainers_by_other_names():
    outline = read(AXOLOTL, "/home/me/run.yaml")
    trainer = outline.trainer
    assert (trainer.per_device_train_batch_size, trainer.num_train_epochs, trainer.optim) == (2, 3.0, "adamw_8bit")
    assert {"bf16", "fp16", "max_steps"} <= trainer.unknown
    assert outline.words == ("/home/me/run.yaml",)  # its script takes the file, not words
    assert outline.unread == ("fsdp: ['full_shard']",)
    assert "per_device_train_batch_size 2 (micro_batch_size)" in told(outline)
    assert "Enter its path under Arguments" in told(read(AXOLOTL))


def test_of_axolotls_types_the_wider_goes_first():
    assert read(AXOLOTL.replace("auto", "true\nfp16: true")).trainer.fp16 is False
    full = read(AXOLOTL.replace("bf16: auto", "bf16: full")).trainer
    assert (full.bf16, full.bf16_full_eval) == (False, True)


def test_settings_in_json_are_the_same():
    settings = {"model": "m", "tuner_type": "full", "torch_dtype": "bfloat16", "deepspeed": {"a": 1}}
    outline = read(json.dumps(settings, indent=2))
    assert str(outline.source) == "ms-swift settings"
    assert outline.config == {"a": 1}
    assert read(FACTORY.replace("conf/ds.json", "'{\"b\": 2}'")).config == {"b": 2}


@each_case("text", [
    '{"train_batch_size": 8}',
    "distributed_type: DEEPSPEED\ndeepspeed_config: {zero_stage: 2}\nstage: 1\ntemplate: x\ncutoff_len: 1\n",
    "a: 1\nb: 2\n",
    "template: x\nmodel_name_or_path: m\n",
    '{"zero_optimization": {"stage": 2}, "stage": 2, "template": 1, "fp16": {}}',
    "python -c 'print(1)'",
    "deepspeed is a library; torchrun starts ranks",
    "",
])  # fmt: skip
def test_what_describes_no_run_is_none(text):
    assert recognised(text) is None


@pytest.mark.parametrize(("broken", "says"), [
    (FACTORY + "x: *there\n", "alias"),
    (FACTORY + "stage: pt\n", "twice"),
    (FACTORY + "x: [" * 60, "nested more than 32"),
    (FACTORY + "x: [1\n", "not valid YAML"),
])  # fmt: skip
def test_settings_that_hide_something_are_refused_with_their_line(broken, says):
    with pytest.raises(DocumentError, match=says):
        recognised(broken)


def test_settings_of_trls_scripts_are_not_ms_swifts():
    settings = (
        "model_name_or_path: m\ntorch_dtype: bfloat16\nattn_implementation: sdpa\ndataset_num_proc: 4\nbf16: true\n"
    )
    assert str(read(settings).source) == "TRL settings"


V1 = """model: some/model
model_class: llm
kernel_config: {name: auto}
dist_config:
  name: deepspeed
  config_file: examples/deepspeed/ds_z3_config.json
train_dataset: data/demo.yaml
micro_batch_size: 2
global_batch_size: 16
cutoff_len: 1024
max_steps: 10
"""


def test_llama_factory_v1_names_its_config_in_a_plugin():
    outline = read(V1, "/home/me/run.yaml")
    assert str(outline.source) == "LLaMA-Factory v1 settings"
    assert outline.config_file == "examples/deepspeed/ds_z3_config.json"
    assert outline.words == ("/home/me/run.yaml", "dist_config.config_file={config}")
    trainer = outline.trainer
    assert (trainer.per_device_train_batch_size, trainer.learning_rate, trainer.bf16) == (2, 1e-4, True)
    assert "gradient_accumulation_steps" in trainer.unknown
    fields = fields_of(outline, "")
    assert (fields["model"], fields["length"], fields["reader"]) == ("some/model", 1024, "script-hf")
    assert outline.unread == ("global_batch_size: 16",)
    assert "src/llamafactory/v1/launcher.py" in told(outline)


def test_llama_factory_v1_is_known_by_its_plugins_alone():
    short = "model: m\ncutoff_len: 8\nmicro_batch_size: 1\ndist_config: {name: deepspeed, config_file: ds.json}\n"
    assert read(short).config_file == "ds.json"
    lora = read(V1 + "peft_config: {name: lora, r: 16, target_modules: all}\n")
    assert fields_of(lora, "")["lora_rank"] == 16
    assert "peft_config" not in " ".join(lora.unread)


def test_llama_factory_v1_without_deepspeed_is_told():
    outline = read("model: m\ncutoff_len: 8\ndist_config: {name: fsdp2, dcp_path: null}\n", "/run.yaml")
    assert (outline.config_file, outline.words) == ("", ("/run.yaml",))
    assert outline.unread == ("dist_config: {'name': 'fsdp2', 'dcp_path': None}",)
