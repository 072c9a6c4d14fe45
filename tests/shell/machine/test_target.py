"""The target environment is asked in its own interpreter; what it can't say is said, and what is known stays known."""

import sys
from importlib.util import find_spec

import pytest

from dsgui.core.errors import TargetError
from dsgui.core.machine.hardware import Gpu, Target
from dsgui.shell.machine.ask_target import MODULES
from dsgui.shell.machine.target import TargetProbe, ask

GPU = Gpu(0, "A100", (8, 0), 80 << 30)


def stand_in(tmp_path, source):
    """An interpreter of somebody's: a script that answers in its own way."""
    program = tmp_path / "python"
    program.write_text(f"#!{sys.executable}\n{source}")
    program.chmod(0o755)
    return str(program)


def asked(probe):
    probe.start()
    probe._thread.join(60)
    return probe.current


def test_this_environment_names_its_versions():
    answer = ask(sys.executable, "versions", 30)
    assert answer["versions"]["deepspeed"].count(".") == 2
    assert "accelerator" not in answer
    assert answer["modules"] == {module: find_spec(module) is not None for module in MODULES}
    lacking = Target.from_json(sys.executable, answer, ()).lacking
    assert set(lacking) == {module for module, there in answer["modules"].items() if not there}


@pytest.mark.deepspeed
def test_the_cpu_accelerator_of_this_environment_has_bf16():
    target = asked(TargetProbe(sys.executable, tuple))
    assert (target.accelerator, target.bf16) == ("cpu", True)


def test_a_probe_that_fails_on_the_accelerator_keeps_versions_and_gpus(tmp_path):
    python = stand_in(
        tmp_path,
        "import sys\n"
        "if 'accelerator' in sys.argv: sys.exit('segfault, say')\n"
        'print(\'{"python": "3.11.0", "versions": {"deepspeed": "0.16.9"}}\')\n',
    )
    probe = TargetProbe(python, lambda: (GPU,))
    assert not probe.complete
    target = asked(probe)
    assert probe.complete
    assert target.version("deepspeed") == "0.16.9"
    assert target.gpus == (GPU,)
    assert "segfault, say" in target.problem


@pytest.mark.parametrize("source", ["print('hello')", "import sys; sys.exit(3)", ""])
def test_an_answer_that_makes_no_sense_is_a_target_error(tmp_path, source):
    with pytest.raises(TargetError, match="--python"):
        ask(stand_in(tmp_path, source), "versions", 30)


def test_an_interpreter_that_does_not_exist_is_said(tmp_path):
    with pytest.raises(TargetError, match="does not exist"):
        ask(str(tmp_path / "nowhere"), "versions", 5)
