"""The Runs page in Chromium: how runs differ, what stopping one loses, the table of all runs, and their clones."""

import json
import re

import pytest
from playwright.sync_api import expect

from dsgui.core.diagnosis.diagnosis import Diagnosis
from dsgui.core.launch.state import RunState
from dsgui.core.runs.label import Label
from dsgui.core.texts.saying import said
from dsgui.shell.runs.store import Store
from tests.browser.running.test_browser_monitor import opened
from tests.support.app_server import running_app
from tests.support.made_runs import Made, make_run
from tests.support.run_fixtures import wait_until

pytestmark = pytest.mark.browser

NAMED = "Qwen2.5-7B <b>ZeRO3</b> Offload2"  # 32 characters, which a window of 1280 pixels has room for

LONG = "llama-3-8b-instruct-lora-r64-alpha128-zero3-offload-cpu-seed-42-a-name-that-never-ends"
# How many ways the columns of the comparison's tables stand: one.
COLUMNS = """() => {
  const left = (node) => node.getBoundingClientRect().x;
  const all = [...document.querySelectorAll('.ds-compare .ds-differences table')];
  const tables = all.filter((one) => one.checkVisibility());
  const ways = tables.map((one) => [...one.rows[0].cells].slice(1).map((cell) => Math.round(left(cell))).join());
  const key = [...document.querySelectorAll('.ds-compare-key > li')].map((one) => Math.round(left(one))).join();
  return new Set([...ways, key]).size;
}"""


# How far a text ends before its cell's edge; and whether two parts of the page are apart.
ENDS = """(cell, text) => { const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  while (!walk.nextNode().textContent.includes(text));
  const range = document.createRange();
  range.setStart(walk.currentNode, 0);
  range.setEnd(walk.currentNode, walk.currentNode.textContent.indexOf(text) + text.length);
  return cell.getBoundingClientRect().right - range.getBoundingClientRect().right; }"""
COVERED = """(editor) => { const { left, right, top, bottom } = editor.getBoundingClientRect();
  return [...document.querySelectorAll(".ds-run-head .ds-state, .ds-run-head .ds-pencil, .ds-run-label button")]
    .filter((one) => !editor.parentElement.parentElement.contains(one))
    .filter((one) => { const box = one.getBoundingClientRect();
      return box.left < right && box.right > left && box.top < bottom - 1 && box.bottom > top + 1; })
    .map((one) => one.textContent); }"""


# The box of a text and its letters; what of an editor stands on other texts of its row, or beyond it.
LETTERS = """(node) => { const { fontSize, fontWeight, fontFamily } = getComputedStyle(node);
  return [fontSize, fontWeight, fontFamily]; }"""
INSET = """(input) => { const { paddingLeft, borderLeftWidth } = getComputedStyle(input);
  return parseFloat(paddingLeft) + parseFloat(borderLeftWidth); }"""
STANDS_ON = """(editor, line) => { const own = editor.getBoundingClientRect(), found = [];
  const entry = editor.closest("[data-run]");
  const parts = entry.querySelectorAll(".ds-cell > *, .ds-cell:not(:has(*)), .ds-run-row > *, input, .ds-row-menu");
  for (const one of parts) {
    if (one.contains(editor) || editor.parentElement.contains(one) || one.querySelector(".ds-run-name")) continue;
    if (one.matches(line) || one.matches(".ds-pencil")) continue;
    const box = one.getBoundingClientRect(), [across, down] = [
      Math.min(box.right, own.right) - Math.max(box.left, own.left),
      Math.min(box.bottom, own.bottom) - Math.max(box.top, own.top)];
    const most = line === ".ds-run-name" ? 1 : 3;
    if (across > 0 && down > most) found.push(one.className || one.dataset.column || one.tagName);
  }
  return found; }"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An app on two runs that differ by a learning rate on the command line and one of another config; their ids."""
    folder = tmp_path_factory.mktemp("runs")
    ids = {
        "fast": make_run(folder, Made("t5", 300, arguments="--learning_rate 3e-3 --bf16", gpu_gib=30.0)),
        "slow": make_run(folder, Made("t5", 300, arguments="--learning_rate=1e-3 --bf16")),
        "other": make_run(folder, Made("other", 20, config='{"zero_optimization": {"stage": 2}}')),
        "long": make_run(folder, Made(LONG, 300)),
    }
    with running_app(folder) as app:
        yield app, ids, folder


def part(page, name):
    """The rows of a part of the settings that differs."""
    rows = page.locator(
        ".ds-differences > .ds-scroll > table tbody", has=page.get_by_role("heading", name=name, exact=True)
    )
    return [row.inner_text().split("\t") for row in rows.locator("tr:has(td)").all()]


def test_a_comparison_finds_what_differs_on_the_command_line(browser, made):
    app, ids, _ = made
    with opened(browser, app, f"compare={ids['fast']},{ids['slow']}") as page:
        expect(page.get_by_role("heading", name="Script arguments")).to_have_count(1)
        assert part(page, "Script arguments") == [["--learning_rate", "3e-3", "1e-3"]]
        # What came of that is said first, of the run that is not the baseline.
        result = page.locator(".ds-outcome")
        fast, slow = (f"t5 ({ids[one][-4:]})" for one in ("fast", "slow"))
        what = "reaches the same final eval loss (1.000), takes about as long and needs 18.00 GiB"
        expect(result).to_have_text(f"Compared to “{fast}”, “{slow}” {what} less GPU memory.")
        assert result.bounding_box()["y"] < page.locator(".ds-compare-key").bounding_box()["y"]
        page.get_by_role("button", name="use as baseline").click()
        expect(result).to_have_text(f"Compared to “{slow}”, “{fast}” {what} more GPU memory.")
        page.get_by_role("button", name="use as baseline").click()
        expect(page.locator(".ds-differences")).to_contain_text(
            "Not recorded for any of these runs, so not compared: Code"
        )
        expect(page.locator(".ds-differences")).not_to_contain_text("No differences")
        same = page.locator(".ds-same")
        expect(same.get_by_text("zero_optimization.stage")).to_be_hidden()
        same.locator("summary").click()
        expect(same.get_by_text("zero_optimization.stage")).to_be_visible()
        expect(same.locator("summary")).to_have_text(re.compile(r"^\d+ the same in all runs$"))
        peak = ["GPU memory of this run, peak", "30.00 GiB", "12.00 GiB −60 % better"]
        losses = "Final loss 0.3705 · Best loss (lowest) 0.3529 · Final eval loss 1.000"
        equal = ["Same in all runs", f"{losses} · Speed 2.50 steps/s · Duration 2m 20s"]
        assert part(page, "Results") == [peak, equal]  # what tells them apart, and the rest in a row
        page.get_by_role("button", name="All 3 other figures").click()  # that nearly say the same
        assert part(page, "Results") == [
            peak,
            ["GPU memory of this run, mean", "30.00 GiB", "12.00 GiB −60 % better"],
            ["Whole GPU, all processes, peak", "31.00 GiB", "13.00 GiB −58 % better"],
            ["Whole GPU, all processes, mean", "31.00 GiB", "13.00 GiB −58 % better"],
            equal,
        ]
        rows = (page.get_by_role("row", name=name) for name in ("Same in all runs", "GPU memory of this run, peak"))
        colours = [one.evaluate("one => getComputedStyle(one).color") for one in rows]
        assert colours[0] != colours[1]  # what is the same is told, and steps back
        expect(same.get_by_role("row", name="Final loss")).to_have_count(0)
        memory = page.locator(".ds-compare .ds-table tr", has_text="GPU memory of this run, peak").locator("td")
        expect(memory).to_have_text(["30.00 GiB", "12.00 GiB −60 % better"])  # as the list has it
        page.get_by_role("button", name="use as baseline").click()
        expect(memory).to_have_text(["30.00 GiB +150 % worse", "12.00 GiB"])
        expect(page.locator('[data-chart="GPU memory"] .legendtext')).to_have_text(
            ["GPU 0, this run", "GPU 1, this run"]
        )
        assert page.evaluate(COLUMNS) == 1
        page.get_by_role("button", name="To the charts").click()
        expect(page.get_by_role("button", name="Step", exact=True)).to_be_focused()
        expect(page.locator('[data-chart="Loss"] .nsewdrag').first).to_be_in_viewport(ratio=1)


def test_charts_of_runs_that_are_one_say_so_and_what_a_run_took_that_ended_early_is_no_saving(browser, tmp_path):
    early = Made("early", 30, gpu_gib=40, state=RunState.FAILED)
    ids = [make_run(tmp_path, made) for made in (Made("one", 60), Made("two", 60), early)]
    with running_app(tmp_path) as app:
        with opened(browser, app, f"compare={ids[0]},{ids[1]}") as page:
            rate = page.locator('[data-chart="Learning rate"] .ds-chart-source')
            expect(rate).to_have_text("same in 2 runs")
            page.set_viewport_size({"width": 390, "height": 844})
            expect(rate).to_be_visible()
        with opened(browser, app, f"compare={ids[0]},{ids[2]}") as page:
            expect(page.locator('[data-chart="Learning rate"] .ds-chart-source')).to_have_text("from output")
            told = {name: values for name, *values in part(page, "Results")}
            assert [told[one][1] for one in ("Steps", "Duration")] == ["30", "32s"]
            assert "% worse" in told["GPU memory of this run, peak"][1]


def test_of_runs_with_the_same_settings_it_is_said_where_their_results_are_furthest_apart(browser, tmp_path):
    ids = [make_run(tmp_path, made) for made in (Made("one", 60), Made("two", 60), Made("spike", 60, spikes=(40,)))]
    with running_app(tmp_path) as app:
        with opened(browser, app, f"compare={ids[0]},{ids[1]}") as page:
            told = page.locator(".ds-alike-told")
            expect(told).to_have_text(
                [
                    "Settings are the same: script and model, ds_config.json, and launch settings.",
                    "The results are the same too.",
                ]
            )
            [[name, values]] = part(page, "Results")
            assert name == "Same in all runs"
            page.set_viewport_size({"width": 390, "height": 844})  # where the table is a press away
            expect(told.first).to_be_in_viewport()
            page.get_by_role("button", name="Settings and results").click()
            page.set_viewport_size({"width": 1280, "height": 900})
            assert values.count(" · ") == 5
        with opened(browser, app, f"compare={ids[0]},{ids[2]}") as page:
            expect(page.locator(".ds-alike-told").last).to_have_text(
                re.compile(r"^The results differ, most in loss at step 40: 0\.\d+ \(one\), 4\.\d+ \(spike\)\.$")
            )
            told = {name: values for name, *values in part(page, "Results")}
            assert told["Loss spike"][0] == "none"
            assert re.fullmatch(r"at step 40: 4\.\d+", told["Loss spike"][1])


def test_no_ratio_is_told_of_other_scripts_but_of_the_memory_they_take(browser, tmp_path):
    ids = [make_run(tmp_path, Made("one", 60)), make_run(tmp_path, Made("other", 20, gpu_gib=3.0))]
    directory = Store(tmp_path).open(ids[1])
    plan = json.loads(directory.plan_file.read_text())
    script = "/srv/a_folder_of_many_letters/another_folder_of_many_letters/" + "pretraining_of_a_model.py"
    directory.plan_file.write_text(json.dumps(plan | {"script": script}))
    with running_app(tmp_path) as app, opened(browser, app, f"compare={','.join(ids)}") as page:
        unlike = "Different scripts: losses, scores and speeds aren’t comparable."
        told = "Least GPU memory: “other”, 3.00 GiB"
        expect(page.locator(".ds-outcome")).to_have_text(told + unlike)
        expect(page.locator(".ds-differences").get_by_text(unlike)).to_have_count(0)  # it is said once
        expect(page.locator(".ds-board .ds-chart").first).to_contain_text(unlike)  # the loss's, which is seen alone
        told = {name: (one, other) for name, one, other in part(page, "Results")}
        assert told["Steps"] == ("60", "20")
        away = {name for name, (_, other) in told.items() if "%" in other}
        assert away == {"GPU memory of this run, peak"}
        why = page.locator(".ds-differences tr", has_text="Final loss").locator("td span")
        expect(why.last).to_have_attribute("title", "Different scripts: losses, scores and speeds aren’t comparable.")
        assert told["GPU memory of this run, peak"][1].endswith(" %")
        # A path breaks after a slash, and nowhere else.
        shown = page.get_by_role("row", name="Script").locator("td").last.locator(".ds-piece")
        assert shown.all_inner_texts()[-2:] == ["another_folder_of_many_letters/", "pretraining_of_a_model.py"]
        tops = [box["y"] for box in (one.bounding_box() for one in shown.all())]
        assert len(set(tops)) > 1
        assert {round(one.bounding_box()["height"]) for one in shown.all()} == {
            round(shown.first.bounding_box()["height"])
        }


# Every answer takes a second.
LATE = """() => {
  const send = window.fetch;
  window.fetch = async (...asked) => {
    const answer = await send(...asked);
    await new Promise((done) => setTimeout(done, 1000));
    return answer;
  };
}"""
# What can be read or pressed on the page, beside the name, that it covers.
LIES_ON = """(told) => {
  const own = told.getBoundingClientRect();
  const others = [...document.querySelectorAll(`#monitor :is(button, a, dt, dd, .ds-run-when, .ds-state),
    #pages > .tab-wrapper`)];
  return others.filter((one) => !one.closest(".ds-run-title") && one.checkVisibility()).filter((one) => {
    const box = one.getBoundingClientRect();
    return box.left < own.right && own.left < box.right && box.top < own.bottom - 1 && own.top + 1 < box.bottom;
  }).map((one) => one.outerHTML);
}"""
TOO_LONG = "The name has 121 characters; at most 120 are kept."
SAID = "(input) => document.getElementById(input.getAttribute('aria-describedby')).textContent"
# A run that has ended is asked about each five seconds; not so seldom here.
OFTEN = "const slow = setInterval; window.setInterval = (run, ms) => slow(run, Math.min(ms, 100));"


def test_of_many_differences_those_that_tell_most_are_shown_until_all_are_asked_for(browser, tmp_path):
    keys = ", ".join(f'"k{number}": 1' for number in range(20))
    configs = [f'{{{keys}, "zero_optimization": {{"stage": 2}}}}', '{"zero_optimization": {"stage": 3}}', "{}", "none"]
    ids = [
        make_run(tmp_path, Made(f"run {number}", 20, config=config, arguments=f"--lr {number}"))
        for number, config in enumerate(configs)
    ]
    with running_app(tmp_path) as app, opened(browser, app, f"compare={','.join(ids)}", OFTEN) as page:
        whole = page.get_by_role("button", name="All 22 differences")
        expect(whole).to_have_attribute("aria-expanded", "false")
        assert part(page, "Script arguments") == [["--lr", "0", "1", "2", "3"]]
        assert page.locator(".ds-differences thead th").first.bounding_box()["width"] > 220  # room for a key's name
        config = part(page, "ds_config.json")
        assert [key for key, *_ in config] == ["zero_optimization.stage", *(f"k{number}" for number in range(4))]
        # What a run has none of is told once.
        assert config[0][1:] == ["2", "3", "–", "–"]
        assert config[1][1:] == ["1", "not set", "–", "–"]
        notes = page.locator(".ds-differences .ds-remark")
        expect(notes.first).to_have_text("“run 3”: ds_config.json not recorded, so not compared.")
        expect(notes.last).to_have_text("“run 2”: ds_config.json is empty.")
        expect(page.locator('[data-chart="Loss"] .nsewdrag').first).to_be_visible()
        assert page.locator('[data-chart="Loss"]').bounding_box()["y"] < 1.5 * 900
        whole.click()
        expect(page.get_by_role("button", name="Fewer differences")).to_be_focused()
        page.locator(".ds-same summary").click()
        run = Store(tmp_path).open(ids[0])
        run.write_label(run.read_label().changed({"tags": ["told anew"]}))
        expect(page.get_by_label("Group by").locator("option[value=tag]")).to_be_enabled()
        assert len(part(page, "ds_config.json")) == 21
        expect(page.locator(".ds-same")).to_have_attribute("open", "")
        page.get_by_role("button", name="Fewer differences").click()
        assert len(part(page, "ds_config.json")) == 5


def test_runs_of_one_name_are_told_apart_from_the_first_on_and_evaluations_are_among_the_figures(browser, made):
    app, ids, _ = made
    with opened(browser, app, f"compare={ids['fast']},{ids['slow']},{ids['other']}") as page:
        names = page.locator(".ds-compare-key .ds-link")
        expect(names).to_have_text([*(f"t5 ({ids[one][-4:]})" for one in ("fast", "slow")), "other"])
        figures = page.locator(".ds-compare .ds-differences tr")
        # What is equal in all, and what says little, is told when it is asked for.
        expect(figures.filter(has_text="Final loss")).to_be_visible()
        expect(figures.filter(has_text="Final eval loss")).to_be_visible()  # the sentence speaks of it
        expect(figures.filter(has_text="bleu").first).to_be_hidden()
        page.locator(".ds-same summary").click()
        equal = figures.filter(has_text="Same in all runs").locator("td")
        expect(equal).to_have_text(["Final eval loss 1.000 · Speed 2.50 steps/s"])  # once for all three
        expect(figures.filter(has_text="bleu").locator("td")).to_have_text(["30.00", "30.00", "30.00"])
        steps = figures.filter(has=page.get_by_role("rowheader", name="Steps", exact=True)).locator("td")
        expect(steps.last).to_have_text("20 −93 %")
        # Of memory the run's own peak: four rows said nearly the same.
        gpu = re.compile("GPU.*(peak|mean)$")
        rows = page.locator(".ds-differences > .ds-scroll tbody th")
        assert [one for one in rows.all_inner_texts() if gpu.search(one)] == ["GPU memory of this run, peak"]
        page.get_by_role("button", name=re.compile("^All \\d+ other figures$")).click()
        assert len([one for one in rows.all_inner_texts() if gpu.search(one)]) == 4
        page.locator(".ds-figures-all").click()
        page.get_by_role("button", name="use as baseline").last.click()
        expect(steps.first).to_have_text("300 +1,400 %")
        # A difference is read as well as the value it stands beside.
        size = "(node) => [getComputedStyle(node).fontSize, getComputedStyle(node.closest('td')).fontSize]"
        shown, value = steps.first.locator(".ds-share").evaluate(size)
        assert shown == value
        page.set_viewport_size({"width": 390, "height": 800})
        # Between what came of it and the curves there is a press for what differs.
        expect(page.locator('[data-chart="Loss"] .nsewdrag').first).to_be_visible()
        assert page.locator('[data-chart="Loss"]').bounding_box()["y"] < 800
        opener = page.locator(".ds-compare-open")
        expect(opener).to_have_text(re.compile(r"^What differs \(\d+\)$"))
        opener.click()
        expect(opener).to_have_attribute("aria-expanded", "true")
        # On a phone every value is seen below its run's name, which stays in view and names the curves as well.
        table = page.locator(".ds-differences > .ds-scroll")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert table.evaluate("(node) => node.scrollWidth <= node.clientWidth")
        values, names_at = ([one.bounding_box()["x"] for one in all.all()] for all in (steps, names.locator("..")))
        assert all(abs(value - at) < 3 for value, at in zip(values, names_at, strict=True))
        strip = page.locator(".ds-compare-strip")
        page.locator('[data-chart="Loss"]').scroll_into_view_if_needed()
        expect(strip.locator("li")).to_have_text([*(f"t5 ({ids[one][-4:]})" for one in ("fast", "slow")), "other"])
        expect(strip).to_be_in_viewport()
        expect(page.locator('[data-chart="Loss"] .ds-chart-runs')).to_be_hidden()
        assert len({round(one.bounding_box()["y"]) for one in steps.all()}) == 1
        # Each is on one line with how far it is from the baseline's, without the colour that its column has above.
        peak = figures.filter(has=page.get_by_role("rowheader", name="GPU memory of this run, peak")).locator("td")
        for one in peak.all():
            assert one.bounding_box()["height"] < 30
            assert one.evaluate("(node) => getComputedStyle(node, '::before').content") == "none"
        charts, above = page.locator(".ds-board > .ds-charts").first, page.locator(".ds-compare-key")
        edges = [(box["x"], box["x"] + box["width"]) for box in (charts.bounding_box(), above.bounding_box())]
        assert (edges[0][0] - edges[1][0], edges[1][1] - edges[0][1]) == (0, 0)  # as wide as the curves
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        key = page.locator(".ds-compare-key > li")
        fits = "(one) => [one, ...one.children].every((each) => each.scrollWidth <= each.clientWidth)"
        assert page.locator(".ds-compare-key").evaluate(fits)  # nothing of it is out of sight
        long = "(one) => one.append(' of a name that is long')"
        for place in range(key.count()):
            key.nth(place).evaluate(long)
        tops = "(one) => new Set([...one.children].map((each) => each.offsetTop)).size"
        assert page.locator(".ds-compare-key").evaluate(tops) == 1  # side by side, each above its values
        assert page.locator(".ds-compare-key").evaluate(fits)
        key.evaluate_all("(each) => each.forEach((one) => one.lastChild.remove())")
        page.set_viewport_size({"width": 1280, "height": 800})
        expect(names).to_have_text([*(f"t5 ({ids[one][-4:]})" for one in ("fast", "slow")), "other"])
        page.locator('[data-chart="CPU"]').scroll_into_view_if_needed()
        page.mouse.wheel(0, 600)
        expect(strip).to_be_in_viewport()
        expect(key.first).not_to_be_in_viewport()  # it would hide the tops of the charts
        box = strip.bounding_box()
        assert box["y"] == 0
        assert box["height"] <= 32


def test_the_baseline_of_a_comparison_stands_in_its_address_and_back_returns_to_the_one_before(browser, made):
    app, ids, _ = made
    with opened(browser, app, f"compare={ids['fast']},{ids['slow']}") as page:
        pins = page.locator(".ds-compare-key .ds-base")
        expect(pins).to_have_text(["baseline", "use as baseline"])
        assert "baseline" not in page.url
        pins.nth(1).click()
        page.wait_for_url(f"**&baseline={ids['slow']}")
        page.go_back()
        expect(pins).to_have_text(["baseline", "use as baseline"])
        page.go_forward()
        expect(pins).to_have_text(["use as baseline", "baseline"])
        linked = page.url
    with opened(browser, app, linked.split("?")[1]) as page:  # in another browser
        pins = page.locator(".ds-compare-key .ds-base")
        expect(pins).to_have_text(["use as baseline", "baseline"])
        pins.first.click()
        page.wait_for_url(lambda url: "baseline" not in url)


def test_where_a_chart_of_several_runs_is_pointed_at_the_others_show_the_place_alone(browser, made):
    app, ids, _ = made
    with opened(browser, app, f"compare={ids['fast']},{ids['slow']}") as page:
        plot = page.locator('[data-chart="Loss"] .nsewdrag').first
        plot.scroll_into_view_if_needed()
        plot.hover()
        expect(page.locator('[data-chart="Loss"] .ds-tip')).to_be_visible()
        expect(page.locator('[data-chart="GPU memory"] .ds-guide')).to_be_visible()
        expect(page.locator(".ds-tip:visible")).to_have_count(1)


def test_a_table_without_room_leaves_out_columns_unless_they_were_chosen(browser, made):
    app, _, _ = made
    with opened(browser, app, "tab=runs") as page:
        page.set_viewport_size({"width": 800, "height": 800})
        heads, table = page.locator(".ds-heads [data-column]"), page.locator(".ds-run-list")
        expect(heads.filter(has_text="Speed")).to_be_visible()
        expect(heads.filter(has_text="Devices")).to_have_count(0)
        assert {"State", "Duration", "Final loss", "Speed"} <= set(heads.all_inner_texts())
        assert table.evaluate("node => node.scrollWidth - node.clientWidth") == 0
        menu = page.locator("#choose-columns")
        page.click("#choose-columns > summary")  # what is shown is ticked: the first change would have the rest chosen
        expect(menu.get_by_label("Speed")).to_be_checked()
        expect(menu.get_by_label("Devices")).not_to_be_checked()
        expect(menu.locator("label", has_text="Devices")).to_have_text("Devices no room here")
        expect(menu.get_by_text("no room here").filter(visible=True)).to_have_count(4)
        page.set_viewport_size({"width": 1280, "height": 800})
        expect(menu.get_by_label("Devices")).to_be_checked()  # while it is open, too
        expect(menu.get_by_text("no room here").filter(visible=True)).to_have_count(0)
        page.set_viewport_size({"width": 800, "height": 800})
        expect(menu.get_by_label("Devices")).not_to_be_checked()
        page.keyboard.press("Escape")
        expect(table).not_to_have_class(re.compile("ds-goes-on"))
        page.set_viewport_size({"width": 1280, "height": 800})
        expect(heads.filter(has_text="Devices")).to_have_count(1)
        page.click("#choose-columns > summary")
        page.locator("#choose-columns").get_by_label("Note").check()
        page.keyboard.press("Escape")
        page.set_viewport_size({"width": 800, "height": 800})
        expect(heads.filter(has_text="Devices")).to_have_count(1)
        expect(table).to_have_class(re.compile("ds-goes-on"))


def test_the_figures_of_a_comparison_say_which_is_better_and_a_long_name_takes_two_lines(browser, made):
    app, ids, _ = made
    with opened(browser, app, f"compare={ids['fast']},{ids['long']},{ids['other']}") as page:
        loss = page.locator(".ds-compare .ds-table tr", has_text="Final loss").locator("td")
        expect(loss.nth(2)).to_contain_text("−2 % better")
        page.get_by_role("button", name="use as baseline").nth(1).click()
        expect(loss.nth(0)).to_contain_text("+2 % worse")
        # More memory is neither.
        memory = page.locator(".ds-compare .ds-table tr", has_text="GPU memory of this run, peak").locator("td")
        expect(memory.nth(1).locator("[data-verdict]")).to_have_count(0)
        expect(page.get_by_role("heading", name="ds_config.json")).to_be_visible()
        assert page.evaluate(COLUMNS) == 1
        heads = page.locator(".ds-compare-key > li")
        boxes = [heads.nth(place).locator(".ds-run-of").bounding_box() for place in range(3)]
        assert boxes[1]["height"] < 2.6 * boxes[2]["height"]
        assert heads.nth(1).get_by_role("button").first.get_attribute("title") == LONG
        for place in range(3):  # the swatch is beside its name
            swatch, name = (heads.nth(place).locator(part).bounding_box() for part in (".ds-swatch", ".ds-link"))
            assert swatch["x"] < name["x"]
            assert abs(swatch["y"] - name["y"]) < 10


def row(page, run_id):
    return page.locator(f'.ds-run-rows [data-run="{run_id}"]')


def cell(page, run_id, column):
    return row(page, run_id).locator(f'[data-column="{column}"]')


def shown(page):
    return page.locator(".ds-run-rows .ds-run-name").all_inner_texts()


def test_tags_have_a_column_where_a_run_has_one_and_what_became_another_value_comes_first(browser, tmp_path):
    first, same = (make_run(tmp_path, Made(name, 20, arguments="--epochs 1")) for name in ("before", "same"))
    named = "--model_name_or_path t5-small --epochs 1"
    second = make_run(tmp_path, Made("second", 20, arguments=named, config='{"zero_optimization": {"stage": 2}}'))
    damaged = make_run(tmp_path, Made("damaged", 20, arguments=named))
    Store(tmp_path).open(damaged).state_file.write_text("{")
    with running_app(tmp_path) as app, opened(browser, app, "tab=runs") as page:
        differs = cell(page, second, "differs")
        expect(differs.locator("button > span").first).to_have_text("stage 3→2 · +model_name_or_path t5-small")
        assert differs.evaluate(ENDS, "3→2") > 0
        expect(cell(page, same, "differs")).to_have_text("–")
        expect(cell(page, first, "differs")).to_have_text("–")  # with nothing to compare it to
        expect(page.get_by_role("columnheader", name="Tags")).to_have_count(0)
        state = cell(page, damaged, "state")
        expect(state).to_contain_text("damaged")
        assert state.evaluate("one => one.scrollWidth - one.clientWidth") == 0
        run = Store(tmp_path).open(second)
        run.write_label(run.read_label().changed({"tags": ["baseline", "lora"]}))
        expect(page.get_by_role("columnheader", name="Tags")).to_have_count(1)
        expect(cell(page, second, "tags")).to_have_text(re.compile("baseline"))
        chip = cell(page, second, "tags").locator(".ds-tag")
        assert chip.evaluate("one => one.scrollWidth <= one.clientWidth")  # what edits it takes no room
        row(page, second).hover()
        pencil = cell(page, second, "tags").locator(".ds-pencil")
        at, around = pencil.bounding_box(), cell(page, second, "tags").bounding_box()
        assert around["x"] <= at["x"]
        assert at["x"] + at["width"] <= around["x"] + around["width"] + 1


def test_the_table_tells_runs_apart_and_is_sorted_by_any_column(browser, made):
    app, ids, _ = made
    with opened(browser, app, "tab=runs") as page:
        # What changed, and from which run.
        told = cell(page, ids["slow"], "differs").locator("button > span")
        expect(told).to_have_text(["learning_rate 3e-3→1e-3", "vs t5"])
        expect(cell(page, ids["fast"], "gpu_peak")).to_have_text("30.00 GiB")
        differs = cell(page, ids["slow"], "differs")
        assert differs.evaluate(ENDS, "1e-3") > 0
        differs.evaluate("cell => { cell.style.width = '120px'; }")  # it is cut at its end alone
        assert differs.evaluate(ENDS, "learning_rate") > 0
        expect(differs.locator("button")).to_have_attribute("title", re.compile("learning_rate: 3e-3 → 1e-3"))
        differs.locator("button").click()
        told = page.get_by_role("dialog", name="Changed settings")
        expect(told.locator("li")).to_have_text(["Script arguments · --learning_rate: 3e-3 → 1e-3"])
        told.get_by_role("button", name="Compare the two").click()
        expect(page.locator(".ds-run-title")).to_have_text("2 runs compared")
        page.go_back()
        page.get_by_role("columnheader", name="Name").get_by_role("button").click()
        expect(page.get_by_role("columnheader", name="Name")).to_have_attribute("aria-sort", "ascending")
        wait_until(lambda: shown(page) == [LONG, "other", "t5", "t5"])
        page.get_by_role("columnheader", name="Name").get_by_role("button").click()
        wait_until(lambda: shown(page) == ["t5", "t5", "other", LONG])
        page.reload()  # kept for this user
        wait_until(lambda: shown(page) == ["t5", "t5", "other", LONG])
        page.select_option("#filter-state", "failed")
        expect(page.locator(".ds-run-count")).to_have_text("No run matches “failed”")
        page.get_by_role("button", name=re.compile("^Show all")).click()
        expect(page.locator("#filter-state")).to_have_value("")
        wait_until(lambda: shown(page) == ["t5", "t5", "other", LONG])
        page.locator("#choose-columns summary").click()
        menu, table = page.locator("#choose-columns > div").bounding_box(), page.locator(".ds-run-list").bounding_box()
        assert menu["y"] < table["y"] < menu["y"] + menu["height"]  # over the table, which stays where it is
        page.get_by_label("Changed settings").uncheck()
        expect(page.get_by_role("columnheader", name="Changed settings")).to_have_count(0)
        page.get_by_label("Host peak").check()
        expect(cell(page, ids["fast"], "host_peak")).to_have_text("19.00 GiB")


def test_a_key_an_argument_or_a_metric_is_a_column_that_is_sorted_by_and_kept(browser, tmp_path):
    stages = {"three": 3, "two": 2, "one": 1}
    ids = {
        name: make_run(tmp_path, Made(name, 20, config=f'{{"zero_optimization": {{"stage": {stage}}}}}'))
        for name, stage in stages.items()
    }
    with running_app(tmp_path) as app, opened(browser, app, "tab=runs") as page:
        page.click("#choose-columns > summary")
        menu = page.locator("#choose-columns")
        stage, bleu = (menu.get_by_label(name, exact=True) for name in ("zero_optimization.stage", "eval_bleu"))
        expect(menu.get_by_role("group", name="Config")).to_be_visible()
        expect(bleu).to_be_hidden()  # the runs are the same there
        stage.check()
        menu.get_by_label("Search columns").fill("bleu")
        expect(menu.get_by_label("Speed")).to_be_hidden()
        bleu.check()
        page.keyboard.press("Escape")
        expect(cell(page, ids["two"], "config:zero_optimization.stage")).to_have_text("2")
        expect(cell(page, ids["two"], "metrics:eval_bleu")).to_have_text("30")
        page.get_by_role("columnheader", name="stage").get_by_role("button").click()
        wait_until(lambda: shown(page) == ["one", "two", "three"])
        page.reload()
        expect(cell(page, ids["two"], "metrics:eval_bleu")).to_have_text("30")
        wait_until(lambda: shown(page) == ["one", "two", "three"])


def test_a_pinned_baseline_is_what_others_are_measured_by(browser, made):
    app, ids, _ = made
    with opened(browser, app, "tab=runs") as page:
        row(page, ids["slow"]).locator(".ds-run-choose").check()
        page.click("#pin-run")
        expect(page.locator(".ds-pinned .ds-run-name")).to_have_text("t5")
        expect(cell(page, ids["fast"], "gpu_peak")).to_have_text("30.00 GiB +150 %")
        page.get_by_role("button", name="Unpin the baseline").click()
        expect(page.locator(".ds-pinned")).to_have_count(0)
        expect(cell(page, ids["fast"], "gpu_peak")).to_have_text("30.00 GiB")


def test_a_run_is_renamed_tagged_and_noted_on_its_page(browser, made):
    app, ids, folder = made
    label = Store(folder).open(ids["slow"]).read_label
    with opened(browser, app, f"run={ids['slow']}") as page:
        expect(page.get_by_role("tab", selected=True)).to_have_text("3 · Runs")
        expect(page.locator(".ds-run-title")).not_to_be_empty()
        # A page that opens by itself, as the address has it, takes no focus: nobody has pressed anything.
        for place, name in ((3, "4 · Machine"), (2, "3 · Runs")):
            page.evaluate(f"document.querySelectorAll('#pages > .tab-wrapper [role=tab]')[{place}].click()")
            expect(page.get_by_role("tab", selected=True)).to_have_text(name)
            page.wait_for_timeout(500)  # it would come soon
            assert page.evaluate("document.activeElement === document.body")
        page.get_by_role("button", name="Add tags").click()
        assert page.locator(".ds-edit").evaluate(COVERED) == []
        page.keyboard.insert_text("lora, , good, lora")
        page.keyboard.press("Enter")
        expect(page.locator(".ds-run-tags .ds-tag")).to_have_text(["lora", "good"])
        expect(page.get_by_role("button", name="Edit tags")).to_be_focused()
        page.get_by_role("button", name="Add a note").click()
        page.keyboard.insert_text("the <b>second</b> one")
        page.locator(".ds-run-title").click()  # elsewhere: kept
        expect(page.locator(".ds-run-note")).to_contain_text("the <b>second</b> one")
        page.locator(".ds-run-head").get_by_role("button", name="Rename").click()
        page.wait_for_timeout(1200)  # the run is asked for meanwhile: what is typed stays
        page.keyboard.insert_text("renamed")
        page.keyboard.press("Enter")
        expect(page.locator(".ds-run-title")).to_have_text("renamed")
        wait_until(lambda: label().note == "the <b>second</b> one" and label().name == "renamed")
        assert label().tags == ("lora", "good")
        page.get_by_role("button", name="Edit tags").click()
        page.keyboard.insert_text("a slip")
        page.keyboard.press("Escape")  # leaves it
        expect(page.locator(".ds-run-tags .ds-tag")).to_have_text(["lora", "good"])
        page.reload()
        expect(page.locator(".ds-run-title")).to_have_text("renamed")
        expect(page.locator(".ds-run-tags .ds-tag")).to_have_text(["lora", "good"])
    Store(folder).open(ids["slow"]).write_label(Label())


@pytest.mark.parametrize("width", [1280, 390])
def test_a_name_is_edited_over_itself_in_its_own_letters_and_nothing_else_is_covered_or_moves(browser, made, width):
    app, ids, _ = made
    with opened(browser, app, "tab=runs") as page:
        page.set_viewport_size({"width": width, "height": 844})
        run = row(page, ids["other"])
        name = run.locator(".ds-run-name")
        expect(name).to_have_text("other")
        letters, before = name.evaluate(LETTERS), name.bounding_box()
        for what in ("Rename", "Edit note") if width == 390 else ("Rename",):
            run.hover()
            run.locator(".ds-row-menu").click()
            page.get_by_role("menuitem", name=what).click()
            editor = page.locator(".ds-edit")
            expect(editor).to_be_focused()
            line = ".ds-run-name" if what == "Rename" else ".ds-run-more"
            assert editor.evaluate(STANDS_ON, line) == []
            assert name.bounding_box() == before
            if what == "Rename":
                box = editor.bounding_box()
                assert editor.evaluate(LETTERS) == letters
                assert abs(box["x"] + editor.evaluate(INSET) - before["x"]) < 0.6
                assert abs(box["y"] + box["height"] / 2 - before["y"] - before["height"] / 2) < 0.6
                assert box["width"] > 220
            page.keyboard.insert_text("not this")
            page.keyboard.press("Escape")
            expect(editor).to_have_count(0)
            expect(name).to_have_text("other")


def test_a_tag_that_is_too_long_is_refused_where_it_is_written(browser, made):
    app, ids, folder = made
    with opened(browser, app, f"run={ids['slow']}") as page:
        page.get_by_role("button", name="Add tags").click()
        editor = page.get_by_role("textbox", name="Edit tags")
        page.keyboard.insert_text("x" * 41)
        page.keyboard.press("Enter")
        expect(editor).to_be_focused()
        told = editor.evaluate(SAID)
        assert told == "A tag has 41 characters; at most 40 are kept."
        page.keyboard.press("Backspace")
        page.keyboard.press("Enter")
        expect(page.locator(".ds-run-tags .ds-tag")).to_have_text("x" * 40)
        page.get_by_role("button", name="Edit tags").click()
        page.keyboard.insert_text(",".join(map(str, range(21))))
        page.locator(".ds-run-title").click()  # elsewhere: what can't be kept stays open
        expect(editor).to_be_focused()
        assert editor.evaluate(SAID) == "21 tags; at most 20 are kept."
        page.keyboard.press("Escape")
        expect(page.locator(".ds-run-tags .ds-tag")).to_have_text("x" * 40)
        expect(page.locator(".toast-body")).to_have_count(0)
    wait_until(lambda: Store(folder).open(ids["slow"]).read_label().tags == ("x" * 40,))
    Store(folder).open(ids["slow"]).write_label(Label())


def name_too_long(page, run_id):
    """A card on a phone whose name is being written, one character longer than any is kept."""
    page.set_viewport_size({"width": 390, "height": 844})
    entry = row(page, run_id)
    entry.get_by_role("button", name="Rename").click()
    page.keyboard.insert_text("x" * 121)
    return entry, page.get_by_role("textbox", name="Rename")


def test_what_is_refused_stays_open_and_says_why_wherever_one_goes(browser, made):
    app, ids, _ = made
    with opened(browser, app, "tab=runs") as page:
        entry, editor = name_too_long(page, ids["other"])
        row(page, ids["slow"]).locator(".ds-run-name").click()  # would open another run
        expect(editor).to_be_focused()
        assert editor.evaluate(SAID) == TOO_LONG
        page.keyboard.press("Tab")
        expect(editor).to_be_focused()
        expect(editor).to_have_value("x" * 121)
        page.keyboard.press("Escape")
        expect(editor).to_have_count(0)
        expect(entry.locator(".ds-run-name")).to_have_text("other")
        row(page, ids["slow"]).locator(".ds-run-name").click()  # and now it does
        expect(page.locator(".ds-run-title")).not_to_be_empty()


def test_on_a_touch_screen_the_pencil_and_the_menu_of_a_row_are_wide_enough_and_apart(browser, made):
    app, ids, _ = made
    with browser.new_context(viewport={"width": 1280, "height": 900}, has_touch=True, is_mobile=True) as context:
        page = app.sign_in(context).new_page()
        page.goto(f"{app.url}?tab=runs")
        entry = page.locator(f'.ds-table-row[data-run="{ids["long"]}"]')
        pencil, menu = (entry.locator(f'[data-column="name"] > {one}') for one in (".ds-pencil", ".ds-row-menu"))
        wait_until(lambda: pencil.bounding_box()["width"] >= 40)  # its sheet comes late
        left, right = pencil.bounding_box(), menu.bounding_box()
        assert right["width"] >= 40
        assert left["x"] + left["width"] <= right["x"]


BESIDE = (".ds-run-title", ".ds-run-head .ds-pencil", ".ds-run-head .ds-state", ".ds-run-label", ".ds-facts")
AT_REST = """async (names) => {
  const read = () => JSON.stringify(names.map((name) => document.querySelector(name)?.getBoundingClientRect()));
  for (let last = read(), frames = 0; frames < 30; frames++) {
    await new Promise(requestAnimationFrame);
    if (read() !== last) [last, frames] = [read(), 0];
  }
}"""


@pytest.mark.parametrize("width", [1280, 390])
def test_a_name_is_edited_over_the_title_and_nothing_moves(browser, made, width):
    app, ids, _ = made
    with opened(browser, app, f"run={ids['slow']}") as page:
        page.set_viewport_size({"width": width, "height": 844})
        page.locator(".ds-run-head .ds-pencil").wait_for()

        def boxes():
            return {name: page.locator(name).first.bounding_box() for name in BESIDE}

        page.evaluate(AT_REST, BESIDE)  # what comes above the charts is there
        before = boxes()
        page.locator(".ds-run-head .ds-pencil").click()
        field = page.locator(".ds-edit")
        expect(field).to_be_focused()
        assert boxes() == before
        title, box = before[".ds-run-title"], field.bounding_box()
        assert box["x"] == title["x"]  # not left of the margin
        assert abs(box["y"] - title["y"]) <= 1
        assert title["width"] < box["width"] <= width - box["x"]
        expect(page.locator(".ds-run-head .ds-pencil")).to_be_hidden()
        page.keyboard.insert_text("x" * 121)  # refused beside it: what else is there stays seen
        refused = page.locator(".ds-edit-refused")
        expect(refused).to_have_text(TOO_LONG)
        assert {name: one for name, one in boxes().items() if "pencil" not in name} == {
            name: one for name, one in before.items() if "pencil" not in name
        }
        assert refused.evaluate(LIES_ON) == []
        page.keyboard.press("Escape")
        expect(page.locator(".ds-run-head .ds-pencil")).to_be_focused()
        assert boxes() == before


def test_f2_renames_a_card_as_it_does_a_row(browser, made):
    app, ids, _ = made
    with opened(browser, app, "tab=runs") as page:
        page.set_viewport_size({"width": 390, "height": 844})
        entry = row(page, ids["other"])
        expect(entry).to_have_class(re.compile("ds-card"))
        entry.locator(".ds-run-row").focus()
        page.keyboard.press("F2")
        expect(page.get_by_role("textbox", name="Rename")).to_be_focused()
        page.keyboard.press("Escape")
        expect(entry.locator(".ds-run-row")).to_be_focused()


def test_a_run_is_renamed_tagged_noted_and_archived_in_place(browser, made):
    app, ids, folder = made
    other = ids["other"]
    with opened(browser, app, "tab=runs") as page:
        page.click("#choose-columns > summary")
        page.locator("#choose-columns").get_by_label("Tags").check()  # no run has one yet
        page.keyboard.press("Escape")
        row(page, other).locator(".ds-run-row").focus()
        page.keyboard.press("F2")
        page.keyboard.insert_text(NAMED)
        page.keyboard.press("Enter")
        expect(row(page, other).locator(".ds-run-name")).to_have_text(NAMED)
        button = row(page, other).locator(".ds-run-row")
        assert button.evaluate("node => node.scrollWidth <= node.clientWidth")
        assert page.locator(".ds-run-list").evaluate("node => node.scrollWidth <= node.clientWidth")
        assert button.get_attribute("title").startswith(f"{NAMED}\n")
        row(page, other).hover()
        row(page, other).get_by_role("button", name="Edit tags").click()
        page.keyboard.insert_text("lora, good")
        page.keyboard.press("Enter")
        expect(cell(page, other, "tags").locator(".ds-tag")).to_have_text(["lora", "good"])
        label = Store(folder).open(other).read_label
        wait_until(lambda: (label().name, label().tags) == (NAMED, ("lora", "good")))
        row(page, other).hover()
        row(page, other).get_by_role("button", name="Rename").click()
        page.keyboard.insert_text("not this")
        page.keyboard.press("Escape")
        expect(row(page, other).locator(".ds-run-name")).to_have_text(NAMED)
        cell(page, other, "tags").get_by_text("lora").click()
        wait_until(lambda: shown(page) == [NAMED])
        row(page, other).locator(".ds-run-choose").check()
        page.click("#archive-runs")
        expect(row(page, other)).to_have_count(0)
        wait_until(lambda: label().archived)
        page.get_by_label("Archived (1)").check()
        expect(row(page, other)).to_be_visible()
        row(page, other).locator(".ds-run-choose").check()
        page.get_by_role("button", name="Unarchive").click()
        wait_until(lambda: not label().archived)
        expect(page.get_by_label("Archived (1)")).to_be_hidden()
    with opened(browser, app, f"run={other}") as page:
        expect(page.locator(".ds-run-title")).to_have_text(NAMED)
        chip = page.locator(".ds-run-head .ds-tag")
        expect(chip).to_be_hidden()
        page.click("#archive-run")
        expect(chip).to_have_text("archived")
        wait_until(lambda: label().archived)
        expect(page.locator(".ds-run .ds-toast")).to_contain_text("1 run archived")
        page.get_by_role("button", name="Undo").click()
        expect(chip).to_be_hidden()
        wait_until(lambda: not label().archived)
        page.click("#archive-run")
        wait_until(lambda: label().archived)
        page.reload()
        expect(chip).to_be_visible()
        page.get_by_role("button", name="Unarchive").click()
        wait_until(lambda: not label().archived)


def test_on_a_phone_a_card_has_a_pencil_and_a_name_that_is_too_long_is_refused_and_not_cut(browser, made):
    app, ids, folder = made
    with opened(browser, app, "tab=runs") as page:
        entry, editor = name_too_long(page, ids["other"])
        expect(editor).to_have_value("x" * 121)
        page.keyboard.press("Enter")
        expect(editor).to_be_focused()
        assert editor.evaluate(SAID) == TOO_LONG
        page.keyboard.press("Backspace")
        page.keyboard.press("Enter")
        name = entry.locator(".ds-run-name")
        expect(name).to_have_text("x" * 120)
        assert name.evaluate(
            "(node) => [node.scrollWidth > node.clientWidth, getComputedStyle(node).textOverflow]"
        ) == [
            True,
            "ellipsis",
        ]
        assert entry.locator(".ds-run-row").get_attribute("title").startswith("x" * 120)
    wait_until(lambda: Store(folder).open(ids["other"]).read_label().name == "x" * 120)
    Store(folder).open(ids["other"]).write_label(Label())


def test_on_a_phone_runs_are_cards(browser, made):
    app, ids, folder = made
    other = Store(folder).open(ids["other"])
    told = dict(other.read_progress())
    other.write_progress({**told, "peak": {"host_bytes": 19 << 30}})  # of no GPU anything was told
    with opened(browser, app, "tab=runs") as page:
        page.set_viewport_size({"width": 390, "height": 844})
        expect(row(page, ids["slow"])).to_contain_text("learning_rate 3e-3→1e-3")
        expect(row(page, ids["slow"])).to_contain_text("GPU 12.00 GiB")
        expect(row(page, ids["other"])).to_contain_text("host 19.00 GiB")
        other.write_progress(told)
        expect(page.get_by_role("table")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        search, add = (page.locator(one).bounding_box() for one in ("#search-runs", "#add-folder"))
        assert abs(search["y"] + search["height"] / 2 - add["y"] - add["height"] / 2) < 2  # in one line
        page.select_option("#sort-runs", "name")
        wait_until(lambda: shown(page)[-2:] == ["t5", "t5"])
        page.get_by_role("button", name="Ascending; sort descending").click()
        wait_until(lambda: shown(page)[:2] == ["t5", "t5"])
        page.get_by_role("button", name="Descending; sort ascending").click()
        wait_until(lambda: shown(page)[-2:] == ["t5", "t5"])
        box = row(page, ids["slow"]).locator(".ds-run-choose")
        at = box.bounding_box()
        for dx, dy in ((-19, -13), (7, 13)):  # the drawn box is 16 pixels wide, what a finger hits 44
            page.mouse.click(at["x"] + (0 if dx < 0 else 16) + dx, at["y"] + (0 if dy < 0 else 16) + dy)
            expect(box).to_be_checked(checked=dx < 0)
        box.check()
        bar, below = (page.locator(one).bounding_box() for one in (".ds-run-choice", ".ds-run-list"))
        assert bar["y"] + bar["height"] == 844
        assert bar["height"] < 60
        assert below["y"] + below["height"] <= bar["y"]
        assert page.locator(".ds-run-choice").evaluate("node => node.scrollWidth <= node.clientWidth")
        page.click("#clear-chosen")
        expect(page.locator(".ds-run-choice")).to_be_hidden()
        row(page, ids["slow"]).locator(".ds-run-row").click()
        expect(page.locator(".ds-run-title")).to_have_text("t5")
        page.click("#all-runs")
        expect(row(page, ids["slow"])).to_be_visible()


LATER_NAME = """() => {
  const box = document.querySelector("#run-name textarea, #run-name input");
  const line = document.getElementById("loaded-run");
  box.blur();
  line.insertAdjacentHTML("beforeend", `<i data-was='["first", "last"]' data-name="next"></i>`);
  setTimeout(() => { box.value = "first"; }, 2000);
}"""


def test_a_clone_tells_all_it_set_on_the_launch_page_and_leaves_nothing_of_the_last_one(browser, made):
    app, ids, folder = made
    with opened(browser, app, f"run={ids['fast']}") as page:
        expect(page.locator("#clone-run")).to_be_visible()
        page.get_by_role("tab", name="2 · Launch").click()
        page.get_by_text("More: launcher, queue").click()
        page.locator("#environment textarea").fill("LEFT=behind")
        page.fill("#port input, #port textarea", "29999")
        page.get_by_role("tab", name="3 · Runs").click()
        page.click("#clone-run")
        expect(page.get_by_role("tab", name="2 · Launch")).to_have_attribute("aria-selected", "true")
        told = page.locator("#loaded-run .ds-cloned")
        expect(told).to_be_visible()
        for words in (
            "--learning_rate 3e-3 --bf16",
            "1 setting, in 1 · Configure",
            "Devices: 2 ranks (was GPU 0, 1, not on this machine)",
            "If another run is active",
            str(folder),
        ):
            expect(told).to_contain_text(words)
        # One line, which follows what is typed, as the name does until somebody types one.
        line, name = told.locator("summary"), page.locator("#run-name textarea, #run-name input")
        expect(line).to_contain_text(f"Cloned from t5 ({ids['fast'].rpartition('-')[2]}) · 1 change: Devices")
        expect(name).to_have_value("t5 · 2 ranks")
        arguments = page.locator("#arguments textarea, #arguments input")
        arguments.fill("--learning_rate 1e-4 --bf16")
        expect(line).to_contain_text("· 2 changes: --learning_rate: 3e-3 → 1e-4, Devices")
        expect(name).to_have_value("t5 · learning_rate 1e-4")
        page.evaluate(LATE)
        arguments.fill("--learning_rate 2e-4 --bf16")
        page.wait_for_timeout(500)
        name.fill("mine")  # while the answer with another name is on its way
        expect(line).to_contain_text("--learning_rate: 3e-3 → 2e-4")
        expect(name).to_have_value("mine", timeout=5_000)
        arguments.fill("--learning_rate 1e-5 --bf16")
        expect(line).to_contain_text("--learning_rate: 3e-3 → 1e-5")
        expect(name).to_have_value("mine")
        expect(page.locator("#launch-message")).to_have_text("")
        expect(page.locator("#environment textarea")).to_have_value("")
        expect(page.locator("#environment")).to_be_hidden()  # what is usual here opens no fold
        expect(page.locator("#port input, #port textarea")).to_have_value("")
        # It ran on GPUs, and here is none: the ways on are there, for the place that is chosen.
        ways = page.locator("#loaded-run .ds-next:visible")
        expect(ways).to_contain_text("This machine has no GPU and would train on its CPU")
        page.get_by_role("button", name="Submit with Slurm").click()
        expect(page.get_by_label("Slurm", exact=True)).to_be_checked()
        expect(ways).to_contain_text("Next: check the job’s GPUs, then submit.")
        page.get_by_role("button", name="Launch over ssh").click()
        expect(page.locator("#hostfile")).to_be_visible()
        expect(ways).to_contain_text("add a host with one under “Hostfile”")
        expect(page.locator("#launch")).to_contain_text("Launch")  # no answer is on its way that draws the line anew
        # The name that stood there may be written after the line that has the next one.
        page.evaluate(LATER_NAME)
        expect(name).to_have_value("next")


# Whether the end of what a row says has its place in the row's cell.
INSIDE = """(node) => { const own = node.getBoundingClientRect(),
  cell = node.closest(".ds-cell, .ds-card")?.getBoundingClientRect();
  return cell !== undefined &&
    own.width > 0 && own.left > cell.left && own.right <= cell.right && node.scrollWidth <= node.clientWidth; }"""


def test_how_many_more_settings_changed_is_told_however_long_the_first_are(browser, tmp_path):
    make_run(tmp_path, Made("one", 20, config='{"zero_optimization": {"stage": 2}}'))
    options = "--gradient_accumulation_steps 4 --per_device_train_batch_size 8 --learning_rate 1e-4"
    run_id = make_run(tmp_path, Made("two", 20, arguments=options))
    with running_app(tmp_path) as app:
        for query, place in (("tab=runs", "[data-column=differs]"), (f"run={run_id}", ".ds-run-what")):
            with opened(browser, app, query) as page:
                more = page.locator(f"[data-run='{run_id}'] {place} .ds-more-changes")
                expect(more).to_have_text(" · +2")
                wait_until(lambda more=more: more.evaluate(INSIDE))  # a row may be drawn anew meanwhile


def test_the_list_tells_of_a_failed_run_why_it_failed(browser, tmp_path):
    run_id = make_run(tmp_path, Made("one", 20, state=RunState.FAILED))
    others = [make_run(tmp_path, Made(state.value, 20, state=state)) for state in (RunState.FAILED, RunState.SUCCEEDED)]
    texts = [said(f"diagnosis_{kind}", "cuda_memory") for kind in ("titles", "meanings")]
    Store(tmp_path).open(run_id).write_diagnosis(Diagnosis("cuda-memory", *texts, ()).to_json())
    why = "The GPU ran out of memory while training"
    with running_app(tmp_path) as app, opened(browser, app, "tab=runs") as page:
        told = row(page, run_id).locator(".ds-run-why")
        expect(told).to_have_text(why)
        wait_until(lambda: told.evaluate("node => node.scrollWidth <= node.clientWidth"))
        heights = [row(page, one).bounding_box()["height"] for one in (run_id, *others)]
        assert len(set(heights)) == 1
        for one in others:
            expect(row(page, one).locator(".ds-run-why")).to_be_empty()
        page.set_viewport_size({"width": 390, "height": 844})
        expect(row(page, run_id)).to_contain_text(f"step 20 · {why}")
        page.context.add_cookies([{"name": "dsgui_language", "value": "zh-CN", "url": app.url}])
        page.reload()
        expect(row(page, run_id)).to_contain_text("第 20 步 · 训练时显存不足")


def test_values_of_two_runs_stay_near_on_a_wide_screen_and_those_of_four_stand_in_twos_on_a_phone(browser, tmp_path):
    ids = [make_run(tmp_path, Made(f"run {number}", 20 + number)) for number in range(4)]
    with running_app(tmp_path) as app:
        for runs, width, columns in ((ids[:2], 1920, 2), (ids, 390, 2), (ids[:3], 390, 3)):
            with opened(browser, app, f"compare={','.join(runs)}") as page:
                page.set_viewport_size({"width": width, "height": 900})
                expect(page.locator(".ds-compare-key > li")).to_have_count(len(runs))
                if width == 390:
                    page.locator(".ds-compare-open").click()
                boxes = [one.bounding_box() for one in page.locator(".ds-compare-key > li").all()]
                lefts = sorted({round(box["x"]) for box in boxes})
                assert len(lefts) == columns
                assert lefts[1] - lefts[0] < 400
                assert width < 1000 or page.evaluate(COLUMNS) == 1
