"""What a checkpoint holds is told without running what it pickled."""

import io
import os
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path

import pytest

from dsgui.core.afterwards.things import Kind, Thing
from dsgui.shell.afterwards.contents import base_of, best_in, contents


class Size(tuple):  # type: ignore[type-arg]
    def __reduce__(self) -> tuple[object, ...]:
        return Size, (tuple(self),)


class Runs:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, (f"touch '{self.path}'",)


def write(path: Path, told: object) -> None:
    held = io.BytesIO()
    pickle.Pickler(held, protocol=2).dump(told)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", held.getvalue())


def checkpoint(folder: Path, told: object) -> Thing:
    write(folder / "mp_rank_00_model_states.pt", told)
    return Thing(str(folder), Kind.CHECKPOINT, 0, states=str(folder))


def test_the_weights_are_counted_by_their_shapes(tmp_path: Path) -> None:
    groups = [OrderedDict(first=Size((3, 4)), second=Size((5,))), OrderedDict(third=Size(()))]
    told = {"param_shapes": groups, "frozen_param_shapes": OrderedDict(base=Size((10, 10)))}
    assert contents(checkpoint(tmp_path, told | {"shared_params": {"tied": "first"}})).elements == 12 + 5 + 1 + 100 + 12


def test_no_code_of_a_checkpoint_is_run(tmp_path: Path) -> None:
    mark = tmp_path / "was run"
    one = checkpoint(tmp_path, {"param_shapes": [OrderedDict(first=Size((2,)))], "evil": Runs(mark)})
    assert contents(one).elements == 2
    assert not mark.exists()
    with zipfile.ZipFile(tmp_path / "mp_rank_00_model_states.pt") as file:
        pickle.loads(file.read("archive/data.pkl"))  # it would have
    assert mark.exists()


@pytest.mark.parametrize("told", [[], {"param_shapes": 3}, {"param_shapes": [OrderedDict(a=Size(("x",)))]}, None])
def test_what_is_something_else_is_not_counted(tmp_path: Path, told: object) -> None:
    assert contents(checkpoint(tmp_path, told)).elements is None


def test_a_torn_file_is_not_counted(tmp_path: Path) -> None:
    (tmp_path / "mp_rank_00_model_states.pt").write_bytes(b"PK\3\4 torn")
    assert contents(Thing(str(tmp_path), Kind.CHECKPOINT, 0, states=str(tmp_path))).elements is None


WRONG = [
    *("", "[]", '{"base_model_name_or_path": 3, "best_model_checkpoint": []}'),
    pytest.param("[" * 99_999, id="deep"),
]


@pytest.mark.parametrize("text", WRONG)
def test_a_file_with_something_else_names_nothing(tmp_path: Path, text: str) -> None:
    for name in ("adapter_config.json", "trainer_state.json"):
        (tmp_path / name).write_text(text)
    assert (base_of(tmp_path), best_in(tmp_path)) == ("", "")
