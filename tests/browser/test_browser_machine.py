"""The Machine page in a real browser: quick readings at once, the target's answer when it comes, on a phone too."""

import re

import pytest
from playwright.sync_api import expect

from dsgui.core.texts.saying import words

pytestmark = pytest.mark.browser

SAID = re.compile(
    r"This machine: (all checks passed|no problems found(, \d+ not checked|; not checked: .+)"
    r"|\d+ (problem|warning)s?(, \d+ warnings?)?)"
    r"( so far)?$"
)
ANSWER_MS = 180_000  # imports torch and DeepSpeed


def open_machine(page):
    page.get_by_role("tab", name="4 · Machine").click()
    return page.locator("#machine")


@pytest.mark.parametrize("opens", ["", "?tab=runs"])
def test_the_header_tells_what_the_machine_supports_whichever_page_is_opened_first(page, app, opens):
    page.goto(app.url + opens)
    expect(page.locator(".ds-target")).to_have_text(re.compile("CPU only: bf16"), timeout=ANSWER_MS)


def test_the_page_shows_the_machine_and_then_what_the_target_answers(page):
    machine = open_machine(page)
    expect(machine.get_by_role("heading", name="This machine")).to_be_visible(timeout=30_000)
    expect(machine.locator(".ds-verdict")).to_have_text(SAID)
    expect(machine.get_by_role("heading", name="DeepSpeed’s operators")).to_be_visible(timeout=ANSWER_MS)
    operators = machine.locator("section", has=page.get_by_role("heading", name="DeepSpeed’s operators"))
    expect(operators.locator("dt", has_text="fused_adam")).to_be_hidden()
    operators.locator("summary").click()
    expect(operators.locator("dt", has_text="fused_adam")).to_be_visible()
    expect(machine).not_to_contain_text(words("machine_page", "asking"))
    machine.locator(".ds-findings .ds-passed summary").click()
    expect(machine.locator(".ds-passed dt", has_text="C++ compiler")).to_be_visible()


def test_check_again_asks_anew_and_keeps_what_was_known_meanwhile(page):
    machine = open_machine(page)
    expect(machine.get_by_role("heading", name="DeepSpeed’s operators")).to_be_visible(timeout=ANSWER_MS)
    page.click("#machine-refresh")
    expect(machine).to_contain_text(words("machine_page", "asking"))
    expect(machine.get_by_role("heading", name="DeepSpeed’s operators")).to_be_visible()
    expect(machine).not_to_contain_text(words("machine_page", "asking"), timeout=ANSWER_MS)


def test_nothing_sticks_out_on_a_phone_and_all_four_pages_can_be_reached(page):
    page.set_viewport_size({"width": 390, "height": 800})
    for name in ("2 · Launch", "3 · Runs", "1 · Configure"):
        page.get_by_role("tab", name=name).click()
    machine = open_machine(page)
    expect(machine.get_by_role("heading", name="This machine")).to_be_visible(timeout=30_000)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


LONG = """() => {
  const box = document.createElement("div");
  box.className = "ds-to-copy";
  const name = "deepspeed_<wbr>allreduce_<wbr>buffer_<wbr>0_<wbr>127.0.0.1_<wbr>34285_<wbr>0";
  box.innerHTML = '<pre class="ds-command ds-words"><span class="ds-line"><span>rm</span>' +
    ` <span>/dev/</span><wbr><span>${name}</span>`.repeat(14) + "</span></pre><button class='ds-copy'>Copy</button>";
  document.querySelector("#machine").append(box);
  const [command, copy] = [...box.children].map((one) => one.getBoundingClientRect());
  const { scrollWidth, clientWidth, scrollHeight, clientHeight } = box.firstChild;
  box.remove();
  return { cut: scrollWidth - clientWidth, isScrolled: scrollHeight > clientHeight, height: command.height,
    lost: innerWidth - command.width, isBelow: copy.top >= command.bottom }; }"""


def test_a_command_longer_than_a_phones_line_has_its_width_and_three_lines_with_copy_below(page):
    page.set_viewport_size({"width": 390, "height": 844})
    expect(open_machine(page)).to_be_visible()
    told = page.evaluate(LONG)
    assert told["cut"] == 0
    assert told["isScrolled"]
    assert told["height"] < 80
    assert told["lost"] < 100
    assert told["isBelow"]
