"""A model of which only the size is known: a shape like Llama's that has about as many parameters."""

import re

from dsgui.core.memory.answer import CannotSay
from dsgui.core.memory.question import Model
from dsgui.core.texts.saying import said

UNITS = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
SIZE = re.compile(r"\s*(\d{1,4}(?:\.\d{1,4})?)\s?([kmbt])\s*", re.IGNORECASE)
LEAST, MOST = 2 * 10**7, 10**13
VOCAB = 32000
HEAD, SMALL_HEAD = 128, 64
LAYERS_OF = 128  # a layer for each 128 of the width, as in Llama from 7B (4096, 32) to 65B (8192, 80, a little more)


def model_of_size(text: str) -> Model | CannotSay:
    """Of "7B" or "770M"."""
    found = SIZE.fullmatch(text)
    count = round(float(found[1]) * UNITS[found[2].lower()]) if found else 0
    if not LEAST <= count <= MOST:
        return CannotSay(said("memory_notes", "bad_size", text=text.strip()[:40]))
    return Model(text.strip(), shape_of_size(count), guessed=True)


def shape_of_size(parameters: int) -> dict[str, object]:
    """The shape nearest to `parameters`: its width decides the layers, and the MLP's width takes up the rest."""
    return min((of_width(width, parameters) for width in widths(parameters)), key=lambda c: off(c, parameters))


def widths(parameters: int) -> range:
    """Multiples of a head's width around the one whose layers would have these parameters: Ψ ≈ 12 h² · h / 128."""
    step = head_of(parameters)
    about = (parameters * LAYERS_OF / 12) ** (1 / 3)
    return range(max(step, int(about * 0.6) // step * step), int(about * 1.2) // step * step + 2 * step, step)


def head_of(parameters: int) -> int:
    return HEAD if parameters >= 10**8 else SMALL_HEAD


def of_width(width: int, parameters: int) -> dict[str, object]:
    layers = max(2, round(width / LAYERS_OF))
    rest = parameters - 2 * VOCAB * width - layers * 4 * width * width
    inner = max(width, round(rest / (layers * 3 * width) / 64) * 64)
    return {
        "model_type": "llama",
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": width // head_of(parameters),
        "head_dim": head_of(parameters),
        "intermediate_size": inner,
        "vocab_size": VOCAB,
        "tie_word_embeddings": False,
    }


def off(config: dict[str, object], parameters: int) -> float:
    """How far a shape is from the size and from Llama's proportion of its MLP (2.7 times its width)."""
    numbers = {key: value for key, value in config.items() if isinstance(value, int)}
    width, inner, layers = (numbers[key] for key in ("hidden_size", "intermediate_size", "num_hidden_layers"))
    made = 2 * VOCAB * width + layers * (4 * width * width + 3 * width * inner)
    return abs(made / parameters - 1) * 20 + abs(inner / width - 8 / 3)
