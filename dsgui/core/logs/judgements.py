"""What an evaluation that was announced with five stars found, on the line after it: DeepSpeed-Chat's `ppl: 4998.3`,
`chosen_last_scores (higher is better) : 2.8, acc (higher is better) : 0.49`.

Said alone, such a line is no measurement: it is read only there.
"""

import re

from dsgui.core.logs.numerals import NUMBER, canonical
from dsgui.core.logs.prefixes import launcher_prefix
from dsgui.core.logs.readings import Form, Reading

PATIENCE = 12  # lines, of other ranks and of warnings, that may come before it
_BETTER = r"(?: \((?:higher|lower) is better\))?"
_ITEM = rf"(?:[A-Za-z_][\w./@]{{0,60}}){_BETTER}\s?[:=]\s?{NUMBER}"
_LINE = re.compile(rf"\s*+{_ITEM}(?:, ?{_ITEM}){{0,9}}\s*+\Z", re.IGNORECASE)
_PART = re.compile(
    rf"(?<![\w./@])(?P<name>[A-Za-z_][\w./@]{{0,60}}+){_BETTER}\s?[:=]\s?(?P<number>{NUMBER})", re.IGNORECASE
)
_EPOCH = re.compile(r"\bepoch (\d{1,9})(?:/(\d{1,9}))?", re.IGNORECASE)


def read_judgement(text: str, announced: str) -> Reading | None:
    """What the line says; `announced` is the one with the stars, which may name the epoch."""
    rank, bare = launcher_prefix(text)
    if not _LINE.match(bare):
        return None
    values = {canonical(part["name"]) or part["name"]: float(part["number"]) for part in _PART.finditer(bare)}
    of = _EPOCH.search(announced)
    epoch = float(of[1]) if of else None
    return Reading(Form.PLAIN, values, epoch=epoch, rank=rank, kind="eval", epochs=int(of[2]) if of and of[2] else None)
