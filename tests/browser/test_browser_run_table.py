"""The Runs page in Chromium: how runs differ, what stopping one loses, the table of all runs, and their clones."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_browser_monitor import opened
from tests.support.app_server import running_app
from tests.support.made_runs import Made, make_run

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An app on two runs that differ by a learning rate on the command line and one of another config; their ids."""
    folder = tmp_path_factory.mktemp("runs")
    ids = {
        "fast": make_run(folder, Made("t5", 300, arguments="--learning_rate 3e-3 --bf16", gpu_gib=30.0)),
        "slow": make_run(folder, Made("t5", 300, arguments="--learning_rate=1e-3 --bf16")),
        "other": make_run(folder, Made("other", 20, config='{"zero_optimization": {"stage": 2}}')),
    }
    with running_app(folder) as app:
        yield app, ids


def part(page, name):
    """The rows of a part of the settings that differs."""
    tables = page.locator(".ds-differences > .ds-scroll", has=page.get_by_role("heading", name=name, exact=True))
    return [row.inner_text().split("\t") for row in tables.locator("tbody tr").all()]


def test_a_comparison_finds_what_differs_on_the_command_line(browser, made):
    app, ids = made
    with opened(browser, app, f"compare={ids['fast']},{ids['slow']}") as page:
        expect(page.get_by_role("heading", name="Script arguments")).to_have_count(2)  # the other: what is the same
        assert part(page, "Script arguments") == [["--learning_rate", "3e-3", "1e-3"]]
        expect(page.locator(".ds-differences")).to_contain_text("Code: not recorded for")
        expect(page.locator(".ds-differences")).not_to_contain_text("No differences")
        same = page.locator(".ds-same")
        expect(same.get_by_text("/zero_optimization/stage")).to_be_hidden()
        same.locator("summary").click()
        expect(same.get_by_text("/zero_optimization/stage")).to_be_visible()
        memory = page.locator(".ds-compare .ds-table tr", has_text="peak of the fullest GPU").locator("td")
        expect(memory).to_have_text(["31.00 GiB", "13.00 GiB 42 %"])
        page.get_by_role("button", name="use as baseline").click()
        expect(memory).to_have_text(["31.00 GiB 238 %", "13.00 GiB"])
