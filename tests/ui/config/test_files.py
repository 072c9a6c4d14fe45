"""Files on the Configure page: why one was not opened."""

from html import escape
from types import SimpleNamespace

import gradio as gr
import pytest

from dsgui.core.errors import PlanError
from dsgui.core.texts.languages import speaking
from dsgui.core.texts.saying import as_told, words
from dsgui.shell.config.catalog import Catalog
from dsgui.ui.config.files import Came, _beside_the_path, _file, _in_the_corner, _name, _opener
from dsgui.ui.config.own_file import file_id, file_of
from dsgui.ui.config.presets import purpose_html
from dsgui.ui.launch.imported_run import _came_in


def read(path):
    if "nowhere" in path:
        raise PlanError(as_told(f"{path}: <no such file>"))
    return SimpleNamespace(text="{}", notes=(), integration=None, nodes=None, gpus=None, run=None, missing=None)


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_a_wrong_path_is_told_beside_its_field_and_no_earlier_run_comes_in_again(language):
    with speaking(language):
        opens = _opener(read, words("tools_page", "enter_path"), _name, _beside_the_path, _file)
        *untouched, run, problem = opens("/nowhere/ds.json")
        assert (untouched, run) == ([*[gr.skip()] * 6, ""], gr.skip())
        earlier = Came(SimpleNamespace())
        assert _came_in(earlier, problem) is None
        assert _came_in(earlier, "") is earlier.run
        assert _came_in(None, "") is None
        assert problem == '<p class="ds-problem" role="alert">/nowhere/ds.json: &lt;no such file&gt;</p>'
        assert words("tools_page", "enter_path") in opens(" ")[-1]
        assert len(opens("/here/ds.json")) == len(untouched) + 2
        assert opens("/here/ds.json")[-1] == ""
        assert file_of(opens("/here/ds.json")[3]).name == "ds.json"


def test_what_has_no_such_field_is_told_in_the_corner():
    with pytest.raises(gr.Error, match="&lt;no such file&gt;"):
        _opener(read, "", _name, _in_the_corner, _file)("/nowhere/ds.json")


def test_a_config_began_as_its_file_until_its_text_is_another():
    kept = file_of(file_id("/here/a:b.json", '{"a": 1}\r\n'))
    assert kept.name == "a:b.json"
    assert kept.holds('{"a": 1}\n')
    assert not kept.holds('{"a": 2}')
    for other in ("", None, "zero2-offload-t5", "user-a", "file:", "file:12", "file::"):
        assert file_of(other) is None


def test_where_a_preset_comes_from_is_folded_with_what_to_know_of_it():
    """What it is for is one line, so that the first field is near."""
    preset = Catalog().presets()[0]
    shown, folded = purpose_html(preset).split("<details>")
    assert (escape(preset.purpose) in shown, escape(preset.source) in shown) == (True, False)
    assert folded.index(escape(preset.source)) < folded.index(escape(preset.notes[0]))
