"""A config comes in from a path, an upload or the clipboard, whatever the file turns out to be."""

import json
import os
import resource
from pathlib import Path

import pytest

from dsgui.core.config.context import Integration
from dsgui.core.config.document import Document
from dsgui.core.errors import DocumentError
from dsgui.shell.config.imports import open_file, open_upload, read_text
from dsgui.shell.config.plain_text import MAX_BYTES
from tests.support.cases import each_case

STRICT = '{"train_batch_size": 8, "x": 5e8}\n'
HJSON = '{\n  // eight\n  "train_batch_size": 8,\n}\n'
ACCELERATE = """compute_environment: LOCAL_MACHINE
distributed_type: DEEPSPEED
num_machines: 2
num_processes: 8
mixed_precision: bf16
deepspeed_config:
  zero_stage: 3
"""
POINTING = ACCELERATE.replace("zero_stage: 3", "deepspeed_config_file: {}").replace("mixed_precision: bf16\n", "")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(path):
    with pytest.raises(DocumentError) as caught:
        open_file(path)
    return str(caught.value)


def test_a_strict_file_comes_in_byte_for_byte(folder):
    (folder / "ds.json").write_bytes(STRICT.replace("\n", "\r\n").encode())
    found = open_file(folder / "ds.json")
    assert found.text == STRICT.replace("\n", "\r\n")
    assert (found.notes, found.integration, found.nodes, found.gpus) == ((), None, None, None)


def test_a_commented_file_comes_in_tidied_and_told(folder):
    (folder / "ds.hjson").write_text(HJSON)
    found = open_file(folder / "ds.hjson")
    assert json.loads(found.text) == {"train_batch_size": 8}
    assert found.notes == ("comment removed (line 2)", "trailing comma removed (line 3)")


def test_auto_where_the_trainer_fills_it_tells_who_reads_the_file():
    assert read_text('{"train_batch_size": "auto"}').integration is Integration.HF
    assert read_text('{"zero_optimization": {"zenflow": {"select_strategy": "auto"}}}').integration is None


def test_a_byte_order_mark_is_no_obstacle(folder):
    for name, text in (("ds.json", STRICT), ("a.yaml", ACCELERATE), ("p.yaml", POINTING.format("ds.json"))):
        (folder / name).write_text(text, "utf-8-sig")
        assert open_file(folder / name).text.startswith("{")


def test_the_yaml_of_accelerate_brings_its_config_and_its_ranks():
    found = read_text(ACCELERATE)
    assert json.loads(found.text)["zero_optimization"]["stage"] == 3
    assert (found.integration, found.nodes, found.gpus) == (Integration.HF, 2, 4)
    assert read_text(ACCELERATE.replace("num_processes: 8", "num_processes: -1")).gpus is None


@pytest.mark.parametrize("name", ["", "accelerate.yaml", "x.json"])
def test_content_decides_and_the_name_helps(name):
    assert read_text(ACCELERATE, name).nodes == 2
    assert read_text(STRICT, name).text == STRICT
    as_json = json.dumps({"distributed_type": "DEEPSPEED", "deepspeed_config": {"zero_stage": 1}}, indent=2)
    assert json.loads(read_text(as_json, name).text)["zero_optimization"]["stage"] == 1


def test_another_yaml_is_told_to_be_none_of_accelerates():
    with pytest.raises(DocumentError, match="no deepspeed_config block"):
        read_text("model: t5\nlr: 1\n", "train.yml")


@each_case(
    ("text", "told"),
    [
        ('{"deepspeed_config": "a.json",}', "Line 1, column 30: there is a comma before the closing bracket"),
        ('{"deepspeed_config": "a.json", "x": }', "Line 1, column 37: expected a value"),
        ('{"deepspeed_config": "a.json"}', "deepspeed_config is “a.json”, not a block of keys. Expected a block, as"),
        ("deepspeed_config: a.json", "deepspeed_config is “a.json”, not a block of keys. Expected a block, as"),
        ('{"deepspeed_config": true}', "deepspeed_config is “true”, not a block of keys."),
    ],
)
def test_a_file_that_has_the_key_of_accelerates_is_told_what_is_wrong_with_it(text, told):
    with pytest.raises(DocumentError) as stopped:
        read_text(text, "a.json")
    assert str(stopped.value).startswith(told)


def test_a_yaml_that_points_to_a_file_leads_there_from_its_own_folder(folder):
    (folder / "conf").mkdir()
    (folder / "conf" / "ds 1.json").write_text(HJSON)
    (folder / "conf" / "a.yaml").write_text(POINTING.format("ds 1.json"))
    found = open_file(folder / "conf" / "a.yaml")
    assert json.loads(found.text) == {"train_batch_size": 8}
    assert str(folder / "conf" / "ds 1.json") in found.notes[0]
    assert found.notes[1:] == ("comment removed (line 2)", "trailing comma removed (line 3)")
    assert (found.integration, found.nodes, found.gpus) == (Integration.HF, 2, 4)


def test_an_absolute_path_in_a_yaml_is_taken_as_it_is(folder):
    (folder / "sub").mkdir()
    (folder / "ds.json").write_text(STRICT)
    (folder / "sub" / "a.yaml").write_text(POINTING.format(folder / "ds.json"))
    assert open_file(folder / "sub" / "a.yaml").text == STRICT


def test_a_yaml_that_points_nowhere_says_where_it_points(folder):
    (folder / "a.yaml").write_text(POINTING.format("gone.json"))
    assert str(folder / "gone.json") in refusal(folder / "a.yaml")
    with pytest.raises(DocumentError, match=r"points to gone\.json"):
        read_text(POINTING.format("gone.json"))


def test_home_and_the_working_directory_are_understood(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder))
    (folder / "ds.json").write_text(STRICT)
    assert open_file(Path("~/ds.json")).text == open_file(Path("ds.json")).text == STRICT
    assert "no home" in refusal(Path("~nobody-of-that-name/ds.json"))
    message = refusal(Path("gone.json"))
    assert f"in {folder}" in message
    assert "gone.json" in message


def test_what_is_no_file_is_refused_without_waiting(folder):
    (folder / "dir").mkdir()
    os.mkfifo(folder / "pipe")
    assert "this is a folder" in refusal(folder / "dir")
    assert "pipe or a device" in refusal(folder / "pipe")
    assert "pipe or a device" in refusal(folder / "/dev/zero")
    assert "file not found" in refusal(folder / "gone.json")
    assert "can't be opened" in refusal(folder / "zero\0byte")
    assert "can't be opened" in refusal(folder / ("x" * 5000))
    assert "can't be opened" in refusal(folder / "pipe" / "ds.json")


def test_refusals_leave_no_file_open(folder):
    (folder / "dir").mkdir()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        refusal(folder / "dir")
        refusal(folder / "gone.json")
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_of_someone_else_is_told(folder):
    (folder / "ds.json").write_text(STRICT)
    (folder / "ds.json").chmod(0)
    assert "permission denied" in refusal(folder / "ds.json")


def test_a_large_file_is_refused_before_it_is_read(folder):
    with open(folder / "big.json", "wb") as file:
        file.truncate(1 << 40)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "larger than 1 MiB" in refusal(folder / "big.json")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KiB
    (folder / "full.json").write_text(STRICT + " " * (MAX_BYTES - len(STRICT)))
    assert open_file(folder / "full.json").text.startswith(STRICT)


def test_another_encoding_is_told_with_its_line(folder):
    (folder / "latin.json").write_bytes('{\n"a": "é"}'.encode("latin-1"))
    (folder / "wide.json").write_bytes(STRICT.encode("utf-16"))
    assert "byte 0xe9 on line 2" in refusal(folder / "latin.json")
    assert "Save the file as UTF-8" in refusal(folder / "wide.json")


def test_an_upload_is_called_by_its_name_alone(folder):
    (folder / "weights.json").write_bytes(b"\x80\x81")
    with pytest.raises(DocumentError, match=r"^weights\.json: byte 0x80 on line 1"):
        open_upload(folder / "weights.json")
    (folder / "a.yaml").write_text(POINTING.format("ds.json"))
    (folder / "ds.json").write_text(STRICT)
    with pytest.raises(DocumentError, match=r"points to ds\.json\. Open that file"):
        open_upload(folder / "a.yaml")
    assert open_upload(folder / "ds.json").text == STRICT


def test_a_broken_config_says_where_it_breaks(folder):
    (folder / "ds.json").write_text('{\n  "a": 1,\n  "b": ,\n}')
    assert "Line 3" in refusal(folder / "ds.json")


def test_of_a_key_that_stands_twice_the_last_is_kept_and_it_is_told(folder):
    (folder / "ds.json").write_text('{\n  "a": 1, "b": {"c": 1, "c": 2},\n  "a": [{"d": 1, "d": 3}]\n}')
    found = open_file(folder / "ds.json")
    assert json.loads(found.text) == {"b": {"c": 2}, "a": [{"d": 3}]}
    assert found.notes == (
        "b.c: the key appears twice, on line 2; the last was kept",
        "a: the key appears twice, on lines 2 and 3; the last was kept",
        "a.0.d: the key appears twice, on line 3; the last was kept",
    )


ONES_OF_LLAMA_FACTORY = {
    "examples/deepspeed/ds_z0_config.json": "zero0-hf",
    "examples/deepspeed/ds_z2_config.json": "zero2-hf",
    "examples/deepspeed/ds_z2_offload_config.json": "zero2-offload-hf",
    "/home/me/LLaMA-Factory/examples/deepspeed/ds_z3_config.json": "zero3-hf",
    "./examples/deepspeed/ds_z3_offload_config.json": "zero3-offload-hf",
    "configs/ds_z3_config.json": "",
    "examples/deepspeed/ds_z3_fp8_config.json": "",
    "my.json": "",
}


@pytest.mark.parametrize(("config", "preset"), ONES_OF_LLAMA_FACTORY.items())
def test_of_a_config_that_is_not_here_its_like_among_the_presets_is_named(config, preset, catalog):
    found = read_text(f"finetuning_type: lora\ncutoff_len: 2048\nbf16: true\ndeepspeed: {config}\n")
    assert found.text == ""
    assert (found.missing.file, found.missing.preset) == (config, preset)
    assert found.missing.note in found.notes
    assert not preset or preset in {one.id for one in catalog.presets()}


def test_a_preset_stands_in_with_the_stage_and_the_offload_of_the_example(catalog):
    zero = {one.id: Document(one.text).value["zero_optimization"] for one in catalog.presets()}
    told = {
        preset: (zero[preset]["stage"], "offload_optimizer" in zero[preset], "offload_param" in zero[preset])
        for preset in filter(None, ONES_OF_LLAMA_FACTORY.values())
    }
    assert told == {
        "zero0-hf": (0, False, False),
        "zero2-hf": (2, False, False),
        "zero2-offload-hf": (2, True, False),
        "zero3-hf": (3, False, False),
        "zero3-offload-hf": (3, True, True),
    }


def test_a_config_that_is_here_is_not_missing(tmp_path):
    folder = tmp_path / "examples" / "deepspeed"
    folder.mkdir(parents=True)
    (folder / "ds_z3_config.json").write_text('{"zero_optimization": {"stage": 3}}')
    settings = tmp_path / "sft.yaml"
    settings.write_text(
        "finetuning_type: lora\ncutoff_len: 8\nbf16: true\ndeepspeed: examples/deepspeed/ds_z3_config.json\n"
    )
    found = open_file(settings)
    assert found.missing is None
    assert '"stage": 3' in found.text
