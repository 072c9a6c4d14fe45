"""tqdm's bars, and Lightning's: `  5%|█ | 2/40 [00:10<03:10, 5.0s/it, loss=2.31]`.

Works on bytes: a bar is redrawn many times a second, and most redraws bring nothing new.
"""

import re

from dsgui.core.logs.numerals import NUMBER, canonical, evaluates, is_loss

BAR = re.compile(
    rb"\b\d{1,3}%\|[^|\r\n]*\| *(?P<step>\d{1,15})/(?P<total>\d{1,15}) "
    rb"\[[\d:]{1,20}+<(?P<left>[\d:?]{1,20}+),(?P<rate>[^\],\r\n]{0,60}+)(?P<postfix>,[^\]\r\n]{0,500}+)?\]"
)
# Counts with a unit prefix: `1.20G/2.40G`; tqdm writes three digits before the point. Below 1e15, as all steps are.
_SCALED = rb"(?:\d{1,3}(?:\.\d{1,6})?[kKMGT]|\d{1,15})i?B?"
SCALED_BAR = re.compile(
    rb"\b\d{1,3}%\|[^|\r\n]*\| *(?P<step>" + _SCALED + rb")/(?P<total>" + _SCALED + rb") "
    rb"\[[\d:]{1,20}+<(?P<left>[\d:?]{1,20}+),(?P<rate>[^\],\r\n]{0,60}+)(?P<postfix>,[^\]\r\n]{0,500}+)?\]"
)
# A whole line that tells nothing but the step.
BARE_BAR = re.compile(rb" *\d{1,3}%\|[^|\n]*\| *(\d{1,15})/(\d{1,15}) \[[\d:]+<[\d:?]+,[^\],\n]*\]\n")
_VALUE = re.compile(
    rf"(?:\A|, *)(?P<name>[A-Za-z_][\w./@ -]{{0,60}}?) ?[=:] ?(?P<number>{NUMBER})(?=\s*(?:,|\Z))", re.I
)
# `loss: 2.31:`, `1|10|Loss: 2.31:`, `step 10/100 completed (loss: 2.31):`
_DESCRIBED = re.compile(
    r"(?<![\w.])(?P<name>(?:[A-Za-z_]\w{0,30} ){0,2}[A-Za-z_][\w./-]{0,60})\s*[:=]\s*"
    rf"(?P<number>{NUMBER})(?=\s*[:,|)\]]|\s*\Z|\s[A-Za-z])",
    re.I,
)
_CLOCK = re.compile(r"(?:(\d{1,9}):)?(\d{1,9}):(\d{1,9})\Z")
_EPOCH = re.compile(r"\bepoch\b[\s:=#\[]*+(\d{1,9})\b(?:\s*+(?:/|of\b)\s*+(\d{1,9})\b)?", re.IGNORECASE)
_UNIT = re.compile(rb"(?:\A|[\s\d?])([A-Za-z]{1,16})/s\Z|s/([A-Za-z]{1,16})\Z")
_SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def bar_values(postfix: bytes | None) -> dict[str, float]:
    """The measured numbers of a bar's postfix."""
    if not postfix or (b"=" not in postfix and b":" not in postfix):
        return {}
    text = postfix.decode("utf-8", "replace").lstrip(", ")
    pairs = ((canonical(match["name"]), float(match["number"])) for match in _VALUE.finditer(text))
    return {name: value for name, value in pairs if name}


def described_values(description: str) -> dict[str, float]:
    """The training's losses in the text before a bar, as `tqdm.set_description` writes it."""
    found: dict[str, float] = {}
    for match in _DESCRIBED.finditer(description):
        name = canonical(match["name"])
        if name and is_loss(name) and not evaluates(name):
            found.setdefault(name, float(match["number"]))
    return found


def bar_epoch(description: str) -> tuple[float | None, int | None]:
    """The epoch of `Epoch 2/3: 50%|…`, and the number of epochs."""
    match = _EPOCH.search(description)
    if not match:
        return None, None
    return float(match[1]), int(match[2]) if match[2] else None


def bar_unit(rate: bytes) -> str:
    """What a bar counts: `examples` of ` 3800.00 examples/s`."""
    match = _UNIT.search(rate.rstrip())
    return (match[1] or match[2]).decode() if match else ""


def bar_count(spelling: bytes) -> int:
    """The approximate number that `1.20G` stands for."""
    text = spelling.decode().rstrip("B").rstrip("i")
    scale = _SCALES.get(text[-1:], 1.0)
    return int(float(text.rstrip("kKMGT")) * scale)


def clock_seconds(text: str) -> float | None:
    """Seconds of tqdm's `[H:]MM:SS`; None for `?`."""
    match = _CLOCK.match(text)
    if not match:
        return None
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float((hours * 60 + minutes) * 60 + seconds)
