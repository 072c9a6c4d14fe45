"""How a user looks at the charts and arranges them, and what a chart says of a place; in Chromium."""

import re

import pytest
from playwright.sync_api import expect

from dsgui.core.metrics.points import Event, Point
from tests.answers.remembered import BROWSER
from tests.browser.running.test_browser_monitor import opened
from tests.support.app_server import running_app
from tests.support.made_runs import Made, Printed, make_printed, make_run
from tests.support.run_fixtures import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.remembered(*BROWSER)]

LOGGED = "{'eval_loss': 2.5, " + ", ".join(f"'eval_metric_{number}': {number}.123456" for number in range(60)) + "}"
ORDER = """() => [...document.querySelectorAll(".ds-board > .ds-charts > .ds-chart:not([hidden])")]
  .map((node) => node.dataset.chart)"""
LINES = """(title) => document.querySelector(`[data-chart="${title}"] .js-plotly-plot`).data.length"""
Y = """(title) => document.querySelector(`[data-chart="${title}"] .js-plotly-plot`)._fullLayout.yaxis"""


def evaluated():
    points = [(10.0 + step / 5, Point(step, step / 100, {"loss": 3 / step})) for step in range(10, 251, 10)]
    events = [(30.0, Event(kind, LOGGED, 100)) for kind in ("evaluation", "warning")]
    raw = [(30.0, Point(100, 1.0, {"eval_loss": 2.5}, "eval")), *events]
    return Printed("evaluated", sorted([*points, *raw], key=lambda one: one[0]), 100)


def pausing():
    """A step a second, and after every tenth an evaluation of ten."""
    at = [step + 10 * (step // 10) for step in range(60)]
    steps = [(10.0 + second, Point(step, None, {"loss": 3 - step / 60})) for step, second in enumerate(at)]
    evals = [(10.5 + at[step], Point(step, None, {"eval_loss": 2.0}, "eval")) for step in range(9, 59, 10)]
    return Printed("pausing", sorted([*steps, *evals], key=lambda one: one[0]), 125)


def scored():
    """Of fifteen scores."""
    scores = {f"eval_class_{number}_f1": number + 0.5 for number in range(15)}
    points = [(10.0 * part, Point(50 * part, None, {"loss": 3 - part / 3}, "train")) for part in range(1, 5)]
    evals = [(10.0 * part, Point(50 * part, None, scores, "eval")) for part in range(1, 5)]
    return Printed("scored", [one for pair in zip(points, evals, strict=True) for one in pair], 45)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    ids = {
        "steps": make_run(folder, Made("steps", 200)),
        "idle GPU": make_run(folder, Made("idle", 60, gpu_gib=0)),
        "evaluated": make_printed(folder, evaluated()),
        "pausing": make_printed(folder, pausing()),
        "scored": make_printed(folder, scored()),
        "spike": make_run(folder, Made("spike", 200, spikes=(120,))),
    }
    with running_app(folder) as app:
        yield app, ids


def chart(page, title):
    return page.locator(f'[data-chart="{title}"]')


def drawn(page, title):
    chart(page, title).locator(".main-svg").first.wait_for()
    return chart(page, title)


def act(page, title, code):
    chart(page, title).locator("summary").click()
    chart(page, title).locator(f'[data-act="{code}"]').click()


def point_at(page, title, place):
    """Moves the mouse over a place of the axis."""
    plot = drawn(page, title).locator(".js-plotly-plot")
    plot.scroll_into_view_if_needed()
    x = plot.evaluate("(node, at) => node._fullLayout.xaxis._offset + node._fullLayout.xaxis.d2p(at)", place)
    plot.hover(position={"x": x, "y": 120})
    return chart(page, title).locator(".ds-tip")


def test_scores_beyond_the_first_are_folded_among_evaluations_and_not_among_the_machines(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['scored']}") as page:
        drawn(page, "Evaluation: class 11 f1")
        last = chart(page, "Evaluation: class 14 f1")
        page.get_by_text("System metrics").click()
        drawn(page, "CPU")
        expect(last).to_be_hidden()
        page.get_by_text("Evaluation: 3 more scores", exact=True).click()
        last.locator(".main-svg").first.wait_for()


def test_in_chinese_the_losses_of_training_and_evaluation_are_named_so(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['steps']}") as page:
        page.locator('[data-speak="zh-CN"]').click()
        expect(chart(page, "损失").locator(".legendtext")).to_have_text(["训练", "评估"])


def test_a_place_is_told_in_a_row_a_curve_at_a_whole_step(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['evaluated']}") as page:
        tip = point_at(page, "Loss", 101.3)
        expect(tip.locator(".ds-tip-title")).to_have_text("Step 100")
        expect(tip.locator(".ds-tip-row")).to_have_text(["train0.03", "eval2.5"])
        mark = tip.locator(".ds-tip-mark")  # the evaluation has its curve
        assert len(mark.inner_text()) <= 80
        expect(chart(page, "Loss").locator(".legendtext")).to_have_text(["train", "eval", "warning"])
        box, whole = tip.bounding_box(), chart(page, "Loss").bounding_box()
        assert box["width"] < 0.8 * whole["width"]
        assert box["height"] < 0.6 * whole["height"]
        legend = chart(page, "Loss").locator(".legend").bounding_box()
        assert box["y"] >= legend["y"] + legend["height"] - 1
        # The other charts say theirs at the same step, by their names and beside the guide; their tools stay.
        told = chart(page, "Host memory").locator(".ds-tip")
        expect(told.locator(".ds-tip-row").filter(has_text="this run")).to_contain_text("18")
        expect(told.locator(".ds-tip-title")).to_have_count(0)
        expect(chart(page, "Host memory").get_by_role("button", name="Log scale: Host memory")).to_be_visible()
        page.mouse.move(0, 0)
        expect(tip).to_be_hidden()


def test_the_tools_are_seen_without_a_mouse_and_how_one_looks_at_charts_is_kept(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['steps']}") as page:
        drawn(page, "Loss")
        log = chart(page, "Loss").get_by_role("button", name="Log scale: Loss")
        expect(log).to_be_visible()
        assert log.evaluate("(node) => getComputedStyle(node).opacity") == "1"
        log.focus()
        page.keyboard.press("Enter")
        wait_until(lambda: page.evaluate(Y, "Loss")["type"] == "log")
        assert page.evaluate(Y, "Gradient norm")["type"] == "linear"
        page.get_by_label("Smoothing").fill("0.9")
        wait_until(lambda: page.evaluate(LINES, "Loss") == 3)  # train twice, its evaluation once
        assert [page.evaluate(LINES, title) for title in ("Evaluation: bleu", "Host memory")] == [1, 2]
        expect(point_at(page, "Loss", 100).locator("small").first).to_contain_text("logged ")
        page.get_by_role("button", name="Epoch").click()
        expect(chart(page, "Loss").locator(".xtitle")).to_have_text("epoch")
        page.reload()
        drawn(page, "Loss")
        wait_until(lambda: page.evaluate(Y, "Loss")["type"] == "log")
        expect(log).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_label("Smoothing")).to_have_value("0.9")
        expect(page.get_by_role("button", name="Epoch")).to_have_attribute("aria-pressed", "true")


# Cheaper: tests/js/metrics/plotting.test.js (memory ends where…); the log scale's button: the test above.
@pytest.mark.complete
def test_memory_that_nobody_used_has_no_axis_of_thousands_of_gib(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['idle GPU']}") as page:
        drawn(page, "Host memory")
        chart(page, "Host memory").get_by_role("button", name="Log scale").click()
        wait_until(lambda: page.evaluate(Y, "Host memory")["type"] == "log")
        assert 10 ** page.evaluate(Y, "Host memory")["range"][1] < 64
        drawn(page, "GPU memory")
        chart(page, "GPU memory").get_by_role("button", name="Log scale").click()
        wait_until(lambda: page.evaluate(Y, "GPU memory")["type"] == "log")
        assert 10 ** page.evaluate(Y, "GPU memory")["range"][1] < 100  # the GPUs have 80


def test_charts_are_dragged_moved_by_keys_pinned_hidden_and_stay_so(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['steps']}") as page:
        expect(drawn(page, "Learning rate").locator(".ytick text").nth(1)).to_have_text("1e−5")
        usual = page.evaluate(ORDER)
        handle = chart(page, "Learning rate").locator(".ds-chart-handle")
        handle.drag_to(chart(page, "Loss").locator(".ds-chart-title"))
        wait_until(lambda: page.evaluate(ORDER)[:2] == ["Learning rate", "Loss"])
        handle.focus()
        page.keyboard.press("ArrowRight")
        wait_until(lambda: page.evaluate(ORDER)[:2] == ["Loss", "Learning rate"])
        expect(handle).to_be_focused()
        expect(page.locator(".ds-board .ds-unseen")).to_contain_text("Learning rate: position 2 of")

        page.get_by_text("System metrics").click()
        chart(page, "CPU").get_by_role("button", name="Pin to the top").click()
        wait_until(lambda: page.evaluate(ORDER)[0] == "CPU")
        act(page, "Gradient norm", "hide")
        expect(chart(page, "Gradient norm")).to_be_hidden()
        page.reload()
        drawn(page, "CPU")
        wait_until(lambda: page.evaluate(ORDER)[:3] == ["CPU", "Loss", "Learning rate"])
        assert "Gradient norm" not in page.evaluate(ORDER)

        chosen = page.locator(".ds-board-tools summary")
        expect(chosen).to_have_text("Charts (1 hidden)")
        chosen.click()
        page.get_by_label("Gradient norm", exact=True).check()
        drawn(page, "Gradient norm")
        page.get_by_role("button", name="Reset layout").click()
        wait_until(lambda: page.evaluate(ORDER) == usual)
        page.keyboard.press("Escape")
        expect(chosen).to_be_focused()


SCALED = "() => document.querySelector('[data-chart=Loss] .js-plotly-plot')._fullLayout.yaxis.range[1]"


def test_a_spike_may_be_left_out_of_the_scale_with_a_mark_at_its_edge(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['spike']}") as page:
        loss = drawn(page, "Loss")
        clip = loss.locator("[data-toggle=clip]")
        expect(clip).to_be_visible()
        assert page.evaluate(SCALED) > 4
        expect(chart(page, "Learning rate").locator("[data-toggle=clip]")).to_be_hidden()  # it has none
        clip.click()
        page.wait_for_function(f"({SCALED})() < 3")
        marks = "() => document.querySelector('[data-chart=Loss] .js-plotly-plot').data.at(-1)"
        assert page.evaluate(f"({marks})().marker.symbol") == ["triangle-up"]
        assert page.evaluate(f"({marks})().x") == [120]
        point_at(page, "Loss", 120)
        expect(loss.locator(".ds-tip-row").first).to_contain_text(re.compile(r"[45]\.\d"))  # what it was, whole
        page.reload()  # it stays so
        drawn(page, "Loss")
        page.wait_for_function(f"({SCALED})() < 3")
        expect(clip).to_have_attribute("aria-pressed", "true")
        clip.click()
        page.wait_for_function(f"({SCALED})() > 4")
        page.set_viewport_size({"width": 390, "height": 844})  # on a phone it is in the menu
        expect(clip).to_be_hidden()
        act(page, "Loss", "clip")
        page.wait_for_function(f"({SCALED})() < 3")


def test_why_a_run_is_slow_is_said_in_a_line_with_figures_and_what_to_try(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['pausing']}") as page:
        slow = page.locator(".ds-slow")
        expect(slow.locator("summary")).to_have_text("Speed: Evaluating 46 % of the time.")
        slow.locator("summary").click()
        expect(slow.locator(".ds-slow-cause")).to_contain_text("50 of 109 s")
        expect(slow.locator(".ds-slow-cause")).to_contain_text("Try: evaluate less often (eval_steps)")
        page.goto(f"{app.url}?run={ids['steps']}")
        expect(slow.locator("summary")).to_have_text("Speed: No bottleneck found: the GPUs were busy.")


def test_the_launch_page_says_what_a_webhook_is_and_hides_its_address(browser, made):
    app, _ = made
    with opened(browser, app, "") as page:
        page.get_by_role("tab", name="Launch").click()
        page.get_by_text("More: launcher").click()
        field = page.locator("#notify")
        expect(field).to_contain_text("Slack, Feishu, DingTalk or JSON")
        more = page.locator("#test-sent details")
        more.get_by_text("What is sent").click()
        expect(more).to_contain_text("The only request that dsgui ever sends out of this machine")
        page.click("#send-test")
        expect(page.locator("#test-sent [role=status]")).to_have_text("Enter a webhook first.")
        expect(field.locator("input")).to_have_attribute("type", "password")


# How far its legend is below its title, and its plot's lower edge in the window.
LEVELS = """(title) => {
  const [chart] = document.querySelectorAll(`[data-chart="${title}"]`);
  const box = (selector) => chart.querySelector(selector).getBoundingClientRect();
  return [box(".legend .traces").top - box("figcaption").bottom, box(".nsewdrag").bottom];
}"""


def test_the_axes_of_a_row_are_level_and_each_legend_is_right_below_its_title(browser, tmp_path):
    run_id = make_run(tmp_path, Made("two cards", 60))
    with running_app(tmp_path) as app:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        app.sign_in(context)
        page = context.new_page()
        page.goto(f"{app.url}?run={run_id}")
        page.locator('[data-chart="GPU memory"] .js-plotly-plot .xtick').first.wait_for()
        page.locator('[data-chart="Loss"] .js-plotly-plot .xtick').first.wait_for()
        # As the legend of many GPUs makes it.
        page.add_style_tag(content='[data-chart="GPU memory"] .ds-stage { min-height: 320px !important }')
        plot = page.locator('[data-chart="Loss"] .main-svg').first
        wait_until(lambda: plot.bounding_box()["height"] == 320)
        (above_loss, loss), (above_memory, memory) = (page.evaluate(LEVELS, name) for name in ("Loss", "GPU memory"))
        assert abs(memory - loss) <= 1
        assert max(above_loss, above_memory) < 16
        expect(page.locator('[data-chart="GPU memory"] .legendtext')).to_have_text(["GPU 0", "GPU 1", "this run"])
        context.close()


def test_the_charts_of_an_ended_run_begin_high_on_the_page(browser, made):
    """What is done with the run stands beside its name; what is left of it, below the charts."""
    app, ids = made
    context = app.sign_in(browser.new_context(viewport={"width": 1280, "height": 900}))
    page = context.new_page()
    page.goto(f"{app.url}?run={ids['evaluated']}")
    drawn(page, "Loss")
    expect(page.locator("#delete-run")).to_be_visible()
    places = {name: page.locator(name).bounding_box()["y"] for name in (".ds-run-title", "#clone-run", "#delete-run")}
    assert max(places.values()) - min(places.values()) < 30
    assert chart(page, "Loss").bounding_box()["y"] <= 350
    above, output = (page.locator(f".ds-{name}").bounding_box()["y"] for name in ("board", "output"))
    assert above < output
    facts = dict(zip(*(page.locator(f".ds-facts {part}").all_inner_texts() for part in ("dt", "dd")), strict=True))
    told = [facts[name] for name in ("Final loss", "Best loss", "Eval loss")]
    assert told == ["0.01200", "0.01200", "2.500"]  # as in the table
    expect(chart(page, "Throughput")).to_be_visible()  # as in its report
    expect(chart(page, "Throughput").locator(".ytitle")).to_have_text("steps/s")
    context.close()


# How far below its top the plot of a chart begins, in px.
BEGINS = """(title) => document.querySelector(`[data-chart="${title}"] .js-plotly-plot`)?._fullLayout?._size?.t"""


def test_plots_begin_at_one_height_with_a_legend_and_without(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['steps']}") as page:
        titles = ("Host memory", "Learning rate")
        wait_until(lambda: all(page.evaluate(BEGINS, title) for title in titles))
        assert [chart(page, title).locator(".legend").count() for title in titles] == [1, 0]
        begins = [page.evaluate(BEGINS, title) for title in titles]
        assert abs(begins[0] - begins[1]) <= 1, begins


def test_a_run_says_how_much_of_its_duration_lies_between_its_first_and_its_last_step(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['steps']}") as page:
        expect(page.locator(".ds-facts > div", has_text="Duration").locator("dd")).to_have_text("1m 40s")
        expect(page.locator(".ds-spent")).to_have_text(
            "Training: 1m 20s of 1m 40s, first to last logged step · before it 20s (loading, compilation)"
        )
