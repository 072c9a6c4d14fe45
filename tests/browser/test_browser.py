"""The main job in a real browser: preset → break the batch identity → fix it → download → launch → watch → stop."""

import json
import os
import socket
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.answers.remembered import BROWSER
from tests.support.app_server import running_app
from tests.support.browser import fill, findings, json_text, stop_run

pytestmark = pytest.mark.browser

# How far a chart's horizontal axis reaches on the screen, not what it was given.
DRAWN_TO = "(name) => document.querySelector(`[data-chart='${name}'] .js-plotly-plot`)._fullLayout.xaxis.range[1]"
FIRST_POINTS_MS = 120_000


@pytest.mark.deepspeed
@pytest.mark.remembered(*BROWSER)
def test_the_whole_path_from_preset_to_a_stopped_run(page, app):
    expect(findings(page)).to_contain_text("Checks pass")
    # Break the batch identity for two ranks.
    for pointer, value in (
        ("/train_micro_batch_size_per_gpu", "4"),
        ("/gradient_accumulation_steps", "2"),
        ("/train_batch_size", "100"),
    ):
        fill(page, pointer, value, "batch")
    expect(findings(page)).to_contain_text("100 is not micro batch 4 × accumulation steps 2 × world size 2 = 16")
    # Fix it with its button.
    page.click('#findings button:has-text("Set train_batch_size to 16")')
    expect(findings(page)).to_contain_text("Checks pass")
    expect(page.locator('input[data-pointer="/train_batch_size"]')).to_have_value("16")
    expect(findings(page)).to_contain_text("--per_device_train_batch_size 4 --gradient_accumulation_steps 2")
    # Download and parse the file, then launch that very config.
    with page.expect_download() as caught:
        page.click("#standing-download")
    assert caught.value.suggested_filename == "ds_config.json"
    config = json.loads(Path(caught.value.path()).read_text("utf-8"))
    assert config["zero_optimization"]["stage"] == 2
    assert config["train_batch_size"] == 16
    launch_watch_and_stop(page, app)


def launch_watch_and_stop(page, app):
    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_label("Arguments for the script").fill("--logging_steps 1")
    command = page.locator("#command")
    expect(command).to_contain_text("--logging_steps 1")
    shown = command.locator("pre").inner_text()
    page.click("#launch")
    expect(page.locator(".ds-run-title")).to_contain_text("T5 translates", timeout=60_000)
    run_id = page.url.split("run=")[1]
    expect(page.locator(".ds-why")).to_have_text("Drawn by time until training values are logged.", timeout=60_000)
    loss = page.locator('[data-chart="Loss"] .js-plotly-plot')
    expect(loss).to_be_visible(timeout=FIRST_POINTS_MS)
    page.wait_for_function(f"({DRAWN_TO})('Loss') >= 6", timeout=60_000)
    page.wait_for_function(f"({DRAWN_TO})('Host memory') >= 5", timeout=60_000)
    expect(page.locator('[data-chart="Host memory"] .xtitle')).to_have_text("step")
    expect(page.locator(".ds-why")).to_be_hidden()
    for figure in page.locator(".ds-chart:visible").all():
        assert figure.locator("svg").first.bounding_box()["width"] <= figure.bounding_box()["width"]
    stop_run(page)
    expect(page.locator(".ds-run-head .ds-state")).to_have_text("stopped", timeout=30_000)
    assert processes_of(run_id) == []
    written = page.locator(".ds-command").first.text_content()
    assert "".join(shown.split()) == "".join(written.split())


def processes_of(run_id):
    """Pids whose environment carries the run's marker."""
    found = []
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as environ:
                if f"DSGUI_RUN_ID={run_id}".encode() in environ.read().split(b"\0"):
                    found.append(int(pid))
        except OSError:
            continue
    return found


def start_script(page, script, source):
    """Launch a script of the user's own from the Launch page."""
    script.write_text(source)
    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_label("My own script").check()
    page.locator("#script textarea, #script input").first.fill(str(script))
    expect(page.locator("#command")).to_contain_text(script.name)
    expect(page.locator("#launch")).to_be_enabled()
    page.click("#launch")


def test_broken_json_says_where_and_leaves_the_form_and_the_text_alone(page):
    editor = page.locator("#config-json .cm-content")
    editor.click()
    page.keyboard.press("Control+End")
    page.keyboard.press("Backspace")  # the last brace or the line end before it
    page.keyboard.press("Backspace")
    expect(findings(page)).to_contain_text("Line ")
    expect(page.locator(".ds-banner")).to_be_visible()
    page.click('[data-tab="zero"]')
    expect(page.locator('[data-pointer="/zero_optimization/stage"] input:checked')).to_have_value("2")
    editor.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("}")
    expect(findings(page)).to_contain_text("Checks pass")


def test_text_in_a_number_field_and_a_negative_batch_are_findings_and_stay_as_typed(page):
    fill(page, "/train_batch_size", "many", "batch")
    expect(findings(page)).to_contain_text("needs a number here, not text")
    fill(page, "/train_batch_size", "-8", "batch")
    expect(findings(page)).to_contain_text("-8 is not a whole number of 1 or more")
    expect(page.locator('input[data-pointer="/train_batch_size"]')).to_have_value("-8")
    assert json.loads(json_text(page))["train_batch_size"] == -8


def test_numbers_stay_as_typed_and_edits_survive_a_reload(page):
    fill(page, "/zero_optimization/reduce_bucket_size", "3e8", "zero")
    expect(page.locator("#config-json")).to_contain_text('"reduce_bucket_size": 3e8')
    page.reload()
    expect(page.locator("#config-json")).to_contain_text('"reduce_bucket_size": 3e8')


def test_quick_typing_in_many_fields_loses_nothing(page):
    page.click('[data-tab="batch"]')
    values = {"/train_batch_size": "48", "/train_micro_batch_size_per_gpu": "4", "/gradient_accumulation_steps": "6"}
    for pointer, value in values.items():
        page.locator(f'[data-pointer="{pointer}"]').fill("")
        page.locator(f'[data-pointer="{pointer}"]').press_sequentially(value)
    page.wait_for_function("JSON.parse(localStorage.getItem('dsgui.config')).gradient_accumulation_steps === 6")
    expect(findings(page)).to_contain_text("Checks pass")
    config = json.loads(json_text(page))
    assert {pointer: str(config[pointer[1:]]) for pointer in values} == values


def test_bf16_is_checked_against_the_planned_card(page):
    page.click('[data-tab="precision"]')
    page.get_by_role("radiogroup", name="bf16.enabled").get_by_role("radio", name="on").check()
    page.click("#device input")
    page.get_by_role("listbox").get_by_role("option", name="V100 32 GB").click()
    expect(findings(page)).to_contain_text("compute capability 7.0")
    page.click("#device input")
    page.get_by_role("listbox").get_by_role("option", name="A100 80 GB").click()
    expect(findings(page)).to_contain_text("Checks pass")


# Cheaper: tests/ui/launch/test_preview.py::test_a_missing_script…; that the page shows it: test_browser_preflight.py.
@pytest.mark.complete
def test_a_missing_script_and_bad_ports_are_said_and_nothing_starts(page):
    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_label("My own script").check()
    page.locator("#script textarea, #script input").first.fill("/no/such/train.py")
    expect(page.locator("#preflight")).to_contain_text("/no/such/train.py")
    expect(page.locator("#launch")).to_be_disabled()
    page.get_by_role("button", name="Change", exact=True).click()
    page.get_by_label("T5 translates").check()
    expect(page.locator("#launch")).to_be_enabled()
    page.get_by_role("button", name="More: launcher, queue").click()
    with socket.create_server(("", 0)) as taken:
        for typed, says in (
            ("http", "is not a port"),
            ("80", "outside 1024"),
            (str(taken.getsockname()[1]), "in use"),
        ):
            page.locator("#port textarea, #port input").first.fill(typed)
            expect(page.locator("#preflight")).to_contain_text(says)
            expect(page.locator("#launch")).to_be_disabled()


def test_a_file_that_is_no_text_is_said_and_changes_nothing(page, tmp_path):
    before = json_text(page)
    (tmp_path / "weights.json").write_bytes(b"\x80\x81\xff\x00" * 50)
    with page.expect_file_chooser() as chooser:
        page.click("#upload")
    chooser.value.set_files(tmp_path / "weights.json")
    expect(page.get_by_text("is not text in UTF-8")).to_be_visible()
    assert json_text(page) == before


def test_a_tab_goes_from_one_dsgui_to_another_on_another_port(browser, app, tmp_path):
    """V8 keeps what it compiled of the first one's page: the second's asked the first one for its scripts."""
    with running_app(tmp_path / "runs") as other, browser.new_context(locale="en-US") as context:
        page, scripts = context.new_page(), []
        page.on("request", lambda request: scripts.append(request.url) if "/dsgui/static/" in request.url else None)
        for shown in (app, other):
            page.goto(shown.entrance)
            page.wait_for_selector('[data-pointer="/train_batch_size"]', state="attached")
            assert scripts
            assert all(script.startswith(shown.url) for script in scripts)
            scripts.clear()
