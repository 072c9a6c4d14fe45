"""A training that dsgui did not start is added from the page, looked at, read again and forgotten; its folder stays."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser.test_browser_browse import photograph
from tests.support.event_files import write_records

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def training(tmp_path_factory, app):
    folder = tmp_path_factory.mktemp("trained") / "elsewhere"
    folder.mkdir()
    grow(folder, 8)
    rows = [("train/loss", 4 / step, step) for step in range(1, 8)]
    write_records(folder / "runs" / "May05_host" / "events.out.tfevents.1700000000.host.7.0", rows)
    (folder / "training_args.bin").write_bytes(b"\x80\x04.")
    return folder


def grow(folder, last):
    history = [
        {"loss": 4 / step, "learning_rate": 1e-3 / step, "epoch": step / 4, "step": step} for step in range(1, last)
    ]
    told = {"log_history": history, "global_step": last - 1, "max_steps": 20}
    (folder / "trainer_state.json").write_text(json.dumps(told))


def test_a_folder_is_added_read_again_and_forgotten(page, training):
    page.get_by_role("tab", name="3 · Runs").click()
    page.get_by_role("button", name="Add folder…").click()
    dialog = page.get_by_role("dialog", name="Add a run: choose its folder or log file")
    path = dialog.get_by_label("Folder", exact=True)
    expect(dialog.get_by_role("button", name="Choose this folder")).to_be_enabled()
    path.fill(str(training))
    path.press("Enter")
    expect(dialog.get_by_role("button", name="trainer_state.json")).to_be_visible()
    dialog.get_by_role("button", name="Choose this folder").click()
    run = page.locator(".ds-run")
    expect(run.locator(".ds-state")).to_have_text("added")
    expect(run.locator(".ds-reason")).to_contain_text(f"dsgui reads {training} and changes nothing in it")
    expect(run).to_contain_text("training_args.bin is not opened")
    expect(run.locator(".ds-facts")).to_contain_text("7 / 20")
    for name in ("Stop", "Clone and edit", "After training"):
        expect(run.get_by_text(name, exact=True).locator("visible=true")).to_have_count(0)
    photograph(page, "adopted")
    grow(training, 12)
    run.get_by_role("button", name="Read again").click()
    expect(page.locator(".ds-facts")).to_contain_text("11 / 20")
    expect(page.locator(".ds-run-list .ds-run-what").first).to_have_text("Nov 14, 2023")  # nothing is known to differ
    page.locator("#all-runs").click()
    expect(page.locator(".ds-run-table")).to_contain_text("added")
    photograph(page, "adopted-list")
    page.locator(".ds-run-rows .ds-run-row").first.click()
    page.get_by_role("button", name="Forget…").click()
    expect(page.locator(".ds-question")).to_contain_text("The training’s own folder stays as it is.")
    page.locator("#confirm-delete").click()
    expect(page.locator(".ds-empty")).to_be_visible()
    expect(page.locator(".ds-run-list")).to_be_hidden()
    assert (training / "trainer_state.json").exists()
