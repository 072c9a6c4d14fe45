"""Makes text from elsewhere encodable: JSON may contain half a surrogate pair, UTF-8 can't.

This module is also sent to the other machines of a run (shell/metrics/nodes.py): it uses only the standard library.
"""


def readable(text: str) -> str:
    """The text, with "?" for each lone surrogate."""
    return text.encode("utf-8", "replace").decode()
