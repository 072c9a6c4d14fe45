"""The tutorials in a real browser, each on a fresh profile: every step checks itself, and no work of the reader's is
lost."""

import json
from contextlib import contextmanager
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from dsgui.core.launch.plan import ConfigArgument, StartedBy
from dsgui.core.launch.state import RunState
from dsgui.shell.runs.store import Store
from tests.answers.remembered import BROWSER
from tests.support.app_server import running_app
from tests.support.browser import json_text, replace_text
from tests.support.chromium.axe import violations
from tests.support.made_runs import Made, make_run
from tests.support.pages import AT_ONCE, BEEN_HERE, opened
from tests.support.run_fixtures import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.remembered(*BROWSER)]

OWN = '{"train_micro_batch_size_per_gpu": 7, "zero_optimization": {"stage": 1}}'
# What the recipe prints, without what it trains.
PRINTS = """
for step, loss in enumerate((4.0, 3.1, 2.2, 1.6), 1):
    told = {"loss": str(loss), "grad_norm": "1.5", "learning_rate": "0.001", "epoch": str(step / 4)}
    print(told, flush=True)
"""
LAST_TAB = "#pages > .tab-wrapper [role=tab]:last-of-type"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "runs"


@pytest.fixture
def app(folder, tmp_path):
    """Nobody has launched or learned anything here."""
    python = tmp_path / "python"
    python.write_text(AT_ONCE, encoding="utf-8")
    python.chmod(0o755)
    with running_app(folder, "--python", str(python)) as app:
        yield app


def made(folder, name, script, stage, *, reads=ConfigArgument.HF, ranks=2, **config):
    """A run that has ended, as if it had trained with this."""
    text = json.dumps({"zero_optimization": {"stage": stage, **config.pop("zero", {})}, **config})
    directory = Store(folder).open(make_run(folder, Made(name, 20, config=text, gpus=0)))
    plan = replace(directory.read_plan(), script=f"/recipes/{script}", config_argument=reads, ranks=ranks)
    directory.write_plan(plan, None)
    return directory.run_id


def begin(page, track):
    """Opens a track; nothing in it is done."""
    page.click("#learn-open")
    card = page.locator(".ds-learn-tracks li", has=page.locator(f"[data-track={track}]"))
    corner = card.bounding_box()
    card.click(position={"x": corner["width"] - 8, "y": corner["height"] - 8})  # the whole card is the button
    expect(page.locator("#learn-step-title")).to_be_visible()
    expect(page.locator('.ds-learn-to[data-done="true"]')).to_have_count(0)


def at(page, step):
    page.click(f"[data-step={step}]")
    expect(page.locator(f"[data-step={step}]")).to_have_attribute("aria-current", "step")


def is_done(page, step):
    expect(page.locator(f"[data-step={step}]")).to_have_attribute("data-done", "true")


def answer(page, step, choice):
    page.check(f"#learn-choice-{choice}")
    page.click("#learn-check")
    is_done(page, step)


SINGLE = (".ds-learn-picture .ds-zs-bar", "#learn-size", "#learn-stage", ".ds-learn-key .ds-zs-legend")


def move(page, slider, place):
    page.locator(f"#learn-{slider}").evaluate(
        "(node, value) => { node.value = value; node.dispatchEvent(new Event('input', { bubbles: true })); }", place
    )


def launch(page, script):
    """What the step has set up, with a script that only prints."""
    page.get_by_label("My own script").check()
    page.fill("#script textarea, #script input", str(script))
    expect(page.locator("#command")).to_contain_text(str(script))
    expect(page.locator("#launch")).to_be_enabled()
    page.click("#launch")
    page.wait_for_function("location.search.includes('run=')")  # its page is shown


def test_translation_from_the_first_visit_to_the_tutorials_question(browser, app, folder, tmp_path):
    script = tmp_path / "translation.py"
    script.write_text(PRINTS, encoding="utf-8")
    with opened(browser, app) as page:
        loaded = []
        page.on("request", lambda request: loaded.append(request.url))
        page.click("#goal-learn")
        page.click("[data-track=translation]")
        assert any("/static/learn/learn.js" in url for url in loaded)  # not before
        expect(page.locator('.ds-learn-to[data-done="true"]')).to_have_count(0)
        replace_text(page, OWN)
        page.wait_for_function("text => localStorage.getItem('dsgui.config') === text", arg=OWN)

        page.click('[data-open="0"]')
        expect(page.locator(".ds-learn-said")).to_contain_text("What you had is kept")
        page.wait_for_function("localStorage.getItem('dsgui.config').includes('overlap_comm')")
        page.click("#undo-edit")
        page.wait_for_function("text => localStorage.getItem('dsgui.config') === text", arg=OWN)
        page.check("#learn-choice-0")
        page.click("#learn-check")
        expect(page.locator(".ds-learn-answer")).to_have_attribute("data-right", "false")
        expect(page.locator("[data-step=auto]")).to_have_attribute("data-done", "false")
        answer(page, "auto", 1)

        page.click("#learn-next")
        page.click('[data-open="0"]')
        expect(page.locator("#command")).to_contain_text("translation.py --max_steps 60")
        expect(page.locator("[data-step=zero2_run]")).to_have_attribute("data-done", "false")
        launch(page, script)
        is_done(page, "zero2_run")
        is_done(page, "zero2_loss")

        at(page, "zero3_run")
        page.click('[data-open="0"]')
        expect(page.locator("#pages > .tab-wrapper [role=tab]").nth(1)).to_have_attribute("aria-selected", "true")
        expect(page.locator("#command")).to_contain_text("translation.py --max_steps 60")
        made(folder, "zero3", "translation.py", 3)
        is_done(page, "zero3_run")
        at(page, "side_by_side")
        expect(page.locator("#learn-compare")).to_be_visible()
        expect(page.locator("[data-step=side_by_side]")).to_have_attribute("data-done", "false")
        page.click("#learn-compare")
        is_done(page, "side_by_side")
        page.wait_for_function("location.search.includes('compare=')")

        at(page, "two_keys")
        expect(page.locator(".ds-learn-numbers")).to_contain_text("not measured")
        expect(page.locator(".ds-learn-numbers")).to_contain_text("6.5 GiB")
        answer(page, "two_keys", 2)
        expect(page.locator(".ds-learn-end")).to_be_visible()
        expect(page.locator("#learn-count")).to_have_text("6 of 6 steps done")
        page.click("#learn-put-back")
        page.wait_for_function("text => localStorage.getItem('dsgui.config') === text", arg=OWN)


def test_a_lessons_picture_is_drawn_alike_from_any_page(browser, app):
    with opened(browser, app, BEEN_HERE) as page:
        page.goto(f"{app.url}?tab=runs")
        begin(page, "memory")
        bar = page.locator(".ds-learn-picture .ds-zs-bar").first
        assert bar.evaluate("(one) => getComputedStyle(one).height") == "18px"


def test_memory_with_sliders_and_two_runs(browser, app, folder):
    with opened(browser, app, BEEN_HERE) as page:
        begin(page, "memory")
        assert page.locator(".ds-learn progress").count() == 0  # how far one is has its numbers and a line
        assert page.locator("#ds-learn").inner_text().count("of 7") == 1
        left = [page.locator(part).bounding_box()["x"] for part in ("#config-form", "#findings")]
        assert left[0] == left[1]  # beside the drawer there is room for one column
        expect(page.locator(".ds-learn-picture .ds-zs-stage")).to_have_count(1)  # of one GPU all are alike
        expect(page.locator(".ds-learn-picture")).to_contain_text("16Ψ")
        tops = [page.locator(one).bounding_box()["y"] for one in SINGLE]
        assert tops == sorted(tops)  # the bar, at once the sliders that move it, and then what its colours mean
        key = page.locator(".ds-learn-key")
        expect(key.locator(".ds-zs-legend")).not_to_contain_text("billion")  # its slider and the text say it
        expect(key.get_by_text("longer than 16Ψ")).to_be_hidden()  # until it is asked for
        key.locator("summary").click()
        expect(key.get_by_text("longer than 16Ψ")).to_be_visible()
        notes = page.locator(".ds-learn-key .ds-zs-notes")
        assert notes.evaluate("(one) => parseFloat(getComputedStyle(one).paddingLeft)") > 0  # bullets inside the frame
        # On one line with the tabs, and beside them.
        tools, tab = (page.locator(one).bounding_box() for one in (".ds-header .ds-languages", LAST_TAB))
        assert tab["x"] + tab["width"] <= tools["x"]
        assert tab["y"] < tools["y"] + tools["height"]
        expect(page.locator("#learn-check")).to_be_disabled()  # nothing is chosen yet
        looks = "(one) => getComputedStyle(one).backgroundColor"
        check, onward = page.locator("#learn-check"), page.locator("#learn-next")
        plain = onward.evaluate(looks)
        page.check("#learn-choice-0")
        filled = check.evaluate(looks)
        assert (filled != plain, onward.evaluate(looks)) == (True, plain)  # to check it comes first
        answer(page, "sixteen", 0)
        assert (check.evaluate(looks), onward.evaluate(looks)) == (plain, filled)  # and then to go on
        at(page, "stages")
        expect(page.locator(".ds-learn-picture .ds-zs-stage")).to_have_count(4)
        order = (
            "#learn-size",
            "#learn-device",
            ".ds-zs-bar >> nth=0",
            ".ds-zs-bar >> nth=3",
            ".ds-learn .ds-zs-legend",
        )
        tops = [page.locator(one).bounding_box()["y"] for one in order]
        assert tops == sorted(tops)
        # Of cards none is more than another.
        expect(page.locator(".ds-learn").get_by_role("combobox", name="GPU", exact=True)).to_be_visible()
        for slider, place in (("size", 4), ("ranks", 3), ("stage", 1)):
            move(page, slider, place)
        expect(page.locator('.ds-zs-stage[aria-current="true"]')).to_have_attribute("data-stage", "1")
        expect(page.locator("[data-step=stages]")).to_have_attribute("data-done", "false")
        move(page, "stage", 2)
        is_done(page, "stages")
        at(page, "offload")
        for slider, place in (("size", 3), ("device", 3), ("stage", 2), ("offload", 1)):
            move(page, slider, place)
        is_done(page, "offload")
        at(page, "activations")
        answer(page, "activations", 1)
        assert violations(page) == []
        at(page, "buffers")
        answer(page, "buffers", 2)
        at(page, "price")
        expect(page.locator(".ds-learn-status")).to_contain_text("do the earlier steps first")
        made(folder, "with", "translation.py", 2, zero={"offload_optimizer": {"device": "cpu"}})
        made(folder, "without", "translation.py", 2)
        at(page, "with_and_without")
        page.click("#learn-compare")
        is_done(page, "with_and_without")
        at(page, "price")
        expect(page.locator(".ds-learn-numbers")).to_contain_text("Measured in your own runs")
        answer(page, "price", 0)
        expect(page.locator("#learn-count")).to_have_text("7 of 7 steps done")


def test_native_pre_training_with_the_table_of_batch_sizes(browser, app, folder):
    with opened(browser, app, BEEN_HERE) as page:
        begin(page, "native")
        page.click('[data-open="1"]')
        expect(page.locator("#gpus input")).to_have_value("4")
        page.wait_for_function("localStorage.getItem('dsgui.config').includes('\"gradient_accumulation_steps\": 2')")
        answer(page, "table", 1)
        at(page, "other_cut")
        page.click('[data-open="0"]')
        expect(page.locator("#command")).to_contain_text("--num_gpus=1")
        expect(page.locator("#command")).to_contain_text("pretraining.py --max_steps 72")
        native = {"reads": ConfigArgument.NATIVE, "train_batch_size": 64, "train_micro_batch_size_per_gpu": 8}
        made(folder, "two", "pretraining.py", 2, ranks=2, **native)
        is_done(page, "first_cut")
        expect(page.locator("[data-step=other_cut]")).to_have_attribute("data-done", "false")
        made(folder, "one", "pretraining.py", 2, ranks=1, **native)
        is_done(page, "other_cut")
        at(page, "optimizer")
        answer(page, "optimizer", 0)
        at(page, "precision")
        expect(page.locator(".ds-learn-table")).to_contain_text("torch_autocast")
        answer(page, "precision", 2)
        at(page, "same_batch")
        expect(page.locator(".ds-learn-numbers tbody tr").first).to_contain_text("22")
        answer(page, "same_batch", 1)
        expect(page.locator("#learn-count")).to_have_text("6 of 6 steps done")
        page.click("#learn-forget")
        expect(page.locator("#learn-count")).to_have_text("2 of 6 steps done")  # runs stay


@contextmanager
def narrow_and_dark(browser, app):
    with opened(browser, app, BEEN_HERE) as page:
        page.set_viewport_size({"width": 390, "height": 800})
        page.emulate_media(color_scheme="dark")
        page.goto(f"{app.url}?__theme=dark")
        page.wait_for_selector(".ds-skip", state="attached")
        yield page


def test_backends_two_nodes_and_lora_by_keyboard_on_a_narrow_dark_page(browser, app, folder):
    with narrow_and_dark(browser, app) as page:
        page.focus("#learn-open")
        page.keyboard.press("Enter")
        expect(page.locator("#learn-title")).to_be_focused()
        page.locator("[data-track=native]").focus()
        page.keyboard.press("Tab")
        expect(page.locator("[data-track=lora]")).to_be_focused()
        frame = "(one) => getComputedStyle(one, '::after').outlineStyle"
        assert page.locator("[data-track=lora]").evaluate(frame) == "solid"  # the card's
        page.keyboard.press("Enter")
        expect(page.locator("#learn-step-title")).to_be_visible()
        # What is to be done stands in sight: the head of a step took 240 px of the drawer's 416.
        drawer, title = (page.locator(one).bounding_box() for one in ("#ds-learn", "#learn-step-title"))
        assert title["y"] - drawer["y"] < 150
        answer(page, "backends", 2)
        page.locator("#learn-next").press("Enter")
        expect(page.locator("#learn-step-title")).to_be_focused()
        page.locator('[data-open="0"]').press("Enter")
        expect(page.locator("#command")).to_contain_text("--include=node1:3@node2:2,3")
        answer(page, "two_nodes", 0)
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        made(folder, "dialogues", "summarization.py", 3)
        lora = made(folder, "lora", "instruction_lora.py", 2)
        for step in ("dialogues", "lora_run"):
            is_done(page, step)
        at(page, "adapter")
        page.click("#learn-run")
        page.wait_for_function("id => location.search.includes(id)", arg=lora)
        worked_on(folder, lora)
        is_done(page, "adapter")
        at(page, "seven_b")
        expect(page.locator(".ds-learn-numbers")).to_contain_text("Bloomz-7B1")
        answer(page, "seven_b", 1)
        page.keyboard.press("Escape")
        expect(page.locator("#ds-learn")).to_be_hidden()
        expect(page.locator("#learn-open")).to_be_focused()
        doors = []
        page.route("**/learn_door.js", lambda route: doors.append(route))
        page.goto(app.url)  # what was learned is kept
        page.click("#learn-open")
        wait_until(lambda: page.evaluate("true") and doors)  # evaluating lets the route be told
        doors[0].continue_()  # the press was before its module
        expect(page.locator(".ds-learn-tracks")).to_contain_text("6 of 6 steps done, 3 by your runs")
        rows = page.locator(".ds-learn-tracks li")
        expect(rows.filter(has=page.locator("[data-track=memory]"))).to_contain_text("7 steps")  # not begun
        expect(rows.filter(has=page.locator("[data-track=memory]")).locator("progress")).to_have_count(0)
        expect(page.locator("li:has([data-track=lora]) progress")).to_have_js_property("position", 1)
        assert json_text(page)


def worked_on(folder, parent):
    """A job after training that has succeeded."""
    directory = Store(folder).open(make_run(folder, Made("merge", 1, gpus=0, state=RunState.SUCCEEDED)))
    plan = replace(directory.read_plan(), started_by=StartedBy.PYTHON, parent=parent)
    directory.write_plan(plan, None)


def test_on_a_phone_the_tutorial_folds_to_a_bar_that_tells_the_step_and_stays_so(browser, app):
    with opened(browser, app, BEEN_HERE) as page:
        page.set_viewport_size({"width": 390, "height": 844})
        begin(page, "lora")
        drawer, handle = page.locator(".ds-learn"), page.locator("#learn-fold")
        name = f"Step 1 of {page.locator('.ds-learn-to').count()} · {page.locator('#learn-step-title').inner_text()}"
        expect(handle).to_have_accessible_name(name)
        expect(handle).to_have_attribute("aria-expanded", "true")
        handle.focus()
        page.keyboard.press("Enter")
        expect(handle).to_have_attribute("aria-expanded", "false")
        expect(page.locator("#learn-step-title")).to_be_hidden()
        expect(handle.get_by_text(name)).to_be_visible()
        assert drawer.bounding_box()["height"] < 64
        page.get_by_role("tab", name="Machine").click()
        assert drawer.bounding_box()["height"] < 64
        page.reload()
        expect(handle).to_have_attribute("aria-expanded", "false")
        expect(handle).to_have_accessible_name(name)
        assert violations(page) == []
        handle.click()
        expect(page.locator("#learn-step-title")).to_be_visible()
        assert drawer.bounding_box()["height"] > 300
        height = page.locator(".ds-learn-height")
        height.click()
        expect(height).to_have_text("Shorter")
        drawer.evaluate("node => { node.scrollTop = node.scrollHeight; }")
        top = drawer.bounding_box()["y"]
        assert 80 < top < 130  # below the header
        page.reload()
        expect(height).to_have_text("Shorter")
        assert drawer.bounding_box()["y"] == top
        at(page, "two_nodes")
        page.click("[data-open]")  # what it opens is seen
        expect(height).to_have_text("Taller")
        handle.click()
        page.set_viewport_size({"width": 1280, "height": 800})  # beside the pages there is nothing to fold
        expect(page.locator("#learn-step-title")).to_be_visible()
        expect(handle).to_be_hidden()


def test_on_a_phone_what_is_only_read_opens_tall_until_the_reader_says_otherwise(browser, app):
    with opened(browser, app, BEEN_HERE) as page:
        page.set_viewport_size({"width": 390, "height": 844})
        begin(page, "memory")
        height = page.locator(".ds-learn-height")
        expect(height).to_have_text("Shorter")  # nothing of the page below is needed
        at(page, "with_and_without")
        expect(height).to_have_text("Taller")  # its buttons set up the page
        at(page, "stages")
        expect(height).to_have_text("Shorter")
        height.click()
        at(page, "sixteen")
        expect(height).to_have_text("Taller")
        page.reload()
        expect(height).to_have_text("Taller")


def test_on_a_phone_sliders_and_the_bars_that_they_move_are_seen_together(browser, app):
    with opened(browser, app, BEEN_HERE) as page:
        page.set_viewport_size({"width": 390, "height": 844})
        begin(page, "memory")
        drawer = page.locator(".ds-learn")
        drawer.evaluate("node => node.classList.remove('ds-learn-tall')")  # half the window
        page.locator(".ds-learn-picture .ds-zs-bar").first.wait_for()  # what comes later moves what was scrolled to
        page.locator("#learn-stage").evaluate("node => node.scrollIntoView({ block: 'end' })")
        for seen in (".ds-learn-picture .ds-zs-bar", "#learn-size", "#learn-ranks", "#learn-stage"):
            expect(page.locator(seen)).to_be_in_viewport(ratio=1)
        rows = [one.bounding_box()["height"] for one in page.locator(".ds-learn-slider").all()]
        assert max(rows) < 40  # a label, its slider and its value in a line
        at(page, "stages")
        drawer.evaluate("node => node.classList.remove('ds-learn-tall')")
        for bar in page.locator(".ds-learn-picture .ds-zs-bar").all():
            bar.evaluate("node => node.scrollIntoView({ block: 'end' })")
            expect(page.locator("#learn-stage")).to_be_in_viewport(ratio=1)
            sliders, moved = page.locator(".ds-learn-controls").bounding_box(), bar.bounding_box()
            assert sliders["y"] + sliders["height"] <= moved["y"]  # not over it


def test_on_a_phone_a_track_begins_at_its_top_and_names_stay_whole(browser, app):
    with opened(browser, app, BEEN_HERE) as page:
        page.set_viewport_size({"width": 390, "height": 844})
        begin(page, "lora")  # the last one: the list of them was scrolled to it
        expect(page.get_by_role("heading", name="Learn", exact=True)).to_be_in_viewport(ratio=1)
        for name in ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "--launcher openmpi"):
            code = page.locator(".ds-learn-step code", has_text=name)
            assert code.evaluate("node => node.getClientRects().length") == 1
        page.locator(".ds-learn").evaluate("node => { node.scrollTop = node.scrollHeight; }")
        expect(page.locator("#learn-close")).to_be_in_viewport(ratio=1)
        assert violations(page) == []
