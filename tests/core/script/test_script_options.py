"""The options of a script, from its source and from that of the classes it hands to HfArgumentParser."""

import argparse
import ast
import dataclasses
import sys
from collections.abc import Iterable
from pathlib import Path
from textwrap import dedent
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from dsgui.core.config.arguments import EVERY_NAME, TrainingArguments
from dsgui.core.config.context import Context, Integration
from dsgui.core.config.filling import fill
from dsgui.core.script.command_line import UNSET
from dsgui.core.script.declared import module_of
from dsgui.core.script.imports import Absent
from dsgui.core.script.script import Parser, script_facts
from dsgui.core.script.script_options import ArgumentsFile, trainer_defaults
from dsgui.core.script.taken import ArgumentsFromFile, ScriptAnswers, offers_logging, taken, trainer_arguments
from dsgui.shell.script import script_answers
from dsgui.shell.script.script_answers import ScriptReader, arguments_file
from tests.support.cases import each_case

TRAINER = """
    import sys
    from dataclasses import dataclass, field
    from typing import List, Literal, Optional, Union
    from transformers import HfArgumentParser, Seq2SeqTrainingArguments

    @dataclass
    class Mine:
        plain: str
        one: int = 3
        on: bool = True
        off: bool = False
        maybe: Optional[bool] = None
        named_list: Optional[List[str]] = field(default=None)
        either: Union[None, str] = None
        quoted: "str | None" = None
        kind: Literal["a", "b"] = "a"
        many: list[int] = field(default_factory=list)
        hidden: int = field(default=1, init=False)
        other: str = field(default="x", metadata={"help": "…", "aliases": ["--elsewhere", "-e"]})

    def main():
        parser = HfArgumentParser((Mine, Seq2SeqTrainingArguments))
        parser.add_argument("--more", nargs="*")
        return parser.parse_args_into_dataclasses()

    if __name__ == "__main__":
        main()
"""


def facts(source: str) -> Any:
    return script_facts(dedent(source)).command_line


def answers(tmp_path: Path, source: str, name: str = "train.py") -> ScriptAnswers:
    script = tmp_path / name
    script.write_text(dedent(source))
    plan = SimpleNamespace(
        target_python=sys.executable, script=str(script), working_directory=str(tmp_path), environment={}, elsewhere=""
    )
    return ScriptReader().read(plan, facts(source))  # type: ignore[arg-type]


def absent(told: Iterable[Absent]) -> list[str]:
    return [one.name for one in told]


def real_parser(source: str) -> argparse.ArgumentParser:
    """The parser that the script makes, with the classes of this environment."""
    made = ModuleType("made")
    sys.modules["made"] = made  # dataclasses look there for the names of types
    try:
        exec(dedent(source).replace("return parser.parse_args_into_dataclasses()", "return parser"), made.__dict__)
        parser: argparse.ArgumentParser = made.__dict__["main"]()
    finally:
        del sys.modules["made"]
    return parser


@pytest.mark.filterwarnings("ignore")
@pytest.mark.remembered("dsgui/core/script")
def test_the_options_are_those_that_the_real_parser_has(tmp_path: Path) -> None:
    real = {
        name: ("1" if action.nargs is None else str(action.nargs))
        for action in real_parser(TRAINER)._actions
        for name in action.option_strings
    }
    found = taken(facts(TRAINER), answers(tmp_path, TRAINER), ())
    assert found.sure
    assert {name: option.values for option in found.options for name in option.names} == real


@pytest.mark.filterwarnings("ignore")
@pytest.mark.remembered("dsgui/core/script")
def test_the_defaults_are_those_of_the_real_classes(tmp_path: Path) -> None:
    from transformers import Seq2SeqTrainingArguments

    read = {option.name: option.default for option in answers(tmp_path, TRAINER).options}
    real = {f.name: f.default for f in dataclasses.fields(Seq2SeqTrainingArguments) if f.init}
    assert {name: read[name] for name in real if read[name] is not UNSET} == {
        name: value for name, value in real.items() if read[name] is not UNSET
    }
    unread = {name for name in real if read[name] is UNSET}
    assert unread == {"include_for_metrics", "optim"}  # made by a factory; looked up when the class is made


def test_nothing_is_sure_where_another_file_may_add_options() -> None:
    for source in (
        "import argparse, megatron; p = argparse.ArgumentParser(); megatron.add(p); p.parse_args()",
        "import argparse; p = argparse.ArgumentParser(parents=[o]); p.parse_args()",
        "import argparse; p = argparse.ArgumentParser(); p.add_argument('--x', **more); p.parse_args()",
        "import argparse; p = argparse.ArgumentParser(); p.add_argument(name); p.parse_args()",
        "import argparse; p = argparse.ArgumentParser(); p.add_argument('--x'); p.parse_args(['--x', '1'])",
        "import argparse; p = argparse.ArgumentParser(); p.add_subparsers(); p.parse_args()",
        "from transformers import HfArgumentParser; HfArgumentParser(classes()).parse_args_into_dataclasses()",
        "from mine import get_args; get_args()",
        "def f(q): g(q)\ndef g(r): mine.add(group=r)\np = argparse.ArgumentParser()\nf(p)\np.parse_args()",
        "class A:\n def f(self, q): mine.add(q)\np = argparse.ArgumentParser()\nA().f(p)\np.parse_args()",
    ):
        assert not facts(source).whole, source
    assert facts("import argparse; p = argparse.ArgumentParser(description='d'); p.parse_args()").whole
    mine = "import argparse\ndef add(p): p.add_argument('--x')\np = argparse.ArgumentParser()\nadd(p)\np.parse_args()"
    assert facts(mine).whole
    deepspeed = "import argparse, deepspeed; p = argparse.ArgumentParser(); p = deepspeed.add_config_arguments(p); {}"
    line = facts(deepspeed.format("p.parse_args()"))
    assert line.whole
    assert {"deepspeed", "deepspeed_config"} <= {option.name for option in line.own}


def test_a_class_of_another_file_beside_the_script_is_followed(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").write_text("from .inner import Base")
    (tmp_path / "parts" / "inner.py").write_text(
        "from dataclasses import dataclass\nfrom transformers.training_args import TrainingArguments\n"
        "@dataclass\nclass Base(TrainingArguments):\n    learning_rate: float = 1e-3\n    own: int = 1\n"
    )
    source = "from transformers import HfArgumentParser\nimport parts\nHfArgumentParser(parts.Base)"
    found = answers(tmp_path, source)
    assert found.known
    options = {option.name: option for option in found.options}
    assert options["own"].default == 1
    assert options["learning_rate"].default == 1e-3
    assert "warmup_steps" in options
    arguments = trainer_arguments(facts(source), found, taken(facts(source), found, ("--own", "3")))
    assert arguments is not None
    assert arguments.learning_rate == 1e-3


def test_a_class_that_cannot_be_found_leaves_everything_unknown(tmp_path: Path) -> None:
    source = "from transformers import HfArgumentParser\nfrom nowhere import Mine\nHfArgumentParser(Mine)"
    found = answers(tmp_path, source)
    assert not found.known
    assert absent(found.missing) == ["nowhere"]
    arguments = trainer_arguments(facts(source), found, taken(facts(source), found, ("--fp16",)))
    assert arguments is not None
    assert "learning_rate" in arguments.unknown  # its class may have another default
    assert arguments.fp16
    assert "fp16" not in arguments.unknown


def test_circles_of_imports_and_bases_end(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from b import X\n")
    (tmp_path / "b.py").write_text("from a import X\n")
    assert not answers(
        tmp_path, "from transformers import HfArgumentParser\nfrom a import X\nHfArgumentParser(X)"
    ).known
    circle = "from transformers import HfArgumentParser\nclass A(B): ...\nclass B(A): ...\nHfArgumentParser(A)"
    assert not answers(tmp_path, circle, "circle.py").known
    assert not trainer_defaults(facts(circle))


IMPORTS = """
    import json, nowhere.part
    from notthere import x
    from . import y
    if TYPE_CHECKING:
        import absent1
    try:
        import absent2
    except ImportError:
        pass
    def main():
        import absent3
"""


def test_imports_that_run_in_any_case_are_looked_for(tmp_path: Path) -> None:
    assert absent(answers(tmp_path, IMPORTS).missing) == ["nowhere", "notthere"]
    (tmp_path / "notthere.py").write_text("")  # beside the script
    assert absent(answers(tmp_path, IMPORTS).missing) == ["nowhere"]
    assert answers(tmp_path, "import sys\nsys.path.append('x')\nimport nowhere").missing == ()


def test_an_answer_is_kept_for_a_while_and_asked_anew(tmp_path: Path) -> None:
    now = [0.0]
    reader = ScriptReader(lambda: now[0])
    plan: Any = SimpleNamespace(
        target_python=sys.executable,
        script=str(tmp_path / "t.py"),
        working_directory=str(tmp_path),
        environment={},
        elsewhere="",
    )
    line = facts("import late")
    assert absent(reader.read(plan, line).missing) == ["late"]
    (tmp_path / "late.py").write_text("")
    assert absent(reader.read(plan, line).missing) == ["late"]
    now[0] = 60.0
    assert reader.read(plan, line).missing == ()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> tuple[list[float], list[str], ScriptReader]:
    """A clock, the scripts that the target was asked about, each for ten seconds, and who reads them; one is mute."""
    now, names = [0.0], []

    def find(plan: Any, modules: list[str]) -> dict[str, None] | None:
        names.append(plan.script)
        now[0] += 10.0
        return None if plan.script == "mute" else dict.fromkeys(modules)

    monkeypatch.setattr(script_answers, "_find", find)
    return now, names, ScriptReader(lambda: now[0])


def named(script: str) -> Any:
    return SimpleNamespace(target_python="python", script=script, working_directory="", environment={}, elsewhere="")


def test_the_answers_of_a_few_scripts_are_kept_beside_each_other(asked) -> None:
    _, names, reader = asked
    line = facts("import late")
    for script in ("a", "b", "a", "b", "a"):
        assert absent(reader.read(named(script), line).missing) == ["late"]
    assert names == ["a", "b"]
    for number in range(50):
        reader.read(named(str(number)), line)
    assert len(reader._kept) < 20


def test_an_answers_age_counts_from_when_it_came_and_silence_is_remembered_longer(asked) -> None:
    now, names, reader = asked
    line = facts("import late")
    reader.read(named("a"), line)  # came at 10
    now[0] = 29.0
    reader.read(named("a"), line)
    assert names == ["a"]
    now[0] = 40.0
    reader.read(named("a"), line)
    assert names == ["a", "a"]
    reader.read(named("mute"), line)
    now[0] += 100.0
    assert reader.read(named("mute"), line).missing == ()
    assert names == ["a", "a", "mute"]
    now[0] += 100.0
    reader.read(named("mute"), line)
    assert names == ["a", "a", "mute", "mute"]


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("HfArgumentParser(A).parse_args_into_dataclasses()", ArgumentsFile.NONE),
        ("p = HfArgumentParser(A)\nif len(sys.argv) == 2: p.parse_json_file(sys.argv[1])", ArgumentsFile.ALONE),
        ("p = HfArgumentParser(A)\np.parse_yaml_file(find())", ArgumentsFile.SOMEHOW),
        ("TrlParser(A).parse_args_and_config()", ArgumentsFile.CONFIG),
    ],
)
def test_how_a_file_of_arguments_is_taken(source: str, kind: ArgumentsFile) -> None:
    assert facts(source).file is kind


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.yaml", "lr: 1\nfp16: [true\nseed: 3\n", "line 3: "),
        ("a.yaml", "", "expected the arguments’ names"),
        ("a.json", "{\n  lr: 1}", "line 2: Expecting property name"),
        ("a.json", "[1]", "expected the arguments’ names"),
        ("a.json", '{"lr": 1}', ""),
    ],
)
def test_why_a_file_holds_no_arguments_is_told(tmp_path: Path, name: str, text: str, says: str) -> None:
    (tmp_path / name).write_text(text)
    plan: Any = SimpleNamespace(arguments=(name,), working_directory=str(tmp_path), script=str(tmp_path / "t.py"))
    line = facts("p = HfArgumentParser(A)\nif len(sys.argv) == 2: p.parse_yaml_file(sys.argv[1])")
    file = arguments_file(plan, line, lambda path: None)
    assert str(file.problem).startswith(says)
    assert bool(file.problem) is bool(says)
    assert file.was_read
    (tmp_path / name).unlink()
    assert not arguments_file(plan, line, lambda path: None).was_read


OFFERED = (
    "from transformers import HfArgumentParser, TrainingArguments\nHfArgumentParser({}).parse_args_into_dataclasses()"
)
MINE = "import transformers\nclass M(transformers.TrainingArguments):\n    pass\nHfArgumentParser((M,))"
NOT_OFFERED = [
    (OFFERED.format("TrainingArguments"), ("--logging_steps", "5")),
    (OFFERED.format("TrainingArguments"), ("--logging-steps=5",)),
    (OFFERED.format("TrainingArguments"), ("--logging_strategy", "epoch")),
    (OFFERED.format("TrainingArguments"), ("--logging_ste", "5")),
    (OFFERED.format("TrainingArguments") + "\na.logging_steps = 3", ()),
    (OFFERED.format("TrainingArguments") + "\nTrainingArguments(logging_steps=3)", ()),
    (OFFERED.format("TrainingArguments") + "\nD = {'logging_steps': 3}", ()),
    (OFFERED.format("Other"), ()),
    ("import argparse; argparse.ArgumentParser().parse_args()", ()),
    ("from trl import SFTConfig, TrlParser\nTrlParser(SFTConfig)", ()),  # logs every 10 steps by itself
    ("from dataclasses import dataclass\nfrom transformers import *\n@dataclass\nclass M(TrainingArguments):\n"
     "    logging_steps: int = 5\nHfArgumentParser(M)", ()),
]  # fmt: skip


@each_case(("source", "words"), NOT_OFFERED, ids=range(len(NOT_OFFERED)))
def test_logging_is_left_alone_where_somebody_speaks_of_it(source: str, words: tuple[str, ...]) -> None:
    assert not offers_logging(facts(source), words, ArgumentsFromFile())


def test_logging_is_offered_where_the_trainer_would_log_every_500_steps() -> None:
    for source in (OFFERED.format("TrainingArguments"), OFFERED.format("(A, TrainingArguments)"), MINE):
        assert offers_logging(facts(source), ("--logging_dir", "x", "--logging_first_step"), ArgumentsFromFile())
    line = facts(OFFERED.format("TrainingArguments"))
    assert not offers_logging(line, (), ArgumentsFromFile("a.yaml", {"logging_steps": 3}))
    assert not offers_logging(line, (), ArgumentsFromFile(words=("--logging_steps", "3")))


def test_what_trl_computes_is_computed() -> None:
    """trl/trainer/base_config.py: bf16 is on unless fp16 is, where nobody says."""
    source = (
        "from transformers import HfArgumentParser\n@dataclass\nclass C:\n    fp16: bool = False\n"
        "    bf16: bool | None = None\n    deepspeed: str | None = None\nHfArgumentParser(C)"
    )
    line, declared = facts(source), module_of(ast.walk(ast.parse(source))).classes["C"]
    known = ScriptAnswers(options=declared.options, known=True)
    for words, bf16 in (((), True), (("--fp16",), False), (("--bf16", "False"), False)):
        arguments = trainer_arguments(line, known, taken(line, known, words))
        assert arguments is not None
        assert arguments.bf16 is bf16, words
        assert not {"bf16"} & arguments.unknown


def test_what_the_script_computes_stops_no_launch() -> None:
    """accelerate multiplies numbers by then; only what the config itself says wrong counts."""
    computed = TrainingArguments(unknown=EVERY_NAME)
    auto = dict.fromkeys(("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"), "auto")
    context = Context(Integration.HF)
    for config in (auto, {"train_micro_batch_size_per_gpu": "auto"}, auto | {"gradient_accumulation_steps": 4}):
        assert fill(config | {"zero_optimization": {}}, computed, context).stops == [], config
    wrong = auto | {"gradient_accumulation_steps": {}, "zero_optimization": {}}
    assert [stop.pointer for stop in fill(wrong, computed, context).stops] == ["/gradient_accumulation_steps"]


def test_a_parser_of_dataclasses_without_the_trainers_is_held_to_nothing_of_its() -> None:
    source = (
        "from transformers import HfArgumentParser\n@dataclass\nclass Own:\n    per_device_train_batch_size: int = 8\n"
        "    deepspeed_config: str = ''\nHfArgumentParser(Own)"
    )
    line = facts(source)
    known = ScriptAnswers(options=module_of(ast.walk(ast.parse(source))).classes["Own"].options, known=True)
    assert trainer_arguments(line, known, taken(line, known, ())) is None


def test_a_parser_that_names_the_file_of_arguments_has_its_own_options_alone() -> None:
    source = (
        "import argparse\nfrom transformers import HfArgumentParser, TrainingArguments\n"
        "p = argparse.ArgumentParser()\np.add_argument('--args_file')\nfile = p.parse_args().args_file\n"
        "HfArgumentParser(TrainingArguments).parse_json_file(file)"
    )
    found = script_facts(source)
    assert (found.parser, found.by_file, found.takes_local_rank) == (Parser.ARGPARSE, True, False)
    assert (found.command_line.whole, found.command_line.groups) == (True, ())
    read = taken(found.command_line, ScriptAnswers(), ("--args_file", "a.json", "--learning_rate", "1"))
    assert [one.option for one in read.reading.leftovers] == ["--learning_rate"]
    assert not offers_logging(found.command_line, (), ArgumentsFromFile())


def test_the_trainers_names_are_known_beside_a_class_that_cant_be_read(tmp_path: Path) -> None:
    found = answers(tmp_path, """
        from transformers import HfArgumentParser, TrainingArguments
        from elsewhere import Mine
        HfArgumentParser((Mine, TrainingArguments)).parse_args_into_dataclasses()
    """)  # fmt: skip
    assert not found.known
    assert found.trainers >= {"learning_rate", "generation_max_length"}


def test_a_script_that_changes_its_defaults_is_taken_at_nobodys_word() -> None:
    source = OFFERED.format("TrainingArguments") + "\nparser.set_defaults(**more)"
    arguments = trainer_arguments(facts(source), ScriptAnswers(), taken(facts(source), ScriptAnswers(), ("--bf16",)))
    assert arguments is not None
    assert arguments.unknown >= {"learning_rate", "per_device_train_batch_size"}
    assert arguments.given == {"bf16"}


def test_a_parser_that_another_file_is_handed_may_have_other_defaults() -> None:
    """A recipe lets a part of its own set them, by the config for one."""
    line = facts(
        "from parts import read_options\nfrom transformers import HfArgumentParser, TrainingArguments\n"
        "(training,) = read_options(HfArgumentParser(TrainingArguments))"
    )
    arguments = trainer_arguments(line, ScriptAnswers(), taken(line, ScriptAnswers(), ("--bf16",)))
    assert arguments is not None
    assert "per_device_train_batch_size" in arguments.unknown
    assert trainer_arguments(line, ScriptAnswers(), taken(line, ScriptAnswers(), ())) is None  # nothing is known


def test_every_kind_of_parser_tells_its_command_line() -> None:
    assert script_facts("print(1)").command_line.whole is False
    assert script_facts("print(1)").parser is Parser.NONE


A_PARSER_OF_ITS_OWN = """
from transformers import HfArgumentParser, TrainingArguments
class Parser(HfArgumentParser):
    pass
(training,) = Parser((TrainingArguments,)).parse_args_into_dataclasses()
"""


def test_a_parser_class_of_its_own_is_held_to_what_the_arguments_say(tmp_path: Path) -> None:
    """Nobody sees which classes it is given: that is not to know that it takes none of the Trainer's."""
    line, known = facts(A_PARSER_OF_ITS_OWN), answers(tmp_path, A_PARSER_OF_ITS_OWN)
    arguments = trainer_arguments(line, known, taken(line, known, ("--per_device_train_batch_size", "2")))
    assert not known.known
    assert arguments is not None
    assert arguments.per_device_train_batch_size == 2
    assert "learning_rate" in arguments.unknown  # its class may have another default
