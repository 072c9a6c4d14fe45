"""The documents of texts from the page: bounded in size, and the last few remembered."""

from threading import Lock

from dsgui.core.config.document import Document
from dsgui.core.errors import DocumentError
from dsgui.core.texts.saying import said

MAX_CHARACTERS = 1 << 20
_MOST_REMEMBERED = 16
_recent: dict[str, Document] = {}  # the one used last stands last
_lock = Lock()


def read_document(text: str) -> Document:
    """The document of a text. Raises `DocumentError`, also when it is too large."""
    check_size(text)
    return remember(_recent.get(text) or Document(text))


def remember(document: Document) -> Document:
    """The document itself, kept for a while: the text that the next keystroke sends is the one that this one made."""
    with _lock:
        _recent.pop(document.text, None)
        _recent[document.text] = document
        if len(_recent) > _MOST_REMEMBERED:
            del _recent[next(iter(_recent))]
    return document


def check_size(text: str) -> None:
    """Raises `DocumentError` for a text that no config is as large as."""
    if len(text) > MAX_CHARACTERS:
        raise DocumentError(said("configs", "too_long", count=f"{len(text):,}", most=f"{MAX_CHARACTERS:,}"))
