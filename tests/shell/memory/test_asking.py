"""The dry run in the environment that trains: its answer against the formula, what it can't say, cancelling it."""

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from dsgui.core.memory.answer import Answer, CannotSay, Component, Device, Moment
from dsgui.core.memory.choice import LORA_TARGETS
from dsgui.core.memory.engines.job import Made
from dsgui.core.memory.instant import answer
from dsgui.core.memory.question import Group, Lora, Model, Question, Workload
from dsgui.shell.memory import patched
from dsgui.shell.memory.asking import Ended, Worker, dry_run
from dsgui.shell.memory.patched import TABLE, Moved, Row, nothing, owner_of
from dsgui.shell.memory.rehearsal import refuse

pytestmark = pytest.mark.remembered("dsgui/core/memory", "dsgui/shell/memory")
LLAMA = {
    "model_type": "llama",
    "hidden_size": 256,
    "num_hidden_layers": 2,
    "intermediate_size": 688,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "vocab_size": 1024,
    "tie_word_embeddings": False,
}
T5 = {"model_type": "t5", "d_model": 128, "num_layers": 2, "d_ff": 256, "num_heads": 4, "d_kv": 32, "vocab_size": 1024}
BLOOM = {"model_type": "bloom", "hidden_size": 256, "n_layer": 2, "n_head": 8, "vocab_size": 1024}
GEMMA = LLAMA | {"model_type": "gemma", "head_dim": 32, "tie_word_embeddings": True}
ADAM = {"bf16": {"enabled": True}, "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}}}
WIDE = LLAMA | {"hidden_size": 1024, "intermediate_size": 2048}  # some parts can be swapped
NVME = {"device": "nvme", "nvme_path": "/nowhere"}
PARTS = NVME | {"max_in_cpu": 0, "buffer_size": 4 << 20, "buffer_count": 12}
ONE_BY_ONE = {"stage3_max_live_parameters": 1, "stage3_max_reuse_distance": 0, "stage3_prefetch_bucket_size": 0}
SUB_GROUPS = {"sub_group_size": 1 << 20}
MODELS_OF_A_USER = """
import torch

class Net(torch.nn.Module):
    def __init__(self, reads):
        super().__init__()
        self.layer, self.reads = torch.nn.Linear(64, 64), reads

    def forward(self, given):
        out = self.layer(given)
        if self.reads and out.max() > 0:
            out = out * 2
        return out.float().sum()

def plain():
    return Net(False), {"given": torch.zeros(4, 64, dtype=torch.bfloat16)}

def reads():
    return Net(True), {"given": torch.zeros(4, 64, dtype=torch.bfloat16)}

def nothing():
    return None
"""


def zero(stage, **more):
    return {**ADAM, "zero_optimization": {"stage": stage, "reduce_bucket_size": 1 << 20, **more}}


def question(config, model=LLAMA, ranks=2, **work):
    return Question(Model("m", model), config, Workload(1, 64, **work), Group(ranks))


@pytest.fixture(scope="module")
def worker():
    with Worker(sys.executable) as started:
        yield started


@pytest.mark.deepspeed
@pytest.mark.parametrize("model", [LLAMA, T5], ids=["llama", "t5"])
@pytest.mark.parametrize(
    "config",
    [
        ADAM,
        zero(1),
        zero(2, overlap_comm=True),
        zero(2, offload_optimizer={"device": "cpu"}),
        zero(3),
        zero(3, offload_optimizer={"device": "cpu"}, offload_param={"device": "cpu"}),
    ],
    ids=["0", "1", "2", "2 offload", "3", "3 offload"],
)
def test_formula_and_dry_run_agree(worker, config, model):
    asked = question(config, model)
    formula, real = answer(asked), worker.ask(asked)
    assert isinstance(real, Answer)
    assert real.parameters == formula.parameters
    for device in (Device.GPU, Device.HOST):
        assert formula.worst(device).count == pytest.approx(real.worst(device).count, rel=0.02), device


@pytest.mark.deepspeed
def test_a_buffer_that_was_made_of_a_number_moves_to_the_device(worker):
    asked = question(zero(2), GEMMA)
    assert worker.ask(asked).worst(Device.GPU).count == pytest.approx(answer(asked).worst(Device.GPU).count, rel=0.02)


@pytest.mark.deepspeed
@pytest.mark.parametrize("stage", [2, 3])
@pytest.mark.parametrize("made", [Made(inside=False), Made(element=2, inside=False), Made(element=2)])
def test_the_model_is_made_as_the_script_makes_it(worker, stage, made):
    """A script of one's own makes all of it on each rank's host, and the engine moves all of it to the GPU."""
    config = zero(stage, offload_optimizer={"device": "cpu"}, offload_param={"device": "cpu" if stage == 3 else "none"})
    asked = question(config)
    formula, real = answer(asked, made), worker.ask(asked, made=made)
    for device in (Device.GPU, Device.HOST):
        at_init = [next(peak.count for peak in one.of(device) if peak.moment is Moment.INIT) for one in (formula, real)]
        assert at_init[0] == pytest.approx(at_init[1], rel=0.01), device


@pytest.mark.deepspeed
def test_almost_all_of_a_peak_has_a_component(worker):
    for config in (zero(2), zero(3)):
        peak = worker.ask(question(config)).worst(Device.GPU)
        others = sum(part.count for part in peak.parts if part.component is Component.OTHER)
        assert others <= 0.01 * peak.count


@pytest.mark.deepspeed
@pytest.mark.parametrize(
    ("model", "words"),
    [
        ({"model_type": "nobody_knows"}, "nobody_knows"),
        ({"model_type": "own", "auto_map": {"AutoModel": "m.Own"}}, "runs code of its own"),
        ({"model_type": "vit"}, "vit"),
        (LLAMA | {"quantization_config": {"quant_method": "fp8"}}, "quantized (quantization_config)"),
    ],
)
def test_a_model_that_cannot_be_asked_is_one_sentence(worker, model, words):
    found = worker.ask(question(zero(2), model))
    assert isinstance(found, CannotSay)
    assert words in str(found.why)


@pytest.mark.deepspeed
def test_a_head_that_config_json_names_is_taken_and_said(worker):
    bert = {"model_type": "bert", "hidden_size": 128, "num_hidden_layers": 1, "num_attention_heads": 4}
    bert |= {"intermediate_size": 256, "vocab_size": 1024}
    plain, sorting = (
        worker.ask(question(zero(2), bert | more))
        for more in ({}, {"architectures": ["BertForSequenceClassification"]})
    )
    assert any("built as BertForMaskedLM." in str(one) for one in plain.assumed)
    assert any("built as BertForSequenceClassification." in str(one) for one in sorting.assumed)
    assert sorting.parameters < plain.parameters


@pytest.mark.deepspeed
def test_the_states_of_torchs_own_optimizer_are_told_as_such(worker):
    found = worker.ask(question({"bf16": {"enabled": True}, "zero_optimization": {"stage": 3}}))
    step = next(peak for peak in found.of(Device.GPU) if peak.moment is Moment.STEP)
    states = sum(part.count for part in step.parts if part.component is Component.MOMENTS)
    assert states == pytest.approx(8 * found.parameters / 2, rel=0.01)


@pytest.mark.deepspeed
def test_a_list_is_an_index_on_the_device_too(worker):
    falcon = {"model_type": "falcon", "hidden_size": 128, "num_hidden_layers": 1, "num_attention_heads": 4}
    assert worker.ask(question(zero(2), falcon | {"vocab_size": 1024})).parameters


@pytest.mark.deepspeed
def test_a_model_that_also_sees_is_taken_through_text(worker):
    sees = {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    sees |= {"model_type": "siglip_vision_model", "image_size": 56, "patch_size": 14}
    told = {"text_config": GEMMA | {"model_type": "gemma3_text", "pad_token_id": 0}, "vision_config": sees}
    found = worker.ask(question(zero(2), told | {"model_type": "gemma3", "mm_tokens_per_image": 4}))
    assert "text_only" in [one.code for one in found.assumed]


@pytest.mark.deepspeed
def test_a_users_function_gives_the_model(worker, tmp_path):
    (tmp_path / "own_models.py").write_text(MODELS_OF_A_USER, "utf-8")

    def asked(name):
        model = Model("own", {}, factory=f"own_models.py:{name}", folder=str(tmp_path))
        return worker.ask(Question(model, zero(2), Workload(4, 64), Group(2)))

    assert asked("plain").parameters == 64 * 64 + 64
    assert "own_models.py:11" in str(asked("reads").why)
    assert "NoneType" in str(asked("nothing").why)
    assert "missing" in str(asked("missing").why)


@pytest.mark.deepspeed
def test_bounds_are_kept(worker):
    assert "0.01 s" in str(worker.ask(question(zero(2)), limit_s=0.01).why)
    assert "GiB" in str(worker.ask(question(zero(2)), limit_bytes=1 << 20).why)
    assert isinstance(worker.ask(question(zero(2))), Answer)  # and the next one is answered


@pytest.mark.deepspeed
@pytest.mark.parametrize(
    "config",
    [zero(3, offload_optimizer=NVME), zero(3, **ONE_BY_ONE, offload_optimizer=NVME, offload_param=PARTS, **SUB_GROUPS)],
    ids=["optimizer", "optimizer and parameters"],
)
def test_formula_and_dry_run_agree_on_nvme(worker, config):
    """Host: buffers and their pageable twin, a first step's moments. NVMe: files."""
    asked = question(config, WIDE)
    formula, real = answer(asked), worker.ask(asked)
    assert isinstance(real, Answer), real
    assert formula.worst(Device.GPU).count == pytest.approx(real.worst(Device.GPU).count, rel=0.02)
    for device in (Device.HOST, Device.NVME):
        ours, theirs = ({peak.moment: peak.count for peak in one.of(device)} for one in (formula, real))
        assert ours == pytest.approx(theirs, rel=0.001, abs=1 << 10), device


@pytest.mark.deepspeed
@pytest.mark.parametrize(
    ("config", "key"),
    [
        (zero(3, offload_optimizer=NVME | {"buffer_count": 3}), "offload_optimizer/buffer_count"),
        (zero(3, offload_param=PARTS | {"buffer_size": 1 << 20}), "offload_param/buffer_size"),
        (zero(3, offload_param=PARTS | {"buffer_count": 2}), "offload_param/buffer_count"),
    ],
)
def test_where_deepspeed_would_stop_over_its_buffers_both_name_the_key(worker, config, key):
    asked = question(config, WIDE, ranks=1)
    formula, real = answer(asked), worker.ask(asked)
    assert str(real.why) == str(formula.why)
    assert str(real.why).endswith(f"/zero_optimization/{key}.")


@pytest.mark.deepspeed
def test_a_dry_run_leaves_the_folder_on_nvme_alone(worker, tmp_path):
    """DeepSpeed empties its folder there when it starts: another run's files may be in it."""
    theirs = tmp_path / "zero_stage_3" / "bfloat16params" / "rank0" / "7_param.tensor.swp"
    theirs.parent.mkdir(parents=True)
    theirs.write_bytes(b"of a run that goes on")
    parts = PARTS | {"nvme_path": str(tmp_path), "buffer_size": 1 << 20}
    worker.ask(question(zero(3, offload_param=parts), WIDE, ranks=1))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [theirs]
    assert theirs.read_bytes() == b"of a run that goes on"


@pytest.mark.deepspeed
def test_what_a_dry_run_cannot_follow_is_refused_by_its_key(worker):
    found = worker.ask(question(zero(2) | {"aio": {"use_gds": True}}))
    assert "can't follow /aio/use_gds" in str(found.why)


@pytest.mark.deepspeed
def test_autocast_casts_weights_for_a_forward_and_has_a_bucket_of_each_type(worker):
    """At stage 2; made, the model is as it is without."""
    in_fp32 = {key: value for key, value in zero(2).items() if key != "bf16"}
    autocast = {"torch_autocast": {"enabled": True, "dtype": "bfloat16"}}
    plain, cast = (
        {p.moment: p for p in worker.ask(question(in_fp32 | more)).of(Device.GPU)} for more in ({}, autocast)
    )
    buckets = [sum(part.count for part in one[Moment.BACKWARD].parts if part.component is Component.BUCKETS)
               for one in (plain, cast)]  # fmt: skip
    assert plain[Moment.INIT].count == cast[Moment.INIT].count
    assert plain[Moment.FORWARD].count != cast[Moment.FORWARD].count
    assert buckets == [4 << 20, 8 << 20]


@pytest.mark.deepspeed
def test_what_deepspeed_notes_on_a_parameter_stays_as_it_moves_to_the_device(worker):
    """Muon: `deepspeed.initialize` says of each parameter which half of the optimizer has it, before it is moved."""
    muon = {"optimizer": {"type": "Muon", "params": {"lr": 1e-4}}}
    assert isinstance(worker.ask(question(zero(2) | muon)), Answer)


@pytest.mark.deepspeed
def test_adapters_alone_have_an_optimizer(worker):
    adapted, whole = worker.ask(question(zero(2), lora=Lora(8, ("q_proj",)))), worker.ask(question(zero(2)))
    step, before = (
        next(peak.count for peak in one.of(Device.GPU) if peak.moment is Moment.STEP) for one in (adapted, whole)
    )
    assert adapted.parameters > whole.parameters
    assert step < 0.7 * before


@pytest.mark.deepspeed
@pytest.mark.parametrize(
    ("model", "stage"), [(LLAMA, 2), (LLAMA, 3), (BLOOM, 3)], ids=["llama 2", "llama 3", "bloom 3"]
)
def test_the_formula_of_lora_is_that_of_a_model_that_peft_wrapped(worker, model, stage):
    pytest.importorskip("peft")
    asked = question(zero(stage), model, lora=Lora(8, LORA_TARGETS), checkpointing=True)
    formula, real = answer(asked), worker.ask(asked)
    assert isinstance(real, Answer), real
    assert (formula.parameters, formula.trainable) == (real.parameters, real.trainable)
    for device in (Device.GPU, Device.HOST):
        assert formula.worst(device).count == pytest.approx(real.worst(device).count, rel=0.02), device


@pytest.mark.deepspeed
def test_a_cancelled_dry_run_leaves_no_process():
    began, phases, before = threading.Event(), [], workers()

    def progress(phase, step):
        phases.append(phase)
        began.set()

    found = dry_run(question(zero(3)), sys.executable, progress=progress, cancelled=began.is_set)
    assert str(found.why) == "The dry run was cancelled."
    assert phases[0] == "model"
    until = time.monotonic() + 20
    while workers() - before and time.monotonic() < until:
        time.sleep(0.05)
    assert workers() - before == set()


def workers():
    """Processes that run our worker's file, below this one or orphaned."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().split(b"\0")
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if any(part.endswith(b"memory_worker.py") for part in command) and parent in (os.getpid(), 1):
                found.add(entry.name)
    return found


def test_a_python_that_is_not_there_is_one_sentence(tmp_path):
    found = dry_run(question(zero(2)), str(tmp_path / "python"))
    assert isinstance(found, CannotSay)
    assert "could not be started" in str(found.why)


def test_a_python_without_deepspeed_is_one_sentence(tmp_path):
    (tmp_path / "python").write_text("#!/bin/sh\necho 'no module named torch' >&2; exit 3\n", "utf-8")
    (tmp_path / "python").chmod(0o755)
    assert "no module named torch" in str(dry_run(question(zero(2)), str(tmp_path / "python")).why)


def test_a_python_without_torch_is_one_sentence(tmp_path):
    (tmp_path / "python").write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n', "utf-8")  # no packages
    (tmp_path / "python").chmod(0o755)
    why = dry_run(question(zero(2)), str(tmp_path / "python")).why
    assert str(why).startswith("The training environment has no torch: a dry run needs DeepSpeed, torch and")


def test_a_release_that_swaps_otherwise_is_named_where_a_config_swaps(monkeypatch):
    monkeypatch.setattr(patched, "TABLE", (Row("json", "nowhere", "", nothing, swapping=True),))
    refuse(zero(3, offload_param={"device": "cpu"}))
    with pytest.raises(Moved, match=r"json\.nowhere"):
        refuse(zero(3, offload_param=NVME))
    assert any(row.swapping for row in TABLE)


def test_what_a_release_has_moved_is_named():
    with pytest.raises(Moved, match=r"json\.nowhere"):
        owner_of(Row("json", "nowhere", "", nothing))
    with pytest.raises(Moved, match=r"no_such_module\.f"):
        owner_of(Row("no_such_module", "f", "", nothing))
    assert owner_of(Row("json", "JSONDecoder.decode", "", nothing))[1] == "decode"
    assert all(row.why for row in TABLE)


@pytest.mark.parametrize("python", ["/nowhere/python", "a\0b"])
def test_no_handle_is_left_of_a_worker_that_cannot_start(python: str) -> None:
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises((Ended, ValueError)), Worker(python):
            pass
    assert len(os.listdir("/proc/self/fd")) <= len(before)
