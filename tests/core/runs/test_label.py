"""A run's own name, tags and note: what is kept of what a page, or a file, says."""

import pytest

from dsgui.core.errors import RunError
from dsgui.core.runs.label import MOST_NAME, MOST_NOTE, MOST_TAG, MOST_TAGS, Label


def test_each_part_is_changed_alone() -> None:
    label = Label().changed({"name": "  lora\n rank 8 "}).changed({"tags": ["a", "B", "b ", ""]})
    label = label.changed({"add_tags": ["c", "A"]}).changed({"note": " two\nlines "}).changed({"archived": True})
    assert label == Label("lora rank 8", ("a", "B", "c"), "two\nlines", True)
    assert Label.from_json(label.to_json()) == label
    assert label.changed({"name": "", "tags": [], "note": "", "archived": False}) == Label()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"name": "x" * (MOST_NAME + 1)}, "at most 120"),
        ({"tags": ["x" * (MOST_TAG + 1)]}, "at most 40"),
        ({"tags": [str(number) for number in range(MOST_TAGS + 1)]}, "21 tags; at most 20"),
        ({"note": "x" * (MOST_NOTE + 1)}, "at most 2000"),
        ({"name": 7}, "can't be read"),
        ({"tags": "a"}, "can't be read"),
        ({"run_id": "x"}, "“run_id” can't be changed"),
    ],
)
def test_what_is_too_long_or_nothing_of_a_run_is_refused(change: dict[str, object], says: str) -> None:
    with pytest.raises(RunError, match=says):
        Label().changed(change)


def test_a_file_that_somebody_else_wrote_is_cut_to_what_a_page_shows() -> None:
    found = Label.from_json({"name": "a\x1b[2J\nb" + "x" * 500, "tags": ["y" * 500], "note": "z" * 9000})
    assert (found.name[:6], len(found.name), len(found.tags[0]), len(found.note)) == (
        "a [2J ",
        MOST_NAME,
        MOST_TAG,
        MOST_NOTE,
    )
