"""How a script gets its config, on the Launch page in a real browser: told from its source, mended with one click."""

import json

import pytest
from playwright.sync_api import expect

from tests.support.browser import choose, json_text, replace_text

pytestmark = pytest.mark.browser

OFFER = "#preflight [data-offer]"


def open_script(page, path, text):
    path.write_text(text, encoding="utf-8")
    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_label("My own script").check()
    page.locator("#script textarea, #script input").first.fill(str(path))
    return page.locator("#command pre")


# Cheaper: tests/ui/launch/test_preview.py::test_a_script_that_accelerate_configures…; the page's part: the next test.
@pytest.mark.complete
def test_an_accelerate_script_is_told_by_the_environment(page, tmp_path):
    source = "from accelerate import Accelerator\nAccelerator().prepare(model, optimizer)\n"
    command = open_script(page, tmp_path / "acc.py", source)
    expect(command).to_contain_text("ACCELERATE_USE_DEEPSPEED=true")
    expect(command).not_to_contain_text("--deepspeed")
    expect(page.locator(OFFER)).to_have_count(0)


def test_one_click_gives_a_strict_script_its_config(page, tmp_path):
    source = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--ds_config')\nargs = p.parse_args()\n"
    command = open_script(page, tmp_path / "strict.py", source)
    offer = page.locator(OFFER)
    expect(offer).to_have_text("Add --ds_config {config} to the arguments")
    expect(page.locator("#preflight")).to_contain_text("unrecognized arguments: --deepspeed FILE")
    expect(page.locator('#preflight [data-check="takes_config"] .ds-fix')).to_have_count(1)  # in the row that it mends
    expect(page.get_by_text("No download needed.")).to_be_hidden()  # none is chosen
    offer.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#arguments textarea, #arguments input").first).to_have_value("--ds_config {config}")
    expect(page.locator("#preflight .ds-findings-root")).to_be_focused()  # what was pressed is gone
    expect(command).to_contain_text("/ds_config.json")
    expect(command).to_contain_text("--ds_config ")
    expect(offer).to_have_count(0)
    expect(page.locator("#preflight")).not_to_contain_text("unrecognized arguments")
    undo = page.locator("#config-offer-undo")
    expect(undo).to_have_text("Undo “Add --ds_config {config} to the arguments”")
    undo.click()
    expect(offer).to_be_visible()


# Cheaper: tests/ui/launch/test_preview.py::test_a_script_that_brings…; the page's part: the test above.
@pytest.mark.complete
def test_a_script_that_brings_its_own_config_is_no_false_alarm(page, tmp_path):
    source = "import argparse\nargs = argparse.ArgumentParser().parse_args()\n"
    open_script(page, tmp_path / "plain.py", source)
    offer = page.locator(OFFER)
    expect(offer).to_have_text("The script loads its own config")
    offer.click()
    expect(page.locator("#command pre")).to_contain_text("DSGUI_CONFIG=")
    expect(page.locator("#launch-verdict")).to_contain_text("The script doesn’t get this config.")
    expect(page.locator("#reader input")).to_have_value("The script reads its own config (HF Trainer or accelerate)")
    expect(page.locator("#launch")).to_be_enabled()


NATIVE = "import argparse\nimport deepspeed\np = deepspeed.add_config_arguments(argparse.ArgumentParser())\n"


def test_a_native_script_with_auto_leads_to_its_first_error_on_configure(page, tmp_path):
    open_script(page, tmp_path / "native.py", NATIVE)
    checks = page.locator("#preflight")
    expect(checks).to_contain_text("(and 10 more)")
    expect(checks).not_to_contain_text("choose “HF Trainer”")
    expect(page.locator("#launch-verdict")).to_contain_text("1 · Configure is set to HF Trainer.")
    # One press mends them all: of the checks it is one.
    expect(checks.locator(".ds-verdict")).to_contain_text("1 problem")
    expect(checks.locator(".ds-word").first).to_have_text("11 errors")
    expect(page.locator("#launch")).to_have_text("Launch · 1 problem")
    checks.get_by_text("All 11 errors").click()
    expect(checks.locator("[data-goto]")).to_have_count(11)
    checks.get_by_text("Show it in 1 · Configure").click()
    expect(page.locator("#integration input")).to_have_value("native DeepSpeed")
    expect(page.locator("#findings .ds-error [data-goto]")).to_have_count(11)
    expect(page.locator('[data-pointer="/optimizer/params/lr"]')).to_be_focused()
    expect(page.locator("#findings [data-goto]").first).to_be_in_viewport()


def test_one_press_converts_the_config_for_a_native_script_and_another_takes_it_back(page, tmp_path):
    open_script(page, tmp_path / "native.py", NATIVE)
    page.locator("#preflight [data-convert]").click()
    expect(page.locator("#preflight .ds-verdict")).to_contain_text("no problems found")
    expect(page.locator("#launch")).to_be_enabled()
    expect(page.locator("#config-changed")).to_contain_text("optimizer.params.lr: “auto” → 5e-05 (learning_rate)")
    framework = page.locator("#integration input")
    expect(framework).to_have_value("native DeepSpeed")
    page.get_by_role("tab", name="1 · Configure").click()
    choose(page, "#integration", "HF Trainer")
    page.get_by_role("tab", name="2 · Launch").click()
    expect(page.locator("#launch-verdict")).to_contain_text("1 · Configure is set to HF Trainer.")
    page.locator("#launch-verdict").get_by_text("1 note").click()  # of what was checked here
    expect(framework).to_have_value("native DeepSpeed")
    page.get_by_role("tab", name="2 · Launch").click()
    page.click("#config-change-back")
    expect(page.locator("#preflight")).to_contain_text("(and 10 more)")
    expect(page.locator("#integration input")).to_have_value("HF Trainer")
    expect(page.locator("#config-change-back")).to_be_hidden()


def test_that_a_config_was_converted_is_said_until_it_is_edited(page, tmp_path):
    open_script(page, tmp_path / "native.py", NATIVE)
    page.locator("#preflight [data-convert]").click()
    said, undo = page.locator("#config-changed"), page.locator("#config-change-back")
    expect(said).to_contain_text("Converted to native values")
    page.get_by_role("tab", name="1 · Configure").click()
    page.get_by_role("tab", name="2 · Launch").click()
    expect(page.locator("#preflight .ds-verdict")).to_contain_text("no problems found")
    expect(said).to_contain_text("Converted to native values")
    page.get_by_role("tab", name="1 · Configure").click()
    replace_text(page, json_text(page).replace("5e-05", '"auto"'))
    page.get_by_role("tab", name="2 · Launch").click()
    expect(page.locator("#preflight")).to_contain_text("problem")
    expect(said).not_to_contain_text("Converted")
    expect(undo).to_be_hidden()


def test_one_press_fixes_what_the_arguments_contradict_and_another_takes_it_back(page):
    differs = '{"train_micro_batch_size_per_gpu": 4, "gradient_clipping": 0.5, "zero_optimization": {"stage": 2}}'
    replace_text(page, differs)
    page.get_by_role("tab", name="2 · Launch").click()
    arguments = "--per_device_train_batch_size 8 --max_grad_norm 1.0"
    page.locator("#arguments textarea, #arguments input").first.fill(arguments)
    checks = page.locator("#preflight")
    expect(checks.locator('[data-check="agreement"]')).to_have_count(1)
    expect(checks).to_contain_text("2 values of the config differ from the HF Trainer’s arguments.")
    expect(checks).to_contain_text("gradient_clipping: 0.5 in the file, 1.0 from the arguments.")
    expect(page.locator("#launch")).to_have_text("Launch · 1 problem")
    checks.get_by_role("button", name="Fix 2 config errors").click()
    expect(page.locator("#launch")).to_have_text("Launch")
    said = page.locator("#config-changed")
    expect(said).to_contain_text("Set gradient_clipping to “auto”")
    page.get_by_role("tab", name="1 · Configure").click()
    assert json.loads(json_text(page))["gradient_clipping"] == "auto"
    choose(page, "#integration", "native DeepSpeed")
    page.get_by_role("tab", name="2 · Launch").click()
    page.click("#config-change-back")
    # Of the native recipe, which nobody chose another than: neither argument is one of its options.
    expect(page.locator("#launch")).to_have_text("Launch · 2 problems")
    page.get_by_role("tab", name="1 · Configure").click()
    assert json.loads(json_text(page)) == json.loads(differs)
    expect(page.locator("#integration input")).to_have_value("native DeepSpeed")  # chosen since: no part of the fix
