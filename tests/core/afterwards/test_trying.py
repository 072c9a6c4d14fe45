"""What is asked of a trained model: limits of what is typed, the text around a prompt, and the memory said before."""

from types import SimpleNamespace

import pytest

from dsgui.core.afterwards.jobs import Room
from dsgui.core.afterwards.trying import Question, Weights, needed_bytes, refusal, template_of
from dsgui.core.errors import PlanError


def test_an_answer_is_greedy_and_short_unless_somebody_says_otherwise():
    assert Question.of({"prompt": "hello"}) == Question("hello", 64, 0.0, 0, beside=False)
    typed = {"prompt": "hello", "template": "Q: {prompt}\nA:", "tokens": "8", "temperature": "0.7", "seed": "3"}
    assert Question.of({**typed, "beside": True}) == Question("Q: hello\nA:", 8, 0.7, 3, beside=True)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"prompt": " \n"}, "enter the text"),
        ({"prompt": "x" * 20_001}, "20,001 characters"),
        ({"prompt": "x", "template": "summarize:"}, "{prompt} is missing"),
        ({"prompt": "x", "tokens": "0"}, "from 1 to 1024"),
        ({"prompt": "x", "tokens": "1e3"}, "“1e3”"),
        ({"prompt": "x", "temperature": "nan"}, "from 0 to 2"),
        ({"prompt": "x", "seed": "-1"}, "from 0 to 4294967295"),
    ],
)
def test_what_cannot_be_asked_is_a_sentence(given, expected):
    with pytest.raises(PlanError, match=expected.replace("{", r"\{")):
        Question.of(given)


@pytest.mark.parametrize(
    ("script", "arguments", "expected"),
    [
        ("/any/run_summarization.py", ("--source_prefix", "summarize: "), "summarize: {prompt}"),
        ("/here/recipes/summarization.py", (), "summarize:{prompt}"),
        ("/here/recipes/instruction_lora.py", (), "{prompt}\n"),
        ("/any/summarization.py", (), "{prompt}"),
    ],
)
def test_the_prompt_gets_what_the_training_put_around_it(script, arguments, expected):
    assert template_of(SimpleNamespace(script=script, arguments=arguments)) == expected


def test_a_model_that_does_not_fit_is_refused_before_it_is_loaded():
    weights = Weights("/model", size_bytes=10 << 30)
    assert needed_bytes(weights) > 11 << 30
    assert "free" in str(refusal(weights, Room(None, 4 << 30))) or "available" in str(refusal(weights, Room(None, 1)))
    assert refusal(weights, Room(None, 64 << 30)) is None
    assert refusal(weights, Room()) is None
