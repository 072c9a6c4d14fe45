"""The checks before a start on the Launch page: a problem holds Launch back until it is accepted."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.browser import HeldAnswers, replace_text

pytestmark = pytest.mark.browser

STRICT = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--lr')\nparser.parse_args()\n"
ANSWER_MS = 180_000  # imports torch and DeepSpeed


@pytest.fixture(scope="module")
def app(app_at_once):
    return app_at_once


def choose_script(page, script):
    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_label("My own script").check()
    page.locator("#script textarea, #script input").first.fill(str(script))
    return page.locator("#preflight")


def test_a_problem_holds_launch_back_and_accepting_it_starts_what_then_fails_as_said(page, tmp_path):
    script, sound = tmp_path / "strict.py", tmp_path / "sound.py"
    script.write_text(STRICT)
    sound.write_text("print(1)")
    preflight = choose_script(page, script)
    problem = preflight.locator('[data-check="takes_config"]')
    expect(problem).to_contain_text("unrecognized arguments: --deepspeed FILE")
    expect(preflight.locator(".ds-verdict")).to_contain_text("1 problem")
    expect(page.locator("#launch")).to_be_disabled()
    tick = page.locator("#although input")
    # It is beside the button however long the checks are; on a phone the button alone stays in view.
    preflight.locator(".ds-passed summary").click()
    page.set_viewport_size({"width": 1280, "height": 500})
    for one in ("#although", "#launch"):
        expect(page.locator(one)).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator("#launch")).to_be_in_viewport(ratio=1)
    expect(tick).not_to_be_in_viewport()
    way, press = (page.locator(one).bounding_box() for one in ("#to-checks", "#launch"))
    assert way["y"] < press["y"] + press["height"]  # one row
    assert press["y"] < way["y"] + way["height"]
    page.set_viewport_size({"width": 1280, "height": 900})
    held = HeldAnswers(page, "strict.py")
    tick.check()
    held.wait()
    expect(page.locator("#launch")).to_be_enabled()  # at once, not with the answer
    held.release()

    choose_script(page, sound)
    expect(problem).to_have_count(0)
    expect(tick).to_have_count(0)
    expect(page.locator("#launch")).to_be_enabled()
    choose_script(page, script)
    expect(problem).to_be_visible()
    expect(page.locator("#launch")).to_be_disabled()  # what was accepted once is asked again

    tick.check()
    expect(page.locator("#launch")).to_be_enabled()
    page.click("#launch")
    expect(page.locator(".ds-run-head .ds-state")).to_have_text("failed", timeout=60_000)
    expect(page.get_by_label("Output of the run")).to_contain_text("unrecognized arguments: --deepspeed")


def test_launch_stays_in_view_below_open_checks_and_beside_a_long_form(page, tmp_path):
    """And there is no command to copy while there is none; nothing is wrong before something was given or tried."""
    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_label("My own script").check()
    preflight, field = page.locator("#preflight"), page.locator("#script textarea, #script input").first
    expect(preflight).to_contain_text("Still needed")
    expect(page.locator("#command .ds-copy")).to_be_hidden()
    assert page.locator("#launch-verdict").bounding_box()["y"] == page.locator(".ds-what").bounding_box()["y"]
    expect(field).not_to_have_attribute("aria-invalid", "true")
    page.click("#launch")
    expect(preflight).to_contain_text("Enter the path")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#launch-message")).to_contain_text("Nothing to launch yet")
    script = tmp_path / "sound.py"
    script.write_text("print(1)")
    choose_script(page, script)
    expect(page.locator("#command .ds-copy")).to_be_visible()
    expect(page.locator("#launch-message")).not_to_contain_text("Nothing")
    expect(page.locator("#script-found")).to_contain_text("Its source doesn’t show")
    unnamed = page.locator("#launch-verdict").get_by_text("memory not checked: no model named")
    unnamed.click()
    expect(page.locator("#memory-model")).to_be_focused()
    page.locator("#memory-model :is(input, textarea)").fill("not-there")
    page.get_by_role("tab", name="2 · Launch").click()
    page.locator("#launch-verdict").get_by_text("memory not checked", exact=True).click()
    expect(preflight.locator('[data-of="model_memory"]')).to_be_in_viewport()
    preflight.locator(".ds-passed summary").click()
    field, browse = (page.locator(f"#script {one}").bounding_box() for one in ("textarea, #script input", "button"))
    assert (field["y"], field["height"]) == (browse["y"], browse["height"])
    preflight.locator(".ds-passed summary").click()
    for size in ({"width": 1280, "height": 700}, {"width": 390, "height": 700}):
        page.set_viewport_size(size)
        preflight.locator(".ds-passed dd").first.scroll_into_view_if_needed()
        expect(page.locator("#launch")).to_be_in_viewport(ratio=1)
        page.evaluate("scrollTo(0, 0)")
        expect(page.locator("#launch")).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 1280, "height": 700})
    page.get_by_label("Slurm").check()
    ids = ("nodes", "per-node", "partition", "gpu-type", "time", "account", "cpus", "memory")
    boxes = [page.locator(f"#slurm-{one}").locator("input, textarea").bounding_box() for one in ids]
    assert len({one["x"] for one in boxes}) == 4  # columns of the grid, and none of its places empty
    assert len({(round(one["width"]), round(one["height"])) for one in boxes}) == 1
    expect(page.locator(".ds-command-head")).to_contain_text("The job script, exactly as it will be submitted")


def test_a_problem_accepted_for_some_arguments_is_asked_again_for_others_and_for_a_clone(page, tmp_path):
    script = tmp_path / "strict.py"
    script.write_text(STRICT)
    choose_script(page, script)
    tick, arguments = page.locator("#although input"), page.locator("#arguments textarea, #arguments input").first
    tick.check()
    expect(page.locator("#launch")).to_be_enabled()
    arguments.fill("--momentum 0.9")
    expect(tick).not_to_be_checked()
    expect(page.locator("#launch")).to_be_disabled()

    tick.check()
    page.click("#launch:not([disabled])")
    expect(page.locator(".ds-run-head .ds-state")).to_have_text("failed", timeout=60_000)
    page.click("#clone-run")
    expect(page.get_by_role("tab", name="2 · Launch")).to_have_attribute("aria-selected", "true")
    expect(tick).not_to_be_checked()
    expect(page.locator("#launch")).to_be_disabled()


def test_what_is_fine_is_folded_and_the_targets_answer_comes_by_itself(page):
    page.get_by_role("tab", name="2 · Launch").click()
    folded = page.locator("#preflight details")
    expect(folded.locator("summary")).to_have_text(re.compile(r"^All \d+ checks$"))
    compiler = folded.locator("dt", has_text="C++ compiler")
    expect(compiler).to_have_count(1, timeout=ANSWER_MS)
    expect(compiler).not_to_be_visible()
    folded.locator("summary").click()
    expect(compiler).to_be_visible()
    expect(folded.locator("dt", has_text="C++ compiler").get_by_role("img")).to_have_attribute("aria-label", "OK")
    # What was found about the config is a press away.
    page.locator("#launch-verdict a").click()
    expect(page.get_by_role("tab", name="1 · Configure")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#findings")).to_be_in_viewport()


def test_nothing_sticks_out_on_a_phone(page, tmp_path):
    script = tmp_path / ("a-script-with-a-very-long-name-" * 4 + ".py")
    script.write_text(STRICT)
    page.set_viewport_size({"width": 390, "height": 800})
    preflight = choose_script(page, script)
    expect(preflight.locator('[data-check="takes_config"]')).to_be_visible()
    preflight.locator("summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("#to-checks a.ds-to-stop").click()  # from the button that stays in view
    expect(preflight.locator(".ds-verdict")).to_be_in_viewport()
    expect(page.locator("#preflight")).to_be_focused()


TRAINER = (
    "from transformers import HfArgumentParser, TrainingArguments\n"
    "print(HfArgumentParser(TrainingArguments).parse_args_into_dataclasses())\n"
)


def test_arguments_that_contradict_the_config_hold_launch_back_and_logging_is_a_click(page, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(TRAINER)
    preflight = choose_script(page, script)
    command, logs = page.locator("#command"), page.locator("#logs input")
    expect(command).to_contain_text("--logging_steps 10")
    expect(logs).to_be_checked()
    logs.uncheck()
    expect(command).not_to_contain_text("--logging_steps")

    arguments = page.locator("#arguments textarea, #arguments input").first
    arguments.fill("--logging_steps 5 --overwrite_output_dir")
    expect(logs).to_have_count(0)
    expect(preflight.locator('[data-check="options"]')).to_contain_text("Remove --overwrite_output_dir.")
    expect(page.locator("#launch")).to_be_disabled()
    offers = preflight.locator("[data-offer]")
    expect(offers).to_have_text(["Remove --overwrite_output_dir", "Add --use_cpu to the arguments"])
    offers.first.click()
    expect(arguments).to_have_value("--logging_steps 5")
    expect(offers).to_have_text(["Add --use_cpu to the arguments"])  # the other stays
    expect(preflight.locator('[data-check="options"]')).to_have_count(0)
    arguments.fill("--logging_steps 5 --max_grad_norm 7")
    expect(preflight.locator('[data-check="options"]')).to_have_count(0)

    page.get_by_role("tab", name="1 · Configure").click()
    sound = '"train_micro_batch_size_per_gpu": "auto", "zero_optimization": {"stage": 1}'
    replace_text(page, f'{{"gradient_clipping": 1.0, {sound}}}')
    page.get_by_role("tab", name="2 · Launch").click()
    agreement = preflight.locator('[data-check="agreement"]')
    expect(agreement).to_contain_text("gradient_clipping: 1.0 in the file, 7.0 from the arguments.")
    expect(page.locator("#launch-verdict")).to_have_text(re.compile(r"ranks\s*$"))  # what stops it is told once, there
    expect(page.locator("#launch")).to_be_disabled()


# Launch is pressed as soon as these words are shown: what an old answer has changed on the page may ask anew at once.
PRESSED_AT = """(words) => {
  const command = document.getElementById("command");
  new MutationObserver((_, watch) => {
    if (!command.textContent.includes(words)) return;
    watch.disconnect();
    document.getElementById("launch").click();
    window.pressed = true;
  }).observe(command, { subtree: true, childList: true, characterData: true });
}"""


def test_one_press_starts_what_stands_on_the_page_while_an_old_answer_shows_another_command(page, tmp_path):
    script = tmp_path / "sound.py"
    script.write_text("import sys\nprint(sys.argv)")
    choose_script(page, script)
    arguments, command = page.locator("#arguments textarea, #arguments input").first, page.locator("#command")
    arguments.fill("--old")
    expect(command).to_contain_text("--old")
    page.get_by_role("tab", name="1 · Configure").click()
    held = HeldAnswers(page, '"value":"2 · Launch"', telling="sound.py --old")
    page.get_by_role("tab", name="2 · Launch").click()  # asks for a command, as typing does, and later than that
    held.wait()
    arguments.fill("--new")
    expect(command).to_contain_text("--new")
    page.evaluate(PRESSED_AT, "--old")
    held.release()
    page.wait_for_function("window.pressed")
    expect(page.get_by_label("Output of the run")).to_contain_text("--new", timeout=60_000)


# Cheaper: the tick's part above, in test_a_problem_holds_launch_back…; a press before an answer: one press, above, and
# tests/ui/launch/test_previewed.py; what is accepted then: tests/ui/launch/test_preview.py.
@pytest.mark.complete
def test_one_press_starts_what_was_accepted_while_its_command_is_still_being_built(page, tmp_path):
    script = tmp_path / "strict.py"
    script.write_text(STRICT)
    choose_script(page, script)
    page.locator("#although input").wait_for()
    held = HeldAnswers(page, "strict.py")
    page.locator("#although input").check()
    held.wait()
    page.unroute("**/gradio_api/run/**")  # that answer never comes; what is asked from here on is answered
    page.click("#launch:not([disabled])")
    expect(page.locator(".ds-run-head .ds-state")).to_have_text("failed", timeout=60_000)


# Cheaper: test_one_press_starts_what_stands… above, and tests/ui/launch/test_previewed.py.
@pytest.mark.complete
def test_one_press_starts_a_script_whose_command_is_still_being_built(page, tmp_path):
    script = tmp_path / "sound.py"
    script.write_text("import sys\nprint(sys.argv)")
    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_label("My own script").check()
    expect(page.locator("#launch")).to_be_disabled()  # there is none yet
    held = HeldAnswers(page, "sound.py")
    page.locator("#script textarea, #script input").first.fill(str(script))
    held.wait()
    page.unroute("**/gradio_api/run/**")
    page.click("#launch:not([disabled])")
    expect(page.get_by_label("Output of the run")).to_contain_text("sound.py", timeout=60_000)


def test_a_reload_leaves_what_is_to_be_launched_as_it_was(page, tmp_path):
    script = tmp_path / "sound.py"
    script.write_text("print(1)")
    choose_script(page, script)
    page.locator("#arguments textarea, #arguments input").first.fill("--tokenizer_name t --lr 3")
    page.locator("#where").get_by_label("Several machines over ssh").check()
    page.locator("#hostfile textarea").fill("worker-1 slots=4")
    page.wait_for_function("sessionStorage.getItem('dsgui.launch')?.includes('worker-1')")
    page.reload()
    page.get_by_role("tab", name="2 · Launch").click()
    expect(page.get_by_label("My own script")).to_be_checked()
    expect(page.locator("#script textarea, #script input").first).to_have_value(str(script))
    expect(page.locator("#arguments textarea, #arguments input").first).to_have_value("--tokenizer_name t --lr 3")
    expect(page.locator("#hostfile textarea")).to_have_value("worker-1 slots=4")


def test_what_stops_a_config_is_a_press_away_from_the_verdict_and_in_view_beside_the_editor(page):
    page.set_viewport_size({"width": 1280, "height": 900})
    replace_text(page, '{"train_batch_size": 8,' + "\n" * 20)
    expect(page.locator("#config-json")).to_have_attribute("data-broken", re.compile("Line 21"))
    # What is wrong stands whole below the text, the button that copies on the editor's head line, over no line of it.
    beside = """(one) => { const text = one.querySelector(".cm-line").getBoundingClientRect().top;
      const below = getComputedStyle(one, "::after");
      const copying = one.querySelector(".icon-button-wrapper").getBoundingClientRect().bottom;
      return [below.content.includes("Line 21"), below.position, below.whiteSpace, copying <= text]; }"""
    assert page.locator("#config-json").evaluate(beside) == [True, "static", "normal", True]
    page.get_by_role("tab", name="Launch").click()
    link = page.locator("#launch-verdict").get_by_role("link", name="see below")
    link.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#preflight")).to_be_focused()
    expect(page.locator('#preflight [data-check="config"]')).to_be_in_viewport()


def test_what_takes_a_while_to_check_is_said_to_be_checked_over_what_was_said_before(page, tmp_path):
    script = tmp_path / "slow.py"
    script.write_text(TRAINER)
    held = []
    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_label("My own script").check()
    checks = page.locator("#preflight")
    expect(checks).to_contain_text("Still needed")
    expect(checks).not_to_have_attribute("data-checking", re.compile("."))

    def hold(route):
        if "slow.py" in (route.request.post_data or "") and not held:
            held.append(route)
        else:
            route.continue_()

    page.route("**/run/predict*", hold)
    page.locator("#script input").fill(str(script))
    expect(checks).to_have_attribute("data-checking", "Checking…")
    expect(checks).to_have_attribute("aria-busy", "true")
    held[0].continue_()
    expect(page.locator("#command")).to_contain_text("slow.py")
    expect(checks).not_to_have_attribute("data-checking", re.compile("."))
    expect(checks).to_have_attribute("aria-busy", "false")
