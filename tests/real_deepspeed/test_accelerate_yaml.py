"""accelerate's YAML: read as accelerate itself reads it, and written so that accelerate takes it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from dsgui.core.config.accelerate_yaml import REFUSED_BESIDE_A_FILE, read, write
from dsgui.core.config.bounded_yaml import MAX_CHARACTERS
from dsgui.core.config.document import Document
from dsgui.core.errors import DocumentError
from tests.support.cases import each_case

ORACLE = Path(__file__).parents[1] / "support" / "oracles" / "accelerate_oracle.py"

# As `accelerate config` of 1.15 writes it.
ZERO3 = """compute_environment: LOCAL_MACHINE
debug: false
deepspeed_config:
  deepspeed_multinode_launcher: standard
  gradient_accumulation_steps: 4
  gradient_clipping: 1.0
  offload_optimizer_device: cpu
  offload_param_device: nvme
  offload_param_nvme_path: /local_nvme
  zero3_init_flag: true
  zero3_save_16bit_model: true
  zero_stage: 3
distributed_type: DEEPSPEED
downcast_bf16: 'no'
enable_cpu_affinity: false
machine_rank: 0
main_process_ip: 10.0.0.1
main_process_port: 29500
main_training_function: main
mixed_precision: bf16
num_machines: 2
num_processes: 16
rdzv_backend: static
same_network: true
use_cpu: false
"""
HEAD = "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\nnum_machines: 1\nnum_processes: 2\n"
SHORT = {
    "zero3": ZERO3,
    "nothing but the block": HEAD + "deepspeed_config: {zero3_init_flag: false}\n",
    "fp16": HEAD + "mixed_precision: fp16\ndeepspeed_config:\n  zero_stage: 2\n  gradient_accumulation_steps: 1\n",
    "no clipping": HEAD + "mixed_precision: 'no'\ndeepspeed_config: {zero_stage: 0, gradient_clipping: 0.0}\n",
    "auto": HEAD
    + "mixed_precision: bf16\ndeepspeed_config: {gradient_accumulation_steps: auto, gradient_clipping: auto}\n",
    "nvme": HEAD
    + "deepspeed_config:\n  zero_stage: 3\n  offload_optimizer_device: nvme\n  offload_optimizer_nvme_path: /a b\n"
    + "  offload_param_device: none\n  zero3_save_16bit_model: 'true'\n",
}


def without_nulls(value):
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return value


def asked(*paths, cwd=None):
    """What accelerate says of each file."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("ACCELERATE_")}
    command = [sys.executable, str(ORACLE), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cwd, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.deepspeed
@pytest.mark.remembered("tests/support/oracles/accelerate_oracle.py")
def test_the_short_keys_become_what_accelerate_builds_from_them(tmp_path):
    paths = [tmp_path / f"{index}.yaml" for index in range(len(SHORT))]
    for path, text in zip(paths, SHORT.values(), strict=True):
        path.write_text(text)
    for name, said in zip(SHORT, asked(*paths), strict=True):
        assert with_paths_lost(json.loads(read(SHORT[name]).text)) == without_nulls(said["config"]), name


def with_paths_lost(config):
    """`accelerate launch` 1.15 hands no NVMe path on to the plugin, which then takes “none”; a note says so."""
    for block in ("offload_optimizer", "offload_param"):
        if "nvme_path" in config["zero_optimization"][block]:
            config["zero_optimization"][block]["nvme_path"] = "none"
    return config


@pytest.mark.deepspeed
@pytest.mark.remembered("tests/support/oracles/accelerate_oracle.py")
@pytest.mark.parametrize("nodes", [1, 2])
def test_accelerate_takes_what_is_written_and_uses_the_config_in_the_file(tmp_path, nodes):
    config = {
        "train_micro_batch_size_per_gpu": 2,
        "gradient_accumulation_steps": 4,
        "zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}},
        "bf16": {"enabled": True},
        "fp16": {"enabled": False},
    }
    (tmp_path / "ds: 1.json").write_text(json.dumps(config))
    (tmp_path / "good.yaml").write_text(write(config, nodes=nodes, gpus_per_node=4, config_path="ds: 1.json"))
    repeated = yaml.safe_load((tmp_path / "good.yaml").read_text()) | {"mixed_precision": "bf16"}
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump(repeated))
    good, bad = asked("good.yaml", "bad.yaml", cwd=tmp_path)
    assert good["config"] == config
    assert good["zero3_init"] is True
    assert (good["command"] is None) == (nodes == 1)  # several machines go through DeepSpeed's own launcher
    assert "will be ignored" in bad["error"]


def test_the_parts_of_a_file_are_told():
    found = read(ZERO3)
    assert (found.num_machines, found.num_processes, found.mixed_precision) == (2, 16, "bf16")
    assert found.config_file == ""
    assert Document(found.text).value["zero_optimization"]["offload_param"] == {
        "device": "nvme",
        "nvme_path": "/local_nvme",
    }
    assert [note.split()[0] for note in found.notes[1:3]] == ["zero3_init_flag", "deepspeed_multinode_launcher"]
    assert found.notes[3].startswith("offload_param_nvme_path is /local_nvme here; `accelerate launch` loses it")


def test_a_file_that_points_to_a_config_gives_its_path_and_names_what_accelerate_refuses_beside_it():
    pointing = HEAD + "mixed_precision: bf16\ndeepspeed_config:\n  deepspeed_config_file: ds.json\n  zero_stage: 3\n"
    found = read(pointing)
    assert (found.text, found.config_file) == ("", "ds.json")
    assert found.notes[0].startswith("accelerate refuses zero_stage, mixed_precision beside deepspeed_config_file")


def test_what_is_written_repeats_nothing_that_accelerate_refuses_and_reads_back():
    text = write({"zero_optimization": {"stage": 2}}, nodes=2, gpus_per_node=4, config_path="my dir/ds.json")
    document = yaml.safe_load(text)
    assert not {*document, *document["deepspeed_config"]} & {*REFUSED_BESIDE_A_FILE}
    assert document["deepspeed_config"]["deepspeed_hostfile"] == "hostfile"
    found = read(text)
    assert (found.config_file, found.num_machines, found.num_processes) == ("my dir/ds.json", 2, 8)
    assert not any("refuses" in note for note in found.notes)


def test_a_config_without_the_block_that_accelerate_asks_for_is_remarked():
    assert "# accelerate stops unless" in write({}, nodes=1, gpus_per_node=1)
    assert "# accelerate stops unless" not in write({"zero_optimization": {}}, nodes=1, gpus_per_node=1)
    assert "“auto” follow" in write({"bf16": {"enabled": "auto"}}, nodes=1, gpus_per_node=1)


def test_keys_that_nobody_knows_are_named():
    assert "“zero_stages”" in read("deepspeed_config: {zero_stages: 3}").notes[-1]


@each_case(
    ("text", "says"),
    [
        ("just words", "not a mapping of"),
        ("- 1\n- 2", "not a mapping of"),
        ("", "not a mapping of"),
        ("distributed_type: MULTI_GPU", "“MULTI_GPU”"),
        ("deepspeed_config: {}", "no deepspeed_config block"),
        ("deepspeed_config:\n  zero_stage: two", "“two” is not a whole number"),
        ("deepspeed_config:\n  zero_stage: auto", "“auto” is not a whole number"),
        ("deepspeed_config:\n  gradient_clipping: .inf", "out of range"),
        ("deepspeed_config:\n  gradient_clipping: -1", "out of range"),
        ("deepspeed_config: {zero_stage: 2}\nmixed_precision: fp17", "“fp17”"),
        ("a: b: c", "Line 1, column 5"),
        ("deepspeed_config:\n  zero_stage: 1\n  zero_stage: 2", "lines 2 and 3"),
        ("a: &x {b: 1}\ndeepspeed_config: *x", "alias"),
        ("a: !!python/object/apply:os.system [echo]", "not valid YAML"),
        ("a: 2001-13-45", "month"),
        ("a: " + "9" * 5000, "can't be read"),
        ("[" * 5000, "nested"),
        ("a: x\0", "can't be read"),
        ("a: 1\n" * MAX_CHARACTERS, "characters"),
    ],
)
def test_what_is_no_such_file_is_refused_in_plain_words(text, says):
    with pytest.raises(DocumentError) as caught:
        read(text)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("value", ["!!bool x", '!!int ""', "!!timestamp x", "!!float {}"])
def test_a_value_that_does_not_fit_its_tag_is_refused_in_words(value):
    with pytest.raises(DocumentError, match="YAML"):
        read(f"distributed_type: DEEPSPEED\ndeepspeed_config:\n  gradient_clipping: {value}\n")


def test_deepspeeds_own_keys_in_the_block_are_the_config_and_accelerates_way_is_told():
    found = read(
        "distributed_type: DEEPSPEED\nnum_processes: 4\ndeepspeed_config:\n  zero3_init_flag: true\n"
        "  train_micro_batch_size_per_gpu: 2\n  gradient_clipping: 0.5\n  zero_optimization:\n    stage: 3\n"
    )
    assert json.loads(found.text) == {
        "train_micro_batch_size_per_gpu": 2,
        "gradient_clipping": 0.5,
        "zero_optimization": {"stage": 3},
    }
    assert "point deepspeed_config_file to it" in found.notes[0]
