"""“Try the best three for 20 steps” in a real browser: from the ladder to what was measured, with a cheap script."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.answers.remembered import BROWSER
from tests.support.browser import replace_text

pytestmark = [pytest.mark.browser, pytest.mark.remembered(*BROWSER)]
LONG = 120_000  # ms
ENDLESS = """
import itertools, time
for step in itertools.count(1):
    print(f"step: {step}, loss: {1 / step:.4f}", flush=True)
    time.sleep(0.03)
"""
CONFIG = {
    "train_micro_batch_size_per_gpu": 1,
    "gradient_clipping": 1.0,
    "zero_optimization": {"stage": 1},
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}},
}


@pytest.fixture(scope="module")
def app(app_at_once):
    return app_at_once


def test_the_best_three_are_tried_and_measured(page, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(ENDLESS)
    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_label("My own script").check()
    page.get_by_role("tab", name="1 · Configure").click()
    replace_text(page, json.dumps(CONFIG))
    page.fill("#memory-model textarea, #memory-model input", "100M")
    page.get_by_text("Other configs: speed and memory").click()
    press = page.locator(".ds-ld-try")
    press.click()
    bench = page.locator(".ds-ld-bench")
    expect(bench.get_by_role("alert")).to_contain_text("Choose a script on 2 · Launch first")
    bench.get_by_role("button", name="Go to Launch").click()
    page.locator("#script textarea, #script input").first.fill(str(script))
    expect(page.locator("#command")).to_contain_text(script.name)
    page.get_by_role("tab", name="1 · Configure").click()
    press.click()
    expect(bench).to_contain_text("Trials of train.py, 2 ranks.")
    expect(press).to_be_disabled()
    done = page.locator(".ds-ld-measured a", has_text="20 steps, as asked")
    expect(done).to_have_count(3, timeout=LONG)
    tried = page.locator(".ds-ld-table tbody tr", has=done)
    expect(tried.filter(has_text="This config")).to_have_count(1)
    for row in tried.all():
        expect(row.locator("td").nth(0)).to_contain_text(re.compile(r"measured [\d.]+ s/step"))
        expect(row.locator("td").nth(1)).to_contain_text("not measured")
        expect(row.locator("td").nth(2)).to_contain_text(re.compile(r"measured [\d.]+ GiB"))
    expect(bench.get_by_role("link", name="Compare")).to_have_attribute("href", re.compile(r"\?compare=[\w-]+,[\w-]+,"))
    bench.get_by_role("button", name="Remove these trials").click()
    bench.get_by_role("button", name="Remove 3 runs").click()
    expect(page.locator(".ds-ld-measured")).to_have_count(0)
    page.get_by_role("tab", name="3 · Runs").click()
    expect(page.locator(".ds-run-row")).to_have_count(0)
