"""Texts made harmless for what shows them."""

from html import escape


def plain(text: str) -> str:
    """As Markdown that shows the text as it is."""
    for sign in "\\`*_{}[]#|":
        text = text.replace(sign, f"\\{sign}")
    return escape(text)
