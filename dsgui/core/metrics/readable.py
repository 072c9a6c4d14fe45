"""Text from elsewhere as text that can be sent on: JSON may hold half a surrogate pair, and UTF-8 can't.

This module is also sent to the other machines of a run (shell/metrics/nodes.py): the standard library alone.
"""


def readable(text: str) -> str:
    """The text, with "?" for each lone surrogate."""
    return text.encode("utf-8", "replace").decode()
