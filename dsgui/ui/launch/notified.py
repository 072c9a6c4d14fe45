"""Beside the address to notify: what else may stand in it, and a message to see whether it arrives."""

from html import escape

import gradio as gr

from dsgui.core.errors import PlanError
from dsgui.core.texts.saying import words
from dsgui.ui.common.events import TELLING
from dsgui.ui.common.services import Services

_SERVICES = {"slack": "Slack", "feishu": "Feishu", "dingtalk": "DingTalk"}


def build_notified(services: Services, address: gr.Textbox) -> None:
    """Must be called inside a `gr.Blocks`. Nothing is sent before the button is pressed."""
    button = gr.Button(words("launch_page", "send_test"), size="sm", elem_id="send-test")
    told = gr.HTML(_told(""), elem_id="test-sent", apply_default_css=False, padding=False)

    def send(typed: str | None) -> str:
        try:
            return _told(outcome(services, typed or ""))
        except (PlanError, OSError) as error:
            return _told(str(error))

    button.click(send, [address], [told], **TELLING)


def outcome(services: Services, typed: str) -> str:
    """Nothing of the address is in it. Raises `PlanError`, OSError."""
    tried = services.try_webhook(typed)
    if tried is None:
        return words("launch_page", "test_none")
    form, why = tried
    service = _SERVICES.get(form) or words("launch_page", "receiver")
    if why:
        return words("launch_page", "test_refused", service=service, why=str(why))
    return words("launch_page", "test_accepted", service=service)


def _told(result: str) -> str:
    more = escape(words("launch_page", "notify_more"))
    every = escape(words("launch_page", "notify_all"))
    return (
        f'<p role="status">{escape(result)}</p><p class="ds-subject">{every}</p><details class="ds-subject"><summary>'
        f"{escape(words('launch_page', 'notify_about'))}</summary>{more}</details>"
    )
