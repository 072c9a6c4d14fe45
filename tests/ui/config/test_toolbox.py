"""The tools of the Configure page: a move to another DeepSpeed, whose fixes are pressed in its panel."""

import json

import pytest

from dsgui.core.config.compare import differences
from dsgui.core.config.context import LATEST_KNOWN, Context, Integration
from dsgui.core.config.document import Document
from dsgui.core.validation.migration import migration
from dsgui.ui.config.toolbox import Toolbox
from dsgui.ui.config.tools_view import comparison_html

OLD = Context(Integration.NATIVE, deepspeed_version="0.14.5")
TEXT = '{"train_batch_size": 2, "amp": {"enabled": false}}'


@pytest.fixture
def toolbox(checker):
    return Toolbox(checker, lambda: ())


def test_a_move_to_another_release_names_what_changes_and_writes_the_old_default_down(toolbox, checker):
    panel = toolbox.panel("move", LATEST_KNOWN, TEXT, OLD)
    assert "NVIDIA Apex AMP was removed" in panel
    assert "Different defaults" in panel
    found = migration(checker, Document(TEXT), OLD, LATEST_KNOWN).defaults
    (clipping,) = [one for one in found if one.pointer == "/gradient_clipping"]
    press = (clipping.rule, clipping.pointer, clipping.fix.id)
    assert f'data-fix="{clipping.fix.id}"' in panel
    fixed = toolbox.fix_move(*press, TEXT, OLD, LATEST_KNOWN)
    assert json.loads(fixed) == {**json.loads(TEXT), "gradient_clipping": 0.0}
    assert toolbox.fix_move(*press, fixed, OLD, LATEST_KNOWN) == fixed  # there is nothing to write any more
    assert toolbox.fix_move(*press, "{", OLD, LATEST_KNOWN) == "{"


def test_a_key_of_a_comparison_breaks_between_its_words():
    differs = differences(Document("{}"), Document('{"zero_optimization": {"allgather_bucket_size": 1}}'))
    shown = comparison_html("a preset", differs)
    assert "zero_<wbr>optimization.<wbr>allgather_<wbr>bucket_<wbr>size<span" in shown


def test_without_a_tool_or_with_a_broken_text_there_is_no_answer(toolbox):
    assert toolbox.panel("", LATEST_KNOWN, TEXT, OLD) == ""
    assert toolbox.panel("move", LATEST_KNOWN, "{", OLD) == ""
