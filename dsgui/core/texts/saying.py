"""What is said, as a value: a code and what its text leaves open. Parts hand on codes; words are looked up where
somebody reads them."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any

from dsgui.core.texts.languages import catalogue_text

# Where a place of a text meets a Chinese character; between that and a Latin letter or a figure there is a blank.
_HERE, _HAN, _LATIN = "\x00", "[\u4e00-\u9fff]", "[A-Za-z0-9]"
_SEAM = re.compile(rf"(?<={_HAN})(?=\{{[^{{])|(?<=[^}}]\}})(?={_HAN})")
_APART = re.compile(rf"(?<={_HAN}){_HERE}(?={_LATIN})|(?<={_LATIN}){_HERE}(?={_HAN})")
_NO_SPACE = re.compile(r"([。！？；：，]) ")
_MOST_GIVEN, _DEEPEST, _MOST_SENTENCES = 20, 60, 20  # places of one text; texts in texts


@dataclass(frozen=True, slots=True)
class Said:
    """`kind` and `code` name a text of the catalogue; `given` fills its places, in words and figures or with another
    text."""

    kind: str
    code: str
    given: tuple[tuple[str, "str | Said"], ...] = ()

    def __str__(self) -> str:
        return text_of(self.kind, self.code, dict(self.given))

    def __format__(self, spec: str) -> str:
        """`{then:inside}`: where another text goes on with it, without the capital letter; names as “ZeRO” keep it."""
        text = str(self)
        is_name = any(letter.isupper() for letter in text.partition(" ")[0][1:])
        return text[:1].lower() + text[1:] if spec == "inside" and not is_name else text

    def to_json(self) -> dict[str, Any]:
        """Without what it is a text of: that is known where it is kept."""
        given = {name: kept(value) for name, value in self.given}
        return {"code": self.code} | ({"given": given} if given else {})


def sentences(parts: "Iterable[Said]") -> str:
    """One after the other."""
    return in_row(map(str, parts))


def in_row(texts: "Iterable[str]") -> str:
    """Sentences with a space between, where the first of two ends as one of a language that has spaces."""
    return _NO_SPACE.sub(r"\1", " ".join(filter(None, texts)))


def sentences_to_json(parts: "Iterable[Said]") -> list[Any]:
    return [kept(part) for part in parts]


def kept(value: "str | Said") -> Any:
    """With the kind of text that it is."""
    return {"kind": value.kind} | value.to_json() if isinstance(value, Said) else value


def said(kind: str, code: str, /, **given: str | Said) -> Said:
    """Raises KeyError for a text that is not there, or that leaves something else open."""
    found = Said(kind, code, tuple(given.items()))
    str(found)
    return found


def phrase(code: str, /, **given: str | Said) -> Said:
    """A phrase that stands in another text: an enumeration, a range, the devices. It is looked up with that."""
    return Said("parts", code, tuple(given.items()))


def listed(parts: "Iterable[str | Said]") -> "str | Said":
    """One beside the other in one sentence, as the language sets them apart; "" for none."""
    return _joined(list(parts), lambda first, then: said("lists", "comma", first=first, then=then))


def set_apart(parts: "Iterable[str | Said]") -> "str | Said":
    """As `listed`, of what has commas itself."""
    return _joined(list(parts), lambda first, then: said("lists", "semicolon", first=first, then=then))


def _joined(parts: "list[str | Said]", join: "Callable[[str | Said, str | Said], Said]") -> "str | Said":
    """Two and two, so that many parts stand in few texts of texts."""
    while len(parts) > 1:
        odd = parts[-1:] if len(parts) % 2 else []
        parts = [*(join(first, then) for first, then in zip(parts[::2], parts[1::2], strict=False)), *odd]
    return parts[0] if parts else ""


def altered(one: Said, change: "Callable[[str], str]") -> Said:
    """With `change` made to all that fills its places; the text in plain words where that is not the same as changing
    the whole of it."""
    found, whole = refilled(one, change), change(str(one))
    return found if str(found) == whole else as_told(whole)


def refilled(one: Said, change: "Callable[[str], str]") -> Said:
    """With `change` made to all that fills its places, and none to the text itself."""
    given = ((name, refilled(value, change) if isinstance(value, Said) else change(value)) for name, value in one.given)
    return Said(one.kind, one.code, tuple(given))


def wrong(code: str, /, **given: str | Said) -> Said:
    """What an error says: where, what was seen, what was expected, what to do."""
    return said("errors", code, **given)


def as_told(text: str) -> Said:
    """What has no code: words of somebody else's, or of a dsgui before there were codes."""
    return Said("plain", "text", (("text", text),))


def recalled(kind: str, value: Any, text: str) -> Said:
    """What `to_json` or `kept` wrote, of this kind unless it names another; `text`, as it was told then, where that is
    no code known here."""
    try:
        found = _read(value.get("kind", kind), value)
        str(found)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return as_told(text)
    return found


def recalled_sentences(value: Any, text: str) -> tuple[Said, ...]:
    """As `recalled`, of what `sentences_to_json` kept."""
    try:
        found = tuple(_read(one["kind"], one) for one in value[:_MOST_SENTENCES])
        if sentences(found):
            return found
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        pass
    return (as_told(text),) if text else ()


def _read(kind: str, value: Any, depth: int = 0) -> Said:
    given = dict(value.get("given", {}))
    if len(given) > _MOST_GIVEN or depth > _DEEPEST:
        raise ValueError("it gives more than any text has places")
    return Said(kind, value["code"], tuple((name, _given(one, depth + 1)) for name, one in given.items()))


def _given(value: Any, depth: int) -> "str | Said":
    return value if isinstance(value, str) else _read(value["kind"], value, depth)


def said_with(kind: str, code: str, words: Mapping[str, str | Said]) -> Said:
    """With those of the words that the text has a place for. Raises KeyError as `said` does."""
    places = (name for _, name, _, _ in Formatter().parse(catalogue_text(kind, code)) if name)
    return said(kind, code, **{name: words[name] for name in dict.fromkeys(places)})


def text_of(kind: str, code: str, given: Mapping[str, "str | Said"]) -> str:
    """In the language in use (`languages.speaking`). Raises KeyError."""
    text = catalogue_text(kind, code)
    marked = _SEAM.sub(_HERE, text)
    if marked == text:
        return text.format_map(given)
    return _APART.sub(" ", marked.format_map(given)).replace(_HERE, "")


def words(kind: str, code: str, /, **given: "str | Said") -> str:
    """A label, hint or message of a page, in the language in use: to be called where the page is made, never where a
    module is loaded. Raises KeyError."""
    return text_of(kind, code, given)
