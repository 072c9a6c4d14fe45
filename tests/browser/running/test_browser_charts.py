"""Which axis the Runs page's charts have, what stretches it, and what stands where there is no curve; in Chromium."""

import re

import pytest
from playwright.sync_api import expect

from dsgui.core.launch.state import RunState
from dsgui.core.metrics.points import Event, Point
from dsgui.core.metrics.samples import Sample
from dsgui.core.sizes import GIB
from tests.browser.running.test_browser_monitor import opened
from tests.runs.test_no_loss import hf_run
from tests.support.app_server import running_app
from tests.support.made_runs import Made, Printed, make_printed, make_run
from tests.support.run_fixtures import wait_until

pytestmark = pytest.mark.browser

# Of each chart that is shown: its axis, the range of it, and how many points each of its lines has.
SHOWN = """() => Object.fromEntries([...document.querySelectorAll("[data-chart]:not([hidden])")].map((node) => {
  const plot = node.querySelector(".js-plotly-plot");
  const drawn = node.querySelector(".ds-plot").hidden ? null : plot?._fullLayout?.xaxis;
  return [node.dataset.chart, drawn ? { axis: drawn.title.text, range: drawn.range.map(Number),
    points: plot.data.filter((one) => one.yaxis !== "y3").map((one) => one.x.length), x: [...plot.data[0].x] } : null];
}))"""
TIME = "time since start (mm:ss)"
NO_LOSS = (
    "No loss was printed. The HF Trainer logs every 500 steps by default and this run has 250: add --logging_steps 10."
)
EPOCHS = 3


def without_steps():
    """A script that names no step, and a checkpoint of its."""
    losses = [(10.0 + 2 * number, f"loss: {3 - number / 10:.3f}\n") for number in range(20)]
    return Printed("plain", [*losses, (49.0, Event("checkpoint", "Saved", None))], 60)


def with_marks():
    """Marks of what was no step of the training, and an end long after the last point."""
    points = [(10.0 + step / 5, Point(step, step / 100, {"loss": 3 / step})) for step in range(10, 251, 10)]
    marks = [
        (5.0, Event("warning", "Tokenizing is slow", 4000)),
        (30.0, Event("alert", "No step", 120_000)),
        (90.0, Event("error", "RuntimeError: at the end", 250)),
    ]
    return Printed("marked", sorted([*points, *marks], key=lambda one: one[0]), 100)


def with_start_up():
    """Steps 10 to 40 at 20 to 50 s; what it took to load is over before the first."""
    loaded = [(4.5, Sample(4.5, 30 * GIB, 64 * GIB, 24 * GIB, 40.0, (), 4.5))]
    points = [(10.0 + step, Point(step, step / 100, {"loss": 3 / step})) for step in range(10, 41)]
    return Printed("start-up", [*loaded, *points], 60)


def in_epochs():
    """`[1,  2000] loss: 2.1`, as read: whole epochs, and steps that run on over them."""
    points = [
        (5.0 + 10 * epoch + part, Point(epoch * 10 + part, float(epoch + 1), {"loss": 2.0 - epoch / 3}))
        for epoch in range(EPOCHS)
        for part in range(1, 11)
    ]
    return Printed("epochs", points, 40)


def by_epoch():
    points = [(10.0 * epoch, Point(None, float(epoch), {"loss": 2.0 - epoch / 3})) for epoch in range(1, 4)]
    return Printed("by epoch", points, 40)


def of_one_value():
    """A learning rate that stays the same, and one evaluation."""
    rates = [(10.0 + step, Point(step, None, {"loss": 3 / step, "learning_rate": 5e-5})) for step in range(10, 41, 10)]
    return Printed("of one value", [*rates, (52.0, Point(40, None, {"eval_bleu": 0.0473}, "eval"))], 60)


def evaluated_only():
    points = [(10.0 * part, Point(50 * part, None, {"eval_loss": 3 - part / 3}, "eval")) for part in range(1, 5)]
    return Printed("evaluated", points, 50)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An app on runs of these kinds; their ids."""
    folder = tmp_path_factory.mktemp("runs")
    printed = {
        "plain": without_steps(),
        "marked": with_marks(),
        "epochs": in_epochs(),
        "by epoch": by_epoch(),
        "evaluated": evaluated_only(),
        "one value": of_one_value(),
        "start-up": with_start_up(),
        "hf": hf_run(),
    }
    ids = {name: make_printed(folder, one) for name, one in printed.items()}
    with running_app(folder) as app:
        yield app, ids | {"steps": make_run(folder, Made("steps", 200))}


def shown(page, *charts, axis):
    """The charts when these are drawn by this axis."""
    found = {}

    def drawn():
        nonlocal found
        found = page.evaluate(SHOWN)
        return all((found.get(chart) or {}).get("axis") == axis for chart in charts)

    wait_until(drawn)
    return found


def why(page):
    return page.locator(".ds-why")


def axis_button(page, name):
    return page.locator(".ds-axes").get_by_role("button", name=name)


def choose(page, run_id):
    page.click(f'[data-run="{run_id}"]')
    expect(page).to_have_url(re.compile(f"run={run_id}"))


def open_more(page):
    page.get_by_text("System metrics").click()


HEIGHTS = """(title) => {
  const { yaxis, legend } = document.querySelector(`[data-chart="${title}"] .js-plotly-plot`)._fullLayout;
  return [...yaxis.range.map(Number), Boolean(legend)];
}"""


def test_the_menu_of_charts_lies_within_a_narrow_window(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['start-up']}") as page:
        page.set_viewport_size({"width": 390, "height": 844})
        shown(page, "Loss", axis="step")
        opener = page.locator(".ds-charts-choice > summary")
        items = page.locator(".ds-charts-choice > .ds-menu-items")
        for lower in (300, 780):  # wherever it stands in the window: what it needs may be more than is left below it
            opener.evaluate("(node, y) => scrollBy(0, node.getBoundingClientRect().top - y)", lower)
            opener.click()
            expect(items).to_be_visible()
            box, at = items.bounding_box(), opener.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= 844
            assert box["y"] >= at["y"] + at["height"] or box["y"] + box["height"] <= at["y"]
            page.keyboard.press("Escape")
        assert opener.evaluate("(node) => getComputedStyle(node, '::before').content").startswith('"▾"')


# Cheaper: tests/js/metrics/plotting.test.js (one value alone…; a lone score…), charts.test.js (a line is called…).
@pytest.mark.complete
def test_a_value_that_stays_the_same_can_be_read_and_a_lone_score_too(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['one value']}") as page:
        shown(page, "Learning rate", "Evaluation: bleu", axis="step")
        low, high, _ = page.evaluate(HEIGHTS, "Learning rate")
        assert (low, 5e-5 < high < 1e-4) == (0, True)
        low, high, named = page.evaluate(HEIGHTS, "Evaluation: bleu")
        assert (low, 0.0473 < high < 0.1, named) == (0, True, False)


def test_what_lies_before_the_first_step_is_said_beside_the_curve_and_shown_by_time(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['start-up']}") as page:
        found = shown(page, "Loss", "Host memory", axis="step")
        assert found["Host memory"]["x"][0] >= 10
        assert found["Host memory"]["x"][-1] <= 40
        said = page.locator('[data-chart="Host memory"] .ds-chart-peak')
        expect(said).to_contain_text("Peak 24.00 GiB (this run) before step 10")
        said.get_by_role("button", name="Show by time").click()
        found = shown(page, "Loss", "Host memory", axis=TIME)
        assert found["Host memory"]["x"][0] < 30
        expect(said).to_be_hidden()
        labels = page.locator('[data-chart="Host memory"] .xtick').all_text_contents()
        assert labels
        assert all(re.fullmatch(r"\d\d:\d\d", one) for one in labels)


def test_a_charts_tools_do_not_cover_its_legend(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['steps']}") as page:
        shown(page, "Host memory", axis="step")
        plot = page.locator('[data-chart="Host memory"] .js-plotly-plot')
        tools, legend = (
            page.locator('[data-chart="Host memory"] .ds-chart-tools'),
            page.locator('[data-chart="Host memory"] .legend'),
        )
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 860})
            wait_until(lambda: plot.evaluate("(node) => node._fullLayout.width === node.clientWidth"))
            above, below = tools.bounding_box(), legend.bounding_box()
            assert above["y"] + above["height"] <= below["y"] + 1


TWO_FRAMES = "() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"
# Every drawing waits for `letGo`.
HELD = """() => {
  const { react } = window.Plotly;
  const held = [];
  window.Plotly.react = async (plot, ...given) => {
    await react(plot, ...given);
    plot.dataset.held = "";
    await new Promise((go) => held.push(go));
  };
  window.letGo = () => {
    window.Plotly.react = react;
    for (const go of held) go();
  };
}"""


def test_a_charts_width_that_changes_while_it_is_drawn_is_drawn_next(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['steps']}") as page:
        shown(page, "Host memory", axis="step")
        plot = page.locator('[data-chart="Host memory"] .js-plotly-plot')
        page.evaluate(HELD)
        page.set_viewport_size({"width": 390, "height": 860})
        wait_until(lambda: plot.evaluate("(node) => 'held' in node.dataset"))
        page.set_viewport_size({"width": 1280, "height": 860})
        wait_until(lambda: plot.evaluate("(node) => node.clientWidth > node._fullLayout.width"))
        page.evaluate(TWO_FRAMES)  # in which the width is seen to change, and nothing is drawn
        page.evaluate("() => window.letGo()")
        wait_until(lambda: plot.evaluate("(node) => node._fullLayout.width === node.clientWidth"))


def test_a_run_without_steps_opens_by_the_count_of_its_loss_lines_and_no_chart_is_empty(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['plain']}") as page:
        expect(why(page)).to_have_text("The script prints no steps: drawn by the count of its loss lines.")
        open_more(page)
        shown(page, "Loss", axis="loss lines (no step printed)")
        found = shown(page, "Host memory", "CPU", axis=TIME)
        assert found["Loss"]["points"] == [20]
        assert found["Host memory"]["points"] == [61, 61]
        assert found["CPU"]["points"] == [61]
        expect(axis_button(page, "Step")).to_have_attribute("aria-pressed", "true")
        expect(axis_button(page, "Time")).to_be_enabled()
        expect(axis_button(page, "Epoch")).to_be_disabled()


# Cheaper: tests/js/metrics/axis.test.js (evaluations' steps may be chosen…), traces.test.js (by evaluations' steps…).
@pytest.mark.complete
def test_a_run_of_evaluations_alone_opens_by_time_and_may_be_drawn_by_their_steps(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['evaluated']}") as page:
        shown(page, "Loss", "Host memory", axis=TIME)
        axis_button(page, "Step").click()
        found = shown(page, "Loss", "Host memory", axis="step")
        assert found["Loss"]["x"] == [50, 100, 150, 200]
        assert min(found["Host memory"]["points"]) > 20
        expect(why(page)).to_be_hidden()
        expect(axis_button(page, "Epoch")).to_be_disabled()


def test_no_mark_stretches_an_axis(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['marked']}") as page:
        found = shown(page, "Loss", "Host memory", axis="step")
        assert found["Loss"]["range"] == [10, 250]
        assert found["Host memory"]["range"] == [10, 250]
        texts = """() => document.querySelector('[data-chart="Loss"] .js-plotly-plot').data
            .flatMap((one) => one.yaxis === "y3" ? one.x.map((at, i) => [at, one.text[i]]) : [])"""
        assert page.evaluate(texts) == [[250, "error: RuntimeError: at the end"]]


def ranges(page, axis):
    """The different ranges of the charts, once all are drawn by an axis."""
    open_more(page)
    found = shown(page, "Loss", "Host memory", "CPU", axis=axis)
    return {tuple(chart["range"]) for chart in found.values()}


def test_all_charts_show_the_same_range_from_the_start(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['marked']}") as page:
        assert ranges(page, "step") == {(10, 250)}
        axis_button(page, "Time").click()
        # The readings of the machine begin before the first step and go on after the last.
        found = shown(page, "Loss", "Host memory", "CPU", axis=TIME)
        assert {tuple(chart["range"]) for chart in found.values()} == {(0, 100)}
        assert (found["Loss"]["x"][0], found["Loss"]["x"][-1]) == (12, 60)


# Cheaper: tests/js/metrics/traces.test.js (symbols have room…); that all charts have one range: the test above.
@pytest.mark.complete
def test_symbols_at_the_edge_have_room_and_so_have_all_charts(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['one value']}") as page:
        found = shown(page, "Learning rate", "Evaluation: bleu", "Host memory", axis="step")
        (low, high), *others = {tuple(chart["range"]) for chart in found.values()}
        assert others == []
        assert low == 10
        assert 40 < high < 41


# Of a chart the opacity of each run's curve, by the colour of this.
SEEN = """(title) => Object.fromEntries(
  [...document.querySelectorAll(`[data-chart="${title}"] .trace.scatter`)].flatMap((one) => {
    const line = one.querySelector(".js-line");
    return line ? [[getComputedStyle(line).stroke, getComputedStyle(one).opacity]] : [];
  }))"""


def test_on_a_phone_four_runs_have_one_legend_for_all_charts_and_their_verdict_comes_first(browser, tmp_path):
    ids = [make_run(tmp_path, Made(name, 20)) for name in ("one", "other", "third")]
    ids.append(make_run(tmp_path, Made("longer “one”", 60, spikes=(30,), arguments="--lr 1")))
    with running_app(tmp_path) as app, opened(browser, app, f"compare={','.join(ids)}") as page:
        page.set_viewport_size({"width": 390, "height": 844})
        page.locator('[data-chart="Loss"]').scroll_into_view_if_needed()
        page.locator('[data-chart="Loss"] .nsewdrag').first.wait_for()
        strip = page.locator(".ds-compare-strip")
        assert strip.is_visible()
        assert page.locator(".ds-chart-runs:visible").count() == 0
        assert strip.bounding_box()["height"] < 60
        # What came of it is said before how it is kept.
        said, report = (page.locator(f"#comparison {one}") for one in (".ds-outcome", ".ds-compare-acts > a"))
        assert said.is_visible()
        assert said.bounding_box()["y"] < report.bounding_box()["y"]
        # Each thing in a line, and each run in the colour of its curves.
        longest = said.get_by_role("listitem").filter(has_text="longer")
        colour = "one => getComputedStyle(one).backgroundColor"
        places = (longest.first, strip.locator("li").last)
        swatch, key = (place.locator(".ds-swatch").last.evaluate(colour) for place in places)
        assert swatch == key != "rgba(0, 0, 0, 0)"
        expect(longest).to_have_text("Loss spikes: longer “one” at step 30")  # its name holds another's, quoted
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_names_of_a_comparison_stay_in_view_and_one_that_is_pointed_at_is_seen_first(browser, tmp_path):
    ids = [
        make_run(tmp_path, Made("one", 60)),
        make_run(tmp_path, Made("twin", 60)),
        make_run(tmp_path, Made("long", 999)),
    ]
    with running_app(tmp_path) as app, opened(browser, app, f"compare={','.join(ids)}") as page:
        names = page.locator(".ds-compare-key .ds-link")
        expect(names).to_have_text(["one", "twin", "long"])
        page.locator('[data-chart="Learning rate"]').scroll_into_view_if_needed()
        expect(page.locator(".ds-compare-strip li").last).to_be_in_viewport()
        expect(page.locator(".ds-chart-runs:visible")).to_have_count(0)  # they are the legend of all
        wait_until(lambda: len(page.evaluate(SEEN, "Loss")) == 3)
        assert set(page.evaluate(SEEN, "Loss").values()) == {"1"}

        def first():
            """How many are seen, and in another chart as well."""
            told = [[*page.evaluate(SEEN, title).values()] for title in ("Loss", "Learning rate")]
            return [sorted(float(one) > 0.5 for one in values) for values in told]

        alone = [[False, False, True]] * 2
        page.locator(".ds-compare-strip li").nth(2).hover()
        wait_until(lambda: first() == alone)
        page.locator(".ds-run-title").hover()
        wait_until(lambda: first() == [[True] * 3] * 2)
        names.nth(2).hover()
        wait_until(lambda: first() == alone)
        page.locator(".ds-run-title").hover()
        wait_until(lambda: first() == [[True] * 3] * 2)
        page.locator(f'.ds-run-rows [data-run="{ids[2]}"]').hover()
        wait_until(lambda: first() == alone)
        page.locator(".ds-run-title").hover()
        page.locator(".ds-compare-key").get_by_role("button", name="twin").focus()
        wait_until(lambda: first() == alone)
        # The short ones are hardly seen beside the long one.
        page.get_by_role("button", name="Zoom to “one” (step 60)").click()
        wait_until(lambda: ranges(page, "step") == {(1, 60)})
        page.get_by_role("button", name="Show all").click()
        wait_until(lambda: all(high >= 999 for _, high in ranges(page, "step")))


def test_of_a_run_that_ended_with_its_first_step_the_values_are_told_and_no_dots_are_drawn(browser, tmp_path):
    logged = {"loss": 2.3, "learning_rate": 5e-5, "grad_norm": 1.25}
    run_id = make_printed(tmp_path, Printed("short", [(20.0, Point(1, 0.01, logged))], 30, state=RunState.FAILED))
    with running_app(tmp_path) as app, opened(browser, app, f"run={run_id}") as page:
        expect(page.locator(".ds-facts")).to_contain_text("Last loss2.300")  # which is not said twice
        expect(page.locator(".ds-values dl > div")).to_have_text(["Learning rate5e-5", "Gradient norm1.250"])
        expect(page.locator(".ds-values p")).to_have_text("One value each, so no chart:")
        wait_until(lambda: page.evaluate(SHOWN).get("Host memory"))
        assert not {"Loss", "Learning rate", "Gradient norm"} & {*page.evaluate(SHOWN)}


SCALE = """() => document.querySelector('[data-chart="Loss"] .js-plotly-plot')?._fullLayout?.yaxis.type"""
# Of each name in the key, its parts that are cut, and how many lines each takes.
PARTS = """() => [...document.querySelectorAll(".ds-compare-key .ds-name-part")].map((part) =>
  [part.textContent, part.scrollWidth > part.clientWidth, part.getClientRects().length])"""


def unlike(name, start, end, steps):
    """Losses from `start` down to `end`, a second each."""
    rate = (end / start) ** (1 / steps)
    return Printed(name, [(20.0 + step, Point(step, None, {"loss": start * rate**step})) for step in range(steps)], 120)


def test_losses_that_are_ten_times_apart_have_a_logarithmic_scale_which_is_said_and_can_be_left(browser, tmp_path):
    ids = [
        make_printed(tmp_path, unlike("text-classification.py", 0.7, 0.05, 60)),
        make_printed(tmp_path, unlike("causal_lm_finetune.py", 3.6, 2.3, 80)),
        make_printed(tmp_path, unlike("pretraining loop", 90, 9, 90)),
    ]
    with running_app(tmp_path) as app, opened(browser, app, f"compare={','.join(ids)}") as page:
        page.set_viewport_size({"width": 390, "height": 800})
        chart = page.locator('[data-chart="Loss"]')
        log, told = chart.locator('[data-toggle="log"]'), chart.locator(".ds-chart-empty")
        expect(told).to_have_text(re.compile(r"^Log scale: these runs’ values are about \d+× apart\.$"))
        expect(log).to_have_attribute("aria-pressed", "true")
        wait_until(lambda: page.evaluate(SCALE) == "log")
        page.locator(".ds-compare-open").click()
        parts = page.evaluate(PARTS)
        assert "classification" in [text for text, *_ in parts]
        assert all(not cut and lines == 1 for _, cut, lines in parts)
        log.click()
        expect(told).to_be_hidden()
        wait_until(lambda: page.evaluate(SCALE) == "linear")
        page.reload()
        wait_until(lambda: page.evaluate(SCALE) == "linear")
        expect(log).to_have_attribute("aria-pressed", "false")
        # On a phone what is not set is in the chart's menu.
        expect(log).to_be_hidden()
        menu, scale = chart.locator(".ds-menu > summary"), chart.locator('[data-act="log_scale"]')
        menu.click()
        expect(scale).to_have_attribute("aria-pressed", "false")
        scale.click()
        wait_until(lambda: page.evaluate(SCALE) == "log")
        expect(log).to_be_visible()
        menu.click()
        expect(scale).to_have_attribute("aria-pressed", "true")
        page.set_viewport_size({"width": 1280, "height": 800})
        expect(scale).to_be_hidden()
        pin = chart.locator('[data-toggle="pin"]')
        expect(pin).to_be_visible()
        page.locator("body").click(position={"x": 2, "y": 2})
        page.mouse.move(0, 0)
        expect(pin).to_have_css("border-top-color", "rgba(0, 0, 0, 0)")  # at rest only what is set has a box
        expect(log).not_to_have_css("border-top-color", "rgba(0, 0, 0, 0)")
        chart.hover()
        expect(pin).not_to_have_css("border-top-color", "rgba(0, 0, 0, 0)")


# Cheaper: of one run, above; of a comparison's charts, test_two_runs_are_compared… in test_browser_monitor.py.
@pytest.mark.complete
def test_the_charts_of_a_comparison_show_the_same_range(browser, made):
    app, ids = made
    with opened(browser, app, f"compare={ids['marked']},{ids['plain']}") as page:
        assert ranges(page, TIME) == {(0, 100)}


def test_what_the_user_chose_stays_where_a_run_has_it_and_comes_back(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['steps']}") as page:
        shown(page, "Loss", axis="step")
        axis_button(page, "Epoch").click()
        shown(page, "Loss", "Host memory", axis="epoch")
        choose(page, ids["plain"])  # neither epochs nor steps
        shown(page, "Loss", axis="loss lines (no step printed)")
        shown(page, "Host memory", axis=TIME)
        expect(why(page)).to_have_text("The script prints no steps: drawn by the count of its loss lines.")
        choose(page, ids["hf"])  # the HF Trainer logged its end alone
        expect(why(page)).to_have_text("Drawn by time: no training values were logged.")
        expect(page.locator('[data-chart="Loss"] .ds-chart-empty')).to_have_text(NO_LOSS)
        found = shown(page, "Host memory", axis=TIME)
        assert (found["Host memory"]["points"], found["Loss"]) == ([66, 66], None)
        choose(page, ids["marked"])
        shown(page, "Loss", "Host memory", axis="epoch")
        expect(why(page)).to_be_hidden()


# Cheaper: tests/js/metrics/axis.test.js (steps are drawn by where every run has them); the sentence, of one run, above.
@pytest.mark.complete
def test_a_run_with_steps_and_one_without_are_compared_by_time(browser, made):
    app, ids = made
    with opened(browser, app, f"compare={ids['steps']},{ids['plain']}") as page:
        found = shown(page, "Loss", "Host memory", axis=TIME)
        expect(why(page)).to_have_text("Drawn by time: “plain” prints no steps.")
        assert min(found["Loss"]["points"]) > 0
        assert min(found["Host memory"]["points"]) > 0
        axis_button(page, "Step").click()
        shown(page, "Loss", axis="step")
        expect(why(page)).to_have_text("Not everything is drawn: “plain” prints no steps.")


# Cheaper: tests/js/metrics/traces.test.js (the points of whole epochs…).
@pytest.mark.complete
def test_steps_in_whole_epochs_are_drawn_by_step_time_and_epoch(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['epochs']}") as page:
        found = shown(page, "Loss", "Host memory", axis="step")
        assert found["Loss"]["x"] == list(range(1, 31))
        axis_button(page, "Epoch").click()
        found = shown(page, "Loss", "Host memory", axis="epoch")
        x = found["Loss"]["x"]
        assert x == sorted(set(x))  # not all of an epoch at one place
        assert [x[0], x[10], x[20]] == [0, 1, 2]
        assert 2.8 < x[-1] <= EPOCHS
        assert max(found["Host memory"]["points"]) > 20


# Cheaper: tests/js/metrics/axis.test.js (one point an epoch…).
@pytest.mark.complete
def test_one_point_an_epoch_is_drawn_by_time_or_at_its_epoch(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['by epoch']}") as page:
        assert shown(page, "Loss", "Host memory", axis=TIME)["Loss"]["x"] == [10, 20, 30]
        axis_button(page, "Epoch").click()
        assert shown(page, "Loss", "Host memory", axis="epoch")["Loss"]["x"] == [1, 2, 3]


# Each chart when its curves are drawn, and the frames that the page had shown until then.
DRAWN = """window.frames_ = 0; window.drawn = [];
const count = () => { window.frames_ += 1; requestAnimationFrame(count); };
count();
new MutationObserver(() => {
  for (const plot of document.querySelectorAll(".js-plotly-plot:not([data-noted])")) {
    plot.dataset.noted = "";
    const { top } = plot.getBoundingClientRect();
    window.drawn.push([plot.closest("[data-chart]").dataset.chart, window.frames_, top]);
  }
}).observe(document, { subtree: true, childList: true, attributeFilter: ["class"] });"""


def test_charts_are_drawn_from_the_top_and_the_page_shows_each_before_the_next(browser, made):
    app, ids = made
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        app.sign_in(context).add_init_script(DRAWN)
        page = context.new_page()
        page.goto(f"{app.url}?run={ids['marked']}")
        page.wait_for_function("""() => [...document.querySelectorAll(".ds-chart:not([hidden]) > .ds-stage > .ds-plot")]
            .filter((plot) => plot.checkVisibility()).every((plot) => plot.matches(".js-plotly-plot"))
            && drawn.length > 2""")
        drawn = page.evaluate("drawn")
        expect(page.locator(".ds-more:not([open]) [data-chart='CPU']")).to_have_count(1)
        assert "CPU" not in {chart for chart, _, _ in drawn}  # what is folded away costs nothing
    assert [top for _, _, top in drawn] == sorted(top for _, _, top in drawn)
    assert len({frame for _, frame, _ in drawn}) > 1


def test_a_page_without_charts_fetches_plotly_ahead_for_the_next_one(browser, made):
    app, _ = made
    with browser.new_context() as context:
        page = app.sign_in(context).new_page()
        fetched, told = [], []
        page.on("requestfinished", lambda request: fetched.append(request.url))
        page.on("console", lambda message: told.append(message.text))
        page.goto(app.url)
        page.locator("head > link[rel=prefetch]").wait_for(state="attached")
        wait_until(lambda: page.evaluate("1") and any("plotly.min.js" in url for url in fetched))
        assert not page.evaluate("'Plotly' in window")
    assert told == []
