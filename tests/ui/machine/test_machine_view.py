"""The machine's checks as HTML."""

from dsgui.core.machine.verdicts import Row, Status
from dsgui.core.texts.saying import said
from dsgui.ui.machine.machine_view import rows_html


def test_a_command_has_a_button_right_behind_it_that_copies_it() -> None:
    row = Row("async_io", said("checks", "async_io"), Status.WARNING, (), (), command="apt install <libaio>", source="")
    html = rows_html("one warning", [row])
    assert (
        '<pre class="ds-command">apt install &lt;libaio&gt;</pre><button type="button" class="ds-copy" data-copy>'
        in html
    )
