"""A run that died of memory: the part that was the largest then, the key that governs it, and what dsgui had said."""

from dataclasses import replace

import pytest

from dsgui.core.diagnosis.memory_cause import Cause, _predicted, cause_of, moment_of, told_by
from dsgui.core.memory.answer import Device, Place
from dsgui.core.memory.fits.foretold import Foretold
from dsgui.core.memory.fits.overhead import exactly
from dsgui.core.memory.fits.verdict import Bar, Fit, Segment
from dsgui.core.sizes import GIB, MIB
from tests.core.diagnosis.test_diagnosis import diagnosed

MICRO, SUB_GROUP, SWAP = "--per_device_train_batch_size", "/zero_optimization/sub_group_size", "/zero/buffer_count"


def segment(code: str, gib: float, *keys: str, place: Place = Place.GPU) -> Segment:
    return Segment(code, place, exactly(round(gib * GIB)), keys)


def foretold(fit: Fit = Fit.FITS, capacity: float | None = 23.6) -> Foretold:
    room = None if capacity is None else round(capacity * GIB)
    weights, context = segment("weights", 4, "/zero_optimization/stage"), segment("cuda_context", 6)
    bars = (
        Bar(Device.GPU, "init", (weights,), room),
        Bar(Device.GPU, "forward", (segment("activations", 10, MICRO, "--max_length", "--x"), weights, context), room),
        Bar(Device.GPU, "backward", (segment("gradients", 5, SUB_GROUP), weights), room),
        Bar(Device.GPU, "step", (segment("step", 12, SUB_GROUP), weights), room),
        Bar(Device.HOST, "init", (segment("initialize", 55, place=Place.HOST), segment("master", 3, "/x/y")), 64 * GIB),
        Bar(
            Device.HOST,
            "step",
            (segment("moments", 40, "/zero_optimization/stage"), segment("swap_buffers", 9, SWAP)),
            64 * GIB,
        ),
    )
    return Foretold(fit, bars, 20 * GIB, 58 * GIB)


def words(name: str, said: Foretold | None = None, **peak: int) -> str:
    found = cause_of(diagnosed(name), said or foretold(), peak)
    return " ".join(map(str, found.sentences)) if found else ""


def test_it_names_the_part_and_the_key_of_the_moment_that_the_traceback_tells() -> None:
    assert words("cuda-memory") == (
        "dsgui predicted a peak of 20.0 GiB on each GPU (23.6 usable of 23.7 GiB). The run had 22.4 GiB when it ran "
        "out in the forward pass, and asked for 2 GiB more. It had said that this fits: the prediction was at least "
        "4.4 GiB too low. Largest of what can be changed, as predicted: activations, 10.0 GiB "
        "(--per_device_train_batch_size, --max_length)."
    )
    assert "in the backward pass" in words("cuda-memory-trainer")
    assert "in the optimizer step" in words("cuda-memory-optimizer")
    assert "optimizer temporaries, 12.0 GiB (zero_optimization.sub_group_size)" in words("cuda-memory-optimizer")
    assert "while deepspeed.initialize runs" in words("cuda-memory-start")
    # One prediction, whenever it ran out: that of the facts and of the chart.
    for name in ("cuda-memory-trainer", "cuda-memory-optimizer", "cuda-memory-start"):
        assert "predicted a peak of 20.0 GiB" in words(name)


def test_what_was_said_to_be_short_is_no_mistake() -> None:
    short = words("cuda-memory", foretold(Fit.SHORT, capacity=16))
    assert "had said" not in short
    assert "predicted a peak of 20.0 GiB on each GPU (16.0 usable of 23.7 GiB)" in short
    assert "It had said that this is tight" in words("cuda-memory", foretold(Fit.TIGHT))
    assert "predicted a peak of 20.0 GiB on each GPU." in words("cuda-memory", foretold(capacity=None))


def peaks(need: float, has: float, whole: float = 0) -> str:
    """The sentence of what was predicted, of GiB on a GPU."""
    bar = Bar(Device.GPU, "forward", (segment("weights", need, "/x"),), round(has * GIB))
    return str(_predicted(bar, round(whole * GIB)))


def test_what_a_card_has_is_told_as_exactly_as_what_is_usable_of_it() -> None:
    assert "13.0 GiB on each GPU (14.3 usable of 14.6 GiB)" in peaks(13, 14.31, 14.56)
    assert "13.00 GiB on each GPU (23.58 usable of 23.62 GiB)" in peaks(13, 23.58, 23.62)


def test_a_peak_that_is_more_than_there_is_never_reads_as_much() -> None:
    assert "a peak of 23.63 GiB on each GPU (23.58 GiB usable)" in peaks(23.63, 23.58)
    assert "a peak of 23.6 GiB on each GPU (23.6 GiB usable)" in peaks(23.58, 23.58)
    assert "a peak of 23.63 GiB on each GPU (23.58 usable of 23.99 GiB)" in peaks(23.63, 23.58, 23.99)
    bar = Bar(Device.HOST, "step", (segment("moments", 64.03, "/x", place=Place.HOST),), 64 * GIB)
    assert "64.03 of 64.00 GiB of host memory" in str(_predicted(bar, 0))


def test_the_host_that_ran_out_is_held_against_what_was_measured() -> None:
    assert words("host-memory", host_bytes=61 * GIB) == (
        "dsgui predicted 58.0 of 64.0 GiB of host memory while deepspeed.initialize runs. The run had 61.0 GiB at most "
        "when it was measured. It had said that this fits: the prediction was at least 6.0 GiB too low. Largest of "
        "what can be changed, as predicted: fp32 master weights, 3.0 GiB (x.y)."
    )
    found = cause_of(diagnosed("killed"), foretold(), {})
    assert found == Cause(Device.HOST, found.sentences if found else (), 6 * GIB)


def test_a_kill_on_a_host_with_much_room_is_not_told_of_as_memory() -> None:
    roomy = foretold()
    roomy = replace(roomy, bars=tuple(replace(bar, capacity=500 * GIB) for bar in roomy.bars))
    assert words("killed", roomy, host_bytes=50 * GIB) == ""
    assert words("killed", roomy, host_bytes=490 * GIB) != ""


def test_locked_memory_names_the_swap_buffers_alone() -> None:
    said = foretold()
    said = replace(said, bars=tuple(replace(bar, moment="init") if bar.moment == "step" else bar for bar in said.bars))
    said = replace(
        said, bars=tuple(bar for bar in said.bars if bar.device is not Device.HOST or bar.segments[1].keys == (SWAP,))
    )
    assert (
        words("memlock", said)
        == "dsgui predicted 9.0 GiB of locked buffers for all ranks of a node (zero.buffer_count)."
    )


@pytest.mark.parametrize("name", ["address-in-use", "arguments", "abort", "batch-identity"])
def test_other_ends_have_no_such_cause(name: str) -> None:
    assert words(name) == ""


def test_without_a_prediction_nothing_is_told() -> None:
    assert cause_of(diagnosed("cuda-memory"), None, {}) is None
    assert cause_of(diagnosed("cuda-memory"), Foretold(Fit.UNKNOWN), {}) is None


def test_what_torch_tells_is_read_with_others_and_what_it_can_not_use() -> None:
    told = told_by(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 23.50 "
        "GiB of which 0 bytes is free. Including non-PyTorch memory, this process has 20.50 GiB memory in use. Of the "
        "allocated memory 14.00 GiB is allocated by PyTorch, and 5.25 GiB is reserved by PyTorch but unallocated."
    )
    assert (told.used, told.asked, told.others, told.unused) == (20.5 * GIB, 512 * MIB, 3 * GIB, 5.25 * GIB)
    assert told_by("CUDA out of memory.").used is None
    assert told_by("GPU 0 has a total capacity of 10.00 GiB of which 1.00 GiB is free.").used == 9 * GIB


def frames(*named: tuple[str, str]) -> str:
    lines = [f'  File "/env/{file}", line 7, in {function}\n    work()' for file, function in named]
    return "\n".join(["Traceback (most recent call last):", *lines, "torch.OutOfMemoryError: CUDA out of memory."])


ENGINE, MODEL, AUTOGRAD = "deepspeed/runtime/engine.py", "transformers/models/t5.py", "torch/autograd/graph.py"


@pytest.mark.parametrize(
    ("stack", "moment"),
    [
        (
            [(AUTOGRAD, "_engine_run_backward"), ("torch/utils/checkpoint.py", "backward"), (MODEL, "forward")],
            "backward",
        ),
        ([("accelerate/utils/deepspeed.py", "backward"), (ENGINE, "step"), (ENGINE, "_take_model_step")], "step"),
        ([("train.py", "step"), (MODEL, "forward")], "forward"),
        ([("deepspeed/__init__.py", "initialize"), (ENGINE, "_configure_zero_optimizer")], "init"),
        ([("train.py", "main")], ""),
    ],
)
def test_the_moment_is_that_of_the_outermost_work(stack: list[tuple[str, str]], moment: str) -> None:
    assert moment_of(frames(*stack)) == moment
