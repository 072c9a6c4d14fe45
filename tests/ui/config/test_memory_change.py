"""From a red bar to a config that fits: what the page is told, and what its press writes."""

import json
import re
from dataclasses import replace

import gradio as gr
import pytest

from dsgui.core.config.arguments import from_command_line
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.findings import Severity
from dsgui.core.launch.field import Part
from dsgui.core.launch.run_fields import fields_of
from dsgui.core.machine.hardware import card_named
from dsgui.core.machine.machine import Host, Machine
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.fits.nvme import Nvme
from dsgui.core.memory.fits.sharpened import Sharpened
from dsgui.core.memory.guessed import model_of_size
from dsgui.core.texts.saying import said
from dsgui.shell.memory.dry_runs import DryRuns
from dsgui.shell.preflight.model_shapes import ModelShapes
from dsgui.ui.common.documents import read_document
from dsgui.ui.config.context_bar import Launched
from dsgui.ui.config.memory_change import change_found, handed_on, planned_now, ticked, with_edits, with_given
from dsgui.ui.config.memory_panel import fitted_for, memory_shown
from dsgui.ui.config.standing import lacking
from dsgui.ui.config.workbench import Workbench
from tests.support.cases import each_case

CONTEXT = Context(Integration.NATIVE, gpus_per_node=4, hardware=(card_named("rtx4090"),))
CONFIG = {
    "train_micro_batch_size_per_gpu": 1,
    "bf16": {"enabled": True},
    "zero_optimization": {"stage": 2},
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}},
}
CHOICE = {"model": "7B", "length": 1024, "checkpointing": True}
# The script's arguments, the host, and the fields of the model.
FIELDS = fields_of(Part.MODEL)
GIVEN = ("", "", *(CHOICE.get(field.name, field.default) for field in fields_of(Part.MODEL)), "")
ON_NVME = (
    "",
    "",
    *((CHOICE | {"nvme": "/nvme"}).get(field.name, field.default) for field in fields_of(Part.MODEL)),
    "",
)


class Here:
    """The services that the panel asks."""

    def __init__(self, checker, python="python"):
        self.checker, self.machine, self.dry_runs = checker, self, DryRuns(python)

    def read_model(self, name):
        return model_of_size(name)

    def nvme_folder(self, named):
        return self.nvme if named else None

    def current(self):
        return Machine(Host())

    def sharpened(self):
        return Sharpened()


@pytest.fixture
def page(checker):
    services, bench = Here(checker), Workbench(checker)

    def page(text):
        view = bench.show(text, CONTEXT)
        shown, found = (tell(services, view, CONTEXT, GIVEN) for tell in (memory_shown, change_found))
        return json.loads(shown), json.loads(found) if found else None

    return page


def test_the_change_is_about_what_is_shown_and_makes_it_fit(page):
    text = json.dumps(CONFIG, indent=4)
    shown, found = page(text)
    assert (shown["fit"], found["asked"]) == ("does_not_fit", shown["asked"])
    assert [one["code"] for one in found["moves"]] == ["stage_3", "offload_optimizer_cpu"]
    edited = with_edits(text, found["changes"])
    assert '    "train_micro_batch_size_per_gpu": 1,\n' in edited  # spliced, not written anew
    shown, again = page(edited)
    assert shown["fit"] == "fits"
    assert again["asked"] != found["asked"]
    assert "changes" not in again


def test_of_what_has_no_verdict_there_is_no_change(page):
    assert page("{")[1] is None
    assert page(json.dumps(CONFIG | {"zero_optimization": {"stage": 7}}))[1] is None


def test_of_errors_with_one_right_fix_what_the_fixed_config_takes_is_told_and_nothing_is_offered(page):
    wrong = CONFIG | {"train_batch_size": 100, "gradient_accumulation_steps": 8}
    wrong["zero_optimization"] = {"stage": 2, "overlap_com": True}
    shown, found = page(json.dumps(wrong))
    right = CONFIG | {"train_batch_size": 32, "gradient_accumulation_steps": 8}
    right["zero_optimization"] = {"stage": 2, "overlap_comm": True}
    assert shown["devices"] == page(json.dumps(right))[0]["devices"]
    assert [one["pointer"] for one in shown["as_if"]] == ["/zero_optimization/overlap_com", "/train_batch_size"]
    assert (found, "asked" in shown, "of" in shown) == (None, False, False)


def test_an_error_that_no_byte_hangs_on_stands_in_no_way_and_any_other_is_named(page):
    harmless = page(json.dumps(CONFIG | {"gradient_clipping": "some"}))[0]
    assert harmless["devices"] == page(json.dumps(CONFIG))[0]["devices"]
    assert [one["pointer"] for one in harmless["as_if"]] == ["/gradient_clipping"]
    for key, value in {"stage": 7, "reduce_bucket_size": -5}.items():
        told = page(json.dumps(CONFIG | {"zero_optimization": {"stage": 2, key: value}}))[0]
        assert (told["fit"], told["goto"]) == ("cannot_say", f"/zero_optimization/{key}")
        assert told["why"]["text"] == f"Memory depends on zero_optimization.{key}, which has an error: fix it first."


def test_a_model_that_only_the_arguments_name_is_told_as_theirs_and_an_entered_one_counts_instead(checker):
    """One truth: the field says which model counts, and where the arguments name another, so does the panel."""
    services, view = Here(checker), Workbench(checker).show(json.dumps(CONFIG), CONTEXT)
    services.read_model = ModelShapes().read

    def told(typed, model):
        given = (typed, "", *((CHOICE | {"model": model}).get(one.name, one.default) for one in FIELDS), "")
        return json.loads(memory_shown(services, view, CONTEXT, given))

    theirs = told("--model_name_or_path no/such", "")
    assert (theirs["fit"], theirs["why"]["code"]) == ("cannot_say", "named_by_arguments")
    assert "The script’s arguments name no/such, which isn’t on this machine." in theirs["why"]["text"]
    assert told("", "no/such")["why"]["code"] == "no_size_in_name"
    entered = told("--model_name_or_path no/such", "7B")
    assert entered["model"] == "7B"
    assert [one["text"] for one in entered["guess"]][1:] == ["Estimated for 7B; the script’s arguments name no/such."]
    assert [one["code"] for one in told("--model_name_or_path 7B", "7B")["guess"]] == ["guessed"]


def test_how_much_is_missing_is_told_of_a_config_without_errors(page):
    lacks = lacking(json.dumps(page(json.dumps(CONFIG))[0]))
    assert re.fullmatch(r"\d+ GiB short on each GPU", lacks)
    wrong = CONFIG | {"zero_optimization": {"stage": 2, "overlap_com": True}}
    fitting = CONFIG | {"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}}}
    for other in (wrong, fitting):
        assert lacking(json.dumps(page(json.dumps(other))[0])) == ""
    assert lacking("") == ""
    device = {"device": "gpu", "capacity": 24 << 30, "moments": [{"bytes": (24 << 30) + (10 << 20)}]}
    barely = {"fit": "does_not_fit", "ranks": 1, "ranks_per_node": 1, "devices": [device]}
    assert lacking(json.dumps(barely)) == "0.01 GiB short on the GPU"


@each_case(
    "edits",
    [None, 5, "text", {"a": 1}, [5], [{}], [{"pointer": "/a"}], [[]], [None]],
)
def test_edits_that_are_none_leave_the_text_alone(edits):
    assert with_edits('{"b": 2}', edits) == '{"b": 2}'


def test_a_text_that_can_not_be_read_is_left_alone():
    assert with_edits("{", [{"pointer": "/a", "value": 1}]) == "{"


def test_only_known_boxes_are_ticked():
    assert ticked(["zero_init"])[1] is True
    assert ticked(["zero_init"])[0] is not True
    assert all(one is not True for names in (None, "checkpointing", [["x"]], ["other"]) for one in ticked(names))


def test_what_a_change_asks_of_the_trainer_goes_among_the_scripts_arguments():
    asked = ["--per_device_train_batch_size 2", "--gradient_accumulation_steps 4", "--gradient_checkpointing True"]
    by_user = {"code": "zero_init", "text": "build the model within"}
    codes = [{"code": "arguments", "text": "Give"}, {"code": "checkpointing", "text": "Not a config key"}, by_user]
    change = {"arguments": asked, "script": codes}
    told = handed_on(change, Context(Integration.HF), "{}", "--lr 1e-4 --per_device_train_batch_size=8")
    assert (told["given"], told["script"]) == (asked, [by_user])
    assert with_given("--lr 1e-4 --per_device_train_batch_size=8 --fp16", told["given"]) == (
        "--lr 1e-4 --per_device_train_batch_size 2 --fp16 --gradient_accumulation_steps 4 --gradient_checkpointing True"
    )


@each_case(
    ("typed", "after"),
    [
        ("--gradient_checkpointing \\\n  False \\\n --x 1", "{on} \\\n --x 1"),
        ("--gradient-checkpointing False --x 1 --gradient_checkpointing=False", "{on} --x 1 {on}"),  # the last counts
        ("--gradient_checkpointing -1 --x", "{on} --x"),
        ("--gradient_checkpointing --x", "{on} --x"),
        ("--no_gradient_checkpointing", "--no_gradient_checkpointing {on}"),
    ],
)
def test_an_option_is_changed_wherever_and_however_it_is_written(typed, after):
    on = "--gradient_checkpointing True"
    assert with_given(typed, [on]) == after.format(on=on)


@each_case(
    ("integration", "typed"),
    [
        (Integration.NATIVE, ""),
        *((Integration.HF, typed) for typed in ("train.yaml", "'", "stage=sft model=x", "--lr 1 -- file")),
    ],
)
def test_what_a_script_of_another_kind_is_to_do_is_told(integration, typed):
    change = {"arguments": ["--gradient_checkpointing True"], "script": [{"text": "Not a config key"}]}
    assert handed_on(change, Context(integration), "{}", typed) == change


def test_what_the_changed_config_needs_is_given_too(checker):
    """Once some arguments are known, those that nobody gave are the Trainer's defaults: it would refuse the config."""
    config = {"train_micro_batch_size_per_gpu": 4, "bf16": {"enabled": True}}
    config["optimizer"] = {"type": "AdamW", "params": {"lr": 1e-4, "betas": [0.9, 0.95]}}
    changes = [{"pointer": "/zero_optimization/stage", "value": 3}, {"pointer": "/gradient_clipping", "value": 0.5}]
    change = {"arguments": ["--gradient_checkpointing True"], "changes": changes, "script": []}
    given = handed_on(change, Context(Integration.HF), json.dumps(config), "--adam_beta2 0.95")["given"]
    needed = ["--per_device_train_batch_size 4", "--max_grad_norm 0.5", "--learning_rate 0.0001", "--bf16"]
    assert sorted(given) == sorted(["--gradient_checkpointing True", *needed])
    known = from_command_line(with_given("--adam_beta2 0.95", given))
    findings = checker.findings(read_document(with_edits(json.dumps(config), changes)), Context(arguments=known))
    assert [one for one in findings if one.severity is Severity.ERROR] == []


@each_case(
    ("config", "typed", "more"),
    [
        ({"optimizer": {"type": "AdamW", "params": {"lr": 1.23456789e-4}}}, "", ["--learning_rate 0.000123456789"]),
        ({"train_batch_size": 64}, "", ["--per_device_train_batch_size 16"]),
        ({"train_batch_size": 64}, "--gradient_accumulation_steps 2", ["--per_device_train_batch_size 8"]),
        ({"bf16": {"enabled": True}}, "--fp16", []),  # refused before, and no worse
    ],
)
def test_what_is_given_is_no_reason_to_refuse_the_config(config, typed, more, checker):
    on = "--gradient_checkpointing True"
    context = Context(Integration.HF, gpus_per_node=4)
    given = handed_on({"arguments": [on]}, context, json.dumps(config), typed)["given"]
    assert given == [on, *more]
    document = read_document(json.dumps(config))

    def errors(words):
        known = replace(context, arguments=from_command_line(words))
        return {one.pointer for one in checker.findings(document, known) if one.rule == "DS013"}

    assert errors(with_given(typed, given)) <= (errors(typed) if typed else set())


def test_what_can_not_agree_is_left_to_the_user():
    change = {"arguments": ["--gradient_checkpointing True"], "script": [{"code": "checkpointing"}]}
    context = Context(Integration.HF, gpus_per_node=4)
    assert handed_on(change, context, json.dumps({"train_batch_size": 65}), "") == change  # on four ranks


def test_a_script_that_takes_no_option_of_the_trainers_is_given_none(checker):
    offloaded = {"offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "cpu"}}
    config = CONFIG | {"zero_optimization": {"stage": 3, **offloaded}}
    view, context = Workbench(checker).show(json.dumps(config), CONTEXT), replace(CONTEXT, integration=Integration.HF)
    given = (
        "",
        "",
        *((CHOICE | {"checkpointing": False, "length": 8192}).get(one.name, one.default) for one in FIELDS),
        "",
    )

    def told(launched):
        return json.loads(change_found(Here(checker), view, context, given, launched))

    assert told(Launched())["given"][0].startswith("--")
    assert "given" not in told(Launched(takes_options=False))


@each_case(
    ("typed", "told"),
    [
        ("--a 'x y' \\\n  --b {config}", "--a 'x y' \\\n  --b {config} --gradient_checkpointing True"),
        ("--gradient-checkpointing=False --c", "--gradient_checkpointing True --c"),
        ("--gradient_checkpointing --c", "--gradient_checkpointing True --c"),
        ("--gradient_checkpointing_kwargs {}", "--gradient_checkpointing_kwargs {} --gradient_checkpointing True"),
        ("--a \\\n", "--a --gradient_checkpointing True"),
    ],
)
def test_what_somebody_wrote_stays_as_it_is(typed, told):
    assert with_given(typed, ["--gradient_checkpointing True"]) == told


@each_case("given", [None, [], "text", [5], ["--evil 1"], ["--gradient_checkpointing $(x)"], [["x"]]])
def test_arguments_that_no_change_has_are_not_added(given):
    assert with_given("--lr 1", given) in ("--lr 1", gr.skip())


def test_where_no_change_helps_the_page_is_told_what_to_plan_for(checker):
    """At once that none does; when it looks, LoRA and more GPUs, each as the fields and edits that a press fills in."""
    services, view = Here(checker), Workbench(checker).show(json.dumps(CONFIG), CONTEXT)
    small = Context(Integration.NATIVE, gpus_per_node=1, hardware=CONTEXT.hardware)
    given = ("", "32", *GIVEN[2:])
    shown, found = (json.loads(tell(services, view, small, given)) for tell in (memory_shown, change_found))
    assert shown["never"]["why"] == found["why"]
    assert shown["never"]["needs"]["text"].startswith("It needs more or larger GPUs")
    lora, more = found["beyond"]
    assert lora["fields"] == {"lora_rank": 16}
    assert more["fields"]["device"] == "rtx4090"
    assert "GPU ≈ " in more["then"]
    rank, device, gpus, nodes = planned_now(more["fields"])
    assert (device, nodes) == ("rtx4090", more["fields"]["nodes"])
    assert gpus == more["fields"]["gpus"] > 1
    assert rank == gr.skip()
    assert planned_now(lora["fields"]) == ("16", gr.skip(), gr.skip(), gr.skip())
    enough = Context(Integration.NATIVE, gpus_per_node=gpus, nodes=nodes, hardware=CONTEXT.hardware)
    edited = Workbench(checker).show(with_edits(view.text, more["changes"]), enough)
    ticked_too = CHOICE | {"zero_init": more["zero_init"]}
    after = ("", "32", *(ticked_too.get(field.name, field.default) for field in fields_of(Part.MODEL)), "")
    assert json.loads(memory_shown(services, edited, enough, after))["fit"] == "fits"


def test_where_a_change_of_the_config_fits_nothing_else_is_offered(page):
    assert page(json.dumps(CONFIG))[1]["beyond"] == []


@each_case(
    "fields",
    [
        None,
        [],
        "text",
        {"gpus": "8"},
        {"gpus": True, "nodes": 0},
        {"nodes": -1, "lora_rank": 10**9},
        {"device": "rm -rf"},
        {"device": ["h100"], "lora_rank": 1.5},
    ],
)
def test_fields_that_no_offer_has_stay_as_they_are(fields):
    assert planned_now(fields) == (gr.skip(),) * 4


def test_a_folder_that_is_no_good_is_told_in_place_of_the_bars(checker):
    services, view = Here(checker), Workbench(checker).show(json.dumps(CONFIG), CONTEXT)
    services.nvme = CannotSay(said("memory_cannot", "nvme_relative", path="nvme"))
    told = json.loads(memory_shown(services, view, CONTEXT, ON_NVME))
    assert told["why"]["text"].startswith("NVMe folder: nvme is not an absolute path.")


def test_a_folder_on_nvme_is_in_the_room_of_what_is_asked(checker):
    services, view = Here(checker), Workbench(checker).show(json.dumps(CONFIG), CONTEXT)
    services.nvme = Nvme("/nvme", 1 << 40)
    _, fitted = fitted_for(services, view, CONTEXT, ON_NVME)
    assert fitted.room.nvme is services.nvme


def test_a_fix_that_would_guess_what_memory_hangs_on_is_not_taken_as_done(page):
    unsaid = {
        key: value for key, value in CONFIG.items() if "batch" not in key and key != "gradient_accumulation_steps"
    }
    told = page(json.dumps(unsaid))[0]
    assert (told["fit"], "as_if" in told) == ("cannot_say", False)
