"""The machine's checks and readings as HTML."""

import re

from dsgui.core.machine.hardware import Op
from dsgui.core.machine.verdicts import Row, Status
from dsgui.core.texts.saying import said
from dsgui.ui.machine.machine_view import list_html, machine_html, rows_html
from tests.shell.machine.test_machine import target


def test_a_command_has_a_button_right_behind_it_that_copies_it() -> None:
    row = Row("async_io", said("checks", "async_io"), Status.WARNING, (), (), command="apt install <libaio>", source="")
    html = rows_html("one warning", [row])
    assert (
        '<pre class="ds-command ds-words" tabindex="0"><span class="ds-line"><span>apt</span> <span>install</span> '
        '<span>&lt;libaio&gt;</span></span></pre><button type="button" class="ds-copy" data-copy>' in html
    )


def test_a_command_breaks_at_blanks_after_slashes_and_underscores_and_nowhere_else() -> None:
    command = "rm /dev/shm/torch_1-a*"
    row = Row("shm", said("checks", "shm"), Status.WARNING, (), (), command=command, source="")
    html = rows_html("one warning", [row])
    assert "<span>rm</span> <span>/dev/</span><wbr><span>shm/</span><wbr><span>torch_<wbr>1-a*</span>" in html
    assert re.sub("<[^>]*>", "", html[html.index("<pre") : html.index("</pre")]) == command  # what is copied


def test_a_number_stands_on_one_line_with_its_unit() -> None:
    html = machine_html(target(), asking=False)
    assert re.search(r"\d\u00a0GiB", html)
    assert not re.search(r"\d [GM]i?B\b", html[html.index("ds-readings") :])


def test_an_operator_that_no_run_here_can_load_is_marked() -> None:
    ops = (Op("async_io", False, False, "no libaio"), Op("cpu_adam", True, False), Op("fused_lion", False, True))
    html = machine_html(target(ops=ops), asking=False)
    assert html.count('<dd class="ds-lacks">') == 1
    assert '<dt>async_<wbr>io</dt><dd class="ds-lacks">no: see NVMe offload above</dd>' in html
    assert html.count("no libaio") == 1  # in its warning


def test_operators_that_are_fine_are_a_line_that_opens() -> None:
    lacks = Op("async_io", False, False, "no libaio")
    html = machine_html(target(ops=(lacks, *(Op(f"fused_{n}", False, True) for n in range(4)))), asking=False)
    fold = html[html.index("4 of 5 can be compiled") :]
    assert fold.count("<dd>can be compiled</dd>") == html.count("<dd>can be compiled</dd>") == 4
    assert "async_<wbr>io" not in fold
    few = machine_html(target(ops=(lacks, Op("cpu_adam", False, True))), asking=False)
    assert "of 2" not in few


def test_a_version_stays_on_one_line() -> None:
    html = machine_html(target(), asking=False)
    assert not re.search(r"\d\.<wbr>\d", html)


def test_what_needs_libaio_is_said_before_what_deepspeed_says() -> None:
    html = machine_html(target(ops=(Op("async_io", False, False, "no libaio"),)), asking=False)
    assert html.index("Only NVMe offload") < html.index("no libaio")


def test_a_headline_is_green_only_where_all_was_checked() -> None:
    fine, unasked = (
        Row("shm", said("checks", "shm"), status, (said("verdicts", "memlock.no_limit"),))
        for status in (Status.OK, Status.UNKNOWN)
    )
    assert '<p class="ds-verdict ds-ok"' in list_html("all passed", [fine], [""])
    assert '<p class="ds-verdict ds-note"' in list_html("one not checked", [fine, unasked], ["", ""])
