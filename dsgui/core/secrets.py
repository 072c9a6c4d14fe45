"""Which words are secrets, and a text without them.

A secret is known by its value (what this process has in variables with such a name), by the name before it, or by the
shape that a service gives its tokens. Masking errs towards hiding: a masked word can be read in the run's own files.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

MASK = "••••••••"
_SHORTEST = 8  # a shorter value ("true", "1234") would be hidden all over the page
_WORDS = "TOKEN|KEY|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?"
# As a part of a variable's name: HF_TOKEN, AWS_SECRET_ACCESS_KEY, KEYFILE_PASSWORD; not TOKENIZERS_PARALLELISM, MONKEY.
_NAME = re.compile(rf"(?:\A|_)(?:API)?(?:{_WORDS})S?(?:\Z|_)", re.IGNORECASE)
_ASSIGNED = re.compile(
    rf"\b((?:[A-Z0-9]+_)*(?:API)?(?:{_WORDS})(?:_[A-Z0-9]+)*=)([\"']?)[^\s\"'$][^\s\"']{{{_SHORTEST - 1},}}\2"
)
_OPTION = re.compile(
    rf"(--?(?:[A-Za-z0-9]+[-_])*(?:api)?(?:{_WORDS})(?:\s+|=))([\"']?)[^\s\"'-][^\s\"']{{{_SHORTEST - 1},}}\2",
    re.IGNORECASE,
)
_URL = re.compile(r"(\b[a-z][a-z0-9+.-]{1,15}://[^\s/:@]{0,80}:)[^\s/@]{1,200}(?=@)", re.IGNORECASE)
_SHAPES = (
    r"hf_[A-Za-z0-9]{16,}",
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_\w{20,}",
    r"glpat-[\w-]{16,}",
    r"sk-[\w-]{20,}",
    r"AKIA[A-Z0-9]{16}",
    r"xox[abprs]-[\w-]{10,}",
    r"eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}",
)
_SHAPED = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(_SHAPES)})")
# The last word of a text that goes on may be the first half of a secret.
_UNFINISHED = re.compile(
    rf"(?:\b(?:[A-Z0-9]+_)*(?:API)?(?:{_WORDS})(?:_[A-Z0-9]+)*=|(?<![A-Za-z0-9])(?:hf_|gh[pousr]_|github_pat_|glpat-|sk-"
    r"|AKIA|xox[abprs]-|eyJ)|://[^\s/]*:)[^\s]{0,400}\Z"
)


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name holds something that others must not read."""
    return _NAME.search(name) is not None


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values to hide wherever they turn up, the longest first."""
    return longest_first(v for name, v in environment.items() if is_secret_name(name) and len(v) >= _SHORTEST)


def longest_first(values: Iterable[str]) -> tuple[str, ...]:
    """Each once, as `mask` takes them: a secret that begins like a longer one hides no part of it only."""
    return tuple(sorted(set(values), key=lambda value: (-len(value), value)))


def mask(text: str, values: Sequence[str] = ()) -> str:
    """The text with every secret in it replaced."""
    if not text:
        return text
    for value in values:
        text = text.replace(value, MASK)
    text = _URL.sub(rf"\1{MASK}", text)
    text = _ASSIGNED.sub(rf"\1{MASK}", text)
    return _SHAPED.sub(MASK, _OPTION.sub(rf"\1{MASK}", text))


def finished(text: str, values: Sequence[str] = ()) -> int:
    """How many characters of a text that goes on can be shown: what may be a secret's first half waits for the rest."""
    unfinished = _UNFINISHED.search(text)
    end = unfinished.start() if unfinished else len(text)
    for value in values:
        for length in range(min(len(value) - 1, len(text)), 0, -1):
            if text.endswith(value[:length]):
                end = min(end, len(text) - length)
                break
    return end
