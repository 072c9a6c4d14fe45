"""The cheapest change is one that can be made: its edits go into the text, pass the checks, and fit."""

import json
from dataclasses import replace

from dsgui.core.config.arguments import TrainingArguments, from_words
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.config.findings import Change
from dsgui.core.machine.hardware import card_named
from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.choice import ModelChoice
from dsgui.core.memory.fits.cheapest import Cheapest, as_json, as_text, cheapest, in_bf16, never_fits
from dsgui.core.memory.fits.fitting import Case, fit
from dsgui.core.memory.fits.nvme import Nvme
from dsgui.core.memory.fits.room import Room
from dsgui.core.memory.fits.verdict import Fit
from dsgui.core.memory.guessed import model_of_size
from dsgui.core.memory.planner import Rung, cheapest_fit, means_of
from dsgui.core.memory.question import Workload
from dsgui.core.texts.saying import Said, said
from tests.support.cases import each_case

GIB = 1 << 30
MODEL = model_of_size("1B")
NATIVE, HF = Context(Integration.NATIVE, gpus_per_node=4), Context(Integration.HF, gpus_per_node=4)
BF16 = {"bf16": {"enabled": True}, "zero_optimization": {"stage": 1}}
ADAM = {"optimizer": {"type": "AdamW", "params": {"lr": 1e-4}}}
CONFIG = {"train_micro_batch_size_per_gpu": 4, **BF16, **ADAM}
LEFT = {"train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto", **BF16}


def asked(checker, gib, config=CONFIG, context=NATIVE, planner=cheapest_fit, room=None):
    """A verdict and what changes it."""
    document = Document(json.dumps(config, indent=2))
    case = Case(config, context, checker.findings(document, context), MODEL, ModelChoice("1B", length=2048))
    room = room or Room(gpu_bytes=int(gib * GIB), ranks_per_node=4, ranks=4)
    fitted = fit(case, checker.schema, lambda group: room)
    return fitted, cheapest(fitted, case, document, checker, planner), document


@each_case("gib", [18, 14, 10, 8, 7])
@each_case(("config", "context"), [(CONFIG, NATIVE), (BF16 | ADAM | LEFT, HF)])
def test_its_edits_pass_the_checks_and_fit(checker, gib, config, context):
    fitted, found, document = asked(checker, gib, config, context)
    assert fitted.verdict.fit in (Fit.SHORT, Fit.TIGHT)
    assert isinstance(found, Cheapest)
    assert found.fitted.verdict.fit is Fit.FITS
    edited = found.apply(document)
    assert [one for one in checker.findings(edited, context) if one.severity.value == "error"] == []
    assert '"bf16"' in edited.text


def test_a_training_in_fp32_is_told_what_fits_in_bf16_where_the_gpus_have_it(checker):
    """Not of one in bf16 already, nor on GPUs without it; and what is told fits."""
    fp32 = {"train_micro_batch_size_per_gpu": 8, "zero_optimization": {"stage": 2}, **ADAM}
    modern = replace(NATIVE, gpus_per_node=2, hardware=(card_named("a100-80"),))

    def told(config, context, gib=24):
        document = Document(json.dumps(config, indent=2))
        case = Case(config, context, checker.findings(document, context), MODEL, ModelChoice("1B", length=2048))
        room = Room(gpu_bytes=gib * GIB, ranks_per_node=2, ranks=2)
        fitted = fit(case, checker.schema, lambda group: room)
        found = cheapest(fitted, case, document, checker)
        return in_bf16(found, fitted, case, document, checker)

    other = told(fp32, modern)
    assert str(other).startswith("Or, if fp32 isn’t needed: bf16")
    assert "of 24.0 GiB" in str(other)
    assert told(fp32 | {"bf16": {"enabled": True}}, modern) is None
    assert told(fp32, replace(modern, hardware=(card_named("v100"),))) is None
    assert told(fp32, modern, gib=900) is None  # nothing is to be changed
    trainers = replace(modern, integration=Integration.HF, arguments=from_words(["--per_device_train_batch_size", "8"]))
    left = {key: value for key, value in fp32.items() if key != "optimizer"}
    assert str(told(left, trainers)).startswith("Or, if")


def planned(moves, micro_batch=1, **changes):
    """A planner that has this answer."""
    edits = tuple(Change("/" + name.replace("__", "/"), str(value)) for name, value in changes.items())
    work = Workload(micro_batch=micro_batch, length=2048)
    return lambda question, means: Rung(moves, edits, work, answer=None, cost=None, slower=1.0)


HALVED = planned(("micro_batch",), micro_batch=4, gradient_accumulation_steps=2, train_micro_batch_size_per_gpu=4)
BATCH = "--gradient_accumulation_steps 2 --per_device_train_batch_size 4"


def test_a_batch_that_the_config_leaves_to_the_script_stays_there(checker):
    _, found, document = asked(checker, 500, LEFT | ADAM, HF, HALVED)
    assert (found.changes, " ".join(found.arguments)) == ((), BATCH)
    assert found.apply(document).text == document.text
    assert f"Give the script: {BATCH}" in as_text(found)
    assert found.fitted.question.workload.micro_batch == 4


def test_the_script_is_told_a_batch_that_the_config_names_too(checker):
    """The HF Trainer refuses a config with another batch than its arguments."""
    arguments = TrainingArguments(per_device_train_batch_size=8, bf16=True)
    config = {"train_micro_batch_size_per_gpu": 8, **BF16}
    _, found, document = asked(checker, 500, config, replace(HF, arguments=arguments), HALVED)
    assert json.loads(found.apply(document).text)["train_micro_batch_size_per_gpu"] == 4
    assert " ".join(found.arguments) == BATCH


def test_native_deepspeed_reads_the_batch_from_the_config_alone(checker):
    _, found, document = asked(checker, 500, CONFIG | {"train_micro_batch_size_per_gpu": 8}, NATIVE, HALVED)
    assert json.loads(found.apply(document).text)["gradient_accumulation_steps"] == 2
    assert found.arguments == ()


def test_what_deepspeed_would_refuse_is_not_offered(checker):
    _, found, _ = asked(checker, 10, planner=planned(("stage_3",), zero_optimization__stage=7))
    assert str(found).startswith("The cheapest change that would fit is ZeRO stage 3, but then: Fix the config first:")
    assert set(as_json(found)) == {"why"}


def test_that_states_have_no_room_anywhere_is_known_before_anything_is_tried(checker):
    """A billion parameters: 2 bytes of a weight, 12 of its optimizer."""
    tried = []

    def planner(question, means):
        tried.append(question)
        return cheapest_fit(question, means)

    def never(room, lora=0):
        case = Case(CONFIG, NATIVE, (), MODEL, ModelChoice("1B", length=2048, lora_rank=lora))
        fitted = fit(case, checker.schema, lambda group: room)
        told = never_fits(fitted, case)
        if told:
            assert cheapest(fitted, case, Document(json.dumps(CONFIG)), checker, planner) == told
        return told

    on_gpus = Room(gpu_bytes=2 * GIB, host_bytes=4 * GIB, ranks_per_node=4, ranks=4)
    assert str(never(on_gpus)).startswith(
        "Without NVMe offload, no config change makes it fit with this optimizer and these data types: weights and "
        "optimizer states alone take 13 GiB per node, and its GPUs and host have 12 GiB."
    )
    assert never(replace(on_gpus, host_bytes=6 * GIB)) is None  # 14 GiB: it is looked for
    assert never(replace(on_gpus, host_bytes=None)) is None  # nobody said
    assert never(replace(on_gpus, ranks=8)) is None  # another node has half of them
    assert never(replace(on_gpus, nvme=Nvme("/nvme", 100 * GIB))) is None  # there they have room
    near = str(never(replace(on_gpus, host_bytes=5 * GIB - GIB // 10)))  # both would be 13
    assert "alone take 13.0 GiB per node, and its GPUs and host have 12.9 GiB." in near
    on_cpu = never(Room(host_bytes=GIB * 21 // 2, on_cpu=True, ranks_per_node=4, ranks=4))
    assert on_cpu.code == "never_on_cpu"
    assert "and the host has 10.5 GiB." in str(on_cpu)  # as its bar has it
    assert never(Room(host_bytes=GIB, on_cpu=True, ranks_per_node=4, ranks=4), lora=8).code == "never_adapted_on_cpu"
    assert tried == []


SEVEN = {
    "train_micro_batch_size_per_gpu": 1,
    "bf16": {"enabled": True},
    "zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu", "pin_memory": False}},
    **ADAM,
}
LEAN = {"bf16": {"enabled": True, "bf16_master_weights_and_grads": True, "bf16_optimizer_states": True}}
NAMED = {name: {"optimizer": {"type": name, "params": {"lr": 1e-4}}} for name in ("SGD", "Adagrad", "Lion")}
ON_NVME = {"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "nvme", "nvme_path": "/nvme"}}}


def never_of(checker, config, room):
    """That no config fits, and what all that the search tries comes to."""
    context = Context(Integration.NATIVE, gpus_per_node=1)
    choice = ModelChoice("7B", length=512, checkpointing=True)
    case = Case(config, context, (), model_of_size("7B"), choice)
    fitted = fit(case, checker.schema, lambda group: room)
    assert not isinstance(fitted, CannotSay), fitted.why
    divided = replace(case, choice=replace(choice, zero_init=True))
    searched = [cheapest_fit(fitted.question, means_of(room, one.made(fitted.question))) for one in (case, divided)]
    return fitted, never_fits(fitted, case), [one for one in searched if one is not None]


ONE_CARD = Room(gpu_bytes=24 * GIB, host_bytes=66 * GIB, ranks_per_node=1, ranks=1)


def test_that_none_fits_holds_for_this_optimizer_and_these_data_types_without_nvme(checker):
    _, never, found = never_of(checker, SEVEN, ONE_CARD)
    assert str(never) == (
        "Without NVMe offload, no config change makes it fit with this optimizer and these data types: weights and "
        "optimizer states alone take 91 GiB per node, and its GPUs and host have 90 GiB."
    )
    needs = "It needs more or larger GPUs, more host memory, an NVMe folder, LoRA, or a leaner optimizer."
    assert as_text(never) == f"{never} {needs}\n"
    assert as_json(never)["needs"]["text"] == needs
    assert found == []
    for other in (NAMED["SGD"], NAMED["Adagrad"], LEAN, ON_NVME):
        assert never_of(checker, SEVEN | other, ONE_CARD)[1] is None, other


@each_case("changed", [{}, LEAN, *NAMED.values()])
@each_case("host", [20, 40, 60, 66, 70])
def test_nothing_that_could_be_found_is_said_to_be_nowhere(checker, changed, host):
    """The button that looks for a change goes only where its search finds none."""
    for stage in (0, 2, 3):
        config = SEVEN | changed | {"zero_optimization": SEVEN["zero_optimization"] | {"stage": stage}}
        _, never, found = never_of(checker, config, replace(ONE_CARD, host_bytes=host * GIB))
        assert not (never and found)


def test_states_that_are_fewer_on_the_gpu_are_counted_so(checker):
    """Lion's on the CPU have two moments, on the GPU one: to offload nothing is a change of the config as well."""
    room = replace(ONE_CARD, gpu_bytes=66 * GIB, host_bytes=20 * GIB)
    assert never_of(checker, SEVEN | NAMED["Lion"], room)[1] is None  # 65 GiB, of 91 as they are offloaded


def test_where_no_change_helps_it_says_so_and_where_none_is_needed_nothing(checker):
    assert asked(checker, 2)[1] == said("memory_cheapest", "none")
    on_cpu = Room(host_bytes=17 * GIB, on_cpu=True, ranks_per_node=4, ranks=4)
    assert asked(checker, 0, room=on_cpu)[1] == said("memory_cheapest", "none_on_cpu")
    on_nvme = Nvme("/nvme", GIB)
    assert asked(checker, 2, room=Room(gpu_bytes=2 * GIB, ranks_per_node=4, ranks=4, nvme=on_nvme))[1] == said(
        "memory_cheapest", "none_with_nvme"
    )
    assert asked(checker, 0, room=replace(on_cpu, nvme=on_nvme))[1] == said("memory_cheapest", "none_on_cpu_with_nvme")
    assert asked(checker, 500)[1] is None
    assert (as_text(None), as_json(None)) == ("", None)


def test_what_the_planner_has_no_case_for_is_said(checker):
    why = said("memory_notes", "unknown_family", type="falcon")
    told = asked(checker, 10, planner=lambda question, means: CannotSay(why))[1]
    assert str(told) == "Leaner configs are compared by formula: there is no formula for models of type falcon."

    def fails(question, means):
        raise ValueError("no such shape")

    assert isinstance(asked(checker, 10, planner=fails)[1], Said)


SEVENTY = {"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": True}, "zero_optimization": {"stage": 3}, **ADAM}


def test_a_native_model_too_large_to_make_whole_is_made_divided(checker):
    """70 billion parameters in bf16 are more than a card, and a sixteenth of all states is not."""
    document, context = Document(json.dumps(SEVENTY, indent=2)), Context(Integration.NATIVE, gpus_per_node=16, nodes=2)
    case = Case(SEVENTY, context, checker.findings(document, context), model_of_size("70B"), ModelChoice("70B"))
    room = Room(gpu_bytes=79 * GIB, ranks_per_node=16, ranks=32)
    fitted = fit(case, checker.schema, lambda group: room)
    assert fitted.verdict.fit is Fit.SHORT
    assert any("deepspeed.zero.Init" in str(one) for one in fitted.answer.assumed)
    found = cheapest(fitted, case, document, checker)
    assert isinstance(found, Cheapest)
    assert found.zero_init
    assert "within deepspeed.zero.Init" in as_text(found)
    assert as_json(found)["zero_init"] is True
    divided = replace(case, choice=replace(case.choice, zero_init=True))
    after = fit(divided, checker.schema, lambda group: room)
    assert after.verdict.of(fitted.verdict.devices[0])[0].amount.likely < 79 * GIB
    assert not any("zero.Init" in str(one) for one in after.answer.assumed)


def test_a_trainer_has_it_made_divided_anyway(checker):
    _, found, _ = asked(checker, 10, BF16 | ADAM | LEFT, HF)
    assert isinstance(found, Cheapest)
    assert not found.zero_init


def test_what_changes_a_part_is_no_argument_of_the_trainers_natively(checker):
    """Natively the HF Trainer's arguments change nothing, and no script has them."""
    named = {}
    for context in (NATIVE, HF):
        fitted, _, _ = asked(checker, 80, CONFIG, context)
        named[context.integration] = {key for bar in fitted.verdict.bars for one in bar.segments for key in one.keys}
    assert "--per_device_train_batch_size" in named[Integration.HF]
    assert not [key for key in named[Integration.NATIVE] if not key.startswith("/")]
