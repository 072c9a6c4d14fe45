"""Where secrets stand in a text that nobody has vetted: by their value, the name before them, or their shape.

Bytes without colours go in, spans come out. The text is a stranger's, so the time is linear in its length: every byte
is looked at a bounded number of times, and what was read once as a word or a value is not read again.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from dsgui.core.access.secret_shapes import PRIVATE_KEY, Seen, begun, end_of, shaped

SHORTEST = 8  # a shorter value ("true", "1234") would be hidden all over the page
_WORDS = "TOKEN|KEY|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?"
# As a part of a variable's name: HF_TOKEN, AWS_SECRET_ACCESS_KEY, KEYFILE_PASSWORD; not TOKENIZERS_PARALLELISM, MONKEY.
_NAME = re.compile(rf"(?:\A|_)(?:API)?(?:{_WORDS})S?(?:\Z|_)", re.IGNORECASE)
_LAST_WORD = re.compile(rf"(?:\A|[-_])(?:API)?(?:{_WORDS})\Z", re.IGNORECASE)
# Names that hold nothing else, however they are written: api_key, apiKey, HUB-TOKEN. Not eos_token, not a plain key.
NOTIFY = "DSGUI_NOTIFY"  # the webhook of a run or of all: who knows its address can write there
_STRONG = re.compile(
    r"(?:(?:API|ACCESS|SECRET|PRIVATE|AUTH|SIGNING|SERVICE|ENCRYPTION|ACCOUNT)KEY"
    r"|(?:ACCESS|AUTH|REFRESH|API|HF|HUB|SESSION|BEARER|GITHUB|GITLAB|WANDB|HUGGINGFACE|COMET|SECURITY)TOKEN"
    r"|SECRET|PASSWORD|PASSWD|PASSPHRASE)\Z",
    re.IGNORECASE,
)
# What a tokenizer or a model calls so. And a name by itself, where only its value tells.
_OF_TEXT = re.compile(
    r"(?:\A|[-_])(?:PAD|EOS|BOS|UNK|SEP|CLS|MASK|EOT|EOM|IMAGE|VIDEO|AUDIO|STOP|START|END|SPECIAL)[-_]?TOKEN\Z",
    re.IGNORECASE,
)
_WEAK = re.compile(r"(?:\A|[-_])TOKEN\Z", re.IGNORECASE)
_IN_ADDRESS = re.compile(r"(?:\A|[-_])(?:TOKEN|KEY|SIG|SIGNATURE|AUTH|PWD)\Z", re.IGNORECASE)

_KEYWORDS = (b"token", b"key", b"secret", b"pass", b"credential")
_LONGEST_NAME = 64
_NAME_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_FIRST_WORDS = frozenset(
    b"api access secret private auth signing service encryption account refresh bearer security session hub hf github"
    b" gitlab wandb huggingface comet".split()
)
_IN_NAMES = bytes(_NAME_BYTES)
_OPENS = (b"<", b"[", b"{", b"")
_MADE_OF = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/=|"
_BEFORE_NAMES = (b'"', b"'", b"?", b"&")
_WORD_BYTES = _NAME_BYTES | frozenset(b"\"'\\?&:/")
_QUOTES = (b'"', b"'")
_REST_OF_NAME = re.compile(rb"[A-Za-z0-9_-]*+")
_QUERY = re.compile(rb"([A-Za-z0-9_-]{1,64}+)=")
_ASSIGNS = re.compile(rb"=")
_ASSIGNS_OR_TELLS = re.compile(rb"[ \t]{0,8}+[=:][ \t]{0,8}+")
_SPACED = re.compile(rb"(?:[ \t]{1,8}+|=)")
_NEXT_IN_LIST = re.compile(rb"\\?[\"'],[ \t]{0,8}+")
_PAIR = re.compile(rb"\\?[\"'],[ \t]{0,8}+\\?[\"']value\\?[\"'][ \t]{0,8}+:[ \t]{0,8}+")
_ITEM = re.compile(rb"\\?[\"'][ \t]{0,8}+\][ \t]{0,8}+=[ \t]{0,8}+")
_GIVES = re.compile(rb"[ \t]{1,8}+-p[ \t]{0,8}+")
_SAYS = re.compile(rb" is |(?: provided)?:[ \t]{0,8}+|[ \t]{0,8}+=[ \t]{0,8}+")
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
_PASSWORD = re.compile(rb"[^\s/\"'<>]{1,200}+")


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


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name holds something that others must not read."""
    return name == NOTIFY or _NAME.search(name) is not None


def is_secret_option(name: str, value: str) -> bool:
    """Whether an option of this name is given something that others must not read. A name that may mean anything
    (`--key`, `--eos_token`) says so only of a value that looks like one: letters and digits, no path."""
    if len(value) < SHORTEST or not _LAST_WORD.search(name):
        return False
    looks = value.isalnum() or value.replace("-", "").replace("_", "").isalnum()
    return _is_strong(name) or (looks and any(map(str.isdigit, value)) and any(map(str.isalpha, value)))


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
    of each kind is looked at: many times as fast as all of them. Nothing but a value and a private key reaches over the
    end of a line."""
    if any(value in text for value in values):
        return False
    kinds = b"\n".join(set(text.translate(_SAME_DIGITS).split(b"\n")))
    return PRIVATE_KEY not in kinds and not _found(kinds, ()).spans


def _found(text: bytes, values: Sequence[bytes]) -> Found:
    spans = [span for value in values for span in _each(text, value)]
    stretches = list(spans)
    begins = min((begun(text, value) for value in values), default=len(text))
    for start, seen in _suspects(text):
        start -= text[start - 1 : start] in _BEFORE_NAMES
        if seen.open:
            begins = min(begins, start)
        if seen.hidden:
            spans.append(seen.hidden)
            stretches.append((start, seen.hidden[1]))
    word = min(begins, _last_word(text))
    return Found(tuple(_merged(spans)), tuple(_merged(stretches)), begins, word)


def _suspects(text: bytes) -> Iterator[tuple[int, Seen]]:
    lowered = text.lower()
    yield from _named(text, lowered)
    yield from _headers(text, lowered)
    yield from _bearers(text, lowered)
    yield from _addresses(text)
    yield from _queries(text)
    yield from shaped(text)


def _each(text: bytes, value: bytes) -> Iterator[tuple[int, int]]:
    place = text.find(value)
    while place >= 0:
        yield place, place + len(value)
        place = text.find(value, place + len(value))


def _last_word(text: bytes) -> int:
    """Where the word begins that the text ends in: it may be the first half of a name or of a token. And the word
    before, where both are a name."""
    start, low = len(text), max(len(text) - _LONGEST_NAME, 0)
    while start > low and text[start - 1] in _WORD_BYTES:
        start -= 1
    return _first_of_two(text, start, 0)


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


def _named(text: bytes, lowered: bytes) -> Iterator[tuple[int, Seen]]:
    done = 0
    for place in _places(lowered, *_KEYWORDS):
        if place < done:
            continue
        start = _begin_of_name(text, place, done)
        end = end_of(_REST_OF_NAME, text, place)
        begin = _first_of_two(text, start, done)
        seen = _after_name(text, start, end) if begin == start else _after_words(text, begin, start, end)
        done = seen.end
        yield begin, seen


def _places(text: bytes, *words: bytes) -> list[int]:
    """Where the words stand, in order. Of a text without any this costs a search of each."""
    found = list[int]()
    for word in words:
        place = text.find(word)
        while place >= 0:
            found.append(place)
            place = text.find(word, place + len(word))
    found.sort()
    return found


def _begin_of_name(text: bytes, place: int, low: int) -> int:
    low = max(low, place - _LONGEST_NAME)
    while place > low and text[place - 1] in _NAME_BYTES:
        place -= 1
    return place


def _first_of_two(text: bytes, start: int, low: int) -> int:
    """Where `api key` begins, of which the word at `start` is the second; `start` itself for any other word."""
    if start - 1 <= low or text[start - 1 : start] != b" ":
        return start
    begin = _begin_of_name(text, start - 1, low)
    return begin if text[begin : start - 1].lower() in _FIRST_WORDS else start


def _after_words(text: bytes, begin: int, start: int, end: int) -> Seen:
    """What `api key` is followed by, in a sentence."""
    name = (text[begin : start - 1] + text[start:end]).decode("latin-1")
    if end == len(text) or (_is_strong(name) and _may_say(text[end : end + 24])):
        return Seen(None, end, True)
    if _is_strong(name) and (match := _SAYS.match(text, end)):
        seen = _value(text, match.end(), _LISTED, name, _looks_made)
        return seen or Seen(None, end, match.end() == len(text))
    return _after_name(text, start, end)


def _may_say(rest: bytes) -> bool:
    """Whether a text that ends so may go on with what stands between a sentence's name and its value."""
    return len(rest) < 24 and (b" is ".startswith(rest) or b" provided: ".startswith(rest) or not rest.strip(b" \t:="))


def _after_name(text: bytes, start: int, end: int) -> Seen:
    """What a name is followed by: a value to hide, if the name, the way it is written and the value say so."""
    if end == len(text):
        return Seen(None, end, True)
    name, quoted = text[start:end].decode("latin-1"), text[start - 1 : start] in _QUOTES
    for between, bare, fits in _ways_of(name, quoted):
        if match := between.match(text, end):
            if match.end() == len(text):
                return Seen(None, end, True)
            if seen := _value(text, match.end(), bare, name, fits):
                return seen
    # `"key"` at the very end, or a name and blanks: a colon may follow.
    return Seen(None, end, _is_blank(text, end))


def _is_blank(text: bytes, place: int) -> bool:
    """Whether the text ends there, but for what may stand between a name and its value."""
    rest = text[place : place + 4 * SHORTEST]
    rest = rest.translate(None, b"\"'\\:=], \t") if len(text) - place < 4 * SHORTEST else b"?"
    return b"value".startswith(rest) or b"-p".startswith(rest)


def _value(text: bytes, place: int, bare: re.Pattern[bytes], name: str, fits: "_Fits") -> Seen | None:
    quoted = _QUOTED.match(text, place)
    if match := quoted or bare.match(text, place):
        span = quoted.span(2) if quoted else match.span()
        if match.end() == len(text):
            return Seen(span if fits(name, text[slice(*span)], quoted is not None) else None, match.end(), True)
        called = not quoted and text[match.end() : match.end() + 1] in (b"(", b"[")
        return Seen(span, match.end()) if not called and fits(name, text[slice(*span)], quoted is not None) else None
    return Seen(None, place, True) if _goes_on(text, place) else None


def _goes_on(text: bytes, place: int) -> bool:
    """Whether what is there of a value, too little to tell, may be its beginning."""
    rest = text[place : place + SHORTEST + 3]
    if place + len(rest) < len(text) or any(byte in b"\r\n" for byte in rest):
        return False
    quoted = rest.lstrip(b"\\")[:1] in (b'"', b"'")
    return quoted or not any(byte in b" \t" for byte in rest)


# Names: by the name alone, and what stands before it.


def _is_variable(name: str, quoted: bool = False) -> bool:
    return name.isupper() and is_secret_name(name) and not _OF_TEXT.search(name)


def _is_long_variable(name: str, quoted: bool) -> bool:
    return "_" in name and _is_variable(name)


def _is_option(name: str, quoted: bool) -> bool:
    return name.startswith("-") and _LAST_WORD.search(name) is not None and not _OF_TEXT.search(name)


def _is_strong(name: str, quoted: bool = False) -> bool:
    return _STRONG.search(name.replace("-", "").replace("_", "")) is not None


def _is_quoted_setting(name: str, quoted: bool) -> bool:
    return quoted and (_is_strong(name) or _is_variable(name))


def _is_password(name: str, quoted: bool) -> bool:
    return name.lower() == "password"


def _is_sshpass(name: str, quoted: bool) -> bool:
    return name == "sshpass"


def _is_weak(name: str, quoted: bool) -> bool:
    return _WEAK.search(name) is not None and not _OF_TEXT.search(name)


def _is_key(name: str, quoted: bool) -> bool:
    return name == "key"


# Values: by the name, themselves, and whether they are quoted.
_Fits = Callable[[str, bytes, bool], bool]


def _any(name: str, value: bytes, quoted: bool) -> bool:
    """No number, if the name may be of a count; none of `<pad>` and `<your key>`."""
    return value[:1] not in _OPENS and (_is_strong(name) or not _is_number(value))


def _one_word(name: str, value: bytes, quoted: bool) -> bool:
    """Of a name in capitals: what a variable is set to, no path into a model and no other variable's name."""
    if _is_strong(name) and quoted:
        return _any(name, value, quoted) and not _is_a_name(value)
    made = _looks_made(name, value, quoted) or (quoted and not value.strip(_MADE_OF))
    return made and not _is_number(value) and not _is_a_name(value)


def _looks_made(name: str, value: bytes, quoted: bool) -> bool:
    """Letters and digits, as a machine makes them."""
    letters = value.translate(None, b"0123456789")
    return not value.strip(_MADE_OF) and len(letters) < len(value) and letters.lower() != letters.upper()


def _looks_random(name: str, value: bytes, quoted: bool) -> bool:
    return len(value) >= 20 and value.isalnum() and _looks_made(name, value, quoted)


def _looks_like_a_key(name: str, value: bytes, quoted: bool) -> bool:
    return quoted and len(value) >= 32 and _looks_random(name, value, quoted)


def _is_number(value: bytes) -> bool:
    return not value.strip(b"0123456789_,.+-eE")


def _is_a_name(value: bytes) -> bool:
    return value.isupper() and b"_" in value and value.replace(b"_", b"").isalpha()


# Who writes it, what stands between the name and the value, what an unquoted value is made of, and which values count.
_WAYS: tuple[tuple[Callable[[str, bool], bool], re.Pattern[bytes], re.Pattern[bytes], _Fits], ...] = (
    (_is_variable, _ASSIGNS, _BARE, _any),
    (_is_option, _SPACED, _BARE, _any),
    (_is_option, _NEXT_IN_LIST, _NOTHING, _any),
    (_is_quoted_setting, _CLOSES_AND_TELLS, _LISTED, _any),
    (_is_quoted_setting, _ITEM, _LISTED, _one_word),
    (_is_quoted_setting, _NEXT_IN_LIST, _NOTHING, _one_word),
    (_is_quoted_setting, _PAIR, _NOTHING, _one_word),
    (_is_strong, _ASSIGNS, _LISTED, _any),
    (_is_strong, _ASSIGNS_OR_TELLS, _LISTED, _any),
    (_is_long_variable, _ASSIGNS_OR_TELLS, _LISTED, _one_word),
    (_is_sshpass, _GIVES, _LISTED, _any),
    (_is_password, _BLANKS, _LISTED, _looks_made),
    (_is_weak, _ASSIGNS_OR_TELLS, _LISTED, _looks_random),
    (_is_weak, _CLOSES_AND_TELLS, _LISTED, _looks_random),
    (_is_key, _ASSIGNS, _NOTHING, _looks_like_a_key),
)


@lru_cache(maxsize=512)  # a training prints few names, millions of times
def _ways_of(name: str, quoted: bool) -> tuple[tuple[re.Pattern[bytes], re.Pattern[bytes], _Fits], ...]:
    return tuple((between, bare, fits) for applies, between, bare, fits in _WAYS if applies(name, quoted))


# -- in headers and addresses ------------------------------------------------------------------------------------------


def _headers(text: bytes, lowered: bytes) -> Iterator[tuple[int, Seen]]:
    """`Authorization: Bearer …`, `'Authorization': 'Basic …'`."""
    done = 0
    for place in _places(lowered, _HEADER):
        end = place + len(_HEADER)
        if place < done:
            continue
        if _is_blank(text, end):
            yield place, Seen(None, end, True)
        elif match := _CLOSES_AND_TELLS.match(text, end) or _TELLS.match(text, end):
            seen = _credentials(text, match.end())
            done = seen.end
            yield place, seen


def _credentials(text: bytes, place: int) -> Seen:
    begin = end_of(_SCHEME, text, place)
    if match := _LISTED.match(text, begin):
        return Seen(match.span(), match.end(), match.end() == len(text))
    return Seen(None, begin, _goes_on(text, begin))


def _bearers(text: bytes, lowered: bytes) -> Iterator[tuple[int, Seen]]:
    """`Bearer …` by itself."""
    done = 0
    for place in _places(lowered, _BEARER):
        end = place + len(_BEARER)
        if place >= done and (match := _BLANKS.match(text, end)):
            seen = _value(text, match.end(), _LISTED, "bearer", _any) or Seen(None, end)
            done = seen.end
            yield place, seen


def _addresses(text: bytes) -> Iterator[tuple[int, Seen]]:
    """The password of `scheme://user:password@host`, which may have an @ of its own; a key alone before the @."""
    for place in _places(text, b"://"):
        begin = place + 3
        if user := _USER.match(text, begin):
            begin = user.end()
        rest = _PASSWORD.match(text, begin)
        end = rest.end() if rest else begin
        password = text[begin:end].rpartition(b"@")[0]
        hides = password and (user or _looks_random("", password, False))
        yield place, Seen((begin, begin + len(password)) if hides else None, end, end == len(text))


def _queries(text: bytes) -> Iterator[tuple[int, Seen]]:
    """`?access_token=…&sig=…`"""
    done = 0
    for place in _places(text, b"?", b"&"):
        if place < done:
            continue
        if not (name := _QUERY.match(text, place + 1)):
            yield (
                place,
                Seen(None, place + 1, len(text) - place <= _LONGEST_NAME and not text[place + 1 :].strip(_IN_NAMES)),
            )
        elif _is_in_address(name[1].decode("latin-1")):
            value = _value(text, name.end(), _LISTED, "", _any_query) or Seen(None, name.end(), name.end() == len(text))
            done = value.end
            yield place, value


def _is_in_address(name: str) -> bool:
    return _is_strong(name) or _IN_ADDRESS.search(name) is not None


def _any_query(name: str, value: bytes, quoted: bool) -> bool:
    return not quoted and value[:1] not in _OPENS
