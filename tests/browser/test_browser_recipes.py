"""In a browser: every recipe is offered and brings its arguments and its preset; a preset's plans change the batch."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.browser import choose, choose_preset, replace_text

pytestmark = pytest.mark.browser


def edited(page):
    """A config that somebody wrote: no recipe's preset takes its place unasked."""
    replace_text(page, '{"train_batch_size": "auto", "optimizer": {"type": "AdamW", "params": {"lr": "auto"}}}')
    expect(page.locator("#preset input")).to_have_value("Your config")


def test_a_recipe_that_would_be_refused_brings_its_preset_unless_somebody_wrote_the_config(page):
    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_label("T5 summarizes").check()
    expect(page.locator("#recipe-preset")).to_be_visible()  # the same framework: what is there may be meant
    page.get_by_role("button", name="Change", exact=True).click()
    page.get_by_label("Hello world").check()
    told, back = page.locator("#recipe-loaded"), page.locator("#recipe-preset-back")
    expect(told).to_contain_text("Its preset was loaded: Hello world: the shortest")
    expect(page.locator("#recipe-preset")).to_be_hidden()
    expect(page.locator("#launch")).to_have_class(re.compile("primary"))
    page.get_by_role("tab", name="1 · Configure").click()
    expect(page.locator("#integration input")).to_have_value("native DeepSpeed")
    page.get_by_role("tab", name="2 · Launch").click()
    back.click()
    expect(back).to_be_hidden()
    expect(told).to_be_empty()
    expect(page.locator("#launch")).to_have_text(re.compile(r"Launch · \d+ problem"))  # as before: it would be refused
    page.get_by_role("tab", name="1 · Configure").click()
    expect(page.locator("#integration input")).to_have_value("HF Trainer")
    expect(page.locator("#preset input")).to_have_value("T5-small / T5-large: ZeRO-2, optimizer offload")


def test_what_was_loaded_unasked_is_told_until_the_config_is_another(page):
    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_label("Hello world").check()
    expect(page.locator("#recipe-preset-back")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator("#recipe-loaded")).to_be_visible()
    told, card = (page.locator(one).bounding_box() for one in ("#recipe-loaded", ".ds-what"))
    assert card["x"] <= told["x"]
    assert told["x"] + told["width"] <= card["x"] + card["width"]
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_role("tab", name="1 · Configure").click()
    replace_text(page, '{"train_batch_size": 8}')
    page.get_by_role("tab", name="2 · Launch").click()
    expect(page.locator("#recipe-preset-back")).to_be_hidden()
    expect(page.locator("#recipe-loaded")).to_be_empty()


def test_of_a_native_preset_a_native_recipe_is_chosen_until_somebody_chooses_another(page):
    choose_preset(page, "Hello world: the shortest")
    expect(page.locator("#integration input")).to_have_value("native DeepSpeed")
    page.get_by_role("tab", name="2 · Launch").click()
    expect(page.get_by_label("A GPT is pre-trained with deepspeed.initialize")).to_be_checked()
    expect(page.get_by_label("Arguments for the script")).to_have_value("--num_train_epochs 2 --save_steps 50")
    page.get_by_role("tab", name="1 · Configure").click()
    choose(page, "#integration", "HF Trainer")
    page.get_by_role("tab", name="2 · Launch").click()
    expect(page.get_by_label("T5 translates number words")).to_be_checked()
    expect(page.get_by_label("Arguments for the script")).to_have_value("")
    expect(page.get_by_role("button", name="Change", exact=True)).to_be_hidden()  # nobody chose: all are in view
    page.get_by_label("A GPT is pre-trained").check()
    page.get_by_role("button", name="Change", exact=True).click()
    page.get_by_label("T5 translates number words").check()
    page.get_by_role("tab", name="1 · Configure").click()
    choose(page, "#integration", "native DeepSpeed")
    page.get_by_role("tab", name="2 · Launch").click()
    expect(page.get_by_label("T5 translates number words")).to_be_checked()


def test_a_recipe_is_chosen_with_its_arguments_its_preset_and_a_plan(page):
    edited(page)
    page.get_by_role("tab", name="2 · Launch").click()
    expect(page.locator("#command")).to_contain_text("translation.py")
    expect(page.locator("#recipe-preset")).to_be_hidden()
    expect(page.locator("#what-to-run input")).to_have_count(6)
    name = page.get_by_label("Run name")
    expect(name).to_have_attribute("placeholder", "T5 translates")
    page.get_by_label("A GPT is pre-trained").check()
    expect(name).to_have_attribute("placeholder", "GPT pre-training")
    arguments = page.get_by_label("Arguments for the script")
    expect(arguments).to_have_value("--num_train_epochs 2 --save_steps 50")
    expect(page.locator("#command")).to_contain_text("pretraining.py --num_train_epochs 2 --save_steps 50 --deepspeed ")
    expect(page.locator("#recipe-preset")).to_have_text("Load its preset: One batch of 64 on 1, 4 or 8 GPUs (native)")
    load = page.locator("#preflight .ds-finding button", has_text="Load the preset for “GPT pre-training”")
    load.click()  # beside the problem, and as the link below the recipes does
    expect(page.locator("#recipe-preset")).to_be_hidden()
    expect(load).to_have_count(0)

    page.get_by_role("tab", name="1 · Configure").click()
    expect(page.locator("#preset input")).to_have_value("One batch of 64 on 1, 4 or 8 GPUs (native)")
    expect(page.locator("#integration input")).to_have_value("native DeepSpeed")
    page.get_by_label("2 nodes × 4 GPUs: 64 = 8 × 1 × 8").check()
    expect(page.locator("#nodes input")).to_have_value("2")
    expect(page.locator("#gpus input")).to_have_value("4")
    expect(page.locator(".cm-content").first).to_contain_text('"gradient_accumulation_steps": 1')
    page.get_by_label("1 GPU: 64 = 8 × 8 × 1").check()
    expect(page.locator("#nodes input")).to_have_value("1")
    expect(page.locator(".cm-content").first).to_contain_text('"gradient_accumulation_steps": 8')


def test_a_recipes_title_keeps_its_size_where_it_wraps_and_a_path_is_one_line(page):
    page.set_viewport_size({"width": 320, "height": 800})
    page.get_by_role("tab", name="2 · Launch").click()
    captions = page.locator("#what-to-run label small")
    expect(captions).to_have_count(6)
    expect(captions.nth(4)).to_contain_text("Native DeepSpeed · small network")
    title = page.locator("#what-to-run label > span").nth(4)
    assert (
        title.evaluate("one => one.firstChild.nodeValue.trim()") == "Hello world: a plain nn.Module recognizes digits"
    )
    sizes = title.evaluate("one => [one, one.querySelector('small')].map((it) => getComputedStyle(it).fontSize)")
    assert float(sizes[0][:-2]) > float(sizes[1][:-2])
    page.get_by_label("My own script").check()
    script = page.locator("#script input")
    script.fill("/tmp/" + "DeepSpeed-Examples/" * 10 + "train.py")
    assert script.evaluate("one => getComputedStyle(one).textOverflow") == "ellipsis"
    script.hover()
    expect(script).to_have_attribute("title", script.input_value())


def test_the_cards_fold_to_the_chosen_one_and_launch_is_on_the_first_screen(page):
    """Outlined while it would start nothing, with the reason in it."""
    page.set_viewport_size({"width": 1280, "height": 900})
    edited(page)
    page.get_by_role("tab", name="2 · Launch").click()
    cards, change = page.locator("#what-to-run label:visible"), page.get_by_role("button", name="Change", exact=True)
    expect(cards).to_have_count(6)
    expect(change).to_be_hidden()
    page.get_by_label("A GPT is pre-trained").check()
    expect(cards).to_have_count(1)
    launch = page.locator("#launch")
    expect(launch).to_have_text("Launch · 1 problem")
    for part in ("#arguments", "#ranks", "#preflight .ds-verdict", "#launch"):
        expect(page.locator(part)).to_be_in_viewport(ratio=1)
    change.click()
    expect(cards).to_have_count(6)
    expect(page.get_by_label("A GPT is pre-trained")).to_be_focused()

    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.get_by_label("Hello world")).to_be_checked()
    expect(cards).to_have_count(6)  # by keys the next one may be meant
    page.get_by_label("Arguments for the script").focus()
    expect(cards).to_have_count(1)

    change.click()
    place = page.get_by_label("Several machines over ssh")
    place.scroll_into_view_if_needed()
    there = place.bounding_box()
    place.check()
    expect(page.locator("#hostfile textarea")).to_be_visible()
    expect(cards).to_have_count(6)
    assert place.bounding_box() == there  # nothing moves under the pointer
    expect(launch).to_have_text("Launch · add a host")
    background = "one => getComputedStyle(one).backgroundColor"
    outlined = launch.evaluate(background)
    page.get_by_label("This machine", exact=True).check()
    page.locator("#recipe-preset").click()
    expect(launch).not_to_contain_text("problem")
    expect(launch).to_have_class(re.compile("primary"))
    assert launch.evaluate(background) != outlined
