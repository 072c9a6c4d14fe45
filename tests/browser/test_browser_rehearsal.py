"""“Memory dry run” on the memory panel in a real browser: it goes on while the page does, is cancelled, ends
with its page, and is about what was asked."""

import json

import pytest
from playwright.sync_api import expect

from tests.answers.remembered import BROWSER
from tests.browser.test_browser_memory import CONFIG, bar, chip, plan_for_a_24_gb_card
from tests.core.memory.test_dry_run import RECORD
from tests.support import rehearsing_python
from tests.support.app_server import running_app
from tests.support.browser import replace_text
from tests.support.run_fixtures import wait_until

pytestmark = pytest.mark.browser

TINY = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "vocab_size": 256,
    "tie_word_embeddings": False,
}
ANSWER_MS = 240_000


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    """The folder of a training environment whose dry runs wait for the file `go`."""
    folder = tmp_path_factory.mktemp("made_up")
    rehearsing_python.made_up(folder, RECORD)
    return folder


@pytest.fixture(scope="module")
def app(tmp_path_factory, made_up):
    with running_app(tmp_path_factory.mktemp("runs"), "--python", str(made_up / "python")) as app:
        yield app


@pytest.fixture(autouse=True)
def held(made_up):
    (made_up / "go").unlink(missing_ok=True)
    yield
    wait_until(lambda: not rehearsing_python.running(made_up))


def ask(page):
    page.get_by_role("button", name="Memory dry run").click()


def said(page):
    return page.locator(".ds-mem-dry-said")


def test_a_dry_run_stands_beside_the_formula_until_an_edit(page, made_up):
    plan_for_a_24_gb_card(page)
    expect(chip(page)).to_have_text("doesn’t fit")
    ask(page)
    expect(said(page)).to_contain_text("step 2 of 3, backward")
    expect(page.locator(".ds-mem-treemap")).to_be_hidden()
    (made_up / "go").touch()
    expect(page.locator(".ds-mem-treemap .treemaplayer")).to_have_count(1)
    expect(page.locator(".ds-mem-timeline .scatterlayer .trace")).to_have_count(2)  # GPU and host
    expect(page.locator(".ds-mem-treemap")).to_contain_text("modeling_llama.py:63")
    expect(bar(page, "gpu")).to_contain_text("by dry run")
    expect(bar(page, "gpu")).to_contain_text("By formula:")
    expect(page.locator("#memory-panel")).to_contain_text("The dry run counts.")
    page.get_by_role("button", name="Host", exact=True).click()
    expect(page.locator(".ds-mem-treemap")).to_contain_text("stage3.py:795")
    page.get_by_text("The same as a list").click()
    expect(page.locator(".ds-mem-lines")).to_contain_text("deepspeed/runtime/zero/stage3.py:795")
    replace_text(page, json.dumps(CONFIG | {"zero_optimization": {"stage": 1}}))
    expect(page.locator("#memory-panel")).to_contain_text("Outdated: the config, the model or the number of GPUs")
    expect(bar(page, "gpu")).not_to_contain_text("by dry run")
    replace_text(page, json.dumps(CONFIG))
    expect(bar(page, "gpu")).to_contain_text("by dry run")
    expect(page.locator("#memory-panel")).not_to_contain_text("Outdated")


def test_cancel_ends_the_process_and_leaves_the_formula(page, made_up):
    plan_for_a_24_gb_card(page)
    page.fill("#gpus input", "5")
    expect(page.locator(".ds-mem-about")).to_contain_text("5 GPUs")
    ask(page)
    expect(said(page)).to_contain_text("step 2 of 3, backward")
    assert rehearsing_python.running(made_up)
    page.get_by_role("button", name="Cancel").hover()
    page.mouse.down()
    before = said(page).text_content()
    expect(said(page)).not_to_have_text(before)  # the seconds: the server tells more while the button is pressed
    page.mouse.up()
    expect(said(page)).to_have_text("The dry run was cancelled. The formula’s answer stands.")
    assert not rehearsing_python.running(made_up)
    expect(chip(page)).to_have_text("doesn’t fit")
    expect(bar(page, "gpu")).not_to_contain_text("by dry run")


def test_a_press_that_the_server_has_no_answer_to_can_be_pressed_again(browser, app):
    """Neither button stays busy: the dry run's, and that which looks for a change; nor do bars stay whose answer to an
    edit got lost."""
    with app.sign_in(browser.new_context()) as context:
        page = context.new_page()  # its console may tell errors
        page.goto(app.url)
        page.wait_for_selector('[data-pointer="/train_batch_size"]', state="attached")
        plan_for_a_24_gb_card(page)
        page.fill("#gpus input", "9")  # no dry run was asked for that
        expect(page.locator(".ds-mem-about")).to_contain_text("9 GPUs")
        expect(chip(page)).to_have_text("doesn’t fit")
        page.route("**/gradio_api/run/**", lambda route: route.fulfill(status=500, body='{"error": "raised"}'))
        with page.expect_response(lambda response: response.status == 500):
            page.fill("#gpus input", "3")
        said_so = "The dsgui server returned an error: see its terminal. Try again."
        ask(page)
        expect(said(page)).to_have_text(said_so)
        expect(page.get_by_role("button", name="Memory dry run")).to_have_attribute("aria-busy", "false")
        page.locator("#way-out").click()
        expect(page.locator(".ds-way-out .ds-advice")).to_have_text(said_so)
        expect(page.locator("#way-out")).to_have_attribute("aria-disabled", "false")
        page.unroute("**/gradio_api/run/**")
        page.locator("#way-out").click()
        expect(page.locator("#way-out")).to_contain_text("Apply")
        expect(page.locator(".ds-mem-about")).to_contain_text("3 GPUs")
        ask(page)
        expect(said(page)).to_contain_text("step 2 of 3, backward")
        page.get_by_role("button", name="Cancel").click()
        expect(said(page)).to_contain_text("cancelled")


def test_a_closed_tab_ends_its_dry_run_and_the_next_in_line_begins(page, browser, app, made_up):
    plan_for_a_24_gb_card(page)
    page.fill("#gpus input", "6")
    expect(page.locator(".ds-mem-about")).to_contain_text("6 GPUs")
    context = app.sign_in(browser.new_context(viewport={"width": 390, "height": 900}))
    first = context.new_page()
    first.goto(app.url)
    first.wait_for_selector('[data-pointer="/train_batch_size"]', state="attached")
    first.click("#context-fold")
    plan_for_a_24_gb_card(first)
    first.fill("#gpus input", "7")
    expect(first.locator(".ds-mem-about")).to_contain_text("7 GPUs")
    ask(first)
    expect(said(first)).to_contain_text("step 2 of 3, backward")
    (before,) = rehearsing_python.running(made_up)
    ask(page)
    expect(said(page)).to_contain_text("Queued behind 1: one dry run at a time.")
    first.close()
    expect(said(page)).to_contain_text("step 2 of 3, backward")
    (now,) = rehearsing_python.running(made_up)
    assert now != before
    page.get_by_role("button", name="Cancel").click()
    expect(said(page)).to_contain_text("cancelled")
    context.close()


# Cheaper: tests/ui/site/test_app.py::test_the_end_of_the_server…, tests/shell/memory/test_dry_runs.py::test_no_process…
@pytest.mark.complete
def test_the_end_of_the_server_ends_a_dry_run(browser, made_up, tmp_path):
    with running_app(tmp_path / "runs", "--python", str(made_up / "python")) as app:
        page = app.sign_in(browser.new_context()).new_page()
        page.goto(app.url)
        page.wait_for_selector('[data-pointer="/train_batch_size"]', state="attached")
        plan_for_a_24_gb_card(page)
        ask(page)
        expect(said(page)).to_contain_text("step 2 of 3, backward")
        assert rehearsing_python.running(made_up)
    assert not rehearsing_python.running(made_up)
    page.context.close()


@pytest.mark.deepspeed
@pytest.mark.remembered(*BROWSER)
def test_the_real_engine_answers(browser, tmp_path):
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "config.json").write_text(json.dumps(TINY), "utf-8")
    with running_app(tmp_path / "runs") as app:
        page = app.sign_in(browser.new_context(viewport={"width": 1280, "height": 900})).new_page()
        page.goto(app.url)
        page.wait_for_selector('[data-pointer="/train_batch_size"]', state="attached")
        plan_for_a_24_gb_card(page)
        page.fill("#memory-model textarea, #memory-model input", str(tmp_path / "tiny"))
        expect(chip(page)).to_have_text("fits")
        ask(page)
        expect(page.locator(".ds-mem-treemap .treemaplayer")).to_have_count(1, timeout=ANSWER_MS)
        expect(page.locator("#memory-panel")).to_contain_text("Formula and dry run agree within 2 %.")
        expect(page.locator(".ds-mem-timeline")).to_contain_text("step 3")
        page.context.close()
