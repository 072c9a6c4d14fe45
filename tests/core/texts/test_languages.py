"""Each language says what English says: the same kinds, codes and places, and nothing in English by accident."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from string import Formatter
from typing import Any

import pytest

from dsgui.core.launch.run_fields import FIELDS
from dsgui.core.texts.chinese import TEXTS as CHINESE
from dsgui.core.texts.columns import padded, width, wrapped
from dsgui.core.texts.english import TEXTS as ENGLISH
from dsgui.core.texts.languages import CHINESE_TAG, ENGLISH_TAG, LANGUAGES, preferred, speaking, spoken, wished
from dsgui.core.texts.saying import in_row, sentences, words
from dsgui.shell.config.catalog import Catalog
from tests.core.texts.test_texts import ROOT

OTHERS: Mapping[str, Mapping[str, Mapping[str, str]]] = {CHINESE_TAG: CHINESE}
# Declared in English where they are used; the other languages have them by code.
DECLARED = "launch_fields"
SAID_OF_A_FIELD = ("label", "help", "placeholder", "usage", "from_file")
EXAMPLE = re.compile(r"(?:hostfile|script|slurm_\w+|notify)_placeholder\Z")  # typed as it stands
HAN = re.compile(r"[\u3400-\u9fff]")
# What is the same in every language: keys, options, units, names of programs, classes and launchers, figures.
NO_WORDS = re.compile(
    r"\{[^}]*\}|<[^>]*>|--?[\w-]+(=\S+)?|[\w.-]*[._/=~][\w.~/:=@*-]*|\b[A-Z][A-Za-z0-9+-]*\b|[a-z]*[A-Z]\w*|\b\w*\d\w*\b"
)
_NAMES = """apex mpi epoch swap accelerate
    async_io autograd backward bf16 bits conda context cpu cuda cublas deepspeed eager eval fp16 fp32
    forward git gloo gpu hjson hub initialize json loss lr mps nccl ninja nvcc nvme offload optimizer pdsh pip python
    rank sbatch script sdpa shm slots squeue ssh stage step torch toolkit torchrun traceback train trainer transformers
    wandb yaml world size"""
TECHNICAL = frozenset(_NAMES.split())


ARGPARSE_PLACE = re.compile(r"%(?:\(\w+\))?[dgrs]")


def places(text: str) -> set[str]:
    """What it leaves open: our own, and argparse's."""
    named = {name for _, name, _, _ in Formatter().parse(text) if name is not None}
    return named | set(ARGPARSE_PLACE.findall(text))


def left_in_english(text: str) -> list[str]:
    """The words of a text that any other language has its own for."""
    rest = NO_WORDS.sub(" ", text)
    return [] if HAN.search(text) else [w for w in re.findall(r"[a-z]{2,}", rest) if w not in TECHNICAL]


@pytest.mark.parametrize("tag", OTHERS)
def test_every_text_is_translated(tag: str) -> None:
    missing = [
        (kind, code) for kind, texts in ENGLISH.items() for code in texts if code not in OTHERS[tag].get(kind, {})
    ]
    assert [one for one in missing if one[0] != "plain"] == []


@pytest.mark.parametrize("tag", OTHERS)
def test_nothing_is_said_that_english_does_not_say_and_the_places_are_the_same(tag: str) -> None:
    for kind, texts in OTHERS[tag].items():
        if kind == DECLARED:
            continue
        english = ENGLISH[kind]
        assert set(texts) - set(english) == set(), kind
        assert {code: places(text) for code, text in texts.items()} == {code: places(english[code]) for code in texts}


@pytest.mark.parametrize("tag", OTHERS)
def test_no_text_is_left_in_english(tag: str) -> None:
    left = [(kind, code, found) for kind, texts in OTHERS[tag].items() for code, text in texts.items()
            if (found := left_in_english(text))]  # fmt: skip
    assert left == []


def test_a_text_left_in_english_is_seen() -> None:
    assert left_in_english("The script doesn’t get this config.") != []
    for same in (
        "{free} / {total}",
        "fp16",
        "ZeRO-3",
        "--lr 1e-4",
        "加载 checkpoint",
        "DeepSpeed {release}",
        "zero.Init",
    ):
        assert left_in_english(same) == []


def declared() -> Iterator[tuple[str, str]]:
    """Code and English of what the inputs of a launch say."""
    for field in FIELDS:
        yield from ((f"{field.name}_{what}", getattr(field, what)) for what in SAID_OF_A_FIELD)
        yield from (
            (f"{field.name}_is_{value.replace('-', '_')}", label) for label, value in field.choices if label != value
        )


@pytest.mark.parametrize("tag", OTHERS)
def test_every_input_of_a_launch_is_named(tag: str) -> None:
    texts = OTHERS[tag][DECLARED]
    assert [
        code
        for code, english in declared()
        if code not in texts and left_in_english(english) and not EXAMPLE.search(code)
    ] == []
    assert set(texts) <= {code for code, english in declared() if english}
    with speaking(tag):
        assert HAN.search(FIELDS[0].told("label"))


@cache
def form_document(tag: str) -> Any:
    return json.loads((ROOT / "schemas" / f"{tag}.json").read_text("utf-8"))


@pytest.mark.parametrize("tag", OTHERS)
def test_every_field_and_section_of_the_form_is_translated(tag: str) -> None:
    schema, told = Catalog().schema(), form_document(tag)
    assert {section.id for section in schema.sections} == set(told["sections"])
    assert set(schema.fields) - set(told["fields"]) == set()
    untold = [pointer for pointer in schema.fields if not all(map(HAN.search, told["fields"][pointer]))]
    assert [pointer for pointer in untold if left_in_english(" ".join(told["fields"][pointer]))] == []
    otherwise = {field.active.otherwise for field in schema.fields.values() if field.active}
    assert otherwise - set(told["otherwise"]) == set()


@pytest.mark.parametrize("tag", OTHERS)
def test_every_preset_is_translated(tag: str) -> None:
    catalog = Catalog()
    for own, told in zip(catalog.presets(), catalog.presets(tag), strict=True):
        assert (own.id, own.text, own.arguments, own.order) == (told.id, told.text, told.arguments, told.order)
        assert len(own.notes) == len(told.notes), own.id
        assert all(map(HAN.search, (told.title, told.purpose, *told.notes))), own.id


@pytest.mark.parametrize(
    ("wishes", "tag"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", CHINESE_TAG),
        ("en-US,en;q=0.9,zh-CN;q=0.8", ENGLISH_TAG),
        ("fr-FR,zh;q=0.5", CHINESE_TAG),
        ("zh_CN.UTF-8", CHINESE_TAG),
        ("C.UTF-8", ENGLISH_TAG),
        ("", ENGLISH_TAG),
    ],
)
def test_the_language_preferred(wishes: str, tag: str) -> None:
    assert preferred(wishes) == tag


def test_what_was_chosen_on_the_page_comes_before_the_browsers_wish() -> None:
    assert wished("a=b; dsgui_language=en", "zh-CN") == ENGLISH_TAG
    assert wished("dsgui_language=zh-CN", "en") == CHINESE_TAG
    assert wished("dsgui_language=tlh; dsgui_7860=x", "zh") == CHINESE_TAG


def test_a_language_is_spoken_inside_and_no_other() -> None:
    with speaking(CHINESE_TAG):
        assert spoken() == CHINESE_TAG
        assert words("site_page", "tab_launch") == CHINESE["site_page"]["tab_launch"]
    assert spoken() == ENGLISH_TAG
    with pytest.raises(KeyError), speaking("tlh"):
        pass
    assert set(LANGUAGES) == {ENGLISH_TAG, *OTHERS}


def test_sentences_stand_in_a_row_as_their_language_sets_them() -> None:
    assert in_row(["One.", "", "Two."]) == "One. Two."
    assert in_row(["第一句。", "第二句。"]) == "第一句。第二句。"
    assert sentences([]) == ""


def test_columns_count_what_a_terminal_shows() -> None:
    assert (width("显存 GiB"), padded("显存", 6)) == (8, "显存  ")
    assert wrapped("one two three", 8) == ["one two", "three"]
    assert wrapped("显存不足，请减小批大小。", 10) == ["显存不足，", "请减小批大", "小。"]
    assert wrapped("", 10) == [""]


# A run is 运行, as a noun counted by 次; 训练 is what it does.
OTHER_RUN = re.compile(r"[这该本]次训练|(?<!整)个训练(?![步样集进])|训练(?:列表|记录|页面)|[0-9}] 个运行|实验列表")


def test_chinese_has_one_word_for_a_run() -> None:
    found = [(kind, code) for kind, texts in CHINESE.items() for code, text in texts.items() if OTHER_RUN.search(text)]
    assert found == []


@pytest.mark.parametrize("text", ["这次训练已经停止", "前面还有 3 个训练。", "训练列表", "3 个运行"])
def test_another_word_for_a_run_is_seen(text: str) -> None:
    assert OTHER_RUN.search(text)


@pytest.mark.parametrize("text", ["每个训练步", "开始训练", "另外 3 次运行", "训练损失"])
def test_what_training_is_called_is_no_run(text: str) -> None:
    assert not OTHER_RUN.search(text)


# Another word for a GPU's count: “四块 GPU”; “块” alone is also a block of the config.
ANOTHER_COUNT = re.compile(r"[一两三四五六七八几每\dN某] ?[块张] ?[^，。；、]{0,8}GPU|GPU 按每[块张]")


def test_chinese_has_one_word_for_counting_gpus() -> None:
    for kind, texts in CHINESE.items():
        for code, text in texts.items():
            assert ANOTHER_COUNT.search(text) is None, (kind, code, text)


@pytest.mark.parametrize("text", ["四块 GPU 上", "4 块 GPU", "一块小 GPU", "GPU 按每块计"])
def test_another_word_for_counting_gpus_is_seen(text: str) -> None:
    assert ANOTHER_COUNT.search(text)


# “fp16”: {“enabled”: true} pasted into a config is no JSON.
CURLY_CODE = re.compile(r"“[\w.]+” ?: ?(?:true|false|null|[\d{\[“-])(?!-)")


def _texts_of_presets() -> Iterator[tuple[str, str]]:
    for file in sorted((ROOT / "presets").glob("*.json")):
        yield file.name, json.dumps(json.loads(file.read_text("utf-8")), ensure_ascii=False)


@pytest.mark.parametrize("tag", [ENGLISH_TAG, CHINESE_TAG])
def test_code_in_a_text_has_straight_quotes(tag: str) -> None:
    for kind, texts in {ENGLISH_TAG: ENGLISH, CHINESE_TAG: CHINESE}[tag].items():
        assert not [text for text in texts.values() if CURLY_CODE.search(text)], kind


def test_code_in_the_notes_of_a_preset_has_straight_quotes() -> None:
    assert {name for name, text in _texts_of_presets() if CURLY_CODE.search(text)} == set()


def test_curly_quotes_in_code_are_seen() -> None:
    assert CURLY_CODE.search("put “fp16”: {“enabled”: true} there")
    assert not CURLY_CODE.search("both “auto”: --fp16 or --bf16 decides")
