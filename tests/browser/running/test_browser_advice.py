"""Advice followed in a browser, under the real DeepSpeed and HF Trainer: the clone that the page offers succeeds."""

import json
from textwrap import dedent

import pytest
from playwright.sync_api import expect

from tests.browser.running.test_browser_resume import press_launch, state
from tests.support.browser import replace_text
from tests.support.record_failures import AUTO, HF, ON_GPU_WORDS

# Cheaper: what is said before, tests/core/preflight/test_preflight.py (use_cpu); of tests/examples/failures/use-cpu-*,
# the diagnosis, tests/core/diagnosis, and that its change succeeds, tests/real_deepspeed/test_remedies.py; the clone,
# test_browser_runs.py.
pytestmark = [pytest.mark.browser, pytest.mark.deepspeed, pytest.mark.complete]

COMPILES_MS = 480_000


def test_a_cpu_run_without_use_cpu_is_told_before_and_the_clone_with_it_succeeds(page, app, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(dedent(HF))
    replace_text(page, json.dumps(AUTO, indent=2))
    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_label("My own script").check()
    page.locator("#script textarea, #script input").first.fill(str(script))
    page.get_by_label("Arguments for the script").fill(" ".join(ON_GPU_WORDS))
    expect(page.locator("#preflight")).to_contain_text("acts as the only one", timeout=60_000)
    expect(page.locator("#preflight")).to_contain_text("Add --use_cpu to the arguments")
    expect(page.locator("#launch")).to_be_disabled()
    page.locator("#although input").check()
    first = press_launch(page)
    expect(state(page)).to_have_text("failed", timeout=COMPILES_MS)
    diagnosis = page.locator(".ds-diagnosis")
    expect(diagnosis).to_contain_text("The HF Trainer needs --use_cpu to train on the CPU")
    expect(page.locator("#open-repaired")).to_have_text("Clone: pass --use_cpu")
    page.click("#open-repaired")
    # The change is among the arguments: the clone opens where they are.
    expect(page.get_by_role("tab", name="2 · Launch")).to_have_attribute("aria-selected", "true", timeout=60_000)
    expect(page.locator("#command")).to_contain_text("--use_cpu")
    expect(page.locator("#preflight")).not_to_contain_text("acts as the only one")
    second = press_launch(page)
    expect(state(page)).to_have_text("succeeded", timeout=COMPILES_MS)
    assert json.load(app.get(f"dsgui/runs/{second}/about"))["parent"] == first
