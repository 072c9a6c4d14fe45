"""The size that a hub id tells in its name, for a model that is not in the local cache: it is planned with as
that size, its shape guessed."""

import re

from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.guessed import LEAST, MOST, UNITS
from dsgui.core.texts.saying import Said, listed, said

_ID = re.compile(r"(?:[A-Za-z0-9][\w.-]*/)?[A-Za-z0-9][\w.-]*", re.ASCII)
# 7B, 0.5b, 350m, Bloom's 7b1; 1_8b is 1.8B to some and the last 8B of llama_3_8b to others.
_SIZE = re.compile(r"(?<![A-Za-z0-9.])(\d{1,4})(?:([._])(\d{1,3}))?([BbMm])(\d?)(?![A-Za-z0-9])")


def _words(*words: str) -> re.Pattern[str]:
    """A name holds one of them between marks: fp8 of `model-7b.fp8`, q4 of `Q4_K_M`."""
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(words)})(?![a-z0-9])", re.ASCII | re.IGNORECASE)


# As a config.json would be refused (`walking.py: ELSEWHERE`).
_EXPERTS = _words(
    *(r"\d{1,4}x\d{1,4}(?:\.\d{1,3})?b", r"a\d{1,4}(?:\.\d{1,3})?[bm]", r"\d{1,4}e"),
    *("[a-z0-9]{0,16}moe", "mixtral", "gpt-oss", "dbrx"),
)
_QUANTIZED = _words(
    *(r"[1-8](?:\.\d{1,2})?(?:[._-]?bits?|bpw)", "(?:int|fp|nf|mxfp|nvfp|i?q)[1-8]", r"w[1-8]a\d{1,2}"),
    *("bnb", "gptq", "awq", "gguf", "ggml", "exl[23]", "mlx", "hqq", "eetq", "aqlm", "vptq", "bitnet", "quantized"),
)
_VISION = _words(
    *("vision", "audio", "omni", "image", "video", "speech", "multimodal", r"[a-z0-9]{0,16}(?:vl|vlm|llava)\d?"),
    *(r"paligemma\d?", "pixtral", r"(?:instruct)?blip\d?", r"idefics\d?", r"molmo\d?", r"glm-\d(?:\.\d)?v", "janus"),
    *("fuyu", "minicpm-[vo]", "qvq", "ui-tars", "ovis[0-9.]{0,4}", "voxtral", "ultravox", r"qwen3\.[56]", "gemma-4"),
    *("(?:translate)?gemma-3-(?:4|12|27)b", "gemma-3n", "medgemma-(?!27b-text)[a-z0-9]{1,9}"),
    *(r"mistral-small-3\.[12]", "ministral-3", "nvlm-[a-z]", r"cogvlm\d?"),
)
_OWN_CODE = _words(
    *(r"baichuan\d?", r"chatglm\d?", "internlm2?", r"\Aqwen(?=-\d)", r"minicpm\d?", "xverse", "openelm", "decilm"),
    *(r"codegeex\d?", r"exaone-[23](?:\.\d)?", "mobilellm", "glm-4-9b(?!.{0,40}(?:hf|0414))"),
)
# By the `model_type` of a config.json.
_TYPES = {
    "falcon_mamba": _words("falcon3?-mamba"),
    "falcon_h1": _words("falcon-h1"),
    "falcon": _words("falcon"),
    "mamba": _words(r"mamba\d?"),
    "rwkv": _words(r"rwkv[a-z0-9]{0,9}"),
    "recurrent_gemma": _words("recurrentgemma"),
    "zamba": _words("zamba"),
    "zamba2": _words("zamba2"),
    "jamba": _words("jamba"),
    "bamba": _words("bamba"),
    "lfm2": _words("lfm2"),
    "gpt_neo": _words("gpt-neo"),
    "cohere2": _words("command-r7b", "command-a"),
    "cohere": _words("command-r", "aya-23", "aya-expanse"),
    "olmo": _words(r"olmo-\d{1,2}b"),
    "olmo3": _words("olmo-3"),
    "mpt": _words("mpt"),
    "xglm": _words("xglm"),
    "codegen": _words("codegen"),
    "gpt_bigcode": _words("starcoder(?:base|plus)?", "santacoder", "granite-(?:20|34)b-code"),
    "granitemoehybrid": _words(r"granite-4\.0"),
    "nemotron_h": _words("nemotron-h"),
    "nemotron": re.compile(r"\A(?:nemotron|minitron)-(?:mini-)?\d", re.ASCII | re.IGNORECASE),
    "persimmon": _words("persimmon"),
    "apertus": _words("apertus"),
    "exaone4": _words(r"exaone-4\.0"),
    "m2m_100": _words("nllb", "m2m100"),
    "umt5": _words("umt5"),
    "t5gemma": _words("t5gemma"),
    "chameleon": _words("chameleon"),
    "cogvideox": _words("cogvideox"),
    "wan": _words(r"wan2\.\d"),
}
# A formula has what their config.json says, and no size does.
_ENCODER_DECODER = _words(r"(?:flan-|by|m|code)?t5(?:-v1_1)?", "t0", r"madlad\d{0,3}", "ul2")
_KINDS = (("experts", _EXPERTS), ("quantized", _QUANTIZED), ("vision", _VISION))


def planned_size(named: str) -> str | CannotSay | None:
    """ "7B" of "Qwen/Qwen2.5-7B". None for what is no hub id; why there is no size where a name tells none, two, or a
    model of a kind that has no formula."""
    if len(named) > 200 or _ID.fullmatch(named) is None:
        return None
    name = named.rsplit("/", 1)[-1]
    if why := _without_formula(name):
        return CannotSay(why)
    if _ENCODER_DECODER.search(name) and _SIZE.search(name):
        return CannotSay(said("memory_cannot", "encoder_decoder", model=named))
    sizes = [size for found in _SIZE.finditer(name) for size in _readings(found)]
    known = [size for size, count in ((size, _count(size)) for size in sizes) if LEAST <= count <= MOST]
    if len(known) == 1:
        return known[0]
    several = said("memory_cannot", "sizes_in_name", model=named, sizes=listed(known))
    return CannotSay(several if known else said("memory_cannot", "no_size_in_name", model=named))


def _without_formula(name: str) -> Said | None:
    """What its config.json would be refused with, with the word that tells it."""
    for code, words in _KINDS:
        if found := words.findall(name):
            return said("memory_notes", code, key=found[-1])
    for kind, words in _TYPES.items():
        if words.search(name):
            return said("memory_notes", "unknown_family", type=kind)
    return said("memory_notes", "remote_code", keys="auto_map") if _OWN_CODE.search(name) else None


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
