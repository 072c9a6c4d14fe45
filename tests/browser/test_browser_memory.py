"""The memory bars on Configure in a real browser: a model is chosen, each edit moves the bars, the run keeps it."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.support.browser import HeldAnswers, choose, editor, replace_text
from tests.support.run_fixtures import wait_until

pytestmark = pytest.mark.browser

CONFIG = {
    "train_micro_batch_size_per_gpu": 1,
    "gradient_accumulation_steps": 1,
    "gradient_clipping": 1.0,
    "bf16": {"enabled": True},
    "zero_optimization": {"stage": 2},
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}},
}
OFFLOADED = {"stage": 3, "offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "cpu"}}
ASKS_A_HOST = re.compile(r"^needs \d+ GiB on the host$")  # fits the GPU; what the host has nobody said


def chip(page):
    return page.locator(".ds-mem-chip")


def bar(page, device):
    return page.locator(f'.ds-mem-device[data-device="{device}"]')


def details(page):
    """The parts by moment, the assumptions: folded at first."""
    return page.locator(".ds-mem-details > summary")


def plan_for_a_24_gb_card(page):
    replace_text(page, json.dumps(CONFIG))
    expect(editor(page)).to_contain_text("gradient_clipping")
    choose(page, "#device", "RTX 4090 24 GB")
    page.fill("#gpus input", "4")
    page.fill("#memory-model textarea, #memory-model input", "7B")


def test_a_config_that_does_not_fit_is_made_to_fit(page):
    expect(page.locator("#memory-panel")).to_contain_text("Choose a model: a hub id, a size such as 7B")
    expect(page.locator("#gpus label")).to_have_text("CPU ranks per node")
    plan_for_a_24_gb_card(page)
    expect(chip(page)).to_have_text("doesn’t fit")
    expect(page.locator("#gpus label")).to_have_text("GPUs per node")  # of what is planned for, not of what is here
    expect(bar(page, "gpu")).to_have_attribute("data-fit", "does_not_fit")
    expect(bar(page, "gpu")).to_contain_text(re.compile(r"≈ \d+ GiB of \d+\.\d GiB, doesn’t fit"))
    replace_text(page, json.dumps(CONFIG | {"zero_optimization": OFFLOADED}))
    expect(chip(page)).to_have_text(ASKS_A_HOST)
    expect(bar(page, "gpu")).to_have_attribute("data-fit", "fits")
    expect(bar(page, "host")).to_contain_text("GiB needed")
    # Without an end a bar would be as full for any need: there is none, and a way to say what the host has.
    expect(bar(page, "host").locator(".ds-mem-bar")).to_have_count(0)
    expect(bar(page, "host")).to_contain_text("The host’s memory isn’t known.")
    bar(page, "host").get_by_role("button", name="Set host memory").click()
    expect(page.locator("#memory-host :is(textarea, input)")).to_be_focused()
    page.fill("#memory-host textarea, #memory-host input", "64")
    expect(bar(page, "host")).to_have_attribute("data-fit", "does_not_fit")
    looks = "(all) => [...new Set(all.map((one) => getComputedStyle(one).backgroundColor))]"
    lines = ".ds-mem-line, .ds-mem-legend [data-place=limit]"
    assert len(page.eval_on_selector_all(f"#memory-panel :is({lines})", looks)) == 1  # in the bars as in the legend
    page.fill("#memory-host textarea, #memory-host input", "512")
    expect(chip(page)).to_have_text("fits")


def test_the_cheapest_change_that_fits_is_a_press_away(page):
    plan_for_a_24_gb_card(page)
    expect(chip(page)).to_have_text("doesn’t fit")
    way_out = page.locator("#findings .ds-way-out")
    held = HeldAnswers(page, '"event_data":{"asked"')
    way_out.get_by_role("button", name="Find the cheapest change that fits").click()
    held.wait()
    expect(way_out).to_contain_text("Looking for the cheapest change…")
    held.release()
    # Of a host that nobody described it is said what it has to have.
    expect(way_out).to_contain_text("Cheapest change that fits the GPUs, by estimate: GPU ")
    expect(way_out).to_contain_text(re.compile(r"It fits only if the host has \d+ GiB"))
    expect(way_out).to_contain_text(re.compile(r"GPU ≈ [\d.]+ GiB of \d+\.\d GiB"))  # as the bars have it
    # What a press changes is said before it, from what it is now.
    expect(way_out.locator("li")).to_have_count(2)
    expect(way_out).to_contain_text("zero_optimization.stage: 2 → 3")
    expect(way_out).to_contain_text('zero_optimization.offload_optimizer: not set → {"device":"cpu"}')
    expect(page.locator("#memory-panel")).not_to_contain_text("Cheapest change")  # once is enough
    way_out.get_by_role("button", name="Apply 2 changes").click()
    expect(chip(page)).to_have_text(ASKS_A_HOST)
    expect(editor(page)).to_contain_text("offload_optimizer")
    expect(page.get_by_role("button", name="Find the cheapest")).to_have_count(0)
    page.get_by_role("button", name="Undo").first.click()
    expect(chip(page)).to_have_text("doesn’t fit")


def test_where_no_change_fits_it_is_said_at_once_and_leads_to_what_helps(page):
    """The states of 70B are more than the GPUs and such a host: nothing is offered to be looked for."""
    plan_for_a_24_gb_card(page)
    page.fill("#memory-model textarea, #memory-model input", "70B")
    expect(chip(page)).to_have_text("doesn’t fit")
    page.get_by_role("button", name="More: checkpointing").click()
    page.fill("#memory-host textarea, #memory-host input", "32")
    page.get_by_role("button", name="More: checkpointing").click()
    way_out = page.locator("#findings .ds-way-out")
    expect(way_out).to_contain_text("weights and optimizer states alone take")
    expect(page.get_by_role("button", name="Find the cheapest change")).to_have_count(0)
    leads = way_out.locator(".ds-mem-leads button")
    # Shorter sequences wouldn't help, and how many GPUs would is offered.
    expect(leads).to_have_text(["Change host memory", "Set NVMe folder", "Set LoRA rank"])
    leads.nth(1).click()
    expect(page.locator("#memory-nvme input, #memory-nvme textarea")).to_be_focused()
    leads.nth(2).click()
    expect(page.locator("#memory-lora-rank input, #memory-lora-rank textarea")).to_be_focused()
    page.keyboard.type("8")
    expect(way_out).to_contain_text("the model’s weights alone take")
    expect(leads).to_have_text(["Change host memory", "Set NVMe folder"])
    # What only a search tells leads there too, to the length as well.
    page.fill("#memory-lora-rank textarea, #memory-lora-rank input", "")
    page.fill("#memory-host textarea, #memory-host input", "512")
    page.fill("#memory-model textarea, #memory-model input", "7B")
    page.fill("#memory-length textarea, #memory-length input", "400000")
    way_out.get_by_role("button", name="Find the cheapest change that fits").click()
    expect(way_out).to_contain_text("no config change makes it fit with this optimizer and these data types. It needs")
    way_out.get_by_role("button", name="Change sequence length").click()
    expect(page.locator("#memory-length input, #memory-length textarea")).to_be_focused()


def test_where_no_change_fits_a_press_plans_for_what_does(page):
    """LoRA or more GPUs are looked for without a press, said with what they take, and one press has it fit."""
    plan_for_a_24_gb_card(page)
    page.fill("#memory-model textarea, #memory-model input", "13B")
    page.get_by_role("button", name="More: checkpointing").click()
    page.fill("#memory-host textarea, #memory-host input", "64")
    page.keyboard.press("Tab")
    way_out = page.locator("#findings .ds-way-out")
    offers = way_out.locator(".ds-way-offers li")
    expect(offers).to_have_count(2)
    expect(offers.first).to_have_text(
        re.compile(r"^Plan for LoRA of rank 16\s*GPU ≈ \d+ GiB of 23\.6 GiB, Host ≈ [\d.]+ GiB of 64\.0 GiB")
    )
    expect(offers.nth(1)).to_contain_text("× RTX 4090 24 GB")
    # What the offers don't take is still led to, and said once.
    expect(way_out.locator(".ds-mem-leads button")).to_have_text(["Change host memory", "Set NVMe folder"])
    expect(way_out).not_to_contain_text("It needs")
    offers.first.get_by_role("button").click()
    expect(page.locator("#memory-lora-rank textarea, #memory-lora-rank input")).to_have_value("16")
    expect(chip(page)).to_have_text("fits")
    expect(way_out).to_have_count(0)
    page.get_by_role("button", name="Undo").first.click()
    page.fill("#memory-lora-rank textarea, #memory-lora-rank input", "")
    page.keyboard.press("Tab")
    expect(offers).to_have_count(2)
    more = offers.nth(1).get_by_role("button")
    nodes, gpus = re.search(r"(?:(\d+) nodes of )?(\d+) ×", more.inner_text()).groups()
    more.click()
    expect(page.locator("#gpus input")).to_have_value(gpus)
    expect(page.locator("#nodes input")).to_have_value(nodes or "1")
    expect(chip(page)).to_have_text("fits")
    expect(page.locator("#findings .ds-verdict")).to_contain_text("Checks pass")


LOOKS = "window.gradio_config.dependencies.find(({ targets }) => targets.some(([, event]) => event === 'find')).id"


def test_a_press_waits_for_what_the_page_looks_for_by_itself(page):
    """It is no second request that is dropped: the page would say that it looks for good."""
    plan_for_a_24_gb_card(page)
    looks, held = page.evaluate(LOOKS), []

    def hold(route):
        is_first = not held and json.loads(route.request.post_data or "{}").get("fn_index") == looks
        held.append(route) if is_first else route.continue_()

    page.route("**/gradio_api/run/**", hold)
    page.fill("#memory-model textarea, #memory-model input", "70B")
    page.get_by_role("button", name="More: checkpointing").click()
    page.fill("#memory-host textarea, #memory-host input", "32")
    way_out = page.locator("#findings .ds-way-out")
    expect(way_out).to_contain_text("Looking for")
    wait_until(lambda: held or page.wait_for_timeout(50))
    page.fill("#memory-host textarea, #memory-host input", "512")
    page.fill("#memory-model textarea, #memory-model input", "7B")
    page.fill("#memory-length textarea, #memory-length input", "400000")
    way_out.get_by_role("button", name="Find the cheapest change that fits").click()
    page.wait_for_timeout(300)
    held[0].continue_()
    expect(way_out).to_contain_text("no config change makes it fit with this optimizer and these data types. It needs")


def test_of_one_device_alone_the_head_says_that_it_does_not_fit(page):
    page.fill("#memory-model textarea, #memory-model input", "70B")
    expect(chip(page)).to_have_text("doesn’t fit")
    expect(bar(page, "host").locator(".ds-mem-need")).to_have_text(re.compile(r"^≈ [\d,.]+ [GT]iB of [\d,.]+ [GT]iB$"))
    plan_for_a_24_gb_card(page)
    expect(bar(page, "gpu").locator(".ds-mem-need")).to_have_text(re.compile("GiB, doesn’t fit$"))


def test_one_verdict_is_told_of_a_valid_config_that_does_not_fit(page):
    """What passes the checks and doesn't fit is green nowhere, and its verdict has the change that fits."""
    plan_for_a_24_gb_card(page)
    verdict, way_out = page.locator("#findings .ds-verdict"), page.locator("#findings .ds-way-out")
    warns = re.compile("ds-warning")
    expect(verdict).to_have_text(re.compile(r"^Valid, but \d+(\.\d)? GiB short on each GPU"))
    expect(verdict).to_have_class(re.compile("ds-error"))
    expect(page.locator("#standing-verdict")).to_have_attribute("data-kind", "plain")
    outlined = "e => getComputedStyle(e).backgroundColor"
    assert page.locator("#to-launch").evaluate(outlined) == "rgba(0, 0, 0, 0)"
    way_out.get_by_role("button", name="Find the cheapest change that fits").click()
    expect(way_out.locator("li")).to_have_count(2)
    way_out.get_by_role("button", name="Apply").click()
    expect(verdict).to_have_text(re.compile(r"^Checks pass, if the host has \d+ GiB"))  # nobody said what it has
    expect(verdict).to_have_class(warns)
    expect(way_out).to_have_count(0)
    assert page.locator("#to-launch").evaluate(outlined) != "rgba(0, 0, 0, 0)"


def test_what_is_tight_is_offered_a_change_by_the_memory_panel_itself(page):
    """It passes the checks, so no verdict has a place for the offer: it stands with the bars."""
    plan_for_a_24_gb_card(page)
    page.fill("#memory-model textarea, #memory-model input", "3B")
    page.fill("#memory-length textarea, #memory-length input", "1500")
    replace_text(page, json.dumps(CONFIG | {"zero_optimization": {"stage": 3}}))
    expect(chip(page)).to_have_text("tight")
    expect(page.locator("#findings .ds-verdict")).to_contain_text("Checks pass")
    expect(page.locator("#findings .ds-way-out")).to_have_count(0)
    panel = page.locator("#memory-panel")
    panel.get_by_role("button", name="Find the cheapest change that fits").click()
    expect(panel.locator(".ds-mem-change")).to_contain_text("Cheapest change that fits")
    told = panel.locator(".ds-mem-edits li")
    expect(told.first).to_be_visible()
    count = told.count()
    panel.get_by_role("button", name="Apply this change" if count == 1 else f"Apply {count} changes").click()
    expect(chip(page)).to_have_text(re.compile("^(fits|needs .* on the host)$"))
    expect(panel.get_by_role("button", name="Find the cheapest")).to_have_count(0)


def test_checkpointing_is_ticked_and_given_to_the_script(page):
    plan_for_a_24_gb_card(page)
    page.fill("#memory-length textarea, #memory-length input", "4096")
    page.fill("#gpus input", "8")
    replace_text(page, json.dumps(CONFIG | {"zero_optimization": OFFLOADED | {"offload_param": {"device": "none"}}}))
    expect(chip(page)).to_have_text("doesn’t fit")
    way_out = page.locator("#findings .ds-way-out")
    way_out.get_by_role("button", name="Find the cheapest change that fits").click()
    added = ["--gradient_checkpointing True", "--per_device_train_batch_size 1", "--learning_rate 0.0001", "--bf16"]
    expect(way_out.locator("li")).to_have_text([f"Script argument (2 · Launch): {one}" for one in added])
    way_out.get_by_role("button", name="Apply 4 changes").click()
    expect(chip(page)).to_have_text(ASKS_A_HOST)
    given = "In the script’s arguments (2 · Launch): --gradient_checkpointing True"
    expect(page.locator("#memory-panel")).to_contain_text(given)
    page.click("#to-launch")
    expect(page.locator("#arguments textarea")).to_have_value(re.compile("--gradient_checkpointing True"))
    page.get_by_role("tab", name="1 · Configure").click()
    page.get_by_role("button", name="More: checkpointing").click()
    expect(page.get_by_role("checkbox", name="Gradient checkpointing")).to_be_checked()
    # A reload undoes nothing of it: a model is planned for, whose script is chosen anew.
    page.reload()
    expect(chip(page)).to_have_text(ASKS_A_HOST)
    page.get_by_role("button", name="More: checkpointing").click()
    expect(page.get_by_role("checkbox", name="Gradient checkpointing")).to_be_checked()
    page.get_by_role("tab", name="2 · Launch").click()
    expect(page.locator("#arguments textarea")).to_have_value(re.compile("--gradient_checkpointing True"))


def test_a_part_says_what_it_is_by_mouse_and_keyboard_and_leads_to_its_key(page):
    plan_for_a_24_gb_card(page)
    expect(chip(page)).to_have_text("doesn’t fit")
    explained = page.locator(".ds-mem-explained")
    expect(explained).to_be_hidden()
    details(page).click()
    expect(explained).to_have_text("Point at a part to see what it is and which keys change it.")
    page.hover("#ds-part-gpu-gpu-moments")
    expect(explained).to_contain_text("optimizer states: What the optimizer remembers of each parameter")
    page.focus("#ds-part-gpu-gpu-moments-entry")
    page.keyboard.press("Shift+Tab")
    expect(explained).to_contain_text("weights: The model’s own parameters")
    explained.get_by_role("button", name="zero_optimization.stage").click()
    expect(page.locator('[data-pointer="/zero_optimization/stage"] input:checked')).to_be_focused()
    need = bar(page, "gpu").locator(".ds-mem-need")
    peak, moment = need.inner_text(), page.get_by_role("button", name="initialize")
    expect(bar(page, "gpu").locator(".ds-mem-name")).to_contain_text(re.compile(r"peak in the (backward pass|optim)"))
    moment.click()
    expect(moment).to_have_attribute("aria-pressed", "true")
    # What a moment takes stands beside the peak, which the verdict is about.
    expect(need).to_have_text(f"peak: {peak}")
    shown = bar(page, "gpu").locator(".ds-mem-name")
    expect(shown).to_contain_text(re.compile(r"≈ \d+ GiB while deepspeed\.initialize runs"))
    expect(bar(page, "gpu")).to_have_attribute("data-fit", "does_not_fit")
    page.get_by_role("button", name="peak").click()
    expect(need).to_have_text(peak)


def test_each_part_of_a_bar_is_as_wide_as_its_share(page):
    """What takes less than a pixel takes no more: four such parts looked like a gap."""
    plan_for_a_24_gb_card(page)
    expect(chip(page)).to_have_text("doesn’t fit")
    page.fill("#memory-model textarea, #memory-model input", "70B")
    expect(page.locator(".ds-mem-about")).to_contain_text("70 billion")
    wider = """(all) => all.map((one) => one.getBoundingClientRect().width
      - parseFloat(one.style.width) / 100 * one.parentElement.clientWidth)"""
    parts = page.eval_on_selector_all(".ds-memory .ds-mem-part", wider)
    assert len(parts) > 8
    assert max(parts) < 0.1


def test_the_json_begins_near_the_verdict_and_what_was_unfolded_stays_so(page):
    """Folded: the verdict, the bars and what to do. The rest is a click away, by keyboard too, and a part's own click
    opens it; a moment that nothing tells of is not what the bars are about."""
    plan_for_a_24_gb_card(page)
    expect(chip(page)).to_have_text("doesn’t fit")
    fold = page.locator(".ds-mem-details")
    panel, json_box = page.locator("#memory").bounding_box(), page.locator("#config-json").bounding_box()
    assert panel["height"] < 420
    assert 0 <= json_box["y"] - panel["y"] - panel["height"] < 20
    for place, act in (
        ("#memory-panel", "Memory dry run"),
        ("#findings", "Find the cheapest change that fits"),
    ):
        expect(page.locator(place).get_by_role("button", name=act)).to_be_visible()
    expect(page.locator(".ds-mem-legend")).to_contain_text("optimizer states")  # the colours, with the bars
    above = page.locator(".ds-mem-bar").last.bounding_box()
    details(page).press("Enter")
    expect(page.locator(".ds-mem-entry").first).to_be_visible()
    expect(fold).to_contain_text("takes three steps without allocating memory")
    assert page.locator(".ds-mem-bar").last.bounding_box() == above
    page.get_by_role("button", name="initialize").click()
    initialize = bar(page, "gpu").locator(".ds-mem-need").inner_text()
    page.fill("#gpus input", "8")  # drawn anew
    expect(page.locator(".ds-mem-about")).to_contain_text("8 GPUs")
    expect(page.locator(".ds-mem-entry").first).to_be_visible()
    page.fill("#gpus input", "4")
    expect(bar(page, "gpu").locator(".ds-mem-need")).to_have_text(initialize)
    details(page).click()
    expect(bar(page, "gpu").locator(".ds-mem-need")).not_to_have_text(initialize)
    page.reload()
    expect(chip(page)).to_have_text("doesn’t fit")
    expect(page.locator(".ds-mem-entry").first).to_be_hidden()
    page.click("#ds-part-gpu-gpu-moments")
    expect(page.locator(".ds-mem-explained")).to_contain_text("optimizer states:")
    expect(fold).to_have_attribute("open", "")
    page.reload()
    expect(page.locator(".ds-mem-entry").first).to_be_visible()


def test_launch_checks_the_same_model(page, tmp_path):
    """Here on the CPU: what a GPU would hold stands in host memory. A recipe would not train that model."""
    script = tmp_path / "train.py"
    script.write_text("import deepspeed")
    replace_text(page, json.dumps(CONFIG | {"zero_optimization": OFFLOADED}))
    page.fill("#memory-model textarea, #memory-model input", "70B")
    expect(chip(page)).to_have_text("doesn’t fit")
    page.get_by_role("tab", name="2 · Launch").click()
    expect(page.get_by_label("My own script")).to_be_checked()
    page.fill("#script :is(textarea, input)", str(script))
    expect(page.locator("#preflight")).to_contain_text("70B: doesn’t fit (Host ")
    page.fill("#arguments textarea, #arguments input", "--max_seq_length 2048")
    page.get_by_role("tab", name="1 · Configure").click()
    expect(page.locator(".ds-mem-about")).to_contain_text("1 × 2048 tokens")


def test_a_reload_keeps_the_model(page):
    plan_for_a_24_gb_card(page)
    expect(chip(page)).to_have_text("doesn’t fit")
    page.reload()
    expect(chip(page)).to_have_text("doesn’t fit")
    expect(page.locator("#memory-model textarea, #memory-model input")).to_have_value("7B")


# Cheaper: tests/ui/config/test_memory_asking.py::test_the_scripts_arguments_name…; the page's part: the test of Launch.
@pytest.mark.complete
def test_a_model_that_the_scripts_arguments_name_is_taken(page):
    replace_text(page, json.dumps(CONFIG))
    choose(page, "#device", "RTX 4090 24 GB")
    page.get_by_role("tab", name="2 · Launch").click()
    page.fill("#arguments textarea, #arguments input", "--model_name_or_path 7B --max_seq_length 2048")
    page.get_by_role("tab", name="1 · Configure").click()
    expect(chip(page)).to_have_text("doesn’t fit")
    expect(page.locator(".ds-mem-about")).to_contain_text("1 × 2048 tokens")


def test_zeros_stages_stand_side_by_side_and_follow_the_config(page):
    plan_for_a_24_gb_card(page)
    expect(chip(page)).to_have_text("doesn’t fit")
    page.get_by_text("ZeRO stages compared").click()
    stages = page.locator(".ds-zs-stage")
    expect(stages).to_have_count(4)
    current = page.locator('.ds-zs-stage[aria-current="true"]')
    expect(current).to_contain_text("Stage 2 this config")
    expect(current).to_contain_text(bar(page, "gpu").locator(".ds-mem-need").inner_text().split(" of ")[0])
    expect(current).to_contain_text("Model states 2Ψ + 2Ψ/4 + 12Ψ/4 = 5.5Ψ")
    expect(stages.nth(0)).to_contain_text("2Ψ + 2Ψ + 12Ψ = 16Ψ")
    expect(page.locator(".ds-zs-legend li").last).to_have_text("limit")
    page.fill("#gpus input", "8")
    expect(stages.nth(3)).to_contain_text("2Ψ/8 + 2Ψ/8 + 12Ψ/8 = 2Ψ")
    replace_text(page, json.dumps(CONFIG | {"zero_optimization": OFFLOADED}))
    expect(current).to_contain_text("Stage 3 this config")
    expect(current).to_contain_text("on the host")
    replace_text(page, json.dumps(CONFIG | {"zero_optimization": {"stage": 7}}))
    expect(page.locator(".ds-zs")).to_contain_text("Fix the config first:")
    expect(page.locator("#memory-panel")).to_contain_text("Memory depends on zero_optimization.stage")
    expect(chip(page)).to_have_text("not estimated")
    expect(page.locator(".ds-mem-bar")).to_have_count(0)
    page.get_by_text("ZeRO stages compared").click()
    with page.expect_response("**/gradio_api/run/**"):
        page.get_by_text("ZeRO stages compared").click()
    expect(page.locator(".ds-zs:not([aria-busy])")).to_contain_text("Fix the config first:")  # the same answer again
    page.get_by_role("button", name="Show the error").click()
    expect(
        page.get_by_role("radiogroup", name="zero_optimization.stage").get_by_role("radio", name="7")
    ).to_be_focused()
    # With errors whose repair is plain it is told what the repaired config takes, and that it is another.
    replace_text(page, json.dumps(CONFIG | {"zero_optimization": {"stage": 2, "overlap_com": True}}))
    expect(page.locator(".ds-mem-as-if")).to_have_text(
        "Estimate as if the errors were fixed: zero_optimization.overlap_com: Rename to overlap_comm"
    )
    expect(chip(page)).to_have_text("doesn’t fit once fixed")
    # Of many their number, and each on a press; what the panel draws anew leaves them open.
    wrong = {"stage": 2, "overlap_com": True, "reduce_scater": True, "contiguous_gradient": True}
    replace_text(page, json.dumps(CONFIG | {"zero_optimization": wrong}))
    many = page.locator("details.ds-mem-as-if")
    expect(many.locator("summary")).to_have_text(re.compile(r"^Estimate as if \d errors were fixed$"))
    expect(many.get_by_role("button").first).to_be_hidden()
    many.locator("summary").click()
    expect(many.get_by_role("button").first).to_be_visible()
    page.fill("#memory-length input", "1024")
    expect(many.get_by_role("button").first).to_be_visible()
    expect(page.locator("#standing-fit")).to_have_count(0)
    expect(page.locator("#ds-mem-find")).to_have_count(0)


@pytest.mark.parametrize("width", [390, 1280])
def test_beside_each_other_stand_only_fields_that_have_room_and_in_one_line(page, width):
    page.set_viewport_size({"width": width, "height": 844})
    page.locator("#memory > .gr-accordion button.label-wrap").click()
    boxes = {
        name: page.locator(f"#memory-{name} input, #memory-{name} textarea").first.bounding_box()
        for name in ("target-length", "lora-rank", "attention", "host", "nvme")
    }
    apart = width < 400
    length, rank, attention = (boxes[name] for name in ("target-length", "lora-rank", "attention"))
    assert rank["y"] == length["y"]
    assert rank["x"] > length["x"] + length["width"]
    assert (attention["y"] > length["y"] + length["height"]) is apart
    assert apart or attention["y"] == pytest.approx(length["y"], abs=1)
    assert (boxes["nvme"]["y"] > boxes["host"]["y"]) is apart
    assert {round(one["height"]) for one in boxes.values()} == {34}
