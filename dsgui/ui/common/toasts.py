"""What is told in the corner of the page: its title is in the reader's language, too."""

import gradio as gr

from dsgui.core.texts.saying import words

_USUAL_S = 10.0


def refusal(text: str) -> gr.Error:
    """To be raised: nothing was done, and why. `text` is shown as HTML."""
    return gr.Error(text, title=words("common_page", "word_error"))


def tell(text: str, duration: float = _USUAL_S) -> None:
    """What was done. `text` is shown as HTML; `duration` is in seconds."""
    gr.Info(text, duration=duration, title=words("common_page", "word_note"))
