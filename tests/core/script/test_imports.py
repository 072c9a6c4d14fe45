"""What a script imports and the training environment does not have: of the files beside it, and names of packages whose
releases differ."""

import sys
from collections.abc import Iterable
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace

import pytest

from dsgui.core.script.imports import Absent
from dsgui.core.script.script import script_facts
from dsgui.core.script.taken import ScriptAnswers
from dsgui.shell.script.script_answers import ScriptReader


def answers(
    folder: Path, source: str, elsewhere: str = "", working_directory: Path | None = None, **files: str
) -> ScriptAnswers:
    for name, text in (files | {"train": source}).items():
        path = folder / f"{name.replace('__', '/', 1)}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    plan = SimpleNamespace(
        target_python=sys.executable,
        script=str(folder / "train.py"),
        working_directory=str(working_directory or folder),
        environment={},
        elsewhere=elsewhere,
    )
    return ScriptReader().read(plan, script_facts(dedent(source)).command_line)  # type: ignore[arg-type]


def told(found: Iterable[Absent]) -> list[tuple[str, str, int]]:
    return [(one.name, one.file, one.line) for one in found]


def test_what_a_file_beside_the_script_imports_has_to_be_there_too(tmp_path: Path) -> None:
    found = answers(
        tmp_path,
        "import utils\nfrom parts.one import x\n",
        utils="import json\nimport openai_not_there\n",
        parts____init__="",
        parts__one="from . import two\nfrom .three import y\n",
        parts__two="import utils, absent_in_two\n",
        parts__three="try:\n    import perhaps\nexcept ImportError:\n    perhaps = None\n",
    )
    assert told(found.missing) == [("openai_not_there", "utils.py", 2), ("absent_in_two", "two.py", 1)]


@pytest.mark.parametrize("changing", ["utils", "train"])
def test_where_modules_are_found_in_a_way_of_its_own_nothing_is_known(tmp_path: Path, changing: str) -> None:
    changes = "import sys\nsys.path.insert(0, '..')\n"
    files = {"train": "import utils\n", "utils": "import not_there\n"}
    files[changing] = changes + files[changing]
    assert answers(tmp_path, files.pop("train"), **files).missing == ()


def test_imports_in_a_circle_end(tmp_path: Path) -> None:
    assert answers(tmp_path, "import a", a="import b", b="import a, train, nowhere").missing[0].name == "nowhere"


def test_names_that_the_installed_release_does_not_have_are_told(tmp_path: Path) -> None:
    """As old scripts import them; the training environment itself is asked."""
    found = answers(
        tmp_path,
        """
        from transformers import AutoTokenizer, LlamaForCausalLM, Trainer, deepspeed
        from transformers.models.bert import BertConfig
        from transformers.trainer_pt_utils import LabelSmoother, not_there_any_more
        import transformers.deepspeed_of_old
        from torch import of_no_interest
        import helper
        """,
        helper="from peft import LoraConfig, prepare_model_for_int8_training\n",
    )
    assert told(found.gone) == [
        ("transformers.deepspeed", "", 2),
        ("transformers.trainer_pt_utils.not_there_any_more", "", 4),
        ("transformers.deepspeed_of_old", "", 5),
        ("peft.prepare_model_for_int8_training", "helper.py", 1),
    ]


def test_names_that_stand_in_the_source_are_not_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object) -> frozenset[str]:
        raise AssertionError(given)

    monkeypatch.setattr("dsgui.shell.script.names_there._lacking", refuse)
    found = answers(
        tmp_path,
        "from transformers import AutoModel, BloomForCausalLM\nfrom transformers.models.bert import BertConfig\n",
    )
    assert found.gone == ()


@pytest.mark.parametrize(("elsewhere", "missing"), [("", ["beside"]), ("worker-0", [])])
def test_the_working_directory_is_searched_only_where_deepspeed_adds_it(
    tmp_path: Path, elsewhere: str, missing: list[str]
) -> None:
    """runner.py sets PYTHONPATH where several machines train."""
    (tmp_path / "beside.py").write_text("")
    (tmp_path / "scripts").mkdir()
    found = answers(tmp_path / "scripts", "import beside\n", elsewhere, tmp_path)
    assert [one.name for one in found.missing] == missing
