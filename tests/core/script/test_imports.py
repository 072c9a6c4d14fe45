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
from dsgui.shell.script import names_there, script_answers
from dsgui.shell.script.packages_above import packages_above
from dsgui.shell.script.script_answers import ScriptReader


def answers(
    folder: Path,
    source: str,
    elsewhere: str = "",
    working_directory: Path | None = None,
    reader: ScriptReader | None = None,
    python_path: str = "",
    **files: str,
) -> ScriptAnswers:
    for name, text in (files | {"train": source}).items():
        path = folder / f"{name.replace('__', '/', 1)}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    plan = SimpleNamespace(
        target_python=sys.executable,
        script=str(folder / "train.py"),
        working_directory=str(working_directory or folder),
        environment={"PYTHONPATH": python_path} if python_path else {},
        elsewhere=elsewhere,
    )
    return (reader or ScriptReader()).read(plan, script_facts(dedent(source)).command_line)  # type: ignore[arg-type]


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


@pytest.mark.parametrize(
    ("source", "missing"),
    [
        ("def main():\n    import not_here_zz\nif __name__ == '__main__':\n    main()\n", True),
        ("def read():\n    from not_here_zz import x\ndef main():\n    data = read()\nmain()\n", True),
        ("try:\n    import not_here_zz\nfinally:\n    pass\n", True),
        ("import helper\n", True),
        ("def main():\n    import not_here_zz\n", False),
        ("if debug:\n    import not_here_zz\n", False),
        ("try:\n    import not_here_zz\nexcept ImportError:\n    pass\n", False),
        ("def main():\n    if args.convert:\n        return\n    import not_here_zz\nmain()\n", False),
        ("def read():\n    import not_here_zz\ntry:\n    read()\nexcept ImportError:\n    pass\n", False),
        ("os.system('pip install not_here_zz')\ndef main():\n    import not_here_zz\nmain()\n", False),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import not_here_zz\n", False),
        ("import tested\n", False),
    ],
)
def test_imports_inside_count_where_they_run_in_any_case(tmp_path: Path, source: str, missing: bool) -> None:
    helper = "def ready():\n    import not_here_zz\nready()\n"
    tested = "def test():\n    import not_here_zz\nif __name__ == '__main__':\n    test()\n"
    found = answers(tmp_path, source, helper=helper, tested=tested)
    assert [one.name for one in found.missing] == (["not_here_zz"] if missing else [])


def test_a_package_comes_before_a_file_of_the_same_name(tmp_path: Path) -> None:
    """As importlib looks: b/__init__.py, then b.py."""
    found = answers(
        tmp_path,
        "from a import b\n",
        a____init__="",
        a__b="import of_the_file_zz\n",
        **{"a__b/__init__": "import of_the_package_zz\n"},
    )
    assert [one.name for one in found.missing] == ["of_the_package_zz"]


WAYS_OF_ITS_OWN = [
    "import sys\nsys.path.insert(0, '..')\n",
    "import sys\nsys.modules['not_there'] = sys.modules['transformers.not_there'] = sys\n",
    "import sys as _sys\n_sys.path.append('lib')\n",
    "from sys import path\npath.append('lib')\n",
    "import site\nsite.addsitedir('lib')\n",
]


@pytest.mark.parametrize("changing", ["utils", "train"])
@pytest.mark.parametrize("changes", WAYS_OF_ITS_OWN)
def test_where_modules_are_found_in_a_way_of_its_own_nothing_is_known(
    tmp_path: Path, changes: str, changing: str
) -> None:
    """Of what the script itself imports neither, where a file beside it changes where that is found."""
    imports = "import not_there\nfrom transformers import NotThereAnyMore\n"
    files = {"train": f"import utils\n{imports}", "utils": "import not_there_either\n"}
    files[changing] = changes + files[changing]
    found = answers(tmp_path, files["train"], utils=files["utils"])
    assert (found.missing, found.gone) == ((), ())


@pytest.mark.parametrize("changing", ["utils", "train"])
def test_a_folder_at_the_end_of_sys_path_hides_no_lack_of_a_package(
    tmp_path: Path, changing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of names that no known package has, nothing is known: they may lie in that folder."""
    monkeypatch.setattr(script_answers, "PACKAGES", {"known_zz": "known-zz"})
    imports = "import not_there, known_zz\nfrom transformers import NotThereAnyMore\n"
    files = {"train": f"import utils\n{imports}", "utils": "import not_there_either\n"}
    files[changing] = "import sys\nsys.path.append('.')\n" + files[changing]
    found = answers(tmp_path, files["train"], utils=files["utils"])
    assert [one.name for one in found.missing] == ["known_zz"]
    assert [one.name for one in found.gone] == ["transformers.NotThereAnyMore"]


SPELLED = [
    "import os, sys\nsys.path.append(os.path.join(os.path.dirname(__file__), 'lib'))\n",
    "import os, sys\nHERE = os.path.dirname(os.path.abspath(__file__))\nsys.path.append(os.path.join(HERE, 'lib'))\n",
    "import os, sys\nsys.path.append(os.path.dirname(os.path.realpath(__file__)) + '/lib')\n",
    "import os, sys\nfrom os import path as osp\nsys.path.extend(['elsewhere', f'{osp.dirname(__file__)}/lib'])\n",
    "import sys\nfrom pathlib import Path\nsys.path.append(str(Path(__file__).resolve().parent / 'lib'))\n",
    "import sys, pathlib\nsys.path.append(str(pathlib.Path(__file__).parents[1].joinpath('project', 'lib')))\n",
    "import os, sys\nsys.path.append(os.path.join(os.getcwd(), '../project/lib'))\n",
    "import sys\nsys.path.append('../project/lib')\n",
]


@pytest.mark.parametrize("grows", SPELLED)
def test_a_module_that_lies_in_a_folder_the_file_adds_is_not_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grows: str
) -> None:
    """Though a package has the same name; what does not lie there is missing all the same."""
    monkeypatch.setattr(script_answers, "PACKAGES", {name: name for name in ("known_zz", "other_zz", "third_zz")})
    folder, started = tmp_path / "project", tmp_path / "started"
    started.mkdir()
    files = {"lib__known_zz": "", "lib__other_zz/__init__": ""}
    (folder / "lib" / "other_zz").mkdir(parents=True)
    imports = "import known_zz, other_zz, third_zz\n"
    for train, utils in ((grows + imports, ""), ("import utils\n", grows + imports)):
        found = answers(folder, train, working_directory=started, utils=utils, **files)
        assert [one.name for one in found.missing] == ["third_zz"]


@pytest.mark.parametrize("given", ["root", "' '.join(['..', 'lib'])", "os.environ['LIB']", "f'{root}/lib'", "1"])
def test_a_folder_that_is_not_spelled_out_hides_no_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setattr(script_answers, "PACKAGES", {"known_zz": "known-zz"})
    source = f"import os, sys\nroot = 'lib'\nroot = os.getcwd()\nsys.path.append({given})\nimport known_zz\n"
    assert [one.name for one in answers(tmp_path, source, lib__known_zz="").missing] == ["known_zz"]


def test_of_a_package_in_a_folder_above_nothing_is_known_where_sys_path_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script_answers, "PACKAGES", {"known_zz": "known-zz"})
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "known_zz.py").write_text("")
    source = "import sys\nsys.path.append('..')\nimport known_zz\n"
    assert answers(tmp_path / "project" / "scripts", source).missing == ()


@pytest.mark.parametrize(
    ("package", "missing"),
    [
        ("def train(): ...\n", []),
        ("from .parts import train\n", []),
        ("from .parts import *\n", []),
        ("def __getattr__(name): ...\n", []),
        ("", ["not_here_zz"]),
        ("from . import train\n", ["not_here_zz"]),
        ("from tools import train\n", ["not_here_zz"]),
        ("def other():\n    train = 1\n", ["not_here_zz"]),
    ],
)
def test_what_a_package_names_itself_is_no_file_of_it(tmp_path: Path, package: str, missing: list[str]) -> None:
    found = answers(
        tmp_path,
        "from tools import train\n",
        tools____init__=package,
        tools__train="import not_here_zz\n",
        tools__parts="train = 1\n",
    )
    assert [one.name for one in found.missing] == missing


def test_imports_in_a_circle_end(tmp_path: Path) -> None:
    assert answers(tmp_path, "import a", a="import b", b="import a, train, nowhere").missing[0].name == "nowhere"


def test_names_that_stand_in_the_source_are_not_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object) -> frozenset[str]:
        raise AssertionError(given)

    monkeypatch.setattr("dsgui.shell.script.names_there._lacking", refuse)
    found = answers(
        tmp_path,
        "from transformers import AutoModel, BloomForCausalLM\nfrom transformers.models.bert import BertConfig\n",
    )
    assert found.gone == ()


def test_a_name_that_a_file_of_a_package_uses_is_not_the_packages(tmp_path: Path) -> None:
    """transformers 5 uses `is_offline_mode` in utils/hub.py: the examples of 4.57 import it from transformers.utils."""
    found = answers(tmp_path, "from transformers.utils import check_min_version, is_offline_mode\n")
    assert [one.name for one in found.gone] == ["transformers.utils.is_offline_mode"]


@pytest.mark.parametrize("where", ["beside the script", "in the working directory"])
def test_a_package_of_ones_own_with_a_well_known_name_is_no_release_of_it(tmp_path: Path, where: str) -> None:
    """Some `datasets` beside the script, or a fork that deepspeed's launcher lets several machines find."""
    taken = "from peft import coco\nfrom peft.coco import not_written_out\nimport peft.voc\n"
    (tmp_path / "peft").mkdir()
    for name in ("__init__", "coco"):
        (tmp_path / "peft" / f"{name}.py").write_text("")
    folder = tmp_path if where == "beside the script" else tmp_path / "scripts"
    folder.mkdir(exist_ok=True)
    assert answers(folder, taken, "" if folder == tmp_path else "worker-0", tmp_path).gone == ()


@pytest.mark.parametrize(
    "sets",
    [
        "import transformers\ntransformers.not_there_any_more = 1\n",
        "import transformers as of_old\nsetattr(of_old, 'not_there_any_more', 1)\n",
        "import transformers\nfor name in ('not_there_any_more',):\n    setattr(transformers, name, 1)\n",
    ],
)
@pytest.mark.parametrize("beside", [True, False])
def test_a_name_that_is_set_on_a_package_is_there(tmp_path: Path, sets: str, beside: bool) -> None:
    taken = "from transformers import not_there_any_more\n"
    found = answers(tmp_path, f"import compat\n{taken}", compat=sets) if beside else answers(tmp_path, sets + taken)
    assert found.gone == ()


def test_what_else_is_set_hides_no_lack(tmp_path: Path) -> None:
    found = answers(
        tmp_path,
        "import compat\nfrom transformers import not_there_any_more\n",
        compat="import transformers\ntransformers.Trainer.train = self.transformers = None\nsetattr(self, name, 1)\n",
    )
    assert [one.name for one in found.gone] == ["transformers.not_there_any_more"]


def test_a_question_that_failed_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = "from transformers import never_was_there_before\n"
    monkeypatch.setattr(names_there, "TIMEOUT_S", 0.001)
    assert answers(tmp_path, taken).gone == ()
    monkeypatch.undo()
    assert [one.name for one in answers(tmp_path, taken).gone] == ["transformers.never_was_there_before"]


@pytest.mark.parametrize(("source", "asked"), [("", 1), ("import not_there\n", 2)])
def test_a_question_that_failed_is_soon_asked_again_only_where_a_package_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, asked: int
) -> None:
    """It may take half a minute to fail; but an answer that stops a launch has to be fresh."""
    now, questions = [0.0], list[object]()
    monkeypatch.setattr(script_answers, "gone", lambda *given: questions.append(given))
    reader = ScriptReader(lambda: now[0])
    for _ in range(2):
        answers(tmp_path, source, reader=reader)
        now[0] += script_answers.FRESH_S + 1
    assert len(questions) == asked


@pytest.mark.parametrize(("elsewhere", "missing"), [("", ["beside"]), ("worker-0", [])])
def test_the_working_directory_is_searched_only_where_deepspeed_adds_it(
    tmp_path: Path, elsewhere: str, missing: list[str]
) -> None:
    """runner.py sets PYTHONPATH where several machines train."""
    (tmp_path / "beside.py").write_text("")
    (tmp_path / "scripts").mkdir()
    found = answers(tmp_path / "scripts", "import beside\n", elsewhere, tmp_path)
    assert [one.name for one in found.missing] == missing


def test_a_folder_in_pythonpath_is_one_of_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "of_mine.py").write_text("")
    (tmp_path / "scripts").mkdir()
    found = answers(tmp_path / "scripts", "import of_mine\n", working_directory=tmp_path, python_path="src")
    assert found.missing == ()


def test_a_run_in_its_own_folder_is_asked_for_before_that_is_there(tmp_path: Path) -> None:
    source = "import not_there\nfrom transformers import not_there_any_more\n"
    found = answers(tmp_path, source, working_directory=tmp_path / "runs" / "not-yet", python_path="src")
    assert [one.name for one in (*found.missing, *found.gone)] == ["not_there", "transformers.not_there_any_more"]


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("dschat/utils/one.py", "from dschat.utils import one"),
        ("dschat/one.py", "from dschat import one"),
        ("dschat.py", "from dschat.utils import one"),
    ],
)
def test_code_in_a_folder_above_the_script_is_named_with_that_folder(tmp_path: Path, place: str, source: str) -> None:
    code = tmp_path / "project" / place
    code.parent.mkdir(parents=True, exist_ok=True)
    code.write_text("")
    (tmp_path / "project" / "no_package").mkdir()  # holds no code
    script = tmp_path / "project" / "training" / "step1"
    found = answers(script, f"{source}\nimport no_package, elsewhere\n")
    assert {one.name: one.above for one in found.missing} == {
        "dschat": str(tmp_path / "project"),
        "no_package": "",
        "elsewhere": "",
    }


def test_code_that_pythonpath_names_is_followed_as_that_beside_the_script(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "dschat").mkdir(parents=True)
    (project / "dschat" / "model.py").write_text("from transformers import NotThereAnyMore\nimport not_there\n")
    found = answers(project / "training", "from dschat.model import x\n", python_path=str(project))
    assert told(found.missing) == [("not_there", "model.py", 2)]
    assert told(found.gone) == [("transformers.NotThereAnyMore", "model.py", 1)]


def write(folder: Path, *files: str) -> None:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")


@pytest.mark.parametrize(
    ("files", "name", "imported", "found"),
    [
        (["transformers/setup.py", "transformers/utils/tests.py"], "transformers", ["transformers.utils"], False),
        (["wandb/x/a.py"], "wandb", ["wandb.x", "wandb.x.a"], False),
        (["clone/setup.py", "clone/src/clone/__init__.py"], "clone", ["clone.models"], False),
        (["wandb/__init__.py"], "wandb", [], True),
        (["wandb.py"], "wandb", [], True),
        (["wandb/__init__.py", "wandb/old.py"], "wandb.old", [], False),  # the installed release lacks it
        (["mine/part/a.py"], "mine", ["mine.part", "mine.part.a", "other.a"], True),
        (["mine/part/a.py", "mine.txt"], "mine", ["mine.other", "mine_part.a"], False),
        (["mine/__init__.py", "mine/part.py"], "mine.part", [], True),
        (["mine/__init__.py", "mine/part/a.py"], "mine.part", ["mine.part.a"], True),
        (["mine/__init__.py", "mine/setup.py"], "mine.part", [], False),
        (["mine/part.py"], "mine.part", [], False),  # an installed `mine`, which Python found, comes first
        (["mine/__init__.py", "mine/part.py", "scripts/mine.py"], "mine.part", [], False),
        (["mine/__init__.py", "mine/part.py", "scripts/mine/x.py"], "mine.part", [], False),
    ],
)
def test_a_folder_above_has_a_module_that_python_would_find_there(
    tmp_path: Path, files: list[str], name: str, imported: list[str], found: bool
) -> None:
    write(tmp_path, *files)
    above = packages_above(str(tmp_path / "scripts" / "train.py"), {name: imported})
    assert above == ({name: str(tmp_path)} if found else {})


def test_a_large_folder_above_is_a_project_too(tmp_path: Path) -> None:
    write(tmp_path, "mine.py", *(f"{number}.txt" for number in range(400)))
    assert packages_above(str(tmp_path / "scripts" / "train.py"), {"mine": []}) == {"mine": str(tmp_path)}


def test_a_folder_for_everybodys_files_is_not_one_above(tmp_path: Path) -> None:
    write(tmp_path / "shared", "mine.py")
    (tmp_path / "shared").chmod(0o1777)
    assert packages_above(str(tmp_path / "shared" / "scripts" / "train.py"), {"mine": []}) == {}


def test_a_user_without_a_home_has_folders_above_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    write(tmp_path, "mine.py")
    assert packages_above(str(tmp_path / "scripts" / "train.py"), {"mine": []}) == {"mine": str(tmp_path)}


@pytest.mark.parametrize(("of_the_run", "kept"), [("", "/inherited"), ("/of/the/run", "/of/the/run")])
def test_the_answers_say_which_pythonpath_the_run_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of_the_run: str, kept: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/inherited")
    assert answers(tmp_path, "import not_there\n", python_path=of_the_run).python_path == kept
