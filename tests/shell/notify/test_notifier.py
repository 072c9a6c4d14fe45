"""A message reaches a real receiver in each form, and an unwilling one holds up nothing."""

import contextlib
import json
from types import SimpleNamespace

import pytest

from dsgui.core.access.secret_forms import NOTIFY
from dsgui.core.errors import PlanError
from dsgui.core.notify.webhook import Message, webhook_of
from dsgui.shell.notify.notifier import MOST, Notifier, all_runs_file, asked_webhook, try_webhook
from dsgui.ui.launch.notified import outcome
from tests.support.run_fixtures import wait_until
from tests.support.webhook_receiver import receiver

__all__ = ["receiver"]

TOLD = Message("ended", "20260101-000000-abcd", "run", "succeeded", "succeeded after 3 s.")
ANSWERS = {"json": b"", "slack": b"ok", "feishu": b'{"code": 0, "msg": "success"}', "dingtalk": b'{"errcode": 0}'}


@pytest.fixture
def noted():
    return []


@contextlib.contextmanager
def telling(address, noted):
    notifier = Notifier(webhook_of(address), noted.append)
    try:
        yield notifier
    finally:
        for process in tuple(notifier._sending):
            process.kill()
        notifier.close()


@pytest.mark.parametrize("form", ANSWERS)
def test_each_form_reaches_a_receiver(receiver, noted, form):
    receiver.body = ANSWERS[form]
    with telling(f"{receiver.url}?access_token=x#form={form}&secret=SEC123456", noted) as notifier:
        notifier.tell(TOLD)
        notifier.close()
    [(path, headers, body)] = receiver.posts
    assert "succeeded after 3 s." in json.dumps(body)
    assert headers["Content-Type"] == "application/json; charset=utf-8"
    signed = {"json": "X-Dsgui-Signature" in headers, "feishu": "sign" in body, "dingtalk": "sign=" in path}
    assert signed.get(form, True)
    assert [event.kind for event in noted] == ["notified"]


@pytest.mark.parametrize(
    ("form", "body", "why"),
    [
        ("feishu", b'{"code": 19021, "msg": "sign match fail"}', "refused (code 19021)"),
        ("dingtalk", b'{"errcode": 310000}', "refused (code 310000)"),
        ("dingtalk", b"<html>", "an answer that can't be read"),
    ],
)
def test_a_service_that_refuses_with_200_is_not_believed(receiver, noted, form, body, why):
    receiver.body = body
    with telling(f"{receiver.url}#form={form}", noted) as notifier:
        notifier.tell(TOLD)
        notifier.close()
    assert [(event.kind, event.text) for event in noted] == [("warning", f"A notification was not sent: {why}.")]
    assert len(receiver.posts) == 1


def test_a_redirect_is_not_followed_and_the_address_not_told(receiver, noted):
    receiver.status, receiver.location = 302, receiver.url.replace("/hook", "/elsewhere")
    with telling(receiver.url, noted) as notifier:
        notifier.tell(TOLD)
        notifier.close()
    assert [path for path, _, _ in receiver.posts] == ["/hook"]
    assert noted[0].text == "A notification was not sent: HTTP 302."


def test_a_receiver_that_hangs_holds_up_nobody(receiver, noted):
    receiver.hangs = True
    with telling(receiver.url, noted) as notifier:
        notifier.tell(TOLD)
        notifier.look()
        assert len(notifier.pids) == 1, "nobody has waited for its end"
        wait_until(lambda: receiver.posts)
        assert noted == []


def test_one_that_nobody_listens_on_is_tried_again_and_told(receiver, noted):
    receiver.server.shutdown()
    receiver.server.server_close()
    with telling(receiver.url, noted) as notifier:
        notifier.tell(TOLD)
        notifier.close()
    assert noted[0].text == "A notification was not sent: no connection (ConnectionRefusedError)."


def test_a_run_that_goes_on_and_off_is_told_a_bounded_number_of_times(noted, monkeypatch):
    begun = []
    with telling("http://127.0.0.1:9/x", noted) as notifier:
        monkeypatch.setattr("dsgui.shell.notify.notifier.SENDER", "/dev/null")
        for _ in range(MOST + 5):
            notifier.tell(TOLD)
            begun.append(len(notifier.pids))
        assert begun[-1] == MOST


def test_the_address_is_the_runs_own_or_that_of_all_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert asked_webhook({}) == (None, None)
    all_runs_file().parent.mkdir()
    all_runs_file().write_text("https://example.org/all\n")
    assert asked_webhook({})[0].url == "https://example.org/all"
    assert asked_webhook({NOTIFY: "https://example.org/one"})[0].url == "https://example.org/one"
    assert asked_webhook({NOTIFY: "off"}) == (None, None)
    all_runs_file().write_text("nonsense")
    none, noted = asked_webhook({})
    assert none is None
    assert "this is not the address of a webhook" in noted.text
    assert "nonsense" not in noted.text
    events = []
    notifier = Notifier(none, events.append, noted)
    assert events == []
    for _ in range(2):
        notifier.tell(TOLD)
    assert events == [noted]


def told_of(typed, **environment):
    return outcome(SimpleNamespace(try_webhook=lambda typed: try_webhook(typed, environment)), typed)


def test_a_test_is_sent_as_a_run_would_send_and_its_answer_is_told(receiver, monkeypatch, tmp_path):
    monkeypatch.setenv("DSGUI_HOME", str(tmp_path))
    receiver.body = b"ok"
    assert told_of(f"{receiver.url}#form=slack") == "Slack accepted the test."
    assert "a test from 2 · Launch" in receiver.posts[-1][2]["text"]
    assert told_of("", **{NOTIFY: receiver.url}) == "The receiver accepted the test."
    receiver.status = 403
    refused = told_of(f"{receiver.url}/T0Secret123456789#form=slack")
    assert refused == "Slack: HTTP 403"
    receiver.status, receiver.location = 302, f"{receiver.url}/elsewhere"
    count = len(receiver.posts)
    assert told_of(receiver.url) == "The receiver: HTTP 302"
    assert len(receiver.posts) == count + 1  # nobody is sent elsewhere


def test_an_address_for_all_runs_that_is_none_is_said_with_where_it_stands(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(PlanError, match=f"not the address of a webhook.* It stands in {NOTIFY}") as refused:
        told_of("", **{NOTIFY: "nonsense"})
    assert "nonsense" not in str(refused.value)
    all_runs_file().parent.mkdir()
    all_runs_file().write_text("htp:/broken\n")
    with pytest.raises(PlanError, match=f"It stands in {all_runs_file()}"):
        told_of("")
    all_runs_file().write_text("\n")
    assert told_of("") == "Enter a webhook first."


def test_nothing_is_sent_where_no_address_is_set_or_one_that_is_none(receiver):
    assert told_of("off", **{NOTIFY: receiver.url}) == "Enter a webhook first."
    with pytest.raises(PlanError, match="not the address of a webhook"):
        told_of("file:///etc/passwd")
    assert receiver.posts == []
