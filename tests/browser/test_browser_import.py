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
