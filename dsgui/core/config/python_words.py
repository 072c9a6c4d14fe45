"""Python's True, False and None where a value stands, as in a dict pasted for a config: as JSON's words."""

import re

_JSON = {"True": "true", "False": "false", "None": "null"}
# Texts and comments are taken whole, closed or not, so that nothing in them counts and nothing is read twice.
_TEXT = r'"(?>(?:[^"\\\n]++|\\.)*)"?|' + r"'(?>(?:[^'\\\n]++|\\.)*)'?"
_COMMENT = r"#[^\n]*+|//[^\n]*+|/\*(?>(?:[^*]++|\*(?!/))*)(?:\*/)?"
_WORD = r"(?P<before>[:\[,][ \t\r\n]*+)(?P<word>True|False|None)(?=[ \t\r]*+(?:[,}\]\n#]|//|/\*|\Z))"
_PIECES = re.compile(f"{_TEXT}|{_COMMENT}|{_WORD}")


def as_json_words(text: str) -> tuple[str, tuple[int, ...]]:
    """The text with those words as JSON's, and the lines (from 1) they stood on."""
    places: list[int] = []

    def mended(found: re.Match[str]) -> str:
        if not found["word"]:
            return found[0]
        places.append(found.start("word"))
        return found["before"] + _JSON[found["word"]]

    changed = _PIECES.sub(mended, text)
    return changed, tuple(dict.fromkeys(_lines(text, places)))


def _lines(text: str, places: list[int]) -> list[int]:
    lines, line, at = list[int](), 1, 0
    for place in places:
        line += text.count("\n", at, place)
        at = place
        lines.append(line)
    return lines
