"""The page of one run: what is told and offered has its place and its size, whatever the run is called; in Chromium."""

import pytest
from playwright.sync_api import expect

from dsgui.core.launch.state import RunState
from tests.answers.remembered import BROWSER
from tests.support.app_server import running_app
from tests.support.made_runs import Made, Printed, make_printed, make_run

pytestmark = [pytest.mark.browser, pytest.mark.remembered(*BROWSER)]

LONG = "bloom-7b1-qlora-with-a-very-long-name-that-someone-gave-it-and-went-on"
BF16 = '{"train_micro_batch_size_per_gpu": 4, "bf16": {"enabled": true}, "zero_optimization": {"stage": 2}}'
OUT_OF_MEMORY = """[rank0]: Traceback (most recent call last):
[rank0]:   File "/home/a/train.py", line 88, in <module>
[rank0]:     trainer.train()
[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 GiB. GPU 0 has a total capacity of 23.64 GiB
"""
# As the HF Trainer prints where it draws no bar: a loss that breaks in two ways, one that comes back, one of nought.
LOGGED = "{{'loss': {}, 'grad_norm': {}, 'learning_rate': 1e-05, 'epoch': {}}}\n"
BROKEN = [("2.3", "0.8", "0.01"), ("nan", "nan", "0.02"), ("inf", "nan", "0.03")]
HEALED = [("2.3", "0.8", "0.01"), ("nan", "nan", "0.02"), ("2.1", "nan", "0.03")]
NOUGHT = [("0.2051", "nan", "0.53"), ("0.0", "nan", "0.54"), ("0.0", "nan", "0.55")]
SAVED = {50: "saved checkpoint-50"}
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 800}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    died = Made("died", 12, config=BF16, output=OUT_OF_MEMORY, state=RunState.FAILED)
    ids = {
        "died": make_run(folder, died),
        "nan": make_run(
            folder, Made(LONG, 90, spikes=(20,), nan_at=(60, 61, 62), config=BF16, events=SAVED, state=RunState.STOPPED)
        ),
        "ended": make_run(folder, Made("nan, and ended", 30, nan_at=(29, 30), config=BF16)),
        "well": make_run(folder, Made("no nan", 30, config=BF16)),
        "last": make_run(folder, Made("nan to the end", 30, nan_at=(29, 30), config=BF16, state=RunState.STOPPED)),
    }
    for name, values in (("broken", BROKEN), ("healed", HEALED), ("nought", NOUGHT)):
        lines = [(5.0 + at, LOGGED.format(*one)) for at, one in enumerate(values)]
        ids[name] = make_printed(folder, Printed(name, lines, 12, state=RunState.FAILED))
    with running_app(folder) as app:
        yield app, ids


def opened(browser, made, name, size):
    app, ids = made
    page = app.sign_in(browser.new_context(viewport=size)).new_page()
    page.goto(f"{app.url}?run={ids[name]}")
    page.locator(".ds-run:not([aria-busy]) .ds-facts").wait_for()
    return page


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_what_may_help_are_buttons_of_one_size_the_first_filled(browser, made, size):
    page = opened(browser, made, "died", size)
    expect(page.locator(".ds-diagnosis [data-change]").first).to_be_enabled(timeout=60_000)
    buttons = page.locator(".ds-diagnosis [data-change]")
    assert buttons.count() > 2
    if size is PHONE:  # the others are a press away, so that the curves are not
        expect(buttons.nth(1)).to_be_hidden()
        page.locator(".ds-other-changes > summary").click()
    expect(buttons.nth(1)).to_be_visible()
    looks = buttons.evaluate_all("all => all.map((one) => getComputedStyle(one)).map((s) => [s.fontSize, s.padding])")
    assert len({tuple(one) for one in looks}) == 1
    grounds = buttons.evaluate_all("all => all.map((one) => getComputedStyle(one).backgroundColor)")
    assert grounds[0] not in grounds[1:]
    if size is PHONE:
        widths = buttons.evaluate_all("all => all.map((one) => one.offsetWidth)")
        room = page.locator(".ds-diagnosis .ds-remedies").evaluate("one => one.clientWidth")
        assert set(widths) == {room}
    page.context.close()


def test_no_line_ends_within_an_option(browser, made):
    page = opened(browser, made, "died", PHONE)
    page.locator(".ds-diagnosis .ds-does code").first.wait_for(timeout=60_000)
    words = page.locator(".ds-diagnosis .ds-does code")
    assert words.evaluate_all("all => all.every((one) => one.getClientRects().length === 1)")
    assert words.first.inner_text().startswith("--")
    page.context.close()


def test_a_long_name_leaves_room_for_what_can_be_done_and_is_whole_where_it_has_the_focus(browser, made):
    for size in (DESK, PHONE):
        page = opened(browser, made, "nan", size)
        title, acts = page.locator(".ds-run-title"), page.locator(".ds-run-head .ds-actions .ds-step")
        cut = "one => one.scrollWidth > one.clientWidth"
        assert title.evaluate(cut)
        line = title.bounding_box()
        if size is DESK:
            assert all(abs(one.bounding_box()["y"] - line["y"]) < 20 for one in acts.all())
        else:
            state = page.locator(".ds-run-heading .ds-state").bounding_box()
            assert abs(state["y"] - line["y"]) < 12
            assert acts.first.bounding_box()["y"] > line["y"] + line["height"] - 1
        expect(title).to_have_attribute("title", LONG)
        title.focus()
        assert not title.evaluate(cut)
        page.context.close()


def test_a_loss_that_was_nan_is_told_on_the_page_and_in_the_list(browser, made):
    page = opened(browser, made, "nan", DESK)
    expect(page.locator(".ds-diagnosis h3")).to_have_text("The loss was NaN at steps 60–62")
    expect(page.locator(".ds-run-entry", has_text=LONG)).to_contain_text("NaN at 60")
    expect(page.locator('[data-chart="Loss"] .legend')).to_contain_text("NaN")
    page.get_by_role("button", name="All runs").click()
    row = page.locator(".ds-table-row", has_text=LONG)
    expect(row.locator('[data-column="final_loss"]')).to_contain_text("NaN at 60")
    last = page.locator(".ds-table-row", has_text="nan to the end").locator('[data-column="final_loss"]')
    expect(last).to_have_text("NaN at 29")  # once, not below itself
    both = page.locator(".ds-table-row", has_text="broken").locator('[data-column="final_loss"]')
    assert both.inner_text().split() == ["∞", "NaN"]  # the last, and the first, whose step nobody printed
    page.context.close()


def test_the_head_tells_what_ran_and_of_a_stopped_run_why_it_cant_be_resumed(browser, made):
    page = opened(browser, made, "nan", DESK)
    ran, why = page.locator(".ds-ran"), page.locator(".ds-why-not")
    expect(ran).to_contain_text("bf16")
    expect(ran).to_contain_text("GPU 0, 1")
    expect(why).to_contain_text("no complete one was found")
    expect(why).to_contain_text("step 50")
    expect(page.locator(".ds-resume-note")).to_be_hidden()  # it is not said twice
    assert page.locator(".ds-facts").bounding_box()["y"] > why.bounding_box()["y"]
    spiked = page.locator(".ds-spiked")
    expect(spiked).to_contain_text("Loss spike at step 20: ")
    assert page.locator(".ds-facts").bounding_box()["y"] > spiked.bounding_box()["y"]
    page.context.close()


def test_what_succeeded_with_a_loss_of_nan_is_marked_in_the_list_and_on_its_page(browser, made):
    page = opened(browser, made, "ended", DESK)
    for place in (".ds-run-head .ds-state", '.ds-run-row[aria-current="true"] .ds-state'):
        expect(page.locator(place)).to_have_attribute("data-odd", "")
        expect(page.locator(place)).to_have_text("loss NaN")
    page.goto(page.url.replace("run=", "tab=runs&was="))
    expect(page.locator(".ds-table-row .ds-state[data-odd]")).to_have_count(1)
    # Beside one that succeeded without it, that is no equal state.
    app, ids = made
    page.goto(f"{app.url}?compare={ids['well']},{ids['ended']}")
    states = page.locator(".ds-differences > .ds-scroll .ds-state")
    expect(states).to_have_text(["succeeded", "loss NaN"])
    page.context.close()


def test_a_norm_that_is_nan_raises_an_alarm_of_its_own_only_where_nothing_else_tells_it(browser, made):
    page = opened(browser, made, "broken", DESK)
    expect(page.locator(".ds-diagnosis h3")).to_have_text("The loss was NaN or infinite from epoch 0.02 on")
    expect(page.locator(".ds-alerts")).to_be_hidden()
    page.context.close()
    page = opened(browser, made, "healed", DESK)
    expect(page.locator(".ds-alerts")).to_have_text("grad_norm is NaN.")
    page.context.close()
    page = opened(browser, made, "nought", DESK)
    expect(page.locator(".ds-diagnosis h3")).to_have_text(
        "The gradient norm was NaN from epoch 0.53 on, and the loss 0 after that"
    )
    expect(page.locator(".ds-alerts")).to_be_hidden()
    page.context.close()


def test_the_folds_of_a_run_are_alike_and_one_without_anything_to_do_is_not_there(browser, made):
    page = opened(browser, made, "nan", DESK)
    expect(page.locator(".ds-after")).to_be_hidden()
    folds = page.locator(".ds-run details:is(.ds-slow, .ds-more, .ds-output, .ds-sources, .ds-about) > summary")
    lefts = folds.evaluate_all(
        "all => all.filter((one) => one.offsetWidth).map((one) => one.getBoundingClientRect().x)"
    )
    assert len(lefts) >= 3
    assert len(set(lefts)) == 1
    page.context.close()


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_nothing_moves_when_a_run_that_stops_can_be_killed(browser, made, size):
    page = opened(browser, made, "nan", size)
    told = """([text, hidden, phases]) => {
      const line = document.querySelector(".ds-reason-line");
      const list = document.querySelector(".ds-phases");
      document.querySelector(".ds-why-not").hidden = true; // which only a run that ended has
      list.hidden = !phases;
      list.innerHTML = "<li>Starting launcher</li><li>Importing</li><li>Compiling operators</li><li>First step</li>";
      line.toggleAttribute("data-live", true);
      line.querySelector(".ds-reason").textContent = text;
      line.querySelector(".ds-kill").hidden = hidden;
      return document.querySelector(".ds-facts").getBoundingClientRect().y;
    }"""
    asked = "Its processes were asked to exit; any left after 9 s will be killed."
    at = page.evaluate(told, [asked, False, False])
    assert page.evaluate(told, ["", True, False]) == at
    assert page.evaluate(told, ["", True, True]) == at  # the phases of its start stand where the line comes
    page.context.close()


def test_the_runs_have_their_place_before_what_draws_them_has_come(browser, made):
    app, _ = made
    page = app.sign_in(browser.new_context(viewport=DESK)).new_page()
    held = []
    page.route("**/static/runs/runs.js", lambda route: held.append(route))
    page.goto(app.url)
    page.get_by_role("tab", name="3 · Runs").click()
    page.locator(".ds-runs").wait_for(state="attached")
    assert page.locator(".ds-runs").evaluate("one => getComputedStyle(one, '::after').height") == "220px"
    for one in held:
        one.continue_()
    page.locator(".ds-run-table, .ds-run-list").first.wait_for()
    page.context.close()
