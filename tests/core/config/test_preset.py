"""What a preset is called where a run names it."""

from dsgui.core.config.preset import title_of
from dsgui.shell.config.catalog import Catalog


def test_a_runs_preset_is_told_by_its_title_and_one_that_is_gone_by_its_id():
    presets = Catalog().presets("en")
    one = presets[0]
    assert one.title != one.id
    assert title_of(one.id, presets) == one.title
    assert title_of(f"{one.id} (edited)", presets) == f"{one.title} (modified)"
    assert title_of("gone", presets) == "gone"
