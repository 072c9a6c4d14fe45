"""On a machine without fp16 a step asks for bf16, in config and arguments alike."""

import json

import pytest

from dsgui.core.learn.machine_precision import without_fp16


def test_fp16_becomes_bf16_and_nothing_else_changes():
    text = '{\n  "steps_per_print": 5e1,\n  "fp16": {"enabled": true, "loss_scale": 0}\n}'
    changed, arguments = without_fp16(text, "--fp16  --gradient_checkpointing")
    assert '"steps_per_print": 5e1' in changed
    assert json.loads(changed)["fp16"] == {"enabled": False, "loss_scale": 0}
    assert json.loads(changed)["bf16"] == {"enabled": True}
    assert arguments == "--bf16  --gradient_checkpointing"


@pytest.mark.parametrize("text", ["{}", '{"fp16": {"enabled": "auto"}}', '{"bf16": {"enabled": true}}'])
def test_what_asks_for_no_fp16_stays(text):
    assert without_fp16(text, "--max_steps 60") == (text, "--max_steps 60")
