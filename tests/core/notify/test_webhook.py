"""What each service is told, signed as its documents say; an address that can't be told is refused without repeating
it."""

import base64
import hashlib
import hmac
import json
from urllib.parse import parse_qs, urlsplit

import pytest

from dsgui.core.errors import PlanError
from dsgui.core.notify.webhook import Message, Webhook, request_of, webhook_of
from tests.support.cases import each_case

NOW = 1_700_000_000.5
TOLD = Message("failed", "20260101-000000-abcd", "a <run> & more", "failed", "failed after 12 s.", 40)
HOSTS = {
    "https://hooks.slack.com/services/T0/B0/abcdefghijkl": "slack",
    "https://open.feishu.cn/open-apis/bot/v2/hook/0123-4567": "feishu",
    "https://open.larksuite.com/open-apis/bot/v2/hook/0123-4567": "feishu",
    "https://oapi.dingtalk.com/robot/send?access_token=0123456789": "dingtalk",
    "https://example.org/hook": "json",
    "https://hooks.slack.com.example.org/x": "json",
    "http://127.0.0.1:8000/x#form=dingtalk": "dingtalk",
}


def posted(address):
    request = request_of(webhook_of(address), TOLD, NOW)
    return request, json.loads(request.body)


@pytest.mark.parametrize(("address", "form"), HOSTS.items())
def test_the_host_or_the_user_says_which_service_it_is(address, form):
    assert webhook_of(f"  {address} ").form == form


@each_case(
    "address",
    [
        *("ftp://x/y", "file:///etc/passwd", "//x/y", "example.org", "https://", "http://[::1", "http://x:port/"),
        *(
            "https://user:word@example.org/x",
            "https://example.org/a b",
            "https://example.org/\nHost: x",
            "https://ex.org/ö",
        ),
        f"https://example.org/{'x' * 3000}",
        *("https://example.org/#form=teams", "https://example.org/#other=1"),
    ],
)
def test_what_is_no_address_is_refused_without_repeating_it(address):
    with pytest.raises(PlanError) as told:
        webhook_of(address)
    assert address == "https://" or address not in str(told.value)


def test_no_address_and_off_tell_nobody():
    assert [webhook_of(typed) for typed in ("", "  ", "off", "OFF")] == [None] * 4


def test_what_stands_behind_the_address_is_never_sent():
    for address in HOSTS:
        joint = "&" if "#" in address else "#"
        request, body = posted(f"{address}{joint}secret=SECverysecret")
        assert "SECverysecret" not in f"{request.url}{request.body}{request.headers}"
        assert "#" not in request.url
        assert "failed after 12 s." in json.dumps(body, ensure_ascii=False)


def test_feishu_is_signed_over_nothing_with_the_seconds_and_the_secret_as_key():
    _, body = posted("https://open.feishu.cn/open-apis/bot/v2/hook/0123#secret=abc")
    key = b"1700000000\nabc"
    assert body["timestamp"] == "1700000000"
    assert body["sign"] == base64.b64encode(hmac.new(key, b"", hashlib.sha256).digest()).decode()
    assert body["msg_type"] == "text"
    assert body["content"]["text"].startswith("dsgui · a <run> & more (20260101-000000-abcd): failed")
    assert "sign" not in posted("https://open.feishu.cn/open-apis/bot/v2/hook/0123")[1]


def test_dingtalk_is_signed_with_the_secret_over_milliseconds_and_secret_in_the_address():
    request, body = posted("https://oapi.dingtalk.com/robot/send?access_token=token#secret=SECabc")
    asked = parse_qs(urlsplit(request.url).query)
    signed = hmac.new(b"SECabc", b"1700000000500\nSECabc", hashlib.sha256).digest()
    assert asked == {
        "access_token": ["token"],
        "timestamp": ["1700000000500"],
        "sign": [base64.b64encode(signed).decode()],
    }
    assert body == {"msgtype": "text", "text": {"content": TOLD.line}}


def test_slack_has_no_markup_of_ours_and_json_all_there_is():
    assert "a &lt;run&gt; &amp; more" in posted("https://hooks.slack.com/services/x")[1]["text"]
    request, body = posted("https://example.org/x#secret=abc")
    assert (body["event"], body["run"], body["step"]) == ("failed", TOLD.run_id, 40)
    signed = hmac.new(b"abc", request.body.encode(), hashlib.sha256).hexdigest()
    assert request.headers["X-Dsgui-Signature"] == f"sha256={signed}"


def test_an_address_is_shown_nowhere():
    hook = webhook_of("https://oapi.dingtalk.com/robot/send?access_token=0123456789abc#secret=SEC0123456789")
    assert repr(hook) == "Webhook(form='dingtalk')"
    assert "0123456789abc" not in repr(request_of(hook, TOLD, NOW))
    assert set(hook.secrets) == {hook.url, "0123456789abc", "SEC0123456789"}
    slack = "https://hooks.slack.com/services/T01234567/B01234567/aB3aB3aB3aB3aB3aB3aB3aB3"
    assert Webhook(slack).secrets == (slack, "aB3aB3aB3aB3aB3aB3aB3aB3")
    for plain in ("https://example.org/x", "https://n8n.local/webhook/deepspeed?channel=experiments"):
        assert Webhook(plain).secrets == (plain,)  # words of a run's output are no secrets
