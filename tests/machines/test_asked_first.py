"""Several machines on 2 · Launch: they are asked where the start is; what they said stands among the checks."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.app_server import running_app
from tests.support.pages import opened

pytestmark = pytest.mark.browser
# In the place of ssh: it answers once there is a file beside it, as ssh does of a name that nobody knows.
SSH = """#!/bin/sh
until [ -e {go} ]; do sleep 0.1; done
echo "ssh: Could not resolve hostname node-a: Name or service not known" >&2
exit 255
"""


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """The file at which ssh answers."""
    return tmp_path / "go"


@pytest.fixture
def hosts(browser: Browser, tmp_path: Path, answers: Path) -> Iterator[Page]:
    programs = tmp_path / "programs"
    programs.mkdir()
    ssh = programs / "ssh"
    ssh.write_text(SSH.format(go=answers))
    ssh.chmod(ssh.stat().st_mode | stat.S_IXUSR)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    with running_app(tmp_path / "runs", environment=environment) as app, opened(browser, app) as page:
        page.get_by_role("tab", name="2 · Launch").click()
        page.get_by_label("Several machines over ssh").check()
        page.locator("#hostfile textarea").fill("node-a slots=2")
        yield page


def test_hosts_are_asked_beside_launch_and_say_what_is_wrong(hosts: Page, answers: Path) -> None:
    launch, checks = hosts.locator("#launch"), hosts.locator("#preflight")
    expect(launch).to_have_text("Launch · hosts not checked")
    ask = checks.get_by_role("button", name="Check hosts")
    ask.focus()
    hosts.keyboard.press("Enter")
    meanwhile = checks.get_by_role("button", name="Checking…")
    expect(meanwhile).to_be_focused()
    expect(meanwhile).to_have_attribute("aria-disabled", "true")
    answers.touch()
    expect(checks).to_contain_text("Could not resolve hostname node-a")
    expect(checks).to_contain_text("Check the name in the hostfile")
    expect(launch).to_have_text("Launch · 1 problem")
    again = checks.get_by_role("button", name="Check hosts again")
    expect(again).to_be_focused()  # the next Enter asks again
    answers.unlink()
    hosts.keyboard.press("Enter")
    expect(meanwhile).to_be_visible()
    answers.touch()
    expect(again).to_be_focused()  # the same was answered
    hosts.locator("#hostfile textarea").fill("node-b slots=2")
    expect(launch).to_have_text("Launch · hosts not checked")


def test_one_press_makes_the_plan_the_runs(hosts: Page) -> None:
    hosts.locator("#hostfile textarea").fill("node-a slots=4\nnode-b slots=4")
    expect(hosts.locator("#plan-differs")).to_contain_text("plans for 2 ranks; this run has 2 nodes × 4 ranks")
    hosts.get_by_role("button", name="Plan for 2 nodes × 4 ranks").click()
    expect(hosts.locator("#plan-differs")).to_be_hidden()
    hosts.get_by_role("tab", name="1 · Configure").click()
    expect(hosts.locator("#nodes input")).to_have_value("2")
    expect(hosts.locator("#gpus input")).to_have_value("4")


def test_on_a_phone_the_foot_leads_to_the_hosts(hosts: Page) -> None:
    hosts.set_viewport_size({"width": 390, "height": 844})
    ask = hosts.locator("#preflight").get_by_role("button", name="Check hosts")
    hosts.locator("#hostfile").scroll_into_view_if_needed()
    expect(ask).not_to_be_in_viewport()
    hosts.locator("#to-checks").get_by_role("link", name="Check hosts").click()
    expect(ask).to_be_in_viewport()
    expect(hosts.locator("#to-checks").get_by_text("See what stops it")).to_be_hidden()
