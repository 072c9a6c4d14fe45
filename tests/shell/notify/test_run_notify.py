"""A run tells a webhook of its NaN and its end, keeps the address nowhere, and waits for nobody."""

import pytest

from tests.support.run_fixtures import Bench, bench, wait_until
from tests.support.webhook_receiver import receiver

__all__ = ["bench", "receiver"]

SCRIPT = """
    import os
    for step in range(1, 4):
        print({"loss": float("nan"), "step": step, "epoch": step / 10}, flush=True)
    print("the script was given", os.environ.get("DSGUI_NOTIFY"), flush=True)
    raise SystemExit(CODE)
"""


def started(bench: Bench, url: str, code: int = 0) -> str:
    request = bench.request(bench.script(SCRIPT.replace("CODE", str(code))), notify=url)
    plan = bench.runs.prepare(request)
    return bench.runs.start(plan, request.config_text, request.handed_on)


@pytest.mark.parametrize("code", [0, 3])
def test_a_run_tells_of_its_end_keeps_the_address_nowhere_and_notes_that_it_told(bench: Bench, receiver, code):
    run_id = started(bench, f"{receiver.url}?access_token=verysecrettoken", code)
    bench.ended(run_id)
    folder = bench.store.open(run_id).path
    wait_until(lambda: (folder / "events.jsonl").read_bytes().count(b'"notified"') >= 4)  # two: kind and code of each
    told = {body["event"]: body for _, _, body in receiver.posts}
    assert told.keys() == {"nan", "failed" if code else "ended"}
    assert told["nan"]["text"] == "loss is NaN."
    assert told["failed" if code else "ended"]["step"] == 3  # the last one
    assert {body["run"] for body in told.values()} == {run_id}
    kept = b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())
    assert b"verysecrettoken" not in kept
    assert b"the script was given None" in kept


def test_a_receiver_that_hangs_delays_no_end(bench: Bench, receiver):
    receiver.hangs = True
    run_id = started(bench, receiver.url)
    bench.ended(run_id)
    events = bench.store.open(run_id).path / "events.jsonl"
    wait_until(lambda: receiver.posts)
    assert b"notified" not in events.read_bytes()  # the run is over, and what became of its messages is not known
    receiver.over.set()
    wait_until(lambda: b"notified" in events.read_bytes())
