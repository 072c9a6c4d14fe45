"""Files on the Configure page: why one was not opened."""

from types import SimpleNamespace

import gradio as gr
import pytest

from dsgui.core.errors import PlanError
from dsgui.core.texts.languages import speaking
from dsgui.core.texts.saying import as_told, words
from dsgui.ui.config.files import _beside_the_path, _in_the_corner, _name, _opener


def read(path):
    if "nowhere" in path:
        raise PlanError(as_told(f"{path}: <no such file>"))
    return SimpleNamespace(text="{}", notes=(), integration=None, nodes=None, gpus=None, run=None, missing=None)


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_a_wrong_path_is_told_beside_its_field_and_no_earlier_run_comes_in_again(language):
    with speaking(language):
        opens = _opener(read, words("tools_page", "enter_path"), _name, _beside_the_path)
        *untouched, run, problem = opens("/nowhere/ds.json")
        assert (untouched, run) == ([*[gr.skip()] * 6, ""], None)
        assert problem == '<p class="ds-problem" role="alert">/nowhere/ds.json: &lt;no such file&gt;</p>'
        assert words("tools_page", "enter_path") in opens(" ")[-1]
        assert len(opens("/here/ds.json")) == len(untouched) + 2
        assert opens("/here/ds.json")[-1] == ""


def test_what_has_no_such_field_is_told_in_the_corner():
    with pytest.raises(gr.Error, match="&lt;no such file&gt;"):
        _opener(read, "", _name, _in_the_corner)("/nowhere/ds.json")
