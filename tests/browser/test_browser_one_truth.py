"""What Configure plans goes with the run, and both pages list the same."""

import json

import pytest
from playwright.sync_api import expect

from tests.support.browser import HeldAnswers, choose, findings, replace_text

pytestmark = pytest.mark.browser
NATIVE = '{"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2}'
CLASHES = '{"train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 1}}'


def number(page, name):
    return page.locator(f"#{name} input")


def test_planned_gpus_and_nodes_go_to_slurm_and_the_hostfile_until_somebody_says_otherwise(page, tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import deepspeed\n")
    replace_text(page, NATIVE)
    choose(page, "#integration", "native DeepSpeed")
    number(page, "gpus").fill("4")
    number(page, "nodes").fill("2")
    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_label("My own script").click()
    page.locator("#script textarea, #script input").first.fill(str(script))
    page.get_by_label("Slurm", exact=True).click()
    expect(number(page, "slurm-nodes")).to_have_value("2")
    expect(number(page, "slurm-per-node")).to_have_value("4")
    expect(page.locator("#launch-verdict")).to_contain_text("2 nodes × 4 GPUs")
    said, take = page.locator("#plan-differs"), page.locator("#take-plan")
    expect(said).not_to_contain_text("this run has")
    expect(said).to_contain_text("no GPU model is chosen")

    number(page, "slurm-per-node").fill("1")
    expect(said).to_contain_text(
        "plans for 2 nodes × 4 GPUs, a batch of 64; this run has 2 nodes × 1 GPU, a batch of 16."
    )
    page.get_by_role("tab", name="1 · Configure").click()
    number(page, "gpus").fill("8")
    page.get_by_role("tab", name="2 · Launch").click()
    expect(said).to_contain_text("a batch of 128")
    expect(number(page, "slurm-per-node")).to_have_value("1")  # chosen by hand
    take.click()
    expect(number(page, "slurm-per-node")).to_have_value("8")
    expect(said).not_to_contain_text("this run has")

    page.get_by_label("Several machines over ssh").click()
    hostfile = page.locator("#hostfile textarea")
    expect(hostfile).to_have_attribute("placeholder", "e.g.\nworker-0 slots=8\nworker-1 slots=8")
    hostfile.fill("gpu-a slots=2")
    expect(said).to_contain_text("a batch of 128; this run has 2 ranks, a batch of 16.")
    take.click()
    expect(hostfile).to_have_value("gpu-a slots=8\n<host-2> slots=8\n")
    expect(said).to_be_hidden()
    expect(page.locator("#preflight")).to_contain_text("Replace <host-2> with host names or addresses.")
    hostfile.fill("")
    expect(take).to_be_hidden()
    page.locator("#preflight").get_by_role("button", name="Fill in 2 hosts with 8 slots each").click()
    expect(hostfile).to_have_value("<host-1> slots=8\n<host-2> slots=8\n")
    expect(page.locator("#launch")).to_have_text("Launch · name the hosts")


# Cheaper: tests/js/launch/as_planned.test.js decides it on the page, without a server; the page's part: the test above.
@pytest.mark.complete
def test_a_late_answer_to_the_plan_never_replaces_what_was_typed_meanwhile(page):
    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_label("Slurm", exact=True).click()
    expect(number(page, "slurm-per-node")).to_be_visible()
    page.get_by_role("tab", name="1 · Configure").click()
    held = HeldAnswers(page, '"data":[1,7')
    number(page, "gpus").fill("7")
    held.wait()
    page.get_by_role("tab", name="2 · Launch").click()
    number(page, "slurm-per-node").fill("3")
    number(page, "slurm-nodes").fill("5")
    held.release()
    expect(page.locator("#plan-differs")).to_contain_text("this run has 5 nodes × 3 GPUs")
    expect(number(page, "slurm-per-node")).to_have_value("3")
    expect(number(page, "slurm-nodes")).to_have_value("5")


def test_the_scripts_arguments_count_on_both_pages_and_its_place_too(page):
    replace_text(page, CLASHES)
    expect(findings(page)).to_contain_text("The script needs: --per_device_train_batch_size 4")
    expect(findings(page)).to_contain_text("CPU ranks")
    page.get_by_role("tab", name="2 · Launch").click()
    page.locator("#arguments textarea, #arguments input").first.fill("--per_device_train_batch_size 2")
    page.get_by_label("Slurm", exact=True).click()
    agreement = page.locator('#preflight [data-check="agreement"]', has_text="4 in the file, 2 from the arguments")
    expect(agreement.first).to_be_visible()
    page.get_by_role("tab", name="1 · Configure").click()
    expect(findings(page)).to_contain_text("- ds train_micro_batch_size_per_gpu=4 vs hf per_device_train_batch_size=2")
    expect(findings(page)).not_to_contain_text("CPU")  # nobody knows the nodes' devices
    page.get_by_role("button", name="What the HF Trainer passes").click()
    typed = page.locator("#training-arguments textarea")
    expect(typed).to_have_value("--per_device_train_batch_size 2")
    typed.fill("--per_device_train_batch_size 4")
    expect(findings(page)).not_to_contain_text("- ds ")
    page.get_by_role("tab", name="2 · Launch").click()
    expect(page.locator("#arguments textarea, #arguments input").first).to_have_value("--per_device_train_batch_size 4")
    expect(agreement).to_have_count(0)


LOADS = """
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments
(args,) = HfArgumentParser((TrainingArguments,)).parse_args_into_dataclasses()
Trainer(model=AutoModelForCausalLM.from_pretrained("shape"), args=args).train()
"""
SHAPE = {"model_type": "llama", "hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80}
SHAPE |= {"architectures": ["LlamaForCausalLM"], "num_attention_heads": 64, "num_key_value_heads": 8}


def test_what_a_script_loads_counts_on_configure_though_that_was_never_open(page, tmp_path):
    script, folder = tmp_path / "train.py", tmp_path / "shape"
    script.write_text(LOADS)
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(SHAPE | {"vocab_size": 32000}))
    page.goto(f"{page.url.partition('?')[0]}?tab=launch")
    page.get_by_label("My own script").check()
    page.locator("#script textarea, #script input").first.fill(str(script))
    expect(page.locator("#launch-verdict")).to_contain_text("doesn’t fit")
    page.get_by_role("tab", name="1 · Configure").click()
    # Gradio forgets, of a tab that was never open, what an update of it does not name: the lists' options.
    expect(page.locator("#integration input")).to_have_value("HF Trainer")
    expect(page.locator("#preset input")).to_have_value("T5-small / T5-large: ZeRO-2, optimizer offload")
    expect(page.locator("#standing-fit")).to_have_text("doesn’t fit")
    model = page.locator("#memory-model").get_by_role("textbox")
    expect(model).to_have_attribute("placeholder", f"{folder} (loaded by the script)")
    model.fill("100M")  # what somebody says comes first
    expect(page.locator("#standing-fit")).not_to_contain_text("doesn’t fit")
    model.fill("")
    page.get_by_role("tab", name="2 · Launch").click()
    page.get_by_role("button", name="Change", exact=True).click()
    page.get_by_label("T5 translates").check()
    page.get_by_role("tab", name="1 · Configure").click()
    expect(model).not_to_have_attribute("placeholder", f"{folder} (loaded by the script)")
