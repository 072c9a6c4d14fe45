"""What is told in the corner of the page has a title in the reader's language."""

import pytest

from dsgui.core.texts.languages import speaking
from dsgui.ui.common import toasts
from dsgui.ui.common.toasts import refusal, tell


@pytest.mark.parametrize(("language", "title"), [("en", "Error"), ("zh-CN", "错误")])
def test_a_refusal_is_titled_in_the_readers_language(language, title):
    with speaking(language):
        assert refusal("no").title == title


@pytest.mark.parametrize(("language", "title"), [("en", "Note"), ("zh-CN", "提示")])
def test_what_was_done_is_titled_in_the_readers_language(monkeypatch, language, title):
    told = []
    monkeypatch.setattr(toasts.gr, "Info", lambda text, **given: told.append(given["title"]))
    with speaking(language):
        tell("done")
    assert told == [title]
