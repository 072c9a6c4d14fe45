"""What is asked of DeepSpeed's converter; that it converts is seen with the real one (tests/real_deepspeed)."""

import argparse
import sys
from pathlib import Path
from types import ModuleType

import pytest

from dsgui.shell.afterwards import weights_worker


@pytest.mark.parametrize(("model_files", "injects"), [(1, True), (2, False)])
def test_a_state_that_only_model_parallelism_needs_is_made_where_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_files: int, injects: bool
) -> None:
    """Without it DeepSpeed refuses what the HF Trainer saves at stages 1 and 2 (ds_to_universal.py,
    _check_for_required_state)."""
    states, asked = tmp_path / "global_step4", list[argparse.Namespace]()
    states.mkdir()
    for rank in range(model_files):
        (states / f"mp_rank_{rank:02d}_model_states.pt").touch()
    module = ModuleType("ds_to_universal")
    module.main = asked.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "deepspeed.checkpoint.ds_to_universal", module)
    to = tmp_path / "global_step4_universal"
    weights_worker.universal(argparse.Namespace(states=str(states), to=str(to)), tmp_path / ".part")
    assert [one.inject_missing_state for one in asked] == [injects]
    assert (tmp_path / "latest_universal").read_text() == to.name
