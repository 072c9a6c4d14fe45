"""Keywords that a script gives to classes of installed packages, and that these do not take."""

from pathlib import Path
from textwrap import dedent, indent

import pytest

from dsgui.core.script.script import script_facts
from tests.core.script.test_imports import answers, told
from tests.support.cases import each_case

FASTCHAT = """
    from transformers import Trainer

    def train():
        model = tokenizer = training_args = None
        trainer = Trainer(model=model, tokenizer=tokenizer, args=training_args, **data())
        trainer.train()

    if __name__ == "__main__":
        train()
"""
CALL = "Trainer(model=None, of_old=None)\n"
TAKES = "from transformers import Trainer\n"


def given(source: str) -> list[tuple[str, str, str]]:
    found = script_facts(dedent(source)).command_line.keywords
    return [(one.module, one.name, one.keyword) for one in found if one.keyword != "model"]


OF_OLD = [("transformers", "Trainer", "of_old")]


@each_case(
    "source",
    [
        TAKES + CALL,
        TAKES + "Trainer(of_old=1, **data_module)\n",
        f"import transformers\ntransformers.{CALL}",
        f"import transformers as hf\nhf.{CALL}",
        "from transformers import Trainer as Base\nclass T(Base):\n    def compute_loss(self): ...\nT(of_old=1)\n",
        TAKES + "class A(Trainer): ...\nclass B(A): ...\nB(of_old=1)\n",
        TAKES + "def main():\n    return Trainer(of_old=1)\nmain()\n",
        TAKES
        + "@record\ndef main():\n    with no_grad():\n        Trainer(of_old=1)\n"
        + "try:\n    main()\nfinally:\n    stop()\n",
        TAKES + "def main():\n    Trainer(of_old=1)\nif __name__ == '__main__':\n    sys.exit(main())\n",
        TAKES
        + CALL
        + "def f0(): ...\n"
        + "".join(f"def f{n}():\n    f{n - 1}()\n" for n in range(1, 999))
        + "f998()\n",
        TAKES + f"if {'a + ' * 900}a:\n    pass\n" + CALL,
        TAKES + "try:\n    Trainer(of_old=1)\nexcept KeyboardInterrupt:\n    pass\n",
        TAKES + "if args.resume:\n    raise ValueError\nTrainer(of_old=1).train()\n",
        f"def main():\n    {TAKES}    def inner():\n        return 1\n    Trainer(of_old=1)\nmain()\n",
        "def run():\n    if late: return\n" + TAKES + "run()\nTrainer(of_old=1)\n",
    ],
)
def test_keywords_of_calls_that_run_in_any_case_are_seen(source: str) -> None:
    assert given(source) == OF_OLD


def in_main(body: str) -> str:
    return f"{TAKES}def main():\n{indent(body, '    ')}main()\n"


@each_case(
    "source",
    [
        TAKES + "if version < '5':\n    " + CALL,
        TAKES + "trainer = Trainer(of_old=1) if old else Trainer()\n",
        TAKES + "old and Trainer(of_old=1)\n",
        TAKES + "make = lambda: Trainer(of_old=1)\n",
        TAKES + "try:\n    Trainer(of_old=1)\nexcept TypeError:\n    Trainer()\n",
        TAKES + "try:\n    Trainer(processing_class=1)\nexcept TypeError:\n    Trainer(of_old=1)\n",
        TAKES + "try:\n    Trainer(of_old=1)\nexcept (KeyboardInterrupt, Exception):\n    pass\n",
        TAKES + "with suppress(TypeError):\n    Trainer(of_old=1)\n",
        TAKES + "with patched():\n    Trainer(of_old=1)\n",
        TAKES + "if old:\n    raise SystemExit('no')\n" + CALL,
        TAKES + "if old:\n    os.execvpe('python', args, env)\n" + CALL,
        TAKES + "class T(Trainer):\n    def __init__(self, of_old=1, **more): ...\nT(of_old=1)\n",
        TAKES + "class T(Mixin, Trainer): ...\nT(of_old=1)\n",
        TAKES + "class T(Trainer):\n    __init__ = made\nT(of_old=1)\n",
        TAKES + "class T(Trainer): ...\nT.__init__ = made\nT(of_old=1)\n",
        TAKES + "@wrapped\nclass T(Trainer): ...\nT(of_old=1)\n",
        TAKES + "Trainer = wrapped(Trainer)\n" + CALL,
        TAKES + "from compat import *\n" + CALL,
        TAKES + "globals()['Trainer'] = Mine\n" + CALL,
        "try:\n    from compat import Trainer\nexcept ImportError:\n    from transformers import Trainer\n" + CALL,
        "import transformers\ntransformers.Trainer = Mine\n" + TAKES + CALL,
        TAKES + "def unused():\n    Trainer(of_old=1)\n",
        TAKES + "def main():\n    yield Trainer(of_old=1)\nmain()\n",
        TAKES + "@retried\ndef main():\n    Trainer(of_old=1)\nmain()\n",
        TAKES + "for one in every:\n    Trainer(of_old=1)\n",
        in_main("if new:\n    return Trainer()\nTrainer(of_old=1)\n"),
        in_main("if new:\n    sys.exit(own())\nTrainer(of_old=1)\n"),
        TAKES + "def merge():\n    exit()\nif args.merge:\n    merge()\n" + CALL,
        "from mine import Trainer\n" + CALL,
    ],
)
def test_what_may_not_run_or_may_be_another_class_is_left_alone(source: str) -> None:
    assert given(source) == []


OF_OLD_RELEASES = """
    from transformers import AutoTokenizer, LlamaForCausalLM, deepspeed
    from transformers.models.bert import BertConfig
    from transformers.trainer_pt_utils import LabelSmoother, not_there_any_more
    import transformers.deepspeed_of_old
    from torch import of_no_interest
    import helper
"""


@pytest.mark.remembered("dsgui/shell/script")
def test_a_keyword_and_names_that_the_installed_release_does_not_have_are_told(tmp_path: Path) -> None:
    """As FastChat gives it, beside a mapping of more, which changes nothing about it; as old scripts import them. The
    training environment itself is asked, once for all: it imports transformers for it."""
    helper = "from peft import LoraConfig, prepare_model_for_int8_training\n"
    found = answers(tmp_path, FASTCHAT + OF_OLD_RELEASES, helper=helper)
    assert told(found.refused) == [("Trainer(tokenizer=…)", "", 6)]
    assert found.missing == ()
    assert told(found.gone) == [
        ("transformers.deepspeed", "", 12),
        ("transformers.trainer_pt_utils.not_there_any_more", "", 14),
        ("transformers.deepspeed_of_old", "", 15),
        ("peft.prepare_model_for_int8_training", "helper.py", 1),
    ]


def test_a_package_that_makes_the_classes_anew_decides_itself(tmp_path: Path) -> None:
    assert answers(tmp_path, f"    import unsloth{FASTCHAT}", unsloth="").refused == ()


PACKAGE = """
    import functools

    class Takes:
        def __init__(self, model=None): ...

    class TakesAll:
        def __init__(self, model=None, **more): ...

    def renamed(function):
        @functools.wraps(function)
        def wrapper(*args, **more): ...
        return wrapper

    class Renames:
        @renamed
        def __init__(self, processing_class=None): ...

    class Heir(Takes): ...

    class Makes:
        def __new__(cls, *args, **more): ...
        def __init__(self, model=None): ...

    def function(model=None): ...
"""


@pytest.mark.parametrize(
    ("name", "refused"),
    [("Takes", True), ("Heir", True), ("TakesAll", False), ("Renames", False), ("Makes", False), ("function", False)],
)
def test_only_a_plain_signature_refuses(tmp_path: Path, name: str, refused: bool) -> None:
    """transformers 4.46 to 4.57 translate `tokenizer` in a wrapper whose signature has `processing_class`."""
    package = tmp_path / "site-packages" / "trl"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(dedent(PACKAGE))
    source = f"from trl import {name}\n{name}(model=1, of_old=2)\n"
    found = answers(tmp_path, source, python_path=str(package.parent))
    assert told(found.refused) == ([(f"{name}(of_old=…)", "", 2)] if refused else [])


def test_keywords_that_stand_in_the_source_are_not_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object) -> frozenset[str]:
        raise AssertionError(given)

    monkeypatch.setattr("dsgui.shell.script.names_there._lacking", refuse)
    source = """
        from transformers import Seq2SeqTrainer, Trainer, TrainingArguments, Seq2SeqTrainingArguments
        from peft import LoraConfig
        class Mine(Trainer): ...
        Trainer(model=None, args=TrainingArguments(output_dir="x", bf16=True), processing_class=None, callbacks=[])
        Seq2SeqTrainer(model=None, data_collator=None, args=Seq2SeqTrainingArguments("x", predict_with_generate=True))
        LoraConfig(r=8, lora_alpha=16, task_type="CAUSAL_LM", target_modules=["q"])
        Mine(train_dataset=None, compute_metrics=None)
    """
    assert answers(tmp_path, source).refused == ()


def test_a_class_that_a_file_beside_the_script_patches_is_not_judged(tmp_path: Path) -> None:
    patch = "import transformers\ndef made(self, **more): ...\ntransformers.Trainer.__init__ = made\n"
    assert answers(tmp_path, f"import compat\n{TAKES}Trainer(tokenizer=1)\n", compat=patch).refused == ()
