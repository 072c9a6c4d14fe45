"""A webhook's address, and the request that tells it of a run.

The address is one text, and a secret as a whole. What a service doesn't need stands behind its #, which is never sent:
`https://oapi.dingtalk.com/robot/send?access_token=…#secret=SEC…`, or `#form=slack` where the host doesn't tell it.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, quote_plus, urlsplit, urlunsplit

from dsgui.core.access.secret_forms import is_secret_name
from dsgui.core.errors import PlanError
from dsgui.core.texts.saying import listed, wrong

OFF = "off"  # of one run, where all others tell
JSON = "json"
_LONGEST = 2000
_LONGEST_TEXT = 1500
# By the end of the host's name.
_BY_HOST = {
    "hooks.slack.com": "slack",
    "open.feishu.cn": "feishu",
    "open.larksuite.com": "feishu",
    "oapi.dingtalk.com": "dingtalk",
}


@dataclass(frozen=True, slots=True)
class Webhook:
    """`url` without what stands behind its #."""

    url: str = field(repr=False)
    form: str = JSON
    secret: str = field(default="", repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must be told nobody: the address, what in it gives access, and the signing secret."""
        parts = urlsplit(self.url)
        query, last = parse_qsl(parts.query), parts.path.rpartition("/")[2]
        named = [value for name, value in query if is_secret_name(name)]
        access = [value for value in (*(value for _, value in query), last) if _is_token(value)]
        return tuple(
            dict.fromkeys((self.url, *access, *(one for one in (*named, self.secret) if len(one) >= _SHORTEST)))
        )


_SHORTEST, _SHORTEST_TOKEN = 8, 16


def _is_token(word: str) -> bool:
    """`…/webhook/training` is the address of something; its last word stands in every line of a run's output."""
    mixed = word.lower() != word or any(one.isdigit() for one in word)
    return len(word) >= _SHORTEST_TOKEN and mixed


@dataclass(frozen=True, slots=True)
class Message:
    """`kind`: "ended", "failed", "nan" or "stall"; `text` says it in one line, without secrets."""

    kind: str
    run_id: str
    name: str
    state: str
    text: str
    step: int | None = None

    @property
    def line(self) -> str:
        return f"dsgui · {self.name} ({self.run_id}): {self.text}"[:_LONGEST_TEXT]


@dataclass(frozen=True, slots=True)
class Request:
    """What is posted."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    body: str = field(repr=False)
    form: str = JSON


def webhook_of(typed: str) -> Webhook | None:
    """None for no address, or "off". Raises `PlanError` for one that can't be told; its message does not repeat it."""
    address = typed.strip()
    if not address or address.lower() == OFF:
        return None
    parts = _parts(address)
    options = dict(parse_qsl(parts.fragment))
    form = options.get("form", _BY_HOST.get((parts.hostname or "").lower(), JSON))
    if form not in _FORMS or options.keys() - {"form", "secret"}:
        raise PlanError(wrong("notify.options", forms=listed(_FORMS)))
    return Webhook(urlunsplit(parts._replace(fragment="")), form, options.get("secret", ""))


def _parts(address: str) -> Any:
    if len(address) > _LONGEST or not address.isascii() or any(one <= " " or one == "\x7f" for one in address):
        raise PlanError(wrong("notify.address"))
    try:
        parts = urlsplit(address)
        known = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 0) >= 0
    except ValueError:  # a port that is none, brackets
        known = False
    if not known or "@" in parts.netloc:
        raise PlanError(wrong("notify.address"))
    return parts


def request_of(webhook: Webhook, message: Message, now_s: float) -> Request:
    """`now_s`: unix seconds, which the services hold signatures to."""
    url, headers, body = _FORMS[webhook.form](webhook, message, now_s)
    given = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "dsgui"}
    return Request(url, given | headers, body, webhook.form)


# --- the forms ----------------------------------------------------------------------------------------------------

_Made = tuple[str, dict[str, str], str]


def _json(webhook: Webhook, message: Message, now_s: float) -> _Made:
    """Ours. With a secret, the body's HMAC-SHA256 in hex, as GitHub signs: X-Dsgui-Signature: sha256=…"""
    told = {"event": message.kind, "run": message.run_id, "name": message.name, "state": message.state}
    body = _dumped(told | {"step": message.step, "text": message.text, "time": int(now_s)})
    signed = hmac.new(webhook.secret.encode(), body.encode(), hashlib.sha256).hexdigest()
    return webhook.url, {"X-Dsgui-Signature": f"sha256={signed}"} if webhook.secret else {}, body


def _slack(webhook: Webhook, message: Message, now_s: float) -> _Made:
    """https://api.slack.com/messaging/webhooks; &, < and > are its markup's."""
    text = message.line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return webhook.url, {}, _dumped({"text": text})


def _feishu(webhook: Webhook, message: Message, now_s: float) -> _Made:
    """https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot: the key is "timestamp\\nsecret" (seconds),
    what is signed is empty; timestamp and sign stand in the body."""
    body: dict[str, Any] = {"msg_type": "text", "content": {"text": message.line}}
    if webhook.secret:
        stamp = str(int(now_s))
        body |= {"timestamp": stamp, "sign": _signed(f"{stamp}\n{webhook.secret}", "")}
    return webhook.url, {}, _dumped(body)


def _dingtalk(webhook: Webhook, message: Message, now_s: float) -> _Made:
    """https://open.dingtalk.com/document/orgapp/customize-robot-security-settings: the key is the secret, what is
    signed "timestamp\\nsecret" (milliseconds); timestamp and sign stand in the address."""
    body = _dumped({"msgtype": "text", "text": {"content": message.line}})
    if not webhook.secret:
        return webhook.url, {}, body
    stamp = str(int(now_s * 1000))
    sign = quote_plus(_signed(webhook.secret, f"{stamp}\n{webhook.secret}"))
    joint = "&" if "?" in webhook.url else "?"
    return f"{webhook.url}{joint}timestamp={stamp}&sign={sign}", {}, body


_FORMS: Mapping[str, Callable[[Webhook, Message, float], _Made]] = MappingProxyType(
    {JSON: _json, "slack": _slack, "feishu": _feishu, "dingtalk": _dingtalk}
)


def _signed(key: str, text: str) -> str:
    return base64.b64encode(hmac.new(key.encode(), text.encode(), hashlib.sha256).digest()).decode()


def _dumped(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
