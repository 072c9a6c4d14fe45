"""“Ask DeepSpeed” on the page: it works while the page does, and its answer is for the text it was asked about."""

import json

import pytest
from playwright.sync_api import expect

from tests.answers.remembered import BROWSER
from tests.support.browser import choose, findings, json_text, replace_text

pytestmark = [pytest.mark.browser, pytest.mark.deepspeed, pytest.mark.remembered(*BROWSER)]
ANSWER_MS = 120_000
# stage 2 with a client optimizer; the clipping is text, which stops the first step. No op has to be compiled.
CLIPPED = {"train_batch_size": 2, "zero_optimization": {"stage": 2}, "gradient_clipping": 1.0}


def test_deepspeed_answers_beside_the_findings_and_an_edit_makes_the_answer_old(page):
    panel = page.locator("#ask-panel")
    choose(page, "#integration", "native DeepSpeed")
    replace_text(page, json.dumps({**CLIPPED, "zero_optimization": {"stage": 2, "cpu_offload": False}}))
    page.click("#ask")
    expect(panel).to_contain_text("Asking DeepSpeed")
    page.fill('[data-pointer="/gradient_clipping"]', "0.5")  # the page stays usable
    expect(panel).to_contain_text("accepts this", timeout=ANSWER_MS)
    expect(panel).to_contain_text("initialize on 2 ranks, 2 steps on 1 rank")
    expect(panel).to_contain_text("Outdated: the config changed since")
    replace_text(page, json.dumps({**CLIPPED, "optimizer": {"type": "SGD"}, "log_level": "loud"}))
    page.click("#ask")
    expect(panel).to_contain_text("refuses this at deepspeed.initialize", timeout=ANSWER_MS)
    expect(panel).not_to_contain_text("Outdated: the config changed since")
    expect(findings(page)).to_contain_text("DeepSpeed would refuse this")
    replace_text(page, json_text(page).replace("loud", "info"))
    expect(panel).to_contain_text("Outdated: the config changed since")
    choose(page, "#version", "Plan for 0.14.5")
    expect(page.locator('[data-pointer="/gradient_clipping"]')).to_have_attribute("placeholder", "default 0.0")
    page.click("#ask")
    expect(panel).to_contain_text("Only the installed one")
