"""Which words are secrets, and a text without them: where it is written, and once more where it is shown.

A secret is known by its value (what this process has in variables with such a name), by the name before it, or by the
shape that a service gives its tokens (`secret_forms.py`). Colours in the middle of one hide it from nobody, so they
hide it from nothing here either. Masking errs towards hiding.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from dsgui.core.access.ansi import Plain, escapes_in, unfinished_escape
from dsgui.core.access.secret_forms import SHORTEST, find, is_secret_name, is_secret_option

__all__ = [
    "MASK",
    "Masker",
    "finished",
    "is_secret_name",
    "longest_first",
    "mask",
    "mask_bytes",
    "secret_arguments",
    "secret_values",
]

MASK = "••••••••"
_MASK = MASK.encode()
# Of a word that does not end so much is waited for; a line of output is cut there too (core/logs/trainlog.py).
_MOST_HELD_BYTES = 1 << 15
# How often, at most, a byte is read again because what it is in does not end; what may be saved up for that.
_READINGS, _MOST_CREDIT_BYTES = 16, 1 << 22


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values to hide wherever they turn up, the longest first."""
    return longest_first(v for name, v in environment.items() if is_secret_name(name) and len(v) >= SHORTEST)


def secret_arguments(words: Sequence[str]) -> tuple[str, ...]:
    """The values of options that name a secret: a launcher prints the whole command."""
    pairs = [(name, value) for name, equals, value in (word.partition("=") for word in words) if equals]
    pairs += pairwise(words)
    return longest_first(value for name, value in pairs if name.startswith("-") and is_secret_option(name, value))


def longest_first(values: Iterable[str]) -> tuple[str, ...]:
    """Each once, as `mask` takes them: a secret that begins like a longer one hides no part of it only."""
    return tuple(sorted(set(values), key=lambda value: (-len(value), value)))


def mask(text: str, values: Sequence[str] = ()) -> str:
    """The text with every secret in it replaced. Linear in its length."""
    if not text:
        return text
    raw = _raw(text)
    hidden = mask_bytes(raw, tuple(map(_raw, values)))
    return text if hidden is raw else _text(hidden)


def mask_bytes(raw: bytes, values: Sequence[bytes] = ()) -> bytes:
    """The same of a program's output; the very object where nothing is to hide."""
    plain = Plain.of(raw)
    return _hidden(raw, plain, find(plain.text, values).spans)


def finished(text: str, values: Sequence[str] = ()) -> int:
    """How many characters of a text that goes on can be shown: what may be a secret's first half waits for the rest."""
    raw = _raw(text)
    plain = Plain.of(raw[: unfinished_escape(raw)])
    found = find(plain.text, tuple(map(_raw, values)))
    return len(_text(raw[: plain.place(found.cut(found.open_from))]))


class Masker:
    """A program's output, in chunks cut anywhere, without the secrets in it. What may be the first half of one waits
    for the rest: at most the last line, at most 32 KiB."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values = tuple(map(_raw, longest_first(values)))
        self._held, self._more, self._credit = b"", bytearray(), _MOST_CREDIT_BYTES

    def feed(self, chunk: bytes) -> bytes:
        """What can be told of all that came until now and was not told before. A long open line is not read again with
        each few bytes: every byte pays for a bounded number of readings, and what can't be paid waits for more."""
        self._more += chunk
        self._credit = min(self._credit + _READINGS * len(chunk), _MOST_CREDIT_BYTES)
        length = len(self._held) + len(self._more)
        if not chunk or (length > self._credit and len(self._more) < len(self._held)):
            return b""
        self._credit = max(self._credit - length, 0)
        raw, self._more = self._held + bytes(self._more), bytearray()
        return self._read(raw)

    def _read(self, raw: bytes) -> bytes:
        whole = raw[: unfinished_escape(raw)]
        plain = Plain.of(whole)
        found = find(plain.text, self._values)
        cut = plain.place(found.cut(found.word_from))
        if len(raw) - cut > _MOST_HELD_BYTES:
            self._held = b""
            return mask_bytes(raw, self._values)
        self._held = raw[cut:]
        spans = [span for span in found.spans if plain.place(span[1] - 1) < cut]
        hidden = _hidden(whole, plain, spans)
        return hidden[: len(hidden) - (len(whole) - cut)]

    def forget(self) -> None:
        """What waits for the rest, which is lost."""
        self._held, self._more = b"", bytearray()

    def finish(self) -> bytes:
        """The rest."""
        held, self._held, self._more = self._held + bytes(self._more), b"", bytearray()
        return mask_bytes(held, self._values)

    def text(self, text: str) -> str:
        """A text by itself: a curve's name, an error."""
        return _text(mask_bytes(_raw(text), self._values))


def _hidden(raw: bytes, plain: Plain, spans: Sequence[tuple[int, int]]) -> bytes:
    if not spans:
        return raw
    parts, end = list[bytes](), 0
    for low, high in spans:
        begin, after = plain.place(low), plain.place(high - 1) + 1
        parts += (raw[end:begin], _MASK, escapes_in(raw[begin:after]))
        end = after
    return b"".join((*parts, raw[end:]))


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogatepass")
