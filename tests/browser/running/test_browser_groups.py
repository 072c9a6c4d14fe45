"""Runs of a comparison drawn as groups: their mean over the area between the least and the most, in Chromium."""

import pytest
from playwright.sync_api import expect

from dsgui.core.launch.state import RunState
from dsgui.core.metrics.points import Point
from dsgui.shell.runs.store import Store
from tests.browser.running.test_browser_monitor import opened
from tests.support.app_server import running_app
from tests.support.made_runs import Made, Printed, make_printed, make_run
from tests.support.run_fixtures import wait_until

pytestmark = pytest.mark.browser

LEGENDS = "() => [...document.querySelectorAll('[data-chart] .legendtext')].map((one) => one.textContent)"
AREAS = """() => document.querySelectorAll('[data-chart="Loss"] .fills path.js-fill').length"""
SEEDS = {"lora 1": 0.0, "lora 2": 0.4, "full 1": 1.0}


PARTS = (".ds-compare-key", ".ds-differences")  # the head, the values
COLOURS = "all => all.map((one) => getComputedStyle(one).backgroundColor)"
ENDS = {"lora 2": 40}  # the other one of its group goes on to 60


def logged(name, more):
    last = ENDS.get(name, 60)
    points = [(step / 2, Point(step, None, {"loss": 2 / step**0.5 + more})) for step in range(1, last + 1)]
    return Printed(name, points, 40)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    ids = {name: make_printed(folder, logged(name, more)) for name, more in SEEDS.items()}
    for name, id in ids.items():
        run = Store(folder).open(id)
        run.write_label(run.read_label().changed({"tags": [name.split()[0]]}))
    with running_app(folder) as app:
        yield app, list(ids.values())


def test_runs_with_one_tag_are_drawn_as_their_mean_and_its_range(browser, made):
    app, ids = made
    with opened(browser, app, f"compare={','.join(ids)}") as page:
        chooser = page.get_by_label("Group by")
        expect(chooser.locator("option:disabled")).to_have_text(["Preset", "Model"])
        legend = page.get_by_role("list", name="Groups")
        expect(page.locator('[data-chart="Loss"] .nsewdrag').first).to_be_visible()
        expect(legend).to_be_hidden()
        assert page.evaluate(AREAS) == 0
        chooser.select_option("tag")
        wait_until(lambda: page.evaluate(AREAS) == 2)
        # Once above the charts, and in none of them again.
        dotted = "dotted: not all runs of the group have a value there"
        expect(legend.get_by_role("listitem")).to_have_text(["lora (2 runs)", "full (1 run)", dotted])
        assert not [text for text in page.evaluate(LEGENDS) if "lora" in text or "full" in text]
        plot = page.locator('[data-chart="Loss"] .nsewdrag').first
        plot.scroll_into_view_if_needed()
        box = plot.bounding_box()
        rows = page.locator('[data-chart="Loss"] .ds-tip-row')
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        expect(rows.first).to_contain_text("2 runs")
        told = rows.first.locator("b").inner_text()
        low, mean, high = (
            float(told.split()[part].strip("()").split("–")[at]) for part, at in ((1, 0), (0, 0), (1, 1))
        )
        assert low < mean < high
        page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] / 2)
        expect(rows.first).to_contain_text("1 of 2 runs")
        expect(rows.first.locator("b")).not_to_contain_text("–")  # one run has no range
        # Both runs of a group have its colour in the table.
        colours = page.locator(".ds-compare-key .ds-swatch").evaluate_all(COLOURS)
        assert colours[0] == colours[1] != colours[2]
        chooser.select_option("none")
        wait_until(lambda: page.evaluate(AREAS) == 0)
        expect(legend).to_be_hidden()


def test_a_chart_that_a_single_run_has_is_in_its_groups_colour_too(browser, tmp_path):
    ids = [make_printed(tmp_path, logged("first", 0.0)), make_printed(tmp_path, logged("second", 1.0))]
    ids.append(make_run(tmp_path, Made("with cards", 20)))
    for id, tag in zip(ids, ("one", "other", "one"), strict=True):
        run = Store(tmp_path).open(id)
        run.write_label(run.read_label().changed({"tags": [tag]}))
    chart = '[data-chart="GPU memory"]'
    colours = f"() => [...document.querySelectorAll('{chart} .js-line')].map((line) => line.style.stroke)"
    with running_app(tmp_path) as app, opened(browser, app, f"compare={','.join(ids)}") as page:
        page.locator(".ds-board > .ds-more > summary", has_text="Of one run only").click()
        wait_until(lambda: "rgb(0, 158, 115)" in page.evaluate(colours))  # the third run's
        page.get_by_label("Group by").select_option("tag")
        wait_until(lambda: "rgb(0, 114, 178)" in page.evaluate(colours))  # the first group's
        assert "rgb(0, 158, 115)" not in page.evaluate(colours)


def timed(name, *parts, taking=0.4):
    steps = [(step / 2, Point(step, None, {"loss": 2.0} | dict.fromkeys(parts, taking))) for step in range(1, 41)]
    return Printed(name, steps, 40)


def test_an_evaluations_loss_is_of_one_kind_of_line_also_where_the_first_run_logged_no_other(browser, tmp_path):
    evals = [(step / 2, Point(step, None, {"eval_loss": 2.0}, "eval")) for step in (10, 20, 30)]
    alone = make_printed(tmp_path, Printed("alone", [(1.0, "starts\n"), *evals], 40))
    ids = [alone, make_printed(tmp_path, timed("trained", "fwd_ms"))]
    lines = """plot => Object.fromEntries(plot.data.filter(({ showlegend }) => showlegend)
      .map(({ name, line }) => [name, line.dash]))"""
    with running_app(tmp_path) as app, opened(browser, app, f"compare={','.join(ids)}") as page:
        expect(page.locator('[data-chart="Loss"] .legendtext')).to_have_text(["eval", "train"])
        assert page.locator('[data-chart="Loss"] .js-plotly-plot').evaluate(lines) == {"eval": "dash", "train": "solid"}


def test_what_only_another_run_has_is_in_the_legend_and_is_of_one_kind_of_line_in_all(browser, tmp_path):
    of = {"first": ["fwd_ms", "bwd_ms"], "second": ["step_ms", "bwd_ms"], "third": ["step_ms"]}
    runs = [timed(name, *parts, taking=place) for place, (name, parts) in enumerate(of.items(), 1)]  # none over another
    ids = [make_printed(tmp_path, run) for run in runs]
    with running_app(tmp_path) as app, opened(browser, app, f"compare={','.join(ids)}") as page:
        legend = page.locator('[data-chart="Step times"] .legendtext')
        expect(legend).to_have_text(["fwd ms", "bwd ms", "step ms"])
        # The values have the runs' colours too: on a phone, where they stand below each other.
        told = "all => all.map(one => one.style.getPropertyValue('--swatch'))"
        colours = [page.locator(f"{part} [data-swatch]").evaluate_all(told) for part in PARTS]
        assert colours[0] == colours[1][:3]
        assert len(set(colours[0])) == 3
        dashes = page.locator('[data-chart="Step times"] .js-plotly-plot').evaluate(
            """plot => plot.data.filter(({ x }) => x?.length > 1).map(({ line }) => line.dash)"""
        )
        first, both, own, again, third = dashes
        assert (both, own) == (again, third) or (both, own) == (third, again)
        assert len({first, both, own}) == 3


CHARTS = """(place) => [...document.querySelectorAll(place + " .ds-chart:not([hidden])")]
  .map((one) => one.dataset.chart)"""


@pytest.mark.parametrize("width", [1280, 390])
def test_of_unlike_runs_what_one_alone_has_is_folded_and_a_lone_point_is_told_in_a_line(browser, tmp_path, width):
    native = [(step, Point(step, None, {"loss": 2 / step, "grad_norm": 1.0 / step})) for step in range(1, 13)]
    trainer = [(step / 5, Point(step, None, {"loss": 3 / step, "quality": step})) for step in range(1, 101)]
    scored = Point(100, None, {"eval_loss": 1.0, "eval_bleu": 30.0}, "eval")
    printed = (
        Printed("native", native, 40),
        Printed("trainer", [*trainer, (20.5, scored)], 40),
        Printed("dead", [], 3, state=RunState.FAILED),
    )
    ids = [make_printed(tmp_path, one) for one in printed]
    with running_app(tmp_path) as app, opened(browser, app, f"compare={','.join(ids)}") as page:
        page.set_viewport_size({"width": width, "height": 844})
        expect(page.locator(".ds-undrawn")).to_have_text(
            "Not drawn, as no run has more than one value: Evaluation: bleu"
        )
        assert page.evaluate(CHARTS, ".ds-board > .ds-charts") == ["Loss", "Host memory", "Throughput"]
        fold = page.locator(".ds-more", has_text="Of one run only")
        expect(fold.locator("> summary")).to_have_text("Of one run only: Gradient norm, quality")
        fold.locator("> summary").click()
        expect(fold.locator(".ds-chart:not([hidden]) .nsewdrag").first).to_be_visible()
        assert len(page.evaluate(CHARTS, ".ds-more[open]")) == 2
        # So are the figures, and the settings that are the same.
        if width == 390:
            page.locator(".ds-compare-open").click()
        results = page.locator(".ds-differences > .ds-scroll .ds-compared")
        expect(results).not_to_contain_text("bleu")
        page.locator(".ds-figures-all").click()
        expect(results).to_contain_text("bleu")
        expect(page.locator(".ds-same")).not_to_have_attribute("open", "")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.get_by_role("button", name="trainer", exact=True).click()  # alone it has all of them
        expect(page.locator(".ds-values")).to_contain_text("Evaluation: bleu")
        expect(page.locator(".ds-undrawn")).to_be_hidden()
