"""What a person reads of broken texts, reports, comparisons and refusals is in their language, and stays English for
everybody else."""

import re
from collections.abc import Callable

import pytest

from dsgui.core.access.access import BROKEN, TOO_LARGE, Decision
from dsgui.core.config.document import Document
from dsgui.core.config.loose_json import tidy
from dsgui.core.errors import DocumentError
from dsgui.core.launch.state import RunState
from dsgui.core.metrics.performance import Figures
from dsgui.core.runs.comparison import Compared, answers
from dsgui.core.runs.no_loss import Told, no_loss
from dsgui.core.runs.report_page import Assets, Reported, report_html
from dsgui.core.texts.languages import CHINESE_TAG, speaking
from tests.core.texts.test_languages import HAN, left_in_english
from tests.support.cases import each_case

BROKEN_TEXTS = (
    "{",
    '{"a": True}',
    "[1]",
    '{"a": 1, "a": 2}',
    '{"a": "\n"}',
    '{"a" 1}',
    "{a: 'x}",
    "{'a': NaN}",
    "{} x",
)


@each_case("read", [Document, tidy])
@each_case("text", BROKEN_TEXTS)
def test_what_is_wrong_with_a_text_is_told_when_it_is_read(text: str, read: Callable[[str], object]) -> None:
    """The error may have been kept from before the language was chosen."""
    with pytest.raises(DocumentError, match=r"\ALine \d") as raised:
        read(text)
    with speaking(CHINESE_TAG):
        told = str(raised.value)
    assert told.startswith("第 ")
    assert HAN.search(told.partition("：")[2])


def test_how_a_text_was_read_is_told_in_the_language_spoken() -> None:
    loose = "# why\n{a: 'b', \"d\": 1,}\n"
    assert "comment removed (line 1)" in tidy(loose).notes
    with speaking(CHINESE_TAG):
        notes = tidy(loose).notes
    assert "已去掉 1 处注释（第 1 行）" in notes
    assert all(map(HAN.search, notes))


def test_why_there_is_no_loss_is_told_when_it_is_read() -> None:
    found = no_loss(Told(["--do_train"], trainer=True, state=RunState.RUNNING, phase="training", step=3, total=100))
    assert found is not None
    assert found.text == (
        "No loss will be printed. The HF Trainer logs every 500 steps by default and this run has 100: "
        "add --logging_steps 10."
    )
    with speaking(CHINESE_TAG):
        assert found.text == (
            "不会输出损失。HF Trainer 默认每 500 步记录一次，而本次运行只有 100 步：请添加 --logging_steps 10。"
        )


def test_a_comparison_answers_in_the_language_spoken() -> None:
    configs = [Document(f'{{"zero_optimization": {{"stage3_max_live_parameters": {n}}}}}') for n in ("1e8", "1e9")]
    peaks = [Figures(run_peak_bytes=1 << 30, gpu_peak_bytes={("", 0): gib << 30}) for gib in (1, 2)]
    runs = [Compared(name, *one) for name, *one in zip("ab", configs, peaks, strict=True)]
    with speaking(CHINESE_TAG):
        (answer,) = answers(runs)
    assert all(map(HAN.search, (answer.question, *answer.sentences)))


def test_a_report_is_written_in_the_language_spoken() -> None:
    run = Reported("r1", "t5", "succeeded", "", "deepspeed x.py", "{}", [], Figures(steps=3, final_loss=1.0))
    with speaking(CHINESE_TAG):
        page = report_html([run], [], Assets("", "", ""), "")
    assert '<html lang="zh-CN">' in page
    labels = re.findall(r"<(?:h2|th scope=row|p)>([^<]*)<", page)
    assert labels
    assert [label for label in labels if label and left_in_english(label)] == []


@pytest.mark.parametrize("code", ["log_in", "used_link", "unknown_host", "other_site", "not_found", "busy"])
def test_a_refusal_is_told_in_the_language_spoken(code: str) -> None:
    refused = Decision(403, code)
    english = (refused.title, refused.advice)
    with speaking(CHINESE_TAG):
        told = (refused.title, refused.advice)
    assert all(map(HAN.search, told))
    assert not any(map(HAN.search, english))


def test_refusals_that_are_made_once_are_told_anew() -> None:
    with speaking(CHINESE_TAG):
        assert HAN.search(BROKEN.title)
        assert "5 MiB" in TOO_LARGE.advice
    assert not HAN.search(BROKEN.title)
