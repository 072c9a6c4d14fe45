"""The real DeepSpeed is asked in a worker that is shared, limited, started again when it dies, and leaves nothing."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from dsgui.core.config.context import Integration
from dsgui.core.errors import TargetError
from dsgui.core.oracle.answers import Question, Verdict
from dsgui.shell.oracle.oracle import SCRIPT, Oracle, _Worker
from dsgui.shell.processes.processes import descendants, read_stat, snapshot

pytestmark = pytest.mark.remembered("dsgui/shell/oracle", "dsgui/core/oracle")

SGD = {"type": "SGD", "params": {"lr": 0.01}}
NOTHING = Question("{}", Integration.NATIVE, 1)


def question(config, ranks=1, reader=Integration.NATIVE, lend=False, arguments=None):
    text = config if isinstance(config, str) else json.dumps(config)
    return Question(text, reader, ranks, lend, arguments)


def stand_in(tmp_path, source):
    """An interpreter of somebody's: a script that answers in its own way."""
    program = tmp_path / "python"
    program.write_text(f"#!{sys.executable}\nimport json, os, sys, time\n{source}")
    program.chmod(0o755)
    return str(program)


def until(condition, limit_s=90):
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def worker_of(oracle):
    return oracle._worker._process


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    """One worker for all. `dsgui_test_sleeper` is a module that a config may name and that never finishes its import;
    like ninja, it starts a process in a group of its own."""
    modules = tmp_path_factory.mktemp("modules")
    sleeper = "import subprocess, time; subprocess.Popen(['sleep', '987654'], process_group=0); time.sleep(987654)"
    (modules / "dsgui_test_sleeper.py").write_text(sleeper)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(modules), os.environ.get("PYTHONPATH", "")]))
        oracle = Oracle(sys.executable)
        yield oracle
    worker = worker_of(oracle)
    oracle.close()
    assert worker.returncode is not None
    assert not Path(worker.args[-1]).exists()
    assert not [t for t in threading.enumerate() if t.name.startswith("ask-deepspeed")]


# ------------------------------------------------------------------ an interpreter that is no help
@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("print('hello, I am no worker', flush=True); time.sleep(60)", "hello, I am no worker"),
        ("sys.exit('no such luck')", "no such luck"),
        ("""print(json.dumps({"hello": {"problem": "ModuleNotFoundError: deepspeed"}}))""", "ModuleNotFoundError"),
    ],
)
def test_what_is_wrong_with_the_interpreter_is_said(tmp_path, source, told):
    oracle = Oracle(stand_in(tmp_path, source))
    with pytest.raises(TargetError, match=told):
        oracle.ask(NOTHING)
    oracle.close()


def test_an_interpreter_that_does_not_exist_is_said(tmp_path):
    with pytest.raises(TargetError, match="No such file"):
        Oracle(str(tmp_path / "nowhere")).ask(NOTHING)


def test_a_worker_that_dies_at_every_question_is_asked_twice_and_no_more(tmp_path):
    source = "print(json.dumps({'hello': {}}), flush=True); sys.stdin.readline(); open('asked', 'a').write('x')"
    oracle = Oracle(stand_in(tmp_path, f"os.chdir({str(tmp_path)!r}); {source}"))
    with pytest.raises(TargetError, match="twice"):
        oracle.ask(NOTHING)
    oracle.close()
    assert (tmp_path / "asked").read_text() == "xx"


def test_each_of_those_who_wait_is_told_that_the_worker_is_gone(tmp_path):
    """Whoever is told forgets its question at once, while the others are still to be told."""
    worker = _Worker([stand_in(tmp_path, "sys.stdin.readline()")])
    told = []

    class Answers:
        def __init__(self, id):
            self.id = id

        def put(self, message):
            told.append((self.id, message))
            worker.forget(self.id)

    worker._waiting.update({id: Answers(id) for id in range(3)})
    worker.close()
    assert told == [(0, None), (1, None), (2, None)]


def test_the_page_never_waits_for_an_answer(tmp_path):
    oracle = Oracle(stand_in(tmp_path, "time.sleep(60)"))
    began = time.monotonic()
    oracle.begin(NOTHING)
    asking, _ = oracle.progress(NOTHING)
    assert (asking.stage, asking.is_over, oracle.cached(NOTHING)) == ("starting", False, None)
    assert time.monotonic() - began < 20
    ours = str(tmp_path).encode()
    until(lambda: [pid for pid in descendants([os.getpid()], snapshot()) if ours in command_of(pid)])
    for pid in descendants([os.getpid()], snapshot()):
        if ours in command_of(pid):
            os.kill(pid, signal.SIGKILL)
    until(lambda: oracle.progress(NOTHING)[0].is_over)
    assert "ended" in oracle.progress(NOTHING)[0].problem
    oracle.close()


def test_advice_waits_for_an_answer_once_and_not_long(tmp_path):
    oracle = Oracle(stand_in(tmp_path, f"open({str(tmp_path / 'started')!r}, 'a').write('x'); time.sleep(60)"))
    for most_s in (0.2, 40):
        began = time.monotonic()
        assert oracle.refusal(NOTHING, most_s) == ""
        assert time.monotonic() - began < 20
    until(lambda: (tmp_path / "started").exists())
    began = time.monotonic()
    oracle.close()
    assert time.monotonic() - began < 10  # a worker that never says hello is not waited for
    until(lambda: not [t for t in threading.enumerate() if t.name.startswith("ask-deepspeed")])
    assert (tmp_path / "started").read_text() == "x"


# ------------------------------------------------------------------ the real one
@pytest.mark.deepspeed
def test_advice_is_told_how_deepspeed_refuses_a_config_and_it_is_tried_once(oracle, monkeypatch):
    refused = question({"train_batch_size": 4, "train_micro_batch_size_per_gpu": 3, "optimizer": SGD})
    told = oracle.refusal(refused, 60)
    assert told.startswith("AssertionError: Check batch related parameters.")
    monkeypatch.setattr(oracle, "begin", lambda question: pytest.fail("asked twice"))
    assert oracle.refusal(refused, 60) == told
    monkeypatch.undo()
    assert oracle.refusal(question({"train_batch_size": 2, "optimizer": SGD}), 60) == ""


@pytest.mark.deepspeed
def test_a_good_config_is_parsed_initialized_and_trained(oracle):
    stages = []
    answer = oracle.ask(question({"train_batch_size": 4, "optimizer": SGD}), lambda stage, doing: stages.append(stage))
    assert answer.verdict is Verdict.ACCEPTED
    assert answer.is_complete
    assert "(parse, initialize, 2 steps;" in answer.summary
    assert list(dict.fromkeys(stages)) == ["read", "parse", "done", "initialize", "step"]
    assert dict(answer.trials[1].engine)["optimizer"] == "SGD"
    assert answer.release.count(".") == 2


@pytest.mark.deepspeed
def test_an_answer_is_remembered(oracle):
    asked = question({"train_batch_size": 4, "optimizer": SGD})
    first = oracle.ask(asked)
    assert oracle.cached(asked) is first
    assert oracle.ask(asked) is first


@pytest.mark.deepspeed
@pytest.mark.parametrize(
    ("config", "stage", "words"),
    [
        ('{"train_batch_size": 8, "train_batch_size": 4}', "read", "Duplicate keys"),
        ({"train_batch_size": 8, "fp16": {"enabled": 2}}, "parse", "fp16"),
        ({"train_batch_size": 8, "optimizer": {"type": "Foo"}}, "initialize", "Foo is not a supported"),
        ({"train_batch_size": 8, "optimizer": SGD, "steps_per_print": 0}, "step", "modulo by zero"),
    ],
)
def test_a_refusal_names_the_stage_and_the_words(oracle, config, stage, words):
    refusal = oracle.ask(question(config)).refusal
    assert refusal.stage == stage
    assert words.lower() in f"{refusal.raised.text} {refusal.raised.model}".lower()


@pytest.mark.deepspeed
def test_native_reads_hjson_and_the_trainer_does_not(oracle):
    text = '{"train_batch_size": 8, // all of them\n "zero_optimization": {"stage": 0},}'
    assert oracle.parse(question(text)).verdict is Verdict.ACCEPTED
    trial = oracle.parse(question(text, reader=Integration.HF))
    assert (trial.verdict, trial.stage, trial.raised.type) == (Verdict.REFUSED, "read", "JSONDecodeError")


@pytest.mark.deepspeed
def test_the_batch_is_solved_for_the_ranks_asked_for(oracle):
    trial = oracle.parse(question({"train_batch_size": 48, "gradient_accumulation_steps": 3}, ranks=8))
    assert dict(trial.resolved)["micro"] == 2
    assert oracle.parse(question({"train_batch_size": 9}, ranks=2)).verdict is Verdict.REFUSED


@pytest.mark.deepspeed
def test_many_ranks_initialize_and_one_of_them_steps(oracle):
    answer = oracle.ask(question({"train_batch_size": 16, "zero_optimization": {"stage": 2}}, ranks=8))
    assert "(parse, initialize on 8 ranks, 2 steps on 1 rank;" in answer.summary
    assert not answer.is_complete
    broken = {"train_batch_size": 16, "zero_optimization": {"stage": 2}, "gradient_clipping": "1.0"}
    refusal = oracle.ask(question(broken, ranks=8)).refusal
    assert (refusal.stage, refusal.ranks) == ("step", 1)


@pytest.mark.deepspeed
def test_a_script_that_brings_its_optimizer_is_assumed_where_the_file_has_none(oracle):
    answer = oracle.ask(question({"train_batch_size": 2, "zero_optimization": {"stage": 3}}))
    assert answer.verdict is Verdict.ACCEPTED
    assert "torch.optim.AdamW" in answer.remarks[0]


@pytest.mark.deepspeed
def test_fp16_is_lent_to_the_cpu_only_when_another_device_is_planned_for(oracle):
    config = {"train_batch_size": 2, "optimizer": SGD, "fp16": {"enabled": True}}
    lent = oracle.ask(question(config, lend=True))
    assert (lent.verdict, dict(lent.trials[0].resolved)["dtype"]) == (Verdict.ACCEPTED, "fp16")
    here = oracle.ask(question(config)).refusal
    assert here is None or "fp16" in here.raised.text  # some CPUs have it


@pytest.mark.deepspeed
def test_a_bucket_of_a_terabyte_is_not_tried(oracle):
    config = {"train_batch_size": 2, "zero_optimization": {"stage": 2, "reduce_bucket_size": 10**12}}
    answer = oracle.ask(question(config))
    assert answer.verdict is Verdict.ACCEPTED
    assert "not enough memory" in answer.not_tried[0]


@pytest.mark.deepspeed
@pytest.mark.parametrize("reader", Integration)
@pytest.mark.parametrize("block", ["offload_optimizer", "offload_param"])
def test_nothing_is_made_in_a_configs_nvme_path_and_the_verdict_is_that_of_any_folder(
    oracle, tmp_path, monkeypatch, block, reader
):
    """DeepSpeed makes the parameters' before it loads async_io, which not every machine has; with it the other."""
    monkeypatch.setattr(oracle, "limit_s", 900.0)  # a busy machine that compiles an op first
    allowed, outside = tmp_path / "allowed", tmp_path / "elsewhere" / "nvme"
    allowed.mkdir()
    answers = []
    for folder in (allowed, outside):
        zero = {"stage": 3, block: {"device": "nvme", "nvme_path": str(folder)}}
        asked = question({"train_batch_size": 2, "zero_optimization": zero}, reader=reader)
        answers.append([(t.verdict, t.stage, t.raised and t.raised.text) for t in oracle.ask(asked).trials])
    assert answers[0] == answers[1]
    assert answers[0][-1][1] in ("initialize", "step", "done")
    assert (list(allowed.iterdir()), outside.parent.exists()) == ([], False)


@pytest.mark.deepspeed
def test_the_trainer_fills_what_says_auto_and_compares_what_does_not(oracle):
    config = {
        "train_batch_size": "auto",
        "train_micro_batch_size_per_gpu": "auto",
        "gradient_accumulation_steps": 2,
        "gradient_clipping": 0.5,
        "zero_optimization": {"stage": 2, "reduce_bucket_size": "auto"},
    }
    fitting = oracle.parse(question(config, ranks=4, reader=Integration.HF))
    assert (fitting.verdict, dict(fitting.resolved)["train"]) == (Verdict.ACCEPTED, 8)
    assert dict(fitting.arguments)["max_grad_norm"] == 0.5
    known = (("gradient_accumulation_steps", 2), ("per_device_train_batch_size", 3))
    mismatched = oracle.parse(question(config, reader=Integration.HF, arguments=known))
    assert (mismatched.stage, mismatched.verdict) == ("fill", Verdict.REFUSED)
    assert "ds gradient_clipping=0.5 vs hf max_grad_norm=1.0" in mismatched.raised.message


@pytest.mark.deepspeed
def test_deepspeeds_own_warnings_come_along(oracle):
    trial = oracle.parse(question({"train_batch_size": 2, "zero_optimization": {"stage": 2, "cpu_offload": True}}))
    assert any("cpu_offload is deprecated" in warning for warning in trial.warnings)


@pytest.mark.deepspeed
def test_a_trial_that_hangs_is_ended_at_the_limit_with_all_it_started(oracle, monkeypatch):
    monkeypatch.setattr(oracle, "limit_s", 3.0)
    autocast = {"enabled": True, "dtype": "bfloat16", "lower_precision_safe_modules": ["dsgui_test_sleeper.Nothing"]}
    answer = oracle.ask(question({"train_batch_size": 2, "optimizer": SGD, "torch_autocast": autocast}))
    assert "initialize: it did not finish within 3 s" in answer.not_tried[0]
    assert not answer.is_final
    assert descendants([worker_of(oracle).pid], snapshot()) == set()
    assert [pid for pid in snapshot() if b"987654" in command_of(pid)] == []


@pytest.mark.deepspeed
def test_a_worker_that_was_killed_is_started_again_and_leaves_nothing(oracle):
    oracle.parse(question({"train_batch_size": 2}))
    killed, folder = worker_of(oracle), Path(worker_of(oracle).args[-1])
    killed.kill()
    assert oracle.parse(question({"train_batch_size": 4})).verdict is Verdict.ACCEPTED
    assert worker_of(oracle).pid != killed.pid
    until(lambda: not folder.exists())


def buffers():
    """By name and number: a new one may have the name of an old one."""
    return {(entry.name, entry.inode()) for entry in os.scandir("/dev/shm") if "_29500_" in entry.name}


@pytest.mark.deepspeed
def test_no_process_and_no_file_of_a_trial_is_left(oracle):
    """Another test's trial, which goes on beside this one, may have some for a while."""
    before = buffers()
    oracle.ask(question({"train_batch_size": 6, "optimizer": SGD, "csv_monitor": {"enabled": True}}))
    worker = worker_of(oracle)
    until(lambda: buffers() <= before)
    assert descendants([worker.pid], snapshot()) == set()
    assert [path for path in Path(worker.args[-1]).iterdir() if path.is_dir() and path.name.startswith("tmp")] == []


@pytest.mark.deepspeed
def test_the_worker_ends_when_its_server_is_killed(tmp_path):
    code = (
        "import sys, time; from dsgui.shell.oracle.oracle import Oracle\n"
        "from tests.real_deepspeed.test_ask import NOTHING, worker_of\n"
        "o = Oracle(sys.executable); o.parse(NOTHING); p = worker_of(o)\n"
        "print(p.pid, p.args[-1], flush=True); time.sleep(99)"
    )
    root = Path(__file__).parents[2]
    server = subprocess.Popen([sys.executable, "-c", code], cwd=root, stdout=subprocess.PIPE, text=True)
    pid, folder = server.stdout.readline().split()
    server.kill()
    server.wait()
    server.stdout.close()
    until(lambda: (stat := read_stat(int(pid))) is None or stat.zombie)
    until(lambda: not Path(folder).exists())


def test_the_worker_needs_nothing_of_dsgui_on_the_path():
    """It is run by path, in an environment that does not have dsgui, and must not shadow others' modules."""
    assert SCRIPT.is_file()
    code = (
        f"import runpy, sys; sys.path[:0] = [{str(SCRIPT.parent)!r}]; runpy.run_path({str(SCRIPT)!r}); print(sys.path)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd="/", capture_output=True, text=True, check=True)
    assert str(SCRIPT.parent) not in done.stdout
