"""Why a run failed: recorded and written outputs of failures, whatever pieces they come in, and what is no failure."""

import json
import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsgui.core.config.document import Document
from dsgui.core.diagnosis.diagnosis import Diagnosis, diagnose, why_failed
from dsgui.core.diagnosis.ending import Ending, verdict_of_log
from dsgui.core.diagnosis.evidence import modules_missing
from dsgui.core.diagnosis.remedies import Circumstances
from dsgui.core.diagnosis.signatures import SIGNATURES
from dsgui.core.diagnosis.tracebacks import Tracebacks
from dsgui.core.launch.handing import TrainersPart, trainers_part
from dsgui.core.launch.plan import ConfigArgument
from dsgui.core.launch.state import RunState
from dsgui.core.logs.trainlog import TrainLog
from dsgui.core.script.script import script_facts
from dsgui.core.texts.saying import sentences

FOLDER = Path(__file__).parents[2] / "examples" / "failures"
SAMPLES = sorted(path.stem for path in FOLDER.glob("*.log"))


def expected(name: str) -> dict:
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))


def circumstances(case: dict) -> Circumstances:
    document = Document(json.dumps(case["config"]))
    facts = {name: case[name] for name in ("on_cpu", "address_space_bytes") if name in case}
    return Circumstances(document, tuple(case["arguments"]), case["ranks"], case["trainer"], **facts)


RAISED = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    f()\nAttributeError: no hub\n'
ENDED = "[2024-01-01 10:00:00,000] [ERROR] [launch.py:321:sigkill_handler] ['python'] exits with return code = 1\n"
STEPS = "".join(f"step {n} loss 1\n" for n in range(1, 9))
FINAL = "{'train_runtime': 12.5, 'train_loss': 0.5, 'epoch': 1.0}\n"


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        (RAISED, True),
        (RAISED + "wandb: View run at x\n", True),
        ("Done, saved model\n" + RAISED, True),
        (FINAL + RAISED, False),
        (RAISED + "Done, saved model\n", False),
        (RAISED + "12:01:02 - INFO - train - Model saved to out\n", False),
        ("Exception in thread Thread-1:\n" + RAISED, False),
        ("Exception in thread Thread-1:\n" + RAISED + "step 1\n" + RAISED, True),
        (RAISED + "Done, saved model\n" + RAISED, True),
        (ENDED, True),
        (ENDED + STEPS + FINAL, False),
        (ENDED + STEPS + FINAL + RAISED + ENDED, True),
        (ENDED + STEPS + "slurmstepd: error: Detected 1 oom-kill event(s) in step 1.0\n", True),
        (ENDED + STEPS + "[2024-01-01 00:00:00,000] [INFO] [launch.py:1:x] Killing subprocess 12\n", True),
        (FINAL + RAISED + "[2024-01-01 00:00:00,000] [INFO] [launch.py:1:x] Killing subprocess 12\n", True),
    ],
)
def test_a_log_tells_of_a_failure_only_where_nothing_shows_that_the_training_went_on(output: str, failed: bool) -> None:
    log = TrainLog()
    log.feed(f"step 1 loss 2\nstep 2 loss 1\n{output}".encode())
    log.finish()
    found = verdict_of_log(log.ending)
    assert (found is not None and found[0] is RunState.FAILED) is failed


@pytest.mark.parametrize("row", [".", "._", ". .", "a.b"])
def test_a_row_of_dots_after_a_traceback_is_read_at_once(row: str) -> None:
    """A line of INFO is looked at for what it says is done: word by word it could be cut in too many ways."""
    log, begun = TrainLog(), time.process_time()
    log.feed((RAISED + f"2024-05-01 10:00 | INFO | {row * 200} 45%\n" * 20).encode())
    log.finish()
    assert time.process_time() - begun < 2
    assert log.ending.error


def ending_of(output: bytes, sizes: list[int] | None = None) -> Ending:
    """`sizes`: how the output is cut, over and over."""
    log, start, turn = TrainLog(), 0, 0
    while start < len(output):
        size = sizes[turn % len(sizes)] if sizes else len(output)
        log.feed(output[start : start + size])
        start, turn = start + size, turn + 1
    log.finish()
    return log.ending


def diagnosed(name: str, sizes: list[int] | None = None) -> Diagnosis:
    case = expected(name)
    output = (FOLDER / f"{name}.log").read_bytes()
    return diagnose(ending_of(output, sizes), case["exit_code"], circumstances(case))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_failure_is_recognised(name: str) -> None:
    case, found = expected(name), diagnosed(name)
    assert (found.signature, found.rank) == (case["signature"], case["rank"])
    assert (str(found.remedy.label) if found.remedy else None) == case["remedy"]
    assert case["title"] in str(found.title)
    assert str(found.meaning)
    assert found.advice
    assert "{" not in sentences((found.title, *found.advice))


def test_activations_are_named_only_where_the_traceback_shows_a_forward_or_backward_pass() -> None:
    shown = ("cuda-memory", "cuda-memory-h200", "cuda-memory-trainer")
    assert {diagnosed(name).meaning.code for name in shown} == {"cuda_memory"}
    for name in shown:  # and what lessens them comes first
        assert diagnosed(name).remedies[0].label.code in ("smaller_micro_batch", "checkpoint_activations")
    output = (
        b'Traceback (most recent call last):\n  File "train.py", line 5, in <module>\n'
        b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
    )
    found = diagnose(ending_of(output), 1, Circumstances(config=Document("{}"), ranks=2))
    assert (found.signature, found.meaning.code) == ("cuda-memory", "cuda_memory_somewhere")
    assert [one.label.code for one in found.remedies] == ["stage"]  # no batch size is known that could be halved


@pytest.mark.parametrize("name", SAMPLES)
def test_its_remedy_leaves_a_config_that_can_be_read(name: str) -> None:
    found = diagnosed(name)
    if found.remedy and found.remedy.fix:
        config = Document(json.dumps(expected(name)["config"], indent=2))
        assert found.remedy.fix.apply(config).value != config.value


@pytest.mark.parametrize("name", SAMPLES)
def test_it_survives_the_way_to_the_disk(name: str) -> None:
    found = diagnosed(name)
    assert Diagnosis.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_every_signature_has_a_sample() -> None:
    assert {one.id for one in SIGNATURES} - {expected(name)["signature"] for name in SAMPLES} == set()
    assert len({one.id for one in SIGNATURES}) >= 30
    assert sum(expected(name)["recorded"] for name in SAMPLES) >= 10


@settings(max_examples=40)
@given(st.sampled_from(SAMPLES), st.lists(st.integers(1, 400), min_size=1, max_size=6))
def test_how_the_output_is_cut_changes_nothing(name: str, sizes: list[int]) -> None:
    assert diagnosed(name, sizes) == diagnosed(name)


TORN = ("Traceback (most recent call last):", '  File "x.py", line 1, in f', "    f()")


def test_a_reason_that_stands_below_an_empty_line_is_told() -> None:
    """nltk's message begins with an empty line and a row of asterisks."""
    ending = ending_of((FOLDER / "nltk-data.log").read_bytes())
    told = why_failed(ending, 1, 0, diagnose(ending, 1, Circumstances(ranks=2)))
    assert sentences(told) == "Ended with exit code 1: LookupError: Resource 'punkt' not found."


def test_a_row_of_asterisks_ends_any_other_message() -> None:
    lines = [*TORN, "ValueError: no", "*" * 70, "of another program"]
    assert ending_of("\n".join(lines).encode() + b"\n").tracebacks.found[0].messages == ("ValueError: no",)


# --- which rank ----------------------------------------------------------------------------------------------------


def traceback(rank: int, error: str) -> list[str]:
    return [
        f"[rank{rank}]: {line}"
        for line in ("Traceback (most recent call last):", '  File "x.py", line 1, in f', "    f()", error)
    ]


def of_lines(lines: list[str], code: int = 1, **facts: object) -> Diagnosis:
    return diagnose(ending_of("\n".join(lines).encode() + b"\n"), code, Circumstances(ranks=2, **facts))  # type: ignore[arg-type]


def test_ranks_that_write_at_once_are_told_apart() -> None:
    first, second = traceback(1, "ModuleNotFoundError: No module named 'a'"), traceback(0, "ValueError: other")
    mixed = [first[0], second[0], first[1], second[1], second[2], first[2], second[3], first[3]]
    found = of_lines(mixed)
    assert (found.signature, found.rank) == ("module-missing", 1)
    assert "ValueError" not in found.traceback


def test_a_module_in_a_folder_above_the_script_is_not_to_be_installed() -> None:
    missing = traceback(0, "ModuleNotFoundError: No module named 'examples.inference'")
    found = of_lines(missing, above={"examples.inference": "/code/bloom"})
    assert "/code/bloom, above the script" in str(found.meaning)
    assert [str(one) for one in found.advice] == ["Set PYTHONPATH=/code/bloom under “Environment variables”."]
    assert found.remedy is not None
    assert found.remedy.variables == (("PYTHONPATH", "/code/bloom"),)
    for elsewhere in ({"other": "/code/bloom"}, {"examples": "/code/bloom"}):
        assert "pip install" in str(of_lines(missing, above=elsewhere).advice[0])


def test_a_package_of_a_folder_above_the_script_may_be_one_to_install_as_well() -> None:
    found = of_lines(traceback(0, "ModuleNotFoundError: No module named 'wandb'"), above={"wandb": "/code"})
    assert [str(one) for one in found.advice] == [
        "Set PYTHONPATH=/code under “Environment variables”.",
        "Or install the package with the Python of the training environment: PYTHON -m pip install …",
    ]


def test_a_folder_above_the_script_goes_in_front_of_what_pythonpath_has() -> None:
    missing = traceback(0, "ModuleNotFoundError: No module named 'mine'")
    found = of_lines(missing, above={"mine": "/code"}, python_path="/a:/b")
    assert found.remedy is not None
    assert found.remedy.variables == (("PYTHONPATH", "/code:/a:/b"),)
    assert str(found.remedy.label) == "PYTHONPATH=/code:/a:/b"
    assert [str(one) for one in found.advice] == ["Set PYTHONPATH=/code:/a:/b under “Environment variables”."]
    there = of_lines(missing, above={"mine": "/code"}, python_path="/code:/b")
    assert (there.remedy, str(there.title)) == (None, "A Python package is missing: mine")


def test_a_missing_module_is_told_with_what_its_own_traceback_imports() -> None:
    first = ["Traceback (most recent call last):", '  File "x.py", line 1, in <module>', "    from a.b import c"]
    second = ["Traceback (most recent call last):", '  File "y.py", line 1, in <module>', "    import d.e as f"]
    lines = [*first, "ModuleNotFoundError: No module named 'a'", *second, "ValueError: no"]
    found = ending_of("\n".join(lines).encode() + b"\n").tracebacks.found
    assert modules_missing(found) == {"a": ("a.b", "a.b.c")}


def test_the_aftermath_of_another_rank_is_not_the_reason() -> None:
    lost = traceback(0, "RuntimeError: [../gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.2]:2121")
    found = of_lines([*lost, *traceback(1, "ValueError: rows must not be empty")])
    assert str(found.title) == "It ended with ValueError"
    assert of_lines(lost).signature == "peer-gone"
    assert of_lines(lost, code=247).signature == "killed"


def test_an_unknown_failure_shows_its_first_traceback_whole_not_the_last_line() -> None:
    found = of_lines([*traceback(1, "ZeroDivisionError: division by zero"), "[rank1]: ", "bye"])
    assert (found.signature, found.rank, found.evidence) == ("unknown", 1, "ZeroDivisionError: division by zero")
    assert found.traceback.splitlines()[:2] == ["Traceback (most recent call last):", '  File "x.py", line 1, in f']
    assert "bye" in str(of_lines(["bye"]).meaning)


def test_a_chain_of_exceptions_is_one_traceback_and_its_cause_counts() -> None:
    cause = traceback(0, "ModuleNotFoundError: No module named 'zstd'")
    chained = "[rank0]: The above exception was the direct cause of the following exception:"
    found = of_lines([*cause, "[rank0]: ", chained, "[rank0]: ", *traceback(0, "LoaderError: can't load")])
    assert (found.signature, found.evidence) == ("module-missing", "LoaderError: can't load")
    assert "direct cause" in found.traceback


# --- what is no failure, or another one ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "CUDA out of memory",
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
        "{'text': 'RuntimeError: CUDA out of memory'}",
        "she said: train.py: error: nothing at all",
        "Watchdog caught collective operation timeout",
    ],
)
def test_a_line_of_data_that_mentions_a_failure_is_none(line: str) -> None:
    assert str(of_lines([line, *traceback(0, "KeyError: 'labels'")]).title) == "It ended with KeyError"
    assert of_lines([line]).signature == "unknown"


_CUDA_FRAME = '  File "/env/lib/python3.11/site-packages/torch/cuda/__init__.py", line 689, in set_device'


@pytest.mark.parametrize(
    ("error", "signature"),
    [
        ("AttributeError: module 'torch._C' has no attribute '_cuda_setDevice'", "torch-without-cuda"),
        ("AttributeError: module 'torch._C' has no attribute '_cuda_getDeviceCount'", "torch-without-cuda"),
        ("AttributeError: module 'torch._C' has no attribute '_cuda_resetPeakMemoryStats'", "torch-without-cuda"),
        ("AttributeError: module 'torch._C' has no attribute '_cudart'", "torch-without-cuda"),
        ("AssertionError: Torch not compiled with CUDA enabled", "torch-without-cuda"),
        ("TypeError: type torch.cuda.FloatTensor not available. Torch not compiled with CUDA", "torch-without-cuda"),
        ("RuntimeError: Tried to instantiate dummy base class Event", "torch-without-cuda"),
        ("RuntimeError: torch.cuda.Stream requires CUDA support", "torch-without-cuda"),
        ("RuntimeError: PyTorch was compiled without CUDA support", "torch-without-cuda"),
        ("RuntimeError: NVTX functions not installed. Are you sure you have a CUDA build?", "torch-without-cuda"),
        ("RuntimeError: Distributed package doesn't have NCCL built in", "torch-without-cuda"),
        ("RuntimeError: Found no NVIDIA driver on your system. Please check", "no-gpu"),
        ("RuntimeError: No CUDA GPUs are available", "no-gpu"),
        ("RuntimeError: CUDA error: no CUDA-capable device is detected", "no-gpu"),
        ("RuntimeError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!", "no-gpu"),
        ("ValueError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!", "no-gpu"),
        ("RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is", "no-gpu"),
    ],
)
def test_a_gpu_asked_for_where_there_is_none_is_told_as_that(error: str, signature: str) -> None:
    found = of_lines(["Traceback (most recent call last):", _CUDA_FRAME, "    f()", error])
    assert found.signature == signature
    assert "get_accelerator()" in sentences(found.advice)


def test_a_name_that_another_package_misses_in_torch_is_of_another_release() -> None:
    other = '  File "/env/lib/python3.11/site-packages/apex/ops.py", line 6, in <module>'
    error = "AttributeError: module 'torch._C' has no attribute '_cuda_sharedRing'"
    found = of_lines(["Traceback (most recent call last):", other, "    f()", error])
    assert found.signature == "older-script"


def test_a_message_that_only_quotes_a_failure_is_another() -> None:
    found = of_lines(traceback(0, "ValueError: row 7 is “CUDA out of memory”"))
    assert found.signature == "unknown"


def test_what_training_went_on_after_is_forgiven() -> None:
    steps = [f"step={n} loss=1.0" for n in range(4)]
    caught = traceback(0, "ModuleNotFoundError: No module named 'wandb'")
    assert str(of_lines([*caught, *steps, *traceback(0, "ValueError: later")]).title) == "It ended with ValueError"


# --- what others print ------------------------------------------------------------------------------------------------

SPAWNED = [f"[launch.py:245:main] process {pid} spawned with command: []" for pid in (61, 62)]
BARE = ["Traceback (most recent call last):", '  File "x.py", line 1, in f', "    f()"]


def test_other_ranks_prints_are_no_part_of_a_message() -> None:
    prints = ["rank 0: Loading: shard 3 of 7", "Epoch: 3", "done"]
    found = of_lines([*SPAWNED, *BARE, "ValueError: rows must not be empty", "  see the manual", *prints])
    assert str(found.meaning) == "ValueError: rows must not be empty\n  see the manual"
    assert not any(line in found.traceback for line in prints)


@pytest.mark.parametrize("print_", ["Epoch: 3", "Loading: shard 3", "epoch: 3", "rank 0: Loading: 4"])
@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_print_within_a_traceback_is_not_what_was_raised(place: int, print_: str) -> None:
    lines = [*SPAWNED, *BARE[:place], print_, *BARE[place:], "KeyError: 'labels'"]
    assert str(of_lines(lines).title) == "It ended with KeyError"


def test_an_exception_of_the_scripts_own_is_told_though_its_name_ends_otherwise() -> None:
    assert of_lines([*SPAWNED, *BARE, "Unsplittable: 7 rows"]).evidence == "Unsplittable: 7 rows"


def test_a_message_in_lines_is_kept_whole_where_nobody_else_prints() -> None:
    assert str(of_lines([SPAWNED[0], *BARE, "ValueError: first", "second"]).meaning) == "ValueError: first\nsecond"


def test_the_mismatches_of_the_trainer_are_told_with_their_numbers() -> None:
    said = str(diagnosed("hf-mismatch-calculated").meaning)
    assert "train_batch_size is 64 in the config, and train_batch_size (calculated) is 16" in said
    assert "gradient_clipping is 0.5 in the config, and max_grad_norm is 1.0" in said


def test_a_rank_that_was_killed_is_named_by_who_saw_it_end() -> None:
    assert of_lines([], code=247, first_ended=1).rank == 1
    assert of_lines([], code=241, first_ended=1).rank is None  # SIGTERM goes to all
    lost = traceback(0, "RuntimeError: [../gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.2]:2121")
    found = of_lines(lost, oom_kills=1, oom_kills_here=1, memory_limit_bytes=2 << 30)
    assert (found.signature, str(found.title)) == ("cgroup-memory", "The container's memory limit was reached: 2 GiB")


def test_what_python_ignores_is_no_traceback_of_the_end() -> None:
    ignored = ["Exception ignored in: <function Pool.__del__>", "Traceback (most recent call last):", "OSError: closed"]
    assert str(of_lines([*ignored, *traceback(0, "ValueError: real")]).title) == "It ended with ValueError"


@pytest.mark.parametrize(
    ("facts", "signature", "says"),
    [
        ({"oom_kills": 2, "oom_kills_here": 0}, "killed", "the machine's memory had run out"),
        ({"oom_kills": 2, "oom_kills_here": 1, "memory_limit_bytes": 8 << 30}, "cgroup-memory", "may use 8 GiB"),
        ({"oom_kills": 2, "oom_kills_here": 1}, "killed", "the machine's memory had run out"),
        ({"oom_kills": 0, "oom_kills_here": 0}, "killed", "another program or user"),
        ({}, "killed", "Usually the kernel"),
    ],
)
def test_the_kernels_own_count_tells_why_a_rank_was_killed(facts: dict, signature: str, says: str) -> None:
    found = of_lines([], code=247, **facts)
    assert (found.signature, says in str(found.meaning)) == (signature, True)


def test_memory_stays_small_however_much_is_printed() -> None:
    tracebacks = Tracebacks()
    for _ in range(50):
        tracebacks.line(None, "Traceback (most recent call last):")
        for number in range(2000):
            tracebacks.line(None, f"  frame {number} " + "x" * 5000)
        tracebacks.line(None, "ValueError: deep")
        tracebacks.line(None, "[2026-01-31 12:00:00] on")
    assert sum(len(one.text) for one in tracebacks.found) < 2_000_000
    assert "lines are left out" in tracebacks.found[0].text


def test_odd_lines_cost_little() -> None:
    generator = random.Random(7)
    lines = [f"{sign * 30_000}: error" for sign in ("a", "usage: ", "[E", "a.", "x@", " ", "../")]
    lines += ["".join(generator.choices("abc:[]@. -", k=30_000)) for _ in range(20)]
    started = time.process_time()
    of_lines(lines)
    of_lines([*traceback(0, "ValueError: " + "a.py " * 6000), *(f"[rank0]: {line[:900]}" for line in lines)])
    assert time.process_time() - started < 20


GONE = [
    (("--no_cuda", "False"), (("--no_cuda", None),)),
    (("--no_cuda",), (("--no_cuda", None), ("--use_cpu", ""))),
    (("--no-cuda", "True"), (("--no-cuda", None), ("--use_cpu", ""))),
    (("--adafactor", "no"), (("--adafactor", None),)),
    (("--adafactor",), (("--adafactor", None), ("--optim", "adafactor"))),
    (("--evaluation_strategy", "no"), (("--evaluation_strategy", None), ("--eval_strategy", "no"))),
    (("--warmup_ratio", "0"), (("--warmup_ratio", None), ("--warmup_steps", "0"))),
    (("--group_by_length", "1"), (("--group_by_length", None), ("--train_sampling_strategy", "group_by_length"))),
    (("--split_batches", "True"), (("--split_batches", None),)),  # what it would be is for the user to say
    (("--max_seq_length", "9"), (("--max_seq_length", None),)),  # of the script's own: what it takes is not known
]


@pytest.mark.parametrize(("given", "changes"), GONE)
def test_an_option_that_is_gone_becomes_what_the_checks_before_a_start_say(
    given: tuple[str, ...], changes: tuple[tuple[str, str | None], ...]
) -> None:
    output = f"usage: x.py [-h]\nx.py: error: unrecognized arguments: {' '.join(given)}\n".encode()
    found = diagnose(ending_of(output), 2, Circumstances(arguments=given, trainer=True))
    assert found.remedy
    assert found.remedy.options == changes


@pytest.mark.parametrize(
    "says",
    [
        "recipes/translation.py: unknown options: --bogus_arg 3. --help lists the known ones.",
        "classification.py: unrecognized arguments: --bogus_arg 3. --help lists the options.",
        "x.py: error: unrecognized arguments: --bogus_arg 3",
    ],
)
def test_an_option_that_a_recipe_does_not_know_is_named(says: str) -> None:
    found = diagnose(ending_of(f"{says}\n".encode()), 2, Circumstances(arguments=("--bogus_arg", "3")))
    assert (found.signature, str(found.title)) == ("option-unknown", "The script doesn't know --bogus_arg")
    assert found.remedy
    assert found.remedy.options == (("--bogus_arg", None),)


@pytest.mark.parametrize(
    ("output", "title"),
    [
        ("x.py: no text in data\n", "The script exited before logging a training step (exit code 2)"),
        ("{'loss': 1.5, 'epoch': 0.1}\nno text in data\n", "It ended with exit code 2 and no traceback"),
        ("", "It ended with exit code 2 and no traceback"),
    ],
)
def test_an_end_without_a_traceback_tells_whether_a_step_was_logged(output: str, title: str) -> None:
    assert str(diagnose(ending_of(output.encode()), 2, Circumstances()).title) == title


BY_PARSER = (
    "from transformers import HfArgumentParser, TrainingArguments\n"
    "p = HfArgumentParser(TrainingArguments)\np.parse_args_into_dataclasses()\n"
)
BY_FILE = BY_PARSER + "if len(sys.argv) == 2: p.parse_json_file(sys.argv[1])\n"
IN_CODE = "from transformers import TrainingArguments\nTrainingArguments('o', deepspeed='ds.json')\n"
CONFIG_TERMS = '{"train_micro_batch_size_per_gpu": "auto", "zero_optimization": {"stage": 1}}'
OOM = b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
PARTS = [
    (ConfigArgument.HF, "", (), TrainersPart(trains=True, takes_options=True)),
    (ConfigArgument.OVERRIDE, "", ("a.yaml",), TrainersPart(trains=True)),
    (ConfigArgument.TRAINER, BY_PARSER, (), TrainersPart(trains=True, takes_options=True)),
    (ConfigArgument.TRAINER, BY_FILE, ("a.json",), TrainersPart(trains=True)),
    (ConfigArgument.TRAINER, IN_CODE, (), TrainersPart(trains=True, in_code=True)),
    (ConfigArgument.ACCELERATE, IN_CODE, (), TrainersPart(trains=True, in_code=True)),
    (ConfigArgument.ACCELERATE, "from accelerate import Accelerator\nAccelerator()", (), TrainersPart(trains=False)),
    (ConfigArgument.NATIVE, BY_PARSER, (), TrainersPart(trains=False)),
]


@pytest.mark.parametrize(("argument", "source", "words", "part"), PARTS)
def test_who_trains_is_told_however_the_script_gets_its_config(
    argument: ConfigArgument, source: str, words: tuple[str, ...], part: TrainersPart
) -> None:
    assert trainers_part(argument, script_facts(source), words) == part


@pytest.mark.parametrize("takes_options", [True, False])
def test_options_are_offered_only_to_a_script_that_takes_them(takes_options: bool) -> None:
    output = b'Traceback (most recent call last):\n  File "x.py", line 1, in f\n    f()\n' + OOM + b"\n"
    run = Circumstances(Document(CONFIG_TERMS), ranks=2, trainer=True, takes_options=takes_options)
    remedies = diagnose(ending_of(output), 1, run).remedies
    assert any(one.options for one in remedies) is takes_options
    assert any(one.fix for one in remedies)


@pytest.mark.parametrize(
    "later", [{}, {"code": "of_a_later_dsgui"}, {"code": "stage"}, {"code": ["stage"], "given": 3}]
)
def test_a_remedy_under_no_code_known_here_keeps_its_words(later: dict) -> None:
    """As a diagnosis of a dsgui without codes has it, or one of a later dsgui."""
    fix = {"label": "ZeRO, of whatever kind", "changes": [{"pointer": "/zero_optimization/stage", "literal": "2"}]}
    kept = {"label": "ZeRO, of whatever kind", "fix": fix | later, "options": []} | later
    found = Diagnosis.from_json({"signature": "u", "title": "t", "meaning": "m", "advice": [], "remedies": [kept]})
    assert [str(one.label) for one in found.remedies] == ["ZeRO, of whatever kind"]
    assert Diagnosis.from_json(json.loads(json.dumps(found.to_json()))) == found


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("Out of memory. " * 8 + "Of it 2.5 GiB is " * 30, " Out of memory."),
        ("shape " * 60, " shape…"),
        ("No. " + "shape " * 60, " shape…"),
        ("x" * 500, "xxx…"),
        ("short and whole.", "short and whole."),
    ],
)
def test_a_reason_is_cut_between_sentences_or_between_words(message: str, told: str) -> None:
    ending = Ending()
    ending.plain(message)
    assert ending.last_line.endswith(told)
    assert len(ending.last_line) <= 300
