"""What another tool has of a run is pasted or opened, and Launch is filled in."""

import json

import pytest
from playwright.sync_api import expect

from tests.support.browser import editor, findings, replace_text

pytestmark = pytest.mark.browser

LINE = "NPROC_PER_NODE=2 HF_HOME=/data swift sft --model m/m --per_device_train_batch_size 2 --deepspeed {config}"


def test_a_command_line_is_pasted_its_config_opened_and_its_arguments_checked(page, tmp_path):
    config = tmp_path / "ds.json"
    config.write_text(json.dumps({"train_micro_batch_size_per_gpu": 4, "train_batch_size": "auto"}))
    replace_text(page, LINE.format(config="zero2"))
    expect(findings(page)).to_contain_text("a command line of ms-swift")
    page.locator("#import-run button").first.click()
    page.fill("#pasted-run textarea", LINE.format(config=config))
    page.click("#import-pasted")
    expect(page.locator("#file-notes")).to_contain_text("per_device_train_batch_size 2")
    expect(page.locator("#file-notes")).to_contain_text("Still needed: the script")
    expect(editor(page)).to_contain_text('"train_micro_batch_size_per_gpu": 4')
    expect(findings(page)).to_contain_text("--per_device_train_batch_size")
    page.get_by_role("tab", name="2 · Launch").click()
    arguments = page.locator("#arguments textarea, #arguments input").first
    expect(arguments).to_have_value("--model m/m --per_device_train_batch_size 2")
    expect(page.locator("#environment textarea")).to_have_value("HF_HOME=/data")
    expect(page.locator("#ranks input")).to_have_value("2")


SETTINGS = """model_name_or_path: Qwen/Qwen2.5-7B
stage: sft
finetuning_type: lora
lora_rank: 8
deepspeed: {config}
per_device_train_batch_size: 1
bf16: true
cutoff_len: 2048
"""


def test_a_config_that_is_not_here_is_stood_in_for_or_said_to_be_missing_in_the_bar(page):
    page.locator("#import-run button").first.click()
    page.fill("#pasted-run textarea", SETTINGS.format(config="configs/my_z3.json"))
    page.click("#import-pasted")
    missing = page.locator("#standing-missing")
    expect(missing).to_have_text("Config missing: my_z3.json")
    below = page.locator("#import-pasted").bounding_box()["y"]
    assert page.locator("#file-notes").bounding_box()["y"] > below
    missing.click()
    expect(page.locator("#open-path input, #open-path textarea")).to_be_focused()
    # One of LLaMA-Factory's own has its like among the presets.
    page.fill("#pasted-run textarea", SETTINGS.format(config="examples/deepspeed/ds_z3_config.json"))
    page.click("#import-pasted")
    expect(page.locator("#standing")).to_contain_text("ZeRO-3: parameters split as well (HF Trainer)")
    expect(missing).to_have_count(0)
    expect(editor(page)).to_contain_text('"stage": 3')
    expect(page.locator("#file-notes")).to_contain_text("ds_z3_config.json is not here. The editor has the preset")
    expect(page.locator("#file-notes")).not_to_contain_text("Still needed: the DeepSpeed config")
    expect(page.locator("#standing-fit")).to_contain_text("(estimate)")
