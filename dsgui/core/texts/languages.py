"""The languages dsgui speaks, and the one that is spoken here and now: a page's is its reader's, the command line's the
terminal's; what is kept in files is English and has codes."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from dsgui.core.texts.chinese import TEXTS as CHINESE
from dsgui.core.texts.english import TEXTS as ENGLISH

ENGLISH_TAG, CHINESE_TAG = "en", "zh-CN"
# Tag (BCP 47) → what the language calls itself.
LANGUAGES: Mapping[str, str] = {ENGLISH_TAG: "English", CHINESE_TAG: "简体中文"}
_CATALOGUES = {ENGLISH_TAG: ENGLISH, CHINESE_TAG: CHINESE}
COOKIE = "dsgui_language"  # what the switch of the page sets
_MOST_COOKIES = 100
_SPOKEN: ContextVar[str] = ContextVar("language", default=ENGLISH_TAG)


def spoken() -> str:
    """The tag of the language in use."""
    return _SPOKEN.get()


@contextmanager
def speaking(tag: str) -> Iterator[None]:
    """Texts looked up inside are in this language. Raises KeyError for one that dsgui doesn't speak."""
    if tag not in _CATALOGUES:
        raise KeyError(tag)
    token = _SPOKEN.set(tag)
    try:
        yield
    finally:
        _SPOKEN.reset(token)


def catalogue_text(kind: str, code: str) -> str:
    """In the language in use; in English where that has none. Raises KeyError."""
    text = _CATALOGUES[_SPOKEN.get()].get(kind, {}).get(code)
    return ENGLISH[kind][code] if text is None else text


def translated(kind: str, code: str) -> str:
    """The same of what is declared in English where it is used; "" where the language in use has nothing."""
    return _CATALOGUES[_SPOKEN.get()].get(kind, {}).get(code, "")


def preferred(wishes: str) -> str:
    """The language for an `Accept-Language` header, or for the value of LANG: the first that dsgui speaks; English for
    none."""
    known = (tag_of(wish.partition(";")[0]) for wish in wishes.split(",")[:20])
    return next(filter(None, known), ENGLISH_TAG)


def tag_of(wish: str) -> str:
    """The tag for one as people and systems write it: zh, zh_CN.UTF-8, en-US; "" for a language that dsgui doesn't
    speak."""
    tag = wish.strip().replace("_", "-").lower()
    return CHINESE_TAG if tag.startswith("zh") else ENGLISH_TAG if tag.startswith("en") else ""


def wished(cookies: str, accepted: str) -> str:
    """The language of a request with these headers, Cookie and Accept-Language: what was chosen on the page, else what
    the browser prefers."""
    for cookie in cookies.split(";")[:_MOST_COOKIES]:
        name, _, value = cookie.strip().partition("=")
        if name == COOKIE and value in LANGUAGES:
            return value
    return preferred(accepted)
