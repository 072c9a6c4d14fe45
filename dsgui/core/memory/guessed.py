"""A shape for a model of which only the size is known: Llama's proportions."""

import math
import re

from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.question import Model
from dsgui.core.texts.saying import said

_SIZE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)\s?([BbMm])")
_HEAD, _VOCABULARY = 128, 32_000
_PER_LAYER = 12  # × width²: attention 4, a gated feed-forward of 8/3 × width 8
_MOST = 10**13


def model_of_size(text: str) -> Model | CannotSay:
    """`7B`, `770M`: as wide a head for each layer as Llama-7B to 70B have, about."""
    found = _SIZE.fullmatch(text.strip())
    count = float(found[1]) * (10**9 if found[2] in "bB" else 10**6) if found else 0.0
    if not 10**6 <= count <= _MOST:
        return CannotSay(said("memory_notes", "bad_size", text=text[:40]))
    width = _width(count)
    layers = max(round((count - 2 * _VOCABULARY * width) / (_PER_LAYER * width * width)), 1)
    config = {
        "model_type": "llama",
        "hidden_size": width,
        "intermediate_size": round(8 * width / 3),
        "num_hidden_layers": layers,
        "num_attention_heads": width // _HEAD,
        "vocab_size": _VOCABULARY,
        "hidden_act": "silu",
    }
    return Model(text.strip(), config, guessed=True)


def _width(count: float) -> int:
    """With a layer for each head, count ≈ 12 width³ / 128."""
    heads = round(math.cbrt(count * _HEAD / _PER_LAYER) / _HEAD)
    return max(heads, 1) * _HEAD
