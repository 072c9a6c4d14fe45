"""The size that a hub id tells in its name, for a model that is not in the local cache: it is planned with as
that size, its shape guessed."""

import re

from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.guessed import LEAST, MOST, UNITS
from dsgui.core.texts.saying import Said, listed, said

_ID = re.compile(r"(?:[A-Za-z0-9][\w.-]*/)?[A-Za-z0-9][\w.-]*", re.ASCII)
# 7B, 0.5b, 350m, Bloom's 7b1; 1_8b is 1.8B to some and the last 8B of llama_3_8b to others.
_SIZE = re.compile(r"(?<![A-Za-z0-9.])(\d{1,4})(?:([._])(\d{1,3}))?([BbMm])(\d?)(?![A-Za-z0-9])")
_WORDS = re.compile(r"[A-Za-z0-9.]+")
_EXPERTS = re.compile(r"\d{1,4}x\d{1,4}(?:\.\d{1,3})?b|a\d{1,4}(?:\.\d{1,3})?b|\d{1,4}e|mixtral")
_QUANTIZED = re.compile(r"[2-8]\.?bits?|(?:int|fp|nf|q)[2-8]|w[48]a\d{1,2}|bnb|gptq|awq|gguf|ggml|exl2|mlx")
_VISION = re.compile(r"vl|vision|audio|omni|image")
_KINDS = (("experts", _EXPERTS, "moe"), ("quantized", _QUANTIZED, None), ("vision", _VISION, "llava"))


def planned_size(named: str) -> str | CannotSay | None:
    """ "7B" of "Qwen/Qwen2.5-7B". None for what is no hub id; why there is no size where a name tells none, two, or a
    model of a kind that has no formula."""
    if len(named) > 200 or _ID.fullmatch(named) is None:
        return None
    name = named.rsplit("/", 1)[-1]
    if kind := _without_formula(name):
        return CannotSay(said("memory_notes", kind[0], key=kind[1]))
    sizes = dict.fromkeys(size for found in _SIZE.finditer(name) for size in _readings(found))
    known = [size for size, count in ((size, _count(size)) for size in sizes) if LEAST <= count <= MOST]
    if len(known) == 1:
        return known[0]
    why: Said = said("memory_cannot", "sizes_in_name", model=named, sizes=listed(known))
    return CannotSay(why if known else said("memory_cannot", "no_size_in_name", model=named))


def _without_formula(name: str) -> tuple[str, str] | None:
    """As of a config.json that says so (`walking.py: ELSEWHERE`), with the word that tells it."""
    if "gpt-oss" in name.lower():
        return "experts", "gpt-oss"
    words = _WORDS.findall(name.replace("-bit", ".bit").replace("_", "-"))
    for code, pattern, ending in _KINDS:
        for word in reversed(words):
            lower = word.lower()
            if pattern.fullmatch(lower) or (ending and lower.endswith(ending)):
                return code, word
    return None


def _readings(found: re.Match[str]) -> tuple[str, ...]:
    whole, mark, part, unit, tenth = found.groups()
    unit = unit.upper()
    if tenth:
        return (f"{whole}.{tenth}{unit}",) if not mark else ()
    if mark == "_":
        return f"{whole}.{part}{unit}", f"{part}{unit}"
    return (f"{whole}.{part}{unit}" if part else f"{whole}{unit}",)


def _count(size: str) -> int:
    return round(float(size[:-1]) * UNITS[size[-1].lower()])
