"""The Runs page's charts, log and comparison, in Chromium, on runs made for it."""

import json
import re
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import pytest
from playwright.sync_api import expect

from tests.answers.remembered import BROWSER
from tests.browser.test_browser import start_script
from tests.support.app_server import running_app
from tests.support.browser import stop_run
from tests.support.made_runs import Made, make_run
from tests.support.pages import LEFT
from tests.support.run_fixtures import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.remembered(*BROWSER)]

SPIKES = tuple(range(2_000, 40_000, 2_000))
AFTER = '{"zero_optimization": {"stage": 3, "stage3_max_live_parameters": 3e10, "stage3_max_reuse_distance": 1e10}}'
OUTPUT = "".join(f"iter {number} of 9000 * train={number / 10}\n" for number in range(9000)).replace(
    "iter 10 ", "\x1b[31mRuntimeError\x1b[0m: here\niter 10 ", 1
)
OUTPUT += f"saved {'a few words ' * 40}\n"
AT_END = "(log) => log.scrollTop > 0 && log.scrollTop + log.clientHeight >= log.scrollHeight - 4"
# A chart's trace as plotly has it; its data may be a typed array.
TRACE = """([title, name]) => {
  const plot = document.querySelector(`[data-chart="${title}"] .js-plotly-plot`);
  const found = plot?.data.filter((trace) => trace.name === name).pop();
  return found ? { x: [...found.x], y: [...found.y], count: plot.data.length } : null;
}"""
AFTER_ODD = """() => document.querySelector('[data-chart="Loss"] .js-plotly-plot').data
  .filter(({ mode, marker }) => mode === "markers" && marker.symbol === "circle").map(({ x }) => [...x])"""
# A browser that shows nothing, and tells what it was asked to show.
NOTIFICATIONS = """window.told = []; window.Notification = class {
  static permission = "default";
  static requestPermission() { this.permission = "granted"; return Promise.resolve("granted"); }
  constructor(title, { body }) { window.told.push([title, body]); }
};"""
MARKS = """() => document.querySelector('[data-chart="Loss"] .js-plotly-plot').data
  .flatMap((one) => one.yaxis === "y3" ? one.text : [])"""
RANGES = """() => [...document.querySelectorAll(".js-plotly-plot")].filter((plot) => plot.offsetWidth)
  .map((plot) => plot._fullLayout.xaxis.range.map((value) => Math.round(value)))"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An app on four runs; their ids."""
    folder = tmp_path_factory.mktemp("runs")
    ids = {
        "long": make_run(folder, Made("long", 40_000, SPIKES, nan_at=(24_001, 24_002))),
        "printed": make_run(folder, Made("printed", 300, output=OUTPUT)),
        "before": make_run(folder, Made("before", 300, events={150: "Saving <b>model</b> checkpoint"})),
        "after": make_run(folder, Made("after", 300, config=AFTER, gpu_gib=30.0)),
    }
    with running_app(folder) as app:
        yield app, ids


@contextmanager
def opened(browser, app, query, script=""):
    with app.sign_in(browser.new_context(viewport={"width": 1280, "height": 900})) as context:
        context.add_init_script(f"{LEFT}\n{script}")
        page = context.new_page()
        problems = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.goto(f"{app.url}?{query}")
        yield page
        assert problems == []


def ranges(page):
    """Those of the charts that are seen, each once."""
    return {tuple(each) for each in page.evaluate(RANGES)}


def trace(page, title, name):
    wait_until(lambda: page.evaluate(TRACE, [title, name]))
    return page.evaluate(TRACE, [title, name])


def test_no_spike_of_a_long_run_is_lost_and_a_zoom_shows_every_step(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['long']}") as page:
        loss = trace(page, "Loss", "train")
        assert {step for step, value in zip(loss["x"], loss["y"], strict=True) if value and value > 3} == set(SPIKES)
        assert len(loss["x"]) <= 6000
        odd = trace(page, "Loss", "NaN")
        assert odd["x"] == [24_001]
        assert page.evaluate(AFTER_ODD) == [[24_002]]  # in a row with it: fainter, and not named
        expect(page.locator(".ds-facts")).to_contain_text("40000 / 40000")

        page.evaluate("""() => Plotly.relayout(document.querySelector('[data-chart="Loss"] .js-plotly-plot'),
            { "xaxis.range[0]": 23990, "xaxis.range[1]": 24100 })""")
        wait_until(lambda: {24_000, 24_003, 24_099} <= set(trace(page, "Loss", "train")["x"]))
        wait_until(lambda: ranges(page) == {(23_990, 24_100)})  # of every chart
        near = trace(page, "Loss", "train")
        assert near["y"][near["x"].index(24_001)] is None  # a gap, where NaN was logged
        page.get_by_role("button", name="Show all").click()
        wait_until(lambda: ranges(page) - {(23_990, 24_100)})
        expect(page.get_by_role("button", name="Show all")).to_be_hidden()


# Cheaper: tests/js/metrics/traces.test.js (by time a point is at its time…; smoothing starts…), axis.test.js; the
# page's part: smoothing, log scale, Epoch and what is kept in test_browser_layout.py, Time in test_browser_charts.py.
@pytest.mark.complete
def test_axis_scale_and_smoothing(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['before']}") as page:
        assert trace(page, "Loss", "train")["x"][:3] == [1, 2, 3]
        memory = trace(page, "GPU memory", "GPU 0")
        assert memory["x"][-1] == pytest.approx(300, abs=1)  # on the axis of the steps
        page.get_by_role("button", name="Time").click()
        wait_until(lambda: trace(page, "Loss", "train")["x"][0] == pytest.approx(20.4))
        assert trace(page, "Host memory", "this run")["x"][0] == pytest.approx(20.4)
        page.get_by_role("button", name="Epoch").click()
        wait_until(lambda: trace(page, "Loss", "train")["x"][-1] == pytest.approx(3))

        raw = trace(page, "Loss", "train")
        page.get_by_label("Log scale: Loss").click()
        wait_until(
            lambda: (
                page.evaluate("""() => document.querySelector('[data-chart="Loss"] .js-plotly-plot')
            ._fullLayout.yaxis.type""")
                == "log"
            )
        )
        page.get_by_label("Smoothing").fill("0.9")
        wait_until(lambda: trace(page, "Loss", "train")["count"] > raw["count"])
        smooth = trace(page, "Loss", "train")
        assert max(abs(b - a) for a, b in zip(smooth["y"], smooth["y"][1:], strict=False)) < max(
            abs(b - a) for a, b in zip(raw["y"], raw["y"][1:], strict=False)
        )
        # How one looks at charts is kept for the next run that is opened.
        page.goto(f"{app.url}?run={ids['after']}")
        expect(page.get_by_label("Smoothing")).to_have_value("0.9", timeout=30_000)


def test_the_log_is_searched_opened_anywhere_and_followed_again(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['printed']}") as page:
        log = page.locator(".ds-run .ds-log").first
        expect(log).to_contain_text("iter 8999 of 9000")
        page.get_by_label("Search the whole output").fill("ITER 777 of")
        match = page.locator(".ds-match")
        expect(match.locator(".ds-hit")).to_have_text("iter 777 of")  # in the line as it was printed
        number = int(match.locator(".ds-line-number").inner_text())
        printed = app.get(f"dsgui/runs/{ids['printed']}/search?words=iter+776+of").read()
        assert json.loads(printed)["matches"][0]["number"] == number - 1
        match.click()
        expect(log.locator("mark")).to_have_text("iter 777 of 9000 * train=77.7")
        expect(log.locator("mark .ds-hit")).to_have_text("iter 777 of")
        expect(log).not_to_contain_text("iter 8999 of")
        page.get_by_role("button", name="First error").click()
        expect(log.locator("mark")).to_have_text("RuntimeError: here")
        expect(log.locator("mark .ds-red")).to_have_text("RuntimeError")
        page.get_by_label("Search the whole output").fill("no such words")
        expect(page.get_by_text("No matching lines in the stored output.")).to_be_visible()
        page.get_by_role("button", name="Jump to end").click()  # it has ended
        expect(log).to_contain_text("iter 8999 of 9000")
        page.set_viewport_size({"width": 390, "height": 700})  # narrower, the lines are more
        page.wait_for_function(AT_END, arg=log.element_handle())


def test_what_was_found_for_other_words_is_gone_at_once(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['printed']}") as page:
        search, said, held = page.get_by_label("Search the whole output"), page.locator(".ds-log-view .ds-remark"), []
        search.fill("iter 777 of")
        expect(said).to_have_text("1 matching line.")
        page.route("**/search?*", lambda route: held.append(route))
        search.fill("no such words")
        expect(said).to_have_text("Searching…")
        expect(page.locator(".ds-match")).to_have_count(0)
        wait_until(lambda: page.evaluate("true") and held)  # evaluating lets the route be told
        held[0].continue_()
        expect(said).to_have_text("No matching lines in the stored output.")


def test_two_runs_are_compared_in_three_clicks(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['printed']}") as page:
        page.get_by_label("Compare before with others").check()
        expect(page.locator("#compare-runs")).to_be_disabled()
        page.get_by_label("Compare after with others").check()
        page.locator("#compare-runs").click()
        table = page.locator(".ds-compare .ds-table").first
        expect(table).to_contain_text("GPU memory of this run, peak")
        told = {
            " ".join(text.split()[:2]) for text in table.locator("td").all_inner_texts()
        }  # one has % of the other, too
        assert {"12.00 GiB", "30.00 GiB"} <= told
        expect(page.locator(".ds-answer")).to_contain_text("stage3_max_live_parameters went from 1e9 to 3e10")
        expect(page.locator(".ds-compare .ds-table", has_text="stage3_max_reuse_distance").first).to_be_visible()
        wait_until(
            lambda: (
                page.evaluate("""() => document.querySelector('[data-chart="Loss"] .js-plotly-plot')
            ?.data.filter((one) => one.name === "train" && one.x.length > 1).length""")  # beside the legend's sign
                == 2
            )
        )
        wait_until(lambda: len(ranges(page)) == 1)  # of every chart
        address = page.url
        assert "compare=" in address
        page.goto(address)
        expect(page.locator(".ds-answer")).to_be_visible(timeout=30_000)
        for name in ("before", "after"):
            expect(page.get_by_label(f"Compare {name} with others")).to_be_checked()
        expect(page.locator("#compare-runs")).to_be_disabled()  # these are compared already
        expect(page.locator("#archive-runs")).to_be_hidden()  # the table of all runs has it
        page.get_by_role("button", name="before", exact=True).click()
        expect(page.locator(".ds-run-title")).to_have_text("before")
        expect(page.locator("#compare-runs")).to_be_enabled()


def test_a_pattern_is_seen_to_match_and_its_curve_appears(browser, made):
    app, ids = made
    with opened(browser, app, f"run={ids['printed']}") as page:
        page.get_by_text("Curves and their sources").click()
        table = page.locator(".ds-sources .ds-table")
        expect(table.locator("tr", has_text="grad_norm")).to_contain_text("output")
        page.fill("#pattern", "iter {step} of 9000")
        expect(page.locator(".ds-sources [role=status]")).to_contain_text("Pattern")
        expect(page.locator("#add-pattern")).to_be_disabled()
        page.fill("#pattern", "iter {step} of {total} {*} train={quality}")
        expect(page.get_by_label("What the pattern finds")).to_contain_text("→ step 6968 · quality 696.8")
        page.click("#add-pattern")
        wait_until(lambda: trace(page, "quality", "quality")["x"][-1] == 8999)  # read anew, piece by piece
        found = trace(page, "quality", "quality")
        assert (found["x"][0], found["y"][0], found["x"][-1], found["y"][-1]) == (0, 0, 8999, 899.9)
        expect(table.locator("tr", has_text="quality")).to_contain_text("pattern")


def test_a_chart_is_saved_zoomed_by_the_keyboard_and_fills_the_screen(browser, made, tmp_path: Path):
    app, ids = made
    with opened(browser, app, f"run={ids['before']}") as page:
        trace(page, "Loss", "train")
        chart = page.locator('[data-chart="Loss"]')
        assert page.evaluate(MARKS) == ["checkpoint: Saving ‹b›model‹/b› checkpoint"]  # no markup

        def act(code):
            chart.get_by_label("More actions: Loss").click()
            chart.locator(f'[data-act="{code}"]').click()

        for kind, begins in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
            with page.expect_download() as download:
                act(f"save_{kind.lower()}")
            download.value.save_as(tmp_path / kind)
            assert (tmp_path / kind).read_bytes().startswith(begins)
        # On the page the chart's title says what its axis does.
        expect(chart.locator(".ytitle")).to_have_count(0)
        expect(page.locator('[data-chart="GPU memory"] .ytitle')).to_have_text("GiB")
        assert re.search(r'class="ytitle"[^>]*>loss<', (tmp_path / "SVG").read_text("utf-8"))
        with page.expect_download() as download:
            act("save_csv")
        download.value.save_as(tmp_path / "csv")
        rows = (tmp_path / "csv").read_text().splitlines()
        assert len(rows) == 1 + 300 + 5
        assert {row.split(",")[7] for row in rows[1:]} == {"loss", "eval_loss"}
        chart.focus()
        with page.expect_download():
            page.keyboard.press("p")
        page.keyboard.press("+")
        wait_until(lambda: len(ranges(page)) == 1 and min(ranges(page))[0] > 60)
        ((low, high),) = ranges(page)  # of every chart
        assert 60 < low < 100 < 200 < high < 250
        page.keyboard.press("ArrowRight")
        wait_until(lambda: min(ranges(page))[0] > low + 20)
        page.keyboard.press("0")
        expect(page.get_by_role("button", name="Show all")).to_be_hidden()
        act("full_screen")
        wait_until(lambda: page.evaluate("document.fullscreenElement?.dataset.chart") == "Loss")
        wait_until(lambda: chart.locator(".js-plotly-plot").bounding_box()["height"] > 600)


# Cheaper: a wide page, test_axe_finds_nothing_wrong_on_any_page; a dark one has the same sizes (styles/design.css).
@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.complete)])
@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.complete)])
def test_nothing_is_wider_than_the_screen(browser, made, width, theme):
    app, ids = made
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": theme}
    context = app.sign_in(browser.new_context(**options))
    page = context.new_page()
    for query in (f"run={ids['before']}", f"compare={ids['before']},{ids['after']}"):
        page.goto(f"{app.url}?{query}&__theme={theme}")
        trace(page, "Loss", "train")
        page.evaluate("for (const one of document.querySelectorAll('.ds-run details')) one.open = true")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_what_is_prepared_is_no_step_and_an_alert_is_seen_while_the_run_goes_on(browser, app_at_once, tmp_path: Path):
    script = tmp_path / "trains.py"
    script.write_text(
        dedent("""
            import pathlib, sys, time
            def wait_for(name):
                while not (pathlib.Path(__file__).parent / name).exists():
                    time.sleep(0.1)
            bar = "Running tokenizer on train dataset: {} [00:01<00:29, 3900.00 examples/s]"
            print(bar.format("  3%|3         | 4000/120000"), end="\\r", file=sys.stderr, flush=True)
            wait_for("prepared")
            print(bar.format("100%|##########| 120000/120000"), flush=True)
            for step in range(1, 4):
                print(f"step={step} loss={'nan' if step == 3 else step}", flush=True)
            wait_for("infinite")
            print("step=4 loss=nan grad_norm=nan", flush=True)
            time.sleep(60)
        """),
        "utf-8",
    )
    with opened(browser, app_at_once, "", NOTIFICATIONS) as page:
        start_script(page, script, script.read_text("utf-8"))
        said = "okenizing 4,000 / 120,000"
        expect(page.locator(".ds-reason").first).to_contain_text(f"{said}. Training has not started.", timeout=60_000)
        expect(page.locator(".ds-run-row").first).to_contain_text(f"t{said}")
        expect(page.locator(".ds-why")).to_have_text("Drawn by time until training values are logged.")
        expect(page.locator('[data-chart="Host memory"] .xtitle')).to_have_text("time since start (mm:ss)")
        expect(page.locator(".ds-facts dt")).to_have_text(["Elapsed"])  # a figure comes with its value
        expect(page.locator(".ds-slow")).to_be_hidden()
        (tmp_path / "prepared").touch()
        expect(page.locator(".ds-alerts")).to_have_text("loss is NaN. (step 3)", timeout=60_000)
        page.get_by_role("button", name="Notify me").click()
        expect(page.get_by_role("button", name="Notify me")).to_be_hidden()
        page.get_by_role("tab", name="1 · Configure").click()  # and the page that follows the run is not seen
        (tmp_path / "infinite").touch()
        wait_until(lambda: page.evaluate("window.told") == [["dsgui: trains", "grad_norm is NaN."]])
        page.get_by_role("tab", name="3 · Runs").click()
        stop_run(page)
        expect(page.locator(".ds-run-head .ds-state")).to_have_text("stopped", timeout=60_000)
        run, *_ = json.load(app_at_once.get("dsgui/runs"))["rows"]
        assert (run["step"], run["loss"], run["doing"]) == (4, "NaN", "")
