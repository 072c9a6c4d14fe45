"""Secrets by their shape alone: the tokens of services, private keys over many lines, and what certain words lead to.

Like `secret_forms.py`: bytes without colours, linear in their length.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Seen:
    """What stands at one place: the part to hide, if any; where reading goes on; whether more text could change it."""

    hidden: tuple[int, int] | None
    end: int
    open: bool = False


def end_of(pattern: re.Pattern[bytes], text: bytes, place: int) -> int:
    """Where what fits at that place ends; it may be empty."""
    match = pattern.match(text, place)
    return match.end() if match else place


def begun(text: bytes, words: bytes) -> int:
    """Where the text ends with the beginning of the words, not all of them; its length where it does not."""
    place = text.find(words[:1], max(len(text) - len(words) + 1, 0))
    while place >= 0 and not words.startswith(text[place:]):
        place = text.find(words[:1], place + 1)
    return place if place >= 0 else len(text)


def shaped(text: bytes) -> Iterator[tuple[int, Seen]]:
    """What each shape finds, and where it begins."""
    yield from _tokens(text)
    yield from _web_tokens(text)
    yield from _led_to(text)
    yield from _private_keys(text)


# -- tokens of services ------------------------------------------------------------------------------------------------

_SHAPES: dict[bytes, re.Pattern[bytes]] = {
    prefix: re.compile(rest)
    for prefix, rest in {
        b"hf_": rb"[A-Za-z0-9]{16,}+",
        b"wandb_v1_": rb"[\w-]{40,}+",
        b"gh": rb"[pousr]_[A-Za-z0-9]{20,}+",
        b"github_pat_": rb"\w{20,}+",
        b"glpat-": rb"[\w-]{16,}+",
        b"sk-": rb"[\w-]{20,}+",
        b"AKIA": rb"[A-Z0-9]{16}",
        b"ASIA": rb"[A-Z0-9]{16}",
        b"AIza": rb"[\w-]{35}",
        b"ya29.": rb"[\w-]{20,}+",
        b"npm_": rb"[A-Za-z0-9]{30,}+",
        b"pypi-": rb"[\w-]{40,}+",
        b"xapp-": rb"[\w-]{20,}+",
        b"nvapi-": rb"[\w-]{40,}+",
        b"gsk_": rb"[A-Za-z0-9]{40,}+",
        b"SG.": rb"[\w.-]{40,}+",
        b"xox": rb"[abeprs]-[\w-]{10,}+",
    }.items()
}
_JWT = b"eyJ"
_SEGMENT = re.compile(rb"[\w-]*+")
_DOTTED = re.compile(rb"[\w.-]*+")


def _tokens(text: bytes) -> Iterator[tuple[int, Seen]]:
    for prefix, rest in _SHAPES.items():
        place, done = text.find(prefix), 0
        while place >= 0:
            if place >= done and not _is_inside(text, place):
                match = rest.match(text, place + len(prefix))
                done = match.end() if match else place + len(prefix)
                ends = end_of(_DOTTED, text, place) if not match and len(text) - place < 64 else done
                yield place, Seen((place, done) if match else None, done, ends == len(text))
            place = text.find(prefix, place + len(prefix))


def _web_tokens(text: bytes) -> Iterator[tuple[int, Seen]]:
    """JSON Web Tokens: three parts with dots between. What began as one and is none is not looked at again."""
    place = text.find(_JWT)
    while place >= 0:
        end = place + len(_JWT)
        if not _is_inside(text, place):
            seen = _web_token(text, place)
            end = max(end, seen.end)
            yield place, seen
        place = text.find(_JWT, end)


def _web_token(text: bytes, place: int) -> Seen:
    begin, first = place, 0
    for part in range(3):
        end = end_of(_SEGMENT, text, begin)
        first = first or end
        if end == len(text):
            return Seen((place, end) if part == 2 and end - begin >= 10 else None, first, True)
        if end - begin < 10 or (part < 2 and text[end : end + 1] != b"."):
            return Seen(None, first)
        begin = end + 1
    return Seen((place, end), end)


def _is_inside(text: bytes, place: int) -> bool:
    return place > 0 and text[place - 1 : place].isalnum()


# -- what certain words lead to ----------------------------------------------------------------------------------------

_ENOUGH = rb"([A-Za-z0-9_-]{20,200}+)"
_WORDS = rb"(?>(?:[ \t]{1,8}+(?:-[^\s=]{1,40}+(?>(?:=[^\s]{1,100}+)?)|https?://[^\s]{1,100}+)){0,4})[ \t]{1,8}+"
_COLON, _COMMA = rb"[ \t]{0,8}+:[ \t]{0,8}+", rb"[ \t]{0,8}+,[ \t]{0,8}+"
_NAMED = _COLON + rb'"[^"\r\n]{1,80}+"' + _COMMA + rb'"key"' + _COLON + rb'"([^"\r\n]{8,200}+)'
_LEADS: dict[bytes, re.Pattern[bytes]] = {
    words: re.compile(after)
    for words, after in {
        b"wandb login": _WORDS + _ENOUGH,
        b'"username"': _NAMED,
        b"hooks.slack.com/services/": rb"([\w/-]{20,200}+)",
        b"/api/webhooks/": rb"([\w/-]{20,200}+)",
    }.items()
}
_FARTHEST = 512


def _led_to(text: bytes) -> Iterator[tuple[int, Seen]]:
    for words, after in _LEADS.items():
        place, done = text.find(words), 0
        while place >= 0:
            if place >= done:
                seen = _after_words(text, place + len(words), after)
                done = seen.end
                yield place, seen
            place = text.find(words, place + len(words))
        if (place := begun(text, words)) < len(text):
            yield place, Seen(None, len(text), True)


def _after_words(text: bytes, end: int, after: re.Pattern[bytes]) -> Seen:
    if match := after.match(text, end):
        return Seen(match.span(1), match.end(), match.end() == len(text))
    rest = text[end : end + _FARTHEST]
    return Seen(None, end, len(rest) < _FARTHEST and b"\n" not in rest and b"\r" not in rest)


# -- private keys ------------------------------------------------------------------------------------------------------

PRIVATE_KEY = b"PRIVATE KEY"
_BEGINS = b"-----BEGIN "
_LONGEST_KEY = 1 << 14
_MARKER_ENDS = re.compile(rb"(?>(?: BLOCK)?)-----")
# Between the lines: their ends, as characters or as written in JSON; what ranks and quotes put before them.
_BETWEEN = re.compile(rb"(?>(?:[\s\"',+>|]|\\[nr\"']){1,80})(?>(?:\[[^\]\r\n]{1,40}+\]:?[ \t]{0,8}+)?)")
_FIELD = re.compile(rb"(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\r\n\\]{0,80}+")
_PIECE = re.compile(rb"[A-Za-z0-9+/=]{1,4096}+")
_LEAST_PIECE, _LONGEST_LINE = 32, 128


def _private_keys(text: bytes) -> Iterator[tuple[int, Seen]]:
    """From `-----BEGIN … PRIVATE KEY-----` to the end of the key, whether its end is marked or not."""
    done, place = 0, text.find(PRIVATE_KEY)
    while place >= 0:
        begin = text.rfind(_BEGINS, max(place - 48, done), place)
        end = place + len(PRIVATE_KEY)
        if begin >= 0:
            seen = _private_key(text, end)
            end = done = max(end, seen.end)
            yield begin, seen
        place = text.find(PRIVATE_KEY, end)
    last = text.rfind(_BEGINS, max(len(text) - 48, done))
    if last >= 0 and not any(byte in b"\r\n" for byte in text[last:]):
        yield last, Seen(None, len(text), True)


def _private_key(text: bytes, end: int) -> Seen:
    marker = _MARKER_ENDS.match(text, end)
    if not marker:
        return Seen(None, end, len(text) - end < 12)
    begin = key = marker.end()
    place, first = begin, True
    while place - begin < _LONGEST_KEY:
        start = end_of(_BETWEEN, text, place)
        if field := _FIELD.match(text, start):
            place = field.end()
            continue
        place = end_of(_PIECE, text, start)
        whole = place - start >= _LEAST_PIECE
        if place == len(text):
            return Seen((begin, place) if whole or key > begin else None, place, True)
        if not whole:  # the last line, if there were others
            key = place if not first else key
            rest = text[start : start + _LONGEST_LINE]
            return Seen((begin, key) if key > begin else None, key, len(rest) < _LONGEST_LINE and b"\n" not in rest)
        key, first = place, False
    return Seen((begin, key) if key > begin else None, key)
