"""Pictures of digits: drawn by code, or columns of images and labels from the hub or from JSON lines."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from parts.process import RecipeError
from parts.sources import check_columns, first, made_by_code, read

# Five columns, seven rows: each number is a row's pixels as bits.
DIGITS = (
    (14, 17, 19, 21, 25, 17, 14),
    (4, 12, 4, 4, 4, 4, 14),
    (14, 17, 1, 6, 8, 16, 31),
    (31, 2, 4, 2, 1, 17, 14),
    (2, 6, 10, 18, 31, 2, 2),
    (31, 16, 30, 1, 1, 17, 14),
    (6, 8, 16, 30, 17, 17, 14),
    (31, 1, 2, 4, 8, 8, 8),
    (14, 17, 17, 14, 17, 17, 14),
    (14, 17, 17, 15, 1, 2, 12),
)
SIDE, DRAWN, HELD_OUT = 9, 4096, 512
NOISE = 0.25

Pictures = tuple[list[list[float]], list[int]]
"""The pixels of each picture in a row, about 0 to 1, and its class."""


def drawn(count: int, seed: int) -> Pictures:
    """Digits somewhere on a square of SIDE pixels, with noise over all of it."""
    chance = random.Random(seed)
    labels = [chance.randrange(len(DIGITS)) for _ in range(count)]
    return [_picture(label, chance) for label in labels], labels


def _picture(label: int, chance: random.Random) -> list[float]:
    pixels = [chance.gauss(0, NOISE) for _ in range(SIDE * SIDE)]
    top, left = chance.randrange(SIDE - 7 + 1), chance.randrange(SIDE - 5 + 1)
    for row, bits in enumerate(DIGITS[label]):
        for column in range(5):
            pixels[(top + row) * SIDE + left + column] += bits >> (4 - column) & 1
    return pixels


def load_split(options: Any, name: str) -> Pictures:
    """The pictures of a split, "train" or "validation"; raises RecipeError for what is no picture with a class."""
    limit = options.max_train_samples if name == "train" else options.max_eval_samples
    if made_by_code(options):
        size, seed = (DRAWN, 1) if name == "train" else (HELD_OUT, 2)
        return drawn(min(limit or size, size), seed)
    examples = read(options, name)
    columns = [("image_column", options.image_column), ("label_column", options.label_column)]
    check_columns(examples, columns, name)
    examples = first(examples, limit)
    labels = list(examples[options.label_column])
    if wrong := [label for label in labels if type(label) is not int or label < 0]:
        raise RecipeError(f"--label_column {options.label_column}: {wrong[0]!r} is no class. Expected 0, 1, 2, …")
    return [pixels_of(picture, options.image_column) for picture in examples[options.image_column]], labels


def pixels_of(picture: Any, column: str) -> list[float]:
    """Of an image, or of numbers nested in any way, 0 to 255 or already 0 to 1."""
    import numpy

    try:
        values = numpy.asarray(picture, dtype=numpy.float32).ravel()
    except (TypeError, ValueError) as error:
        raise RecipeError(
            f"--image_column {column}: expected images or lists of numbers, saw {picture!r:.60}"
        ) from error
    return (values / 255 if len(values) and values.max() > 1.5 else values).tolist()


def same_size(pictures: Sequence[list[float]], name: str) -> int:
    """How many numbers each picture has. Raises RecipeError where they differ."""
    sizes = {len(picture) for picture in pictures}
    if len(sizes) != 1 or 0 in sizes:
        raise RecipeError(f"the {name} pictures have {sorted(sizes)} numbers each; expected one size for all.")
    return sizes.pop()
