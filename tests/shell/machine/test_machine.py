"""What the machine and the target environment offer: the checks row by row, the readings, doctor's exit codes."""

import json
import os
import resource
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from dsgui.cli import main
from dsgui.core.machine.hardware import Gpu, Op, Target
from dsgui.core.machine.machine import Buffer, Disk, Driver, Environment, Host, Machine, Tool, TorchCuda
from dsgui.core.machine.machine_checks import CHECKS, check
from dsgui.core.machine.machine_report import as_json, as_text, groups, summary
from dsgui.core.machine.verdicts import Row, Status
from dsgui.core.sizes import size
from dsgui.core.texts.languages import speaking
from dsgui.core.texts.saying import as_told, words
from dsgui.shell.machine.ask_target import unread_architectures
from dsgui.shell.machine.gpus import Gpus
from dsgui.shell.machine.leftovers import stale_buffers, stale_locks
from dsgui.shell.machine.machine_reader import MachineProbe, read_disk, read_host, read_machine
from dsgui.shell.machine.target import ask
from dsgui.ui.machine.machine_view import machine_html
from tests.shell.metrics.test_telemetry import FakeNvml, card
from tests.support.cases import each_case

GIB, MIB = 1 << 30, 1 << 20
A100 = Gpu(0, "A100", (8, 0), 80 * GIB, 79 * GIB)
VERSIONS = {"torch": "2.13.0", "deepspeed": "0.19.8", "transformers": "5.23.0", "accelerate": "1.15.0"}
TOOLS = {name: Tool(name, f"/usr/bin/{name}", f"{name} 1.2") for name in ("compiler", "ninja", "nvcc", "ssh", "pdsh")}
OPS = (Op("async_io", False, True), Op("cpu_adam", True, False))
SOUND = Machine(
    Host(
        cpu_model="CPU",
        cores=8,
        cores_usable=8,
        memory_bytes=64 * GIB,
        memory_available_bytes=60 * GIB,
        swap_bytes=0,
        shm=Disk("/dev/shm", 32 * GIB, 31 * GIB),
        memlock_bytes=None,
        open_files=65536,
        runs_disk=Disk("/runs", 500 * GIB, 300 * GIB),
        builds_disk=Disk("/cache", 500 * GIB, 300 * GIB),
    ),
    gpus=(A100,),
    driver=Driver("570.1", (12, 8)),
    environment=Environment(
        Target("/env/bin/python", "3.11.7", VERSIONS, "cuda", True, True, (A100,), ops=OPS),
        TorchCuda("12.6", "", True),
        "/usr/local/cuda",
        "12.4",
        TOOLS,
        "/usr/include/python3.11/Python.h",
        True,
    ),
)
CPU = replace(SOUND, gpus=(), driver=None)


def host(machine=SOUND, **changes):
    return replace(machine, host=replace(machine.host, **changes))


def environment(machine=SOUND, **changes):
    return replace(machine, environment=replace(machine.environment, **changes))


def target(**changes):
    return environment(target=replace(SOUND.environment.target, **changes))


def tool(name, found):
    return environment(tools={**TOOLS, name: found})


def without(*packages):
    return target(versions={name: v for name, v in VERSIONS.items() if name not in packages})


def cuda(built, driver=(12, 8), nvcc="12.4", **more):
    changed = environment(torch=TorchCuda(built, "", True), toolkit_release=nvcc, **more)
    return replace(changed, driver=Driver("1", driver))


V100 = Gpu(0, "V100", (7, 0), 32 * GIB, 32 * GIB)
P100 = Gpu(1, "P100", (6, 0), 16 * GIB, 1 * GIB)
ROWS = [
    ("target", replace(SOUND, environment=None, problem="no such file"), Status.PROBLEM, "no such file"),
    ("imports", environment(problems=("ops: ImportError: libcudart",)), Status.PROBLEM, "libcudart"),
    ("packages", without("deepspeed"), Status.PROBLEM, "has no deepspeed"),
    ("packages", without("deepspeed", "torch"), Status.PROBLEM, "no torch and no deepspeed"),
    ("trainer", without("accelerate"), Status.WARNING, "no accelerate"),
    ("cuda", environment(torch=TorchCuda("", "", False, "x")), Status.PROBLEM, "torch is a CPU-only build"),
    ("cuda", environment(torch=TorchCuda("12.6", "", False, "driver too old")), Status.PROBLEM, "driver too old"),
    ("cuda", environment(CPU, torch=TorchCuda("12.6", "", False, "no driver")), Status.WARNING, "no driver"),
    ("driver", cuda("13.0"), Status.PROBLEM, "CUDA up to 12.8, and torch is built for 13.0"),
    ("toolkit", cuda("12.6", nvcc=""), Status.PROBLEM, "No CUDA toolkit with nvcc"),
    ("toolkit", cuda("12.6", nvcc="13.0"), Status.PROBLEM, "refuses to compile"),
    ("toolkit", cuda("13.1", (13, 1), "13.0"), Status.PROBLEM, "nvcc 13.0"),
    ("compiler", tool("compiler", Tool("c++")), Status.PROBLEM, "No c++ in the PATH"),
    ("compiler", tool("compiler", Tool("c++", "/usr/bin/c++")), Status.PROBLEM, "/usr/bin/c++ does not start"),
    ("ninja", tool("ninja", Tool("ninja")), Status.PROBLEM, "No ninja in the PATH"),
    ("headers", environment(has_headers=False), Status.PROBLEM, "Python.h does not exist"),
    ("cpu_adam", target(ops=(Op("cpu_adam", False, False, "No CUDA. x"),)), Status.WARNING, "DeepSpeed: “No CUDA”"),
    ("async_io", target(ops=(Op("async_io", False, False),)), Status.WARNING, "async_io can't be compiled."),
    ("locks", host(stale_locks=("/cache/a b/lock",)), Status.WARNING, "a lock: /cache/a b/lock"),
    ("memory", host(memory_limit_bytes=16 * GIB), Status.WARNING, "Only 16 GiB of 64 GiB"),
    ("shm", host(shm=None), Status.PROBLEM, "no /dev/shm"),
    ("shm", host(shm=Disk("/dev/shm", 64 * MIB, 64 * MIB)), Status.PROBLEM, "512 MiB are needed"),
    ("shm", host(CPU, shm=Disk("/dev/shm", GIB, 64 * MIB)), Status.PROBLEM, "132 MiB are needed"),
    ("shm_left", host(stale_buffers=(Buffer("/dev/shm/b_0_a_1_0", GIB),)), Status.WARNING, "left 1 GiB of memory"),
    ("memlock", host(memlock_bytes=8 * MIB), Status.WARNING, "lock 8 MiB of memory"),
    ("files", host(open_files=256), Status.WARNING, "256 files"),
    ("runs_disk", host(runs_disk=Disk("/runs", GIB, GIB)), Status.WARNING, "1.1 GB free in /runs"),
    ("runs_disk", host(runs_disk=Disk("/runs", GIB, 0)), Status.PROBLEM, "0 bytes free in /runs"),
    ("builds_disk", host(builds_disk=Disk("/cache", GIB, 300 * MIB)), Status.WARNING, "315 MB free"),
    ("bf16", replace(SOUND, gpus=(A100, V100)), Status.WARNING, "GPU 0 (V100, 7.0)"),
    ("bf16", replace(SOUND, gpus=(P100,)), Status.WARNING, "GPU 1 (P100, 6.0)"),
    ("busy", replace(SOUND, gpus=(A100, P100)), Status.WARNING, "GPU 1: 1 GiB of 16 GiB free"),
]


@each_case(("name", "machine", "status", "says"), ROWS, ids=[f"{r[0]}-{n}" for n, r in enumerate(ROWS)])
def test_a_machine_with_one_fault_has_one_row_that_says_it(name, machine, status, says):
    bad = [row for row in check(machine) if row.status is not Status.OK]
    assert [row.check for row in bad if row.check == name] == [name]
    (row,) = [row for row in bad if row.check == name]
    assert row.status is status
    assert says in row.seen
    assert row.advice


def test_every_check_is_tried():
    assert {entry.id for entry in CHECKS} == {row[0] for row in ROWS}


def test_a_sound_machine_has_nothing_to_trip_over():
    rows = check(SOUND)
    assert [row for row in rows if row.status is not Status.OK] == []
    assert {entry.id for entry in CHECKS} - {row.check for row in rows} == {"target", "imports", "locks", "shm_left"}
    assert summary(rows) == "all checks passed"


@pytest.mark.parametrize(
    "machine",
    [
        cuda("12.6", nvcc="12.8"),  # minor releases of 12 may differ
        cuda("11.8", nvcc="11.8"),  # a driver runs older CUDA
        cuda("13.0", (13, 0), "13.0"),
        host(memlock_bytes=8 * MIB, locks_freely=True),
        host(memory_limit_bytes=64 * GIB),
        environment(CPU, torch=TorchCuda("", "", False, "Torch not compiled with CUDA enabled")),
        environment(torch=TorchCuda("", "6.4", True)),
    ],
)
def test_what_is_different_and_fine_is_no_fault(machine):
    assert [row for row in check(machine) if row.status is not Status.OK] == []


def test_what_is_unknown_gives_no_row_and_no_exception():
    unknown = Machine(Host(), gpus=(Gpu(0, "Old card", None, None),), environment=Environment(Target("python")))
    told = {row.check for row in check(unknown) if row.status is not Status.OK}
    assert told == {"packages", "trainer", "shm"}
    assert "unknown" in as_text(unknown, check(unknown))
    assert check(Machine(Host(shm=SOUND.host.shm)))  # the target has not answered yet


def test_shared_memory_is_told_as_memory_and_a_disk_as_files():
    told = dict(groups(SOUND)[1].readings)
    (seen,) = [row.seen for row in check(SOUND) if row.check == "shm"]
    assert told["/dev/shm"] == "31 GiB of 32 GiB free"
    assert str(seen) == "/dev/shm: 31 GiB of 32 GiB free"
    assert "322 GB of 537 GB free" in told["Runs"]


NVCC = Tool("nvcc", "/usr/local/bin/nvcc", "nvcc: NVIDIA\nCuda compilation tools, release 13.0, V13.0.88")


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ({"torch": TorchCuda("", "", False), "toolkit_home": "", "tools": {"nvcc": NVCC}},
         "not used: this torch is built for the CPU, so nvcc 13.0 compiles nothing for it"),
        ({"torch": TorchCuda("", "", False), "toolkit_home": "", "tools": {}},
         "not needed: this torch is built for the CPU"),
        ({"torch": TorchCuda("12.6", "", True), "toolkit_home": "", "tools": {}}, "not found (CUDA_HOME is not set)"),
        ({"toolkit_home": "/cuda", "toolkit_release": "12.6", "tools": {"nvcc": NVCC}},
         "12.6 (/cuda); nvcc 13.0 of PATH is not used"),
        ({"toolkit_home": "/cuda", "toolkit_release": "13.0", "tools": {"nvcc": NVCC}}, "13.0 (/cuda)"),
    ],
)  # fmt: skip
def test_a_toolkit_is_told_with_how_nvcc_goes_with_it(now, told):
    of_environment = groups(environment(**now))[2]
    assert dict(of_environment.readings)["CUDA toolkit"] == told


def test_a_limit_of_locked_memory_that_does_not_hold_is_none():
    locked = dict(groups(host(memlock_bytes=8 * MIB, locks_freely=True))[1].readings)["Locked memory"]
    assert locked == "no limit (ulimit -l says 8 MiB, and CAP_IPC_LOCK lifts it)"


def test_the_worst_comes_first():
    machine = replace(host(open_files=256), environment=tool("ninja", Tool("ninja")).environment)
    assert [row.check for row in check(machine)][:2] == ["ninja", "files"]
    assert summary(check(machine)) == "1 problem, 1 warning"


@pytest.mark.parametrize(
    ("language", "statuses", "told"),
    [
        ("en", (Status.OK, Status.UNKNOWN), "no problems found; not checked: a check"),
        ("en", (Status.UNKNOWN, Status.UNKNOWN), "no problems found, 2 not checked"),
        ("en", (Status.PROBLEM, Status.UNKNOWN), "1 problem"),
        ("zh-CN", (Status.OK, Status.UNKNOWN), "未发现问题；未检查：a check"),
        ("zh-CN", (Status.OK, Status.OK), "检查全部通过"),
    ],
)
def test_not_all_checks_passed_where_one_was_not_made(language, statuses, told):
    rows = [Row("", as_told("a check"), status, ()) for status in statuses]
    with speaking(language):
        assert summary(rows) == told


@pytest.mark.parametrize("left", [("1_0",), ("25370_0", "25371_0", "25371_1"), ("1_0", "2 $(x)_0")])
def test_just_the_left_over_buffers_are_removed_and_none_of_a_run_that_goes_on(tmp_path, left):
    start, going_on = f"{tmp_path}/deepspeed_allreduce_buffer_0_127.0.0.1_", "29500_0"
    for end in (*left, going_on):
        Path(start + end).touch()
    stale = tuple(Buffer(start + end, 1) for end in left)
    (row,) = [row for row in check(host(stale_buffers=stale)) if row.check == "shm_left"]
    subprocess.run(["sh", "-c", row.command], check=True)
    assert [str(path) for path in tmp_path.iterdir()] == [start + going_on]


@pytest.mark.parametrize(("count", "told"), [(0, "0 MiB"), (8 * MIB, "8 MiB"), (3 * GIB // 2, "1.5 GiB")])
def test_sizes(count, told):
    assert size(count) == told


# --------------------------------------------------------------------------------------------------------- readings
def test_text_and_json_have_every_reading():
    told = as_text(SOUND, check(SOUND))
    for part in ("A100, 79 GiB of 80 GiB free", "CUDA up to 12.8", "/env/bin/python", "async_io", "all checks passed"):
        assert part in told
    answer = json.loads(as_json(SOUND, check(SOUND)))
    assert (answer["ok"], answer["host"]["cores"], answer["gpus"][0]["free_bytes"]) == (True, 8, 79 * GIB)
    assert answer["environment"]["target"]["ops"][0]["name"] == "async_io"
    assert {row["status"] for row in answer["checks"]} == {"ok"}


def test_the_page_shows_what_is_known_and_escapes_it():
    waiting = replace(SOUND, environment=None)
    assert words("machine_page", "asking") in machine_html(waiting, asking=True)
    assert "so far" in machine_html(waiting, asking=True)
    assert "This machine: all checks passed<" in machine_html(SOUND, asking=False)
    evil = tool("compiler", Tool("<script>", "", ""))
    html = machine_html(evil, asking=False)
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert words("machine_page", "asking") not in html


def test_a_fake_driver_tells_versions_and_free_memory():
    nvml = FakeNvml(card(nvmlDeviceGetMemoryInfo=SimpleNamespace(total=80 * GIB, used=GIB, free=79 * GIB)))
    nvml.nvmlSystemGetDriverVersion = lambda: b"570.86.10"
    nvml.nvmlSystemGetCudaDriverVersion_v2 = lambda: 12080
    gpus = Gpus(nvml)
    assert gpus.driver() == Driver("570.86.10", (12, 8))
    assert gpus.list()[0].free_bytes == 79 * GIB
    assert Gpus(None).driver() is None


def test_the_limits_are_those_of_this_process(tmp_path):
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536)); "
        "resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300)); "
        "from pathlib import Path; from dsgui.shell.machine.machine_reader import read_host; "
        "h = read_host(Path(sys.argv[1]), {}); "
        "print(h.memlock_bytes, h.open_files)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["65536", "300"]
    assert read_host(tmp_path, os.environ).open_files == resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def test_a_folder_that_is_not_there_yet_is_measured_where_it_will_be(tmp_path):
    assert read_disk(tmp_path / "a" / "b").total_bytes == read_disk(tmp_path).total_bytes


def test_a_lock_nobody_holds_is_stale_and_one_held_is_not(tmp_path):
    lock = tmp_path / "torch_extensions" / "op" / "lock"
    lock.parent.mkdir(parents=True)
    with lock.open("w"):
        assert stale_locks([lock]) == set()
    assert stale_locks([lock, tmp_path / "gone"]) == {lock}


def test_a_buffer_that_a_process_has_mapped_is_not_stale(tmp_path):
    path = tmp_path / f"deepspeed_allreduce_buffer_{os.getuid()}_127.0.0.1_1_0"
    path.write_bytes(b"x" * MIB)
    hold = (
        "import mmap, sys; f = open(sys.argv[1], 'r+b'); m = mmap.mmap(f.fileno(), 0); f.close(); "
        "print(flush=True); sys.stdin.read()"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", hold, str(path)], stdin=pipe, stdout=pipe) as child:
        child.stdout.readline()
        assert stale_buffers(tmp_path) == {}
        child.communicate()
    assert stale_buffers(tmp_path) == {path: MIB}


# ------------------------------------------------------------------------------------------------ the target's answer
def stand_in(tmp_path, source):
    """An interpreter of somebody's: a script that answers in its own way."""
    program = tmp_path / "python"
    program.write_text(f"#!{sys.executable}\n{source}")
    program.chmod(0o755)
    return str(program)


ANSWER = {
    "python": "3.9.1",
    "versions": {"torch": "2.1.0", "deepspeed": "0.14.5"},
    "accelerator": {"problem": "ImportError: no"},
    "ops": {"async_io": {"compatible": False, "installed": False, "reason": "no libaio"}},
    "torch": {"cuda": "12.1", "hip": None, "usable": False, "why_not": "no driver"},
    "toolkit": {"home": "/usr/local/cuda", "version": "12.1"},
    "tools": {"compiler": {"command": "c++", "path": "", "told": ""}, "nvcc": 7},
    "headers": {"path": "/x/Python.h", "exists": False},
}


def test_an_answer_becomes_values_and_a_part_that_raised_a_problem():
    told = Environment.from_json("py", ANSWER, ())
    assert told.torch == TorchCuda("12.1", "", False, "no driver")
    assert told.problems == ("accelerator: ImportError: no",)
    assert told.tools == {"compiler": Tool("c++")}
    assert told.target.missing_ops == {"async_io"}
    assert (told.has_headers, told.toolkit_release) == (False, "12.1")
    assert groups(replace(SOUND, environment=told))


@pytest.mark.parametrize("answer", [{}, {"tools": 3, "torch": [], "ops": "x", "headers": {}}, {"ops": {"a": 1}}])
def test_an_answer_of_another_shape_is_unknown(answer):
    told = Environment.from_json("py", answer, ())
    assert (told.torch, told.tools, told.has_headers) == (None, None, None)
    assert told.target.missing_ops == frozenset()


@pytest.mark.deepspeed
def test_this_environment_tells_all_parts():
    told = Environment.from_json(sys.executable, ask(sys.executable, "machine", 170), ())
    assert told.problems == ()
    assert told.tool("compiler").told
    assert told.tool("ninja").path
    assert {"async_io", "cpu_adam", "fused_adam", "cpu_lion"} <= {op.name for op in told.target.ops}
    assert told.torch is not None
    aio = told.op("async_io")
    assert aio.compatible or "libaio" in aio.reason


@pytest.mark.deepspeed
@pytest.mark.parametrize(
    ("named", "unread"),
    [("9.0a", "int() with base 10: '0a'"), ("Hopper", "'Hopper'"), ("9.0", ""), ("8.0;9.0+PTX", ""), ("", "")],
)
def test_deepspeed_itself_is_asked_what_it_reads_of_the_architectures(monkeypatch, named, unread):
    """is_compatible doesn't look there; a run stops where it compiles."""
    from deepspeed.ops.op_builder.fused_adam import FusedAdamBuilder

    monkeypatch.setenv("TORCH_CUDA_ARCH_LIST", named)
    told = unread_architectures(FusedAdamBuilder())
    assert unread in told
    assert bool(told) is bool(unread)
    assert os.environ["TORCH_CUDA_ARCH_LIST"] == named


@pytest.mark.deepspeed
def test_a_list_that_has_nothing_for_an_operator_is_told(monkeypatch):
    from deepspeed.ops.op_builder.inference_cutlass_builder import InferenceCutlassBuilder

    monkeypatch.setenv("TORCH_CUDA_ARCH_LIST", "7.0")  # it takes Ampere and newer
    told = unread_architectures(InferenceCutlassBuilder())
    assert told.startswith("TORCH_CUDA_ARCH_LIST=7.0: ")
    assert "no compute capabilities remaining" in told


@pytest.mark.deepspeed
def test_what_else_stops_a_build_is_not_blamed_on_the_architectures(monkeypatch):
    from deepspeed.ops.op_builder.builder import MissingCUDAException
    from deepspeed.ops.op_builder.fused_adam import FusedAdamBuilder

    def no_toolkit(self):
        raise MissingCUDAException("CUDA_HOME does not exist")

    monkeypatch.setenv("TORCH_CUDA_ARCH_LIST", "9.0")
    monkeypatch.setattr(FusedAdamBuilder, "nvcc_args", no_toolkit)
    assert unread_architectures(FusedAdamBuilder()) == ""


def test_the_targets_programs_come_first_in_path(tmp_path):
    python = stand_in(tmp_path, "import json, os; print(json.dumps({'path': os.environ['PATH']}))")
    assert ask(python, "machine", 30)["path"].split(":")[0] == str(tmp_path)


def until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def test_the_probe_shows_the_machine_at_once_and_the_answer_when_it_comes(tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    python = stand_in(tmp_path, f"open({str(gate)!r}).read(); print({json.dumps(ANSWER)!r})")
    probe = MachineProbe(python, lambda: replace(SOUND, environment=None))
    assert probe.current().waiting
    assert probe.asking
    probe.refresh()
    assert [t.name for t in threading.enumerate()].count("machine-probe") == 1  # no second question meanwhile
    gate.write_text("")
    assert until(lambda: not probe.asking)
    assert probe.current().environment.target.version("torch") == "2.1.0"
    assert not probe.refresh().waiting  # the last answer is shown until the next one
    assert probe.asking
    gate.write_text("")
    assert until(lambda: not probe.asking)


@pytest.mark.parametrize("source", ["import sys; sys.exit('segfault, say')", "print('garbage')", ""])
def test_a_target_that_dies_or_babbles_is_said_and_the_rest_is_shown(tmp_path, source):
    probe = MachineProbe(stand_in(tmp_path, source), lambda: replace(SOUND, environment=None))
    probe.refresh()
    assert until(lambda: not probe.asking)
    machine = probe.current()
    assert "--python" in machine.problem
    assert machine.host == SOUND.host
    assert check(machine)[0].check == "target"


def test_a_target_that_hangs_is_given_up(tmp_path):
    machine = read_machine(stand_in(tmp_path, "import time; time.sleep(60)"), tmp_path, timeout_s=0.5)
    assert "timed out" in machine.problem
    assert machine.host.memory_bytes


# ------------------------------------------------------------------------------------------------------------ doctor
def doctor(tmp_path, answer, *options):
    python = stand_in(tmp_path, f"print({json.dumps(answer)!r})")
    return main(["doctor", "--python", python, "--runs-dir", str(tmp_path), *options])


HEALTHY = {
    "python": "3.11.7",
    "versions": VERSIONS,
    "ops": {"async_io": {"compatible": True}},
    "tools": {name: {"command": name, "path": f"/usr/bin/{name}", "told": "1"} for name in ("compiler", "ninja")},
    "headers": {"path": "/x/Python.h", "exists": True},
}


def test_the_exit_code_tells_problems_from_none_and_from_not_checked(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("dsgui.shell.machine.machine_reader.read_gpus", lambda: ((), None))
    monkeypatch.setattr("dsgui.shell.machine.machine_reader.read_host", lambda *_: SOUND.host)
    assert doctor(tmp_path, HEALTHY) == 0
    assert "all checks passed" in capsys.readouterr().out
    assert doctor(tmp_path, ANSWER, "--format", "json") == 1
    assert json.loads(capsys.readouterr().out)["ok"] is False
    assert main(["doctor", "--python", str(tmp_path / "nowhere"), "--runs-dir", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert "does not exist" in err
    assert "This machine" in out  # what is known is told all the same


def test_doctor_imports_nothing_heavy():
    code = "import sys, dsgui.commands.doctor; print([m for m in ('gradio', 'torch', 'deepspeed') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
