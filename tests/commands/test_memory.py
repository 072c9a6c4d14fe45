"""`dsgui memory`: the verdict, its table, its exit codes, and a sentence for what it can't say."""

import json
import shutil
from pathlib import Path

import pytest

from dsgui.cli import main
from tests.answers.remembered import SUPERVISION

pytestmark = pytest.mark.remembered(*SUPERVISION)

CONFIG = {
    "train_micro_batch_size_per_gpu": 1,
    "bf16": {"enabled": True},
    "zero_optimization": {"stage": 2},
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}},
}
BOTH = {"stage": 3, "offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "cpu"}}
LLAMA = {
    "model_type": "llama",
    "hidden_size": 1024,
    "intermediate_size": 2816,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 8,
    "vocab_size": 32000,
    "hidden_act": "silu",
    "torch_dtype": "bfloat16",
}


@pytest.fixture
def ask(tmp_path, capsys, monkeypatch):
    """Runs the command on a config; its exit code, what it printed, and what it complained of."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))

    def ask(*options, **changes):
        Path("ds_config.json").write_text(json.dumps(CONFIG | changes), "utf-8")
        code = main(["memory", "ds_config.json", *options])
        out, err = capsys.readouterr()
        return code, out, err

    return ask


def model(folder, **changes):
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(LLAMA | changes), "utf-8")
    return folder


def test_stage_2_does_not_fit_where_stage_3_with_offload_does(ask):
    options = ("--model", "7B", "--gpus", "4", "--device", "rtx4090", "--length", "1024", "--checkpointing")
    code, out, _ = ask(*options)
    assert code == 1
    assert "7B: doesn’t fit (GPU " in out
    assert "GiB short." in out
    code, out, _ = ask(*options, zero_optimization=BOTH)
    assert code == 0
    assert "7B: needs 163 GiB on the host (GPU " in out
    assert "zero_optimization.offload_optimizer.device" in out
    assert "Nothing was measured on a GPU yet" in out


def test_where_no_change_fits_lora_and_more_gpus_that_do_are_named(ask):
    options = ("--model", "7B", "--gpus", "1", "--device", "rtx4090", "--checkpointing", "--host-memory", "48")
    code, out, _ = ask(*options)
    assert code == 1
    assert "no config change makes it fit" in out
    assert "What would fit, by estimate:\n  LoRA of rank 16: GPU " in out
    lora, more = json.loads(ask(*options, "--format", "json")[1])["beyond"]
    code, out, _ = ask(*options, "--lora-rank", str(lora["fields"]["lora_rank"]))
    assert code == 0
    assert "What would fit" not in out
    stage, sub_group = more["changes"]
    changed = {"stage": stage["value"], "sub_group_size": sub_group["value"]}
    counts = [f"--{name}={more['fields'][name]}" for name in ("gpus", "nodes")]
    code, out, _ = ask(*options, "--zero-init", *counts, zero_optimization=changed)
    assert code == 0


def test_a_hub_id_that_is_not_here_is_planned_with_as_the_size_in_its_name(ask):
    options = ("--gpus", "4", "--device", "rtx4090", "--length", "1024")
    code, out, _ = ask("--model", "Qwen/Qwen2.5-7B", *options)
    assert code == 1
    assert "note: Planned as 7B: Qwen/Qwen2.5-7B isn’t downloaded, so its layers and width are guessed.\n" in out
    _, typed, _ = ask("--model", "7B", *options)
    assert "Planned as" not in typed
    assert "layers and width guessed" in typed
    assert out.splitlines()[0] == typed.splitlines()[0].replace("7B", "Qwen/Qwen2.5-7B")
    told = json.loads(ask("--model", "Qwen/Qwen2.5-7B", *options, "--format", "json")[1])
    assert [one["code"] for one in told["guess"]] == ["planned_as"]


def test_the_cheapest_change_that_fits_is_said_in_words_and_edits(ask):
    options = ("--model", "7B", "--gpus", "4", "--device", "rtx4090", "--length", "1024", "--checkpointing")
    code, out, _ = ask(*options)
    assert code == 1
    assert "Cheapest change that fits the GPUs, by estimate: ZeRO stage 3 + optimizer in host memory. Then: GPU " in out
    assert '\n  zero_optimization.stage: 3\n  zero_optimization.offload_optimizer: {"device": "cpu"}\n' in out
    told = json.loads(ask(*options, "--format", "json")[1])["cheapest"]
    assert [one["code"] for one in told["moves"]] == ["stage_3", "offload_optimizer_cpu"]
    assert told["changes"][1] == {"pointer": "/zero_optimization/offload_optimizer", "value": {"device": "cpu"}}
    zero = {"stage": 3, "offload_optimizer": {"device": "cpu"}}
    code, out, _ = ask(*options, zero_optimization=zero, **{"train_micro_batch_size_per_gpu": 1})
    assert code == 0
    assert "Cheapest change" not in out
    assert "cheapest" not in json.loads(ask(*options, "--format", "json", zero_optimization=zero)[1])


def test_checkpointing_is_the_scripts_and_where_no_change_helps_that_is_said(ask):
    options = ("--model", "7B", "--gpus", "8", "--device", "rtx4090", "--length", "4096")
    out = ask(*options, zero_optimization={"stage": 3, "offload_optimizer": {"device": "cpu"}})[1]
    assert "by estimate: Gradient checkpointing. Then: GPU " in out
    assert "start the script with --gradient_checkpointing" in out
    code, out, _ = ask("--model", "70B", "--gpus", "1", "--device", "t4", "--host-memory", "64")
    assert code == 1
    assert "Without NVMe offload, no config change makes it fit with this optimizer and these data types: " in out


def test_json_has_every_moment_in_bytes_with_the_keys_that_govern(ask):
    code, out, _ = ask("--model", "1B", "--gpus", "2", "--device", "a100-80", "--length", "512", "--format", "json")
    told = json.loads(out)
    assert (code, told["fit"], told["guessed"], told["ranks"], told["source"]) == (0, "fits", True, 2, "formula")
    gpu = next(one for one in told["devices"] if one["device"] == "gpu")
    assert [one["moment"] for one in gpu["moments"]] == ["init", "forward", "backward", "step"]
    step = gpu["moments"][3]
    weights = next(part for part in step["parts"] if part["part"] == "weights")
    assert weights["bytes"] == pytest.approx(2 * told["parameters"], rel=1e-3)
    assert "/zero_optimization/stage" in weights["keys"]
    assert sum(part["bytes"] for part in step["parts"]) == step["bytes"]


def test_a_folder_and_a_hub_id_in_the_cache_name_the_same_model(ask, tmp_path):
    model(tmp_path / "llama")
    snapshot = model(tmp_path / "hub/hub/models--meta--llama/snapshots/abc")
    refs = snapshot.parents[1] / "refs"
    refs.mkdir()
    (refs / "main").write_text("abc", "utf-8")
    here, hub, file = (ask("--model", name, "--device", "t4") for name in ("llama", "meta/llama", "llama/config.json"))
    assert here[0] == hub[0] == file[0] == 0
    assert here[1].splitlines()[1:] == hub[1].splitlines()[1:]
    words = "--model_name_or_path llama --per_device_train_batch_size 1 --learning_rate 1e-4 --bf16"
    assert ask("--training-args", words, "--device", "t4")[0] == 0


def test_the_model_that_the_arguments_name_is_told_where_another_counts_and_where_it_is_not_here(ask):
    words = "--model_name_or_path no/such --per_device_train_batch_size 1 --learning_rate 1e-4 --bf16"
    code, _, err = ask("--training-args", words, "--device", "t4")
    assert (code, "The script’s arguments name no/such, which isn’t on this machine." in err) == (2, True)
    other = ask("--training-args", words, "--device", "a100-80", "--model", "1B")[1]
    assert "Estimated for 1B; the script’s arguments name no/such." in other


def test_what_this_machine_does_not_have_is_asked_for(ask, monkeypatch):
    """No GPU here, and no device to plan for: what the GPUs need is told, and whether it fits is not."""
    monkeypatch.setattr("dsgui.commands.model_memory.read_here", lambda runs_dir: _no_gpus())
    code, out, _ = ask("--model", "1B")
    assert code == 2
    assert "1B: can’t say (GPU " in out
    assert "choose a device to plan for" in out


def _no_gpus():
    from dsgui.core.machine.machine import Host, Machine

    return Machine(Host(memory_bytes=64 << 30))


def test_host_memory_of_another_machine(ask):
    """A node of 500 GiB is too small for what a 32B model offloads."""
    options = ("--model", "32B", "--device", "h100", "--length", "2048", "--checkpointing", "--host-memory")
    assert ask(*options, "500", zero_optimization=BOTH)[0] == 1
    assert ask(*options, "1500", zero_optimization=BOTH)[0] == 0


def test_a_folder_on_nvme_is_offloaded_to_where_the_host_is_too_small(ask, tmp_path, monkeypatch):
    options = ("--model", "3B", "--gpus", "1", "--device", "rtx4090", "--host-memory", "40")
    assert "Without NVMe offload, no config change makes it fit" in ask(*options)[1]
    used = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: used._replace(free=1 << 40))
    _, out, _ = ask(*options, "--nvme-path", str(tmp_path))
    assert f'"nvme_path": "{tmp_path}"' in out
    monkeypatch.setattr(shutil, "disk_usage", lambda path: used._replace(free=1 << 30))
    _, out, _ = ask(*options, "--nvme-path", str(tmp_path))
    assert "No config change makes it fit" in out
    assert "more free space on NVMe" in out


@pytest.mark.parametrize(
    ("options", "changes", "told"),
    [
        ((), {}, "Choose a model: a hub id, a size such as 7B, or a folder with config.json"),
        (("--model", "no/such/model-7b"), {}, "no/such/model-7b: not a folder here. Check the path"),
        (("--model", "nobody/nothing"), {}, "Can’t find nobody/nothing locally"),
        (("--model", "mistralai/Mixtral-8x7B-v0.1"), {}, "This is a mixture of experts (8x7B)"),
        (("--model", "empty"), {}, "empty has no config.json"),
        (("--model", "broken"), {}, "broken: its config.json can’t be read"),
        (("--model", "list"), {}, "list: its config.json can’t be read (it is not a JSON object)"),
        (("--model", "odd"), {}, "is not divisible"),
        (("--model", "remote"), {}, "code of its own"),
        (("--model", "unknown"), {}, "no formula for models of type nobodys. A dry run needs none: add --ask."),
        (("--model", "quantized"), {}, "weights are quantized (quantization_config)"),
        (("--model", "0.0001M"), {}, "is not a model size"),
        (("--model", "1B"), {"zero_optimization": {"stage": 7}}, "Fix the config first: "),
        (("--model", "1B"), {"train_micro_batch_size_per_gpu": 0}, "Fix the config first: "),
        (("--model", "1B", "--length", "-4"), {}, "Sequence length: “-4” was given"),
        (("--model", "1B", "--nvme-path", "nvme"), {}, "NVMe folder: nvme is not an absolute path"),
        (("--model", "1B", "--nvme-path", "/no/such"), {}, "NVMe folder: /no/such doesn’t exist"),
    ],
)
def test_what_can_not_be_said_is_one_sentence_and_never_a_number(ask, tmp_path, options, changes, told):
    (tmp_path / "empty").mkdir()
    model(tmp_path / "odd", num_attention_heads=7)
    model(tmp_path / "remote", auto_map={"AutoModel": "modeling_own.Own"}, model_type="own")
    model(tmp_path / "unknown", model_type="nobodys")
    model(tmp_path / "quantized", quantization_config={"quant_method": "fp8"})
    for name, text in (("broken", "{"), ("list", "[1]")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(text, "utf-8")
    code, out, err = ask(*options, "--device", "a100-80", **changes)
    assert (code, out) == (2, "")
    assert told in err
    assert len(err.strip().splitlines()) == 1
    assert "GiB" not in err


def test_json_says_why_there_is_no_number(ask):
    code, out, _ = ask("--format", "json")
    assert code == 2
    told = json.loads(out)
    assert (told["fit"], told["why"]["code"]) == ("cannot_say", "no_model")
    assert "devices" not in told


def test_validate_says_it_too(ask, capsys):
    """“Does not fit” is an error as any other; what can't be said is none."""
    Path("ds_config.json").write_text(json.dumps(CONFIG), "utf-8")
    context = ("validate", "ds_config.json", "--gpus", "4", "--device", "rtx4090")
    assert main([*context]) == 0
    assert "memory" not in capsys.readouterr().out
    assert main([*context, "--model", "7B"]) == 1
    out = capsys.readouterr().out
    assert "ds_config.json: memory: 7B: doesn’t fit (GPU " in out
    assert "GiB short." in out
    assert main([*context, "--model", "100M", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["memory"]["fit"] == "fits"
    assert main([*context, "--model", "nobody/nothing"]) == 0
    assert "memory: can’t say: Can’t find nobody/nothing locally" in capsys.readouterr().out


def test_launch_says_it_before_it_starts(ask, tmp_path, capsys):
    """Here on the CPU: what a GPU would hold stands in host memory."""
    Path("ds_config.json").write_text(json.dumps(CONFIG), "utf-8")
    Path("train.py").write_text("import deepspeed, argparse\np = argparse.ArgumentParser()\n", "utf-8")
    words = ["launch", "--dry-run", "--config", "ds_config.json", "--runs-dir", str(tmp_path / "runs")]
    main([*words, "--model", "300B", "train.py"])
    assert "300B: doesn’t fit (Host " in capsys.readouterr().err
    main([*words, "train.py", "--model_name_or_path", "300B"])
    assert "300B: doesn’t fit (Host " in capsys.readouterr().err
    main([*words, "train.py"])
    assert "doesn’t fit" not in capsys.readouterr().err
