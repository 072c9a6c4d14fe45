"""What the memory check reads of the script's arguments."""

from dataclasses import replace

import pytest

from dsgui.core.config.context import Context, Integration
from dsgui.core.machine.hardware import Gpu
from dsgui.core.machine.machine import Host, Machine
from dsgui.core.machine.verdicts import Status
from dsgui.core.memory.answer import CannotSay, Device
from dsgui.core.memory.choice import ModelChoice, of_text
from dsgui.core.memory.fits.nvme import Nvme
from dsgui.core.memory.guessed import model_of_size
from dsgui.core.preflight.memory_check import _MOST_WORKERS, _workers, fitted_case, memory, with_memory
from dsgui.core.preflight.room_checks import offload
from dsgui.core.preflight.surroundings import Launch, Question, Surroundings
from dsgui.core.script.script import script_facts
from dsgui.core.sizes import GIB
from dsgui.core.texts.saying import said
from dsgui.shell.config.catalog import Catalog
from tests.support.cases import each_case

MACHINE = Machine(Host(memory_bytes=900 * GIB), (Gpu(0, "A100", (8, 0), 80 * GIB, 80 * GIB),))


@each_case(
    ("written", "count"),
    [
        ("4", 4),
        ("", 0),
        ("four", 0),
        ("-1", 0),
        ("٤", 0),
        ("0" * 5000 + "7", 7),
        ("20000", _MOST_WORKERS),
        ("9" * 5000, _MOST_WORKERS),  # more digits than Python reads
    ],
)
def test_data_loader_workers_of_any_length_are_read(written, count):
    assert _workers(written) == count


def room_with(folders, *, config_names="", plan_names=""):
    """The room that a launch is judged by."""
    zero = {"stage": 3}
    if config_names:
        zero["offload_optimizer"] = {"device": "nvme", "nvme_path": config_names}
    config = {"zero_optimization": zero, "bf16": {"enabled": True}, "train_micro_batch_size_per_gpu": 1}
    launch = Launch(config, (), "1 GPU", 1, script="/t.py", gpu_indices=(0,), choice=ModelChoice("7B", nvme=plan_names))
    around = Surroundings(script_facts(""), MACHINE, shape=model_of_size("7B"), folders=folders)
    _, fitted = fitted_case(launch, around, Context(Integration.NATIVE), Catalog().schema(), None)
    return fitted


@pytest.mark.parametrize(
    ("model", "told", "short"),
    [
        (
            replace(model_of_size("7B"), name="Qwen/Qwen2.5-7B", planned_as="7B"),
            "Planned as 7B: Qwen/Qwen2.5-7B isn’t",
            Status.WARNING,  # a guess by a name stops no launch
        ),
        (model_of_size("7B"), "Only the size is known (7B): layers and width are guessed.", Status.PROBLEM),
    ],
)
@each_case("stage", [0, 3])
def test_a_verdict_from_a_guess_is_marked_as_one(model, told, short, stage):
    zero = {
        "stage": stage,
        **({"offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "cpu"}} if stage else {}),
    }
    config = {"zero_optimization": zero, "bf16": {"enabled": True}, "train_micro_batch_size_per_gpu": 1}
    launch = Launch(config, (), "1 GPU", 1, script="/t.py", gpu_indices=(0,), choice=ModelChoice("7B"))
    around = Surroundings(script_facts(""), MACHINE, shape=model)
    launch = with_memory(launch, around, Context(Integration.NATIVE), Catalog().schema())
    verdict = memory(Question(launch, around))
    assert verdict is not None
    assert verdict.status is (Status.OK if stage else short)
    assert told in " ".join(map(str, verdict.told))


def test_the_check_before_a_start_says_where_the_arguments_name_another_model():
    config = {"bf16": {"enabled": True}, "train_micro_batch_size_per_gpu": 1}
    choice = ModelChoice("1B").over(of_text("--model_name_or_path no/such"))
    launch = Launch(config, (), "1 GPU", 1, script="/t.py", gpu_indices=(0,), choice=choice)

    def told(launch, shape):
        around = Surroundings(script_facts(""), MACHINE, shape=shape)
        launch = with_memory(launch, around, Context(Integration.NATIVE), Catalog().schema())
        return " ".join(map(str, memory(Question(launch, around)).told))

    assert "Estimated for 1B; the script’s arguments name no/such." in told(launch, model_of_size("1B"))
    theirs = replace(launch, choice=of_text("--model_name_or_path no/such"))
    unfound = CannotSay(said("memory_cannot", "no_size_in_name", model="no/such"))
    assert "The script’s arguments name no/such, which isn’t on this machine." in told(theirs, unfound)


def test_a_leaner_config_may_use_the_folder_that_stays_with_the_plan():
    folder = Nvme("/nvme", 900 * GIB)
    assert room_with({"/nvme": folder}, plan_names="/nvme").room.nvme is folder
    assert room_with({}, plan_names="/nvme").room.nvme is None
    unusable = CannotSay(said("memory_cannot", "nvme_not_writable", path="/nvme"))
    assert room_with({"/nvme": unusable}, plan_names="/nvme").room.nvme is None


@pytest.mark.parametrize(("free", "fits"), [(900, True), (20, False)])
def test_what_goes_to_nvme_needs_room_in_the_folder_that_the_config_names(free, fits):
    fitted = room_with({"/x": Nvme("/x", free * GIB), "/nvme": Nvme("/nvme", 1)}, config_names="/x", plan_names="/nvme")
    bar = fitted.verdict.worst(Device.NVME)
    assert (bar.amount.likely <= free * GIB) is fits
    assert any(one.code == "short_nvme" for one in fitted.verdict.short) is not fits


@pytest.mark.parametrize(
    ("arguments", "rank", "asks"),
    [("", None, True), ("--use_peft True", None, True), ("--use_peft False", None, False), ("", 8, False)],
)
def test_a_rank_is_asked_for_only_where_adapters_are_trained(arguments, rank, asks):
    config = {"zero_optimization": {"stage": 3}, "bf16": {"enabled": True}, "train_micro_batch_size_per_gpu": 1}
    choice = ModelChoice("7B", lora_rank=rank)
    words = tuple(arguments.split())
    launch = Launch(config, (), "1 GPU", 1, script="/t.py", arguments=words, gpu_indices=(0,), choice=choice)
    script = script_facts("from peft import LoraConfig, get_peft_model\nmodel = get_peft_model(model, LoraConfig())")
    around = Surroundings(script, MACHINE, shape=model_of_size("7B"))
    memory = with_memory(launch, around, Context(Integration.NATIVE), Catalog().schema()).memory
    assert memory is not None
    assert (isinstance(memory, CannotSay) and memory.why.code == "part") is asks


OFFLOADS = {"stage": 2, "offload_optimizer": {"device": "cpu"}}
GIVEN_AWAY = "import mine\nfrom transformers import AutoModel, Trainer\nmodel = AutoModel.from_pretrained('x')\n"


@pytest.mark.parametrize("gib", [900, 20])
def test_where_nobody_knows_what_a_script_trains_the_whole_model_is_told(gib):
    config = {"zero_optimization": OFFLOADS, "bf16": {"enabled": True}, "train_micro_batch_size_per_gpu": 1}
    launch = Launch(config, (), "1 GPU", 1, script="/t.py", gpu_indices=(0,), choice=ModelChoice("7B"))
    machine = replace(MACHINE, host=Host(memory_bytes=gib * GIB))
    script = script_facts(f"{GIVEN_AWAY}mine.collator(model=model)\nTrainer(model=model).train()")
    around = Surroundings(script, machine, shape=model_of_size("7B"))
    launch = with_memory(launch, around, Context(Integration.NATIVE), Catalog().schema())
    question = Question(launch, around)
    verdict = memory(question)
    assert verdict is not None
    told = " ".join(map(str, verdict.told))
    assert verdict.status is Status.UNKNOWN  # it stops no launch
    assert told.startswith(f"7B: {'fits' if gib > 20 else 'doesn’t fit'} (GPU ≈ ")
    assert "), if all of the model is trained. Whether the script trains only part of it depends on" in told
    assert offload(question) is None  # which would know less
