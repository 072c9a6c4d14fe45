"""Where secrets stand in a text that nobody has vetted: by their value, the name before them, or their shape.

Bytes without colours go in, spans come out. The text is a stranger's, so the time is linear in its length: every byte
is looked at a bounded number of times, and what was read once as a word or a value is not read again.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SHORTEST = 8  # a shorter value ("true", "1234") would be hidden all over the page
_WORDS = "TOKEN|KEY|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?"
# As a part of a variable's name: HF_TOKEN, AWS_SECRET_ACCESS_KEY, KEYFILE_PASSWORD; not TOKENIZERS_PARALLELISM, MONKEY.
_NAME = re.compile(rf"(?:\A|_)(?:API)?(?:{_WORDS})S?(?:\Z|_)", re.IGNORECASE)
_LAST_WORD = re.compile(rf"(?:\A|[-_])(?:API)?(?:{_WORDS})\Z", re.IGNORECASE)
# Names that hold nothing else, however they are written: api_key, apiKey, HUB-TOKEN. Not eos_token, not a plain key.
_STRONG = re.compile(
    r"(?:(?:API|ACCESS|SECRET|PRIVATE|AUTH|SIGNING|SERVICE|ENCRYPTION)KEY"
    r"|(?:ACCESS|AUTH|REFRESH|API|HF|HUB|SESSION|BEARER|GITHUB|GITLAB|WANDB|HUGGINGFACE|COMET|SECURITY)TOKEN"
    r"|SECRET|PASSWORD|PASSWD|PASSPHRASE)\Z",
    re.IGNORECASE,
)
_IN_ADDRESS = re.compile(r"(?:\A|[-_])(?:TOKEN|KEY|SIG|SIGNATURE|AUTH|PWD)\Z", re.IGNORECASE)

_KEYWORDS = (
    b"token",
    b"key",
    b"secret",
    b"passw",
    b"passphrase",
    b"credential",
    b"signature",
    b"sig=",
    b"auth=",
    b"pwd=",
)
_LONGEST_NAME = 64
_NAME_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_BEFORE_NAMES = (b'"', b"'", b"?", b"&")
_WORD_BYTES = _NAME_BYTES | frozenset(b"\"'\\?&:/")
_REST_OF_NAME = re.compile(rb"[A-Za-z0-9_-]*+")
_ASSIGNS = re.compile(rb"=")
_SPACED = re.compile(rb"(?:[ \t]{1,8}+|=)")
_NEXT_IN_LIST = re.compile(rb"\\?[\"'],[ \t]{0,8}+")
_CLOSES_AND_TELLS = re.compile(rb"\\?[\"'][ \t]{0,8}+:[ \t]{0,8}+")
_TELLS = re.compile(rb"[ \t]{0,8}+:[ \t]{0,8}+")
_QUOTED = re.compile(rb"\\?([\"'])(?!\$)([^\"'\\\r\n]{%d,}+)" % SHORTEST)
_BARE = re.compile(rb"[^\s\"'$`][^\s\"'`]{%d,}+" % (SHORTEST - 1))
_NOTHING = re.compile(rb"(?!)")
_LISTED = re.compile(rb"[^\s\"'$`<>(){}\[\],;&][^\s\"'`<>(){}\[\],;&]{%d,}+" % (SHORTEST - 1))
_SCHEME = re.compile(rb"[\"']?[ \t]{0,8}+(?:(?:Bearer|Basic|Token|Digest)[ \t]{1,8}+)?", re.IGNORECASE)
_BLANKS = re.compile(rb"[ \t]{1,8}+")
_HEADER, _BEARER = b"authorization", b"bearer"
_USER = re.compile(rb"[^\s/:@]{0,80}+:")
_PASSWORD = re.compile(rb"[^\s/@]{1,200}+")

_SHAPES: dict[bytes, re.Pattern[bytes]] = {
    prefix: re.compile(rest)
    for prefix, rest in {
        b"hf_": rb"[A-Za-z0-9]{16,}+",
        **{b"gh%c_" % letter: rb"[A-Za-z0-9]{20,}+" for letter in b"pousr"},
        b"github_pat_": rb"\w{20,}+",
        b"glpat-": rb"[\w-]{16,}+",
        b"sk-": rb"[\w-]{20,}+",
        b"AKIA": rb"[A-Z0-9]{16}",
        b"ASIA": rb"[A-Z0-9]{16}",
        b"AIza": rb"[\w-]{35}",
        b"ya29.": rb"[\w-]{20,}+",
        b"npm_": rb"[A-Za-z0-9]{30,}+",
        b"pypi-": rb"[\w-]{40,}+",
        **{b"xox%c-" % letter: rb"[\w-]{10,}+" for letter in b"abeprs"},
    }.items()
}
_JWT = b"eyJ"
_SEGMENT = re.compile(rb"[\w-]*+")


@dataclass(frozen=True, slots=True)
class Found:
    """The spans to hide, and the stretches that tell so: a name and its value. Where something begins that looks like a
    secret and goes on to the end of the text; where the last word does, which may yet become the name of one."""

    spans: tuple[tuple[int, int], ...]
    stretches: tuple[tuple[int, int], ...]
    open_from: int
    word_from: int

    def cut(self, place: int) -> int:
        """The last place up to `place` where the text can be cut in two without a stretch losing its meaning."""
        return next((low for low, high in self.stretches if low < place < high), place)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What stands at one place: the part to hide, if any; where reading goes on; whether more text could change it."""

    hidden: tuple[int, int] | None
    end: int
    open: bool = False


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name holds something that others must not read."""
    return _NAME.search(name) is not None


def is_secret_option(name: str, value: str) -> bool:
    """Whether an option of this name is given something that others must not read. A name that may mean anything
    (`--key`, `--eos_token`) says so only of a value that looks like one: letters and digits, no path."""
    if len(value) < SHORTEST or not _LAST_WORD.search(name):
        return False
    looks = value.isalnum() or value.replace("-", "").replace("_", "").isalnum()
    return _is_strong(name, b"") or (looks and any(map(str.isdigit, value)) and any(map(str.isalpha, value)))


_MUCH_BYTES = 1 << 12
_SAME_DIGITS = bytes.maketrans(b"0123456789\r", b"0000000000\n")


def find(text: bytes, values: Sequence[bytes] = ()) -> Found:
    """Every secret of `text`, which has no escape sequences in it. `values` are known ones, the longest first."""
    if len(text) < _MUCH_BYTES or not _is_dull(text, values):
        return _found(text, values)
    begins = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
    last = _found(text[begins:], values)
    return Found((), (), begins + last.open_from, begins + last.word_from)


def _is_dull(text: bytes, values: Sequence[bytes]) -> bool:
    """Whether no line of a long text has a secret in it. Most lines of a training differ in their digits alone, so one
    of each kind is looked at: many times as fast as all of them. Nothing but a value reaches over the end of a line."""
    if any(value in text for value in values):
        return False
    kinds = set(text.translate(_SAME_DIGITS).split(b"\n"))
    return not _found(b"\n".join(kinds), ()).spans


def _found(text: bytes, values: Sequence[bytes]) -> Found:
    spans = [span for value in values for span in _each(text, value)]
    stretches = list(spans)
    begins = min((_begun(text, value) for value in values), default=len(text))
    for start, seen in _suspects(text):
        start -= text[start - 1 : start] in _BEFORE_NAMES
        if seen.open:
            begins = min(begins, start)
        if seen.hidden:
            spans.append(seen.hidden)
            stretches.append((start, seen.hidden[1]))
    word = min(begins, _last_word(text))
    return Found(tuple(_merged(spans)), tuple(_merged(stretches)), begins, word)


def _suspects(text: bytes) -> Iterator[tuple[int, _Seen]]:
    lowered = text.lower()
    yield from _named(text, lowered)
    yield from _headers(text, lowered)
    yield from _bearers(text, lowered)
    yield from _addresses(text)
    yield from _shaped(text)
    yield from _web_tokens(text)


def _each(text: bytes, value: bytes) -> Iterator[tuple[int, int]]:
    place = text.find(value)
    while place >= 0:
        yield place, place + len(value)
        place = text.find(value, place + len(value))


def _begun(text: bytes, value: bytes) -> int:
    """Where the text ends with the beginning of `value`; its length where it does not."""
    for length in range(min(len(value) - 1, len(text)), 0, -1):
        if text.endswith(value[:length]):
            return len(text) - length
    return len(text)


def _last_word(text: bytes) -> int:
    """Where the word begins that the text ends in: it may be the first half of a name or of a token."""
    start, low = len(text), max(len(text) - _LONGEST_NAME, 0)
    while start > low and text[start - 1] in _WORD_BYTES:
        start -= 1
    return start


def _merged(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    begin, end = -1, -1
    for low, high in sorted(spans):
        if low >= end:
            if end > begin:
                yield begin, end
            begin, end = low, high
        end = max(end, high)
    if end > begin:
        yield begin, end


# -- by the name before them -------------------------------------------------------------------------------------------


def _named(text: bytes, lowered: bytes) -> Iterator[tuple[int, _Seen]]:
    done = 0
    for place in _places(lowered, *_KEYWORDS):
        if place < done:
            continue
        start = _begin_of_name(text, place, done)
        seen = _after_name(text, start, _end(_REST_OF_NAME, text, place))
        done = seen.end
        yield start, seen


def _places(text: bytes, *words: bytes) -> list[int]:
    """Where the words stand, in order. Of a text without any this costs a search of each."""
    return sorted(place for word in words for place, _ in _each(text, word))


def _begin_of_name(text: bytes, place: int, low: int) -> int:
    low = max(low, place - _LONGEST_NAME)
    while place > low and text[place - 1] in _NAME_BYTES:
        place -= 1
    return place


def _after_name(text: bytes, start: int, end: int) -> _Seen:
    """What a name is followed by: a value to hide, if the name and the way it is written say so."""
    if end == len(text):
        return _Seen(None, end, True)
    name, before = text[start:end].decode("latin-1"), text[start - 1 : start]
    for applies, between, value in _WAYS:
        if applies(name, before) and (match := between.match(text, end)):
            if match.end() == len(text):
                return _Seen(None, end, True)
            if seen := _value(text, match.end(), value):
                return seen
    # `"key"` at the very end, or a name and blanks: a colon may follow.
    return _Seen(None, end, _is_blank(text, end))


def _is_blank(text: bytes, place: int) -> bool:
    """Whether the text ends there, but for what may stand between a name and its value."""
    return len(text) - place < 2 * SHORTEST and not text[place:].strip(b"\"'\\: \t")


def _value(text: bytes, place: int, bare: re.Pattern[bytes]) -> _Seen | None:
    quoted = _QUOTED.match(text, place)
    if quoted:
        return _Seen(quoted.span(2), quoted.end(), quoted.end() == len(text))
    match = bare.match(text, place)
    if match:
        return _Seen(match.span(), match.end(), match.end() == len(text))
    return _Seen(None, place, True) if _goes_on(text, place) else None


def _goes_on(text: bytes, place: int) -> bool:
    """Whether what is there of a value, too little to tell, may be its beginning."""
    rest = text[place : place + SHORTEST + 3]
    if place + len(rest) < len(text) or any(byte in b"\r\n" for byte in rest):
        return False
    quoted = rest.lstrip(b"\\")[:1] in (b'"', b"'")
    return quoted or not any(byte in b" \t" for byte in rest)


def _is_variable(name: str, before: bytes) -> bool:
    return name.isupper() and is_secret_name(name)


def _is_option(name: str, before: bytes) -> bool:
    return name.startswith("-") and _LAST_WORD.search(name) is not None


def _is_strong(name: str, before: bytes) -> bool:
    return _STRONG.search(name.replace("-", "").replace("_", "")) is not None


def _is_in_address(name: str, before: bytes) -> bool:
    return before in (b"?", b"&") and (_is_strong(name, before) or _IN_ADDRESS.search(name) is not None)


def _is_quoted_setting(name: str, before: bytes) -> bool:
    return before in (b'"', b"'") and (_is_strong(name, before) or (name.isupper() and is_secret_name(name)))


# Who writes it, what stands between the name and the value, and what an unquoted value is made of.
_WAYS = (
    (_is_variable, _ASSIGNS, _BARE),
    (_is_option, _SPACED, _BARE),
    (_is_option, _NEXT_IN_LIST, _NOTHING),
    (_is_in_address, _ASSIGNS, _LISTED),
    (_is_quoted_setting, _CLOSES_AND_TELLS, _LISTED),
    (_is_strong, _ASSIGNS, _LISTED),
    (_is_strong, _TELLS, _LISTED),
)


# -- in headers and addresses ------------------------------------------------------------------------------------------


def _headers(text: bytes, lowered: bytes) -> Iterator[tuple[int, _Seen]]:
    """`Authorization: Bearer …`, `'Authorization': 'Basic …'`."""
    done = 0
    for place in _places(lowered, _HEADER):
        end = place + len(_HEADER)
        if place < done:
            continue
        if _is_blank(text, end):
            yield place, _Seen(None, end, True)
        elif match := _CLOSES_AND_TELLS.match(text, end) or _TELLS.match(text, end):
            seen = _credentials(text, match.end())
            done = seen.end
            yield place, seen


def _credentials(text: bytes, place: int) -> _Seen:
    begin = _end(_SCHEME, text, place)
    if match := _LISTED.match(text, begin):
        return _Seen(match.span(), match.end(), match.end() == len(text))
    return _Seen(None, begin, _goes_on(text, begin))


def _bearers(text: bytes, lowered: bytes) -> Iterator[tuple[int, _Seen]]:
    """`Bearer …` by itself."""
    done = 0
    for place in _places(lowered, _BEARER):
        end = place + len(_BEARER)
        if place >= done and (match := _BLANKS.match(text, end)):
            seen = _value(text, match.end(), _LISTED) or _Seen(None, end)
            done = seen.end
            yield place, seen


def _addresses(text: bytes) -> Iterator[tuple[int, _Seen]]:
    """The password of `scheme://user:password@host`."""
    for place in _places(text, b"://"):
        if not (user := _USER.match(text, place + 3)):
            yield place, _Seen(None, place + 3, len(text) - place < 84 and not _ends(text[place + 3 :]))
        elif password := _PASSWORD.match(text, user.end()):
            followed = text[password.end() : password.end() + 1]
            hidden = password.span() if followed == b"@" else None
            yield place, _Seen(hidden, password.end(), not followed)
        else:
            yield place, _Seen(None, user.end(), user.end() == len(text))


def _ends(text: bytes) -> bool:
    return any(byte in b"/@ \t\r\n" for byte in text)


# -- by the shape a service gives its tokens ---------------------------------------------------------------------------


def _shaped(text: bytes) -> Iterator[tuple[int, _Seen]]:
    for prefix, rest in _SHAPES.items():
        place, done = text.find(prefix), 0
        while place >= 0:
            if place >= done and not _is_inside(text, place):
                match = rest.match(text, place + len(prefix))
                done = match.end() if match else place + len(prefix)
                ends = _end(_SEGMENT, text, place) if not match and len(text) - place < 64 else done
                yield place, _Seen((place, done) if match else None, done, ends == len(text))
            place = text.find(prefix, place + len(prefix))


def _web_tokens(text: bytes) -> Iterator[tuple[int, _Seen]]:
    """JSON Web Tokens: three parts with dots between. What began as one and is none is not looked at again."""
    place = text.find(_JWT)
    while place >= 0:
        end = place + len(_JWT)
        if not _is_inside(text, place):
            seen = _web_token(text, place)
            end = max(end, seen.end)
            yield place, seen
        place = text.find(_JWT, end)


def _web_token(text: bytes, place: int) -> _Seen:
    begin, first = place, 0
    for part in range(3):
        end = _end(_SEGMENT, text, begin)
        first = first or end
        if end == len(text):
            return _Seen((place, end) if part == 2 and end - begin >= 10 else None, first, True)
        if end - begin < 10 or (part < 2 and text[end : end + 1] != b"."):
            return _Seen(None, first)
        begin = end + 1
    return _Seen((place, end), end)


def _end(pattern: re.Pattern[bytes], text: bytes, place: int) -> int:
    """Where what fits at that place ends; it may be empty."""
    match = pattern.match(text, place)
    return match.end() if match else place


def _is_inside(text: bytes, place: int) -> bool:
    return place > 0 and text[place - 1 : place].isalnum()
